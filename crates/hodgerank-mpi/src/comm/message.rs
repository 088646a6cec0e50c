//! The encoding of messages: postcard.
//!
//! Reductions of numbers and the distinct votes (`input::votes`) are sent without it, as arrays
//! of fixed size: they are the bulk of what is sent, and need no lengths or variants.

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned};

/// Returns a value's encoding.
///
/// # Panics
/// If postcard does not support the type, as for sequences of unknown length.
pub(super) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_into(value, &mut bytes);
    bytes
}

/// Appends a value's encoding.
///
/// # Panics
/// As [`encode`].
pub(crate) fn encode_into<T: Serialize + ?Sized>(value: &T, bytes: &mut Vec<u8>) {
    *bytes = postcard::to_extend(value, std::mem::take(bytes)).expect("messages can be encoded");
}

/// Returns the value whose encoding this is.
///
/// # Panics
/// If it is none.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> T {
    let (value, rest) = decode_prefix(bytes);
    assert!(rest.is_empty(), "a message has one value");
    value
}

/// Returns the value whose encoding comes first, and the bytes after it.
///
/// # Panics
/// If there is none.
pub(crate) fn decode_prefix<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> (T, &'a [u8]) {
    postcard::take_from_bytes(bytes).expect("messages are values of the expected type")
}
