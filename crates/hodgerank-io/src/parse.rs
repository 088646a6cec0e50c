//! From a row's cells to a vote: items, outcome and count.

mod outcome_cache;

pub(crate) use outcome_cache::OutcomeCache;

use std::borrow::Cow;

use crate::columns::{Layout, ROLES, Role};
use crate::error::{Problem, shorten};
use crate::labels::same_spelling;
use crate::limits::{MAX_LABEL_BYTES, MAX_VOTES};
use crate::outcome::{OutcomeAs, Ties, ValueMeaning};

/// A row's cells, indexed by [`Role`]: valid UTF-8 without spaces at the ends; cells of absent columns
/// are empty and ignored.
pub(crate) type Cells<'a> = [&'a [u8]; ROLES];

/// What became of a row that is not bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowFate {
    /// Its vote counts, or is by an excluded annotator.
    Counted,
    /// The caller says that its outcome is no vote.
    Ignored,
    /// The caller wants other rows only.
    Filtered,
}

/// A row that is not bad.
pub(crate) enum Row<'a> {
    Vote(ParsedRow<'a>),
    PassedOver(RowFate),
}

/// The vote of a row.
pub(crate) struct ParsedRow<'a> {
    pub(crate) left: &'a [u8],
    pub(crate) right: &'a [u8],
    /// How much `left` is preferred to `right`.
    pub(crate) y: f64,
    /// How the outcome was read, if there is an outcome column.
    pub(crate) interpretation: Option<Interpretation>,
    /// Whether the same outcome was read before, with the same meaning.
    pub(crate) is_repeated: bool,
    pub(crate) count: u64,
    /// The study; empty if there is only one.
    pub(crate) study: Cow<'a, [u8]>,
    /// The annotator; empty if unknown.
    pub(crate) annotator: &'a [u8],
}

impl<'a> Row<'a> {
    /// Whether the caller wants other rows only.
    #[inline]
    pub(crate) fn is_filtered(layout: &Layout, cells: &Cells<'_>) -> bool {
        layout.filters.iter().any(|(role, values)| {
            let cell = cells[*role as usize];
            !values.iter().any(|value| value.as_bytes() == cell)
        })
    }

    /// Parses a row's cells, or returns the role of a bad cell and its problem.
    #[inline]
    pub(crate) fn read(
        layout: &'a Layout,
        cells: &Cells<'a>,
        outcomes: &mut OutcomeCache,
    ) -> Result<Self, (Role, Problem)> {
        let cell = |role: Role| cells[role as usize];
        if Self::is_filtered(layout, cells) {
            return Ok(Self::PassedOver(RowFate::Filtered));
        }
        let (mut left, mut right) = (cell(Role::Left), cell(Role::Right));
        let mut known = None;
        if !layout.values.is_empty() && layout.has(Role::Outcome) {
            known = layout.values.exact(cell(Role::Outcome));
            // A row of empty cells is a blank one.
            if known == Some(ValueMeaning::Ignored) && !(left.is_empty() && right.is_empty()) {
                return Ok(Self::PassedOver(RowFate::Ignored));
            }
        }
        for (role, name) in [(Role::Left, left), (Role::Right, right)] {
            // One comparison for both: an empty name wraps around.
            if name.len().wrapping_sub(1) >= MAX_LABEL_BYTES {
                let is_empty = name.is_empty();
                return Err((
                    role,
                    if is_empty { Problem::EmptyItem } else { Problem::LabelTooLong },
                ));
            }
        }
        if let Some(spellings) = &layout.spellings {
            (left, right) = (spellings.name(left), spellings.name(right));
        }
        if left == right {
            return Err((Role::Right, Problem::SelfComparison));
        }
        let (y, interpretation, is_repeated) = if let Some(y) = known.and_then(ValueMeaning::y) {
            // What the caller says needs no interpretation.
            (y, Some(Interpretation::Label), true)
        } else if layout.has(Role::Outcome) {
            let read = read_outcome(layout, cell(Role::Outcome), left, right, outcomes);
            match read.map_err(|problem| (Role::Outcome, problem))? {
                Some((parsed, is_repeated)) => (parsed.y, Some(parsed.interpretation), is_repeated),
                None => return Ok(Self::PassedOver(RowFate::Ignored)),
            }
        } else {
            (1.0, None, false)
        };
        let (y, is_dropped) = match layout.ties {
            Ties::Left if y == 0.0 => (1.0, false),
            ties => (y, ties == Ties::Drop && y == 0.0),
        };
        let count = if layout.has(Role::Count) {
            parse_count(cell(Role::Count), layout.decimal_comma)
                .map_err(|problem| (Role::Count, problem))?
        } else {
            1
        };
        for role in [Role::By, Role::SecondBy] {
            if layout.has(role) && cell(role).is_empty() {
                return Err((role, Problem::Missing));
            }
        }
        for role in [Role::Annotator, Role::By, Role::SecondBy] {
            if cell(role).len() > MAX_LABEL_BYTES {
                return Err((role, Problem::LabelTooLong));
            }
        }
        if is_dropped {
            return Ok(Self::PassedOver(RowFate::Ignored));
        }
        let study = layout.study(cells);
        let annotator = cell(Role::Annotator);
        let vote =
            ParsedRow { left, right, y, interpretation, is_repeated, count, study, annotator };
        Ok(Self::Vote(vote))
    }
}

/// The outcome of a row and whether it was read before; `None` if the caller says that it is no vote.
#[inline]
fn read_outcome(
    layout: &Layout,
    text: &[u8],
    left: &[u8],
    right: &[u8],
    outcomes: &mut OutcomeCache,
) -> Result<Option<(ParsedOutcome, bool)>, Problem> {
    let name = match &layout.spellings {
        Some(spellings) => spellings.name(text),
        None => text,
    };
    let (is_left, is_right) = (name == left, name == right);
    let parsed = match &layout.outcome_as {
        OutcomeAs::Auto if !is_left && !is_right => outcomes.word_or_number(text),
        other => parse_outcome(other, text, is_left, is_right).map(|parsed| (parsed, false)),
    };
    match parsed {
        Ok(parsed) => Ok(Some(parsed)),
        Err(problem) => unusual_outcome(layout, text, left, right, problem),
    }
}

/// An outcome that is no label, word or number as usual: one that the caller explains, or a number with
/// a decimal comma. Otherwise, what is wrong with it.
#[cold]
fn unusual_outcome(
    layout: &Layout,
    text: &[u8],
    left: &[u8],
    right: &[u8],
    problem: Problem,
) -> Result<Option<(ParsedOutcome, bool)>, Problem> {
    if let Some(meaning) = layout.values.similar(text) {
        let parsed = |y| (ParsedOutcome { y, interpretation: Interpretation::Label }, true);
        return Ok(meaning.y().map(parsed));
    }
    if text.is_empty() {
        return Err(Problem::NoOutcome);
    }
    if matches!(layout.outcome_as, OutcomeAs::Auto | OutcomeAs::Number)
        && let Some(y) = with_decimal_comma(text)
    {
        let interpretation =
            if y == 0.0 { Interpretation::Tie } else { Interpretation::WordOrNumber };
        return match layout.decimal_comma {
            true => Ok(Some((ParsedOutcome { y, interpretation }, false))),
            false => Err(Problem::DecimalComma),
        };
    }
    if matches!(layout.outcome_as, OutcomeAs::Auto | OutcomeAs::Label) {
        for label in [left, right] {
            if same_spelling(text, label) {
                return Err(Problem::OtherSpelling(shorten(label, 60)));
            }
        }
    }
    Err(problem)
}

/// A number with a comma for its decimals.
fn with_decimal_comma(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(trim(text)).ok()?;
    let (whole, decimals) = text.split_once(',')?;
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let digits = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    if !is_digits(digits) || !is_digits(decimals) {
        return None;
    }
    format!("{whole}.{decimals}").parse().ok().filter(|y: &f64| y.is_finite())
}

/// Parses a whole number from 0. Accepts `3.0` and `3e0` too, because tables with missing values
/// store integers as floats.
fn parse_count(text: &[u8], decimal_comma: bool) -> Result<u64, Problem> {
    let text = std::str::from_utf8(trim(text)).map_err(|_| Problem::BadUtf8)?;
    if decimal_comma && let Some(count) = with_decimal_comma(text.as_bytes()) {
        let is_whole = count >= 0.0 && count.fract() == 0.0 && count <= MAX_VOTES as f64;
        return if is_whole { Ok(count as u64) } else { Err(Problem::BadCount) };
    }
    if text.is_empty() {
        return Err(Problem::Missing);
    }
    let whole = match text.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|byte| byte == b'0') => whole,
        _ => text,
    };
    let digits = whole.strip_prefix('+').unwrap_or(whole);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        // Digits are exact: as an `f64`, 2⁵³ + 1 would be read as 2⁵³.
        let count = digits.parse().ok().filter(|&count| count <= MAX_VOTES);
        return count.ok_or(Problem::CountTooLarge);
    }
    match text.parse::<f64>() {
        Ok(count) if count > MAX_VOTES as f64 => Err(Problem::CountTooLarge),
        Ok(count) if count >= 0.0 && count.fract() == 0.0 => Ok(count as u64),
        _ => Err(Problem::BadCount),
    }
}

/// An outcome and how it was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ParsedOutcome {
    pub(crate) y: f64,
    pub(crate) interpretation: Interpretation,
}

/// How an outcome was read. A column must not mix ambiguous labels with words or numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interpretation {
    /// A label that is no word or number, or has the same meaning as one.
    Label,
    /// A label that would have another meaning as a word or number.
    AmbiguousLabel,
    /// A word for one side, or a number.
    WordOrNumber,
    /// A tie.
    Tie,
}

/// Parses the outcome of a vote. `is_left` and `is_right` say whether `text` is the label of the
/// left or right item.
#[inline(always)]
pub(crate) fn parse_outcome(
    outcome_as: &OutcomeAs,
    text: &[u8],
    is_left: bool,
    is_right: bool,
) -> Result<ParsedOutcome, Problem> {
    let unknown = || Problem::UnknownOutcome(outcome_as.clone());
    match outcome_as {
        OutcomeAs::Auto if is_left || is_right => {
            let y = if is_left { 1.0 } else { -1.0 };
            let other = word_or_number(text).ok();
            let ambiguous = other.is_some_and(|other| other.y != y);
            let interpretation =
                if ambiguous { Interpretation::AmbiguousLabel } else { Interpretation::Label };
            Ok(ParsedOutcome { y, interpretation })
        }
        OutcomeAs::Auto => word_or_number(text),
        OutcomeAs::Label if is_left => {
            Ok(ParsedOutcome { y: 1.0, interpretation: Interpretation::Label })
        }
        OutcomeAs::Label if is_right => {
            Ok(ParsedOutcome { y: -1.0, interpretation: Interpretation::Label })
        }
        OutcomeAs::Label => word(text)
            .filter(|&y| y == 0.0)
            .map(|y| ParsedOutcome { y, interpretation: Interpretation::Tie })
            .ok_or_else(unknown),
        OutcomeAs::Word => word(text)
            .map(|y| ParsedOutcome { y, interpretation: Interpretation::WordOrNumber })
            .ok_or_else(unknown),
        OutcomeAs::Number => number(text, outcome_as)
            .map(|y| ParsedOutcome { y, interpretation: Interpretation::WordOrNumber }),
        OutcomeAs::Selected => {
            let y = match trim(text) {
                b"1" | b"1.0" | b"true" | b"True" | b"TRUE" => 1.0,
                b"0" | b"0.0" | b"false" | b"False" | b"FALSE" => -1.0,
                _ => return Err(unknown()),
            };
            Ok(ParsedOutcome { y, interpretation: Interpretation::WordOrNumber })
        }
        OutcomeAs::Codes(codes) => codes
            .get(text)
            .map(|y| ParsedOutcome { y, interpretation: Interpretation::WordOrNumber })
            .ok_or_else(unknown),
    }
}

/// Whether an item's name is also a word or number that the outcome column accepts.
pub(crate) fn could_be_outcome(name: &[u8]) -> bool {
    word_or_number(name).is_ok()
}

pub(crate) fn word_or_number(text: &[u8]) -> Result<ParsedOutcome, Problem> {
    let y = match word(text) {
        Some(y) => y,
        None => number(text, &OutcomeAs::Auto)?,
    };
    Ok(ParsedOutcome {
        y,
        interpretation: if y == 0.0 { Interpretation::Tie } else { Interpretation::WordOrNumber },
    })
}

fn word(text: &[u8]) -> Option<f64> {
    // Exact spellings first: they are by far the most frequent.
    match text {
        b"left" | b"a" | b"model_a" => return Some(1.0),
        b"right" | b"b" | b"model_b" => return Some(-1.0),
        b"tie" | b"tie (bothbad)" | b"both_bad" => return Some(0.0),
        _ => {}
    }
    const MAX_WORD_BYTES: usize = 16;
    let text = trim(text);
    let mut lower = [0; MAX_WORD_BYTES];
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

fn number(text: &[u8], outcome_as: &OutcomeAs) -> Result<f64, Problem> {
    let parsed = std::str::from_utf8(trim(text)).ok().and_then(|text| text.parse::<f64>().ok());
    match parsed {
        Some(y) if y.is_finite() => Ok(y),
        Some(_) => Err(Problem::NonFinite),
        None => Err(Problem::UnknownOutcome(outcome_as.clone())),
    }
}

/// The number that an outcome is, if it is not a word or a label.
pub(crate) fn outcome_number(layout: &Layout, text: &[u8]) -> Option<f64> {
    let comma = || layout.decimal_comma.then(|| with_decimal_comma(text)).flatten();
    number(text, &OutcomeAs::Number).ok().or_else(comma)
}

pub(crate) fn trim(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(text: &str, left: &str, right: &str) -> Result<f64, Problem> {
        let text = text.as_bytes();
        let reading = parse_outcome(
            &OutcomeAs::Auto,
            text,
            text == left.as_bytes(),
            text == right.as_bytes(),
        );
        reading.map(|parsed| parsed.y)
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
    fn counts_are_exact_up_to_the_limit() {
        let count = |text: &str| parse_count(text.as_bytes(), false);
        for (text, expected) in
            [("0", 0), ("7", 7), (" +3.00 ", 3), ("1e3", 1000), ("9007199254740992", MAX_VOTES)]
        {
            assert_eq!(count(text), Ok(expected), "{text}");
        }
        for text in ["9007199254740993", "9007199254740993.0", "99999999999999999999", "1e16"] {
            assert_eq!(count(text), Err(Problem::CountTooLarge), "{text}");
        }
        for text in ["-1", "1.5", "x", "nan", ".", "+"] {
            assert_eq!(count(text), Err(Problem::BadCount), "{text}");
        }
        assert_eq!(parse_count(b"3,0", true), Ok(3));
        assert_eq!(parse_count(b"3,5", true), Err(Problem::BadCount));
        assert_eq!(count("3,0"), Err(Problem::BadCount));
        assert_eq!(count("inf"), Err(Problem::CountTooLarge));
        assert_eq!(count(""), Err(Problem::Missing));
    }

    #[test]
    fn decimal_commas() {
        for (text, y) in [("0,5", 0.5), ("-1,25", -1.25), ("+2,0", 2.0), ("1,000", 1.0)] {
            assert_eq!(with_decimal_comma(text.as_bytes()), Some(y), "{text}");
        }
        for text in ["1,2,3", "1.5", "a,b", ",5", "1,", "1,5e3", "1.000,5"] {
            assert_eq!(with_decimal_comma(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn ambiguous_labels_are_detected() {
        let interpretation = |text: &[u8], is_left, is_right| {
            parse_outcome(&OutcomeAs::Auto, text, is_left, is_right)
                .map(|parsed| parsed.interpretation)
        };
        assert_eq!(interpretation(b"1", true, false), Ok(Interpretation::Label));
        assert_eq!(interpretation(b"1", false, true), Ok(Interpretation::AmbiguousLabel));
        assert_eq!(interpretation(b"1", false, false), Ok(Interpretation::WordOrNumber));
        assert_eq!(interpretation(b"tie", false, false), Ok(Interpretation::Tie));
        assert_eq!(interpretation(b"cat", false, true), Ok(Interpretation::Label));
    }

    #[test]
    fn selected_is_not_a_number() {
        let y =
            |text| parse_outcome(&OutcomeAs::Selected, text, false, false).map(|parsed| parsed.y);
        assert_eq!(y(b"1"), Ok(1.0));
        assert_eq!(y(b"0"), Ok(-1.0));
        assert_eq!(y(b"false"), Ok(-1.0));
        assert!(y(b"2").is_err());
    }
}
