//! Runs the program in a temporary directory.

pub(crate) mod database;
pub(crate) mod files;
pub(crate) mod workbook;
pub(crate) mod writing;

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Exit code and output of a finished run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    /// `None` if a signal ended the program.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
        }
    }
}

impl Run {
    /// Returns the run; panics if its exit code is not 0.
    #[track_caller]
    pub(crate) fn success(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// The run without the command that it suggests, which repeats the arguments.
    pub(crate) fn without_suggestion(&self) -> Self {
        let lines = self.stderr.split_inclusive('\n').filter(|line| !line.starts_with("try: "));
        Self { stderr: lines.collect(), ..self.clone() }
    }

    /// Standard output as JSON, without its provenance: the results of equal votes are equal, whatever
    /// their files are called.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        without_provenance(self.whole_json())
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn whole_json(&self) -> Value {
        serde_json::from_slice(&self.stdout).expect("standard output is JSON")
    }

    /// Standard output as text.
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("standard output is UTF-8")
    }
}

/// A temporary directory in which the program runs; removed on drop.
pub(crate) struct TestDir(TempDir);

impl TestDir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), bytes).expect("the file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).expect("the file exists")
    }

    /// Sorted names of all entries, hidden files included.
    pub(crate) fn file_names(&self) -> Vec<String> {
        self.file_names_in("")
    }

    /// Sorted names of all entries of a folder, hidden files included.
    pub(crate) fn file_names_in(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path().join(folder)).expect("the directory exists");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("readable").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_with_stdin(arguments, b"")
    }

    /// Runs the program from a script of the shell, in which `"$@"` is the program with these
    /// arguments.
    #[cfg(unix)]
    pub(crate) fn run_in_shell(&self, script: &str, arguments: &[&str]) -> Run {
        let mut shell = Command::new("bash");
        shell.args(["-c", script, "bash", env!("CARGO_BIN_EXE_hodgerank")]).args(arguments);
        let output = shell.current_dir(self.path()).output().expect("bash is installed");
        Run::from(output)
    }

    pub(crate) fn run_with_stdin(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut child = self.spawn(arguments);
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        let input = input.to_vec();
        // A separate thread, because the program may write output before it has read all input.
        let writer = std::thread::spawn(move || {
            // Fails if the program exits early, which is allowed.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().expect("the program ends");
        writer.join().expect("the input was written");
        Run::from(output)
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().expect("the program starts")
    }

    /// The command, with all three streams as pipes.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hodgerank"));
        command
            .args(arguments)
            .current_dir(self.path())
            // The width of tables does not depend on who runs the tests.
            .env_remove("COLUMNS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program and closes its standard output after `bytes` bytes.
    pub(crate) fn run_and_close_stdout(&self, arguments: &[&str], bytes: usize) -> Run {
        let mut child = self.spawn(arguments);
        drop(child.stdin.take());
        let mut stdout = child.stdout.take().expect("standard output is a pipe");
        let mut seen = vec![0; bytes];
        stdout.read_exact(&mut seen).expect("that many bytes are written");
        drop(stdout);
        let output = child.wait_with_output().expect("the program ends");
        let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
        Run { code: output.status.code(), stdout: seen, stderr }
    }

    /// The JSON output of a command, without its provenance.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str], input: &[u8]) -> Value {
        self.run_with_stdin(&[arguments, &["--format", "json"]].concat(), input).success().json()
    }

    /// The JSON output of `rank`.
    #[track_caller]
    pub(crate) fn rank_json(&self, arguments: &[&str]) -> Value {
        self.json(&[&["rank"], arguments].concat(), b"")
    }

    /// The CSV output of `rank`, for comparisons byte by byte.
    #[track_caller]
    pub(crate) fn rank_csv(&self, arguments: &[&str]) -> String {
        let all = [&["rank", "--format", "csv"], arguments].concat();
        self.run(&all).success().text().to_owned()
    }
}

/// The document without `program`, `options` and the files.
pub(crate) fn without_provenance(mut document: Value) -> Value {
    match &mut document {
        Value::Array(documents) => {
            documents.iter_mut().for_each(|one| *one = without_provenance(one.take()));
        }
        Value::Object(keys) => {
            keys.remove("program");
            keys.remove("options");
            if let Some(Value::Object(input)) = keys.get_mut("input") {
                input.remove("files");
                if input.is_empty() {
                    keys.remove("input");
                }
            }
        }
        _ => {}
    }
    document
}

/// The number at `key`; NaN if there is none.
pub(crate) fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or(f64::NAN)
}
