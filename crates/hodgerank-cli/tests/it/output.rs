//! Output: files that appear whole or not at all, closed pipes, devices, `--quiet`.

use std::io::Read as _;

use crate::support::{TestDir, files};

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&files::votes(10, 500), ","));
    dir
}

/// Output much longer than a pipe's buffer, and a reader that closes the pipe after a few bytes.
#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let dir = TestDir::new();
    let rows: String = (0..40_000).map(|item| format!("item-{item},item-{}\n", item + 1)).collect();
    dir.write("v.csv", format!("winner,loser\n{rows}"));
    let leave = |arguments: &[&str]| {
        let run = dir.run_and_close_stdout(arguments, 4);
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
fn closed_standard_error_is_no_error() {
    let dir = dir();
    let mut child = dir.spawn(&["rank", "v.csv", "--format", "csv"]);
    drop((child.stdin.take(), child.stderr.take()));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, dir.rank_csv(&["v.csv"]).into_bytes());
    let mut child = dir.spawn(&["rank", "none.csv"]);
    drop((child.stdin.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn outputs_are_replaced_atomically() {
    let dir = dir();
    dir.write("out.csv", "old");
    dir.write("bad.csv", "winner,loser\na,a\n");
    let failed = dir.run(&["rank", "bad.csv", "-o", "out.csv"]);
    assert_eq!(failed.code, Some(2));
    assert_eq!(dir.read("out.csv"), b"old", "a run that fails changes nothing");
    dir.run(&["rank", "v.csv", "-o", "out.csv"]).success();
    assert_eq!(dir.read("out.csv"), dir.rank_csv(&["v.csv"]).into_bytes());
    assert_eq!(dir.file_names(), ["bad.csv", "out.csv", "v.csv"]);
}

#[cfg(unix)]
#[test]
fn outputs_are_renamed_into_place() {
    use std::os::unix::fs::MetadataExt as _;
    let dir = dir();
    let path = dir.path().join("out.csv");
    dir.run(&["rank", "v.csv", "-o", "out.csv"]).success();
    let (old, mut reader) = (path.metadata().unwrap().ino(), std::fs::File::open(&path).unwrap());
    dir.run(&["rank", "v.csv", "--method", "ridge", "-o", "out.csv"]).success();
    assert_ne!(path.metadata().unwrap().ino(), old, "written to a temporary file and renamed");
    // A process that has the old file open can still read all of it.
    let mut before = String::new();
    reader.read_to_string(&mut before).unwrap();
    assert_eq!(before, dir.rank_csv(&["v.csv"]));
    // A symbolic link is kept.
    std::os::unix::fs::symlink("out.csv", dir.path().join("link.csv")).unwrap();
    dir.run(&["rank", "v.csv", "-o", "link.csv"]).success();
    assert!(dir.path().join("link.csv").symlink_metadata().unwrap().is_symlink());
    assert_eq!(dir.read("out.csv"), before.into_bytes());
}

#[test]
fn file_endings_select_compression() {
    let dir = dir();
    let expected = dir.rank_csv(&["v.csv"]);
    dir.run(&["rank", "v.csv", "-o", "out.csv.gz"]).success();
    let mut text = String::new();
    let packed = dir.read("out.csv.gz");
    flate2::read::GzDecoder::new(&*packed).read_to_string(&mut text).unwrap();
    assert_eq!(text, expected);
    dir.run(&["rank", "v.csv", "-o", "out.csv.zst"]).success();
    assert_eq!(zstd::decode_all(&*dir.read("out.csv.zst")).unwrap(), expected.into_bytes());
}

#[cfg(unix)]
#[test]
fn devices_are_written_to() {
    use std::os::unix::fs::FileTypeExt as _;
    let dir = dir();
    dir.run(&["rank", "v.csv", "--format", "csv", "-o", "/dev/null"]).success();
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let run = dir.run(&["rank", "v.csv", "--format", "csv", "-o", "-"]).success();
    assert_eq!(run.text(), dir.rank_csv(&["v.csv"]));
}

#[test]
fn unwritable_outputs_are_errors() {
    let dir = dir();
    std::fs::create_dir(dir.path().join("folder.csv")).unwrap();
    for (output, part) in [
        ("no/such/out.csv", "no/such/out.csv: cannot be written"),
        ("folder.csv", "folder.csv: cannot be written: it is a folder"),
    ] {
        let run = dir.run(&["rank", "v.csv", "-o", output]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    assert_eq!(dir.file_names(), ["folder.csv", "v.csv"]);
}

#[test]
fn quiet_runs_print_no_messages() {
    let dir = dir();
    dir.write("apart.csv", "winner,loser\na,b\nx,y\nz,z\n");
    let skip: &[&str] = &["rank", "apart.csv", "--on-error", "skip"];
    assert!(!dir.run(skip).success().stderr.is_empty());
    assert_eq!(dir.run(&[skip, &["--quiet"]].concat()).success().stderr, "");
    assert_eq!(dir.run(&["-q", "simulate", "-o", "s.csv"]).success().stderr, "");
    let error = dir.run(&["rank", "none.csv", "-q"]);
    assert!(error.stderr.starts_with("error: none.csv"), "errors are never silent");
}
