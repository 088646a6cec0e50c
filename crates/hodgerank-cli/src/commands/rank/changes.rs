//! What changed since an earlier ranking, as a table.

use std::io;

use hodgerank_commands::rank::{GoneItem, ItemChange, RankingChanges};

use crate::page::Page;
use crate::ranking_table::{PlacedRow, ScoreFormat, visible};
use crate::terminal::thousands;
use crate::text_table::{Column, TextTable};

/// What a narrow terminal leaves out, in this order.
const OPTIONAL: &[&str] = &["votes", "old score", "old rank", "change"];

/// By how many ranks the item rose or fell.
fn movement(change: &ItemChange) -> String {
    match change.old_rank {
        None => "new".to_owned(),
        Some(old) if old > change.rank => format!("↑{}", old - change.rank),
        Some(old) if old < change.rank => format!("↓{}", change.rank - old),
        Some(_) => "=".to_owned(),
    }
}

/// The items of a component; `changes` are in the order of the ranking.
pub(super) fn table(
    rows: &[PlacedRow<'_>],
    changes: &[ItemChange],
    numbers: ScoreFormat,
) -> TextTable {
    let change = |place: &usize| &changes[*place];
    let mut columns = vec![
        Column::numbers("rank", rows, |(_, row)| row.rank.to_string()),
        Column::numbers("old rank", rows, |(place, _)| {
            change(place).old_rank.map_or(String::new(), |rank| rank.to_string())
        }),
        Column::numbers("move", rows, |(place, _)| movement(change(place))),
        Column::labels("item", rows, |(_, row)| visible(row.item)),
        Column::numbers("score", rows, |(_, row)| numbers.score(row.score)),
        Column::numbers("old score", rows, |(place, _)| {
            change(place).old_score.map_or(String::new(), |score| numbers.score(score))
        }),
    ];
    // Scores of different methods do not compare.
    if rows.iter().any(|(place, _)| change(place).score_change.is_some()) {
        columns.push(Column::numbers("change", rows, |(place, _)| {
            change(place).score_change.map_or(String::new(), |by| numbers.change(by))
        }));
    }
    columns.push(Column::numbers("votes", rows, |(_, row)| thousands(row.comparisons)));
    TextTable::new(columns).leaving_out(OPTIONAL)
}

/// Writes how much changed, and the largest changes.
pub(super) fn write_summary(changes: &RankingChanges, page: &mut Page<'_>) -> io::Result<()> {
    let mut lines = Vec::new();
    if let Some(tau) = changes.kendall {
        let items = thousands(changes.common as u64);
        lines.push(format!(
            "Kendall's τ between the two rankings: {tau:.3} ({items} items in both)"
        ));
    }
    let movers = changes.movers();
    let moved = |item: &&ItemChange| {
        let (old, new) = (item.old_rank.unwrap_or(item.rank), item.rank);
        format!("{} ({old} → {new})", visible(&item.item))
    };
    if changes.common > 0 && movers.is_empty() {
        lines.push("no item changed its rank".to_owned());
    }
    lines.extend(list("largest moves", &movers, moved));
    lines.extend(list("new", &changes.new_items(), |item| visible(&item.item)));
    let gone = |item: &GoneItem| format!("{} (was {})", visible(&item.item), item.old_rank);
    lines.extend(list("gone", &changes.gone, gone));
    lines.iter().try_for_each(|line| page.indented(line))
}

/// A heading and the first entries; `None` without entries.
fn list<T>(heading: &str, entries: &[T], text: impl Fn(&T) -> String) -> Option<String> {
    const MAX_ENTRIES: usize = 5;
    let shown: Vec<String> = entries.iter().take(MAX_ENTRIES).map(text).collect();
    let more = match entries.len().saturating_sub(MAX_ENTRIES) {
        0 => String::new(),
        more => format!(" and {} more", thousands(more as u64)),
    };
    (!entries.is_empty()).then(|| format!("{heading}: {}{more}", shown.join(", ")))
}
