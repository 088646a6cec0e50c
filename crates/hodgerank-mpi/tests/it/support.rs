//! Runs the program in a temporary folder, and the same command on one machine.

#[allow(dead_code, reason = "shared with the tests of hodgerank-cli")]
#[path = "../../../hodgerank-cli/tests/it/support/files.rs"]
pub(crate) mod files;

use std::path::Path;
use std::process::Command;
use std::sync::{Condvar, Mutex, PoisonError};

use clap::Parser;
use hodgerank_commands::rank::{RankArgs, rank};
use hodgerank_commands::{Document as _, Observer, Provenance, Task, VoteSource};
use serde_json::Value;
use tempfile::TempDir;

use crate::mpirun::{TIME_LIMIT, mpirun};

/// The result of a run.
#[derive(Debug)]
pub(crate) struct MpiRun {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl MpiRun {
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// The errors of the program; mpirun adds text of its own.
    pub(crate) fn errors(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.starts_with("error:")).collect()
    }
}

/// Number of further calls of `mpirun` that may start; at most two run at a time. While one waits for its
/// processes to start or end, the other computes. More would slow each other down, because processes wait
/// busily for messages.
static FREE_RUNS: Mutex<usize> = Mutex::new(2);
static RUN_ENDED: Condvar = Condvar::new();

/// The right to call `mpirun`, until it is dropped.
pub(crate) struct RunPermit(());

impl Drop for RunPermit {
    fn drop(&mut self) {
        *FREE_RUNS.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        RUN_ENDED.notify_one();
    }
}

/// Waits until `mpirun` may be called.
pub(crate) fn wait_for_mpirun() -> RunPermit {
    let free = FREE_RUNS.lock().unwrap_or_else(PoisonError::into_inner);
    let free = RUN_ENDED.wait_while(free, |free| *free == 0);
    *free.unwrap_or_else(PoisonError::into_inner) -= 1;
    RunPermit(())
}

/// A temporary folder in which the program runs.
pub(crate) struct TestFolder(TempDir);

impl TestFolder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and returns its path.
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path().join(name), bytes).expect("the file can be written");
        self.at(name)
    }

    /// Writes votes into this many files, and returns their paths.
    pub(crate) fn csv_files(&self, votes: &[files::Vote], count: usize) -> Vec<String> {
        let parts = votes.chunks(votes.len() / count + 1).enumerate();
        let put = |(k, part)| self.put(&format!("part{k}.csv"), files::separated(part, ","));
        parts.map(put).collect()
    }

    pub(crate) fn at(&self, name: &str) -> String {
        self.path().join(name).to_str().expect("a plain path").to_owned()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    /// Returns the command that runs the program.
    pub(crate) fn command<S: AsRef<str>>(&self, size: usize, arguments: &[S]) -> Command {
        let mut command = mpirun(size, Path::new(env!("CARGO_BIN_EXE_hodgerank-mpi")));
        command.args(arguments.iter().map(AsRef::as_ref)).current_dir(self.path());
        command
    }

    pub(crate) fn run<S: AsRef<str>>(&self, size: usize, arguments: &[S]) -> MpiRun {
        let _permit = wait_for_mpirun();
        let output =
            self.command(size, arguments).output().expect("timeout and mpirun are installed");
        let code = output.status.code();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let hung = matches!(code, None | Some(124 | 137));
        assert!(!hung, "{size} processes did not end within {TIME_LIMIT} seconds: {stderr}");
        MpiRun { code, stdout: output.stdout, stderr }
    }

    /// Returns the ranking of several processes, as JSON.
    pub(crate) fn rank(&self, size: usize, files: &[String], options: &[&str]) -> Value {
        let mut arguments = vec!["rank".to_owned(), "--format=json".to_owned()];
        arguments.extend_from_slice(files);
        arguments.extend(options.iter().map(|&option| option.to_owned()));
        let run = self.run(size, &arguments).good();
        serde_json::from_slice(&run.stdout).expect("standard output is JSON")
    }
}

#[derive(Parser)]
struct OneMachineRank {
    #[command(flatten)]
    options: RankArgs,
}

/// Prints nothing.
pub(crate) struct Silent;

impl Observer for Silent {
    fn note(&self, _: &str) {}

    fn warn(&self, _: &str) {}

    fn during(&self, _: Task<'_>, work: &mut dyn FnMut()) {
        work();
    }
}

/// Returns the ranking of `hodgerank rank`, as JSON. It lists annotators only if the method judges them.
pub(crate) fn one_machine(files: &[String], options: &[&str]) -> Value {
    // Several processes estimate no intervals.
    let words = ["rank", "--intervals", "none"].into_iter().chain(options.iter().copied());
    let options = OneMachineRank::parse_from(words).options;
    let votes = VoteSource::Files(files.to_vec());
    let with_annotators = options.method.uses_annotators();
    let document = rank(&votes, &options, with_annotators, 1, &Silent).expect("a ranking");
    let mut bytes = Vec::new();
    document.write_json(&Provenance::default(), &mut bytes).expect("JSON is written to memory");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// Checks that documents are equal: numbers up to 1e-10, relative if they are large, all else exactly.
/// Details of solving
/// linear systems are ignored.
#[track_caller]
pub(crate) fn assert_same(many: &Value, one: &Value, what: &str) {
    let differences = differences(many, one, "");
    assert!(differences.is_empty(), "{what}: {}", differences.join("\n"));
}

fn differences(many: &Value, one: &Value, path: &str) -> Vec<String> {
    // How the scores were computed, and what only a single process can check.
    const DETAILS: [&str; 5] = ["backend", "iterations", "residual", "chosen", "error_bound"];
    // What a program was called with, which the library does not know.
    const PROVENANCE: [&str; 3] = ["/program", "/options", "/input/files"];
    if PROVENANCE.contains(&path) || (path == "/input" && one.is_null()) {
        return Vec::new();
    }
    let has_details = path.ends_with("/method") || path.ends_with("/certificate");
    match (many, one) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let null = Value::Null;
            let matters = |key: &&String| !has_details || !DETAILS.contains(&key.as_str());
            let each = |key: &String| {
                let (a, b) = (a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null));
                differences(a, b, &format!("{path}/{key}"))
            };
            keys.into_iter().filter(matters).flat_map(each).collect()
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let each =
                |(k, (a, b)): (usize, (&Value, &Value))| differences(a, b, &format!("{path}/{k}"));
            a.iter().zip(b).enumerate().flat_map(each).collect()
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            let differ = (a - b).abs() > 1e-10 * b.abs().max(1.0);
            differ.then(|| format!("{path}: {a} and {b}")).into_iter().collect()
        }
        (a, b) => (a != b).then(|| format!("{path}: {a} and {b}")).into_iter().collect(),
    }
}
