//! How much of the input has been read.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes read so far, as stored on disk. Can be polled from another thread while reading.
#[derive(Debug, Default)]
pub struct Progress(AtomicU64);

impl Progress {
    /// Bytes read so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn advance(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}
