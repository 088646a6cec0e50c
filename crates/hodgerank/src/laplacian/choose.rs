//! Which backend for which component: the cheapest by a model of their costs.
//!
//! The model sees the shape of the component and nothing else, neither clock nor thread count, so
//! the same votes always give the same bytes. Constants are nanoseconds measured on one 2-core
//! machine; others differ, but mostly by a common factor, and only ratios matter here.

use super::conjugate_gradient::ConjugateGradient;
use super::dense::Dense;
use super::sparse::{Analysis, Fill, Sparse};
use super::{Backend, BackendChoice, LaplacianBlock, LaplacianSolver};
use crate::error::{Error, Result};

/// Up to here dense Cholesky takes well under a millisecond and nothing is worth a thought.
const SMALL: usize = 200;
/// Largest dense matrix (0.5 GB) taken unasked.
const DENSE_MOST_ITEMS: usize = 8192;
/// Largest sparse factor (4 GB) taken unasked.
const SPARSE_MOST_ENTRIES: f64 = 5e8;

/// A multiply-add of dense Cholesky.
const DENSE_FLOP: f64 = 0.07;
/// A multiply-add of sparse Cholesky in blocks of columns, and column by column.
const BLOCKED_FLOP: f64 = 0.1;
const COLUMN_FLOP: f64 = 1.5;
/// An entry of the factor: written once, read twice for a solve.
const FACTOR_ENTRY: f64 = 3.0;
/// An entry of the matrix, an item: in one step of conjugate gradients on two threads.
const CG_ENTRY: f64 = 1.0;
const CG_ITEM: f64 = 3.0;
/// Steps of conjugate gradients: at least, for each level of a breadth-first search, and for the
/// square root of the largest tree that hangs on the rest by one pair (the smallest eigenvalue is
/// about one over its size).
const CG_STEPS: f64 = 12.0;
const CG_STEPS_PER_LEVEL: f64 = 4.0;
const CG_STEPS_PER_ROOT: f64 = 10.0;
/// The default limit of steps: more are never paid.
const CG_MOST_STEPS: f64 = 10_000.0;
/// The step count is a guess, and a direct solve is more exact: it may cost this much more.
const DIRECT_BONUS: f64 = 2.0;
/// The bound on the sparse cost from widths is often this much too high; beyond it the ordering
/// is not even tried, because on a large expander that alone would take minutes.
const WIDTH_SLACK: f64 = 4.0;
/// With fewer levels nothing small separates the graph, and the factor would be nearly full.
const MIN_LEVELS: usize = 4;

/// Sets up the backend asked for, or the one that should be cheapest.
pub(super) fn set_up(
    matrix: LaplacianBlock<'_>,
    choice: BackendChoice,
) -> Result<Box<dyn LaplacianSolver>> {
    if !matrix.is_whole() {
        return iterative(matrix, choice);
    }
    match choice {
        BackendChoice::Fixed(Backend::Dense) => Ok(Box::new(Dense::new(matrix)?)),
        BackendChoice::Fixed(Backend::Sparse) => {
            Ok(Box::new(Sparse::new(matrix, Analysis::new(matrix)?)?))
        }
        BackendChoice::Fixed(Backend::ConjugateGradient) => {
            Ok(Box::new(ConjugateGradient::new(matrix)))
        }
        // A factorisation can break down where the weights of a component span more than the
        // 16 digits of a number; conjugate gradients then still give what can be had.
        BackendChoice::Auto => {
            Ok(direct(matrix).unwrap_or_else(|| Box::new(ConjugateGradient::new(matrix))))
        }
    }
}

/// A matrix that is shared has products only.
fn iterative(
    matrix: LaplacianBlock<'_>,
    choice: BackendChoice,
) -> Result<Box<dyn LaplacianSolver>> {
    match choice {
        BackendChoice::Auto | BackendChoice::Fixed(Backend::ConjugateGradient) => {
            Ok(Box::new(ConjugateGradient::new(matrix)))
        }
        BackendChoice::Fixed(direct) => Err(Error::BadOption {
            option: "backend",
            value: direct.as_str().to_owned(),
            expected: "auto or cg: the votes are shared, and no one has the whole matrix",
        }),
    }
}

/// A direct backend, where one is predicted to be worth it and works.
fn direct(matrix: LaplacianBlock<'_>) -> Option<Box<dyn LaplacianSolver>> {
    let dense = || Some(Box::new(Dense::new(matrix).ok()?) as Box<dyn LaplacianSolver>);
    let n = matrix.len();
    if n <= SMALL {
        return dense();
    }
    let dense_cost =
        if n <= DENSE_MOST_ITEMS { (n as f64).powi(3) / 6.0 * DENSE_FLOP } else { f64::INFINITY };
    let shape = Shape::of(matrix);
    let cg_cost = DIRECT_BONUS * shape.cg_cost(matrix);
    let limit = cg_cost.min(dense_cost);
    if shape.width_cost() <= WIDTH_SLACK * limit
        && let Ok(analysis) = Analysis::new(matrix)
        && factor_cost(analysis.fill()) <= limit
        && let Ok(sparse) = Sparse::new(matrix, analysis)
    {
        return Some(Box::new(sparse));
    }
    if dense_cost <= cg_cost { dense() } else { None }
}

fn factor_cost(fill: Fill) -> f64 {
    if fill.entries > SPARSE_MOST_ENTRIES {
        return f64::INFINITY;
    }
    let flop = if fill.blocked { BLOCKED_FLOP } else { COLUMN_FLOP };
    flop * fill.flops + FACTOR_ENTRY * fill.entries
}

/// What the model knows of a component. Trees that hang on the rest are taken off first: they
/// cost a factorisation nothing, however wide they are.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shape {
    /// Items left when items with one neighbour are taken off again and again.
    core: usize,
    /// Items of the largest tree taken off.
    largest_tree: usize,
    /// Levels of a breadth-first search of the core from an item at its rim; 1 where the core was
    /// found to be broad before the search ended.
    levels: usize,
}

impl Shape {
    fn of(matrix: LaplacianBlock<'_>) -> Self {
        let (mut seen, largest_tree) = hanging_trees(matrix);
        let core = seen.iter().filter(|&&seen| !seen).count();
        let Some(start) = seen.iter().position(|&seen| !seen) else {
            return Self { core: 0, largest_tree, levels: 0 };
        };
        // The items within a few levels are a graph of their own. If the fill of that part alone
        // outweighs the longest run of conjugate gradients, the rest need not be looked at: on
        // an expander of a million items a hundredth of them is enough. An item sees at least
        // half of any distance, hence twice the levels.
        let limit = WIDTH_SLACK * DIRECT_BONUS * CG_MOST_STEPS * step_cost(matrix);
        let broad = |items: usize, levels: usize| level_cost(items, 2 * levels) > limit;
        // Two searches: the second starts where the first ended, at the rim.
        let mut around = seen.clone();
        let levels = search(matrix, start, core, &mut around, broad)
            .and_then(|(_, rim)| search(matrix, rim, core, &mut seen, broad))
            .map_or(1, |(levels, _)| levels);
        Self { core, largest_tree, levels }
    }

    fn width_cost(self) -> f64 {
        let broad = self.core > 0 && self.levels < MIN_LEVELS;
        if broad { f64::INFINITY } else { level_cost(self.core, self.levels) }
    }

    fn cg_cost(self, matrix: LaplacianBlock<'_>) -> f64 {
        let steps = CG_STEPS
            + CG_STEPS_PER_LEVEL * self.levels as f64
            + CG_STEPS_PER_ROOT * (self.largest_tree as f64).sqrt();
        steps.min(CG_MOST_STEPS) * step_cost(matrix)
    }
}

/// Cholesky along levels of mean width w takes about items·w²/2 multiply-adds.
fn level_cost(items: usize, levels: usize) -> f64 {
    let (items, levels) = (items as f64, levels.max(1) as f64);
    items.powi(3) / levels.powi(2) / 2.0 * BLOCKED_FLOP
}

fn step_cost(matrix: LaplacianBlock<'_>) -> f64 {
    CG_ENTRY * matrix.entries() as f64 + CG_ITEM * matrix.len() as f64
}

/// Marks the items in hanging trees, and finds the size of the largest such tree.
fn hanging_trees(matrix: LaplacianBlock<'_>) -> (Vec<bool>, usize) {
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

/// How many levels a breadth-first search from `start` has, and an item of the last one with the
/// fewest neighbours (it is the likeliest to lie at the rim). Items already `seen` are walls, and
/// `all` others can be reached: when they have been, no more pairs are looked at. None if the search
/// was given up because the graph is too `broad`, told from items and levels so far.
fn search(
    matrix: LaplacianBlock<'_>,
    start: usize,
    all: usize,
    seen: &mut [bool],
    broad: impl Fn(usize, usize) -> bool,
) -> Option<(usize, usize)> {
    seen[start] = true;
    let (mut level, mut next) = (vec![start as u32], Vec::new());
    let (mut items, mut levels) = (1, 1);
    loop {
        for &i in &level {
            if items + next.len() == all {
                break;
            }
            for &j in matrix.neighbours(i as usize) {
                if !std::mem::replace(&mut seen[j as usize], true) {
                    next.push(j);
                }
            }
        }
        if next.is_empty() {
            let rim = level.iter().min_by_key(|&&i| (matrix.neighbours(i as usize).len(), i));
            return rim.map(|&i| (levels, i as usize));
        }
        items += next.len();
        levels += 1;
        if broad(items, levels) {
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

    fn shape(items: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Shape {
        let votes: Vec<_> = edges.into_iter().map(|(i, j)| Comparison::new(i, j, 1.0)).collect();
        let groups = Groups::merge(items, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items, groups).unwrap();
        Shape::of(LaplacianMatrix::new(&graph, 0.0).block(0))
    }

    #[test]
    fn trees_have_no_core() {
        let path = shape(9, (1..9).map(|i| (i - 1, i)));
        assert_eq!(path, Shape { core: 0, largest_tree: 9, levels: 0 });
        assert_eq!(shape(9, (1..9).map(|i| (0, i))).core, 0);
        assert_eq!(path.width_cost(), 0.0);
    }

    #[test]
    fn hanging_trees_are_told_from_the_core() {
        // A square with a tree of four items at one corner and one item at another.
        let square = [(0, 1), (1, 2), (2, 3), (3, 0)];
        let edges = square.into_iter().chain([(0, 4), (4, 5), (4, 6), (6, 7), (2, 8)]);
        assert_eq!(shape(9, edges), Shape { core: 4, largest_tree: 4, levels: 3 });
    }

    #[test]
    fn levels_are_counted_from_the_rim() {
        // A ladder whose items are numbered from its middle: a search from item 0 sees half.
        let (rungs, middle) = (40, 20);
        let at = |rung: u32, side: u32| 2 * ((rung + rungs - middle) % rungs) + side;
        let rails = (1..rungs).flat_map(|r| [(at(r - 1, 0), at(r, 0)), (at(r - 1, 1), at(r, 1))]);
        let edges = rails.chain((0..rungs).map(|r| (at(r, 0), at(r, 1))));
        let shape = shape(80, edges);
        assert_eq!((shape.core, shape.levels), (80, 41));
    }
}
