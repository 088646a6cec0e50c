//! A ranking as a formatted table that fits the terminal.

use std::io::{self, Write};

use comfy_table::{Attribute, Cell, CellAlignment, Color, Table};
use hodgerank::{RankedItem, RankedStudy};

pub(crate) use hodgerank_commands::visible;

use crate::output::Style;
use crate::terminal::thousands;

/// Narrower tables lose their less important columns.
const MIN_WIDTH_FOR_BARS: u16 = 72;
const MIN_WIDTH_FOR_RECORD: u16 = 56;
const MIN_WIDTH_FOR_VOTES: u16 = 46;
/// Characters of a bar.
const BAR_WIDTH: usize = 20;

/// The width of a column with its margins. Long text can be wrapped and asks for a limited width;
/// numbers cannot.
pub(crate) fn column_width<'a>(cells: impl Iterator<Item = &'a str>, is_text: bool) -> usize {
    const MARGINS: usize = 3;
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
    if rows.len() < total {
        writeln!(
            out,
            "… and {} more items (--top 0 shows all; --format csv, json or parquet contains all)",
            thousands((total - rows.len()) as u64)
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
        format!("{score:.*}", self.decimals)
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
pub(crate) fn draw(rows: &[PlacedRow<'_>], numbers: ScoreFormat, style: Style) -> Table {
    let rows = || rows.iter().map(|(_, row)| row);
    let bars = style.width >= MIN_WIDTH_FOR_BARS;
    let record = style.width >= MIN_WIDTH_FOR_RECORD;
    let votes = style.width >= MIN_WIDTH_FOR_VOTES;
    let ties = rows().any(|row| row.ties > 0);
    let flagged = rows().any(|row| row.flagged > 0);
    let above = |row: &RankedItem<&str>| row.score - numbers.mean;
    let largest = rows().map(|row| above(row).abs()).fold(0.0, f64::max);

    let mut table = style.table();
    let number = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let head = |text: &str| number(text.to_owned()).add_attribute(Attribute::Bold);
    let name = |text: &str| Cell::new(text).add_attribute(Attribute::Bold);
    let mut header = vec![head("rank"), name("item"), head("score")];
    if bars {
        header.push(name(" below avg│above avg "));
    }
    if votes {
        header.push(head("votes"));
    }
    if record {
        header.extend([head("wins"), head("losses")]);
        if ties {
            header.push(head("ties"));
        }
    }
    if flagged {
        header.push(head("flagged"));
    }
    table.set_header(header);
    for row in rows() {
        let mut cells = vec![
            number(row.rank.to_string()),
            Cell::new(visible(row.item)),
            number(numbers.score(row.score)),
        ];
        if bars {
            cells.push(Cell::new(bar(above(row), largest)).fg(Color::Cyan));
        }
        if votes {
            cells.push(number(thousands(row.comparisons)));
        }
        if record {
            cells.extend([number(thousands(row.wins)), number(thousands(row.losses))]);
            if ties {
                cells.push(number(thousands(row.ties)));
            }
        }
        if flagged {
            cells.push(number(thousands(row.flagged)));
        }
        table.add_row(cells);
    }
    table
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

    #[test]
    fn bars_start_at_the_middle() {
        assert_eq!(bar(1.0, 1.0), "          │██████████");
        assert_eq!(bar(-0.5, 1.0), "     █████│          ");
        assert_eq!(bar(0.0, 0.0), "          │          ");
    }
}
