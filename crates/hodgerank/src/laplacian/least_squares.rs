//! Least-squares scores of votes, with a bound of their error.
//!
//! The right-hand side XᵀWy rounds: next to votes of weight 10¹⁶ it keeps nothing of a vote of
//! weight 1. The first solution is therefore refined with imbalances that are computed from the votes
//! with 32 digits, until the error bound of [`super::error_bound`] is small. Where weights are similar
//! the first solution usually passes and stays as it is.

use super::error_bound::{Certifier, ComponentBound, FittedVotes};
use super::{LaplacianSystem, SolveInfo, StoppingRule};
use crate::error::Result;
use crate::graph::ComparisonGraph;

/// The error bound that refinement aims at, as a multiple of the tolerance.
const ERROR_PER_TOLERANCE: f64 = 10.0;
/// Relative residual of the corrections: each gains this much.
const CORRECTION_TOLERANCE: f64 = 1e-4;
/// Each correction gains some digits, or is the last one.
const MAX_CORRECTIONS: usize = 20;
/// A correction that leaves more than this share of the bound, and of the root of the energy, is the
/// last one.
const STALLED: f64 = 0.5;

impl LaplacianSystem {
    /// Solves min over θ of ½ Σ w (y − Xθ)² + ½ shift ‖θ‖², and bounds the error.
    ///
    /// `weight` has the weight of each distinct vote; the weights of the system's pairs must be their
    /// sums. `rhs` is XᵀWy. Scores have mean zero on each component. If several processes share the
    /// votes, there is no bound, and the relative residual decides whether the solve converged.
    ///
    /// # Errors
    /// If `rhs` is not finite: sums of outcomes have overflowed.
    pub fn solve_votes(
        &self,
        graph: &ComparisonGraph,
        weight: &[f64],
        rhs: &[f64],
        rule: &StoppingRule,
    ) -> Result<(Vec<f64>, SolveInfo)> {
        let (mut scores, mut info) = self.solve(rhs, rule)?;
        graph.components().centre(&mut scores);
        if !graph.communicator().is_single_process() {
            return Ok((scores, info));
        }
        let votes = FittedVotes { weight, force: None, shift: self.matrix().shift() };
        let certifier = Certifier::new(graph, votes);
        let (mut bounds, mut imbalance) = certifier.check(&scores);
        let component = certifier.components_of_items();
        let target = ERROR_PER_TOLERANCE * rule.tolerance;
        // Components are refined independently: one that is exact keeps its bits.
        let mut is_open: Vec<bool> = bounds.iter().map(|bound| bound.relative > target).collect();
        for _ in 0..MAX_CORRECTIONS {
            let left = rule.max_iterations.saturating_sub(info.iterations);
            if !is_open.contains(&true) || left == 0 {
                break;
            }
            for (rho, &c) in imbalance.iter_mut().zip(component) {
                *rho = if is_open[c as usize] { *rho } else { 0.0 };
            }
            let tolerance = CORRECTION_TOLERANCE.max(rule.tolerance);
            let rule = StoppingRule { max_iterations: left, ..StoppingRule::at(tolerance) };
            let (correction, step) = self.solve(&imbalance, &rule)?;
            info.iterations += step.iterations;
            let mut trial: Vec<f64> =
                scores.iter().zip(correction).map(|(score, change)| score + change).collect();
            graph.components().centre(&mut trial);
            let (trial_bounds, trial_imbalance) = certifier.check(&trial);
            let mut is_better = vec![false; bounds.len()];
            for c in 0..bounds.len() {
                if !is_open[c] {
                    continue;
                }
                let (before, after) = (bounds[c], trial_bounds[c]);
                let has_stalled = has_stalled(before, after);
                is_better[c] = after.relative < before.relative || !has_stalled;
                bounds[c] = if is_better[c] { after } else { before };
                is_open[c] = !has_stalled && bounds[c].relative > target;
            }
            for item in (0..scores.len()).filter(|&i| is_better[component[i] as usize]) {
                scores[item] = trial[item];
                imbalance[item] = trial_imbalance[item];
            }
        }
        let bound = certifier.combine(&bounds);
        info.converged = bound.is_small();
        info.error_bound = Some(bound.relative);
        Ok((scores, info))
    }
}

fn has_stalled(before: ComponentBound, after: ComponentBound) -> bool {
    let has_improved = after.relative <= STALLED * before.relative
        || after.energy <= STALLED * STALLED * before.energy;
    // Not a number is no improvement.
    !has_improved
}
