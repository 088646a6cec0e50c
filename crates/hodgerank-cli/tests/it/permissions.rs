//! Permissions and links of outputs.
#![cfg(unix)]

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use crate::support::writing::{OLD, WRITING_COMMANDS};
use crate::support::{TestDir, files};

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", files::annotated(&files::votes(8, 300)));
    dir
}

fn mode(dir: &TestDir, name: &str) -> u32 {
    dir.path().join(name).metadata().unwrap().mode() & 0o7777
}

#[test]
fn replaced_outputs_keep_their_permissions() {
    for command in WRITING_COMMANDS {
        let dir = dir();
        command.write_old_outputs(&dir, "out");
        let set = |name: &str| {
            let path = dir.path().join("out").join(name);
            std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        };
        command.outputs.iter().for_each(|name| set(name));
        let arguments = command.arguments("v.csv", "out");
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        dir.run(&arguments).success();
        for output in command.outputs {
            let name = format!("out/{output}");
            assert_ne!(dir.read(&name), OLD, "{name}");
            assert_eq!(mode(&dir, &name), 0o600, "{name}");
        }
    }
}

#[test]
fn new_outputs_follow_the_umask() {
    let dir = dir();
    for (umask, expected) in [("022", 0o644), ("077", 0o600), ("027", 0o640)] {
        let name = format!("{umask}.csv");
        let script = format!("umask {umask}; \"$@\"");
        dir.run_in_shell(&script, &["rank", "v.csv", "-o", &name]).success();
        assert_eq!(mode(&dir, &name), expected, "{umask}");
    }
}

/// Only root can give a file to somebody else.
#[test]
fn replaced_outputs_keep_their_owner() {
    let dir = dir();
    dir.write("out.csv", OLD);
    let path = dir.path().join("out.csv");
    if std::os::unix::fs::chown(&path, Some(4321), Some(1234)).is_err() {
        return;
    }
    std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    dir.run(&["rank", "v.csv", "-o", "out.csv"]).success();
    let new = path.metadata().unwrap();
    assert_eq!((new.uid(), new.gid(), new.mode() & 0o7777), (4321, 1234, 0o640));
}

#[test]
fn links_are_kept_and_their_targets_written() {
    let dir = dir();
    std::fs::create_dir(dir.path().join("results")).unwrap();
    std::os::unix::fs::symlink("results/out.csv", dir.path().join("link.csv")).unwrap();
    let expected = dir.rank_csv(&["v.csv"]);
    // First the target does not exist, then it does.
    for _ in 0..2 {
        dir.run(&["rank", "v.csv", "-o", "link.csv"]).success();
        assert!(dir.path().join("link.csv").symlink_metadata().unwrap().is_symlink());
        assert_eq!(dir.read("results/out.csv"), expected.as_bytes());
    }
    assert_eq!(dir.file_names_in("results"), ["out.csv"]);
}

/// `/dev/stdout` is the stream, even if it leads to a file: what others wrote there stays.
#[test]
fn open_descriptors_are_written_to_directly() {
    let dir = dir();
    let expected = dir.rank_csv(&["v.csv"]);
    for name in ["/dev/stdout", "/dev/fd/1", "/dev/fd/7"] {
        dir.write("log", "before\n");
        let script = "exec 7>> log; \"$@\" >> log; echo after >> log";
        dir.run_in_shell(script, &["rank", "v.csv", "--format", "csv", "-o", name]).success();
        let log = String::from_utf8(dir.read("log")).unwrap();
        assert_eq!(log, format!("before\n{expected}after\n"), "{name}");
    }
    let script = "mkfifo pipe; cat pipe > copy & \"$@\"; wait";
    dir.run_in_shell(script, &["rank", "v.csv", "--format", "csv", "-o", "pipe"]).success();
    assert_eq!(dir.read("copy"), expected.as_bytes());
}
