//! Documents for Python: JSON, and tables that any Arrow library reads without copying.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, SchemaRef};
use hodgerank_commands::{Document, Provenance};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use pyo3_arrow::PyTable;

use crate::columns::list;
use crate::errors::usage;

/// The document that a command returns.
#[pyclass(frozen, name = "Document", module = "hodgerank._core")]
pub(crate) struct PyDocument {
    document: Box<dyn Document>,
    provenance: Provenance,
}

impl PyDocument {
    pub(crate) fn new(document: impl Document + 'static, provenance: Provenance) -> Self {
        Self { document: Box::new(document), provenance }
    }

    /// The document as JSON.
    pub(crate) fn to_json(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let mut bytes = Vec::new();
        let written = py.detach(|| self.document.write_json(&self.provenance, &mut bytes));
        written.map_err(|error| failed(py, &error))?;
        Ok(bytes)
    }
}

#[pymethods]
impl PyDocument {
    /// The document that the command line writes with `--format json`.
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.to_json(py)?))
    }

    /// The same without the parts that take long to compute.
    fn brief_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        let written = py.detach(|| self.document.write_brief_json(&self.provenance, &mut bytes));
        written.map_err(|error| failed(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The table that the command line writes with `--format parquet`.
    fn table(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let batch = py.detach(|| {
            let mut table = self.document.table()?;
            self.provenance.push_metadata(&self.document.methods(), &mut table)?;
            table.batch()
        });
        let batch = batch.map_err(|error| failed(py, &error))?;
        Ok(ArrowTable { schema: batch.schema(), batches: vec![batch] })
    }

    /// Charts as SVG, one per study; empty if the command draws none.
    fn figures(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.document.figures())
    }
}

fn failed(py: Python<'_>, error: &std::io::Error) -> PyErr {
    usage(py, &format!("the document cannot be converted: {error}"), "please report this")
}

/// A table for other libraries.
#[pyclass(frozen, module = "hodgerank._core")]
pub(crate) struct ArrowTable {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

#[pymethods]
impl ArrowTable {
    /// The Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = PyTable::try_new(self.batches.clone(), self.schema.clone())?;
        let table = Bound::new(py, table)?;
        table.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    /// Names and values of the columns, for pandas without pyarrow.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Vec<Bound<'py, PyAny>>)>> {
        let column = |(k, field): (usize, &Arc<Field>)| {
            let parts = self.batches.iter().map(|batch| list(py, batch.column(k)));
            Ok((field.name().clone(), parts.collect::<PyResult<_>>()?))
        };
        self.schema.fields().iter().enumerate().map(column).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}
