//! Text for people: what a label, a column name or a file name looks like in a message or a table.
//!
//! Data formats are not affected: CSV, JSON, Parquet and Arrow hold labels exactly as they are.

use std::borrow::Cow;
use std::path::Path;

/// Returns the character that stands for `character` in text for people.
///
/// Control characters become their symbols (`␛` for escape), so that labels cannot send commands to
/// a terminal. Format characters become `�`: directional marks, which make text look like other
/// text, and characters that cannot be seen. The two joiners of emoji and of Persian and Indic
/// scripts (U+200C, U+200D) are kept: they change the shape of their neighbours only.
#[must_use]
pub fn visible_character(character: char) -> char {
    match character {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + character as u32).unwrap_or('�'),
        '\u{7f}' => '␡',
        // Control characters, separators of lines and paragraphs.
        '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => '�',
        // Directional marks, embeddings, overrides and isolates.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => '�',
        '\u{2066}'..='\u{206f}' => '�',
        // Spaces without width, invisible operators, fillers, byte-order mark, annotations, tags.
        '\u{ad}' | '\u{34f}' | '\u{70f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => '�',
        '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{3164}' | '\u{feff}' => '�',
        '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' => '�',
        '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}' => '�',
        _ => character,
    }
}

/// A name on one line: a file, a column, a label. See [`visible_character`].
#[must_use]
pub fn visible_name(name: &str) -> Cow<'_, str> {
    replace(name, visible_character)
}

/// The name of a file on one line. See [`visible_character`].
#[must_use]
pub fn visible_path(path: &Path) -> String {
    visible_name(&path.to_string_lossy()).into_owned()
}

/// A message, whose line ends are kept. See [`visible_character`].
#[must_use]
pub fn visible_message(text: &str) -> Cow<'_, str> {
    replace(text, |character| if character == '\n' { '\n' } else { visible_character(character) })
}

fn replace(text: &str, shown: impl Fn(char) -> char) -> Cow<'_, str> {
    if text.chars().all(|character| shown(character) == character) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().map(shown).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_line_without_hidden_characters() {
        assert_eq!(visible_name("a\x1b[2Jb\n\u{9b}1m"), "a␛[2Jb␊�1m");
        assert_eq!(
            visible_name("\u{202e}gpj.exe\u{2066}\u{200b}\u{feff}\u{e0041}"),
            "�gpj.exe����"
        );
        for kept in ["plain", "קפה ☕️", "👩‍🚀", "می‌خواهم", "東京", "e\u{301}", ""]
        {
            assert_eq!(visible_name(kept), kept);
        }
        assert_eq!(visible_message("one\n\ttwo"), "one\n␉two");
    }
}
