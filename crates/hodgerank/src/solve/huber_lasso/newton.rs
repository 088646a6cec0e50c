//! Damped semismooth Newton method for one λ.
//!
//! F is convex, once differentiable and piecewise quadratic. At θ, with inliers I, the quadratic model
//! of F is exact as long as no residual crosses ±λ:
//!
//!   (L_I + μD) δ = XᵀWψ(r),   θ ← θ + tδ,   t = 1 if possible.
//!
//! The line search uses φ'(t) = −δᵀXᵀWψ(r − tXδ), which increases with t because F is convex and,
//! unlike F itself, remains accurate near the minimum. μ is increased when a step has to be shortened
//! and reduced otherwise: close to the minimum it is negligible and the full step is exact.

use super::newton_system::NewtonSystem;
use super::pass::Pass;
use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{Backend, BackendChoice};
use crate::numeric::{dot, largest_magnitude};

/// Range of the damping μ. At the upper end the quadratic model majorises F.
const MIN_DAMPING: f64 = 1e-11;
const MAX_DAMPING: f64 = 2.0;
/// Minimum damping after a step that had to be shortened.
const MIN_DAMPING_AFTER_CUT: f64 = 1e-6;
/// A step t is accepted if |φ'(t)| is at most this fraction of |φ'(0)|.
const MAX_SLOPE_RATIO: f64 = 0.5;
/// Maximum number of times that a step is shortened.
const MAX_CUTS: usize = 30;
/// Maximum relative residual of a linear system. It applies to the first step at a new λ, where
/// residuals that cross λ would make more digits useless.
const MAX_FORCING: f64 = 0.05;
/// Newton steps after which larger λ are solved first (continuation).
const MAX_DIRECT_STEPS: usize = 15;
/// Ratio of successive λ of the continuation.
const CONTINUATION_RATIO: f64 = 0.3;
/// Tolerance at the λ of the continuation.
const CONTINUATION_TOLERANCE: f64 = 1e-3;
/// Lower limit of the residual to which a linear system is solved, relative to the largest gradient
/// entry that is accepted in the end.
const SOLVE_TARGET_RATIO: f64 = 0.3;

/// λ of the least-squares problem relative to the largest |y|, and largest accepted gradient entry
/// relative to that times the largest degree.
const LEAST_SQUARES_LAMBDA: f64 = 16.0;
const LEAST_SQUARES_TOLERANCE: f64 = 2e-15;
/// Relative residual of one linear system of the least-squares problem, and maximum number of systems.
const LEAST_SQUARES_FORCING: f64 = 1e-8;
const MAX_LEAST_SQUARES_STEPS: usize = 4;

/// Newton steps that do not halve the smallest gradient after which rounding errors are the reason.
const MAX_STALLED_STEPS: usize = 40;

/// θ at one λ, and state that is reused for the next λ.
#[derive(Debug)]
pub(super) struct Newton<'a> {
    graph: &'a ComparisonGraph,
    pub(super) pass: Pass<'a>,
    system: NewtonSystem,
    pub(super) theta: Vec<f64>,
    /// XᵀWψ(r) at θ.
    negative_gradient: Vec<f64>,
    delta: Vec<f64>,
    trial: Vec<f64>,
    trial_negative_gradient: Vec<f64>,
    damping: f64,
    /// The largest degree; gradients are measured relative to λ times it.
    max_degree: f64,
    max_abs_y: f64,
}

/// How the minimisation for one λ ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NewtonResult {
    pub(super) steps: usize,
    /// Violation of the optimality conditions: max|XᵀWψ(r)| divided by λ times the largest degree.
    pub(super) violation: f64,
    pub(super) converged: bool,
}

impl<'a> Newton<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph, theta: &[f64], backend: BackendChoice) -> Self {
        let (n, groups, communicator) = (graph.items(), graph.groups(), graph.communicator());
        // Before the first evaluation, all groups are inliers.
        let (mut pass, mut degrees) = (Pass::new(graph), vec![0.0; n]);
        pass.inlier_degrees(&mut degrees);
        let max_degree = largest_magnitude(&degrees);
        let dense = match backend {
            BackendChoice::Auto => None,
            BackendChoice::Fixed(backend) => Some(backend == Backend::Dense),
        };
        let system = NewtonSystem::new(degrees, dense);
        if system.backend() == Backend::Dense {
            pass.keep_matrix();
        }
        let zeros = || vec![0.0; n];
        Self {
            graph,
            pass,
            system,
            theta: theta.to_vec(),
            negative_gradient: zeros(),
            delta: zeros(),
            trial: zeros(),
            trial_negative_gradient: zeros(),
            damping: MIN_DAMPING,
            max_degree,
            max_abs_y: communicator.max_scalar(largest_magnitude(&groups.y)),
        }
    }

    pub(super) fn backend(&self) -> Backend {
        self.system.backend()
    }

    /// Moves θ to the least-squares scores. Returns false, with an arbitrary θ, if the system is not so
    /// well conditioned that small residuals guarantee small errors, or if sums overflow.
    pub(super) fn solve_least_squares(&mut self) -> bool {
        // All votes are inliers at any θ that the iteration visits.
        let lambda = LEAST_SQUARES_LAMBDA * self.max_abs_y;
        let goal = LEAST_SQUARES_TOLERANCE * self.max_degree * self.max_abs_y;
        if !lambda.is_finite() {
            return false;
        }
        self.theta.fill(0.0);
        self.evaluate(lambda);
        let mut violation = largest_magnitude(&self.negative_gradient);
        for _ in 0..MAX_LEAST_SQUARES_STEPS {
            if violation <= goal || !violation.is_finite() {
                break;
            }
            let target = (LEAST_SQUARES_FORCING * violation).max(SOLVE_TARGET_RATIO * goal);
            let Self { pass, system, negative_gradient, delta, .. } = self;
            system.solve(pass, MIN_DAMPING, negative_gradient, target, delta);
            self.theta.iter_mut().zip(&self.delta).for_each(|(theta, delta)| *theta += delta);
            self.evaluate(lambda);
            violation = largest_magnitude(&self.negative_gradient);
        }
        self.graph.components().centre(&mut self.theta);
        violation <= goal
            && self.system.is_well_conditioned()
            && self.pass.count_inliers() == self.graph.groups().len()
    }

    /// Makes later results independent of the evaluations so far, to the last bit.
    pub(super) fn forget_evaluations(&mut self) {
        self.pass.restart();
    }

    /// Moves θ to a minimiser of F for this λ.
    pub(super) fn minimise(
        &mut self,
        lambda: f64,
        tolerance: f64,
        max_steps: usize,
    ) -> NewtonResult {
        self.system.allow_elimination();
        self.evaluate(lambda);
        let mut goal = self.largest_accepted_gradient(lambda, tolerance);
        let mut violation = largest_magnitude(&self.negative_gradient);
        let mut forcing = MAX_FORCING;
        let mut steps = 0;
        let (mut smallest, mut stalled_steps) = (violation, 0);
        while violation > goal && steps < max_steps && stalled_steps < MAX_STALLED_STEPS {
            let target = (forcing * violation).max(SOLVE_TARGET_RATIO * goal);
            self.compute_direction(target);
            self.line_search(lambda);
            let previous = violation;
            violation = largest_magnitude(&self.negative_gradient);
            goal = self.largest_accepted_gradient(lambda, tolerance);
            // Eisenstat and Walker: no more accuracy than the quadratic model has shown to have.
            forcing = (0.5 * (violation / previous).powi(2)).min(MAX_FORCING);
            steps += 1;
            stalled_steps += 1;
            if violation <= 0.5 * smallest {
                (smallest, stalled_steps) = (violation, 0);
            }
        }
        self.graph.components().centre(&mut self.theta);
        let scale = lambda * self.max_degree;
        let relative = if scale > 0.0 { violation / scale } else { 0.0 };
        NewtonResult { steps, violation: relative, converged: violation <= goal }
    }

    /// The second term allows for rounding errors in the last digit of inlying residuals. The |y| of
    /// an inlier is at most |Xθ| + λ; outliers are clipped to ±λ and contribute no rounding error.
    fn largest_accepted_gradient(&self, lambda: f64, tolerance: f64) -> f64 {
        let inlier_y = (2.0 * largest_magnitude(&self.theta) + lambda).min(self.max_abs_y);
        self.max_degree * (tolerance * lambda + 4.0 * f64::EPSILON * inlier_y)
    }

    /// As [`Newton::minimise`], for a θ that may be far from the minimiser: if a few steps are not
    /// enough, solves for a decreasing sequence of larger λ first.
    pub(super) fn minimise_with_continuation(
        &mut self,
        lambda: f64,
        tolerance: f64,
        max_steps: usize,
    ) -> NewtonResult {
        let mut result = self.minimise(lambda, tolerance, max_steps.min(MAX_DIRECT_STEPS));
        if !result.converged {
            let groups = self.graph.groups();
            let r = (0..groups.len()).map(|g| groups.residual(&self.theta, g).abs());
            let mut larger = self.graph.communicator().max_scalar(r.fold(0.0, f64::max));
            while larger > lambda {
                result.steps += self.minimise(larger, CONTINUATION_TOLERANCE, max_steps).steps;
                larger *= CONTINUATION_RATIO;
            }
            let steps_before = result.steps;
            result = self.minimise(lambda, tolerance, max_steps);
            result.steps += steps_before;
        }
        result
    }

    /// Saves the state besides θ on which the minimisation at the next λ depends.
    pub(super) fn save(&self, state: &mut StateWriter) {
        state.number(self.damping);
        self.system.save(state);
    }

    pub(super) fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()> {
        self.damping = state.number()?;
        self.system.restore(state)
    }

    fn evaluate(&mut self, lambda: f64) {
        self.pass.negative_gradient(&self.theta, lambda, &mut self.negative_gradient);
    }

    /// Solves (L_I + μD)δ = XᵀWψ(r). If δ is larger than any vote can justify, the inliers do not
    /// determine it, and μ is increased.
    fn compute_direction(&mut self, target: f64) {
        loop {
            let Self { pass, system, negative_gradient, delta, damping, .. } = self;
            system.solve(pass, *damping, negative_gradient, target, delta);
            if largest_magnitude(delta) <= 2.0 * self.max_abs_y || self.damping >= MAX_DAMPING {
                return;
            }
            self.damping = (100.0 * self.damping).min(MAX_DAMPING);
        }
    }

    /// θ ← θ + tδ with t ≤ 1 and |φ'(t)| ≤ ½|φ'(0)|, or t = 1 if φ still decreases there.
    fn line_search(&mut self, lambda: f64) {
        let slope = -dot(&self.negative_gradient, &self.delta);
        let violation = largest_magnitude(&self.negative_gradient);
        let (mut low, mut low_slope) = (0.0, slope);
        let (mut high, mut high_slope) = (1.0, f64::INFINITY);
        let mut t = 1.0;
        for cut in 0.. {
            let trial_slope = self.try_step(t, lambda, cut == 0);
            if trial_slope <= 0.0 {
                (low, low_slope) = (t, trial_slope);
            } else {
                (high, high_slope) = (t, trial_slope);
            }
            // If φ increases at t, F may have grown, unless the gradient has shrunk.
            let safe =
                trial_slope <= 0.0 || largest_magnitude(&self.trial_negative_gradient) < violation;
            if low >= 1.0
                || (safe && trial_slope.abs() <= MAX_SLOPE_RATIO * -slope)
                || cut == MAX_CUTS
            {
                break;
            }
            // Secant step, safeguarded against the ends of the bracket.
            let secant = low_slope / (low_slope - high_slope);
            t = if cut + 1 < MAX_CUTS { low + (high - low) * secant.clamp(0.1, 0.9) } else { low };
        }
        std::mem::swap(&mut self.theta, &mut self.trial);
        std::mem::swap(&mut self.negative_gradient, &mut self.trial_negative_gradient);
        self.damping = match t {
            t if t < 1.0 => (10.0 * self.damping).clamp(MIN_DAMPING_AFTER_CUT, MAX_DAMPING),
            _ => (0.1 * self.damping).max(MIN_DAMPING),
        };
    }

    /// Evaluates the gradient at θ + tδ and returns φ'(t). The first trial after a system is solved, with
    /// t = 1, can use its residual.
    fn try_step(&mut self, t: f64, lambda: f64, is_first: bool) -> f64 {
        for ((trial, theta), delta) in self.trial.iter_mut().zip(&self.theta).zip(&self.delta) {
            *trial = theta + t * delta;
        }
        let Self { pass, system, trial, delta, trial_negative_gradient: gradient, .. } = self;
        if is_first && system.model_gradient(self.damping, delta, gradient) {
            pass.correct_negative_gradient(trial, lambda, gradient);
        } else {
            pass.negative_gradient(trial, lambda, gradient);
        }
        -dot(gradient, delta)
    }
}
