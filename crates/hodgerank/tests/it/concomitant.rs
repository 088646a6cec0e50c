//! Joint estimation of scores and scale: optimality, consistency, invariances, collapse to zero.

use crate::shapes;
use crate::shapes::largest_difference;
use crate::studies::residuals;
use hodgerank::simulate::{Noise, SimulateOptions, Simulation};
use hodgerank::solve::concomitant::{self, Concomitant, NormalConstants, ScaleStatus};
use hodgerank::solve::{ConcomitantOptions, L2Options, l2};
use hodgerank::{Comparison, ComparisonGraph, Error, Groups};

fn solve(graph: &ComparisonGraph, m: f64) -> Concomitant {
    concomitant::solve(graph, &ConcomitantOptions { m, ..Default::default() }).unwrap()
}

fn graded(items: usize, votes: u64, sigma: f64, flips: f64, seed: u64) -> Vec<Comparison> {
    let noise = Noise::Gaussian { sigma };
    let graded = true;
    let options =
        SimulateOptions { items, votes, flips, noise, graded, seed, ..SimulateOptions::default() };
    Simulation::new(&options).unwrap().map(|vote| vote.comparison()).collect()
}

fn target(graph: &ComparisonGraph, m: f64) -> f64 {
    let tree = graph.items() - graph.components().len();
    let NormalConstants { per_vote, per_score } = NormalConstants::of(m);
    per_vote * graph.groups().votes() - per_score * tree as f64
}

/// σ Σ w ρ_M(r/σ) + ½ a σ.
fn objective(graph: &ComparisonGraph, scores: &[f64], sigma: f64, m: f64) -> f64 {
    let loss = |r: f64| {
        let t = (r / sigma).abs();
        if t <= m { 0.5 * t * t } else { m * t - 0.5 * m * m }
    };
    let r = residuals(graph, scores);
    let sum: f64 = r.iter().zip(&graph.groups().weight).map(|(&r, w)| w * loss(r)).sum();
    sigma * sum + 0.5 * target(graph, m) * sigma
}

fn assert_jointly_optimal(name: &str, graph: &ComparisonGraph, found: &Concomitant, m: f64) {
    assert_eq!(found.status, ScaleStatus::Solved, "{name}");
    assert_eq!(found.lambda, m * found.sigma, "{name}");
    let r = residuals(graph, &found.solution.scores);
    let psi: Vec<f64> = r.iter().map(|r| r.clamp(-found.lambda, found.lambda)).collect();
    let slope = graph.divergence(&psi).iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    assert!(slope <= 1e-8 * found.lambda * graph.groups().votes(), "{name}: slope {slope:e}");
    let sum: f64 =
        psi.iter().zip(&graph.groups().weight).map(|(p, w)| w * (p / found.sigma).powi(2)).sum();
    let target = target(graph, m);
    assert!((sum / target - 1.0).abs() < 1e-8, "{name}: {sum} for {target}");
}

#[test]
fn optimality_conditions_hold() {
    let names = ["random", "sparse random", "grid", "complete", "disconnected"];
    for (name, graph) in shapes::all().into_iter().filter(|(name, _)| names.contains(name)) {
        for m in [1.0, 1.35, 3.0] {
            assert_jointly_optimal(name, &graph, &solve(&graph, m), m);
        }
    }
    let study = SimulateOptions { flips: 0.2, ..SimulateOptions::default() };
    let votes: Vec<Comparison> =
        Simulation::new(&study).unwrap().map(|vote| vote.comparison()).collect();
    let graph = shapes::graph(16, &votes);
    assert_jointly_optimal("votes of ±1", &graph, &solve(&graph, 1.35), 1.35);
}

/// Grid search over scores and scale of three items, at three resolutions.
#[test]
fn grid_search_finds_nothing_better() {
    for seed in 0..5 {
        let graph = shapes::graph(3, &graded(3, 25, 0.4, 0.1, seed));
        let found = solve(&graph, 1.35);
        let at = &found.solution.scores;
        let best = objective(&graph, at, found.sigma, 1.35);
        for reach in [2.0, 0.1, 0.001] {
            let mut least = f64::INFINITY;
            for a in -10..=10 {
                for b in -10..=10 {
                    for c in -10..=10 {
                        let step = |k: i32| reach * f64::from(k) / 10.0;
                        let scores = [at[0] + step(a), at[1] + step(b), at[2]];
                        let sigma = found.sigma * step(c).exp();
                        least = least.min(objective(&graph, &scores, sigma, 1.35));
                    }
                }
            }
            assert!(least >= best * (1.0 - 1e-10), "{seed}: {least} below {best}");
        }
    }
}

#[test]
fn constants_match_published_tables() {
    let of = NormalConstants::of;
    assert!((of(1.345).per_vote - 0.710_164_5).abs() < 1e-6);
    // Computed by hand from Φ(1.35) = 0.91149 and φ(1.35) = 0.16038.
    assert!((of(1.35).per_vote - 0.7126).abs() < 2e-4, "{:?}", of(1.35));
    assert!((of(1.35).per_score - 0.5374).abs() < 1e-3, "{:?}", of(1.35));
    assert!((of(10.0).per_vote - 1.0).abs() < 1e-12 && (of(10.0).per_score - 1.0).abs() < 1e-12);
}

#[test]
fn scale_estimates_the_standard_deviation_of_normal_errors() {
    for m in [1.0, 1.35, 2.5] {
        // Ten items for a hundred votes, so that the degrees of freedom matter.
        let estimates: Vec<f64> = (0..200)
            .map(|seed| solve(&shapes::graph(10, &graded(10, 100, 0.5, 0.0, seed)), m).sigma)
            .collect();
        let mean = estimates.iter().sum::<f64>() / 200.0;
        assert!((mean - 0.5).abs() < 0.01, "m {m}: {mean}");
    }
    let large = solve(&shapes::graph(30, &graded(30, 20_000, 0.5, 0.0, 1)), 1.35).sigma;
    assert!((large - 0.5).abs() < 0.01, "{large}");
}

#[test]
fn scale_is_robust_to_gross_errors() {
    let mut votes = graded(20, 4000, 0.2, 0.0, 3);
    for vote in votes.iter_mut().step_by(20) {
        vote.y = 1000.0;
    }
    let graph = shapes::graph(20, &votes);
    let found = solve(&graph, 1.35).sigma;
    assert!((0.18..0.26).contains(&found), "{found}");
    let l2 = l2::solve(&graph, &L2Options::default()).unwrap().scores;
    let squares: f64 = residuals(&graph, &l2).iter().map(|r| r * r).sum();
    assert!((squares / 4000.0).sqrt() > 100.0);
}

#[test]
fn results_do_not_depend_on_units_names_and_merging() {
    let votes = shapes::votes(&shapes::random(9, 30, 7), 8);
    let before = solve(&shapes::graph(9, &votes), 1.35);
    let check = |votes: &ComparisonGraph, unit: f64, order: &dyn Fn(usize) -> usize| {
        let after = solve(votes, 1.35);
        assert!((after.sigma / unit / before.sigma - 1.0).abs() < 1e-7);
        let moved: Vec<f64> = (0..9).map(|i| after.solution.scores[order(i)] / unit).collect();
        assert!(largest_difference(&moved, &before.solution.scores) < 1e-7);
    };
    let scaled: Vec<_> = votes.iter().map(|v| Comparison { y: 1e6 * v.y, ..*v }).collect();
    check(&shapes::graph(9, &scaled), 1e6, &|i| i);
    let renamed: Vec<_> =
        votes.iter().map(|v| Comparison { left: 8 - v.left, right: 8 - v.right, ..*v }).collect();
    check(&shapes::graph(9, &renamed), 1.0, &|i| 8 - i);
    let single: Vec<_> =
        votes.iter().flat_map(|v| std::iter::repeat_n(v.with_count(1), v.count as usize)).collect();
    let apart = Groups::keep_apart(9, &single).unwrap().groups;
    check(&ComparisonGraph::new(9, apart).unwrap(), 1.0, &|i| i);
}

#[test]
fn exact_fits_have_scale_zero() {
    // Four of five votes are consistent; the others contradict them.
    let mut votes = Vec::new();
    for &(i, j) in &shapes::complete(8) {
        let y = f64::from(j) - f64::from(i);
        votes.push(Comparison::new(i, j, y).with_count(4));
        votes.push(Comparison::new(i, j, 0.3 * y * y - 2.0));
    }
    let found = solve(&shapes::graph(8, &votes), 1.35);
    assert_eq!((found.status, found.sigma), (ScaleStatus::Collapsed, 0.0));
    let expected: Vec<f64> = (0..8).map(|i| 3.5 - f64::from(i)).collect();
    assert!(largest_difference(&found.solution.scores, &expected) < 1e-4);
    for graph in [shapes::voted(6, &[], 1), shapes::graph(5, &votes_on_a_path())] {
        let found = solve(&graph, 1.35);
        assert_eq!((found.status, found.lambda), (ScaleStatus::Collapsed, 0.0));
    }
}

fn votes_on_a_path() -> Vec<Comparison> {
    shapes::path(5).iter().map(|&(i, j)| Comparison::new(i, j, 1.5).with_count(3)).collect()
}

#[test]
fn bad_options_and_iteration_limits_are_reported() {
    let graph = shapes::voted(12, &shapes::complete(12), 7);
    let good = ConcomitantOptions::default();
    let bad = [
        (ConcomitantOptions { m: 0.0, ..good }, "m"),
        (ConcomitantOptions { m: f64::NAN, ..good }, "m"),
        (ConcomitantOptions { tolerance: 0.0, ..good }, "tolerance"),
        (ConcomitantOptions { max_iterations: 0, ..good }, "max-iterations"),
    ];
    for (options, name) in bad {
        let error = concomitant::solve(&graph, &options).unwrap_err();
        assert!(matches!(error, Error::BadOption { option, .. } if option == name), "{name}");
    }
    let short = ConcomitantOptions { max_iterations: 2, ..good };
    let status = concomitant::solve(&graph, &short).unwrap().status;
    assert_eq!(status, ScaleStatus::IterationLimit);
}
