//! Where output goes: files that appear whole, closed pipes, devices, silence.

use std::io::Read as _;

use crate::support::{Place, files};

fn place() -> Place {
    let place = Place::new();
    place.put("v.csv", files::separated(&files::votes(10, 500), ","));
    place
}

/// Rankings far longer than a pipe holds, whose reader leaves after a few bytes.
#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let place = Place::new();
    let rows: String = (0..40_000).map(|item| format!("item-{item},item-{}\n", item + 1)).collect();
    place.put("v.csv", format!("winner,loser\n{rows}"));
    let leave = |arguments: &[&str]| {
        let run = place.run_and_leave(arguments, 4);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    };
    for format in ["table", "csv", "json", "parquet"] {
        leave(&["rank", "v.csv", "--format", format, "--top", "0", "--quiet"]);
    }
    for format in ["csv", "jsonl", "parquet", "arrow"] {
        leave(&["simulate", "--votes", "300000", "--format", format]);
    }
}

#[test]
fn nobody_listening_to_messages_is_no_error() {
    let place = place();
    let mut child = place.start(&["rank", "v.csv", "--format", "csv"]);
    drop((child.stdin.take(), child.stderr.take()));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, place.ranking(&["v.csv"]).into_bytes());
    let mut child = place.start(&["rank", "none.csv"]);
    drop((child.stdin.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn an_output_is_replaced_as_a_whole() {
    let place = place();
    place.put("out.csv", "old");
    place.put("bad.csv", "winner,loser\na,a\n");
    let failed = place.run(&["rank", "bad.csv", "-o", "out.csv"]);
    assert_eq!(failed.code, Some(2));
    assert_eq!(place.get("out.csv"), b"old", "a run that fails changes nothing");
    place.run(&["rank", "v.csv", "-o", "out.csv"]).good();
    assert_eq!(place.get("out.csv"), place.ranking(&["v.csv"]).into_bytes());
    assert_eq!(place.names(), ["bad.csv", "out.csv", "v.csv"]);
    // The input may be its own output.
    let expected = place.ranking(&["v.csv"]);
    place.run(&["rank", "v.csv", "-o", "v.csv"]).good();
    assert_eq!(place.get("v.csv"), expected.into_bytes());
}

#[cfg(unix)]
#[test]
fn a_new_file_takes_the_old_ones_place() {
    use std::os::unix::fs::MetadataExt as _;
    let place = place();
    let path = place.path().join("out.csv");
    place.run(&["rank", "v.csv", "-o", "out.csv"]).good();
    let (old, mut reader) = (path.metadata().unwrap().ino(), std::fs::File::open(&path).unwrap());
    place.run(&["rank", "v.csv", "--method", "ridge", "-o", "out.csv"]).good();
    assert_ne!(path.metadata().unwrap().ino(), old, "written beside and renamed");
    // Whoever had the old file open still reads all of it.
    let mut before = String::new();
    reader.read_to_string(&mut before).unwrap();
    assert_eq!(before, place.ranking(&["v.csv"]));
    // A link stays a link.
    std::os::unix::fs::symlink("out.csv", place.path().join("link.csv")).unwrap();
    place.run(&["rank", "v.csv", "-o", "link.csv"]).good();
    assert!(place.path().join("link.csv").symlink_metadata().unwrap().is_symlink());
    assert_eq!(place.get("out.csv"), before.into_bytes());
}

#[test]
fn endings_compress() {
    let place = place();
    let expected = place.ranking(&["v.csv"]);
    place.run(&["rank", "v.csv", "-o", "out.csv.gz"]).good();
    let mut text = String::new();
    let packed = place.get("out.csv.gz");
    flate2::read::GzDecoder::new(&*packed).read_to_string(&mut text).unwrap();
    assert_eq!(text, expected);
    place.run(&["rank", "v.csv", "-o", "out.csv.zst"]).good();
    assert_eq!(zstd::decode_all(&*place.get("out.csv.zst")).unwrap(), expected.into_bytes());
}

#[cfg(unix)]
#[test]
fn devices_are_written_to_and_stay() {
    use std::os::unix::fs::FileTypeExt as _;
    let place = place();
    place.run(&["rank", "v.csv", "--format", "csv", "-o", "/dev/null"]).good();
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let run = place.run(&["rank", "v.csv", "--format", "csv", "-o", "-"]).good();
    assert_eq!(run.text(), place.ranking(&["v.csv"]));
}

#[test]
fn places_that_cannot_be_written_to() {
    let place = place();
    std::fs::create_dir(place.path().join("folder.csv")).unwrap();
    for (output, part) in [
        ("no/such/out.csv", "no/such/out.csv: cannot be written"),
        ("folder.csv", "folder.csv: cannot be written: it is a folder"),
    ] {
        let run = place.run(&["rank", "v.csv", "-o", output]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    assert_eq!(place.names(), ["folder.csv", "v.csv"]);
}

#[test]
fn quiet_is_quiet() {
    let place = place();
    place.put("apart.csv", "winner,loser\na,b\nx,y\nz,z\n");
    let skip: &[&str] = &["rank", "apart.csv", "--on-error", "skip"];
    assert!(!place.run(skip).good().stderr.is_empty());
    assert_eq!(place.run(&[skip, &["--quiet"]].concat()).good().stderr, "");
    assert_eq!(place.run(&["-q", "simulate", "-o", "s.csv"]).good().stderr, "");
    let error = place.run(&["rank", "none.csv", "-q"]);
    assert!(error.stderr.starts_with("error: none.csv"), "errors are never silent");
}

/// Names from a file must not be able to move the cursor or ring the bell.
#[test]
fn control_characters_do_not_reach_the_terminal() {
    let place = Place::new();
    let name = "\x1b[2J\x07bell";
    place.put(
        "v.csv",
        format!("winner,loser,{name}\n{name},b,{name}\nx,y,{name}\n{name}2,{name}2,1\n"),
    );
    for arguments in [
        &["rank", "v.csv"][..],
        &["rank", "v.csv", "--on-error", "skip"],
        &["rank", "v.csv", "--on-error", "skip", "--by", "winner"],
        &["rank", "v.csv", "--on-error", "skip", "--require-connected"],
        &["rank", "v.csv", "--on-error", "skip", "--count", name],
        &["rank", "v.csv", "--left", "winner", "--right", "loser", "--outcome", name],
    ] {
        let run = place.run(arguments);
        let all = format!("{}{}", run.text(), run.stderr);
        assert!(all.contains("bell"), "{all}");
        assert!(!all.contains(['\x1b', '\x07']), "{arguments:?}: {all:?}");
    }
}
