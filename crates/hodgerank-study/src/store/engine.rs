//! The thread that writes.
//!
//! Requests that have arrived are carried out in one transaction and answered after its commit, which waits
//! for the disk: many voters share one wait. If the commit fails (a full disk, a locked database), nothing of
//! it happened, everybody is told, and the state in memory is read again.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rusqlite::TransactionBehavior;
use tokio::sync::{mpsc, oneshot};

use super::request::{Action, Choice, Refusal, Reply, Shared, lock};
use super::step::Step;
use super::{Database, Settings};
use crate::error::{Error, Result};
use crate::secret::{Secret, SecretHash, equal};
use crate::selection::Selection;
use crate::voters::Voters;

/// Requests in one transaction.
const MAX_BATCH: usize = 512;
/// Requests that wait; more are refused at once.
const MAX_WAITING: usize = 4096;

struct Request {
    action: Action,
    reply: oneshot::Sender<Reply>,
}

/// A handle to the thread that writes.
#[derive(Debug, Clone)]
pub struct Engine {
    requests: mpsc::Sender<Request>,
    pub(crate) shared: Arc<Shared>,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.action.fmt(f)
    }
}

impl Engine {
    /// Starts the thread for the study in a folder.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn start(folder: &Path) -> Result<Self> {
        let mut writer = Writer::open(folder)?;
        let shared = Arc::clone(&writer.shared);
        let (requests, waiting) = mpsc::channel(MAX_WAITING);
        let run = move || writer.run(waiting);
        let thread = std::thread::Builder::new().name("votes".to_owned()).spawn(run);
        thread.map_err(|source| Error::file(folder, source))?;
        Ok(Self { requests, shared })
    }

    /// The voter with this secret.
    pub(crate) fn voter(&self, hash: &SecretHash) -> Option<i64> {
        let secrets = self.shared.secrets.read().unwrap_or_else(PoisonError::into_inner);
        let (found, voter) = secrets.get_key_value(hash)?;
        equal(found, hash).then_some(*voter)
    }

    async fn send(&self, action: Action) -> Reply {
        let (reply, answer) = oneshot::channel();
        self.requests.try_send(Request { action, reply }).map_err(|_| Refusal::Busy)?;
        answer.await.unwrap_or(Err(Refusal::Unavailable))
    }

    /// Adds a voter of the open link.
    ///
    /// # Errors
    /// If the database cannot be written, or there are too many voters.
    pub async fn join(&self) -> Reply {
        self.send(Action::Join).await
    }

    /// What a voter's page shows.
    ///
    /// # Errors
    /// If there is no such voter, or the database cannot be written.
    pub async fn state(&self, voter: i64) -> Reply {
        self.send(Action::State(voter)).await
    }

    /// Notes that a voter agrees to take part.
    ///
    /// # Errors
    /// As [`Engine::state`].
    pub async fn consent(&self, voter: i64) -> Reply {
        self.send(Action::Consent(voter)).await
    }

    /// Stores a vote. Sending it again changes nothing.
    ///
    /// # Errors
    /// If the pair is not the voter's, has another vote, or the database cannot be written.
    pub async fn vote(&self, voter: i64, id: String, shown: i64, choice: Choice) -> Reply {
        self.send(Action::Vote { voter, id, shown, choice }).await
    }

    /// Takes the last vote back; its pair is shown again.
    ///
    /// # Errors
    /// If it is not the voter's last vote, or the database cannot be written.
    pub async fn undo(&self, voter: i64, id: String) -> Reply {
        self.send(Action::Undo { voter, id }).await
    }

    /// Leaves a voter out of the ranking, or takes them back.
    ///
    /// # Errors
    /// If there is no such voter, or the database cannot be written.
    pub async fn exclude(&self, name: String, is_excluded: bool) -> Reply {
        self.send(Action::Exclude { name, is_excluded }).await
    }

    /// Pauses the study, or lets it go on.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn pause(&self, is_paused: bool) -> Reply {
        self.send(Action::Pause(is_paused)).await
    }
}

struct Writer {
    database: Database,
    settings: Settings,
    items: usize,
    voters: Voters,
    selection: Selection,
    shared: Arc<Shared>,
    rng: ChaCha8Rng,
    /// Whether the state in memory must be read again.
    is_stale: bool,
}

impl Writer {
    fn open(folder: &Path) -> Result<Self> {
        let database = Database::open(folder)?;
        let items = database.items()?.len();
        let shared = Shared::default();
        shared.is_paused.store(database.is_paused()?, Ordering::Relaxed);
        let seed = u64::from_str_radix(&Secret::new()?.as_str()[..16], 16).unwrap_or(0);
        let writer = Self {
            settings: database.settings()?,
            items,
            voters: Voters::load(&database.connection, items)?,
            selection: Selection::default(),
            shared: Arc::new(shared),
            rng: ChaCha8Rng::seed_from_u64(seed),
            is_stale: false,
            database,
        };
        writer.publish_secrets();
        Ok(writer)
    }

    fn run(&mut self, mut waiting: mpsc::Receiver<Request>) {
        let mut batch = Vec::new();
        while waiting.blocking_recv_many(&mut batch, MAX_BATCH) > 0 {
            let actions: Vec<Action> = batch.iter().map(|request| request.action.clone()).collect();
            let replies = self.carry_out(&actions);
            for (place, request) in batch.drain(..).enumerate() {
                let reply =
                    replies.as_ref().map_or(Err(Refusal::Unavailable), |all| all[place].clone());
                // A page that was closed needs no answer.
                let _closed = request.reply.send(reply);
            }
        }
    }

    /// All actions in one transaction; none of them if the database fails.
    fn carry_out(&mut self, actions: &[Action]) -> Option<Vec<Reply>> {
        let refit = lock(&self.shared.refit).take();
        refit.into_iter().for_each(|refit| self.selection.install(refit));
        let before = self.database.connection.total_changes();
        let done = self.transact(actions);
        // Also after a failure: the next fit replaces what the failed transaction did to the selection.
        if done.is_err() || self.database.connection.total_changes() > before {
            self.shared.version.fetch_add(1, Ordering::Relaxed);
        }
        match done {
            Ok(replies) => {
                self.selection.commit();
                self.publish_secrets();
                *lock(&self.shared.problem) = None;
                Some(replies)
            }
            Err(error) => {
                self.selection.roll_back();
                // The state in memory is ahead of the database: nothing is carried out with it.
                self.is_stale = true;
                *lock(&self.shared.problem) = Some(error.to_string());
                None
            }
        }
    }

    /// Reads the state in memory again.
    fn reload(&mut self) -> rusqlite::Result<()> {
        self.voters = Voters::load(&self.database.connection, self.items)?;
        let is_paused = self.database.is_paused()?;
        self.shared.is_paused.store(is_paused, Ordering::Relaxed);
        self.is_stale = false;
        Ok(())
    }

    fn transact(&mut self, actions: &[Action]) -> rusqlite::Result<Vec<Reply>> {
        if self.is_stale {
            self.reload()?;
        }
        let connection = &mut self.database.connection;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut step = Step {
            transaction: &transaction,
            settings: &self.settings,
            voters: &mut self.voters,
            selection: &mut self.selection,
            shared: &self.shared,
            rng: &mut self.rng,
        };
        let replies =
            actions.iter().map(|action| step.carry_out(action)).collect::<rusqlite::Result<_>>()?;
        transaction.commit()?;
        Ok(replies)
    }

    fn publish_secrets(&self) {
        let mut secrets = self.shared.secrets.write().unwrap_or_else(PoisonError::into_inner);
        if secrets.len() != self.voters.by_secret.len() {
            secrets.clone_from(&self.voters.by_secret);
        }
    }
}

#[cfg(test)]
mod tests;
