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
use crate::table::{Style, room, visible, write_by};
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
    write_by(comparison.by.as_deref(), out)?;
    let reference = comparison.methods.iter().find(|m| m.name == comparison.reference);
    let lead = reference.or(comparison.methods.first());
    let mut order: Vec<usize> = (0..comparison.items.len()).collect();
    if let Some(lead) = lead {
        order.sort_by_key(|&i| lead.ranks[i]);
    }
    if style.top > 0 {
        order.truncate(style.top);
    }
    let mut names: Vec<String> = vec!["item".to_owned()];
    names.extend(order.iter().map(|&i| visible(&comparison.items[i])));
    names.push("votes flagged".to_owned());
    let place = comparison.methods.iter().position(|m| m.name == comparison.reference);
    names.extend(place.map(|_| format!("τ with {}", comparison.reference)));
    let column = |(m, method): (usize, &MethodRanking), with_scores: bool| {
        let cell = |&i: &usize| {
            let differs = reference.is_some_and(|r| r.ranks[i] != method.ranks[i]);
            let star = if differs { "*" } else { "" };
            let score =
                if with_scores { format!(" ({:.3})", method.scores[i]) } else { String::new() };
            format!("{}{star}{score}", method.ranks[i])
        };
        let mut cells: Vec<String> = vec![method.name.to_owned()];
        cells.extend(order.iter().map(cell));
        cells.push(method.flagged.to_string());
        cells.extend(place.map(|place| format!("{:.3}", comparison.kendall[place][m])));
        cells
    };
    let columns = |with_scores: bool| -> Vec<Vec<String>> {
        comparison.methods.iter().enumerate().map(|method| column(method, with_scores)).collect()
    };
    // Nine methods with their scores need a wide screen; ranks alone need less, and part where even
    // they do not fit.
    let width = usize::from(style.width);
    let (wide, narrow) = (columns(true), columns(false));
    let with_scores = blocks(&names, &wide, width).len() <= 1;
    let shown = if with_scores { wide } else { narrow };
    for block in blocks(&names, &shown, width) {
        let mut table = style.table();
        let row = |r: usize| std::iter::once(&names).chain(block).map(move |cells| &cells[r]);
        table.set_header(row(0));
        for r in 1..names.len() {
            table.add_row(row(r));
        }
        writeln!(out, "{table}")?;
    }
    writeln!(out, "* rank differs from that of {}", comparison.reference)?;
    if !with_scores {
        writeln!(out, "scores: on a wider terminal, or with --format csv, json or parquet")?;
    }
    Ok(())
}

/// As many columns beside the names as fit, then the next ones.
fn blocks<'a>(
    names: &[String],
    columns: &'a [Vec<String>],
    width: usize,
) -> Vec<&'a [Vec<String>]> {
    let text = |cells: &'a [String]| cells.iter().map(String::as_str);
    let taken = room(names.iter().map(String::as_str), true);
    let rooms: Vec<usize> = columns.iter().map(|cells| room(text(cells), false)).collect();
    let mut blocks = Vec::new();
    let mut start = 0;
    while start < columns.len() {
        let mut end = start + 1;
        // The last column needs no gap after it.
        while end < columns.len() && taken + rooms[start..=end].iter().sum::<usize>() <= width + 1 {
            end += 1;
        }
        blocks.push(&columns[start..end]);
        start = end;
    }
    blocks
}
