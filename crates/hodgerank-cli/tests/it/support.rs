//! Runs the program in a folder of its own, and makes the files that it reads.
pub(crate) mod files;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    /// `None` where a signal ended the program.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Run {
    /// The run itself, where it ended well.
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).expect("standard output is JSON")
    }

    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("standard output is text")
    }
}

/// A folder in which the program runs; it goes with everything in it.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), bytes).expect("the file can be written");
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).expect("the file is there")
    }

    /// Names of everything in the folder, hidden files too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("the folder is there");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("readable").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(arguments, b"")
    }

    /// Runs with these bytes as standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut child = self.start(arguments);
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        let input = input.to_vec();
        // From a thread of its own: the program may answer before it has read everything.
        let feeder = std::thread::spawn(move || {
            // It may also end before that.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().expect("the program ends");
        feeder.join().expect("the input was written");
        Run {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
        }
    }

    /// Starts the program with all three streams as pipes.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().expect("the program starts")
    }

    /// The program, to be started with all three streams as pipes.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hodgerank"));
        command
            .args(arguments)
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs with a reader that leaves after these many bytes of standard output.
    pub(crate) fn run_and_leave(&self, arguments: &[&str], bytes: usize) -> Run {
        let mut child = self.start(arguments);
        drop(child.stdin.take());
        let mut stdout = child.stdout.take().expect("standard output is a pipe");
        let mut seen = vec![0; bytes];
        stdout.read_exact(&mut seen).expect("that much is written");
        drop(stdout);
        let output = child.wait_with_output().expect("the program ends");
        let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
        Run { code: output.status.code(), stdout: seen, stderr }
    }

    /// The JSON of a command with these bytes as standard input.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str], input: &[u8]) -> Value {
        self.run_with(&[arguments, &["--format", "json"]].concat(), input).good().json()
    }

    /// The JSON of `rank` with these arguments.
    #[track_caller]
    pub(crate) fn rank(&self, arguments: &[&str]) -> Value {
        self.json(&[&["rank"], arguments].concat(), b"")
    }

    /// The CSV of `rank` with these arguments: bytes to compare.
    #[track_caller]
    pub(crate) fn ranking(&self, arguments: &[&str]) -> String {
        let all = [&["rank", "--format", "csv"], arguments].concat();
        self.run(&all).good().text().to_owned()
    }
}

/// A number of a row; not a number where there is none.
pub(crate) fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or(f64::NAN)
}

/// The real data, where they are: a user's clone does not have them.
#[allow(clippy::print_stderr, reason = "a skipped test should say so")]
pub(crate) fn shared_data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !folder.is_dir() {
        eprintln!("skipped: the shared data are not here");
        return None;
    }
    Some(folder)
}
