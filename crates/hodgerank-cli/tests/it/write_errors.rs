//! Outputs that cannot be written: full disks, limits, folders. The message names the user's file,
//! the old output stays, and nothing is left behind.
#![cfg(unix)]

use crate::support::writing::{OLD, WRITING_COMMANDS};
use crate::support::{TestDir, files};

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", files::annotated(&files::votes(8, 300)));
    dir
}

/// The limit is reached with the first byte: SIGXFSZ would end the program if it were not handled.
#[test]
fn a_limit_on_file_sizes_is_an_error_like_others() {
    for command in WRITING_COMMANDS {
        let dir = dir();
        command.write_old_outputs(&dir, "out");
        let before = dir.file_names_in("out");
        let arguments = command.arguments("v.csv", "out");
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let run = dir.run_in_shell("ulimit -f 0; \"$@\"", &arguments);
        assert_eq!(run.code, Some(1), "{arguments:?}: {}", run.stderr);
        let is_named = |output: &&str| {
            run.stderr.contains(&format!("error: out/{output}: cannot be written: File too large"))
        };
        assert!(command.outputs.iter().any(is_named), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("help: raise the limit"), "{}", run.stderr);
        assert!(!run.stderr.contains(".hodgerank"), "{}", run.stderr);
        assert_eq!(dir.file_names_in("out"), before);
        for output in command.outputs {
            assert_eq!(dir.read(&format!("out/{output}")), OLD, "{output}");
        }
    }
}

#[test]
fn full_devices_are_errors() {
    let dir = dir();
    for format in ["table", "csv", "json", "parquet"] {
        let run = dir.run(&["rank", "v.csv", "--format", format, "-o", "/dev/full"]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        let problem = "error: /dev/full: cannot be written: No space left on device";
        assert!(run.stderr.contains(problem), "{}", run.stderr);
        assert!(run.stderr.contains("help: free some space"), "{}", run.stderr);
    }
    for format in ["csv", "jsonl", "parquet", "arrow"] {
        let arguments = ["simulate", "--votes", "90000", "--format", format, "-o", "/dev/full"];
        let run = dir.run(&arguments);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains("cannot be written: No space left"), "{}", run.stderr);
        let run = dir.run_in_shell("\"$@\" > /dev/full", &["simulate", "--format", format]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        let problem = "standard output: cannot be written: No space left";
        assert!(run.stderr.contains(problem), "{}", run.stderr);
    }
}

/// Needs the right to mount; the file-size limit above is tested everywhere.
#[test]
fn a_full_disk_leaves_the_old_output() {
    let dir = dir();
    std::fs::create_dir(dir.path().join("disk")).unwrap();
    let mount = "mount -t tmpfs -o size=32k none disk 2> /dev/null || exit 77; \
                 echo old > disk/out.csv; \"$@\"; code=$?; cat disk/out.csv; ls -A disk; \
                 umount disk; exit $code";
    let arguments = ["simulate", "--votes", "90000", "-o", "disk/out.csv"];
    let run = dir.run_in_shell(mount, &arguments);
    if run.code == Some(77) {
        return;
    }
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(run.text(), "old\nout.csv\n");
    let problem = "error: disk/out.csv: cannot be written: No space left on device";
    assert!(run.stderr.contains(problem), "{}", run.stderr);
}

#[test]
fn folders_that_cannot_be_written_to_are_named() {
    let dir = dir();
    for command in WRITING_COMMANDS {
        // The folders of an experiment and of manual pages are created.
        for folder in ["no/such/folder", "v.csv"] {
            if ["experiment", "man"].contains(&command.name) && folder != "v.csv" {
                continue;
            }
            let arguments = command.arguments("v.csv", folder);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let run = dir.run(&arguments);
            assert_eq!(run.code, Some(1), "{arguments:?}: {}", run.stderr);
            assert!(run.stderr.contains(&format!("error: {folder}")), "{}", run.stderr);
            assert!(run.stderr.contains("cannot be written: "), "{}", run.stderr);
            assert!(!run.stderr.contains(".hodgerank"), "{}", run.stderr);
        }
    }
    // Not even root can create files here.
    if std::path::Path::new("/sys/kernel").is_dir() {
        let run = dir.run(&["rank", "v.csv", "-o", "/sys/kernel/out.csv"]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains("error: /sys/kernel/out.csv: cannot be written: "));
        assert!(!run.stderr.contains(".hodgerank"), "{}", run.stderr);
    }
    assert_eq!(dir.file_names(), ["v.csv"]);
}
