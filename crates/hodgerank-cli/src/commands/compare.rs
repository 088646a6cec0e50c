//! `hodgerank compare`: all methods side by side.

use std::io::{self, Write as _};

use clap::Args;
use hodgerank::fit::{self, FitOptions, Method};
use hodgerank::{ComparisonGraph, Ranking, kendall};
use hodgerank_io::Study;
use hodgerank_io::write::{Column, Output, Table};
use serde::Serialize;

use super::rank;
use crate::args::{InputOptions, OutputFormat, OutputOptions};
use crate::failure::Failure;
use crate::method::{MethodName, MethodOptions};
use crate::table::{Style, visible};
use crate::terminal::{Terminal, Work};

/// Flags of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// Methods to compare
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "METHOD,…",
        default_value = "lasso-l2,l2,ridge,pc-lasso,ilts,iht,hlasso,lbi,iss"
    )]
    methods: Vec<MethodName>,
    /// Method whose ranks the others are measured by
    #[arg(long, value_enum, default_value_t = MethodName::LassoL2)]
    reference: MethodName,
    #[command(flatten)]
    pub(crate) method: MethodOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// The methods' rankings of one study.
#[derive(Debug, Serialize)]
struct Comparison {
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    reference: &'static str,
    methods: Vec<MethodRanking>,
    items: Vec<String>,
    /// Kendall's τ between methods, in their order.
    kendall: Vec<Vec<f64>>,
}

/// One method; ranks and scores stand in the order of `items`.
#[derive(Debug, Serialize)]
struct MethodRanking {
    name: &'static str,
    flagged: u64,
    status: &'static str,
    ranks: Vec<u32>,
    scores: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    comparisons: Vec<Comparison>,
}

pub(crate) fn run(
    options: &CompareOptions,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let fit_options = options.method.shared_options()?;
    let format = options.output.format()?;
    let mut output = Output::create(options.output.output.as_deref().unwrap_or("-"))?;
    let input = rank::read(&options.input, threads, terminal)?;
    terminal.list_rejected(&input.rejected);
    let mut comparisons = Vec::new();
    for study in input.studies {
        comparisons.push(compare(study, options, &fit_options, terminal)?);
    }
    let written = match format {
        OutputFormat::Json => {
            let document = Document { schema: "hodgerank/compare/1", comparisons };
            let written = serde_json::to_writer_pretty(&mut output, &document);
            written.map_err(io::Error::from).and_then(|()| output.write_all(b"\n"))
        }
        OutputFormat::Csv => long_table(&comparisons).write_csv(&mut output),
        OutputFormat::Parquet => long_table(&comparisons).write_parquet(&mut output),
        OutputFormat::Table => {
            let style = Style::here(&options.output);
            comparisons.iter().try_for_each(|comparison| draw(comparison, style, &mut output))
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    Ok(())
}

fn compare(
    study: Study,
    options: &CompareOptions,
    fit_options: &FitOptions,
    terminal: &Terminal,
) -> Result<Comparison, Failure> {
    let graph = ComparisonGraph::new(study.items.len(), study.groups)?;
    let mut methods = Vec::new();
    for &name in &options.methods {
        let method = Method::from(name);
        let fit_options = FitOptions { method: Some(method), ..*fit_options };
        let fit = terminal.watch(Work::Step(method.as_str()), || fit::fit(&graph, &fit_options))?;
        let mut ranks = vec![0; graph.items()];
        for row in Ranking::new(&graph, &fit.scores).items {
            ranks[row.item as usize] = row.rank;
        }
        methods.push(MethodRanking {
            name: method.as_str(),
            flagged: fit.flagged.iter().sum::<f64>() as u64,
            status: fit.status,
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
fn long_table(comparisons: &[Comparison]) -> Table {
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

/// Items in the order of the reference; a rank that differs from its is marked with a star.
fn draw(comparison: &Comparison, style: Style, out: &mut impl io::Write) -> io::Result<()> {
    if let Some(by) = &comparison.by {
        writeln!(out, "── {} ──", visible(by))?;
    }
    let reference = comparison.methods.iter().find(|m| m.name == comparison.reference);
    let lead = reference.or(comparison.methods.first());
    let mut order: Vec<usize> = (0..comparison.items.len()).collect();
    if let Some(lead) = lead {
        order.sort_by_key(|&i| lead.ranks[i]);
    }
    if style.top > 0 {
        order.truncate(style.top);
    }
    // Nine methods with their scores need a wide screen; ranks alone fit everywhere.
    let with_scores = usize::from(style.width) >= 16 + 13 * comparison.methods.len();
    let mut table = style.table();
    let names = comparison.methods.iter().map(|method| method.name.to_owned());
    table.set_header(std::iter::once("item".to_owned()).chain(names));
    for &i in &order {
        let cells = comparison.methods.iter().map(|method| {
            let differs = reference.is_some_and(|r| r.ranks[i] != method.ranks[i]);
            let star = if differs { "*" } else { "" };
            let score =
                if with_scores { format!(" ({:.3})", method.scores[i]) } else { String::new() };
            format!("{}{star}{score}", method.ranks[i])
        });
        table.add_row(std::iter::once(visible(&comparison.items[i])).chain(cells));
    }
    let flagged = comparison.methods.iter().map(|method| method.flagged.to_string());
    table.add_row(std::iter::once("votes flagged".to_owned()).chain(flagged));
    if let Some(place) = comparison.methods.iter().position(|m| m.name == comparison.reference) {
        let taus = comparison.kendall[place].iter().map(|tau| format!("{tau:.3}"));
        table.add_row(std::iter::once(format!("τ with {}", comparison.reference)).chain(taus));
    }
    writeln!(out, "{table}\n* rank differs from that of {}", comparison.reference)?;
    if !with_scores {
        writeln!(out, "scores: on a wider terminal, or with --format csv, json or parquet")?;
    }
    Ok(())
}
