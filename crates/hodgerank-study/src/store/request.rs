//! Requests, their answers, and what the thread that writes shares with others.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::secret::{Secret, SecretHash};
use crate::selection::Refit;

/// What a voter prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// The item on the left.
    Left,
    /// The item on the right.
    Right,
    /// Neither.
    Tie,
}

/// A pair on a voter's screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownPair {
    /// Its number, to be sent with the vote.
    pub shown: i64,
    /// The index of the item on the left.
    pub left: u32,
    /// The index of the item on the right.
    pub right: u32,
}

/// What a voter's page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoterState {
    /// The pair to vote on, and the one after it.
    pub pairs: Vec<ShownPair>,
    /// Votes so far.
    pub voted: usize,
    /// The id of the last vote, which can be undone.
    pub last: Option<String>,
    /// Whether the voter has agreed to take part.
    pub has_consented: bool,
}

/// The answer to a request that was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// What a voter's page shows now.
    State(VoterState),
    /// The secret of a new voter.
    Joined(Secret),
    /// Done.
    Done,
}

/// Why a request was not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The voter, vote or pair does not exist, or is somebody else's.
    Unknown,
    /// The pair has another vote already.
    Conflict,
    /// The answer is not allowed in this study.
    NotAllowed,
    /// The study is paused, or the voter excluded.
    Paused,
    /// The database cannot be written now; nothing was changed.
    Unavailable,
    /// Too many requests are waiting, or there are too many voters.
    Busy,
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    Join,
    State(i64),
    Consent(i64),
    Vote { voter: i64, id: String, shown: i64, choice: Choice },
    Undo { voter: i64, id: String },
    Exclude { name: String, is_excluded: bool },
    Pause(bool),
}

pub(super) type Reply = std::result::Result<Answer, Refusal>;

/// What the thread shares with the server and the live ranking.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Grows with every transaction that changes the database or fails: there is something to fit.
    pub(crate) version: AtomicU64,
    /// Pairs given out so far.
    pub(crate) asked: AtomicU64,
    pub(crate) is_paused: AtomicBool,
    /// Whether the stop rule is met.
    pub(crate) is_settled: AtomicBool,
    /// The last fit, until the thread that writes takes it.
    pub(crate) refit: Mutex<Option<Refit>>,
    /// Why votes cannot be stored at the moment.
    pub(crate) problem: Mutex<Option<String>>,
    /// The voters by the hashes of their secrets.
    pub(crate) secrets: RwLock<HashMap<SecretHash, i64>>,
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}

/// Locks; a thread that panicked leaves nothing half done behind these locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
