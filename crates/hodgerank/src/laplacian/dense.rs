//! Dense Cholesky: n³/6 multiply-adds to factor, n² to solve, 8n² bytes.
//!
//! Right-looking block factorisation: the diagonal block, the panel below it, and the update of the
//! columns to the right. Panel and update are split into tiles that do not depend on the number of
//! threads, so that the bits do not either.
//!
//! The row of the grounded item has only its diagonal entry, which fixes its score at zero without
//! renumbering the others.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::{self, factor::LltError};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::{Backend, LaplacianBlock, LaplacianSolver, SolveInfo, StoppingRule, refine};
use crate::error::{Error, Result};

/// 8 GiB. Larger allocations might be granted and then end in an out-of-memory kill.
pub(super) const MAX_ITEMS: usize = 1 << 15;

/// Columns per block.
pub(crate) const BLOCK_COLUMNS: usize = 128;

/// The Cholesky factor of one component, in the lower triangle.
#[derive(Debug)]
pub(super) struct DenseCholesky {
    factor: Mat<f64>,
}

impl DenseCholesky {
    pub(super) fn new(matrix: LaplacianBlock<'_>) -> Result<Self> {
        let n = matrix.len();
        if n > MAX_ITEMS {
            let (count, max) = (n as u64, MAX_ITEMS as u64);
            return Err(Error::TooLarge { what: "items for the dense backend", count, max });
        }
        let ground = matrix.ground();
        let mut factor = Mat::zeros(n, n);
        let blocks = columns_of(factor.as_mut()).into_par_iter().enumerate();
        blocks.for_each(|(block, mut columns)| {
            for k in 0..columns.ncols() {
                let j = block * BLOCK_COLUMNS + k;
                columns[(j, k)] = matrix.diagonal(j);
                for (&i, &w) in matrix.neighbours(j).iter().zip(matrix.weights(j)) {
                    let i = i as usize;
                    if i > j && ground != Some(i) && ground != Some(j) {
                        columns[(i, k)] = -w;
                    }
                }
            }
        });
        factorise(factor.as_mut()).map_err(|e| Error::Factorisation {
            backend: Backend::Dense.as_str(),
            items: n,
            reason: e.to_string(),
        })?;
        Ok(Self { factor })
    }
}

/// A = LLᵀ in place, in the lower triangle.
pub(crate) fn factorise(mut matrix: MatMut<'_, f64>) -> std::result::Result<(), LltError> {
    let (n, width) = (matrix.nrows(), BLOCK_COLUMNS.min(matrix.nrows()));
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(width, Par::Seq, <_>::default());
    let mut memory = MemBuffer::new(scratch);
    for start in (0..n).step_by(BLOCK_COLUMNS) {
        let width = BLOCK_COLUMNS.min(n - start);
        let rest = matrix.rb_mut().submatrix_mut(start, start, n - start, n - start);
        let (left, right) = rest.split_at_col_mut(width);
        let (mut diagonal, mut below) = left.split_at_row_mut(width);
        let (regularisation, params) = (<_>::default(), <_>::default());
        let stack = MemStack::new(&mut memory);
        llt::factor::cholesky_in_place(diagonal.rb_mut(), regularisation, Par::Seq, stack, params)?;
        let diagonal = diagonal.rb();
        rows_of(below.rb_mut()).into_par_iter().for_each(|rows| {
            solve_lower_triangular_in_place(diagonal, rows.transpose_mut(), Par::Seq);
        });
        add_products(right.split_at_row_mut(width).1, below.rb(), -1.0);
    }
    Ok(())
}

/// Adds sign·BBᵀ to the lower triangle, B the panel `below` the block that was factored.
pub(crate) fn add_products(matrix: MatMut<'_, f64>, below: MatRef<'_, f64>, sign: f64) {
    columns_of(matrix).into_par_iter().enumerate().for_each(|(k, column)| {
        let first = k * BLOCK_COLUMNS;
        let (_, column) = column.split_at_row_mut(first);
        let lower = below.subrows(first, below.nrows() - first);
        let upper = below.subrows(first, column.ncols()).transpose();
        matmul(column, Accum::Add, lower, upper, sign, Par::Seq);
    });
}

fn rows_of(mut matrix: MatMut<'_, f64>) -> Vec<MatMut<'_, f64>> {
    let mut tiles = Vec::new();
    while matrix.nrows() > BLOCK_COLUMNS {
        let (tile, rest) = matrix.split_at_row_mut(BLOCK_COLUMNS);
        tiles.push(tile);
        matrix = rest;
    }
    tiles.push(matrix);
    tiles
}

pub(crate) fn columns_of(matrix: MatMut<'_, f64>) -> Vec<MatMut<'_, f64>> {
    rows_of(matrix.transpose_mut()).into_iter().map(MatMut::transpose_mut).collect()
}

impl LaplacianSolver for DenseCholesky {
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
