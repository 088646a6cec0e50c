//! The state of a computation as bytes: numbers in sequence, read back in the same order.
//!
//! The format has no names and no types. A [`super::Checkpoint`] must return a state undamaged, and
//! only to the same computation on the same votes.

use crate::error::{Error, Result};

/// Writes a state.
#[derive(Debug, Default)]
pub(crate) struct StateWriter(Vec<u8>);

impl StateWriter {
    pub(crate) fn number(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn count(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn numbers<'a>(&mut self, values: impl ExactSizeIterator<Item = &'a f64>) {
        self.count(values.len() as u64);
        values.for_each(|&value| self.number(value));
    }

    pub(crate) fn indices(&mut self, values: &[u32]) {
        self.count(values.len() as u64);
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads a state back.
#[derive(Debug)]
pub(crate) struct StateReader<'a> {
    work: &'static str,
    remaining: &'a [u8],
}

impl<'a> StateReader<'a> {
    /// Reads the state of the computation called `work`.
    pub(crate) fn new(work: &'static str, state: &'a [u8]) -> Self {
        Self { work, remaining: state }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (first, rest) = self.remaining.split_first_chunk().ok_or_else(|| self.unusable())?;
        self.remaining = rest;
        Ok(*first)
    }

    pub(crate) fn unusable(&self) -> Error {
        Error::UnusableState { work: self.work }
    }

    pub(crate) fn number(&mut self) -> Result<f64> {
        self.take().map(f64::from_le_bytes)
    }

    pub(crate) fn count(&mut self) -> Result<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// The length of a list of entries of `size` bytes; an error if it exceeds the bytes left.
    fn length(&mut self, size: usize) -> Result<usize> {
        let count = self.count()? as usize;
        if count > self.remaining.len() / size { Err(self.unusable()) } else { Ok(count) }
    }

    pub(crate) fn numbers(&mut self) -> Result<Vec<f64>> {
        let count = self.length(8)?;
        (0..count).map(|_| self.number()).collect()
    }

    /// Reads a list of exactly `out.len()` numbers.
    pub(crate) fn numbers_into(&mut self, out: &mut [f64]) -> Result<()> {
        let found = self.numbers()?;
        if found.len() != out.len() {
            return Err(self.unusable());
        }
        out.copy_from_slice(&found);
        Ok(())
    }

    pub(crate) fn indices(&mut self) -> Result<Vec<u32>> {
        let count = self.length(4)?;
        (0..count).map(|_| self.take().map(u32::from_le_bytes)).collect()
    }

    /// Fails unless all bytes have been read.
    pub(crate) fn finish(self) -> Result<()> {
        if self.remaining.is_empty() { Ok(()) } else { Err(self.unusable()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back_as_written() {
        let mut writer = StateWriter::default();
        writer.number(-0.1);
        writer.numbers([f64::INFINITY, 1e-300].iter());
        writer.indices(&[7, u32::MAX]);
        writer.count(3);
        let state = writer.finish();
        let mut reader = StateReader::new("test", &state);
        assert_eq!(reader.number(), Ok(-0.1));
        assert_eq!(reader.numbers(), Ok(vec![f64::INFINITY, 1e-300]));
        assert_eq!(reader.indices(), Ok(vec![7, u32::MAX]));
        assert_eq!(reader.count(), Ok(3));
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn malformed_states_are_rejected() {
        let unusable = Err(Error::UnusableState { work: "test" });
        assert_eq!(StateReader::new("test", &[0; 7]).number(), unusable);
        assert_eq!(
            StateReader::new("test", &[9; 8]).numbers().map(drop),
            unusable.clone().map(|_: f64| ())
        );
        let mut out = [0.0; 2];
        let mut writer = StateWriter::default();
        writer.numbers([1.0].iter());
        let state = writer.finish();
        assert!(StateReader::new("test", &state).numbers_into(&mut out).is_err());
        assert!(StateReader::new("test", &state).finish().is_err());
    }
}
