//! Dense Cholesky: n³/3 multiply-adds to factor, n² to solve, 8n² bytes.
//!
//! The grounded item keeps a row of its own with nothing but its diagonal entry, which fixes its
//! score at zero without renumbering the others.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{Mat, MatMut, Par};

use super::{Backend, LaplacianBlock, LaplacianSolver, SolveInfo, StoppingRule, refine};
use crate::error::{Error, Result};

/// 8 GiB. More is a mistake and not a plan, and the system would end the program, not refuse.
const MOST_ITEMS: usize = 1 << 15;

/// The lower triangle of the factor.
#[derive(Debug)]
pub(super) struct Dense {
    factor: Mat<f64>,
}

impl Dense {
    pub(super) fn new(matrix: LaplacianBlock<'_>) -> Result<Self> {
        let n = matrix.len();
        if n > MOST_ITEMS {
            let (count, max) = (n as u64, MOST_ITEMS as u64);
            return Err(Error::TooLarge { what: "items for the dense backend", count, max });
        }
        let ground = matrix.ground();
        let mut factor = Mat::zeros(n, n);
        for j in 0..n {
            factor[(j, j)] = matrix.diagonal(j);
            for (&i, &w) in matrix.neighbours(j).iter().zip(matrix.weights(j)) {
                let i = i as usize;
                if i > j && ground != Some(i) && ground != Some(j) {
                    factor[(i, j)] = -w;
                }
            }
        }
        let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, <_>::default());
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        let (regularisation, params) = (<_>::default(), <_>::default());
        llt::factor::cholesky_in_place(factor.as_mut(), regularisation, Par::Seq, stack, params)
            .map_err(|e| Error::Factorisation {
                backend: Backend::Dense.as_str(),
                items: n,
                reason: e.to_string(),
            })?;
        Ok(Self { factor })
    }
}

impl LaplacianSolver for Dense {
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
        refine::solve(matrix, rhs, out, rule, |x| {
            let column = MatMut::from_column_major_slice_mut(x, rhs.len(), 1);
            let mut memory =
                MemBuffer::new(llt::solve::solve_in_place_scratch::<f64>(rhs.len(), 1, Par::Seq));
            let stack = MemStack::new(&mut memory);
            llt::solve::solve_in_place(self.factor.as_ref(), column, Par::Seq, stack);
        })
    }

    fn bytes(&self) -> usize {
        8 * self.factor.nrows() * self.factor.ncols()
    }
}
