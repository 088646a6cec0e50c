//! Choice of the backend of a component by predicted cost.
//!
//! The cost model depends only on the shape of the component, not on timings or the thread count, so
//! that the same votes always give the same bits. Constants are nanoseconds measured on one 2-core
//! machine; other machines differ mostly by a common factor, and only ratios matter.

use super::conjugate_gradient::ConjugateGradientSolver;
use super::dense::DenseCholesky;
use super::elimination::DenseElimination;
use super::sparse::{Fill, SparseCholesky, SymbolicAnalysis};
use super::{Backend, BackendChoice, LaplacianBlock, LaplacianSolver};
use crate::error::{Error, Result};

/// Up to this many items dense Cholesky takes well under a millisecond and is always used.
const ALWAYS_DENSE_ITEMS: usize = 200;
/// Maximum size of an automatically chosen dense matrix (0.5 GB).
const DENSE_MAX_ITEMS: usize = 8192;
/// Maximum size of an automatically chosen sparse factor (4 GB).
const SPARSE_MAX_ENTRIES: f64 = 5e8;

/// Ratio of the largest to the smallest weight of a component above which weak links need care: the
/// dense backend eliminates without subtractions, and conjugate gradients use a spanning tree as
/// preconditioner.
pub(super) const WIDE_WEIGHT_RATIO: f64 = (1 << 20) as f64;
/// The same ratio above which a sparse factorisation is not chosen automatically: refinement could no
/// longer make up for the digits that it loses.
const MAX_SPARSE_WEIGHT_RATIO: f64 = (1_u64 << 30) as f64;
/// Up to this many items the dense backend is preferred to conjugate gradients for such weights: it
/// takes seconds, and its accuracy does not depend on the weights.
const ELIMINATION_MAX_ITEMS: usize = 4096;

/// A multiply-add of dense Cholesky.
const DENSE_FLOP: f64 = 0.07;
/// A multiply-add of sparse Cholesky in blocks of columns, and column by column.
const BLOCKED_FLOP: f64 = 0.1;
const COLUMN_FLOP: f64 = 1.5;
/// An entry of the factor: written once, read twice per solve.
const FACTOR_ENTRY: f64 = 3.0;
/// An entry of the matrix and an item in one conjugate-gradient iteration on two threads.
const CG_ENTRY: f64 = 1.0;
const CG_ITEM: f64 = 3.0;
/// Conjugate-gradient iterations: minimum, per level of a breadth-first search, and per square root
/// of the size of the largest tree that is attached to the rest by one pair (the smallest eigenvalue
/// is about one over its size).
const CG_MIN_STEPS: f64 = 12.0;
const CG_STEPS_PER_LEVEL: f64 = 4.0;
const CG_STEPS_PER_ROOT: f64 = 10.0;
/// The default limit of iterations.
const CG_MAX_STEPS: f64 = 10_000.0;
/// The number of iterations is an estimate, and a direct solve is more accurate: it may cost this much
/// more.
const DIRECT_BONUS: f64 = 2.0;
/// The bound on the sparse cost from level widths is often too high by this factor; beyond it the
/// ordering is not computed, which would take minutes on a large expander.
const WIDTH_SLACK: f64 = 4.0;
/// With fewer levels the graph has no small separators, and the factor would be nearly full.
const MIN_LEVELS: usize = 4;

/// Sets up the given backend, or the one with the lowest predicted cost.
pub(super) fn set_up(
    matrix: LaplacianBlock<'_>,
    choice: BackendChoice,
) -> Result<Box<dyn LaplacianSolver>> {
    if !matrix.is_complete() {
        return set_up_distributed(matrix, choice);
    }
    match choice {
        BackendChoice::Fixed(Backend::Dense) => dense(matrix, matrix.weight_ratio()),
        BackendChoice::Fixed(Backend::Sparse) => {
            Ok(Box::new(SparseCholesky::new(matrix, SymbolicAnalysis::new(matrix)?)?))
        }
        BackendChoice::Fixed(Backend::ConjugateGradient) => {
            Ok(Box::new(ConjugateGradientSolver::new(matrix)))
        }
        // A sparse factorisation can break down where the weights span many digits.
        BackendChoice::Auto => {
            Ok(direct(matrix).unwrap_or_else(|| Box::new(ConjugateGradientSolver::new(matrix))))
        }
    }
}

/// The backend of a distributed matrix, of which only products are available.
fn set_up_distributed(
    matrix: LaplacianBlock<'_>,
    choice: BackendChoice,
) -> Result<Box<dyn LaplacianSolver>> {
    match choice {
        BackendChoice::Auto | BackendChoice::Fixed(Backend::ConjugateGradient) => {
            Ok(Box::new(ConjugateGradientSolver::new(matrix)))
        }
        BackendChoice::Fixed(direct) => Err(Error::BadOption {
            option: "backend",
            value: direct.as_str().to_owned(),
            expected: "auto or cg where votes are distributed over several processes",
        }),
    }
}

/// Elimination without subtractions where the weights differ so much that Cholesky factorisation
/// would lose digits of the light ones.
fn dense(matrix: LaplacianBlock<'_>, weight_ratio: f64) -> Result<Box<dyn LaplacianSolver>> {
    if weight_ratio > WIDE_WEIGHT_RATIO {
        return Ok(Box::new(DenseElimination::new(matrix)?));
    }
    Ok(Box::new(DenseCholesky::new(matrix)?))
}

/// A direct backend, if one is predicted to be the fastest and the factorisation succeeds.
fn direct(matrix: LaplacianBlock<'_>) -> Option<Box<dyn LaplacianSolver>> {
    let weight_ratio = matrix.weight_ratio();
    let dense = || dense(matrix, weight_ratio).ok();
    let n = matrix.len();
    if n <= ALWAYS_DENSE_ITEMS {
        return dense();
    }
    if weight_ratio > MAX_SPARSE_WEIGHT_RATIO {
        return if n <= ELIMINATION_MAX_ITEMS { dense() } else { None };
    }
    let dense_cost =
        if n <= DENSE_MAX_ITEMS { (n as f64).powi(3) / 6.0 * DENSE_FLOP } else { f64::INFINITY };
    let shape = ComponentShape::of(matrix);
    let cg_cost = DIRECT_BONUS * shape.cg_cost(matrix);
    let limit = cg_cost.min(dense_cost);
    if shape.width_cost() <= WIDTH_SLACK * limit
        && let Ok(analysis) = SymbolicAnalysis::new(matrix)
        && factor_cost(analysis.fill()) <= limit
        && let Ok(sparse) = SparseCholesky::new(matrix, analysis)
    {
        return Some(Box::new(sparse));
    }
    let is_wide = weight_ratio > WIDE_WEIGHT_RATIO && n <= ELIMINATION_MAX_ITEMS;
    if dense_cost <= cg_cost || is_wide { dense() } else { None }
}

fn factor_cost(fill: Fill) -> f64 {
    if fill.entries > SPARSE_MAX_ENTRIES {
        return f64::INFINITY;
    }
    let flop = if fill.blocked { BLOCKED_FLOP } else { COLUMN_FLOP };
    flop * fill.flops + FACTOR_ENTRY * fill.entries
}

/// The features of a component that the cost model uses. Trees attached to the rest are removed
/// first, because they cause no fill.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ComponentShape {
    /// Size of the 2-core: items left after repeatedly removing items with one neighbour.
    core: usize,
    /// Size of the largest tree removed.
    largest_tree: usize,
    /// Levels of a breadth-first search of the core from a peripheral item; 1 if the search was
    /// abandoned because the core is too wide.
    levels: usize,
}

impl ComponentShape {
    fn of(matrix: LaplacianBlock<'_>) -> Self {
        let (mut seen, largest_tree) = attached_trees(matrix);
        let core = seen.iter().filter(|&&seen| !seen).count();
        let Some(start) = seen.iter().position(|&seen| !seen) else {
            return Self { core: 0, largest_tree, levels: 0 };
        };
        // If the fill of the items within a few levels alone costs more than the longest run of
        // conjugate gradients, the search can stop: on an expander of a million items after about a
        // hundredth of them. The eccentricity of an item is at least half the diameter, hence twice
        // the levels.
        let limit = WIDTH_SLACK * DIRECT_BONUS * CG_MAX_STEPS * step_cost(matrix);
        let is_too_wide = |items: usize, levels: usize| level_cost(items, 2 * levels) > limit;
        // Two searches: the second starts where the first ended, at a peripheral item.
        let mut seen_first = seen.clone();
        let levels = search(matrix, start, core, &mut seen_first, is_too_wide)
            .and_then(|(_, end)| search(matrix, end, core, &mut seen, is_too_wide))
            .map_or(1, |(levels, _)| levels);
        Self { core, largest_tree, levels }
    }

    fn width_cost(self) -> f64 {
        let is_too_wide = self.core > 0 && self.levels < MIN_LEVELS;
        if is_too_wide { f64::INFINITY } else { level_cost(self.core, self.levels) }
    }

    fn cg_cost(self, matrix: LaplacianBlock<'_>) -> f64 {
        let steps = CG_MIN_STEPS
            + CG_STEPS_PER_LEVEL * self.levels as f64
            + CG_STEPS_PER_ROOT * (self.largest_tree as f64).sqrt();
        steps.min(CG_MAX_STEPS) * step_cost(matrix)
    }
}

/// Cholesky in the order of levels of mean width w takes about items·w²/2 multiply-adds.
fn level_cost(items: usize, levels: usize) -> f64 {
    let (items, levels) = (items as f64, levels.max(1) as f64);
    items.powi(3) / levels.powi(2) / 2.0 * BLOCKED_FLOP
}

fn step_cost(matrix: LaplacianBlock<'_>) -> f64 {
    CG_ENTRY * matrix.entries() as f64 + CG_ITEM * matrix.len() as f64
}

/// Marks the items outside the 2-core, and returns the size of the largest tree among them.
fn attached_trees(matrix: LaplacianBlock<'_>) -> (Vec<bool>, usize) {
    let mut neighbours: Vec<usize> =
        (0..matrix.len()).map(|i| matrix.neighbours(i).len()).collect();
    let mut taken = vec![false; matrix.len()];
    let mut below = vec![1; matrix.len()];
    let mut leaves: Vec<usize> = (0..matrix.len()).filter(|&i| neighbours[i] == 1).collect();
    let mut largest = 0;
    while let Some(leaf) = leaves.pop() {
        taken[leaf] = true;
        largest = largest.max(below[leaf]);
        let left = matrix.neighbours(leaf).iter().map(|&j| j as usize).find(|&j| !taken[j]);
        let Some(parent) = left else { continue };
        below[parent] += below[leaf];
        neighbours[parent] -= 1;
        if neighbours[parent] == 1 {
            leaves.push(parent);
        }
    }
    (taken, largest)
}

/// Number of levels of a breadth-first search from `start`, and the item of the last level with the
/// fewest neighbours. Items already `seen` are not entered; the search stops scanning once all
/// `reachable` items are found. None if the search was abandoned because `is_too_wide` of the items
/// and levels so far.
fn search(
    matrix: LaplacianBlock<'_>,
    start: usize,
    reachable: usize,
    seen: &mut [bool],
    is_too_wide: impl Fn(usize, usize) -> bool,
) -> Option<(usize, usize)> {
    seen[start] = true;
    let (mut level, mut next) = (vec![start as u32], Vec::new());
    let (mut items, mut levels) = (1, 1);
    loop {
        for &i in &level {
            if items + next.len() == reachable {
                break;
            }
            for &j in matrix.neighbours(i as usize) {
                if !std::mem::replace(&mut seen[j as usize], true) {
                    next.push(j);
                }
            }
        }
        if next.is_empty() {
            let peripheral =
                level.iter().min_by_key(|&&i| (matrix.neighbours(i as usize).len(), i));
            return peripheral.map(|&i| (levels, i as usize));
        }
        items += next.len();
        levels += 1;
        if is_too_wide(items, levels) {
            return None;
        }
        level.clear();
        std::mem::swap(&mut level, &mut next);
    }
}

#[cfg(test)]
mod tests {
    use super::super::LaplacianMatrix;
    use super::*;
    use crate::{Comparison, ComparisonGraph, Groups};

    fn shape(items: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> ComponentShape {
        let votes: Vec<_> = edges.into_iter().map(|(i, j)| Comparison::new(i, j, 1.0)).collect();
        let groups = Groups::merge(items, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items, groups).unwrap();
        ComponentShape::of(LaplacianMatrix::new(&graph, 0.0).block(0))
    }

    #[test]
    fn trees_have_no_core() {
        let path = shape(9, (1..9).map(|i| (i - 1, i)));
        assert_eq!(path, ComponentShape { core: 0, largest_tree: 9, levels: 0 });
        assert_eq!(shape(9, (1..9).map(|i| (0, i))).core, 0);
        assert_eq!(path.width_cost(), 0.0);
    }

    #[test]
    fn attached_trees_are_removed_from_the_core() {
        // A square with a tree of four items at one corner and one item at another.
        let square = [(0, 1), (1, 2), (2, 3), (3, 0)];
        let edges = square.into_iter().chain([(0, 4), (4, 5), (4, 6), (6, 7), (2, 8)]);
        assert_eq!(shape(9, edges), ComponentShape { core: 4, largest_tree: 4, levels: 3 });
    }

    #[test]
    fn levels_are_counted_from_a_peripheral_item() {
        // A ladder whose items are numbered from its middle: a search from item 0 has half the levels.
        let (rungs, middle) = (40, 20);
        let at = |rung: u32, side: u32| 2 * ((rung + rungs - middle) % rungs) + side;
        let rails = (1..rungs).flat_map(|r| [(at(r - 1, 0), at(r, 0)), (at(r - 1, 1), at(r, 1))]);
        let edges = rails.chain((0..rungs).map(|r| (at(r, 0), at(r, 1))));
        let shape = shape(80, edges);
        assert_eq!((shape.core, shape.levels), (80, 41));
    }
}
