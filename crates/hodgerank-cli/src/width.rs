//! How wide text is, and text that fits a width.
//!
//! Lines are wrapped between words only: neither numbers nor names are ever broken.

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

/// The width of terminals that do not report theirs, or report zero.
const TERMINAL_WIDTH: usize = 80;

/// The width of the terminal, or the one in the environment variable `COLUMNS`.
pub(crate) fn terminal_width() -> usize {
    chosen_width().unwrap_or_else(|| match textwrap::termwidth() {
        0 => TERMINAL_WIDTH,
        width => width,
    })
}

/// The width in `COLUMNS`, if it is set to a number above zero.
pub(crate) fn chosen_width() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|width| *width > 0)
}

/// How many columns of a terminal a text takes.
pub(crate) fn width_of(text: &str) -> usize {
    display_width(text)
}

/// The width of the longest word.
pub(crate) fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(width_of).max().unwrap_or(0)
}

/// How lines are wrapped.
pub(crate) fn wrapping<'a>(width: usize) -> Options<'a> {
    Options::new(width)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
}

/// Text that ends in … if it is wider than this.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        short.push(letter);
        if width_of(&short) >= width {
            short.pop();
            break;
        }
    }
    short + "…"
}

/// Text in which no word is wider than this, so that it can be wrapped.
pub(crate) fn with_short_words(text: &str, width: usize) -> String {
    text.split(' ').map(|word| shortened(word, width)).collect::<Vec<_>>().join(" ")
}

/// The largest level that parts may have if they are to fit a total, each being no wider than its own width
/// and no narrower than its minimum: wide parts give way first.
pub(crate) fn common_level(parts: &[(usize, usize)], total: usize) -> usize {
    let used = |level: usize| -> usize { parts.iter().map(|&part| at_level(part, level)).sum() };
    let widest = parts.iter().map(|&(_, own)| own).max().unwrap_or(0);
    (0..=widest).rev().find(|&level| used(level) <= total).unwrap_or(0)
}

/// The width of a part, given as its minimum and its own width, at a level.
pub(crate) fn at_level((minimum, own): (usize, usize), level: usize) -> usize {
    level.max(minimum).min(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_never_broken() {
        let text = "20,001 votes on gpt-4-turbo-2024-04-09 and 7";
        let lines = textwrap::wrap(text, wrapping(10));
        assert_eq!(lines, ["20,001", "votes on", "gpt-4-turbo-2024-04-09", "and 7"]);
        assert_eq!(longest_word(text), 22);
    }

    #[test]
    fn long_text_ends_in_an_ellipsis() {
        assert_eq!(shortened("espresso", 8), "espresso");
        assert_eq!(shortened("espresso", 5), "espr…");
        // Each of these letters takes two columns.
        assert_eq!(shortened("浓缩咖啡", 5), "浓缩…");
    }

    #[test]
    fn wide_parts_give_way_first() {
        assert_eq!(common_level(&[(2, 30), (2, 4)], 20), 16);
        assert_eq!(common_level(&[(2, 30), (2, 30)], 20), 10);
        assert_eq!(common_level(&[(8, 30), (8, 30)], 4), 0);
    }
}
