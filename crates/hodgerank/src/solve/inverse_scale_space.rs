//! Inverse scale space (ISS): the limit of [`super::bregman`] as κ → ∞ and Δt → 0, solved exactly,
//! from event to event, with nothing to tune.
//!
//! Each vote has a multiplier p, which starts at 0 and adds up its residual over time. A group
//! enters when p reaches ±1; from then on it has no pull on θ, and γ is its residual, unbiased.
//!
//! The dynamics 0 = XᵀW(y − Xθ − γ), ṗ = y − Xθ − γ, p ∈ ∂|γ| have a solution that is constant in
//! θ and γ and linear in p between events. With E = {|p| = 1}, (θ, γ) minimises
//!
//! ½ Σ_g w_g (y_g − (Xθ)_g − γ_g)², with γ_g = 0 off E and γ_g p_g ≥ 0 on E,
//!
//! least squares with signs. Its optimality conditions, with r = y − Xθ and S = {γ ≠ 0} ⊆ E:
//!
//! | where | condition | so that |
//! |---|---|---|
//! | everywhere | XᵀW(r − γ) = 0 | θ is the least-squares fit of all groups but S |
//! | S | γ = r, r p > 0 | ṗ = 0: p stays at its sign |
//! | E without S | γ = 0, r p ≤ 0 | p moves inwards, or stays |
//! | off E | γ = 0 | ṗ = r |
//!
//! An event is the first time at which some |p| < 1 comes to 1; all groups that do so then (many,
//! with ±1 votes on symmetric designs) enter together. The new fit is found as by Lawson and
//! Hanson: fit without S; where a sign in S breaks on the way, stop there and trust that group
//! again; where a trusted group of E has r p > 0, drop it; repeat. The loss falls with each round.
//!
//! p belongs to a vote, not to its weight: w counts in the fit alone.
//!
//! Cost: an event is mostly one down-date of the inlier Laplacian (n² for up to
//! 4096 items; conjugate gradients above) and two passes over the groups. See
//! [`cost_estimate`]: for more than some ten thousand outliers take [`super::bregman`].
//!
//! Failure modes: the path ends where the trusted votes no longer connect the items of a component
//! ([`Status::Disconnected`]), e.g. where two equally many opposite votes are all that an item
//! has; θ would not be unique from there on.
//!
//! | paper | here |
//! |---|---|
//! | θ, γ | `theta`; γ = r on flagged groups |
//! | p | `p`, in the state of each chunk of groups |
//! | S | `flagged` |
//! | L_{S^c} | `InlierSystem`: its pseudo-inverse, or conjugate gradients |

mod conjugate_gradient;
mod dense;
mod fit;
mod inliers;
mod sweep;

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::path::{Interpolation, Parameter, Path, Recorder, StopAt};
use crate::solve::l2::{self, L2Options};
use crate::status::Status;
use fit::{Fit, Outcome};
use inliers::DENSE_MOST_ITEMS;

/// Products with the inlier Laplacian that one event takes without the dense inverse: a guess.
const CG_PRODUCTS: f64 = 20.0;

/// Options of [`compute_path`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `tolerance` | 1e-10 | relative residual of linear systems that is good enough | above 0, below 1 |
/// | `max_events` | 1000000 | most events | 1 or more |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InverseScaleSpaceOptions {
    /// Relative residual of linear systems that is good enough.
    pub tolerance: f64,
    /// Most events.
    pub max_events: usize,
}

impl Default for InverseScaleSpaceOptions {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_events: 1_000_000 }
    }
}

impl InverseScaleSpaceOptions {
    /// Checks that all values make sense.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that does not.
    pub fn validate(&self) -> Result<()> {
        if self.max_events == 0 {
            let (value, expected) = ("0".to_owned(), "a whole number, 1 or more");
            return Err(Error::BadOption { option: "max-events", value, expected });
        }
        super::check_stopping(self.tolerance, 1).map(drop)
    }
}

/// The path from the scores that trust every vote, at time 0, stop `until`; [`StopAt::End`] is
/// where every trusted vote is met exactly.
///
/// Scores stay as they are from one knot to the next. Each knot is an event; the last one may be
/// the time asked for, or that at which the trusted votes fell apart.
///
/// # Errors
/// If an option makes no sense or outcomes are too large to be added up.
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
    let mut fit = Fit::start(graph, theta, options.tolerance);
    // The scope takes the whole loop into the thread pool, not each of its parts.
    rayon::scope(|_| Ok(run_events(&mut fit, options, stop, recorder)))
}

/// From event to event.
fn run_events(
    fit: &mut Fit<'_>,
    options: &InverseScaleSpaceOptions,
    stop: StopAt,
    mut recorder: Recorder,
) -> Path {
    let groups = fit.graph.groups();
    let end = if let StopAt::Value(t) = stop { t } else { f64::INFINITY };
    let mut t = 0.0;
    let mut events = 0;
    let status = loop {
        if recorder.reached(stop) {
            break Status::Complete;
        }
        let next = t + fit.time_to_next_event();
        if next > end || next.is_infinite() {
            if end.is_finite() {
                recorder.record_knot(end, &fit.theta, [], groups);
            }
            break Status::Complete;
        }
        if events == options.max_events {
            break Status::IterationLimit;
        }
        let entering = fit.advance(t, next);
        t = next;
        events += 1;
        match fit.settle(&entering) {
            Outcome::Fitted => recorder.record_knot(t, &fit.theta, fit.changes(), groups),
            Outcome::Disconnected => {
                recorder.record_knot(t, &fit.last_theta, [], groups);
                break Status::Disconnected;
            }
            Outcome::NotSettled => {
                recorder.record_knot(t, &fit.last_theta, [], groups);
                break Status::IterationLimit;
            }
        }
    };
    recorder.finish(status)
}

/// About how many multiply-adds [`compute_path`] takes until this many votes are flagged.
///
/// Events are taken to be as many as the lightest groups that hold so many votes: those who err
/// are few on each pair. An event costs n² and two passes over the groups, or without the dense
/// inverse some twenty products with the Laplacian. A step of [`super::bregman`] costs one pass,
/// and there are some hundreds of them whatever the number of outliers.
#[must_use]
pub fn cost_estimate(graph: &ComparisonGraph, flagged_votes: f64) -> f64 {
    let events = most_entries(&graph.groups().weight, flagged_votes) as f64;
    let (items, groups) = (graph.items() as f64, graph.groups().len() as f64);
    let fit = if graph.items() <= DENSE_MOST_ITEMS {
        items * items
    } else {
        CG_PRODUCTS * (items + 2.0 * graph.pairs().len() as f64)
    };
    let set_up = if graph.items() <= DENSE_MOST_ITEMS { items.powi(3) } else { 0.0 };
    set_up + events * (fit + 2.0 * groups)
}

/// The most groups that can enter until so many votes are flagged: the lightest first.
fn most_entries(weights: &[f64], votes: f64) -> usize {
    /// Heavier groups count as this heavy; nearly all are light.
    const HEAVY: usize = 255;
    let mut of_weight = [0_usize; HEAVY + 1];
    weights.iter().for_each(|&weight| of_weight[(weight as usize).clamp(1, HEAVY)] += 1);
    let (mut entries, mut left) = (0, votes);
    for (weight, &count) in of_weight.iter().enumerate().skip(1) {
        let enough = (left / weight as f64).ceil();
        if enough <= count as f64 {
            return entries + enough as usize;
        }
        entries += count;
        left -= (weight * count) as f64;
    }
    entries
}
