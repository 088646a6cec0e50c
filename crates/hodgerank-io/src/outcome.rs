//! What a vote says: a word, the label of the preferred item, or a number.

use crate::error::Problem;

/// How to read the outcome column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum OutcomeAs {
    /// The label of one of the two items, else a word, else a number.
    #[default]
    Auto,
    /// The label of the preferred item, or a word for a tie.
    Label,
    /// A word: left, right, tie, …
    Word,
    /// A number: positive when the left item is preferred.
    Number,
    /// 1 or true when the left item was selected, 0 or false when the right one was.
    Selected,
}

impl OutcomeAs {
    /// What may stand in the column.
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

/// How a value was understood, so that a column that is read in two ways can be noticed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reading {
    pub(crate) y: f64,
    pub(crate) how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// As a label, and nothing else was possible (or it would mean the same).
    Label,
    /// As a label, though as a word or number it would mean something else.
    LabelDespite,
    /// As a word for one side, or as a number.
    Plain,
    /// As a tie.
    Tie,
}

/// Understands `text` in a vote between two items, one of which may bear that name.
#[inline]
pub(crate) fn understand(
    how: OutcomeAs,
    text: &[u8],
    is_left: bool,
    is_right: bool,
) -> Result<Reading, Problem> {
    let unknown = || Problem::UnknownOutcome(how);
    match how {
        OutcomeAs::Auto if is_left || is_right => {
            let y = if is_left { 1.0 } else { -1.0 };
            let other = plain(text).ok();
            let clash = other.is_some_and(|reading| reading.y != y);
            Ok(Reading { y, how: if clash { How::LabelDespite } else { How::Label } })
        }
        OutcomeAs::Auto => plain(text),
        OutcomeAs::Label if is_left => Ok(Reading { y: 1.0, how: How::Label }),
        OutcomeAs::Label if is_right => Ok(Reading { y: -1.0, how: How::Label }),
        OutcomeAs::Label => word(text)
            .filter(|&y| y == 0.0)
            .map(|y| Reading { y, how: How::Tie })
            .ok_or_else(unknown),
        OutcomeAs::Word => word(text).map(|y| Reading { y, how: How::Plain }).ok_or_else(unknown),
        OutcomeAs::Number => number(text, how).map(|y| Reading { y, how: How::Plain }),
        OutcomeAs::Selected => {
            let y = match trim(text) {
                b"1" | b"1.0" | b"true" | b"True" | b"TRUE" => 1.0,
                b"0" | b"0.0" | b"false" | b"False" | b"FALSE" => -1.0,
                _ => return Err(unknown()),
            };
            Ok(Reading { y, how: How::Plain })
        }
    }
}

/// Whether an item of this name could be taken for an outcome.
pub(crate) fn could_be_outcome(name: &[u8]) -> bool {
    plain(name).is_ok()
}

fn plain(text: &[u8]) -> Result<Reading, Problem> {
    let y = match word(text) {
        Some(y) => y,
        None => number(text, OutcomeAs::Auto)?,
    };
    Ok(Reading { y, how: if y == 0.0 { How::Tie } else { How::Plain } })
}

fn word(text: &[u8]) -> Option<f64> {
    // Exact spellings first: nearly every row takes this way.
    match text {
        b"left" | b"a" | b"model_a" => return Some(1.0),
        b"right" | b"b" | b"model_b" => return Some(-1.0),
        b"tie" | b"tie (bothbad)" | b"both_bad" => return Some(0.0),
        _ => {}
    }
    const LONGEST: usize = 16;
    let text = trim(text);
    let mut lower = [0; LONGEST];
    let lower = lower.get_mut(..text.len())?;
    lower.copy_from_slice(text);
    lower.make_ascii_lowercase();
    match &*lower {
        b"left" | b"a" | b"model_a" | b"model a" => Some(1.0),
        b"right" | b"b" | b"model_b" | b"model b" => Some(-1.0),
        b"tie" | b"tie (bothbad)" | b"both_bad" | b"bothbad" | b"both" | b"neither" | b"draw"
        | b"equal" => Some(0.0),
        _ => None,
    }
}

fn number(text: &[u8], how: OutcomeAs) -> Result<f64, Problem> {
    let parsed = std::str::from_utf8(trim(text)).ok().and_then(|text| text.parse::<f64>().ok());
    match parsed {
        Some(y) if y.is_finite() => Ok(y),
        Some(_) => Err(Problem::NonFinite),
        None => Err(Problem::UnknownOutcome(how)),
    }
}

pub(crate) fn trim(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(text: &str, left: &str, right: &str) -> Result<f64, Problem> {
        let text = text.as_bytes();
        let reading =
            understand(OutcomeAs::Auto, text, text == left.as_bytes(), text == right.as_bytes());
        reading.map(|reading| reading.y)
    }

    #[test]
    fn words_labels_and_numbers() {
        for (text, y) in [
            ("left", 1.0),
            ("Right", -1.0),
            ("A", 1.0),
            ("model_b", -1.0),
            ("tie (bothbad)", 0.0),
            (" TIE ", 0.0),
            ("x", 1.0),
            ("y", -1.0),
            ("-2.5", -2.5),
            ("0", 0.0),
        ] {
            assert_eq!(auto(text, "x", "y"), Ok(y), "{text}");
        }
        assert_eq!(auto("nan", "x", "y"), Err(Problem::NonFinite));
        assert_eq!(auto("1e999", "x", "y"), Err(Problem::NonFinite));
        assert!(matches!(auto("lefft", "x", "y"), Err(Problem::UnknownOutcome(_))));
        assert!(matches!(auto("", "x", "y"), Err(Problem::UnknownOutcome(_))));
        assert!(auto("a very long text that is no word at all", "x", "y").is_err());
    }

    #[test]
    fn a_label_that_could_be_a_number_is_noticed() {
        let how = |text: &[u8], is_left, is_right| {
            understand(OutcomeAs::Auto, text, is_left, is_right).map(|reading| reading.how)
        };
        assert_eq!(how(b"1", true, false), Ok(How::Label));
        assert_eq!(how(b"1", false, true), Ok(How::LabelDespite));
        assert_eq!(how(b"1", false, false), Ok(How::Plain));
        assert_eq!(how(b"tie", false, false), Ok(How::Tie));
        assert_eq!(how(b"cat", false, true), Ok(How::Label));
    }

    #[test]
    fn selected_is_not_a_number() {
        let y = |text| understand(OutcomeAs::Selected, text, false, false).map(|reading| reading.y);
        assert_eq!(y(b"1"), Ok(1.0));
        assert_eq!(y(b"0"), Ok(-1.0));
        assert_eq!(y(b"false"), Ok(-1.0));
        assert!(y(b"2").is_err());
    }
}
