//! `hodgerank-mpi clean`: each rank writes what it read, without the flagged votes.

use clap::Args;
use hodgerank::FitOptions;
use hodgerank_cli::{Failure, Files};
use hodgerank_commands::clean::{announce, write};
use hodgerank_commands::{InputOptions, MethodOptions, places};
use hodgerank_io::read::TableHead;
use hodgerank_io::write::{Cleaned, Output};

use crate::agree::{Failed, agree};
use crate::fingerprint::Fingerprint;
use crate::flags::CheckpointOptions;
use crate::look::Job;
use crate::parts::{self, PartFolder};
use crate::rank::fit_options;
use crate::session::Session;
use crate::text::{from_bytes, to_bytes};
use crate::world::World;

/// Flags of `clean`.
#[derive(Debug, Args)]
pub struct CleanArguments {
    /// What to read.
    #[command(flatten)]
    files: Files,
    /// How to read.
    #[command(flatten)]
    input: InputOptions,
    /// How to rank.
    #[command(flatten)]
    method: MethodOptions,
    /// Folder for the trusted votes: part-00000 and so on, one for each rank that read something,
    /// of the input's format and compression; it appears whole or not at all
    #[arg(long, short, value_name = "DIR", help_heading = "Output")]
    output: String,
    /// Folder for the flagged votes
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    flagged: Option<String>,
    /// Keeping the state.
    #[command(flatten)]
    checkpoint: CheckpointOptions,
}

/// Writes trusted votes to one folder of parts and flagged ones to another.
///
/// # Errors
/// If anyone fails, on all ranks.
pub fn run(
    session: &Session,
    arguments: &CleanArguments,
    flags: Fingerprint,
) -> Result<(), Failed> {
    let CleanArguments { files, input, output, flagged, checkpoint, .. } = arguments;
    let Session { world, voice, .. } = session;
    let votes = files.votes();
    let fit = agree(world, arguments.check(votes.files()))?;
    let kept = agree(world, PartFolder::create(&**world, output))?;
    let flagged = match flagged {
        Some(name) => Some(agree(world, PartFolder::create(&**world, name))?),
        None => None,
    };
    let job = Job { files: votes.files(), input, fit: &fit, checkpoint, flags, again: true };
    let alike = |tables: &[TableHead]| {
        let here = TableHead::check_alike(tables);
        let everywhere = check_alike(world, tables);
        here?;
        everywhere
    };
    let mut first = session.look(job, alike, |_| Ok(()))?;
    let look = first.again(session, input)?;
    let write_parts = || -> Result<Cleaned, Failure> {
        let Some(head) = look.tables.first() else { return Ok(Cleaned::default()) };
        let ending = ending_of(head);
        let part = |folder: &PartFolder| Output::create(&folder.part(world.rank(), &ending));
        let outputs = (part(&kept)?, flagged.as_ref().map(part).transpose()?);
        Ok(write(&look, outputs, &**voice)?)
    };
    let done = agree(world, write_parts())?;
    let flagged_written = flagged.is_some();
    agree(world, parts::appear([Some(kept), flagged]))?;
    announce(&of_all(world, done), flagged_written, &**voice);
    first.done();
    Ok(())
}

impl CleanArguments {
    /// Everything that can be refused before the work.
    fn check(&self, files: &[String]) -> Result<FitOptions, Failure> {
        let fit = fit_options(&self.method)?;
        let mut folders = vec![("--output", self.output.as_str())];
        folders.extend(self.flagged.as_deref().map(|flagged| ("--flagged", flagged)));
        places::check_outputs(&folders, files)?;
        for (flag, name) in folders {
            parts::check_place(flag, name)?;
        }
        Ok(fit)
    }
}

/// Refuses input of several kinds whoever reads what, as one machine would. `tables` are alike.
fn check_alike(world: &World, tables: &[TableHead]) -> Result<(), Failure> {
    let first = tables.first().map(|head| (head.file.to_string(), head.schema_key()));
    let mut kinds = Vec::new();
    for bytes in world.all_gather(&to_bytes(&first)) {
        kinds.extend(from_bytes::<Option<(String, String)>>(&bytes)?);
    }
    let differs = |other: &&(String, String)| other.1 != kinds[0].1;
    match kinds.iter().find(differs) {
        None => Ok(()),
        Some((other, _)) => Err(Failure::usage(
            format!(
                "{} and {other} cannot be cleaned in one run: format or columns differ",
                kinds[0].0
            ),
            "bring the files to the same format and columns first, or clean each on its own",
        )),
    }
}

/// The ending of the input: its format and, where the name tells, its compression.
fn ending_of(head: &TableHead) -> String {
    let format = head.format.extension();
    let name = head.file.to_ascii_lowercase();
    let compression = [".gz", ".zst"].into_iter().find(|ending| name.ends_with(ending));
    format!("{format}{}", compression.unwrap_or(""))
}

fn of_all(world: &World, done: Cleaned) -> Cleaned {
    let Cleaned { kept_rows, flagged_rows, flagged_votes, mut second_pass } = done;
    let mut counts = [kept_rows, flagged_rows, flagged_votes, second_pass.rejected];
    world.count(&mut counts);
    let mut kept_whole = [second_pass.kept_whole];
    world.sum(&mut kept_whole);
    let [kept_rows, flagged_rows, flagged_votes, rejected] = counts;
    (second_pass.rejected, second_pass.kept_whole) = (rejected, kept_whole[0]);
    Cleaned { kept_rows, flagged_rows, flagged_votes, second_pass }
}
