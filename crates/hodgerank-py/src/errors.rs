//! Failures as exceptions, which `hodgerank.errors` defines. Messages speak of keywords.

use hodgerank_commands::Failure;
use hodgerank_commands::keywords::with_keywords;
use hodgerank_io::Position;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception for a failure.
pub(crate) fn exception(py: Python<'_>, failure: &Failure) -> PyErr {
    use hodgerank::Error as Model;
    use hodgerank_io::Error as File;
    let class = match failure {
        Failure::File(File::Open { .. } | File::Write { .. }) => "FileError",
        Failure::File(_) => "InputError",
        Failure::Model(
            Model::BadOption { .. } | Model::StepTooLarge { .. } | Model::TooFewCycles { .. },
        )
        | Failure::Usage { .. } => "UsageError",
        Failure::Model(Model::Factorisation { .. } | Model::TooManyTriangles { .. }) => {
            "SolverError"
        }
        Failure::Model(_) => "InputError",
        Failure::Unanswerable { .. } => "UnanswerableError",
        _ => "HodgerankError",
    };
    let facts = PyDict::new(py);
    let known = place(failure, &facts);
    let made = known.and_then(|()| {
        let (problem, help) = (failure.to_string(), failure.help());
        let help = help.as_deref().map(with_keywords);
        let arguments = (with_keywords(&problem), help);
        py.import("hodgerank.errors")?.getattr(class)?.call(arguments, Some(&facts))
    });
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Where the fault is, if it is in a row.
fn place(failure: &Failure, facts: &Bound<'_, PyDict>) -> PyResult<()> {
    let Failure::File(hodgerank_io::Error::Row(bad)) = failure else { return Ok(()) };
    let row = match bad.position {
        Position::Line(number) | Position::Row(number) => number,
    };
    facts.set_item("row", row)?;
    facts.set_item("column", bad.column.as_ref().map(|(_, name)| name))
}

/// The exception for invalid options or arguments.
pub(crate) fn usage(py: Python<'_>, problem: &str, help: &str) -> PyErr {
    exception(py, &Failure::usage(problem, help))
}
