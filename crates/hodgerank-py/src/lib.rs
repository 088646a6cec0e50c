//! `hodgerank._core`: converts Python values to the commands of `hodgerank-commands` and back.
//!
//! Conversions and error classes only. The package around it is in `python/hodgerank`.
//!
//! | file | what |
//! |---|---|
//! | `votes.rs` | tables, arrays, tuples and file names as votes |
//! | `options.rs` | keywords as the arguments of a command, parsed by the definitions of the flags |
//! | `worker.rs` | a command on its own thread, without the interpreter lock, interruptible |
//! | `document.rs` | documents as JSON and Arrow |
//! | `columns.rs` | columns of pandas without pyarrow |
//! | `program.rs` | the program that `pip install` brings along |
//! | `errors.rs` | failures as exceptions |

#![warn(missing_docs, clippy::print_stdout, clippy::print_stderr)]

mod columns;
mod commands;
mod document;
mod errors;
mod options;
mod program;
mod votes;
mod worker;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    const VERSION: &str = hodgerank_commands::PROGRAM.version;
    #[pymodule_export]
    use crate::columns::columns;
    #[pymodule_export]
    use crate::commands::{
        annotators, certify, clean, compare, decompose, diagnose, outliers, path, predict, rank,
        remove_unfinished, report, simulate, split,
    };
    #[pymodule_export]
    use crate::document::{ArrowTable, PyDocument};
    #[pymodule_export]
    use crate::options::options;
    #[pymodule_export]
    use crate::program::run_program;
    #[pymodule_export]
    use crate::votes::{PyVotes, arrays, files, table, tuples};
}
