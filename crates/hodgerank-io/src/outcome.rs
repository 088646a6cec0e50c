//! How the outcome column is read.

mod values;

pub use values::{OutcomeValues, ValueMeaning};

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::parse::word_or_number;

/// How to read the outcome column.
///
/// The text form is `auto`, `label`, `word`, `number`, `selected`, or a list of values with their
/// meanings, such as `1=left,2=right,3=tie`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
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
    /// Values whose meanings are given one by one.
    Codes(OutcomeCodes),
}

/// How a tie counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Ties {
    /// As a vote for neither item
    #[default]
    Zero,
    /// As a vote for the left item, as in Table 3 of the paper
    Left,
    /// Not at all
    Drop,
}

/// The kinds that have a name.
const NAMED: [(&str, OutcomeAs); 5] = [
    ("auto", OutcomeAs::Auto),
    ("label", OutcomeAs::Label),
    ("word", OutcomeAs::Word),
    ("number", OutcomeAs::Number),
    ("selected", OutcomeAs::Selected),
];

impl OutcomeAs {
    /// The values that the column may have, for messages.
    #[must_use]
    pub fn accepted(&self) -> &'static str {
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
            Self::Codes(_) => {
                "accepted: the values whose meanings --outcome-as gives; add this one"
            }
        }
    }
}

impl fmt::Display for OutcomeAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Codes(codes) = self {
            return codes.fmt(f);
        }
        let named = NAMED.iter().find(|(_, kind)| kind == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

impl FromStr for OutcomeAs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('=') {
            return text.parse().map(Self::Codes);
        }
        let named = NAMED.into_iter().find(|(name, _)| *name == text);
        named.map(|(_, kind)| kind).ok_or_else(|| {
            let names = NAMED.map(|(name, _)| name).join(", ");
            format!("expected {names}, or the meaning of each value, such as 1=left,2=right,3=tie")
        })
    }
}

impl From<OutcomeAs> for String {
    fn from(kind: OutcomeAs) -> Self {
        kind.to_string()
    }
}

impl TryFrom<String> for OutcomeAs {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// The meaning of each value of an outcome column.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeCodes(Arc<[Code]>);

#[derive(Debug, Clone, PartialEq)]
struct Code {
    value: String,
    /// The value as a number, so that `1` and `1.0` are the same value.
    number: Option<f64>,
    meaning: String,
    y: f64,
}

impl OutcomeCodes {
    /// The outcome that a value stands for.
    pub(crate) fn get(&self, value: &[u8]) -> Option<f64> {
        let value = value.trim_ascii();
        let exact = self.0.iter().find(|code| code.value.as_bytes() == value);
        let code = exact.or_else(|| {
            let number = as_number(std::str::from_utf8(value).ok()?)?;
            self.0.iter().find(|code| code.number == Some(number))
        });
        code.map(|code| code.y)
    }
}

fn as_number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

impl fmt::Display for OutcomeCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, Code { value, meaning, .. }) in self.0.iter().enumerate() {
            write!(f, "{}{value}={meaning}", if k > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for OutcomeCodes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut codes: Vec<Code> = Vec::new();
        for part in text.split(',') {
            let (value, meaning) = part.split_once('=').ok_or_else(|| {
                format!("`{part}` has no meaning; write {part}=left, for example")
            })?;
            let (value, meaning) = (value.trim().to_owned(), meaning.trim().to_owned());
            if value.is_empty() {
                return Err(format!("`{part}` has no value before the equals sign"));
            }
            let number = as_number(&value);
            let same =
                |code: &Code| code.value == value || (number.is_some() && code.number == number);
            if codes.iter().any(same) {
                return Err(format!("`{value}` has two meanings"));
            }
            let y = word_or_number(meaning.as_bytes()).map(|parsed| parsed.y).map_err(|_| {
                format!("`{meaning}` is no meaning: expected left, right, tie or a number")
            })?;
            codes.push(Code { value, number, meaning, y });
        }
        Ok(Self(codes.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_meanings() {
        let codes: OutcomeCodes = "1=left, 2=right,x=tie,5=-2.5".parse().unwrap();
        let y = |value: &str| codes.get(value.as_bytes());
        assert_eq!(
            ["1", "1.0", " 2 ", "x", "5", "3", "X"].map(y),
            [Some(1.0), Some(1.0), Some(-1.0), Some(0.0), Some(-2.5), None, None]
        );
        for (text, part) in [
            ("1=left,2", "`2` has no meaning"),
            ("1=left,1.0=right", "`1.0` has two meanings"),
            ("1=lft", "`lft` is no meaning"),
            ("=left", "no value before"),
            ("1=nan", "`nan` is no meaning"),
        ] {
            let problem = text.parse::<OutcomeCodes>().unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }

    #[test]
    fn the_text_form_is_read_back() {
        for text in ["auto", "label", "word", "number", "selected", "1=left,2=right,0=tie"] {
            assert_eq!(text.parse::<OutcomeAs>().unwrap().to_string(), text);
        }
        assert!("labels".parse::<OutcomeAs>().unwrap_err().starts_with("expected auto, label"));
    }
}
