//! Inverse scale space (ISS): the limit of [`super::bregman`] as κ → ∞ and Δt → 0, computed exactly from
//! event to event, without tuning parameters.
//!
//! Each vote has a multiplier p that starts at 0 and integrates its residual over time. A group enters
//! when p reaches ±1; from then on it has no influence on θ, and γ equals its residual, without bias.
//!
//! The dynamics 0 = XᵀW(y − Xθ − γ), ṗ = y − Xθ − γ, p ∈ ∂|γ| have a solution with θ and γ piecewise
//! constant and p piecewise linear in t. With E = {|p| = 1}, (θ, γ) minimises
//!
//! ½ Σ_g w_g (y_g − (Xθ)_g − γ_g)², with γ_g = 0 off E and γ_g p_g ≥ 0 on E,
//!
//! least squares with sign constraints. The optimality conditions, with r = y − Xθ and
//! S = {γ ≠ 0} ⊆ E:
//!
//! | groups | condition | consequence |
//! |---|---|---|
//! | all | XᵀW(r − γ) = 0 | θ is the least-squares fit of all groups except S |
//! | S | γ = r, r p > 0 | ṗ = 0: p stays ±1 |
//! | E without S | γ = 0, r p ≤ 0 | abs p does not grow |
//! | not in E | γ = 0 | ṗ = r |
//!
//! An event is the first time at which some |p| < 1 reaches 1. All groups for which this happens at
//! the same time (many for ±1 votes on symmetric designs) enter together. The new fit is computed by
//! the active-set method of Lawson and Hanson: fit without S; if a sign constraint in S is violated,
//! stop where the first one becomes active and trust that group again; if a trusted group of E has
//! r p > 0, flag it; repeat. Each round decreases the loss.
//!
//! p belongs to a single vote; the weight w affects only the fit.
//!
//! Cost: an event usually takes one change of rank one of the inverse of the inlier Laplacian (n²/2
//! multiply-adds in matrix products, for up to 4096 items; conjugate gradients for more) and a look at
//! the active set, the few groups that could enter soon. A pass over all groups is needed once for √m
//! events, m the number of groups. [`super::bregman`] is faster if there are many outliers: its cost
//! hardly depends on their number.
//!
//! Failure modes: the path ends where the trusted votes no longer connect the items of a component
//! ([`Status::Disconnected`]), for example if an item has only two opposite votes of equal count.
//! Beyond that point θ would not be unique.
//!
//! | paper | here |
//! |---|---|
//! | θ, γ | `theta`; γ = r on flagged groups |
//! | p | `Multipliers`: computed from ∫θ dt when it is needed |
//! | S | `flagged` |
//! | L_{S^c} | `InlierSystem`: its pseudo-inverse, or conjugate gradients |

mod active_set;
mod conjugate_gradient;
mod dense;
mod inlier_system;
mod inliers;
mod multipliers;
mod outcome_scale;
mod scan;
mod signed_fit;

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::path::{Interpolation, Parameter, Path, Recorder, StopAt};
use crate::solve::l2::{self, L2Options};
use crate::status::Status;
use inliers::MAX_DENSE_ITEMS;
use signed_fit::{FitOutcome, SignedFit};

/// Estimated number of products with the inlier Laplacian per event without the dense inverse.
const CG_PRODUCTS_PER_EVENT: f64 = 20.0;

/// Options of [`compute_path`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `tolerance` | 1e-10 | relative residual of linear systems | above 0, below 1 |
/// | `max_events` | 1000000 | maximum number of events | 1 or more |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InverseScaleSpaceOptions {
    /// Relative residual to which linear systems are solved.
    pub tolerance: f64,
    /// Maximum number of events.
    pub max_events: usize,
}

impl Default for InverseScaleSpaceOptions {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_events: 1_000_000 }
    }
}

impl InverseScaleSpaceOptions {
    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        if self.max_events == 0 {
            let (value, expected) = ("0".to_owned(), "a whole number, 1 or more");
            return Err(Error::BadOption { option: "max-events", value, expected });
        }
        super::check_stopping(self.tolerance, 1).map(drop)
    }
}

/// Computes the path from the least-squares scores, at time 0, to `stop`. [`StopAt::End`] is where
/// the scores fit every trusted vote exactly.
///
/// Scores are constant from one knot to the next. Each knot is an event, except that the last one may
/// be the requested time, or the time at which the trusted votes no longer connect the items.
///
/// # Errors
/// If an option is invalid or the sums of the outcomes overflow.
///
/// # Example
/// ```
/// use hodgerank::path::StopAt;
/// use hodgerank::solve::inverse_scale_space::{self, InverseScaleSpaceOptions};
/// use hodgerank::{Comparison, ComparisonGraph, Groups};
///
/// // Scores 2, 1, 0 explain all votes but the last.
/// let votes = [
///     Comparison::new(0, 1, 1.0).with_count(5),
///     Comparison::new(1, 2, 1.0).with_count(5),
///     Comparison::new(0, 2, 2.0).with_count(5),
///     Comparison::new(2, 0, 2.0),
/// ];
/// let graph = ComparisonGraph::new(3, Groups::merge(3, &votes)?.groups)?;
/// let path = inverse_scale_space::compute_path(&graph, &InverseScaleSpaceOptions::default(), StopAt::End)?;
/// assert_eq!(path.entries().len(), 1);
/// assert!((path.last_scores()[0] - 1.0).abs() < 1e-12);
/// assert!((path.entries()[0].residual + 4.0).abs() < 1e-12);
/// # Ok::<(), hodgerank::Error>(())
/// ```
pub fn compute_path(
    graph: &ComparisonGraph,
    options: &InverseScaleSpaceOptions,
    stop: StopAt,
) -> Result<Path> {
    options.validate()?;
    let l2_options = L2Options { tolerance: options.tolerance, ..L2Options::default() };
    let theta = l2::solve(graph, &l2_options)?.scores;
    let recorder = Recorder::new(Parameter::Time, Interpolation::Constant, 0.0, &theta);
    let mut fit = SignedFit::start(graph, theta, options.tolerance);
    // Enters the thread pool once for the whole loop instead of once per parallel section.
    rayon::scope(|_| Ok(run_events(&mut fit, options, stop, recorder)))
}

/// Advances from event to event.
fn run_events(
    fit: &mut SignedFit<'_>,
    options: &InverseScaleSpaceOptions,
    stop: StopAt,
    mut recorder: Recorder,
) -> Path {
    let groups = fit.graph.groups();
    let end = if let StopAt::Value(t) = stop { t } else { f64::INFINITY };
    let mut events = 0;
    let status = loop {
        if recorder.reached(stop) {
            break Status::Complete;
        }
        let next = fit.next_event();
        if next > end || next.is_infinite() {
            if end.is_finite() {
                recorder.record_knot(end, &fit.theta, [], groups);
            }
            break Status::Complete;
        }
        if events == options.max_events {
            break Status::IterationLimit;
        }
        let entering = fit.advance(next);
        events += 1;
        match fit.resolve_event(&entering) {
            FitOutcome::Fitted => recorder.record_knot(next, &fit.theta, fit.changes(), groups),
            FitOutcome::Disconnected => {
                recorder.record_knot(next, &fit.last_theta, [], groups);
                break Status::Disconnected;
            }
            FitOutcome::RoundLimit => {
                recorder.record_knot(next, &fit.last_theta, [], groups);
                break Status::IterationLimit;
            }
        }
    };
    recorder.finish(status, stop)
}

/// Estimates the multiply-adds that [`compute_path`] needs until this many votes are flagged.
///
/// The number of events is estimated by the number of lightest groups that have so many votes, since
/// wrong votes are usually few on each pair. An event counts as n² and two passes over the groups, or,
/// without the dense inverse, as about twenty products with the Laplacian. This is an upper bound, to
/// which the choice of default methods is calibrated: most events need no pass, and matrix products are
/// fast. For comparison, a step of [`super::bregman`] costs one pass, and a path takes some hundred steps
/// for any number of outliers.
#[must_use]
pub fn cost_estimate(graph: &ComparisonGraph, flagged_votes: f64) -> f64 {
    let events = max_entries(&graph.groups().weight, flagged_votes) as f64;
    let (items, groups) = (graph.items() as f64, graph.groups().len() as f64);
    let cost_of_fit = if graph.items() <= MAX_DENSE_ITEMS {
        items * items
    } else {
        CG_PRODUCTS_PER_EVENT * (items + 2.0 * graph.pairs().len() as f64)
    };
    let setup = if graph.items() <= MAX_DENSE_ITEMS { items.powi(3) } else { 0.0 };
    setup + events * (cost_of_fit + 2.0 * groups)
}

/// Returns the maximum number of groups that can enter until `votes` votes are flagged.
fn max_entries(weights: &[f64], votes: f64) -> usize {
    /// Weights above this count as this; few groups are heavier.
    const MAX_WEIGHT: usize = 255;
    let mut groups_of_weight = [0_usize; MAX_WEIGHT + 1];
    weights
        .iter()
        .for_each(|&weight| groups_of_weight[(weight as usize).clamp(1, MAX_WEIGHT)] += 1);
    let (mut entries, mut remaining) = (0, votes);
    for (weight, &count) in groups_of_weight.iter().enumerate().skip(1) {
        let needed = (remaining / weight as f64).ceil();
        if needed <= count as f64 {
            return entries + needed as usize;
        }
        entries += count;
        remaining -= (weight * count) as f64;
    }
    entries
}
