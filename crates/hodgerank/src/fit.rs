//! One entry point for all methods: [`fit`] returns scores and flagged votes, [`path`] the whole path.
//!
//! | method | outlier rules |
//! |---|---|
//! | `l2`, `ridge`, `pc-lasso` | none: every vote counts |
//! | `hlasso`, `lasso-l2` | share, count, λ, scaled, cross-validation, auto |
//! | `lbi`, `iss` | share, count, time, scaled, cross-validation, auto |
//! | `iht`, `ilts`, `bt`, `crowd` | share, count, scaled, cross-validation, auto |
//!
//! `default_method.rs` chooses the method if none is given.

mod default_method;

pub use default_method::MAX_ISS_COST;
pub(crate) use default_method::prefers_model;

use std::time::Instant;

use rayon::prelude::*;

use crate::annotator_votes::AnnotatorVotes;
use crate::certificate::{self, Asked, Certificate, Influence};
use crate::comparison::Comparison;
use crate::error::{Error, Result};
use crate::graph::{ComparisonGraph, Components, SideCounts};
use crate::model::{Decision, Link, Prior};
use crate::numeric;
use crate::options::FitOptions;
use crate::path::{Change, Entry, Parameter, Path, StopAt};
use crate::select::cross_validation::{self, CrossValidation};
use crate::select::lapse::{LapseTest, vote_size};
use crate::select::{self, Auto, OutlierRule};
use crate::solve::Method;
use crate::solve::bradley_terry::{self, BradleyTerryEstimates};
use crate::solve::bregman;
use crate::solve::concomitant::{self, ConcomitantOptions};
use crate::solve::crowd::{self, Crowd};
use crate::solve::hard_threshold::{self, HardThresholdOptions, Removal};
use crate::solve::huber_lasso;
use crate::solve::inverse_scale_space::{self, InverseScaleSpaceOptions};
use crate::solve::lasso_l2::{self, LassoL2Options};
use crate::solve::pc_lasso;
use crate::solve::trimmed::{self, TrimmedOptions};
use crate::solve::{L2Options, Solution, l2, ridge};
use crate::status::Status;
use default_method::{default_model, default_path_method};

/// The result of a method: scores and flagged votes.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The method, given or chosen.
    pub method: Method,
    /// One score per item, mean zero on each component of `components`.
    pub scores: Vec<f64>,
    /// The components that the votes that count connect: scores compare within one of them only.
    /// There are more than in the graph if a method that ignores flagged votes flags the only votes
    /// between some items.
    pub components: Components,
    /// How many votes of each distinct vote are flagged.
    pub flagged: Vec<f64>,
    /// Distinct votes in order of suspicion, if the method has an order.
    pub entries: Vec<Entry>,
    /// The parameter of the path and its value where the path stopped.
    pub stop: Option<(Parameter, f64)>,
    /// The cross-validation of λ, for [`OutlierRule::CrossValidation`].
    pub cross_validation: Option<CrossValidation>,
    /// Whether there are lapses, where the votes decided it: [`OutlierRule::Auto`], and `bt`.
    pub lapses: Option<LapseTest>,
    /// How the method ended, confirmed by the certificate.
    pub status: Status,
    /// What was checked about the result.
    pub certificate: Certificate,
    /// The linear solver, for methods that solve a single system.
    pub linear: Option<Linear>,
    /// For scores in log-odds, the size of the outcomes, from which residuals follow.
    pub outcome_size: Option<f64>,
    /// What was estimated besides the scores, for methods that model how people vote.
    pub model: Option<Model>,
    /// For each group, the probability that one of its votes is bad, for the same methods.
    pub bad_probability: Option<Vec<f64>>,
    /// Wall-clock time.
    pub time: std::time::Duration,
}

impl Fit {
    /// The number of flagged votes (in this process).
    #[must_use]
    pub fn flagged_votes(&self) -> f64 {
        numeric::sum(&self.flagged)
    }

    /// An outcome minus the one that the scores predict for items with this difference of scores:
    /// the difference, or its mean outcome if it is in log-odds.
    #[must_use]
    pub fn residual(&self, outcome: f64, difference: f64) -> f64 {
        match self.outcome_size {
            None => outcome - difference,
            Some(size) => outcome - size * (0.5 * difference).tanh(),
        }
    }

    /// What is known about the annotators, if the method judges them.
    #[must_use]
    pub fn crowd(&self) -> Option<&Crowd> {
        self.crowd_flags().map(|flags| &flags.crowd)
    }

    /// The same with the threshold above which votes are flagged.
    #[must_use]
    pub fn crowd_flags(&self) -> Option<&CrowdFlags> {
        match &self.model {
            Some(Model::Crowd(flags)) => Some(flags),
            _ => None,
        }
    }
}

/// Estimates of a model of how people vote.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// Bradley–Terry with lapses.
    BradleyTerry(BradleyTerryEstimates),
    /// Bradley–Terry of a crowd.
    Crowd(Box<CrowdFlags>),
}

impl Model {
    /// The prior of the scores.
    #[must_use]
    pub fn prior(&self) -> Prior {
        match self {
            Self::BradleyTerry(estimates) => estimates.prior,
            Self::Crowd(flags) => flags.crowd.estimates.prior,
        }
    }

    /// What was tried, and what it gains.
    #[must_use]
    pub fn decisions(&self) -> &[Decision] {
        match self {
            Self::BradleyTerry(estimates) => &estimates.decisions,
            Self::Crowd(flags) => &flags.crowd.estimates.decisions,
        }
    }

    /// From differences of scores to the probabilities of votes of this crowd; none for graded votes.
    #[must_use]
    pub fn link(&self) -> Option<Link> {
        match self {
            Self::BradleyTerry(estimates) => Some(estimates.link),
            Self::Crowd(flags) => flags.crowd.estimates.link,
        }
    }
}

/// A crowd, and which of its votes are flagged.
#[derive(Debug, Clone, PartialEq)]
pub struct CrowdFlags {
    /// The crowd.
    pub crowd: Crowd,
    /// Votes are flagged if the probability that they are bad is above this.
    pub threshold: f64,
}

impl CrowdFlags {
    /// The threshold unless a number of votes was asked for.
    pub const MORE_LIKELY_BAD: f64 = 0.5;

    /// Whether a vote is flagged, as its items were shown to its annotator.
    #[must_use]
    pub fn is_flagged(&self, vote: &Comparison) -> bool {
        let annotator = vote.annotator.and_then(|annotator| self.crowd.position(annotator));
        self.crowd.bad_probability(annotator, (vote.left, vote.right), vote.y) > self.threshold
    }
}

/// Facts about a linear solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear {
    /// The backend of the largest component.
    pub backend: &'static str,
    /// Iterations of the iterative solver.
    pub iterations: usize,
    /// Relative residual.
    pub residual: f64,
}

/// Computes scores and flags votes.
///
/// # Errors
/// If an option is invalid for the method or the votes, or a solver fails.
pub fn fit(graph: &ComparisonGraph, options: &FitOptions) -> Result<Fit> {
    fit_with_annotators(graph, None, options)
}

/// [`fit`] for methods that judge people too: `votes` are the votes of the graph with their
/// annotators. Where several processes share the votes, each has all votes of some annotators, whichever
/// process owns their pairs; either all processes have `votes` or none. `bt` takes sides from `votes` if the
/// graph has none and there is a single process.
///
/// # Errors
/// As [`fit`], and [`Error::NoAnnotators`] if the method needs them.
pub fn fit_with_annotators(
    graph: &ComparisonGraph,
    votes: Option<&AnnotatorVotes>,
    options: &FitOptions,
) -> Result<Fit> {
    fit_with_auto(graph, votes, options, None)
}

/// [`fit_with_annotators`] for several methods on the same votes: `auto` is the result of [`select::auto`] on
/// this graph, which is then not computed again for each method whose rule is [`OutlierRule::Auto`].
///
/// # Errors
/// As [`fit_with_annotators`].
pub fn fit_with_auto(
    graph: &ComparisonGraph,
    votes: Option<&AnnotatorVotes>,
    options: &FitOptions,
    auto: Option<Auto>,
) -> Result<Fit> {
    graph.run_in_pool_if_large(|| fit_here(graph, votes, options, auto))
}

fn fit_here(
    graph: &ComparisonGraph,
    votes: Option<&AnnotatorVotes>,
    options: &FitOptions,
    auto: Option<Auto>,
) -> Result<Fit> {
    let started = Instant::now();
    options.rule().validate(graph.votes())?;
    options.check_distributable(graph.communicator())?;
    let l2_options = options.l2_options();
    let method = options.method.or_else(|| default_model(graph, votes, options.rule()));
    let mut fit = match method {
        Some(Method::L2) => unflagged(graph, Method::L2, l2::solve(graph, &l2_options)?),
        Some(Method::Ridge) => {
            unflagged(graph, Method::Ridge, ridge::solve(graph, &options.ridge_options())?)
        }
        Some(Method::PcLasso) => {
            let found = pc_lasso::solve(graph, &options.pc_lasso_options())?;
            unflagged(graph, Method::PcLasso, found.solution)
        }
        Some(Method::BradleyTerry) => {
            // Several processes have the votes of annotators elsewhere than those of pairs.
            let is_single = graph.communicator().is_single_process();
            let votes = votes.filter(|_| graph.sides().is_none() && is_single);
            let sides = votes.and_then(|votes| votes.side_counts(graph.items()));
            bradley_terry(graph, graph.sides().or(sides.as_ref()), options)?
        }
        Some(Method::Crowd) => {
            // Of all processes: a single one may have none.
            let annotators = votes.map_or(0, AnnotatorVotes::annotators) as f64;
            let is_known = graph.communicator().sum_scalar(annotators) > 0.0;
            crowd(graph, votes.filter(|_| is_known).ok_or(Error::NoAnnotators)?, options)?
        }
        method => robust(graph, method, options, &l2_options, auto)?,
    };
    if let Some(item) = fit.scores.iter().position(|score| !score.is_finite()) {
        let value = fit.scores[item];
        return Err(Error::Overflow { item: item as u32, label: None, value });
    }
    fit.components.centre_exactly(&mut fit.scores);
    certify(graph, options, &mut fit);
    fit.time = started.elapsed();
    Ok(fit)
}

/// Checks the result from scratch, and corrects a status that claims too much.
fn certify(graph: &ComparisonGraph, options: &FitOptions, fit: &mut Fit) {
    let is_claimed = |status| matches!(status, Status::Solved | Status::Complete);
    let flagged = &fit.flagged;
    let influence = match fit.method {
        // They have conditions of their own.
        Method::PcLasso | Method::BradleyTerry | Method::Crowd => None,
        // Least squares if no vote was to be flagged.
        Method::Bregman => fit.linear.map(|_| Influence::Every { shift: 0.0 }),
        Method::Ridge => Some(Influence::Every { shift: options.ridge_options().ridge }),
        Method::HuberLasso => Some(match fit.stop {
            Some((_, lambda)) if lambda > 0.0 => Influence::Clipped { lambda },
            _ => Influence::Every { shift: 0.0 },
        }),
        Method::L2 => Some(Influence::Every { shift: 0.0 }),
        Method::LassoL2 | Method::HardThreshold | Method::Trimmed | Method::InverseScaleSpace => {
            Some(Influence::Without(flagged))
        }
    };
    if let Some(influence) = influence {
        check_optimality(graph, influence, &fit.scores, &mut fit.certificate);
        let is_refittable = matches!(influence, Influence::Without(_));
        if is_refittable
            && graph.communicator().is_single_process()
            && !fit.certificate.is_accurate()
        {
            // Along a path, rounding errors accumulate, and are relative to the flagged votes too.
            if let Ok(scores) = fit_remaining(graph, flagged, &options.l2_options()) {
                let mut certificate = Certificate { error_bound: None, ..fit.certificate };
                check_optimality(graph, influence, &scores, &mut certificate);
                if certificate.error_bound < fit.certificate.error_bound {
                    (fit.scores, fit.certificate) = (scores, certificate);
                }
            }
        }
    }
    if matches!(influence, Some(Influence::Without(_))) {
        let components = graph.components_without(flagged);
        if components.len() > graph.components().len() {
            components.centre(&mut fit.scores);
            components.centre_exactly(&mut fit.scores);
            fit.components = components;
            fit.status = if is_claimed(fit.status) { Status::Disconnected } else { fit.status };
        }
    }
    fit.certificate.components = fit.components.len();
    if is_claimed(fit.status) && !fit.certificate.is_accurate() {
        fit.status = Status::Inaccurate;
    }
}

/// Computes violation and error bound, the latter unless a least-squares solver has computed it.
fn check_optimality(
    graph: &ComparisonGraph,
    influence: Influence<'_>,
    scores: &[f64],
    certificate: &mut Certificate,
) {
    let violation = || certificate::violation(graph, scores, influence);
    let known = certificate.error_bound;
    let bound = || known.or_else(|| certificate::error_bound(graph, scores, influence));
    // Both have serial parts. Only one thread may communicate with other processes.
    let (violation, bound) = match graph.communicator().is_single_process() {
        true => rayon::join(violation, bound),
        false => (violation(), known),
    };
    certificate.violation = Some(violation);
    certificate.error_bound = bound;
}

/// The least-squares scores of the votes that are not flagged.
fn fit_remaining(
    graph: &ComparisonGraph,
    flagged: &[f64],
    options: &L2Options,
) -> Result<Vec<f64>> {
    let weight: Vec<f64> = graph
        .groups()
        .weight
        .iter()
        .zip(flagged)
        .map(|(weight, flagged)| weight - flagged)
        .collect();
    let remaining = ComparisonGraph::new(graph.items(), graph.groups().reweighted(&weight))?;
    l2::solve(&remaining, options).map(|solution| solution.scores)
}

/// Computes the path of a method up to the point that the outlier rule selects;
/// [`OutlierRule::Auto`] continues until half of the votes are flagged or the path ends.
///
/// # Errors
/// If the method has no path, an option is invalid for the method or the votes, or a solver fails.
pub fn path(graph: &ComparisonGraph, options: &FitOptions) -> Result<Path> {
    options.rule().validate(graph.votes())?;
    options.check_distributable(graph.communicator())?;
    let half = 0.5 * graph.votes();
    let target = match options.rule() {
        OutlierRule::Auto => Target::Votes(half),
        _ => target(graph, options.method, options)?.target,
    };
    let method = options.method.unwrap_or_else(|| default_path_method(graph, target));
    let stop = match options.rule() {
        OutlierRule::Auto => StopAt::FlaggedOrEnd(half),
        _ => stop_at(method, target)?,
    };
    compute_path(graph, method, options, stop)
}

fn compute_path(
    graph: &ComparisonGraph,
    method: Method,
    options: &FitOptions,
    stop: StopAt,
) -> Result<Path> {
    match method {
        Method::HuberLasso | Method::LassoL2 => {
            huber_lasso::compute_path(graph, &options.huber_options(), stop)
        }
        Method::Bregman => bregman::compute_path(graph, &options.bregman_options(), stop),
        Method::InverseScaleSpace => {
            inverse_scale_space::compute_path(graph, &InverseScaleSpaceOptions::default(), stop)
        }
        _ => Err(Error::BadOption {
            option: "method",
            value: method.as_str().to_owned(),
            expected: "a method that has a path",
        }),
    }
}

/// What an outlier rule amounts to on given votes, and how that was found.
struct Found {
    target: Target,
    cross_validation: Option<CrossValidation>,
    lapses: Option<LapseTest>,
}

impl From<Auto> for Found {
    fn from(auto: Auto) -> Self {
        let target = at_least_one(auto.votes);
        Self { target, cross_validation: None, lapses: Some(auto.test) }
    }
}

/// What an outlier rule amounts to on given votes.
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
    auto: Option<Auto>,
) -> Result<Fit> {
    let found = match (options.rule(), auto) {
        (OutlierRule::Auto, Some(auto)) => Found::from(auto),
        _ => target(graph, method, options)?,
    };
    let Found { target, cross_validation, lapses } = found;
    let method = method.unwrap_or_else(|| default_path_method(graph, target));
    let mut fit = flag(graph, method, target, options, l2_options)?;
    if cross_validation.as_ref().is_some_and(|found| found.status == Status::IterationLimit) {
        fit.status = Status::IterationLimit;
    }
    fit.cross_validation = cross_validation;
    fit.lapses = lapses;
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
    let stop = stop_at(method, target)?;
    match method {
        Method::HuberLasso | Method::Bregman | Method::InverseScaleSpace => {
            let path = compute_path(graph, method, options, stop)?;
            Ok(end_of_path(graph, method, stop, &path))
        }
        Method::LassoL2 => {
            let path = options.huber_options();
            let lasso = LassoL2Options { path, refit: *l2_options, protocol: options.protocol };
            let found = lasso_l2::solve(graph, &lasso, stop)?;
            let mut fit = end_of_path(graph, method, stop, &found.path);
            fit.flagged = whole_groups(graph, &found.removed);
            fit.scores = found.solution.scores;
            if found.solution.status != Status::Solved {
                fit.status = found.solution.status;
            }
            Ok(fit)
        }
        Method::HardThreshold => {
            let k = votes_of(method, target)?;
            let hard = HardThresholdOptions { k, backend: options.backend, ..Default::default() };
            Ok(removal(graph, method, hard_threshold::solve(graph, &hard)?, Some(k)))
        }
        Method::Trimmed => {
            let k = match options.rule() {
                OutlierRule::Auto => None,
                _ => Some(votes_of(method, target)?),
            };
            let trimmed = TrimmedOptions { k, backend: options.backend, ..Default::default() };
            Ok(removal(graph, method, trimmed::solve(graph, &trimmed)?, k))
        }
        Method::L2 | Method::Ridge | Method::PcLasso | Method::BradleyTerry | Method::Crowd => {
            Ok(unflagged(graph, method, l2::solve(graph, l2_options)?))
        }
    }
}

/// Flags the votes that are more likely lapses than honest, or as many as the rule asks for.
fn bradley_terry(
    graph: &ComparisonGraph,
    sides: Option<&SideCounts>,
    options: &FitOptions,
) -> Result<Fit> {
    let method = Method::BradleyTerry;
    if options.rule() != OutlierRule::Auto && !graph.communicator().is_single_process() {
        let (value, expected) = (method.as_str().to_owned(), "hlasso or lbi with this rule");
        return Err(Error::BadOption { option: "method", value, expected });
    }
    let model = options.bradley_terry_options();
    let found = bradley_terry::solve_with_sides(graph, sides, &model)?;
    let asked = match options.rule() {
        OutlierRule::Auto => None,
        _ => Some(target(graph, Some(method), options)?),
    };
    let weight = &graph.groups().weight;
    let (mut certificate, mut cross_validation) = (Certificate::default(), None);
    let flagged = match asked {
        None => {
            let of_group = |(p, weight): (&f64, &f64)| if *p > 0.5 { *weight } else { 0.0 };
            found.lapse_probability.par_iter().zip(weight).map(of_group).collect()
        }
        Some(Found { target, cross_validation: how, .. }) => {
            let votes = votes_of(method, target)? as f64;
            let (mut flagged, mut reached) = (vec![0.0; weight.len()], 0.0);
            for g in by_probability(&found.lapse_probability) {
                if reached >= votes {
                    break;
                }
                flagged[g as usize] = weight[g as usize];
                reached += weight[g as usize];
            }
            certificate.asked = Some(Asked::Votes(votes));
            certificate.reached = Some(reached);
            cross_validation = how;
            flagged
        }
    };
    let lapses = options.lapse_rate.is_none().then(|| found.estimates.lapse_test(graph.votes()));
    certificate.violation = Some(found.solution.info.residual);
    let Solution { scores, status, info } = found.solution;
    Ok(Fit {
        method,
        scores,
        components: graph.components().clone(),
        flagged,
        entries: Vec::new(),
        stop: None,
        cross_validation,
        lapses,
        status,
        certificate,
        linear: None,
        outcome_size: Some(vote_size(graph).unwrap_or(1.0)),
        model: Some(Model::BradleyTerry(found.estimates)),
        bad_probability: Some(found.lapse_probability),
        time: info.time,
    })
}

/// Flags the votes that are more likely bad than honest, or as many as the rule asks for.
fn crowd(graph: &ComparisonGraph, votes: &AnnotatorVotes, options: &FitOptions) -> Result<Fit> {
    let method = Method::Crowd;
    let found = crowd::solve(graph, votes, &options.crowd_options())?;
    let (mut certificate, mut cross_validation) = (Certificate::default(), None);
    let threshold = match options.rule() {
        OutlierRule::Auto => CrowdFlags::MORE_LIKELY_BAD,
        _ => {
            let Found { target, cross_validation: how, .. } = target(graph, Some(method), options)?;
            let asked = votes_of(method, target)? as f64;
            cross_validation = how;
            certificate.asked = Some(Asked::Votes(asked));
            // Of equally bad votes all are flagged, so that only a probability that none exceeds
            // flags nothing.
            if asked == 0.0 { 1.0 } else { found.threshold_of(graph, votes, asked) }
        }
    };
    let flagged = found.flagged(graph, votes, threshold);
    let reached = graph.communicator().sum_scalar(numeric::sum(&flagged));
    certificate.reached = certificate.asked.map(|_| reached);
    let Solution { scores, status, info } = found.solution.clone();
    certificate.violation = Some(info.residual);
    Ok(Fit {
        method,
        scores,
        components: graph.components().clone(),
        flagged,
        entries: Vec::new(),
        stop: None,
        cross_validation,
        lapses: None,
        status,
        certificate,
        linear: None,
        // Scores of graded votes have the unit of the outcomes.
        outcome_size: vote_size(graph),
        model: Some(Model::Crowd(Box::new(CrowdFlags { crowd: found, threshold }))),
        bad_probability: None,
        time: info.time,
    })
}

/// Groups in order of suspicion, the most probable lapses first.
fn by_probability(probability: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..probability.len() as u32).collect();
    let of = |g: &u32| probability[*g as usize];
    order.par_sort_unstable_by(|a, b| of(b).total_cmp(&of(a)).then(a.cmp(b)));
    order
}

fn target(graph: &ComparisonGraph, method: Option<Method>, options: &FitOptions) -> Result<Found> {
    let mut cross_validation = None;
    let target = match options.rule() {
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
            cross_validation = Some(found);
            target
        }
        OutlierRule::Auto => return select::auto(graph).map(Found::from),
    };
    Ok(Found { target, cross_validation, lapses: None })
}

/// The number of votes that Huber-LASSO flags at this λ.
fn votes_beyond(graph: &ComparisonGraph, scores: &[f64], lambda: f64) -> Target {
    let gamma = huber_lasso::outliers(graph, scores, lambda);
    let flagged = gamma.iter().zip(&graph.groups().weight).filter(|(gamma, _)| **gamma != 0.0);
    at_least_one(graph.communicator().sum_scalar(flagged.map(|(_, weight)| weight).sum()))
}

fn at_least_one(votes: f64) -> Target {
    if votes > 0.0 { Target::Votes(votes) } else { Target::Nothing }
}

/// Refuses a parameter that does not belong to the path of the method.
fn stop_at(method: Method, target: Target) -> Result<StopAt> {
    let own = method.info().path;
    match target {
        Target::Nothing => Ok(StopAt::Value(0.0)),
        Target::Votes(votes) => Ok(StopAt::Flagged(votes)),
        Target::Value(parameter, value) if own == Some(parameter) => Ok(StopAt::Value(value)),
        Target::Value(parameter, value) => Err(Error::BadOption {
            option: "outliers",
            value: format!("{}={value}", parameter.as_str()),
            expected: "a share, a count, or the parameter of the method's own path",
        }),
    }
}

fn votes_of(method: Method, target: Target) -> Result<u64> {
    match stop_at(method, target)? {
        StopAt::Flagged(votes) | StopAt::FlaggedOrEnd(votes) => Ok(votes as u64),
        StopAt::End | StopAt::Value(_) => Ok(0),
    }
}

fn unflagged(graph: &ComparisonGraph, method: Method, solution: Solution) -> Fit {
    let Solution { scores, status, info } = solution;
    // The violation of pc-lasso's own conditions; that of all other methods is recomputed.
    let certificate = Certificate {
        violation: Some(info.residual),
        error_bound: info.error_bound,
        ..Certificate::default()
    };
    Fit {
        method,
        scores,
        components: graph.components().clone(),
        flagged: vec![0.0; graph.groups().len()],
        entries: Vec::new(),
        stop: None,
        cross_validation: None,
        lapses: None,
        status,
        certificate,
        linear: Some(Linear {
            backend: info.backends.first().map_or("none", |backend| backend.as_str()),
            iterations: info.iterations,
            residual: info.residual,
        }),
        outcome_size: None,
        model: None,
        bad_probability: None,
        time: info.time,
    }
}

fn end_of_path(graph: &ComparisonGraph, method: Method, stop: StopAt, path: &Path) -> Fit {
    let end = path.knots[path.knots.len() - 1];
    let entries = path.entries();
    let reached = match stop {
        StopAt::End | StopAt::Value(_) => end,
        StopAt::Flagged(_) | StopAt::FlaggedOrEnd(_) => {
            let weights = entries.iter().map(|entry| graph.groups().weight[entry.group as usize]);
            graph.communicator().sum_scalar(weights.sum())
        }
    };
    Fit {
        method,
        scores: path.last_scores().to_vec(),
        components: graph.components().clone(),
        flagged: flagged_at_end(graph, path),
        entries,
        stop: Some((path.parameter, end)),
        cross_validation: None,
        lapses: None,
        status: path.status,
        certificate: Certificate {
            asked: Asked::of_path(stop, path.parameter),
            reached: Some(reached),
            ..Certificate::default()
        },
        linear: None,
        outcome_size: None,
        model: None,
        bad_probability: None,
        time: std::time::Duration::ZERO,
    }
}

/// The fit of a method that removes votes, at most `k` if given.
fn removal(graph: &ComparisonGraph, method: Method, found: Removal, k: Option<u64>) -> Fit {
    let certificate = Certificate {
        asked: k.map(|k| Asked::AtMostVotes(k as f64)),
        reached: Some(numeric::sum(&found.removed)),
        ..Certificate::default()
    };
    Fit {
        method,
        scores: found.solution.scores,
        components: graph.components().clone(),
        flagged: found.removed,
        entries: Vec::new(),
        stop: None,
        cross_validation: None,
        lapses: None,
        status: found.solution.status,
        certificate,
        linear: None,
        outcome_size: None,
        model: None,
        bad_probability: None,
        time: found.solution.info.time,
    }
}

/// Votes that are flagged at the end of the path.
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
