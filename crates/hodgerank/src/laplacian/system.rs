//! The system of a graph: one independent system per component.

use rayon::prelude::*;

use super::block_solve::{self, Lanes};
use super::centre;
use super::choose::{self, WIDE_WEIGHT_RATIO};
use super::{Backend, BackendChoice, LaplacianMatrix, LaplacianSolver, SolveInfo, StoppingRule};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::numeric::{largest_magnitude, norm, power_of_two_below};

/// Rows of a block of columns that are worth a task.
const MIN_ROWS: usize = 2048;

/// L + shift·I of a comparison graph, set up for solving with any right-hand side.
///
/// # Example
/// ```
/// use hodgerank::laplacian::{BackendChoice, LaplacianSystem, StoppingRule};
/// use hodgerank::{Comparison, ComparisonGraph, Groups};
///
/// let votes = [Comparison::new(0, 1, 1.0), Comparison::new(1, 2, 1.0)];
/// let graph = ComparisonGraph::new(3, Groups::merge(3, &votes)?.groups)?;
/// let system = LaplacianSystem::new(&graph, 0.0, BackendChoice::Auto)?;
/// let (scores, info) = system.solve(&[1.0, 0.0, -1.0], &StoppingRule::default())?;
/// assert!((scores[0] - 1.0).abs() < 1e-12 && (scores[2] + 1.0).abs() < 1e-12);
/// assert!(info.converged);
/// # Ok::<(), hodgerank::Error>(())
/// ```
#[derive(Debug)]
pub struct LaplacianSystem {
    matrix: LaplacianMatrix,
    /// The solvers of components of two or more items, which come first.
    solvers: Vec<Box<dyn LaplacianSolver>>,
    choice: BackendChoice,
}

impl LaplacianSystem {
    /// Builds the matrix and sets up a backend for each component.
    ///
    /// # Errors
    /// If `shift` is negative or not finite, a component is too large for a fixed backend, or a
    /// factorisation breaks down. With [`BackendChoice::Auto`] only the first can happen.
    pub fn new(graph: &ComparisonGraph, shift: f64, choice: BackendChoice) -> Result<Self> {
        if !(shift >= 0.0 && shift.is_finite()) {
            let expected = "a finite number, zero or more";
            return Err(Error::BadOption { option: "shift", value: shift.to_string(), expected });
        }
        let matrix = LaplacianMatrix::new(graph, shift);
        let connected = graph.components().iter().take_while(|members| members.len() > 1).count();
        let setups =
            (0..connected).into_par_iter().map(|c| choose::set_up(matrix.block(c), choice));
        let solvers = setups.collect::<Result<_>>()?;
        Ok(Self { matrix, solvers, choice })
    }

    /// The system of the same graph with other weights on its pairs, with the same backends.
    ///
    /// Weights may be zero as long as the other pairs connect each component. Cheaper than a new
    /// system, because no backend has to be chosen; but the backends were chosen for all pairs, so
    /// most of them should have a positive weight.
    ///
    /// # Errors
    /// If a factorisation breaks down; with [`BackendChoice::Auto`] that cannot happen.
    ///
    /// # Panics
    /// If `graph` has another number of items, or `pair_weights` not one weight per pair.
    pub(crate) fn reweighted(&self, graph: &ComparisonGraph, pair_weights: &[f64]) -> Result<Self> {
        self.reweighted_with_shift(graph, pair_weights, self.matrix.shift())
    }

    /// The same with another shift.
    pub(crate) fn reweighted_with_shift(
        &self,
        graph: &ComparisonGraph,
        pair_weights: &[f64],
        shift: f64,
    ) -> Result<Self> {
        assert_eq!(graph.items(), self.matrix.items().len(), "the same graph");
        assert_eq!(pair_weights.len(), graph.pairs().len(), "one weight for each pair");
        let matrix = LaplacianMatrix::with_weights(graph, pair_weights, shift);
        let set_up = |c: usize| {
            let backend = BackendChoice::Fixed(self.solvers[c].backend());
            let same = choose::set_up(matrix.block(c), backend);
            match self.choice {
                BackendChoice::Auto => {
                    same.or_else(|_| choose::set_up(matrix.block(c), self.choice))
                }
                BackendChoice::Fixed(_) => same,
            }
        };
        let solvers = (0..self.solvers.len()).into_par_iter().map(set_up).collect::<Result<_>>()?;
        Ok(Self { matrix, solvers, choice: self.choice })
    }

    /// A rule for steps of an iteration that need few digits, by which several processes take the steps
    /// of one up to rounding. They stop at `tolerance` only where both run conjugate gradients with the
    /// same preconditioner; elsewhere, nearly all digits are computed. Collective.
    pub(crate) fn rule_for_steps(&self, tolerance: f64) -> StoppingRule {
        /// Relative residual of nearly all digits.
        const ALL_DIGITS: f64 = 1e-11;
        let is_iterative = self.choice == BackendChoice::Fixed(Backend::ConjugateGradient);
        let is_same = is_iterative && self.matrix.weight_ratio() <= WIDE_WEIGHT_RATIO;
        let tolerance = if is_same { tolerance } else { ALL_DIGITS };
        StoppingRule { same_on_processes: true, ..StoppingRule::at(tolerance) }
    }

    /// Solves the system; returns the scores and their accuracy.
    ///
    /// Without a shift the scores have mean zero on each component and solve the system in the
    /// least-squares sense, because constants on a component are not in the range of L. Components
    /// with a zero right-hand side get exactly zero.
    ///
    /// # Errors
    /// If `rhs` is not finite: sums of outcomes have overflowed.
    ///
    /// # Panics
    /// If the length of `rhs` is not the number of items.
    pub fn solve(&self, rhs: &[f64], rule: &StoppingRule) -> Result<(Vec<f64>, SolveInfo)> {
        let items = self.matrix.items();
        assert_eq!(rhs.len(), items.len(), "one number for each item");
        if let Some(item) = rhs.iter().position(|b| !b.is_finite()) {
            return Err(Error::Overflow { item: item as u32, label: None, value: rhs[item] });
        }
        let mut b: Vec<f64> = items.iter().map(|&item| rhs[item as usize]).collect();
        let mut x = vec![0.0; items.len()];
        let solved = self.solve_components(&mut b, &mut x, rule);
        let mut scores = vec![0.0; items.len()];
        for (&item, &x) in items.iter().zip(&x) {
            scores[item as usize] = x;
        }
        Ok((scores, combine(&solved)))
    }

    /// Solves for the right-hand sides in the columns of `rhs`, as [`LaplacianSystem::solve`] does for
    /// one; returns the scores. Large components are solved for all columns at once.
    ///
    /// # Errors
    /// As [`LaplacianSystem::solve`].
    ///
    /// # Panics
    /// If the length of `rhs` is not the number of items.
    pub(crate) fn solve_block<const L: usize>(
        &self,
        mut rhs: Vec<Lanes<f64, L>>,
        rule: &StoppingRule,
    ) -> Result<Vec<Lanes<f64, L>>> {
        let items = self.matrix.items();
        assert_eq!(rhs.len(), items.len(), "one number for each item");
        for (item, lanes) in rhs.iter().enumerate() {
            if let Some(&value) = lanes.iter().find(|b| !b.is_finite()) {
                return Err(Error::Overflow { item: item as u32, label: None, value });
            }
        }
        if self.matrix.components() == 1 {
            return Ok(self.solve_block_of(0, rhs, rule));
        }
        let of_component = |c: usize| -> Vec<Lanes<f64, L>> {
            let b = items[self.matrix.rows(c)].iter().map(|&item| rhs[item as usize]).collect();
            self.solve_block_of(c, b, rule)
        };
        let components = 0..self.matrix.components();
        let solved: Vec<Lanes<f64, L>> = components.flat_map(of_component).collect();
        items.iter().zip(solved).for_each(|(&item, x)| rhs[item as usize] = x);
        Ok(rhs)
    }

    /// Solves component `c`; both sides are in the order of its rows.
    fn solve_block_of<const L: usize>(
        &self,
        c: usize,
        mut b: Vec<Lanes<f64, L>>,
        rule: &StoppingRule,
    ) -> Vec<Lanes<f64, L>> {
        let matrix = self.matrix.block(c);
        let inverse_diagonal = self.solvers.get(c).and_then(|solver| solver.inverse_diagonal());
        let Some(inverse_diagonal) = inverse_diagonal.filter(|_| matrix.is_complete()) else {
            (0..L).for_each(|k| self.solve_column(c, &mut b, k, rule));
            return b;
        };
        let n = b.len() as f64;
        let units: [f64; L] = std::array::from_fn(|k| {
            let largest = b.iter().fold(0.0_f64, |largest, b| largest.max(b[k].abs()));
            if largest > 0.0 { power_of_two_below(largest) } else { 1.0 }
        });
        let means: [f64; L] =
            std::array::from_fn(|k| b.iter().map(|b| b[k] / units[k]).sum::<f64>() / n);
        let each = |b: &mut Lanes<f64, L>| (0..L).for_each(|k| b[k] = b[k] / units[k] - means[k]);
        b.par_iter_mut().with_min_len(MIN_ROWS).for_each(each);
        let mut solved = block_solve::solve(matrix, inverse_diagonal, b, rule);
        for k in 0..L {
            let tolerance = solved.missing[k];
            if tolerance >= 1.0 {
                continue;
            }
            let rule = StoppingRule { tolerance, ..*rule };
            self.solve_column(c, &mut solved.r, k, &rule);
            solved.x.iter_mut().zip(&solved.r).for_each(|(x, r)| x[k] += r[k]);
        }
        let shift = matrix.shift();
        let offsets: [f64; L] = std::array::from_fn(|k| {
            let mean = solved.x.iter().map(|x| x[k]).sum::<f64>() / n;
            if shift > 0.0 { means[k] / shift - mean } else { -mean }
        });
        let each =
            |x: &mut Lanes<f64, L>| (0..L).for_each(|k| x[k] = (x[k] + offsets[k]) * units[k]);
        solved.x.par_iter_mut().with_min_len(MIN_ROWS).for_each(each);
        solved.x
    }

    /// Replaces column `k` by the solution for it.
    fn solve_column<const L: usize>(
        &self,
        c: usize,
        columns: &mut [Lanes<f64, L>],
        k: usize,
        rule: &StoppingRule,
    ) {
        let mut b: Vec<f64> = columns.iter().map(|lanes| lanes[k]).collect();
        let mut x = vec![0.0; b.len()];
        self.solve_one(c, &mut b, &mut x, rule);
        columns.iter_mut().zip(x).for_each(|(lanes, x)| lanes[k] = x);
    }

    /// Solves each component; returns its info and the norm of its right-hand side.
    fn solve_components(
        &self,
        b: &mut [f64],
        x: &mut [f64],
        rule: &StoppingRule,
    ) -> Vec<(SolveInfo, f64)> {
        let mut parts = Vec::with_capacity(self.matrix.components());
        let (mut b_left, mut x_left) = (b, x);
        for c in 0..self.matrix.components() {
            let (b_part, b_rest) = b_left.split_at_mut(self.matrix.rows(c).len());
            let (x_part, x_rest) = x_left.split_at_mut(self.matrix.rows(c).len());
            (b_left, x_left) = (b_rest, x_rest);
            parts.push((b_part, x_part));
        }
        let solve = |(c, (b, x)): (usize, (&mut [f64], &mut [f64]))| self.solve_one(c, b, x, rule);
        // The scope moves a single component into the thread pool as well; otherwise each of its
        // parallel loops would enter the pool separately, at some microseconds each. Processes must
        // solve the components in the same order, because solves are collective.
        rayon::scope(|_| match self.matrix.communicator().is_single_process() {
            true => parts.into_par_iter().enumerate().map(solve).collect(),
            false => parts.into_iter().enumerate().map(solve).collect(),
        })
    }

    fn solve_one(
        &self,
        c: usize,
        b: &mut [f64],
        x: &mut [f64],
        rule: &StoppingRule,
    ) -> (SolveInfo, f64) {
        let largest = largest_magnitude(b);
        if largest == 0.0 {
            return (SolveInfo { converged: true, ..SolveInfo::default() }, 0.0);
        }
        // Scaling by a power of two is exact and avoids overflow and underflow of squares.
        let unit = power_of_two_below(largest);
        b.iter_mut().for_each(|v| *v /= unit);
        let mean = b.iter().sum::<f64>() / b.len() as f64;
        b.iter_mut().for_each(|v| *v -= mean);
        let size = norm(b);
        let mut info = SolveInfo { converged: true, ..SolveInfo::default() };
        if let Some(solver) = self.solvers.get(c)
            && size > 0.0
        {
            info = solver.solve(self.matrix.block(c), b, x, rule);
            centre(x);
        }
        let shift = self.matrix.block(c).shift();
        let offset = if shift > 0.0 { mean / shift } else { 0.0 };
        x.iter_mut().for_each(|v| *v = (*v + offset) * unit);
        (info, size * unit)
    }

    /// out = (L + shift·I)x, both in the order of the items.
    ///
    /// # Panics
    /// If the length of `x` is not the number of items.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        let items = self.matrix.items();
        assert_eq!(x.len(), items.len(), "one number for each item");
        if items.is_sorted() {
            return self.matrix.multiply(x, out);
        }
        let of_rows: Vec<f64> = items.iter().map(|&item| x[item as usize]).collect();
        let mut product = vec![0.0; x.len()];
        self.matrix.multiply(&of_rows, &mut product);
        for (&item, &value) in items.iter().zip(&product) {
            out[item as usize] = value;
        }
    }

    /// The matrix.
    #[must_use]
    pub fn matrix(&self) -> &LaplacianMatrix {
        &self.matrix
    }

    /// The backends of components of two or more items, the largest component first.
    pub fn backends(&self) -> impl ExactSizeIterator<Item = Backend> + '_ {
        self.solvers.iter().map(|solver| solver.backend())
    }

    /// Memory in use by matrix and factors, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.matrix.bytes() + self.solvers.iter().map(|solver| solver.bytes()).sum::<usize>()
    }
}

/// Combines the components: residual of the whole system relative to its whole right-hand side.
fn combine(solved: &[(SolveInfo, f64)]) -> SolveInfo {
    let largest = solved.iter().fold(0.0_f64, |largest, &(_, size)| largest.max(size));
    let part = |size: f64| if largest > 0.0 { size / largest } else { 0.0 };
    let squares = |f: fn(&SolveInfo) -> f64| -> f64 {
        solved.iter().map(|(info, size)| (f(info) * part(*size)).powi(2)).sum()
    };
    let whole = squares(|_| 1.0);
    SolveInfo {
        iterations: solved.iter().map(|(info, _)| info.iterations).max().unwrap_or(0),
        residual: if whole > 0.0 { (squares(|info| info.residual) / whole).sqrt() } else { 0.0 },
        converged: solved.iter().all(|(info, _)| info.converged),
        error_bound: None,
    }
}
