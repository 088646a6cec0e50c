//! What each request changes.

use std::sync::atomic::Ordering;

use rand_chacha::ChaCha8Rng;
use rusqlite::{Transaction, params};

use super::request::{Action, Answer, Choice, Refusal, Reply, Shared, ShownPair, VoterState, now};
use super::{Settings, insert_voter};
use crate::secret::Secret;
use crate::selection::Selection;
use crate::voters::{Shown, Voter, Voters};

/// Pairs that a voter's page has: the one on the screen and the one that it loads in advance.
const PENDING: usize = 2;
/// Voters of the open link.
const MAX_VOTERS: usize = 100_000;

/// One transaction.
pub(super) struct Step<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    pub(super) settings: &'a Settings,
    pub(super) voters: &'a mut Voters,
    pub(super) selection: &'a mut Selection,
    pub(super) shared: &'a Shared,
    pub(super) rng: &'a mut ChaCha8Rng,
}

impl Step<'_> {
    pub(super) fn carry_out(&mut self, action: &Action) -> rusqlite::Result<Reply> {
        match action {
            Action::Join => self.join(),
            Action::State(voter) => self.state(*voter),
            Action::Consent(voter) => {
                let Some(own) = self.voters.by_id.get_mut(voter) else {
                    return Ok(Err(Refusal::Unknown));
                };
                own.has_consented = true;
                self.transaction.execute(
                    "UPDATE voters SET consented = ?2 WHERE id = ?1 AND consented IS NULL",
                    (voter, now()),
                )?;
                self.state(*voter)
            }
            Action::Vote { voter, id, shown, choice } => self.vote(*voter, id, *shown, *choice),
            Action::Undo { voter, id } => self.undo(*voter, id),
            Action::Exclude { name, is_excluded } => {
                let Some(id) = self.voters.by_name.get(name) else {
                    return Ok(Err(Refusal::Unknown));
                };
                let update = "UPDATE voters SET excluded = ?2 WHERE id = ?1";
                self.transaction.execute(update, (id, is_excluded))?;
                if let Some(voter) = self.voters.by_id.get_mut(id) {
                    voter.is_excluded = *is_excluded;
                }
                Ok(Ok(Answer::Done))
            }
            Action::Pause(is_paused) => {
                let store = "INSERT INTO settings VALUES ('paused', ?1)
                     ON CONFLICT(name) DO UPDATE SET value = excluded.value";
                self.transaction.execute(store, [is_paused.to_string()])?;
                self.shared.is_paused.store(*is_paused, Ordering::Relaxed);
                Ok(Ok(Answer::Done))
            }
        }
    }

    fn join(&mut self) -> rusqlite::Result<Reply> {
        let (true, Ok(secret)) = (self.voters.by_id.len() < MAX_VOTERS, Secret::new()) else {
            return Ok(Err(Refusal::Busy));
        };
        let mut number = self.voters.by_id.len() + 1;
        while self.voters.by_name.contains_key(&format!("voter-{number}")) {
            number += 1;
        }
        let name = format!("voter-{number}");
        let id = insert_voter(self.transaction, &name, &secret.hash())?;
        self.voters.by_id.insert(id, Voter::default());
        self.voters.by_name.insert(name, id);
        self.voters.by_secret.insert(secret.hash(), id);
        Ok(Ok(Answer::Joined(secret)))
    }

    fn vote(
        &mut self,
        voter: i64,
        id: &str,
        shown: i64,
        choice: Choice,
    ) -> rusqlite::Result<Reply> {
        let Some(own) = self.voters.by_id.get_mut(&voter) else { return Ok(Err(Refusal::Unknown)) };
        // A vote that was stored stays stored, whatever has happened since.
        if let Some((_, pair)) = own.votes.iter().rev().find(|(known, _)| known == id) {
            return if pair.id == shown { self.state(voter) } else { Ok(Err(Refusal::Conflict)) };
        }
        if own.is_excluded || self.shared.is_paused.load(Ordering::Relaxed) {
            return Ok(Err(Refusal::Paused));
        }
        if choice == Choice::Tie && !self.settings.ties {
            return Ok(Err(Refusal::NotAllowed));
        }
        let Some(place) = own.pending.iter().position(|pair| pair.id == shown) else {
            let is_known = own.votes.iter().any(|(_, pair)| pair.id == shown);
            return Ok(Err(if is_known { Refusal::Conflict } else { Refusal::Unknown }));
        };
        let (value, wins) = match choice {
            Choice::Left => (1, 1.0),
            Choice::Right => (-1, 0.0),
            Choice::Tie => (0, 0.5),
        };
        let mut insert = self.transaction.prepare(
            "INSERT OR IGNORE INTO votes(id, shown, choice, at) VALUES (?1, ?2, ?3, ?4)",
        )?;
        if insert.execute(params![id, shown, value, now()])? == 0 {
            // The id belongs to a vote that was undone, or to somebody else.
            return Ok(Err(Refusal::Conflict));
        }
        let pair = own.pending.remove(place);
        self.selection.vote(self.transaction.last_insert_rowid(), &pair, wins);
        own.votes.push((id.to_owned(), pair));
        self.state(voter)
    }

    fn undo(&mut self, voter: i64, id: &str) -> rusqlite::Result<Reply> {
        let Some(own) = self.voters.by_id.get_mut(&voter) else { return Ok(Err(Refusal::Unknown)) };
        match own.votes.pop_if(|(last, _)| last == id) {
            Some((_, pair)) => {
                own.pending.insert(0, pair);
                let update = "UPDATE votes SET undone = 1 WHERE id = ?1";
                self.transaction.execute(update, [id])?;
                self.state(voter)
            }
            // Taken back before: the answer was lost.
            None if own.votes.iter().all(|(known, _)| known != id) => self.state(voter),
            None => Ok(Err(Refusal::Conflict)),
        }
    }

    /// The pairs of a voter; shows new ones if there are too few.
    fn state(&mut self, voter: i64) -> rusqlite::Result<Reply> {
        let Some(own) = self.voters.by_id.get_mut(&voter) else { return Ok(Err(Refusal::Unknown)) };
        let is_over = own.is_excluded
            || self.shared.is_paused.load(Ordering::Relaxed)
            || self.shared.is_settled.load(Ordering::Relaxed);
        while own.has_consented
            && !is_over
            && own.pending.len() < PENDING
            && own.votes.len() + own.pending.len() < self.settings.pairs
        {
            let id = self.voters.last_shown + 1;
            let (shown, repeats) = (&self.voters.shown, self.settings.repeats);
            let next = self.selection.next_pair(own, shown, repeats, id, self.rng);
            let Some(pair) = next else { break };
            let Shown { left, right, is_repeat, .. } = pair;
            let mut insert =
                self.transaction.prepare("INSERT INTO shown VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
            insert.execute(params![id, voter, left, right, is_repeat, now()])?;
            self.voters.last_shown = id;
            self.voters.shown[left as usize] += 1;
            self.voters.shown[right as usize] += 1;
            self.shared.asked.fetch_add(1, Ordering::Relaxed);
            self.selection.show(&pair);
            own.show(pair);
        }
        let shown = |pair: &Shown| ShownPair { shown: pair.id, left: pair.left, right: pair.right };
        let pairs = if is_over {
            Vec::new()
        } else {
            own.pending.iter().take(PENDING).map(shown).collect()
        };
        Ok(Ok(Answer::State(VoterState {
            pairs,
            voted: own.votes.len(),
            last: own.votes.last().map(|(id, _)| id.clone()),
            has_consented: own.has_consented,
        })))
    }
}
