//! Text that users read and write.

use hodgerank::natural_order;
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

/// The candidate that a misspelt name may stand for: it differs in a third of the letters at most.
pub(crate) fn closest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let letters = |text: &str| -> Vec<char> { text.chars().flat_map(char::to_lowercase).collect() };
    let wanted = letters(name);
    let measured = candidates.map(|other| (edit_distance(&wanted, &letters(other)), other));
    let close = measured.filter(|(distance, _)| *distance <= wanted.len().div_ceil(3));
    close.min_by(|a, b| a.0.cmp(&b.0).then_with(|| natural_order(a.1, b.1))).map(|(_, name)| name)
}

/// Letters to insert, delete or replace (Levenshtein).
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_move_the_cursor() {
        assert_eq!(visible("a\x1b[2Jb\n\u{202e}"), "a␛[2Jb␊�");
        assert_eq!(visible(&"x".repeat(100)).chars().count(), 61);
    }

    #[test]
    fn misspelt_names_are_recognised() {
        let names = || ["worker-7", "worker-70", "Ann", "Bob"].into_iter();
        assert_eq!(closest("worker7", names()), Some("worker-7"));
        assert_eq!(closest("ann", names()), Some("Ann"));
        assert_eq!(closest("somebody else", names()), None);
        let distance = |a: &str, b: &str| {
            edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!((distance("kitten", "sitting"), distance("", "abc")), (3, 3));
    }

    #[test]
    fn lists_end_with_or() {
        assert_eq!(or_list(&[]), "");
        assert_eq!(or_list(&["a"]), "a");
        assert_eq!(or_list(&["a", "b"]), "a or b");
        assert_eq!(or_list(&["a", "b", "c"]), "a, b or c");
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
