//! A bound of the error of least-squares scores, computed from the scores and the votes alone.
//!
//! The norm of a residual does not show an error across a weak link: three votes between two clusters
//! with weights of 10⁸ are three of 10⁸ in the residual, and everything in the difference between the
//! clusters. The bound here holds for any weights.
//!
//! | symbol | meaning |
//! |---|---|
//! | ρ = XᵀW(y − Xθ) − aθ | imbalance at each item; zero at the exact scores |
//! | T | spanning forest of heavy pairs ([`super::spanning_forest`]) |
//! | f_e | sum of ρ on one side of edge e of T: the flow along T with the divergence ρ |
//! | η_e = f_e / w_e | change of the outcomes on edge e |
//!
//! θ is the exact solution for outcomes that differ from the given ones by η on the edges of T and by
//! nothing elsewhere. For the error δ of θ and any two items of a component this implies both
//!
//! - |δ_i − δ_j| ≤ Σ_e |η_e|, because least-squares scores are weighted means of the scores that the
//!   spanning trees of the graph imply (matrix-tree theorem), and
//! - |δ_i − δ_j| ≤ (R Σ_e f_e² / w_e)^½ with R the largest resistance between items along T, because
//!   the energy of the flow bounds that of the error (Thomson), and removing pairs does not decrease
//!   resistances (Rayleigh).
//!
//! The smaller one is used. A shift a is a pair of weight a between each item and a ground.
//!
//! ρ is computed with 32 digits: then the votes inside a cluster cancel in its sum of ρ, and the few
//! votes that connect it to the rest remain.
//!
//! Cost: a pass over the votes and one to a few over the pairs.

use rayon::prelude::*;

use super::spanning_forest::SpanningForest;
use crate::graph::{ComparisonGraph, Pairs};
use crate::numeric::{DoubleDouble, power_of_two_below};

/// Largest relative error bound with which scores count as solved: six digits.
pub const MAX_ERROR: f64 = 1e-6;
/// Multiple of ε·items, relative to the outcomes, up to which an error counts as rounding.
const ROUNDING: f64 = 16.0;
/// Errors are relative to the spread of the scores, or to this share of the outcomes if it is larger.
const MAX_OUTCOME_SHARE: f64 = 1e-3;

/// Largest sum of whole numbers that is exact: 2⁵³.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Pairs whose flows are computed at a time, and per task.
const PAIRS_AT_A_TIME: usize = 1 << 17;
const PAIRS_PER_TASK: usize = 1 << 12;

/// How far scores can be from the exact ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorBound {
    /// Bound of the error of any difference of scores within a component, relative to the spread of
    /// the component's scores; the largest over components.
    ///
    /// If the scores are almost equal because the votes cancel, it is relative to a small share of the
    /// largest outcome, below which differences are rounding.
    pub relative: f64,
    /// Number of components of the votes that count (those with a positive weight).
    pub components: usize,
}

impl ErrorBound {
    /// Whether the scores are exact to six digits, or as exact as rounding permits.
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.relative <= MAX_ERROR
    }
}

/// The bound of one component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ComponentBound {
    pub(super) relative: f64,
    /// Σ f² / w relative to the squared spread: decreases even while another part of the error
    /// dominates the bound.
    pub(super) energy: f64,
}

/// The votes that count in a fit.
#[derive(Debug, Clone, Copy)]
pub struct FittedVotes<'a> {
    /// The weight of each distinct vote: 0 where all of its votes are removed.
    pub weight: &'a [f64],
    /// A constant force of each distinct vote on the difference left − right of its items, if there
    /// is one: that of a vote beyond the bound of Huber's loss is λ times its weight and the sign of
    /// its residual.
    pub force: Option<&'a [f64]>,
    /// a, the weight of the ridge penalty.
    pub shift: f64,
}

/// Bounds the error of `scores` as the solution of min over θ of
/// ½ Σ w (y − Xθ)² − Σ force · Xθ + ½ a ‖θ‖².
///
/// `None` if several processes share the votes.
///
/// # Panics
/// If there is not one score for each item and one weight (and force) for each distinct vote.
#[must_use]
pub fn error_bound(
    graph: &ComparisonGraph,
    votes: &FittedVotes<'_>,
    scores: &[f64],
) -> Option<ErrorBound> {
    graph.communicator().is_single_process().then(|| {
        let certifier = Certifier::new(graph, *votes);
        certifier.combine(&certifier.check(scores).0)
    })
}

/// The spanning forest of the votes that count.
#[derive(Debug)]
pub(super) struct Certifier<'a> {
    graph: &'a ComparisonGraph,
    votes: FittedVotes<'a>,
    forest: SpanningForest,
    /// The component of each item; with removed votes possibly a part of one of the graph.
    part: Vec<u32>,
    /// Outcomes and scores of each component are divided by this power of two, so that products
    /// neither overflow nor underflow.
    units: Vec<f64>,
}

/// What is known about one component.
#[derive(Debug, Clone, Copy)]
struct Part {
    lowest: f64,
    highest: f64,
    items: f64,
    largest_outcome: f64,
    /// Σ |η|.
    changes: f64,
    /// Σ f² / w.
    energy: f64,
    /// The largest resistance between an item and the root.
    resistance: f64,
}

impl Part {
    fn bound(self) -> ComponentBound {
        // Squares of small flows underflow, and then bound nothing.
        let by_energy = if self.energy > f64::MIN_POSITIVE / f64::EPSILON {
            (2.0 * self.resistance * self.energy).sqrt()
        } else {
            f64::INFINITY
        };
        let error = self.changes.min(by_energy);
        if error == 0.0 {
            return ComponentBound { relative: 0.0, energy: 0.0 };
        }
        let share = (ROUNDING * f64::EPSILON / MAX_ERROR * self.items).min(MAX_OUTCOME_SHARE);
        let scale = (self.highest - self.lowest).max(share * self.largest_outcome);
        // NaN, from scores that are not finite, must not pass for a small error.
        let relative = if error.is_nan() { f64::INFINITY } else { error / scale };
        ComponentBound { relative, energy: self.energy / (scale * scale) }
    }
}

impl<'a> Certifier<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph, votes: FittedVotes<'a>) -> Self {
        assert_eq!(votes.weight.len(), graph.groups().len(), "one weight for each distinct vote");
        let pairs = graph.pairs();
        let weights: Vec<f64> = pair_weights(pairs, votes.weight);
        let (items, components) = (graph.items(), graph.components().len());
        let ends = || pairs.left.iter().copied().zip(pairs.right.iter().copied());
        let forest = SpanningForest::new(items, components, votes.shift, || {
            ends().zip(weights.iter().copied()).map(|((i, j), weight)| (i, j, weight))
        });
        let part = if votes.shift > 0.0 {
            graph.components().of.clone()
        } else {
            parts_of(&forest, items)
        };
        let units = units(graph, votes.weight, &part);
        Self { graph, votes, forest, part, units }
    }

    /// The component of each item.
    pub(super) fn components_of_items(&self) -> &[u32] {
        &self.part
    }

    /// The bound of all components.
    pub(super) fn combine(&self, bounds: &[ComponentBound]) -> ErrorBound {
        let relative = bounds.iter().fold(0.0, |largest: f64, bound| largest.max(bound.relative));
        let components = match self.votes.shift > 0.0 {
            true => self.graph.components().len(),
            false => self.forest.roots(),
        };
        ErrorBound { relative, components }
    }

    /// The bound of each component, and ρ in the units of the votes.
    pub(super) fn check(&self, scores: &[f64]) -> (Vec<ComponentBound>, Vec<f64>) {
        assert_eq!(scores.len(), self.graph.items(), "one score for each item");
        let unit = |item: usize| self.units[self.part[item] as usize];
        let scaled: Vec<f64> = scores.iter().enumerate().map(|(i, s)| s / unit(i)).collect();
        let (mut imbalance, largest_outcome) = self.imbalance(&scaled);
        let rest = (0..scores.len()).map(|i| imbalance[i].value() * unit(i)).collect();
        if self.votes.shift > 0.0 {
            imbalance.push(DoubleDouble::default());
        }
        self.forest.flows_to_parents(&mut imbalance);
        (self.bounds(&scaled, &largest_outcome, &imbalance), rest)
    }

    fn bounds(
        &self,
        scores: &[f64],
        largest_outcome: &[f64],
        flows: &[DoubleDouble],
    ) -> Vec<ComponentBound> {
        let empty = Part {
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
            items: 0.0,
            largest_outcome: 0.0,
            changes: 0.0,
            energy: 0.0,
            resistance: 0.0,
        };
        let count = self.part.iter().max().map_or(0, |&last| last as usize + 1);
        let mut parts = vec![empty; count];
        let mut resistance = vec![0.0; flows.len()];
        for (node, parent, weight) in self.forest.nodes() {
            let Some(&part) = self.part.get(node) else { continue };
            let part = &mut parts[part as usize];
            part.lowest = part.lowest.min(scores[node]);
            part.highest = part.highest.max(scores[node]);
            part.items += 1.0;
            part.largest_outcome = part.largest_outcome.max(largest_outcome[node]);
            if node != parent {
                let change = flows[node].value() / weight;
                part.changes += change.abs();
                part.energy += change * flows[node].value();
                resistance[node] = resistance[parent] + 1.0 / weight;
                part.resistance = part.resistance.max(resistance[node]);
            }
        }
        parts.into_iter().map(Part::bound).collect()
    }

    /// ρ of each item, and its largest outcome.
    fn imbalance(&self, scores: &[f64]) -> (Vec<DoubleDouble>, Vec<f64>) {
        let pairs = self.graph.pairs();
        let mut rho: Vec<DoubleDouble> =
            scores.iter().map(|score| -DoubleDouble::product(self.votes.shift, *score)).collect();
        let mut largest_outcome = vec![0.0_f64; scores.len()];
        let mut flows = Vec::with_capacity(pairs.len().min(PAIRS_AT_A_TIME));
        for start in (0..pairs.len()).step_by(PAIRS_AT_A_TIME) {
            let here = start..pairs.len().min(start + PAIRS_AT_A_TIME);
            let flow = |p: usize| self.pair_flow(p, scores);
            here.clone()
                .into_par_iter()
                .with_min_len(PAIRS_PER_TASK)
                .map(flow)
                .collect_into_vec(&mut flows);
            for (p, &(flow, largest)) in here.zip(&flows) {
                let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
                rho[i] += flow;
                // Only constant forces act between components, whose units can differ.
                let (of_left, of_right) = (self.part[i] as usize, self.part[j] as usize);
                rho[j] += if of_left == of_right {
                    -flow
                } else {
                    -(flow * DoubleDouble::from(self.units[of_left] / self.units[of_right]))
                };
                largest_outcome[i] = largest_outcome[i].max(largest);
            }
        }
        (rho, largest_outcome)
    }

    /// Σ w (y − (Xθ)) + Σ force over the votes of a pair, and their largest outcome.
    fn pair_flow(&self, pair: usize, scores: &[f64]) -> (DoubleDouble, f64) {
        let (groups, pairs) = (self.graph.groups(), self.graph.pairs());
        let (i, j) = (pairs.left[pair] as usize, pairs.right[pair] as usize);
        let here = pairs.first_group[pair] as usize..pairs.first_group[pair + 1] as usize;
        let unit = self.units[self.part[i] as usize];
        let weight: f64 = self.votes.weight[here.clone()].iter().sum();
        // Up to here, sums of whole numbers are exact, and so are those of votes of the common size.
        let is_exact = weight <= MAX_EXACT;
        let (mut whole_flow, mut flow) = (0.0, DoubleDouble::default());
        let mut total = DoubleDouble::from(if is_exact { weight } else { 0.0 });
        let mut largest = 0.0_f64;
        for g in here {
            let y = groups.y[g] / unit;
            let w = self.votes.weight[g];
            if is_exact && y.abs() == 1.0 {
                whole_flow += w * y;
            } else {
                flow += DoubleDouble::product(w, y);
            }
            if !is_exact {
                total += DoubleDouble::from(w);
            }
            if let Some(force) = self.votes.force {
                flow += DoubleDouble::from(force[g] / unit);
            }
            largest = largest.max(if w > 0.0 { y.abs() } else { 0.0 });
        }
        flow += DoubleDouble::from(whole_flow);
        flow += -(total * DoubleDouble::difference(scores[i], scores[j]));
        (flow, largest)
    }
}

/// For each component, a power of two of the size of its largest outcome.
fn units(graph: &ComparisonGraph, weight: &[f64], part: &[u32]) -> Vec<f64> {
    let groups = graph.groups();
    let mut largest = vec![0.0_f64; part.iter().max().map_or(0, |&last| last as usize + 1)];
    for g in (0..groups.len()).filter(|&g| weight[g] > 0.0) {
        let of_part = &mut largest[part[groups.left[g] as usize] as usize];
        *of_part = of_part.max(groups.y[g].abs());
    }
    let unit = |largest: f64| if largest > 0.0 { power_of_two_below(largest) } else { 1.0 };
    largest.into_iter().map(unit).collect()
}

fn pair_weights(pairs: &Pairs, weight: &[f64]) -> Vec<f64> {
    let sum = |range: &[u32]| weight[range[0] as usize..range[1] as usize].iter().sum();
    pairs.first_group.par_windows(2).map(sum).collect()
}

/// Numbers the trees of a forest.
fn parts_of(forest: &SpanningForest, items: usize) -> Vec<u32> {
    let mut part = vec![0; items];
    let mut roots = 0;
    for (node, parent, _) in forest.nodes() {
        if node == parent {
            part[node] = roots;
            roots += 1;
        } else {
            part[node] = part[parent];
        }
    }
    part
}
