//! Lists of votes and annotators as formatted tables.

use std::io::{self, Write};

use comfy_table::{Attribute, Cell, CellAlignment};
use hodgerank::annotators::JudgedAnnotator;
use hodgerank_commands::annotators::EvidenceVote;
use hodgerank_commands::listing::SuspectVote;

use crate::output::Style;
use crate::ranking_table::{column_width, visible, write_by};
use crate::terminal::thousands;

/// A row with columns for a formatted table.
pub(crate) trait FormattedRow: Sized {
    /// The text for an empty list.
    const EMPTY: &'static str;

    /// Columns that narrow terminals leave out, in this order.
    const OPTIONAL: &'static [&'static str];

    /// The columns to show for these rows: heading and value.
    fn columns(rows: &[Self]) -> Columns<Self>;
}

/// How a value is shown: numbers are right-aligned, and long text can be wrapped.
pub(crate) enum Show<R> {
    Text(fn(&R) -> String),
    /// A few words that must not be wrapped.
    Phrase(fn(&R) -> String),
    Number(fn(&R) -> String),
}

impl<R> Show<R> {
    fn value(&self, row: &R) -> String {
        match self {
            Self::Text(value) | Self::Phrase(value) | Self::Number(value) => value(row),
        }
    }
}

pub(crate) type Columns<R> = Vec<(&'static str, Show<R>)>;

/// Writes the list of a study.
pub(super) fn write<R: FormattedRow>(
    by: Option<&str>,
    rows: &[R],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_by(by, out)?;
    let shown = match style.top {
        0 => rows.len(),
        top => top.min(rows.len()),
    };
    if shown == 0 {
        return writeln!(out, "{}", R::EMPTY);
    }
    write_rows(&rows[..shown], style, out)?;
    if shown < rows.len() {
        let more = thousands((rows.len() - shown) as u64);
        writeln!(
            out,
            "… and {more} more (--top 0 shows all; --format csv, json or parquet contains all)"
        )?;
    }
    Ok(())
}

/// Writes rows as a table, and names the columns that do not fit.
pub(crate) fn write_rows<R: FormattedRow>(
    rows: &[R],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (columns, left_out) = fit(R::columns(rows), rows, style.width.into());
    let mut table = style.table();
    let cell = |text: String, show: &Show<R>| match show {
        Show::Text(_) | Show::Phrase(_) => Cell::new(text),
        Show::Number(_) => Cell::new(text).set_alignment(CellAlignment::Right),
    };
    let heading = |(name, show): &(&str, Show<R>)| {
        cell((*name).to_owned(), show).add_attribute(Attribute::Bold)
    };
    table.set_header(columns.iter().map(heading).collect::<Vec<_>>());
    for row in rows {
        let cells = columns.iter().map(|(_, show)| cell(show.value(row), show));
        table.add_row(cells.collect::<Vec<_>>());
    }
    writeln!(out, "{table}")?;
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        writeln!(
            out,
            "columns left out: {names} (use a wider terminal, or --format csv, json or parquet)"
        )?;
    }
    Ok(())
}

/// Removes optional columns until the rest fits; returns the names of the removed ones.
fn fit<R: FormattedRow>(
    mut columns: Columns<R>,
    rows: &[R],
    width: usize,
) -> (Columns<R>, Vec<&'static str>) {
    let width_of = |(name, show): &(&'static str, Show<R>)| {
        let can_wrap = matches!(show, Show::Text(_));
        let cells: Vec<String> = rows.iter().map(|row| show.value(row)).collect();
        column_width(std::iter::once(*name).chain(cells.iter().map(String::as_str)), can_wrap)
    };
    let mut widths: Vec<usize> = columns.iter().map(width_of).collect();
    let mut left_out = Vec::new();
    for name in R::OPTIONAL {
        // The last column has no margin after it.
        if widths.iter().sum::<usize>() <= width + 1 {
            break;
        }
        if let Some(place) = columns.iter().position(|(heading, _)| heading == name) {
            columns.remove(place);
            widths.remove(place);
            left_out.push(*name);
        }
    }
    (columns, left_out)
}

impl FormattedRow for SuspectVote {
    const EMPTY: &'static str = "no vote is flagged";
    const OPTIONAL: &'static [&'static str] =
        &["entry", "residual", "order", "file", "row", "annotator", "kept", "reason"];

    fn columns(rows: &[Self]) -> Columns<Self> {
        let any = |holds: fn(&Self) -> bool| rows.iter().any(holds);
        let mut columns: Columns<Self> = vec![
            ("order", Show::Number(|row| thousands(row.order))),
            ("left", Show::Text(|row| visible(&row.left))),
            ("right", Show::Text(|row| visible(&row.right))),
            ("outcome", Show::Number(|row| row.outcome.to_string())),
        ];
        if any(|row| row.count != 1) {
            columns.push(("count", Show::Number(|row| thousands(row.count))));
        }
        if any(|row| row.annotator.is_some()) {
            columns.push((
                "annotator",
                Show::Text(|row| visible(row.annotator.as_deref().unwrap_or(""))),
            ));
        }
        if any(|row| row.entry.is_some()) {
            columns.push(("entry", Show::Number(|row| decimals(row.entry))));
        }
        if any(|row| row.probability.is_some()) {
            columns.push(("bad", Show::Number(|row| percent(row.probability))));
        }
        columns.push(("residual", Show::Number(|row| decimals(Some(row.residual)))));
        if any(|row| row.flagged != row.count) {
            columns.push(("flagged", Show::Number(|row| thousands(row.flagged))));
        }
        if any(|row| row.file.is_some()) {
            columns.push(("file", Show::Text(|row| visible(row.file.as_deref().unwrap_or("")))));
        }
        if any(|row| row.row.is_some()) {
            columns.push(("row", Show::Number(|row| row.row.map_or(String::new(), thousands))));
        }
        if any(|row| row.columns.is_some()) {
            columns.push(("kept", Show::Text(kept)));
        }
        if any(|row| row.reason.is_some()) {
            columns.push(("reason", Show::Phrase(|row| row.reason.clone().unwrap_or_default())));
        }
        columns
    }
}

/// The values of the columns to keep.
fn kept(row: &SuspectVote) -> String {
    let text = |(name, value): (&str, &str)| format!("{}={}", visible(name), visible(value));
    row.kept().map(text).collect::<Vec<_>>().join(", ")
}

impl FormattedRow for JudgedAnnotator<String> {
    const EMPTY: &'static str = "no vote has an annotator";
    const OPTIONAL: &'static [&'static str] = &[
        "p (left)",
        "p (agree)",
        "95% interval",
        "expected left",
        "expected",
        "left",
        "votes",
        "agree",
        "sure",
    ];

    fn columns(rows: &[Self]) -> Columns<Self> {
        let mut columns: Columns<Self> = vec![
            ("annotator", Show::Text(|row| visible(&row.annotator))),
            ("verdict", Show::Phrase(|row| row.verdict.clone())),
            ("sure", Show::Number(|row| whole_percent(row.probability))),
            ("votes", Show::Number(|row| thousands(row.votes))),
            ("honest", Show::Number(|row| whole_percent(row.honest))),
            (
                "95% interval",
                Show::Number(|row| match (row.honest_low, row.honest_high) {
                    (Some(low), Some(high)) => {
                        [low, high].map(|end| whole_percent(Some(end))).join("–")
                    }
                    _ => String::new(),
                }),
            ),
            ("agree", Show::Number(|row| whole_percent(row.agreement))),
            ("expected", Show::Number(|row| whole_percent(row.expected_agreement))),
            ("p (agree)", Show::Number(|row| probability(row.agreement_p_adjusted))),
        ];
        if rows.iter().any(|row| row.left_share.is_some()) {
            columns.push(("left", Show::Number(|row| whole_percent(row.left_share))));
            columns.push((
                "expected left",
                Show::Number(|row| whole_percent(row.expected_left_share)),
            ));
            columns.push(("p (left)", Show::Number(|row| probability(row.left_p_adjusted))));
        }
        columns
    }
}

impl FormattedRow for EvidenceVote {
    const EMPTY: &'static str = "the annotator has no votes";
    const OPTIONAL: &'static [&'static str] = &["others: tie", "bad", "expected"];

    fn columns(rows: &[Self]) -> Columns<Self> {
        let mut columns: Columns<Self> = vec![
            ("left", Show::Text(|row| visible(&row.left))),
            ("right", Show::Text(|row| visible(&row.right))),
            ("vote", Show::Text(|row| row.vote.to_owned())),
            ("others: left", Show::Number(|row| thousands(row.others_left))),
            ("others: right", Show::Number(|row| thousands(row.others_right))),
        ];
        if rows.iter().any(|row| row.others_tie > 0) {
            columns.push(("others: tie", Show::Number(|row| thousands(row.others_tie))));
        }
        if rows.iter().any(|row| row.count > 1) {
            columns.insert(3, ("count", Show::Number(|row| thousands(row.count))));
        }
        columns.push(("expected", Show::Number(|row| whole_percent(Some(row.expected_left)))));
        columns.push(("bad", Show::Number(|row| whole_percent(Some(row.bad_probability)))));
        columns
    }
}

fn whole_percent(share: Option<f64>) -> String {
    share.map_or(String::new(), |share| format!("{:.0}%", 100.0 * share))
}

fn decimals(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{value:.4}"))
}

fn percent(share: Option<f64>) -> String {
    share.map_or(String::new(), |share| format!("{:.1}%", 100.0 * share))
}

fn probability(p: Option<f64>) -> String {
    match p {
        None => String::new(),
        Some(p) if p < 1e-4 => format!("{p:.0e}"),
        Some(p) => format!("{p:.4}"),
    }
}
