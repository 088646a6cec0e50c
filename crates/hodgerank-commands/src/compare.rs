//! `compare`: all methods side by side.

use std::io;

use arrow_array::RecordBatch;
use clap::Args;
use hodgerank::fit::{self, FitOptions, Method};
use hodgerank::{ComparisonGraph, Ranking, kendall};
use hodgerank_io::Study;
use hodgerank_io::write::{Column, Table};
use serde::Serialize;

use crate::answer::Answer;
use crate::failure::Failure;
use crate::input::{InputOptions, Votes};
use crate::method::{MethodName, MethodOptions};
use crate::watch::{Watch, Work};

/// Options of `compare`.
#[derive(Debug, Args)]
pub struct CompareOptions {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// Methods to compare
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "METHOD,…",
        default_value = "lasso-l2,l2,ridge,pc-lasso,ilts,iht,hlasso,lbi,iss"
    )]
    pub methods: Vec<MethodName>,
    /// Method whose ranks the others are measured by
    #[arg(long, value_enum, default_value_t = MethodName::LassoL2)]
    pub reference: MethodName,
    /// Options that the methods share.
    #[command(flatten)]
    pub method: MethodOptions,
}

/// Comparisons, one for each study.
#[derive(Debug)]
pub struct Compared {
    /// The comparisons.
    pub comparisons: Vec<Comparison>,
}

/// The methods' rankings of one study.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The value of the `--by` column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The method whose ranks the others are measured by.
    pub reference: &'static str,
    /// The methods, in the order asked for.
    pub methods: Vec<MethodRanking>,
    /// Names of the items.
    pub items: Vec<String>,
    /// Kendall's τ between methods, in their order.
    pub kendall: Vec<Vec<f64>>,
}

/// One method; ranks and scores stand in the order of `items`.
#[derive(Debug, Serialize)]
pub struct MethodRanking {
    /// Its name.
    pub name: &'static str,
    /// How many votes it flagged.
    pub flagged: u64,
    /// How it ended.
    pub status: &'static str,
    /// Rank of each item.
    pub ranks: Vec<u32>,
    /// Score of each item.
    pub scores: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    comparisons: &'a [Comparison],
}

/// Ranks with all methods.
///
/// # Errors
/// If an option makes no sense, the votes cannot be read, or a solver fails.
pub fn compare(
    votes: &Votes,
    options: &CompareOptions,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Compared, Failure> {
    let fit_options = options.method.shared_options()?;
    let input = votes.read(&options.input, threads, watch)?;
    let compare = |study| compare_study(study, options, &fit_options, watch);
    let comparisons = input.studies.into_iter().map(compare).collect::<Result<_, _>>()?;
    Ok(Compared { comparisons })
}

fn compare_study(
    study: Study,
    options: &CompareOptions,
    fit_options: &FitOptions,
    watch: &dyn Watch,
) -> Result<Comparison, Failure> {
    let graph = ComparisonGraph::new(study.items.len(), study.groups)?;
    let mut methods = Vec::new();
    for &name in &options.methods {
        let method = Method::from(name);
        let fit_options = FitOptions { method: Some(method), ..*fit_options };
        let fit = watch.watch(Work::Step(method.as_str()), || fit::fit(&graph, &fit_options))??;
        let mut ranks = vec![0; graph.items()];
        for row in Ranking::new(&graph, &fit.scores).items {
            ranks[row.item as usize] = row.rank;
        }
        methods.push(MethodRanking {
            name: method.as_str(),
            flagged: fit.flagged.iter().sum::<f64>() as u64,
            status: fit.status.as_str(),
            ranks,
            scores: fit.scores,
        });
    }
    let kendall = methods
        .iter()
        .map(|a| methods.iter().map(|b| kendall::tau(&a.scores, &b.scores)).collect())
        .collect();
    let items = study.items.iter().map(str::to_owned).collect();
    let reference = Method::from(options.reference).as_str();
    Ok(Comparison { by: study.by, reference, methods, items, kendall })
}

/// One row for each study, item and method.
#[must_use]
pub fn long_table(comparisons: &[Comparison]) -> Table {
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

impl Answer for Compared {
    fn write_json(&self, mut out: &mut dyn io::Write) -> io::Result<()> {
        let document = Document { schema: "hodgerank/compare/1", comparisons: &self.comparisons };
        serde_json::to_writer_pretty(&mut out, &document)?;
        out.write_all(b"\n")
    }

    fn batch(&self) -> io::Result<RecordBatch> {
        long_table(&self.comparisons).batch()
    }
}
