//! SQLite databases.

use std::path::Path;

use rusqlite::Connection;

/// A database file with what these statements make.
pub(crate) fn database(statements: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("new.db");
    let connection = Connection::open(&file).expect("the database can be created");
    connection.execute_batch(statements).expect("statements without mistakes");
    drop(connection);
    std::fs::read(&file).expect("the file exists")
}

/// A database that has the rows of a CSV file as text, in the table `votes`.
pub(crate) fn of_csv(csv: &[u8]) -> Vec<u8> {
    let mut reader = csv::Reader::from_reader(csv);
    let quoted = |field: &str| format!("'{}'", field.replace('\'', "''"));
    let list = |record: &csv::StringRecord| record.iter().map(quoted).collect::<Vec<_>>().join(",");
    let columns = list(reader.headers().expect("a header"));
    let row = |record: csv::Result<csv::StringRecord>| {
        format!("INSERT INTO votes VALUES ({});\n", list(&record.expect("valid rows")))
    };
    let rows: String = reader.records().map(row).collect();
    database(&format!("CREATE TABLE votes({columns}); BEGIN;\n{rows}COMMIT;"))
}

/// Opens a database for writing.
pub(crate) fn connect(file: &Path) -> Connection {
    Connection::open(file).expect("the database can be opened")
}
