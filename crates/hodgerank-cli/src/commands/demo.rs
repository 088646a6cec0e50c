//! `hodgerank demo`: the main job on a small study, with nothing to prepare.
//!
//! Thirty people say which of two coffees they prefer. Most answer with care; some toss a coin,
//! some answer the opposite on purpose, one always clicks the left picture.

use std::path::Path;

use clap::Args;
use hodgerank::annotators::AnnotatorTallies;
use hodgerank::fit::FitOptions;
use hodgerank::simulate::{AnnotatorKind, Noise, SimulateOptions, SimulatedVote, Simulation};
use hodgerank::{Comparison, ComparisonGraph, Groups, Labels};
use hodgerank_commands::rank::Ranked;
use hodgerank_commands::{CountedStudy, RankedStudy, annotators, rank_study, report, simulate};
use hodgerank_io::write::{AnnotatorRow, Output, RankTable, RejectedSummary};

use super::rank;
use crate::failure::Failure;
use crate::flags::{OutputFormat, OutputOptions};
use crate::terminal::{Terminal, thousands};

/// Flags of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    /// Same seed, same study
    #[arg(long, value_name = "SEED", default_value_t = 11)]
    seed: u64,
    /// File of the report that the demo ends with
    #[arg(long, short, value_name = "FILE", default_value = "hodgerank-demo.html")]
    output: String,
    /// Also write each chart of the report into this folder, as SVG and as PNG for print
    #[arg(long, value_name = "DIR")]
    figures: Option<String>,
}

const COFFEES: [&str; 12] = [
    "affogato",
    "americano",
    "café au lait",
    "cappuccino",
    "cold brew",
    "cortado",
    "espresso",
    "filter",
    "flat white",
    "instant",
    "macchiato",
    "mocha",
];

pub(crate) fn run(options: &DemoOptions, terminal: &Terminal) -> Result<(), Failure> {
    let mut simulation = Simulation::new(&SimulateOptions {
        items: COFFEES.len(),
        votes: 3000,
        ties: 0.05,
        noise: Noise::BradleyTerry { scale: 0.15 },
        annotators: vec![
            (AnnotatorKind::Careful, 24),
            (AnnotatorKind::Careless, 3),
            (AnnotatorKind::Malicious, 2),
            (AnnotatorKind::AlwaysLeft, 1),
        ],
        seed: options.seed,
        ..SimulateOptions::default()
    })?;
    let votes: Vec<_> = simulation.by_ref().collect();
    let bad = votes.iter().filter(|vote| vote.bad).count();
    terminal.note(&format!(
        "A made-up study: {} annotators compare {} coffees two at a time. 24 are careful, 3 toss a \
         coin,\n2 answer the opposite on purpose and 1 always clicks left: {} of {} votes are bad.\n",
        simulation.annotators().len(),
        COFFEES.len(),
        thousands(bad as u64),
        thousands(votes.len() as u64),
    ));

    let comparisons: Vec<Comparison> = votes.iter().map(|vote| vote.comparison()).collect();
    let groups = Groups::merge(COFFEES.len(), &comparisons)?.groups;
    let study = CountedStudy {
        by: None,
        items: COFFEES.into_iter().collect::<Labels>(),
        groups: groups.len(),
        graph: ComparisonGraph::new(COFFEES.len(), groups)?,
        rows: votes.len() as u64,
        comparisons: votes.len() as u64,
        annotators: simulation.annotators().len(),
    };
    let page = Output::create(&options.output)?;
    let fit_options = FitOptions::default();
    let mut judged = rank_study(study, 0, &fit_options, terminal)?;
    judged.table.annotators = Some(who_voted(&judged, &votes, simulation.annotators())?);
    let agreement = agreement(&judged.table, simulation.truth());
    let none = RejectedSummary { rows: 0, first: Vec::new() };
    let (form, output) = (OutputFormat::Table, OutputOptions::default());
    let ranked = Ranked { tables: vec![judged.table.clone()], rejected: none };
    rank::write(&ranked, form, &output, Output::standard())?;
    let title = "Which coffee? (a made-up study)".to_owned();
    let figures = options.figures.as_deref().map(Path::new);
    report::write(&[judged], title, &fit_options, figures, page, terminal)?;
    terminal.note(&format!(
        "\n{:.0}% of all pairs stand in their true order.\n\nThe report, for your browser: {}\n\n\
         Now your own votes:\n  \
         hodgerank rank votes.csv\n  \
         hodgerank report votes.csv -o report.html\n  \
         hodgerank rank votes.parquet --annotator worker --format json -o ranking.json\n  \
         hodgerank outliers votes.csv --annotators\n  \
         hodgerank simulate --items 100 --votes 100000 --flips 5% -o votes.csv\n  \
         hodgerank rank --help",
        100.0 * agreement,
        options.output,
    ));
    Ok(())
}

/// The annotators, named after what they are, as the second pass over a file would list them.
fn who_voted(
    judged: &RankedStudy,
    votes: &[SimulatedVote],
    kinds: &[AnnotatorKind],
) -> Result<Vec<AnnotatorRow>, Failure> {
    let names = simulate::annotator_names(kinds);
    let names: Labels = names.iter().map(String::as_str).collect();
    let groups = judged.graph.groups();
    let mut tallies = AnnotatorTallies::new();
    for vote in votes {
        let group = groups.find(vote.left, vote.right, vote.y);
        let flagged = group.is_some_and(|group| judged.fit.flagged[group] > 0.0);
        let scores = &judged.fit.scores;
        annotators::count(&mut tallies, scores, vote.comparison(), true, flagged, 1);
    }
    Ok(annotators::rows(&tallies, &names, true)?)
}

/// Share of pairs that the ranking puts in the order of the true scores.
fn agreement(table: &RankTable, truth: &[f64]) -> f64 {
    let place = |name: &str| COFFEES.iter().position(|coffee| *coffee == name).unwrap_or(0);
    let scores: Vec<(f64, f64)> =
        table.ranking.iter().map(|row| (row.score, truth[place(&row.item)])).collect();
    let mut agreeing = 0;
    let mut pairs = 0;
    for (k, a) in scores.iter().enumerate() {
        for b in &scores[k + 1..] {
            pairs += 1;
            agreeing += usize::from((a.0 - b.0) * (a.1 - b.1) > 0.0);
        }
    }
    f64::from(agreeing as u32) / f64::from(pairs)
}
