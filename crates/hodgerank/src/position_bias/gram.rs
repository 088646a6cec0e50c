//! The Gram matrix of the annotators' columns once the scores are projected out.
//!
//! With A the votes-by-annotators indicator, X the gradient operator, B = XᵀA and L = XᵀX:
//!
//! Σ = Aᵀ(I − H)A = diag(votes) − BᵀL†B.
//!
//! Σ is a diagonal matrix less one of low rank. BᵀL†B = FᵀF for a factor F with as many rows as there
//! are items (less one for each component) or annotators, whichever are fewer, so that Σ is stored as
//! its diagonal and F. Nothing has one row for each vote, and no matrix is larger than
//! annotators × annotators.
//!
//! - Fewer items than annotators: the grounded Laplacian is CCᵀ (Cholesky) and F = C⁻¹B.
//! - Otherwise: one Laplacian system for each annotator gives BᵀL†B, and F is the Cholesky factor of
//!   BᵀL†B + εI; ε is added to the diagonal part as well, so that Σ stays the same.
//!
//! Σ is singular where the votes cannot tell the bias of some annotators from the scores: somebody whose
//! pairs nobody else saw, or everybody if some items are always on the left. These annotators are
//! projected out like the scores, and nothing is said about them. What is left is nonsingular. Its
//! columns are scaled to length one.
//!
//! Cost: r²p + r³/3 multiply-adds for p annotators and r rows of F.
//!
//! | symbol | here |
//! |---|---|
//! | Σ, with columns of length one | `diagonal` − `factor`ᵀ`factor` |
//! | √Σ_aa before scaling | `scale` |
//! | Aᵀ(I − H)y, scaled | `correlation` |
//! | ‖(I − H)y‖² | `energy` |

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

use crate::annotator_votes::AnnotatorVotes;
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::{
    Backend, BackendChoice, LaplacianSystem, StoppingRule, add_products, columns_of, factorise,
};
use crate::numeric::{dot_in_lanes, norm};

/// Share of an annotator's votes below which what the scores leave of them counts as nothing.
const UNIDENTIFIED: f64 = 1e-9;
/// ε of the factor of BᵀL†B, relative to its largest diagonal entry.
const FACTOR_SHIFT: f64 = 1e-10;
/// 16 GiB. Larger allocations might be granted and then end in an out-of-memory kill.
const MAX_ENTRIES: u64 = 1 << 31;

/// What an annotator's votes say, summed up.
#[derive(Debug, Clone, Default)]
pub(super) struct AnnotatorSums {
    /// Number of votes.
    pub(super) votes: f64,
    /// Σ y.
    pub(super) outcomes: f64,
    /// Σ residual, the residual of the scores.
    pub(super) residuals: f64,
    /// Items and how much more often they were on the left than on the right.
    pub(super) net_left: Vec<(u32, f64)>,
}

/// The sums of every annotator. The order of votes does not matter.
pub(super) fn annotator_sums(
    votes: &AnnotatorVotes,
    scores: &[f64],
    unit: f64,
) -> Vec<AnnotatorSums> {
    let of = |buffer: &mut Vec<_>, annotator: usize| {
        votes.copy_sorted(annotator, buffer);
        let mut sums = AnnotatorSums::default();
        for vote in buffer.iter() {
            let (y, count) = (votes.y(vote) / unit, f64::from(vote.count));
            let fitted = scores[vote.left as usize] - scores[vote.right as usize];
            sums.votes += count;
            sums.outcomes += count * y;
            sums.residuals += count * (y - fitted);
            sums.net_left.extend([(vote.left, count), (vote.right, -count)]);
        }
        sums.net_left.sort_by_key(|&(item, _)| item);
        sums.net_left.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        sums.net_left.retain(|&(_, net)| net != 0.0);
        sums
    };
    (0..votes.annotators()).into_par_iter().map_init(Vec::new, of).collect()
}

/// Σ with columns of length one, of the annotators whose bias the votes determine.
#[derive(Debug, Clone)]
pub(super) struct BiasGram {
    /// Their indices among all annotators, increasing.
    pub(super) members: Vec<usize>,
    /// The diagonal part.
    pub(super) diagonal: Vec<f64>,
    /// F; a column for each member.
    pub(super) factor: Mat<f64>,
    /// The length of each column before it was scaled.
    pub(super) scale: Vec<f64>,
    /// The correlation of each column with the votes, once the scores are projected out.
    pub(super) correlation: Vec<f64>,
    /// Squared length of the votes, once the scores are projected out.
    pub(super) energy: f64,
    /// Dimensions that the scores leave.
    pub(super) dimensions: f64,
}

impl BiasGram {
    /// Σ of the votes in `graph`; `sums` are those of its annotators, and `energy` is Σ w r².
    pub(super) fn new(
        graph: &ComparisonGraph,
        sums: &[AnnotatorSums],
        energy: f64,
    ) -> Result<Self> {
        let members: Vec<usize> = (0..sums.len()).filter(|&a| sums[a].votes > 0.0).collect();
        let free = graph.items() - graph.components().len();
        let entries = (free.min(members.len()) * free.max(members.len())) as u64;
        if entries.min((members.len() * members.len()) as u64) > MAX_ENTRIES {
            let (what, count) = ("annotators for position bias", members.len() as u64);
            return Err(Error::TooLarge { what, count, max: (MAX_ENTRIES as f64).sqrt() as u64 });
        }
        let mut diagonal: Vec<f64> = members.iter().map(|&a| sums[a].votes).collect();
        let factor = match free < members.len() {
            true => factor_by_items(graph, sums, &members)?,
            false => factor_by_annotators(graph, sums, &members, &mut diagonal)?,
        };
        let correlation = members.iter().map(|&a| sums[a].residuals).collect();
        let scale = vec![1.0; members.len()];
        let dimensions = graph.votes() - free as f64;
        let mut gram = Self { members, diagonal, factor, scale, correlation, energy, dimensions };
        gram.project_out_unidentified()?;
        gram.normalise();
        Ok(gram)
    }

    /// Number of annotators.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// The column of F of an annotator.
    pub(super) fn column(&self, a: usize) -> &[f64] {
        self.factor.col_as_slice(a)
    }

    /// I − F diag(weights) Fᵀ, in the lower triangle.
    pub(super) fn complement(&self, weights: impl Fn(usize) -> f64 + Sync) -> Mat<f64> {
        let rank = self.factor.nrows();
        let mut weighted = self.factor.clone();
        for (a, column) in weighted.col_iter_mut().enumerate() {
            let root = weights(a).sqrt();
            column.iter_mut().for_each(|value| *value *= root);
        }
        let mut matrix = Mat::identity(rank, rank);
        add_products(matrix.as_mut(), weighted.as_ref(), -1.0);
        matrix
    }

    /// Projects out the annotators whose bias cannot be told from the scores.
    ///
    /// Σγ = 0 exactly where γ = D⁻¹Fᵀg with Kg = 0, K = I − F D⁻¹ Fᵀ; the squared entries of √D γ say
    /// who takes part. With U these annotators and K_U = I − F_U D_U⁻¹ F_Uᵀ = Q diag(k) Qᵀ, what is left
    /// for the others is D − F′ᵀF′ with F′ = diag(k^-½) QᵀF, without the rows of k = 0.
    fn project_out_unidentified(&mut self) -> Result<()> {
        let complement = self.complement(|a| 1.0 / self.diagonal[a]);
        let mut shifted = complement.clone();
        (0..shifted.nrows()).for_each(|i| shifted[(i, i)] -= UNIDENTIFIED);
        if factorise(shifted.as_mut()).is_ok() {
            return Ok(());
        }
        let (values, vectors) = eigen(&complement)?;
        let null: Vec<usize> = (0..values.len()).filter(|&i| values[i] <= UNIDENTIFIED).collect();
        let share = |a: usize| -> f64 {
            let of = |&i: &usize| dot_in_lanes(self.column(a), vectors.col_as_slice(i)).powi(2);
            null.iter().map(of).sum::<f64>() / self.diagonal[a]
        };
        let is_free: Vec<bool> =
            (0..self.len()).into_par_iter().map(|a| share(a) > UNIDENTIFIED).collect();
        let complement = self.complement(|a| if is_free[a] { 1.0 / self.diagonal[a] } else { 0.0 });
        let (values, vectors) = eigen(&complement)?;
        let kept: Vec<usize> = (0..values.len()).filter(|&i| values[i] > UNIDENTIFIED).collect();
        let basis = Mat::from_fn(vectors.nrows(), kept.len(), |row, i| {
            vectors[(row, kept[i])] / values[kept[i]].sqrt()
        });
        let mut factor: Mat<f64> = Mat::zeros(kept.len(), self.len());
        columns_of(factor.as_mut()).into_par_iter().enumerate().for_each(|(tile, columns)| {
            let first = tile * crate::laplacian::BLOCK_COLUMNS;
            let own = self.factor.as_ref().subcols(first, columns.ncols());
            matmul(columns, Accum::Replace, basis.transpose(), own, 1.0, Par::Seq);
        });
        // h = F′_U D_U⁻¹ z_U; the others' correlations change by F′_Jᵀh.
        let mut h = vec![0.0; kept.len()];
        for a in (0..self.len()).filter(|&a| is_free[a]) {
            let per_vote = self.correlation[a] / self.diagonal[a];
            self.energy -= per_vote * self.correlation[a];
            h.iter_mut().zip(factor.col_as_slice(a)).for_each(|(h, f)| *h += f * per_vote);
        }
        self.energy = (self.energy - dot_in_lanes(&h, &h)).max(0.0);
        let free = is_free.iter().filter(|is_free| **is_free).count();
        self.dimensions -= (free + kept.len()) as f64 - values.len() as f64;
        let left: Vec<usize> = (0..self.len()).filter(|&a| !is_free[a]).collect();
        let correlation = |a: usize| self.correlation[a] + dot_in_lanes(factor.col_as_slice(a), &h);
        let correlation = left.iter().map(|&a| correlation(a)).collect();
        *self = Self {
            members: left.iter().map(|&a| self.members[a]).collect(),
            diagonal: left.iter().map(|&a| self.diagonal[a]).collect(),
            factor: Mat::from_fn(kept.len(), left.len(), |row, a| factor[(row, left[a])]),
            scale: vec![1.0; left.len()],
            correlation,
            ..*self
        };
        Ok(())
    }

    fn normalise(&mut self) {
        for a in 0..self.len() {
            let length = norm(self.column(a));
            let scale = (self.diagonal[a] - length * length).sqrt();
            self.factor.col_as_slice_mut(a).iter_mut().for_each(|value| *value /= scale);
            self.diagonal[a] /= scale * scale;
            self.correlation[a] /= scale;
            self.scale[a] = scale;
        }
    }
}

/// F = C⁻¹B with CCᵀ the Laplacian without one item of each component.
fn factor_by_items(
    graph: &ComparisonGraph,
    sums: &[AnnotatorSums],
    members: &[usize],
) -> Result<Mat<f64>> {
    let mut row = vec![None; graph.items()];
    let free = graph.components().iter().flat_map(|component| component.iter().skip(1));
    free.enumerate().for_each(|(k, &item)| row[item as usize] = Some(k));
    let rank = graph.items() - graph.components().len();
    let mut laplacian = Mat::zeros(rank, rank);
    let pairs = graph.pairs();
    for ((&i, &j), &weight) in pairs.left.iter().zip(&pairs.right).zip(&pairs.weight) {
        let (i, j) = (row[i as usize], row[j as usize]);
        [i, j].into_iter().flatten().for_each(|k| laplacian[(k, k)] += weight);
        if let Some((i, j)) = i.zip(j) {
            laplacian[(i.max(j), i.min(j))] -= weight;
        }
    }
    factorise(laplacian.as_mut()).map_err(|error| Error::Factorisation {
        backend: Backend::Dense.as_str(),
        items: rank,
        reason: error.to_string(),
    })?;
    let mut factor = Mat::zeros(rank, members.len());
    columns_of(factor.as_mut()).into_par_iter().enumerate().for_each(|(tile, mut columns)| {
        for k in 0..columns.ncols() {
            let annotator = members[tile * crate::laplacian::BLOCK_COLUMNS + k];
            for &(item, net) in &sums[annotator].net_left {
                if let Some(row) = row[item as usize] {
                    columns[(row, k)] = net;
                }
            }
        }
        solve_lower_triangular_in_place(laplacian.as_ref(), columns.rb_mut(), Par::Seq);
    });
    Ok(factor)
}

/// F = Cᵀ with CCᵀ = BᵀL†B + εI; adds ε to the diagonal part of Σ.
fn factor_by_annotators(
    graph: &ComparisonGraph,
    sums: &[AnnotatorSums],
    members: &[usize],
    diagonal: &mut [f64],
) -> Result<Mat<f64>> {
    let system = LaplacianSystem::new(graph, 0.0, BackendChoice::Auto)?;
    let rule = StoppingRule::at(1e-13);
    let count = members.len();
    let mut product: Mat<f64> = Mat::zeros(count, count);
    for (k, &a) in members.iter().enumerate() {
        let mut net = vec![0.0; graph.items()];
        sums[a].net_left.iter().for_each(|&(item, value)| net[item as usize] = value);
        let (solved, _) = system.solve(&net, &rule)?;
        let entry = |&b: &usize| -> f64 {
            sums[b].net_left.iter().map(|&(item, net)| net * solved[item as usize]).sum()
        };
        let column: Vec<f64> = members[k..].par_iter().map(entry).collect();
        product.col_as_slice_mut(k)[k..].copy_from_slice(&column);
    }
    let largest = (0..count).map(|k| product[(k, k)]).fold(0.0, f64::max);
    let shift = (FACTOR_SHIFT * largest).max(f64::MIN_POSITIVE);
    for k in 0..count {
        product[(k, k)] += shift;
        diagonal[k] += shift;
    }
    factorise(product.as_mut()).map_err(|error| Error::Factorisation {
        backend: Backend::Dense.as_str(),
        items: count,
        reason: error.to_string(),
    })?;
    Ok(Mat::from_fn(count, count, |i, j| if i <= j { product.rb()[(j, i)] } else { 0.0 }))
}

/// Eigenvalues, increasing, and eigenvectors of a symmetric matrix given by its lower triangle; on one
/// thread, so that the bits do not depend on their number.
pub(super) fn eigen(matrix: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let n = matrix.nrows();
    if n == 0 {
        return Ok((Vec::new(), Mat::zeros(0, 0)));
    }
    let mut values = vec![0.0; n];
    let mut vectors = Mat::zeros(n, n);
    let scratch =
        self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, <_>::default());
    let mut memory = MemBuffer::new(scratch);
    let found = self_adjoint_evd(
        matrix.as_ref(),
        faer::diag::DiagMut::from_slice_mut(&mut values),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        <_>::default(),
    );
    match found {
        Ok(()) => Ok((values, vectors)),
        Err(error) => Err(Error::Factorisation {
            backend: "eigenvalue",
            items: n,
            reason: format!("{error:?}"),
        }),
    }
}
