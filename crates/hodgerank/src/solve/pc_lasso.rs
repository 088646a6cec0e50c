//! Principal-components lasso: scores that are few, small, and lie along what the votes know best.
//!
//! Objective: min over θ of ½ Σ w (y − Xθ)² + λ‖θ‖₁ + ½ ratio · θᵀ V diag(d₁² − d_j²) Vᵀ θ with
//! W^{1/2}X = U D Vᵀ. Since L = XᵀWX = V D² Vᵀ, the last matrix is d₁²I − L on the whole space, and
//! no singular vector is needed: with b = XᵀWy and A = (1 − ratio) L + ratio · d₁² I this is
//!
//! min ½ θᵀAθ − bᵀθ + λ‖θ‖₁.
//!
//! A is positive definite for every ratio > 0 (its eigenvalues lie between d₁² and ratio · d₁²), so
//! the answer is unique.
//!
//! Optimality: b − Aθ = λ sign(θ) where θ ≠ 0, |b − Aθ| ≤ λ where θ = 0. Coordinate descent runs
//! until the largest violation is below `tolerance` · max|b|; it is computed afresh from θ, not
//! carried along.
//!
//! Gauge and components: constants are penalised (by ratio · d₁² and by λ), so the objective picks
//! a mean by itself; it is zero for λ = 0 and in general not otherwise. [`PcLasso::coefficients`]
//! has θ as it is; the scores of the solution are moved to mean zero on each component as
//! everywhere else. Each component has its own d₁, so that votes on other items cannot matter.
//!
//! Cost: pairs × 2 for each pass of coordinate descent, some tens to thousands of them (about
//! 1/ratio); n³ and 8n² bytes for d₁ of the largest component, so at most [`MAX_ITEMS`] items.
//!
//! Failure modes: not robust against wrong votes, and scores are shrunk; with λ ≥ max|b| all are 0.
//! It stands here as a competitor.
//!
//! | paper | here |
//! |---|---|
//! | θ | `coefficients`; `scores` after centring |
//! | θ_pc | `ratio` |
//! | d₁², V D² Vᵀ | `largest`, [`LaplacianMatrix`] |

use std::time::Instant;

use faer::{Mat, Side};

use super::{Info, Solution, Status, check_stopping};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::{LaplacianBlock, LaplacianMatrix};
use crate::numeric::largest_magnitude;

/// Most items of one component: its largest eigenvalue is found from the full matrix.
pub const MAX_ITEMS: usize = 2000;

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `lambda` | 1% of max abs XᵀWy | weight of ‖θ‖₁ | 0 or more |
/// | `ratio` | 0.1 | weight of the pull towards the leading components | above 0 |
/// | `tolerance` | 1e-10 | largest violation of optimality, over max abs XᵀWy | above 0, below 1 |
/// | `max_iterations` | 100000 | most passes over the items | 1 or more |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcLassoOptions {
    /// Weight of ‖θ‖₁; `None` is 1% of the smallest one that makes all scores zero.
    pub lambda: Option<f64>,
    /// Weight of the pull towards the leading components.
    pub ratio: f64,
    /// Largest violation of the optimality conditions, over max|XᵀWy|, that is good enough.
    pub tolerance: f64,
    /// Most passes over the items.
    pub max_iterations: usize,
}

/// λ if none is given, over the smallest λ that makes all scores zero.
const LAMBDA_SHARE: f64 = 0.01;

impl Default for PcLassoOptions {
    fn default() -> Self {
        Self { lambda: None, ratio: 0.1, tolerance: 1e-10, max_iterations: 100_000 }
    }
}

impl PcLassoOptions {
    /// Checks that all values make sense.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that does not.
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

/// Scores, and the coefficients before they are centred.
#[derive(Debug, Clone, PartialEq)]
pub struct PcLasso {
    /// The coefficients, moved to mean zero on each component. The residual in its info is the
    /// largest violation of the optimality conditions over max|XᵀWy|.
    pub solution: Solution,
    /// θ that minimises the objective; exact zeros are zeros.
    pub coefficients: Vec<f64>,
    /// The λ used.
    pub lambda: f64,
}

/// Scores by the principal-components lasso.
///
/// # Errors
/// If an option makes no sense, a component has more than [`MAX_ITEMS`] items, or the outcomes
/// are too large to be added up.
pub fn solve(graph: &ComparisonGraph, options: &PcLassoOptions) -> Result<PcLasso> {
    let started = Instant::now();
    options.validate()?;
    let matrix = LaplacianMatrix::new(graph, 0.0);
    let b = graph.divergence(&graph.groups().y);
    if let Some(item) = b.iter().position(|b| !b.is_finite()) {
        return Err(Error::Overflow { item: item as u32, value: b[item] });
    }
    let most = largest_magnitude(&b);
    let lambda = options.lambda.unwrap_or(LAMBDA_SHARE * most);
    let mut coefficients = vec![0.0; b.len()];
    let (mut iterations, mut violation) = (0, 0.0_f64);
    for c in 0..matrix.components() {
        let block = matrix.block(c);
        if block.len() < 2 {
            continue;
        }
        let members = &matrix.items()[matrix.rows(c)];
        let rhs = members.iter().map(|&item| b[item as usize]).collect();
        let mut descent = Descent::new(block, rhs, lambda, options.ratio)?;
        let limit = options.tolerance * most;
        let passes = descent.run(limit, options.max_iterations);
        iterations = iterations.max(passes);
        violation = violation.max(descent.violation());
        for (&item, &theta) in members.iter().zip(&descent.theta) {
            coefficients[item as usize] = theta;
        }
    }
    let mut scores = coefficients.clone();
    graph.components().centre(&mut scores);
    let solved = violation <= options.tolerance * most;
    let residual = if most > 0.0 { violation / most } else { 0.0 };
    let info = Info { backends: Vec::new(), iterations, residual, time: started.elapsed() };
    let status = if solved { Status::Solved } else { Status::IterationLimit };
    Ok(PcLasso { solution: Solution { scores, status, info }, coefficients, lambda })
}

/// One component: A = (1 − ratio) L + ratio · d₁² I, row by row from L.
struct Descent<'a> {
    block: LaplacianBlock<'a>,
    b: Vec<f64>,
    lambda: f64,
    ratio: f64,
    /// d₁², the largest eigenvalue of L.
    largest: f64,
    theta: Vec<f64>,
}

impl<'a> Descent<'a> {
    fn new(block: LaplacianBlock<'a>, b: Vec<f64>, lambda: f64, ratio: f64) -> Result<Self> {
        let largest = largest_eigenvalue(block)?;
        let theta = vec![0.0; b.len()];
        Ok(Self { block, b, lambda, ratio, largest, theta })
    }

    /// Passes over the items until no condition is violated by more than `limit`.
    fn run(&mut self, limit: f64, most: usize) -> usize {
        for pass in 0..most {
            if self.violation() <= limit {
                return pass;
            }
            for i in 0..self.b.len() {
                let curvature =
                    (1.0 - self.ratio) * self.block.diagonal(i) + self.ratio * self.largest;
                let free = self.pull(i) + curvature * self.theta[i];
                self.theta[i] = soft(free, self.lambda) / curvature;
            }
        }
        most
    }

    /// (b − Aθ)_i.
    fn pull(&self, i: usize) -> f64 {
        let along = (1.0 - self.ratio) * self.block.row_times(i, &self.theta);
        self.b[i] - along - self.ratio * self.largest * self.theta[i]
    }

    /// How far the worst item is from the optimality conditions.
    fn violation(&self) -> f64 {
        let of = |i: usize| match self.theta[i] {
            0.0 => (self.pull(i).abs() - self.lambda).max(0.0),
            theta => (self.pull(i) - self.lambda * theta.signum()).abs(),
        };
        (0..self.b.len()).map(of).fold(0.0, f64::max)
    }
}

fn soft(x: f64, threshold: f64) -> f64 {
    x - x.clamp(-threshold, threshold)
}

fn largest_eigenvalue(block: LaplacianBlock<'_>) -> Result<f64> {
    let n = block.len();
    if n > MAX_ITEMS {
        let (what, max) = ("items in one component for pc-lasso", MAX_ITEMS as u64);
        return Err(Error::TooLarge { what, count: n as u64, max });
    }
    let mut full = Mat::<f64>::zeros(n, n);
    for i in 0..n {
        full[(i, i)] = block.diagonal(i);
        for (&j, &w) in block.neighbours(i).iter().zip(block.weights(i)) {
            full[(i, j as usize)] = -w;
        }
    }
    let values = full.self_adjoint_eigenvalues(Side::Lower).map_err(|e| Error::Factorisation {
        backend: "eigenvalue",
        items: n,
        reason: format!("{e:?}"),
    })?;
    Ok(values.into_iter().fold(0.0, f64::max))
}
