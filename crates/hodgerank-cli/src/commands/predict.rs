//! Formatted text of `hodgerank predict`.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Table};
use hodgerank::predict::{CalibrationBin, Evaluation};
use hodgerank::ranking::with_decimals;
use hodgerank_commands::predict::{
    HoldoutSummary, PairPredictions, PairRow, PredictArgs, PredictDocument, Predicted,
    ProbabilityMatrix, StudyPredictions, predict,
};
use hodgerank_io::write::Outputs;

use super::compare::blocks;
use crate::failure::RunFailure;
use crate::flags::DocumentCommand;
use crate::output::{FormattedText, OutputFormat, Style};
use crate::ranking_table::{visible, write_by};
use crate::terminal::{Terminal, thousands};

/// Digits of probabilities and measures after the decimal point.
const DECIMALS: usize = 3;

/// Narrower tables have no intervals.
const MIN_WIDTH_FOR_INTERVALS: u16 = 60;

/// Runs the command, whose figures must not clash with its other output.
///
/// # Errors
/// If the output cannot be opened or written, or the computation fails.
pub(crate) fn run(
    command: &DocumentCommand<PredictArgs>,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), RunFailure> {
    let (votes, args) = (command.files.votes(), &command.args);
    let mut outputs = Outputs::new(&PredictDocument::inputs(&votes, args));
    let output = command.output.open(&mut outputs)?;
    let neighbours = output.format == OutputFormat::Table;
    let document = predict(&votes, args, neighbours, &mut outputs, threads, terminal)?;
    output.write(&document)
}

impl FormattedText for PredictDocument {
    fn write_text(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        self.studies.iter().try_for_each(|study| {
            write_by(study.by.as_deref(), out)?;
            match &study.result {
                Predicted::Pairs { predictions } => write_pairs(predictions, style, out),
                Predicted::Matrix { matrix } => write_matrix(matrix, style, out),
                Predicted::Holdout { holdout } => write_holdout(study, holdout, style, out),
            }
        })
    }
}

/// A column of a table: heading and cells, numbers to the right.
type TextColumn = (&'static str, Vec<String>, CellAlignment);

fn table_of(columns: &[TextColumn], style: Style) -> Table {
    let mut table = style.table();
    let head = |(heading, _, alignment): &TextColumn| Cell::new(heading).set_alignment(*alignment);
    table.set_header(columns.iter().map(head).collect::<Vec<_>>());
    let rows = columns.first().map_or(0, |(_, cells, _)| cells.len());
    for row in 0..rows {
        let cell =
            |(_, cells, alignment): &TextColumn| Cell::new(&cells[row]).set_alignment(*alignment);
        table.add_row(columns.iter().map(cell).collect::<Vec<_>>());
    }
    table
}

/// A number, or nothing.
fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| with_decimals(value, DECIMALS))
}

fn write_pairs(pairs: &PairPredictions, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let max_rows = if style.top > 0 { style.top } else { usize::MAX };
    let total = pairs.rows().len();
    let rows: Vec<PairRow<'_>> = pairs.rows().take(max_rows).collect();
    let text = |value: fn(&PairRow<'_>) -> String| rows.iter().map(value).collect::<Vec<_>>();
    let mut columns: Vec<TextColumn> = vec![
        ("left", text(|row| visible(row.left)), CellAlignment::Left),
        ("right", text(|row| visible(row.right)), CellAlignment::Left),
        ("probability", text(|row| number(row.probability)), CellAlignment::Right),
    ];
    if rows.iter().any(|row| row.low.is_some()) && style.width >= MIN_WIDTH_FOR_INTERVALS {
        let interval = |row: &PairRow<'_>| match (row.low, row.high) {
            (Some(low), Some(high)) => format!("{low:.DECIMALS$} to {high:.DECIMALS$}"),
            _ => String::new(),
        };
        columns.push(("interval", text(interval), CellAlignment::Right));
    }
    if rows.iter().any(|row| row.expected_outcome.is_some()) {
        let outcome = text(|row| number(row.expected_outcome));
        columns.push(("outcome", outcome, CellAlignment::Right));
    }
    writeln!(out, "{}", table_of(&columns, style))?;
    if rows.len() < total {
        let more = thousands((total - rows.len()) as u64);
        writeln!(out, "… and {more} more pairs (--top 0 shows all; --format csv contains all)")?;
    }
    if pairs.are_neighbours {
        writeln!(
            out,
            "neighbours in the ranking; --format csv, json or parquet contains all pairs"
        )?;
    }
    Ok(())
}

/// Items of the columns are numbered, because labels would make them wide.
fn write_matrix(matrix: &ProbabilityMatrix, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let total = matrix.items.len();
    let shown = if style.top > 0 { style.top.min(total) } else { total };
    let mut names = vec!["item".to_owned()];
    names.extend((0..shown).map(|k| format!("{}. {}", k + 1, visible(&matrix.items[k]))));
    let column = |k: usize| {
        let cells = matrix.probabilities[..shown].iter().map(|row| number(row[k]));
        std::iter::once((k + 1).to_string()).chain(cells).collect::<Vec<String>>()
    };
    let columns: Vec<Vec<String>> = (0..shown).map(column).collect();
    for block in blocks(&names, &columns, usize::from(style.width)) {
        let mut table = style.table();
        let row = |r: usize| {
            let cells = block
                .iter()
                .map(move |cells| Cell::new(&cells[r]).set_alignment(CellAlignment::Right));
            std::iter::once(Cell::new(&names[r])).chain(cells).collect::<Vec<_>>()
        };
        table.set_header(row(0));
        (1..names.len()).for_each(|r| {
            table.add_row(row(r));
        });
        writeln!(out, "{table}")?;
    }
    if shown < total {
        let more = thousands((total - shown) as u64);
        writeln!(out, "… and {more} more items (--top 0 shows all; --format csv contains all)")?;
    }
    writeln!(out, "probability that the item of the row is preferred to that of the column")
}

fn write_holdout(
    study: &StudyPredictions,
    holdout: &HoldoutSummary,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let found = &holdout.evaluation;
    let measures = |of: &Evaluation| {
        let mut cells = vec![thousands(of.votes)];
        cells.extend([of.log_loss, of.brier_score, of.accuracy].map(number));
        cells
    };
    let baseline =
        [holdout.baseline.log_loss, holdout.baseline.brier_score, holdout.baseline.accuracy];
    let baseline = std::iter::once(String::new()).chain(baseline.map(|value| number(Some(value))));
    let names = ["votes", "log loss", "Brier score", "accuracy"].map(str::to_owned).to_vec();
    let mut columns: Vec<TextColumn> = vec![
        ("measure", names, CellAlignment::Left),
        (study.method.name, measures(&found.all), CellAlignment::Right),
    ];
    if let Some(careful) = &found.careful {
        columns.push(("careful", measures(careful), CellAlignment::Right));
    }
    columns.push(("always 1/2", baseline.collect(), CellAlignment::Right));
    writeln!(out, "{}\n", table_of(&columns, style))?;
    writeln!(out, "{}", table_of(&calibration(&found.all.calibration), style))?;
    let notes = [
        format!(
            "{} of {} votes were held out at random (seed {})",
            thousands(found.held_out_votes),
            thousands(found.held_out_votes + found.training_votes),
            holdout.seed
        ),
        match found.ties {
            0 => String::new(),
            ties => format!("ties held out, not evaluated: {}", thousands(ties)),
        },
        match found.unconnected {
            0 => String::new(),
            votes => format!(
                "votes held out on items that the other votes do not connect, not evaluated: {}",
                thousands(votes)
            ),
        },
        match found.careful {
            None => String::new(),
            Some(_) => "careful: votes by annotators who are judged careful".to_owned(),
        },
    ];
    let width = usize::from(style.width).max(20);
    let notes = notes.iter().filter(|note| !note.is_empty());
    notes.map(|note| textwrap::fill(note, width)).try_for_each(|note| writeln!(out, "{note}"))
}

/// The calibration table, without empty bins.
fn calibration(bins: &[CalibrationBin]) -> Vec<TextColumn> {
    let bins = || bins.iter().filter(|bin| bin.votes > 0);
    let text = |value: fn(&CalibrationBin) -> String| bins().map(value).collect::<Vec<_>>();
    vec![
        ("predicted", text(|bin| format!("{:.1} to {:.1}", bin.from, bin.to)), CellAlignment::Left),
        ("votes", text(|bin| thousands(bin.votes)), CellAlignment::Right),
        ("mean", text(|bin| number(bin.mean_prediction)), CellAlignment::Right),
        ("preferred left", text(|bin| number(bin.preferred_left)), CellAlignment::Right),
    ]
}
