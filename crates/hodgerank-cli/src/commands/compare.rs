//! Formatted text of `hodgerank compare`.

use std::io;

use hodgerank::ranking::with_decimals;
use hodgerank_commands::compare::{CompareDocument, MethodComparison, MethodRanking};

use crate::output::FormattedText;
use crate::page::Page;
use crate::ranking_table::visible;
use crate::text_table::{Cells, Column, Label, TextTable};

impl FormattedText for CompareDocument {
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.comparisons.iter().try_for_each(|comparison| write(comparison, page))
    }
}

/// Nine methods with scores need a wide terminal. Ranks alone need less; if even they do not fit, the
/// table is split into blocks.
fn write(comparison: &MethodComparison, page: &mut Page<'_>) -> io::Result<()> {
    page.by(comparison.by.as_deref())?;
    let order = order(comparison, page);
    let wide = table(comparison, &order, true);
    let has_scores = !page.is_split(&wide);
    let table = if has_scores { wide } else { table(comparison, &order, false) };
    page.blocks(&table)?;
    page.paragraph(&format!("* rank differs from {}", comparison.reference))?;
    if !has_scores {
        page.name_left_out(&["scores"])?;
    }
    page.more(comparison.items.len(), "items")
}

/// The items that are shown, in the order of the reference method.
fn order(comparison: &MethodComparison, page: &Page<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..comparison.items.len()).collect();
    if let Some(lead) = reference(comparison).or(comparison.methods.first()) {
        order.sort_by_key(|&i| lead.ranks[i]);
    }
    order.truncate(page.shown(order.len()));
    order
}

fn reference(comparison: &MethodComparison) -> Option<&MethodRanking> {
    comparison.methods.iter().find(|method| method.name == comparison.reference)
}

/// A column for each method; ranks that differ from the reference are marked with a star.
fn table(comparison: &MethodComparison, order: &[usize], with_scores: bool) -> TextTable {
    let reference = reference(comparison);
    let place = comparison.methods.iter().position(|m| m.name == comparison.reference);
    let mut names: Vec<Label> =
        order.iter().map(|&i| Label::new(visible(&comparison.items[i]))).collect();
    names.push(Label::new("votes flagged".to_owned()));
    names.extend(place.map(|_| Label::new(format!("τ with {}", comparison.reference))));
    let mut columns = vec![Column::new("item", Cells::Label(names))];
    for (m, method) in comparison.methods.iter().enumerate() {
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
        let mut cells: Vec<String> = order.iter().map(cell).collect();
        cells.push(method.flagged.to_string());
        cells.extend(place.map(|place| format!("{:.3}", comparison.kendall[place][m])));
        columns.push(Column::new(method.name, Cells::Phrase(cells)));
    }
    TextTable::new(columns)
}
