//! The votes at θ and λ: which groups are inliers, and the gradient of the Huber objective.
//!
//! Most evaluations do not look at every group. Consider a line θ(λ) that the path is expected to follow
//! for a while. A full look computes for each group its slack: the smallest distance between |r| and λ
//! along this line. At another θ a group with slack s is on the same side of ±λ as on the line if
//! max(θ − θ(λ)) − min(θ − θ(λ)) < s, so only groups with a small slack are looked at until this bound
//! fails or λ leaves the line.
//!
//! The gradient needs the inliers, which are listed by left item, and s = XᵀW_O sign(r) of the outliers,
//! which changes only with the groups that cross:
//!
//!   XᵀWψ(r) = XᵀW_I r + λs.
//!
//! After a Newton step δ it also follows from the quadratic model, XᵀWψ(r) − L_I δ, and the groups that
//! crossed: conjugate gradients leave the model behind, so that the inliers need no further pass.
//!
//! Groups are divided into chunks that depend on the graph only, each with its own sums, and the sums
//! are added in the order of the chunks: results do not depend on the number of threads. If several
//! processes share the votes, the sums are added up over all of them.

use rayon::prelude::*;

use super::pass_chunk::PassChunk;
use crate::communicator::Communicator;
use crate::graph::{ComparisonGraph, Groups};
use crate::numeric::add_parts;

/// Minimum number of groups per chunk, and maximum number of chunks. Each chunk has sums over all items, so
/// that a chunk of few groups would spend its time on them.
const MIN_GROUPS_PER_CHUNK: usize = 1 << 15;
const MAX_CHUNKS: usize = 16;
/// Number of groups from which threads share an evaluation.
const MIN_PARALLEL_GROUPS: usize = 1 << 14;
/// Length of the line of a full look, as a fraction of λ: about four steps of the default grid.
const LINE_LENGTH: f64 = 0.17;
/// Slack below which a group is looked at in every evaluation, as a fraction of the length of the line:
/// at first, and its limits.
const FIRST_SLACK_RATIO: f64 = 0.25;
const MIN_SLACK_RATIO: f64 = 0.02;
const MAX_SLACK_RATIO: f64 = 2.0;
/// Relative allowance for rounding errors in comparisons of slacks.
const SLACK_MARGIN: f64 = 1e-6;

/// The groups, and the inliers among them at the θ and λ of the last evaluation.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    groups: &'a Groups,
    chunks: Vec<PassChunk>,
    /// XᵀW_O sign(r) of this process.
    outlier_signs: Vec<f64>,
    /// The diagonal of L_I of this process.
    inlier_degrees: Vec<f64>,
    /// The upper triangle of L_I of this process without its diagonal, row by row, if it is kept.
    off_diagonal: Option<Vec<f64>>,
    /// The expected dθ/dλ.
    slope: Vec<f64>,
    line: Option<Line>,
    /// θ at both ends of the line.
    ends: Vec<[f64; 2]>,
    slack_ratio: f64,
    /// Number of evaluations that changed the inliers.
    version: u64,
    communicator: &'a dyn Communicator,
}

/// The line of the last full look.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// λ at both ends.
    lambdas: [f64; 2],
    /// Groups with at most this slack are looked at in every evaluation.
    max_slack: f64,
    /// The largest deviation from the line so far.
    deviation: f64,
}

impl<'a> Pass<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph) -> Self {
        let (items, groups) = (graph.items(), graph.groups());
        let m = groups.len();
        // The sums of all chunks together are at most as long as the groups.
        let chunks = (m / MIN_GROUPS_PER_CHUNK).min(m / items.max(1)).clamp(1, MAX_CHUNKS);
        // A power of two is divided evenly among two or four threads.
        let chunks = 1 << chunks.ilog2();
        let boundary = |c: usize| m * c / chunks;
        let sums = if chunks > 1 { items } else { 0 };
        let chunk = |c: usize| PassChunk::new(groups, boundary(c)..boundary(c + 1), sums);
        let chunks = if chunks > 1 {
            (0..chunks).into_par_iter().map(chunk).collect()
        } else {
            vec![chunk(0)]
        };
        Self {
            groups,
            chunks,
            outlier_signs: vec![0.0; items],
            inlier_degrees: degrees(items, groups),
            off_diagonal: None,
            slope: vec![0.0; items],
            line: None,
            ends: vec![[0.0; 2]; items],
            slack_ratio: FIRST_SLACK_RATIO,
            version: 0,
            communicator: graph.communicator(),
        }
    }

    /// Forgets all evaluations: later results depend on θ and λ alone, to the last bit.
    pub(super) fn restart(&mut self) {
        self.slope.fill(0.0);
        self.line = None;
        self.slack_ratio = FIRST_SLACK_RATIO;
        self.outlier_signs.fill(0.0);
        let items = self.inlier_degrees.len();
        self.inlier_degrees = degrees(items, self.groups);
        self.off_diagonal = self.off_diagonal.take().map(|_| off_diagonal(items, self.groups));
        self.chunks.iter_mut().for_each(PassChunk::restart);
    }

    /// Keeps L_I as a matrix, which [`Pass::inlier_matrix`] returns. For few items, before the first
    /// evaluation.
    pub(super) fn keep_matrix(&mut self) {
        self.off_diagonal = Some(off_diagonal(self.inlier_degrees.len(), self.groups));
    }

    /// Writes XᵀWψ(y − Xθ), the negative gradient of F, to `out`, and determines the inliers.
    pub(super) fn negative_gradient(&mut self, theta: &[f64], lambda: f64, out: &mut [f64]) {
        self.look(theta, lambda, None);
        self.sum_local(out, |chunk, sums| chunk.inlier_flows(theta, sums));
        out.iter_mut().zip(&self.outlier_signs).for_each(|(out, sign)| *out += lambda * sign);
        self.communicator.sum(out);
    }

    /// As [`Pass::negative_gradient`], if `out` has the negative gradient that θ would have if no group
    /// crossed ±λ since the last evaluation, which was at the same λ. For a single process.
    pub(super) fn correct_negative_gradient(
        &mut self,
        theta: &[f64],
        lambda: f64,
        out: &mut [f64],
    ) {
        self.look(theta, lambda, Some(out));
    }

    /// Tells that the path is expected to go from one point (λ, θ) to another.
    pub(super) fn expect(&mut self, from: (f64, &[f64]), to: (f64, &[f64])) {
        let change = to.0 - from.0;
        for (slope, (from, to)) in self.slope.iter_mut().zip(from.1.iter().zip(to.1)) {
            *slope = if change == 0.0 { 0.0 } else { (to - from) / change };
        }
    }

    /// Looks at the groups that may have crossed ±λ, and updates inliers and outliers. Corrects `model`,
    /// the negative gradient without crossings.
    fn look(&mut self, theta: &[f64], lambda: f64, mut model: Option<&mut [f64]>) {
        if self.is_near_line(theta, lambda) {
            let (groups, soon) = (self.groups, self.chunks.iter().map(PassChunk::count_soon).sum());
            self.each_chunk(soon, |chunk| chunk.look_again(groups, theta, lambda));
        } else {
            self.look_at_all(theta, lambda);
        }
        let mut changed = false;
        for chunk in &mut self.chunks {
            if let Some(model) = &mut model {
                chunk.correct_model(self.groups, theta, lambda, model);
            }
            let Self { groups, outlier_signs, inlier_degrees, off_diagonal, .. } = self;
            let matrix = off_diagonal.as_deref_mut();
            changed |= chunk.add_crossings(groups, outlier_signs, inlier_degrees, matrix);
        }
        self.version += u64::from(changed);
    }

    /// Whether the last full look is valid at θ and λ.
    fn is_near_line(&mut self, theta: &[f64], lambda: f64) -> bool {
        let Some(line) = &mut self.line else { return false };
        let [start, end] = line.lambdas;
        if !(lambda <= start && lambda >= end) {
            return false;
        }
        let fraction = if start > end { (start - lambda) / (start - end) } else { 0.0 };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (theta, [first, last]) in theta.iter().zip(&self.ends) {
            let deviation = theta - (first + fraction * (last - first));
            (low, high) = (low.min(deviation), high.max(deviation));
        }
        line.deviation = line.deviation.max(high - low);
        line.deviation <= line.max_slack * (1.0 - SLACK_MARGIN)
    }

    /// A full look, from which a new line starts.
    fn look_at_all(&mut self, theta: &[f64], lambda: f64) {
        if let Some(Line { max_slack, deviation, .. }) = self.line {
            // A short list is good, but only if full looks are rare.
            let factor = match deviation / max_slack {
                ratio if ratio > 1.0 => 2.0,
                ratio if ratio < 0.25 => 0.5,
                _ => 1.0,
            };
            self.slack_ratio = (factor * self.slack_ratio).clamp(MIN_SLACK_RATIO, MAX_SLACK_RATIO);
        }
        let length = LINE_LENGTH * lambda;
        for (ends, (theta, slope)) in self.ends.iter_mut().zip(theta.iter().zip(&self.slope)) {
            *ends = [*theta, theta - length * slope];
        }
        let max_slack = self.slack_ratio * length;
        let lambdas = [lambda, lambda - length];
        self.line = Some(Line { lambdas, max_slack, deviation: 0.0 });
        let (groups, ends) = (self.groups, std::mem::take(&mut self.ends));
        self.each_chunk(groups.len(), |chunk| {
            chunk.look_at_all(groups, &ends, lambdas, max_slack);
        });
        self.ends = ends;
    }

    /// Calls `work` for each chunk, in parallel if they look at enough groups together.
    fn each_chunk(&mut self, groups: usize, work: impl Fn(&mut PassChunk) + Send + Sync) {
        if groups < MIN_PARALLEL_GROUPS {
            self.chunks.iter_mut().for_each(work);
        } else {
            self.chunks.par_iter_mut().for_each(work);
        }
    }

    /// A number that changes whenever the inliers of this process do.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Writes L_I p to `out`.
    pub(super) fn inlier_laplacian(&mut self, p: &[f64], out: &mut [f64]) {
        self.sum(out, |chunk, sums| chunk.inlier_laplacian(p, sums));
    }

    /// Writes the diagonal of L_I to `out`.
    pub(super) fn inlier_degrees(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.inlier_degrees);
        self.communicator.sum(out);
    }

    /// Writes the upper triangle of L_I: its rows without the diagonal, and the diagonal.
    ///
    /// # Panics
    /// If the matrix is not kept.
    pub(super) fn inlier_matrix(&self, rows: &mut [f64], diagonal: &mut [f64]) {
        rows.copy_from_slice(self.off_diagonal.as_ref().expect("the matrix is kept"));
        self.communicator.sum(rows);
        self.inlier_degrees(diagonal);
    }

    pub(super) fn communicator(&self) -> &'a dyn Communicator {
        self.communicator
    }

    /// Calls `visit` with left item, right item and weight of each inlier of this process.
    pub(super) fn for_each_inlier(&self, mut visit: impl FnMut(usize, usize, f64)) {
        self.chunks.iter().for_each(|chunk| chunk.for_each_inlier(&mut visit));
    }

    /// Returns the number of inliers of all processes.
    pub(super) fn count_inliers(&self) -> usize {
        let local: usize = self.chunks.iter().map(PassChunk::count_inliers).sum();
        self.communicator.sum_scalar(local as f64) as usize
    }

    /// Returns the groups of this process for which |r| > `limit` differs from `flagged`, each with its
    /// residual, in no particular order and some of them twice. `limit` is above λ by at most the tolerance of inliers, and
    /// `flagged` was updated after the last call.
    pub(super) fn changes(
        &mut self,
        theta: &[f64],
        limit: f64,
        flagged: &[bool],
    ) -> Vec<(u32, f64)> {
        let groups = self.groups;
        let mut found = Vec::new();
        for chunk in &mut self.chunks {
            chunk.changes(groups, theta, limit, flagged, &mut found);
        }
        found
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

/// Returns the diagonal of XᵀWX of these groups.
fn degrees(items: usize, groups: &Groups) -> Vec<f64> {
    let mut degrees = vec![0.0; items];
    for ((&i, &j), &w) in groups.left.iter().zip(&groups.right).zip(&groups.weight) {
        degrees[i as usize] += w;
        degrees[j as usize] += w;
    }
    degrees
}

/// Returns the upper triangle of XᵀWX without its diagonal.
fn off_diagonal(items: usize, groups: &Groups) -> Vec<f64> {
    let mut rows = vec![0.0; items * items];
    for ((&i, &j), &w) in groups.left.iter().zip(&groups.right).zip(&groups.weight) {
        rows[i as usize * items + j as usize] -= w;
    }
    rows
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Comparison;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// XᵀWψ(r) and the inliers from all groups.
    fn reference(graph: &ComparisonGraph, theta: &[f64], lambda: f64) -> (Vec<f64>, usize) {
        let r: Vec<f64> = graph.groups().residuals(theta).collect();
        let psi: Vec<f64> = r.iter().map(|r| r.clamp(-lambda, lambda)).collect();
        let inliers = r.iter().filter(|r| r.abs() <= lambda * (1.0 + 1e-7)).count();
        (graph.divergence(&psi), inliers)
    }

    #[test]
    fn partial_looks_find_what_full_looks_find() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let items = 30_u32;
        let vote = |_: u32| {
            let i = rng.random_range(0..items);
            let j = (i + rng.random_range(1..items)) % items;
            let y = f64::from(rng.random_range(-3..=3));
            Comparison::new(i, j, y).with_count(rng.random_range(1..4))
        };
        let votes: Vec<_> = (0..80_000).map(vote).collect();
        let groups = Groups::keep_apart(items as usize, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items as usize, groups).unwrap();
        let mut pass = Pass::new(&graph);
        assert!(pass.chunks.len() > 1);
        pass.keep_matrix();
        let mut theta: Vec<f64> = (0..items).map(|i| f64::from(i) / 20.0).collect();
        let mut flagged = vec![false; graph.groups().len()];
        let mut found = vec![0.0; items as usize];
        let (mut lambda, mut partial) = (4.0_f64, 0);
        for step in 0..120 {
            // Steps along a line and beside it, small and large, and some back to larger λ.
            let before = (lambda, theta.clone());
            lambda *= if step % 17 == 16 { 1.2 } else { 0.97 };
            let size = if step % 13 == 12 { 0.3 } else { 1e-3 };
            for (i, theta) in theta.iter_mut().enumerate() {
                *theta += 0.01 * lambda * (i as f64).sin() + size * (rng.random::<f64>() - 0.5);
            }
            pass.expect((before.0, &before.1), (lambda, &theta));
            if step == 60 {
                pass.restart();
            }
            partial += usize::from(pass.is_near_line(&theta, lambda));
            pass.negative_gradient(&theta, lambda, &mut found);
            let (gradient, inliers) = reference(&graph, &theta, lambda);
            assert_eq!(pass.count_inliers(), inliers, "step {step}");
            let close = |found: &[f64], expected: &[f64], what: &str| {
                for (found, expected) in found.iter().zip(expected) {
                    let error = (found - expected).abs();
                    assert!(error < 1e-8, "step {step}, {what}: {found} {expected}");
                }
            };
            close(&found, &gradient, "gradient");
            let mut degrees = vec![0.0; items as usize];
            pass.for_each_inlier(|i, j, w| [i, j].iter().for_each(|&item| degrees[item] += w));
            close(&pass.inlier_degrees, &degrees, "degrees");
            let n = items as usize;
            let (mut rows, mut expected) = (vec![0.0; n * n], vec![0.0; n * n]);
            pass.for_each_inlier(|i, j, w| expected[i * n + j] -= w);
            pass.inlier_matrix(&mut rows, &mut degrees);
            close(&rows, &expected, "matrix");
            // A step δ: the gradient from the quadratic model and the groups that cross.
            let delta: Vec<f64> = (0..items).map(|_| 0.02 * (rng.random::<f64>() - 0.5)).collect();
            let mut product = vec![0.0; items as usize];
            pass.inlier_laplacian(&delta, &mut product);
            let mut model: Vec<f64> = found.iter().zip(&product).map(|(g, q)| g - q).collect();
            theta.iter_mut().zip(&delta).for_each(|(theta, delta)| *theta += delta);
            pass.correct_negative_gradient(&theta, lambda, &mut model);
            close(&model, &reference(&graph, &theta, lambda).0, "corrected model");
            let inliers = reference(&graph, &theta, lambda).1;
            for (g, _) in pass.changes(&theta, lambda, &flagged.clone()) {
                flagged[g as usize] = graph.groups().residual(&theta, g as usize).abs() > lambda;
            }
            let r = graph.groups().residuals(&theta);
            assert!(r.zip(&flagged).all(|(r, &flagged)| (r.abs() > lambda) == flagged));
            let mut visited = 0;
            pass.for_each_inlier(|_, _, _| visited += 1);
            assert_eq!(visited, inliers);
        }
        assert!(partial > 30, "{partial} partial looks");
    }
}
