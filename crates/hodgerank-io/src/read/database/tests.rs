//! Databases are read like other files, in one transaction for each pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use tempfile::TempDir;

use super::STUDY_VIEW;
use crate::error::{DatabaseProblem, Error, Result};
use crate::read::{DatabaseRows, Progress, StudyFlags, second_pass};
use crate::study::Input;
use crate::{OnError, ReadOptions, Sources};

struct File {
    folder: TempDir,
    connection: Connection,
}

impl File {
    /// A database with what these statements make.
    fn new(statements: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join("v.db")).unwrap();
        connection.execute_batch(statements).unwrap();
        Self { folder, connection }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("v.db")
    }

    fn name(&self) -> String {
        self.path().to_str().unwrap().to_owned()
    }

    fn run(&self, statements: &str) {
        self.connection.execute_batch(statements).unwrap();
    }

    fn read(&self, options: &ReadOptions) -> Result<Input> {
        read(&self.path(), options)
    }

    fn files(&self) -> usize {
        fs::read_dir(self.folder.path()).unwrap().count()
    }
}

fn read(path: &Path, options: &ReadOptions) -> Result<Input> {
    let name = path.to_str().unwrap().to_owned();
    crate::read(&[name], options, &Arc::new(Progress::default()))
}

fn votes(input: &Input) -> u64 {
    input.studies.iter().map(|study| study.comparisons).sum()
}

fn table(name: &str) -> ReadOptions {
    let database_rows = Some(DatabaseRows::Table(name.to_owned()));
    ReadOptions { database_rows, ..ReadOptions::default() }
}

/// Ten thousand votes, several blocks of rows.
const MANY: &str = "CREATE TABLE votes(winner, loser, note);
    WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 10000)
    INSERT INTO votes SELECT 'w' || (n % 7), n % 11, 'x' FROM k;";

/// Reads a file, lets `change` happen and reads it again; returns the votes that the second pass found.
fn two_passes(file: &File, change: impl FnOnce()) -> Result<u64> {
    let sources = Sources::repeatable(&[file.name()]);
    let (options, progress) = (ReadOptions::default(), Arc::new(Progress::default()));
    let input = sources.read(&options, &progress)?;
    change();
    let none: Vec<Vec<f64>> = input.studies.iter().map(|s| vec![0.0; s.groups.len()]).collect();
    let flags = input.studies.iter().zip(&none);
    let flags: Vec<StudyFlags<'_>> =
        flags.map(|(study, none)| StudyFlags::new(&study.items, &study.groups, none)).collect();
    let mut found = 0;
    second_pass(&sources, &options, &progress, &flags, |row| {
        found += row.count;
        Ok(())
    })?;
    Ok(found)
}

#[test]
fn numbers_of_threads_do_not_matter() {
    let file = File::new(MANY);
    let one = file.read(&ReadOptions { threads: 1, ..ReadOptions::default() }).unwrap();
    let three = file.read(&ReadOptions { threads: 3, ..ReadOptions::default() }).unwrap();
    assert_eq!(votes(&one), 10_000);
    assert_eq!(one.studies[0].groups, three.studies[0].groups);
    assert!(one.studies[0].items.iter().eq(three.studies[0].items.iter()));
}

#[test]
fn the_first_invalid_row_is_reported() {
    let file = File::new(MANY);
    file.run("UPDATE votes SET loser = NULL WHERE rowid IN (6001, 9000)");
    for threads in [1, 3] {
        let options = ReadOptions { threads, ..ReadOptions::default() };
        let message = file.read(&options).unwrap_err().to_string();
        assert!(
            message.ends_with("row 6001, column 2 (`loser`): the value is missing"),
            "{message}"
        );
        let skipped = file.read(&ReadOptions { on_error: OnError::Skip, ..options }).unwrap();
        assert_eq!((votes(&skipped), skipped.rejected.total), (9_998, 2));
    }
}

/// An index with all columns that are read would bring the rows in another order.
#[test]
fn rows_have_the_order_of_the_table() {
    let file = File::new(MANY);
    file.run(
        "CREATE INDEX covering ON votes(loser DESC, winner);
         UPDATE votes SET loser = -1, winner = -1 WHERE rowid = 3",
    );
    let message = file.read(&ReadOptions::default()).unwrap_err().to_string();
    assert!(message.contains("row 3,"), "{message}");
    assert_eq!(two_passes(&File::new(MANY), || ()).unwrap(), 10_000);
}

#[test]
fn a_database_in_use_has_the_same_rows_in_both_passes() {
    let file = File::new("PRAGMA journal_mode = WAL");
    file.run(MANY);
    let found = two_passes(&file, || {
        file.run("INSERT INTO votes VALUES ('new', 'old', ''); DELETE FROM votes WHERE rowid < 50");
    });
    assert_eq!(found.unwrap(), 10_000);
    assert_eq!(votes(&file.read(&ReadOptions::default()).unwrap()), 9_952);
}

#[test]
fn a_change_between_passes_is_an_error() {
    for change in [
        "INSERT INTO votes VALUES ('new', 'old', '')",
        "UPDATE votes SET winner = 'other' WHERE rowid = 77",
        "DROP TABLE votes",
    ] {
        let file = File::new(MANY);
        let error = two_passes(&file, || file.run(change)).unwrap_err();
        assert!(matches!(error, Error::Changed { .. }), "{change}: {error}");
    }
    // A column that is not used does not matter.
    let file = File::new(MANY);
    let found = two_passes(&file, || file.run("UPDATE votes SET note = 'other'"));
    assert_eq!(found.unwrap(), 10_000);
}

/// After the last program has closed it, such a database is one file, and reading it makes no second one.
#[test]
fn reading_leaves_no_files_behind() {
    let file = File::new("PRAGMA journal_mode = WAL");
    file.run(MANY);
    let File { folder, connection } = file;
    drop(connection);
    let file = File { connection: Connection::open_in_memory().unwrap(), folder };
    assert_eq!(file.files(), 1);
    assert_eq!(votes(&file.read(&ReadOptions::default()).unwrap()), 10_000);
    assert_eq!(file.files(), 1);
    assert_eq!(two_passes(&file, || ()).unwrap(), 10_000);
}

#[test]
fn names_with_special_characters() {
    let file = File::new(
        "CREATE TABLE \"my \"\"votes\"\"\"(\"the left\", \"right\", outcome); CREATE TABLE other(x);
         INSERT INTO \"my \"\"votes\"\"\" VALUES ('a', 'b', 1), ('b', 'a', -1);",
    );
    let special = file.folder.path().join("100%? #1.db");
    fs::copy(file.path(), &special).unwrap();
    let mut options = table("my \"votes\"");
    options.columns.left = Some("the left".to_owned());
    options.columns.right = Some("right".to_owned());
    assert_eq!(votes(&read(&special, &options).unwrap()), 2);
}

#[test]
fn text_in_other_encodings() {
    let file = File::new(
        "PRAGMA encoding = 'UTF-16'; CREATE TABLE votes(winner, loser);
         INSERT INTO votes VALUES ('é', '日本'), ('日本', 'z');",
    );
    let input = file.read(&ReadOptions::default()).unwrap();
    assert!(input.studies[0].items.iter().eq(["z", "é", "日本"]));
}

#[test]
fn the_view_of_a_study_is_preferred() {
    let file = File::new(&format!(
        "CREATE TABLE votes(winner, loser); INSERT INTO votes VALUES ('a', 'b'), ('b', 'c');
         CREATE VIEW {STUDY_VIEW} AS SELECT * FROM votes WHERE winner = 'a';"
    ));
    assert_eq!(votes(&file.read(&ReadOptions::default()).unwrap()), 1);
    assert_eq!(votes(&file.read(&table("votes")).unwrap()), 2);
    file.run("DELETE FROM votes");
    let error = file.read(&ReadOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Database { problem: DatabaseProblem::NoVotes, .. }), "{error}");
}

#[test]
fn columns_are_suggested_by_their_values() {
    let file = File::new("CREATE TABLE votes(First, Second, Better)");
    for k in 0..30 {
        let (left, right) = (k % 5, (k + 1) % 5);
        file.run(&format!("INSERT INTO votes VALUES ('i{left}', 'i{right}', 'i{left}')"));
    }
    let error = file.read(&ReadOptions::default()).unwrap_err();
    let Error::Columns { problem, .. } = error else { panic!("{error}") };
    let crate::ColumnProblem::NoItems { guess: Some(guess), .. } = problem else {
        panic!("{problem}")
    };
    assert_eq!((guess.left.as_str(), guess.outcome.as_str()), ("First", "Better"));
}
