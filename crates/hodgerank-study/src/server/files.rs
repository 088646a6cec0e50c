//! Pages, their scripts, and the files of items.

use std::io::{Read as _, Seek as _, SeekFrom};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hodgerank_report::page as report;

use super::Shared;
use crate::create::{ENGLISH, ITEMS, LANGUAGE};

/// The longest part of a file in one answer to a request for a part.
const MAX_PART: u64 = 1 << 20;
/// The longest language file.
const MAX_LANGUAGE: usize = 256 << 10;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

fn text(kind: &'static str, content: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], content).into_response()
}

pub(super) async fn voter_page() -> Response {
    text(HTML, include_str!("../../page/voter.html"))
}

pub(super) async fn owner_page() -> Response {
    text(HTML, include_str!("../../page/owner.html"))
}

pub(super) async fn page_file(Path(name): Path<String>) -> Response {
    match name.as_str() {
        "voter.js" => text(SCRIPT, include_str!("../../page/voter.js")),
        "owner.js" => text(SCRIPT, include_str!("../../page/owner.js")),
        "request.js" => text(SCRIPT, include_str!("../../page/request.js")),
        "voter.css" => text(STYLE, include_str!("../../page/voter.css")),
        "owner.css" => text(STYLE, include_str!("../../page/owner.css")),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A style or module of the report: the owner's page draws its chart and table with them. `report.css` has all
/// styles.
pub(super) async fn report_file(Path(name): Path<String>) -> Response {
    if name == "report.css" {
        return ([(header::CONTENT_TYPE, STYLE)], report::style()).into_response();
    }
    let kind = if name.ends_with(".css") { STYLE } else { SCRIPT };
    report::file(&name)
        .map_or_else(|| StatusCode::NOT_FOUND.into_response(), |content| text(kind, content))
}

/// The sentences of the voter's page: those of the file in the study's folder; English ones where it has none.
pub(super) async fn language(State(study): State<Shared>) -> Response {
    type Sentences = serde_json::Map<String, serde_json::Value>;
    let parse = |text: &str| serde_json::from_str::<Sentences>(text).unwrap_or_default();
    let own = std::fs::read_to_string(study.folder.join(LANGUAGE)).unwrap_or_default();
    let mut sentences = parse(ENGLISH);
    if own.len() <= MAX_LANGUAGE {
        sentences.extend(parse(&own));
    }
    axum::Json(sentences).into_response()
}

/// The file of an item. The request names the item; where its file is comes from the database.
pub(super) async fn item(
    State(study): State<Shared>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Response {
    let Some(item) = study.items.iter().find(|item| item.token == token) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let Some(name) = &item.file else {
        let headers = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        return (headers, item.label.clone()).into_response();
    };
    let kind = content_type(name);
    let path = study.folder.join(ITEMS).join(name);
    let range = headers.get(header::RANGE).and_then(|value| parse_range(value.to_str().ok()?));
    let Ok(_permit) = study.reads.acquire().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let read = tokio::task::spawn_blocking(move || read_part(&path, range)).await;
    let Ok(Ok((content, from, size))) = read else {
        return StatusCode::NOT_FOUND.into_response();
    };
    // A picture in SVG may contain a script: opened by itself, it may do nothing.
    let mut response = (
        [
            (header::CONTENT_TYPE, kind),
            (
                header::CONTENT_SECURITY_POLICY,
                "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            ),
            (header::CACHE_CONTROL, "private, max-age=86400, immutable"),
            (header::ACCEPT_RANGES, "bytes"),
        ],
        content,
    )
        .into_response();
    if range.is_some() {
        let length = response.body().size_hint_exact();
        let end = (from + length).saturating_sub(1);
        let Ok(value) = format!("bytes {from}-{end}/{size}").parse() else {
            return StatusCode::RANGE_NOT_SATISFIABLE.into_response();
        };
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    response
}

trait ExactSize {
    fn size_hint_exact(&self) -> u64;
}

impl ExactSize for axum::body::Body {
    fn size_hint_exact(&self) -> u64 {
        use hyper::body::Body as _;
        self.size_hint().exact().unwrap_or(0)
    }
}

/// `bytes=FROM-` or `bytes=FROM-TO`.
fn parse_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (from, to) = text.strip_prefix("bytes=")?.split_once('-')?;
    Some((from.parse().ok()?, to.parse().ok()))
}

/// The bytes, where they begin, and the size of the file.
fn read_part(
    path: &std::path::Path,
    range: Option<(u64, Option<u64>)>,
) -> std::io::Result<(Vec<u8>, u64, u64)> {
    let mut file = std::fs::File::open(path)?;
    let size = file.metadata()?.len();
    let (from, length) = match range {
        None => (0, size),
        Some((from, to)) => {
            let end = to.map_or(size, |to| to.saturating_add(1).min(size));
            (from.min(size), end.saturating_sub(from).min(MAX_PART))
        }
    };
    file.seek(SeekFrom::Start(from))?;
    let mut content = Vec::new();
    file.take(length).read_to_end(&mut content)?;
    Ok((content, from, size))
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "svg" => "image/svg+xml",
        "mp4" | "m4v" => "video/mp4",
        "webm" => "video/webm",
        "mov" => "video/quicktime",
        "mp3" => "audio/mpeg",
        "ogg" | "opus" => "audio/ogg",
        "wav" => "audio/wav",
        "m4a" => "audio/mp4",
        "flac" => "audio/flac",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
