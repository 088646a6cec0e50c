//! The input changes between the two passes of a command.
#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use crate::support::{Run, TestDir};

/// Rows of which the last is bad, so that a message follows the first pass (`--on-error skip`).
fn votes(rows: usize) -> String {
    let row = |k: usize| format!("i{},i{},w{}\n", k % 7, (k % 7 + 1 + k % 5) % 7, k % 11);
    let rows: String = (0..rows).map(row).collect();
    format!("winner,loser,annotator\n{rows}i1,i1,w1\n")
}

/// Runs a command and writes `later` to its input after the first pass.
///
/// The pipe of standard error is full from the start. The program therefore waits with its first
/// message, which it prints between the two passes, until the pipe is emptied.
fn run_with_change(dir: &TestDir, arguments: &[&str], first: &str, later: &str) -> Run {
    const PIPE_BYTES: usize = 1 << 16;
    dir.write("votes.csv", first);
    let (mut messages, mut pipe) = std::io::pipe().unwrap();
    pipe.write_all(&vec![b'.'; PIPE_BYTES]).unwrap();
    let mut command = dir.command(arguments);
    let mut child = command.stderr(pipe).spawn().unwrap();
    // The command holds the other end of the pipe.
    drop(command);
    wait_until_read(child.id(), first.len() as u64);
    dir.write("votes.csv", later);
    let mut bytes = Vec::new();
    messages.read_to_end(&mut bytes).unwrap();
    let mut stdout = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
    let code = child.wait().unwrap().code();
    Run { code, stdout, stderr: String::from_utf8(bytes.split_off(PIPE_BYTES)).unwrap() }
}

/// Waits until a process has read that many bytes and all of its threads wait.
fn wait_until_read(process: u32, bytes: u64) {
    let start = Instant::now();
    let mut polls_waiting = 0;
    while polls_waiting < 5 {
        assert!(start.elapsed() < Duration::from_secs(60), "the input is not read");
        std::thread::sleep(Duration::from_millis(20));
        let io = std::fs::read_to_string(format!("/proc/{process}/io")).unwrap();
        let read = io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
        let waits = read.parse::<u64>().unwrap() >= bytes && all_threads_wait(process);
        polls_waiting = if waits { polls_waiting + 1 } else { 0 };
    }
}

fn all_threads_wait(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    threads.flatten().all(|thread| {
        // A thread that has just ended has no state any more.
        let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let state = status.lines().find_map(|line| line.strip_prefix("State:"));
        state.is_none_or(|state| state.trim_start().starts_with('S'))
    })
}

#[test]
fn commands_with_two_passes_notice_it_and_write_nothing() {
    // Large compared with what the program reads on its own.
    let first = votes(200_000);
    let rows: Vec<&str> = first.lines().collect();
    let mut reordered = rows.clone();
    reordered.swap(10, 2000);
    let changes = [
        ("truncated", rows[..rows.len() / 2].join("\n") + "\ni1,i1,w1\n"),
        ("appended to", first.clone() + "i1,i2,w3\n"),
        ("reordered", reordered.join("\n") + "\n"),
    ];
    let commands: [&[&str]; 3] = [
        &["clean", "votes.csv", "-o", "out.csv", "--flagged", "flagged.csv"],
        &["outliers", "votes.csv", "-o", "out.csv"],
        &["rank", "votes.csv", "--format", "json", "-o", "out.json"],
    ];
    let dir = TestDir::new();
    let method = ["--on-error", "skip", "--method", "hlasso", "--outliers", "5%"];
    for (k, command) in commands.into_iter().enumerate() {
        let arguments = [command, &method].concat();
        let (change, later) = &changes[k % changes.len()];
        let run = run_with_change(&dir, &arguments, &first, later);
        let message = format!("{arguments:?}, {change}: {}", run.stderr);
        assert_eq!(run.code, Some(2), "{message}");
        assert!(run.stderr.contains("votes.csv changed while it was being read"), "{message}");
        assert!(run.stdout.is_empty(), "{message}");
        assert_eq!(dir.file_names(), ["votes.csv"], "{message}");
        run_with_change(&dir, &arguments, &first, &first).success();
        for name in dir.file_names() {
            std::fs::remove_file(dir.path().join(name)).unwrap();
        }
    }
}
