//! Consecutive groups: their sides of ±λ, those that may cross ±λ soon, and the inliers.
//!
//! The list of inliers is not rebuilt whenever a group crosses ±λ. An inlier that leaves gets the weight
//! 0; a group that returns gets its weight back, or is appended to a short list of its own if it was not
//! an inlier when the list was built.

use std::ops::Range;

use crate::graph::Groups;
use crate::numeric::residual;

/// Fraction of λ by which |r| of an inlier may exceed λ. With equal weights many residuals are ±λ up
/// to rounding, and often only these groups connect an item to the others (see [`super`]).
const INLIER_TOLERANCE: f64 = 1e-7;
/// The list of inliers is rebuilt when more than this fraction of it is unused or in the other list.
const MAX_UNUSED: f64 = 0.1;
/// Position of a group that is in neither list.
const UNLISTED: u32 = u32::MAX;
/// Marks positions in the list of inliers that returned.
const RETURNED: u32 = 1 << 31;

#[derive(Debug)]
pub(super) struct PassChunk {
    first: usize,
    runs: Vec<LeftRun>,
    /// For each group: 0 for an inlier, sign(r) for an outlier.
    sides: Vec<i8>,
    /// Where each group is among the inliers, relative to their lists.
    positions: Vec<u32>,
    /// The groups that may cross before the next full look come first, the rest is unused.
    soon: Vec<SoonGroup>,
    soon_count: usize,
    /// Groups besides these that may have crossed since the last call of [`PassChunk::changes`].
    touched: Vec<u32>,
    /// Groups that changed sides in this evaluation, with their earlier sides.
    crossed: Vec<(u32, i8)>,
    inliers: Inliers,
    returned: Vec<ReturnedInlier>,
    /// Entries of weight 0 in the two lists.
    unused: usize,
    /// Whether the list has to be built.
    outdated: bool,
    /// The contribution of the chunk to a vector over the items.
    pub(super) sums: Vec<f64>,
}

/// A group that may cross soon, with what its residual takes: these groups are looked at again and again,
/// and are far apart among all groups.
#[derive(Debug, Clone, Copy, Default)]
struct SoonGroup {
    y: f64,
    left: u32,
    right: u32,
    /// Relative to the start of the chunk.
    index: u32,
    /// As in [`PassChunk::sides`].
    side: i8,
}

impl SoonGroup {
    fn residual(&self, theta: &[f64]) -> f64 {
        residual(self.y, theta[self.left as usize], theta[self.right as usize])
    }
}

/// The inliers when the list was built, in the order of the groups.
#[derive(Debug, Default)]
struct Inliers {
    right: Vec<u32>,
    weight: Vec<f64>,
    y: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct ReturnedInlier {
    left: u32,
    right: u32,
    weight: f64,
    y: f64,
}

/// Groups with the same left item.
#[derive(Debug, Clone, Copy)]
struct LeftRun {
    left: u32,
    /// End of its groups and of its inliers, relative to the start of the chunk.
    end: u32,
    inliers_end: u32,
}

impl PassChunk {
    pub(super) fn new(groups: &Groups, range: Range<usize>, sums: usize) -> Self {
        let length = range.len();
        Self {
            first: range.start,
            runs: LeftRun::find_all(&groups.left[range]),
            sides: vec![0; length],
            positions: vec![UNLISTED; length],
            soon: vec![SoonGroup::default(); length],
            soon_count: 0,
            touched: Vec::new(),
            crossed: Vec::new(),
            inliers: Inliers::default(),
            returned: Vec::new(),
            unused: 0,
            outdated: true,
            sums: vec![0.0; sums],
        }
    }

    pub(super) fn restart(&mut self) {
        self.sides.fill(0);
        self.outdated = true;
    }

    /// Looks at all groups at the first of two points, and lists those whose slack between the points is
    /// at most `max_slack`.
    pub(super) fn look_at_all(
        &mut self,
        groups: &Groups,
        ends: &[[f64; 2]],
        lambdas: [f64; 2],
        max_slack: f64,
    ) {
        self.touched.extend(self.soon[..self.soon_count].iter().map(|group| group.index));
        let max_inlier = lambdas.map(|lambda| lambda * (1.0 + INLIER_TOLERANCE));
        // The limits of inliers and of flagged groups lie between λ and `max_inlier`.
        let surely_inside = lambdas.map(|lambda| lambda - max_slack);
        let surely_outside = max_inlier.map(|limit| limit + max_slack);
        let (mut start, mut count) = (0, 0);
        for run in &self.runs {
            let (at_left, end) = (ends[run.left as usize], run.end as usize);
            let range = self.first + start..self.first + end;
            let votes = groups.right[range.clone()].iter().zip(&groups.y[range]);
            let sides = &mut self.sides[start..end];
            for (index, (before, (&right, &y))) in (start as u32..).zip(sides.iter_mut().zip(votes))
            {
                let at_right = ends[right as usize];
                let r = [0, 1].map(|end| residual(y, at_left[end], at_right[end]));
                let is_inlier = (r[0].abs() < surely_inside[0]) & (r[1].abs() < surely_inside[1]);
                let is_above = (r[0] > surely_outside[0]) & (r[1] > surely_outside[1]);
                let is_below = (r[0] < -surely_outside[0]) & (r[1] < -surely_outside[1]);
                let side = side(r[0], max_inlier[0]);
                // Branch-free: always written, counted only if the group may cross.
                self.soon[count] = SoonGroup { y, left: run.left, right, index, side };
                count += usize::from(!(is_inlier | is_above | is_below));
                if side != *before {
                    self.crossed.push((index, *before));
                    self.touched.push(index);
                    *before = side;
                }
            }
            start = end;
        }
        self.soon_count = count;
        self.update_inliers(groups);
    }

    /// Looks at the groups that may have crossed since the last full look.
    pub(super) fn look_again(&mut self, groups: &Groups, theta: &[f64], lambda: f64) {
        let max_inlier = lambda * (1.0 + INLIER_TOLERANCE);
        for group in &mut self.soon[..self.soon_count] {
            let side = side(group.residual(theta), max_inlier);
            if side != group.side {
                self.crossed.push((group.index, group.side));
                self.sides[group.index as usize] = side;
                group.side = side;
            }
        }
        self.update_inliers(groups);
    }

    /// Brings the lists of inliers up to date with the groups that crossed.
    fn update_inliers(&mut self, groups: &Groups) {
        if !self.outdated {
            for &(k, before) in &self.crossed {
                let (k, g) = (k as usize, self.first + k as usize);
                let is_inlier = self.sides[k] == 0;
                if is_inlier == (before == 0) {
                    continue;
                }
                let weight = if is_inlier { groups.weight[g] } else { 0.0 };
                match self.positions[k] {
                    UNLISTED => {
                        self.positions[k] = RETURNED | self.returned.len() as u32;
                        let (left, right) = (groups.left[g], groups.right[g]);
                        self.returned.push(ReturnedInlier { left, right, weight, y: groups.y[g] });
                        continue;
                    }
                    at if at & RETURNED != 0 => {
                        self.returned[(at & !RETURNED) as usize].weight = weight;
                    }
                    at => self.inliers.weight[at as usize] = weight,
                }
                self.unused = if is_inlier { self.unused - 1 } else { self.unused + 1 };
            }
            let entries = self.inliers.right.len() as f64;
            self.outdated = (self.unused + self.returned.len()) as f64 > MAX_UNUSED * entries;
        }
        if self.outdated {
            self.list_inliers(groups);
        }
    }

    fn list_inliers(&mut self, groups: &Groups) {
        let Inliers { right, weight, y } = &mut self.inliers;
        let (mut start, mut count) = (0, 0);
        right.resize(self.sides.len(), 0);
        weight.resize(self.sides.len(), 0.0);
        y.resize(self.sides.len(), 0.0);
        for run in &mut self.runs {
            let end = run.end as usize;
            let range = self.first + start..self.first + end;
            let votes = groups.right[range.clone()].iter().zip(&groups.weight[range.clone()]);
            let votes = votes.zip(&groups.y[range]);
            let places = self.positions[start..end].iter_mut().zip(&self.sides[start..end]);
            for ((position, &side), ((&r, &w), &outcome)) in places.zip(votes) {
                // Branch-free: always written, counted only for an inlier.
                (right[count], weight[count], y[count]) = (r, w, outcome);
                *position = if side == 0 { count as u32 } else { UNLISTED };
                count += usize::from(side == 0);
            }
            start = end;
            run.inliers_end = count as u32;
        }
        right.truncate(count);
        weight.truncate(count);
        y.truncate(count);
        self.returned.clear();
        self.unused = 0;
        self.outdated = false;
    }

    /// Adds what the groups that crossed in the last evaluation change in XᵀWψ(r): each followed its
    /// earlier side.
    pub(super) fn correct_model(
        &self,
        groups: &Groups,
        theta: &[f64],
        lambda: f64,
        model: &mut [f64],
    ) {
        for &(k, before) in &self.crossed {
            let g = self.first + k as usize;
            let r = groups.residual(theta, g);
            let psi = |side: i8| if side == 0 { r } else { lambda * f64::from(side) };
            let change = groups.weight[g] * (psi(self.sides[k as usize]) - psi(before));
            model[groups.left[g] as usize] += change;
            model[groups.right[g] as usize] -= change;
        }
    }

    /// Adds the changes of XᵀW_O sign(r), of the diagonal of L_I, and of its upper triangle, in the last
    /// evaluation; returns whether there are any.
    pub(super) fn add_crossings(
        &mut self,
        groups: &Groups,
        signs: &mut [f64],
        inlier_degrees: &mut [f64],
        mut off_diagonal: Option<&mut [f64]>,
    ) -> bool {
        for &(k, before) in &self.crossed {
            let (g, after) = (self.first + k as usize, self.sides[k as usize]);
            let [left, right] = [groups.left[g], groups.right[g]].map(|item| item as usize);
            let change = groups.weight[g] * f64::from(after - before);
            signs[left] += change;
            signs[right] -= change;
            let inliers = i8::from(after == 0) - i8::from(before == 0);
            let change = groups.weight[g] * f64::from(inliers);
            inlier_degrees[left] += change;
            inlier_degrees[right] += change;
            if let Some(rows) = &mut off_diagonal {
                rows[left * inlier_degrees.len() + right] -= change;
            }
        }
        let changed = !self.crossed.is_empty();
        self.crossed.clear();
        changed
    }

    /// Adds XᵀW_I r to the sums.
    pub(super) fn inlier_flows(&self, theta: &[f64], sums: &mut [f64]) {
        let mut start = 0;
        for run in &self.runs {
            let (left, entries) = (run.left as usize, start..run.inliers_end as usize);
            start = entries.end;
            let (theta_left, mut sum) = (theta[left], 0.0);
            let weights = self.inliers.weight[entries.clone()].iter();
            let votes = self.inliers.right[entries.clone()].iter().zip(&self.inliers.y[entries]);
            for ((&right, &y), &weight) in votes.zip(weights) {
                let flow = weight * residual(y, theta_left, theta[right as usize]);
                sum += flow;
                sums[right as usize] -= flow;
            }
            sums[left] += sum;
        }
        for &ReturnedInlier { left, right, weight, y } in &self.returned {
            let (left, right) = (left as usize, right as usize);
            let flow = weight * residual(y, theta[left], theta[right]);
            sums[left] += flow;
            sums[right] -= flow;
        }
    }

    /// Adds L_I p to the sums.
    pub(super) fn inlier_laplacian(&self, p: &[f64], sums: &mut [f64]) {
        self.for_each_run(|left, rights, weights| {
            let (p_left, mut sum) = (p[left], 0.0);
            for (&right, &weight) in rights.iter().zip(weights) {
                let flow = weight * (p_left - p[right as usize]);
                sum += flow;
                sums[right as usize] -= flow;
            }
            sums[left] += sum;
        });
    }

    pub(super) fn for_each_inlier(&self, visit: &mut impl FnMut(usize, usize, f64)) {
        self.for_each_run(|left, rights, weights| {
            for (&right, &weight) in rights.iter().zip(weights) {
                if weight > 0.0 {
                    visit(left, right as usize, weight);
                }
            }
        });
    }

    /// Number of groups that may cross before the next full look.
    pub(super) fn count_soon(&self) -> usize {
        self.soon_count
    }

    pub(super) fn count_inliers(&self) -> usize {
        self.inliers.right.len() + self.returned.len() - self.unused
    }

    /// Appends the groups whose |r| > `limit` differs from `flagged`, some of them twice.
    pub(super) fn changes(
        &mut self,
        groups: &Groups,
        theta: &[f64],
        limit: f64,
        flagged: &[bool],
        found: &mut Vec<(u32, f64)>,
    ) {
        let mut compare = |index: u32, r: f64| {
            let g = self.first + index as usize;
            if (r.abs() > limit) != flagged[g] {
                found.push((g as u32, r));
            }
        };
        for &index in &self.touched {
            compare(index, groups.residual(theta, self.first + index as usize));
        }
        for group in &self.soon[..self.soon_count] {
            compare(group.index, group.residual(theta));
        }
        self.touched.clear();
    }

    /// Calls `visit` with the left item, the right items and the weights of each run of inliers, some of
    /// weight 0.
    fn for_each_run(&self, mut visit: impl FnMut(usize, &[u32], &[f64])) {
        let mut start = 0;
        for run in &self.runs {
            let entries = start..run.inliers_end as usize;
            start = entries.end;
            let Inliers { right, weight, .. } = &self.inliers;
            visit(run.left as usize, &right[entries.clone()], &weight[entries]);
        }
        for ReturnedInlier { left, right, weight, .. } in &self.returned {
            visit(*left as usize, std::slice::from_ref(right), std::slice::from_ref(weight));
        }
    }
}

/// The side of ±λ, with the largest |r| of an inlier: 0 for an inlier, sign(r) for an outlier.
fn side(r: f64, max_inlier: f64) -> i8 {
    i8::from(r > max_inlier) - i8::from(r < -max_inlier)
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
