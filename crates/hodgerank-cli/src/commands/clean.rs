//! `hodgerank clean`: the input without its flagged votes.

use clap::Args;
use hodgerank_io::Format;
use hodgerank_io::read::TableHead;
use hodgerank_io::write::{Cleaned, Output, clean};

use super::second_look::SecondLook;
use crate::args::InputOptions;
use crate::failure::Failure;
use crate::method::MethodOptions;
use crate::places;
use crate::terminal::{Terminal, thousands};

/// Flags of `clean`.
#[derive(Debug, Args)]
pub(crate) struct CleanOptions {
    #[command(flatten)]
    input: InputOptions,
    #[command(flatten)]
    method: MethodOptions,
    /// File for the trusted votes, of the input's format; .gz and .zst compress [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<String>,
    /// File for the flagged votes, of the input's format
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    flagged: Option<String>,
}

pub(crate) fn run(
    options: &CleanOptions,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let fit_options = options.method.fit_options()?;
    let kept = options.output.as_deref().unwrap_or("-");
    let mut places = vec![("--output", kept)];
    places.extend(options.flagged.as_deref().map(|flagged| ("--flagged", flagged)));
    places::check_outputs(&places, &options.input.files)?;
    let outputs =
        (Output::create(kept)?, options.flagged.as_deref().map(Output::create).transpose()?);
    let names = [options.output.as_deref(), options.flagged.as_deref()];
    let look = SecondLook::new(&options.input, &fit_options, threads, terminal, |input| {
        TableHead::check_alike(&input.tables)?;
        names.into_iter().flatten().try_for_each(|name| check_name(name, &input.tables))
    })?;
    let done = look.watch(terminal, |progress| {
        clean(&look.sources, &look.options, progress, &look.judged(), &look.tables, outputs)
    })?;
    announce(&done, options.flagged.is_some(), terminal);
    Ok(())
}

/// A name that promises another format than the input's would be a lie.
fn check_name(name: &str, tables: &[TableHead]) -> Result<(), Failure> {
    let Some(head) = tables.first() else { return Ok(()) };
    match Format::of_name(name) {
        Some(format) if format != head.format => Err(Failure::usage(
            format!(
                "{name} is the name of a {} file, but {} is {}",
                format.name(),
                head.file,
                head.format.name()
            ),
            "the cleaned file has the format of the input: choose a name to match",
        )),
        _ => Ok(()),
    }
}

fn announce(done: &Cleaned, flagged_written: bool, terminal: &Terminal) {
    let place = if flagged_written { "put aside" } else { "left out" };
    terminal.note(&format!(
        "{} rows kept, {} flagged rows ({} votes) {place}",
        thousands(done.kept_rows),
        thousands(done.flagged_rows),
        thousands(done.flagged_votes)
    ));
    if done.replayed.rejected > 0 {
        terminal
            .warn(&format!("{} rejected rows are in no output", thousands(done.replayed.rejected)));
    }
    if done.replayed.kept_whole > 0.0 {
        terminal.warn(&format!(
            "{} flagged votes stand in rows with a count that also hold trusted votes; these rows \
             were kept whole",
            thousands(done.replayed.kept_whole as u64)
        ));
    }
}
