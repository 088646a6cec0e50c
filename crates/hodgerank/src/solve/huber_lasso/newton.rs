//! Damped semismooth Newton for one λ.
//!
//! F is convex, once differentiable and piecewise quadratic. At θ, with inliers I, the model of F
//! is exact until a residual crosses ±λ:
//!
//!   (L_I + μD) δ = XᵀWψ(r),   θ ← θ + tδ,   t = 1 if possible.
//!
//! The step t is judged by φ'(t) = −δᵀXᵀWψ(r − tXδ), which grows with t (F is convex) and, other
//! than F itself, keeps its digits near the minimum. μ grows when steps must be cut, and falls
//! when they need not: in the end μ is negligible and the last step lands on the minimum.

use super::inlier_system::InlierSystem;
use super::pass::Pass;
use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{Backend, BackendChoice};
use crate::numeric::{dot, largest_magnitude};

/// Damping where nothing is in the way, and where the model majorises F.
const MIN_DAMPING: f64 = 1e-11;
const MAX_DAMPING: f64 = 2.0;
/// Least damping after a step that had to be cut.
const CUT_DAMPING: f64 = 1e-6;
/// A step is good where the slope has fallen to this share, in size.
const FLAT: f64 = 0.5;
const MAX_CUTS: usize = 30;
/// The first system at a new λ is solved to this share of its right-hand side: residuals that
/// cross λ on the way spoil more digits anyhow.
const FIRST_FORCING: f64 = 0.05;
/// From far away: steps before larger λ are tried, their ratio, and how well they are solved.
const PATIENCE: usize = 15;
const DESCENT: f64 = 0.3;
const ON_THE_WAY: f64 = 1e-3;
/// What a system is solved to, as a share of the goal.
const BELOW_GOAL: f64 = 0.3;

/// θ at one λ, and all that the next λ can use again.
#[derive(Debug)]
pub(super) struct Newton<'a> {
    graph: &'a ComparisonGraph,
    pub(super) pass: Pass<'a>,
    system: InlierSystem,
    pub(super) theta: Vec<f64>,
    /// XᵀWψ(r) at θ.
    downhill: Vec<f64>,
    delta: Vec<f64>,
    trial: Vec<f64>,
    trial_downhill: Vec<f64>,
    damping: f64,
    /// Largest degree, and largest |y|: what sizes are measured by.
    pub(super) degree: f64,
    pub(super) y: f64,
}

/// How the search for one λ went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub(super) steps: usize,
    /// max|XᵀWψ(r)| over λ · largest degree.
    pub(super) kkt: f64,
    pub(super) converged: bool,
}

impl<'a> Newton<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph, theta: &[f64], backend: BackendChoice) -> Self {
        let (n, groups) = (graph.items(), graph.groups());
        let mut degrees = vec![0.0; n];
        for ((&i, &j), &w) in groups.left.iter().zip(&groups.right).zip(&groups.weight) {
            degrees[i as usize] += w;
            degrees[j as usize] += w;
        }
        let communicator = graph.communicator();
        communicator.sum(&mut degrees);
        let degree = largest_magnitude(&degrees);
        let dense = match backend {
            BackendChoice::Auto => None,
            BackendChoice::Fixed(backend) => Some(backend == Backend::Dense),
        };
        let zeros = || vec![0.0; n];
        Self {
            graph,
            pass: Pass::new(graph),
            system: InlierSystem::new(degrees, dense),
            theta: theta.to_vec(),
            downhill: zeros(),
            delta: zeros(),
            trial: zeros(),
            trial_downhill: zeros(),
            damping: MIN_DAMPING,
            degree,
            y: communicator.max_scalar(largest_magnitude(&groups.y)),
        }
    }

    pub(super) fn backend(&self) -> Backend {
        self.system.backend()
    }

    /// Moves θ to a minimiser of F for this λ.
    pub(super) fn minimise(&mut self, lambda: f64, tolerance: f64, max_steps: usize) -> Found {
        // Each of `degree` residuals is rounded in the last place of y.
        let goal = self.degree * (tolerance * lambda + 4.0 * f64::EPSILON * self.y);
        self.look(lambda);
        let mut kkt = largest_magnitude(&self.downhill);
        let mut forcing = FIRST_FORCING;
        let mut steps = 0;
        while kkt > goal && steps < max_steps {
            let target = (forcing * kkt).max(BELOW_GOAL * goal);
            self.direction(target);
            self.line_search(lambda);
            let before = kkt;
            kkt = largest_magnitude(&self.downhill);
            // Eisenstat and Walker: no more digits than the model has shown to have.
            forcing = (0.5 * (kkt / before).powi(2)).min(FIRST_FORCING);
            steps += 1;
        }
        self.graph.components().centre(&mut self.theta);
        let scale = lambda * self.degree;
        let kkt_share = if scale > 0.0 { kkt / scale } else { 0.0 };
        Found { steps, kkt: kkt_share, converged: kkt <= goal }
    }

    /// The same from far away: where Newton does not get there soon, it goes by larger λ.
    pub(super) fn approach(&mut self, lambda: f64, tolerance: f64, max_steps: usize) -> Found {
        let mut found = self.minimise(lambda, tolerance, max_steps.min(PATIENCE));
        if !found.converged {
            let groups = self.graph.groups();
            let r = (0..groups.len()).map(|g| groups.residual(&self.theta, g).abs());
            let mut larger = self.graph.communicator().max_scalar(r.fold(0.0, f64::max));
            while larger > lambda {
                found.steps += self.minimise(larger, ON_THE_WAY, max_steps).steps;
                larger *= DESCENT;
            }
            let steps = found.steps;
            found = self.minimise(lambda, tolerance, max_steps);
            found.steps += steps;
        }
        found
    }

    /// What the search for the next λ depends on, beside θ.
    pub(super) fn save(&self, state: &mut StateWriter) {
        state.number(self.damping);
        self.system.save(state);
    }

    pub(super) fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()> {
        self.damping = state.number()?;
        self.system.restore(state)
    }

    fn look(&mut self, lambda: f64) {
        self.pass.downhill(&self.theta, lambda, &mut self.downhill);
    }

    /// δ from (L_I + μD)δ = XᵀWψ(r). Where it would move items further than any vote can ask for,
    /// the inliers do not hold them, and μ must.
    fn direction(&mut self, target: f64) {
        loop {
            let Self { pass, system, downhill, delta, damping, .. } = self;
            system.solve(pass, *damping, downhill, target, delta);
            if largest_magnitude(delta) <= 2.0 * self.y || self.damping >= MAX_DAMPING {
                return;
            }
            self.damping = (100.0 * self.damping).min(MAX_DAMPING);
        }
    }

    /// θ ← θ + tδ with |φ'(t)| ≤ ½|φ'(0)|, t ≤ 1, or t = 1 where φ still falls there.
    fn line_search(&mut self, lambda: f64) {
        let slope = -dot(&self.downhill, &self.delta);
        let kkt = largest_magnitude(&self.downhill);
        let (mut low, mut low_slope) = (0.0, slope);
        let (mut high, mut high_slope) = (1.0, f64::INFINITY);
        let mut t = 1.0;
        for cut in 0.. {
            let trial_slope = self.try_step(t, lambda);
            if trial_slope <= 0.0 {
                (low, low_slope) = (t, trial_slope);
            } else {
                (high, high_slope) = (t, trial_slope);
            }
            // Where φ rises again F may have grown on the way, unless the gradient has shrunk.
            let safe = trial_slope <= 0.0 || largest_magnitude(&self.trial_downhill) < kkt;
            if low >= 1.0 || (safe && trial_slope.abs() <= FLAT * -slope) || cut == MAX_CUTS {
                break;
            }
            // The secant through both ends of the bracket, kept away from them.
            let secant = low_slope / (low_slope - high_slope);
            t = if cut + 1 < MAX_CUTS { low + (high - low) * secant.clamp(0.1, 0.9) } else { low };
        }
        std::mem::swap(&mut self.theta, &mut self.trial);
        std::mem::swap(&mut self.downhill, &mut self.trial_downhill);
        self.damping = match t {
            t if t < 1.0 => (10.0 * self.damping).clamp(CUT_DAMPING, MAX_DAMPING),
            _ => (0.1 * self.damping).max(MIN_DAMPING),
        };
    }

    /// Looks at θ + tδ; returns φ'(t).
    fn try_step(&mut self, t: f64, lambda: f64) -> f64 {
        for ((trial, theta), delta) in self.trial.iter_mut().zip(&self.theta).zip(&self.delta) {
            *trial = theta + t * delta;
        }
        self.pass.downhill(&self.trial, lambda, &mut self.trial_downhill);
        -dot(&self.trial_downhill, &self.delta)
    }
}
