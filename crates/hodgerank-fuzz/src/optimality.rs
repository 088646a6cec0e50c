//! Optimality conditions, computed from the definition.
//!
//! Scores minimise Σ w ρ(y − Xθ) + ½ a ‖θ‖² if, for every set S of items, the influence ψ = ρ′ of the
//! votes that leave S balances: Σ ± w ψ(r) = a Σ_S θ. For single items this is the gradient. Sets see
//! more in floating-point numbers: a link that is weak compared with the votes on both sides of it is
//! invisible in the gradient, but it is all there is in the cut that it crosses. Inputs have few
//! items, so all sets can be tried.

use hodgerank::ComparisonGraph;

/// The largest imbalance of a set of items, relative to the size of the votes that leave it: their
/// outcomes and the spread of the scores of their component, to which certificates relate errors of
/// differences. Scores of votes that cancel are rounding errors of the largest outcome.
pub(crate) fn largest_violation(
    graph: &ComparisonGraph,
    scores: &[f64],
    weight: &[f64],
    influence: impl Fn(f64) -> f64,
    ridge: f64,
) -> f64 {
    let groups = graph.groups();
    let components = graph.components();
    // What certificates accept: 16 ε times the number of items, relative to the largest outcome.
    let rounding = 16.0 * f64::EPSILON / crate::study::TOLERANCE * graph.items() as f64;
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); components.len()];
    for item in 0..graph.items() {
        let (low, high) = &mut ranges[components.of[item] as usize];
        (*low, *high) = (low.min(scores[item]), high.max(scores[item]));
    }
    let mut spreads: Vec<f64> = ranges.iter().map(|(low, high)| high - low).collect();
    for g in (0..groups.len()).filter(|&g| weight[g] > 0.0) {
        let spread = &mut spreads[components.of[groups.left[g] as usize] as usize];
        *spread = spread.max(rounding * groups.y[g].abs());
    }
    let votes: Vec<(usize, usize, f64, f64)> = (0..groups.len())
        .map(|g| {
            let (i, j) = (groups.left[g] as usize, groups.right[g] as usize);
            let residual = groups.y[g] - (scores[i] - scores[j]);
            let size = groups.y[g].abs() + spreads[components.of[i] as usize];
            (i, j, weight[g] * influence(residual), weight[g] * size)
        })
        .collect();
    let mut largest = 0.0_f64;
    // A set and its complement have the same cut, so the last item is never in the set.
    for set in 1_usize..1 << (graph.items() - 1) {
        let contains = |item: usize| set >> item & 1 == 1;
        let (mut net, mut scale) = (0.0, 0.0);
        for &(i, j, flow, size) in &votes {
            match (contains(i), contains(j)) {
                (true, false) => net += flow,
                (false, true) => net -= flow,
                _ => continue,
            }
            scale += size;
        }
        let members = (0..graph.items()).filter(|&item| contains(item)).map(|item| scores[item]);
        let (sum, size) = sums(members);
        (net, scale) = (net - ridge * sum, scale + ridge * size);
        // Sums that overflow say nothing.
        if scale > f64::MIN_POSITIVE / f64::EPSILON && scale.is_finite() {
            largest = largest.max(net.abs() / scale);
        }
    }
    largest
}

/// The sum of the values, and of their sizes.
pub(crate) fn sums(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((0.0, 0.0), |(sum, size), value| (sum + value, size + value.abs()))
}

/// The number of connected components of the votes with positive weight.
pub(crate) fn components(graph: &ComparisonGraph, weight: &[f64]) -> usize {
    let groups = graph.groups();
    let mut root: Vec<usize> = (0..graph.items()).collect();
    let mut count = graph.items();
    for g in (0..groups.len()).filter(|&g| weight[g] > 0.0) {
        let (from, to) = (root[groups.left[g] as usize], root[groups.right[g] as usize]);
        if from != to {
            root.iter_mut().filter(|root| **root == from).for_each(|root| *root = to);
            count -= 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use hodgerank::{Comparison, Groups};

    use super::*;

    /// Two strong pairs and a weak link: item 0 beats 1, 1 beats 2, 2 beats 3, each by one.
    fn graph() -> ComparisonGraph {
        let votes = [
            Comparison::new(0, 1, 1.0).with_count(1 << 50),
            Comparison::new(1, 2, 1.0),
            Comparison::new(2, 3, 1.0).with_count(1 << 50),
        ];
        ComparisonGraph::new(4, Groups::merge(4, &votes).unwrap().groups).unwrap()
    }

    #[test]
    fn a_weak_link_is_seen() {
        let graph = graph();
        let weight = &graph.groups().weight;
        let violation = |scores: [f64; 4]| largest_violation(&graph, &scores, weight, |r| r, 0.0);
        assert!(violation([1.5, 0.5, -0.5, -1.5]) < 1e-15);
        // The gradient at these scores is small compared with the weights.
        assert!(violation([1.0, 0.0, 0.0, -1.0]) > 0.3);
        assert_eq!(components(&graph, weight), 1);
        assert_eq!(components(&graph, &[1.0, 0.0, 1.0]), 2);
    }
}
