//! JSON lines: one object per line. Keys are columns; values are text, numbers or booleans.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use hodgerank::Labels;
use memchr::memchr_iter;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor,
};

use super::options::{OnError, ReadOptions};
use super::parallel::{self, ChunkReport, FileReport};
use super::rows::{RawContent, RawRow, RowSink};
use super::source::OpenedFile;
use super::text_blocks::{RecordSyntax, TextBlocks};
use crate::column_guess::SAMPLE_ROWS;
use crate::columns::{Layout, ROLES, Role};
use crate::error::{BadRow, Error, Position, Problem, Result, shorten};
use crate::labels::trimmed;
use crate::parse::{Cells, RowFate};
use crate::table_head::TableHead;

pub(super) fn read<S: RowSink>(
    file: OpenedFile,
    options: &ReadOptions,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    let (format, name) = (file.format, Arc::clone(&file.name));
    let mut blocks = TextBlocks::start(&name, file.into_reader())?;
    let file = &name;
    blocks.set_syntax(RecordSyntax::Lines);
    let text = blocks.byte_order_mark().to_vec();
    let blank_lines = blocks.take_blank_lines()?;
    let lines_before = memchr_iter(b'\n', &blank_lines).count() as u64;
    let names = first_keys(file, blocks.first_records()?, lines_before, options.on_error)?;
    let keys = names.iter().map(String::as_str).collect();
    let sample = || sample_rows(blocks.buffered(), &names);
    let layout = Layout::find_or_guess(file, names.clone(), &options.columns, sample)?;
    let head = TableHead { text, blank_lines, ..TableHead::new(file, format, &layout) };
    let parser =
        JsonLinesParser { file: Arc::clone(file), first_role: layout.first_role(), keys, layout };
    let report =
        parallel::read_chunks(blocks, sinks, options.on_error, lines_before, |block, sink| {
            let report = parser.count(block, sink);
            sink.end_text_chunk(report.rows).map(|()| report)
        })?;
    Ok((report, head))
}

/// Number of objects whose keys together are the file's columns: some objects omit empty values.
const HEADER_OBJECTS: usize = 1000;

fn first_keys(
    file: &Arc<str>,
    text: &[u8],
    lines_before: u64,
    on_error: OnError,
) -> Result<Vec<String>> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).enumerate();
    let mut lines = lines.filter(|(_, line)| !line.is_empty()).peekable();
    if lines.peek().is_none() {
        return Err(Error::Empty { file: Arc::clone(file) });
    }
    let mut names = Labels::new();
    let mut first_error = None;
    for (line, object) in lines.take(HEADER_OBJECTS) {
        match serde_json::from_slice::<Keys>(object) {
            Ok(Keys(keys)) => {
                for key in keys {
                    names.intern(&key);
                }
            }
            Err(error) => {
                let position = Position::Line(lines_before + line as u64 + 1);
                let error = Error::Row(Box::new(bad_json(file, object, &error, position)));
                first_error = first_error.or(Some(error));
                if on_error == OnError::Stop {
                    break;
                }
            }
        }
    }
    match first_error {
        // With some keys known, the rows before the bad one can be checked first.
        Some(error) if names.is_empty() => Err(error),
        _ => Ok(names.iter().map(str::to_owned).collect()),
    }
}

/// The values of the first objects, from which columns are judged.
fn sample_rows(text: &[u8], names: &[String]) -> Vec<Vec<String>> {
    use serde_json::{Map, Value};
    let cell = |object: &Map<String, Value>, name: &String| match object.get(name) {
        None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let objects = text.split(|&byte| byte == b'\n').take(SAMPLE_ROWS);
    let objects = objects.filter_map(|line| serde_json::from_slice(line).ok());
    objects.map(|object| names.iter().map(|name| cell(&object, name)).collect()).collect()
}

fn bad_json(file: &Arc<str>, line: &[u8], error: &serde_json::Error, position: Position) -> BadRow {
    let problem = match std::str::from_utf8(line) {
        Ok(_) => Problem::BadJson(error.to_string().replace(" at line 1 column", " at column")),
        Err(_) => Problem::BadUtf8,
    };
    bad_row(file, line, problem, position)
}

fn bad_row(file: &Arc<str>, line: &[u8], problem: Problem, position: Position) -> BadRow {
    let (file, value) = (Arc::clone(file), shorten(line, 60));
    BadRow {
        file,
        position,
        column: None,
        value,
        problem,
        snippet: None,
        others: Vec::new(),
        rows: 0,
        misspelt: false,
    }
}

struct JsonLinesParser {
    file: Arc<str>,
    layout: Layout,
    /// The keys of the first rows.
    keys: Labels,
    /// For each role, the one whose cell has its value: a column can have several roles.
    first_role: [usize; ROLES],
}

impl JsonLinesParser {
    fn count(&self, block: &[u8], sink: &mut impl RowSink) -> ChunkReport {
        let mut report = ChunkReport {
            span: memchr_iter(b'\n', block).count() as u64,
            ..ChunkReport::default()
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
            // The whole line: values without a role are skipped, and their text would not be checked.
            let Ok(text) = std::str::from_utf8(line) else {
                let problem = Problem::BadUtf8;
                report.reject((0, b""), &problem.clone(), || {
                    bad_row(&self.file, line, problem, position)
                });
                continue;
            };
            let mut reader = serde_json::Deserializer::from_str(text);
            let parsed = RowSeed { layout: &self.layout, keys: &self.keys }
                .deserialize(&mut reader)
                .and_then(|row| reader.end().map(|()| row));
            match parsed {
                Err(error) => report.reject((0, b""), &Problem::BadJson(String::new()), || {
                    bad_json(&self.file, line, &error, position)
                }),
                Ok(row) => {
                    let raw = RawRow { number: report.rows, content: RawContent::Text(whole) };
                    match self.parse_row(&row, raw, sink) {
                        Ok(fate) => report.note(fate),
                        Err((role, problem, value)) => {
                            let fault = value.clone();
                            let fault = (role as usize, fault.as_bytes());
                            report.reject(fault, &problem.clone(), || BadRow {
                                column: self.layout.column(role),
                                ..bad_row(&self.file, value.as_bytes(), problem, position)
                            });
                        }
                    }
                }
            }
        }
        report
    }

    fn parse_row(
        &self,
        row: &[JsonCell<'_>; ROLES],
        raw: RawRow<'_>,
        sink: &mut impl RowSink,
    ) -> Result<RowFate, (Role, Problem, String)> {
        let cell = |role: usize| &row[self.first_role[role]];
        for role in Role::ALL {
            let is_name = !matches!(role, Role::Outcome | Role::Count) && !role.is_filter();
            let problem = match cell(role as usize) {
                JsonCell::Nested(_) => Problem::WrongType,
                // Programs format the same decimal number differently, so it cannot be a name.
                JsonCell::Decimal(_) | JsonCell::Boolean(_) if is_name => Problem::WrongType,
                JsonCell::Missing if self.layout.has(role) && !role.can_be_empty() => {
                    Problem::Missing
                }
                _ => continue,
            };
            return Err((role, problem, cell(role as usize).text().to_owned()));
        }
        let cells: Cells<'_> = std::array::from_fn(|role| trimmed(cell(role).text().as_bytes()));
        sink.row(&self.layout, &cells, raw)
            .map_err(|(role, problem)| (role, problem, shorten(cells[role as usize], 60)))
    }
}

/// A value of a row.
enum JsonCell<'a> {
    /// An absent key, or null.
    Missing,
    Text(Cow<'a, str>),
    Decimal(String),
    Boolean(bool),
    /// An object or a list, abbreviated.
    Nested(&'static str),
}

impl JsonCell<'_> {
    fn text(&self) -> &str {
        match self {
            JsonCell::Text(text) => text,
            JsonCell::Decimal(text) => text,
            JsonCell::Boolean(true) => "true",
            JsonCell::Boolean(false) => "false",
            JsonCell::Missing => "",
            JsonCell::Nested(brackets) => brackets,
        }
    }
}

impl<'de> Deserialize<'de> for JsonCell<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonCellVisitor)
    }
}

struct JsonCellVisitor;

impl<'de> Visitor<'de> for JsonCellVisitor {
    type Value = JsonCell<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(JsonCell::Text(text.into()))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(JsonCell::Text(text.to_owned().into()))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(JsonCell::Text(number.to_string().into()))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(JsonCell::Text(number.to_string().into()))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(JsonCell::Decimal(number.to_string()))
    }
    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(JsonCell::Boolean(value))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(JsonCell::Missing)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(JsonCell::Nested("{…}"))
    }
    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(JsonCell::Nested("[…]"))
    }
}

/// Deserialises the values with roles and skips the others.
struct RowSeed<'a> {
    layout: &'a Layout,
    keys: &'a Labels,
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = [JsonCell<'de>; ROLES];

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = [JsonCell<'de>; ROLES];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let refuse = |key: &str, why: &str| Err(A::Error::custom(format_args!("`{key}` {why}")));
        let mut cells = [const { JsonCell::Missing }; ROLES];
        let mut seen = [false; ROLES];
        while let Some(JsonCell::Text(key)) = map.next_key()? {
            let is_key =
                |index: &Option<usize>| index.is_some_and(|index| self.layout.names[index] == key);
            match self.layout.index.iter().position(is_key) {
                Some(role) if seen[role] => return refuse(&key, "appears twice"),
                Some(role) => {
                    cells[role] = map.next_value()?;
                    seen[role] = true;
                }
                None if self.keys.get(key.as_bytes()).is_none() && self.layout.would_use(&key) => {
                    return refuse(&key, "must be in the first rows too, at least as null");
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(cells)
    }
}

/// The keys of an object.
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
