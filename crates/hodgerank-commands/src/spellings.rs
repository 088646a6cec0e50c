//! What is said about labels that differ only in spelling.

use hodgerank_io::labels::{JoinedSpellings, variants};
use hodgerank_io::{Input, Spellings};
use hodgerank_report::words::counted;

use crate::observer::Observer;
use crate::text::visible;

/// Items that are listed by name.
const MAX_LISTED: usize = 5;

/// Warns if labels differ only in case, spaces or Unicode form.
pub(crate) fn warn_of_variants(input: &Input, observer: &dyn Observer) {
    let mut found: Vec<JoinedSpellings> = Vec::new();
    for study in &input.studies {
        for group in variants(&study.items) {
            if !found.contains(&group) {
                found.push(group);
            }
        }
    }
    if !found.is_empty() {
        observer.warn(&format!(
            "labels differ only in case, spaces or Unicode form, and each counts as an item of its own: \
             {}. If they are the same items, add --normalise labels",
            listed(&found)
        ));
    }
}

/// Says which spellings were joined.
pub(crate) fn announce_joined(spellings: &Spellings, observer: &dyn Observer) {
    let joined = spellings.joined();
    let spelled = joined.iter().map(Vec::len).sum::<usize>() as u64;
    let items = counted(joined.len() as u64, "item", "items");
    observer.note(&match spelled {
        0 => "no labels differ only in case, spaces or Unicode form".to_owned(),
        spelled => format!("{spelled} spellings joined to {items}: {}", listed(&joined)),
    });
}

fn listed(groups: &[JoinedSpellings]) -> String {
    let quoted = |label: &String| format!("\"{}\"", visible(label));
    let group = |group: &JoinedSpellings| group.iter().map(quoted).collect::<Vec<_>>().join(" = ");
    let mut list: Vec<String> = groups.iter().take(MAX_LISTED).map(group).collect();
    if groups.len() > MAX_LISTED {
        list.push(format!("{} more", groups.len() - MAX_LISTED));
    }
    list.join("; ")
}
