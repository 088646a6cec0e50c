//! Least squares and ridge: optimality, invariances, and the published scores of a real study.

use crate::shapes;

use crate::shapes::largest_difference;
use crate::studies::PublishedStudy;
use hodgerank::laplacian::BackendChoice;
use hodgerank::solve::{L2Options, RidgeOptions, Solution, Status, l2, ridge};
use hodgerank::{Comparison, ComparisonGraph, Error, Groups};
use proptest::prelude::*;

fn l2_scores(graph: &ComparisonGraph) -> Vec<f64> {
    l2::solve(graph, &L2Options::default()).unwrap().scores
}

/// XᵀW(y − Xθ) − aθ, the negative gradient of the objective.
fn negative_gradient(graph: &ComparisonGraph, theta: &[f64], a: f64) -> Vec<f64> {
    let fitted = graph.gradient(theta);
    let residual: Vec<f64> = graph.groups().y.iter().zip(&fitted).map(|(y, f)| y - f).collect();
    let pull = graph.divergence(&residual);
    pull.iter().zip(theta).map(|(pull, theta)| pull - a * theta).collect()
}

fn assert_solved(name: &str, graph: &ComparisonGraph, solution: &Solution, a: f64) {
    assert_eq!(solution.status, Status::Solved, "{name}");
    let votes = graph.divergence(&graph.groups().y).iter().fold(1.0_f64, |m, v| m.max(v.abs()));
    let slope = negative_gradient(graph, &solution.scores, a);
    let steepest = slope.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    assert!(steepest < 1e-9 * votes, "{name}: slope {steepest:e}");
    for members in graph.components().iter() {
        let sum: f64 = members.iter().map(|&i| solution.scores[i as usize]).sum();
        assert!(sum.abs() < 1e-10 * members.len() as f64, "{name}: mean");
    }
}

#[test]
fn scores_are_optimal() {
    let mut graphs = shapes::all();
    graphs.push(("large", shapes::voted(5000, &shapes::random(5000, 40_000, 1), 2)));
    graphs.push(("large grid", shapes::voted(4900, &shapes::grid(70, 70), 3)));
    for (name, graph) in graphs {
        let solution = l2::solve(&graph, &L2Options::default()).unwrap();
        assert_solved(name, &graph, &solution, 0.0);
        for a in [0.01, 1.0, 30.0] {
            let options = RidgeOptions { ridge: a, ..RidgeOptions::default() };
            assert_solved(name, &graph, &ridge::solve(&graph, &options).unwrap(), a);
        }
    }
}

#[test]
fn items_never_compared_score_zero() {
    let graph = shapes::voted(4, &[(0, 2)], 4);
    let scores = l2_scores(&graph);
    assert_eq!((scores[1], scores[3]), (0.0, 0.0));
    assert_eq!(scores[0], -scores[2]);
    let nothing = l2::solve(&shapes::voted(0, &[], 5), &L2Options::default()).unwrap();
    assert!(nothing.scores.is_empty() && nothing.info.backends.is_empty());
}

#[test]
fn consistent_votes_are_explained_exactly() {
    let truth: Vec<f64> = (0..60).map(|i| f64::from(i % 7) - 3.0 * f64::from(i % 2)).collect();
    let edges = shapes::random(60, 200, 6);
    let say = |&(i, j): &(u32, u32)| Comparison::new(i, j, truth[i as usize] - truth[j as usize]);
    let graph = shapes::graph(60, &edges.iter().map(say).collect::<Vec<_>>());
    let mut expected = truth.clone();
    graph.components().centre(&mut expected);
    assert!(largest_difference(&l2_scores(&graph), &expected) < 1e-9);
}

#[test]
fn a_long_chain_of_wins_is_solved() {
    let votes: Vec<_> = (1..100_000).map(|i| Comparison::new(i - 1, i, 1.0)).collect();
    let solution = l2::solve(&shapes::graph(100_000, &votes), &L2Options::default()).unwrap();
    assert_eq!(solution.status, Status::Solved);
    let expected: Vec<f64> = (0..100_000).map(|i| 49_999.5 - f64::from(i)).collect();
    assert!(largest_difference(&solution.scores, &expected) < 1e-6);
}

#[test]
fn bad_options_are_named() {
    let graph = shapes::voted(3, &shapes::path(3), 7);
    let named = |result: hodgerank::Result<Solution>| match result.unwrap_err() {
        Error::BadOption { option, .. } => option,
        other => panic!("{other}"),
    };
    for tolerance in [0.0, 1.0, -1.0, f64::NAN] {
        let options = L2Options { tolerance, ..L2Options::default() };
        assert!(options.validate().is_err());
        assert_eq!(named(l2::solve(&graph, &options)), "tolerance");
    }
    let options = L2Options { max_iterations: 0, ..L2Options::default() };
    assert_eq!(named(l2::solve(&graph, &options)), "max-iterations");
    for a in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = RidgeOptions { ridge: a, ..RidgeOptions::default() };
        assert!(options.validate().is_err());
        assert_eq!(named(ridge::solve(&graph, &options)), "ridge");
    }
    assert!(L2Options::default().validate().is_ok() && RidgeOptions::default().validate().is_ok());
}

#[test]
fn outcomes_that_overflow_are_an_error() {
    let votes = [Comparison::new(0, 1, f64::MAX).with_count(3)];
    let result = l2::solve(&shapes::graph(2, &votes), &L2Options::default());
    assert!(matches!(result.unwrap_err(), Error::Overflow { item: 0, .. }));
}

#[test]
fn a_tiny_ridge_is_nearly_least_squares() {
    let graph = shapes::voted(300, &shapes::random(300, 900, 8), 9);
    let options = RidgeOptions { ridge: 1e-14, ..RidgeOptions::default() };
    let solution = ridge::solve(&graph, &options).unwrap();
    assert!(largest_difference(&solution.scores, &l2_scores(&graph)) < 1e-9);
}

fn any_votes() -> impl Strategy<Value = (usize, Vec<Comparison>)> {
    (2..30_u32).prop_flat_map(|items| {
        let vote =
            (0..items, 1..items, -4.0..4.0, 1..40_u64).prop_map(move |(i, gap, y, count)| {
                Comparison::new(i, (i + gap) % items, y).with_count(count)
            });
        (Just(items as usize), prop::collection::vec(vote, 0..80))
    })
}

proptest! {
    #[test]
    fn new_names_move_scores_along((items, votes) in any_votes(), seed in any::<u64>()) {
        let mut order: Vec<u32> = (0..items as u32).collect();
        order.sort_by_key(|&i| (u64::from(i) + 1).wrapping_mul(seed | 1).rotate_left(17));
        let renamed: Vec<_> = votes
            .iter()
            .map(|v| Comparison { left: order[v.left as usize], right: order[v.right as usize], ..*v })
            .collect();
        let before = l2_scores(&shapes::graph(items, &votes));
        let after = l2_scores(&shapes::graph(items, &renamed));
        let moved: Vec<f64> = order.iter().map(|&i| after[i as usize]).collect();
        prop_assert!(largest_difference(&moved, &before) < 1e-10);
    }

    #[test]
    fn sides_and_splits_do_not_matter((items, votes) in any_votes()) {
        let before = l2_scores(&shapes::graph(items, &votes));
        let mirror = |v: &Comparison| Comparison { left: v.right, right: v.left, y: -v.y, ..*v };
        let flipped: Vec<_> = votes.iter().map(mirror).collect();
        prop_assert_eq!(&l2_scores(&shapes::graph(items, &flipped)), &before);
        let one_by_one: Vec<_> = votes
            .iter()
            .flat_map(|v| std::iter::repeat_n(v.with_count(1), v.count as usize))
            .collect();
        prop_assert_eq!(&l2_scores(&shapes::graph(items, &one_by_one)), &before);
        let apart = Groups::keep_apart(items, &one_by_one).unwrap().groups;
        let apart = l2_scores(&ComparisonGraph::new(items, apart).unwrap());
        prop_assert!(largest_difference(&apart, &before) < 1e-10);
    }

    #[test]
    fn scores_scale_with_outcomes_and_not_with_counts((items, votes) in any_votes()) {
        let before = l2_scores(&shapes::graph(items, &votes));
        let tripled: Vec<_> = votes.iter().map(|v| Comparison { y: 3.0 * v.y, ..*v }).collect();
        let scaled: Vec<f64> = before.iter().map(|s| 3.0 * s).collect();
        let found = l2_scores(&shapes::graph(items, &tripled));
        prop_assert!(largest_difference(&found, &scaled) < 1e-9);
        let more: Vec<_> = votes.iter().map(|v| v.with_count(5 * v.count)).collect();
        prop_assert!(largest_difference(&l2_scores(&shapes::graph(items, &more)), &before) < 1e-9);
    }

    #[test]
    fn scores_of_any_votes_match_the_reference((items, votes) in any_votes(), a in 0.01..9.0) {
        let graph = shapes::graph(items, &votes);
        prop_assert!(largest_difference(&l2_scores(&graph), &shapes::reference_scores(&graph, 0.0)) < 1e-9);
        let options = RidgeOptions { ridge: a, ..RidgeOptions::default() };
        let found = ridge::solve(&graph, &options).unwrap().scores;
        prop_assert!(largest_difference(&found, &shapes::reference_scores(&graph, a)) < 1e-9);
    }
}

/// PC-VQA, reference 1: the columns `l2` and `xgb_linear` of the published table.
#[test]
fn published_scores_are_reproduced() {
    let Some(study) = PublishedStudy::read() else { return };
    let graph = &study.graph;
    assert_eq!((graph.groups().votes(), graph.groups().len()), (3840.0, 233));
    let ridge_1 = ridge::solve(graph, &RidgeOptions::default()).unwrap().scores;
    for (name, scores) in [("l2", l2_scores(graph)), ("xgb_linear", ridge_1)] {
        let difference = largest_difference(&scores, &study.column(name));
        assert!(difference < 6e-5, "{name}: {difference:e}");
    }
}

#[test]
fn the_backend_is_reported() {
    let (items, edges) = shapes::disconnected();
    let graph = shapes::voted(items, &edges, 10);
    for backend in hodgerank::laplacian::Backend::ALL {
        let options = L2Options { backend: BackendChoice::Fixed(backend), ..L2Options::default() };
        let info = l2::solve(&graph, &options).unwrap().info;
        assert_eq!(info.backends, [backend]);
        assert!(info.iterations > 0 && info.residual <= 1e-10);
    }
}
