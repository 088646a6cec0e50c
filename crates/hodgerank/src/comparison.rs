//! A vote: two items, an outcome, an annotator and a count.

/// A pairwise vote.
///
/// `y > 0` means that `left` is preferred to `right` by `y`; `y = 0` is a tie. A vote with exchanged
/// sides and negated `y` means the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Index of the annotator, if known.
    pub annotator: Option<u32>,
    /// Index of the item shown on the left.
    pub left: u32,
    /// Index of the item shown on the right.
    pub right: u32,
    /// How much `left` is preferred to `right`: ±1, a Likert step or any finite number.
    pub y: f64,
    /// Number of times this vote was cast; may be 0.
    pub count: u64,
}

impl Comparison {
    /// A vote cast once, without annotator.
    #[must_use]
    pub fn new(left: u32, right: u32, y: f64) -> Self {
        Self { annotator: None, left, right, y, count: 1 }
    }

    /// The same vote, cast `count` times.
    #[must_use]
    pub fn with_count(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// The same vote with the smaller item index on the left, as groups store it.
    #[must_use]
    pub fn oriented(self) -> Self {
        if self.left <= self.right {
            Self { y: positive_zero(self.y), ..self }
        } else {
            Self { left: self.right, right: self.left, y: positive_zero(-self.y), ..self }
        }
    }
}

/// Maps `-0.0` to `0.0`: groups compare the bits of outcomes, and both are ties.
pub(crate) fn positive_zero(y: f64) -> f64 {
    if y == 0.0 { 0.0 } else { y }
}
