//! Sparse Cholesky with an approximate minimum degree ordering.
//!
//! The symbolic analysis is separate from the numeric factorisation, whose cost it predicts. One
//! thread: at the sizes where this backend is the fastest, a second one makes it slower.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{
    LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{FaerError, SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

use super::{Backend, LaplacianBlock, LaplacianSolver, SolveInfo, StoppingRule, refine};
use crate::error::{Error, Result};

/// The pattern of the factor and the elimination order.
#[derive(Debug)]
pub(super) struct SymbolicAnalysis {
    upper: UpperTriangle,
    symbolic: SymbolicCholesky<u32>,
}

/// The pattern by columns, rows up to the diagonal; the grounded item has its diagonal entry only.
#[derive(Debug)]
struct UpperTriangle {
    offsets: Vec<u32>,
    rows: Vec<u32>,
}

/// Predicted cost of a factorisation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fill {
    /// Stored entries of the factor.
    pub(super) entries: f64,
    /// Multiply-adds.
    pub(super) flops: f64,
    /// Whether columns are processed in blocks (supernodes), which makes a flop much cheaper.
    pub(super) blocked: bool,
}

impl SymbolicAnalysis {
    pub(super) fn new(matrix: LaplacianBlock<'_>) -> Result<Self> {
        let n = matrix.len();
        let upper = UpperTriangle::of(matrix)?;
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &upper.offsets, None, &upper.rows);
        let (order, params) = (SymmetricOrdering::Amd, <_>::default());
        let symbolic = factorize_symbolic_cholesky(pattern, Side::Upper, order, params)
            .map_err(|e| failure(n, &e))?;
        Ok(Self { upper, symbolic })
    }

    /// Computes the cost from the number of rows below each column or supernode.
    pub(super) fn fill(&self) -> Fill {
        let entries = self.symbolic.len_val() as f64;
        match self.symbolic.raw() {
            SymbolicCholeskyRaw::Simplicial(columns) => {
                let heights = columns.col_ptr().windows(2).map(|at| f64::from(at[1] - at[0]));
                Fill { entries, flops: heights.map(|h| h * h / 2.0).sum(), blocked: false }
            }
            SymbolicCholeskyRaw::Supernodal(blocks) => {
                let widths = blocks.supernode_begin().iter().zip(blocks.supernode_end());
                let below = blocks.col_ptr_for_row_idx().windows(2);
                let flops = widths.zip(below).map(|((begin, end), at)| {
                    let (width, below) = (f64::from(end - begin), f64::from(at[1] - at[0]));
                    // ½∫ (below + s)² ds for s from 0 to width
                    ((below + width).powi(3) - below.powi(3)) / 6.0
                });
                Fill { entries, flops: flops.sum(), blocked: true }
            }
        }
    }
}

impl UpperTriangle {
    fn of(matrix: LaplacianBlock<'_>) -> Result<Self> {
        let n = matrix.len();
        let total = (matrix.entries() / 2 + n) as u64;
        let max = i32::MAX as u64;
        if total > max {
            return Err(Error::TooLarge {
                what: "pairs for the sparse backend",
                count: total,
                max,
            });
        }
        let mut offsets = Vec::with_capacity(n + 1);
        let mut rows = Vec::with_capacity(total as usize);
        offsets.push(0);
        let ground = matrix.ground();
        for j in 0..n {
            rows.extend(above(matrix, ground, j).map(|(i, _)| i));
            rows.push(j as u32);
            offsets.push(rows.len() as u32);
        }
        Ok(Self { offsets, rows })
    }

    fn values(&self, matrix: LaplacianBlock<'_>) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.rows.len());
        let ground = matrix.ground();
        for j in 0..matrix.len() {
            values.extend(above(matrix, ground, j).map(|(_, w)| -w));
            values.push(matrix.diagonal(j));
        }
        values
    }
}

/// Rows above the diagonal in column `j` with their weights, without the grounded item.
fn above(
    matrix: LaplacianBlock<'_>,
    ground: Option<usize>,
    j: usize,
) -> impl Iterator<Item = (u32, f64)> {
    let entries = matrix.neighbours(j).iter().copied().zip(matrix.weights(j).iter().copied());
    entries
        .take_while(move |&(i, _)| (i as usize) < j)
        .filter(move |&(i, _)| ground != Some(i as usize) && ground != Some(j))
}

fn failure(items: usize, reason: &dyn std::error::Error) -> Error {
    Error::Factorisation { backend: Backend::Sparse.as_str(), items, reason: reason.to_string() }
}

/// The factor of one component.
#[derive(Debug)]
pub(super) struct SparseCholesky {
    analysis: SymbolicAnalysis,
    values: Vec<f64>,
}

impl SparseCholesky {
    pub(super) fn new(matrix: LaplacianBlock<'_>, analysis: SymbolicAnalysis) -> Result<Self> {
        let n = matrix.len();
        let SymbolicAnalysis { upper, symbolic } = &analysis;
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &upper.offsets, None, &upper.rows);
        let numbers = upper.values(matrix);
        let entries = SparseColMatRef::new(pattern, &numbers);
        let mut values = Vec::new();
        values.try_reserve_exact(symbolic.len_val()).map_err(|e| failure(n, &e))?;
        values.resize(symbolic.len_val(), 0.0);
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, <_>::default());
        let mut memory =
            MemBuffer::try_new(scratch).map_err(|_| failure(n, &FaerError::OutOfMemory))?;
        let stack = MemStack::new(&mut memory);
        let (regularisation, params) = (<_>::default(), <_>::default());
        symbolic
            .factorize_numeric_llt(
                &mut values,
                entries,
                Side::Upper,
                regularisation,
                Par::Seq,
                stack,
                params,
            )
            .map_err(|e| failure(n, &e))?;
        Ok(Self { analysis, values })
    }
}

impl LaplacianSolver for SparseCholesky {
    fn backend(&self) -> Backend {
        Backend::Sparse
    }

    fn solve(
        &self,
        matrix: LaplacianBlock<'_>,
        rhs: &[f64],
        out: &mut [f64],
        rule: &StoppingRule,
    ) -> SolveInfo {
        let symbolic = &self.analysis.symbolic;
        let factor = LltRef::new(symbolic, &self.values);
        refine::solve(matrix, rhs, out, rule, |x| {
            let column = MatMut::from_column_major_slice_mut(x, rhs.len(), 1);
            let mut memory = MemBuffer::new(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
            factor.solve_in_place_with_conj(Conj::No, column, Par::Seq, MemStack::new(&mut memory));
        })
    }

    fn bytes(&self) -> usize {
        let SymbolicAnalysis { upper, symbolic } = &self.analysis;
        let indices = match symbolic.raw() {
            SymbolicCholeskyRaw::Simplicial(columns) => columns.row_idx().len(),
            SymbolicCholeskyRaw::Supernodal(blocks) => blocks.row_idx().len(),
        };
        // The permutation and its inverse take two more indices per item.
        8 * self.values.len() + 4 * (indices + upper.rows.len() + 3 * upper.offsets.len())
    }
}
