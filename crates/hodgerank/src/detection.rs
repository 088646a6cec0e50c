//! ROC and AUC of a path as a detector of bad votes, where it is known which votes are bad.
//!
//! The order in which groups enter a path is an order of suspicion. Cutting it at every position gives
//! the receiver operating characteristic (ROC): the share of bad votes that are flagged against the
//! share of good votes that are flagged. The area under it (AUC) is the probability that a bad vote
//! is more suspicious than a good one, ties counted half: 1 is perfect, 0.5 is random.
//!
//! Groups that never entered are ordered as well. At optimality each group has a multiplier p with
//! |p| ≤ 1, and enters when |p| reaches 1:
//!
//! | path | p |
//! |---|---|
//! | λ falls (hlasso) | r/λ |
//! | t rises (lbi, iss) | ∫ r dt = t·y − X ∫ θ dt |
//!
//! Cost: one pass over the snapshots of the path and a sort of the groups.

use crate::graph::ComparisonGraph;
use crate::path::{Interpolation, Parameter, Path};

/// λ below this share of its largest value is dominated by rounding, and so is r/λ.
const MIN_RELATIVE_LAMBDA: f64 = 1e-6;

/// The suspicion of each group: above 1 for groups that entered the path, larger for earlier entries;
/// |p| at the end of the path for the others.
///
/// # Panics
/// If the path is not one of this graph.
#[must_use]
pub fn suspicion(graph: &ComparisonGraph, path: &Path) -> Vec<f64> {
    let p = multipliers(graph, path);
    let mut suspicion: Vec<f64> = p.iter().map(|p| p.abs().min(1.0)).collect();
    for entry in path.entries() {
        suspicion[entry.group as usize] = 1.0
            + match path.parameter {
                Parameter::Lambda => entry.at,
                Parameter::Time => 1.0 / entry.at,
            };
    }
    suspicion
}

/// p at the end of the path, valid for groups that never entered.
fn multipliers(graph: &ComparisonGraph, path: &Path) -> Vec<f64> {
    let y = &graph.groups().y;
    let at = |s: usize| path.knots[path.snapshot_knots()[s] as usize];
    let count = path.snapshot_knots().len();
    match path.parameter {
        Parameter::Lambda => {
            let last = (0..count).rev().find(|&s| at(s) > MIN_RELATIVE_LAMBDA * at(0)).unwrap_or(0);
            let lambda = at(last);
            let share = |r: f64| if lambda > 0.0 { r / lambda } else { 0.0 };
            graph.groups().residuals(path.snapshot(last)).map(share).collect()
        }
        Parameter::Time => {
            let mut theta_sum = vec![0.0; graph.items()];
            for s in 1..count {
                let step = at(s) - at(s - 1);
                let end = match path.interpolation {
                    Interpolation::Linear => path.snapshot(s),
                    Interpolation::Constant => path.snapshot(s - 1),
                };
                let ends = path.snapshot(s - 1).iter().zip(end);
                for (sum, (a, b)) in theta_sum.iter_mut().zip(ends) {
                    *sum += step * 0.5 * (a + b);
                }
            }
            let t = at(count - 1) - at(0);
            let fitted = graph.gradient(&theta_sum);
            y.iter().zip(fitted).map(|(y, fit)| t * y - fit).collect()
        }
    }
}

/// The ROC as points (share of good votes flagged, share of bad votes flagged) from (0, 0) to (1, 1),
/// one for each distinct suspicion. `bad` and `good` are the numbers of such votes of each group.
/// None if there are no bad or no good votes.
///
/// # Panics
/// If the lists differ in length.
#[must_use]
pub fn roc(suspicion: &[f64], bad: &[f64], good: &[f64]) -> Option<Vec<(f64, f64)>> {
    assert_eq!(suspicion.len(), bad.len(), "one suspicion for each group");
    assert_eq!(suspicion.len(), good.len(), "one suspicion for each group");
    let (all_bad, all_good) = (bad.iter().sum::<f64>(), good.iter().sum::<f64>());
    if all_bad <= 0.0 || all_good <= 0.0 {
        return None;
    }
    let mut order: Vec<usize> = (0..suspicion.len()).collect();
    order.sort_by(|&a, &b| suspicion[b].total_cmp(&suspicion[a]));
    let (mut flagged_bad, mut flagged_good) = (0.0, 0.0);
    let mut points = vec![(0.0, 0.0)];
    for ties in order.chunk_by(|&a, &b| suspicion[a] == suspicion[b]) {
        flagged_bad += ties.iter().map(|&g| bad[g]).sum::<f64>();
        flagged_good += ties.iter().map(|&g| good[g]).sum::<f64>();
        points.push((flagged_good / all_good, flagged_bad / all_bad));
    }
    Some(points)
}

/// The area under an ROC.
#[must_use]
pub fn auc(roc: &[(f64, f64)]) -> f64 {
    roc.windows(2).map(|w| (w[1].0 - w[0].0) * 0.5 * (w[0].1 + w[1].1)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_is_the_probability_that_a_bad_vote_is_more_suspicious() {
        let curve = |suspicion: &[f64]| roc(suspicion, &[2.0, 0.0, 1.0], &[0.0, 3.0, 1.0]).unwrap();
        // Two bad votes first, then one bad tied with one good, then three good: 1 − ½·(1·1)/(3·4).
        assert!((auc(&curve(&[3.0, 1.0, 2.0])) - (1.0 - 0.5 / 12.0)).abs() < 1e-15);
        assert!((auc(&curve(&[1.0, 1.0, 1.0])) - 0.5).abs() < 1e-15);
        assert_eq!(curve(&[3.0, 1.0, 2.0])[1], (0.0, 2.0 / 3.0));
        assert_eq!(roc(&[1.0], &[0.0], &[1.0]), None);
    }
}
