//! `hodgerank path`: the whole regularisation path as a long table, for plotting.

use std::io::{self, Write as _};

use clap::{Args, ValueEnum};
use hodgerank::path::Change;
use hodgerank::{ComparisonGraph, Path, fit};
use hodgerank_io::Study;
use hodgerank_io::write::{Column, Output, Table};
use serde::Serialize;

use super::rank;
use crate::args::{InputOptions, OutputFormat, OutputOptions};
use crate::failure::Failure;
use crate::method::MethodOptions;
use crate::table::{Style, visible};
use crate::terminal::{Terminal, Work};

/// Flags of `path`.
#[derive(Debug, Args)]
pub(crate) struct PathOptions {
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) method: MethodOptions,
    /// What to list along the path
    #[arg(long, value_enum, default_value_t = What::Scores)]
    what: What,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// The score of each item at each knot kept
    Scores,
    /// Each vote that becomes flagged, or trusted again
    Events,
}

/// One line: an item's score at a knot, or a change of a group at one.
#[derive(Debug, Serialize)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    knot: u64,
    /// λ or t.
    at: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<Event>,
}

#[derive(Debug, Serialize)]
struct Event {
    change: &'static str,
    left: String,
    right: String,
    y: f64,
    votes: u64,
    residual: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    parameter: &'static str,
    status: &'static str,
    lines: Vec<Line>,
}

pub(crate) fn run(
    options: &PathOptions,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let fit_options = options.method.fit_options()?;
    let format = options.output.format()?;
    let mut output = Output::create(options.output.output.as_deref().unwrap_or("-"))?;
    let input = rank::read(&options.input, threads, terminal)?;
    terminal.list_rejected(&input.rejected);
    let mut documents = Vec::new();
    for study in input.studies {
        let Study { by, items, groups, .. } = study;
        let graph = ComparisonGraph::new(items.len(), groups)?;
        let path = terminal.watch(Work::Step("walking"), || fit::path(&graph, &fit_options))?;
        let lines = match options.what {
            What::Scores => score_lines(&path, by.as_deref(), |item| items.name(item)),
            What::Events => event_lines(&path, &graph, by.as_deref(), |item| items.name(item)),
        };
        let (parameter, status) = (path.parameter.as_str(), path.status.as_str());
        terminal.note(&format!(
            "{} knots along {parameter}, {} changes, ended {status}",
            path.knots.len(),
            path.events.len()
        ));
        documents.push(Document { schema: "hodgerank/path/1", parameter, status, lines });
    }
    let written = match format {
        OutputFormat::Json => {
            let written = match &documents[..] {
                [only] => serde_json::to_writer_pretty(&mut output, only),
                several => serde_json::to_writer_pretty(&mut output, several),
            };
            written.map_err(io::Error::from).and_then(|()| output.write_all(b"\n"))
        }
        OutputFormat::Csv => long_table(&documents, options.what).write_csv(&mut output),
        OutputFormat::Parquet => long_table(&documents, options.what).write_parquet(&mut output),
        OutputFormat::Table => {
            let style = Style::here(&options.output);
            documents.iter().try_for_each(|document| draw(document, style, &mut output))
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    Ok(())
}

fn score_lines<'a>(path: &Path, by: Option<&str>, name: impl Fn(u32) -> &'a str) -> Vec<Line> {
    let mut lines = Vec::new();
    for (s, &knot) in path.snapshot_knots().iter().enumerate() {
        for (item, &score) in path.snapshot(s).iter().enumerate() {
            lines.push(Line {
                by: by.map(str::to_owned),
                knot: u64::from(knot),
                at: path.knots[knot as usize],
                item: Some(name(item as u32).to_owned()),
                score: Some(score + 0.0),
                event: None,
            });
        }
    }
    lines
}

fn event_lines<'a>(
    path: &Path,
    graph: &ComparisonGraph,
    by: Option<&str>,
    name: impl Fn(u32) -> &'a str,
) -> Vec<Line> {
    let groups = graph.groups();
    let line = |event: &hodgerank::path::Event| {
        let g = event.group as usize;
        let (change, residual) = match event.change {
            Change::Entered(residual) => ("entered", Some(residual)),
            Change::Left => ("left", None),
        };
        Line {
            by: by.map(str::to_owned),
            knot: u64::from(event.knot),
            at: path.knots[event.knot as usize],
            item: None,
            score: None,
            event: Some(Event {
                change,
                left: name(groups.left[g]).to_owned(),
                right: name(groups.right[g]).to_owned(),
                y: groups.y[g],
                votes: groups.weight[g] as u64,
                residual,
            }),
        }
    };
    path.events.iter().map(line).collect()
}

fn long_table(documents: &[Document], what: What) -> Table {
    let lines = || documents.iter().flat_map(|document| &document.lines);
    let mut table = Table::default();
    if lines().any(|line| line.by.is_some()) {
        table.push("by", Column::Text(lines().map(|line| line.by.clone()).collect()));
    }
    let parameter = documents.first().map_or("at", |document| document.parameter);
    table.push("knot", Column::Whole(lines().map(|line| Some(line.knot)).collect()));
    table.push(parameter, Column::Number(lines().map(|line| Some(line.at)).collect()));
    if what == What::Scores {
        table.push("item", Column::Text(lines().map(|line| line.item.clone()).collect()));
        table.push("score", Column::Number(lines().map(|line| line.score).collect()));
        return table;
    }
    let events = || lines().filter_map(|line| line.event.as_ref());
    table.push("change", Column::Text(events().map(|e| Some(e.change.to_owned())).collect()));
    table.push("left", Column::Text(events().map(|e| Some(e.left.clone())).collect()));
    table.push("right", Column::Text(events().map(|e| Some(e.right.clone())).collect()));
    table.push("y", Column::Number(events().map(|e| Some(e.y)).collect()));
    table.push("votes", Column::Whole(events().map(|e| Some(e.votes)).collect()));
    table.push("residual", Column::Number(events().map(|e| e.residual).collect()));
    table
}

fn draw(document: &Document, style: Style, out: &mut impl io::Write) -> io::Result<()> {
    let mut table = style.table();
    table.set_header(vec!["knot", document.parameter, "what", "value"]);
    let most = if style.top > 0 { style.top } else { usize::MAX };
    for line in document.lines.iter().take(most) {
        let (what, value) = match (&line.item, &line.event) {
            (Some(item), _) => (visible(item), line.score),
            (None, Some(event)) => {
                let pair = format!("{} – {}", visible(&event.left), visible(&event.right));
                let Event { change, y, votes, .. } = event;
                (format!("{change}: {pair}, y = {y}, {votes} votes"), event.residual)
            }
            (None, None) => continue,
        };
        let value = value.map_or(String::new(), |value| format!("{value:.4}"));
        table.add_row(vec![line.knot.to_string(), format!("{:.5}", line.at), what, value]);
    }
    writeln!(out, "{table}")?;
    if document.lines.len() > most {
        let more = document.lines.len() - most;
        writeln!(out, "… and {more} lines more (--top 0 shows all; --format csv has all)")?;
    }
    Ok(())
}
