//! The inverse scale space path on a Gram matrix, exactly, from event to event.
//!
//! Dynamics: ρ′ = c with c = z − Gx, where ρ is a subgradient of ‖x‖₁: |ρ_j| ≤ 1, and ρ_j = sign(x_j) where
//! x_j ≠ 0. It starts at ρ = 0, x = 0.
//!
//! Optimality: x is constant between events, and solves min ½xᵀGx − zᵀx over the columns with |ρ_j| = 1,
//! with the signs of ρ: c_j = 0 where x_j ≠ 0, and c_jρ_j ≤ 0 for the others among them. Everywhere else
//! ρ_j moves by c_j, and the next event is the first time at which it reaches ±1. x is not shrunk: it is
//! the least-squares fit of the columns that have entered.
//!
//! Most columns are nowhere near an event; as in [`super::lasso`], only those that a bound cannot exclude are
//! evaluated. For annotators without active columns ρ = offset + zt + f_aᵀ∫g, and it differs from
//! its line of an earlier time by at most ‖f_a‖ times the integral of the distance that g has moved.
//!
//! Cost: per event, one change and one system of [`super::active`], and a constant for each annotator.
//!
//! Failure modes: columns that reach ±1 at the same time enter one after the other; a degenerate design
//! could repeat events, so that their number is limited.
//!
//! | symbol | here |
//! |---|---|
//! | t | `time` |
//! | ρ | `rho` of annotators with active columns, `offset` of the others |
//! | x | `values` |
//! | Σ f_a x_a | `g`; its integral over time `integral` |

use super::active::{ActiveColumns, Design};
use crate::numeric::norm;

/// Correlations below this share of the largest count as zero.
const ZERO_CORRELATION: f64 = 1e-10;
/// Signs that may be resolved in one event.
const MAX_SIGN_CHANGES: usize = 1000;

/// A column that reaches ±1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) time: f64,
    pub(super) annotator: usize,
    pub(super) copy: usize,
    sign: f64,
}

impl Entry {
    /// By time, then annotator.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let place = |entry: &Self| (entry.annotator, entry.copy);
        self.time.total_cmp(&other.time).then(place(self).cmp(&place(other)))
    }
}

/// ρ and c of both copies when they were last evaluated.
#[derive(Debug, Clone, Copy, Default)]
struct Evaluated {
    time: f64,
    rho: [f64; 2],
    correlation: [f64; 2],
    /// How far g had come, and the integral of that.
    length: f64,
    length_integral: f64,
}

/// 1/time at which each column first enters; 0 for those that have not when `is_done` ends the path. It is
/// asked at each first entry.
pub(super) fn entries(
    design: &Design<'_>,
    mut is_done: impl FnMut(usize, usize) -> bool,
) -> Vec<[f64; 2]> {
    let mut first = vec![[0.0; 2]; design.gram.len()];
    let mut path = IssPath::new(design);
    let mut left = 10 * design.gram.len() * design.copies + 100;
    while let Some(entry) = path.next_entry().filter(|_| left > 0) {
        path.apply(entry);
        left -= 1;
        let importance = &mut first[entry.annotator][entry.copy];
        if *importance == 0.0 {
            *importance = 1.0 / entry.time;
            if is_done(entry.annotator, entry.copy) {
                break;
            }
        }
    }
    first
}

/// The state of a path.
#[derive(Debug)]
pub(super) struct IssPath<'a> {
    design: &'a Design<'a>,
    active: ActiveColumns<'a>,
    time: f64,
    /// The value of each column.
    values: Vec<[f64; 2]>,
    rho: Vec<[f64; 2]>,
    offset: Vec<[f64; 2]>,
    g: Vec<f64>,
    integral: Vec<f64>,
    length: f64,
    length_integral: f64,
    evaluated: Vec<Evaluated>,
    norms: Vec<f64>,
    zero: f64,
}

impl<'a> IssPath<'a> {
    pub(super) fn new(design: &'a Design<'a>) -> Self {
        let (count, rank) = (design.gram.len(), design.gram.factor.nrows());
        let at_start = |&correlation: &[f64; 2]| Evaluated { correlation, ..Evaluated::default() };
        Self {
            design,
            active: ActiveColumns::new(design),
            time: 0.0,
            values: vec![[0.0; 2]; count],
            rho: vec![[0.0; 2]; count],
            offset: vec![[0.0; 2]; count],
            g: vec![0.0; rank],
            integral: vec![0.0; rank],
            length: 0.0,
            length_integral: 0.0,
            evaluated: design.z.iter().map(at_start).collect(),
            norms: (0..count).map(|a| norm(design.gram.column(a))).collect(),
            zero: ZERO_CORRELATION * design.largest_correlation(),
        }
    }

    /// Annotators with active columns, and the values of these.
    pub(super) fn active_values(&self) -> impl Iterator<Item = (usize, [f64; 2])> + '_ {
        self.active.members.iter().map(|&a| (a, self.values[a]))
    }

    /// The next column that reaches ±1.
    pub(super) fn next_entry(&mut self) -> Option<Entry> {
        let count = self.design.gram.len();
        for a in self.active.members.clone() {
            self.evaluate(a);
        }
        let stale = (0..count).filter_map(|a| self.entry_of(a)).min_by(Entry::order);
        let mut best: Option<Entry> = None;
        if let Some(stale) = stale {
            self.evaluate(stale.annotator);
            best = self.entry_of(stale.annotator);
        }
        for a in 0..count {
            let limit = best.map_or(f64::INFINITY, |entry| entry.time);
            if !self.active.is_member(a) {
                if self.is_quiet(a, limit) {
                    continue;
                }
                self.evaluate(a);
            }
            best = [best, self.entry_of(a)].into_iter().flatten().min_by(Entry::order);
        }
        best
    }

    /// Moves to the time of the entry and fits the columns that have entered.
    pub(super) fn apply(&mut self, entry: Entry) {
        let Entry { annotator, copy, sign, .. } = entry;
        self.advance(entry.time);
        if !self.active.is_member(annotator) {
            self.rho[annotator] = self.rho_without_active(annotator);
        }
        self.rho[annotator][copy] = sign;
        self.fit_signed(annotator, copy, sign);
    }

    /// The values change at events alone, so that everything else is linear until then.
    fn advance(&mut self, time: f64) {
        let step = time - self.time;
        for &a in &self.active.members {
            let is_active = self.active.is_active(a);
            for copy in (0..self.design.copies).filter(|&copy| !is_active[copy]) {
                self.rho[a][copy] += step * self.evaluated[a].correlation[copy];
            }
        }
        self.integral.iter_mut().zip(&self.g).for_each(|(sum, g)| *sum += step * g);
        self.length_integral += step * self.length;
        self.time = time;
    }

    fn rho_without_active(&self, a: usize) -> [f64; 2] {
        let shared = self.design.shared(a, &self.integral);
        [0, 1].map(|copy| self.offset[a][copy] + self.design.z[a][copy] * self.time + shared)
    }

    /// Sign-constrained least squares on the columns that have entered, by Lawson and Hanson's method
    /// from the values before.
    fn fit_signed(&mut self, annotator: usize, copy: usize, sign: f64) {
        self.active.set(annotator, copy, sign);
        let mut left_out: Vec<(usize, usize, f64)> = Vec::new();
        let mut g = self.g.clone();
        for _ in 0..MAX_SIGN_CHANGES {
            g = self.active.solve(|a| self.design.z[a]);
            let fitted: Vec<(usize, [f64; 2])> =
                self.active.members.iter().map(|&a| (a, self.fitted(a, &g))).collect();
            let Some((share, (a, copy))) = self.first_to_vanish(&fitted) else {
                fitted.iter().for_each(|&(a, values)| self.values[a] = values);
                // Only columns that left in this event can want to come back.
                let gain = |&(a, copy, sign): &(usize, usize, f64)| {
                    sign * self.correlations(a, self.design.shared(a, &g))[copy]
                };
                let wanted = (0..left_out.len())
                    .max_by(|&i, &k| gain(&left_out[i]).total_cmp(&gain(&left_out[k])))
                    .filter(|&i| gain(&left_out[i]) > self.zero);
                match wanted {
                    Some(i) => {
                        let (a, copy, sign) = left_out.swap_remove(i);
                        self.active.set(a, copy, sign);
                        continue;
                    }
                    None => break,
                }
            };
            for &(a, fitted) in &fitted {
                for (value, fitted) in self.values[a].iter_mut().zip(fitted) {
                    *value += share * (fitted - *value);
                }
            }
            left_out.push((a, copy, self.active.sign[a][copy]));
            self.values[a][copy] = 0.0;
            self.active.set(a, copy, 0.0);
        }
        let moved: f64 = self.g.iter().zip(&g).map(|(old, new)| (old - new) * (old - new)).sum();
        self.length += moved.sqrt();
        self.g = g;
        for (a, ..) in left_out {
            if !self.active.is_member(a) {
                let shared = self.design.shared(a, &self.integral);
                let (rho, z) = (self.rho[a], self.design.z[a]);
                self.offset[a] = [0, 1].map(|i| rho[i] - z[i] * self.time - shared);
            }
            self.evaluate(a);
        }
    }

    fn fitted(&self, a: usize, g: &[f64]) -> [f64; 2] {
        let shared = self.design.shared(a, g);
        let is_active = self.active.is_active(a);
        self.design.block_solve(a, is_active, self.design.z[a].map(|z| z + shared))
    }

    /// The column whose sign would break first on the way to the fitted values, and how far that is.
    fn first_to_vanish(&self, fitted: &[(usize, [f64; 2])]) -> Option<(f64, (usize, usize))> {
        let mut first: Option<(f64, (usize, usize))> = None;
        for &(a, fitted) in fitted {
            for (copy, fitted) in fitted.into_iter().enumerate() {
                let (sign, value) = (self.active.sign[a][copy], self.values[a][copy]);
                if sign == 0.0 || sign * fitted > 0.0 {
                    continue;
                }
                let share = if value == 0.0 { 0.0 } else { value / (value - fitted) };
                if first.is_none_or(|(smallest, _)| share < smallest) {
                    first = Some((share, (a, copy)));
                }
            }
        }
        first
    }

    /// The correlations of both copies, given f_aᵀg.
    fn correlations(&self, a: usize, shared: f64) -> [f64; 2] {
        let (z, fit) = (self.design.z[a], self.design.block_times(a, self.values[a]));
        [0, 1].map(|copy| z[copy] + shared - fit[copy])
    }

    fn evaluate(&mut self, a: usize) {
        let is_member = self.active.is_member(a);
        let rho = if is_member { self.rho[a] } else { self.rho_without_active(a) };
        let correlation = self.correlations(a, self.design.shared(a, &self.g));
        let &mut Self { time, length, length_integral, .. } = self;
        self.evaluated[a] = Evaluated { time, rho, correlation, length, length_integral };
    }

    /// Whether an annotator without active columns surely has no entry before `limit`.
    fn is_quiet(&self, a: usize, limit: f64) -> bool {
        if limit == f64::INFINITY {
            return false;
        }
        let last = &self.evaluated[a];
        let since = limit - last.time;
        let length_integral = self.length_integral + self.length * (limit - self.time);
        let drift = length_integral - last.length_integral - last.length * since;
        let drift = self.norms[a] * drift.max(0.0);
        let size = |copy: usize| (last.rho[copy] + last.correlation[copy] * since).abs();
        (0..self.design.copies).all(|copy| size(copy) + drift < 1.0)
    }

    /// The next entry of an annotator as of the last evaluation.
    fn entry_of(&self, annotator: usize) -> Option<Entry> {
        let last = &self.evaluated[annotator];
        let entry = |copy: usize| -> Option<Entry> {
            let c = last.correlation[copy];
            let is_active = self.active.sign[annotator][copy] != 0.0;
            (!is_active && c.abs() > self.zero).then(|| {
                let time = last.time + (c.signum() - last.rho[copy]) / c;
                Entry { time: time.max(self.time), annotator, copy, sign: c.signum() }
            })
        };
        (0..self.design.copies).filter_map(entry).min_by(Entry::order)
    }
}

/// Computes a path to its end. Panics where the optimality conditions do not hold after an event.
#[cfg(test)]
pub(super) fn check_path(design: &Design<'_>) {
    let mut path = IssPath::new(design);
    let mut events = 0;
    while let Some(entry) = path.next_entry() {
        assert!(entry.time >= path.time);
        path.apply(entry);
        events += 1;
        let limit = 1e-9 * design.largest_correlation();
        for a in 0..design.gram.len() {
            path.evaluate(a);
            let Evaluated { rho, correlation, .. } = path.evaluated[a];
            for copy in 0..design.copies {
                let (sign, value) = (path.active.sign[a][copy], path.values[a][copy]);
                assert!(rho[copy].abs() <= 1.0 + 1e-9, "ρ = {}", rho[copy]);
                if sign != 0.0 {
                    assert!(sign * value > 0.0 && correlation[copy].abs() < limit);
                    assert_eq!(rho[copy], sign);
                } else if rho[copy].abs() > 1.0 - 1e-12 {
                    assert!(correlation[copy] * rho[copy] <= limit);
                }
            }
        }
    }
    assert!(events >= design.gram.len());
}
