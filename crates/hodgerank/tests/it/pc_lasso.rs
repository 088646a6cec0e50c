//! Principal-components lasso: optimality, invariances, and the order of a published study.

use crate::shapes;

use crate::shapes::largest_difference;
use crate::studies::{PublishedStudy, kendall};
use hodgerank::solve::pc_lasso::{self, PcLasso};
use hodgerank::solve::{PcLassoOptions, Status};
use hodgerank::{Comparison, ComparisonGraph, Error, Groups};

fn solve(graph: &ComparisonGraph, lambda: f64, ratio: f64) -> PcLasso {
    let options = PcLassoOptions { lambda: Some(lambda), ratio, ..PcLassoOptions::default() };
    pc_lasso::solve(graph, &options).unwrap()
}

/// Lθ from the votes, not from the matrix that the solver uses.
fn laplacian_times(graph: &ComparisonGraph, theta: &[f64]) -> Vec<f64> {
    graph.divergence(&graph.gradient(theta))
}

/// d₁² of each component by power iteration.
fn largest_eigenvalues(graph: &ComparisonGraph) -> Vec<f64> {
    let component = &graph.components().of;
    let mut x: Vec<f64> = (0..graph.items()).map(|i| ((i * i + 1) as f64 * 0.7).sin()).collect();
    let mut norms = vec![0.0; graph.components().len()];
    for _ in 0..200_000 {
        let next = laplacian_times(graph, &x);
        norms.fill(0.0);
        for (i, v) in next.iter().enumerate() {
            norms[component[i] as usize] += v * v;
        }
        norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
        x = (0..x.len()).map(|i| next[i] / norms[component[i] as usize].max(1e-300)).collect();
    }
    norms
}

#[test]
fn optimality_conditions_hold() {
    let (items, edges) = shapes::disconnected();
    let graphs = [
        ("random", shapes::voted(30, &shapes::random(30, 90, 1), 2)),
        ("complete", shapes::voted(12, &shapes::complete(12), 3)),
        ("disconnected", shapes::voted(items, &edges, 4)),
    ];
    for (name, graph) in graphs {
        let b = graph.divergence(&graph.groups().y);
        let most = b.iter().fold(0.0_f64, |most, b| most.max(b.abs()));
        let d = largest_eigenvalues(&graph);
        for ratio in [0.01, 0.3, 1.0, 2.5] {
            for lambda in [0.0, 0.02 * most, 0.3 * most] {
                let found = solve(&graph, lambda, ratio);
                assert_eq!(found.solution.status, Status::Solved, "{name}");
                let theta = &found.coefficients;
                let l_theta = laplacian_times(&graph, theta);
                for i in 0..graph.items() {
                    let d = d[graph.components().of[i] as usize];
                    let pull = b[i] - (1.0 - ratio) * l_theta[i] - ratio * d * theta[i];
                    let wrong = if theta[i] == 0.0 {
                        (pull.abs() - lambda).max(0.0)
                    } else {
                        (pull - lambda * theta[i].signum()).abs()
                    };
                    assert!(wrong <= 1e-8 * most, "{name} {lambda} {ratio}: {wrong:e} at {i}");
                }
                let mut centred = theta.clone();
                graph.components().centre(&mut centred);
                assert_eq!(found.solution.scores, centred);
            }
        }
    }
}

#[test]
fn a_large_lambda_gives_zero() {
    let graph = shapes::voted(20, &shapes::random(20, 60, 5), 6);
    let b = graph.divergence(&graph.groups().y);
    let most = b.iter().fold(0.0_f64, |most, b| most.max(b.abs()));
    assert!(solve(&graph, most, 0.1).coefficients.iter().all(|&theta| theta == 0.0));
    let few = solve(&graph, 0.9 * most, 0.1).coefficients;
    assert!((1..20).contains(&few.iter().filter(|&&theta| theta != 0.0).count()));
    let default = pc_lasso::solve(&graph, &PcLassoOptions::default()).unwrap();
    assert_eq!(default.lambda, 0.01 * most);
}

#[test]
fn results_do_not_depend_on_names_merging_and_other_components() {
    let votes = shapes::votes(&shapes::random(10, 25, 7), 8);
    let graph = shapes::graph(10, &votes);
    let before = solve(&graph, 5.0, 0.2).coefficients;
    let renamed: Vec<Comparison> =
        votes.iter().map(|v| Comparison { left: 9 - v.left, right: 9 - v.right, ..*v }).collect();
    let after = solve(&shapes::graph(10, &renamed), 5.0, 0.2).coefficients;
    let moved: Vec<f64> = after.iter().rev().copied().collect();
    assert!(largest_difference(&moved, &before) < 1e-7);
    let single: Vec<Comparison> =
        votes.iter().flat_map(|v| std::iter::repeat_n(v.with_count(1), v.count as usize)).collect();
    let apart = Groups::keep_apart(10, &single).unwrap().groups;
    let apart = solve(&ComparisonGraph::new(10, apart).unwrap(), 5.0, 0.2).coefficients;
    assert!(largest_difference(&apart, &before) < 1e-7);
    let mut more = votes.clone();
    more.push(Comparison::new(10, 11, 3.0).with_count(1000));
    let with_others = solve(&shapes::graph(12, &more), 5.0, 0.2).coefficients;
    assert!(largest_difference(&with_others[..10], &before) < 1e-6);
}

#[test]
fn bad_options_and_too_many_items_are_errors() {
    let graph = shapes::voted(3, &shapes::path(3), 7);
    let good = PcLassoOptions::default();
    let bad = [
        (PcLassoOptions { lambda: Some(-1.0), ..good }, "lambda"),
        (PcLassoOptions { lambda: Some(f64::NAN), ..good }, "lambda"),
        (PcLassoOptions { ratio: 0.0, ..good }, "ratio"),
        (PcLassoOptions { ratio: f64::INFINITY, ..good }, "ratio"),
        (PcLassoOptions { tolerance: 2.0, ..good }, "tolerance"),
        (PcLassoOptions { max_iterations: 0, ..good }, "max-iterations"),
    ];
    for (options, name) in bad {
        let error = pc_lasso::solve(&graph, &options).unwrap_err();
        assert!(matches!(error, Error::BadOption { option, .. } if option == name), "{name}");
    }
    let large = shapes::voted(2001, &shapes::path(2001), 1);
    let error = pc_lasso::solve(&large, &good).unwrap_err();
    assert!(matches!(error, Error::TooLarge { count: 2001, max: 2000, .. }));
    let short = PcLassoOptions { max_iterations: 1, ..good };
    assert_eq!(pc_lasso::solve(&graph, &short).unwrap().solution.status, Status::IterationLimit);
    let huge = shapes::graph(2, &[Comparison::new(0, 1, f64::MAX).with_count(3)]);
    assert!(matches!(pc_lasso::solve(&huge, &good).unwrap_err(), Error::Overflow { .. }));
    let nothing = pc_lasso::solve(&shapes::voted(4, &[], 1), &good).unwrap();
    assert_eq!((nothing.coefficients, nothing.solution.status), (vec![0.0; 4], Status::Solved));
}

/// PC-VQA, reference 1: the settings behind the published column are not known, its order is.
#[test]
fn the_published_order_is_reproduced() {
    let Some(study) = PublishedStudy::read() else { return };
    let (graph, golden) = (&study.graph, study.column("pc_lasso"));
    for (share, ratio) in [(0.0, 0.1), (0.01, 0.1), (0.01, 0.5), (0.05, 0.1), (0.01, 1.0)] {
        let b = graph.divergence(&graph.groups().y);
        let most = b.iter().fold(0.0_f64, |most, b| most.max(b.abs()));
        let tau = kendall(&solve(graph, share * most, ratio).coefficients, &golden);
        assert!(tau >= 0.9, "{share} {ratio}: {tau}");
    }
}
