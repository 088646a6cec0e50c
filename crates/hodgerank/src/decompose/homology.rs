//! The first Betti number β₁ of the comparison graph with its triangles filled (its clique complex),
//! and a basis of its cohomology: the cycles that triangles cannot detect.
//!
//! A flow x without curl (Cx = 0) is a cocycle: a gradient plus a flow around holes. The gradient
//! can be chosen so that x vanishes on a spanning forest. One unknown is left for each other edge, and
//! β₁ = unknowns − rank of the equations x_ab + x_bc − x_ac = 0, one per triangle.
//!
//! 1. A triangle with two zero edges makes its third edge zero. Propagated from a breadth-first
//!    spanning forest, this makes every edge zero on dense graphs and triangulated meshes, which
//!    proves β₁ = 0.
//! 2. The equations of the remaining unknowns go to [`super::elimination`].
//!
//! Cost: step 1 intersects the neighbour lists of each edge at most once, and stops as soon as all
//! edges are zero, which is early on dense graphs. Step 2 has a budget.
//!
//! Elimination computes modulo a prime p. β₁ modulo p is at least the rational β₁, and larger only if
//! the first homology group has torsion of order p, which for p = 2³¹ − 1 does not happen on
//! comparison graphs of realistic size. A result of 0 is therefore always correct.

use std::collections::VecDeque;

use super::adjacency::Adjacency;
use super::elimination::{Equation, Solutions, Unknowns};
use crate::graph::{ComparisonGraph, Components};

/// Step 1 intersects two neighbour lists per edge: six comparisons per triangle of a complete graph.
/// Comparisons allowed per triangle candidate of the budget.
const COMPARISONS_PER_CANDIDATE: u64 = 8;
/// Maximum number of equations stored (12 bytes each).
const MAX_EQUATIONS: usize = 1 << 24;
/// Maximum size of the basis of cocycles: β₁ times edges (8 bytes each).
const MAX_BASIS_ENTRIES: u64 = 1 << 24;

/// The first Betti number of the clique complex: the number of independent cycles of compared pairs
/// that triangles do not fill. It is the dimension of the space of harmonic flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BettiNumber {
    /// The number.
    Exact(u64),
    /// Computing it would have exceeded a budget. The shares do not depend on it.
    NotComputed(BettiLimit),
}

/// The budget that kept a Betti number from being computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BettiLimit {
    /// [`super::DecomposeOptions::max_triangles`].
    Triangles,
    /// Memory for the equations of triangles.
    Equations,
    /// Operations of the elimination.
    Elimination,
}

impl BettiNumber {
    /// Returns the number, if it was computed.
    #[must_use]
    pub fn get(self) -> Option<u64> {
        match self {
            Self::Exact(number) => Some(number),
            Self::NotComputed(_) => None,
        }
    }
}

/// A flow without curl that is ±1 on the listed edges and 0 elsewhere.
pub(super) type Cocycle = Vec<(u32, f64)>;

/// The first homology of a graph, as far as it was computed.
#[derive(Debug)]
pub(super) struct Homology {
    pub(super) betti: BettiNumber,
    /// For each component, whether its Betti number may be positive.
    pub(super) may_be_nonzero: Vec<bool>,
    /// A basis of the cocycles modulo gradients; none if it was not computed or is too large.
    pub(super) cocycles: Option<Vec<Cocycle>>,
}

impl Homology {
    /// `max_candidates` bounds step 1, which always gets at least one candidate per edge: enough
    /// for complete graphs.
    pub(super) fn compute(
        adjacency: &Adjacency,
        components: &Components,
        max_candidates: u64,
    ) -> Self {
        let not_computed = |limit, may_be_nonzero| Self {
            betti: BettiNumber::NotComputed(limit),
            may_be_nonzero,
            cocycles: None,
        };
        // A smaller budget would save nothing: every other step visits each edge too.
        let candidates = max_candidates.max(adjacency.ends.len() as u64);
        let max_comparisons = candidates.saturating_mul(COMPARISONS_PER_CANDIDATE);
        let Some(zero) = zero_edges(adjacency, max_comparisons) else {
            return not_computed(BettiLimit::Triangles, vec![true; components.len()]);
        };
        let mut may_be_nonzero = vec![false; components.len()];
        for (edge, _) in zero.iter().enumerate().filter(|&(_, zero)| !zero) {
            let item = adjacency.items[adjacency.ends[edge][0] as usize];
            may_be_nonzero[components.of[item as usize] as usize] = true;
        }
        let Some(equations) = equations(adjacency, &zero) else {
            return not_computed(BettiLimit::Equations, may_be_nonzero);
        };
        let (dimension, cocycles) = match Unknowns::new(&zero).solutions(equations) {
            Solutions::BudgetExceeded => {
                return not_computed(BettiLimit::Elimination, may_be_nonzero);
            }
            Solutions::Dimension(dimension) => (dimension, None),
            Solutions::Classes { count, unknowns } => {
                let small = count.saturating_mul(zero.len() as u64) <= MAX_BASIS_ENTRIES;
                (count, if small { unknowns.signs() } else { None })
            }
        };
        if dimension == 0 {
            may_be_nonzero.fill(false);
        }
        Self { betti: BettiNumber::Exact(dimension), may_be_nonzero, cocycles }
    }
}

/// Returns the Betti number of a graph without triangles: its number of independent cycles.
pub(super) fn without_triangles(graph: &ComparisonGraph) -> BettiNumber {
    let (pairs, components) = (graph.pairs().len(), graph.components().len());
    BettiNumber::Exact((pairs + components - graph.items()) as u64)
}

/// Returns the edges that are zero in every cocycle that vanishes on a spanning forest, as far as
/// triangles with two such edges show. None if that takes more than `max_comparisons`.
fn zero_edges(adjacency: &Adjacency, max_comparisons: u64) -> Option<Vec<bool>> {
    let mut zero = vec![false; adjacency.ends.len()];
    let mut queue = spanning_forest(adjacency);
    for &edge in &queue {
        zero[edge as usize] = true;
    }
    let (mut remaining, mut comparisons) = (zero.len() - queue.len(), 0);
    while let Some(edge) = queue.pop_front()
        && remaining > 0
    {
        let [u, v] = adjacency.ends[edge as usize];
        comparisons += adjacency.for_each_common_neighbour(u as usize, v as usize, |at_u, at_v| {
            let [a, b] = [at_u, at_v].map(|entry| adjacency.edges[entry]);
            let third = match (zero[a as usize], zero[b as usize]) {
                (true, false) => b,
                (false, true) => a,
                _ => return,
            };
            zero[third as usize] = true;
            remaining -= 1;
            queue.push_back(third);
        });
        if comparisons > max_comparisons {
            return None;
        }
    }
    Some(zero)
}

/// Returns the edges of a breadth-first spanning forest, rooted at the items with the most neighbours.
fn spanning_forest(adjacency: &Adjacency) -> VecDeque<u32> {
    let mut seen = vec![false; adjacency.len()];
    let (mut edges, mut queue) = (VecDeque::new(), VecDeque::new());
    for root in 0..adjacency.len() {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        queue.push_back(root);
        while let Some(u) = queue.pop_front() {
            for k in adjacency.row(u) {
                let v = adjacency.neighbours[k] as usize;
                if !seen[v] {
                    seen[v] = true;
                    edges.push_back(adjacency.edges[k]);
                    queue.push_back(v);
                }
            }
        }
    }
    edges
}

/// Returns the equation of each triangle with an unknown edge; none above [`MAX_EQUATIONS`].
fn equations(adjacency: &Adjacency, zero: &[bool]) -> Option<Vec<Equation>> {
    let mut equations = Vec::new();
    for (edge, _) in zero.iter().enumerate().filter(|&(_, zero)| !zero) {
        let [u, v] = adjacency.ends[edge];
        adjacency.for_each_common_neighbour(u as usize, v as usize, |at_u, at_v| {
            let w = adjacency.neighbours[at_u];
            let [uw, vw] = [at_u, at_v].map(|entry| adjacency.edges[entry]);
            let first = |other: u32| zero[other as usize] || edge < other as usize;
            if first(uw) && first(vw) && equations.len() <= MAX_EQUATIONS {
                // x_ab + x_bc − x_ac = 0 for ranks a < b < c, and u < v.
                let uv = edge as u32;
                equations.push(match (w < u, w < v) {
                    (true, _) => Equation { plus: [uw, uv], minus: vw },
                    (false, true) => Equation { plus: [uw, vw], minus: uv },
                    (false, false) => Equation { plus: [uv, vw], minus: uw },
                });
            }
        });
        if equations.len() > MAX_EQUATIONS {
            return None;
        }
    }
    Some(equations)
}
