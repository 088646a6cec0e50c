//! Values of the outcome column whose meanings the caller gives, in addition to those that are known.

use std::sync::Arc;

use crate::labels::{spelling_key, trim};

/// What a value of the outcome column means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueMeaning {
    /// The left item is preferred.
    Left,
    /// The right item is preferred.
    Right,
    /// Neither item is preferred.
    Tie,
    /// The row is no vote: it is counted as ignored.
    Ignored,
}

impl ValueMeaning {
    /// How much the left item is preferred; `None` if the row is no vote.
    pub(crate) fn y(self) -> Option<f64> {
        match self {
            Self::Left => Some(1.0),
            Self::Right => Some(-1.0),
            Self::Tie => Some(0.0),
            Self::Ignored => None,
        }
    }
}

/// Values of the outcome column and their meanings. Case, spaces and Unicode form do not matter, unless
/// a value is known without them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutcomeValues(Arc<[OutcomeValue]>);

#[derive(Debug, PartialEq, Eq)]
struct OutcomeValue {
    value: String,
    key: String,
    meaning: ValueMeaning,
}

impl OutcomeValues {
    /// These values.
    ///
    /// # Errors
    /// A value that is given with two meanings.
    pub fn new<'a>(
        values: impl IntoIterator<Item = (&'a str, ValueMeaning)>,
    ) -> Result<Self, String> {
        let mut list: Vec<OutcomeValue> = Vec::new();
        for (value, meaning) in values {
            let value = trim(value).to_owned();
            let key = spelling_key(&value);
            match list.iter().find(|known| known.key == key) {
                Some(known) if known.meaning != meaning => return Err(value),
                Some(known) if known.value == value => {}
                _ => list.push(OutcomeValue { value, key, meaning }),
            }
        }
        Ok(Self(list.into()))
    }

    /// Whether no value is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The meaning of a value with exactly this spelling.
    #[inline]
    pub(crate) fn exact(&self, text: &[u8]) -> Option<ValueMeaning> {
        self.0.iter().find(|known| known.value.as_bytes() == text).map(|known| known.meaning)
    }

    /// The meaning of a value in any spelling.
    pub(crate) fn similar(&self, text: &[u8]) -> Option<ValueMeaning> {
        if self.is_empty() {
            return None;
        }
        let key = spelling_key(std::str::from_utf8(text).ok()?);
        self.0.iter().find(|known| known.key == key).map(|known| known.meaning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_meaning_in_every_spelling() {
        use ValueMeaning::{Ignored, Tie};
        let values = [("Weiß nicht", Tie), ("n/a", Ignored), ("", Ignored)];
        let values = OutcomeValues::new(values).unwrap();
        assert_eq!(values.exact("n/a".as_bytes()), Some(Ignored));
        assert_eq!(values.exact(b""), Some(Ignored));
        assert_eq!(values.exact("N/A".as_bytes()), None);
        assert_eq!(values.similar("N/A".as_bytes()), Some(Ignored));
        assert_eq!(values.similar("weiß\u{a0}nicht".as_bytes()), Some(Tie));
        assert_eq!(values.similar(b"left"), None);
        assert_eq!(OutcomeValues::new([("x", Tie), (" X ", Ignored)]), Err("X".to_owned()));
    }
}
