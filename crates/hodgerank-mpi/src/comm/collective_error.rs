//! Failing together: after each step that can fail, all processes learn whether it failed anywhere.
//!
//! A process that exited alone would leave the others waiting forever in their next collective
//! call. So every step that can fail on one process ends with [`World::all_ok`]. All processes
//! select the same failure; its process reports it ([`CollectiveError::Local`]), and the others exit
//! silently with the same code.

use hodgerank_cli::RunFailure;

use super::exchange::Exchange as _;
use super::world::World;

/// Why this process must exit.
#[derive(Debug)]
pub enum CollectiveError {
    /// The selected failure happened on this process, which has to report it.
    Local(RunFailure),
    /// The selected failure happened on another process, which reports it.
    Remote {
        /// The exit code of all processes.
        exit_code: u8,
    },
}

impl World {
    /// Returns the value if all processes succeeded. Otherwise, the failure of the lowest rank is
    /// selected.
    ///
    /// # Errors
    /// If any process failed.
    pub fn all_ok<T, E: Into<RunFailure>>(
        &self,
        result: Result<T, E>,
    ) -> Result<T, CollectiveError> {
        self.all_ok_or_first(result, |_| (0, 0))
    }

    /// As [`World::all_ok`], but selects the failure with the smallest position; if positions are
    /// equal, that of the lowest rank.
    ///
    /// # Errors
    /// If any process failed.
    pub fn all_ok_or_first<T, E: Into<RunFailure>>(
        &self,
        result: Result<T, E>,
        position: impl FnOnce(&RunFailure) -> (u64, u64),
    ) -> Result<T, CollectiveError> {
        let result = result.map_err(Into::into);
        let failure = result.as_ref().err().map(|failure| {
            let exit_code = if failure.is_closed_pipe() { 0 } else { failure.exit_code() };
            (position(failure), exit_code)
        });
        let failures = self.all_gather(&failure).into_iter().enumerate();
        let order = |(rank, failure): (usize, Option<_>)| {
            failure.map(|(position, exit_code): ((u64, u64), u8)| (position, rank, exit_code))
        };
        match (failures.filter_map(order).min(), result) {
            (None, result) => result.map_err(CollectiveError::Local),
            (Some((_, rank, _)), Err(failure)) if rank == self.rank() => {
                Err(CollectiveError::Local(failure))
            }
            (Some((_, _, exit_code)), _) => Err(CollectiveError::Remote { exit_code }),
        }
    }
}
