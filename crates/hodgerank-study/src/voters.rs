//! What is known about each voter between requests: a copy of the database in memory.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use crate::secret::SecretHash;

/// A pair as it was shown to a voter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) id: i64,
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) is_repeat: bool,
}

/// A voter.
#[derive(Debug, Default)]
pub(crate) struct Voter {
    pub(crate) has_consented: bool,
    pub(crate) is_excluded: bool,
    /// Pairs shown and not yet voted on, by id.
    pub(crate) pending: Vec<Shown>,
    /// Votes that are not undone: their ids, with the pairs as they were shown.
    pub(crate) votes: Vec<(String, Shown)>,
    /// Pairs that this person has been shown, the smaller item first.
    pub(crate) asked: HashSet<(u32, u32)>,
    /// Pairs that this person has been shown twice.
    pub(crate) repeated: HashSet<(u32, u32)>,
}

/// All voters.
#[derive(Debug, Default)]
pub(crate) struct Voters {
    pub(crate) by_id: HashMap<i64, Voter>,
    pub(crate) by_name: HashMap<String, i64>,
    pub(crate) by_secret: HashMap<SecretHash, i64>,
    /// How often each item was shown.
    pub(crate) shown: Vec<u64>,
    pub(crate) last_shown: i64,
}

/// A pair without sides.
pub(crate) fn unordered(i: u32, j: u32) -> (u32, u32) {
    (i.min(j), i.max(j))
}

impl Voter {
    /// Notes that a pair is shown.
    pub(crate) fn show(&mut self, pair: Shown) {
        let key = unordered(pair.left, pair.right);
        self.asked.insert(key);
        if pair.is_repeat {
            self.repeated.insert(key);
        }
        self.pending.push(pair);
    }
}

impl Voters {
    pub(crate) fn load(connection: &Connection, items: usize) -> rusqlite::Result<Self> {
        let mut found = Self { shown: vec![0; items], ..Self::default() };
        let mut query =
            connection.prepare("SELECT id, name, secret, consented, excluded FROM voters")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            let consented: Option<i64> = row.get(3)?;
            let voter = Voter {
                has_consented: consented.is_some(),
                is_excluded: row.get(4)?,
                ..Voter::default()
            };
            found.by_name.insert(row.get(1)?, id);
            found.by_secret.insert(row.get(2)?, id);
            found.by_id.insert(id, voter);
        }
        let mut query = connection.prepare(
            "SELECT shown.id, shown.voter, shown.left, shown.right, shown.is_repeat, votes.id
             FROM shown LEFT JOIN votes ON votes.shown = shown.id AND votes.undone = 0
             ORDER BY votes.number, shown.id",
        )?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let pair = Shown {
                id: row.get(0)?,
                left: row.get(2)?,
                right: row.get(3)?,
                is_repeat: row.get(4)?,
            };
            found.last_shown = found.last_shown.max(pair.id);
            for item in [pair.left, pair.right] {
                if let Some(times) = found.shown.get_mut(item as usize) {
                    *times += 1;
                }
            }
            let Some(voter) = found.by_id.get_mut(&row.get(1)?) else { continue };
            voter.show(pair);
            if let Some(vote) = row.get::<_, Option<String>>(5)? {
                voter.pending.pop();
                voter.votes.push((vote, pair));
            }
        }
        for voter in found.by_id.values_mut() {
            voter.pending.sort_by_key(|pair| pair.id);
        }
        Ok(found)
    }
}
