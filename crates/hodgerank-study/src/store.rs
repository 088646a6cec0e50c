//! The database of a study, `study.db`.
//!
//! A vote is a row that never changes, but for `undone`. Its id is chosen by the voter's page: a vote that is
//! sent again after a lost answer has the same id and is stored once. `shown` has every pair as it was shown,
//! with its sides.

mod engine;
mod reading;
mod request;
mod step;

use std::path::{Path, PathBuf};
use std::time::Duration;

use hodgerank_io::write::push_field;
use hodgerank_io::{STUDY_FILE, STUDY_VIEW};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, params};

use crate::error::{Error, Result};
use crate::secret::SecretHash;

pub use engine::Engine;
pub(crate) use reading::VoterRow;
pub use request::{Answer, Choice, Refusal, ShownPair, VoterState};
pub(crate) use request::{lock, now};

/// The columns of exported votes.
pub const EXPORTED_COLUMNS: [&str; 6] =
    ["left", "right", "winner", "annotator", "time", "is_repeat"];

const SCHEMA: &str = "
CREATE TABLE settings(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE secrets(role TEXT PRIMARY KEY, hash BLOB NOT NULL) STRICT;
CREATE TABLE items(
    id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, file TEXT,
    token TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE voters(
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, secret BLOB NOT NULL UNIQUE,
    consented INTEGER, excluded INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE shown(
    id INTEGER PRIMARY KEY, voter INTEGER NOT NULL REFERENCES voters,
    left INTEGER NOT NULL REFERENCES items, right INTEGER NOT NULL REFERENCES items,
    is_repeat INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;
CREATE TABLE votes(
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, shown INTEGER NOT NULL REFERENCES shown,
    choice INTEGER NOT NULL CHECK (choice IN (-1, 0, 1)), at INTEGER NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE UNIQUE INDEX one_vote_for_a_pair_shown ON votes(shown) WHERE undone = 0;
CREATE INDEX shown_to ON shown(voter);
";

/// The votes that count, as they are exported and as every command reads them.
const VOTES: &str = "
    SELECT a.label AS left, b.label AS right,
        CASE votes.choice WHEN 1 THEN 'left' WHEN -1 THEN 'right' ELSE 'tie' END AS winner,
        voters.name AS annotator,
        strftime('%Y-%m-%dT%H:%M:%SZ', votes.at / 1000, 'unixepoch') AS time,
        CASE shown.is_repeat WHEN 0 THEN 'false' ELSE 'true' END AS is_repeat
    FROM votes JOIN shown ON shown.id = votes.shown JOIN voters ON voters.id = shown.voter
        JOIN items a ON a.id = shown.left JOIN items b ON b.id = shown.right
    WHERE votes.undone = 0 AND voters.excluded = 0
    ORDER BY votes.number;
";

/// What a study asks, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The question above each pair.
    pub question: String,
    /// Whether voters may answer that neither item is better.
    pub ties: bool,
    /// The share of pairs that are shown to the same person again.
    pub repeats: f64,
    /// How many pairs each person is asked.
    pub pairs: usize,
    /// Stop when the first so many places are settled.
    pub until_top: Option<usize>,
}

/// An item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name in results; voters do not see it, unless the item is text.
    pub label: String,
    /// `image`, `video`, `audio` or `text`.
    pub kind: String,
    /// Its file in the folder `items` of the study; none for text.
    pub file: Option<String>,
    /// Its name in addresses, which says nothing about it.
    pub token: String,
}

/// A vote that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredVote {
    /// The index of the item on the left.
    pub left: usize,
    /// The index of the item on the right.
    pub right: usize,
    /// 1 for left, −1 for right, 0 for a tie.
    pub choice: i64,
    /// The voter's name.
    pub voter: String,
    /// When it was cast, in milliseconds since 1970.
    pub at: i64,
    /// Whether the pair was shown to this person before.
    pub is_repeat: bool,
}

/// The database of a study.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
}

impl Database {
    /// Opens the database in the folder of a study.
    ///
    /// # Errors
    /// If there is none, or it cannot be opened.
    pub fn open(folder: &Path) -> Result<Self> {
        let file = file_of(folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(file, flags)?;
        prepare(&connection)?;
        Ok(Self { connection })
    }

    /// Creates a database for a new study.
    pub(crate) fn create(
        file: &Path,
        settings: &Settings,
        items: &[Item],
        secrets: &[(&str, SecretHash)],
        voters: &[(String, SecretHash)],
    ) -> Result<()> {
        let mut connection = Connection::open(file)?;
        prepare(&connection)?;
        let transaction = connection.transaction()?;
        transaction.execute_batch(SCHEMA)?;
        transaction.execute_batch(&format!("CREATE VIEW {STUDY_VIEW} AS {VOTES}"))?;
        let mut set = transaction.prepare("INSERT INTO settings VALUES (?1, ?2)")?;
        set.execute(("question", &settings.question))?;
        set.execute(("ties", settings.ties.to_string()))?;
        set.execute(("repeats", settings.repeats.to_string()))?;
        set.execute(("pairs", settings.pairs.to_string()))?;
        if let Some(top) = settings.until_top {
            set.execute(("until_top", top.to_string()))?;
        }
        drop(set);
        for (role, hash) in secrets {
            transaction.execute("INSERT INTO secrets VALUES (?1, ?2)", (role, &hash[..]))?;
        }
        for (id, item) in items.iter().enumerate() {
            transaction.execute(
                "INSERT INTO items VALUES (?1, ?2, ?3, ?4, ?5)",
                params![id as i64, item.label, item.kind, item.file, item.token],
            )?;
        }
        for (name, hash) in voters {
            insert_voter(&transaction, name, hash)?;
        }
        transaction.commit()?;
        connection.close().map_err(|(_, error)| error)?;
        Ok(())
    }

    /// What the study asks.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn settings(&self) -> Result<Settings> {
        let value = |name: &str| -> Result<Option<String>> {
            let found = self
                .connection
                .query_row("SELECT value FROM settings WHERE name = ?1", [name], |row| row.get(0))
                .optional()?;
            Ok(found)
        };
        let number = |name: &str| -> Result<Option<f64>> {
            Ok(value(name)?.and_then(|text| text.parse().ok()))
        };
        Ok(Settings {
            question: value("question")?.unwrap_or_default(),
            ties: value("ties")?.as_deref() == Some("true"),
            repeats: number("repeats")?.unwrap_or(0.0),
            pairs: number("pairs")?.unwrap_or(0.0) as usize,
            until_top: number("until_top")?.map(|top| top as usize),
        })
    }

    /// Whether the owner has paused the study.
    pub(crate) fn is_paused(&self) -> rusqlite::Result<bool> {
        let query = "SELECT value FROM settings WHERE name = 'paused'";
        let value: Option<String> =
            self.connection.query_row(query, [], |row| row.get(0)).optional()?;
        Ok(value.as_deref() == Some("true"))
    }

    /// The items; an item's index is its position.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn items(&self) -> Result<Vec<Item>> {
        let mut query =
            self.connection.prepare("SELECT label, kind, file, token FROM items ORDER BY id")?;
        let item = |row: &rusqlite::Row<'_>| {
            Ok(Item {
                label: row.get(0)?,
                kind: row.get(1)?,
                file: row.get(2)?,
                token: row.get(3)?,
            })
        };
        Ok(query.query_map([], item)?.collect::<std::result::Result<_, _>>()?)
    }

    pub(crate) fn secret(&self, role: &str) -> Result<Option<SecretHash>> {
        let found = self
            .connection
            .query_row("SELECT hash FROM secrets WHERE role = ?1", [role], |row| row.get(0))
            .optional()?;
        Ok(found)
    }

    /// The votes that count, in the order in which they were cast.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn votes(&self) -> Result<Vec<StoredVote>> {
        let mut query = self.connection.prepare(
            "SELECT shown.left, shown.right, votes.choice, voters.name, votes.at, shown.is_repeat
             FROM votes JOIN shown ON shown.id = votes.shown JOIN voters ON voters.id = shown.voter
             WHERE votes.undone = 0 AND voters.excluded = 0 ORDER BY votes.number",
        )?;
        let vote = |row: &rusqlite::Row<'_>| {
            Ok(StoredVote {
                left: row.get::<_, i64>(0)? as usize,
                right: row.get::<_, i64>(1)? as usize,
                choice: row.get(2)?,
                voter: row.get(3)?,
                at: row.get(4)?,
                is_repeat: row.get(5)?,
            })
        };
        Ok(query.query_map([], vote)?.collect::<std::result::Result<_, _>>()?)
    }

    /// The votes that count, with the columns [`EXPORTED_COLUMNS`].
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn exported(&self) -> Result<Vec<[String; 6]>> {
        let columns = EXPORTED_COLUMNS.join(", ");
        let mut query = self.connection.prepare(&format!("SELECT {columns} FROM {STUDY_VIEW}"))?;
        let fields = |row: &rusqlite::Row<'_>| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?])
        };
        Ok(query.query_map([], fields)?.collect::<std::result::Result<_, _>>()?)
    }

    /// The votes that count as CSV.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let mut text = EXPORTED_COLUMNS.join(",").into_bytes();
        text.push(b'\n');
        for fields in self.exported()? {
            for (place, field) in fields.iter().enumerate() {
                push_field(&mut text, field.as_bytes(), b',');
                text.push(if place + 1 < fields.len() { b',' } else { b'\n' });
            }
        }
        Ok(text)
    }
}

/// WAL lets the ranking read while votes are written; FULL makes a commit wait for the disk.
fn prepare(connection: &Connection) -> Result<()> {
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    Ok(())
}

fn file_of(folder: &Path) -> Result<PathBuf> {
    let file = folder.join(STUDY_FILE);
    match file.is_file() {
        true => Ok(file),
        false => Err(Error::NoStudy { path: folder.display().to_string() }),
    }
}

fn insert_voter(
    transaction: &Transaction<'_>,
    name: &str,
    hash: &SecretHash,
) -> rusqlite::Result<i64> {
    transaction.execute("INSERT INTO voters(name, secret) VALUES (?1, ?2)", (name, &hash[..]))?;
    Ok(transaction.last_insert_rowid())
}
