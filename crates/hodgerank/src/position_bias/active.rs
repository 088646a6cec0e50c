//! The columns of a path, and linear systems of its active ones.
//!
//! The Gram matrix of A and, if there are copies, of [A, Ã] is block diagonal less a matrix of low rank:
//! entry ((a, i), (b, k)) is δ_ab (d_a − s[i ≠ k]) − f_aᵀf_b. A system with the active columns,
//! G x = b, is solved by Woodbury's identity:
//!
//! h = Σ_a f_a 1ᵀG_a⁻¹b_a,  g = K⁻¹h with K = I − Σ_a τ_a f_a f_aᵀ and τ_a = 1ᵀG_a⁻¹1,
//! x_a = G_a⁻¹(b_a + f_aᵀg),
//!
//! G_a the one or two active columns of annotator a. Moreover Σ f_a x_a = g, so that the correlations
//! of all columns follow from x_a and f_aᵀg alone.
//!
//! Cost: r² multiply-adds, or r for each earlier change if these are fewer, when a column enters or
//! leaves and for each system, and r for each annotator looked at.

use super::gram::BiasGram;
use crate::numeric::dot_in_lanes;

/// Up to this number of rows of F, the inverse of K is a matrix from the start.
const SMALL: usize = 64;

/// Changes for each row of K after which its inverse becomes a matrix. A change of a matrix reads and
/// writes all of it, so that a list of changes stays cheaper for longer than its length suggests.
const MAX_UPDATES_PER_ROW: usize = 3;

/// The columns of a path and their correlations with the votes.
#[derive(Debug)]
pub(super) struct Design<'a> {
    pub(super) gram: &'a BiasGram,
    /// 1 for A, 2 for [A, Ã].
    pub(super) copies: usize,
    /// How little a column and its copy are alike.
    pub(super) s: f64,
    /// Aᵀy and Ãᵀy.
    pub(super) z: Vec<[f64; 2]>,
}

impl<'a> Design<'a> {
    /// A alone.
    pub(super) fn annotators(gram: &'a BiasGram) -> Self {
        let z = gram.correlation.iter().map(|&z| [z, 0.0]).collect();
        Self { gram, copies: 1, s: 1.0, z }
    }

    /// A and its knockoffs, whose correlations with the votes are `copies`.
    pub(super) fn with_knockoffs(gram: &'a BiasGram, s: f64, copies: &[f64]) -> Self {
        let z = gram.correlation.iter().zip(copies).map(|(&z, &copy)| [z, copy]).collect();
        Self { gram, copies: 2, s, z }
    }

    /// The largest correlation.
    pub(super) fn largest_correlation(&self) -> f64 {
        self.z.iter().flatten().fold(0.0, |largest, z| largest.max(z.abs()))
    }

    /// f_aᵀg.
    pub(super) fn shared(&self, a: usize, g: &[f64]) -> f64 {
        dot_in_lanes(self.gram.column(a), g)
    }

    /// G_a x, without the part of low rank.
    pub(super) fn block_times(&self, a: usize, x: [f64; 2]) -> [f64; 2] {
        let (d, e) = (self.gram.diagonal[a], self.gram.diagonal[a] - self.s);
        [d * x[0] + e * x[1], e * x[0] + d * x[1]]
    }

    /// G_a⁻¹b on the copies that are active; zero elsewhere.
    pub(super) fn block_solve(&self, a: usize, is_active: [bool; 2], b: [f64; 2]) -> [f64; 2] {
        let d = self.gram.diagonal[a];
        match is_active {
            [false, false] => [0.0, 0.0],
            [true, false] => [b[0] / d, 0.0],
            [false, true] => [0.0, b[1] / d],
            [true, true] => {
                let (e, determinant) = (d - self.s, self.s * (2.0 * d - self.s));
                [(d * b[0] - e * b[1]) / determinant, (d * b[1] - e * b[0]) / determinant]
            }
        }
    }
}

/// The active columns.
#[derive(Debug)]
pub(super) struct ActiveColumns<'a> {
    pub(super) design: &'a Design<'a>,
    /// The sign of each active column; 0 if it is not active.
    pub(super) sign: Vec<[f64; 2]>,
    /// Annotators with active columns, increasing.
    pub(super) members: Vec<usize>,
    inverse: Inverse,
}

impl<'a> ActiveColumns<'a> {
    pub(super) fn new(design: &'a Design<'a>) -> Self {
        let (count, rank) = (design.gram.len(), design.gram.factor.nrows());
        Self {
            design,
            sign: vec![[0.0; 2]; count],
            members: Vec::new(),
            inverse: Inverse::identity(rank),
        }
    }

    pub(super) fn is_active(&self, a: usize) -> [bool; 2] {
        self.sign[a].map(|sign| sign != 0.0)
    }

    /// Whether any column of the annotator is active.
    pub(super) fn is_member(&self, a: usize) -> bool {
        self.sign[a] != [0.0; 2]
    }

    /// Admits a column with a sign, or removes it if the sign is zero.
    pub(super) fn set(&mut self, a: usize, copy: usize, sign: f64) {
        let tau = |active: &Self| -> f64 {
            active.design.block_solve(a, active.is_active(a), [1.0, 1.0]).iter().sum()
        };
        let before = tau(self);
        self.sign[a][copy] = sign;
        let change = tau(self) - before;
        match (self.members.binary_search(&a), self.is_member(a)) {
            (Err(place), true) => self.members.insert(place, a),
            (Ok(place), false) => {
                self.members.remove(place);
            }
            _ => {}
        }
        self.inverse.subtract(self.design.gram.column(a), change);
    }

    /// g of the system with this right-hand side.
    pub(super) fn solve(&self, b: impl Fn(usize) -> [f64; 2]) -> Vec<f64> {
        let mut h = vec![0.0; self.inverse.rank()];
        for &a in &self.members {
            let x = self.design.block_solve(a, self.is_active(a), b(a));
            let weight = x[0] + x[1];
            h.iter_mut().zip(self.design.gram.column(a)).for_each(|(h, f)| *h += weight * f);
        }
        self.inverse.times(&h)
    }
}

/// K⁻¹ after a number of changes of rank one.
#[derive(Debug)]
enum Inverse {
    /// I + Σ κuuᵀ.
    Updates { rank: usize, updates: Vec<(f64, Vec<f64>)> },
    /// The matrix, row by row.
    Matrix { rank: usize, rows: Vec<f64> },
}

impl Inverse {
    fn identity(rank: usize) -> Self {
        let updates = Self::Updates { rank, updates: Vec::new() };
        if rank <= SMALL { updates.into_matrix() } else { updates }
    }

    fn rank(&self) -> usize {
        match self {
            Self::Updates { rank, .. } | Self::Matrix { rank, .. } => *rank,
        }
    }

    fn times(&self, x: &[f64]) -> Vec<f64> {
        match self {
            Self::Updates { updates, .. } => {
                let mut product = x.to_vec();
                for (kappa, u) in updates {
                    let weight = kappa * dot_in_lanes(u, x);
                    product.iter_mut().zip(u).for_each(|(p, u)| *p += weight * u);
                }
                product
            }
            Self::Matrix { rank, rows } => {
                rows.chunks_exact((*rank).max(1)).map(|row| dot_in_lanes(row, x)).collect()
            }
        }
    }

    /// K ← K − change · ffᵀ, by Sherman and Morrison.
    fn subtract(&mut self, f: &[f64], change: f64) {
        let u = self.times(f);
        let kappa = change / (1.0 - change * dot_in_lanes(f, &u));
        match self {
            Self::Updates { rank, updates } => {
                let rank = *rank;
                updates.push((kappa, u));
                if updates.len() > MAX_UPDATES_PER_ROW * rank {
                    let own = std::mem::replace(self, Self::Updates { rank, updates: Vec::new() });
                    *self = own.into_matrix();
                }
            }
            Self::Matrix { rank, rows } => add_square(rows, *rank, kappa, &u),
        }
    }

    fn into_matrix(self) -> Self {
        let Self::Updates { rank, updates } = self else { return self };
        let mut rows = vec![0.0; rank * rank];
        (0..rank).for_each(|i| rows[i * rank + i] = 1.0);
        updates.iter().for_each(|(kappa, u)| add_square(&mut rows, rank, *kappa, u));
        Self::Matrix { rank, rows }
    }
}

/// rows ← rows + κuuᵀ.
fn add_square(rows: &mut [f64], rank: usize, kappa: f64, u: &[f64]) {
    for (row, weight) in rows.chunks_exact_mut(rank.max(1)).zip(u) {
        row.iter_mut().zip(u).for_each(|(entry, u)| *entry += kappa * weight * u);
    }
}
