//! What the pages ask for.

use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hodgerank_report::study::votes_per_minute;
use serde::{Deserialize, Serialize};

use super::{Shared, Study};
use crate::secret::{equal, hash};
use crate::store::{Answer, Choice, Database, Refusal, VoterState, lock};

#[derive(Debug, Deserialize)]
pub(super) struct VoteRequest {
    id: String,
    shown: i64,
    choice: Choice,
}

#[derive(Debug, Deserialize)]
pub(super) struct UndoRequest {
    id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct PauseRequest {
    paused: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct ExcludeRequest {
    voter: String,
    excluded: bool,
}

#[derive(Debug, Serialize)]
struct Shown {
    shown: i64,
    left: Side,
    right: Side,
}

/// An item without its name.
#[derive(Debug, Serialize)]
struct Side {
    kind: String,
    address: String,
}

/// The secret in the header `Authorization: Bearer SECRET`.
fn claimed(headers: &HeaderMap) -> &str {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    value.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default()
}

fn refuse(refusal: Refusal) -> Response {
    let status = match refusal {
        Refusal::Unknown => StatusCode::NOT_FOUND,
        Refusal::Conflict => StatusCode::CONFLICT,
        Refusal::NotAllowed => StatusCode::BAD_REQUEST,
        Refusal::Paused => StatusCode::LOCKED,
        Refusal::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Refusal::Busy => StatusCode::TOO_MANY_REQUESTS,
    };
    status.into_response()
}

/// A secret that nobody has.
fn stranger(study: &Study) -> StatusCode {
    match study.limits.allows_stranger() {
        true => StatusCode::UNAUTHORIZED,
        false => StatusCode::TOO_MANY_REQUESTS,
    }
}

fn voter(study: &Study, headers: &HeaderMap) -> Result<i64, StatusCode> {
    let found = study.engine.voter(&hash(claimed(headers)));
    let voter = found.ok_or_else(|| stranger(study))?;
    match study.limits.allows_voter(voter) {
        true => Ok(voter),
        false => Err(StatusCode::TOO_MANY_REQUESTS),
    }
}

fn owner(study: &Study, headers: &HeaderMap) -> Result<(), StatusCode> {
    match equal(&study.owner, &hash(claimed(headers))) {
        true => Ok(()),
        false => Err(stranger(study)),
    }
}

impl Study {
    fn side(&self, item: u32) -> Side {
        let item = &self.items[item as usize];
        Side { kind: item.kind.clone(), address: format!("/item/{}", item.token) }
    }

    fn page(&self, state: &VoterState) -> Response {
        let is_paused = self.engine.shared.is_paused.load(Ordering::Relaxed);
        let pairs = state.pairs.iter().map(|pair| Shown {
            shown: pair.shown,
            left: self.side(pair.left),
            right: self.side(pair.right),
        });
        let page = serde_json::json!({
            "question": self.settings.question,
            "ties": self.settings.ties,
            "all": self.settings.pairs.min(self.items.len() * (self.items.len() - 1) / 2),
            "pairs": pairs.collect::<Vec<_>>(),
            "voted": state.voted,
            "last": state.last,
            "consented": state.has_consented,
            "paused": is_paused,
            "ended": self.engine.shared.is_settled.load(Ordering::Relaxed),
        });
        Json(page).into_response()
    }

    fn answer(&self, reply: Result<Answer, Refusal>) -> Response {
        match reply {
            Ok(Answer::State(state)) => self.page(&state),
            Ok(Answer::Joined(secret)) => {
                Json(serde_json::json!({ "secret": secret.as_str() })).into_response()
            }
            Ok(Answer::Done) => Json(serde_json::json!({})).into_response(),
            Err(refusal) => refuse(refusal),
        }
    }
}

pub(super) async fn join(State(study): State<Shared>, headers: HeaderMap) -> Response {
    let claimed = hash(claimed(&headers));
    if !study.open.is_some_and(|open| equal(&open, &claimed)) {
        return stranger(&study).into_response();
    }
    if !study.limits.allows_stranger() {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    }
    study.answer(study.engine.join().await)
}

pub(super) async fn state(State(study): State<Shared>, headers: HeaderMap) -> Response {
    match voter(&study, &headers) {
        Ok(voter) => study.answer(study.engine.state(voter).await),
        Err(refusal) => refusal.into_response(),
    }
}

pub(super) async fn consent(State(study): State<Shared>, headers: HeaderMap) -> Response {
    match voter(&study, &headers) {
        Ok(voter) => study.answer(study.engine.consent(voter).await),
        Err(refusal) => refusal.into_response(),
    }
}

/// An id that a page chose: long enough to be unique, short enough to be stored.
fn is_id(id: &str) -> bool {
    (16..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

pub(super) async fn vote(
    State(study): State<Shared>,
    headers: HeaderMap,
    Json(vote): Json<VoteRequest>,
) -> Response {
    let voter = match voter(&study, &headers) {
        Ok(voter) => voter,
        Err(refusal) => return refusal.into_response(),
    };
    if !is_id(&vote.id) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    study.answer(study.engine.vote(voter, vote.id, vote.shown, vote.choice).await)
}

pub(super) async fn undo(
    State(study): State<Shared>,
    headers: HeaderMap,
    Json(undo): Json<UndoRequest>,
) -> Response {
    match voter(&study, &headers) {
        Ok(voter) => study.answer(study.engine.undo(voter, undo.id).await),
        Err(refusal) => refusal.into_response(),
    }
}

pub(super) async fn owner_state(State(study): State<Shared>, headers: HeaderMap) -> Response {
    if let Err(refusal) = owner(&study, &headers) {
        return refusal.into_response();
    }
    let live = study.live.snapshot();
    let minutes = live.per_minute();
    let page = serde_json::json!({
        "question": study.settings.question,
        "until_top": study.settings.until_top,
        "items": study.items.len(),
        "paused": study.engine.shared.is_paused.load(Ordering::Relaxed),
        "storage_problem": *lock(&study.engine.shared.problem),
        "last_minute": minutes.first(),
        "minutes": votes_per_minute(&minutes),
        "live": *live,
    });
    Json(page).into_response()
}

pub(super) async fn pause(
    State(study): State<Shared>,
    headers: HeaderMap,
    Json(pause): Json<PauseRequest>,
) -> Response {
    if let Err(refusal) = owner(&study, &headers) {
        return refusal.into_response();
    }
    study.answer(study.engine.pause(pause.paused).await)
}

pub(super) async fn exclude(
    State(study): State<Shared>,
    headers: HeaderMap,
    Json(exclude): Json<ExcludeRequest>,
) -> Response {
    if let Err(refusal) = owner(&study, &headers) {
        return refusal.into_response();
    }
    study.answer(study.engine.exclude(exclude.voter, exclude.excluded).await)
}

pub(super) async fn download(State(study): State<Shared>, headers: HeaderMap) -> Response {
    if let Err(refusal) = owner(&study, &headers) {
        return refusal.into_response();
    }
    let folder = study.folder.clone();
    let read = tokio::task::spawn_blocking(move || Database::open(&folder)?.csv()).await;
    match read {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], text).into_response(),
        _ => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
