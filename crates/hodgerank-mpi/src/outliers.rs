//! `hodgerank-mpi outliers`: each rank lists what it read, in one order of suspicion.
//!
//! Rows: each rank's part has the lines of its own files. Groups of equal votes: each rank's part
//! has the groups that it owns. `order` is the place among the lines of all, so that parts are put
//! together by sorting by it. Annotators are few: their counts come together on rank 0.

mod show;

use clap::Args;
use hodgerank_cli::{Failure, Files, OutputFormat, OutputOptions, write_outliers};
use hodgerank_commands::annotators as tallies;
use hodgerank_commands::outliers::{self, Outliers, OutliersOptions};
use hodgerank_io::write::{Listing, Output, RejectedSummary, SuspectRow};

use crate::agree::{Failed, agree};
use crate::annotators;
use crate::fingerprint::Fingerprint;
use crate::flags::CheckpointOptions;
use crate::look::Job;
use crate::order::{Course, number};
use crate::parts::{self, PartFolder};
use crate::rank::fit_options;
use crate::session::Session;

/// Flags of `outliers`.
#[derive(Debug, Args)]
pub struct OutliersArguments {
    /// What to read.
    #[command(flatten)]
    files: Files,
    /// What to list.
    #[command(flatten)]
    options: OutliersOptions,
    /// What to write.
    #[command(flatten)]
    output: PartOptions,
    /// Keeping the state.
    #[command(flatten)]
    checkpoint: CheckpointOptions,
}

/// Where lists go, and as what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct PartOptions {
    /// Form of the parts [default: csv; without --output a table]
    #[arg(long, value_enum)]
    format: Option<OutputFormat>,
    /// Folder for the lists: part-00000 and so on, one for each rank that read something; it appears
    /// whole or not at all. With --annotators a file [default: a table on standard output]
    #[arg(long, short, value_name = "DIR")]
    output: Option<String>,
    /// Rows shown in a table, 0 for all; parts always have all
    #[arg(long, value_name = "N", default_value_t = 1000)]
    top: usize,
}

/// Lists votes or annotators.
///
/// # Errors
/// If anyone fails, on all ranks.
pub fn run(
    session: &Session,
    arguments: &OutliersArguments,
    flags: Fingerprint,
) -> Result<(), Failed> {
    let OutliersArguments { files, options, checkpoint, .. } = arguments;
    let votes = files.votes();
    let fit = agree(&session.world, fit_options(&options.method))?;
    let (files, input, fit) = (votes.files(), &options.input, &fit);
    let again = !options.per_group;
    let job = Job { files, input, fit, checkpoint, flags, again };
    if options.annotators {
        list_annotators(session, arguments, job)
    } else {
        list_votes(session, arguments, job)
    }
}

fn list_annotators(
    session: &Session,
    OutliersArguments { options, output, .. }: &OutliersArguments,
    job: Job<'_>,
) -> Result<(), Failed> {
    let world = &session.world;
    let place = output.as_file();
    let format = agree(world, place.format())?;
    let file = if world.is_first() { place.create().map(Some) } else { Ok(None) };
    let file = agree(world, file)?;
    let signed = |tables: &[_]| Ok(tallies::check(tables)?);
    let mut first = session.look(job, signed, |_| Ok(()))?;
    let look = first.again(session, &options.input)?;
    let lists = annotators::list(session, &look)?;
    let found = Outliers::annotators(lists, RejectedSummary::from(&look.rejected));
    agree(world, file.map_or(Ok(()), |file| write_outliers(&found, format, &place, file)))?;
    first.done();
    Ok(())
}

fn list_votes(
    session: &Session,
    OutliersArguments { options, output, .. }: &OutliersArguments,
    job: Job<'_>,
) -> Result<(), Failed> {
    let world = &session.world;
    let format = agree(world, output.check())?;
    let folder = match &output.output {
        Some(name) => Some(agree(world, PartFolder::create(&**world, name))?),
        None => None,
    };
    let mut first = session.look(job, |_| Ok(()), |_| Ok(()))?;
    let rejected = RejectedSummary::from(&first.rejected);
    // Groups are listed by their owners, rows by those who read them.
    let has_part = options.per_group || !first.tables.is_empty();
    let (mut lists, studies): (Vec<Listing<SuspectRow>>, _) = if options.per_group {
        let list = |study| outliers::groups(study, options.all);
        (first.studies.iter().map(list).collect(), std::mem::take(&mut first.studies))
    } else {
        let look = first.again(session, &options.input)?;
        let rows = outliers::rows(&look, options.all, &*session.voice);
        (agree(world, rows)?, look.studies)
    };
    let courses: Vec<Course<'_>> = studies.iter().map(Course::of).collect();
    number(&**world, &mut lists, &courses);
    match folder {
        None => show::table(world, lists, &rejected, output.top)?,
        Some(folder) => {
            let found = Outliers::votes(lists, rejected);
            let write = || -> Result<(), Failure> {
                let part = Output::create(&folder.part(world.rank(), ending_of(format)))?;
                write_outliers(&found, format, &OutputOptions::default(), part)
            };
            agree(world, if has_part { write() } else { Ok(()) })?;
            agree(world, parts::appear([Some(folder)]))?;
        }
    }
    first.done();
    Ok(())
}

impl PartOptions {
    /// The form of parts, or of the table where there are none.
    fn check(&self) -> Result<OutputFormat, Failure> {
        match (&self.output, self.format) {
            (None, None | Some(OutputFormat::Table)) => Ok(OutputFormat::Table),
            (None, Some(_)) => Err(Failure::usage(
                "lists of this form go to a folder, each rank's part into a file of its own",
                "add --output DIR, or leave --format out for a table",
            )),
            (Some(_), Some(OutputFormat::Table)) => Err(Failure::usage(
                "tables are for eyes and go to standard output",
                "leave --output out, or use --format csv, json or parquet",
            )),
            (Some(name), format) => {
                parts::check_place("--output", name)?;
                Ok(format.unwrap_or(OutputFormat::Csv))
            }
        }
    }

    /// The same flags where the result is one file.
    fn as_file(&self) -> OutputOptions {
        OutputOptions {
            format: self.format,
            output: self.output.clone(),
            top: self.top,
            plain: true,
        }
    }
}

fn ending_of(format: OutputFormat) -> &'static str {
    match format {
        OutputFormat::Csv => "csv",
        OutputFormat::Json => "json",
        OutputFormat::Parquet => "parquet",
        OutputFormat::Table => "txt",
    }
}
