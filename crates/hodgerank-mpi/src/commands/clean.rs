//! `hodgerank-mpi clean`: each process writes the rows that it read, without the flagged votes.

use clap::Args;
use hodgerank::FitOptions;
use hodgerank_cli::{Files, RunFailure};
use hodgerank_commands::clean::{announce, write};
use hodgerank_commands::{InputOptions, LabelOptions};
use hodgerank_io::read::TableHead;
use hodgerank_io::write::{CleanOutputs, Cleaned, Outputs};

use super::method::fit_options;
use crate::checkpoint::{CheckpointOptions, Fingerprint};
use crate::comm::{CollectiveError, Exchange as _, World};
use crate::output::{PartFolder, check_folder, publish};
use crate::passes::Job;
use crate::session::Session;

/// Arguments of `clean`.
#[derive(Debug, Args)]
pub struct MpiCleanArgs {
    /// What to read.
    #[command(flatten)]
    files: Files,
    /// How to read.
    #[command(flatten)]
    input: InputOptions,
    /// How to rank.
    #[command(flatten)]
    method: FitOptions,
    /// Folder for the trusted votes: part-00000 and so on, one for each process that read
    /// something, in the input's format and compression; it appears complete or not at all
    #[arg(long, short, value_name = "DIR", help_heading = "Output")]
    output: String,
    /// Folder for the flagged votes, with the number of each row and the reason
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    flagged: Option<String>,
    /// How labels are written.
    #[command(flatten)]
    labels: LabelOptions,
    /// Checkpoints.
    #[command(flatten)]
    checkpoint: CheckpointOptions,
}

/// Writes trusted votes to one folder of parts and flagged ones to another. Collective.
pub(super) fn run(
    session: &Session,
    args: &MpiCleanArgs,
    fingerprint: Fingerprint,
) -> Result<(), CollectiveError> {
    let MpiCleanArgs { files, input, output, flagged, checkpoint, .. } = args;
    let Session { world, terminal, .. } = session;
    let votes = files.votes();
    let (fit, mut outputs) = world.all_ok(args.check(&input.files(&votes)))?;
    let kept = world.all_ok(PartFolder::create(world, output))?;
    let flagged = match flagged {
        Some(path) => Some(world.all_ok(PartFolder::create(world, path))?),
        None => None,
    };
    let job = Job {
        files: votes.files(),
        input,
        fit: &fit,
        checkpoint,
        fingerprint,
        has_second_pass: true,
    };
    let same_schema = |tables: &[TableHead]| {
        // The second check is collective, so that it must run even if the first one fails.
        let here = args.check_tables(tables);
        let everywhere = check_same_schema(world, tables);
        here?;
        everywhere
    };
    let mut first = session.first_pass(job, same_schema, |_| Ok(()))?;
    let second = first.second_pass(session)?;
    let mut write_parts = || -> Result<Cleaned, RunFailure> {
        let Some(table) = second.tables.first() else { return Ok(Cleaned::default()) };
        let extension = extension(table);
        let mut part = |flag, folder: &PartFolder| {
            folder.claim_part(flag, world.rank(), &extension, &mut outputs)?.open()
        };
        let kept = part("--output", &kept)?;
        let flagged = flagged.as_ref().map(|folder| part("--flagged", folder)).transpose()?;
        let (with_file, labels) = (votes.files().len() > 1, args.labels.style());
        let outputs = CleanOutputs { kept, flagged, with_reasons: true, with_file, labels };
        Ok(write(&second, outputs, &**terminal)?)
    };
    let cleaned = world.all_ok(write_parts())?;
    let has_flagged = flagged.is_some();
    world.all_ok(publish([Some(kept), flagged].into_iter().flatten()))?;
    announce(&sum_over_processes(world, cleaned), has_flagged, &**terminal);
    first.finish();
    Ok(())
}

impl MpiCleanArgs {
    /// Makes all checks that need no votes.
    fn check(&self, files: &[String]) -> Result<(FitOptions, Outputs), RunFailure> {
        let fit = fit_options(&self.method)?;
        let mut folders = vec![("--output", self.output.as_str())];
        folders.extend(self.flagged.as_deref().map(|flagged| ("--flagged", flagged)));
        let mut outputs = Outputs::new(files);
        for (flag, path) in folders {
            outputs.claim_folder(flag, path)?;
            check_folder(flag, path)?;
        }
        self.checkpoint.claim(&mut outputs)?;
        Ok((fit, outputs))
    }

    /// Checks the files of this process.
    fn check_tables(&self, tables: &[TableHead]) -> Result<(), RunFailure> {
        TableHead::check_alike(tables)?;
        Ok(self.labels.check_format(tables.first().map(|table| table.format))?)
    }
}

/// Checks that the files of all processes have the same format and columns. Those of each process
/// have.
fn check_same_schema(world: &World, tables: &[TableHead]) -> Result<(), RunFailure> {
    let first = tables.first().map(|table| (table.file.to_string(), table.schema_key()));
    let schemas: Vec<(String, String)> = world.all_gather(&first).into_iter().flatten().collect();
    let different = schemas.iter().find(|(_, schema)| *schema != schemas[0].1);
    different.map_or(Ok(()), |(file, _)| {
        let first = &schemas[0].0;
        Err(RunFailure::usage(
            format!("{first} and {file} cannot be cleaned in one run: format or columns differ"),
            "convert the files to the same format and columns, or clean each on its own",
        ))
    })
}

/// Returns the extension of the input: its format and, if the name shows it, its compression.
fn extension(table: &TableHead) -> String {
    let name = table.file.to_ascii_lowercase();
    let compression = [".gz", ".zst"].into_iter().find(|extension| name.ends_with(extension));
    format!("{}{}", table.format.extension(), compression.unwrap_or(""))
}

fn sum_over_processes(world: &World, local: Cleaned) -> Cleaned {
    let Cleaned { kept_rows, flagged_rows, flagged_votes, excluded_rows, mut second_pass } = local;
    let mut counts = [kept_rows, flagged_rows, flagged_votes, excluded_rows, second_pass.rejected];
    world.sum_counts(&mut counts);
    let mut kept_whole = [second_pass.kept_whole];
    world.sum(&mut kept_whole);
    let [kept_rows, flagged_rows, flagged_votes, excluded_rows, rejected] = counts;
    (second_pass.rejected, second_pass.kept_whole) = (rejected, kept_whole[0]);
    Cleaned { kept_rows, flagged_rows, flagged_votes, excluded_rows, second_pass }
}
