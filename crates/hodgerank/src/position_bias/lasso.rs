//! The LASSO path on a Gram matrix, exactly, from event to event.
//!
//! Objective: min over x of ½xᵀGx − zᵀx + λ‖x‖₁, for λ from max|z| down.
//!
//! Optimality: with c = z − Gx, c_j = λ sign(x_j) where x_j ≠ 0 and |c_j| ≤ λ elsewhere. Between events
//! x and c are linear in λ: on the active columns Gx = z − λ sign. An event is the largest λ at which a
//! column enters (|c_j| = λ) or leaves (x_j = 0).
//!
//! Most columns are nowhere near an event. Their f_aᵀg is kept from an earlier event, and Cauchy and
//! Schwarz bound how much it has changed since by ‖f_a‖ and the length of the path of g; only columns
//! that might have the next event are evaluated again. The events are those of a full search.
//!
//! Cost: per event, one change and two systems of [`super::active`], and a constant for each annotator.
//!
//! Failure modes: columns that enter at the same λ enter one after the other; a degenerate design could
//! repeat events, so that their number is limited.

use super::active::{ActiveColumns, Design};
use crate::numeric::norm;

/// λ relative to the largest at which a path ends.
const MIN_LAMBDA: f64 = 1e-10;
/// Relative differences of λ up to which an event is the one before.
const SAME_LAMBDA: f64 = 1e-12;

/// p + λm.
#[derive(Debug, Clone, Copy)]
struct Line {
    p: f64,
    m: f64,
}

#[cfg(test)]
impl Line {
    fn at(self, lambda: f64) -> f64 {
        self.p + lambda * self.m
    }
}

/// A column that enters or leaves.
#[derive(Debug, Clone, Copy)]
struct Event {
    lambda: f64,
    annotator: usize,
    copy: usize,
    /// 0 if it leaves.
    sign: f64,
}

/// f_aᵀg when it was last evaluated: g = g_z − λg_s.
#[derive(Debug, Clone, Copy, Default)]
struct Evaluated {
    shared_z: f64,
    shared_s: f64,
    /// How far g_z and g_s had come by then.
    length_z: f64,
    length_s: f64,
}

/// λ at which each column first enters; 0 for those that have not when `is_done` ends the path. It is
/// asked at each entry.
pub(super) fn entries(
    design: &Design<'_>,
    mut is_done: impl FnMut(usize, usize) -> bool,
) -> Vec<[f64; 2]> {
    let mut first = vec![[0.0; 2]; design.gram.len()];
    let mut path = LassoPath::new(design);
    let smallest = MIN_LAMBDA * path.lambda;
    let mut left = 10 * design.gram.len() * design.copies + 100;
    while let Some(event) = path.next_event().filter(|event| event.lambda > smallest && left > 0) {
        path.apply(event);
        left -= 1;
        let entry = &mut first[event.annotator][event.copy];
        if event.sign != 0.0 && *entry == 0.0 {
            *entry = event.lambda;
            if is_done(event.annotator, event.copy) {
                break;
            }
        }
    }
    first
}

/// The state of a path at λ.
#[derive(Debug)]
pub(super) struct LassoPath<'a> {
    design: &'a Design<'a>,
    active: ActiveColumns<'a>,
    lambda: f64,
    g_z: Vec<f64>,
    g_s: Vec<f64>,
    length_z: f64,
    length_s: f64,
    evaluated: Vec<Evaluated>,
    norms: Vec<f64>,
    just_left: Option<(usize, usize)>,
}

impl<'a> LassoPath<'a> {
    fn new(design: &'a Design<'a>) -> Self {
        let (count, rank) = (design.gram.len(), design.gram.factor.nrows());
        Self {
            design,
            active: ActiveColumns::new(design),
            lambda: design.largest_correlation(),
            g_z: vec![0.0; rank],
            g_s: vec![0.0; rank],
            length_z: 0.0,
            length_s: 0.0,
            evaluated: vec![Evaluated::default(); count],
            norms: (0..count).map(|a| norm(design.gram.column(a))).collect(),
            just_left: None,
        }
    }

    /// The next event below λ.
    fn next_event(&mut self) -> Option<Event> {
        let count = self.design.gram.len();
        for a in self.active.members.clone() {
            self.evaluate(a);
        }
        let stale = (0..count).filter_map(|a| self.event_of(a)).max_by(Event::order);
        let mut best: Option<Event> = None;
        if let Some(stale) = stale {
            self.evaluate(stale.annotator);
            best = self.event_of(stale.annotator);
        }
        for a in 0..count {
            let floor = best.map_or(0.0, |event| event.lambda);
            if !self.active.is_member(a) {
                if self.is_quiet(a, floor) {
                    continue;
                }
                self.evaluate(a);
            }
            best = [best, self.event_of(a)].into_iter().flatten().max_by(Event::order);
        }
        best
    }

    fn apply(&mut self, event: Event) {
        self.lambda = event.lambda;
        self.active.set(event.annotator, event.copy, event.sign);
        self.just_left = (event.sign == 0.0).then_some((event.annotator, event.copy));
        let g_z = self.active.solve(|a| self.design.z[a]);
        let g_s = self.active.solve(|a| self.active.sign[a]);
        self.length_z += distance(&self.g_z, &g_z);
        self.length_s += distance(&self.g_s, &g_s);
        (self.g_z, self.g_s) = (g_z, g_s);
    }

    fn evaluate(&mut self, a: usize) {
        self.evaluated[a] = Evaluated {
            shared_z: self.design.shared(a, &self.g_z),
            shared_s: self.design.shared(a, &self.g_s),
            length_z: self.length_z,
            length_s: self.length_s,
        };
    }

    /// Whether a column without active copies surely has no event between λ and `floor`.
    fn is_quiet(&self, a: usize, floor: f64) -> bool {
        let last = &self.evaluated[a];
        let drift_z = self.norms[a] * (self.length_z - last.length_z);
        let drift_s = self.norms[a] * (self.length_s - last.length_s);
        // |c| + drift − λ is convex in λ: negative at both ends is negative between them.
        let is_inside = |lambda: f64| {
            let drift = drift_z + lambda * drift_s;
            let shared = last.shared_z - lambda * last.shared_s;
            let largest = |copy: usize| (self.design.z[a][copy] + shared).abs();
            (0..self.design.copies).all(|copy| largest(copy) + drift < lambda)
        };
        is_inside(self.lambda) && is_inside(floor)
    }

    /// The values of the active columns and the correlations of all columns of an annotator.
    fn lines(&self, a: usize) -> ([Line; 2], [Line; 2]) {
        let (z, sign, last) = (self.design.z[a], self.active.sign[a], &self.evaluated[a]);
        let is_active = self.active.is_active(a);
        let (q, slope) = (last.shared_z, -last.shared_s);
        let p = self.design.block_solve(a, is_active, z.map(|z| z + q));
        let m = self.design.block_solve(a, is_active, sign.map(|sign| slope - sign));
        let (gp, gm) = (self.design.block_times(a, p), self.design.block_times(a, m));
        let values = [0, 1].map(|i| Line { p: p[i], m: m[i] });
        (values, [0, 1].map(|i| Line { p: z[i] + q - gp[i], m: slope - gm[i] }))
    }

    /// The next event of an annotator as of the last evaluation.
    fn event_of(&self, annotator: usize) -> Option<Event> {
        let (values, correlations) = self.lines(annotator);
        let event = |copy: usize| -> Option<Event> {
            let sign = self.active.sign[annotator][copy];
            let found = |lambda: f64, sign: f64| Event {
                lambda: lambda.min(self.lambda),
                annotator,
                copy,
                sign,
            };
            if sign != 0.0 {
                let Line { p, m } = values[copy];
                return (sign * m > 0.0 && p * m < 0.0).then(|| found(-p / m, 0.0));
            }
            let c = correlations[copy];
            let upper = (1.0 - c.m > 0.0 && c.p > 0.0).then(|| found(c.p / (1.0 - c.m), 1.0));
            let lower = (1.0 + c.m > 0.0 && c.p < 0.0).then(|| found(-c.p / (1.0 + c.m), -1.0));
            let repeats = |event: &Event| {
                self.just_left == Some((annotator, copy))
                    && event.lambda >= self.lambda * (1.0 - SAME_LAMBDA)
            };
            upper.or(lower).filter(|event| !repeats(event))
        };
        (0..self.design.copies).filter_map(event).max_by(Event::order)
    }

    /// The largest violation of the optimality conditions at `lambda`, which must lie between this event
    /// and the next.
    #[cfg(test)]
    fn violation(&mut self, lambda: f64) -> f64 {
        let mut worst: f64 = 0.0;
        for a in 0..self.design.gram.len() {
            self.evaluate(a);
            let (values, correlations) = self.lines(a);
            for copy in 0..self.design.copies {
                let (c, x) = (correlations[copy].at(lambda), values[copy].at(lambda));
                let sign = self.active.sign[a][copy];
                worst = worst.max(if sign == 0.0 {
                    c.abs() - lambda
                } else {
                    (c - sign * lambda).abs().max(-sign * x)
                });
            }
        }
        worst
    }
}

impl Event {
    /// By λ; of several at the same λ, the last is that of the first annotator.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let place = |event: &Self| (event.annotator, event.copy);
        self.lambda.total_cmp(&other.lambda).then(place(other).cmp(&place(self)))
    }
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

/// Computes a path to its end; the number of events. Panics where the optimality conditions do not hold
/// halfway between two of them.
#[cfg(test)]
pub(super) fn check_path(design: &Design<'_>) -> usize {
    let mut path = LassoPath::new(design);
    let (largest, mut events) = (path.lambda, 0);
    while let Some(event) = path.next_event().filter(|event| event.lambda > 1e-6 * largest) {
        let between = 0.5 * (path.lambda + event.lambda);
        let violation = path.violation(between);
        assert!(violation < 1e-9 * largest, "{violation} before event {events}");
        path.apply(event);
        events += 1;
    }
    events
}
