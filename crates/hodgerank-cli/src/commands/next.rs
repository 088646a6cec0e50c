//! Formatted text of `hodgerank next`.

use std::io;

use clap::Args;
use hodgerank::ranking::with_decimals;
use hodgerank_commands::VoteSource;
use hodgerank_commands::next::{NextArgs, NextDocument, PairToAsk, next};
use hodgerank_io::write::Outputs;

use crate::failure::RunFailure;
use crate::output::{FormattedText, OutputOptions};
use crate::page::Page;
use crate::ranking_table::visible;
use crate::run::Run;
use crate::text_table::{Column, TextTable};

/// What a narrow terminal leaves out, in this order.
const OPTIONAL: &[&str] = &["gain", "probability", "order"];

/// Arguments of `next`, which can do without votes.
#[derive(Debug, Args)]
pub(crate) struct NextCommand {
    /// Files of votes, or folders; none before the first vote
    #[arg(
        required_unless_present = "items",
        value_name = "FILE",
        help_heading = "Input",
        display_order = 0
    )]
    files: Vec<String>,
    #[command(flatten)]
    args: NextArgs,
    #[command(flatten)]
    output: OutputOptions,
}

/// Runs the command.
///
/// # Errors
/// If the output cannot be opened or written, or the computation fails.
pub(crate) fn run(command: &NextCommand, threads: usize, run: &Run<'_>) -> Result<(), RunFailure> {
    let votes = (!command.files.is_empty()).then(|| VoteSource::from_names(&command.files));
    let inputs = NextDocument::inputs(votes.as_ref(), &command.args);
    let output = command.output.open(&mut Outputs::new(&inputs))?;
    run.record_files(output.names_files());
    let document = next(votes.as_ref(), &command.args, threads, run)?;
    output.write(&document, &run.provenance::<NextArgs>())
}

impl FormattedText for NextDocument {
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.studies.iter().try_for_each(|study| {
            page.by(study.by.as_deref())?;
            let total = study.pairs.rows().len();
            let rows: Vec<PairToAsk<'_>> = study.pairs.rows().take(page.shown(total)).collect();
            let mut columns = vec![
                Column::numbers("order", &rows, |row| row.order.to_string()),
                Column::labels("left", &rows, |row| visible(row.left)),
                Column::labels("right", &rows, |row| visible(row.right)),
            ];
            if study.pairs.has_annotators() {
                let name = |row: &PairToAsk<'_>| row.annotator.map_or(String::new(), visible);
                columns.push(Column::labels("annotator", &rows, name));
            }
            columns.push(Column::numbers("probability", &rows, |row| {
                with_decimals(row.probability, 3)
            }));
            columns.push(Column::numbers("gain", &rows, |row| with_decimals(row.gain, 3)));
            page.table(&TextTable::new(columns).leaving_out(OPTIONAL))?;
            page.more(total, "pairs")?;
            page.paragraph(
                "gain: expected information of a vote in bits, once the pairs above have been asked. \
                 probability: that a careful annotator prefers the left item.",
            )
        })
    }
}
