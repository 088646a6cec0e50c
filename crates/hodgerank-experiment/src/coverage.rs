//! Whether intervals and ranges of ranks hold as often as they promise, on the crowds of [`crate::accuracy`].
//!
//! | measure | meaning |
//! |---|---|
//! | coverage | share of true scores, relative to their mean, inside their 95% intervals |
//! | coverage of differences | the same for the differences of all pairs of items |
//! | ranks | share of studies in which the ranges contain all true ranks |
//! | width | mean width of the intervals, relative to that of the oracle |
//! | slope | regression of the scores on the true ones; 1 is the true unit |
//!
//! | warned | share of studies in which the program says that intervals may be too narrow |
//!
//! The method is the default, `crowd`; `bt` is the default without annotators (least squares for graded
//! answers). The oracle is Bradley–Terry without lapses on the votes that are not
//! bad, and least squares for graded answers; `plain` is the same on all votes. All intervals are those of the
//! program, clustered by annotator for crowd and by vote for the other two. True scores are those that the
//! method estimates: graded answers are rounded and limited, so that they are the scores that explain the
//! expected answers best.
//!
//! A cell misses a claim if it does not hold and fewer than half of its studies are warned of. Small settings
//! use uniform pairs and few studies; full ones all designs. Seeds start at 20000 + seed.

use std::sync::atomic::AtomicU64;

use hodgerank::fit::fit_with_annotators;
use hodgerank::{
    AnnotatorVotes, ComparisonGraph, Fit, FitOptions, FittedVotes, IntervalOptions, Method,
    Uncertainty,
};
use hodgerank_io::write::Table;
use rayon::prelude::*;

use crate::accuracy::crowds::{self, AnswerKind, Cell, CrowdKind, Design, SIZES, Size};
use crate::accuracy::simulated_crowd::SimulatedCrowd;
use crate::columns::{counts, numbers, table, texts};
use crate::error::Result;
use crate::findings::{Claim, Findings};
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;

const FIRST_SEED: u64 = 20_000;
/// Sizes from 16 to 200 items.
const SIZE_COUNT: usize = 4;
/// Studies of each cell and size: more of those with few items, so that all shares are known equally well.
const STUDIES: [u64; SIZE_COUNT] = [40, 14, 6, 4];
const STUDIES_IF_FULL: [u64; SIZE_COUNT] = [300, 150, 100, 80];
/// What 95% intervals should cover, and ranges of ranks.
const MIN_COVERAGE: f64 = 0.93;
const MAX_COVERAGE: f64 = 0.975;
const MIN_RANKS: f64 = 0.93;
const MAX_WIDTH: f64 = 1.3;
const MAX_SLOPE_ERROR: f64 = 0.03;

/// How well the intervals of one fit hold, for the items of its largest component.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    scores: f64,
    differences: f64,
    /// 1 if all true ranks are in their ranges.
    ranks: f64,
    width: f64,
    slope: f64,
}

/// The results of a study.
struct StudyResult {
    cell: usize,
    size: Size,
    seed: u64,
    warned: f64,
    crowd: Held,
    bt: Held,
    plain: Held,
    oracle: Held,
}

/// Means over the studies of a cell and a size.
struct CellMeans {
    cell: Cell,
    size: Size,
    studies: u64,
    warned: f64,
    crowd: Held,
    bt: Held,
    plain: Held,
    oracle: Held,
}

/// Repeats the experiment.
///
/// # Errors
/// If a solver fails.
pub fn run(settings: &Settings, progress: &ProgressCallback<'_>) -> Result<Findings> {
    let cells: Vec<Cell> = crowds::cells()
        .into_iter()
        .filter(|cell| settings.full || cell.design == Design::Uniform)
        .collect();
    let counts = if settings.full { STUDIES_IF_FULL } else { STUDIES };
    let first = FIRST_SEED.wrapping_add(settings.seed);
    let studies: Vec<(usize, Size, u64)> = (0..cells.len())
        .flat_map(|cell| (0..SIZE_COUNT).map(move |k| (cell, SIZES[k], counts[k])))
        .flat_map(|(cell, size, count)| (first..first + count).map(move |seed| (cell, size, seed)))
        .collect();
    let steps = StepCounter::new(studies.len(), progress);
    let one = |&(cell, size, seed): &(usize, Size, u64)| {
        let result = StudyResult::new(cell, &cells[cell], size, seed);
        steps.advance();
        result
    };
    let results: Vec<StudyResult> =
        studies.par_iter().with_max_len(1).map(one).collect::<Result<_>>()?;
    let means: Vec<CellMeans> = (0..cells.len())
        .flat_map(|cell| SIZES[..SIZE_COUNT].iter().map(move |&size| (cell, size)))
        .map(|(cell, size)| CellMeans::new(cells[cell], size, cell, &results))
        .collect();
    Ok(Findings {
        title: format!(
            "Coverage of intervals: {} crowds and designs, {SIZE_COUNT} sizes, seeds {first} to {}",
            cells.len(),
            first + counts[0] - 1
        ),
        claims: claims(&means),
        tables: vec![
            ("coverage".to_owned(), table_of_means(&means)),
            ("coverage-studies".to_owned(), table_of_studies(&cells, &results)),
        ],
        charts: Vec::new(),
    })
}

impl Held {
    /// Of the items of the largest component: scores and ranks of others are not comparable with theirs.
    fn new(truth: &[f64], fit: &Fit, found: &Uncertainty) -> Self {
        let members = fit.components.iter().max_by_key(|members| members.len()).unwrap_or(&[]);
        let items: Vec<usize> = members.iter().map(|&item| item as usize).collect();
        let n = items.len() as f64;
        let is_in =
            |error: f64, se: f64| if error.abs() <= found.quantile * se { 1.0 } else { 0.0 };
        let mean = items.iter().map(|&i| truth[i]).sum::<f64>() / n;
        let of_item = |&i: &usize| is_in(fit.scores[i] - (truth[i] - mean), found.se[i]);
        let mut differences = 0.0;
        for (k, &i) in items.iter().enumerate() {
            for &j in &items[k + 1..] {
                let error = fit.scores[i] - fit.scores[j] - (truth[i] - truth[j]);
                let se = found.difference_se(i as u32, j as u32).unwrap_or(f64::INFINITY);
                differences += is_in(error, se);
            }
        }
        let is_ranked = items.iter().all(|&i| {
            let rank = 1 + items.iter().filter(|&&other| truth[other] > truth[i]).count() as u32;
            let (low, high) = found.rank_ranges[i];
            (low..=high).contains(&rank)
        });
        let product: f64 = items.iter().map(|&i| fit.scores[i] * (truth[i] - mean)).sum();
        let squares: f64 = items.iter().map(|&i| (truth[i] - mean).powi(2)).sum();
        Self {
            scores: items.iter().map(of_item).sum::<f64>() / n,
            differences: differences / (0.5 * n * (n - 1.0)),
            ranks: if is_ranked { 1.0 } else { 0.0 },
            width: 2.0 * found.quantile * items.iter().map(|&i| found.se[i]).sum::<f64>() / n,
            slope: product / squares,
        }
    }

    fn values(&self) -> [f64; 5] {
        [self.scores, self.differences, self.ranks, self.width, self.slope]
    }

    fn mean<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let (mut sums, mut number) = ([0.0; 5], 0.0);
        for own in all {
            sums.iter_mut().zip(own.values()).for_each(|(sum, value)| *sum += value);
            number += 1.0;
        }
        let [scores, differences, ranks, width, slope] = sums.map(|sum| sum / number);
        Self { scores, differences, ranks, width, slope }
    }
}

impl StudyResult {
    fn new(cell: usize, of: &Cell, size: Size, seed: u64) -> Result<Self> {
        let study = SimulatedCrowd::new(of, &size, seed);
        let truth = study.estimated_scores()?;
        let held = |graph: &ComparisonGraph,
                    votes: Option<&AnnotatorVotes>,
                    options: FitOptions| {
            let fit = fit_with_annotators(graph, votes, &options)?;
            let fitted = FittedVotes { graph, votes, fit: &fit, options: &options };
            let found = Uncertainty::new(&fitted, &IntervalOptions::default(), &AtomicU64::new(0))?;
            // Every study here is small enough, and its methods have intervals.
            let is_warned = found.as_ref().is_some_and(|found| !found.cautions.is_empty());
            let held = found.map(|found| Held::new(&truth, &fit, &found));
            Ok::<_, hodgerank::Error>((held.unwrap_or_default(), is_warned))
        };
        let plain = match of.answers {
            AnswerKind::Graded => FitOptions::new().method(Method::L2),
            _ => FitOptions::new().method(Method::BradleyTerry).lapse_rate(0.0),
        };
        let (graph, votes) = (study.graph()?, study.annotator_votes());
        let bt = match of.answers {
            AnswerKind::Graded => plain,
            _ => FitOptions::new().method(Method::BradleyTerry),
        };
        let (crowd, is_warned) = held(&graph, Some(&votes), FitOptions::new())?;
        Ok(Self {
            cell,
            size,
            seed,
            warned: if is_warned { 1.0 } else { 0.0 },
            crowd,
            bt: held(&graph, None, bt)?.0,
            plain: held(&graph, None, plain)?.0,
            oracle: held(&study.honest_graph()?, None, plain)?.0,
        })
    }
}

impl CellMeans {
    fn new(of: Cell, size: Size, cell: usize, results: &[StudyResult]) -> Self {
        let own = || results.iter().filter(|result| result.cell == cell && result.size == size);
        Self {
            cell: of,
            size,
            studies: own().count() as u64,
            warned: own().map(|result| result.warned).sum::<f64>() / own().count().max(1) as f64,
            crowd: Held::mean(own().map(|result| &result.crowd)),
            bt: Held::mean(own().map(|result| &result.bt)),
            plain: Held::mean(own().map(|result| &result.plain)),
            oracle: Held::mean(own().map(|result| &result.oracle)),
        }
    }

    fn name(&self) -> String {
        let (crowd, design) = (self.cell.crowd_name(), self.cell.design.as_str());
        format!("{crowd}, {design}, {} items", self.size.items)
    }
}

/// The claims, each with the cell without warnings that is farthest from it.
fn claims(means: &[CellMeans]) -> Vec<Claim> {
    /// Share of studies with a warning from which a cell is one that the program warns of.
    const WARNED: f64 = 0.5;
    let (warned, silent): (Vec<&CellMeans>, Vec<&CellMeans>) =
        means.iter().partition(|own| own.warned >= WARNED);
    let worst = |value: &dyn Fn(&CellMeans) -> f64| {
        silent.iter().map(|own| (value(own), *own)).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let claim = |text: String,
                 excess: &dyn Fn(&CellMeans) -> f64,
                 found: &dyn Fn(&CellMeans) -> f64| {
        let misses = |cells: &[&CellMeans]| cells.iter().filter(|own| excess(own) > 0.0).count();
        let worst = worst(excess).map_or(String::new(), |(_, own)| {
            format!("; worst {:.3} ({})", found(own), own.name())
        });
        let found = format!(
            "{} of {} cells miss it{worst}; of {} more that the program warns of, {}",
            misses(&silent),
            silent.len(),
            warned.len(),
            misses(&warned)
        );
        Claim::new(text, found, misses(&silent) == 0)
    };
    let outside = |value: f64| (MIN_COVERAGE - value).max(value - MAX_COVERAGE);
    vec![
        claim(
            "95% intervals of scores cover 93% to 97.5% in every cell".to_owned(),
            &|own| outside(own.crowd.scores),
            &|own| own.crowd.scores,
        ),
        claim(
            "so do those of differences".to_owned(),
            &|own| outside(own.crowd.differences),
            &|own| own.crowd.differences,
        ),
        claim(
            "ranges contain all true ranks in at least 93% of the studies of every cell".to_owned(),
            &|own| MIN_RANKS - own.crowd.ranks,
            &|own| own.crowd.ranks,
        ),
        claim(
            "intervals are at most 1.3 times as wide as those of the oracle".to_owned(),
            &|own| own.crowd.width / own.oracle.width - MAX_WIDTH,
            &|own| own.crowd.width / own.oracle.width,
        ),
        claim(
            "the slope of scores on true scores is 0.97 to 1.03 in every cell".to_owned(),
            &|own| (own.crowd.slope - 1.0).abs() - MAX_SLOPE_ERROR,
            &|own| own.crowd.slope,
        ),
        claim(
            "without annotators too (bt), if all of them are honest".to_owned(),
            &|own| match own.cell.crowd == CrowdKind::Clean
                && own.cell.answers != AnswerKind::Graded
            {
                true => (own.bt.slope - 1.0).abs() - MAX_SLOPE_ERROR,
                false => f64::NEG_INFINITY,
            },
            &|own| own.bt.slope,
        ),
    ]
}

/// Columns of a method, one for each measure.
fn push_held<R>(table: &mut Table, name: &str, rows: &[R], held: impl Fn(&R) -> &Held) {
    let measures = ["coverage", "coverage_differences", "ranks", "width", "slope"];
    for (k, measure) in measures.into_iter().enumerate() {
        table.push(
            format!("{measure}_{name}"),
            numbers(rows.iter().map(|row| held(row).values()[k])),
        );
    }
}

fn table_of_means(means: &[CellMeans]) -> Table {
    let mut table = table([
        ("crowd", texts(means.iter().map(|own| own.cell.crowd_name()))),
        ("design", texts(means.iter().map(|own| own.cell.design.as_str()))),
        ("items", counts(means.iter().map(|own| own.size.items as u64))),
        ("studies", counts(means.iter().map(|own| own.studies))),
        ("warned", numbers(means.iter().map(|own| own.warned))),
    ]);
    push_held(&mut table, "crowd", means, |own| &own.crowd);
    push_held(&mut table, "bt", means, |own| &own.bt);
    push_held(&mut table, "plain", means, |own| &own.plain);
    push_held(&mut table, "oracle", means, |own| &own.oracle);
    table
}

fn table_of_studies(cells: &[Cell], results: &[StudyResult]) -> Table {
    let mut table = table([
        ("crowd", texts(results.iter().map(|own| cells[own.cell].crowd_name()))),
        ("design", texts(results.iter().map(|own| cells[own.cell].design.as_str()))),
        ("items", counts(results.iter().map(|own| own.size.items as u64))),
        ("seed", counts(results.iter().map(|own| own.seed))),
        ("warned", numbers(results.iter().map(|own| own.warned))),
    ]);
    push_held(&mut table, "crowd", results, |own| &own.crowd);
    push_held(&mut table, "bt", results, |own| &own.bt);
    push_held(&mut table, "plain", results, |own| &own.plain);
    push_held(&mut table, "oracle", results, |own| &own.oracle);
    table
}
