//! The commands: votes, keywords, threads and an observer in, a document out.

use std::io::Cursor;

use arrow_ipc::reader::FileReader;
use hodgerank_commands as commands;
use hodgerank_commands::predict::PredictDocument;
use hodgerank_io::Format;
use hodgerank_io::write::{Cleaned, Outputs};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::document::{ArrowTable, PyDocument};
use crate::errors::exception;
use crate::options::{parse, parse_with_provenance};
use crate::votes::PyVotes;
use crate::worker::{run, run_recorded};

/// A command that returns a document.
macro_rules! command {
    ($name:ident, $options:ty, |$votes:ident, $given:ident, $threads:ident, $observer:ident| $work:expr) => {
        #[pyfunction]
        #[pyo3(signature = (votes, keywords, threads, observer))]
        #[doc = concat!("`hodgerank ", stringify!($name), "`.")]
        pub(crate) fn $name(
            py: Python<'_>,
            votes: &PyVotes,
            keywords: &Bound<'_, PyDict>,
            threads: Option<usize>,
            observer: &Bound<'_, PyAny>,
        ) -> PyResult<PyDocument> {
            let $votes = votes.source();
            let (mut $given, provenance): ($options, _) = parse_with_provenance(keywords)?;
            votes.set_outcome_kind(&mut $given.input);
            let result = run_recorded(py, threads, observer, move |$threads, $observer| $work)?;
            Ok(votes.document(result, provenance))
        }
    };
}

/// `hodgerank rank`. `against` is an earlier result, in place of the file of `--against`.
#[pyfunction]
#[pyo3(signature = (votes, keywords, threads, observer, against = None))]
pub(crate) fn rank(
    py: Python<'_>,
    votes: &PyVotes,
    keywords: &Bound<'_, PyDict>,
    threads: Option<usize>,
    observer: &Bound<'_, PyAny>,
    against: Option<&PyDocument>,
) -> PyResult<PyDocument> {
    let source = votes.source();
    let (mut options, provenance): (commands::rank::RankArgs, _) = parse_with_provenance(keywords)?;
    votes.set_outcome_kind(&mut options.input);
    if let Some(earlier) = against {
        let json = earlier.to_json(py)?;
        let earlier = commands::rank::SavedRanking::parse("the earlier result", &json);
        options.against_ranking = Some(earlier.map_err(|failure| exception(py, &failure))?);
    }
    let result = run_recorded(py, threads, observer, move |threads, observer| {
        commands::rank::rank(&source, &options, true, threads, observer)
    })?;
    Ok(votes.document(result, provenance))
}

command!(outliers, commands::outliers::OutliersArgs, |votes, options, threads, observer| {
    commands::outliers::outliers(&votes, &options, threads, observer)
});
command!(annotators, commands::annotators::AnnotatorsArgs, |votes, options, threads, observer| {
    commands::annotators::annotators(&votes, &options, threads, observer)
});
command!(certify, commands::certify::CertifyArgs, |votes, options, threads, observer| {
    commands::certify::certify(&votes, &options, threads, observer)
});
command!(compare, commands::compare::CompareArgs, |votes, options, threads, observer| {
    commands::compare::compare(&votes, &options, threads, observer)
});
command!(decompose, commands::decompose::DecomposeArgs, |votes, options, threads, observer| {
    commands::decompose::decompose(&votes, &options, true, threads, observer)
});
command!(diagnose, commands::diagnose::DiagnoseArgs, |votes, options, threads, observer| {
    let diagnosed = commands::diagnose::diagnose(&votes, &options, threads, observer)?;
    if options.strict {
        diagnosed.check()?;
    }
    Ok(diagnosed)
});
command!(path, commands::path::PathArgs, |votes, options, threads, observer| {
    commands::path::path(&votes, &options, threads, observer)
});

command!(predict, commands::predict::PredictArgs, |votes, options, threads, observer| {
    let mut outputs = Outputs::new(&PredictDocument::inputs(&votes, &options));
    commands::predict::predict(&votes, &options, false, &mut outputs, threads, observer)
});

type Counts = (u64, u64, u64);

fn counts(done: &Cleaned) -> Counts {
    (done.kept_rows, done.flagged_rows, done.flagged_votes)
}

/// `hodgerank clean`: from files to files. Rows kept, rows flagged, votes in these.
#[pyfunction]
pub(crate) fn clean(
    py: Python<'_>,
    votes: &PyVotes,
    keywords: &Bound<'_, PyDict>,
    threads: Option<usize>,
    observer: &Bound<'_, PyAny>,
) -> PyResult<Counts> {
    let source = votes.source();
    let mut options: commands::clean::CleanArgs = parse(keywords)?;
    votes.set_outcome_kind(&mut options.input);
    let done = run(py, threads, observer, move |threads, observer| {
        commands::clean::clean(&source, &options, threads, observer)
    })?;
    Ok(counts(&done))
}

/// `hodgerank clean` of a table: the counts, the trusted rows and the flagged ones.
#[pyfunction]
pub(crate) fn split(
    py: Python<'_>,
    votes: &PyVotes,
    keywords: &Bound<'_, PyDict>,
    threads: Option<usize>,
    observer: &Bound<'_, PyAny>,
) -> PyResult<(Counts, ArrowTable, ArrowTable)> {
    let source = votes.source();
    let mut options: commands::clean::CleanArgs = parse(keywords)?;
    votes.set_outcome_kind(&mut options.input);
    let schema = votes.schema(py)?;
    let split = run(py, threads, observer, move |threads, observer| {
        commands::clean::split(&source, &options, threads, observer)
    })?;
    let kept = ArrowTable { schema, batches: split.kept };
    let flagged = ArrowTable { schema: split.flagged_schema, batches: split.flagged };
    Ok((counts(&split.cleaned), kept, flagged))
}

/// `hodgerank report`.
#[pyfunction]
pub(crate) fn report(
    py: Python<'_>,
    votes: &PyVotes,
    keywords: &Bound<'_, PyDict>,
    threads: Option<usize>,
    observer: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let source = votes.source();
    let mut options: commands::report::ReportArgs = parse(keywords)?;
    votes.set_outcome_kind(&mut options.input);
    let written = options.output.clone();
    run(py, threads, observer, move |threads, observer| {
        commands::report::report(&source, &options, threads, observer)
    })?;
    Ok(written)
}

/// Removes the temporary files of commands that are still running, when the interpreter ends: their
/// threads end with it.
#[pyfunction]
pub(crate) fn remove_unfinished() {
    // Dropping it would allow these commands to start new files.
    std::mem::forget(hodgerank_io::write::remove_unfinished());
}

/// `hodgerank simulate`: the votes, the items, their true scores, and how many votes are bad.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    keywords: &Bound<'_, PyDict>,
    observer: &Bound<'_, PyAny>,
) -> PyResult<(ArrowTable, Vec<String>, Vec<f64>, u64)> {
    let options: commands::simulate::SimulateArgs = parse(keywords)?;
    run(py, None, observer, move |_, observer| {
        let study = commands::simulate::SyntheticStudy::new(&options)?;
        let (items, truth) = (study.items.clone(), study.simulation.truth().to_vec());
        let (bytes, bad) = study.write(Vec::new(), "the votes", Format::Arrow, observer)?;
        let failed = |error: arrow_schema::ArrowError| {
            let source = std::io::Error::other(error);
            hodgerank_io::Error::Read { file: "the votes".into(), source }
        };
        let reader = FileReader::try_new(Cursor::new(bytes), None).map_err(failed)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<_, _>>().map_err(failed)?;
        Ok((ArrowTable { schema, batches }, items, truth, bad))
    })
}
