//! Failing together: after each step everyone learns whether anyone failed.
//!
//! A rank that failed and left would leave the others waiting for ever. So every step that can fail
//! on one rank alone ends with [`agree`]. One failure is chosen, the same on all ranks; its rank
//! speaks ([`Failed::Here`]), the others end in silence with the same exit code.

use hodgerank_cli::Failure;

use crate::world::World;

/// Why this rank must end.
#[derive(Debug)]
pub enum Failed {
    /// The failure that was chosen is ours: it is for us to tell.
    Here(Failure),
    /// Another rank tells.
    Elsewhere {
        /// The exit code of all.
        exit_code: u8,
    },
}

/// The result, if everyone has one; else the failure of the lowest rank.
///
/// # Errors
/// If anyone failed.
pub fn agree<T, E: Into<Failure>>(world: &World, result: Result<T, E>) -> Result<T, Failed> {
    agree_in_order(world, result, |_| (0, 0))
}

/// The same, but the failure that stands first in the order of `place` is chosen, and of several
/// in one place that of the lowest rank.
///
/// # Errors
/// If anyone failed.
pub fn agree_in_order<T, E: Into<Failure>>(
    world: &World,
    result: Result<T, E>,
    place: impl FnOnce(&Failure) -> (u64, u64),
) -> Result<T, Failed> {
    let result = result.map_err(Into::into);
    let mut said = Vec::new();
    if let Err(failure) = &result {
        let (first, second) = place(failure);
        let code = if failure.is_closed_pipe() { 0 } else { failure.exit_code() };
        said = [first.to_le_bytes(), second.to_le_bytes(), u64::from(code).to_le_bytes()].concat();
    }
    let failures = world.all_gather(&said);
    let order = |(rank, said): (usize, &Vec<u8>)| {
        let number = |k| said.chunks_exact(8).nth(k).and_then(|bytes| bytes.try_into().ok());
        let number = |k| number(k).map(u64::from_le_bytes);
        Some((number(0)?, number(1)?, rank, number(2)?))
    };
    let Some((_, _, rank, code)) = failures.iter().enumerate().filter_map(order).min() else {
        // Nobody failed, so there is a result.
        return result.map_err(Failed::Here);
    };
    match result {
        Err(failure) if rank == world.rank() => Err(Failed::Here(failure)),
        _ => Err(Failed::Elsewhere { exit_code: code as u8 }),
    }
}
