//! `hodgerank-mpi outliers`: each process writes a part of the list, in one order of suspicion.
//!
//! A part of rows has the rows that the process read; a part of distinct votes (`--per-group`) has
//! those that it owns. `order` is the position among all rows, so that parts are combined by
//! sorting by it.

mod table;

use clap::Args;
use hodgerank_cli::{Files, OutputFormat, OutputOptions, RunFailure};
use hodgerank_commands::listing::{Listing, Listings, SuspectVote};
use hodgerank_commands::outliers::{self, OutliersArgs, OutliersDocument};
use hodgerank_commands::{LabelOptions, UncountedRows};
use hodgerank_io::read::{KeptColumns, TableHead};
use hodgerank_io::write::Outputs;

use super::method::fit_options;
use crate::checkpoint::{CheckpointOptions, Fingerprint};
use crate::comm::CollectiveError;
use crate::output::{GlobalOrder, PartFolder, check_folder, number_rows, publish};
use crate::passes::Job;
use crate::session::Session;

/// Arguments of `outliers`.
#[derive(Debug, Args)]
pub struct MpiOutliersArgs {
    /// What to read.
    #[command(flatten)]
    files: Files,
    /// What to list.
    #[command(flatten)]
    options: OutliersArgs,
    /// What to write.
    #[command(flatten)]
    output: PartOptions,
    /// Checkpoints.
    #[command(flatten)]
    checkpoint: CheckpointOptions,
}

/// Where lists are written, and in which format.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct PartOptions {
    /// Format of the parts [default: csv; without --output a table]
    #[arg(long, value_enum)]
    format: Option<OutputFormat>,
    /// Folder for the lists: part-00000 and so on, one for each process that read something; it
    /// appears complete or not at all [default: a table on standard output]
    #[arg(long, short, value_name = "DIR")]
    output: Option<String>,
    /// Rows shown in a table, 0 for all; parts always have all
    #[arg(long, value_name = "N", default_value_t = 1000)]
    top: usize,
    /// How labels are written.
    #[command(flatten)]
    labels: LabelOptions,
}

/// Lists votes. Collective.
pub(super) fn run(
    session: &Session,
    args: &MpiOutliersArgs,
    fingerprint: Fingerprint,
) -> Result<(), CollectiveError> {
    let MpiOutliersArgs { files, options, checkpoint, .. } = args;
    let votes = files.votes();
    let fit = session.world.all_ok(fit_options(&options.method))?;
    let job = Job {
        files: votes.files(),
        input: &options.input,
        fit: &fit,
        checkpoint,
        fingerprint,
        has_second_pass: !options.per_group,
    };
    let mut outputs = Outputs::new(&options.input.files(&votes));
    let format = session.world.all_ok(args.output.check(&job, &mut outputs))?;
    list_votes(session, args, job, format, outputs)
}

fn list_votes(
    session: &Session,
    MpiOutliersArgs { options, output, .. }: &MpiOutliersArgs,
    job: Job<'_>,
    format: OutputFormat,
    mut outputs: Outputs,
) -> Result<(), CollectiveError> {
    let world = &session.world;
    let input_files = job.files.to_vec();
    let folder = match &output.output {
        Some(path) => Some(world.all_ok(PartFolder::create(world, path))?),
        None => None,
    };
    let check_columns =
        |tables: &[TableHead]| Ok(KeptColumns::new(tables, &options.keep).map(drop)?);
    let mut first = session.first_pass(job, check_columns, |_| Ok(()))?;
    let uncounted = UncountedRows::new(&first.rejected, first.excluded.as_ref())
        .with_passed_over(first.passed_over);
    let has_part = options.per_group || !first.tables.is_empty();
    let (mut lists, studies): (Vec<Listing<SuspectVote>>, _) = if options.per_group {
        let list = |study| outliers::distinct_votes(study, options.all);
        (first.studies.iter().map(list).collect(), std::mem::take(&mut first.studies))
    } else {
        let second = first.second_pass(session)?;
        let rows = outliers::votes(&second, options.all, &options.keep, &*session.terminal);
        (world.all_ok(rows)?, second.studies)
    };
    let orders: Vec<GlobalOrder<'_>> = studies.iter().map(GlobalOrder::of).collect();
    number_rows(&**world, &mut lists, &orders);
    match folder {
        None => {
            let document = OutliersDocument {
                votes: Listings { lists, uncounted },
                keep: options.keep.clone(),
            };
            table::print(world, document, output.top, outputs)?;
        }
        Some(folder) => {
            let part = OutputOptions {
                format: Some(format),
                labels: output.labels,
                ..OutputOptions::default()
            };
            let votes = Listings { lists, uncounted };
            let document = OutliersDocument { votes, keep: options.keep.clone() };
            let mut write = || -> Result<(), RunFailure> {
                let (rank, extension) = (world.rank(), extension(format));
                let file = folder.claim_part("--output", rank, extension, &mut outputs)?;
                let provenance = session.provenance::<OutliersArgs>(&input_files);
                part.to_output(file.open()?)?.write(&document, &provenance)
            };
            world.all_ok(if has_part { write() } else { Ok(()) })?;
            world.all_ok(publish([folder]))?;
        }
    }
    first.finish();
    Ok(())
}

impl PartOptions {
    /// Returns the format of parts, or of the table if there are none.
    fn check(&self, job: &Job<'_>, outputs: &mut Outputs) -> Result<OutputFormat, RunFailure> {
        if let Some(path) = &self.output {
            outputs.claim_folder("--output", path)?;
        }
        job.checkpoint.claim(outputs)?;
        let format = self.check_format()?;
        self.labels.refuse_unless(format == OutputFormat::Csv, extension(format))?;
        Ok(format)
    }

    fn check_format(&self) -> Result<OutputFormat, RunFailure> {
        match (&self.output, self.format) {
            (None, None | Some(OutputFormat::Table)) => Ok(OutputFormat::Table),
            (None, Some(_)) => Err(RunFailure::usage(
                "lists in this format are written to a folder, one file by each process",
                "add --output DIR, or leave out --format for a table",
            )),
            (Some(_), Some(OutputFormat::Table | OutputFormat::Markdown | OutputFormat::Latex)) => {
                Err(RunFailure::usage(
                    "tables are written to standard output only",
                    "leave out --output, or use --format csv, json or parquet",
                ))
            }
            (Some(path), format) => {
                check_folder("--output", path)?;
                Ok(format.unwrap_or(OutputFormat::Csv))
            }
        }
    }
}

fn extension(format: OutputFormat) -> &'static str {
    match format {
        OutputFormat::Csv => "csv",
        OutputFormat::Json => "json",
        OutputFormat::Parquet => "parquet",
        OutputFormat::Table => "txt",
        OutputFormat::Markdown => "md",
        OutputFormat::Latex => "tex",
    }
}
