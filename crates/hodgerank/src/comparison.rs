//! One vote: who said how much one item is preferred to another, and how often.

/// A pairwise vote, the model's only kind of evidence.
///
/// `y > 0` says that `left` is preferred to `right` by `y`; `y = 0` is a tie. A vote and its mirror
/// image (sides exchanged, sign of `y` flipped) mean the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Who cast the vote, where that is known.
    pub annotator: Option<u32>,
    /// Index of the item shown on the left.
    pub left: u32,
    /// Index of the item shown on the right.
    pub right: u32,
    /// How much `left` is preferred to `right`: ±1, a Likert step or any finite number.
    pub y: f64,
    /// How many times this vote was cast. Zero votes still make the items known.
    pub count: u64,
}

impl Comparison {
    /// A vote cast once by nobody in particular.
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

/// `-0.0` and `0.0` are the same tie and must have the same bits, because groups compare bits.
pub(crate) fn positive_zero(y: f64) -> f64 {
    if y == 0.0 { 0.0 } else { y }
}
