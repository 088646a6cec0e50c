//! The pseudo-inverse of the inlier Laplacian, updated as groups enter and leave.
//!
//! P = L_I†. With x the row of X of a group, z = Px and ℓ = xᵀPx, changing its weight by ±w gives
//! (Sherman–Morrison)
//!
//!   P ← P + c zzᵀ,   c = ∓w / (1 ± wℓ).
//!
//! wℓ ≤ 1 is the leverage of the group; it is 1 for a bridge, which alone connects two parts.
//!
//! Cost: 8n² bytes; n² multiply-adds per update, n³ per factorisation.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::pseudo_inverse;
use crate::numeric::dot;

/// At this size the matrix takes 0.5 GB.
const MAX_ITEMS: usize = 8192;
/// A group with 1 − wℓ below this is a bridge and cannot be removed.
const MIN_REMOVABLE_PIVOT: f64 = 1e-8;
/// An update with 1 ± wℓ below this loses digits and requires a new factorisation.
const MIN_STABLE_PIVOT: f64 = 1e-4;
/// Number of rows from which an update uses several threads.
const MIN_PARALLEL_ROWS: usize = 512;

/// P = L_I†.
#[derive(Debug)]
pub(super) struct InlierInverse {
    n: usize,
    rows: Vec<f64>,
    z: Vec<f64>,
    /// Whether an update since the last factorisation lost digits.
    pub(super) ill_conditioned: bool,
}

/// An update P' of P, which gives P's = Ps + c z(xᵀPs) for any s, and P'x = z(1 + cℓ).
#[derive(Debug, Clone, Copy)]
pub(super) struct RankOneUpdate {
    pub(super) c: f64,
    pub(super) leverage: f64,
}

impl InlierInverse {
    /// Computes P for the groups for which `is_inlier` holds.
    pub(super) fn new(graph: &ComparisonGraph, is_inlier: impl Fn(usize) -> bool) -> Result<Self> {
        let (n, groups) = (graph.items(), graph.groups());
        if n > MAX_ITEMS {
            let (count, max) = (n as u64, MAX_ITEMS as u64);
            return Err(Error::TooLarge { what: "items for exact knots", count, max });
        }
        let inlier_votes = |bounds: &[u32]| -> f64 {
            let pair_groups = bounds[0] as usize..bounds[1] as usize;
            pair_groups.filter(|&g| is_inlier(g)).map(|g| groups.weight[g]).sum()
        };
        let pairs = graph.pairs();
        let weights: Vec<f64> = pairs.first_group.windows(2).map(inlier_votes).collect();
        let rows = pseudo_inverse(pairs, &weights, graph.components())?;
        Ok(Self { n, rows, z: vec![0.0; n], ill_conditioned: false })
    }

    /// Adds the weight `w`, which may be negative, between items i and j. Returns `None` and changes
    /// nothing if that would remove a bridge.
    pub(super) fn add_weight(&mut self, i: usize, j: usize, w: f64) -> Option<RankOneUpdate> {
        let n = self.n;
        let ends = self.rows[i * n..(i + 1) * n].iter().zip(&self.rows[j * n..(j + 1) * n]);
        for (z, (a, b)) in self.z.iter_mut().zip(ends) {
            *z = a - b;
        }
        let leverage = self.z[i] - self.z[j];
        let pivot = 1.0 + w * leverage;
        if pivot < MIN_REMOVABLE_PIVOT {
            return None;
        }
        self.ill_conditioned |= pivot < MIN_STABLE_PIVOT;
        let c = -w / pivot;
        let z = &self.z;
        let update = |(row, k): (&mut [f64], &f64)| {
            let factor = c * k;
            for (p, z) in row.iter_mut().zip(z) {
                *p += factor * z;
            }
        };
        if n >= MIN_PARALLEL_ROWS {
            self.rows.par_chunks_mut(n).zip(z).for_each(update);
        } else {
            self.rows.chunks_mut(n.max(1)).zip(z).for_each(update);
        }
        Some(RankOneUpdate { c, leverage })
    }

    /// z of the last update.
    pub(super) fn z(&self) -> &[f64] {
        &self.z
    }

    /// out = P b.
    pub(super) fn multiply(&self, b: &[f64], out: &mut [f64]) {
        for (out, row) in out.iter_mut().zip(self.rows.chunks(self.n.max(1))) {
            *out = dot(row, b);
        }
    }
}
