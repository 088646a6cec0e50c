//! Passes over the groups: the Huber objective and its derivatives at θ.
//!
//! Groups are divided into chunks that depend on the graph only, each with its own sums, and the sums
//! are added in the order of the chunks: results do not depend on the number of threads. Groups are
//! sorted by their left item, so in a run of groups with the same left item its sum stays in a
//! register and only right items are written to memory. If several processes share the votes, the
//! sums of a pass are added up over all of them.

use rayon::prelude::*;

use crate::communicator::Communicator;
use crate::graph::{ComparisonGraph, Groups};
use crate::numeric::{add_parts, residual};

/// Minimum number of groups per chunk, and maximum number of chunks.
const MIN_GROUPS_PER_CHUNK: usize = 1 << 14;
const MAX_CHUNKS: usize = 16;

/// Fraction of λ by which |r| of an inlier may exceed λ. With equal weights many residuals are ±λ up
/// to rounding, and often only these groups connect an item to the others (see [`super`]).
const INLIER_TOLERANCE: f64 = 1e-7;

/// An entry of L_I. Newton's direction need not be exact, so seven digits are enough.
#[derive(Debug, Clone, Copy, Default)]
struct Inlier {
    right: u32,
    weight: f32,
}

/// The groups, and the inliers among them at the θ and λ of the last evaluation.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    groups: &'a Groups,
    chunks: Vec<PassChunk>,
    communicator: &'a dyn Communicator,
}

#[derive(Debug)]
struct PassChunk {
    first: usize,
    runs: Vec<LeftRun>,
    /// As long as the chunk; the inliers come first, the rest is unused.
    inliers: Vec<Inlier>,
    /// The contribution of the chunk to a vector over the items.
    sums: Vec<f64>,
}

/// Groups with the same left item.
#[derive(Debug, Clone, Copy)]
struct LeftRun {
    left: u32,
    /// End of its groups and of its inliers, relative to the start of the chunk.
    end: u32,
    inliers_end: u32,
}

impl<'a> Pass<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph) -> Self {
        let (items, groups) = (graph.items(), graph.groups());
        let m = groups.len();
        // The sums of all chunks together are at most as long as the groups.
        let chunks = (m / MIN_GROUPS_PER_CHUNK).min(m / items.max(1)).clamp(1, MAX_CHUNKS);
        let boundary = |c: usize| m * c / chunks;
        let chunk = |c: usize| PassChunk {
            first: boundary(c),
            runs: LeftRun::find_all(&groups.left[boundary(c)..boundary(c + 1)]),
            inliers: vec![Inlier::default(); boundary(c + 1) - boundary(c)],
            sums: vec![0.0; if chunks > 1 { items } else { 0 }],
        };
        Self {
            groups,
            chunks: (0..chunks).map(chunk).collect(),
            communicator: graph.communicator(),
        }
    }

    /// Writes XᵀWψ(y − Xθ), the negative gradient of F, to `out`, and determines the inliers.
    pub(super) fn negative_gradient(&mut self, theta: &[f64], lambda: f64, out: &mut [f64]) {
        let groups = self.groups;
        self.sum(out, |chunk, sums| chunk.negative_gradient(groups, theta, lambda, sums));
    }

    /// Writes L_I p to `out`.
    pub(super) fn inlier_laplacian(&mut self, p: &[f64], out: &mut [f64]) {
        self.sum(out, |chunk, sums| {
            chunk.for_each_inlier_run(|left, inliers| {
                let (p_left, mut sum) = (p[left], 0.0);
                for inlier in inliers {
                    let right = inlier.right as usize;
                    let flow = f64::from(inlier.weight) * (p_left - p[right]);
                    sum += flow;
                    sums[right] -= flow;
                }
                sums[left] += sum;
            });
        });
    }

    /// Writes the diagonal of L_I to `out`.
    pub(super) fn inlier_degrees(&mut self, out: &mut [f64]) {
        self.sum(out, |chunk, sums| {
            chunk.for_each_inlier_run(|left, inliers| {
                let mut sum = 0.0;
                for inlier in inliers {
                    sum += f64::from(inlier.weight);
                    sums[inlier.right as usize] += f64::from(inlier.weight);
                }
                sums[left] += sum;
            });
        });
    }

    pub(super) fn communicator(&self) -> &'a dyn Communicator {
        self.communicator
    }

    /// Calls `visit` with left item, right item and weight of each inlier of this process.
    pub(super) fn for_each_inlier(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for chunk in &self.chunks {
            chunk.for_each_inlier_run(|left, inliers| {
                inliers.iter().for_each(|i| visit(left, i.right as usize, f64::from(i.weight)));
            });
        }
    }

    /// Returns the number of inliers of all processes.
    pub(super) fn count_inliers(&self) -> usize {
        let last = |chunk: &PassChunk| chunk.runs.last().map_or(0, |run| run.inliers_end as usize);
        let local: usize = self.chunks.iter().map(last).sum();
        self.communicator.sum_scalar(local as f64) as usize
    }

    /// Returns the groups of this process for which |r| > `limit` differs from `flagged`, each with its
    /// residual, in ascending order.
    pub(super) fn changes(&self, theta: &[f64], limit: f64, flagged: &[bool]) -> Vec<(u32, f64)> {
        let in_chunk = |chunk: &PassChunk| chunk.changes(self.groups, theta, limit, flagged);
        if let [chunk] = &self.chunks[..] {
            return in_chunk(chunk);
        }
        let found: Vec<Vec<_>> = self.chunks.par_iter().map(in_chunk).collect();
        found.concat()
    }

    /// Adds up what `write` adds to the sums of each chunk, in order and over all processes.
    fn sum(&mut self, out: &mut [f64], write: impl Fn(&mut PassChunk, &mut [f64]) + Sync) {
        self.sum_local(out, write);
        self.communicator.sum(out);
    }

    fn sum_local(&mut self, out: &mut [f64], write: impl Fn(&mut PassChunk, &mut [f64]) + Sync) {
        if let [chunk] = &mut self.chunks[..] {
            out.fill(0.0);
            return write(chunk, out);
        }
        self.chunks.par_iter_mut().for_each(|chunk| {
            let mut sums = std::mem::take(&mut chunk.sums);
            sums.fill(0.0);
            write(chunk, &mut sums);
            chunk.sums = sums;
        });
        add_parts(out, || self.chunks.iter().map(|chunk| (0, &chunk.sums[..])));
    }
}

impl PassChunk {
    fn negative_gradient(&mut self, groups: &Groups, theta: &[f64], lambda: f64, sums: &mut [f64]) {
        let max_inlier = lambda * (1.0 + INLIER_TOLERANCE);
        let (mut start, mut count) = (self.first, 0);
        for run in &mut self.runs {
            let (left, end) = (run.left as usize, self.first + run.end as usize);
            let (theta_left, mut sum) = (theta[left], 0.0);
            let votes = groups.right[start..end].iter().zip(&groups.y[start..end]);
            for ((&right, &y), &weight) in votes.zip(&groups.weight[start..end]) {
                let r = residual(y, theta_left, theta[right as usize]);
                let flow = weight * r.clamp(-lambda, lambda);
                sum += flow;
                sums[right as usize] -= flow;
                // Branch-free: always written, counted only if it is an inlier. A branch would mispredict.
                self.inliers[count] = Inlier { right, weight: weight as f32 };
                count += usize::from(r.abs() <= max_inlier);
            }
            sums[left] += sum;
            run.inliers_end = count as u32;
            start = end;
        }
    }

    fn changes(
        &self,
        groups: &Groups,
        theta: &[f64],
        limit: f64,
        flagged: &[bool],
    ) -> Vec<(u32, f64)> {
        let mut changed = Vec::new();
        let mut start = self.first;
        for run in &self.runs {
            let (theta_left, end) = (theta[run.left as usize], self.first + run.end as usize);
            let votes = groups.right[start..end].iter().zip(&groups.y[start..end]);
            for (k, ((&right, &y), &flagged)) in votes.zip(&flagged[start..end]).enumerate() {
                let r = residual(y, theta_left, theta[right as usize]);
                if (r.abs() > limit) != flagged {
                    changed.push(((start + k) as u32, r));
                }
            }
            start = end;
        }
        changed
    }

    fn for_each_inlier_run(&self, mut visit: impl FnMut(usize, &[Inlier])) {
        let mut start = 0;
        for run in &self.runs {
            let end = run.inliers_end as usize;
            visit(run.left as usize, &self.inliers[start..end]);
            start = end;
        }
    }
}

impl LeftRun {
    fn find_all(left: &[u32]) -> Vec<Self> {
        let mut end = 0;
        let run = |run: &[u32]| {
            end += run.len() as u32;
            Self { left: run[0], end, inliers_end: 0 }
        };
        left.chunk_by(|a, b| a == b).map(run).collect()
    }
}

/// F(θ) = Σ w ρ_λ(y − Xθ).
pub(super) fn objective(groups: &Groups, theta: &[f64], lambda: f64) -> f64 {
    (0..groups.len()).map(|g| groups.weight[g] * rho(groups.residual(theta, g), lambda)).sum()
}

/// Huber's function: min over γ of ½(r − γ)² + λ|γ|.
fn rho(r: f64, lambda: f64) -> f64 {
    let size = r.abs();
    if size <= lambda { 0.5 * r * r } else { lambda * (size - 0.5 * lambda) }
}
