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

/// Writes one ranking: a table per component, because ranks of different components do not compare.
pub(crate) fn write(study: &RankedStudy, style: Style, out: &mut dyn Write) -> io::Result<()> {
    write_by(study.by.as_deref(), out)?;
    let several = study.input.components > 1;
    let mut rows: Vec<RankedItem<&str>> = study.rows().collect();
    rows.sort_by_key(|row| (row.component, row.rank));
    let total = rows.len();
    if style.top > 0 {
        rows.truncate(style.top);
    }
    for rows in rows.chunk_by(|a, b| a.component == b.component) {
        if several {
            let summary = &study.components[rows[0].component as usize - 1];
            let (items, votes) = (summary.items, thousands(summary.comparisons));
            if items == 1 {
                writeln!(out, "not compared with anything: {}", visible(rows[0].item))?;
                continue;
            }
            let number = summary.component;
            writeln!(out, "component {number}: {items} items, {votes} votes (ranked separately)")?;
        }
        writeln!(out, "{}", draw(rows, style))?;
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

fn draw(rows: &[RankedItem<&str>], style: Style) -> Table {
    let bars = style.width >= MIN_WIDTH_FOR_BARS;
    let record = style.width >= MIN_WIDTH_FOR_RECORD;
    let votes = style.width >= MIN_WIDTH_FOR_VOTES;
    let ties = rows.iter().any(|row| row.ties > 0);
    let flagged = rows.iter().any(|row| row.flagged > 0);
    let largest = rows.iter().map(|row| row.score.abs()).fold(0.0, f64::max);

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
    for row in rows {
        let mut cells = vec![
            number(row.rank.to_string()),
            Cell::new(visible(row.item)),
            number(format!("{:.4}", row.score)),
        ];
        if bars {
            cells.push(Cell::new(bar(row.score, largest)).fg(Color::Cyan));
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
    fn bars_start_at_the_middle() {
        assert_eq!(bar(1.0, 1.0), "          │██████████");
        assert_eq!(bar(-0.5, 1.0), "     █████│          ");
        assert_eq!(bar(0.0, 0.0), "          │          ");
    }
}
