//! Labels as people type them: spaces at their ends, and spellings that look the same.

mod spellings;

pub use spellings::{JoinedSpellings, Spellings, variants};

use unicode_normalization::UnicodeNormalization as _;

/// As [`trim`].
///
/// Two comparisons for most texts: those that begin and end with a visible ASCII character.
#[inline]
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    match text {
        [] => text,
        [first, .., last] | [first @ last]
            if first.is_ascii_graphic() && last.is_ascii_graphic() =>
        {
            text
        }
        _ => trimmed_slowly(text),
    }
}

/// The label without spaces at its ends, also without those that cannot be broken or seen.
#[must_use]
pub fn trim(label: &str) -> &str {
    label.trim_matches(is_space)
}

#[inline(never)]
fn trimmed_slowly(text: &[u8]) -> &[u8] {
    match std::str::from_utf8(text) {
        Ok(text) => trim(text).as_bytes(),
        // Readers pass valid UTF-8 only.
        Err(_) => text.trim_ascii(),
    }
}

/// Whether a character takes space or none, and has no shape.
fn is_space(character: char) -> bool {
    // A soft hyphen, a space without width, a word joiner, a byte-order mark.
    character.is_whitespace()
        || matches!(character, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// A text that is equal for labels that differ only in case, spaces or Unicode form.
///
/// The form is NFKC, so that `①` and `1` are equal, and a non-breaking space is a space. Spaces count
/// only between two digits: `ice cream` and `icecream` are equal, `clip 1 1` and `clip 11` are not.
#[must_use]
pub fn spelling_key(label: &str) -> String {
    if label.is_ascii() {
        return without_spaces(label.bytes().map(|byte| byte.to_ascii_lowercase().into()));
    }
    // Lower case can have a form of its own (`İ`), so it is composed once more.
    let lower: String = label.nfkc().flat_map(char::to_lowercase).collect();
    without_spaces(lower.nfkc())
}

fn without_spaces(characters: impl Iterator<Item = char>) -> String {
    let mut key = String::new();
    let mut after_space = false;
    for character in characters {
        if is_space(character) {
            after_space = true;
            continue;
        }
        let is_between_digits =
            character.is_numeric() && key.chars().next_back().is_some_and(char::is_numeric);
        if after_space && is_between_digits {
            key.push(' ');
        }
        key.push(character);
        after_space = false;
    }
    key
}

/// Whether two texts differ at most in case, spaces or Unicode form.
pub(crate) fn same_spelling(a: &[u8], b: &[u8]) -> bool {
    match (std::str::from_utf8(a), std::str::from_utf8(b)) {
        (Ok(a), Ok(b)) => spelling_key(a) == spelling_key(b),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_at_the_ends_are_no_part_of_a_label() {
        for (text, expected) in [
            ("cat", "cat"),
            (" cat\t", "cat"),
            ("c", "c"),
            ("\u{a0}Kaffee\u{a0}", "Kaffee"),
            ("東京\u{3000}", "東京"),
            ("\u{200b}é", "é"),
            ("black cat ", "black cat"),
            (" ", ""),
            ("", ""),
        ] {
            assert_eq!(trimmed(text.as_bytes()), expected.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn keys_ignore_case_spaces_and_form() {
        for same in [
            ["Cappuccino", "cappuccino", "CAPPUCCINO "],
            ["flat white", "Flat\u{a0}White", "flatwhite"],
            ["Café", "Cafe\u{301}", "CAFÉ"],
            ["Option 1", "Option  1", "option1"],
            ["ﬁlter", "filter", "Filter"],
        ] {
            let keys = same.map(spelling_key);
            assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        }
        for [a, b] in [["clip 1 1", "clip 11"], ["a-b", "a_b"], ["é", "e"], ["1", "2"]] {
            assert_ne!(spelling_key(a), spelling_key(b));
        }
    }
}
