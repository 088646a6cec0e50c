//! Least squares without the outliers of Huber-LASSO.

use crate::shapes;
use crate::shapes::largest_difference;
use hodgerank::path::StopAt;
use hodgerank::solve::huber_lasso::Knots;
use hodgerank::solve::lasso_l2::{self, Protocol};
use hodgerank::solve::{HuberLassoOptions, L2Options, LassoL2Options, l2};
use hodgerank::{Comparison, ComparisonGraph, Error};

/// Consistent votes except for those in `wrong`, which have errors of 6, 7, 8, ….
fn study(wrong: &[usize]) -> (ComparisonGraph, Vec<f64>) {
    let truth: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.5).collect();
    let mut votes: Vec<_> = shapes::complete(12)
        .iter()
        .map(|&(i, j)| Comparison::new(i, j, truth[i as usize] - truth[j as usize]))
        .collect();
    for (k, &vote) in wrong.iter().enumerate() {
        votes[vote].y += 6.0 + k as f64;
    }
    (shapes::graph(12, &votes), truth)
}

#[test]
fn removing_wrong_votes_recovers_the_truth() {
    let (graph, truth) = study(&[3, 20, 41]);
    for knots in [Knots::default(), Knots::Exact { max_knots: 1000 }] {
        for protocol in [Protocol::General, Protocol::Paper] {
            let path = HuberLassoOptions { knots, ..HuberLassoOptions::default() };
            let options = LassoL2Options { path, protocol, ..LassoL2Options::default() };
            let found = lasso_l2::solve(&graph, &options, StopAt::Flagged(3.0)).unwrap();
            let mut removed = found.removed.clone();
            removed.sort_unstable();
            assert_eq!(removed, [3, 20, 41]);
            assert!(largest_difference(&found.solution.scores, &truth) < 1e-10);
            if protocol == Protocol::General && matches!(knots, Knots::Exact { .. }) {
                assert_eq!(found.removed, [41, 20, 3], "the largest error is found first");
            }
            let at = lasso_l2::solve(&graph, &options, StopAt::Value(3.0)).unwrap();
            assert!(largest_difference(&at.solution.scores, &truth) < 1e-10);
        }
    }
}

#[test]
fn nothing_removed_is_least_squares() {
    let (graph, _) = study(&[7]);
    let options = LassoL2Options::default();
    let found = lasso_l2::solve(&graph, &options, StopAt::Value(f64::INFINITY)).unwrap();
    assert!(found.removed.is_empty());
    let l2 = l2::solve(&graph, &L2Options::default()).unwrap();
    assert_eq!(found.solution.scores, l2.scores);
}

#[test]
fn disconnected_trusted_votes_are_reported() {
    let (graph, _) = study(&[]);
    let at_0: Vec<u32> = (0..66).filter(|&g| graph.groups().left[g as usize] == 0).collect();
    let (components, solution) = lasso_l2::refit(&graph, &at_0, &L2Options::default()).unwrap();
    assert_eq!((components, solution.scores[0]), (2, 0.0));
    let error = lasso_l2::refit(&graph, &[66], &L2Options::default()).unwrap_err();
    assert!(matches!(error, Error::BadOption { option: "removed", .. }));
}
