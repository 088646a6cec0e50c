//! A study with a server in this process, and a client with a connection for each request.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hodgerank_study::create::{Links, create};
use hodgerank_study::server::Server;
use hodgerank_study::store::Settings;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Running {
    pub(crate) folder: PathBuf,
    pub(crate) address: SocketAddr,
    pub(crate) links: Links,
    _place: TempDir,
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|_| panic!("{}: {}", self.status, self.body))
    }
}

pub(crate) fn settings() -> Settings {
    Settings {
        question: "Which is better?".to_owned(),
        ties: true,
        repeats: 0.0,
        pairs: 1000,
        until_top: None,
    }
}

/// A study of texts with so many items.
pub(crate) fn start(items: usize, voters: Option<usize>, settings: &Settings) -> Running {
    let place = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..items).map(|item| format!("item {item}, \"quoted\"")).collect();
    std::fs::write(place.path().join("items.txt"), names.join("\n")).unwrap();
    let folder = place.path().join("study");
    let links = create(&folder, &place.path().join("items.txt"), settings, voters).unwrap();
    let address = serve(&folder);
    Running { folder, address, links, _place: place }
}

fn serve(folder: &Path) -> SocketAddr {
    let server = Server::bind(folder, "127.0.0.1:0".parse().unwrap()).unwrap();
    let address = server.address().unwrap();
    std::thread::spawn(move || server.run());
    address
}

/// Sends a request as it is and returns the response.
pub(crate) fn send(address: SocketAddr, request: &str) -> Response {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Response { status, head: head.to_lowercase(), body: body.to_owned() }
}

impl Running {
    /// Goes on with another server on the same folder, which knows what the database has.
    pub(crate) fn restart(&mut self) {
        self.address = serve(&self.folder);
    }

    /// The owner's page once it has so many votes and meets a condition.
    pub(crate) fn live(&self, votes: u64, is_met: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let state = self.post("/api/owner/state", &self.owner(), &Value::Null).json();
            if state["live"]["votes"] == votes && is_met(&state["live"]) {
                return state["live"].clone();
            }
            assert!(start.elapsed() < Duration::from_secs(30), "{state}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn get(&self, path: &str, headers: &str) -> Response {
        let host = self.address;
        send(
            self.address,
            &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"),
        )
    }

    pub(crate) fn post(&self, path: &str, secret: &str, body: &Value) -> Response {
        self.post_with(path, secret, &body.to_string(), "")
    }

    pub(crate) fn post_with(&self, path: &str, secret: &str, body: &str, more: &str) -> Response {
        let (host, length) = (self.address, body.len());
        send(
            self.address,
            &format!(
                "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer \
                 {secret}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n{body}"
            ),
        )
    }

    /// The secret of a link.
    pub(crate) fn secret(&self, voter: usize) -> String {
        secret_of(&self.links.voters[voter].1)
    }

    pub(crate) fn owner(&self) -> String {
        secret_of(&self.links.owner)
    }

    /// A voter who has agreed to take part, with the first state.
    pub(crate) fn agree(&self, voter: usize) -> (String, Value) {
        let secret = self.secret(voter);
        let response = self.post("/api/consent", &secret, &Value::Null);
        assert_eq!(response.status, 200, "{}", response.body);
        (secret, response.json())
    }

    pub(crate) fn vote(&self, secret: &str, id: &str, state: &Value, choice: &str) -> Response {
        let shown = state["pairs"][0]["shown"].clone();
        let body = serde_json::json!({ "id": id, "shown": shown, "choice": choice });
        self.post("/api/vote", secret, &body)
    }
}

fn secret_of(link: &str) -> String {
    link.rsplit(['#', '=']).next().unwrap().to_owned()
}

/// An id of the length that pages use.
pub(crate) fn id(number: usize) -> String {
    format!("{number:032}")
}
