//! λ by cross-validation: detection of outliers, invariances, errors.

use hodgerank::fit::{Fit, fit};
use hodgerank::select::OutlierRule;
use hodgerank::select::cross_validation::{
    CrossValidation, CrossValidationOptions, MAX_VOTES, solve,
};
use hodgerank::simulate::{Noise, SimulateOptions, Simulation};
use hodgerank::solve::{Status, huber_lasso};
use hodgerank::{Comparison, ComparisonGraph, Error, FitOptions, Groups, Method};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn graph(items: usize, votes: &[Comparison]) -> ComparisonGraph {
    ComparisonGraph::new(items, Groups::merge(items, votes).unwrap().groups).unwrap()
}

/// Graded votes on 16 items; 5% of them have an error of 2 to 4.
fn with_large_outliers(votes: u64, seed: u64) -> Vec<(Comparison, bool)> {
    let noise = Noise::Gaussian { sigma: 0.1 };
    let options = SimulateOptions { votes, noise, graded: true, seed, ..Default::default() };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let spoil = |mut vote: Comparison| {
        let bad = rng.random_bool(0.05);
        if bad {
            let error = rng.random_range(2.0..4.0);
            vote.y += if rng.random_bool(0.5) { error } else { -error };
        }
        (vote, bad)
    };
    Simulation::new(&options).unwrap().map(|vote| vote.comparison()).map(spoil).collect()
}

fn small(seed: u64) -> Vec<Comparison> {
    with_large_outliers(300, seed).into_iter().map(|(vote, _)| vote).collect()
}

fn cross_validated(votes: &[Comparison], folds: usize, seed: u64) -> CrossValidation {
    let found = solve(&graph(16, votes), &CrossValidationOptions { folds, seed }).unwrap();
    assert_eq!(found.status, Status::Solved);
    found
}

fn fitted(graph: &ComparisonGraph, method: Method) -> Fit {
    let outliers = OutlierRule::CrossValidation(CrossValidationOptions::default());
    fit(graph, &FitOptions::new().method(method).outliers(outliers)).unwrap()
}

#[test]
fn few_and_large_outliers_are_found() {
    let study = with_large_outliers(2000, 1);
    let votes: Vec<Comparison> = study.iter().map(|(vote, _)| *vote).collect();
    let merged = Groups::merge(16, &votes).unwrap();
    let graph = ComparisonGraph::new(16, merged.groups).unwrap();
    let found = fitted(&graph, Method::HuberLasso);
    let is_flagged =
        |vote: usize| merged.group_of[vote].is_some_and(|g| found.flagged[g as usize] > 0.0);
    let count = |of: &dyn Fn(usize) -> bool| (0..votes.len()).filter(|&k| of(k)).count() as f64;
    let bad = count(&|k| study[k].1);
    let hits = count(&|k| study[k].1 && is_flagged(k));
    let f1 = 2.0 * hits / (bad + count(&is_flagged));
    assert!(f1 >= 0.95, "{f1}");
}

#[test]
fn the_chosen_lambda_minimises_both_curves() {
    let found = cross_validated(&small(2), 5, 0);
    let chosen = found.curve[found.chosen];
    let own = if found.refitted { chosen.refitted.mean } else { chosen.shrunk.mean };
    assert!(found.curve.iter().all(|at| own <= at.shrunk.mean && own <= at.refitted.mean));
    assert!(found.curve.windows(2).all(|pair| pair[0].lambda > pair[1].lambda));
    assert!(found.curve.iter().all(|at| at.shrunk.standard_error > 0.0));
    // Without the refit, the bias of large outliers would lead to a smaller λ.
    let shrunk = found.curve.iter().map(|at| at.shrunk.mean).fold(f64::INFINITY, f64::min);
    assert!(found.refitted && own < shrunk);
    assert_eq!(found.lambda(), Some(chosen.lambda));
}

#[test]
fn hlasso_stops_at_lambda_and_other_methods_flag_as_many_votes() {
    let graph = graph(16, &small(3));
    let huber = fitted(&graph, Method::HuberLasso);
    let found = huber.cross_validation.unwrap();
    let lambda = found.lambda().unwrap();
    assert_eq!(huber.stop.map(|(_, at)| at), Some(lambda));
    let scores = huber_lasso::solve_at(&graph, lambda, None, &Default::default()).unwrap().scores;
    let gamma = huber_lasso::outliers(&graph, &scores, lambda);
    let flagged = gamma.iter().filter(|gamma| **gamma != 0.0).count() as f64;
    assert!(flagged > 5.0);
    assert_eq!(huber.flagged.iter().sum::<f64>(), flagged);
    for method in [Method::InverseScaleSpace, Method::HardThreshold, Method::Trimmed] {
        let other = fitted(&graph, method);
        assert_eq!(other.cross_validation.as_ref(), Some(&found));
        assert_eq!(other.flagged.iter().sum::<f64>(), flagged, "{method:?}");
    }
}

#[test]
fn results_do_not_depend_on_sides_and_row_order() {
    let mut votes: Vec<Comparison> =
        small(4).into_iter().map(|vote| Comparison { y: vote.y.signum(), ..vote }).collect();
    let together = cross_validated(&votes, 4, 1);
    // Every other vote with sides exchanged, rows in another order, equal votes as counts.
    for vote in votes.iter_mut().step_by(2) {
        *vote = Comparison::new(vote.right, vote.left, -vote.y);
    }
    votes.reverse();
    assert_eq!(cross_validated(&votes, 4, 1), together);
    let groups = Groups::merge(16, &votes).unwrap().groups;
    assert!(groups.len() < votes.len());
    let rows: Vec<Comparison> = (0..groups.len())
        .map(|g| {
            let vote = Comparison::new(groups.left[g], groups.right[g], groups.y[g]);
            vote.with_count(groups.weight[g] as u64)
        })
        .collect();
    assert_eq!(cross_validated(&rows, 4, 1), together);
}

#[test]
fn lambda_scales_with_the_votes() {
    let votes = small(5);
    let large: Vec<_> = votes.iter().map(|vote| Comparison { y: 8.0 * vote.y, ..*vote }).collect();
    let (found, scaled) = (cross_validated(&votes, 5, 2), cross_validated(&large, 5, 2));
    assert_eq!(scaled.chosen, found.chosen);
    for (one, eight) in found.curve.iter().zip(&scaled.curve) {
        assert!((eight.lambda / one.lambda / 8.0 - 1.0).abs() < 1e-12);
        assert!((eight.shrunk.mean / one.shrunk.mean / 64.0 - 1.0).abs() < 1e-5);
    }
}

#[test]
fn results_depend_on_the_seed_and_not_on_threads() {
    let votes = small(6);
    let on = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| cross_validated(&votes, 5, seed))
    };
    let one = on(1, 0);
    assert_eq!(one, on(4, 0));
    assert_ne!(one.curve, on(1, 1).curve);
    assert_ne!(one.curve, cross_validated(&votes, 6, 0).curve);
}

#[test]
fn consistent_votes_have_no_outliers() {
    let pairs = (0..16).flat_map(|i| (0..i).map(move |j| (i, j)));
    let votes: Vec<_> = pairs.map(|(i, j)| Comparison::new(i, j, f64::from(i - j))).collect();
    let graph = graph(16, &votes);
    let found = solve(&graph, &CrossValidationOptions::default()).unwrap();
    assert!(found.curve.is_empty() && found.lambda().is_none());
    let fit = fitted(&graph, Method::InverseScaleSpace);
    assert!(fit.flagged.iter().all(|votes| *votes == 0.0));
}

#[test]
fn unsuitable_votes_are_rejected() {
    let options = CrossValidationOptions::default();
    let one = CrossValidationOptions { folds: 1, ..options };
    let graded = graph(16, &small(7));
    assert!(matches!(solve(&graded, &one), Err(Error::BadOption { option: "outliers", .. })));
    let endless = CrossValidationOptions { folds: usize::MAX, ..options };
    assert!(matches!(solve(&graded, &endless), Err(Error::TooFewCycles { .. })));
    let tree: Vec<_> = (1..9).map(|i| Comparison::new(0, i, 1.0)).collect();
    let refused = solve(&graph(9, &tree), &options).unwrap_err();
    assert_eq!(refused, Error::TooFewCycles { cycles: 0, folds: 5, needed: 10 });
    let many = MAX_VOTES as u64 + 1;
    let counted = graph(2, &[Comparison::new(0, 1, 1.0).with_count(many)]);
    let refused = solve(&counted, &options).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { count, .. } if count == many), "{refused}");
}

/// Two folds leave as many training rows as half of the votes: the LASSO would almost interpolate
/// them. An earlier version took a minute.
#[test]
fn two_folds_end_before_the_outliers_explain_everything() {
    let study = SimulateOptions { votes: 768, seed: 1, ..Default::default() };
    let votes: Vec<Comparison> =
        Simulation::new(&study).unwrap().map(|vote| vote.comparison()).collect();
    let found = cross_validated(&votes, 2, 0);
    assert!((10..60).contains(&found.curve.len()), "{} points", found.curve.len());
}
