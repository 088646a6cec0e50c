//! Experiment I: outlier detection on simulated studies with known outliers.
//!
//! Sixteen items in a random total order, SN votes on random pairs, a share OP of them reversed. The
//! order in which a path flags votes is an order of suspicion; its AUC is the probability that a bad
//! vote is more suspicious than a good one.
//!
//! | paper | here |
//! |---|---|
//! | SN 1000 … 5000, OP 5% … 50%, 20 runs | the same; small: 3 × 4 cells, 10 runs |
//! | LASSO path by `quadrupen` | exact knots of [`huber_lasso`], down to λ = 0 |
//! | LBI, κ and Δt not given | κ = 50 as in its tables; Δt = 1/1000, so that few votes enter in the same step |
//! | – | iss, the limit of LBI |
//!
//! Votes that a path never flags are ordered by their multipliers, see [`hodgerank::detection`]. A
//! path takes a few milliseconds.

mod paths;
use hodgerank::path::StopAt;
use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::solve::HuberLassoOptions;
use hodgerank::solve::bregman::{self, BregmanOptions};
use hodgerank::solve::huber_lasso::{self, Knots};
use hodgerank::solve::inverse_scale_space::{self, InverseScaleSpaceOptions};
use hodgerank::{ComparisonGraph, Method, Path, detection};
use hodgerank_report::chart::{Axis, Chart, Colour, LegendEntry, Mark, Sign};
use rayon::prelude::*;

use crate::charts::{Grid, axis, chart, heat_map, line};
use crate::columns::{counts, numbers, table, texts};
use crate::error::Result;
use crate::findings::{Claim, Findings};
use crate::labelled_study::LabelledStudy;
use crate::methods::KAPPA;
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;
use crate::statistics::{largest_difference, mean, range};

const ITEMS: usize = 16;
/// The methods with a path of their own; the first is the reference.
const METHODS: [Method; 3] = [Method::HuberLasso, Method::Bregman, Method::InverseScaleSpace];
const DT: f64 = 1e-3;
/// An AUC above this value is not required to increase further.
const SATURATED_AUC: f64 = 0.9999;
/// Lowest AUC of the colour scale: slightly below a random guess.
const MIN_AUC: f64 = 0.4;
/// Number of votes and share of outliers of the study whose ROC and paths are shown.
const SHOWN: (u64, f64) = (2000, 0.05);
/// Share of votes flagged at the end of the paths that are shown: several times the outliers.
const SHOWN_SHARE: f64 = 0.25;
/// Never reached: a full path of hlasso has a few hundred knots.
const MAX_KNOTS: usize = 100_000;

/// Mean AUC of each method in each cell.
struct MeanAuc {
    grid: Grid,
    runs: u64,
    of_method: Vec<Vec<f64>>,
}

/// Repeats the experiment.
///
/// # Errors
/// If a solver fails.
pub fn run(settings: &Settings, progress: &ProgressCallback<'_>) -> Result<Findings> {
    let (samples, percents, runs): (&[u64], &[u32], u64) = match settings.full {
        true => (&[1000, 2000, 3000, 4000, 5000], &[5, 10, 15, 20, 25, 30, 35, 40, 45, 50], 20),
        false => (&[1000, 2000, 4000], &[5, 10, 30, 50], 10),
    };
    let shares = percents.iter().map(|&percent| f64::from(percent) / 100.0).collect();
    let grid = Grid { samples: samples.to_vec(), shares };
    let cells = grid.cells();
    let steps = StepCounter::new(cells.len() * runs as usize, progress);
    let jobs: Vec<(usize, u64)> =
        (0..cells.len()).flat_map(|cell| (0..runs).map(move |run| (cell, run))).collect();
    let one = |&(cell, run): &(usize, u64)| -> Result<Vec<f64>> {
        let (r, c) = cells[cell];
        let study = study(grid.samples[c], grid.shares[r], settings.seed, run)?;
        let of_method = |method: Method| -> Result<f64> {
            let path = path(&study.graph, method, StopAt::End)?;
            Ok(study.roc(&path).map_or(f64::NAN, |roc| detection::auc(&roc)))
        };
        let found = METHODS.into_iter().map(of_method).collect();
        steps.advance();
        found
    };
    let found: Vec<Vec<f64>> = jobs.par_iter().map(one).collect::<Result<_>>()?;
    let of_cell = |m: usize, cell: usize| {
        let runs = runs as usize;
        mean(found[cell * runs..(cell + 1) * runs].iter().map(|of_run| of_run[m]))
    };
    let of_method: Vec<Vec<f64>> = (0..METHODS.len())
        .map(|m| (0..cells.len()).map(|cell| of_cell(m, cell)).collect())
        .collect();
    let means = MeanAuc { grid, runs, of_method };

    let shown = study(SHOWN.0, SHOWN.1, settings.seed, 0)?;
    let mut charts: Vec<Chart> = (0..METHODS.len()).map(|m| means.heat_map(m)).collect();
    charts.extend((0..METHODS.len()).map(|m| means.curves(m)));
    let (roc_table, roc_chart) = roc(&shown)?;
    charts.push(roc_chart);
    let mut tables = vec![("auc".to_owned(), means.table()), ("auc-roc".to_owned(), roc_table)];
    for method in METHODS {
        let shown_share = StopAt::Flagged(SHOWN_SHARE * shown.graph.groups().votes());
        let path = path(&shown.graph, method, shown_share)?;
        let (table, mut chart) = paths::of(&shown, method, &path, &lbi_options())?;
        chart.title =
            format!("Path of {method}, {} votes, {:.0}% outliers", SHOWN.0, 100.0 * SHOWN.1);
        tables.push((format!("auc-path-{method}"), table));
        charts.push(chart);
    }
    Ok(Findings {
        title: format!(
            "Experiment I: outlier detection, n = {ITEMS}, {} cells, {} runs each",
            cells.len(),
            means.runs
        ),
        claims: means.claims(),
        tables,
        charts,
    })
}

fn study(votes: u64, flips: f64, seed: u64, run: u64) -> Result<LabelledStudy> {
    let seed = seed.wrapping_add(1000 * run);
    let options = SimulateOptions { items: ITEMS, votes, seed, ..Default::default() };
    let mut votes: Vec<_> = Simulation::new(&options)?.collect();
    hodgerank::simulate::designs::flip_votes(&mut votes, flips, seed);
    LabelledStudy::new(ITEMS, &votes)
}

fn path(graph: &ComparisonGraph, method: Method, until: StopAt) -> Result<Path> {
    Ok(match method {
        Method::HuberLasso => {
            let knots = Knots::Exact { max_knots: MAX_KNOTS };
            let options = HuberLassoOptions { knots, ..Default::default() };
            huber_lasso::compute_path(graph, &options, until)?
        }
        Method::Bregman => bregman::compute_path(graph, &lbi_options(), until)?,
        _ => inverse_scale_space::compute_path(graph, &InverseScaleSpaceOptions::default(), until)?,
    })
}

fn lbi_options() -> BregmanOptions {
    BregmanOptions { kappa: Some(KAPPA), dt: Some(DT), ..Default::default() }
}

impl MeanAuc {
    /// Number of votes, share of outliers and AUC of each cell.
    fn cells(&self, method: usize) -> impl Iterator<Item = (u64, f64, f64)> + '_ {
        let setting = |(r, c): (usize, usize)| (self.grid.samples[c], self.grid.shares[r]);
        let cells = self.grid.cells().into_iter().map(setting);
        cells.zip(&self.of_method[method]).map(|((samples, share), &auc)| (samples, share, auc))
    }

    fn claims(&self) -> Vec<Claim> {
        let similar = |m: usize| {
            let difference = largest_difference(&self.of_method[0], &self.of_method[m]);
            Claim::new(
                format!("AUC of {} within 0.01 of hlasso in every cell", METHODS[m]),
                format!("largest difference {difference:.4}"),
                difference <= 0.01,
            )
            .in_paper("LBI and LASSO perform alike")
        };
        let mut claims = vec![similar(1), similar(2)];
        for (m, name) in METHODS.iter().enumerate() {
            let sparse = self.cells(m).filter(|&(n, op, _)| n >= 2000 && op < 0.101);
            let min = sparse.map(|cell| cell.2).fold(1.0, f64::min);
            let claim = format!("{name}: AUC above 0.99 at SN ≥ 2000 and OP ≤ 10%");
            claims.push(
                Claim::new(claim, format!("minimum {min:.4}"), min > 0.99)
                    .in_paper("close to 1 when samples are many and outliers sparse"),
            );
            let half = self.cells(m).filter(|cell| cell.1 > 0.499).map(|cell| cell.2);
            let (low, high) = range(half);
            let claim = format!("{name}: AUC between 0.4 and 0.6 at OP = 50%");
            let found = format!("{low:.3} to {high:.3}");
            claims.push(
                Claim::new(claim, found, low >= 0.4 && high <= 0.6)
                    .in_paper("about 0.5, a random guess"),
            );
            claims.push(self.increases(m));
        }
        claims
    }

    /// Whether AUC increases from each number of votes to the next, at each share of outliers below
    /// a half, until it is saturated.
    fn increases(&self, method: usize) -> Claim {
        let columns = self.grid.samples.len();
        let rows = self.of_method[method].chunks(columns).zip(&self.grid.shares);
        let below = rows.filter(|(_, share)| **share < 0.499).map(|row| row.0);
        let steps: Vec<(f64, f64)> =
            below.flat_map(|row| row.windows(2).map(|w| (w[0], w[1]))).collect();
        let decreases: Vec<&(f64, f64)> = steps.iter().filter(|(from, to)| to <= from).collect();
        let largest = decreases.iter().map(|(from, to)| from - to).fold(0.0, f64::max);
        let lowest = decreases.iter().map(|(from, _)| *from).fold(1.0, f64::min);
        let rest = match decreases.len() {
            0 => String::new(),
            _ => format!("; the others fall by at most {largest:.1e} from {lowest:.5} or more"),
        };
        Claim::new(
            format!(
                "{}: AUC rises with SN at every OP below 50%, up to {SATURATED_AUC}",
                METHODS[method]
            ),
            format!("{} of {} steps rise{rest}", steps.len() - decreases.len(), steps.len()),
            lowest >= SATURATED_AUC,
        )
        .in_paper("AUC rises to 1 as OP drops below 50% and SN increases")
    }

    fn table(&self) -> hodgerank_io::write::Table {
        let mut table = table([
            ("votes", counts(self.cells(0).map(|cell| cell.0))),
            ("outliers", numbers(self.cells(0).map(|cell| cell.1))),
        ]);
        for (m, name) in METHODS.iter().enumerate() {
            table.push(name.as_str(), numbers(self.of_method[m].iter().copied()));
        }
        table
    }

    fn heat_map(&self, method: usize) -> Chart {
        let name = METHODS[method];
        let (low, high) = range(self.of_method[method].iter().copied());
        let alt = format!(
            "Heat map of the mean AUC of {name} over {} runs, from {low:.2} to {high:.2}.",
            self.runs
        );
        let title = format!("Mean AUC, {name}");
        let rows = self.grid.rows(&self.of_method[method]);
        heat_map(&format!("auc-{name}"), &title, &alt, &self.grid, &rows, MIN_AUC)
    }

    /// AUC against the share of outliers, one line for each number of votes.
    fn curves(&self, method: usize) -> Chart {
        let name = METHODS[method];
        let mut marks = Vec::new();
        let mut legend = Vec::new();
        for (c, &samples) in self.grid.samples.iter().enumerate() {
            let colour = Colour::Kind(c as u8);
            let own = self.cells(method).filter(|cell| cell.0 == samples);
            let points: Vec<_> = own.map(|(_, share, auc)| (100.0 * share, auc)).collect();
            marks.push(line(colour, &points, &format!("{samples} votes")));
            legend.push(LegendEntry::new(format!("{samples} votes"), colour, Sign::Line));
        }
        let alt =
            format!("Mean AUC of {name} falls from almost 1 to 0.5 as outliers increase to 50%.");
        let x = Axis::numbers("outliers, %", self.grid.shares.iter().map(|share| 100.0 * share));
        let title = format!("Mean AUC and the share of outliers, {name}");
        let y = axis("AUC", 0.4, 1.0);
        let mut chart = chart(&format!("auc-curves-{name}"), &title, &alt, x, y, marks);
        chart.legend = legend;
        chart
    }
}

fn roc(study: &LabelledStudy) -> Result<(hodgerank_io::write::Table, Chart)> {
    let mut rows: Vec<(&'static str, f64, f64)> = Vec::new();
    let mut marks = Vec::new();
    let mut legend = Vec::new();
    let mut areas = Vec::new();
    for (m, method) in METHODS.into_iter().enumerate() {
        let name = method.as_str();
        let path = path(&study.graph, method, StopAt::End)?;
        let points = study.roc(&path).unwrap_or_default();
        rows.extend(points.iter().map(|&(x, y)| (name, x, y)));
        let colour = Colour::Kind(m as u8);
        let mut curve = line(colour, &points, name);
        // Lines get narrower, so that identical curves remain visible.
        if let Mark::Line { width, .. } = &mut curve {
            *width = 6.0 - 2.0 * m as f64;
        }
        marks.push(curve);
        legend.push(LegendEntry::new(name, colour, Sign::Line));
        areas.push(format!("{name} {:.4}", detection::auc(&points)));
    }
    let data = table([
        ("method", texts(rows.iter().map(|row| row.0))),
        ("false_positive_rate", numbers(rows.iter().map(|row| row.1))),
        ("true_positive_rate", numbers(rows.iter().map(|row| row.2))),
    ]);
    let alt = format!("ROC curves of one study. Areas: {}.", areas.join(", "));
    let title = format!("ROC, {} votes, {:.0}% outliers", SHOWN.0, 100.0 * SHOWN.1);
    let x = axis("share of good votes flagged", 0.0, 1.0);
    let y = axis("share of bad votes flagged", 0.0, 1.0);
    let mut chart = chart("auc-roc", &title, &alt, x, y, marks);
    chart.legend = legend;
    chart.aspect = 1.0;
    Ok((data, chart))
}
