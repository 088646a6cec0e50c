//! Inverse scale space: optimality at every event, the limit of Bregman iterations, invariances.

use crate::shapes;
use crate::shapes::largest_difference;
use crate::studies;
use hodgerank::Status;
use hodgerank::path::StopAt;
use hodgerank::simulate::{Noise, SimulateOptions};
use hodgerank::solve::bregman::{self, BregmanOptions};
use hodgerank::solve::inverse_scale_space::{self, InverseScaleSpaceOptions, cost_estimate};
use hodgerank::{Comparison, ComparisonGraph, Error, Groups, Path};
use proptest::prelude::*;

fn run(graph: &ComparisonGraph, until: StopAt) -> Path {
    inverse_scale_space::compute_path(graph, &InverseScaleSpaceOptions::default(), until).unwrap()
}

/// Asserts the optimality conditions of the solver's documentation at every knot, with p integrated
/// from the path.
fn assert_optimal(name: &str, graph: &ComparisonGraph, path: &Path) {
    let groups = graph.groups();
    let mut p = vec![0.0_f64; groups.len()];
    let scale = groups.y.iter().fold(1e-300_f64, |s, y| s.max(y.abs()));
    let fell_apart = path.status == Status::Disconnected;
    for (knot, &t) in path.knots.iter().enumerate() {
        assert!(knot == 0 || t > path.knots[knot - 1], "{name}: time");
        let r = studies::residuals(graph, &path.scores_at(t));
        let flagged = path.flagged_at(t);
        let is_flagged = |g: usize| flagged.binary_search(&(g as u32)).is_ok();
        let trusted = (0..r.len()).map(|g| if is_flagged(g) { 0.0 } else { r[g] });
        let flow = graph.divergence(&trusted.collect::<Vec<_>>());
        let votes = groups.weight.iter().sum::<f64>();
        let off = flow.iter().fold(0.0_f64, |off, f| off.max(f.abs()));
        assert!(off <= 1e-8 * scale * votes, "{name}: fit {knot} {off:e} {votes}");
        if fell_apart && knot + 1 == path.knots.len() {
            break;
        }
        for (g, p) in p.iter_mut().enumerate() {
            assert!(p.abs() < 1.0 + 1e-6, "{name}: |p| = {}", p.abs());
            let at_bound = p.abs() > 1.0 - 1e-7;
            if is_flagged(g) {
                assert!(at_bound && r[g] * *p > -1e-7 * scale, "{name}: sign of γ");
            } else {
                assert!(!at_bound || r[g] * *p < 1e-7 * scale, "{name}: moves outwards");
                if let Some(next) = path.knots.get(knot + 1) {
                    *p += (next - t) * r[g];
                }
            }
        }
    }
}

#[test]
fn every_event_is_optimal() {
    for (name, graph) in shapes::all() {
        let path = run(&graph, StopAt::End);
        assert_optimal(name, &graph, &path);
    }
    let mut left = 0;
    for seed in 0..30 {
        let graph = shapes::voted(10, &shapes::random(10, 45, seed), seed + 50);
        let path = run(&graph, StopAt::End);
        assert_optimal("small", &graph, &path);
        left += path.entries().iter().filter(|entry| entry.left_at.is_some()).count();
    }
    assert!(left > 0, "some group should leave, or signs were never tested");
    let (items, votes, flips) = (40, 3000, 0.2);
    for seed in 0..5 {
        let noise = Noise::BradleyTerry { scale: 0.3 };
        let options = SimulateOptions { items, votes, flips, noise, seed, ..Default::default() };
        let graph = studies::simulated(&options).graph;
        let path = run(&graph, StopAt::Flagged(0.3 * votes as f64));
        assert!(path.knots.len() > 100, "{}", path.knots.len());
        assert_optimal("simulated", &graph, &path);
    }
}

proptest! {
    #[test]
    fn likert_votes_with_ties_are_optimal(
        votes in prop::collection::vec((0..7_u32, 1..7_u32, -2..=2_i32, 1..5_u64), 1..60)
    ) {
        let say = |&(i, gap, y, count): &(u32, u32, i32, u64)| {
            Comparison::new(i, (i + gap) % 7, f64::from(y)).with_count(count)
        };
        let graph = shapes::graph(7, &votes.iter().map(say).collect::<Vec<_>>());
        let path = run(&graph, StopAt::End);
        prop_assert!(path.status != Status::IterationLimit);
        assert_optimal("likert", &graph, &path);
    }
}

/// Six equidistant items and consistent votes except for a few; two of these are mirror images of each
/// other, so that they enter together.
#[test]
fn ties_enter_together() {
    let mut votes = Vec::new();
    for i in 0..6_u32 {
        for j in i + 1..6 {
            votes.push(Comparison::new(i, j, f64::from(j - i)).with_count(4));
        }
    }
    votes.extend([Comparison::new(0, 5, -5.0), Comparison::new(0, 5, -5.0 + 1e-3)]);
    votes.extend([(0, 1), (4, 5)].map(|(i, j)| Comparison::new(i, j, -3.0)));
    let graph = shapes::graph(6, &votes);
    let path = run(&graph, StopAt::End);
    assert_optimal("ties", &graph, &path);
    let together = path.entries();
    let mirror: Vec<_> =
        together.iter().filter(|e| graph.groups().y[e.group as usize] == -3.0).collect();
    assert!(mirror.len() == 2 && mirror[0].at == mirror[1].at, "{together:?}");
    assert_eq!(path.status, Status::Complete);
    let expected: Vec<f64> = (0..6).map(|i| 2.5 - f64::from(i)).collect();
    assert!(largest_difference(path.last_scores(), &expected) < 1e-9);
}

#[test]
fn bregman_iterations_converge_to_the_path() {
    for seed in [1, 2, 3] {
        let graph = shapes::voted(12, &shapes::random(12, 50, seed), seed + 20);
        let exact = run(&graph, StopAt::Flagged(graph.groups().votes() / 4.0));
        let end = *exact.knots.last().unwrap() * (1.0 - 1e-9);
        let mut errors = Vec::new();
        for kappa in [1e2, 1e3, 1e4] {
            let options =
                BregmanOptions { kappa: Some(kappa), dt: Some(0.5 / kappa), ..Default::default() };
            let close = bregman::compute_path(&graph, &options, StopAt::Value(end)).unwrap();
            let mut time_error = 0.0_f64;
            for entry in exact.entries().iter().filter(|entry| entry.at < 0.95 * end) {
                let found = close.entries().iter().find(|e| e.group == entry.group).copied();
                let at = found.map_or(f64::INFINITY, |found| found.at);
                time_error = time_error.max((at - entry.at).abs() / entry.at);
            }
            // Late between two events, when scores have converged.
            let score_error = exact
                .knots
                .windows(2)
                .filter(|knots| knots[1] - knots[0] > 0.02 * end && knots[1] < end)
                .map(|knots| 0.1 * knots[0] + 0.9 * knots[1])
                .map(|t| largest_difference(&close.scores_at(t), &exact.scores_at(t)))
                .fold(0.0, f64::max);
            errors.push((time_error, score_error));
        }
        for pair in errors.windows(2) {
            assert!(pair[1].0 < 0.5 * pair[0].0, "{seed}: {errors:?}");
            assert!(pair[1].1 <= 0.5 * pair[0].1 + 1e-9, "{seed}: {errors:?}");
        }
        assert!(errors[2].0 < 1e-3 && errors[2].1 < 1e-3, "{seed}: {errors:?}");
    }
}

#[test]
fn merging_is_exact() {
    let options = SimulateOptions { items: 8, votes: 300, flips: 0.15, ..Default::default() };
    let votes: Vec<Comparison> = hodgerank::simulate::Simulation::new(&options)
        .unwrap()
        .map(|vote| vote.comparison())
        .collect();
    let merged = Groups::merge(8, &votes).unwrap();
    let apart = Groups::keep_apart(8, &votes).unwrap();
    let of = |groups: &Groups| {
        run(&ComparisonGraph::new(8, groups.clone()).unwrap(), StopAt::Flagged(60.0))
    };
    let (one, other) = (of(&merged.groups), of(&apart.groups));
    assert_eq!(one.knots.len(), other.knots.len());
    for (knot, &t) in one.knots.iter().enumerate() {
        assert!((t - other.knots[knot]).abs() < 1e-9);
        assert!(largest_difference(one.snapshot(knot), other.snapshot(knot)) < 1e-9);
    }
    let last = *one.knots.last().unwrap() + 1e-6;
    let votes_of = |path: &Path, group_of: &[Option<u32>]| -> Vec<usize> {
        let flagged = path.flagged_at(last);
        (0..group_of.len()).filter(|&v| flagged.contains(&group_of[v].unwrap())).collect()
    };
    assert_eq!(votes_of(&one, &merged.group_of), votes_of(&other, &apart.group_of));
}

#[test]
fn results_do_not_depend_on_names_and_sides() {
    let votes = shapes::votes(&shapes::random(14, 50, 5), 6);
    let rename = |i: u32| (i * 5 + 3) % 14;
    let renamed: Vec<Comparison> = votes
        .iter()
        .map(|v| Comparison { left: rename(v.right), right: rename(v.left), y: -v.y, ..*v })
        .collect();
    let [before, after] = [&votes, &renamed].map(|v| run(&shapes::graph(14, v), StopAt::End));
    assert_eq!((before.knots.len(), before.status), (after.knots.len(), after.status));
    for (knot, &t) in before.knots.iter().enumerate() {
        assert!((t - after.knots[knot]).abs() < 1e-7 * t.max(1.0), "{knot}");
        let moved: Vec<f64> = (0..14).map(|i| after.snapshot(knot)[rename(i) as usize]).collect();
        assert!(largest_difference(before.snapshot(knot), &moved) < 1e-7, "{knot}");
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let graphs = [
        shapes::voted(600, &shapes::random(600, 30_000, 9), 10),
        shapes::voted(5000, &shapes::random(5000, 40_000, 11), 12),
    ];
    for graph in &graphs {
        let options = InverseScaleSpaceOptions { max_events: 30, ..Default::default() };
        let [one, three] = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                inverse_scale_space::compute_path(graph, &options, StopAt::End).unwrap()
            })
        });
        assert!(one.status == Status::IterationLimit && one.knots.len() == 31);
        assert!(one == three);
        assert_optimal("large", graph, &one);
    }
}

#[test]
fn flips_enter_first() {
    let mut sum = 0.0;
    for seed in 0..20 {
        let options = SimulateOptions { flips: 0.05, seed, ..SimulateOptions::default() };
        let study = studies::simulated(&options);
        let until = StopAt::Flagged(0.15 * study.graph.groups().votes());
        sum += studies::auc(&study, &run(&study.graph, until));
    }
    assert!(sum / 20.0 >= 0.99, "{}", sum / 20.0);
}

#[test]
fn the_path_ends_when_trusted_votes_disconnect() {
    // Item 3 is connected by two opposite votes; the flip among 0, 1, 2 enters before them.
    let votes = [
        Comparison::new(0, 1, 1.0).with_count(5),
        Comparison::new(1, 2, 1.0).with_count(5),
        Comparison::new(0, 2, 2.0).with_count(5),
        Comparison::new(2, 0, 2.0),
        Comparison::new(2, 3, 1.0),
        Comparison::new(2, 3, -1.0),
    ];
    let graph = shapes::graph(4, &votes);
    let path = run(&graph, StopAt::End);
    assert_eq!(path.status, Status::Disconnected);
    assert_eq!(path.entries().len(), 1);
    assert!((path.knots.last().unwrap() - 1.0).abs() < 1e-9);
    let apart = path.last_scores();
    assert!((apart[0] - apart[1] - 1.0).abs() < 1e-9 && (apart[2] - apart[3]).abs() < 1e-9);
    // One more vote for either side resolves it.
    let votes = [&votes[..], &[Comparison::new(2, 3, 1.0)]].concat();
    let path = run(&shapes::graph(4, &votes), StopAt::End);
    assert_eq!((path.status, path.entries().len()), (Status::Complete, 2));
}

#[test]
fn paths_stop_where_asked() {
    let graph = shapes::voted(12, &shapes::random(12, 40, 11), 12);
    let whole = run(&graph, StopAt::End);
    for t in [0.0, 0.1, 0.5, 1.0] {
        let path = run(&graph, StopAt::Value(t));
        assert_eq!((*path.knots.last().unwrap(), path.status), (t, Status::Complete));
        assert_eq!(path.last_scores(), whole.scores_at(t));
        assert_eq!(path.flagged_at(t), whole.flagged_at(t));
    }
    let options = InverseScaleSpaceOptions { max_events: 3, ..Default::default() };
    let path = inverse_scale_space::compute_path(&graph, &options, StopAt::End).unwrap();
    assert_eq!((path.knots.len(), path.status), (4, Status::IterationLimit));
    for bad in [
        InverseScaleSpaceOptions { max_events: 0, ..Default::default() },
        InverseScaleSpaceOptions { tolerance: 0.0, ..Default::default() },
    ] {
        let refused = inverse_scale_space::compute_path(&graph, &bad, StopAt::End);
        assert!(matches!(refused, Err(Error::BadOption { .. })));
    }
}

#[test]
fn five_percent_of_a_published_study_take_52_events() {
    let Some(studies::PublishedStudy { graph, .. }) = studies::PublishedStudy::read() else {
        return;
    };
    let path = run(&graph, StopAt::Flagged(0.05 * graph.groups().votes()));
    assert_eq!((path.knots.len() - 1, path.status), (52, Status::Complete));
    assert_optimal("PC-VQA", &graph, &path);
    let cost = cost_estimate(&graph, 192.0);
    assert!((1e3..1e6).contains(&cost) && cost_estimate(&graph, 400.0) > cost);
}

#[test]
fn empty_studies_have_a_path() {
    let graph = shapes::voted(0, &[], 18);
    for until in [StopAt::End, StopAt::Value(1.0)] {
        assert_eq!(run(&graph, until).status, Status::Complete);
    }
    let until = StopAt::Flagged(1.0);
    assert_eq!(run(&graph, until).status, Status::NotReached, "there is no vote to flag");
    assert_eq!(cost_estimate(&graph, 5.0), 0.0);
}
