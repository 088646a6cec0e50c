//! The program `hodgerank`, which `pip install` brings along.

use std::ffi::OsString;
use std::io::Write as _;

use pyo3::prelude::*;

/// Runs the program with these arguments and returns its exit code.
#[pyfunction]
pub(crate) fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let name = OsString::from(hodgerank_commands::PROGRAM.name);
        let arguments: Vec<OsString> = std::iter::once(name).chain(arguments).collect();
        let code = hodgerank_cli::run_with(&arguments);
        // Nobody flushes it when Python ends. After a closed pipe there is nothing to do.
        let _ = std::io::stdout().flush();
        code
    })
}
