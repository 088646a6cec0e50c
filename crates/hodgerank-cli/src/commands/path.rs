//! Formatted text of `hodgerank path`.

use std::io;

use hodgerank_commands::path::{PathDocument, PathRow, StudyPath};

use crate::output::FormattedText;
use crate::page::Page;
use crate::ranking_table::visible;
use crate::text_table::{Cells, Column, Label, TextTable};

/// What a narrow terminal leaves out, in this order.
const OPTIONAL: &[&str] = &["residual", "votes", "knot"];

impl FormattedText for PathDocument {
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.paths.iter().try_for_each(|path| write(path, page))
    }
}

fn write(path: &StudyPath, page: &mut Page<'_>) -> io::Result<()> {
    page.by(path.lines.first().and_then(|row| row.by.as_deref()))?;
    let rows = &path.lines[..page.shown(path.lines.len())];
    let columns = match rows.iter().any(|row| row.event.is_some()) {
        true => event_columns(path, rows),
        false => score_columns(path, rows),
    };
    page.table(&TextTable::new(columns).leaving_out(OPTIONAL))?;
    page.more(path.lines.len(), "rows")
}

/// The knot, and the parameter of the path there.
fn place_columns(path: &StudyPath, rows: &[PathRow]) -> Vec<Column> {
    vec![
        Column::numbers("knot", rows, |row| row.knot.to_string()),
        Column::numbers(path.parameter, rows, |row| format!("{:.5}", row.at)),
    ]
}

fn score_columns(path: &StudyPath, rows: &[PathRow]) -> Vec<Column> {
    let mut columns = place_columns(path, rows);
    columns.push(Column::labels("item", rows, |row| {
        row.item.as_deref().map(visible).unwrap_or_default()
    }));
    columns.push(Column::numbers("score", rows, |row| decimals(row.score)));
    columns
}

fn event_columns(path: &StudyPath, rows: &[PathRow]) -> Vec<Column> {
    let mut columns = place_columns(path, rows);
    let pair = |row: &PathRow| {
        let pair =
            row.event.as_ref().map(|event| vec![visible(&event.left), visible(&event.right)]);
        Label::of_names(pair.unwrap_or_default(), " – ")
    };
    columns.push(Column::phrases("change", rows, |row| {
        row.event.as_ref().map_or(String::new(), |event| event.change.to_owned())
    }));
    columns.push(Column::new("pair", Cells::Label(rows.iter().map(pair).collect())));
    columns.push(Column::numbers("outcome", rows, |row| {
        row.event.as_ref().map_or(String::new(), |event| event.y.to_string())
    }));
    columns.push(Column::numbers("votes", rows, |row| {
        row.event.as_ref().map_or(String::new(), |event| event.votes.to_string())
    }));
    columns.push(Column::numbers("residual", rows, |row| {
        decimals(row.event.as_ref().and_then(|event| event.residual))
    }));
    columns
}

fn decimals(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{value:.4}"))
}
