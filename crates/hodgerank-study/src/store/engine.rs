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
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::request::{Action, Choice, Refusal, Reply, Shared};
use super::step::Step;
use super::voters::Voters;
use super::{Database, Settings};
use crate::error::{Error, Result};
use crate::secret::{Secret, SecretHash, equal};

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
        let database = Database::open(folder)?;
        let settings = database.settings()?;
        let items = database.items()?.len();
        let shared = Arc::new(Shared::default());
        let seed = u64::from_str_radix(&Secret::new()?.as_str()[..16], 16).unwrap_or(0);
        let voters = Voters::load(&database.connection, items)?;
        let (requests, waiting) = mpsc::channel(MAX_WAITING);
        let mut writer = Writer {
            connection: database.connection,
            settings,
            items,
            voters,
            shared: Arc::clone(&shared),
            rng: ChaCha8Rng::seed_from_u64(seed),
        };
        writer.publish_secrets();
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
}

struct Writer {
    connection: Connection,
    settings: Settings,
    items: usize,
    voters: Voters,
    shared: Arc<Shared>,
    rng: ChaCha8Rng,
}

impl Writer {
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
        match self.transact(actions) {
            Ok(replies) => {
                self.shared.version.fetch_add(1, Ordering::Relaxed);
                self.publish_secrets();
                Some(replies)
            }
            Err(_) => {
                if let Ok(voters) = Voters::load(&self.connection, self.items) {
                    self.voters = voters;
                }
                None
            }
        }
    }

    fn transact(&mut self, actions: &[Action]) -> rusqlite::Result<Vec<Reply>> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut step = Step {
            transaction: &transaction,
            settings: &self.settings,
            voters: &mut self.voters,
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
