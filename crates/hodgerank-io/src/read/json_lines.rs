//! JSON lines: one object a line. Keys are columns; values are text, numbers or truth values.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use memchr::memchr_iter;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor,
};

use super::pump::{self, FileReport, PieceReport};
use super::rows::RowSink;
use super::text_blocks::{Records, TextBlocks};
use super::{Format, OnError, ReadOptions, TableHead};
use crate::columns::{Layout, ROLES, Role};
use crate::error::{BadRow, Error, Position, Problem, Result, shorten};
use crate::study::Cells;

pub(super) fn read<S: RowSink>(
    file: &Arc<str>,
    mut blocks: TextBlocks,
    options: &ReadOptions,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    blocks.set_records(Records::Lines);
    let names = first_keys(file, blocks.ahead(), options.on_error)?;
    let layout = Layout::find(file, names, &options.columns)?;
    let text = blocks.mark().to_vec();
    let head = TableHead { text, ..TableHead::new(file, Format::Jsonl, &layout) };
    let table = Table { file: Arc::clone(file), first_role: layout.first_role(), layout };
    let report = pump::run(blocks, sinks, options.on_error, 0, |block, sink| {
        let report = table.count(block, sink);
        sink.end_of_text().map(|()| report)
    })?;
    Ok((report, head))
}

/// Objects whose keys, together, stand for the file's columns: some leave empty values out.
const LOOK_AHEAD: usize = 1000;

fn first_keys(file: &Arc<str>, text: &[u8], on_error: OnError) -> Result<Vec<String>> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).enumerate();
    let mut lines = lines.filter(|(_, line)| !line.is_empty()).peekable();
    if lines.peek().is_none() {
        return Err(Error::Empty { file: Arc::clone(file) });
    }
    let mut names: Vec<String> = Vec::new();
    let mut first_error = None;
    for (line, object) in lines.take(LOOK_AHEAD) {
        match serde_json::from_slice::<Keys>(object) {
            Ok(Keys(keys)) => {
                for key in keys {
                    if !names.contains(&key) {
                        names.push(key);
                    }
                }
            }
            Err(error) => {
                let position = Position::Line(line as u64 + 1);
                let error = Error::Row(Box::new(bad_json(file, object, &error, position)));
                first_error = first_error.or(Some(error));
                if on_error == OnError::Stop {
                    break;
                }
            }
        }
    }
    match first_error {
        // The rows before a bad one may have something to say first.
        Some(error) if names.is_empty() => Err(error),
        _ => Ok(names),
    }
}

fn bad_json(file: &Arc<str>, line: &[u8], error: &serde_json::Error, position: Position) -> BadRow {
    BadRow {
        file: Arc::clone(file),
        position,
        column: None,
        value: shorten(line, 60),
        problem: match std::str::from_utf8(line) {
            Ok(_) => Problem::BadJson(error.to_string().replace(" at line 1 column", " at column")),
            Err(_) => Problem::BadUtf8,
        },
        snippet: None,
    }
}

struct Table {
    file: Arc<str>,
    layout: Layout,
    /// For each role, the one that holds its value: a column may play several.
    first_role: [usize; ROLES],
}

impl Table {
    fn count(&self, block: &[u8], sink: &mut impl RowSink) -> PieceReport {
        let mut report = PieceReport {
            span: memchr_iter(b'\n', block).count() as u64,
            ..PieceReport::default()
        };
        for (number, line) in block.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let whole = line;
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            if line.trim_ascii().is_empty() {
                sink.blank(whole);
                continue;
            }
            report.rows += 1;
            let position = Position::Line(number as u64 + 1);
            let mut reader = serde_json::Deserializer::from_slice(line);
            let parsed = RowSeed { layout: &self.layout }
                .deserialize(&mut reader)
                .and_then(|row| reader.end().map(|()| row));
            match parsed {
                Err(error) => report.reject(|| bad_json(&self.file, line, &error, position)),
                Ok(row) => {
                    if let Err((role, problem, value)) = self.count_row(&row, whole, sink) {
                        report.reject(|| BadRow {
                            file: Arc::clone(&self.file),
                            position,
                            column: self.layout.column(role),
                            value,
                            problem,
                            snippet: None,
                        });
                    }
                }
            }
        }
        report
    }

    fn count_row(
        &self,
        row: &[Cell<'_>; ROLES],
        text: &[u8],
        sink: &mut impl RowSink,
    ) -> Result<(), (Role, Problem, String)> {
        let cell = |role: usize| &row[self.first_role[role]];
        for role in Role::ALL {
            let is_name = !matches!(role, Role::Outcome | Role::Count);
            let problem = match cell(role as usize) {
                Cell::Nested(_) => Problem::WrongType,
                // A decimal number as a name would be spelled differently by every program.
                Cell::Decimal(_) | Cell::Truth(_) if is_name => Problem::WrongType,
                Cell::Missing if self.layout.has(role) && role != Role::Annotator => {
                    Problem::Missing
                }
                _ => continue,
            };
            return Err((role, problem, cell(role as usize).text().to_owned()));
        }
        let cells: Cells<'_> = std::array::from_fn(|role| cell(role).text().as_bytes());
        sink.row(&self.layout, &cells, text)
            .map_err(|(role, problem)| (role, problem, shorten(cells[role as usize], 60)))
    }
}

/// A value of a row.
enum Cell<'a> {
    /// The key is absent, or its value is null.
    Missing,
    Text(Cow<'a, str>),
    Decimal(String),
    Truth(bool),
    /// An object or a list, by its brackets.
    Nested(&'static str),
}

impl Cell<'_> {
    fn text(&self) -> &str {
        match self {
            Cell::Text(text) => text,
            Cell::Decimal(text) => text,
            Cell::Truth(true) => "true",
            Cell::Truth(false) => "false",
            Cell::Missing => "",
            Cell::Nested(brackets) => brackets,
        }
    }
}

impl<'de> Deserialize<'de> for Cell<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cell::Text(text.into()))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cell::Text(text.to_owned().into()))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cell::Text(number.to_string().into()))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Cell::Text(number.to_string().into()))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Cell::Decimal(number.to_string()))
    }
    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Cell::Truth(truth))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cell::Missing)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Cell::Nested("{…}"))
    }
    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Cell::Nested("[…]"))
    }
}

/// Picks the wanted values out of an object and passes over the rest.
struct RowSeed<'a> {
    layout: &'a Layout,
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = [Cell<'de>; ROLES];

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = [Cell<'de>; ROLES];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let refuse = |key: &str, why: &str| Err(A::Error::custom(format_args!("`{key}` {why}")));
        let mut cells = [const { Cell::Missing }; ROLES];
        let mut seen = [false; ROLES];
        while let Some(Cell::Text(key)) = map.next_key()? {
            let is_key =
                |place: &Option<usize>| place.is_some_and(|place| self.layout.names[place] == key);
            match self.layout.place.iter().position(is_key) {
                Some(role) if seen[role] => return refuse(&key, "is there twice"),
                Some(role) => {
                    cells[role] = map.next_value()?;
                    seen[role] = true;
                }
                None if !self.layout.names.iter().any(|name| *name == key)
                    && self.layout.would_use(&key) =>
                {
                    return refuse(&key, "must stand in the first rows too, if only as null");
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(cells)
    }
}

struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor;
        impl<'de> Visitor<'de> for KeysVisitor {
            type Value = Keys;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, _)) = map.next_entry::<String, IgnoredAny>()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(KeysVisitor)
    }
}
