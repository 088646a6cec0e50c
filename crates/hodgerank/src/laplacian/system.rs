//! The system of a whole graph: one independent system for each component.

use rayon::prelude::*;

use super::centre;
use super::choose;
use super::{Backend, BackendChoice, LaplacianMatrix, LaplacianSolver, SolveInfo, StoppingRule};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::numeric::{largest_magnitude, norm, power_of_two_below};

/// (L + shift·I) of a comparison graph, ready to be solved for any right-hand side.
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
    /// For each component of two items or more; they come first, being the largest.
    solvers: Vec<Box<dyn LaplacianSolver>>,
    choice: BackendChoice,
}

impl LaplacianSystem {
    /// Builds the matrix and sets up a backend for each component.
    ///
    /// # Errors
    /// If `shift` is negative or not finite, a component is too large for the backend asked for,
    /// or a factorisation breaks down. With [`BackendChoice::Auto`] only the first can happen.
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

    /// The system of the same graph with other votes on its pairs, by the same backends.
    ///
    /// A pair may have none, as long as the others hold each component together. Cheaper than a new
    /// system, for nothing has to be chosen; but backends suit the pairs of the graph, so that most
    /// of them should still have votes.
    ///
    /// # Errors
    /// If a factorisation breaks down; with [`BackendChoice::Auto`] that cannot happen.
    ///
    /// # Panics
    /// If `graph` is not the graph of this system, or has not one weight for each pair.
    pub(crate) fn reweighted(&self, graph: &ComparisonGraph, pair_weights: &[f64]) -> Result<Self> {
        assert_eq!(graph.items(), self.matrix.items().len(), "the same graph");
        assert_eq!(pair_weights.len(), graph.pairs().len(), "one weight for each pair");
        let matrix = LaplacianMatrix::with_weights(graph, pair_weights, self.matrix.shift());
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

    /// The scores that solve the system, and how well they do.
    ///
    /// Without a shift the scores have mean zero on each component and solve the system in the
    /// sense of least squares: what is constant in `rhs` on a component is out of reach. An item
    /// of a component with a zero right-hand side gets exactly zero, at no cost.
    ///
    /// # Errors
    /// If `rhs` is not finite: the outcomes were too large to be added up.
    ///
    /// # Panics
    /// If `rhs` has not one number for each item.
    pub fn solve(&self, rhs: &[f64], rule: &StoppingRule) -> Result<(Vec<f64>, SolveInfo)> {
        let items = self.matrix.items();
        assert_eq!(rhs.len(), items.len(), "one number for each item");
        if let Some(item) = rhs.iter().position(|b| !b.is_finite()) {
            return Err(Error::Overflow { item: item as u32, value: rhs[item] });
        }
        let mut b: Vec<f64> = items.iter().map(|&item| rhs[item as usize]).collect();
        let mut x = vec![0.0; items.len()];
        let solved = self.solve_components(&mut b, &mut x, rule);
        let mut scores = vec![0.0; items.len()];
        for (&item, &x) in items.iter().zip(&x) {
            scores[item as usize] = x;
        }
        Ok((scores, together(&solved)))
    }

    /// Solves each component; returns how it went and the norm of its right-hand side.
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
        // The scope takes a single component into the thread pool too: parallel loops inside it
        // would else enter the pool one by one, at some microseconds each. A team must solve the
        // components in the same order everywhere.
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
        // A power of two changes no digit and keeps squares away from overflow and underflow.
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
    /// If there is not one number for each item.
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

    /// The backend of each component of two items or more, the largest component first.
    pub fn backends(&self) -> impl ExactSizeIterator<Item = Backend> + '_ {
        self.solvers.iter().map(|solver| solver.backend())
    }

    /// Memory held: matrix and factors.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.matrix.bytes() + self.solvers.iter().map(|solver| solver.bytes()).sum::<usize>()
    }
}

/// The residual of the whole system relative to its whole right-hand side.
fn together(solved: &[(SolveInfo, f64)]) -> SolveInfo {
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
    }
}
