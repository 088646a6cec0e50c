//! λ by cross-validation on random projections of the cycles.
//!
//! Votes cannot be left out: each vote has its own outlier variable, which the other votes do not
//! determine. The paper's method: by Proposition 1, outliers are found by a LASSO on the cycle space
//! alone, min ½‖Ψ(y − γ)‖² + λ‖γ‖₁ with Ψ any orthonormal basis of the cycles. Every row of a random
//! basis involves every vote, so rows can be left out.
//!
//! 1. A random basis of the d cycles is split into K folds (`cycle_space.rs`).
//! 2. For each fold, the LASSO is solved on the other rows with λ (K − 1)/K, in proportion to the
//!    remaining squares, along the grid λ_max · 0.01^(k/99) of Huber-LASSO (`lasso.rs`).
//! 3. The error is the mean square of the fold's own rows of y − γ. It is computed twice: for γ
//!    itself, and for γ refitted on the training rows without the penalty. Means and standard errors
//!    over folds make two curves.
//! 4. The λ with the smallest error on either curve is chosen.
//!
//! Why two curves: the LASSO shrinks each outlier by about λ. For few and large outliers that bias
//! costs more than a few wrong flags, so the first curve alone chooses a λ that is far too small.
//! For ±1 votes, where flags are less certain, shrinking predicts better. docs/selection.md has the
//! evidence.
//!
//! Every vote is a row, whether or not equal votes were merged, so the result does not depend on how
//! votes are split into rows of a table, nor on sides. (With one variable for a group of equal ±1
//! votes almost nothing would be flagged.) It does depend on the order of the items' names, which
//! assigns random numbers to votes.
//!
//! A curve ends where a training problem has more outliers than half of its rows. Beyond that, the
//! outliers explain almost any rows, and the LASSO converges slowly: with two folds, half of the votes
//! are as many as there are training rows.
//!
//! Cost: votes³ for the basis; for each fold and λ some passes over votes × (items + d/K) numbers.
//! At most [`MAX_VOTES`] votes.
//!
//! Failure modes: if outliers are many and small, the smallest error is often that of λ_max, and
//! nothing is flagged (as the paper says); the same holds for ±1 votes with many flips. λ depends on
//! the seed.

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
use projection::CycleProjection;

/// Maximum number of votes; more would take longer than about a minute.
pub const MAX_VOTES: usize = 4000;
/// Minimum number of cycles per fold: the error of a single row is too noisy.
const MIN_CYCLES_PER_FOLD: usize = 2;

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
    /// Checks that all values are in range.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that is not.
    pub fn validate(&self) -> Result<()> {
        if self.folds < 2 {
            let (value, expected) = (format!("cv={}", self.folds), "2 folds or more, such as cv=5");
            return Err(Error::BadOption { option: "outliers", value, expected });
        }
        Ok(())
    }
}

/// The error curves and the chosen λ.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// The options used.
    pub options: CrossValidationOptions,
    /// By decreasing λ. Empty if all votes agree.
    pub curve: Vec<CurvePoint>,
    /// Index of the chosen point of the curve.
    pub chosen: usize,
    /// Whether it minimises the refitted curve rather than the other one.
    pub refitted: bool,
    /// Whether all training problems met their optimality conditions.
    pub status: Status,
}

/// Prediction errors for one λ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// λ.
    pub lambda: f64,
    /// With the outliers of the LASSO.
    pub shrunk: PredictionError,
    /// With the same outliers, refitted without the penalty.
    pub refitted: PredictionError,
}

#[cfg(feature = "serde")]
impl serde::Serialize for CrossValidation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut fields = serializer.serialize_struct("CrossValidation", 5)?;
        fields.serialize_field("folds", &self.options.folds)?;
        fields.serialize_field("seed", &self.options.seed)?;
        fields.serialize_field("lambda", &self.lambda())?;
        fields.serialize_field("refitted", &self.refitted)?;
        fields.serialize_field("curve", &self.curve)?;
        fields.end()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for CurvePoint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut fields = serializer.serialize_struct("CurvePoint", 5)?;
        fields.serialize_field("lambda", &self.lambda)?;
        fields.serialize_field("error", &self.shrunk.mean)?;
        fields.serialize_field("standard_error", &self.shrunk.standard_error)?;
        fields.serialize_field("refit_error", &self.refitted.mean)?;
        fields.serialize_field("refit_standard_error", &self.refitted.standard_error)?;
        fields.end()
    }
}

/// Mean square of the rows left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictionError {
    /// Mean over folds.
    pub mean: f64,
    /// Its standard error over folds.
    pub standard_error: f64,
}

impl CrossValidation {
    /// The chosen λ; none if no vote is to be flagged.
    #[must_use]
    pub fn lambda(&self) -> Option<f64> {
        // The first λ is λ_max, at which no vote is flagged.
        (self.chosen > 0).then(|| self.curve[self.chosen].lambda)
    }
}

/// Cross-validates λ.
///
/// # Errors
/// If an option is out of range, there are more than [`MAX_VOTES`] votes or too few cycles for so
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
    let (cycles, needed) =
        (cycle_space::dimension(&single), folds.saturating_mul(MIN_CYCLES_PER_FOLD));
    if cycles < needed {
        return Err(Error::TooFewCycles { cycles, folds, needed });
    }
    let lambda_max = lambda_max(graph)?;
    let (curve, status) = match lambda_max {
        0.0 => (Vec::new(), Status::Solved),
        _ => curve(&single, &lambda_grid(lambda_max, 100, 0.01).collect::<Vec<_>>(), folds, seed),
    };
    let (chosen, refitted) = choose(&curve);
    Ok(CrossValidation { options: *options, curve, chosen, refitted, status })
}

/// One group per vote. A fractional weight is split into equal parts.
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

/// The errors of one fold.
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
        let training_rows = space.cycles() - left_out.len();
        let (width, rows) = (left_out.len(), space.only(left_out.clone()));
        let error = |beta: &[f64]| {
            let mut left = vec![0.0; width];
            for (row, (z, beta)) in rows.chunks_exact(width).zip(z.iter().zip(beta)) {
                left.iter_mut().zip(row).for_each(|(left, part)| *left += part * (z - beta));
            }
            left.iter().map(|left| left * left).sum::<f64>() / width as f64
        };
        let mut lasso = Lasso::new(CycleProjection::on_all_but(space, left_out), z, roots);
        let share = (folds - 1) as f64 / folds as f64;
        let mut found = Self { errors: Vec::new(), violation: 0.0 };
        for lambda in lambdas {
            found.violation = found.violation.max(lasso.minimise(share * lambda));
            found.errors.push((error(&lasso.beta), error(&lasso.refitted())));
            if 2 * lasso.beta.iter().filter(|beta| **beta != 0.0).count() > training_rows {
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

/// The index of the smallest error, and whether it is on the refitted curve; the larger λ wins ties.
fn choose(curve: &[CurvePoint]) -> (usize, bool) {
    let mut best = (0, false);
    let mut smallest = f64::INFINITY;
    for (k, point) in curve.iter().enumerate() {
        for (refitted, error) in [(false, point.shrunk.mean), (true, point.refitted.mean)] {
            if error < smallest {
                (smallest, best) = (error, (k, refitted));
            }
        }
    }
    best
}
