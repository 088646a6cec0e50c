//! Solves for several right-hand sides at once.
//!
//! On large vote graphs a product with the matrix is bound by reads of the vector at random places.
//! Vectors of several right-hand sides are therefore stored together, the numbers of an item next to
//! each other: one read serves all of them. Conjugate gradients run in single precision, which halves
//! the memory, and are restarted from residuals in double precision (iterative refinement):
//!
//! x ← x + d, r ← r − Ad, where d solves Ad = r up to five digits.
//!
//! Every column has its own recurrence; columns that have converged stay as they are. The symbols are
//! those of [`super::conjugate_gradient`]. Sums over items are in double precision and in an order
//! that does not depend on the number of threads.
//!
//! Cost: 32 bytes for each item and column; an iteration reads the matrix once for all columns.
//!
//! Failure modes: as those of conjugate gradients. A column whose residual is not halved by a
//! restart, because single precision is too coarse for the matrix, is solved by itself.

// Most loops over columns index several arrays.
#![allow(clippy::needless_range_loop)]

use rayon::prelude::*;

use super::matrix::ROWS_PER_TASK;
use super::{LaplacianBlock, StoppingRule};
use crate::numeric::sum_tasks;

/// The numbers of one item in `L` columns.
pub(crate) type Lanes<T, const L: usize> = [T; L];

/// Smallest factor by which a run in single precision reduces a residual.
const MAX_REDUCTION: f64 = 1e-5;
/// Share of the target that the recurrence aims at, so that its drift costs no restart.
const TARGET_SHARE: f64 = 0.9;
/// A run that leaves more than this share of a residual has reached the limit of single precision.
const STALLED_REDUCTION: f64 = 0.5;

/// What a solve returns.
pub(super) struct BlockSolution<const L: usize> {
    pub(super) x: Vec<Lanes<f64, L>>,
    /// b − Ax.
    pub(super) r: Vec<Lanes<f64, L>>,
    /// The tolerance relative to r of each column: below 1 if a column has not reached it.
    pub(super) missing: [f64; L],
}

/// Solves `matrix · x = b` for columns of mean zero.
pub(super) fn solve<const L: usize>(
    matrix: LaplacianBlock<'_>,
    inverse_diagonal: &[f64],
    b: Vec<Lanes<f64, L>>,
    rule: &StoppingRule,
) -> BlockSolution<L> {
    let (n, mut r) = (b.len(), b);
    let mut x = vec![[0.0; L]; n];
    let norms = norms(&r);
    let goals = norms.map(|norm| rule.tolerance * norm);
    let (mut sizes, mut has_stalled, mut iterations) = (norms, [false; L], 0);
    let mut run = Run::new(matrix, inverse_diagonal);
    loop {
        let mut scales = [0.0; L];
        for k in 0..L {
            let is_open = sizes[k] > goals[k] && !has_stalled[k];
            scales[k] = if is_open { sizes[k] } else { 0.0 };
        }
        if scales == [0.0; L] || iterations >= rule.max_iterations {
            break;
        }
        let mut targets = [0.0; L];
        for k in 0..L {
            targets[k] = TARGET_SHARE * (goals[k] / sizes[k]).max(MAX_REDUCTION);
        }
        iterations += run.solve(&r, scales, targets, rule.max_iterations - iterations);
        let before = std::mem::replace(&mut sizes, run.refine(&mut x, &mut r, scales));
        for k in 0..L {
            // Not a number is no reduction.
            let is_reduced = sizes[k] <= STALLED_REDUCTION * before[k];
            has_stalled[k] |= scales[k] > 0.0 && !is_reduced;
        }
    }
    let mut missing = [1.0; L];
    for k in 0..L {
        let has_converged = sizes[k] <= goals[k];
        missing[k] = if has_converged { 1.0 } else { goals[k] / sizes[k] };
    }
    BlockSolution { x, r, missing }
}

fn norms<const L: usize>(r: &[Lanes<f64, L>]) -> [f64; L] {
    let squares = sum_tasks(r.par_chunks(ROWS_PER_TASK), |r| {
        let mut squares = [0.0; L];
        r.iter().for_each(|r| (0..L).for_each(|k| squares[k] += r[k] * r[k]));
        squares
    });
    squares.map(f64::sqrt)
}

/// Runs of the recurrence in single precision, for residuals divided by their norms.
struct Run<'a, const L: usize> {
    matrix: LaplacianBlock<'a>,
    inverse_diagonal: &'a [f64],
    d: Vec<Lanes<f32, L>>,
    r: Vec<Lanes<f32, L>>,
    p: Vec<Lanes<f32, L>>,
    q: Vec<Lanes<f32, L>>,
}

/// Sums over the items of a column.
#[derive(Clone, Copy)]
struct Sums<const L: usize> {
    rr: [f64; L],
    rz: [f64; L],
    z: [f64; L],
}

impl<'a, const L: usize> Run<'a, L> {
    fn new(matrix: LaplacianBlock<'a>, inverse_diagonal: &'a [f64]) -> Self {
        let zero = || vec![[0.0; L]; matrix.len()];
        Self { matrix, inverse_diagonal, d: zero(), r: zero(), p: zero(), q: zero() }
    }

    /// d ← solution of Ad = r/scale up to the targets, 0 where the scale is 0. Returns the iterations.
    fn solve(
        &mut self,
        r: &[Lanes<f64, L>],
        scales: [f64; L],
        targets: [f64; L],
        max_iterations: usize,
    ) -> usize {
        let inverse = scales.map(|scale| if scale > 0.0 { 1.0 / scale } else { 0.0 });
        self.r.par_iter_mut().zip(r).with_min_len(ROWS_PER_TASK).for_each(|(own, r)| {
            (0..L).for_each(|k| own[k] = (inverse[k] * r[k]) as f32);
        });
        for vector in [&mut self.d, &mut self.p, &mut self.q] {
            vector.par_iter_mut().with_min_len(ROWS_PER_TASK).for_each(|lanes| *lanes = [0.0; L]);
        }
        // p and q are zero: the step changes nothing and computes the sums.
        let mut sums = self.step([0.0; L]);
        let mut is_open = scales.map(|scale| scale > 0.0);
        self.turn([0.0; L], sums.z);
        for iteration in 0..max_iterations {
            let pq = self.multiply();
            let mut alpha = [0.0; L];
            for k in 0..L {
                is_open[k] &= pq[k] > 0.0 && sums.rz[k] > 0.0;
                alpha[k] = if is_open[k] { sums.rz[k] / pq[k] } else { 0.0 };
            }
            let before = std::mem::replace(&mut sums, self.step(alpha));
            let mut beta = [0.0; L];
            for k in 0..L {
                is_open[k] &= sums.rr[k].sqrt() > targets[k];
                beta[k] = if is_open[k] { sums.rz[k] / before.rz[k] } else { 0.0 };
            }
            if is_open == [false; L] {
                return iteration + 1;
            }
            self.turn(beta, sums.z);
        }
        max_iterations
    }

    /// q ← Ap; returns pᵀq.
    fn multiply(&mut self) -> [f64; L] {
        let Self { matrix, p, q, .. } = self;
        let length = matrix.rows_per_task();
        let p = &p[..];
        sum_tasks(q.par_chunks_mut(length).enumerate(), |(task, q)| {
            let mut pq = [0.0; L];
            for (row, q) in q.iter_mut().enumerate() {
                let i = task * length + row;
                let own = p[i];
                let mut sums = [0.0_f32; L];
                for (&j, &w) in matrix.neighbours(i).iter().zip(matrix.weights(i)) {
                    let (other, w) = (&p[j as usize], w as f32);
                    (0..L).for_each(|k| sums[k] += w * (own[k] - other[k]));
                }
                let shift = matrix.shift() as f32;
                (0..L).for_each(|k| q[k] = sums[k] + shift * own[k]);
                (0..L).for_each(|k| pq[k] += f64::from(own[k]) * f64::from(q[k]));
            }
            pq
        })
    }

    /// d ← d + αp, r ← r − αq.
    fn step(&mut self, alpha: [f64; L]) -> Sums<L> {
        let alpha = alpha.map(|alpha| alpha as f32);
        let Self { d, r, p, q, inverse_diagonal, .. } = self;
        let tasks = d
            .par_chunks_mut(ROWS_PER_TASK)
            .zip(r.par_chunks_mut(ROWS_PER_TASK))
            .zip(p.par_chunks(ROWS_PER_TASK).zip(q.par_chunks(ROWS_PER_TASK)))
            .zip(inverse_diagonal.par_chunks(ROWS_PER_TASK));
        let parts: Vec<Sums<L>> = tasks
            .map(|(((d, r), (p, q)), inverse)| {
                let mut sums = Sums { rr: [0.0; L], rz: [0.0; L], z: [0.0; L] };
                for ((d, r), ((p, q), &m)) in d.iter_mut().zip(r).zip(p.iter().zip(q).zip(inverse))
                {
                    for k in 0..L {
                        d[k] += alpha[k] * p[k];
                        r[k] -= alpha[k] * q[k];
                        let own = f64::from(r[k]);
                        sums.rr[k] += own * own;
                        sums.rz[k] += own * own * m;
                        sums.z[k] += own * m;
                    }
                }
                sums
            })
            .collect();
        let mut all = Sums { rr: [0.0; L], rz: [0.0; L], z: [0.0; L] };
        for part in parts {
            for k in 0..L {
                all.rr[k] += part.rr[k];
                all.rz[k] += part.rz[k];
                all.z[k] += part.z[k];
            }
        }
        all
    }

    /// p ← z − mean(z) + βp.
    fn turn(&mut self, beta: [f64; L], z_sums: [f64; L]) {
        let n = self.r.len() as f64;
        let means = z_sums.map(|sum| (sum / n) as f32);
        let beta = beta.map(|beta| beta as f32);
        let Self { r, p, inverse_diagonal, .. } = self;
        let tasks = p
            .par_chunks_mut(ROWS_PER_TASK)
            .zip(r.par_chunks(ROWS_PER_TASK))
            .zip(inverse_diagonal.par_chunks(ROWS_PER_TASK));
        tasks.for_each(|((p, r), inverse)| {
            for (p, (r, &m)) in p.iter_mut().zip(r.iter().zip(inverse)) {
                let m = m as f32;
                (0..L).for_each(|k| p[k] = (r[k] * m - means[k]) + beta[k] * p[k]);
            }
        });
    }

    /// x ← x + scale·d, r ← r − scale·Ad in double precision; returns the norms of r.
    fn refine(
        &self,
        x: &mut [Lanes<f64, L>],
        r: &mut [Lanes<f64, L>],
        scales: [f64; L],
    ) -> [f64; L] {
        let Self { matrix, d, .. } = self;
        let length = matrix.rows_per_task();
        let tasks = x.par_chunks_mut(length).zip(r.par_chunks_mut(length)).enumerate();
        let squares = sum_tasks(tasks, |(task, (x, r))| {
            let mut squares = [0.0; L];
            for (row, (x, r)) in x.iter_mut().zip(r).enumerate() {
                let i = task * length + row;
                let own = d[i].map(f64::from);
                let mut sums = own.map(|own| matrix.shift() * own);
                for (&j, &w) in matrix.neighbours(i).iter().zip(matrix.weights(i)) {
                    let other = &d[j as usize];
                    (0..L).for_each(|k| sums[k] += w * (own[k] - f64::from(other[k])));
                }
                for k in 0..L {
                    x[k] += scales[k] * own[k];
                    r[k] -= scales[k] * sums[k];
                    squares[k] += r[k] * r[k];
                }
            }
            squares
        });
        squares.map(f64::sqrt)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Backend, BackendChoice, LaplacianSystem, StoppingRule};
    use super::*;
    use crate::{Comparison, ComparisonGraph, Groups};

    const CG: BackendChoice = BackendChoice::Fixed(Backend::ConjugateGradient);
    const DENSE: BackendChoice = BackendChoice::Fixed(Backend::Dense);

    /// Two well-connected components, whose items alternate, and an item alone.
    fn two_components() -> ComparisonGraph {
        let items = 601_u32;
        let vote = |k: u32| {
            let i = k % 600;
            let j = (i + 2 * (1 + k / 600 * 37 % 299)) % 600;
            Comparison::new(i, j, 1.0).with_count(1 + u64::from(k % 4))
        };
        let votes: Vec<Comparison> = (0..5000).map(vote).collect();
        let groups = Groups::merge(items as usize, &votes).unwrap().groups;
        ComparisonGraph::new(items as usize, groups).unwrap()
    }

    fn chain(items: u32) -> ComparisonGraph {
        let votes: Vec<_> = (1..items).map(|i| Comparison::new(i - 1, i, 1.0)).collect();
        let groups = Groups::merge(items as usize, &votes).unwrap().groups;
        ComparisonGraph::new(items as usize, groups).unwrap()
    }

    /// Columns of different sizes, the last one zero.
    fn columns(n: usize) -> Vec<Lanes<f64, 4>> {
        let entry = |i: usize, k: usize| ((i * (7 + k) + 3 * k) % 23) as f64 - 11.0;
        let scales = [1.0, 1e-200, 1e150, 0.0];
        (0..n).map(|i| std::array::from_fn(|k| scales[k] * entry(i, k))).collect()
    }

    #[test]
    fn columns_have_the_solutions_of_single_solves() {
        for (graph, shift, tolerance) in [
            (two_components(), 0.0, 1e-10),
            (two_components(), 0.25, 1e-10),
            (two_components(), 0.0, 1e-4),
            // Single precision is too coarse for a long chain.
            (chain(800), 0.0, 1e-10),
        ] {
            let rule = StoppingRule::at(tolerance);
            let b = columns(graph.items());
            let system = LaplacianSystem::new(&graph, shift, CG).unwrap();
            let found = system.solve_block(b.clone(), &rule).unwrap();
            let exact = LaplacianSystem::new(&graph, shift, DENSE).unwrap();
            for k in 0..4 {
                let column: Vec<f64> = b.iter().map(|b| b[k]).collect();
                let (expected, _) = exact.solve(&column, &StoppingRule::default()).unwrap();
                let largest = expected.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                for (found, expected) in found.iter().zip(&expected) {
                    let error = (found[k] - expected).abs();
                    assert!(error <= 1e3 * tolerance * largest, "{k} {error:e} {largest:e}");
                }
            }
        }
    }

    #[test]
    fn other_backends_solve_column_by_column() {
        let graph = two_components();
        let system = LaplacianSystem::new(&graph, 0.0, DENSE).unwrap();
        let b = columns(graph.items());
        let found = system.solve_block(b.clone(), &StoppingRule::default()).unwrap();
        let column: Vec<f64> = b.iter().map(|b| b[1]).collect();
        let (expected, _) = system.solve(&column, &StoppingRule::default()).unwrap();
        assert!(found.iter().zip(&expected).all(|(found, expected)| found[1] == *expected));
    }

    #[test]
    fn bits_do_not_depend_on_the_number_of_threads() {
        let graph = two_components();
        let system = LaplacianSystem::new(&graph, 0.0, CG).unwrap();
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let b = columns(graph.items());
            pool.install(|| system.solve_block(b, &StoppingRule::at(1e-8)).unwrap())
        };
        assert_eq!(solve(1), solve(3));
    }

    #[test]
    fn numbers_that_are_not_finite_are_errors() {
        let graph = chain(3);
        let system = LaplacianSystem::new(&graph, 0.0, CG).unwrap();
        let b = vec![[0.0; 2], [f64::INFINITY, 0.0], [0.0; 2]];
        assert!(system.solve_block(b, &StoppingRule::default()).is_err());
    }
}
