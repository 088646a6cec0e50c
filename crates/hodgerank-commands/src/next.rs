//! `next`: which pairs to ask next.

mod named;

use std::io;

use clap::Args;
use hodgerank::next_pairs::{NextPairs, NextPairsOptions, Posterior, SideBalance, next_pairs};
use hodgerank::{FitOptions, InputSummary, Labels, OutlierRule, RankedStudy};
use hodgerank_io::write::{Column, Table};
use hodgerank_report::study::no_probabilities;
use hodgerank_report::words::{counted, thousands};
use serde::{Serialize, Serializer};

use crate::document::{Document, StudyDocument, UncountedRows, table_by, write_studies};
use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, ReadsVotes, VoteSource};
use crate::observer::{Observer, Task};
use crate::provenance::Provenance;
use crate::ranked::{MethodSummary, rank_study, warnings};
use crate::text::visible;
use named::NamedLists;

const SCHEMA: &str = "hodgerank/next/1";

/// Arguments of `next`.
#[derive(Debug, Args)]
pub struct NextArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// How many pairs
    #[arg(long, value_name = "K", default_value_t = 20, help_heading = "Pairs",
          value_parser = parse_pairs)]
    pub pairs: usize,
    /// Prefer pairs that decide the first K places
    #[arg(long, value_name = "top=K", help_heading = "Pairs", value_parser = parse_focus)]
    pub focus: Option<usize>,
    /// Share the pairs out among the people in this file
    ///
    /// One name per line. Nobody gets a pair that they have voted on.
    #[arg(long, value_name = "FILE", help_heading = "Pairs")]
    pub annotators: Option<String>,
    /// Ask about the items in this file too
    ///
    /// One name per line. Without votes, the pairs are a random design that connects all items.
    #[arg(long, value_name = "FILE", help_heading = "Pairs")]
    pub items: Option<String>,
    /// How to rank.
    #[command(flatten)]
    pub method: FitOptions,
}

fn parse_pairs(text: &str) -> Result<usize, String> {
    let expected = || "expected a whole number from 1 to 10000000".to_owned();
    text.parse().ok().filter(|pairs| (1..=10_000_000).contains(pairs)).ok_or_else(expected)
}

fn parse_focus(text: &str) -> Result<usize, String> {
    let top = text.strip_prefix("top=").and_then(|places| places.parse().ok());
    top.filter(|places| *places > 0).ok_or_else(|| "expected top=K, such as top=3".to_owned())
}

impl ReadsVotes for NextArgs {
    fn input(&self) -> &InputOptions {
        &self.input
    }
}

/// The pairs to ask, one list per study.
#[derive(Debug)]
pub struct NextDocument {
    /// The studies.
    pub studies: Vec<StudyNextPairs>,
    /// Rows that were not counted.
    pub uncounted: UncountedRows,
}

/// The pairs to ask in one study.
#[derive(Debug, Serialize)]
pub struct StudyNextPairs {
    /// The value of the `--by` column.
    #[serde(skip)]
    pub by: Option<String>,
    /// The size of the study.
    #[serde(skip)]
    pub input: InputSummary,
    /// How the items were ranked; none without votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodSummary>,
    /// The pairs, the most informative first.
    pub pairs: PairList,
    /// The root mean square of the standard errors of the scores, in log-odds, before the pairs are asked.
    pub se_before: f64,
    /// The same when all have been asked, as far as it can be foreseen.
    pub se_after: f64,
    /// What a reader must know.
    pub warnings: Vec<String>,
}

/// Pairs with the labels of their items.
#[derive(Debug)]
pub struct PairList {
    found: NextPairs,
    items: Labels,
    annotators: Option<Labels>,
}

/// A pair with labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairToAsk<'a> {
    /// Place in the list, from 1.
    pub order: usize,
    /// The item to show on the left.
    pub left: &'a str,
    /// The item to show on the right.
    pub right: &'a str,
    /// Who is asked, with `--annotators`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotator: Option<&'a str>,
    /// The probability that a careful annotator prefers the left item.
    pub probability: f64,
    /// The expected information of a vote in bits, once the pairs before this one have been asked.
    pub gain: f64,
}

impl PairList {
    /// The pairs, the most informative first.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = PairToAsk<'_>> {
        self.found.pairs.iter().enumerate().map(|(k, pair)| {
            let annotators = self.annotators.as_ref();
            PairToAsk {
                order: k + 1,
                left: self.items.name(pair.left),
                right: self.items.name(pair.right),
                annotator: annotators.zip(pair.annotator).map(|(names, who)| names.name(who)),
                probability: pair.probability,
                gain: pair.gain / std::f64::consts::LN_2,
            }
        })
    }

    /// Whether the pairs are shared out among annotators.
    #[must_use]
    pub fn has_annotators(&self) -> bool {
        self.annotators.is_some()
    }
}

impl Serialize for PairList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

/// Chooses the pairs to ask next, of the votes or, if there are none, of the items in a file.
///
/// # Errors
/// If an option is invalid, a file cannot be read, or a solver fails.
pub fn next(
    votes: Option<&VoteSource>,
    args: &NextArgs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<NextDocument, Failure> {
    let (fit, seed) = fit_options(args)?;
    let lists = NamedLists::read(args)?;
    let options = NextPairsOptions { pairs: args.pairs, top: args.focus, seed };
    let Some(votes) = votes else {
        let study = without_votes(&lists, &options, observer)?;
        return Ok(NextDocument { studies: vec![study], uncounted: UncountedRows::default() });
    };
    let kept = Kept { annotator_votes: true, sides: true };
    let input = votes.read(&ReadPlan::new(&args.input, kept, threads), observer)?;
    let uncounted = UncountedRows::from(&input);
    let choose = |study| {
        let ranked = rank_study(study, uncounted.rejected.rows, &fit, observer)?;
        of_study(&ranked, &lists, &options, observer)
    };
    let studies = input.studies.into_iter().map(choose).collect::<Result<_, Failure>>()?;
    Ok(NextDocument { studies, uncounted })
}

/// The options of the method, and the seed, which belongs to the choice of pairs too.
fn fit_options(args: &NextArgs) -> Result<(FitOptions, u64), Failure> {
    let mut fit = args.method;
    let seed = fit.seed.unwrap_or(0);
    if !matches!(fit.outliers, OutlierRule::CrossValidation(_)) {
        fit.seed = None;
    }
    fit.validate()?;
    Ok((fit, seed))
}

fn of_study(
    ranked: &RankedStudy,
    lists: &NamedLists,
    options: &NextPairsOptions,
    observer: &dyn Observer,
) -> Result<StudyNextPairs, Failure> {
    let by = ranked.by.as_ref().map_or(String::new(), |by| format!("{}: ", visible(by)));
    let posterior = Posterior::of_study(ranked)?.map_err(|reason| {
        Failure::usage(
            format!("{by}{}", no_probabilities(ranked.fit.method, reason)),
            "use --method bt, whose scores are log-odds with a prior that keeps them finite",
        )
    })?;
    let mut items = ranked.items.clone();
    for name in lists.items.iter().flatten() {
        items.intern(name);
    }
    let posterior = posterior.with_more_items(items.len() - ranked.items.len());
    let votes = ranked.annotator_votes.as_ref();
    let mut sides = SideBalance::of_votes(items.len(), votes);
    let mut assignment = lists.assignment(&ranked.annotators, votes);
    let mut warnings = warnings(ranked);
    let found = observer.run(Task::Step("choosing pairs"), || {
        next_pairs(&posterior, &mut sides, assignment.as_mut(), options)
    })??;
    warn_of_missing(&found, options, &by, &mut warnings, observer);
    observer.note(&format!("{by}{}", expectation(&found)));
    Ok(StudyNextPairs {
        by: ranked.by.clone(),
        input: ranked.input,
        method: Some(MethodSummary::new(ranked)),
        se_before: found.se_before,
        se_after: found.se_after,
        pairs: PairList { found, items, annotators: lists.annotators.clone() },
        warnings,
    })
}

fn without_votes(
    lists: &NamedLists,
    options: &NextPairsOptions,
    observer: &dyn Observer,
) -> Result<StudyNextPairs, Failure> {
    let mut items = Labels::new();
    for name in lists.items.iter().flatten() {
        items.intern(name);
    }
    if items.len() < 2 {
        return Err(Failure::usage(
            format!("--items names {}", counted(items.len() as u64, "item", "items")),
            "name two items or more, one per line",
        ));
    }
    let mut sides = SideBalance::new(items.len());
    let mut assignment = lists.assignment(&Labels::new(), None);
    let posterior = Posterior::without_votes(items.len());
    let found = next_pairs(&posterior, &mut sides, assignment.as_mut(), options)?;
    let mut warnings = Vec::new();
    if found.pairs.len() + 1 < items.len() && options.top.is_none() {
        warnings.push(format!(
            "{} do not connect {} items; use --pairs {} or more",
            counted(found.pairs.len() as u64, "pair", "pairs"),
            thousands(items.len() as u64),
            items.len() - 1
        ));
        observer.warn(&warnings[0]);
    }
    warn_of_missing(&found, options, "", &mut warnings, observer);
    observer.note(&expectation(&found));
    let input = InputSummary {
        rows: 0,
        rejected: 0,
        comparisons: 0,
        items: items.len(),
        groups: 0,
        annotators: 0,
        components: items.len(),
    };
    Ok(StudyNextPairs {
        by: None,
        input,
        method: None,
        se_before: found.se_before,
        se_after: found.se_after,
        pairs: PairList { found, items, annotators: lists.annotators.clone() },
        warnings,
    })
}

/// Says so if there are fewer pairs than asked for.
fn warn_of_missing(
    found: &NextPairs,
    options: &NextPairsOptions,
    by: &str,
    warnings: &mut Vec<String>,
    observer: &dyn Observer,
) {
    if found.pairs.len() < options.pairs {
        let warning = format!(
            "only {} of {} pairs: the annotators have been asked all others",
            thousands(found.pairs.len() as u64),
            thousands(options.pairs as u64)
        );
        observer.warn(&format!("{by}{warning}"));
        warnings.push(warning);
    }
}

/// What the pairs are expected to achieve.
fn expectation(found: &NextPairs) -> String {
    let around = if found.is_approximate { "about " } else { "" };
    format!(
        "{}; with their votes, the typical standard error of a score falls from {around}{:.2} to \
         {around}{:.2} (log-odds)",
        counted(found.pairs.len() as u64, "pair", "pairs"),
        found.se_before,
        found.se_after
    )
}

impl StudyDocument for StudyNextPairs {
    fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    fn input(&self) -> InputSummary {
        self.input
    }
}

impl NextDocument {
    /// The files that the command reads.
    #[must_use]
    pub fn inputs(votes: Option<&VoteSource>, args: &NextArgs) -> Vec<String> {
        let files = votes.map_or(Vec::new(), |votes| args.input.files(votes));
        files.into_iter().chain(args.items.clone()).chain(args.annotators.clone()).collect()
    }
}

impl Document for NextDocument {
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        let methods = self.methods();
        write_studies(SCHEMA, &self.studies, &methods, &self.uncounted, provenance, out)
    }

    fn methods(&self) -> Vec<&str> {
        self.studies.iter().filter_map(|study| study.method.as_ref().map(|own| own.name)).collect()
    }

    fn table(&self) -> io::Result<Table> {
        let studies = || self.studies.iter();
        let mut table = table_by(studies().map(|study| (study.by(), study.pairs.rows().len())));
        let rows: Vec<PairToAsk<'_>> = studies().flat_map(|study| study.pairs.rows()).collect();
        let text = |value: fn(&PairToAsk<'_>) -> Option<String>| {
            Column::Text(rows.iter().map(value).collect())
        };
        let number = |value: fn(&PairToAsk<'_>) -> f64| {
            Column::Number(rows.iter().map(|row| Some(value(row))).collect())
        };
        table.push("left", text(|row| Some(row.left.to_owned())));
        table.push("right", text(|row| Some(row.right.to_owned())));
        if studies().any(|study| study.pairs.has_annotators()) {
            table.push("annotator", text(|row| row.annotator.map(str::to_owned)));
        }
        table.push("probability", number(|row| row.probability));
        table.push("gain", number(|row| row.gain));
        Ok(table)
    }
}
