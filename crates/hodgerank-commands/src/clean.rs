//! `clean`: the input without its flagged votes.

use clap::Args;
use hodgerank_io::Format;
use hodgerank_io::read::TableHead;
use hodgerank_io::write::{self, Cleaned, Output, SplitTable};
use hodgerank_report::words::thousands;

use crate::failure::Failure;
use crate::input::{InputOptions, Votes};
use crate::method::MethodOptions;
use crate::places;
use crate::two_pass::TwoPass;
use crate::watch::Watch;

/// Options of `clean`.
#[derive(Debug, Args)]
pub struct CleanOptions {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// How to rank.
    #[command(flatten)]
    pub method: MethodOptions,
    /// File for the trusted votes, of the input's format; .gz and .zst compress [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<String>,
    /// File for the flagged votes, of the input's format
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub flagged: Option<String>,
}

/// Writes the trusted votes to one file and the flagged ones to another.
///
/// # Errors
/// If an option makes no sense, the votes cannot be read, a solver fails, or writing does.
pub fn clean(
    votes: &Votes,
    options: &CleanOptions,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Cleaned, Failure> {
    let fit = options.method.fit_options()?;
    let kept = options.output.as_deref().unwrap_or("-");
    let mut places = vec![("--output", kept)];
    places.extend(options.flagged.as_deref().map(|flagged| ("--flagged", flagged)));
    places::check_outputs(&places, votes.files())?;
    let outputs =
        (Output::create(kept)?, options.flagged.as_deref().map(Output::create).transpose()?);
    let names = [options.output.as_deref(), options.flagged.as_deref()];
    let look = TwoPass::new(votes, &options.input, &fit, threads, watch, |input| {
        TableHead::check_alike(&input.tables)?;
        names.into_iter().flatten().try_for_each(|name| check_name(name, &input.tables))
    })?;
    let done = write(&look, outputs, watch)?;
    announce(&done, options.flagged.is_some(), watch);
    Ok(done)
}

/// Reads the files of `look` again, all of one format and with the same columns, and writes the
/// trusted rows to one output, the flagged ones to another.
///
/// # Errors
/// If reading or writing fails.
pub fn write(
    look: &TwoPass,
    outputs: (Output, Option<Output>),
    watch: &dyn Watch,
) -> Result<Cleaned, Failure> {
    look.pass(watch, |progress| {
        write::clean(&look.sources, &look.options, progress, &look.judged(), &look.tables, outputs)
    })
}

/// Splits a table in memory into trusted and flagged votes.
///
/// # Errors
/// If an option makes no sense, the votes cannot be read or are no table, or a solver fails.
pub fn split(
    votes: &Votes,
    options: &CleanOptions,
    threads: usize,
    watch: &dyn Watch,
) -> Result<SplitTable, Failure> {
    let fit = options.method.fit_options()?;
    let look = TwoPass::new(votes, &options.input, &fit, threads, watch, |_| Ok(()))?;
    let split = look.pass(watch, |progress| {
        write::split(&look.sources, &look.options, progress, &look.judged())
    })?;
    announce(&split.cleaned, true, watch);
    Ok(split)
}

/// A name that promises another format than the input's would be a lie.
fn check_name(name: &str, tables: &[TableHead]) -> Result<(), Failure> {
    let Some(head) = tables.first() else { return Ok(()) };
    match Format::from_file_name(name) {
        Some(format) if format != head.format => Err(Failure::usage(
            format!(
                "{name} is the name of a {} file, but {} is {}",
                format.title(),
                head.file,
                head.format.title()
            ),
            "the cleaned file has the format of the input: choose a name to match",
        )),
        _ => Ok(()),
    }
}

/// Says how many rows went where.
pub fn announce(done: &Cleaned, flagged_written: bool, watch: &dyn Watch) {
    let place = if flagged_written { "put aside" } else { "left out" };
    watch.note(&format!(
        "{} rows kept, {} flagged rows ({} votes) {place}",
        thousands(done.kept_rows),
        thousands(done.flagged_rows),
        thousands(done.flagged_votes)
    ));
    if done.second_pass.rejected > 0 {
        watch.warn(&format!(
            "{} rejected rows are in no output",
            thousands(done.second_pass.rejected)
        ));
    }
    if done.second_pass.kept_whole > 0.0 {
        watch.warn(&format!(
            "{} flagged votes stand in rows with a count that also hold trusted votes; these rows \
             were kept whole",
            thousands(done.second_pass.kept_whole as u64)
        ));
    }
}
