//! Principal-components lasso: sparse, small scores along the leading principal components of the votes.
//!
//! Objective: min over θ of ½ Σ w (y − Xθ)² + λ‖θ‖₁ + ½ ratio · θᵀ V diag(d₁² − d_j²) Vᵀ θ with
//! W^{1/2}X = U D Vᵀ. Since L = XᵀWX = V D² Vᵀ, the last matrix is d₁²I − L on the whole space, and no
//! singular vectors are needed: with b = XᵀWy and A = (1 − ratio) L + ratio · d₁² I this is
//!
//! min ½ θᵀAθ − bᵀθ + λ‖θ‖₁.
//!
//! A is positive definite for every ratio > 0 (its eigenvalues lie between d₁² and ratio · d₁²), so the
//! solution is unique.
//!
//! Optimality: b − Aθ = λ sign(θ) where θ ≠ 0, |b − Aθ| ≤ λ where θ = 0. Coordinate descent runs until
//! the largest violation is at most `tolerance` · max|b|. The violation is recomputed from θ, so that
//! rounding errors do not accumulate.
//!
//! Mean and components: constant vectors are penalised (by ratio · d₁² and by λ), so the objective
//! determines the mean; it is zero for λ = 0 but not in general. [`PcLasso::coefficients`] is θ itself;
//! the scores of the solution are shifted to mean zero on each component as for all other methods.
//! Each component has its own d₁, so that votes on other items have no effect.
//!
//! Cost: pairs × 2 for each pass of coordinate descent, with tens to thousands of passes (about
//! 1/ratio); n³ and 8n² bytes for d₁ of the largest component, hence at most [`MAX_ITEMS`] items.
//!
//! Failure modes: not robust against wrong votes; scores are shrunk; all scores are 0 if λ ≥ max|b|. It
//! is included for comparison.
//!
//! | paper | here |
//! |---|---|
//! | θ | `coefficients`; `scores` after centring |
//! | θ_pc | `ratio` |
//! | d₁², V D² Vᵀ | `max_eigenvalue`, [`LaplacianMatrix`] |

use std::time::Instant;

use faer::{Mat, Side};

use super::{Info, Solution, Status, check_stopping};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::{LaplacianBlock, LaplacianMatrix};
use crate::numeric::largest_magnitude;

/// Maximum number of items per component: the largest eigenvalue is computed from the dense matrix.
pub const MAX_ITEMS: usize = 2000;

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `lambda` | 1% of max abs XᵀWy | weight of ‖θ‖₁ | 0 or more |
/// | `ratio` | 0.1 | weight of the penalty on all but the leading component | above 0 |
/// | `tolerance` | 1e-10 | largest violation of the optimality conditions, divided by max abs XᵀWy | above 0, below 1 |
/// | `max_iterations` | 100000 | maximum number of passes over the items | 1 or more |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcLassoOptions {
    /// Weight λ of ‖θ‖₁; `None` is 1% of the smallest λ for which all scores are zero.
    pub lambda: Option<f64>,
    /// Weight of the penalty on all but the leading principal component.
    pub ratio: f64,
    /// Largest allowed violation of the optimality conditions, divided by max|XᵀWy|.
    pub tolerance: f64,
    /// Maximum number of passes over the items.
    pub max_iterations: usize,
}

/// Default λ relative to the smallest λ for which all scores are zero.
const DEFAULT_LAMBDA_RATIO: f64 = 0.01;

impl Default for PcLassoOptions {
    fn default() -> Self {
        Self { lambda: None, ratio: 0.1, tolerance: 1e-10, max_iterations: 100_000 }
    }
}

impl PcLassoOptions {
    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        check_stopping(self.tolerance, self.max_iterations)?;
        let bad = |option, value: f64, expected| {
            Err(Error::BadOption { option, value: value.to_string(), expected })
        };
        match self.lambda {
            Some(lambda) if !(lambda >= 0.0 && lambda.is_finite()) => {
                bad("lambda", lambda, "a finite number, zero or more")
            }
            _ if !(self.ratio > 0.0 && self.ratio.is_finite()) => {
                bad("ratio", self.ratio, "a finite number above zero")
            }
            _ => Ok(()),
        }
    }
}

/// Scores, and the coefficients before centring.
#[derive(Debug, Clone, PartialEq)]
pub struct PcLasso {
    /// The coefficients, shifted to mean zero on each component. The residual in its info is the largest
    /// violation of the optimality conditions, divided by max|XᵀWy|.
    pub solution: Solution,
    /// The minimiser θ; coefficients that are zero are exactly zero.
    pub coefficients: Vec<f64>,
    /// The λ used.
    pub lambda: f64,
}

/// Computes scores by the principal-components lasso.
///
/// # Errors
/// If an option is invalid, a component has more than [`MAX_ITEMS`] items, or the sums of the outcomes
/// overflow.
pub fn solve(graph: &ComparisonGraph, options: &PcLassoOptions) -> Result<PcLasso> {
    let started = Instant::now();
    options.validate()?;
    let matrix = LaplacianMatrix::new(graph, 0.0);
    let b = graph.divergence(&graph.groups().y);
    if let Some(item) = b.iter().position(|b| !b.is_finite()) {
        return Err(Error::Overflow { item: item as u32, label: None, value: b[item] });
    }
    let max_b = largest_magnitude(&b);
    let lambda = options.lambda.unwrap_or(DEFAULT_LAMBDA_RATIO * max_b);
    let mut coefficients = vec![0.0; b.len()];
    let (mut iterations, mut violation) = (0, 0.0_f64);
    for c in 0..matrix.components() {
        let block = matrix.block(c);
        if block.len() < 2 {
            continue;
        }
        let items = &matrix.items()[matrix.rows(c)];
        let rhs = items.iter().map(|&item| b[item as usize]).collect();
        let mut descent = CoordinateDescent::new(block, rhs, lambda, options.ratio)?;
        let max_violation = options.tolerance * max_b;
        let passes = descent.run(max_violation, options.max_iterations);
        iterations = iterations.max(passes);
        violation = violation.max(descent.violation());
        for (&item, &theta) in items.iter().zip(&descent.theta) {
            coefficients[item as usize] = theta;
        }
    }
    let mut scores = coefficients.clone();
    graph.components().centre(&mut scores);
    let solved = violation <= options.tolerance * max_b;
    let residual = if max_b > 0.0 { violation / max_b } else { 0.0 };
    let (backends, time) = (Vec::new(), started.elapsed());
    let info = Info { backends, iterations, residual, error_bound: None, time };
    let status = if solved { Status::Solved } else { Status::IterationLimit };
    Ok(PcLasso { solution: Solution { scores, status, info }, coefficients, lambda })
}

/// Coordinate descent for one component, with A = (1 − ratio) L + ratio · d₁² I.
struct CoordinateDescent<'a> {
    block: LaplacianBlock<'a>,
    b: Vec<f64>,
    lambda: f64,
    ratio: f64,
    /// d₁², the largest eigenvalue of L.
    max_eigenvalue: f64,
    theta: Vec<f64>,
}

impl<'a> CoordinateDescent<'a> {
    fn new(block: LaplacianBlock<'a>, b: Vec<f64>, lambda: f64, ratio: f64) -> Result<Self> {
        let max_eigenvalue = largest_eigenvalue(block)?;
        let theta = vec![0.0; b.len()];
        Ok(Self { block, b, lambda, ratio, max_eigenvalue, theta })
    }

    /// Passes over the items until no condition is violated by more than `max_violation`. Returns the
    /// number of passes.
    fn run(&mut self, max_violation: f64, max_passes: usize) -> usize {
        for pass in 0..max_passes {
            if self.violation() <= max_violation {
                return pass;
            }
            for i in 0..self.b.len() {
                let curvature =
                    (1.0 - self.ratio) * self.block.diagonal(i) + self.ratio * self.max_eigenvalue;
                let unpenalised = self.negative_gradient(i) + curvature * self.theta[i];
                self.theta[i] = soft(unpenalised, self.lambda) / curvature;
            }
        }
        max_passes
    }

    /// (b − Aθ)_i, the negative gradient of the smooth part.
    fn negative_gradient(&self, i: usize) -> f64 {
        let laplacian_part = (1.0 - self.ratio) * self.block.row_times(i, &self.theta);
        self.b[i] - laplacian_part - self.ratio * self.max_eigenvalue * self.theta[i]
    }

    /// Returns the largest violation of the optimality conditions.
    fn violation(&self) -> f64 {
        let violation_at = |i: usize| match self.theta[i] {
            0.0 => (self.negative_gradient(i).abs() - self.lambda).max(0.0),
            theta => (self.negative_gradient(i) - self.lambda * theta.signum()).abs(),
        };
        (0..self.b.len()).map(violation_at).fold(0.0, f64::max)
    }
}

/// Soft thresholding.
fn soft(x: f64, threshold: f64) -> f64 {
    x - x.clamp(-threshold, threshold)
}

fn largest_eigenvalue(block: LaplacianBlock<'_>) -> Result<f64> {
    let n = block.len();
    if n > MAX_ITEMS {
        let (what, max) = ("items in one component for pc-lasso", MAX_ITEMS as u64);
        return Err(Error::TooLarge { what, count: n as u64, max });
    }
    let mut dense = Mat::<f64>::zeros(n, n);
    for i in 0..n {
        dense[(i, i)] = block.diagonal(i);
        for (&j, &w) in block.neighbours(i).iter().zip(block.weights(i)) {
            dense[(i, j as usize)] = -w;
        }
    }
    let values = dense.self_adjoint_eigenvalues(Side::Lower).map_err(|e| Error::Factorisation {
        backend: "eigenvalue",
        items: n,
        reason: format!("{e:?}"),
    })?;
    Ok(values.into_iter().fold(0.0, f64::max))
}
