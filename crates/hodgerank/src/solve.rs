//! Solvers: from a comparison graph and options to scores.
//!
//! | solver | objective |
//! |---|---|
//! | [`l2`] | ½ Σ w (y − Xθ)² |
//! | [`huber_lasso`] | Σ w [½(y − Xθ − γ)² + λ abs γ] |
//! | [`lasso_l2`] | ½ Σ w (y − Xθ)² without the outliers of [`huber_lasso`] |
//! | [`ridge`] | ½ Σ w (y − Xθ)² + ½ a ‖θ‖² |
//! | [`bregman`] | no objective, a path: ½ Σ w (y − Xθ − γ)² descended in θ and, through shrinkage, in γ |
//! | [`inverse_scale_space`] | its exact limit: at each t, ½ Σ w (y − Xθ − γ)² with γ of the sign of p where abs p = 1, else 0 |
//! | [`hard_threshold`] | ½ Σ w (y − Xθ − E)², at most K votes with E ≠ 0 |
//! | [`trimmed`] | the same over the votes kept, K given or found |
//! | [`pc_lasso`] | ½ Σ w (y − Xθ)² + λ‖θ‖₁ + ½ ratio · θᵀ(d₁²I − L)θ |
//! | [`concomitant`] | σ Σ w ρ_M((y − Xθ)/σ) + ½ a σ, over θ and σ |

pub mod bregman;
pub mod concomitant;
pub mod hard_threshold;
pub mod huber_lasso;
pub mod inverse_scale_space;
pub mod l2;
pub mod lasso_l2;
pub mod pc_lasso;
pub mod ridge;
pub mod trimmed;

pub use bregman::BregmanOptions;
pub use concomitant::ConcomitantOptions;
pub use hard_threshold::HardThresholdOptions;
pub use huber_lasso::HuberLassoOptions;
pub use inverse_scale_space::InverseScaleSpaceOptions;
pub use l2::L2Options;
pub use lasso_l2::LassoL2Options;
pub use pc_lasso::PcLassoOptions;
pub use ridge::RidgeOptions;
pub use trimmed::TrimmedOptions;

use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::{Backend, BackendChoice, LaplacianSystem, StoppingRule};

/// What a solver returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// One score for each item, mean zero on each connected component.
    pub scores: Vec<f64>,
    /// Whether the scores are what was asked for.
    pub status: Status,
    /// How they were found.
    pub info: Info,
}

/// How a solver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// The tolerance was met, or rounding permits nothing better.
    Solved,
    /// Iterations ran out, or no longer helped, before that: the scores are the best so far.
    IterationLimit,
}

impl Status {
    /// Its name in outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::IterationLimit => "iteration-limit",
        }
    }
}

/// Facts about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// Backends in use, that of the largest component first; none if no two items were compared.
    pub backends: Vec<Backend>,
    /// Iterations, the most that any component took.
    pub iterations: usize,
    /// Residual of the linear system relative to its right-hand side.
    pub residual: f64,
    /// Time taken.
    pub time: Duration,
}

/// Solves (L + shift·I)θ = XᵀWy.
fn scores_of_all_votes(
    graph: &ComparisonGraph,
    shift: f64,
    backend: BackendChoice,
    rule: &StoppingRule,
) -> Result<Solution> {
    let started = Instant::now();
    let system = LaplacianSystem::new(graph, shift, backend)?;
    let xt_w_y = graph.divergence(&graph.groups().y);
    scores_of_system(graph, &system, &xt_w_y, rule, started)
}

/// Solves a system that is set up, for scores of mean zero on each component.
fn scores_of_system(
    graph: &ComparisonGraph,
    system: &LaplacianSystem,
    rhs: &[f64],
    rule: &StoppingRule,
    started: Instant,
) -> Result<Solution> {
    let (mut scores, solved) = system.solve(rhs, rule)?;
    graph.components().centre(&mut scores);
    let mut backends = Vec::new();
    for backend in system.backends() {
        if !backends.contains(&backend) {
            backends.push(backend);
        }
    }
    let status = if solved.converged { Status::Solved } else { Status::IterationLimit };
    let (iterations, residual) = (solved.iterations, solved.residual);
    Ok(Solution {
        scores,
        status,
        info: Info { backends, iterations, residual, time: started.elapsed() },
    })
}

/// The two options that every solver of one linear system has.
pub(crate) fn check_stopping(tolerance: f64, max_iterations: usize) -> Result<StoppingRule> {
    if !(tolerance > 0.0 && tolerance < 1.0) {
        let (value, expected) = (tolerance.to_string(), "a number between 0 and 1, both excluded");
        return Err(Error::BadOption { option: "tolerance", value, expected });
    }
    if max_iterations == 0 {
        let (value, expected) = ("0".to_owned(), "a whole number, 1 or more");
        return Err(Error::BadOption { option: "max-iterations", value, expected });
    }
    Ok(StoppingRule { max_iterations, ..StoppingRule::at(tolerance) })
}
