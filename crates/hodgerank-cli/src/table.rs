//! Rankings for eyes: fits the terminal, colour only there.

use std::io::{self, Write};

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table, TableStyle,
};
use hodgerank_io::write::{RankTable, RankedRow};

pub(crate) use hodgerank_commands::visible;

use crate::terminal::thousands;

/// Widths at which a table loses its less important columns.
const ROOM_FOR_BARS: u16 = 72;
const ROOM_FOR_RECORD: u16 = 56;
const ROOM_FOR_VOTES: u16 = 46;
/// Characters of a bar.
const BAR: usize = 20;

/// How a table is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Width of the terminal, or of a page where there is none.
    pub(crate) width: u16,
    /// Whether colour and bold type may be used.
    pub(crate) styled: bool,
    /// Most rows shown, 0 for all.
    pub(crate) top: usize,
}

impl Style {
    /// An empty table in our style.
    pub(crate) fn table(self) -> Table {
        let mut table = Table::new();
        table
            .load_style(
                TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')),
            )
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(self.width);
        if self.styled {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        table
    }
}

/// The room that a column takes, its margins included. Text can be broken, so long text asks for no
/// more than some; numbers cannot.
pub(crate) fn room<'a>(cells: impl Iterator<Item = &'a str>, is_text: bool) -> usize {
    const MARGINS: usize = 3;
    const TEXT: usize = 16;
    let widest = cells.map(textwrap::core::display_width).max().unwrap_or(0);
    MARGINS + if is_text { widest.min(TEXT) } else { widest }
}

/// Heads what follows with the value of the `--by` column, where there is one.
pub(crate) fn write_by(by: Option<&str>, out: &mut impl Write) -> io::Result<()> {
    by.map_or(Ok(()), |by| writeln!(out, "── {} ──", visible(by)))
}

/// Writes one ranking: a table for each component, because ranks of different ones do not compare.
pub(crate) fn write(table: &RankTable, style: Style, out: &mut impl Write) -> io::Result<()> {
    write_by(table.by.as_deref(), out)?;
    let several = table.input.components > 1;
    let mut rows: Vec<&RankedRow> = table.ranking.iter().collect();
    rows.sort_by_key(|row| (row.component, row.rank));
    let total = rows.len();
    if style.top > 0 {
        rows.truncate(style.top);
    }
    for rows in rows.chunk_by(|a, b| a.component == b.component) {
        if several {
            let summary = &table.components[rows[0].component as usize - 1];
            let (items, votes) = (summary.items, thousands(summary.comparisons));
            if items == 1 {
                writeln!(out, "not compared with anything: {}", visible(&rows[0].item))?;
                continue;
            }
            let number = summary.component;
            writeln!(out, "component {number}: {items} items, {votes} votes, a scale of its own")?;
        }
        writeln!(out, "{}", draw(rows, style))?;
    }
    if rows.len() < total {
        writeln!(
            out,
            "… and {} items more (--top 0 shows all; --format csv, json or parquet has all)",
            thousands((total - rows.len()) as u64)
        )?;
    }
    Ok(())
}

fn draw(rows: &[&RankedRow], style: Style) -> Table {
    let bars = style.width >= ROOM_FOR_BARS;
    let record = style.width >= ROOM_FOR_RECORD;
    let votes = style.width >= ROOM_FOR_VOTES;
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
            Cell::new(visible(&row.item)),
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

/// A bar to the left or right of a middle line, as long as the score is large.
fn bar(score: f64, largest: f64) -> String {
    let half = BAR / 2;
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
    fn bars_grow_from_the_middle() {
        assert_eq!(bar(1.0, 1.0), "          │██████████");
        assert_eq!(bar(-0.5, 1.0), "     █████│          ");
        assert_eq!(bar(0.0, 0.0), "          │          ");
    }
}
