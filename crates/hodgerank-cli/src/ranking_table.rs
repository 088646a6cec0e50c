//! A ranking as a formatted table that fits the terminal.

use std::io::{self, Write};

use comfy_table::{Attribute, Cell, CellAlignment, Color, ColumnConstraint, Table};
use hodgerank::ranking::with_decimals;
use hodgerank::uncertainty::RankCoverage;
use hodgerank::{RankedItem, RankedStudy};

pub(crate) use hodgerank_commands::visible;

use crate::output::Style;
use crate::terminal::thousands;

/// Columns that a table loses, one after the other, until it fits the terminal. After them, the ranges of ranks go.
const DROPPED: [&str; 6] = ["ties", "losses", "wins", "flagged", "votes", MARGIN];
/// A label may take so much width before other columns are dropped for it, and is shortened to the second at most.
const LABEL_WIDTH: usize = 24;
const MIN_LABEL_WIDTH: usize = 8;
/// What a column takes besides its content.
const MARGINS: usize = 3;
/// The headings of text.
const ITEM: &str = "item";
const BARS: &str = " below avg│above avg ";
/// Half of the width of an interval.
const MARGIN: &str = "±";
/// How many characters long bars are.
const BAR_WIDTH: usize = 20;
/// The mark of items about which too little is known.
const PROVISIONAL: &str = " *";

/// The width of a column with its margins. Long text can be wrapped and asks for a limited width;
/// numbers cannot.
pub(crate) fn column_width<'a>(cells: impl Iterator<Item = &'a str>, is_text: bool) -> usize {
    const TEXT: usize = 16;
    let widest = cells.map(textwrap::core::display_width).max().unwrap_or(0);
    MARGINS + if is_text { widest.min(TEXT) } else { widest }
}

/// Writes the value of the `--by` column as a heading, if there is one.
pub(crate) fn write_by(by: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    by.map_or(Ok(()), |by| writeln!(out, "── {} ──", visible(by)))
}

/// A row of a ranking, after its position in the ranking.
pub(crate) type PlacedRow<'a> = (usize, RankedItem<&'a str>);

/// Writes one ranking: a table per component, because ranks of different components do not compare.
/// `write_rows` writes the rows of a component.
pub(crate) fn write(
    study: &RankedStudy,
    style: Style,
    out: &mut dyn Write,
    write_rows: impl Fn(&[PlacedRow<'_>], ScoreFormat, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    write_by(study.by.as_deref(), out)?;
    let several = study.input.components > 1;
    let mut rows: Vec<PlacedRow<'_>> = study.rows().enumerate().collect();
    rows.sort_by_key(|(_, row)| (row.component, row.rank));
    let total = rows.len();
    if style.top > 0 {
        rows.truncate(style.top);
    }
    for rows in rows.chunk_by(|(_, a), (_, b)| a.component == b.component) {
        let (_, RankedItem { item, component, .. }) = rows[0];
        if several {
            let summary = &study.components[component as usize - 1];
            let (items, votes) = (summary.items, thousands(summary.comparisons));
            if items == 1 {
                writeln!(out, "not compared with anything: {}", visible(item))?;
                continue;
            }
            let number = summary.component;
            writeln!(out, "component {number}: {items} items, {votes} votes (ranked separately)")?;
        }
        write_rows(rows, ScoreFormat::new(study, component), out)?;
    }
    write_notes(study, &rows, style, out)?;
    if rows.len() < total {
        writeln!(
            out,
            "… and {} more items (--top 0 shows all; --format csv, json or parquet contains all)",
            thousands((total - rows.len()) as u64)
        )?;
    }
    Ok(())
}

/// Explains the range, the margin and the mark, if there are any.
fn write_notes(
    study: &RankedStudy,
    rows: &[PlacedRow<'_>],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut notes = Vec::new();
    if let Some(found) = &study.uncertainty {
        let level = with_decimals(100.0 * found.options.level, 1);
        let level = level.trim_end_matches(".0");
        let together = match found.options.ranks {
            RankCoverage::All => "for all items together",
            RankCoverage::Each => "for each item on its own",
        };
        notes.push(format!(
            "± and ranges of ranks hold with {level}% confidence, the ranges {together}."
        ));
    }
    if rows.iter().any(|(_, row)| row.provisional) {
        notes.push(
            "* provisional: few votes, never won or never lost, or a range of more than half of the \
             ranks."
                .to_owned(),
        );
    }
    for note in notes {
        for line in textwrap::wrap(&note, usize::from(style.width)) {
            writeln!(out, "{line}")?;
        }
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

/// A column of a table: its heading and its cells.
type Column = (&'static str, Vec<String>);

/// The width of a column that is not wrapped, with its margins.
fn full_width((heading, cells): &Column) -> usize {
    column_width(std::iter::once(*heading).chain(cells.iter().map(String::as_str)), false)
}

/// The width of a table. The last column has no margin after it.
fn table_width(columns: &[Column]) -> usize {
    let label = |column: &Column| full_width(column).min(MARGINS + LABEL_WIDTH);
    let width = |column: &Column| if column.0 == ITEM { label(column) } else { full_width(column) };
    columns.iter().map(width).sum::<usize>().saturating_sub(1)
}

/// Text that ends in … if it is wider than this.
fn shortened(text: &str, width: usize) -> String {
    let display_width = textwrap::core::display_width;
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        short.push(letter);
        if display_width(&short) >= width {
            short.pop();
            break;
        }
    }
    short + "…"
}

/// The rows of a component as a table. Numbers are never wrapped: columns are dropped until it fits.
pub(crate) fn draw(rows: &[PlacedRow<'_>], numbers: ScoreFormat, style: Style) -> Table {
    let rows = || rows.iter().map(|(_, row)| row);
    let column = |heading: &'static str, cell: &dyn Fn(&RankedItem<&str>) -> String| {
        (heading, rows().map(cell).collect::<Vec<String>>())
    };
    let width = usize::from(style.width);
    let mut columns: Vec<Column> = vec![
        column("rank", &rank),
        column(ITEM, &|row| visible(row.item) + provisional_mark(row)),
        column("score", &|row| numbers.score(row.score)),
    ];
    if rows().any(|row| row.interval.is_some()) {
        columns.push(column(MARGIN, &|row| match row.interval {
            Some((low, high)) if (high - low).is_finite() => numbers.score(0.5 * (high - low)),
            Some(_) => "∞".to_owned(),
            None => String::new(),
        }));
    }
    columns.push(column("votes", &|row| thousands(row.comparisons)));
    columns.push(column("wins", &|row| thousands(row.wins)));
    columns.push(column("losses", &|row| thousands(row.losses)));
    if rows().any(|row| row.ties > 0) {
        columns.push(column("ties", &|row| thousands(row.ties)));
    }
    if rows().any(|row| row.flagged > 0) {
        columns.push(column("flagged", &|row| thousands(row.flagged)));
    }
    for dropped in DROPPED {
        if table_width(&columns) > width {
            columns.retain(|(heading, _)| *heading != dropped);
        }
    }
    if table_width(&columns) > width {
        columns[0] = column("rank", &|row| row.rank.to_string());
    }
    // Labels have the rest of the width.
    let others: usize = columns.iter().filter(|own| own.0 != ITEM).map(full_width).sum();
    let label_width = (width + 1).saturating_sub(others + MARGINS);
    columns[1] = column(ITEM, &|row| {
        let mark = provisional_mark(row);
        shortened(&visible(row.item), label_width.max(MIN_LABEL_WIDTH) - mark.len()) + mark
    });
    let bars = column_width(std::iter::once(BARS), false);
    let has_bars = columns.iter().map(full_width).sum::<usize>() + bars <= width + 1;
    let bar_column = 1 + columns
        .iter()
        .rposition(|(heading, _)| ["score", MARGIN].contains(heading))
        .unwrap_or_default();
    if has_bars {
        let above = |row: &RankedItem<&str>| row.score - numbers.mean;
        let largest = rows().map(|row| above(row).abs()).fold(0.0, f64::max);
        columns.insert(bar_column, column(BARS, &|row| bar(above(row), largest)));
    }

    let is_text = |heading: &str| [ITEM, BARS].contains(&heading);
    let mut table = style.table();
    let cell = |heading: &str, text: &str| match heading {
        BARS => Cell::new(text).fg(Color::Cyan),
        heading if is_text(heading) => Cell::new(text),
        _ => Cell::new(text).set_alignment(CellAlignment::Right),
    };
    let head = |(heading, _): &Column| {
        let cell = Cell::new(heading).add_attribute(Attribute::Bold);
        if is_text(heading) { cell } else { cell.set_alignment(CellAlignment::Right) }
    };
    table.set_header(columns.iter().map(head).collect::<Vec<_>>());
    for k in 0..rows().len() {
        let cells = columns.iter().map(|(heading, cells)| cell(heading, &cells[k]));
        table.add_row(cells.collect::<Vec<_>>());
    }
    for column in table.column_iter_mut() {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    table
}

/// The mark after the label of an item about which too little is known.
fn provisional_mark(row: &RankedItem<&str>) -> &'static str {
    if row.provisional { PROVISIONAL } else { "" }
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
        let drawn = |width: u16| {
            draw(&rows, numbers, Style { width, is_styled: false, top: 0 }).to_string()
        };
        for width in [30, 40, 50, 60, 70, 80, 100, 120, 200] {
            let table = drawn(width);
            // A heading, a line and three rows: nothing is wrapped.
            assert_eq!(table.lines().count(), 5, "{table}");
            let widest = table.lines().map(|line| line.trim_end().chars().count()).max();
            assert!(widest <= Some(width.into()), "{width}\n{table}");
            assert!(table.contains("1252") && table.contains("gpt-4 *"), "{table}");
            let middle = |line: &str| line.chars().position(|letter| letter == '│');
            let lines = || table.lines().filter(|line| line.contains('│'));
            assert!(lines().all(|line| middle(line) == lines().next().and_then(middle)), "{table}");
            let has_whole_label = table.contains("with-a-long-name");
            assert!(has_whole_label != table.contains('…'), "{width}\n{table}");
        }
        let headings = |width: u16| {
            let table = drawn(width);
            let heading = table.lines().next().unwrap_or_default().to_owned();
            heading.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            headings(200),
            "rank item score ± below avg│above avg votes wins losses ties flagged"
        );
        assert_eq!(headings(80), "rank item score ± votes wins flagged");
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
