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
//! ρ is computed exactly or with 32 digits: then the votes inside a cluster cancel in its sum of ρ, and
//! the few votes that connect it to the rest remain.
//!
//! Cost: a pass over the votes and one to a few over the pairs.

use rayon::prelude::*;

use super::spanning_forest::SpanningForest;
use super::whole_votes::{PairVotes, WholeVotes};
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
    pair_votes: Vec<PairVotes>,
    /// The largest outcome of each component. Outcomes and scores are divided by the power of two
    /// below it, so that products neither overflow nor underflow.
    largest_outcomes: Vec<f64>,
    whole_votes: Option<WholeVotes>,
}

/// What is known about one component.
#[derive(Debug, Clone, Copy)]
struct Part {
    lowest: f64,
    highest: f64,
    items: f64,
    largest_outcome: f64,
    /// The largest difference between the scores and those to which the flows belong.
    rounding: f64,
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
        let error = self.changes.min(by_energy) + 2.0 * self.rounding;
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
        let pair_votes = pair_votes(graph, votes);
        let (items, components) = (graph.items(), graph.components().len());
        let ends = || pairs.left.iter().copied().zip(pairs.right.iter().copied());
        let forest = SpanningForest::new(items, components, votes.shift, || {
            ends().zip(&pair_votes).map(|((i, j), votes)| (i, j, votes.weight))
        });
        let part = if votes.shift > 0.0 {
            graph.components().of.clone()
        } else {
            parts_of(&forest, items)
        };
        let largest_outcomes = largest_outcomes(pairs, &pair_votes, &part);
        let unit = |item: u32| unit_of(largest_outcomes[part[item as usize] as usize]);
        let whole_votes = match votes.force.is_none() && votes.shift == 0.0 {
            true => WholeVotes::new(items, pairs, &pair_votes, unit),
            false => None,
        };
        Self { graph, votes, forest, part, pair_votes, largest_outcomes, whole_votes }
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
        let unit = |item: usize| self.unit(self.part[item]);
        let scaled: Vec<f64> = scores.iter().enumerate().map(|(i, s)| s / unit(i)).collect();
        let (mut imbalance, changes) = self.imbalance(&scaled);
        let rest = (0..scores.len()).map(|i| imbalance[i].value() * unit(i)).collect();
        if self.votes.shift > 0.0 {
            imbalance.push(DoubleDouble::default());
        }
        self.forest.flows_to_parents(&mut imbalance);
        (self.bounds(&scaled, &changes, &imbalance), rest)
    }

    fn bounds(
        &self,
        scores: &[f64],
        changes: &[f64],
        flows: &[DoubleDouble],
    ) -> Vec<ComponentBound> {
        let empty = |&largest_outcome: &f64| Part {
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
            items: 0.0,
            largest_outcome: largest_outcome / unit_of(largest_outcome),
            rounding: 0.0,
            changes: 0.0,
            energy: 0.0,
            resistance: 0.0,
        };
        let mut parts: Vec<Part> = self.largest_outcomes.iter().map(empty).collect();
        let mut resistance = vec![0.0; flows.len()];
        for (node, parent, weight) in self.forest.nodes() {
            let Some(&part) = self.part.get(node) else { continue };
            let part = &mut parts[part as usize];
            part.lowest = part.lowest.min(scores[node]);
            part.highest = part.highest.max(scores[node]);
            part.items += 1.0;
            part.rounding = part.rounding.max(changes[node]);
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

    /// ρ of each item at scores close to the given ones, and the size of each difference.
    fn imbalance(&self, scores: &[f64]) -> (Vec<DoubleDouble>, Vec<f64>) {
        let pairs = self.graph.pairs();
        if let Some(votes) = &self.whole_votes {
            return votes.imbalance(pairs, &self.pair_votes, scores);
        }
        // The sums over pairs in which an item is the left or the right one, by one thread each.
        let mut of_left = vec![DoubleDouble::default(); scores.len()];
        let mut of_right = of_left.clone();
        let mut flows = Vec::with_capacity(pairs.len().min(PAIRS_AT_A_TIME));
        for start in (0..pairs.len()).step_by(PAIRS_AT_A_TIME) {
            let here = start..pairs.len().min(start + PAIRS_AT_A_TIME);
            let flow = |p: usize| self.pair_flow(p, scores);
            here.clone()
                .into_par_iter()
                .with_min_len(PAIRS_PER_TASK)
                .map(flow)
                .collect_into_vec(&mut flows);
            let (left, right) = (&pairs.left[here.clone()], &pairs.right[here]);
            rayon::join(
                || left.iter().zip(&flows).for_each(|(&i, &flow)| of_left[i as usize] += flow),
                || {
                    for ((&i, &j), &flow) in left.iter().zip(right).zip(&flows) {
                        // Only constant forces act between components, whose units can differ.
                        let (from, to) = (self.part[i as usize], self.part[j as usize]);
                        of_right[j as usize] += if from == to {
                            flow
                        } else {
                            flow * DoubleDouble::from(self.unit(from) / self.unit(to))
                        };
                    }
                },
            );
        }
        let sum = |((&score, of_left), of_right): ((&f64, &DoubleDouble), &DoubleDouble)| {
            let mut rho = -DoubleDouble::product(self.votes.shift, score);
            rho += *of_left;
            rho += -*of_right;
            rho
        };
        (scores.iter().zip(&of_left).zip(&of_right).map(sum).collect(), vec![0.0; scores.len()])
    }

    /// Σ w (y − (Xθ)) + Σ force over the votes of a pair.
    fn pair_flow(&self, pair: usize, scores: &[f64]) -> DoubleDouble {
        let (groups, pairs) = (self.graph.groups(), self.graph.pairs());
        let (i, j) = (pairs.left[pair] as usize, pairs.right[pair] as usize);
        let here = pairs.first_group[pair] as usize..pairs.first_group[pair + 1] as usize;
        let unit = self.unit(self.part[i]);
        // Up to here, sums of whole numbers are exact, and so are those of votes of the common size.
        let is_exact = self.pair_votes[pair].weight <= MAX_EXACT;
        let (mut whole_flow, mut flow) = (0.0, DoubleDouble::default());
        let mut total =
            DoubleDouble::from(if is_exact { self.pair_votes[pair].weight } else { 0.0 });
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
        }
        flow += DoubleDouble::from(whole_flow);
        flow += -(total * DoubleDouble::difference(scores[i], scores[j]));
        flow
    }

    fn unit(&self, part: u32) -> f64 {
        unit_of(self.largest_outcomes[part as usize])
    }
}

/// The power of two by which the outcomes of a component are divided.
fn unit_of(largest_outcome: f64) -> f64 {
    if largest_outcome > 0.0 { power_of_two_below(largest_outcome) } else { 1.0 }
}

fn pair_votes(graph: &ComparisonGraph, votes: FittedVotes<'_>) -> Vec<PairVotes> {
    let groups = graph.groups();
    let of_pair = |range: &[u32]| {
        PairVotes::of((range[0] as usize..range[1] as usize).map(|g| {
            let force = votes.force.map_or(0.0, |force| (force[g] / groups.weight[g]).abs());
            (votes.weight[g], groups.y[g], force)
        }))
    };
    graph.pairs().first_group.par_windows(2).with_min_len(PAIRS_PER_TASK).map(of_pair).collect()
}

/// The largest outcome of each component, or force per vote.
fn largest_outcomes(pairs: &Pairs, votes: &[PairVotes], part: &[u32]) -> Vec<f64> {
    let parts = part.iter().max().map_or(0, |&last| last as usize + 1);
    if parts == 1 {
        let sizes = votes.par_iter().with_min_len(PAIRS_PER_TASK).map(|votes| votes.size);
        return vec![sizes.reduce(|| 0.0, f64::max)];
    }
    let mut largest = vec![0.0_f64; parts];
    for ((&i, &j), votes) in pairs.left.iter().zip(&pairs.right).zip(votes) {
        // Forces act on both ends, which can be in different components.
        for end in [i, j] {
            let largest = &mut largest[part[end as usize] as usize];
            *largest = largest.max(votes.size);
        }
    }
    largest
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
