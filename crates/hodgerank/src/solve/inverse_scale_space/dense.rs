//! M = L_c† as a dense matrix, with changes that are collected before they are added to it.
//!
//! Subtracting w x xᵀ from L adds c v vᵀ to M, with v = Mx and c = w / (1 − w xᵀv)
//! (Sherman–Morrison). Adding this to the matrix at once would read and write all of it for each
//! change. Instead M = B + Σ ± u uᵀ with u = √|c| v: a change reads two columns of B and the vectors u,
//! and after [`MAX_PENDING`] changes one matrix product on all threads adds them to B.
//!
//! Rounding errors accumulate, fastest if a pivot 1 − w xᵀv is small. M is recomputed for pivots below
//! [`MIN_PIVOT`], and when fits turn out to be inaccurate.
//!
//! Cost of a change: n²/2 multiply-adds in matrix products and on average n `MAX_PENDING`/2 others; n³
//! to recompute M. Memory: 8n² bytes, three times that while M is computed.

use faer::{MatMut, MatRef};

use super::inlier_system::InlierSystem;
use crate::graph::ComparisonGraph;
use crate::laplacian::{add_products, pseudo_inverse};

/// Number of changes that are collected.
const MAX_PENDING: usize = 48;
/// Below this number of items changes are added to the matrix at once.
const MIN_ITEMS_TO_COLLECT: usize = 128;
/// A change with a pivot below this would lose half of the digits.
const MIN_PIVOT: f64 = 1e-6;
/// An inaccurate M is recomputed if it has had n divided by this many changes, which pay for it.
const ITEMS_PER_CHANGE: usize = 8;
/// Up to n divided by this many nonzeros of b, M b is added up column by column.
const ITEMS_PER_NONZERO: usize = 16;

/// M = B + Σ ± u uᵀ.
pub(super) struct DenseInverse<'a> {
    graph: &'a ComparisonGraph,
    n: usize,
    /// B, column by column; only the lower triangle is used.
    base: Vec<f64>,
    /// The vectors u of added and of subtracted products, one after the other.
    added: Vec<f64>,
    subtracted: Vec<f64>,
    /// v of the last change.
    v: Vec<f64>,
    /// The pair of the last change and 1/pivot: now Mx = v/pivot. None if M was recomputed since.
    last: Option<(usize, usize, f64)>,
    /// The nonzeros of a right-hand side.
    nonzeros: Vec<(usize, f64)>,
    /// Changes since M was computed.
    changes: usize,
    error_growth: f64,
    needs_recompute: bool,
}

impl<'a> DenseInverse<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph) -> Self {
        let n = graph.items();
        let mut new = Self {
            graph,
            n,
            base: vec![0.0; n * n],
            added: Vec::new(),
            subtracted: Vec::new(),
            v: vec![0.0; n],
            last: None,
            nonzeros: Vec::new(),
            changes: 0,
            error_growth: 1.0,
            needs_recompute: true,
        };
        new.recompute(&graph.pairs().weight);
        new.error_growth = 1.0;
        new
    }

    fn recompute(&mut self, weights: &[f64]) {
        self.fold();
        // This fails only if rounding makes L indefinite. Then the old M is still the best one
        // available, and each fit is refined with its residual anyway.
        let (pairs, components) = (self.graph.pairs(), self.graph.components());
        if let Ok(m) = pseudo_inverse(pairs, weights, components) {
            self.base = m;
        }
        self.last = None;
        self.changes = 0;
        // Whatever required this may have lost digits in the fit as well.
        self.error_growth = f64::INFINITY;
        self.needs_recompute = false;
    }

    /// Adds the collected changes to B.
    fn fold(&mut self) {
        let n = self.n;
        for (vectors, sign) in [(&mut self.added, 1.0), (&mut self.subtracted, -1.0)] {
            if vectors.is_empty() {
                continue;
            }
            if n < MIN_ITEMS_TO_COLLECT {
                for u in vectors.chunks_exact(n) {
                    for (j, column) in self.base.chunks_exact_mut(n).enumerate() {
                        let scale = sign * u[j];
                        column[j..].iter_mut().zip(&u[j..]).for_each(|(m, u)| *m += scale * u);
                    }
                }
            } else {
                let columns = MatRef::from_column_major_slice(vectors, n, vectors.len() / n);
                let base = MatMut::from_column_major_slice_mut(&mut self.base, n, n);
                add_products(base, columns, sign);
            }
            vectors.clear();
        }
    }

    /// out = M b, for b with these nonzeros.
    fn multiply(&self, b: &[(usize, f64)], out: &mut [f64]) {
        let n = self.n;
        out.fill(0.0);
        if b.len() * ITEMS_PER_NONZERO <= n.max(2 * ITEMS_PER_NONZERO) {
            for &(i, b) in b {
                // The part of the column above the diagonal is a row of the lower triangle.
                let (above, below) = out.split_at_mut(i);
                let row = self.base.iter().skip(i).step_by(n);
                above.iter_mut().zip(row).for_each(|(out, m)| *out += b * m);
                let column = &self.base[i * n + i..(i + 1) * n];
                below.iter_mut().zip(column).for_each(|(out, m)| *out += b * m);
            }
        } else {
            let mut dense = vec![0.0; n];
            b.iter().for_each(|&(i, b)| dense[i] = b);
            for (j, column) in self.base.chunks_exact(n).enumerate() {
                let (b_j, mut sum) = (dense[j], column[j] * dense[j]);
                let rest = column[j + 1..].iter().zip(&dense[j + 1..]);
                for ((m, b), out) in rest.zip(&mut out[j + 1..]) {
                    *out += b_j * m;
                    sum += b * m;
                }
                out[j] += sum;
            }
        }
        add_pending(&self.added, 1.0, b, out);
        add_pending(&self.subtracted, -1.0, b, out);
    }
}

/// Adds sign Σ u uᵀb.
fn add_pending(vectors: &[f64], sign: f64, b: &[(usize, f64)], out: &mut [f64]) {
    let n = out.len();
    let scale = |u: &[f64]| sign * b.iter().map(|&(i, b)| b * u[i]).sum::<f64>();
    // Four at a time, because `out` would otherwise be read and written as often as the vectors are read.
    let fours = vectors.chunks_exact(4 * n.max(1));
    for u in fours.remainder().chunks_exact(n.max(1)) {
        let scale = scale(u);
        out.iter_mut().zip(u).for_each(|(out, u)| *out += scale * u);
    }
    for four in fours {
        let (u0, rest) = four.split_at(n);
        let (u1, rest) = rest.split_at(n);
        let (u2, u3) = rest.split_at(n);
        let [s0, s1, s2, s3] = [u0, u1, u2, u3].map(scale);
        let pairs = u0.iter().zip(u1).zip(u2.iter().zip(u3));
        for (out, ((u0, u1), (u2, u3))) in out.iter_mut().zip(pairs) {
            *out += (s0 * u0 + s1 * u1) + (s2 * u2 + s3 * u3);
        }
    }
}

impl InlierSystem for DenseInverse<'_> {
    fn remove_weight(&mut self, (i, j): (usize, usize), w: f64) -> Option<f64> {
        self.last = None;
        self.changes += 1;
        if self.needs_recompute {
            return None;
        }
        let mut v = std::mem::take(&mut self.v);
        self.multiply(&[(i, 1.0), (j, -1.0)], &mut v);
        let leverage = w * (v[i] - v[j]);
        let pivot = 1.0 - leverage;
        if pivot < MIN_PIVOT {
            self.needs_recompute = true;
        } else {
            let scale = (w.abs() / pivot).sqrt();
            let vectors = if w > 0.0 { &mut self.added } else { &mut self.subtracted };
            vectors.extend(v.iter().map(|v| scale * v));
            self.last = Some((i, j, 1.0 / pivot));
            self.error_growth *= (1.0 / pivot).max(1.0);
            let pending = self.added.len() + self.subtracted.len();
            if self.n < MIN_ITEMS_TO_COLLECT || pending >= MAX_PENDING * self.n {
                self.fold();
            }
        }
        self.v = v;
        Some(leverage)
    }

    fn solve(&mut self, weights: &[f64], b: &mut [f64], out: &mut [f64]) {
        if self.needs_recompute {
            self.recompute(weights);
        }
        let mut nonzeros = std::mem::take(&mut self.nonzeros);
        nonzeros.clear();
        nonzeros.extend(b.iter().copied().enumerate().filter(|&(_, b)| b != 0.0));
        match (&nonzeros[..], self.last) {
            // Usually b is a multiple of x of the only group that has changed.
            (&[(k, b), (l, minus_b)], Some((i, j, scale)))
                if b == -minus_b && ((k, l) == (i, j) || (k, l) == (j, i)) =>
            {
                let scale = if k == i { b * scale } else { -b * scale };
                out.iter_mut().zip(&self.v).for_each(|(out, v)| *out = scale * v);
            }
            _ => self.multiply(&nonzeros, out),
        }
        self.nonzeros = nonzeros;
        b.fill(0.0);
    }

    fn error_growth(&self) -> f64 {
        self.error_growth
    }

    fn report_accuracy(&mut self, is_accurate: bool) {
        self.error_growth = 1.0;
        self.needs_recompute |= !is_accurate && self.changes * ITEMS_PER_CHANGE >= self.n;
    }
}
