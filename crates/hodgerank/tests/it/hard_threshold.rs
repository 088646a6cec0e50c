//! Hard thresholding and trimmed least squares: optimality, brute force, and the published scores.

use crate::shapes;

use crate::shapes::largest_difference;
use crate::studies::{PublishedStudy, kendall, residuals};
use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::solve::hard_threshold::{self, Removal};
use hodgerank::solve::{HardThresholdOptions, L2Options, Status, TrimmedOptions, l2, trimmed};
use hodgerank::{Comparison, ComparisonGraph, Error, Groups};
use proptest::prelude::*;

fn iht(graph: &ComparisonGraph, k: u64) -> Removal {
    let options = HardThresholdOptions { k, ..HardThresholdOptions::default() };
    hard_threshold::solve(graph, &options).unwrap()
}

/// ½ Σ r² over all votes except the K with the largest residuals, at given scores.
fn objective_of_scores(graph: &ComparisonGraph, scores: &[f64], k: f64) -> f64 {
    let weight = &graph.groups().weight;
    let mut votes: Vec<(f64, f64)> =
        residuals(graph, scores).iter().map(|r| r * r).zip(weight.iter().copied()).collect();
    votes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut left = k;
    let keep = |(square, w): (f64, f64)| {
        let removed = w.min(left);
        left -= removed;
        0.5 * (w - removed) * square
    };
    votes.into_iter().map(keep).sum()
}

/// The objective of an l2 fit without the removed votes.
fn refitted(graph: &ComparisonGraph, removed: &[f64]) -> f64 {
    let kept: Vec<f64> = graph.groups().weight.iter().zip(removed).map(|(w, k)| w - k).collect();
    let trusted = ComparisonGraph::new(graph.items(), graph.groups().reweighted(&kept)).unwrap();
    let scores = l2::solve(&trusted, &L2Options::default()).unwrap().scores;
    let r = residuals(graph, &scores);
    0.5 * kept.iter().zip(&r).map(|(w, r)| w * r * r).sum::<f64>()
}

/// Asserts the optimality conditions in the documentation of the solver.
fn assert_locally_optimal(graph: &ComparisonGraph, found: &Removal, k: u64) {
    let groups = graph.groups();
    let size = groups.y.iter().zip(&groups.weight).map(|(y, w)| w * y * y).sum::<f64>().max(1e-30);
    assert_eq!(found.solution.status, Status::Solved);
    assert!(found.removed.iter().sum::<f64>() <= k as f64 + 1e-9);
    assert!(found.removed.iter().zip(&groups.weight).all(|(k, w)| (0.0..=*w).contains(k)));
    assert!((refitted(graph, &found.removed) - found.objective).abs() < 1e-9 * size);
    // A better choice at these scores is possible only if it would disconnect the graph.
    let free = objective_of_scores(graph, &found.solution.scores, k as f64);
    assert!(free <= found.objective + 1e-9 * size);
    for q in (0..groups.len()).filter(|&q| found.removed[q] > 0.0) {
        for g in (0..groups.len()).filter(|&g| g != q && found.removed[g] < groups.weight[g]) {
            let votes = found.removed[q].min(groups.weight[g] - found.removed[g]);
            let mut other = found.removed.clone();
            other[q] -= votes;
            other[g] += votes;
            let kept: Vec<f64> = groups.weight.iter().zip(&other).map(|(w, k)| w - k).collect();
            let left = ComparisonGraph::new(graph.items(), groups.reweighted(&kept)).unwrap();
            if left.components().len() == graph.components().len() {
                let other = refitted(graph, &other);
                assert!(other >= found.objective - 1e-8 * size, "{q} for {g}: {other}");
            }
        }
    }
}

#[test]
fn nothing_removed_is_least_squares() {
    for (name, graph) in shapes::all() {
        let found = iht(&graph, 0);
        let l2 = l2::solve(&graph, &L2Options::default()).unwrap().scores;
        assert!(largest_difference(&found.solution.scores, &l2) < 1e-9, "{name}");
        assert!(found.removed.iter().all(|&k| k == 0.0), "{name}");
    }
}

#[test]
fn no_exchange_lowers_the_objective() {
    for seed in 0..6 {
        let graph = shapes::voted(8, &shapes::random(8, 16, seed), seed + 50);
        for share in [0.05, 0.2, 0.4] {
            let k = (share * graph.groups().votes()) as u64;
            assert_locally_optimal(&graph, &iht(&graph, k), k);
        }
    }
}

/// Brute force over all sets of K votes.
#[test]
fn small_cases_match_brute_force() {
    let mut exact = 0;
    for seed in 0..40 {
        let edges = shapes::random(5, 12, seed);
        let votes: Vec<Comparison> =
            shapes::votes(&edges, seed + 9).iter().map(|v| v.with_count(1)).take(13).collect();
        let graph = shapes::graph(5, &votes);
        let count = graph.groups().len();
        let k = 3;
        let best = (0..1_u32 << count)
            .filter(|set| set.count_ones() == k)
            .map(|set| (0..count).map(|g| f64::from(set >> g & 1)).collect::<Vec<_>>())
            .map(|removed| refitted(&graph, &removed))
            .fold(f64::INFINITY, f64::min);
        let found = iht(&graph, u64::from(k)).objective;
        assert!(found >= best - 1e-9, "{seed}: better than all");
        exact += usize::from(found <= best + 1e-9);
    }
    assert!(exact >= 34, "global optimum in {exact} of 40");
}

#[test]
fn flipped_votes_of_a_consistent_study_are_found() {
    let truth: Vec<f64> = (0..12).map(|i| f64::from(i * i) / 20.0).collect();
    let edges = shapes::complete(12);
    let mut votes = Vec::new();
    for (n, &(i, j)) in edges.iter().enumerate() {
        let y = truth[i as usize] - truth[j as usize];
        votes.push(Comparison::new(i, j, y).with_count(4));
        if n % 6 == 0 {
            votes.push(Comparison::new(i, j, -y).with_count(3));
        }
    }
    let graph = shapes::graph(12, &votes);
    let found = iht(&graph, 33);
    assert!(found.objective < 1e-15, "{}", found.objective);
    let mut expected = truth.clone();
    graph.components().centre(&mut expected);
    assert!(largest_difference(&found.solution.scores, &expected) < 1e-8);
    let given = TrimmedOptions { k: Some(33), ..TrimmedOptions::default() };
    assert_eq!(trimmed::solve(&graph, &given).unwrap().removed, found.removed);
    let automatic = trimmed::solve(&graph, &TrimmedOptions::default()).unwrap();
    assert_eq!(automatic.removed, found.removed);
}

#[test]
fn kept_votes_connect_the_items() {
    for (name, graph) in shapes::all() {
        let most = hard_threshold::max_removable(&graph);
        for k in [most, most / 2] {
            let found = iht(&graph, k);
            let groups = graph.groups();
            let kept: Vec<f64> =
                groups.weight.iter().zip(&found.removed).map(|(w, k)| w - k).collect();
            let left = ComparisonGraph::new(graph.items(), groups.reweighted(&kept)).unwrap();
            assert_eq!(left.components().len(), graph.components().len(), "{name} {k}");
        }
        let options = HardThresholdOptions { k: most + 1, ..HardThresholdOptions::default() };
        let error = hard_threshold::solve(&graph, &options).unwrap_err();
        assert!(matches!(error, Error::BadOption { option: "k", .. }), "{name}");
    }
}

#[test]
fn bad_options_are_named() {
    let graph = shapes::voted(3, &shapes::path(3), 7);
    let good = HardThresholdOptions::default();
    let bad = [
        (HardThresholdOptions { sweep_steps: 0, ..good }, "sweep-steps"),
        (HardThresholdOptions { max_iterations: 0, ..good }, "max-iterations"),
        (HardThresholdOptions { tolerance: f64::NAN, ..good }, "tolerance"),
        (HardThresholdOptions { k: 1_000_000, ..good }, "k"),
    ];
    for (options, name) in bad {
        let error = hard_threshold::solve(&graph, &options).unwrap_err();
        assert!(matches!(error, Error::BadOption { option, .. } if option == name), "{name}");
    }
    let options = TrimmedOptions { k: Some(1_000_000), ..TrimmedOptions::default() };
    assert!(trimmed::solve(&graph, &options).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn merged_and_single_votes_and_new_names_agree(
        raw in prop::collection::vec((0..6_u32, 1..6_u32, -4.0..4.0, 1..5_u64), 8..24),
        share in 0.05..0.3,
        turn in 1..6_u32,
    ) {
        let votes: Vec<Comparison> = raw
            .iter()
            .map(|&(i, gap, y, count)| Comparison::new(i, (i + gap) % 6, y).with_count(count))
            .collect();
        let merged = shapes::graph(6, &votes);
        let k = (share * merged.groups().votes()) as u64;
        prop_assume!(k <= hard_threshold::max_removable(&merged));
        let single: Vec<Comparison> = votes
            .iter()
            .flat_map(|v| std::iter::repeat_n(v.with_count(1), v.count as usize))
            .collect();
        let apart = Groups::keep_apart(6, &single).unwrap().groups;
        let apart = ComparisonGraph::new(6, apart).unwrap();
        let found = iht(&merged, k);
        assert_locally_optimal(&merged, &found, k);
        // The search is local: single votes may end at other scores, with the same objective.
        let single = iht(&apart, k);
        let at_single = objective_of_scores(&merged, &single.solution.scores, k as f64);
        prop_assert!((at_single - single.objective).abs() < 1e-8);
        let rename = |i: u32| (i + turn) % 6;
        let renamed: Vec<Comparison> = votes
            .iter()
            .map(|v| Comparison { left: rename(v.left), right: rename(v.right), ..*v })
            .collect();
        let renamed = iht(&shapes::graph(6, &renamed), k);
        let moved: Vec<f64> =
            (0..6).map(|i| renamed.solution.scores[rename(i) as usize]).collect();
        let at_moved = objective_of_scores(&merged, &moved, k as f64);
        prop_assert!((at_moved - renamed.objective).abs() < 1e-8);
    }
}

/// The search is local and may resolve ties differently, but rarely does.
#[test]
fn merged_and_renamed_votes_reach_the_same_objective() {
    let (mut merged_alike, mut renamed_alike) = (0, 0);
    for seed in 0..30 {
        let votes: Vec<Comparison> = shapes::votes(&shapes::random(8, 20, seed), seed + 70)
            .iter()
            .map(|v| v.with_count(1 + v.count % 4))
            .collect();
        let graph = shapes::graph(8, &votes);
        let k = (0.15 * graph.groups().votes()) as u64;
        let objective = iht(&graph, k).objective;
        let single: Vec<Comparison> = votes
            .iter()
            .flat_map(|v| std::iter::repeat_n(v.with_count(1), v.count as usize))
            .collect();
        let apart = Groups::keep_apart(8, &single).unwrap().groups;
        let single = iht(&ComparisonGraph::new(8, apart).unwrap(), k).objective;
        let rename = |i: u32| (3 * i + 5) % 8;
        let renamed: Vec<Comparison> = votes
            .iter()
            .map(|v| Comparison { left: rename(v.left), right: rename(v.right), ..*v })
            .collect();
        let renamed = iht(&shapes::graph(8, &renamed), k).objective;
        merged_alike += usize::from((single - objective).abs() < 1e-8);
        renamed_alike += usize::from((renamed - objective).abs() < 1e-8);
    }
    assert!(merged_alike == 30 && renamed_alike >= 29, "{merged_alike}, {renamed_alike}");
}

/// The automatic K is close to the number of flips, and most flips are removed.
#[test]
fn automatic_k_matches_the_number_of_flips() {
    for flips in [0.05, 0.1, 0.15] {
        for seed in 0..5 {
            let options = SimulateOptions { flips, seed, ..SimulateOptions::default() };
            let votes: Vec<_> = Simulation::new(&options).unwrap().collect();
            let comparisons: Vec<Comparison> = votes.iter().map(|v| v.comparison()).collect();
            let merged = Groups::merge(16, &comparisons).unwrap();
            let mut bad = vec![0.0; merged.groups.len()];
            for (vote, group) in votes.iter().zip(&merged.group_of) {
                bad[group.unwrap() as usize] += f64::from(u8::from(vote.bad));
            }
            let graph = ComparisonGraph::new(16, merged.groups).unwrap();
            let found = trimmed::solve(&graph, &TrimmedOptions::default()).unwrap();
            let (flipped, removed) = (bad.iter().sum::<f64>(), found.removed.iter().sum::<f64>());
            let hit: f64 = bad.iter().zip(&found.removed).map(|(b, r)| b.min(*r)).sum();
            assert!(
                (removed - flipped).abs() <= 0.1 * flipped,
                "{flips} {seed}: {removed} of {flipped}"
            );
            assert!(hit >= 0.9 * flipped, "{flips} {seed}: {hit} of {flipped}");
        }
    }
}

/// Starting points run in parallel; the result must not depend on the number of threads.
#[test]
fn results_do_not_depend_on_threads() {
    let graph = shapes::voted(60, &shapes::random(60, 900, 3), 4);
    let k = (0.1 * graph.groups().votes()) as u64;
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| iht(&graph, k));
        (found.removed, found.objective, found.solution.scores, found.solution.info.iterations)
    };
    assert!(run(1) == run(3));
}

/// PC-VQA, reference 1: the objective is not above that of the published iht scores.
#[test]
fn published_scores_are_not_better() {
    let Some(study) = PublishedStudy::read() else { return };
    let (graph, column) = (&study.graph, |name| study.column(name));
    assert_eq!(graph.groups().votes(), 3840.0);
    let golden = objective_of_scores(graph, &column("iht"), 192.0);
    let found = iht(graph, 192);
    assert!(found.objective <= golden * (1.0 + 1e-6), "{} > {golden}", found.objective);
    assert_locally_optimal(graph, &found, 192);
    let automatic = trimmed::solve(graph, &TrimmedOptions::default()).unwrap();
    let tau = kendall(&automatic.solution.scores, &column("ilts"));
    assert!(tau >= 0.9, "{tau}");
}

/// Counts above 2⁵³, where one vote less is the same number. An earlier version never ended.
#[test]
fn huge_counts_end() {
    let heavy = 1_u64 << 53;
    let mut votes = Vec::new();
    for i in 0..9 {
        for (y, times) in [(1.0, 1 + i % 3), (-1.0, 2), (1e-12, i % 2)] {
            let count = heavy * u64::from(times);
            votes.push(Comparison::new(i, i + 1, y).with_count(count));
        }
    }
    let graph = shapes::graph(10, &votes);
    for share in [0.05, 0.2, 0.45] {
        let k = (share * graph.votes()) as u64;
        let found = iht(&graph, k);
        assert!(found.removed.iter().sum::<f64>() <= k as f64);
        assert_eq!(found.solution.status, Status::Solved);
    }
}

/// The retained votes fit exactly: the search must not follow rounding errors of a zero objective.
#[test]
fn votes_that_cancel_end() {
    let mut votes = Vec::new();
    for (i, j) in shapes::random(6, 400, 1) {
        for y in [1.0, -1.0, 1.0 + 1e-15, -1.0 - 1e-15, 1e-12] {
            votes.push(Comparison::new(i, j, y));
        }
    }
    let graph = shapes::graph(6, &votes);
    let found = iht(&graph, (0.8 * graph.votes()) as u64);
    assert_eq!(found.solution.status, Status::Solved);
    assert!(found.objective <= 1e-20, "{}", found.objective);
}

#[test]
fn outcomes_whose_squares_overflow_are_searched_too() {
    let votes = |unit: f64| -> Vec<Comparison> {
        let study = SimulateOptions { votes: 300, seed: 3, ..Default::default() };
        let vote = |vote: Comparison| Comparison { y: unit * vote.y, ..vote };
        Simulation::new(&study).unwrap().map(|v| vote(v.comparison())).collect()
    };
    let unit = 2.0_f64.powi(900);
    let (small, large) =
        (iht(&shapes::graph(16, &votes(1.0)), 20), iht(&shapes::graph(16, &votes(unit)), 20));
    assert_eq!(small.removed, large.removed);
    let scaled: Vec<f64> = small.solution.scores.iter().map(|s| s * unit).collect();
    assert_eq!(large.solution.scores, scaled);
}

/// One vote with a huge outcome must not make the estimate of K remove most of the votes.
#[test]
fn a_gross_vote_does_not_inflate_the_estimated_k() {
    let study = SimulateOptions { votes: 300, seed: 8, graded: true, ..Default::default() };
    let mut votes: Vec<Comparison> =
        Simulation::new(&study).unwrap().map(|v| v.comparison()).collect();
    let estimate = |votes: &[Comparison]| {
        let found = trimmed::solve(&shapes::graph(16, votes), &TrimmedOptions::default()).unwrap();
        found.removed.iter().sum::<f64>()
    };
    let without = estimate(&votes);
    votes[17].y = -1e6 * votes[17].y.signum();
    let with = estimate(&votes);
    assert!(with <= without + 15.0 && with >= 1.0, "{without} and {with} votes");
}
