//! Small things that travel as JSON.

use hodgerank_cli::Failure;
use serde::{Serialize, de::DeserializeOwned};

/// The bytes of a value whose maps have text keys, as all do here.
pub(crate) fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// What [`to_bytes`] was given.
///
/// # Errors
/// If the bytes are not that; then the ranks run different programs.
pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(bytes).map_err(|error| {
        Failure::usage(
            format!("a message from another rank makes no sense: {error}"),
            "all ranks must run the same hodgerank-mpi; check that all nodes have the same one",
        )
    })
}
