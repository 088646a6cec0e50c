//! The state of long work as bytes: numbers one after the other, read back in the same order.
//!
//! There are no names and no types in it. Whoever keeps states ([`super::Checkpoint`]) sees to it
//! that they come back undamaged, and to the same work on the same votes.

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
    left: &'a [u8],
}

impl<'a> StateReader<'a> {
    /// The state of the work called `work`.
    pub(crate) fn new(work: &'static str, state: &'a [u8]) -> Self {
        Self { work, left: state }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (first, rest) = self.left.split_first_chunk().ok_or_else(|| self.unusable())?;
        self.left = rest;
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

    /// How many things of `size` bytes follow: no more than there are bytes.
    fn length(&mut self, size: usize) -> Result<usize> {
        let count = self.count()? as usize;
        if count > self.left.len() / size { Err(self.unusable()) } else { Ok(count) }
    }

    pub(crate) fn numbers(&mut self) -> Result<Vec<f64>> {
        let count = self.length(8)?;
        (0..count).map(|_| self.number()).collect()
    }

    /// As many numbers as there is room for.
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

    /// All must have been read.
    pub(crate) fn finish(self) -> Result<()> {
        if self.left.is_empty() { Ok(()) } else { Err(self.unusable()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_comes_back() {
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
    fn states_of_other_work_are_refused() {
        let unusable = Err(Error::UnusableState { work: "test" });
        assert_eq!(StateReader::new("test", &[0; 7]).number(), unusable);
        assert_eq!(
            StateReader::new("test", &[9; 8]).numbers().map(drop),
            unusable.clone().map(|_: f64| ())
        );
        let mut room = [0.0; 2];
        let mut writer = StateWriter::default();
        writer.numbers([1.0].iter());
        let state = writer.finish();
        assert!(StateReader::new("test", &state).numbers_into(&mut room).is_err());
        assert!(StateReader::new("test", &state).finish().is_err());
    }
}
