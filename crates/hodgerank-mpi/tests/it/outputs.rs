//! Outputs that clash with other files, and runs that are interrupted while they write.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::files::{separated, study, votes};
use crate::support::{TestFolder, wait_for_mpirun};

fn names(folder: &TestFolder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<String> =
        entries.map(name).map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn outputs_replace_neither_inputs_nor_each_other() {
    let folder = TestFolder::new();
    let votes = separated(&study(), ",");
    folder.put("v.csv", &votes);
    std::os::unix::fs::symlink("v.csv", folder.path().join("link.csv")).unwrap();
    let before = names(&folder);
    for (arguments, part) in [
        (&["rank", "v.csv", "-o", "./v.csv"][..], "would replace the input v.csv"),
        (&["rank", "v.csv", "-o", "link.csv"], "would replace the input v.csv"),
        (&["rank", "v.csv", "-o", "x.csv", "--checkpoint", "x.csv"], "the same file"),
        (&["rank", "v.csv", "-o", "x.csv", "--checkpoint", "link.csv"], "replace the input v.csv"),
        (&["outliers", "v.csv", "-o", "link.csv"], "would replace the input v.csv"),
        (&["outliers", "v.csv", "--per-group", "-o", "link.csv"], "replace the input v.csv"),
        (&["outliers", "v.csv", "-o", "x", "--checkpoint", "./x"], "the same file"),
        (&["clean", "v.csv", "-o", "v.csv"], "would replace the input v.csv"),
        (&["clean", "v.csv", "-o", "x", "--flagged", "x/"], "the same file"),
        (&["clean", "v.csv", "-o", "x", "--checkpoint", "x"], "the same file"),
    ] {
        let run = folder.run(2, arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert_eq!(run.errors().len(), 1, "{arguments:?}: {}", run.stderr);
        assert!(run.errors()[0].contains(part), "{arguments:?}: {}", run.stderr);
        assert_eq!(names(&folder), before, "{arguments:?}");
        assert_eq!(std::fs::read(folder.at("v.csv")).unwrap(), votes.as_bytes());
    }
}

/// The run is long enough to be interrupted while its output is open.
#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    let folder = TestFolder::new();
    let files: Vec<String> = votes(100, 20_000)
        .chunks(7000)
        .enumerate()
        .map(|(k, part)| folder.put(&format!("{k}.csv"), separated(part, ",")))
        .collect();
    let long = ["--method=lbi", "--algorithm=2", "--outliers=30%", "--kappa=1000", "--output=out"];
    let before = names(&folder);
    for (command, signal) in [("clean", "TERM"), ("outliers", "INT")] {
        let _permit = wait_for_mpirun();
        let mut arguments = vec![command];
        arguments.extend(long.iter().chain(&files.iter().map(String::as_str).collect::<Vec<_>>()));
        let mut child = folder.command(2, &arguments).stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        while names(&folder) == before {
            assert!(started.elapsed() < Duration::from_secs(30), "no output was opened");
            assert!(child.try_wait().unwrap().is_none(), "the run ended");
            std::thread::sleep(Duration::from_millis(5));
        }
        // `timeout` would pass the signal on twice, and mpirun kills its processes at the second one.
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let mpirun = std::fs::read_to_string(children).unwrap();
        let kill = Command::new("kill").args(["-s", signal, mpirun.trim()]).status();
        assert!(kill.unwrap().success());
        assert!(!child.wait().unwrap().success());
        // The processes end at about the time when mpirun does.
        let ended = Instant::now();
        while names(&folder) != before && ended.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(names(&folder), before, "{command} {signal}");
    }
}
