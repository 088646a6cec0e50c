//! Programs that are interrupted or killed while they write: an output is the old one or the new
//! one, complete, and an interrupted program leaves nothing behind.
#![cfg(target_os = "linux")]

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::support::writing::{OLD, WRITING_COMMANDS, WritingCommand};
use crate::support::{TestDir, files};

/// Signals that can be handled, and their numbers.
const SIGNALS: [(&str, i32); 4] = [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)];

fn send(signal: &str, child: &Child) {
    // Fails if the program has already ended.
    let kill = format!("kill -s {signal} {} 2> /dev/null", child.id());
    Command::new("sh").args(["-c", &kill]).status().expect("sh is installed");
}

/// A folder with votes, and the folders `out` and `tmp` for outputs and temporary files.
fn dir(rows: usize) -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", files::annotated(&files::votes(20, rows)));
    std::fs::create_dir(dir.path().join("tmp")).unwrap();
    std::fs::create_dir(dir.path().join("out")).unwrap();
    dir
}

fn start(dir: &TestDir, command: &WritingCommand, input: &str, out: &str) -> Child {
    let arguments = command.arguments(input, out);
    // Tests that run in the background of a script inherit ignored signals, which would stay ignored.
    let mut program = Command::new("env");
    program.args(["--default-signal", env!("CARGO_BIN_EXE_hodgerank")]).args(arguments);
    program.current_dir(dir.path()).env("TMPDIR", dir.path().join("tmp"));
    program.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    program.spawn().expect("env of GNU coreutils is installed")
}

/// Waits until the program has ended. Keeps its input open, unlike [`Child::wait`].
#[track_caller]
fn wait(child: &mut Child) -> ExitStatus {
    const LIMIT: Duration = Duration::from_secs(60);
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if started.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("the program did not end within {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn hidden_files(dir: &TestDir, folder: &str) -> Vec<String> {
    let mut names = dir.file_names_in(folder);
    names.retain(|name| name.starts_with(".hodgerank-"));
    names
}

/// Waits until the program has started to write.
#[track_caller]
fn wait_for_hidden_file(dir: &TestDir, child: &mut Child) {
    let started = Instant::now();
    while hidden_files(dir, "out").is_empty() {
        assert_eq!(child.try_wait().unwrap(), None, "the program ended");
        assert!(started.elapsed() < Duration::from_secs(60), "no output was opened");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The programs wait for the rest of their input, with their outputs open.
#[test]
fn interrupted_programs_leave_nothing_behind() {
    let dir = dir(10);
    for command in WRITING_COMMANDS.iter().filter(|command| command.reads_votes) {
        command.write_old_outputs(&dir, "out");
        let before = dir.file_names_in("out");
        for (signal, number) in SIGNALS {
            let mut child = start(&dir, command, "-", "out");
            wait_for_hidden_file(&dir, &mut child);
            send(signal, &child);
            let status = wait(&mut child);
            assert_eq!(status.signal(), Some(number), "{} {signal}: {status}", command.name);
            assert_eq!(dir.file_names_in("out"), before, "{} {signal}", command.name);
            assert!(dir.file_names_in("tmp").is_empty(), "{} {signal}", command.name);
            let is_old = |output: &&str| dir.read(&format!("out/{output}")) == OLD;
            assert!(command.outputs.iter().all(is_old), "{} {signal}", command.name);
        }
    }
}

/// `nohup` and background jobs of scripts: a signal that was ignored before the start stays so.
#[test]
fn ignored_signals_stay_ignored() {
    let dir = dir(10);
    let script = "trap '' HUP INT; exec \"$@\"";
    let mut shell = Command::new("bash");
    shell.args(["-c", script, "bash", env!("CARGO_BIN_EXE_hodgerank")]);
    shell.args(["rank", "-", "-o", "out/rank.csv"]).current_dir(dir.path());
    let mut child = shell.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_hidden_file(&dir, &mut child);
    send("HUP", &child);
    send("INT", &child);
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, &dir.read("v.csv")).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(dir.read("out/rank.csv"), dir.rank_csv(&["v.csv"]).into_bytes());
}

/// The outputs of a complete run, and how long it took.
fn run_to_end(dir: &TestDir, command: &WritingCommand) -> (Vec<Vec<u8>>, Duration) {
    std::fs::create_dir(dir.path().join("reference")).unwrap();
    let started = Instant::now();
    assert!(start(dir, command, "v.csv", "reference").wait().unwrap().success());
    let duration = started.elapsed();
    let read = |name: &&str| dir.read(&format!("reference/{name}"));
    (command.outputs.iter().map(read).collect(), duration)
}

fn check_outputs(
    dir: &TestDir,
    command: &WritingCommand,
    new: &[Vec<u8>],
    status: ExitStatus,
    what: &str,
) {
    for (output, new) in command.outputs.iter().zip(new) {
        let found = dir.read(&format!("out/{output}"));
        let is_new = found == *new;
        assert!(found == OLD || is_new, "{what}: {output} is neither old nor new");
        assert!(is_new || !status.success(), "{what}: {output} is old after a success");
    }
}

/// 100 runs end at random moments: 8 or 9 of each command, a third of them by each signal.
#[test]
fn a_hundred_kills_leave_old_or_new_outputs() {
    const KILLS: usize = 100;
    const WAYS: [&str; 3] = ["KILL", "INT", "TERM"];
    let mut state = Instant::now().elapsed().as_nanos() as u64 ^ u64::from(std::process::id());
    let mut kills = 0;
    for (number, command) in WRITING_COMMANDS.iter().enumerate() {
        let dir = dir(4000);
        let (new, duration) = run_to_end(&dir, command);
        let rounds = (number..KILLS).step_by(WRITING_COMMANDS.len()).count();
        for round in 0..rounds {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            command.write_old_outputs(&dir, "out");
            let way = WAYS[round % WAYS.len()];
            let share = (state >> 40) as f64 / (1_u64 << 24) as f64;
            let mut child = start(&dir, command, "v.csv", "out");
            std::thread::sleep(duration.mul_f64(share));
            send(way, &child);
            let status = wait(&mut child);
            kills += 1;
            let what = format!("{} {way} after {share:.3} of {duration:?}", command.name);
            check_outputs(&dir, command, &new, status, &what);
            if way == "KILL" {
                // Nobody can clean up after this.
                for name in hidden_files(&dir, "out") {
                    std::fs::remove_file(dir.path().join("out").join(name)).unwrap();
                }
            }
            assert_eq!(hidden_files(&dir, "out"), [""; 0], "{what}");
            assert!(dir.file_names_in("tmp").is_empty(), "{what}");
        }
    }
    assert_eq!(kills, KILLS);
}
