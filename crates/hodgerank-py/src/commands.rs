//! The commands, each: votes, keywords, threads and a watcher in, an answer out.

use std::io::Cursor;

use arrow_ipc::reader::FileReader;
use hodgerank_commands as commands;
use hodgerank_io::Format;
use hodgerank_io::write::Cleaned;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer::{Answer, Table};
use crate::options::parse;
use crate::votes::Votes;
use crate::work::run;

/// A command whose answer has a document and a table.
macro_rules! command {
    ($name:ident, $options:ty, |$votes:ident, $given:ident, $threads:ident, $watch:ident| $work:expr) => {
        #[pyfunction]
        #[pyo3(signature = (votes, keywords, threads, watcher))]
        #[doc = concat!("`hodgerank ", stringify!($name), "`.")]
        pub(crate) fn $name(
            py: Python<'_>,
            votes: &Votes,
            keywords: &Bound<'_, PyDict>,
            threads: Option<usize>,
            watcher: &Bound<'_, PyAny>,
        ) -> PyResult<Answer> {
            let $votes = votes.source();
            let mut $given: $options = parse(keywords)?;
            votes.settle(&mut $given.input);
            let done = run(py, threads, watcher, move |$threads, $watch| $work)?;
            Ok(Answer::new(done))
        }
    };
}

command!(rank, commands::rank::RankOptions, |votes, options, threads, watch| {
    commands::rank::rank(&votes, &options, true, threads, watch)
});
command!(outliers, commands::outliers::OutliersOptions, |votes, options, threads, watch| {
    commands::outliers::outliers(&votes, &options, threads, watch)
});
command!(compare, commands::compare::CompareOptions, |votes, options, threads, watch| {
    commands::compare::compare(&votes, &options, threads, watch)
});
command!(decompose, commands::decompose::DecomposeArgs, |votes, options, threads, watch| {
    commands::decompose::decompose(&votes, &options, true, threads, watch)
});
command!(diagnose, commands::diagnose::DiagnoseArgs, |votes, options, threads, watch| {
    let diagnosed = commands::diagnose::diagnose(&votes, &options, threads, watch)?;
    if options.strict {
        diagnosed.check()?;
    }
    Ok(diagnosed)
});
command!(path, commands::path::PathOptions, |votes, options, threads, watch| {
    commands::path::path(&votes, &options, threads, watch)
});

type Counts = (u64, u64, u64);

fn counts(done: &Cleaned) -> Counts {
    (done.kept_rows, done.flagged_rows, done.flagged_votes)
}

/// `hodgerank clean`: from files to files. Rows kept, rows flagged, votes in these.
#[pyfunction]
pub(crate) fn clean(
    py: Python<'_>,
    votes: &Votes,
    keywords: &Bound<'_, PyDict>,
    threads: Option<usize>,
    watcher: &Bound<'_, PyAny>,
) -> PyResult<Counts> {
    let source = votes.source();
    let mut options: commands::clean::CleanOptions = parse(keywords)?;
    votes.settle(&mut options.input);
    let done = run(py, threads, watcher, move |threads, watch| {
        commands::clean::clean(&source, &options, threads, watch)
    })?;
    Ok(counts(&done))
}

/// `hodgerank clean` of a table: the counts, the trusted rows and the flagged ones.
#[pyfunction]
pub(crate) fn part(
    py: Python<'_>,
    votes: &Votes,
    keywords: &Bound<'_, PyDict>,
    threads: Option<usize>,
    watcher: &Bound<'_, PyAny>,
) -> PyResult<(Counts, Table, Table)> {
    let source = votes.source();
    let mut options: commands::clean::CleanOptions = parse(keywords)?;
    votes.settle(&mut options.input);
    let schema = votes.schema(py)?;
    let parted = run(py, threads, watcher, move |threads, watch| {
        commands::clean::split(&source, &options, threads, watch)
    })?;
    let kept = Table { schema: schema.clone(), batches: parted.kept };
    Ok((counts(&parted.cleaned), kept, Table { schema, batches: parted.flagged }))
}

/// `hodgerank report`.
#[pyfunction]
pub(crate) fn report(
    py: Python<'_>,
    votes: &Votes,
    keywords: &Bound<'_, PyDict>,
    threads: Option<usize>,
    watcher: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let source = votes.source();
    let mut options: commands::report::ReportOptions = parse(keywords)?;
    votes.settle(&mut options.input);
    let written = options.output.clone();
    run(py, threads, watcher, move |threads, watch| {
        commands::report::report(&source, &options, threads, watch)
    })?;
    Ok(written)
}

/// `hodgerank simulate`: the votes, the items, their true scores, and how many votes are bad.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    keywords: &Bound<'_, PyDict>,
    watcher: &Bound<'_, PyAny>,
) -> PyResult<(Table, Vec<String>, Vec<f64>, u64)> {
    let options: commands::simulate::SimulateArgs = parse(keywords)?;
    run(py, None, watcher, move |_, watch| {
        let study = commands::simulate::SyntheticStudy::new(&options)?;
        let (items, truth) = (study.items.clone(), study.simulation.truth().to_vec());
        let (bytes, bad) = study.write(Vec::new(), "the votes", Format::Arrow, watch)?;
        let failed = |error: arrow_schema::ArrowError| {
            let source = std::io::Error::other(error);
            hodgerank_io::Error::Read { file: "the votes".into(), source }
        };
        let reader = FileReader::try_new(Cursor::new(bytes), None).map_err(failed)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<_, _>>().map_err(failed)?;
        Ok((Table { schema, batches }, items, truth, bad))
    })
}
