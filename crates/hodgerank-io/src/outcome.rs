//! How the outcome column is read.

use serde::{Deserialize, Serialize};

/// How to read the outcome column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OutcomeAs {
    /// An item's label, else a word, else a number.
    #[default]
    Auto,
    /// The label of the preferred item, or a word for a tie.
    Label,
    /// left, right, tie, a, b, model_a, model_b, both_bad, draw.
    Word,
    /// A number, positive when the left item is preferred.
    Number,
    /// 1 when the left item was selected, 0 when the right one was.
    Selected,
}

impl OutcomeAs {
    /// The values that the column may have, for messages.
    #[must_use]
    pub fn accepted(self) -> &'static str {
        match self {
            Self::Auto => {
                "accepted: left, right, tie, a, b, model_a, model_b, both_bad, tie (bothbad), \
                 draw, the label of one of the two items, or a number (positive: left preferred)"
            }
            Self::Label => "accepted: the label of one of the two items, or tie, draw, both_bad",
            Self::Word => {
                "accepted: left, right, tie, a, b, model_a, model_b, both_bad, tie (bothbad), draw"
            }
            Self::Number => "accepted: a finite number, positive when the left item is preferred",
            Self::Selected => "accepted: 1 or true (left selected), 0 or false (right selected)",
        }
    }
}
