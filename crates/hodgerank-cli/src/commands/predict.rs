//! Formatted text of `hodgerank predict`.

use std::io;

use hodgerank::predict::{CalibrationBin, Evaluation};
use hodgerank::ranking::with_decimals;
use hodgerank_commands::predict::{
    HoldoutSummary, PairPredictions, PairRow, PredictArgs, PredictDocument, Predicted,
    ProbabilityMatrix, StudyPredictions, predict,
};
use hodgerank_io::write::Outputs;

use crate::failure::RunFailure;
use crate::flags::DocumentCommand;
use crate::output::FormattedText;
use crate::page::Page;
use crate::ranking_table::visible;
use crate::run::Run;
use crate::terminal::thousands;
use crate::text_table::{Column, TextTable};

/// Digits of probabilities and measures after the decimal point.
const DECIMALS: usize = 3;

/// What a narrow terminal leaves out of a list of pairs, in this order.
const OPTIONAL: &[&str] = &["outcome", "interval", "this crowd"];

/// Runs the command, whose figures must not clash with its other output.
///
/// # Errors
/// If the output cannot be opened or written, or the computation fails.
pub(crate) fn run(
    command: &DocumentCommand<PredictArgs>,
    threads: usize,
    run: &Run<'_>,
) -> Result<(), RunFailure> {
    let (votes, args) = (command.files.votes(), &command.args);
    let mut outputs = Outputs::new(&PredictDocument::inputs(&votes, args));
    let output = command.output.open(&mut outputs)?;
    let neighbours = output.format.is_page();
    run.record_files(output.names_files());
    let document = predict(&votes, args, neighbours, &mut outputs, threads, run)?;
    output.write(&document, &run.provenance::<PredictArgs>())
}

impl FormattedText for PredictDocument {
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.studies.iter().try_for_each(|study| {
            page.by(study.by.as_deref())?;
            match &study.result {
                Predicted::Pairs { predictions } => write_pairs(predictions, page),
                Predicted::Matrix { matrix } => write_matrix(matrix, page),
                Predicted::Holdout { holdout } => write_holdout(study, holdout, page),
            }
        })
    }
}

/// A number, or nothing.
fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| with_decimals(value, DECIMALS))
}

fn write_pairs(pairs: &PairPredictions, page: &mut Page<'_>) -> io::Result<()> {
    let total = pairs.rows().len();
    let rows: Vec<PairRow<'_>> = pairs.rows().take(page.shown(total)).collect();
    let mut columns = vec![
        Column::labels("left", &rows, |row| visible(row.left)),
        Column::labels("right", &rows, |row| visible(row.right)),
        Column::numbers("probability", &rows, |row| number(row.probability)),
    ];
    if rows.iter().any(|row| row.crowd_probability.is_some()) {
        columns.push(Column::numbers("this crowd", &rows, |row| number(row.crowd_probability)));
    }
    if rows.iter().any(|row| row.low.is_some()) {
        columns.push(Column::numbers("interval", &rows, |row| match (row.low, row.high) {
            (Some(low), Some(high)) => format!("{low:.DECIMALS$} to {high:.DECIMALS$}"),
            _ => String::new(),
        }));
    }
    if rows.iter().any(|row| row.expected_outcome.is_some()) {
        columns.push(Column::numbers("outcome", &rows, |row| number(row.expected_outcome)));
    }
    page.table(&TextTable::new(columns).leaving_out(OPTIONAL))?;
    page.more(total, "pairs")?;
    match pairs.are_neighbours {
        true => {
            page.hint(
                "probability: of a careful annotator; this crowd: of one of those who voted",
            )?;
            page.hint("neighbours in the ranking; --format csv, json or parquet contains all pairs")
        }
        false => Ok(()),
    }
}

/// Items of the columns are numbered, because labels would make them wide.
fn write_matrix(matrix: &ProbabilityMatrix, page: &mut Page<'_>) -> io::Result<()> {
    let total = matrix.items.len();
    let rows: Vec<usize> = (0..page.shown(total)).collect();
    let mut columns = vec![Column::labels("item", &rows, |k| {
        format!("{}. {}", k + 1, visible(&matrix.items[*k]))
    })];
    columns.extend(rows.iter().map(|&column| {
        let cell = |row: &usize| number(matrix.probabilities[*row][column]);
        Column::numbers((column + 1).to_string(), &rows, cell)
    }));
    page.blocks(&TextTable::new(columns))?;
    page.more(total, "items")?;
    page.paragraph("probability that the item of the row is preferred to that of the column")
}

fn write_holdout(
    study: &StudyPredictions,
    holdout: &HoldoutSummary,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let found = &holdout.evaluation;
    let measures = |of: &Evaluation| {
        let mut cells = vec![thousands(of.votes)];
        cells.extend([of.log_loss, of.brier_score, of.accuracy].map(number));
        cells
    };
    let baseline = &holdout.baseline;
    let baseline = [baseline.log_loss, baseline.brier_score, baseline.accuracy];
    let baseline = std::iter::once(String::new()).chain(baseline.map(|value| number(Some(value))));
    let names = ["votes", "log loss", "Brier score", "accuracy"];
    let column =
        |heading: &'static str, cells: &[String]| Column::numbers(heading, cells, String::clone);
    let mut columns = vec![
        Column::phrases("measure", &names, |name| (*name).to_owned()),
        column(study.method.name, &measures(&found.all)),
    ];
    if let Some(careful) = &found.careful {
        columns.push(column("careful", &measures(careful)));
    }
    columns.push(column("always 1/2", &baseline.collect::<Vec<_>>()));
    page.table(&TextTable::new(columns))?;
    page.gap()?;
    page.table(&calibration(&found.all.calibration))?;
    page.paragraph(&format!(
        "{} of {} votes were held out at random (seed {})",
        thousands(found.held_out_votes),
        thousands(found.held_out_votes + found.training_votes),
        holdout.seed
    ))?;
    if found.ties > 0 {
        page.paragraph(&format!("ties held out, not evaluated: {}", thousands(found.ties)))?;
    }
    if found.unconnected > 0 {
        page.paragraph(&format!(
            "votes held out on items that the other votes do not connect, not evaluated: {}",
            thousands(found.unconnected)
        ))?;
    }
    match found.careful {
        Some(_) => page.paragraph("careful: votes by annotators who are judged careful"),
        None => Ok(()),
    }
}

/// The calibration table, without empty bins.
fn calibration(bins: &[CalibrationBin]) -> TextTable {
    let bins: Vec<&CalibrationBin> = bins.iter().filter(|bin| bin.votes > 0).collect();
    TextTable::new(vec![
        Column::phrases("predicted", &bins, |bin| format!("{:.1} to {:.1}", bin.from, bin.to)),
        Column::numbers("votes", &bins, |bin| thousands(bin.votes)),
        Column::numbers("mean", &bins, |bin| number(bin.mean_prediction)),
        Column::numbers("preferred left", &bins, |bin| number(bin.preferred_left)),
    ])
}
