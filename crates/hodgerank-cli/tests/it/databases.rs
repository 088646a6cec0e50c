//! SQLite databases and folders of studies as inputs.

use std::path::Path;

use rusqlite::Connection;

use crate::support::TestDir;
use crate::support::database::{connect, database, of_csv};
use crate::support::files::{self, gzip};

/// Two tables, one of which has votes.
const TWO_TABLES: &str = "
    CREATE TABLE people(name, age);
    CREATE TABLE votes(\"left\", \"right\", winner, day);
    INSERT INTO votes VALUES ('a', 'b', 'left', 1), ('b', 'c', 'left', 1), ('a', 'c', 'left', 2),
        ('c', 'b', 'left', 3), ('b', 'a', 'tie', 3);";

/// A study of five items with twelve votes by three voters. The connection stays open: the votes are in the log,
/// not in the file.
fn study(dir: &TestDir) -> Connection {
    dir.write("items.txt", "a\nb, \"c\"\nd\ne\nf\n");
    let new = ["study", "new", "sharpness", "--items", "items.txt", "--question", "Which?"];
    dir.run(&[&new[..], &["--voters", "3", "--ties"]].concat()).success();
    let connection = connect(&dir.path().join("sharpness/study.db"));
    for number in 0..12 {
        vote(&connection, number);
    }
    connection
        .execute_batch(
            "UPDATE votes SET undone = 1 WHERE number = 3;
             UPDATE voters SET excluded = 1 WHERE id = 3;",
        )
        .unwrap();
    connection
}

fn vote(connection: &Connection, number: i64) {
    let (left, right) = (number % 5, (number + 1 + number % 3) % 5);
    connection
        .execute(
            "INSERT INTO shown VALUES (?1, ?2, ?3, ?4, ?5, 0)",
            [number, 1 + number % 3, left, right, i64::from(number > 9)],
        )
        .unwrap();
    connection
        .execute(
            "INSERT INTO votes VALUES (?1, 'vote ' || ?1, ?1, ?2, 1000 * ?1, 0)",
            [number, number % 3 - 1],
        )
        .unwrap();
}

#[test]
fn the_folder_of_a_study_gives_the_results_of_its_export() {
    let dir = TestDir::new();
    let connection = study(&dir);
    assert!(std::fs::metadata(dir.path().join("sharpness/study.db-wal")).unwrap().len() > 0);
    // The export is in the folder too: its votes must not count again.
    dir.run(&["study", "export", "sharpness", "-o", "sharpness/votes.csv"]).success();
    let export = String::from_utf8(dir.read("sharpness/votes.csv")).unwrap();
    assert_eq!(export.lines().count(), 8);
    for command in [
        &["rank", "--format", "json"][..],
        &["rank", "--format", "csv"],
        &["rank", "--format", "json", "--where", "is_repeat=false"],
        &["outliers", "--all", "--format", "json"],
        &["annotators", "--format", "json"],
        &["predict", "--format", "json"],
        &["certify", "--format", "json"],
        &["next", "--format", "json"],
        &["compare", "--format", "json"],
        &["decompose", "--format", "json"],
        &["diagnose", "--format", "json"],
        &["path", "--method", "iss", "--format", "json"],
        &["clean"],
    ] {
        let run = |input: &str| dir.run(&[command, &[input, "--quiet"]].concat()).success();
        let expected = run("sharpness/votes.csv");
        for input in ["sharpness", "sharpness/study.db"] {
            let found = run(input);
            match expected.stdout.starts_with(b"{") {
                true => assert_eq!(found.json(), expected.json(), "{command:?} {input}"),
                false => assert_eq!(found.text(), expected.text(), "{command:?} {input}"),
            }
        }
    }
    let report = |arguments: &[&str]| {
        dir.run(&[&["report", "-o", "report.html"], arguments].concat()).success();
        String::from_utf8(dir.read("report.html")).unwrap()
    };
    let found = report(&["sharpness"]);
    assert!(found.contains("<title>sharpness</title>"));
    assert_eq!(found, report(&["sharpness/votes.csv", "--title", "sharpness"]));
    // With the rows in the file and no log, nothing is left behind next to it.
    let before = dir.run(&["rank", "sharpness", "--format", "csv"]).success();
    drop(connection);
    let files = dir.file_names_in("sharpness");
    assert!(!files.contains(&"study.db-wal".to_owned()), "{files:?}");
    let after = dir.run(&["rank", "sharpness", "--format", "csv"]).success();
    assert_eq!(after.text(), before.text());
    assert_eq!(dir.file_names_in("sharpness"), files);
}

#[test]
fn a_study_without_votes_says_so() {
    let dir = TestDir::new();
    let connection = study(&dir);
    connection.execute("UPDATE voters SET excluded = 1", []).unwrap();
    let run = dir.run(&["rank", "sharpness"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr.contains("sharpness/study.db: the study has no votes yet"),
        "{}",
        run.stderr
    );
}

#[test]
fn rows_are_read_while_another_program_writes() {
    let dir = TestDir::new();
    let connection = study(&dir);
    let votes = || {
        let run = dir.run(&["rank", "sharpness", "--format", "json"]).success();
        run.json()["input"]["comparisons"].as_u64().unwrap()
    };
    assert_eq!(votes(), 7);
    // A transaction that has not been committed yet.
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    vote(&connection, 12);
    assert_eq!(votes(), 7);
    connection.execute_batch("COMMIT").unwrap();
    assert_eq!(votes(), 8);
}

#[test]
fn a_locked_database_is_an_error_after_some_seconds() {
    let dir = TestDir::new();
    dir.write("v.db", database("CREATE TABLE v(winner, loser); INSERT INTO v VALUES ('a', 'b');"));
    let connection = connect(&dir.path().join("v.db"));
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let run = dir.run(&["rank", "v.db"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(
        run.stderr.contains("v.db: the database is locked by another program"),
        "{}",
        run.stderr
    );
    connection.execute_batch("COMMIT").unwrap();
    dir.run(&["rank", "v.db"]).success();
}

#[test]
fn tables_and_queries() {
    let dir = TestDir::new();
    dir.write("v.db", database(TWO_TABLES));
    dir.write("v.csv", "left,right,winner\na,b,left\nb,c,left\na,c,left\nc,b,left\nb,a,tie\n");
    let expected = dir.rank_csv(&["v.csv"]);
    for arguments in [
        &["v.db", "--table", "votes"][..],
        &["v.db", "--table", "VOTES"],
        &["v.db", "--query", "SELECT * FROM votes"],
        &["v.db", "--query", "SELECT * FROM main.votes ORDER BY day; -- all of them"],
        &[
            "v.db",
            "--query",
            "SELECT \"left\" AS a, \"right\" AS b, winner AS c FROM votes",
            "--left",
            "a",
            "--right",
            "b",
            "--outcome",
            "c",
        ],
    ] {
        assert_eq!(dir.rank_csv(arguments), expected, "{arguments:?}");
    }
    dir.write("v.csv", "left,right,winner\na,b,left\nb,c,left\n");
    let expected = dir.rank_csv(&["v.csv"]);
    assert_eq!(dir.rank_csv(&["v.db", "--table", "votes", "--where", "day=1"]), expected);
    let query = "SELECT * FROM votes WHERE day < 2";
    assert_eq!(dir.rank_csv(&["v.db", "--query", query]), expected);
    // A renamed file is recognised by its content.
    std::fs::rename(dir.path().join("v.db"), dir.path().join("votes")).unwrap();
    assert_eq!(dir.rank_csv(&["votes", "--query", query]), expected);
}

#[test]
fn the_only_table_or_view_is_read() {
    let dir = TestDir::new();
    dir.write("v.db", of_csv(b"left,right,winner\na,b,left\nb,c,tie\n"));
    dir.write("v.csv", "left,right,winner\na,b,left\nb,c,tie\n");
    assert_eq!(dir.rank_csv(&["v.db"]), dir.rank_csv(&["v.csv"]));
    let query = "SELECT 'a' AS winner, 'b' AS loser";
    dir.write("view.db", database(&format!("CREATE VIEW ballots AS {query}")));
    assert_eq!(dir.rank_csv(&["view.db"]), dir.rank_csv(&["v.db", "--query", query]));
}

#[test]
fn mistakes_are_explained() {
    let dir = TestDir::new();
    dir.write("v.db", database(TWO_TABLES));
    dir.write("empty.db", database("CREATE TABLE votes(winner, loser)"));
    dir.write("none.db", database("CREATE TABLE votes(winner, loser); DROP TABLE votes"));
    dir.write("v.csv", "winner,loser\na,b\n");
    dir.write("v.db.gz", gzip(database(TWO_TABLES)));
    for (arguments, expected) in [
        (&["v.db"][..], "v.db: the database has several tables: `people`, `votes`"),
        (&["v.db"], "try: hodgerank rank v.db --table votes"),
        (
            &["v.db", "--table", "vote"],
            "there is no table `vote`; the tables are `people`, `votes`",
        ),
        (&["v.db", "--table", "vote"], "help: use --table votes, or one of the other names"),
        (&["v.db", "--table", "people"], "no pair of item columns was found among `name`, `age`"),
        (&["none.db"], "none.db: the database has no tables"),
        (&["empty.db"], "empty.db: there are columns but no rows"),
        (&["v.db", "--query", "DELETE FROM votes"], "the query would change the database"),
        (&["v.db", "--query", "DROP TABLE votes"], "the query would change the database"),
        (&["v.db", "--query", "SELECT 1; SELECT 2"], "the query has more than one statement"),
        (
            &["v.db", "--query", "ATTACH 'other.db' AS other"],
            "the query returns no rows and columns",
        ),
        (&["v.db", "--query", ""], "the query returns no rows and columns"),
        (&["v.db", "--query", "SELECT x FROM y"], "the query cannot be run: no such table: y"),
        (&["v.db", "--table", "votes", "--query", "SELECT 1"], "cannot be used with"),
        (&["v.csv", "--table", "votes"], "--table is an option for SQLite databases"),
        (&["v.csv", "--query", "SELECT 1"], "--query is an option for SQLite databases"),
        (&["v.db.gz"], "cannot be read from standard input, a pipe or a compressed file"),
        (&["v.csv", "--input-format", "sqlite"], "the content is not SQLite"),
    ] {
        let run = dir.run(&[&["rank"], arguments].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
    }
    let run = dir.run_with_stdin(&["rank", "-"], &database(TWO_TABLES));
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr.contains("a SQLite database cannot be read from standard"),
        "{}",
        run.stderr
    );
    // Nothing was deleted or created.
    dir.run(&["rank", "v.db", "--table", "votes"]).success();
    let names = ["empty.db", "none.db", "v.csv", "v.db", "v.db.gz"];
    assert_eq!(dir.file_names(), names);
}

#[test]
fn invalid_values_have_row_and_column() {
    let dir = TestDir::new();
    dir.write(
        "v.db",
        database(
            "CREATE TABLE v(\"left\", \"right\", winner, photo);
             INSERT INTO v VALUES ('a', 2, 'left', x'00'), ('a', x'00ff', 'left', NULL),
                 (NULL, 2, 'left', NULL), (1.5, 2, 'left', NULL), ('a', 2, x'01', NULL),
                 ('a', CAST(x'ff' AS TEXT), 'left', NULL), ('a', 2, 1, 'x'), ('a', 2, -2.5, 'x');",
        ),
    );
    let run = dir.run(&["rank", "v.db"]);
    assert_eq!(run.code, Some(2));
    let place = "v.db, row 2, column 2 (`right`): the value has a type that cannot be used here: \"BLOB 00FF\"";
    assert!(run.stderr.contains(place), "{}", run.stderr);
    let run = dir.run(&["rank", "v.db", "--on-error", "skip", "--format", "json"]).success();
    let json = run.json();
    assert_eq!(json["input"]["comparisons"], 3);
    assert_eq!(json["rejected"]["rows"], 5, "{}", json["rejected"]);
    for place in [
        "row 3, column 1 (`left`): the value is missing",
        "row 4, column 1 (`left`): the value has a type",
        "row 5, column 3 (`winner`): the value has a type",
        "row 6, column 2 (`right`): the text is not UTF-8",
    ] {
        assert!(run.stderr.contains(place), "{place}: {}", run.stderr);
    }
    // A BLOB in a column without a role is no mistake, and is written in hexadecimal digits.
    let arguments = ["clean", "v.db", "--on-error", "skip", "--method", "l2"];
    let cleaned = dir.run(&arguments).success();
    assert_eq!(cleaned.text(), "left,right,winner,photo\na,2,left,00\na,2,1,x\na,2,-2.5,x\n");
}

#[test]
fn damaged_files_are_errors() {
    let dir = TestDir::new();
    let whole = of_csv(files::annotated(&files::study()).as_bytes());
    let damaged = |name: &str, bytes: &[u8]| {
        dir.write(name, bytes);
        let run = dir.run(&["rank", name]);
        assert_eq!(run.code, Some(2), "{name}: {}", run.stderr);
        assert!(run.stderr.contains("the SQLite data is damaged"), "{name}: {}", run.stderr);
    };
    damaged("cut.db", &whole[..whole.len() / 2]);
    damaged("short.db", &whole[..100]);
    let mut overwritten = whole.clone();
    let page = 4096;
    overwritten[2 * page..4 * page].fill(0xa5);
    damaged("overwritten.db", &overwritten);
    let mut header = whole;
    header[20..100].fill(0xff);
    damaged("header.db", &header);
}

#[test]
fn files_of_databases_in_folders_are_not_inputs_of_their_own() {
    let dir = TestDir::new();
    std::fs::create_dir(dir.path().join("all")).unwrap();
    let connection = connect(&dir.path().join("all/v.db"));
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; CREATE TABLE v(winner, loser);
             INSERT INTO v VALUES ('a', 'b'), ('b', 'c');",
        )
        .unwrap();
    dir.write("all/w.csv", "winner,loser\na,c\n");
    assert!(Path::new(&dir.path().join("all/v.db-wal")).exists());
    let run = dir.run(&["rank", "all", "--format", "json"]).success();
    assert_eq!(run.json()["input"]["comparisons"], 3);
    assert!(!run.stderr.contains("not read"), "{}", run.stderr);
    // The hash of the file would not identify the rows in the log.
    let files = &run.whole_json()["input"]["files"];
    assert!(files.to_string().contains("w.csv"), "{files}");
    assert!(files[0]["xxh64"].is_null() && files[1]["xxh64"].is_string(), "{files}");
}
