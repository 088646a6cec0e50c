//! `hodgerank demo`: ranks a small synthetic study, without any input.
//!
//! Thirty people say which of two coffees they prefer. Most are careful; some choose at random, some
//! give the opposite of the truth on purpose, one always clicks left.

use std::path::Path;

use clap::Args;
use hodgerank::simulate::{AnnotatorKind, Noise, SimulateOptions, Simulation};
use hodgerank::{
    AnnotatorVotes, Comparison, FitOptions, Groups, IntervalOptions, RankedStudy, Study,
};
use hodgerank_commands::rank::{AnnotatorLists, RankDocument};
use hodgerank_commands::{
    Provenance, UncountedRows, estimate_uncertainty, rank_study, report, simulate,
};
use hodgerank_io::text::visible_name;
use hodgerank_io::write::Outputs;
use hodgerank_report::figure::FigureOptions;

use crate::failure::RunFailure;
use crate::output::OutputOptions;
use crate::terminal::{Terminal, thousands};

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Seed of the study
    #[arg(long, value_name = "SEED", default_value_t = 11)]
    seed: u64,
    /// File for the report
    #[arg(long, short, value_name = "FILE", default_value = "hodgerank-demo.html")]
    output: String,
    /// Also write each chart of the report to this folder, as SVG, PDF and PNG
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

pub(crate) fn run(args: &DemoArgs, terminal: &Terminal) -> Result<(), RunFailure> {
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
        seed: args.seed,
        ..SimulateOptions::default()
    })?;
    let votes: Vec<_> = simulation.by_ref().collect();
    let bad = votes.iter().filter(|vote| vote.bad).count();
    terminal.note(&format!(
        "A synthetic study: {} annotators compare {} coffees, two at a time. 24 are careful, 3 choose at \
         random, 2 give the opposite answer on purpose and 1 always clicks left: {} of {} votes \
         are bad.\n",
        simulation.annotators().len(),
        COFFEES.len(),
        thousands(bad as u64),
        thousands(votes.len() as u64),
    ));

    let comparisons: Vec<Comparison> = votes.iter().map(|vote| vote.comparison()).collect();
    let names = simulate::annotator_names(simulation.annotators());
    let study = Study {
        by: None,
        items: COFFEES.into_iter().collect(),
        groups: Groups::merge(COFFEES.len(), &comparisons)?.groups,
        annotators: names.iter().map(String::as_str).collect(),
        annotator_votes: Some(AnnotatorVotes::from_comparisons(names.len(), &comparisons, true)),
        sides: None,
        rows: votes.len() as u64,
        comparisons: votes.len() as u64,
    };
    let mut outputs = Outputs::new(&[]);
    let page = outputs.claim("--output", &args.output)?;
    if let Some(folder) = &args.figures {
        outputs.claim_folder("--figures", folder)?;
    }
    let table = outputs.standard()?;
    let page = page.open()?;
    let ranked = rank_study(study, 0, &FitOptions::new(), terminal)?;
    let ranked = estimate_uncertainty(ranked, &IntervalOptions::default(), terminal)?;
    let agreement = agreement(&ranked, simulation.truth());
    let document = RankDocument {
        studies: vec![ranked],
        annotators: AnnotatorLists::None,
        corrected: Vec::new(),
        changes: Vec::new(),
        uncounted: UncountedRows::default(),
    };
    let options = OutputOptions { top: COFFEES.len(), ..OutputOptions::default() };
    options.to_output(table)?.write(&document, &Provenance::default())?;
    let title = "Which coffee? (a synthetic study)".to_owned();
    let figures = args.figures.as_deref().map(|folder| report::ReportFigures {
        folder: Path::new(folder),
        options: FigureOptions::default(),
        outputs: &mut outputs,
    });
    let options = report::PageOptions { title, ..report::PageOptions::default() };
    report::write(&document.studies, options, figures, page, terminal)?;
    let install = match is_installed() {
        true => "",
        false => {
            "To install the program:\n  cargo install --locked --path crates/hodgerank-cli\n\n"
        }
    };
    terminal.note(&format!(
        "\n{:.0}% of all pairs are ranked in their true order.\n\nReport: {}\n\n{install}\
         To rank your own votes:\n  \
         hodgerank rank votes.csv\n  \
         hodgerank report votes.csv -o report.html\n  \
         hodgerank rank votes.parquet --annotator worker --format json -o ranking.json\n  \
         hodgerank annotators votes.csv\n  \
         hodgerank simulate --items 100 --votes 100000 --flips 5% -o votes.csv\n  \
         hodgerank rank --help",
        100.0 * agreement,
        visible_name(&args.output),
    ));
    Ok(())
}

/// Whether a shell finds the program by its name.
fn is_installed() -> bool {
    let name = format!("hodgerank{}", std::env::consts::EXE_SUFFIX);
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(&name).is_file()))
}

/// The share of pairs that the ranking puts in the order of the true scores.
fn agreement(ranked: &RankedStudy, truth: &[f64]) -> f64 {
    let scores: Vec<(f64, f64)> =
        ranked.ranking.items.iter().map(|row| (row.score, truth[row.item as usize])).collect();
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
