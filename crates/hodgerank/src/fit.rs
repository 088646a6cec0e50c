//! One entry for every method: votes and options in; scores, flagged votes and how it went out.
//!
//! | method | flags by |
//! |---|---|
//! | `l2`, `ridge`, `pc-lasso` | nothing: every vote counts |
//! | `hlasso`, `lasso-l2` | share, count, λ, scale, cross-validation, auto |
//! | `lbi`, `iss` | share, count, t, scale, cross-validation, auto |
//! | `iht`, `ilts` | share, count, scale, cross-validation, auto |
//!
//! Without a method, `iss` is taken where its cost allows ([`MAX_ISS_COST`]), else `lbi`. Where a
//! [`Communicator`] shares the votes, there are `l2`, `ridge`, `hlasso` and `lbi`.

use std::time::Instant;

use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::BackendChoice;
use crate::numeric;
use crate::path::{Change, Entry, Parameter, Path, StopAt};
use crate::select::cross_validation::{self, CrossValidation};
use crate::select::{self, OutlierRule};
pub use crate::solve::Method;
use crate::solve::bregman::{self, Algorithm, BregmanOptions};
use crate::solve::concomitant::{self, ConcomitantOptions};
use crate::solve::hard_threshold::{self, HardThresholdOptions, Removal};
use crate::solve::huber_lasso::{self, HuberLassoOptions, Knots};
use crate::solve::inverse_scale_space::{self, InverseScaleSpaceOptions};
use crate::solve::lasso_l2::{self, LassoL2Options, Protocol};
use crate::solve::pc_lasso::{self, PcLassoOptions};
use crate::solve::trimmed::{self, TrimmedOptions};
use crate::solve::{L2Options, RidgeOptions, Solution, Status, l2, ridge};

/// Multiply-adds up to which `iss` is taken unasked: some ten seconds on one core.
pub const MAX_ISS_COST: f64 = 1e10;

/// Options of [`fit`].
///
/// | name | default | purpose | for |
/// |---|---|---|---|
/// | `method` | by cost | how to find the scores | |
/// | `outliers` | `auto` | how many votes to flag | all that flag |
/// | `protocol` | `general` | order of outliers | hlasso, lasso-l2 |
/// | `ridge` | 1 | strength of the pull to zero | ridge |
/// | `kappa`, `dt`, `algorithm` | by scale, by κ, `exact` | see [`BregmanOptions`] | lbi |
/// | `lambda` | by correlation | see [`PcLassoOptions`] | pc-lasso |
/// | `backend`, `tolerance`, `max_iterations` | see [`L2Options`] | linear systems | all |
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the table says it")]
pub struct FitOptions {
    pub method: Option<Method>,
    pub outliers: OutlierRule,
    pub protocol: Protocol,
    pub ridge: f64,
    pub kappa: Option<f64>,
    pub dt: Option<f64>,
    pub algorithm: Algorithm,
    pub lambda: Option<f64>,
    pub backend: BackendChoice,
    pub tolerance: f64,
    pub max_iterations: usize,
}

impl Default for FitOptions {
    fn default() -> Self {
        let L2Options { backend, tolerance, max_iterations } = L2Options::default();
        Self {
            method: None,
            outliers: OutlierRule::default(),
            protocol: Protocol::default(),
            ridge: RidgeOptions::default().ridge,
            kappa: None,
            dt: None,
            algorithm: Algorithm::default(),
            lambda: None,
            backend,
            tolerance,
            max_iterations,
        }
    }
}

impl FitOptions {
    /// Checks what can be checked without the votes.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first value that makes no sense.
    pub fn validate(&self) -> Result<()> {
        self.outliers.validate(f64::INFINITY)?;
        self.l2_options().validate()?;
        self.ridge_options().validate()?;
        self.pc_lasso_options().validate()?;
        self.bregman_options().validate()
    }

    /// Checks that a team that shares the votes can do what is asked for: each step of the method
    /// and of the rule must be a sum over the votes.
    fn check_shared(&self, communicator: &dyn Communicator) -> Result<()> {
        let refused = |option, value: &str, expected| {
            Err(Error::BadOption { option, value: value.to_owned(), expected })
        };
        match (self.method, self.outliers) {
            _ if communicator.is_single_process() => Ok(()),
            (Some(method), _) if !method.info().is_distributable => {
                let expected = "l2, ridge, hlasso or lbi where the votes are shared";
                refused("method", method.as_str(), expected)
            }
            (_, OutlierRule::CrossValidation(_)) => {
                let expected = "a share, a count, lambda=, time= or scaled= where the votes are \
                                shared";
                refused("outliers", "cv", expected)
            }
            _ => Ok(()),
        }
    }

    fn l2_options(&self) -> L2Options {
        let Self { backend, tolerance, max_iterations, .. } = *self;
        L2Options { backend, tolerance, max_iterations }
    }

    fn ridge_options(&self) -> RidgeOptions {
        let Self { ridge, backend, tolerance, max_iterations, .. } = *self;
        RidgeOptions { ridge, backend, tolerance, max_iterations }
    }

    fn pc_lasso_options(&self) -> PcLassoOptions {
        PcLassoOptions { lambda: self.lambda, ..PcLassoOptions::default() }
    }

    fn bregman_options(&self) -> BregmanOptions {
        let Self { algorithm, kappa, dt, backend, .. } = *self;
        BregmanOptions { algorithm, kappa, dt, backend, ..BregmanOptions::default() }
    }

    fn huber_options(&self) -> HuberLassoOptions {
        let knots = match self.protocol {
            Protocol::Paper => Knots::Grid { count: 100, ratio: 0.01 },
            Protocol::General => Knots::default(),
        };
        HuberLassoOptions { knots, backend: self.backend, ..HuberLassoOptions::default() }
    }
}

/// Scores, and the votes not to be trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The method, chosen or asked for.
    pub method: Method,
    /// The scores.
    pub scores: Vec<f64>,
    /// How many votes of each group are flagged.
    pub flagged: Vec<f64>,
    /// Groups in order of suspicion, where the method has an order.
    pub entries: Vec<Entry>,
    /// Where the path stopped.
    pub stop: Option<(Parameter, f64)>,
    /// How λ was cross-validated, where the rule asked for it.
    pub cross_validation: Option<CrossValidation>,
    /// How it ended.
    pub status: Status,
    /// The linear solver, its iterations and its residual, where one system was solved.
    pub linear: Option<Linear>,
    /// Time taken.
    pub time: std::time::Duration,
}

impl Fit {
    /// How many votes are flagged, of the groups that are here.
    #[must_use]
    pub fn flagged_votes(&self) -> f64 {
        numeric::sum(&self.flagged)
    }
}

/// How a linear system was solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear {
    /// The backend of the largest component.
    pub backend: &'static str,
    /// Its iterations.
    pub iterations: usize,
    /// Its relative residual.
    pub residual: f64,
}

/// Finds scores and flags votes.
///
/// # Errors
/// If an option makes no sense for the method or the votes, or a solver fails.
pub fn fit(graph: &ComparisonGraph, options: &FitOptions) -> Result<Fit> {
    let started = Instant::now();
    options.outliers.validate(graph.votes())?;
    options.check_shared(graph.communicator())?;
    let l2_options = options.l2_options();
    let mut fit = match options.method {
        Some(Method::L2) => unflagged(graph, Method::L2, l2::solve(graph, &l2_options)?),
        Some(Method::Ridge) => {
            unflagged(graph, Method::Ridge, ridge::solve(graph, &options.ridge_options())?)
        }
        Some(Method::PcLasso) => {
            let found = pc_lasso::solve(graph, &options.pc_lasso_options())?;
            unflagged(graph, Method::PcLasso, found.solution)
        }
        method => robust(graph, method, options, &l2_options)?,
    };
    fit.time = started.elapsed();
    Ok(fit)
}

/// The whole path of a method that has one, as far as the rule says; [`OutlierRule::Auto`] goes on
/// until half of the votes are flagged.
///
/// # Errors
/// If the method has no path, an option makes no sense for it or the votes, or a solver fails.
pub fn path(graph: &ComparisonGraph, options: &FitOptions) -> Result<Path> {
    options.outliers.validate(graph.votes())?;
    options.check_shared(graph.communicator())?;
    let target = match options.outliers {
        OutlierRule::Auto => Target::Votes(0.5 * graph.votes()),
        _ => target(graph, options.method, options)?.0,
    };
    let method = options.method.unwrap_or_else(|| default_method(graph, target));
    walk(graph, method, options, until(method, target)?)
}

fn walk(
    graph: &ComparisonGraph,
    method: Method,
    options: &FitOptions,
    until: StopAt,
) -> Result<Path> {
    match method {
        Method::HuberLasso | Method::LassoL2 => {
            huber_lasso::path(graph, &options.huber_options(), until)
        }
        Method::Bregman => bregman::path(graph, &options.bregman_options(), until),
        Method::InverseScaleSpace => {
            inverse_scale_space::path(graph, &InverseScaleSpaceOptions::default(), until)
        }
        _ => Err(Error::BadOption {
            option: "method",
            value: method.as_str().to_owned(),
            expected: "a method with a path: hlasso, lasso-l2, lbi or iss",
        }),
    }
}

/// How far to go, once the rule has looked at the votes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Target {
    Nothing,
    Votes(f64),
    Value(Parameter, f64),
}

fn robust(
    graph: &ComparisonGraph,
    method: Option<Method>,
    options: &FitOptions,
    l2_options: &L2Options,
) -> Result<Fit> {
    let (target, cross_validation) = target(graph, method, options)?;
    let method = method.unwrap_or_else(|| default_method(graph, target));
    let mut fit = flag(graph, method, target, options, l2_options)?;
    if cross_validation.as_ref().is_some_and(|found| found.status == Status::IterationLimit) {
        fit.status = Status::IterationLimit;
    }
    fit.cross_validation = cross_validation;
    Ok(fit)
}

fn flag(
    graph: &ComparisonGraph,
    method: Method,
    target: Target,
    options: &FitOptions,
    l2_options: &L2Options,
) -> Result<Fit> {
    if target == Target::Nothing {
        return Ok(unflagged(graph, method, l2::solve(graph, l2_options)?));
    }
    let until = until(method, target)?;
    match method {
        Method::HuberLasso | Method::Bregman | Method::InverseScaleSpace => {
            Ok(end_of_path(graph, method, &walk(graph, method, options, until)?))
        }
        Method::LassoL2 => {
            let path = options.huber_options();
            let lasso = LassoL2Options { path, refit: *l2_options, protocol: options.protocol };
            let found = lasso_l2::solve(graph, &lasso, until)?;
            let mut fit = end_of_path(graph, method, &found.path);
            fit.flagged = whole_groups(graph, &found.removed);
            fit.scores = found.solution.scores;
            Ok(fit)
        }
        Method::HardThreshold => {
            let k = votes_of(method, target)?;
            let hard = HardThresholdOptions { k, backend: options.backend, ..Default::default() };
            Ok(removal(method, hard_threshold::solve(graph, &hard)?))
        }
        Method::Trimmed => {
            let k = match options.outliers {
                OutlierRule::Auto => None,
                _ => Some(votes_of(method, target)?),
            };
            let trimmed = TrimmedOptions { k, backend: options.backend, ..Default::default() };
            Ok(removal(method, trimmed::solve(graph, &trimmed)?))
        }
        Method::L2 | Method::Ridge | Method::PcLasso => {
            Ok(unflagged(graph, method, l2::solve(graph, l2_options)?))
        }
    }
}

fn target(
    graph: &ComparisonGraph,
    method: Option<Method>,
    options: &FitOptions,
) -> Result<(Target, Option<CrossValidation>)> {
    let target = match options.outliers {
        OutlierRule::Share(share) => Target::Votes(share * graph.votes()),
        OutlierRule::Count(0) => Target::Nothing,
        OutlierRule::Count(count) => Target::Votes(count as f64),
        OutlierRule::Lambda(lambda) => Target::Value(Parameter::Lambda, lambda),
        OutlierRule::Time(time) => Target::Value(Parameter::Time, time),
        OutlierRule::Scaled { m } => {
            let scale = ConcomitantOptions { m, ..ConcomitantOptions::default() };
            let scaled = concomitant::solve(graph, &scale)?;
            votes_beyond(graph, &scaled.solution.scores, scaled.lambda)
        }
        OutlierRule::CrossValidation(how) => {
            let found = cross_validation::solve(graph, &how)?;
            let target = match (found.lambda(), method) {
                (None, _) => Target::Nothing,
                (Some(lambda), Some(Method::HuberLasso | Method::LassoL2)) => {
                    Target::Value(Parameter::Lambda, lambda)
                }
                (Some(lambda), _) => {
                    let huber = options.huber_options();
                    let solution = huber_lasso::solve_at(graph, lambda, None, &huber)?;
                    votes_beyond(graph, &solution.scores, lambda)
                }
            };
            return Ok((target, Some(found)));
        }
        OutlierRule::Auto => at_least_one(select::auto(graph)?.votes),
    };
    Ok((target, None))
}

/// As many votes as Huber-LASSO flags at this λ.
fn votes_beyond(graph: &ComparisonGraph, scores: &[f64], lambda: f64) -> Target {
    let gamma = huber_lasso::outliers(graph, scores, lambda);
    let flagged = gamma.iter().zip(&graph.groups().weight).filter(|(gamma, _)| **gamma != 0.0);
    at_least_one(graph.communicator().sum_scalar(flagged.map(|(_, weight)| weight).sum()))
}

fn at_least_one(votes: f64) -> Target {
    if votes > 0.0 { Target::Votes(votes) } else { Target::Nothing }
}

fn default_method(graph: &ComparisonGraph, target: Target) -> Method {
    let votes = match target {
        Target::Votes(votes) => votes,
        Target::Nothing => 0.0,
        Target::Value(Parameter::Lambda, _) => return Method::HuberLasso,
        Target::Value(Parameter::Time, _) => graph.votes() / 2.0,
    };
    if !graph.communicator().is_single_process() {
        return Method::Bregman;
    }
    let cheap = inverse_scale_space::cost_estimate(graph, votes) <= MAX_ISS_COST;
    if cheap { Method::InverseScaleSpace } else { Method::Bregman }
}

/// λ runs along the paths of Huber-LASSO, time along those of the two dynamics.
fn until(method: Method, target: Target) -> Result<StopAt> {
    let own = match method {
        Method::HuberLasso | Method::LassoL2 => Some(Parameter::Lambda),
        Method::Bregman | Method::InverseScaleSpace => Some(Parameter::Time),
        _ => None,
    };
    match target {
        Target::Nothing => Ok(StopAt::Value(0.0)),
        Target::Votes(votes) => Ok(StopAt::Flagged(votes)),
        Target::Value(parameter, value) if own == Some(parameter) => Ok(StopAt::Value(value)),
        Target::Value(parameter, value) => Err(Error::BadOption {
            option: "outliers",
            value: format!("{}={value}", parameter.as_str()),
            expected: "lambda= with hlasso or lasso-l2, time= with lbi or iss; a share or a count \
                       with any robust method",
        }),
    }
}

fn votes_of(method: Method, target: Target) -> Result<u64> {
    match until(method, target)? {
        StopAt::Flagged(votes) => Ok(votes as u64),
        StopAt::End | StopAt::Value(_) => Ok(0),
    }
}

fn unflagged(graph: &ComparisonGraph, method: Method, solution: Solution) -> Fit {
    let Solution { scores, status, info } = solution;
    Fit {
        method,
        scores,
        flagged: vec![0.0; graph.groups().len()],
        entries: Vec::new(),
        stop: None,
        cross_validation: None,
        status,
        linear: Some(Linear {
            backend: info.backends.first().map_or("none", |backend| backend.as_str()),
            iterations: info.iterations,
            residual: info.residual,
        }),
        time: info.time,
    }
}

fn end_of_path(graph: &ComparisonGraph, method: Method, path: &Path) -> Fit {
    let end = path.knots[path.knots.len() - 1];
    Fit {
        method,
        scores: path.last_scores().to_vec(),
        flagged: flagged_at_end(graph, path),
        entries: path.entries(),
        stop: Some((path.parameter, end)),
        cross_validation: None,
        status: path.status,
        linear: None,
        time: std::time::Duration::ZERO,
    }
}

fn removal(method: Method, found: Removal) -> Fit {
    Fit {
        method,
        scores: found.solution.scores,
        flagged: found.removed,
        entries: Vec::new(),
        stop: None,
        cross_validation: None,
        status: found.solution.status,
        linear: None,
        time: found.solution.info.time,
    }
}

/// Votes of the groups that are flagged when all is done.
fn flagged_at_end(graph: &ComparisonGraph, path: &Path) -> Vec<f64> {
    let weight = &graph.groups().weight;
    let mut flagged = vec![0.0; weight.len()];
    for event in &path.events {
        let g = event.group as usize;
        flagged[g] = if event.change == Change::Left { 0.0 } else { weight[g] };
    }
    flagged
}

fn whole_groups(graph: &ComparisonGraph, groups: &[u32]) -> Vec<f64> {
    let mut flagged = vec![0.0; graph.groups().len()];
    for &g in groups {
        flagged[g as usize] = graph.groups().weight[g as usize];
    }
    flagged
}
