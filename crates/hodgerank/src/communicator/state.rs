//! The state of a solver as bytes: postcard values one after another, read back in the same order.
//!
//! The bytes carry no names and no types. [`super::Checkpoint`] must detect damage, and must return
//! a state only to the solver that saved it, on the same votes.

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

use crate::error::{Error, Result};

/// Appends values to a state.
#[derive(Debug, Default)]
pub(crate) struct StateWriter(Vec<u8>);

impl StateWriter {
    pub(crate) fn number(&mut self, value: f64) {
        self.write(&value);
    }

    pub(crate) fn count(&mut self, value: u64) {
        self.write(&value);
    }

    pub(crate) fn numbers<'a>(&mut self, values: impl ExactSizeIterator<Item = &'a f64> + Clone) {
        self.write(&Sequence(values));
    }

    pub(crate) fn indices(&mut self, values: &[u32]) {
        self.write(values);
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    fn write<T: Serialize + ?Sized>(&mut self, value: &T) {
        let written = postcard::to_extend(value, std::mem::take(&mut self.0));
        self.0 = written.expect("numbers and sequences of known length can be encoded");
    }
}

/// Numbers that are not in one slice.
struct Sequence<I>(I);

impl<'a, I: Iterator<Item = &'a f64> + Clone> Serialize for Sequence<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// Reads a state back.
#[derive(Debug)]
pub(crate) struct StateReader<'a> {
    work: &'static str,
    rest: &'a [u8],
}

impl<'a> StateReader<'a> {
    /// Starts to read the state of the solver called `work`.
    pub(crate) fn new(work: &'static str, state: &'a [u8]) -> Self {
        Self { work, rest: state }
    }

    /// Returns the error of a state that does not fit the solver.
    pub(crate) fn unusable(&self) -> Error {
        Error::UnusableState { work: self.work }
    }

    pub(crate) fn number(&mut self) -> Result<f64> {
        self.read()
    }

    pub(crate) fn count(&mut self) -> Result<u64> {
        self.read()
    }

    pub(crate) fn numbers(&mut self) -> Result<Vec<f64>> {
        self.read()
    }

    /// Reads numbers into `out`, which must have as many elements as were written.
    pub(crate) fn numbers_into(&mut self, out: &mut [f64]) -> Result<()> {
        let numbers = self.numbers()?;
        if numbers.len() != out.len() {
            return Err(self.unusable());
        }
        out.copy_from_slice(&numbers);
        Ok(())
    }

    pub(crate) fn indices(&mut self) -> Result<Vec<u32>> {
        self.read()
    }

    /// Checks that everything has been read.
    pub(crate) fn finish(self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.unusable()) }
    }

    fn read<T: DeserializeOwned>(&mut self) -> Result<T> {
        let (value, rest) = postcard::take_from_bytes(self.rest).map_err(|_| self.unusable())?;
        self.rest = rest;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
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
    fn states_that_do_not_fit_are_refused() {
        let unusable = Error::UnusableState { work: "test" };
        // Too short, a length without its elements, and a length that memory cannot hold.
        assert_eq!(StateReader::new("test", &[0; 7]).number(), Err(unusable.clone()));
        assert_eq!(StateReader::new("test", &[9; 8]).numbers(), Err(unusable.clone()));
        let huge = postcard::to_stdvec(&(u64::MAX / 8)).unwrap();
        assert_eq!(StateReader::new("test", &huge).indices(), Err(unusable));
        let mut out = [0.0; 2];
        let mut writer = StateWriter::default();
        writer.numbers([1.0].iter());
        let state = writer.finish();
        assert!(StateReader::new("test", &state).numbers_into(&mut out).is_err());
        assert!(StateReader::new("test", &state).finish().is_err());
    }
}
