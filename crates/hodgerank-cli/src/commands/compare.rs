//! Formatted text of `hodgerank compare`.

use std::io;

use hodgerank::ranking::with_decimals;
use hodgerank_commands::compare::{CompareDocument, MethodComparison, MethodRanking};

use crate::output::{FormattedText, Style};
use crate::ranking_table::{column_width, visible, write_by};

impl FormattedText for CompareDocument {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        self.comparisons.iter().try_for_each(|comparison| draw(comparison, style, out))
    }
}

/// Items in the order of the reference method; other ranks are marked with a star.
fn draw(comparison: &MethodComparison, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
    write_by(comparison.by.as_deref(), out)?;
    let reference = comparison.methods.iter().find(|m| m.name == comparison.reference);
    let lead = reference.or(comparison.methods.first());
    let mut order: Vec<usize> = (0..comparison.items.len()).collect();
    if let Some(lead) = lead {
        order.sort_by_key(|&i| lead.ranks[i]);
    }
    if style.top > 0 {
        order.truncate(style.top);
    }
    let mut names: Vec<String> = vec!["item".to_owned()];
    names.extend(order.iter().map(|&i| visible(&comparison.items[i])));
    names.push("votes flagged".to_owned());
    let place = comparison.methods.iter().position(|m| m.name == comparison.reference);
    names.extend(place.map(|_| format!("τ with {}", comparison.reference)));
    let column = |(m, method): (usize, &MethodRanking), with_scores: bool| {
        let cell = |&i: &usize| {
            let differs = reference.is_some_and(|r| r.ranks[i] != method.ranks[i]);
            let star = if differs { "*" } else { "" };
            let decimals = if method.scale.is_some() { 0 } else { 3 };
            let score = match with_scores {
                true => format!(" ({})", with_decimals(method.scores[i], decimals)),
                false => String::new(),
            };
            format!("{}{star}{score}", method.ranks[i])
        };
        let mut cells: Vec<String> = vec![method.name.to_owned()];
        cells.extend(order.iter().map(cell));
        cells.push(method.flagged.to_string());
        cells.extend(place.map(|place| format!("{:.3}", comparison.kendall[place][m])));
        cells
    };
    let columns = |with_scores: bool| -> Vec<Vec<String>> {
        comparison.methods.iter().enumerate().map(|method| column(method, with_scores)).collect()
    };
    // Nine methods with scores need a wide terminal. Ranks alone need less; if even they do not fit,
    // the table is split into blocks.
    let width = usize::from(style.width);
    let (wide, narrow) = (columns(true), columns(false));
    let with_scores = blocks(&names, &wide, width).len() <= 1;
    let shown = if with_scores { wide } else { narrow };
    for block in blocks(&names, &shown, width) {
        let mut table = style.table();
        let row = |r: usize| std::iter::once(&names).chain(block).map(move |cells| &cells[r]);
        table.set_header(row(0));
        for r in 1..names.len() {
            table.add_row(row(r));
        }
        writeln!(out, "{table}")?;
    }
    writeln!(out, "* rank differs from {}", comparison.reference)?;
    if !with_scores {
        writeln!(
            out,
            "scores are shown in wider terminals and with --format csv, json or parquet"
        )?;
    }
    Ok(())
}

/// Splits the columns into blocks that fit next to the labels.
pub(super) fn blocks<'a>(
    names: &[String],
    columns: &'a [Vec<String>],
    width: usize,
) -> Vec<&'a [Vec<String>]> {
    let text = |cells: &'a [String]| cells.iter().map(String::as_str);
    let label_width = column_width(names.iter().map(String::as_str), true);
    let widths: Vec<usize> = columns.iter().map(|cells| column_width(text(cells), false)).collect();
    let mut blocks = Vec::new();
    let mut start = 0;
    while start < columns.len() {
        let mut end = start + 1;
        // The last column has no margin after it.
        while end < columns.len()
            && label_width + widths[start..=end].iter().sum::<usize>() <= width + 1
        {
            end += 1;
        }
        blocks.push(&columns[start..end]);
        start = end;
    }
    blocks
}
