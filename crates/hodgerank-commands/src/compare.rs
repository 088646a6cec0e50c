//! `compare`: all methods side by side.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use hodgerank::fit::fit_with_auto;
use hodgerank::scale::{EloScale, ScoreScale};
use hodgerank::select::{self, OutlierRule};
use hodgerank::{ComparisonGraph, FitOptions, Method, Ranking, Study, kendall};
use hodgerank_io::write::{Column, Table};
use hodgerank_report::words::thousands;
use serde::Serialize;

use crate::certificate::CertificateSummary;
use crate::document::{Document, ExcludedItemsSummary, ExcludedSummary, write_json};
use crate::document::{Header, InputJson};
use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, ReadsVotes, VoteSource};
use crate::min_votes::ItemOptions;
use crate::observer::{Observer, Task};
use crate::provenance::Provenance;
use crate::scale::{ScaleOptions, ScaleSummary};

/// The method that the others are compared with by default.
const DEFAULT_REFERENCE: Method = Method::LassoL2;

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// Which items are ranked.
    #[command(flatten)]
    pub kept_items: ItemOptions,
    /// Methods to compare [default: all that support the number of items]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "METHOD,…")]
    pub methods: Vec<Method>,
    /// Method that the others are compared with
    #[arg(long, value_enum, default_value_t = DEFAULT_REFERENCE)]
    pub reference: Method,
    /// Options that the methods share.
    #[command(flatten)]
    pub method: FitOptions,
    /// The scale of the scores.
    #[command(flatten)]
    pub scale: ScaleOptions,
}

impl ReadsVotes for CompareArgs {
    fn input(&self) -> &InputOptions {
        &self.input
    }
}

/// Comparisons of methods, one per study.
#[derive(Debug)]
pub struct CompareDocument {
    /// The comparisons.
    pub comparisons: Vec<MethodComparison>,
    /// What was left out with excluded annotators.
    pub excluded: Option<ExcludedSummary>,
    /// Items with few votes that were left out.
    pub excluded_items: Option<ExcludedItemsSummary>,
}

/// The methods' rankings of one study.
#[derive(Debug, Serialize)]
pub struct MethodComparison {
    /// The value of the `--by` column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The method that the others are compared with.
    pub reference: &'static str,
    /// The methods, in the requested order.
    pub methods: Vec<MethodRanking>,
    /// Names of the items.
    pub items: Vec<String>,
    /// Kendall's τ between methods, in their order.
    pub kendall: Vec<Vec<f64>>,
}

/// The result of one method; ranks and scores are in the order of `items`.
#[derive(Debug, Serialize)]
pub struct MethodRanking {
    /// Its name.
    pub name: &'static str,
    /// How many votes it flagged.
    pub flagged: u64,
    /// How it ended.
    pub status: &'static str,
    /// What was checked about its fit.
    pub certificate: CertificateSummary,
    /// The scale of its scores, if it is not the method's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScaleSummary>,
    /// Rank of each item.
    pub ranks: Vec<u32>,
    /// Score of each item.
    pub scores: Vec<f64>,
}

#[derive(Serialize)]
struct CompareJson<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<InputJson<'a>>,
    comparisons: &'a [MethodComparison],
    #[serde(skip_serializing_if = "Option::is_none")]
    excluded: Option<ExcludedSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    excluded_items: Option<&'a ExcludedItemsSummary>,
}

/// Ranks with all methods.
///
/// # Errors
/// If an option is invalid, the votes cannot be read, or a solver fails.
pub fn compare(
    votes: &VoteSource,
    options: &CompareArgs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<CompareDocument, Failure> {
    let fit_options = options.method;
    if fit_options.method.is_some() {
        return Err(Failure::usage(
            "--method selects one method, and compare runs several",
            "use --methods l2,iss,…",
        ));
    }
    fit_options.validate_values()?;
    options.scale.validate()?;
    let compares = |method| options.methods.is_empty() || options.methods.contains(&method);
    let kept =
        Kept { annotator_votes: compares(Method::Crowd), sides: compares(Method::BradleyTerry) };
    let input = votes.read(
        &ReadPlan::new(&options.input, kept, threads).with_items(options.kept_items),
        observer,
    )?;
    for study in &input.studies {
        options.scale.check_items(&study.items, study.by.as_deref())?;
    }
    let excluded = input.excluded.as_ref().map(ExcludedSummary::from);
    let excluded_items = input.excluded_items.as_ref().map(ExcludedItemsSummary::from);
    let compare = |study| compare_study(study, options, &fit_options, observer);
    let comparisons = input.studies.into_iter().map(compare).collect::<Result<_, _>>()?;
    Ok(CompareDocument { comparisons, excluded, excluded_items })
}

fn compare_study(
    study: Study,
    options: &CompareArgs,
    fit_options: &FitOptions,
    observer: &dyn Observer,
) -> Result<MethodComparison, Failure> {
    let graph = ComparisonGraph::new(study.items.len(), study.groups)?.with_sides(study.sides);
    let votes = study.annotator_votes.as_ref();
    let has_annotators = !study.annotators.is_empty();
    let mut methods = Vec::new();
    let compared = methods_to_compare(&graph, has_annotators, &options.methods, observer);
    let (done, all) = (AtomicU64::new(0), AtomicU64::new(compared.len() as u64));
    // Computed once for all methods that need it.
    let mut auto = None;
    for method in compared {
        let fit_options = fit_options.method(method);
        let task = Task::Counting { name: method.as_str(), done: &done, all: &all };
        let models_votes = matches!(method, Method::BradleyTerry | Method::Crowd);
        let fit = observer
            .run(task, || {
                let is_auto = matches!(fit_options.rule(), OutlierRule::Auto);
                if auto.is_none() && is_auto && method.info().flags_votes && !models_votes {
                    auto = Some(select::auto(&graph)?);
                }
                fit_with_auto(&graph, votes, &fit_options, auto)
            })?
            .map_err(|error| error.with_labels(&study.items))?;
        done.fetch_add(1, Ordering::Relaxed);
        let mut ranks = vec![0; graph.items()];
        for row in Ranking::within(&graph, &fit.components, &fit.scores).items {
            ranks[row.item as usize] = row.rank;
        }
        let elo = match options.scale.scale {
            ScoreScale::Natural => None,
            ScoreScale::Elo => {
                Some(EloScale::new(&graph, &study.items, &fit, options.scale.anchor.as_ref())?)
            }
        };
        let scores = match &elo {
            None => fit.scores,
            Some(elo) => {
                let items = fit.scores.iter().zip(&fit.components.of);
                items.map(|(&score, component)| elo.points(score, component + 1)).collect()
            }
        };
        methods.push(MethodRanking {
            name: method.as_str(),
            flagged: fit.flagged.iter().sum::<f64>() as u64,
            status: fit.status.as_str(),
            certificate: CertificateSummary::new(&fit.certificate),
            scale: elo.as_ref().map(ScaleSummary::new),
            ranks,
            scores,
        });
    }
    let kendall = methods
        .iter()
        .map(|a| methods.iter().map(|b| kendall::tau(&a.scores, &b.scores)).collect())
        .collect();
    let items = study.items.iter().map(str::to_owned).collect();
    let reference = options.reference.as_str();
    Ok(MethodComparison { by: study.by, reference, methods, items, kendall })
}

/// The given methods; if none is given, all that support the number of items, and `crowd` only if
/// there are annotators.
fn methods_to_compare(
    graph: &ComparisonGraph,
    has_annotators: bool,
    given: &[Method],
    observer: &dyn Observer,
) -> Vec<Method> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let largest = graph.components().iter().map(<[u32]>::len).max().unwrap_or(0);
    let supports = |method: &Method| match method.info().max_items {
        Some(max) if largest > max => {
            observer.warn(&format!(
                "{method} is left out: it supports at most {} items, and there are {}",
                thousands(max as u64),
                thousands(largest as u64)
            ));
            false
        }
        _ => has_annotators || !method.needs_annotators(),
    };
    Method::ALL.iter().copied().filter(supports).collect()
}

/// One row per study, item and method.
fn long_table(comparisons: &[MethodComparison]) -> Table {
    let mut by = Vec::new();
    let (mut items, mut names) = (Vec::new(), Vec::new());
    let (mut ranks, mut scores, mut differs) = (Vec::new(), Vec::new(), Vec::new());
    for comparison in comparisons {
        let reference = comparison.methods.iter().find(|m| m.name == comparison.reference);
        for method in &comparison.methods {
            for (i, item) in comparison.items.iter().enumerate() {
                by.push(comparison.by.clone());
                items.push(Some(item.clone()));
                names.push(Some(method.name.to_owned()));
                ranks.push(Some(u64::from(method.ranks[i])));
                scores.push(Some(method.scores[i] + 0.0));
                differs.push(reference.is_some_and(|r| r.ranks[i] != method.ranks[i]));
            }
        }
    }
    let mut table = Table::default();
    if comparisons.iter().any(|comparison| comparison.by.is_some()) {
        table.push("by", Column::Text(by));
    }
    table.push("item", Column::Text(items));
    table.push("method", Column::Text(names));
    table.push("rank", Column::Whole(ranks));
    table.push("score", Column::Number(scores));
    table.push("differs", Column::Truth(differs));
    table
}

impl Document for CompareDocument {
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        let header = Header::new("hodgerank/compare/1", &[], provenance);
        let input = InputJson::of_files(provenance);
        let Self { comparisons, excluded, excluded_items } = self;
        let (excluded, excluded_items) = (*excluded, excluded_items.as_ref());
        write_json(&CompareJson { header, input, comparisons, excluded, excluded_items }, out)
    }

    fn table(&self) -> io::Result<Table> {
        Ok(long_table(&self.comparisons))
    }
}
