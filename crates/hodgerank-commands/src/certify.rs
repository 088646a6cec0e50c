//! `certify`: how few votes, or annotators, must be removed for the result to change.

mod pair;
mod set_table;
mod study_certificate;

pub use study_certificate::{
    AnnotatorInSet, RankingCertificate, SetSearch, StudyCertificate, VoteInSet,
};

use std::io;

use clap::Args;
use hodgerank::certify::{Certified, Question, Standing, certify as search, plain_options};
use hodgerank::{ComparisonGraph, FitOptions, Study};
use hodgerank_io::write::Table;
use hodgerank_report::words::counted;

use crate::document::{Document, Figures, UncountedRows, write_studies};
use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, ReadsVotes, VoteSource};
use crate::min_votes::ItemOptions;
use crate::observer::{Observer, Task};
use crate::provenance::Provenance;
use crate::text::visible;

const SCHEMA: &str = "hodgerank/certify/1";

/// Arguments of `certify`.
#[derive(Debug, Args)]
pub struct CertifyArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// Which items are ranked.
    #[command(flatten)]
    pub kept_items: ItemOptions,
    /// Examine which items are in the first K places, in any order
    #[arg(long, value_name = "K", default_value_t = 1, help_heading = "Result",
          value_parser = parse_places)]
    pub places: usize,
    /// Examine which of two items is ranked higher, in place of the first places
    #[arg(long, value_name = "A,B", help_heading = "Result", conflicts_with = "places")]
    pub pair: Option<String>,
    /// How to rank.
    #[command(flatten)]
    pub method: FitOptions,
}

fn parse_places(text: &str) -> Result<usize, String> {
    let expected = || "expected a whole number, 1 or more".to_owned();
    text.parse().ok().filter(|places| *places > 0).ok_or_else(expected)
}

impl ReadsVotes for CertifyArgs {
    fn input(&self) -> &InputOptions {
        &self.input
    }
}

/// The result of `certify`: one certificate per study.
#[derive(Debug)]
pub struct CertifyDocument {
    /// The certificates.
    pub studies: Vec<Figures<StudyCertificate>>,
    /// Rows that were not counted.
    pub uncounted: UncountedRows,
}

/// Searches for the smallest sets of votes and annotators without which the result is another one, for the
/// ranking with these options and for the plain one.
///
/// # Errors
/// If an option is invalid, the votes cannot be read or do not answer the question, or a solver fails.
pub fn certify(
    votes: &VoteSource,
    args: &CertifyArgs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<CertifyDocument, Failure> {
    args.method.validate()?;
    let kept = Kept { annotator_votes: true, sides: true };
    let input = votes
        .read(&ReadPlan::new(&args.input, kept, threads).with_items(args.kept_items), observer)?;
    let uncounted = UncountedRows::from(&input);
    let question = |study: &Study| match &args.pair {
        None => Ok(Question::Places(args.places)),
        Some(pair) => pair::find(pair, &study.items, study.by.as_deref()),
    };
    let questions = input.studies.iter().map(question).collect::<Result<Vec<_>, _>>()?;
    let mut studies = Vec::with_capacity(input.studies.len());
    for (study, question) in input.studies.into_iter().zip(questions) {
        let by = study.by.clone();
        let figures = certify_study(study, question, args, uncounted.rejected.rows, observer)?;
        studies.push(Figures { by, figures });
    }
    Ok(CertifyDocument { studies, uncounted })
}

fn certify_study(
    mut study: Study,
    question: Question,
    args: &CertifyArgs,
    rejected: u64,
    observer: &dyn Observer,
) -> Result<StudyCertificate, Failure> {
    let groups = std::mem::take(&mut study.groups);
    let distinct = groups.len();
    let graph = ComparisonGraph::new(study.items.len(), groups)?.with_sides(study.sides.take());
    let mut input = study.summary(rejected, graph.components().len());
    input.groups = distinct;
    let votes = study.annotator_votes.as_ref();
    let run = |options: &FitOptions| -> Result<Certified, Failure> {
        let work = || search(&graph, votes, options, question);
        let found = observer.run(Task::Step("searching"), work)?;
        let found = found.map_err(|error| error.with_labels(&study.items))?;
        check(&found, question, &study)?;
        Ok(found)
    };
    let robust = run(&args.method)?;
    let plain = plain_options(&graph, robust.method, &args.method);
    let plain = plain.map(|options| run(&options)).transpose()?;
    let by = study.by.as_ref().map_or(String::new(), |by| format!("{}: ", visible(by)));
    let annotators = match study.annotators.len() {
        0 => String::new(),
        known => format!(" by {}", counted(known as u64, "annotator", "annotators")),
    };
    let fits = |found: &Certified| {
        found.votes.fits + found.annotators.as_ref().map_or(0, |result| result.fits)
    };
    observer.note(&format!(
        "{by}{}, {}{annotators}, method {}; {} tried",
        counted(input.items as u64, "item", "items"),
        counted(input.comparisons, "vote", "votes"),
        robust.method,
        counted((fits(&robust) + plain.as_ref().map_or(0, fits)) as u64, "set", "sets"),
    ));
    Ok(StudyCertificate::new(input, question, &study, &robust, plain.as_ref()))
}

/// Refuses questions that the votes do not answer.
fn check(found: &Certified, question: Question, study: &Study) -> Result<(), Failure> {
    let by = study.by.as_ref().map_or(String::new(), |by| format!("{}: ", visible(by)));
    let name = |item: u32| visible(study.items.name(item));
    let method = found.method;
    match (&found.standing, question) {
        (Standing::Ordered(_) | Standing::Tied(_), _) => Ok(()),
        (Standing::TooFewItems(items), _) => Err(Failure::Unanswerable {
            problem: format!(
                "{by}only {} can be compared with each other, so there is no item outside the first \
                 places",
                counted(*items as u64, "item", "items")
            ),
            help: "ask for fewer places with --places, or for two items with --pair A,B".to_owned(),
        }),
        (Standing::Incomparable, Question::Pair(a, b)) if a != b => Err(Failure::Unanswerable {
            problem: format!(
                "{by}{} and {} do not compare: no votes connect them in the ranking of {method}",
                name(a),
                name(b)
            ),
            help: "name two items of one component; `hodgerank rank` lists the components"
                .to_owned(),
        }),
        (Standing::Incomparable, _) => Err(Failure::usage(
            "--pair needs two different items",
            "name two items, such as --pair A,B",
        )),
    }
}

impl Document for CertifyDocument {
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        write_studies(SCHEMA, &self.studies, &[], &self.uncounted, provenance, out)
    }

    fn table(&self) -> io::Result<Table> {
        Ok(set_table::set_table(&self.studies))
    }
}
