//! Runs the program under `mpirun`, in a folder of its own, and the same work on one machine.
#![allow(dead_code, reason = "each test file uses a part of this")]

#[path = "../../../hodgerank-cli/tests/it/support/files.rs"]
pub(crate) mod files;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::Parser;
use hodgerank_commands::rank::{RankOptions, Ranked, rank};
use hodgerank_commands::{Answer as _, Votes, Watch, Work};
use serde_json::Value;
use tempfile::TempDir;

/// No run takes longer; one that would is ended with all its ranks, and its test fails.
const SECONDS: &str = "60";

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Run {
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// What our program said: mpirun adds paragraphs of its own.
    pub(crate) fn errors(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.starts_with("error:")).collect()
    }
}

/// `mpirun -n ranks program arguments`, with room for more ranks than cores, ended after a while.
pub(crate) fn mpirun(ranks: usize, program: &Path) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", SECONDS, "mpirun", "-n", &ranks.to_string()]);
    command.args(["--oversubscribe", "--bind-to", "none"]).arg(program);
    // Machines for tests often know one user only.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    // A rank that waits lets others work: the machine may be busy, or have fewer cores than ranks.
    command.env("OMPI_MCA_mpi_yield_when_idle", "1");
    command.stdin(Stdio::null());
    command
}

/// Ranks wait busily, so runs beside each other would only slow each other down.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder with files, in which the program runs.
pub(crate) struct Place(TempDir);

impl Place {
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

    /// A command that is yet to be run.
    pub(crate) fn command<S: AsRef<str>>(&self, ranks: usize, arguments: &[S]) -> Command {
        let mut command = mpirun(ranks, Path::new(env!("CARGO_BIN_EXE_hodgerank-mpi")));
        command.args(arguments.iter().map(AsRef::as_ref)).current_dir(self.path());
        command
    }

    pub(crate) fn run<S: AsRef<str>>(&self, ranks: usize, arguments: &[S]) -> Run {
        let _turn = turn();
        let output = self.command(ranks, arguments).output().expect("timeout and mpirun are there");
        let code = output.status.code();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let hung = matches!(code, None | Some(124 | 137));
        assert!(!hung, "{ranks} ranks did not end within {SECONDS} seconds: {stderr}");
        Run { code, stdout: output.stdout, stderr }
    }

    /// The ranking of many ranks, as JSON.
    pub(crate) fn rank(&self, ranks: usize, files: &[String], options: &[&str]) -> Value {
        let mut arguments = vec!["rank".to_owned(), "--format=json".to_owned()];
        arguments.extend_from_slice(files);
        arguments.extend(options.iter().map(|&option| option.to_owned()));
        let run = self.run(ranks, &arguments).good();
        serde_json::from_slice(&run.stdout).expect("standard output is JSON")
    }
}

#[derive(Parser)]
struct OneMachine {
    #[command(flatten)]
    options: RankOptions,
}

pub(crate) struct Nobody;

impl Watch for Nobody {
    fn note(&self, _: &str) {}

    fn warn(&self, _: &str) {}

    fn during(&self, _: Work<'_>, work: &mut dyn FnMut()) {
        work();
    }
}

/// The ranking of `hodgerank rank`, as JSON, without its report on annotators.
pub(crate) fn one_machine(files: &[String], options: &[&str]) -> Value {
    let words = std::iter::once("rank").chain(options.iter().copied());
    let options = OneMachine::parse_from(words).options;
    let ranked: Ranked =
        rank(&Votes::Files(files.to_vec()), &options, false, 1, &Nobody).expect("a ranking");
    let mut bytes = Vec::new();
    ranked.write_json(&mut bytes).expect("memory takes everything");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// Fails unless the documents say the same: numbers within 1e-10, all else exactly. How a linear
/// system was solved is left out.
#[track_caller]
pub(crate) fn assert_same(many: &Value, one: &Value, what: &str) {
    let differences = differences(many, one, "");
    assert!(differences.is_empty(), "{what}: {}", differences.join("\n"));
}

fn differences(many: &Value, one: &Value, path: &str) -> Vec<String> {
    const ABOUT_SOLVING: [&str; 4] = ["backend", "iterations", "residual", "chosen"];
    let is_method = path.ends_with("/method");
    match (many, one) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let null = Value::Null;
            let matter = |key: &&String| !is_method || !ABOUT_SOLVING.contains(&key.as_str());
            let each = |key: &String| {
                let (a, b) = (a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null));
                differences(a, b, &format!("{path}/{key}"))
            };
            keys.into_iter().filter(matter).flat_map(each).collect()
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let each =
                |(k, (a, b)): (usize, (&Value, &Value))| differences(a, b, &format!("{path}/{k}"));
            a.iter().zip(b).enumerate().flat_map(each).collect()
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            let differ = (a - b).abs() > 1e-10;
            differ.then(|| format!("{path}: {a} and {b}")).into_iter().collect()
        }
        (a, b) => (a != b).then(|| format!("{path}: {a} and {b}")).into_iter().collect(),
    }
}

/// Real votes, where they are there.
#[allow(clippy::print_stderr, reason = "a skipped test should be seen")]
pub(crate) fn shared_data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !folder.is_dir() {
        eprintln!("skipped: the shared data are not here");
        return None;
    }
    Some(folder)
}
