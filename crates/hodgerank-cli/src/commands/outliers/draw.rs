//! Lists of votes and annotators as tables.

use std::io;

use hodgerank_commands::annotators::{AnnotatorRow, EvidenceVote};
use hodgerank_commands::listing::SuspectVote;
use hodgerank_commands::position_bias::BiasColumns;

use crate::page::Page;
use crate::ranking_table::visible;
use crate::terminal::thousands;
use crate::text_table::{Column, TextTable};

/// A row of a list.
pub(crate) trait FormattedRow: Sized {
    /// The text for an empty list.
    const EMPTY: &'static str;

    /// What a narrow terminal leaves out, in this order.
    const OPTIONAL: &'static [&'static str];

    /// The columns for these rows.
    fn columns(rows: &[Self]) -> Vec<Column>;
}

/// Writes the list of a study.
pub(super) fn write<R: FormattedRow>(
    by: Option<&str>,
    rows: &[R],
    page: &mut Page<'_>,
) -> io::Result<()> {
    page.by(by)?;
    let shown = &rows[..page.shown(rows.len())];
    if shown.is_empty() {
        return page.paragraph(R::EMPTY);
    }
    page.table(&TextTable::new(R::columns(shown)).leaving_out(R::OPTIONAL))?;
    page.more(rows.len(), "rows")
}

impl FormattedRow for SuspectVote {
    const EMPTY: &'static str = "no vote is flagged";
    const OPTIONAL: &'static [&'static str] =
        &["entry", "residual", "order", "file", "row", "annotator", "kept", "reason"];

    fn columns(rows: &[Self]) -> Vec<Column> {
        let any = |holds: fn(&Self) -> bool| rows.iter().any(holds);
        let mut columns = vec![
            Column::numbers("order", rows, |row| thousands(row.order)),
            Column::labels("left", rows, |row| visible(&row.left)),
            Column::labels("right", rows, |row| visible(&row.right)),
            Column::numbers("outcome", rows, |row| row.outcome.to_string()),
        ];
        if any(|row| row.count != 1) {
            columns.push(Column::numbers("count", rows, |row| thousands(row.count)));
        }
        if any(|row| row.annotator.is_some()) {
            columns.push(Column::labels("annotator", rows, |row| {
                visible(row.annotator.as_deref().unwrap_or(""))
            }));
        }
        if any(|row| row.entry.is_some()) {
            columns.push(Column::numbers("entry", rows, |row| decimals(row.entry)));
        }
        if any(|row| row.probability.is_some()) {
            columns.push(Column::numbers("bad", rows, |row| percent(row.probability)));
        }
        columns.push(Column::numbers("residual", rows, |row| decimals(Some(row.residual))));
        if any(|row| row.flagged != row.count) {
            columns.push(Column::numbers("flagged", rows, |row| thousands(row.flagged)));
        }
        if any(|row| row.file.is_some()) {
            columns.push(Column::labels("file", rows, |row| {
                visible(row.file.as_deref().unwrap_or(""))
            }));
        }
        if any(|row| row.row.is_some()) {
            columns
                .push(Column::numbers("row", rows, |row| row.row.map_or(String::new(), thousands)));
        }
        if any(|row| row.columns.is_some()) {
            columns.push(Column::labels("kept", rows, kept));
        }
        if any(|row| row.reason.is_some()) {
            columns.push(Column::phrases("reason", rows, |row| {
                row.reason.clone().unwrap_or_default()
            }));
        }
        columns
    }
}

/// The values of the columns to keep.
fn kept(row: &SuspectVote) -> String {
    let text = |(name, value): (&str, &str)| format!("{}={}", visible(name), visible(value));
    row.kept().map(text).collect::<Vec<_>>().join(", ")
}

impl FormattedRow for AnnotatorRow {
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

    fn columns(rows: &[Self]) -> Vec<Column> {
        let mut columns = vec![
            Column::labels("annotator", rows, |row| visible(&row.judged.annotator)),
            Column::phrases("verdict", rows, |row| row.judged.verdict.clone()),
            Column::numbers("sure", rows, |row| whole_percent(row.judged.probability)),
            Column::numbers("votes", rows, |row| thousands(row.judged.votes)),
            Column::numbers("honest", rows, |row| whole_percent(row.judged.honest)),
            Column::numbers("95% interval", rows, |row| {
                match (row.judged.honest_low, row.judged.honest_high) {
                    (Some(low), Some(high)) => {
                        [low, high].map(|end| whole_percent(Some(end))).join("–")
                    }
                    _ => String::new(),
                }
            }),
            Column::numbers("agree", rows, |row| whole_percent(row.judged.agreement)),
            Column::numbers("expected", rows, |row| whole_percent(row.judged.expected_agreement)),
            Column::numbers("p (agree)", rows, |row| probability(row.judged.agreement_p_adjusted)),
        ];
        if rows.iter().any(|row| row.bias.is_some()) {
            let bias = [
                Column::numbers("order", rows, |row| {
                    row.bias.map_or(String::new(), order_of_entry)
                }),
                Column::numbers("bias", rows, |row| {
                    row.bias.map_or(String::new(), bias_with_error)
                }),
                Column::phrases("selected", rows, |row| {
                    row.bias.map_or(String::new(), is_selected)
                }),
            ];
            columns.splice(1..1, bias);
        }
        if rows.iter().any(|row| row.judged.left_share.is_some()) {
            columns.push(Column::numbers("left", rows, |row| whole_percent(row.judged.left_share)));
            columns.push(Column::numbers("expected left", rows, |row| {
                whole_percent(row.judged.expected_left_share)
            }));
            columns.push(Column::numbers("p (left)", rows, |row| {
                probability(row.judged.left_p_adjusted)
            }));
        }
        columns
    }
}

impl FormattedRow for EvidenceVote {
    const EMPTY: &'static str = "the annotator has no votes";
    const OPTIONAL: &'static [&'static str] = &["others: tie", "bad", "expected"];

    fn columns(rows: &[Self]) -> Vec<Column> {
        let mut columns = vec![
            Column::labels("left", rows, |row| visible(&row.left)),
            Column::labels("right", rows, |row| visible(&row.right)),
            Column::phrases("vote", rows, |row| row.vote.to_owned()),
            Column::numbers("others: left", rows, |row| thousands(row.others_left)),
            Column::numbers("others: right", rows, |row| thousands(row.others_right)),
        ];
        if rows.iter().any(|row| row.others_tie > 0) {
            columns.push(Column::numbers("others: tie", rows, |row| thousands(row.others_tie)));
        }
        if rows.iter().any(|row| row.count > 1) {
            columns.insert(3, Column::numbers("count", rows, |row| thousands(row.count)));
        }
        columns
            .push(Column::numbers("expected", rows, |row| whole_percent(Some(row.expected_left))));
        columns.push(Column::numbers("bad", rows, |row| whole_percent(Some(row.bad_probability))));
        columns
    }
}

fn order_of_entry(bias: BiasColumns) -> String {
    bias.position_bias_order.map_or(String::new(), |order| thousands(u64::from(order)))
}

/// The bias to the left and its standard error.
fn bias_with_error(bias: BiasColumns) -> String {
    match (bias.position_bias, bias.position_bias_se) {
        (Some(bias), Some(se)) => format!("{bias:+.2} ± {se:.2}"),
        (Some(bias), None) => format!("{bias:+.2}"),
        (None, _) => String::new(),
    }
}

fn is_selected(bias: BiasColumns) -> String {
    if bias.selected { "yes" } else { "" }.to_owned()
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
