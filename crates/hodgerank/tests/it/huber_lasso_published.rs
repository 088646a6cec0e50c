//! Huber-LASSO and its refit on PC-VQA, reference 1, against the paper's table.

use crate::shapes::largest_difference;
use crate::studies::PublishedStudy;
use hodgerank::path::StopAt;
use hodgerank::solve::huber_lasso::{self, Knots};
use hodgerank::solve::lasso_l2::{self, Protocol};
use hodgerank::solve::{HuberLassoOptions, LassoL2Options, Status};

/// Stops once 5% of the votes are flagged.
fn five_percent(study: &PublishedStudy) -> StopAt {
    StopAt::Flagged(0.05 * study.graph.groups().votes())
}

#[test]
fn hlasso_reproduces_the_published_scores() {
    let Some(study) = PublishedStudy::read() else { return };
    let expected = study.column("hlasso");
    let options = HuberLassoOptions::default();
    let at = huber_lasso::solve_at(&study.graph, 1.43953, None, &options).unwrap();
    assert!(largest_difference(&at.scores, &expected) < 6e-5);
    let path = huber_lasso::compute_path(&study.graph, &options, five_percent(&study)).unwrap();
    assert_eq!(path.knots.len(), 13);
    let lambda = path.knots[12];
    assert!((lambda - 1.43953).abs() < 5e-6);
    assert_eq!(path.flagged_at(lambda).len(), 61);
    assert!(largest_difference(path.last_scores(), &expected) < 6e-5);
    let exact = HuberLassoOptions { knots: Knots::Exact { max_knots: 1000 }, ..options };
    let exact = huber_lasso::compute_path(&study.graph, &exact, StopAt::End).unwrap();
    assert_eq!(exact.flagged_at(lambda).len(), 61);
    assert!(largest_difference(&exact.scores_at(lambda), &expected) < 6e-5);
}

#[test]
fn lasso_l2_reproduces_the_published_scores() {
    let Some(study) = PublishedStudy::read() else { return };
    let options = LassoL2Options { protocol: Protocol::Paper, ..LassoL2Options::default() };
    let found = lasso_l2::solve(&study.graph, &options, five_percent(&study)).unwrap();
    let votes = |g: &u32| study.graph.groups().weight[*g as usize];
    assert_eq!(found.removed.len(), 52);
    assert_eq!(found.removed.iter().map(votes).sum::<f64>(), 193.0);
    assert_eq!((found.solution.status, found.components), (Status::Solved, 1));
    let difference = largest_difference(&found.solution.scores, &study.column("lasso_l2"));
    assert!(difference < 6e-5, "{difference:e}");
}
