//! Where cycles can hide that no triangle sees: the Betti number β₁ of the clique complex.
//!
//! A flow x without curl (Cx = 0) is a gradient plus a flow around holes. The gradient can be
//! chosen so that x vanishes on a spanning forest; what is left, one unknown for each other edge,
//! is counted by β₁ = unknowns − rank of the equations x_ab + x_bc − x_ac = 0, one a triangle.
//!
//! 1. A triangle with two zero edges makes its third edge zero. Started from the forest of a
//!    breadth-first search, this leaves nothing over on dense graphs and on filled meshes: then
//!    there is no hole, and the proof is exact.
//! 2. Equations of the unknowns that are left go to [`super::elimination`].
//!
//! Cost: step 1 looks at the neighbours of each edge at most once, and stops as soon as all edges
//! are zero, on dense graphs long before. Step 2 has a budget.
//!
//! Elimination computes modulo a prime p. β₁ modulo p is never below the rational one, and above
//! it only where the first homology has torsion of order p: for p = 2³¹ − 1 no graph that anyone
//! collects. "No hole" is therefore always right.

use std::collections::VecDeque;

use super::adjacency::Adjacency;
use super::elimination::{Equation, Solutions, Unknowns};
use crate::graph::{ComparisonGraph, Components};

/// Step 1 walks two lists of neighbours for each edge: six steps for each triangle of a complete
/// graph. It may walk this much for each look of the budget.
const WALKS: u64 = 8;
/// Most equations that are kept (12 bytes each).
const MAX_EQUATIONS: usize = 1 << 24;
/// Most holes times edges for which flows around holes are of use (8 bytes each).
const MAX_ENTRIES: u64 = 1 << 24;

/// The first Betti number of the clique complex: how many independent cycles of compared pairs
/// are not filled by triangles. It is the dimension of the space of harmonic flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BettiNumber {
    /// Counted.
    Exact(u64),
    /// Not counted: it would have passed a budget. The shares do not depend on it.
    NotComputed {
        /// Which budget, in words.
        reason: &'static str,
    },
}

impl BettiNumber {
    /// The number, if it was counted.
    #[must_use]
    pub fn get(self) -> Option<u64> {
        match self {
            Self::Exact(number) => Some(number),
            Self::NotComputed { .. } => None,
        }
    }
}

/// What is known of the holes of a graph.
#[derive(Debug)]
pub(super) struct Holes {
    pub(super) betti: BettiNumber,
    /// Components that may have a hole; all others certainly have none.
    pub(super) possible: Vec<bool>,
    /// For each hole a flow on edges, ±1 on those listed and 0 elsewhere, that has no curl and
    /// runs around it: together with the gradients they make all flows without curl. None where
    /// they were not found or are too many.
    pub(super) around: Option<Vec<Vec<(u32, f64)>>>,
}

impl Holes {
    /// Looks for holes; `most_looks` bounds step 1, which may always look once for each pair: that
    /// is enough for complete graphs.
    pub(super) fn find(adjacency: &Adjacency, components: &Components, most_looks: u64) -> Self {
        let all_possible = vec![true; components.len()];
        let unknown = |reason, possible| Self {
            betti: BettiNumber::NotComputed { reason },
            possible,
            around: None,
        };
        // A budget below one look for each pair would spare nothing: all else looks at each pair.
        let looks = most_looks.max(adjacency.ends.len() as u64);
        let Some(zero) = zeros(adjacency, looks.saturating_mul(WALKS)) else {
            return unknown("the triangles of this graph pass max-triangles", all_possible);
        };
        let mut possible = vec![false; components.len()];
        for (edge, _) in zero.iter().enumerate().filter(|&(_, zero)| !zero) {
            let item = adjacency.items[adjacency.ends[edge][0] as usize];
            possible[components.of[item as usize] as usize] = true;
        }
        let Some(equations) = equations(adjacency, &zero) else {
            return unknown("too many triangles lie around its holes", possible);
        };
        let (dimension, around) = match Unknowns::new(&zero).solutions(equations) {
            Solutions::TooMuchWork => return unknown("its elimination fills up", possible),
            Solutions::Dimension(dimension) => (dimension, None),
            Solutions::Classes { count, unknowns } => {
                let few = count.saturating_mul(zero.len() as u64) <= MAX_ENTRIES;
                (count, if few { unknowns.signs() } else { None })
            }
        };
        if dimension == 0 {
            possible.fill(false);
        }
        Self { betti: BettiNumber::Exact(dimension), possible, around }
    }
}

/// A graph without triangles: all its cycles are holes.
pub(super) fn without_triangles(graph: &ComparisonGraph) -> BettiNumber {
    let (pairs, components) = (graph.pairs().len(), graph.components().len());
    BettiNumber::Exact((pairs + components - graph.items()) as u64)
}

/// Edges that are zero in every flow without curl that vanishes on a spanning forest, as far as
/// triangles with two such edges tell. None if that takes too many looks.
fn zeros(adjacency: &Adjacency, most_looks: u64) -> Option<Vec<bool>> {
    let mut zero = vec![false; adjacency.ends.len()];
    let mut queue = forest(adjacency);
    for &edge in &queue {
        zero[edge as usize] = true;
    }
    let (mut left, mut looks) = (zero.len() - queue.len(), 0);
    while let Some(edge) = queue.pop_front()
        && left > 0
    {
        let [u, v] = adjacency.ends[edge as usize];
        looks += adjacency.common(u as usize, v as usize, |at_u, at_v| {
            let [a, b] = [at_u, at_v].map(|entry| adjacency.edges[entry]);
            let third = match (zero[a as usize], zero[b as usize]) {
                (true, false) => b,
                (false, true) => a,
                _ => return,
            };
            zero[third as usize] = true;
            left -= 1;
            queue.push_back(third);
        });
        if looks > most_looks {
            return None;
        }
    }
    Some(zero)
}

/// The edges of a breadth-first spanning forest, from the items with the most neighbours.
fn forest(adjacency: &Adjacency) -> VecDeque<u32> {
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

/// The equation of each triangle that has an unknown edge; none if there are too many.
fn equations(adjacency: &Adjacency, zero: &[bool]) -> Option<Vec<Equation>> {
    let mut equations = Vec::new();
    for (edge, _) in zero.iter().enumerate().filter(|&(_, zero)| !zero) {
        let [u, v] = adjacency.ends[edge];
        adjacency.common(u as usize, v as usize, |at_u, at_v| {
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
