//! Bytes as a sequence of choices, for targets whose inputs are valid by construction.

/// Reads choices from bytes; after the last byte every choice is the first one.
pub(crate) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all bytes are used up.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `limit`, which is at most 256.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    pub(crate) fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Any 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// The bytes that are left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}
