//! `hodgerank._core`: from Python's values to the commands of `hodgerank-commands` and back.
//!
//! Conversions and the error map, nothing else. The package around it is in `python/hodgerank`.
//!
//! | file | what |
//! |---|---|
//! | `votes.rs` | tables, arrays, tuples and file names as votes |
//! | `options.rs` | keywords as the options of a command, by the definitions that the flags have |
//! | `work.rs` | a command on a thread of its own, without the interpreter's lock, interruptible |
//! | `answer.rs` | answers as JSON and Arrow |
//! | `errors.rs` | failures as exceptions |

mod answer;
mod commands;
mod errors;
mod options;
mod votes;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::answer::{Answer, Table};
    #[pymodule_export]
    use crate::commands::{
        clean, compare, decompose, diagnose, outliers, part, path, rank, report, simulate,
    };
    #[pymodule_export]
    use crate::options::options;
    #[pymodule_export]
    use crate::votes::{Votes, arrays, files, table, tuples};
}
