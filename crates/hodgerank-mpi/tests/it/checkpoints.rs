//! A run that was killed and resumed gives the result of one that was not.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::crowd::{crowd_rows, sided_files};
use crate::support::files::{separated, votes};
use crate::support::{TestFolder, assert_same, wait_for_mpirun};

/// A run long enough to be killed: small time steps on many votes.
const LONG_RUN: [&str; 4] = ["--method=lbi", "--algorithm=2", "--outliers=30%", "--kappa=100"];

fn files(folder: &TestFolder) -> Vec<String> {
    let votes = votes(100, 20_000);
    let parts = votes.chunks(7000).enumerate();
    parts.map(|(k, part)| folder.put(&format!("{k}.csv"), separated(part, ","))).collect()
}

fn words<'a>(files: &'a [String], extra: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["rank", "--output=out.json"];
    words.extend(LONG_RUN);
    words.extend(files.iter().map(String::as_str));
    words.extend(extra);
    words
}

const SAVE: [&str; 2] = ["--checkpoint=saved", "--every=0.01s"];

/// Kills one process as soon as a checkpoint was saved, and waits for all to end.
fn kill_one_process<S: AsRef<str>>(folder: &TestFolder, size: usize, words: &[S]) {
    let _permit = wait_for_mpirun();
    let mut child = folder.command(size, words).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while !folder.has("saved/manifest.json") {
        assert!(started.elapsed() < Duration::from_secs(30), "no checkpoint was saved");
        assert!(child.try_wait().unwrap().is_none(), "it ended before a checkpoint was saved");
        std::thread::sleep(Duration::from_millis(5));
    }
    let victim = last_process(folder.path(), &child);
    assert!(
        std::process::Command::new("kill").args(["-KILL", &victim]).status().unwrap().success()
    );
    let killed = Instant::now();
    let status = child.wait().unwrap();
    assert!(!status.success());
    assert!(killed.elapsed() < Duration::from_secs(20), "{:?}", killed.elapsed());
    assert!(!folder.has("out.json"));
}

/// Returns a process of the program that runs in this folder.
fn last_process(folder: &Path, mpirun: &Child) -> String {
    let runs_here = |pid: &String| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let cwd = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        name.trim() == "hodgerank-mpi" && cwd == folder.canonicalize().unwrap()
    };
    let entries = std::fs::read_dir("/proc").unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let found: Vec<String> = names.filter(runs_here).collect();
    assert!(!found.contains(&mpirun.id().to_string()));
    found.last().expect("a process is running").clone()
}

fn result(folder: &TestFolder) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.at("out.json")).unwrap()).unwrap()
}

#[test]
fn killed_and_resumed() {
    let folder = TestFolder::new();
    let files = files(&folder);
    for size in [1, 2, 3] {
        folder.run(size, &words(&files, &[])).good();
        let whole = result(&folder);
        std::fs::remove_file(folder.at("out.json")).unwrap();
        kill_one_process(&folder, size, &words(&files, &SAVE));
        let run = folder.run(size, &words(&files, &["--checkpoint=saved", "--resume"])).good();
        assert!(run.stderr.contains("resuming lbi from the state saved"), "{}", run.stderr);
        assert_same(&result(&folder), &whole, &format!("{size} processes"));
        assert!(!folder.has("saved/manifest.json"), "the checkpoint is removed at the end");
        let left = std::fs::read_dir(folder.at("saved")).unwrap().count();
        assert_eq!(left, 0, "its states too");
        std::fs::remove_file(folder.at("out.json")).unwrap();
    }
}

#[test]
fn a_killed_crowd_resumes() {
    let folder = TestFolder::new();
    // Many people with few votes: estimating their behaviours takes most of the time.
    let files = sided_files(&folder, &crowd_rows(100, 30_000, 6));
    let words = |extra: &[&'static str]| -> Vec<String> {
        let own = ["rank", "--method=crowd", "--output=out.json"].iter().chain(extra);
        own.map(|&word| word.to_owned()).chain(files.iter().cloned()).collect()
    };
    for size in [1, 2] {
        folder.run(size, &words(&[])).good();
        let whole = result(&folder);
        std::fs::remove_file(folder.at("out.json")).unwrap();
        kill_one_process(&folder, size, &words(&SAVE));
        let run = folder.run(size, &words(&["--checkpoint=saved", "--resume"])).good();
        assert!(run.stderr.contains("resuming crowd from the state saved"), "{}", run.stderr);
        assert_same(&result(&folder), &whole, &format!("{size} processes"));
        std::fs::remove_file(folder.at("out.json")).unwrap();
    }
}

#[test]
fn another_run_is_refused() {
    let folder = TestFolder::new();
    let files = files(&folder);
    kill_one_process(&folder, 2, &words(&files, &SAVE));
    let refused = |size, extra: &[&str], files: &[String], part: &str| {
        let run = folder.run(size, &words(files, extra));
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert_eq!(run.errors().len(), 1, "{}", run.stderr);
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
        assert!(!folder.has("out.json"));
    };
    let resume = ["--checkpoint=saved", "--resume"];
    refused(2, &["--checkpoint=saved"], &files, "add --resume");
    refused(3, &resume, &files, "processes: 2 then, 3 now");
    refused(2, &resume, &files[..2], "file 3: ");
    let other = ["--checkpoint=saved", "--resume", "--tolerance=1e-8"];
    refused(2, &other, &files, "--tolerance: 0.0000000001 then, 1e-8 now");
    // The killed run may have left a newer, incomplete generation, which the manifest does not name.
    let manifest = std::fs::read(folder.at("saved/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let generation = format!("generation-{:08}", manifest["generation"].as_u64().unwrap());
    let state = folder.path().join("saved").join(generation).join("process-00001");
    let mut bytes = std::fs::read(&state).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&state, bytes).unwrap();
    refused(2, &resume, &files, "process-00001: cannot be read: the saved state is damaged");
    std::fs::remove_file(&state).unwrap();
    refused(2, &resume, &files, "process-00001: cannot be read");
}

#[test]
fn nothing_saved_yet() {
    let folder = TestFolder::new();
    let files = [folder.put("a.csv", separated(&votes(10, 500), ","))];
    let run = folder.run(2, &words(&files, &["--checkpoint=saved", "--resume"])).good();
    assert!(
        run.stderr.contains("no checkpoint in saved yet: starting from the beginning"),
        "{}",
        run.stderr
    );
    let run = folder.run(2, &words(&files, &["--resume"]));
    assert_eq!(run.code, Some(2));
    folder.put("notes.txt", "not a folder");
    let run = folder.run(2, &words(&files, &["--checkpoint=notes.txt"]));
    assert_eq!(run.code, Some(2));
    assert!(run.errors()[0].contains("checkpoints cannot be saved there"), "{}", run.stderr);
}
