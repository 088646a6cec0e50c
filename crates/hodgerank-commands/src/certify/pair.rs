//! The two items of `--pair A,B`.

use hodgerank::Labels;
use hodgerank::certify::Question;

use crate::failure::Failure;
use crate::text::{closest, visible};

/// Finds the items. Labels may contain commas: the text is split where both sides are items.
///
/// # Errors
/// [`Failure::Usage`] that names the most similar item.
pub(super) fn find(pair: &str, items: &Labels, by: Option<&str>) -> Result<Question, Failure> {
    let item = |name: &str| items.get(name.as_bytes());
    let mut first = None;
    for (comma, _) in pair.match_indices(',') {
        let (a, b) = (&pair[..comma], &pair[comma + 1..]);
        if let (Some(a), Some(b)) = (item(a), item(b)) {
            return Ok(Question::Pair(a, b));
        }
        first = first.or(Some((a, b)));
    }
    let Some((a, b)) = first else {
        return Err(Failure::usage(
            format!("--pair {}: there is no comma between two items", visible(pair)),
            "name two items, such as --pair A,B",
        ));
    };
    let (unknown, other) = if item(a).is_none() { (a, b) } else { (b, a) };
    let study = by.map_or(String::new(), |by| format!("{}: ", visible(by)));
    let problem = format!("{study}there is no item {} to compare", visible(unknown));
    let help = match (closest(unknown, items.iter()), by) {
        (Some(name), _) if unknown == a => {
            format!("the most similar item is {0}: --pair {0},{1}", visible(name), visible(other))
        }
        (Some(name), _) => {
            format!("the most similar item is {0}: --pair {1},{0}", visible(name), visible(other))
        }
        (None, None) => "name items as they are in the votes".to_owned(),
        (None, Some(_)) => "name items that are in all studies".to_owned(),
    };
    Err(Failure::usage(problem, help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_may_contain_commas() {
        let items: Labels = ["a", "b", "a,b", "gpt-4"].into_iter().collect();
        assert_eq!(find("a,b", &items, None).unwrap(), Question::Pair(0, 1));
        assert_eq!(find("a,b,gpt-4", &items, None).unwrap(), Question::Pair(2, 3));
        let unknown = find("a,gpt4", &items, None).unwrap_err();
        assert_eq!(unknown.to_string(), "there is no item gpt4 to compare");
        assert!(unknown.help().unwrap().contains("--pair a,gpt-4"));
        assert!(find("a", &items, None).is_err());
    }
}
