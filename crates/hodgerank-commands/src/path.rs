//! `path`: the whole regularisation path as a long table, for plotting.

use std::io;

use clap::{Args, ValueEnum};
use hodgerank::path::Change;
use hodgerank::{ComparisonGraph, FitOptions, Path, Study, fit};
use hodgerank_io::write::{Column, Table};
use hodgerank_report::chart::Chart;
use hodgerank_report::figure;
use hodgerank_report::study::path_chart;
use serde::Serialize;

use crate::document::{Document, ExcludedSummary, write_json};
use crate::document::{Header, InputJson};
use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, ReadsVotes, VoteSource};
use crate::observer::{Observer, Task};
use crate::provenance::Provenance;

/// Arguments of `path`.
#[derive(Debug, Args)]
pub struct PathArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// Whose path, and how far.
    #[command(flatten)]
    pub method: FitOptions,
    /// What to list along the path
    #[arg(long, value_enum, default_value_t = What::Scores)]
    pub what: What,
}

impl ReadsVotes for PathArgs {
    fn input(&self) -> &InputOptions {
        &self.input
    }
}

/// Paths, one per study.
#[derive(Debug)]
pub struct PathDocument {
    /// The paths.
    pub paths: Vec<StudyPath>,
    /// What is listed.
    pub what: What,
}

/// What to list along the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The score of each item at each knot kept
    Scores,
    /// Each vote that becomes flagged, or trusted again
    Events,
}

/// An item's score at a knot, or an event at a knot.
#[derive(Debug, Serialize)]
pub struct PathRow {
    /// The value of the `--by` column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The knot, from 0.
    pub knot: u64,
    /// λ or t.
    pub at: f64,
    /// The item whose score it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// Its score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<PathEvent>,
}

/// A distinct vote that becomes flagged or trusted again.
#[derive(Debug, Serialize)]
pub struct PathEvent {
    /// `entered` (flagged from here on) or `left` (trusted again).
    pub change: &'static str,
    /// The item on the left.
    pub left: String,
    /// The item on the right.
    pub right: String,
    /// What the votes say.
    pub y: f64,
    /// How many they are.
    pub votes: u64,
    /// Their residual when they entered.
    pub residual: Option<f64>,
}

/// The path of one study.
#[derive(Debug, Serialize)]
pub struct StudyPath {
    /// `lambda` or `time`.
    pub parameter: &'static str,
    /// How the path ended.
    pub status: &'static str,
    /// What was left out of all studies with excluded annotators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded: Option<ExcludedSummary>,
    /// The lines.
    pub lines: Vec<PathRow>,
    /// The scores along the path, drawn.
    #[serde(skip)]
    chart: Chart,
}

/// Computes the paths.
///
/// # Errors
/// If an option is invalid, the votes cannot be read, or a solver fails.
pub fn path(
    votes: &VoteSource,
    options: &PathArgs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<PathDocument, Failure> {
    let fit_options = options.method;
    fit_options.validate()?;
    let input = votes.read(&ReadPlan::new(&options.input, Kept::default(), threads), observer)?;
    let excluded = input.excluded.as_ref().map(ExcludedSummary::from);
    let mut paths = Vec::new();
    for study in input.studies {
        let Study { by, items, groups, .. } = study;
        let graph = ComparisonGraph::new(items.len(), groups)?;
        let path = observer
            .run(Task::Step("computing the path"), || fit::path(&graph, &fit_options))?
            .map_err(|error| error.with_labels(&items))?;
        let lines = match options.what {
            What::Scores => score_lines(&path, by.as_deref(), |item| items.name(item)),
            What::Events => event_lines(&path, &graph, by.as_deref(), |item| items.name(item)),
        };
        let (parameter, status) = (path.parameter.as_str(), path.status.as_str());
        observer.note(&format!(
            "{} knots along {parameter}, {} events, status {status}",
            path.knots.len(),
            path.events.len()
        ));
        let chart = path_chart(&path, &graph, &items);
        paths.push(StudyPath { parameter, status, excluded, lines, chart });
    }
    Ok(PathDocument { paths, what: options.what })
}

fn score_lines<'a>(path: &Path, by: Option<&str>, name: impl Fn(u32) -> &'a str) -> Vec<PathRow> {
    let mut lines = Vec::new();
    for (s, &knot) in path.snapshot_knots().iter().enumerate() {
        for (item, &score) in path.snapshot(s).iter().enumerate() {
            lines.push(PathRow {
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
) -> Vec<PathRow> {
    let groups = graph.groups();
    let line = |event: &hodgerank::path::Event| {
        let g = event.group as usize;
        let (change, residual) = match event.change {
            Change::Entered(residual) => ("entered", Some(residual)),
            Change::Left => ("left", None),
        };
        PathRow {
            by: by.map(str::to_owned),
            knot: u64::from(event.knot),
            at: path.knots[event.knot as usize],
            item: None,
            score: None,
            event: Some(PathEvent {
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

/// All lines as one table.
fn long_table(paths: &[StudyPath], what: What) -> Table {
    let lines = || paths.iter().flat_map(|path| &path.lines);
    let mut table = Table::default();
    if lines().any(|line| line.by.is_some()) {
        table.push("by", Column::Text(lines().map(|line| line.by.clone()).collect()));
    }
    let parameter = paths.first().map_or("at", |path| path.parameter);
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

/// The JSON of one study.
#[derive(Serialize)]
struct PathJson<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<InputJson<'a>>,
    #[serde(flatten)]
    path: &'a StudyPath,
}

impl Document for PathDocument {
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        let to_json = |path| {
            let header = Header::new("hodgerank/path/1", &[], provenance);
            PathJson { header, input: InputJson::of_files(provenance), path }
        };
        match &self.paths[..] {
            [only] => write_json(&to_json(only), out),
            several => write_json(&several.iter().map(to_json).collect::<Vec<_>>(), out),
        }
    }

    fn table(&self) -> io::Result<Table> {
        Ok(long_table(&self.paths, self.what))
    }

    fn figures(&self) -> Vec<String> {
        self.paths.iter().map(|path| figure::draw(&path.chart).into_svg()).collect()
    }
}
