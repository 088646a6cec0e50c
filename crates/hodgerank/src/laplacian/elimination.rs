//! Dense elimination without subtractions, for weights of very different sizes.
//!
//! Cholesky factorisation subtracts from the diagonal, which loses a pair of weight 1 next to one of
//! weight 10¹⁶. Eliminating item k from a graph leaves a graph again: every two neighbours i, j get
//! the additional weight w_ik w_jk / d_k with d_k = Σ_j w_kj. If d_k is recomputed from the weights
//! instead of updated, everything is a sum of positive numbers, and each weight is accurate to a
//! few ε whatever the others are (Grassmann, Taksar and Heyman).
//!
//! A shift is a pair of that weight between each item and a ground of score zero. Without a shift the
//! grounded item is eliminated last, that is, not at all.
//!
//! Stored are s_jk = w_jk/√d_k, so that the update of the remaining weights is the same product of
//! matrices as in [`super::dense`], with the other sign. Cost: n³/6 multiply-adds to factor, n² to
//! solve, 8n² bytes.

use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Mat, MatMut};

use super::dense::{BLOCK_COLUMNS, MAX_ITEMS, add_products};
use super::{Backend, LaplacianBlock, LaplacianSolver, SolveInfo, StoppingRule, refine};
use crate::error::{Error, Result};

/// The eliminated graph of one component.
#[derive(Debug)]
pub(super) struct DenseElimination {
    /// s_jk below the diagonal.
    factor: Mat<f64>,
    /// √d_k; zero for the grounded item.
    roots: Vec<f64>,
    /// The row of the matrix that is eliminated in each step.
    order: Vec<usize>,
}

impl DenseElimination {
    pub(super) fn new(matrix: LaplacianBlock<'_>) -> Result<Self> {
        let n = matrix.len();
        if n > MAX_ITEMS {
            let (count, max) = (n as u64, MAX_ITEMS as u64);
            return Err(Error::TooLarge { what: "items for the dense backend", count, max });
        }
        let ground = matrix.ground();
        let others = (0..n).filter(|&i| ground != Some(i));
        let order: Vec<usize> = others.chain(ground).collect();
        let mut step = vec![0; n];
        order.iter().enumerate().for_each(|(k, &row)| step[row] = k);
        let mut factor = Mat::zeros(n, n);
        for (k, &row) in order.iter().enumerate() {
            for (&column, &w) in matrix.neighbours(row).iter().zip(matrix.weights(row)) {
                let j = step[column as usize];
                if j > k {
                    factor[(j, k)] = w;
                }
            }
        }
        let roots = eliminate(factor.as_mut(), matrix.shift());
        Ok(Self { factor, roots, order })
    }

    /// x ← A⁻¹x; the entry of the grounded item becomes zero.
    fn apply(&self, x: &mut [f64]) {
        let n = x.len();
        let mut y: Vec<f64> = self.order.iter().map(|&row| x[row]).collect();
        for k in 0..n {
            y[k] = self.over_root(y[k], k);
            let (done, rest) = y.split_at_mut(k + 1);
            let below = &self.factor.col_as_slice(k)[k + 1..];
            rest.iter_mut().zip(below).for_each(|(y, s)| *y += s * done[k]);
        }
        for k in (0..n).rev() {
            let below = self.factor.col_as_slice(k)[k + 1..].iter().zip(&y[k + 1..]);
            let pull: f64 = below.map(|(s, y)| s * y).sum();
            y[k] = self.over_root(y[k] + pull, k);
        }
        self.order.iter().zip(y).for_each(|(&row, y)| x[row] = y);
    }

    fn over_root(&self, value: f64, k: usize) -> f64 {
        if self.roots[k] > 0.0 { value / self.roots[k] } else { 0.0 }
    }
}

/// Replaces the weights below the diagonal by s; returns the roots of d.
fn eliminate(mut matrix: MatMut<'_, f64>, shift: f64) -> Vec<f64> {
    let n = matrix.nrows();
    // The weight of the pair of each remaining item with the ground.
    let mut to_ground = vec![shift; n];
    let mut roots = Vec::with_capacity(n);
    for start in (0..n).step_by(BLOCK_COLUMNS) {
        let width = BLOCK_COLUMNS.min(n - start);
        let rest = matrix.rb_mut().submatrix_mut(start, start, n - start, n - start);
        let (mut left, right) = rest.split_at_col_mut(width);
        for k in 0..width {
            let mut column: Vec<f64> = (k + 1..n - start).map(|j| left[(j, k)]).collect();
            let d = to_ground[start + k] + column.iter().sum::<f64>();
            let root = d.sqrt();
            roots.push(root);
            if root > 0.0 {
                column.iter_mut().for_each(|w| *w /= root);
            }
            for (j, s) in (k + 1..).zip(&column) {
                left[(j, k)] = *s;
            }
            let pull = if root > 0.0 { to_ground[start + k] / root } else { 0.0 };
            for (ground, s) in to_ground[start + k + 1..].iter_mut().zip(&column) {
                *ground += s * pull;
            }
            for other in k + 1..width {
                let s_other = column[other - k - 1];
                if s_other > 0.0 {
                    for (j, s) in (other + 1..).zip(&column[other - k..]) {
                        left[(j, other)] += s * s_other;
                    }
                }
            }
        }
        add_products(right.split_at_row_mut(width).1, left.rb().split_at_row(width).1, 1.0);
    }
    roots
}

impl LaplacianSolver for DenseElimination {
    fn backend(&self) -> Backend {
        Backend::Dense
    }

    fn solve(
        &self,
        matrix: LaplacianBlock<'_>,
        rhs: &[f64],
        out: &mut [f64],
        rule: &StoppingRule,
    ) -> SolveInfo {
        refine::solve(matrix, rhs, out, rule, |x| self.apply(x))
    }

    fn bytes(&self) -> usize {
        8 * self.factor.nrows() * self.factor.ncols() + 16 * self.order.len()
    }
}
