//! A ranking as a table.

use std::io;

use hodgerank::ranking::with_decimals;
use hodgerank::uncertainty::RankCoverage;
use hodgerank::{RankedItem, RankedStudy};

pub(crate) use hodgerank_commands::visible;

use crate::page::Page;
use crate::terminal::thousands;
use crate::text_table::{Cells, Column, Label, TextTable};

/// What a narrow terminal leaves out, in this order.
const OPTIONAL: &[&str] = &["ties", "losses", "wins", "flagged", BARS, "votes", MARGIN, RANGES];
const BARS: &str = " below avg│above avg ";
/// Half of the width of an interval.
const MARGIN: &str = "±";
/// What ranks lack in narrow terminals.
const RANGES: &str = "ranges of ranks";
/// How many characters long bars are.
const BAR_WIDTH: usize = 20;
/// The mark of items about which too little is known.
const PROVISIONAL: &str = " *";

/// A row of a ranking, after its position in the ranking.
pub(crate) type PlacedRow<'a> = (usize, RankedItem<&'a str>);

/// Writes one ranking: a table per component, because ranks of different components do not compare.
/// `table` is the table of a component.
pub(crate) fn write(
    study: &RankedStudy,
    page: &mut Page<'_>,
    table: impl Fn(&[PlacedRow<'_>], ScoreFormat) -> TextTable,
) -> io::Result<()> {
    page.by(study.by.as_deref())?;
    let several = study.input.components > 1;
    let mut rows: Vec<PlacedRow<'_>> = study.rows().enumerate().collect();
    rows.sort_by_key(|(_, row)| (row.component, row.rank));
    let total = rows.len();
    rows.truncate(page.shown(total));
    let mut shown = Vec::new();
    let mut left_out: Vec<&str> = Vec::new();
    for rows in rows.chunk_by(|(_, a), (_, b)| a.component == b.component) {
        let (_, RankedItem { item, component, .. }) = rows[0];
        if several {
            let summary = &study.components[component as usize - 1];
            let (items, votes) = (summary.items, thousands(summary.comparisons));
            if items == 1 {
                page.paragraph(&format!("not compared with anything: {}", visible(item)))?;
                continue;
            }
            let number = summary.component;
            page.paragraph(&format!(
                "component {number}: {items} items, {votes} votes (ranked separately)"
            ))?;
        }
        let table = table(rows, ScoreFormat::new(study, component));
        let missing = page.bare_table(&table)?;
        shown.extend(table.names().filter(|name| !missing.contains(name)).map(str::to_owned));
        left_out.extend(missing.iter().filter(|name| !left_out.contains(name)).collect::<Vec<_>>());
    }
    write_notes(study, &rows, &shown, page)?;
    left_out.retain(|name| *name != BARS);
    page.name_left_out(&left_out)?;
    page.more(total, "items")
}

/// Explains the margin, the range and the mark, as far as they are `shown`.
fn write_notes(
    study: &RankedStudy,
    rows: &[PlacedRow<'_>],
    shown: &[String],
    page: &mut Page<'_>,
) -> io::Result<()> {
    if let Some(found) = &study.uncertainty {
        let has = |name: &str| shown.iter().any(|own| own == name);
        let level = with_decimals(100.0 * found.options.level, 1);
        let level = level.trim_end_matches(".0");
        let together = match found.options.ranks {
            RankCoverage::All => "for all items together",
            RankCoverage::Each => "for each item on its own",
        };
        match (has(MARGIN), has(RANGES)) {
            (true, true) => page.paragraph(&format!(
                "± and ranges of ranks hold with {level}% confidence, the ranges {together}."
            ))?,
            (true, false) => page.paragraph(&format!("± holds with {level}% confidence."))?,
            (false, true) => page
                .paragraph(&format!("Ranges of ranks hold with {level}% confidence {together}."))?,
            (false, false) => {}
        }
    }
    if rows.iter().any(|(_, row)| row.provisional) {
        page.paragraph(
            "* provisional: few votes, never won or never lost, or a range of more than half of the \
             ranks.",
        )?;
    }
    Ok(())
}

/// How the scores of a component are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScoreFormat {
    decimals: usize,
    /// Where bars start.
    mean: f64,
}

impl ScoreFormat {
    fn new(study: &RankedStudy, component: u32) -> Self {
        match &study.elo {
            // Differences of less than a point mean nothing.
            Some(elo) => Self { decimals: 0, mean: elo.mean(component) },
            None => Self { decimals: 4, mean: 0.0 },
        }
    }

    pub(crate) fn score(self, score: f64) -> String {
        with_decimals(score, self.decimals)
    }

    /// A difference of scores, with its sign.
    pub(crate) fn change(self, change: f64) -> String {
        let text = format!("{:.*}", self.decimals, change.abs());
        match text.parse() {
            Ok(0.0) => text,
            _ => format!("{}{text}", if change < 0.0 { '-' } else { '+' }),
        }
    }
}

/// The rows of a component as a table.
pub(crate) fn table(rows: &[PlacedRow<'_>], numbers: ScoreFormat) -> TextTable {
    let rows: Vec<&RankedItem<&str>> = rows.iter().map(|(_, row)| row).collect();
    let label = |row: &&RankedItem<&str>| {
        Label::new(visible(row.item)).with_mark(if row.provisional { PROVISIONAL } else { "" })
    };
    let mut ranks = Column::numbers("rank", &rows, |row| rank(row));
    if rows.iter().any(|row| row.rank_range.is_some()) {
        ranks = ranks.with_short(RANGES, rows.iter().map(|row| row.rank.to_string()).collect());
    }
    let mut columns = vec![
        ranks,
        Column::new("item", Cells::Label(rows.iter().map(label).collect())),
        Column::numbers("score", &rows, |row| numbers.score(row.score)),
    ];
    if rows.iter().any(|row| row.interval.is_some()) {
        columns.push(Column::numbers(MARGIN, &rows, |row| match row.interval {
            Some((low, high)) if (high - low).is_finite() => numbers.score(0.5 * (high - low)),
            Some(_) => "∞".to_owned(),
            None => String::new(),
        }));
    }
    let above = |row: &RankedItem<&str>| row.score - numbers.mean;
    let largest = rows.iter().map(|row| above(row).abs()).fold(0.0, f64::max);
    let bars = rows.iter().map(|row| bar(above(row), largest)).collect();
    columns.push(Column::new(BARS, Cells::Bar(bars)));
    columns.push(Column::numbers("votes", &rows, |row| thousands(row.comparisons)));
    columns.push(Column::numbers("wins", &rows, |row| thousands(row.wins)));
    columns.push(Column::numbers("losses", &rows, |row| thousands(row.losses)));
    if rows.iter().any(|row| row.ties > 0) {
        columns.push(Column::numbers("ties", &rows, |row| thousands(row.ties)));
    }
    if rows.iter().any(|row| row.flagged > 0) {
        columns.push(Column::numbers("flagged", &rows, |row| thousands(row.flagged)));
    }
    TextTable::new(columns).leaving_out(OPTIONAL)
}

/// The rank with its range: `3 (2–5)`.
fn rank(row: &RankedItem<&str>) -> String {
    match row.rank_range {
        Some((low, high)) if low < high => format!("{} ({low}–{high})", row.rank),
        _ => row.rank.to_string(),
    }
}

/// A bar to the left or right of a middle line; its length is proportional to the score.
fn bar(score: f64, largest: f64) -> String {
    let half = BAR_WIDTH / 2;
    let share = if largest > 0.0 { score.abs() / largest } else { 0.0 };
    let length = (share * half as f64).round() as usize;
    let (full, blank) = ("█".repeat(length), " ".repeat(half - length));
    if score < 0.0 {
        format!("{blank}{full}│{}", " ".repeat(half))
    } else {
        format!("{}│{full}{blank}", " ".repeat(half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_unless_they_are_rounded_to_zero() {
        let elo = ScoreFormat { decimals: 0, mean: 1000.0 };
        let natural = ScoreFormat { decimals: 4, mean: 0.0 };
        assert_eq!([elo.change(12.4), elo.change(-0.6), elo.change(-0.4)], ["+12", "-1", "0"]);
        assert_eq!([natural.change(-0.25), natural.change(1e-9)], ["-0.2500", "0.0000"]);
    }

    fn row(rank: u32, item: &str, score: f64) -> PlacedRow<'_> {
        let row = RankedItem {
            rank,
            item,
            score,
            se: None,
            interval: Some((score - 100.0, score + 100.0)),
            rank_range: Some((1, 20)),
            tier: None,
            component: 1,
            comparisons: 20_001,
            wins: 10_221,
            losses: 9_120,
            ties: 660,
            flagged: 12,
            provisional: rank == 2,
        };
        (rank as usize, row)
    }

    #[test]
    fn numbers_and_bars_are_never_broken_and_long_labels_end_in_an_ellipsis() {
        let rows = [
            row(1, "mixtral-8x7b-instruct-v0.1-with-a-long-name", 1252.0),
            row(2, "gpt-4", 1001.0),
            row(3, "x", 747.0),
        ];
        let numbers = ScoreFormat { decimals: 0, mean: 1000.0 };
        let drawn = |width: usize| table(&rows, numbers).lay_out(width).lines(false).join("\n");
        for width in [30, 40, 50, 60, 70, 80, 100, 120, 200] {
            let table = drawn(width);
            // A heading, a line and three rows: nothing is wrapped.
            assert_eq!(table.lines().count(), 5, "{table}");
            let widest = table.lines().map(|line| line.trim_end().chars().count()).max();
            assert!(widest <= Some(width), "{width}\n{table}");
            assert!(table.contains("1252") && table.contains("gpt-4 *"), "{table}");
            let middle = |line: &str| line.chars().position(|letter| letter == '│');
            let lines = || table.lines().filter(|line| line.contains('│'));
            assert!(lines().all(|line| middle(line) == lines().next().and_then(middle)), "{table}");
            let has_whole_label = table.contains("with-a-long-name");
            assert!(has_whole_label != table.contains('…'), "{width}\n{table}");
        }
        let headings = |width: usize| {
            let table = drawn(width);
            let heading = table.lines().next().unwrap_or_default().to_owned();
            heading.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            headings(200),
            "rank item score ± below avg│above avg votes wins losses ties flagged"
        );
        assert_eq!(headings(80), "rank item score ± below avg│above avg votes");
        assert_eq!(headings(60), "rank item score ± votes");
        assert_eq!(headings(30), "rank item score");
    }

    #[test]
    fn bars_start_at_the_middle() {
        assert_eq!(bar(1.0, 1.0), "          │██████████");
        assert_eq!(bar(-0.5, 1.0), "     █████│          ");
        assert_eq!(bar(0.0, 0.0), "          │          ");
    }
}
