//! The inverse of the inlier Laplacian, kept up to date as groups come and go.
//!
//! P = L_I†. With x the row of X of a group (+1 and −1), z = Px and ℓ = xᵀPx, a change of weight by
//! ±w is
//!
//!   P ← P + c zzᵀ,   c = ∓w / (1 ± wℓ).
//!
//! wℓ ≤ 1 is the group's leverage; 1 says that it alone holds two parts together.
//! 8n² bytes; n² multiply-adds a change, n³ a factorisation.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::pseudo_inverse;
use crate::numeric::dot;

/// 0.5 GB.
const MAX_ITEMS: usize = 8192;
/// A group with less than this left to full leverage cannot be taken away.
const BRIDGE: f64 = 1e-8;
/// A change that loses this many digits calls for a new factorisation.
const ILL: f64 = 1e-4;
/// Rows from which on a change is shared between threads.
const PARALLEL_ROWS: usize = 512;

#[derive(Debug)]
pub(super) struct Inverse {
    n: usize,
    rows: Vec<f64>,
    z: Vec<f64>,
    /// Whether a change since the last factorisation lost digits.
    pub(super) ill: bool,
}

/// What a change does to Ps, for any s: Ps + c z(xᵀPs), and P'x = z(1 + cℓ).
#[derive(Debug, Clone, Copy)]
pub(super) struct Update {
    pub(super) c: f64,
    pub(super) leverage: f64,
}

impl Inverse {
    /// The inverse for the groups that `trusted` says are inliers.
    pub(super) fn new(graph: &ComparisonGraph, trusted: impl Fn(usize) -> bool) -> Result<Self> {
        let (n, groups) = (graph.items(), graph.groups());
        if n > MAX_ITEMS {
            let (count, max) = (n as u64, MAX_ITEMS as u64);
            return Err(Error::TooLarge { what: "items for exact knots", count, max });
        }
        let trusted_votes = |of_pair: &[u32]| -> f64 {
            let of_pair = of_pair[0] as usize..of_pair[1] as usize;
            of_pair.filter(|&g| trusted(g)).map(|g| groups.weight[g]).sum()
        };
        let pairs = graph.pairs();
        let weights: Vec<f64> = pairs.first_group.windows(2).map(trusted_votes).collect();
        let rows = pseudo_inverse(pairs, &weights, graph.components())?;
        Ok(Self { n, rows, z: vec![0.0; n], ill: false })
    }

    /// Adds the weight `w` (takes it away where negative) between items i and j. None, and nothing
    /// changes, if what would be taken away is all that joins two parts.
    pub(super) fn change(&mut self, i: usize, j: usize, w: f64) -> Option<Update> {
        let n = self.n;
        let ends = self.rows[i * n..(i + 1) * n].iter().zip(&self.rows[j * n..(j + 1) * n]);
        for (z, (a, b)) in self.z.iter_mut().zip(ends) {
            *z = a - b;
        }
        let leverage = self.z[i] - self.z[j];
        let left = 1.0 + w * leverage;
        if left < BRIDGE {
            return None;
        }
        self.ill |= left < ILL;
        let c = -w / left;
        let z = &self.z;
        let update = |(row, k): (&mut [f64], &f64)| {
            let factor = c * k;
            for (p, z) in row.iter_mut().zip(z) {
                *p += factor * z;
            }
        };
        if n >= PARALLEL_ROWS {
            self.rows.par_chunks_mut(n).zip(z).for_each(update);
        } else {
            self.rows.chunks_mut(n.max(1)).zip(z).for_each(update);
        }
        Some(Update { c, leverage })
    }

    /// z of the last change.
    pub(super) fn z(&self) -> &[f64] {
        &self.z
    }

    /// out = P b.
    pub(super) fn times(&self, b: &[f64], out: &mut [f64]) {
        for (out, row) in out.iter_mut().zip(self.rows.chunks(self.n.max(1))) {
            *out = dot(row, b);
        }
    }
}
