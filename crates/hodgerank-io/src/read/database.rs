//! SQLite databases: the votes of a study, a table, or the result of a query.
//!
//! One thread runs the statement and packs rows into blocks; the threads of the sinks parse them. All
//! rows come from one read transaction, so that a database can be read while another program writes to it.
//! Rows are passed on as CSV text where whole rows are needed.

mod connection;
mod copy;
mod row_block;
mod selection;
#[cfg(test)]
mod tests;

use std::hash::Hasher as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use twox_hash::XxHash64;

use super::catch_panics::decode;
use super::options::ReadOptions;
use super::parallel::{self, ChunkReport, ChunkSource, FileReport};
use super::progress::Progress;
use super::rows::{RawContent, RawRow, RowSink};
use super::source::OpenedFile;
use crate::columns::{Layout, ROLES, Role};
use crate::error::{BadRow, Error, Position, Problem, Result, shorten};
use crate::format::Format;
use crate::labels::trimmed;
use crate::parse::{Cells, RowFate};
use crate::table_head::TableHead;
use crate::write::push_field;
use connection::explain;
pub(super) use connection::has_log;
use copy::Database;
pub(super) use copy::DatabaseCopy;
use row_block::{Cell, CellKind, RowBlock};

/// The database in the folder of a study.
pub const STUDY_FILE: &str = "study.db";
/// The view in the database of a study with one row for each vote that counts.
pub const STUDY_VIEW: &str = "hodgerank_votes";

const FORMAT: &str = Format::Sqlite.title();

/// The separator of rows that are passed on as text.
const DELIMITER: u8 = b',';

/// Reads the rows that the options select. The head of the table is that of a CSV file. If there is a `copy`,
/// rows of a database that is in use are kept there, and later passes read them again.
pub(super) fn read<S: RowSink>(
    file: OpenedFile,
    copy: Option<&DatabaseCopy>,
    options: &ReadOptions,
    progress: &Progress,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    let (name, content) = (Arc::clone(&file.name), file.content.clone());
    let database = match copy.and_then(DatabaseCopy::take) {
        Some(database) => database,
        None => Database::open(file, options, copy.is_some())?,
    };
    let selection = &database.selection;
    let sample = || database.sample();
    let layout = Layout::find_or_guess(&name, selection.names.clone(), &options.columns, sample)?;
    let head = TableHead {
        text: header_line(&layout.names),
        delimiter: DELIMITER,
        stored_as: Format::Sqlite,
        ..TableHead::new(&name, Format::Csv, &layout)
    };
    let plan = ReadingPlan::new(&database, &layout, S::WHOLE_ROWS, content.is_on());
    let parser = RowParser::new(&name, layout, &plan);
    let (report, database, hash) = std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(2 * sinks.len());
        let plan = &plan;
        let reader = scope.spawn(move || {
            let hash = plan.send_rows(&database, progress, &sender);
            (database, hash)
        });
        let blocks = Blocks { receiver };
        let report = parallel::read_chunks(blocks, sinks, options.on_error, 0, |block, sink| {
            let report = parser.count(block, sink);
            sink.end_text_chunk(report.rows).map(|()| report)
        });
        let (database, hash) = reader.join().unwrap_or_else(|p| std::panic::resume_unwind(p));
        (report, database, hash)
    });
    let report = report?;
    database.check_unchanged()?;
    if report.rows == 0 {
        let problem = database.selection.nothing_found();
        return Err(Error::Database { file: name, problem });
    }
    content.add_range(0, &hash.to_le_bytes());
    if let Some(copy) = copy {
        copy.keep(database);
    }
    Ok((report, head))
}

fn header_line(names: &[String]) -> Vec<u8> {
    let mut line = Vec::new();
    for (column, name) in names.iter().enumerate() {
        if column > 0 {
            line.push(DELIMITER);
        }
        push_field(&mut line, name.as_bytes(), DELIMITER);
    }
    line.push(b'\n');
    line
}

/// Which columns are read.
struct ReadingPlan {
    /// The statement.
    sql: String,
    /// The columns of the table that are read, ascending.
    columns: Vec<usize>,
    /// Their positions in the result of the statement.
    positions: Vec<usize>,
    /// Which of them have a role: their values are hashed.
    used: Vec<bool>,
    is_hashed: bool,
    file_bytes: u64,
}

impl ReadingPlan {
    fn new(database: &Database, layout: &Layout, whole_rows: bool, is_hashed: bool) -> Self {
        let has_role = |column: &usize| layout.index.contains(&Some(*column));
        let all = 0..layout.names.len();
        let columns: Vec<usize> = all.filter(|column| whole_rows || has_role(column)).collect();
        let used = columns.iter().map(has_role).collect();
        let (sql, positions) = database.selection.statement(&columns);
        Self { sql, columns, positions, used, is_hashed, file_bytes: database.file_bytes }
    }

    /// Sends all rows in blocks, and an error as the last one. Returns a hash of the values of used columns.
    fn send_rows(
        &self,
        database: &Database,
        progress: &Progress,
        sender: &SyncSender<Result<RowBlock>>,
    ) -> u64 {
        let mut hash = XxHash64::with_seed(0);
        let mut progress_left = self.file_bytes;
        let mut send = |block: RowBlock| {
            if self.is_hashed {
                block.hash(&self.used, &mut hash);
            }
            let bytes = progress_left.min(block.bytes() as u64);
            progress_left -= bytes;
            progress.advance(bytes);
            sender.send(Ok(block)).is_ok()
        };
        let file = &database.file;
        let sent = decode(file, FORMAT, || {
            let sent = database.each_block(&self.sql, &self.positions, &mut send);
            sent.map_err(|error| explain(file, &error))
        });
        if let Err(error) = sent {
            // If nobody receives it, another error has ended the pass.
            let _ = sender.send(Err(error));
        }
        progress.advance(progress_left);
        hash.finish()
    }
}

/// Blocks of rows as chunks.
struct Blocks {
    receiver: Receiver<Result<RowBlock>>,
}

impl ChunkSource for Blocks {
    type Chunk = RowBlock;

    fn next(&mut self, block: &mut RowBlock) -> Result<bool> {
        match self.receiver.recv() {
            Ok(received) => {
                *block = received?;
                Ok(true)
            }
            Err(_) => Ok(false),
        }
    }
}

/// Finds votes in blocks of rows.
struct RowParser {
    file: Arc<str>,
    layout: Layout,
    /// For each role, the position of its column in a block.
    places: [Option<usize>; ROLES],
}

impl RowParser {
    fn new(file: &Arc<str>, layout: Layout, plan: &ReadingPlan) -> Self {
        let place = |index: usize| plan.columns.iter().position(|&column| column == index);
        let places = layout.index.map(|index| index.and_then(place));
        Self { file: Arc::clone(file), layout, places }
    }

    fn count<S: RowSink>(&self, block: &RowBlock, sink: &mut S) -> ChunkReport {
        let mut report = ChunkReport::default();
        let mut text = Vec::new();
        for row in block.rows() {
            report.rows += 1;
            if S::WHOLE_ROWS {
                text.clear();
                write_row(&mut text, row.cells());
            }
            let raw = RawRow { number: report.rows, content: RawContent::Text(&text) };
            let cell = |role: Role| self.places[role as usize].map(|place| row.cell(place));
            match self.parse_row(cell, raw, sink) {
                Ok(fate) => report.note(fate),
                Err((role, problem, value)) => {
                    let position = Position::Row(report.rows);
                    let fault = (role as usize, value.as_bytes());
                    report.reject(fault, &problem.clone(), || {
                        self.bad_row(position, role, problem, value.clone())
                    });
                }
            }
        }
        report.span = report.rows;
        report
    }

    fn parse_row<'a>(
        &self,
        cell: impl Fn(Role) -> Option<Cell<'a>>,
        raw: RawRow<'_>,
        sink: &mut impl RowSink,
    ) -> Result<RowFate, (Role, Problem, String)> {
        let mut cells: Cells<'_> = [b""; ROLES];
        for role in Role::ALL {
            let Some(cell) = cell(role) else { continue };
            if let Some(problem) = problem_of(role, cell) {
                return Err((role, problem, cell.shown()));
            }
            cells[role as usize] = trimmed(cell.text);
        }
        sink.row(&self.layout, &cells, raw)
            .map_err(|(role, problem)| (role, problem, shorten(cells[role as usize], 60)))
    }

    #[cold]
    fn bad_row(&self, position: Position, role: Role, problem: Problem, value: String) -> BadRow {
        BadRow {
            file: Arc::clone(&self.file),
            position,
            column: self.layout.column(role),
            value,
            problem,
            snippet: None,
            others: Vec::new(),
            rows: 0,
            misspelt: false,
        }
    }
}

/// Why a value cannot have a role, whatever it says.
fn problem_of(role: Role, cell: Cell<'_>) -> Option<Problem> {
    let is_name = !matches!(role, Role::Outcome | Role::Count) && !role.is_filter();
    match cell.kind {
        CellKind::Blob => Some(Problem::WrongType),
        // Programs format the same decimal number differently, so it cannot be a name.
        CellKind::Decimal if is_name => Some(Problem::WrongType),
        CellKind::Null if !role.can_be_empty() => Some(Problem::Missing),
        CellKind::Text if std::str::from_utf8(cell.text).is_err() => Some(Problem::BadUtf8),
        _ => None,
    }
}

/// Writes a row as a line of CSV.
fn write_row<'a>(text: &mut Vec<u8>, cells: impl Iterator<Item = Cell<'a>>) {
    for (column, cell) in cells.enumerate() {
        if column > 0 {
            text.push(DELIMITER);
        }
        push_field(text, cell.text, DELIMITER);
    }
    text.push(b'\n');
}
