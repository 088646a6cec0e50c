//! `clean`: the input without its flagged votes.

use clap::Args;
use hodgerank::FitOptions;
use hodgerank_io::read::TableHead;
use hodgerank_io::text::visible_name;
use hodgerank_io::write::{self, CleanOutputs, Cleaned, Outputs, SplitTable};
use hodgerank_io::{Format, PassedOver};
use hodgerank_report::words::thousands;

use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, VoteSource};
use crate::labels::LabelOptions;
use crate::observer::Observer;
use crate::two_pass::TwoPass;

/// Arguments of `clean`.
#[derive(Debug, Args)]
pub struct CleanArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// How to rank.
    #[command(flatten)]
    pub method: FitOptions,
    /// File for the trusted votes, of the input's format; .gz and .zst compress [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<String>,
    /// File for the flagged votes, of the input's format, with the number of each row and the reason
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub flagged: Option<String>,
    /// How labels are written.
    #[command(flatten)]
    pub labels: LabelOptions,
}

/// Writes the trusted votes to one file and the flagged ones to another.
///
/// # Errors
/// If an option is invalid, the votes cannot be read, a solver fails, or writing does.
pub fn clean(
    votes: &VoteSource,
    options: &CleanArgs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<Cleaned, Failure> {
    let fit = options.method;
    fit.validate()?;
    let mut outputs = Outputs::new(&options.input.files(votes));
    let kept = outputs.claim("--output", options.output.as_deref().unwrap_or("-"))?;
    let flagged = options.flagged.as_deref().map(|name| outputs.claim("--flagged", name));
    let flagged = flagged.transpose()?;
    let outputs = CleanOutputs {
        kept: kept.open()?,
        flagged: flagged.map(|output| output.open()).transpose()?,
        with_reasons: true,
        with_file: votes.files().len() > 1,
        labels: options.labels.style(),
    };
    let names = [options.output.as_deref(), options.flagged.as_deref()];
    let plan = ReadPlan::new(&options.input, Kept::needed_by(&fit), threads);
    let pass = TwoPass::new(votes, &plan, &fit, observer, |input| {
        TableHead::check_alike(&input.tables)?;
        options.labels.check_format(input.tables.first().map(|table| table.format))?;
        names.into_iter().flatten().try_for_each(|name| check_name(name, &input.tables))
    })?;
    let done = write(&pass, outputs, observer)?;
    announce(&done, options.flagged.is_some(), observer);
    Ok(done)
}

/// Reads the files of `pass` again, all of one format and with the same columns, and writes the
/// trusted rows to one output, the flagged ones to another.
///
/// # Errors
/// If reading or writing fails.
pub fn write(
    pass: &TwoPass,
    outputs: CleanOutputs,
    observer: &dyn Observer,
) -> Result<Cleaned, Failure> {
    let reasons = if outputs.with_reasons { pass.flag_reasons() } else { Vec::new() };
    let flags = pass.study_flags(&reasons);
    pass.second_pass(observer, |progress| {
        write::clean(&pass.sources, &pass.options, progress, &flags, &pass.tables, outputs)
    })
}

/// Splits a table in memory into trusted and flagged votes.
///
/// # Errors
/// If an option is invalid, the votes cannot be read or are no table, or a solver fails.
pub fn split(
    votes: &VoteSource,
    options: &CleanArgs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<SplitTable, Failure> {
    let fit = options.method;
    fit.validate()?;
    options.labels.refuse_unless(false, "a table in memory")?;
    let plan = ReadPlan::new(&options.input, Kept::needed_by(&fit), threads);
    let pass = TwoPass::new(votes, &plan, &fit, observer, |_| Ok(()))?;
    let reasons = pass.flag_reasons();
    let flags = pass.study_flags(&reasons);
    let split = pass.second_pass(observer, |progress| {
        write::split(&pass.sources, &pass.options, progress, &flags, &pass.tables)
    })?;
    announce(&split.cleaned, true, observer);
    Ok(split)
}

/// The extension of the output must match the format of the input.
fn check_name(name: &str, tables: &[TableHead]) -> Result<(), Failure> {
    let Some(head) = tables.first() else { return Ok(()) };
    match Format::from_file_name(name) {
        Some(format) if format != head.format => Err(Failure::usage(
            format!(
                "{} is the name of a {} file, but {} is {}",
                visible_name(name),
                format.title(),
                visible_name(&head.file),
                head.stored_as.title()
            ),
            match head.stored_as == head.format {
                true => "the cleaned file has the format of the input: choose a name to match"
                    .to_owned(),
                false => format!(
                    "rows of {} files are written as {}: choose a name that ends with .{}",
                    head.stored_as.title(),
                    head.format.title(),
                    head.format.extension()
                ),
            },
        )),
        _ => Ok(()),
    }
}

/// Reports how many rows were written to which output.
pub fn announce(done: &Cleaned, flagged_written: bool, observer: &dyn Observer) {
    let place = if flagged_written { "written separately" } else { "left out" };
    let excluded = match done.excluded_rows {
        0 => String::new(),
        rows => format!(", {} of them by excluded annotators", thousands(rows)),
    };
    observer.note(&format!(
        "{} rows kept, {} flagged rows ({} votes) {place}{excluded}",
        thousands(done.kept_rows),
        thousands(done.flagged_rows),
        thousands(done.flagged_votes)
    ));
    if done.second_pass.rejected > 0 {
        observer.warn(&format!(
            "{} rejected rows were not written to any output",
            thousands(done.second_pass.rejected)
        ));
    }
    let PassedOver { ignored, filtered, .. } = done.second_pass.passed_over;
    if ignored + filtered > 0 {
        observer.note(&format!(
            "{} ignored rows and {} rows that do not match --where were not written to any output",
            thousands(ignored),
            thousands(filtered)
        ));
    }
    if done.second_pass.kept_whole > 0.0 {
        observer.warn(&format!(
            "{} flagged votes are in rows with a count that also contain trusted votes; these rows \
             were kept",
            thousands(done.second_pass.kept_whole as u64)
        ));
    }
}
