//! Linearised Bregman iterations against a direct implementation and the published table;
//! invariances.

use crate::shapes;
use crate::shapes::largest_difference;
use crate::studies;
use hodgerank::Status;
use hodgerank::path::{Change, StopAt};
use hodgerank::simulate::SimulateOptions;
use hodgerank::solve::bregman::{self, Algorithm, BregmanOptions};
use hodgerank::solve::inverse_scale_space::{self, InverseScaleSpaceOptions};
use hodgerank::{Comparison, ComparisonGraph, Error, Groups, Path};

const ALGORITHMS: [Algorithm; 2] = [Algorithm::Gradient, Algorithm::Exact];

fn run(graph: &ComparisonGraph, options: &BregmanOptions, until: StopAt) -> Path {
    bregman::compute_path(graph, options, until).unwrap()
}

fn options(algorithm: Algorithm, kappa: f64, dt: f64) -> BregmanOptions {
    BregmanOptions { algorithm, kappa: Some(kappa), dt: Some(dt), ..BregmanOptions::default() }
}

/// Direct implementation of the paper's algorithms with dense matrices, every step from z = 0. Returns
/// θ and the flagged groups after each step.
fn reference_states(
    graph: &ComparisonGraph,
    algorithm: Algorithm,
    kappa: f64,
    dt: f64,
    steps: usize,
) -> Vec<(Vec<f64>, Vec<u32>)> {
    let groups = graph.groups();
    let shrink = |z: f64| z.signum() * (z.abs() - 1.0).max(0.0);
    let mut theta = shapes::reference_scores(graph, 0.0);
    let mut z = vec![0.0; groups.len()];
    let mut gamma = z.clone();
    let mut states = Vec::new();
    for _ in 0..steps {
        if algorithm == Algorithm::Exact {
            let y = groups.y.iter().zip(&gamma).map(|(y, gamma)| y - gamma).collect();
            let explained = Groups { y, ..groups.clone() };
            let explained = ComparisonGraph::new(graph.items(), explained).unwrap();
            theta = shapes::reference_scores(&explained, 0.0);
        }
        let r = studies::residuals(graph, &theta);
        let rest: Vec<f64> = r.iter().zip(&gamma).map(|(r, gamma)| r - gamma).collect();
        z.iter_mut().zip(&rest).for_each(|(z, rest)| *z += dt * rest);
        gamma = z.iter().map(|&z| kappa * shrink(z)).collect();
        if algorithm == Algorithm::Gradient {
            let flow = graph.divergence(&rest);
            theta.iter_mut().zip(flow).for_each(|(theta, flow)| *theta += kappa * dt * flow);
        }
        let flagged = (0..groups.len()).filter(|&g| gamma[g] != 0.0).map(|g| g as u32).collect();
        states.push((theta.clone(), flagged));
    }
    states
}

#[test]
fn steps_match_the_paper_and_steps_before_the_first_entry_can_be_skipped() {
    let graph = shapes::voted(12, &shapes::random(12, 40, 1), 2);
    for (algorithm, kappa, dt, steps) in
        [(Algorithm::Gradient, 20.0, 2e-4, 6000), (Algorithm::Exact, 20.0, 0.03, 60)]
    {
        let states = reference_states(&graph, algorithm, kappa, dt, steps);
        let path = run(&graph, &options(algorithm, kappa, dt), StopAt::Value(steps as f64 * dt));
        assert!(path.events.len() > 20);
        let silent = states.iter().take_while(|(_, flagged)| flagged.is_empty()).count();
        assert!(silent > 5 && (path.knots[1] / dt - silent as f64).abs() < 1e-6);
        for &t in &path.knots[1..] {
            let step = (t / dt).round() as usize;
            assert!((t - step as f64 * dt).abs() < 1e-12);
            let (theta, flagged) = &states[step - 1];
            assert_eq!(&path.flagged_at(t), flagged, "{algorithm:?} {step}");
            let difference = largest_difference(&path.scores_at(t), theta);
            assert!(difference < 1e-8, "{algorithm:?} {step}: {difference:e}");
        }
        // Between knots scores are interpolated linearly; flagged groups are exact everywhere.
        for (step, (theta, flagged)) in states.iter().enumerate() {
            let t = (step + 1) as f64 * dt + 1e-9 * dt;
            assert_eq!(&path.flagged_at(t), flagged, "{algorithm:?} {step}");
            assert!(largest_difference(&path.scores_at(t), theta) < 0.02, "{algorithm:?} {step}");
        }
    }
}

/// A step of Algorithm 3 scans only votes that could enter. It must not miss one, whatever the step
/// size and the number of chunks of groups.
#[test]
fn no_entry_is_missed() {
    let (items, edges) = shapes::disconnected();
    let graphs = [
        shapes::voted(14, &shapes::random(14, 60, 5), 6),
        shapes::voted(9, &shapes::complete(9), 7),
        shapes::voted(items, &edges, 8),
        shapes::voted(90, &shapes::random(90, 30_000, 9), 10),
    ];
    for (graph, h) in graphs.iter().flat_map(|graph| [0.1, 0.6, 1.7_f64].map(|h| (graph, h))) {
        let kappa = 10.0;
        let dt = h / kappa;
        let steps = (1.0 / dt).max(25.0) as usize;
        let states = reference_states(graph, Algorithm::Exact, kappa, dt, steps);
        let end = StopAt::Value(steps as f64 * dt);
        let path = run(graph, &options(Algorithm::Exact, kappa, dt), end);
        assert!(path.events.len() > 20, "{h}");
        for (step, (_, flagged)) in states.iter().enumerate() {
            let t = (step + 1) as f64 * dt + 1e-9 * dt;
            assert_eq!(&path.flagged_at(t), flagged, "h = {h}, step {step}");
        }
    }
}

#[test]
fn published_scores_are_reproduced() {
    let Some(study) = studies::PublishedStudy::read() else { return };
    let (graph, golden) = (&study.graph, study.column("lbi"));
    for algorithm in ALGORITHMS {
        let path = run(graph, &options(algorithm, 50.0, 1.0 / 25000.0), StopAt::Value(0.66756));
        assert_eq!(path.status, Status::Complete);
        assert_eq!(*path.knots.last().unwrap(), 16689.0 / 25000.0);
        let difference = largest_difference(path.last_scores(), &golden);
        assert!(difference < 6e-5, "{algorithm:?}: {difference:e}");
    }
}

/// With Algorithm 2, θ follows γ with a delay of 1/(κ λ) however short the steps: the two algorithms
/// agree as κ grows and Δt shrinks.
#[test]
fn algorithms_agree_as_steps_shrink() {
    let graph = shapes::voted(15, &shapes::random(15, 60, 3), 4);
    let end = StopAt::Value(1.2);
    let differences = [5.0, 20.0, 80.0].map(|kappa| {
        let [gradient, exact] =
            ALGORITHMS.map(|algorithm| run(&graph, &options(algorithm, kappa, 0.002 / kappa), end));
        let times = (1..=200).map(|k| 0.006 * f64::from(k));
        let difference = |t| largest_difference(&gradient.scores_at(t), &exact.scores_at(t));
        times.map(difference).sum::<f64>() / 200.0
    });
    assert!(differences.windows(2).all(|pair| pair[1] < 0.7 * pair[0]), "{differences:?}");
    assert!(differences[2] < 1e-3, "{differences:?}");
}

#[test]
fn merging_is_exact() {
    let options_16 = SimulateOptions { items: 8, votes: 300, flips: 0.2, ..Default::default() };
    let votes: Vec<Comparison> = hodgerank::simulate::Simulation::new(&options_16)
        .unwrap()
        .map(|vote| vote.comparison())
        .collect();
    let merged = Groups::merge(8, &votes).unwrap();
    let apart = Groups::keep_apart(8, &votes).unwrap();
    let of = |groups: &Groups| ComparisonGraph::new(8, groups.clone()).unwrap();
    for algorithm in ALGORITHMS {
        let options = BregmanOptions { algorithm, ..BregmanOptions::default() };
        let [one, other] =
            [&merged, &apart].map(|m| run(&of(&m.groups), &options, StopAt::Value(1.5)));
        assert!(largest_difference(one.last_scores(), other.last_scores()) < 1e-9);
        let votes_of = |path: &Path, group_of: &[Option<u32>]| -> Vec<usize> {
            let flagged = path.flagged_at(1.4);
            let is = |g: &Option<u32>| flagged.binary_search(&g.unwrap()).is_ok();
            (0..group_of.len()).filter(|&vote| is(&group_of[vote])).collect()
        };
        let flagged = votes_of(&one, &merged.group_of);
        assert!(flagged.len() > 20 && flagged == votes_of(&other, &apart.group_of));
    }
}

#[test]
fn results_do_not_depend_on_names_and_sides() {
    let votes = shapes::votes(&shapes::random(14, 50, 5), 6);
    let rename = |i: u32| (i * 5 + 3) % 14;
    let renamed: Vec<Comparison> = votes
        .iter()
        .map(|v| Comparison { left: rename(v.right), right: rename(v.left), y: -v.y, ..*v })
        .collect();
    for algorithm in ALGORITHMS {
        let options = BregmanOptions { algorithm, ..BregmanOptions::default() };
        let [before, after] =
            [&votes, &renamed].map(|v| run(&shapes::graph(14, v), &options, StopAt::Value(1.0)));
        let moved: Vec<f64> = (0..14).map(|i| after.last_scores()[rename(i) as usize]).collect();
        assert!(largest_difference(before.last_scores(), &moved) < 1e-8);
        assert_eq!(before.entries().len(), after.entries().len());
    }
}

#[test]
fn path_is_invariant_to_units() {
    let graph = shapes::voted(10, &shapes::random(10, 40, 7), 8);
    let groups = graph.groups();
    let y = groups.y.iter().map(|y| 1000.0 * y).collect();
    let scaled = ComparisonGraph::new(10, Groups { y, ..groups.clone() }).unwrap();
    let options = BregmanOptions::default();
    let (one, other) =
        (run(&graph, &options, StopAt::Value(1.0)), run(&scaled, &options, StopAt::Value(1e-3)));
    let shrunk: Vec<f64> = other.last_scores().iter().map(|s| s / 1000.0).collect();
    assert!(largest_difference(one.last_scores(), &shrunk) < 1e-8);
    assert_eq!(one.entries().len(), other.entries().len());
}

#[test]
fn results_do_not_depend_on_threads() {
    let graph = shapes::voted(3000, &shapes::random(3000, 60_000, 9), 10);
    assert!(graph.groups().len() > 60_000);
    for algorithm in ALGORITHMS {
        let options = BregmanOptions { algorithm, max_steps: 120, ..BregmanOptions::default() };
        let [one, three] = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&graph, &options, StopAt::End))
        });
        assert!(one.status == Status::IterationLimit && !one.events.is_empty());
        assert!(one == three, "{algorithm:?}");
    }
}

#[test]
fn flips_enter_first() {
    let mut sum = 0.0;
    for seed in 0..20 {
        let options = SimulateOptions { flips: 0.05, seed, ..SimulateOptions::default() };
        let study = studies::simulated(&options);
        let until = StopAt::Flagged(0.15 * study.graph.groups().votes());
        sum += studies::auc(&study, &run(&study.graph, &BregmanOptions::default(), until));
    }
    assert!(sum / 20.0 >= 0.99, "{}", sum / 20.0);
}

#[test]
fn paths_stop_where_asked() {
    let graph = shapes::voted(12, &shapes::random(12, 40, 11), 12);
    for algorithm in ALGORITHMS {
        let options = BregmanOptions { algorithm, ..BregmanOptions::default() };
        let whole = run(&graph, &options, StopAt::Value(0.9));
        for t in [0.0, 0.01, 0.3, 0.612_345, 0.9] {
            let path = run(&graph, &options, StopAt::Value(t));
            assert_eq!((*path.knots.last().unwrap(), path.status), (t, Status::Complete));
            let difference = largest_difference(path.last_scores(), &whole.scores_at(t));
            assert!(difference < 0.05, "{algorithm:?} {t}: {difference:e}");
        }
        let votes = graph.groups().votes() / 5.0;
        let flagged = run(&graph, &options, StopAt::Flagged(votes));
        let entered: f64 =
            flagged.entries().iter().map(|e| graph.groups().weight[e.group as usize]).sum();
        let last = flagged.events.last().unwrap();
        assert!(entered >= votes && last.knot as usize == flagged.knots.len() - 1);
    }
    let end = run(&graph, &BregmanOptions::default(), StopAt::End);
    assert_eq!(end.status, Status::Complete);
    let entered = |event: &&hodgerank::path::Event| matches!(event.change, Change::Entered(_));
    assert!(end.events.iter().filter(entered).count() > graph.groups().len() / 2);
}

#[test]
fn too_large_steps_are_an_error_with_the_limit() {
    let graph = shapes::voted(20, &shapes::complete(20), 13);
    for algorithm in ALGORITHMS {
        let refused =
            bregman::compute_path(&graph, &options(algorithm, 10.0, 1.0), StopAt::Value(1.0));
        let Err(Error::StepTooLarge { dt, largest }) = refused else { panic!("{refused:?}") };
        assert_eq!(dt, 1.0);
        if algorithm == Algorithm::Exact {
            assert_eq!(largest, 0.2);
        }
        // With a step just below the limit scores stay bounded.
        let dt = Some(0.999 * largest);
        let options = BregmanOptions { dt, ..options(algorithm, 10.0, 1.0) };
        let path = run(&graph, &options, StopAt::Value(3000.0 * largest));
        assert!(path.last_scores().iter().all(|score| score.abs() < 10.0));
    }
}

#[test]
fn bad_options_are_named() {
    let graph = shapes::voted(3, &shapes::path(3), 14);
    let default = BregmanOptions::default();
    let bad = [
        ("kappa", BregmanOptions { kappa: Some(0.0), ..default }),
        ("kappa", BregmanOptions { kappa: Some(f64::NAN), ..default }),
        ("dt", BregmanOptions { dt: Some(-1.0), ..default }),
        ("tolerance", BregmanOptions { tolerance: 1.0, ..default }),
        ("max-steps", BregmanOptions { max_steps: 0, ..default }),
    ];
    for (name, options) in bad {
        match bregman::compute_path(&graph, &options, StopAt::End) {
            Err(Error::BadOption { option, .. }) => assert_eq!(option, name),
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(default.validate().is_ok());
    assert_eq!("exact".parse(), Ok(Algorithm::Exact));
    assert!("newton".parse::<Algorithm>().is_err());
}

#[test]
fn graphs_without_disagreement_have_no_outliers() {
    for (name, graph) in shapes::all() {
        let path = run(&graph, &BregmanOptions::default(), StopAt::Value(0.7));
        assert_eq!(*path.knots.last().unwrap(), 0.7, "{name}");
    }
    let truth = |i: u32| f64::from(i * i % 7);
    let say = |&(i, j): &(u32, u32)| Comparison::new(i, j, truth(i) - truth(j));
    let votes: Vec<_> = shapes::random(30, 100, 15).iter().map(say).collect();
    let graph = shapes::graph(30, &votes);
    for until in [StopAt::End, StopAt::Value(100.0), StopAt::Flagged(3.0)] {
        assert!(run(&graph, &BregmanOptions::default(), until).events.is_empty());
    }
}

#[test]
fn one_gross_outcome_does_not_affect_the_rest() {
    let mut votes = shapes::votes(&shapes::random(20, 200, 16), 17);
    votes.push(Comparison::new(3, 7, 1e4));
    let graph = shapes::graph(20, &votes);
    let options = BregmanOptions { max_steps: 20_000, ..BregmanOptions::default() };
    let path = run(&graph, &options, StopAt::Value(0.5));
    assert_eq!(path.status, Status::Complete);
    assert_eq!(graph.groups().y[path.entries()[0].group as usize], 1e4);
    let options = InverseScaleSpaceOptions::default();
    let limit = inverse_scale_space::compute_path(&graph, &options, StopAt::Value(0.5)).unwrap();
    let difference = largest_difference(path.last_scores(), limit.last_scores());
    assert!(difference < 0.02, "{difference:e}");
}

#[test]
fn empty_studies_have_a_path() {
    let graph = shapes::voted(0, &[], 18);
    for until in [StopAt::End, StopAt::Value(1.0)] {
        assert_eq!(run(&graph, &BregmanOptions::default(), until).status, Status::Complete);
    }
    let until = StopAt::Flagged(1.0);
    assert_eq!(
        run(&graph, &BregmanOptions::default(), until).status,
        Status::NotReached,
        "there is no vote to flag"
    );
}

#[test]
fn final_outliers_are_flagged_and_equal_their_residuals() {
    let simulate = SimulateOptions { votes: 500, flips: 0.1, seed: 5, ..Default::default() };
    let graph = studies::simulated(&simulate).graph;
    // Long after the first 20 votes have entered, shortly after the last ones.
    let until = StopAt::Flagged(20.0);
    let (path, gamma) =
        bregman::compute_path_and_outliers(&graph, &BregmanOptions::default(), until).unwrap();
    assert_eq!(path, run(&graph, &BregmanOptions::default(), until));
    let nonzero: Vec<u32> = (0..gamma.len() as u32).filter(|&g| gamma[g as usize] != 0.0).collect();
    assert_eq!(nonzero, path.flagged_at(path.knots[path.knots.len() - 1]));
    let first = path.entries()[0].group as usize;
    let r = studies::residuals(&graph, path.last_scores())[first];
    assert!((gamma[first] - r).abs() < 0.05 * r.abs(), "{} {r}", gamma[first]);
}
