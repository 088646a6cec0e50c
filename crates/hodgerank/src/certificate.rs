//! Checks of a fit that are recomputed from the votes and the scores alone.
//!
//! A solver says how it ended; a [`Certificate`] says whether the result is what was asked for:
//!
//! | question | answer |
//! |---|---|
//! | Did the path get as far as requested? | [`Certificate::asked`] and [`Certificate::reached`] |
//! | Do the scores meet the optimality conditions of the method? | [`Certificate::violation`] |
//! | How far can the scores be from the exact ones? | [`Certificate::error_bound`] |
//! | Do the votes that count connect the items? | [`Certificate::components`] |
//!
//! Optimality of a method that fits votes k with residuals r = y − Xθ is a balance at each item i:
//! g_i = Σ ± w ψ(r) = 0 over the votes on i, minus aθ_i for ridge regression.
//!
//! | method | ψ(r) | unit of the violation at i |
//! |---|---|---|
//! | l2, ridge | r | Σ w times the largest abs y + abs Xθ |
//! | lasso-l2, iht, ilts, iss | r, 0 for flagged votes | the same, over the votes that count |
//! | hlasso | r clipped to ±λ | Σ w times λ |
//!
//! pc-lasso reports the violation of its own conditions. lbi has no objective (see
//! [`crate::solve::bregman`]), so its violation is unknown.
//!
//! A small violation does not imply a small error if weak links connect heavy clusters; the error
//! bound of [`crate::laplacian::error_bound`] sees them. It exists if one process has all votes.
//!
//! Cost: two passes over the groups and a spanning forest of the pairs.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::graph::{Chunk, ComparisonGraph, sums_of_items};
use crate::laplacian::{self, FittedVotes};
use crate::path::{Parameter, StopAt};

pub use crate::laplacian::MAX_ERROR;

/// Largest violation of optimality conditions with which a fit counts as solved. Solvers stop at
/// 1e-9 to 1e-13 of the sums over all items; an item with few votes has smaller sums.
pub const MAX_VIOLATION: f64 = 1e-6;

/// Fraction of λ by which a residual must exceed λ for its vote to count as clipped.
const CLIP_TOLERANCE: f64 = 1e-7;

/// Rounding errors of one term, in units of the last place.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// What was checked about a fit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Certificate {
    /// What the outlier rule asked for; `None` for methods that flag no votes.
    pub asked: Option<Asked>,
    /// What was reached, in the unit of `asked`.
    pub reached: Option<f64>,
    /// Largest violation of the optimality conditions, relative to the sums in the module's table;
    /// `None` for methods without such conditions.
    pub violation: Option<f64>,
    /// Bound of the error of any difference of scores within a component, relative to the spread of
    /// its scores; `None` for methods without optimality conditions, or if several processes share
    /// the votes.
    pub error_bound: Option<f64>,
    /// Number of components that the votes that count connect.
    pub components: usize,
}

impl Certificate {
    /// Whether violation and error are as small as a solved fit requires, where they are known.
    #[must_use]
    pub fn is_accurate(&self) -> bool {
        // Not a number is not small.
        self.violation.is_none_or(|violation| violation <= MAX_VIOLATION)
            && self.error_bound.is_none_or(|error| error <= MAX_ERROR)
    }
}

/// A point of a path, or a number of votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Asked {
    /// At least this many flagged votes.
    Votes(f64),
    /// At most this many flagged votes.
    AtMostVotes(f64),
    /// This λ or time.
    Value(Parameter, f64),
}

impl Asked {
    /// What a path was asked for.
    pub(crate) fn of_path(stop: StopAt, parameter: Parameter) -> Option<Self> {
        match stop {
            StopAt::End => None,
            StopAt::Value(value) => Some(Self::Value(parameter, value)),
            StopAt::Flagged(votes) | StopAt::FlaggedOrEnd(votes) => Some(Self::Votes(votes)),
        }
    }
}

/// How residuals enter the optimality conditions.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Influence<'a> {
    /// Every vote counts, with `shift` times the scores subtracted.
    Every {
        /// The ridge penalty a.
        shift: f64,
    },
    /// These numbers of votes of each group do not count.
    Without(&'a [f64]),
    /// Residuals are clipped to ±λ.
    Clipped {
        /// λ.
        lambda: f64,
    },
}

/// Returns the largest violation of the balance at an item, in the units of the module's table.
/// Imbalances that rounding errors explain count as zero.
pub(crate) fn violation(graph: &ComparisonGraph, scores: &[f64], influence: Influence<'_>) -> f64 {
    /// The imbalance, the number of votes, and the sum to which rounding errors relate.
    const SUMS: usize = 3;
    let groups = graph.groups();
    // The largest |y| + |Xθ| of the votes that count. Bits of positive numbers have their order, and
    // not a number is above all.
    let largest_size = AtomicU64::new(0);
    let of_chunk = |Chunk { groups: range, first, flow, .. }: &mut Chunk<()>| {
        let mut largest_here = 0.0;
        for g in range.clone() {
            let (i, j) = (groups.left[g] as usize, groups.right[g] as usize);
            let (y, difference) = (groups.y[g], scores[i] - scores[j]);
            let (r, size) = (y - difference, y.abs() + difference.abs());
            let weight = groups.weight[g];
            let (imbalance, votes, rounding) = match influence {
                Influence::Every { .. } => (weight * r, weight, weight * size),
                Influence::Without(removed) => {
                    let kept = weight - removed[g];
                    (kept * r, kept, kept * size)
                }
                Influence::Clipped { lambda } => {
                    let rounding = if r.abs() < lambda { size } else { lambda };
                    (weight * r.clamp(-lambda, lambda), weight, weight * rounding)
                }
            };
            largest_here = if votes > 0.0 { largest(largest_here, size) } else { largest_here };
            for (item, sign) in [(i, 1.0), (j, -1.0)] {
                let at = SUMS * item - *first;
                flow[at] += sign * imbalance;
                flow[at + 1] += votes;
                flow[at + 2] += rounding;
            }
        }
        largest_size.fetch_max(f64::to_bits(largest_here), Ordering::Relaxed);
    };
    let mut sums = sums_of_items(graph.items(), groups, SUMS, of_chunk);
    graph.communicator().sum(&mut sums);
    let unit = match influence {
        Influence::Clipped { lambda } => lambda,
        _ => graph.communicator().max_scalar(f64::from_bits(largest_size.into_inner())),
    };
    let shift = if let Influence::Every { shift } = influence { shift } else { 0.0 };
    let at_item = |(sums, &score): (&[f64], &f64)| {
        let imbalance = (sums[0] - shift * score).abs() - ROUNDING * sums[2];
        let unit = unit * (sums[1] + shift);
        // Not a number, if sums overflow, is a violation.
        if imbalance <= 0.0 { 0.0 } else { imbalance / unit }
    };
    sums.chunks_exact(SUMS).zip(scores).map(at_item).fold(0.0, largest)
}

/// Returns the bound of the error of the scores; `None` if several processes share the votes.
pub(crate) fn error_bound(
    graph: &ComparisonGraph,
    scores: &[f64],
    influence: Influence<'_>,
) -> Option<f64> {
    let weight = &graph.groups().weight;
    let bound = |weight: &[f64], force: Option<&[f64]>, shift| {
        laplacian::error_bound(graph, &FittedVotes { weight, force, shift }, scores)
    };
    let bound = match influence {
        Influence::Every { shift } => bound(weight, None, shift),
        Influence::Without(removed) => {
            let kept: Vec<f64> =
                weight.iter().zip(removed).map(|(w, removed)| w - removed).collect();
            bound(&kept, None, 0.0)
        }
        Influence::Clipped { lambda } => {
            let residuals = graph.groups().residuals(scores);
            // Votes at ±λ up to rounding are inliers: often only these connect an item.
            let is_outlier = |r: f64| r.abs() > lambda * (1.0 + CLIP_TOLERANCE);
            let (inliers, force): (Vec<f64>, Vec<f64>) = residuals
                .zip(weight)
                .map(
                    |(r, &w)| if is_outlier(r) { (0.0, w * lambda * r.signum()) } else { (w, 0.0) },
                )
                .unzip();
            bound(&inliers, Some(&force), 0.0)
        }
    };
    bound.map(|bound| bound.relative)
}

/// The larger number; not a number is larger than all others.
fn largest(a: f64, b: f64) -> f64 {
    if a >= b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, Groups};

    fn graph() -> ComparisonGraph {
        let votes = [
            Comparison::new(0, 1, 1.0).with_count(3),
            Comparison::new(1, 2, 1.0),
            Comparison::new(0, 2, -4.0),
        ];
        ComparisonGraph::new(3, Groups::merge(3, &votes).unwrap().groups).unwrap()
    }

    #[test]
    fn violations_are_zero_at_the_optimum_and_proportional_beside_it() {
        let graph = graph();
        let every = Influence::Every { shift: 0.0 };
        let theta = crate::solve::l2::solve(&graph, &Default::default()).unwrap().scores;
        assert!(violation(&graph, &theta, every) < 1e-13);
        let off = |by: f64| [theta[0] + by, theta[1] - by, theta[2]];
        let (near, far) =
            (violation(&graph, &off(1e-6), every), violation(&graph, &off(1e-3), every));
        assert!(near > 1e-7 && (far / near / 1000.0 - 1.0).abs() < 0.01, "{near} {far}");
    }

    #[test]
    fn flagged_votes_do_not_count_and_clipped_ones_count_by_lambda() {
        let graph = graph();
        // Without the last vote in the order of the groups, (1, 2, 1), or the cycle's worst one.
        let position = graph.groups().y.iter().position(|&y| y == -4.0).unwrap();
        let mut removed = vec![0.0; 3];
        removed[position] = 1.0;
        let theta = [1.0, 0.0, -1.0];
        assert_eq!(violation(&graph, &theta, Influence::Without(&removed)), 0.0);
        assert!(violation(&graph, &theta, Influence::Every { shift: 0.0 }) > 0.1);
        // λ = 0.5: residuals of 0.5/3, 0.5 and −0.5 or beyond balance at every item.
        let theta = [2.5 / 3.0, 0.0, -0.5];
        let clipped = Influence::Clipped { lambda: 0.5 };
        assert!(
            violation(&graph, &theta, clipped) < 1e-15,
            "{}",
            violation(&graph, &theta, clipped)
        );
        assert!(violation(&graph, &[1.0, 0.0, -1.0], clipped) > 0.1);
    }

    #[test]
    fn a_sum_that_overflows_is_a_violation() {
        let votes = [Comparison::new(0, 1, 1e308), Comparison::new(0, 1, -1e308)];
        let groups = Groups::merge(2, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(2, groups).unwrap();
        let every = Influence::Every { shift: 0.0 };
        let violation = Some(violation(&graph, &[f64::INFINITY, 0.0], every));
        assert!(!Certificate { violation, ..Certificate::default() }.is_accurate());
    }
}
