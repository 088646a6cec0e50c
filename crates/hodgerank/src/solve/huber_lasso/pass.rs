//! One pass over the groups: what the Huber objective and its derivatives are at θ.
//!
//! Groups are cut into chunks of fixed length, each with its own sums; the sums are added in the
//! order of the chunks. So the bytes do not depend on the number of threads. Groups are sorted by
//! their left item: in a run of groups with the same one, its sum stays in a register, and only
//! right items are written to memory. Where a team shares the votes, the sums of a pass are added
//! up over everyone.

use rayon::prelude::*;

use crate::communicator::Communicator;
use crate::graph::{ComparisonGraph, Groups};
use crate::numeric::{add_parts, residual};

/// Fewest groups that are worth a task, and most tasks.
const GROUPS_PER_CHUNK: usize = 1 << 14;
const MAX_CHUNKS: usize = 16;

/// Votes that all count the same put many residuals on ±λ itself, often the only ones that hold an
/// item (see [`super`]). So a residual beyond λ by no more than this share still counts as inlier.
const AT_LAMBDA: f64 = 1e-7;

/// An entry of L_I. Newton's direction need not be exact, so its weights have seven digits.
#[derive(Debug, Clone, Copy, Default)]
struct Inlier {
    right: u32,
    weight: f32,
}

/// The groups, and the inliers among them at the θ and λ looked at last.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    groups: &'a Groups,
    chunks: Vec<Chunk>,
    communicator: &'a dyn Communicator,
}

#[derive(Debug)]
struct Chunk {
    first: usize,
    runs: Vec<Run>,
    /// Room for all groups of the chunk; the first ones are the inliers.
    inliers: Vec<Inlier>,
    /// What the chunk adds to a vector over the items.
    sums: Vec<f64>,
}

/// Groups with the same left item.
#[derive(Debug, Clone, Copy)]
struct Run {
    left: u32,
    /// Where its groups and its inliers end, counted from the first of the chunk.
    end: u32,
    inliers_end: u32,
}

impl<'a> Pass<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph) -> Self {
        let (items, groups) = (graph.items(), graph.groups());
        let m = groups.len();
        // As many sums over the items as there are groups, at most.
        let chunks = (m / GROUPS_PER_CHUNK).min(m / items.max(1)).clamp(1, MAX_CHUNKS);
        let bound = |c: usize| m * c / chunks;
        let chunk = |c: usize| Chunk {
            first: bound(c),
            runs: Run::all(&groups.left[bound(c)..bound(c + 1)]),
            inliers: vec![Inlier::default(); bound(c + 1) - bound(c)],
            sums: vec![0.0; if chunks > 1 { items } else { 0 }],
        };
        Self {
            groups,
            chunks: (0..chunks).map(chunk).collect(),
            communicator: graph.communicator(),
        }
    }

    /// Writes XᵀWψ(y − Xθ), minus the gradient of the objective, and finds the inliers.
    pub(super) fn downhill(&mut self, theta: &[f64], lambda: f64, out: &mut [f64]) {
        let groups = self.groups;
        self.sum(out, |chunk, sums| chunk.downhill(groups, theta, lambda, sums));
    }

    /// Writes L_I p.
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

    /// Writes the diagonal of L_I.
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

    /// Those who share the votes.
    pub(super) fn communicator(&self) -> &'a dyn Communicator {
        self.communicator
    }

    /// Calls with left, right and weight of each inlier that is here.
    pub(super) fn for_each_inlier(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for chunk in &self.chunks {
            chunk.for_each_inlier_run(|left, inliers| {
                inliers.iter().for_each(|i| visit(left, i.right as usize, f64::from(i.weight)));
            });
        }
    }

    /// How many inliers there are, with everyone.
    pub(super) fn count(&self) -> usize {
        let last = |chunk: &Chunk| chunk.runs.last().map_or(0, |run| run.inliers_end as usize);
        let here: usize = self.chunks.iter().map(last).sum();
        self.communicator.sum_scalar(here as f64) as usize
    }

    /// The groups here with |r| > `limit` that are not `flagged`, and those that are and have not; each
    /// with its residual, in order.
    pub(super) fn changes(&self, theta: &[f64], limit: f64, flagged: &[bool]) -> Vec<(u32, f64)> {
        let in_chunk = |chunk: &Chunk| chunk.changes(self.groups, theta, limit, flagged);
        if let [chunk] = &self.chunks[..] {
            return in_chunk(chunk);
        }
        let found: Vec<Vec<_>> = self.chunks.par_iter().map(in_chunk).collect();
        found.concat()
    }

    /// Adds up what the chunks write into their sums, in order, and what others have.
    fn sum(&mut self, out: &mut [f64], write: impl Fn(&mut Chunk, &mut [f64]) + Sync) {
        self.sum_here(out, write);
        self.communicator.sum(out);
    }

    fn sum_here(&mut self, out: &mut [f64], write: impl Fn(&mut Chunk, &mut [f64]) + Sync) {
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

impl Chunk {
    fn downhill(&mut self, groups: &Groups, theta: &[f64], lambda: f64, sums: &mut [f64]) {
        let inside = lambda * (1.0 + AT_LAMBDA);
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
                // Written always and counted if so: cheaper than a branch that cannot be foreseen.
                self.inliers[count] = Inlier { right, weight: weight as f32 };
                count += usize::from(r.abs() <= inside);
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

impl Run {
    fn all(left: &[u32]) -> Vec<Self> {
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

/// Huber's function: the least of ½(r − γ)² + λ|γ| over γ.
fn rho(r: f64, lambda: f64) -> f64 {
    let size = r.abs();
    if size <= lambda { 0.5 * r * r } else { lambda * (size - 0.5 * lambda) }
}
