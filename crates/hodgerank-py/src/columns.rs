//! Tables of pandas without pyarrow: NumPy arrays and lists of text as columns, and columns as lists.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray,
};
use arrow_schema::{ArrowError, DataType};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::usage;
use crate::votes::PyVotes;

/// The values of a column.
#[derive(FromPyObject)]
pub(crate) enum Values<'py> {
    Whole(PyReadonlyArray1<'py, i64>),
    Number(PyReadonlyArray1<'py, f64>),
    Truth(PyReadonlyArray1<'py, bool>),
    Text(Vec<Option<String>>),
}

/// Name, values, which of them are missing, and the labels if the values are places in a list of labels.
type NamedColumn<'py> =
    (String, Values<'py>, Option<PyReadonlyArray1<'py, bool>>, Option<Vec<String>>);

/// A table of columns.
#[pyfunction]
pub(crate) fn columns(py: Python<'_>, columns: Vec<NamedColumn<'_>>) -> PyResult<PyVotes> {
    let named = |(name, values, missing, labels): &NamedColumn<'_>| {
        let missing = missing.as_ref().map(|missing| missing.as_slice()).transpose()?;
        let array = array(values, missing, labels.as_deref())?;
        array.map(|array| (name.clone(), array)).map_err(|error| unreadable(py, &error))
    };
    let columns = columns.iter().map(named).collect::<PyResult<Vec<_>>>()?;
    let batch = RecordBatch::try_from_iter(columns).map_err(|error| unreadable(py, &error))?;
    Ok(PyVotes::table(batch.schema(), &[batch]))
}

fn unreadable(py: Python<'_>, error: &ArrowError) -> PyErr {
    usage(py, &format!("the table cannot be read: {error}"), "give its columns the same length")
}

fn array(
    values: &Values<'_>,
    missing: Option<&[bool]>,
    labels: Option<&[String]>,
) -> PyResult<Result<ArrayRef, ArrowError>> {
    let is_present = |row: usize| missing.is_none_or(|missing| missing.get(row) != Some(&true));
    Ok(match (values, labels) {
        (Values::Whole(places), Some(labels)) => {
            let place = |(row, &place): (usize, &i64)| {
                i32::try_from(place).ok().filter(|place| *place >= 0 && is_present(row))
            };
            let keys: Int32Array = places.as_slice()?.iter().enumerate().map(place).collect();
            let labels = Arc::new(StringArray::from_iter_values(labels));
            DictionaryArray::<Int32Type>::try_new(keys, labels).map(|array| Arc::new(array) as _)
        }
        (Values::Whole(values), None) => {
            let values = values.as_slice()?.iter().enumerate();
            let value = |(row, &value)| Some(value).filter(|_| is_present(row));
            Ok(Arc::new(values.map(value).collect::<Int64Array>()))
        }
        (Values::Number(values), _) => {
            let values = values.as_slice()?.iter().enumerate();
            let value = |(row, &value): (usize, &f64)| {
                Some(value).filter(|value| is_present(row) && !value.is_nan())
            };
            Ok(Arc::new(values.map(value).collect::<Float64Array>()))
        }
        (Values::Truth(values), _) => {
            let values = values.as_slice()?.iter().enumerate();
            let value = |(row, &value)| Some(value).filter(|_| is_present(row));
            Ok(Arc::new(values.map(value).collect::<BooleanArray>()))
        }
        (Values::Text(values), _) => Ok(Arc::new(StringArray::from_iter(values.iter()))),
    })
}

/// The values of a column as a list; missing values are None.
pub(crate) fn list<'py>(py: Python<'py>, column: &dyn Array) -> PyResult<Bound<'py, PyAny>> {
    let values = match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().iter().collect::<Vec<_>>().into_pyobject(py)?,
        DataType::Int64 => {
            column.as_primitive::<Int64Type>().iter().collect::<Vec<_>>().into_pyobject(py)?
        }
        DataType::UInt64 => {
            column.as_primitive::<UInt64Type>().iter().collect::<Vec<_>>().into_pyobject(py)?
        }
        DataType::UInt32 => {
            column.as_primitive::<UInt32Type>().iter().collect::<Vec<_>>().into_pyobject(py)?
        }
        DataType::Float64 => {
            column.as_primitive::<Float64Type>().iter().collect::<Vec<_>>().into_pyobject(py)?
        }
        DataType::Boolean => column.as_boolean().iter().collect::<Vec<_>>().into_pyobject(py)?,
        DataType::Dictionary(key, value)
            if **key == DataType::Int32 && **value == DataType::Utf8 =>
        {
            let column = column.as_dictionary::<Int32Type>();
            let labels = column.values().as_string::<i32>();
            let label = |key: Option<i32>| key.map(|key| labels.value(key as usize));
            column.keys().iter().map(label).collect::<Vec<_>>().into_pyobject(py)?
        }
        other => {
            let problem = format!("a column of the type {other} needs pyarrow");
            return Err(PyTypeError::new_err(problem));
        }
    };
    Ok(values)
}
