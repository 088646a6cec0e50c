//! `hodgerank study`: the program under load, and killed again and again. `scripts/study-load` runs these tests
//! at full size with the variables below.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

fn number(variable: &str, small: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(small)
}

struct Program {
    folder: PathBuf,
    secrets: Vec<String>,
    address: SocketAddr,
    server: Child,
    _place: TempDir,
}

fn hodgerank(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hodgerank"));
    command.args(arguments).arg("--quiet").stdin(Stdio::null());
    command
}

fn create(items: usize, voters: u64) -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..items).map(|item| format!("item-{item}")).collect();
    let list = place.path().join("items.txt");
    std::fs::write(&list, names.join("\n")).unwrap();
    let folder = place.path().join("study");
    let voters = voters.to_string();
    let arguments = ["study", "new", folder.to_str().unwrap(), "--items", list.to_str().unwrap()];
    let more = ["--question", "Which?", "--voters", &voters, "--pairs", "100000"];
    let status = hodgerank(&[&arguments[..], &more].concat()).status().unwrap();
    assert!(status.success());
    (place, folder)
}

fn serve(folder: &Path, listen: &str) -> (Child, SocketAddr) {
    start_server(hodgerank(&["study", "serve", folder.to_str().unwrap(), "--listen", listen]))
}

fn start_server(mut command: Command) -> (Child, SocketAddr) {
    let mut server = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").and_then(|address| address.parse().ok());
    (server, address.unwrap_or_else(|| panic!("no address: {line}")))
}

impl Program {
    fn start(items: usize, voters: u64) -> Self {
        let (place, folder) = create(items, voters);
        let (server, address) = serve(&folder, "127.0.0.1:0");
        let links = std::fs::read_to_string(folder.join("links.txt")).unwrap();
        let secrets =
            links.lines().filter_map(|line| line.split_once("#v=")).map(|(_, own)| own.to_owned());
        let secrets: Vec<String> = secrets.collect();
        assert_eq!(secrets.len() as u64, voters);
        Self { folder, secrets, address, server, _place: place }
    }

    fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    fn restart(&mut self) {
        self.kill();
        self.server = serve(&self.folder, &self.address.to_string()).0;
    }

    /// The largest amount of memory that the server had, in bytes.
    fn peak_memory(&self) -> u64 {
        let status = format!("/proc/{}/status", self.server.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    /// The votes of each voter, in the order of the links.
    fn stored(&self) -> Vec<u64> {
        let output =
            hodgerank(&["study", "export", self.folder.to_str().unwrap()]).output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let mut counts = vec![0; self.secrets.len()];
        for line in text.lines().skip(1) {
            let name = line.split(',').nth(3).unwrap();
            counts[name.strip_prefix("voter-").unwrap().parse::<usize>().unwrap() - 1] += 1;
        }
        counts
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A voter's connection; it is made anew when it breaks.
struct Client<'a> {
    address: SocketAddr,
    secret: &'a str,
    connection: Option<BufReader<TcpStream>>,
}

impl<'a> Client<'a> {
    fn new(address: SocketAddr, secret: &'a str) -> Self {
        Self { address, secret, connection: None }
    }

    fn attempt(&mut self, path: &str, body: &str) -> std::io::Result<(u16, String)> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => {
                let stream = TcpStream::connect(self.address)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(Duration::from_secs(20)))?;
                none.insert(BufReader::new(stream))
            }
        };
        let (host, secret, length) = (self.address, self.secret, body.len());
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {secret}\r\nContent-Type: \
             application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        connection.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut size) = (0, 0);
        loop {
            let mut line = String::new();
            if connection.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(rest) = line.strip_prefix("http/1.1 ") {
                status = rest[..3].parse().unwrap_or(0);
            } else if let Some(length) = line.strip_prefix("content-length: ") {
                size = length.parse().unwrap_or(0);
            } else if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; size];
        connection.read_exact(&mut body)?;
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    }

    /// Sends until the server has carried it out, as the page does.
    fn send(&mut self, path: &str, body: &str) -> Value {
        let start = Instant::now();
        loop {
            match self.attempt(path, body) {
                Ok((200, body)) => return serde_json::from_str(&body).unwrap(),
                Ok((429 | 503, _)) => {}
                Ok((status, body)) => panic!("{path}: {status} {body}"),
                Err(_) => self.connection = None,
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{path}: no answer");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn vote(&mut self, state: &Value, number: u64) -> Value {
        self.send("/api/vote", &vote_request(self, state, number))
    }
}

fn vote_request(client: &Client<'_>, state: &Value, number: u64) -> String {
    let shown = &state["pairs"][0]["shown"];
    let choice = ["left", "right"][(number % 2) as usize];
    let id = format!("{}-{number:010}", &client.secret[..20]);
    format!("{{\"id\":\"{id}\",\"shown\":{shown},\"choice\":\"{choice}\"}}")
}

/// Votes until told to stop; returns the acknowledged votes.
fn vote_until(client: &mut Client<'_>, is_over: &AtomicBool) -> u64 {
    let mut state = client.send("/api/consent", "{}");
    let mut number = 0;
    while !is_over.load(Ordering::Relaxed) {
        state = client.vote(&state, number);
        number += 1;
        assert_eq!(state["voted"], number, "no vote is lost, none is doubled");
    }
    number
}

#[test]
fn killing_the_server_loses_and_doubles_no_vote() {
    let (clients, kills) =
        (number("HODGERANK_STUDY_CLIENTS", 10), number("HODGERANK_STUDY_KILLS", 5));
    // More pairs than anybody can vote on in this time.
    let mut program = Program::start(300, clients);
    let (secrets, address) = (program.secrets.clone(), program.address);
    let is_over = &AtomicBool::new(false);
    let acknowledged: Vec<u64> = std::thread::scope(|scope| {
        let vote = |secret| move || vote_until(&mut Client::new(address, secret), is_over);
        let threads: Vec<_> = secrets.iter().map(|secret| scope.spawn(vote(secret))).collect();
        for kill in 0..kills {
            std::thread::sleep(Duration::from_millis(200 + 137 * kill % 400));
            program.restart();
        }
        std::thread::sleep(Duration::from_millis(300));
        is_over.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    program.kill();
    assert_eq!(program.stored(), acknowledged);
    let all: u64 = acknowledged.iter().sum();
    assert!(all > clients);
    println!("{kills} kills, {clients} clients: {all} votes acknowledged, all of them stored once");
}

#[test]
fn many_voters_at_once_are_answered_quickly() {
    let (voters, seconds) =
        (number("HODGERANK_STUDY_VOTERS", 20), number("HODGERANK_STUDY_SECONDS", 2));
    // The limits below hold on a machine that does nothing else.
    let is_whole = std::env::var_os("HODGERANK_STUDY_SECONDS").is_some();
    let items = number("HODGERANK_STUDY_ITEMS", 200) as usize;
    let program = Program::start(items, voters);
    let interval = Duration::from_millis(300);
    let address = program.address;
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let vote = |secret: &'static str, place: u64| {
            move || {
                let mut client = Client::new(address, secret);
                let mut state = client.send("/api/consent", "{}");
                let start = Instant::now() + interval * (place as u32 % 100) / 100;
                let mut times = Vec::new();
                for number in 0.. {
                    let due = start + interval * number;
                    if due.saturating_duration_since(start) > Duration::from_secs(seconds) {
                        break;
                    }
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    let sent = Instant::now();
                    state = client.vote(&state, u64::from(number));
                    times.push(sent.elapsed());
                }
                times
            }
        };
        let secrets = program.secrets.iter().zip(0..);
        let threads: Vec<_> = secrets
            .map(|(secret, place)| scope.spawn(vote(String::leak(secret.clone()), place)))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    times.sort_unstable();
    assert_eq!(program.stored().iter().sum::<u64>(), times.len() as u64);
    let rate = times.len() as f64 / seconds as f64;
    let quantile = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "{voters} voters, {items} items: {rate:.0} votes a second; answered in {:?} (median), {:?} (99%)",
        quantile(0.5),
        quantile(0.99)
    );
    let memory = program.peak_memory();
    println!("at most {} MB of memory", memory >> 20);
    // Votes and voters are kept in memory, about a hundred bytes for a vote.
    assert!(memory < 300 << 20, "{memory} bytes");
    if is_whole {
        assert!(rate >= 500.0 && quantile(0.99) <= Duration::from_millis(100));
    }
}

/// Files may not grow beyond 384 kB, as on a full disk; later they may.
#[test]
fn votes_on_a_full_disk_are_refused_and_stored_when_there_is_space() {
    let mut program = Program::start(30, 2);
    program.kill();
    // Without the signal, a write beyond the limit fails as one on a full disk does.
    let script = r#"trap "" XFSZ; ulimit -S -f 768; exec "$@""#;
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_hodgerank"), "study", "serve"]);
    command.arg(&program.folder).args(["--listen", "127.0.0.1:0", "--quiet"]);
    (program.server, program.address) = start_server(command);
    let mut clients: Vec<Client<'_>> =
        program.secrets.iter().map(|secret| Client::new(program.address, secret)).collect();
    let mut states: Vec<Value> =
        clients.iter_mut().map(|client| client.send("/api/consent", "{}")).collect();
    let mut acknowledged = 0;
    let refused = loop {
        let place = acknowledged as usize % 2;
        let request = vote_request(&clients[place], &states[place], acknowledged);
        match clients[place].attempt("/api/vote", &request).unwrap() {
            (200, body) => states[place] = serde_json::from_str(&body).unwrap(),
            (503, _) => break (place, request),
            (429, _) => {
                std::thread::sleep(Duration::from_millis(50));
                continue;
            }
            other => panic!("{other:?}"),
        }
        acknowledged += 1;
        assert!(acknowledged < 400, "the limit has no effect");
    };
    // The server goes on answering, and nothing is lost.
    let (place, request) = refused;
    assert_eq!(clients[place].attempt("/api/vote", &request).unwrap().0, 503);
    assert_eq!(program.stored().iter().sum::<u64>(), acknowledged);
    let free = ["--pid", &program.server.id().to_string(), "--fsize=unlimited:"];
    assert!(Command::new("prlimit").args(free).status().unwrap().success());
    for _ in 0..2 {
        let state = clients[place].send("/api/vote", &request);
        assert_eq!(state["voted"].as_u64(), states[place]["voted"].as_u64().map(|n| n + 1));
    }
    assert_eq!(program.stored().iter().sum::<u64>(), acknowledged + 1);
}

#[test]
fn a_study_is_created_whole_or_not_at_all() {
    let (place, folder) = create(3, 2);
    let list = place.path().join("items.txt");
    let run = |arguments: &[&str]| {
        let output = hodgerank(&[&["study"], arguments].concat()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (folder, list) = (folder.to_str().unwrap(), list.to_str().unwrap());
    let (code, message) = run(&["new", folder, "--items", list, "--question", "Which?"]);
    assert!(code == Some(2) && message.contains("exists already"), "{message}");
    let other = place.path().join("other");
    let other = other.to_str().unwrap();
    let (code, message) =
        run(&["new", other, "--items", list, "--question", "Which?", "--until", "top=3"]);
    assert!(code == Some(2) && message.contains("--until"), "{message}");
    std::fs::write(list, "one\n").unwrap();
    let (code, message) = run(&["new", other, "--items", list, "--question", "Which?"]);
    assert!(code == Some(2) && message.contains("two items"), "{message}");
    let (code, message) = run(&["serve", other]);
    assert!(code == Some(2) && message.contains("study new"), "{message}");
    let left: Vec<_> =
        std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn votes_are_exported() {
    let program = Program::start(5, 1);
    let mut client = Client::new(program.address, &program.secrets[0]);
    let mut state = client.send("/api/consent", "{}");
    for number in 0..6 {
        state = client.vote(&state, number);
    }
    let folder = program.folder.to_str().unwrap();
    for name in ["votes.csv", "votes.parquet"] {
        let file = program.folder.join(name);
        let file = file.to_str().unwrap();
        assert!(hodgerank(&["study", "export", folder, "-o", file]).status().unwrap().success());
        let output = hodgerank(&["rank", file, "--format", "json"]).output().unwrap();
        let ranking: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(ranking["input"]["comparisons"], 6, "{name}");
        assert_eq!(ranking["input"]["annotators"], 1, "{name}");
    }
    // A hard link to the database.
    let link = program.folder.join("link.csv");
    std::fs::hard_link(program.folder.join("study.db"), &link).unwrap();
    let refused = hodgerank(&["study", "export", folder, "-o", link.to_str().unwrap()]);
    assert_eq!({ refused }.stderr(Stdio::null()).status().unwrap().code(), Some(2));
    let wrong = hodgerank(&["study", "export", folder, "-o", "votes.xlsx"]).status().unwrap();
    assert_eq!(wrong.code(), Some(2));
}
