//! Votes from Python: a table of any Arrow library, NumPy arrays of indices, a list of tuples, or file
//! names. Only tuples are converted cell by cell.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow_schema::{ArrowError, SchemaRef};
use hodgerank_commands::{Document, Failure, InputOptions, Provenance, VoteSource};
use hodgerank_io::read::{InputFile, MemoryTable};
use hodgerank_io::{BadRow, ColumnProblem, OutcomeAs, Position, Problem};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use pyo3_arrow::input::AnyRecordBatch;

use crate::document::PyDocument;
use crate::errors::{exception, usage};

/// What messages call a table in memory.
const NAME: &str = "votes";

/// Votes that can be read several times.
#[pyclass(frozen, name = "Votes", module = "hodgerank._core")]
pub(crate) struct PyVotes {
    source: VoteSource,
    /// How to read the outcomes, if their Python type determines it.
    outcome_as: Option<OutcomeAs>,
}

impl PyVotes {
    pub(crate) fn table(schema: SchemaRef, batches: &[RecordBatch]) -> Self {
        let table = Arc::new(MemoryTable::new(NAME, schema, batches));
        Self { source: VoteSource::Table(table), outcome_as: None }
    }

    fn columns(columns: Vec<(&str, ArrayRef)>) -> Result<Self, ArrowError> {
        let batch = RecordBatch::try_from_iter(columns)?;
        Ok(Self::table(batch.schema(), &[batch]))
    }

    pub(crate) fn source(&self) -> VoteSource {
        self.source.clone()
    }

    /// Sets how to read the outcomes, unless an argument says so.
    pub(crate) fn set_outcome_kind(&self, options: &mut InputOptions) {
        if let Some(outcome_as) = self.outcome_as.clone() {
            options.default_outcome_as(outcome_as);
        }
    }

    /// The document of a command with these votes.
    pub(crate) fn document(
        &self,
        (document, files): (impl Document + 'static, Vec<InputFile>),
        provenance: Provenance,
    ) -> PyDocument {
        match self.source {
            VoteSource::Files(_) | VoteSource::Folders(_) => {
                PyDocument::new(document, provenance.with_files(files))
            }
            VoteSource::Table(_) => PyDocument::new(document, provenance),
        }
    }

    /// The schema of a table in memory.
    pub(crate) fn schema(&self, py: Python<'_>) -> PyResult<SchemaRef> {
        match &self.source {
            VoteSource::Table(table) => Ok(Arc::clone(table.schema())),
            VoteSource::Files(_) | VoteSource::Folders(_) => Err(usage(
                py,
                "files are cleaned into files",
                "name the file for the trusted votes with output=…, or pass a table",
            )),
        }
    }
}

#[pymethods]
impl PyVotes {
    /// Whether the votes are in memory.
    #[getter]
    fn in_memory(&self) -> bool {
        matches!(self.source, VoteSource::Table(_))
    }
}

/// Files, read as one study.
#[pyfunction]
pub(crate) fn files(names: Vec<String>) -> PyVotes {
    PyVotes { source: VoteSource::from_names(&names), outcome_as: None }
}

/// A table of any library that speaks the Arrow PyCapsule interface; nothing is copied.
#[pyfunction]
pub(crate) fn table(py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<PyVotes> {
    let unreadable = |problem: String| {
        exception(
            py,
            &Failure::File(hodgerank_io::Error::Columns {
                file: NAME.into(),
                problem: ColumnProblem::Table(problem),
            }),
        )
    };
    let failed = |error: PyErr| unreadable(error.value(py).to_string());
    let reader = table.extract::<AnyRecordBatch>().map_err(|error| {
        if error.is_instance_of::<pyo3::exceptions::PyImportError>(py) {
            error
        } else {
            failed(error)
        }
    })?;
    let reader = reader.into_reader().map_err(failed)?;
    let schema = reader.schema();
    let batches = py.detach(|| reader.collect::<Result<Vec<_>, ArrowError>>());
    let batches = batches.map_err(|error| unreadable(error.to_string()))?;
    Ok(PyVotes::table(schema, &batches))
}

/// NumPy arrays: indices of items, or of `items` by name, and how much left is preferred. Without
/// `y` the left item is the preferred one.
#[pyfunction]
#[pyo3(signature = (left, right, y = None, items = None))]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes borrowed arrays by value")]
pub(crate) fn arrays(
    py: Python<'_>,
    left: PyReadonlyArray1<'_, i64>,
    right: PyReadonlyArray1<'_, i64>,
    y: Option<PyReadonlyArray1<'_, f64>>,
    items: Option<Vec<String>>,
) -> PyResult<PyVotes> {
    let (left, right) = (left.as_slice()?, right.as_slice()?);
    let y = y.as_ref().map(|y| y.as_slice()).transpose()?;
    if left.len() != right.len() || y.is_some_and(|y| y.len() != left.len()) {
        let lengths = format!("{}, {}", left.len(), right.len());
        let lengths = y.map_or(lengths.clone(), |y| format!("{lengths}, {}", y.len()));
        let problem = format!("the arrays have different lengths: {lengths}");
        return Err(usage(py, &problem, "give one entry for each vote"));
    }
    let names = names(2 + usize::from(y.is_some()));
    for (place, (indices, name)) in [left, right].into_iter().zip(names).enumerate() {
        check_range(indices, items.as_deref(), place + 1, name)
            .map_err(|bad| exception(py, &Failure::File(bad.into())))?;
    }
    let most = left.iter().chain(right).max().copied().unwrap_or(0);
    let made = py.detach(|| {
        let column = Indexed::new(items, most, left.len())?;
        let mut columns = vec![(names[0], column.of(left)?), (names[1], column.of(right)?)];
        if let Some(y) = y {
            columns.push(("y", Arc::new(Float64Array::from(y.to_vec())) as ArrayRef));
        }
        PyVotes::columns(columns)
    });
    made.map_err(|error| usage(py, &error.to_string(), "give one entry for each vote"))
}

fn check_range(
    indices: &[i64],
    items: Option<&[String]>,
    place: usize,
    name: &str,
) -> Result<(), Box<BadRow>> {
    let end = items.map_or(i64::MAX, |items| items.len() as i64);
    let is_bad = |index: &i64| !(0..end).contains(index);
    let Some(row) = indices.iter().position(is_bad) else { return Ok(()) };
    Err(Box::new(BadRow {
        file: NAME.into(),
        position: Position::Row(row as u64 + 1),
        column: Some((place, name.to_owned())),
        value: indices[row].to_string(),
        problem: Problem::OutOfRange { items: items.map(<[_]>::len) },
        snippet: None,
        others: Vec::new(),
        rows: 0,
        misspelt: false,
    }))
}

/// How indices become a column.
enum Indexed {
    /// By a list of names: each is looked up once.
    Names(ArrayRef),
    /// As they are: where there are more of them than votes.
    Plain,
}

impl Indexed {
    fn new(items: Option<Vec<String>>, most: i64, votes: usize) -> Result<Self, ArrowError> {
        Ok(match items {
            Some(items) => Self::Names(Arc::new(StringArray::from(items))),
            None if most as usize <= votes && i32::try_from(most).is_ok() => {
                let names = (0..=most).map(|index| index.to_string());
                Self::Names(Arc::new(StringArray::from_iter_values(names)))
            }
            None => Self::Plain,
        })
    }

    fn of(&self, indices: &[i64]) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Names(names) => {
                let keys = Int32Array::from_iter_values(indices.iter().map(|&index| index as i32));
                Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(names))?)
            }
            Self::Plain => Arc::new(Int64Array::from(indices.to_vec())),
        })
    }
}

/// What the columns of the items are called in votes of two or three columns.
fn names(width: usize) -> [&'static str; 2] {
    if width == 2 { ["winner", "loser"] } else { ["left", "right"] }
}

/// Tuples (winner, loser) or (left, right, outcome).
#[pyfunction]
pub(crate) fn tuples(py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<PyVotes> {
    let mut width = None;
    let mut sides = [StringBuilder::new(), StringBuilder::new()];
    let mut outcomes = Vec::new();
    for (row, cells) in rows.try_iter()?.enumerate() {
        let cells: Vec<Bound<'_, PyAny>> = cells?.extract().unwrap_or_default();
        let found = *width.get_or_insert(cells.len());
        if cells.len() != found || !(2..=3).contains(&found) {
            let problem = format!(
                "votes, row {}: expected (winner, loser) or (left, right, outcome), the same in \
                 every row",
                row + 1
            );
            return Err(usage(py, &problem, "pass a table for votes with more columns"));
        }
        for (place, (side, cell)) in sides.iter_mut().zip(&cells).enumerate() {
            side.append_option(label(cell, row, place, names(found)[place])?);
        }
        outcomes.extend(cells.into_iter().nth(2));
    }
    let names = names(width.unwrap_or(3));
    let [mut left, mut right] = sides;
    let mut columns: Vec<(&str, ArrayRef)> =
        vec![(names[0], Arc::new(left.finish())), (names[1], Arc::new(right.finish()))];
    let mut outcome_as = None;
    if width != Some(2) {
        let (column, how) = outcome_column(&outcomes)?;
        columns.push(("outcome", column));
        outcome_as = how;
    }
    let votes = PyVotes::columns(columns);
    let votes = votes.map_err(|error| usage(py, &error.to_string(), "pass a table"))?;
    Ok(PyVotes { outcome_as, ..votes })
}

/// A label: text or a whole number; nothing where the cell is None.
fn label(
    cell: &Bound<'_, PyAny>,
    row: usize,
    place: usize,
    name: &str,
) -> PyResult<Option<String>> {
    if cell.is_none() {
        return Ok(None);
    }
    if let Ok(text) = cell.cast::<PyString>() {
        return Ok(Some(text.to_cow()?.into_owned()));
    }
    // Python's and NumPy's whole numbers have an index; fractions have none, and truth is no label.
    let is_whole = !cell.is_instance_of::<PyBool>() && cell.hasattr("__index__")?;
    if let Some(whole) = cell.extract::<i64>().ok().filter(|_| is_whole) {
        return Ok(Some(whole.to_string()));
    }
    let bad = BadRow {
        file: NAME.into(),
        position: Position::Row(row as u64 + 1),
        column: Some((place + 1, name.to_owned())),
        value: cell.repr().map_or(String::new(), |text| text.to_string()),
        problem: Problem::WrongType,
        snippet: None,
        others: Vec::new(),
        rows: 0,
        misspelt: false,
    };
    Err(exception(cell.py(), &Failure::File(Box::new(bad).into())))
}

/// Numbers are numbers, truth values say whether the left item was chosen, all else is text.
fn outcome_column(cells: &[Bound<'_, PyAny>]) -> PyResult<(ArrayRef, Option<OutcomeAs>)> {
    let all =
        |is: fn(&Bound<'_, PyAny>) -> bool| cells.iter().all(|cell| cell.is_none() || is(cell));
    if all(|cell| cell.is_instance_of::<PyBool>()) {
        let values: Vec<Option<bool>> = cells.iter().map(|cell| cell.extract().ok()).collect();
        return Ok((Arc::new(BooleanArray::from(values)), Some(OutcomeAs::Selected)));
    }
    if all(|cell| !cell.is_instance_of::<PyString>() && cell.extract::<f64>().is_ok()) {
        let values: Vec<Option<f64>> = cells.iter().map(|cell| cell.extract().ok()).collect();
        return Ok((Arc::new(Float64Array::from(values)), Some(OutcomeAs::Number)));
    }
    let text = |cell: &Bound<'_, PyAny>| -> PyResult<Option<String>> {
        if cell.is_none() { Ok(None) } else { Ok(Some(cell.str()?.to_cow()?.into_owned())) }
    };
    let texts = cells.iter().map(text).collect::<PyResult<Vec<_>>>()?;
    Ok((Arc::new(StringArray::from(texts)), None))
}
