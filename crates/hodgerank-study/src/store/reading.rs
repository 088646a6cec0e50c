//! What the live ranking reads: all of it from the same moment.

use rusqlite::Connection;

use super::{Database, StoredVote, now};
use crate::error::Result;
use crate::selection::{Later, Seen};

/// Milliseconds after which nobody is expected to vote on a pair any more.
const MAX_PENDING: i64 = 10 * 60 * 1000;

/// The votes at one moment.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The votes that count, in the order in which they were cast.
    pub(crate) votes: Vec<StoredVote>,
    pub(crate) voters: Vec<VoterRow>,
    /// Pairs that somebody is looking at.
    pub(crate) pending: Vec<(u32, u32)>,
    pub(crate) seen: Seen,
}

/// A voter as the database has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VoterRow {
    pub(crate) name: String,
    /// Votes that are not undone.
    pub(crate) votes: u64,
    pub(crate) is_excluded: bool,
}

impl Database {
    /// What happened after a moment that was read before.
    pub(crate) fn later(&self, seen: Seen) -> Result<Later> {
        let transaction = self.connection.unchecked_transaction()?;
        let mut query =
            transaction.prepare("SELECT left, right FROM shown WHERE id > ?1 ORDER BY id")?;
        let now_seen = self::seen(&transaction)?;
        let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let shown = query.query_map([seen.shown], pair)?;
        let shown = shown.collect::<rusqlite::Result<_>>()?;
        let mut query = transaction.prepare(
            "SELECT shown.left, shown.right, votes.choice FROM votes
             JOIN shown ON shown.id = votes.shown
             WHERE votes.number > ?1 AND votes.undone = 0 ORDER BY votes.number",
        )?;
        let vote = |row: &rusqlite::Row<'_>| {
            Ok((row.get(0)?, row.get(1)?, 0.5 + 0.5 * row.get::<_, f64>(2)?))
        };
        let votes = query.query_map([seen.votes], vote)?.collect::<rusqlite::Result<_>>()?;
        Ok(Later { shown, votes, seen: now_seen })
    }

    /// Reads everything in one transaction.
    pub(crate) fn read(&self) -> Result<Reading> {
        let transaction = self.connection.unchecked_transaction()?;
        let reading = Reading {
            votes: self.votes()?,
            voters: voters(&transaction)?,
            pending: pending(&transaction)?,
            seen: seen(&transaction)?,
        };
        transaction.commit()?;
        Ok(reading)
    }
}

/// The voters in the order of their links.
fn voters(connection: &Connection) -> rusqlite::Result<Vec<VoterRow>> {
    let mut query = connection.prepare(
        "SELECT voters.name, COUNT(votes.number), voters.excluded FROM voters
         LEFT JOIN shown ON shown.voter = voters.id
         LEFT JOIN votes ON votes.shown = shown.id AND votes.undone = 0
         GROUP BY voters.id ORDER BY voters.id",
    )?;
    let voter = |row: &rusqlite::Row<'_>| {
        let votes = row.get::<_, i64>(1)? as u64;
        Ok(VoterRow { name: row.get(0)?, votes, is_excluded: row.get(2)? })
    };
    query.query_map([], voter)?.collect()
}

fn pending(connection: &Connection) -> rusqlite::Result<Vec<(u32, u32)>> {
    let mut query = connection.prepare(
        "SELECT shown.left, shown.right FROM shown JOIN voters ON voters.id = shown.voter
         WHERE shown.at > ?1 AND voters.excluded = 0
            AND NOT EXISTS (SELECT 1 FROM votes WHERE votes.shown = shown.id AND votes.undone = 0)
         ORDER BY shown.id",
    )?;
    let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    query.query_map([now() - MAX_PENDING], pair)?.collect()
}

fn seen(connection: &Connection) -> rusqlite::Result<Seen> {
    let last = |table: &str, column: &str| {
        let query = format!("SELECT COALESCE(MAX({column}), 0) FROM {table}");
        connection.query_row(&query, [], |row| row.get(0))
    };
    Ok(Seen { shown: last("shown", "id")?, votes: last("votes", "number")? })
}
