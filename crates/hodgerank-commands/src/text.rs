//! Text that users read and write.

use hodgerank_io::text::visible_character;

/// A label as one readable line of limited length.
#[must_use]
pub fn visible(label: &str) -> String {
    const MAX_CHARACTERS: usize = 60;
    let mut text: String = label.chars().take(MAX_CHARACTERS).map(visible_character).collect();
    if label.chars().nth(MAX_CHARACTERS).is_some() {
        text.push('…');
    }
    text
}

/// A share of a whole: `5%` or `0.05`.
///
/// # Errors
/// What was expected, if the text is not a share.
pub fn parse_share(text: &str) -> Result<f64, String> {
    hodgerank::select::share(text)
        .ok_or_else(|| "expected a share from 0 to 1 or from 0% to 100%, such as 5%".to_owned())
}

/// A list in a sentence: `a, b or c`.
#[must_use]
pub fn or_list(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// The name that is most like `given`; `None` if none is like it.
pub(crate) fn closest<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Similarity below which two names have little in common.
    const MIN_SIMILARITY: f64 = 0.7;
    let folded = given.to_lowercase();
    let similarity = |name: &'a str| (strsim::jaro_winkler(&folded, &name.to_lowercase()), name);
    let (likeness, name) = names.map(similarity).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness >= MIN_SIMILARITY).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_move_the_cursor() {
        assert_eq!(visible("a\x1b[2Jb\n\u{202e}"), "a␛[2Jb␊�");
        assert_eq!(visible(&"x".repeat(100)).chars().count(), 61);
    }

    #[test]
    fn lists_end_with_or() {
        assert_eq!(or_list(&[]), "");
        assert_eq!(or_list(&["a"]), "a");
        assert_eq!(or_list(&["a", "b"]), "a or b");
        assert_eq!(or_list(&["a", "b", "c"]), "a, b or c");
    }

    #[test]
    fn the_closest_name_is_a_typing_error_away() {
        let closest = |given| closest(given, ["gpt-4", "claude-3", "llama-2-70b"].into_iter());
        assert_eq!(closest("GPT4"), Some("gpt-4"));
        assert_eq!(closest("llama-70b"), Some("llama-2-70b"));
        assert_eq!(closest("xyz"), None);
    }

    #[test]
    fn shares() {
        assert_eq!(parse_share("5%"), Ok(0.05));
        assert_eq!(parse_share("0.25"), Ok(0.25));
        assert!(parse_share("101%").is_err());
        assert!(parse_share("-1").is_err());
        assert!(parse_share("nan").is_err());
        assert!(parse_share("five").is_err());
    }
}
