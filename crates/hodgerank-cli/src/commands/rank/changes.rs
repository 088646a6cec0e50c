//! What changed since an earlier ranking, as a formatted table.

use std::io::{self, Write};

use hodgerank::RankedItem;
use hodgerank_commands::rank::{GoneItem, ItemChange, RankingChanges};

use crate::commands::outliers::draw::{self, Columns, FormattedRow, Show};
use crate::output::Style;
use crate::ranking_table::{PlacedRow, ScoreFormat, visible};
use crate::terminal::thousands;

/// The cells of an item.
struct ChangeRow {
    rank: u32,
    old_rank: Option<u32>,
    item: String,
    score: String,
    old_score: String,
    score_change: String,
    votes: u64,
}

impl ChangeRow {
    fn new(row: &RankedItem<&str>, change: &ItemChange, numbers: ScoreFormat) -> Self {
        Self {
            rank: row.rank,
            old_rank: change.old_rank,
            item: visible(row.item),
            score: numbers.score(row.score),
            old_score: change.old_score.map_or(String::new(), |score| numbers.score(score)),
            score_change: change.score_change.map_or(String::new(), |by| numbers.change(by)),
            votes: row.comparisons,
        }
    }

    /// By how many ranks the item rose or fell.
    fn movement(&self) -> String {
        match self.old_rank {
            None => "new".to_owned(),
            Some(old) if old > self.rank => format!("↑{}", old - self.rank),
            Some(old) if old < self.rank => format!("↓{}", self.rank - old),
            Some(_) => "=".to_owned(),
        }
    }
}

impl FormattedRow for ChangeRow {
    const EMPTY: &'static str = "no items";
    const OPTIONAL: &'static [&'static str] = &["votes", "old score", "old rank", "change"];

    fn columns(rows: &[Self]) -> Columns<Self> {
        let mut columns: Columns<Self> = vec![
            ("rank", Show::Number(|row| row.rank.to_string())),
            ("old rank", Show::Number(|row| row.old_rank.map_or(String::new(), |r| r.to_string()))),
            ("move", Show::Number(Self::movement)),
            ("item", Show::Text(|row| row.item.clone())),
            ("score", Show::Number(|row| row.score.clone())),
            ("old score", Show::Number(|row| row.old_score.clone())),
        ];
        // Scores of different methods do not compare.
        if rows.iter().any(|row| !row.score_change.is_empty()) {
            columns.push(("change", Show::Number(|row| row.score_change.clone())));
        }
        columns.push(("votes", Show::Number(|row| thousands(row.votes))));
        columns
    }
}

/// Writes the items of a component; `changes` are in the order of the ranking.
pub(super) fn write_rows(
    rows: &[PlacedRow<'_>],
    changes: &[ItemChange],
    numbers: ScoreFormat,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let cells = |(place, row): &PlacedRow<'_>| ChangeRow::new(row, &changes[*place], numbers);
    let rows: Vec<ChangeRow> = rows.iter().map(cells).collect();
    draw::write_rows(&rows, style, out)
}

/// Writes how much changed, and the largest changes.
pub(super) fn write_summary(
    changes: &RankingChanges,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
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
    // Labels such as gpt-4-turbo stay whole.
    let options = textwrap::Options::new(style.width.into())
        .subsequent_indent("  ")
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    lines.iter().try_for_each(|line| writeln!(out, "{}", textwrap::fill(line, &options)))
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
