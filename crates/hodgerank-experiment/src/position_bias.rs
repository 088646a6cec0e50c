//! Position bias with a false discovery rate: the simulation and the tables of Xu, Xiong, Cao and Yao (ICML 2016).
//!
//! | paper | here |
//! |---|---|
//! | 16 items, 150 annotators, 50 of them with position bias | the same; every annotator votes once on each pair, on random sides |
//! | a biased annotator clicks a side with probability 40 to 70% | the same; even numbers click left, odd ones right |
//! | other clicks are wrong with probability 10 to 40% | the same |
//! | q = 10%, ISS and LASSO | the same |
//! | one draw of knockoffs | e-values of 50 draws |
//!
//! With a folder of real studies, Human Age is compared with the paper's tables
//! (`golden/human-age-biased-annotators.csv` and `golden/human-age-position-bias.csv`). Small settings
//! repeat each cell twice, full ones 100 times.

mod human_age;

use hodgerank::position_bias::{BiasPath, PositionBiasOptions, position_bias};
use hodgerank::{AnnotatorVotes, Comparison, ComparisonGraph, Groups};
use hodgerank_io::write::Table;
use hodgerank_report::chart::{Axis, Chart, Colour, LegendEntry, Sign};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::charts::{self, chart};
use crate::columns::{counts, numbers, table, texts};
use crate::error::Result;
use crate::findings::{Claim, Findings};
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;
use crate::statistics::mean;

const ITEMS: u32 = 16;
const ANNOTATORS: u32 = 150;
const BIASED: u32 = 50;
/// Probabilities that a biased annotator clicks their side.
const PULLS: [f64; 4] = [0.4, 0.5, 0.6, 0.7];
/// Probabilities that another click is wrong.
const ERRORS: [f64; 4] = [0.1, 0.2, 0.3, 0.4];
const FULL_RUNS: u64 = 100;
const SMALL_RUNS: u64 = 2;
/// The largest mean share of mistakes in a cell: q and what chance adds to 100 runs.
const MAX_FDR: f64 = 0.13;
const MIN_DISCOVERIES: f64 = 49.0;
/// The smallest share of studies without bias in which nobody is selected.
const MIN_SILENT: f64 = 0.9;

/// One cell of the grid.
#[derive(Debug, Clone, Copy)]
struct Cell {
    path: BiasPath,
    /// 0 annotators have a bias in the cells that test for silence.
    biased: u32,
    pull: f64,
    error: f64,
}

/// Who was selected in a run.
#[derive(Debug, Clone, Copy)]
struct Selected {
    biased: f64,
    others: f64,
}

impl Selected {
    fn false_share(self) -> f64 {
        self.others / (self.biased + self.others).max(1.0)
    }
}

/// Repeats the experiment.
///
/// # Errors
/// If a solver fails, or a file of the folder cannot be read.
pub fn run(settings: &Settings, progress: &ProgressCallback<'_>) -> Result<Findings> {
    let runs = if settings.full { FULL_RUNS } else { SMALL_RUNS };
    let grid = |path: BiasPath| {
        let biased = PULLS
            .iter()
            .flat_map(move |&pull| ERRORS.map(|error| Cell { path, biased: BIASED, pull, error }));
        let silent = ERRORS.map(|error| Cell { path, biased: 0, pull: 0.0, error });
        biased.chain(silent)
    };
    let cells: Vec<Cell> = BiasPath::ALL.into_iter().flat_map(grid).collect();
    let steps = StepCounter::new(cells.len() * runs as usize, progress);
    let one = |(cell, run): (Cell, u64)| {
        let found = simulate(cell, settings.seed.wrapping_add(run));
        steps.advance();
        found
    };
    let tasks: Vec<(Cell, u64)> =
        cells.iter().flat_map(|&cell| (0..runs).map(move |run| (cell, run))).collect();
    let found: Vec<Selected> = tasks.into_par_iter().map(one).collect::<Result<_>>()?;
    let rows: Vec<CellResult> =
        cells.iter().zip(found.chunks(runs as usize)).map(CellResult::new).collect();
    let mut claims = claims(&rows);
    let mut tables = vec![("position-bias".to_owned(), grid_table(&rows))];
    if let Some(data) = &settings.data {
        let (found, table) = human_age::compare(data)?;
        claims.extend(found);
        tables.push(("position-bias-human-age".to_owned(), table));
    }
    Ok(Findings {
        title: format!(
            "Position bias: {ITEMS} items, {ANNOTATORS} annotators, {BIASED} of them biased, false \
             discovery rate 10%, {runs} runs per cell, seeds from {}",
            settings.seed
        ),
        claims,
        tables,
        charts: vec![fdr_chart(&rows)],
    })
}

/// Simulates a study and selects annotators; the same seed gives both paths the same votes.
fn simulate(cell: Cell, seed: u64) -> Result<Selected> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut place: Vec<u32> = (0..ITEMS).collect();
    place.shuffle(&mut random);
    let mut votes = Vec::new();
    for annotator in 0..ANNOTATORS {
        for (i, j) in (0..ITEMS).flat_map(|i| (i + 1..ITEMS).map(move |j| (i, j))) {
            let (left, right) = if random.random_bool(0.5) { (i, j) } else { (j, i) };
            let is_left_better = place[left as usize] < place[right as usize];
            let is_wrong = random.random_bool(cell.error);
            let is_pulled = annotator < cell.biased && random.random_bool(cell.pull);
            let prefers_left =
                if is_pulled { annotator % 2 == 0 } else { is_left_better != is_wrong };
            let vote = Comparison::new(left, right, if prefers_left { 1.0 } else { -1.0 });
            votes.push(Comparison { annotator: Some(annotator), ..vote });
        }
    }
    let groups = Groups::merge(ITEMS as usize, &votes)?.groups;
    let graph = ComparisonGraph::new(ITEMS as usize, groups)?;
    let votes = AnnotatorVotes::from_comparisons(ANNOTATORS as usize, &votes, true);
    let options = PositionBiasOptions { path: cell.path, ..PositionBiasOptions::default() };
    let found = position_bias(&graph, &votes, &options)?;
    let biased = found.selected().filter(|&annotator| annotator < cell.biased).count();
    let all = found.selected().count();
    Ok(Selected { biased: biased as f64, others: (all - biased) as f64 })
}

/// Means over the runs of a cell.
struct CellResult {
    cell: Cell,
    fdr: f64,
    discoveries: f64,
    selected: f64,
    /// Share of runs in which nobody was selected.
    silent: f64,
}

impl CellResult {
    fn new((&cell, runs): (&Cell, &[Selected])) -> Self {
        let is_silent = |run: &Selected| f64::from(u8::from(run.biased + run.others == 0.0));
        Self {
            cell,
            fdr: mean(runs.iter().map(|run| run.false_share())),
            discoveries: mean(runs.iter().map(|run| run.biased)),
            selected: mean(runs.iter().map(|run| run.biased + run.others)),
            silent: mean(runs.iter().map(is_silent)),
        }
    }
}

fn claims(rows: &[CellResult]) -> Vec<Claim> {
    let of_path = |path: BiasPath| {
        let cells = || rows.iter().filter(move |row| row.cell.path == path);
        let with_bias = || cells().filter(|row| row.cell.biased > 0);
        let fdr = with_bias().map(|row| row.fdr).fold(0.0, f64::max);
        let fewest = with_bias().map(|row| row.discoveries).fold(f64::INFINITY, f64::min);
        let silent = mean(cells().filter(|row| row.cell.biased == 0).map(|row| row.silent));
        let name = path.as_str();
        [
            Claim::new(
                format!("{name}: at most {MAX_FDR} of those selected are mistakes, in each cell"),
                format!("largest mean share {fdr:.3}"),
                fdr <= MAX_FDR,
            )
            .in_paper("the actual FDR is around q = 10%"),
            Claim::new(
                format!("{name}: at least {MIN_DISCOVERIES} of {BIASED} are found, in each cell"),
                format!("smallest mean {fewest:.2}"),
                fewest >= MIN_DISCOVERIES,
            )
            .in_paper("nearly all biased annotators are found"),
            Claim::new(
                format!("{name}: where nobody is biased, nobody is selected in 90% of the studies"),
                format!("{:.1}% of the studies", 100.0 * silent),
                silent >= MIN_SILENT,
            ),
        ]
    };
    BiasPath::ALL.into_iter().flat_map(of_path).collect()
}

fn grid_table(rows: &[CellResult]) -> Table {
    table([
        ("path", texts(rows.iter().map(|row| row.cell.path.as_str()))),
        ("biased_annotators", counts(rows.iter().map(|row| u64::from(row.cell.biased)))),
        ("pull", numbers(rows.iter().map(|row| row.cell.pull))),
        ("error", numbers(rows.iter().map(|row| row.cell.error))),
        ("fdr", numbers(rows.iter().map(|row| row.fdr))),
        ("true_discoveries", numbers(rows.iter().map(|row| row.discoveries))),
        ("selected", numbers(rows.iter().map(|row| row.selected))),
        ("nobody_selected", numbers(rows.iter().map(|row| row.silent))),
    ])
}

/// The mean share of mistakes of ISS against the error rate, a line for each pull.
fn fdr_chart(rows: &[CellResult]) -> Chart {
    let (mut marks, mut legend) = (Vec::new(), Vec::new());
    for (k, &pull) in PULLS.iter().enumerate() {
        let is_shown = |row: &&CellResult| {
            row.cell.path == BiasPath::Iss && row.cell.biased > 0 && row.cell.pull == pull
        };
        let points: Vec<(f64, f64)> =
            rows.iter().filter(is_shown).map(|row| (row.cell.error, row.fdr)).collect();
        let name = format!("pull {:.0}%", 100.0 * pull);
        marks.push(charts::line(Colour::Kind(k as u8), &points, &name));
        legend.push(LegendEntry::new(name, Colour::Kind(k as u8), Sign::Line));
    }
    let (title, alt) = (
        "Mistakes among those selected, q = 10%",
        "The mean share of mistakes among selected annotators, for four strengths of bias.",
    );
    let x = Axis::numbers("share of wrong clicks", ERRORS);
    let y = Axis::numbers("false discovery rate", rows.iter().map(|row| row.fdr).chain([0.0, 0.1]));
    let mut chart = chart("position-bias-fdr", title, alt, x, y, marks);
    chart.legend = legend;
    chart
}
