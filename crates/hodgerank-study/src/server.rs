//! The HTTP server.
//!
//! Who somebody is stands in the header `Authorization`, which only the study's own pages send: secrets are in
//! the part of a link behind `#`, which browsers do not transmit, so that they are in no log. There are no
//! cookies, and another site cannot act for a voter. Items have random names; a request names an item, never
//! a path.

mod api;
mod files;
mod limits;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::error::{Error, Result};
use crate::live::Live;
use crate::secret::SecretHash;
use crate::store::{Database, Engine, Item, Settings};
use limits::Limits;

/// The longest body of a request.
const MAX_BODY_BYTES: usize = 4096;
/// Connections at the same time; more wait.
const MAX_CONNECTIONS: usize = 2048;
/// The longest time for the head of a request, and between requests of a connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest time for a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Everything that handlers need.
#[derive(Debug)]
pub(crate) struct Study {
    folder: PathBuf,
    settings: Settings,
    items: Vec<Item>,
    owner: SecretHash,
    open: Option<SecretHash>,
    engine: Engine,
    live: Live,
    limits: Limits,
    reads: Semaphore,
}

type Shared = Arc<Study>;

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: std::net::TcpListener,
    study: Shared,
}

impl Server {
    /// Opens a study and listens.
    ///
    /// # Errors
    /// If there is no study, or the address is in use.
    pub fn bind(folder: &Path, address: SocketAddr) -> Result<Self> {
        let database = Database::open(folder)?;
        let engine = Engine::start(folder)?;
        let live = Live::start(folder, &engine)?;
        let missing = || Error::NoStudy { path: folder.display().to_string() };
        let study = Study {
            folder: folder.to_owned(),
            settings: database.settings()?,
            items: database.items()?,
            owner: database.secret("owner")?.ok_or_else(missing)?,
            open: database.secret("open")?,
            engine,
            live,
            limits: Limits::default(),
            reads: Semaphore::new(16),
        };
        let listen = |source| Error::Listen { address: address.to_string(), source };
        let listener = std::net::TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        Ok(Self { listener, study: Arc::new(study) })
    }

    /// The address, with the port that the system chose if it was 0.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn address(&self) -> Result<SocketAddr> {
        let unknown = |source| Error::Listen { address: String::new(), source };
        self.listener.local_addr().map_err(unknown)
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn run(self) -> Result<()> {
        let listen = |source| Error::Listen { address: String::new(), source };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .worker_threads(2)
            .build()
            .map_err(listen)?;
        runtime.block_on(async move {
            let listener = TcpListener::from_std(self.listener).map_err(listen)?;
            let service = TowerToHyperService::new(router(self.study));
            let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
            loop {
                let Ok(permit) = Arc::clone(&connections).acquire_owned().await else {
                    return Ok(());
                };
                let Ok((stream, _)) = listener.accept().await else {
                    // Too many open files, or a connection that was lost before it was accepted.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let _delay = stream.set_nodelay(true);
                let service = service.clone();
                tokio::spawn(async move {
                    let served = hyper::server::conn::http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(HEAD_TIMEOUT)
                        .max_buf_size(64 << 10)
                        .serve_connection(TokioIo::new(stream), service);
                    // A connection that breaks concerns its client, who sends the vote again.
                    let _broken = served.await;
                    drop(permit);
                });
            }
        })
    }
}

fn router(study: Shared) -> Router {
    Router::new()
        .route("/", get(files::voter_page))
        .route("/owner", get(files::owner_page))
        // Browsers ask for it on their own.
        .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
        .route("/page/{name}", get(files::page_file))
        .route("/report/{name}", get(files::report_file))
        .route("/language.json", get(files::language))
        .route("/item/{token}", get(files::item))
        .route("/api/join", post(api::join))
        .route("/api/state", post(api::state))
        .route("/api/consent", post(api::consent))
        .route("/api/vote", post(api::vote))
        .route("/api/undo", post(api::undo))
        .route("/api/owner/state", post(api::owner_state))
        .route("/api/owner/pause", post(api::pause))
        .route("/api/owner/exclude", post(api::exclude))
        .route("/api/owner/votes.csv", post(api::download))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn_with_state(Arc::clone(&study), check))
        .layer(from_fn(protect))
        .with_state(study)
}

/// Refuses requests from other sites and requests without end.
async fn check(State(study): State<Shared>, request: Request, next: Next) -> Response {
    let is_page = matches!(request.uri().path(), "/" | "/owner");
    if !is_own_origin(request.headers(), is_page) {
        return StatusCode::FORBIDDEN.into_response();
    }
    if request.uri().path().starts_with("/api/") && !study.limits.allows_any() {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    }
    match tokio::time::timeout(REQUEST_TIMEOUT, next.run(request)).await {
        Ok(response) => response,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// Whether a request comes from the study's own pages, or from no page. A page itself may be opened from
/// anywhere, as a link in a message is.
fn is_own_origin(headers: &HeaderMap, is_page: bool) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if let Some(origin) = headers.get(header::ORIGIN) {
        let host = text(header::HOST).unwrap_or_default();
        let own = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
        if own.is_none_or(|(_, authority)| authority != host) {
            return false;
        }
    }
    match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
        None | Some(b"same-origin" | b"none") => true,
        Some(_) => is_page && headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate"),
    }
}

/// Headers of every response.
async fn protect(request: Request, next: Next) -> Response {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
        media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'none'";
    const HEADERS: [(&str, &str); 6] = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
    ];
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
