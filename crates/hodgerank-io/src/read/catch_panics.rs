//! Turns panics of decoders on damaged data into errors.
//!
//! The panic hook is replaced once per process. The new hook is silent for a thread that is inside a
//! decoder and calls the previous hook for every other panic.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

use crate::error::{Error, Result};

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder of `format` data. Whatever the decoder has modified must not be used after an
/// error.
pub(super) fn decode<T>(
    file: &Arc<str>,
    format: &str,
    decoder: impl FnOnce() -> Result<T>,
) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !DECODING.get() {
                before(info);
            }
        }));
    });
    DECODING.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(decoder));
    DECODING.set(false);
    done.unwrap_or_else(|payload| Err(damaged(file, format, message(&*payload))))
}

/// The error for content that violates its format.
pub(super) fn damaged(file: &Arc<str>, format: &str, why: impl std::fmt::Display) -> Error {
    Error::read(file, io::Error::other(format!("the {format} data is damaged: {why}")))
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("the decoder failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let file: Arc<str> = "f.parquet".into();
        let done: Result<()> = decode(&file, "Parquet", || panic!("index {} too large", 7));
        let text = done.unwrap_err().to_string();
        assert_eq!(
            text,
            "f.parquet: cannot be read: the Parquet data is damaged: index 7 too large"
        );
        assert_eq!(decode(&file, "Parquet", || Ok(3)).unwrap(), 3);
        assert!(!DECODING.get());
    }
}
