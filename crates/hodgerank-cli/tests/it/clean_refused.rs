//! Errors of `clean` before any work: inputs that do not match, and outputs that would replace the
//! input or each other.

use crate::support::TestDir;
use crate::support::files::{self, study};

#[test]
fn conflicting_inputs_and_outputs_are_rejected() {
    let (study, dir) = (study(), TestDir::new());
    dir.write("v.csv", files::separated(&study, ","));
    dir.write("semicolon.csv", files::separated(&study, ";"));
    dir.write("other.csv", "right,left,winner\na,b,left\n");
    dir.write("bad.csv", "left,right,winner\na,b,lft\n");
    dir.write("v.jsonl", files::json_lines(&study));
    dir.write("v.parquet", files::parquet(&files::batch(&study), 999));
    let before = dir.file_names();
    for (arguments, part) in [
        (&["v.csv", "v.jsonl"][..], "one is CSV, the other JSON lines"),
        (&["v.csv", "semicolon.csv"], "separated by different characters"),
        (&["v.csv", "other.csv"], "their columns differ"),
        (&["v.parquet", "v.csv"], "one is Parquet, the other CSV"),
        (&["v.csv", "-o", "out.parquet"], "the format of the input"),
        (&["v.csv", "--flagged", "out.jsonl.gz"], "the format of the input"),
        (&["v.csv", "-o", "x.csv", "--flagged", "x.csv"], "cannot be written to the same file"),
        (&["v.csv", "-o", "x.csv", "--flagged", "./x.csv"], "cannot be written to the same file"),
        (&["v.csv", "--flagged", "-"], "cannot be written to the same file"),
        (
            &["none.csv", "-o", "x.csv", "--flagged", "./x.csv"],
            "cannot be written to the same file",
        ),
        (&["v.csv", "-o", "v.csv"], "--output v.csv would replace the input v.csv"),
        (&["v.csv", "--flagged", "./v.csv"], "--flagged ./v.csv would replace the input v.csv"),
        (&["bad.csv", "-o", "x.csv", "--flagged", "y.csv"], "unknown outcome"),
    ] {
        let run = dir.run(&[&["clean"], arguments].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(part) && run.stderr.contains("help: "), "{}", run.stderr);
        assert!(run.stdout.is_empty(), "{arguments:?}");
        assert_eq!(dir.file_names(), before, "{arguments:?}");
    }
}

/// A symbolic link is the file that it points to.
#[cfg(unix)]
#[test]
fn symbolic_links_are_resolved() {
    use std::os::unix::fs::symlink;
    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&study(), ","));
    dir.write("old.csv", "old");
    symlink("v.csv", dir.path().join("input.csv")).unwrap();
    symlink("old.csv", dir.path().join("link.csv")).unwrap();
    let before = dir.file_names();
    for (arguments, part) in [
        (["v.csv", "-o", "old.csv", "--flagged", "link.csv"], "cannot be written to the same file"),
        (["v.csv", "-o", "input.csv", "--flagged", "f.csv"], "would replace the input v.csv"),
        (["input.csv", "-o", "x.csv", "--flagged", "v.csv"], "would replace the input input.csv"),
    ] {
        let run = dir.run(&[&["clean"], &arguments[..]].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{}", run.stderr);
        assert_eq!((dir.file_names(), dir.read("old.csv")), (before.clone(), b"old".to_vec()));
    }
    // Also if the shell opened the output.
    let kept = std::fs::File::create(dir.path().join("kept.csv")).unwrap();
    let mut command = dir.command(&["clean", "v.csv", "--flagged", "kept.csv"]);
    assert_eq!(command.stdout(kept).output().unwrap().status.code(), Some(2));
    // Pipes and devices may be input and output.
    dir.run_with_stdin(&["clean", "-", "--flagged", "/dev/null"], &dir.read("v.csv")).success();
}
