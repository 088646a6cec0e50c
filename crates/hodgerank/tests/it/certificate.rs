//! Certificates: what was asked for is reached, or the status says that it was not.

use crate::shapes;
use hodgerank::certificate::MAX_VIOLATION;
use hodgerank::path::{Parameter, StopAt};
use hodgerank::solve::huber_lasso::{self, Knots};
use hodgerank::solve::{HuberLassoOptions, bregman, inverse_scale_space};
use hodgerank::{
    Asked, Comparison, ComparisonGraph, Fit, FitOptions, Method, OutlierRule, Status, fit,
};

/// A round robin of seven items with errors of at most 0.3, ten wrong votes of size 4, and one vote
/// with a misplaced decimal point.
fn one_gross_vote(size: f64) -> ComparisonGraph {
    let mut votes = Vec::new();
    for (k, &(i, j)) in shapes::complete(7).iter().enumerate() {
        let truth = f64::from(j) - f64::from(i);
        for repeat in 0..6 {
            let noise = 0.1 * ((7 * k + 3 * repeat) % 7) as f64 - 0.3;
            votes.push(Comparison::new(i, j, truth + noise));
        }
        if k % 2 == 0 && k < 20 {
            votes.push(Comparison::new(i, j, truth - 4.0));
        }
    }
    votes.push(Comparison::new(0, 6, size));
    shapes::graph(7, &votes)
}

fn fitted(graph: &ComparisonGraph, method: Method, rule: OutlierRule) -> Fit {
    fit(graph, &FitOptions::default().method(method).outliers(rule)).unwrap()
}

#[test]
fn a_gross_vote_does_not_hide_the_other_bad_votes() {
    for size in [1e3, 1e6, 1e9, 1e12] {
        let graph = one_gross_vote(size);
        for method in [Method::HuberLasso, Method::LassoL2] {
            let rules = [
                OutlierRule::Lambda(1.0),
                OutlierRule::Count(11),
                OutlierRule::Share(0.08),
                OutlierRule::Scaled { m: 3.0 },
            ];
            for rule in rules {
                let fit = fitted(&graph, method, rule);
                assert_eq!(fit.status, Status::Complete, "{size} {method} {rule:?}: {fit:?}");
                let flagged = fit.flagged_votes();
                assert!((11.0..=12.0).contains(&flagged), "{size} {method} {rule:?}: {flagged}");
                let certificate = fit.certificate;
                assert!(certificate.violation.unwrap() <= MAX_VIOLATION, "{certificate:?}");
                if rule == OutlierRule::Lambda(1.0) {
                    assert_eq!(certificate.asked, Some(Asked::Value(Parameter::Lambda, 1.0)));
                    assert_eq!(certificate.reached, Some(1.0));
                    assert_eq!(fit.stop, Some((Parameter::Lambda, 1.0)));
                }
            }
        }
    }
}

#[test]
fn automatic_rules_see_past_gross_votes() {
    for size in [1e3, 1e6, 1e9, 1e12] {
        let graph = one_gross_vote(size);
        for method in [Method::InverseScaleSpace, Method::HuberLasso, Method::LassoL2] {
            let fit = fitted(&graph, method, OutlierRule::Auto);
            assert_eq!(fit.flagged_votes(), 11.0, "{size} {method}: {:?}", fit.certificate);
            assert_eq!(fit.status, Status::Complete, "{size} {method}");
        }
    }
}

#[test]
fn a_lambda_far_below_the_largest_residual_is_reached() {
    // The example of a file with one outcome of 1000: λ_max is 735.
    let mut votes = vec![Comparison::new(0, 1, 4.0), Comparison::new(0, 2, 1000.0)];
    votes.extend([(0, 1), (0, 1), (0, 1), (1, 2)].map(|(i, j)| Comparison::new(i, j, 1.0)));
    votes.extend([Comparison::new(0, 2, 2.0); 2]);
    let graph = shapes::graph(3, &votes);
    let grid = HuberLassoOptions::default();
    let exact = HuberLassoOptions { knots: Knots::Exact { max_knots: 1000 }, ..grid };
    for lambda in [100.0, 1.0, 0.01, 1e-5] {
        let reference = huber_lasso::solve_at(&graph, lambda, None, &grid).unwrap();
        for options in [grid, exact] {
            let path = huber_lasso::compute_path(&graph, &options, StopAt::Value(lambda)).unwrap();
            assert_eq!(path.status, Status::Complete);
            assert_eq!(path.knots.last(), Some(&lambda));
            let difference = shapes::largest_difference(path.last_scores(), &reference.scores);
            assert!(difference < 1e-8, "{lambda}: {difference}");
        }
    }
}

#[test]
fn the_end_of_a_grid_ends_only_paths_without_a_request() {
    let graph = one_gross_vote(1e6);
    let options = HuberLassoOptions::default();
    let path = |stop| huber_lasso::compute_path(&graph, &options, stop).unwrap();
    for stop in [StopAt::End, StopAt::FlaggedOrEnd(11.0)] {
        let path = path(stop);
        assert_eq!((path.knots.len(), path.status), (100, Status::Complete));
    }
    let requested = path(StopAt::Flagged(11.0));
    assert!(requested.knots.len() > 100 && requested.entries().len() >= 11);
}

#[test]
fn what_cannot_be_reached_is_not_complete() {
    // Ten agreeing votes and one against them: nothing else can be flagged.
    let mut votes: Vec<_> = shapes::complete(5)
        .iter()
        .map(|&(i, j)| Comparison::new(i, j, f64::from(j) - f64::from(i)))
        .collect();
    votes.push(Comparison::new(0, 4, -4.0));
    let graph = shapes::graph(5, &votes);
    let methods = [Method::HuberLasso, Method::LassoL2, Method::InverseScaleSpace, Method::Bregman];
    for method in methods {
        let fit = fitted(&graph, method, OutlierRule::Count(5));
        assert_eq!(fit.status, Status::NotReached, "{method}: {:?}", fit.certificate);
        assert_eq!(fit.certificate.asked, Some(Asked::Votes(5.0)), "{method}");
        assert_eq!(fit.certificate.reached, Some(1.0), "{method}");
    }
    // Below double precision.
    let fit = fitted(&graph, Method::HuberLasso, OutlierRule::Lambda(1e-30));
    assert_eq!(fit.status, Status::NotReached);
    let Some((Parameter::Lambda, reached)) = fit.stop else { panic!("{fit:?}") };
    assert!(reached > 1e-30 && fit.certificate.reached == Some(reached));
    let exact = HuberLassoOptions { knots: Knots::Exact { max_knots: 1000 }, ..Default::default() };
    let path = huber_lasso::compute_path(&graph, &exact, StopAt::Value(1e-30)).unwrap();
    assert_eq!(path.status, Status::NotReached);
}

#[test]
fn requested_times_are_reached_exactly() {
    let graph = one_gross_vote(5.0);
    for time in [0.1, 0.7, 1.0 / 3.0, 2.0] {
        let iss = inverse_scale_space::compute_path(
            &graph,
            &inverse_scale_space::InverseScaleSpaceOptions::default(),
            StopAt::Value(time),
        );
        let lbi = bregman::compute_path(&graph, &Default::default(), StopAt::Value(time));
        for path in [iss.unwrap(), lbi.unwrap()] {
            assert_eq!((path.knots.last(), path.status), (Some(&time), Status::Complete));
        }
    }
}

#[test]
fn items_that_only_removed_votes_connect_are_ranked_apart() {
    let wins = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (0, 3), (3, 0)];
    let votes: Vec<_> = wins.iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect();
    let graph = shapes::graph(6, &votes);
    let fit = fitted(&graph, Method::LassoL2, OutlierRule::Lambda(0.5));
    assert_eq!(fit.flagged_votes(), 2.0, "the two votes between the triples");
    assert_eq!((fit.status, fit.components.len()), (Status::Disconnected, 2));
    assert_eq!(fit.certificate.components, 2);
    for members in fit.components.iter() {
        let sum: f64 = members.iter().map(|&i| fit.scores[i as usize]).sum();
        assert!(sum.abs() < 1e-15);
    }
    let hlasso = fitted(&graph, Method::HuberLasso, OutlierRule::Lambda(0.5));
    assert_eq!(hlasso.components.len(), 1, "flagged votes still count, by λ each");
}

#[test]
fn every_method_is_certified_on_ordinary_votes() {
    let graph = one_gross_vote(5.0);
    for &method in Method::ALL.iter().filter(|method| !method.needs_annotators()) {
        let fit = fit(&graph, &FitOptions::default().method(method)).unwrap();
        let is_done = matches!(fit.status, Status::Solved | Status::Complete);
        assert!(is_done, "{method}: {:?} {:?}", fit.status, fit.certificate);
        match fit.certificate.violation {
            Some(violation) => assert!(violation < 1e-9, "{method}: {violation}"),
            None => assert_eq!(method, Method::Bregman),
        }
    }
}
