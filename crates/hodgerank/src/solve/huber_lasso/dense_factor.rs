//! Dense Cholesky factor of Newton's matrix, for few items: L_I + μD = UᵀU.
//!
//! Rows of U are computed from the first to the last, and each is subtracted from those below it at once
//! (right-looking): the inner loops run over contiguous numbers and do not add up one sum.
//!
//! Cost: n³/6 multiply-adds, 8n² bytes.
//!
//! Failure mode: the constant vectors of the components are almost in the null space, and the damping keeps
//! their pivots positive. Pivots that are lost to rounding are replaced by a multiple of the machine
//! precision.

use super::pass::Pass;
use crate::numeric::dot;

#[derive(Debug)]
pub(super) struct DenseFactor {
    /// U without its diagonal, row by row; the lower triangle is not used.
    rows: Vec<f64>,
    /// The diagonal of the matrix before it is factorised, the reciprocals of that of U after it.
    diagonal: Vec<f64>,
}

impl DenseFactor {
    pub(super) fn new(n: usize) -> Self {
        Self { rows: vec![0.0; n * n], diagonal: vec![0.0; n] }
    }

    /// Factorises L_I + μD for the inliers of all processes, whose matrix `pass` keeps.
    pub(super) fn refactor(&mut self, pass: &Pass<'_>, degrees: &[f64], damping: f64) {
        let n = degrees.len();
        let Self { rows, diagonal } = self;
        pass.inlier_matrix(rows, diagonal);
        for (k, (diagonal, &degree)) in diagonal.iter_mut().zip(degrees).enumerate() {
            *diagonal += if degree > 0.0 { damping * degree } else { 1.0 };
            rows[k * n + k] = *diagonal;
        }
        self.factorise();
    }

    fn factorise(&mut self) {
        let n = self.diagonal.len();
        for k in 0..n {
            let (done, below) = self.rows.split_at_mut((k + 1) * n);
            let row = &mut done[k * n + k..];
            let min_pivot = self.diagonal[k] * f64::EPSILON * n as f64;
            let inverse = 1.0 / row[0].max(min_pivot).sqrt();
            self.diagonal[k] = inverse;
            row.iter_mut().for_each(|u| *u *= inverse);
            for (i, below) in below.chunks_exact_mut(n).enumerate() {
                let (factor, row) = (row[i + 1], &row[i + 1..]);
                let below = &mut below[k + 1 + i..];
                below.iter_mut().zip(row).for_each(|(below, u)| *below -= factor * u);
            }
        }
    }

    /// Solves UᵀUx = b, in place.
    pub(super) fn solve(&self, x: &mut [f64]) {
        let n = x.len();
        let after = |k: usize| &self.rows[k * n + k + 1..(k + 1) * n];
        for k in 0..n {
            let (now, rest) = x[k..].split_at_mut(1);
            now[0] *= self.diagonal[k];
            rest.iter_mut().zip(after(k)).for_each(|(x, u)| *x -= now[0] * u);
        }
        for k in (0..n).rev() {
            let (now, rest) = x[k..].split_at_mut(1);
            now[0] = (now[0] - dot(after(k), rest)) * self.diagonal[k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, ComparisonGraph, Groups};

    #[test]
    fn solutions_have_small_residuals() {
        // A chain with two triangles, and an item without votes.
        let edges = [(0, 1, 3), (1, 2, 1), (0, 2, 2), (2, 3, 5), (3, 4, 1), (4, 5, 7), (3, 5, 2)];
        let votes = edges.map(|(i, j, count)| Comparison::new(i, j, 1.0).with_count(count));
        let groups = Groups::merge(7, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(7, groups).unwrap();
        let (mut pass, mut ignored) = (Pass::new(&graph), vec![0.0; 7]);
        pass.keep_matrix();
        pass.negative_gradient(&[0.0; 7], 2.0, &mut ignored);
        let mut degrees = vec![0.0; 7];
        pass.inlier_degrees(&mut degrees);
        let mut factor = DenseFactor::new(7);
        for damping in [1.0, 1e-6, 1e-11] {
            let b = [1.0, -2.0, 3.0, -4.0, 0.5, 1.5, 0.0];
            let mut x = b;
            factor.refactor(&pass, &degrees, damping);
            factor.solve(&mut x);
            let mut product = vec![0.0; 7];
            pass.inlier_laplacian(&x, &mut product);
            for i in 0..7 {
                let residual = b[i] - product[i] - damping * degrees[i] * x[i];
                // b has the sum 0: the direction that damping alone determines is not in it.
                assert!(residual.abs() < 1e-9, "{damping}: {residual}");
            }
            assert_eq!(x[6], 0.0);
        }
    }
}
