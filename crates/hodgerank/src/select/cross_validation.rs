//! λ by cross-validation on random projections of the cycles.
//!
//! Leaving votes out would not do: each vote has an outlier variable of its own, about which the
//! other votes say nothing. The paper's way: by Proposition 1, outliers are found by a LASSO on the
//! cycle space alone, min ½‖Ψ(y − γ)‖² + λ‖γ‖₁ with Ψ any orthonormal basis of the cycles. A basis
//! turned at random has something of every vote in every row, so rows can be left out.
//!
//! 1. A random basis of the d cycles is shared out among K folds (`cycle_space.rs`).
//! 2. For each fold, the LASSO is solved on the other rows with λ (K − 1)/K, since as much of the
//!    squares is left, along the grid λ_max · 0.01^(k/99) of Huber-LASSO (`lasso.rs`).
//! 3. The error is what γ leaves of the fold's own rows, a mean of squares. It is taken twice: with
//!    γ as it is, and with γ refitted on the training rows without the penalty. Mean and standard
//!    error over folds make two curves.
//! 4. The λ with the least error on either curve is taken.
//!
//! Why two curves: the LASSO shrinks each outlier by about λ. For few and large outliers that bias
//! costs more than a few wrong flags, so the first curve alone asks for a λ that is far too small.
//! For ±1 votes, where flags are less certain, shrinking predicts better. docs/selection.md has the
//! evidence.
//!
//! Every vote is a row, whether or not equal ones were merged, so it does not matter how votes are
//! split into rows of a table, nor which item stands on which side. (With one variable for a group
//! of equal ±1 votes next to nothing would be flagged.) The names of the items do matter: in their
//! order, they decide which random number falls on which vote.
//!
//! A curve ends where more than half of the votes of a training problem are outliers: beyond, no
//! method can tell which half is right.
//!
//! Cost: votes³ for the basis; for each fold and λ some passes over votes × (items + d/K) numbers.
//! At most [`MAX_VOTES`] votes.
//!
//! Failure modes: outliers that are many and small, as the paper says: then the least error is often
//! that of λ_max, and nothing is flagged. So it is for ±1 votes with many flips. λ depends on the seed.

mod cycle_space;
mod lasso;
mod projection;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::graph::{ComparisonGraph, Groups};
use crate::solve::Status;
use crate::solve::huber_lasso::{lambda_grid, lambda_max};
use cycle_space::CycleSpace;
use lasso::Lasso;
use projection::Projection;

/// Most votes: beyond, it would take more than about a minute.
pub const MAX_VOTES: usize = 4000;
/// Cycles that each fold needs at least: an error from one row says next to nothing.
const CYCLES_PER_FOLD: usize = 2;

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `folds` | 5 | parts of the cycles, each left out once | 2 or more |
/// | `seed` | 0 | the same votes and seed give the same λ | any |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CrossValidationOptions {
    /// Parts of the cycles, each left out once.
    pub folds: usize,
    /// Seed of the random basis.
    pub seed: u64,
}

impl Default for CrossValidationOptions {
    fn default() -> Self {
        Self { folds: 5, seed: 0 }
    }
}

impl CrossValidationOptions {
    /// Checks that all values make sense.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that does not.
    pub fn validate(&self) -> Result<()> {
        if self.folds < 2 {
            let (value, expected) = (format!("cv={}", self.folds), "2 folds or more, such as cv=5");
            return Err(Error::BadOption { option: "outliers", value, expected });
        }
        Ok(())
    }
}

/// The curves of errors, and the λ chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// What was asked for.
    pub options: CrossValidationOptions,
    /// λ falls along the curve. Empty where the votes agree: there is nothing to choose.
    pub curve: Vec<CurvePoint>,
    /// Which point of the curve is taken.
    pub chosen: usize,
    /// Whether it is the best of the refitted curve, not of the other one.
    pub refitted: bool,
    /// Whether all training problems met their optimality conditions.
    pub status: Status,
}

/// How well one λ predicts what it has not seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// λ.
    pub lambda: f64,
    /// With the outliers as the LASSO has them.
    pub shrunk: PredictionError,
    /// With the same outliers, refitted without the penalty.
    pub refitted: PredictionError,
}

/// Mean square of what is left of a row that was left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictionError {
    /// Mean over folds.
    pub mean: f64,
    /// Its standard error over folds.
    pub standard_error: f64,
}

impl CrossValidation {
    /// The λ chosen; none where nothing is to be flagged.
    #[must_use]
    pub fn lambda(&self) -> Option<f64> {
        // The first λ is λ_max, where nothing is an outlier.
        (self.chosen > 0).then(|| self.curve[self.chosen].lambda)
    }
}

/// Cross-validates λ.
///
/// # Errors
/// If an option makes no sense, there are more than [`MAX_VOTES`] votes or too few cycles for so
/// many folds, or least squares fails.
pub fn solve(graph: &ComparisonGraph, options: &CrossValidationOptions) -> Result<CrossValidation> {
    options.validate()?;
    let &CrossValidationOptions { folds, seed } = options;
    let parts = graph.groups().weight.iter().map(|w| w.ceil()).sum::<f64>();
    if parts > MAX_VOTES as f64 {
        let what = "votes for cross-validation (the rules auto and scaled take any number)";
        let (count, max) = (parts as u64, MAX_VOTES as u64);
        return Err(Error::TooLarge { what, count, max });
    }
    let single = ComparisonGraph::new(graph.items(), one_by_one(graph.groups()))?;
    let (cycles, needed) = (cycle_space::dimension(&single), folds.saturating_mul(CYCLES_PER_FOLD));
    if cycles < needed {
        return Err(Error::TooFewCycles { cycles, folds, needed });
    }
    let most = lambda_max(graph)?;
    let (curve, status) = match most {
        0.0 => (Vec::new(), Status::Solved),
        _ => curve(&single, &lambda_grid(most, 100, 0.01).collect::<Vec<_>>(), folds, seed),
    };
    let (chosen, refitted) = choose(&curve);
    Ok(CrossValidation { options: *options, curve, chosen, refitted, status })
}

/// One group for each vote. (A weight that is no whole number is cut into equal parts.)
fn one_by_one(groups: &Groups) -> Groups {
    let mut single = Groups::default();
    for g in 0..groups.len() {
        let parts = groups.weight[g].ceil();
        for _ in 0..parts as usize {
            single.left.push(groups.left[g]);
            single.right.push(groups.right[g]);
            single.y.push(groups.y[g]);
            single.weight.push(groups.weight[g] / parts);
        }
    }
    single
}

fn curve(
    graph: &ComparisonGraph,
    lambdas: &[f64],
    folds: usize,
    seed: u64,
) -> (Vec<CurvePoint>, Status) {
    let groups = graph.groups();
    let roots: Vec<f64> = groups.weight.iter().map(|w| w.sqrt()).collect();
    let z: Vec<f64> = groups.y.iter().zip(&roots).map(|(y, root)| y * root).collect();
    let space = CycleSpace::new(graph, seed);
    let folds: Vec<Fold> = (0..folds)
        .into_par_iter()
        .map(|fold| Fold::new(&space, &z, &roots, lambdas, (fold, folds)))
        .collect();
    let solved = folds.iter().all(|fold| fold.violation <= lasso::TOLERANCE);
    let status = if solved { Status::Solved } else { Status::IterationLimit };
    let end = folds.iter().map(|fold| fold.errors.len()).min().unwrap_or(0);
    let point = |(k, &lambda): (usize, &f64)| CurvePoint {
        lambda,
        shrunk: over_folds(&folds, |fold| fold.errors[k].0),
        refitted: over_folds(&folds, |fold| fold.errors[k].1),
    };
    (lambdas[..end].iter().enumerate().map(point).collect(), status)
}

/// What one fold says.
struct Fold {
    /// For each λ the error with γ as it is, and with γ refitted.
    errors: Vec<(f64, f64)>,
    /// The largest violation of the optimality conditions.
    violation: f64,
}

impl Fold {
    fn new(
        space: &CycleSpace,
        z: &[f64],
        roots: &[f64],
        lambdas: &[f64],
        (fold, folds): (usize, usize),
    ) -> Self {
        let left_out = space.fold(fold, folds);
        let (width, rows) = (left_out.len(), space.some(left_out.clone()));
        let error = |beta: &[f64]| {
            let mut left = vec![0.0; width];
            for (row, (z, beta)) in rows.chunks_exact(width).zip(z.iter().zip(beta)) {
                left.iter_mut().zip(row).for_each(|(left, part)| *left += part * (z - beta));
            }
            left.iter().map(|left| left * left).sum::<f64>() / width as f64
        };
        let mut lasso = Lasso::new(Projection::on_all_but(space, left_out), z, roots);
        let share = (folds - 1) as f64 / folds as f64;
        let mut found = Self { errors: Vec::new(), violation: 0.0 };
        for lambda in lambdas {
            found.violation = found.violation.max(lasso.minimise(share * lambda));
            found.errors.push((error(&lasso.beta), error(&lasso.refitted())));
            if 2 * lasso.beta.iter().filter(|beta| **beta != 0.0).count() > z.len() {
                break;
            }
        }
        found
    }
}

fn over_folds(folds: &[Fold], error: impl Fn(&Fold) -> f64) -> PredictionError {
    let count = folds.len() as f64;
    let mean = folds.iter().map(&error).sum::<f64>() / count;
    let square: f64 = folds.iter().map(|fold| (error(fold) - mean).powi(2)).sum();
    PredictionError { mean, standard_error: (square / (count - 1.0) / count).sqrt() }
}

/// Where the least error is, and whether on the refitted curve; of equal ones the larger λ.
fn choose(curve: &[CurvePoint]) -> (usize, bool) {
    let mut best = (0, false);
    let mut least = f64::INFINITY;
    for (k, point) in curve.iter().enumerate() {
        for (refitted, error) in [(false, point.shrunk.mean), (true, point.refitted.mean)] {
            if error < least {
                (least, best) = (error, (k, refitted));
            }
        }
    }
    best
}
