//! The methods: from a comparison graph and options to scores.
//!
//! | solver | objective |
//! |---|---|
//! | [`l2`] | ½ Σ w (y − Xθ)² |
//! | [`huber_lasso`] | Σ w [½(y − Xθ − γ)² + λ abs γ] |
//! | [`lasso_l2`] | ½ Σ w (y − Xθ)² without the outliers of [`huber_lasso`] |
//! | [`ridge`] | ½ Σ w (y − Xθ)² + ½ a ‖θ‖² |
//! | [`bregman`] | a path without an objective: gradient descent on ½ Σ w (y − Xθ − γ)² in θ and, with shrinkage, in γ |
//! | [`inverse_scale_space`] | the exact limit of [`bregman`]: at each t, ½ Σ w (y − Xθ − γ)² where γ has the sign of p if abs p = 1 and is 0 otherwise |
//! | [`hard_threshold`] | ½ Σ w (y − Xθ − E)² with E ≠ 0 for at most K votes |
//! | [`trimmed`] | the same over the votes that are kept, with K given or estimated |
//! | [`pc_lasso`] | ½ Σ w (y − Xθ)² + λ‖θ‖₁ + ½ ratio · θᵀ(d₁²I − L)θ |
//! | [`bradley_terry`] | Σ w log P(y given θ) − ½ λ Σ ω (Xθ)² |
//! | [`crowd`] | Σ over annotators of log Σ_k π_k Π P(vote given θ and behaviour k) − ½ λ Σ ω (Xθ)² |
//! | [`concomitant`] | σ Σ w ρ_M((y − Xθ)/σ) + ½ a σ over θ and σ |
//!
//! [`Method`] is the table of methods. To add one: write its solver in this folder, add its row to
//! the table below, and call it in [`mod@crate::fit`].

pub mod bradley_terry;
pub mod bregman;
pub mod concomitant;
pub mod crowd;
pub mod hard_threshold;
pub mod huber_lasso;
pub mod inverse_scale_space;
pub mod l2;
pub mod lasso_l2;
pub mod pc_lasso;
pub mod ridge;
pub mod trimmed;

pub use bradley_terry::BradleyTerryOptions;
pub use bregman::BregmanOptions;
pub use concomitant::ConcomitantOptions;
pub use crowd::CrowdOptions;
pub use hard_threshold::HardThresholdOptions;
pub use huber_lasso::HuberLassoOptions;
pub use inverse_scale_space::InverseScaleSpaceOptions;
pub use l2::L2Options;
pub use lasso_l2::LassoL2Options;
pub use pc_lasso::PcLassoOptions;
pub use ridge::RidgeOptions;
pub use trimmed::TrimmedOptions;

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::{Backend, BackendChoice, LaplacianSystem, SolveInfo, StoppingRule};
use crate::path::Parameter;
pub use crate::status::Status;

/// Facts about a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodInfo {
    /// The method.
    pub method: Method,
    /// Its name on the command line, in Python and in outputs.
    pub name: &'static str,
    /// One line for `--help`.
    pub description: &'static str,
    /// The parameter of its path, if it has one.
    pub path: Option<Parameter>,
    /// Whether it can flag votes.
    pub flags_votes: bool,
    /// Whether it can run on votes that several processes share.
    pub is_distributable: bool,
    /// The largest number of items in one component that it supports.
    pub max_items: Option<usize>,
}

macro_rules! methods {
    ($($variant:ident: $name:literal, $description:literal, path $path:expr, flags_votes $flags:literal,
       distributable $distributable:literal;)*) => {
        /// A way to compute scores.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Method {
            $(#[doc = concat!("`", $name, "`: ", $description, ".")] $variant,)*
        }

        impl Method {
            /// Every method: those of the paper in the order of its tables, then the others.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// What [`Method::from_str`] accepts.
            const EXPECTED: &'static str = concat!("a method:", $(" ", $name),*);

            /// What the method can do.
            #[must_use]
            pub const fn info(self) -> MethodInfo {
                match self {
                    $(Self::$variant => MethodInfo {
                        method: self,
                        name: $name,
                        description: $description,
                        path: $path,
                        flags_votes: $flags,
                        is_distributable: $distributable,
                        max_items: match self {
                            Self::PcLasso => Some(pc_lasso::MAX_ITEMS),
                            _ => None,
                        },
                    },)*
                }
            }
        }
    };
}

methods! {
    LassoL2: "lasso-l2", "Least squares without the votes that Huber-LASSO flags",
        path Some(Parameter::Lambda), flags_votes true, distributable false;
    L2: "l2", "Least squares (HodgeRank); every vote counts",
        path None, flags_votes false, distributable true;
    Ridge: "ridge", "Least squares with scores shrunk towards zero; every vote counts",
        path None, flags_votes false, distributable true;
    PcLasso: "pc-lasso", "LASSO guided by principal components; every vote counts",
        path None, flags_votes false, distributable false;
    Trimmed: "ilts", "Iterative least trimmed squares; --outliers auto estimates the number of outliers",
        path None, flags_votes true, distributable false;
    HardThreshold: "iht", "Iterative hard thresholding: least squares without the K worst votes",
        path None, flags_votes true, distributable false;
    HuberLasso: "hlasso", "Huber-LASSO: the influence of votes that fit badly is bounded",
        path Some(Parameter::Lambda), flags_votes true, distributable true;
    Bregman: "lbi", "Linearised Bregman iteration: flags votes one after another, with little bias",
        path Some(Parameter::Time), flags_votes true, distributable true;
    InverseScaleSpace: "iss", "Inverse scale space: the exact limit of lbi, without tuning parameters",
        path Some(Parameter::Time), flags_votes true, distributable false;
    BradleyTerry: "bt", "Bradley-Terry by maximum likelihood with lapses; scores are log-odds",
        path None, flags_votes true, distributable true;
    Crowd: "crowd", "Bradley-Terry that judges the annotators: bad voters count less or not at all",
        path None, flags_votes true, distributable true;
}

impl Method {
    /// The methods of the paper, in the order of its tables.
    pub const PAPER: &'static [Self] = &[
        Self::LassoL2,
        Self::L2,
        Self::Ridge,
        Self::PcLasso,
        Self::Trimmed,
        Self::HardThreshold,
        Self::HuberLasso,
        Self::Bregman,
        Self::InverseScaleSpace,
    ];

    /// Whether the method needs every vote with its annotator.
    #[must_use]
    pub const fn needs_annotators(self) -> bool {
        matches!(self, Self::Crowd)
    }

    /// The name on the command line, in Python and in outputs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.info().name
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Method {
    type Err = Error;

    /// Reads a method's name, such as `iss`.
    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.iter().copied().find(|method| method.as_str() == text);
        let (value, expected) = (text.to_owned(), Self::EXPECTED);
        found.ok_or(Error::BadOption { option: "method", value, expected })
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for Method {
    fn value_variants<'a>() -> &'a [Self] {
        Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let MethodInfo { name, description, .. } = self.info();
        Some(clap::builder::PossibleValue::new(name).help(description))
    }
}

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

/// Facts about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// Backends in use, that of the largest component first; none if no two items were compared.
    pub backends: Vec<Backend>,
    /// Iterations, the most that any component took.
    pub iterations: usize,
    /// Residual of the linear system relative to its right-hand side.
    pub residual: f64,
    /// Bound of the error of any difference of scores within a component, relative to the spread of
    /// its scores ([`crate::laplacian::ErrorBound::relative`]); none if several processes share the
    /// votes, or the method does not solve a single system.
    pub error_bound: Option<f64>,
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
    let solved = system.solve_votes(graph, &graph.groups().weight, &xt_w_y, rule)?;
    Ok(solution_of(&system, solved, started))
}

/// Scores with the facts about their linear system.
fn solution_of(
    system: &LaplacianSystem,
    (scores, solved): (Vec<f64>, SolveInfo),
    started: Instant,
) -> Solution {
    let mut backends = Vec::new();
    for backend in system.backends() {
        if !backends.contains(&backend) {
            backends.push(backend);
        }
    }
    let status = if solved.converged { Status::Solved } else { Status::IterationLimit };
    let SolveInfo { iterations, residual, error_bound, .. } = solved;
    let time = started.elapsed();
    Solution { scores, status, info: Info { backends, iterations, residual, error_bound, time } }
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
