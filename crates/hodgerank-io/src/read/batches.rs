//! Columns of Arrow batches, from Parquet or Arrow files, counted row by row.
//!
//! Text columns often come as dictionaries: each distinct name once, and a small key in every row.
//! The names behind the keys are looked up once for each dictionary; a row whose parts are all known
//! by then costs three array reads and one addition. Every other row (a new name, a null, a count,
//! an annotator, something wrong) takes the general way.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray};
use arrow_array::{RecordBatch, types};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Schema};

use super::pump::PieceReport;
use super::rows::RowSink;
use crate::columns::{ColumnNames, Layout, ROLES, Role};
use crate::error::{BadRow, Error, Position, Problem, Result, shorten};
use crate::outcome::{OutcomeAs, understand};
use crate::study::{Cells, Counter};

/// What is known of a table before its rows are read.
pub(super) struct Table {
    file: Arc<str>,
    pub(super) layout: Layout,
    /// The columns to fetch, ascending.
    pub(super) wanted: Vec<usize>,
    /// For each role, the place of its column among the fetched ones.
    fetched: [Option<usize>; ROLES],
}

impl Table {
    /// With `whole`, all columns are fetched, else only those with a role.
    pub(super) fn new(
        file: &Arc<str>,
        schema: &Schema,
        given: &ColumnNames,
        whole: bool,
    ) -> Result<Self> {
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        let layout = Layout::find(file, names, given)?;
        for role in Role::ALL {
            if let Some(place) = layout.place[role as usize] {
                check_type(file, schema, place, role)?;
            }
        }
        let mut wanted: Vec<usize> = layout.place.iter().flatten().copied().collect();
        if whole {
            wanted = (0..schema.fields().len()).collect();
        }
        wanted.sort_unstable();
        wanted.dedup();
        let fetched = layout.place.map(|place| wanted.iter().position(|&w| Some(w) == place));
        Ok(Self { file: Arc::clone(file), layout, wanted, fetched })
    }

    /// Counts the next batch of a piece; `memo` is the same for all batches of the piece.
    pub(super) fn count(
        &self,
        batch: &RecordBatch,
        memo: &mut Memo,
        counter: &mut Counter,
        report: &mut PieceReport,
    ) -> Result<()> {
        let columns = self.columns(batch)?;
        let mut scratch: [String; ROLES] = Default::default();
        let mut known = Known::new(&self.layout, &columns, memo);
        for row in 0..batch.num_rows() {
            if let Some(known) = &known
                && let Some((left, right, y)) = known.vote(row)
            {
                counter.count_known(left, right, y);
            } else {
                let general = self.count_row(&columns, row, &mut scratch, counter);
                if let Err(fault) = general {
                    self.reject(row, fault, report);
                } else if let Some(known) = &mut known {
                    known.learn(row, &self.layout, counter);
                }
            }
        }
        report.rows += batch.num_rows() as u64;
        report.span = report.rows;
        Ok(())
    }

    /// Hands over every row of a batch, and calls `rejected` for each that was rejected instead.
    pub(super) fn each_row<S: RowSink>(
        &self,
        batch: &RecordBatch,
        sink: &mut S,
        report: &mut PieceReport,
        rejected: impl Fn(&mut S),
    ) -> Result<()> {
        let columns = self.columns(batch)?;
        let mut scratch: [String; ROLES] = Default::default();
        for row in 0..batch.num_rows() {
            if let Err(fault) = self.count_row(&columns, row, &mut scratch, sink) {
                self.reject(row, fault, report);
                rejected(sink);
            }
        }
        report.rows += batch.num_rows() as u64;
        report.span = report.rows;
        Ok(())
    }

    fn columns<'a>(&self, batch: &'a RecordBatch) -> Result<Vec<Column<'a>>> {
        let column = |place: &Option<usize>| {
            place.map_or(Ok(Column::Absent), |place| Column::new(batch.column(place)))
        };
        let columns = self.fetched.iter().map(column).collect::<Result<_, String>>();
        columns.map_err(|kind| self.unreadable(&kind))
    }

    fn reject(&self, row: usize, fault: (Role, Problem, String), report: &mut PieceReport) {
        let (role, problem, value) = fault;
        let position = Position::Row(report.rows + row as u64 + 1);
        report.reject(|| BadRow {
            file: Arc::clone(&self.file),
            position,
            column: self.layout.column(role),
            value,
            problem,
            snippet: None,
        });
    }

    fn count_row(
        &self,
        columns: &[Column<'_>],
        row: usize,
        scratch: &mut [String; ROLES],
        sink: &mut impl RowSink,
    ) -> Result<(), (Role, Problem, String)> {
        let mut cells: Cells<'_> = [b""; ROLES];
        for ((role, column), scratch) in Role::ALL.into_iter().zip(columns).zip(scratch) {
            if matches!(column, Column::Absent) {
                continue;
            }
            match column.text(row, scratch) {
                Some(text) => cells[role as usize] = text.as_bytes(),
                None if role == Role::Annotator => {}
                None => return Err((role, Problem::Missing, String::new())),
            }
        }
        sink.row(&self.layout, &cells, b"")
            .map_err(|(role, problem)| (role, problem, shorten(cells[role as usize], 60)))
    }

    fn unreadable(&self, kind: &str) -> Error {
        Error::Columns {
            file: Arc::clone(&self.file),
            problem: format!("a column has the type {kind}, which cannot be read"),
            help: "store the column as text or whole numbers".to_owned(),
        }
    }
}

fn check_type(file: &Arc<str>, schema: &Schema, place: usize, role: Role) -> Result<()> {
    let field = schema.field(place);
    let inner = match field.data_type() {
        DataType::Dictionary(_, values) => values,
        other => other,
    };
    let is_text = matches!(inner, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let is_decimal = matches!(inner, DataType::Float32 | DataType::Float64);
    let (fits, expected) = match role {
        Role::Left | Role::Right | Role::Annotator | Role::By => {
            (is_text || inner.is_integer(), "text or whole numbers")
        }
        Role::Outcome => (
            is_text || inner.is_integer() || is_decimal || *inner == DataType::Boolean,
            "text, numbers or truth values",
        ),
        Role::Count => (is_text || inner.is_integer() || is_decimal, "whole numbers"),
    };
    if fits {
        return Ok(());
    }
    Err(Error::Columns {
        file: Arc::clone(file),
        problem: format!(
            "column {} (`{}`) has the type {}, but {expected} are needed",
            place + 1,
            field.name(),
            field.data_type()
        ),
        help: "convert the column, or name another one with --winner, --loser, --left, --right, \
               --outcome, --annotator, --count or --by"
            .to_owned(),
    })
}

/// One column of a batch, whatever its type.
enum Column<'a> {
    Absent,
    Text(Texts<'a>, Nulls<'a>),
    Whole(Box<dyn Fn(usize) -> i128 + 'a>, Nulls<'a>),
    Decimal(Box<dyn Fn(usize) -> f64 + 'a>, Nulls<'a>),
    Truth(Box<dyn Fn(usize) -> bool + 'a>, Nulls<'a>),
    /// Keys (meaningless where the row is null) and the values behind them.
    Dictionary {
        keys: Cow<'a, [i32]>,
        array: &'a ArrayRef,
        nulls: Nulls<'a>,
        values: Box<Column<'a>>,
        dictionary: &'a ArrayRef,
    },
}

/// Which rows are null; none where no row is.
type Nulls<'a> = Option<&'a NullBuffer>;

/// Text of any layout. Labels are most of what is read, so no call goes through a pointer.
enum Texts<'a> {
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
}

impl<'a> Texts<'a> {
    #[inline]
    fn value(&self, row: usize) -> &'a str {
        match self {
            Self::Small(texts) => texts.value(row),
            Self::Large(texts) => texts.value(row),
            Self::View(texts) => texts.value(row),
        }
    }
}

impl<'a> Column<'a> {
    fn new(array: &'a ArrayRef) -> Result<Self, String> {
        let nulls = array.nulls();
        macro_rules! whole {
            ($kind:ty) => {{
                let values = array.as_primitive::<$kind>().values();
                Self::Whole(Box::new(move |row| i128::from(values[row])), nulls)
            }};
        }
        Ok(match array.data_type() {
            DataType::Utf8 => Self::Text(Texts::Small(array.as_string()), nulls),
            DataType::LargeUtf8 => Self::Text(Texts::Large(array.as_string()), nulls),
            DataType::Utf8View => Self::Text(Texts::View(array.as_string_view()), nulls),
            DataType::Int8 => whole!(types::Int8Type),
            DataType::Int16 => whole!(types::Int16Type),
            DataType::Int32 => whole!(types::Int32Type),
            DataType::Int64 => whole!(types::Int64Type),
            DataType::UInt8 => whole!(types::UInt8Type),
            DataType::UInt16 => whole!(types::UInt16Type),
            DataType::UInt32 => whole!(types::UInt32Type),
            DataType::UInt64 => whole!(types::UInt64Type),
            DataType::Float32 => {
                let values = array.as_primitive::<types::Float32Type>().values();
                Self::Decimal(Box::new(move |row| f64::from(values[row])), nulls)
            }
            DataType::Float64 => {
                let values = array.as_primitive::<types::Float64Type>().values();
                Self::Decimal(Box::new(move |row| values[row]), nulls)
            }
            DataType::Boolean => {
                let values = array.as_boolean();
                Self::Truth(Box::new(move |row| values.value(row)), nulls)
            }
            DataType::Dictionary(_, _) => {
                let any = array.as_any_dictionary();
                let dictionary = any.values();
                let values = Box::new(Self::new(dictionary)?);
                let keys = match array.as_dictionary_opt::<types::Int32Type>() {
                    Some(keyed) => Cow::Borrowed(&keyed.keys().values()[..]),
                    // Keys of an empty dictionary cannot be normalised; every row of it is null.
                    None if dictionary.is_empty() => vec![0; array.len()].into(),
                    None => any.normalized_keys().into_iter().map(|key| key as i32).collect(),
                };
                Self::Dictionary { keys, array, nulls, values, dictionary }
            }
            other => return Err(other.to_string()),
        })
    }

    /// The cell as text; `None` where it is null or the column absent.
    fn text<'s>(&'s self, row: usize, scratch: &'s mut String) -> Option<&'s str> {
        use std::fmt::Write as _;
        scratch.clear();
        match self {
            Self::Absent => return None,
            Self::Text(_, Some(nulls))
            | Self::Whole(_, Some(nulls))
            | Self::Decimal(_, Some(nulls))
            | Self::Truth(_, Some(nulls))
            | Self::Dictionary { nulls: Some(nulls), .. }
                if nulls.is_null(row) =>
            {
                return None;
            }
            Self::Text(texts, _) => return Some(texts.value(row)),
            Self::Dictionary { keys, values, .. } => {
                return values.text(keys[row] as usize, scratch);
            }
            Self::Whole(value, _) => write!(scratch, "{}", value(row)),
            Self::Decimal(value, _) => write!(scratch, "{}", value(row)),
            Self::Truth(value, _) => write!(scratch, "{}", value(row)),
        }
        .expect("writing to a string does not fail");
        Some(scratch)
    }
}

/// What the keys of dictionaries stand for, as far as rows have shown it.
#[derive(Default)]
pub(super) struct Memo {
    left: DictionaryMemo<u32>,
    right: DictionaryMemo<u32>,
    outcome: DictionaryMemo<Meaning>,
    /// Meanings hold as long as no new item could be taken for an outcome.
    outcome_like_items: usize,
}

#[derive(Default)]
struct DictionaryMemo<T> {
    dictionary: Option<ArrayRef>,
    meaning: Vec<T>,
}

impl<T: Clone> DictionaryMemo<T> {
    /// Forgets everything unless the dictionary is still the same.
    fn update(&mut self, dictionary: &ArrayRef, unknown: T) {
        let same = self.dictionary.as_ref().is_some_and(|known| {
            Arc::ptr_eq(known, dictionary) || known.to_data().ptr_eq(&dictionary.to_data())
        });
        if !same {
            self.meaning.clear();
            self.meaning.resize(dictionary.len(), unknown);
            // Held on to, so that its address cannot be given to another.
            self.dictionary = Some(Arc::clone(dictionary));
        }
    }
}

#[derive(Clone, Copy, Default)]
enum Meaning {
    /// Not seen yet, or in need of a look at the row each time.
    #[default]
    Unknown,
    /// The label of this item and nothing else.
    Item(u32),
    /// The same in every row.
    Fixed(f64),
}

const UNKNOWN: u32 = u32::MAX;

/// A batch's keys beside what is known of them.
struct Known<'c, 'a> {
    memo: &'c mut Memo,
    left: Keyed<'c, 'a>,
    right: Keyed<'c, 'a>,
    outcome: Option<Keyed<'c, 'a>>,
}

#[derive(Clone, Copy)]
struct Keyed<'c, 'a> {
    keys: &'c [i32],
    values: &'c Column<'a>,
    dictionary: &'a ArrayRef,
}

impl<'c, 'a> Keyed<'c, 'a> {
    /// `None` where the column is no dictionary or has nulls.
    fn new(column: &'c Column<'a>) -> Option<Self> {
        match column {
            Column::Dictionary { keys, array, values, dictionary, .. }
                if array.logical_null_count() == 0 =>
            {
                Some(Self { keys, values, dictionary })
            }
            _ => None,
        }
    }
}

impl<'c, 'a> Known<'c, 'a> {
    /// `None` where the short way cannot be taken: other column types, nulls, counts and the like.
    fn new(layout: &Layout, columns: &'c [Column<'a>], memo: &'c mut Memo) -> Option<Self> {
        if [Role::Annotator, Role::Count, Role::By].into_iter().any(|role| layout.has(role)) {
            return None;
        }
        let keyed = |role: Role| Keyed::new(&columns[role as usize]);
        let (left, right) = (keyed(Role::Left)?, keyed(Role::Right)?);
        memo.left.update(left.dictionary, UNKNOWN);
        memo.right.update(right.dictionary, UNKNOWN);
        let outcome = if layout.has(Role::Outcome) { Some(keyed(Role::Outcome)?) } else { None };
        if let Some(outcome) = outcome {
            memo.outcome.update(outcome.dictionary, Meaning::Unknown);
        }
        Some(Self { memo, left, right, outcome })
    }

    /// The vote of a row whose parts are all known and well.
    #[inline]
    fn vote(&self, row: usize) -> Option<(u32, u32, f64)> {
        let left = self.memo.left.meaning[self.left.keys[row] as usize];
        let right = self.memo.right.meaning[self.right.keys[row] as usize];
        if left == UNKNOWN || right == UNKNOWN || left == right {
            return None;
        }
        let y = match &self.outcome {
            None => 1.0,
            Some(outcome) => match self.memo.outcome.meaning[outcome.keys[row] as usize] {
                Meaning::Fixed(y) => y,
                Meaning::Item(item) if item == left => 1.0,
                Meaning::Item(item) if item == right => -1.0,
                Meaning::Item(_) | Meaning::Unknown => return None,
            },
        };
        Some((left, right, y))
    }

    /// Remembers the parts of a row that was counted the general way.
    fn learn(&mut self, row: usize, layout: &Layout, counter: &Counter) {
        let mut scratch = String::new();
        let sides = [(&mut self.memo.left, &self.left), (&mut self.memo.right, &self.right)];
        for (memo, side) in sides {
            let key = side.keys[row] as usize;
            if memo.meaning[key] == UNKNOWN
                && let Some(name) = side.values.text(key, &mut scratch)
            {
                memo.meaning[key] = counter.known_item(name.as_bytes()).unwrap_or(UNKNOWN);
            }
        }
        let Some(outcome) = &self.outcome else { return };
        if self.memo.outcome_like_items != counter.outcome_like_items() {
            self.memo.outcome_like_items = counter.outcome_like_items();
            self.memo.outcome.meaning.fill(Meaning::Unknown);
        }
        let key = outcome.keys[row] as usize;
        let Some(text) = outcome.values.text(key, &mut scratch) else { return };
        let how = layout.outcome_as;
        let by_label = matches!(how, OutcomeAs::Auto | OutcomeAs::Label);
        let item = counter.known_item(text.as_bytes()).filter(|_| by_label);
        let fixed = understand(how, text.as_bytes(), false, false).ok();
        self.memo.outcome.meaning[key] = match (item, fixed) {
            (Some(item), None) => Meaning::Item(item),
            (None, Some(reading)) => Meaning::Fixed(reading.y),
            // Both: what it means depends on the row, so the row is looked at.
            _ => Meaning::Unknown,
        };
    }
}
