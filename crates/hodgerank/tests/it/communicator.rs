//! Votes distributed over several processes: the results of one process, for any distribution, and
//! checkpoints from which a computation can resume.

use crate::studies;
use crate::thread_communicator::{MemoryCheckpoint, distribute, run_distributed};
use hodgerank::fit::{Fit, fit};
use hodgerank::laplacian::{Backend, BackendChoice};
use hodgerank::select::OutlierRule;
use hodgerank::simulate::{Noise, SimulateOptions};
use hodgerank::solve::bregman::Algorithm;
use hodgerank::{Comparison, ComparisonGraph, FitOptions, Groups, Method, Ranking};
use proptest::prelude::*;

/// Every distributable method with every distributable outlier rule.
fn distributable_options() -> Vec<FitOptions> {
    let with = |method, outliers| FitOptions::new().method(method).outliers(outliers);
    let (lbi, hlasso) = (Method::Bregman, Method::HuberLasso);
    let share = OutlierRule::Share(0.1);
    vec![
        with(Method::L2, share),
        with(Method::Ridge, share),
        with(lbi, share),
        with(lbi, OutlierRule::Count(25)),
        with(lbi, OutlierRule::Time(0.9)),
        with(lbi, OutlierRule::Scaled { m: 1.35 }),
        with(lbi, OutlierRule::Auto),
        with(lbi, share).algorithm(Algorithm::Gradient),
        with(lbi, OutlierRule::Time(0.8)).algorithm(Algorithm::Gradient),
        with(hlasso, share),
        with(hlasso, OutlierRule::Count(25)),
        with(hlasso, OutlierRule::Lambda(0.8)),
        with(hlasso, OutlierRule::Scaled { m: 1.35 }),
        with(hlasso, OutlierRule::Auto),
    ]
}

/// Returns the largest difference of scores to one process; asserts that everything else is equal.
fn difference(graph: &ComparisonGraph, options: &FitOptions, processes: usize, split: u32) -> f64 {
    let groups = graph.groups();
    let single = fit(graph, options).unwrap();
    let distributed =
        distribute(groups, processes, |i, j| (i.wrapping_mul(split) ^ j.wrapping_mul(7)) as usize);
    let checkpoints = distributed.iter().map(|_| None).collect();
    let found = run_distributed(graph.items(), groups, &distributed, checkpoints, |part| {
        assert_eq!(part.components(), graph.components());
        assert_eq!(part.votes(), graph.votes());
        let fit = fit(part, options).unwrap();
        let ranking = Ranking::new(part, &fit.scores).with_flagged(part, &fit.flagged);
        (fit, ranking)
    });
    let ranking = Ranking::new(graph, &single.scores).with_flagged(graph, &single.flagged);
    let mut flagged = vec![0.0; groups.len()];
    for (((fit, records), _), mine) in found.iter().zip(&distributed) {
        assert_eq!(fit.scores, found[0].0.0.scores, "all processes have the same bits");
        assert_eq!(fit.status, single.status, "{options:?}");
        for (&g, &votes) in mine.iter().zip(&fit.flagged) {
            flagged[g] = votes;
        }
        let counts = |ranking: &Ranking| {
            let mut items = ranking.items.clone();
            items.sort_by_key(|item| item.item);
            items.into_iter().map(|i| (i.wins, i.losses, i.ties, i.flagged)).collect::<Vec<_>>()
        };
        assert_eq!(counts(records), counts(&ranking), "{options:?}");
    }
    assert_eq!(flagged, single.flagged, "{options:?}, {processes} processes");
    let stop = |fit: &Fit| fit.stop.map_or(0.0, |(_, at)| at);
    assert!((stop(&found[0].0.0) - stop(&single)).abs() < 1e-10, "{options:?}");
    let pairs = found[0].0.0.scores.iter().zip(&single.scores);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn simulated(items: usize, votes: u64, seed: u64) -> ComparisonGraph {
    let noise = Noise::BradleyTerry { scale: 0.2 };
    let options =
        SimulateOptions { items, votes, flips: 0.1, noise, seed, ..SimulateOptions::default() };
    studies::simulated(&options).graph
}

#[test]
fn several_processes_give_the_result_of_one() {
    for (graph, seed) in [(simulated(16, 900, 1), 3), (simulated(120, 6000, 2), 11)] {
        for options in distributable_options() {
            for processes in 1..=4 {
                let off = difference(&graph, &options, processes, seed);
                assert!(off < 1e-10, "{options:?}, {processes} processes: {off:e}");
            }
        }
    }
}

#[test]
fn graded_votes_can_be_distributed() {
    let (noise, flips, graded) = (Noise::Gaussian { sigma: 0.05 }, 0.1, true);
    let options = SimulateOptions { votes: 1500, noise, flips, graded, ..Default::default() };
    let graph = studies::simulated(&options).graph;
    for options in
        distributable_options().into_iter().filter(|options| options.outliers == OutlierRule::Auto)
    {
        assert!(fit(&graph, &options).unwrap().flagged.iter().any(|&votes| votes > 0.0));
        for processes in 1..=4 {
            let off = difference(&graph, &options, processes, 3);
            assert!(off < 1e-10, "{options:?}, {processes} processes: {off:e}");
        }
    }
}

#[test]
fn a_complete_study_can_be_distributed() {
    let graph = studies::complete();
    for options in distributable_options() {
        let off = difference(&graph, &options, 3, 5);
        assert!(off < 1e-10, "{options:?}: {off:e}");
    }
}

#[test]
fn processes_may_have_no_votes() {
    let graph = simulated(12, 300, 4);
    for options in distributable_options() {
        // All pairs go to the first of three processes.
        let off = difference(&graph, &options, 3, 0);
        assert!(off < 1e-10, "{options:?}: {off:e}");
        let distributed = vec![Vec::new(), (0..graph.groups().len()).collect()];
        let single = fit(&graph, &options).unwrap();
        let found = run_distributed(12, graph.groups(), &distributed, vec![None, None], |g| {
            fit(g, &options).unwrap().scores
        });
        let off = found[0].0.iter().zip(&single.scores).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-10, "{options:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Several components, items without votes, ties and counts.
    #[test]
    fn any_votes_can_be_distributed_in_any_way(
        votes in prop::collection::vec((0..14_u32, 0..14_u32, -1..=1_i32, 1..4_u64), 1..60),
        processes in 2..5_usize,
        split in 0..50_u32,
    ) {
        let votes: Vec<Comparison> = votes
            .into_iter()
            .filter(|(i, j, ..)| i != j)
            .map(|(i, j, y, count)| Comparison::new(i, j, f64::from(y)).with_count(count))
            .collect();
        let groups = Groups::merge(14, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(14, groups).unwrap();
        let l2 = FitOptions::new().method(Method::L2);
        prop_assert!(difference(&graph, &l2, processes, split) < 1e-10);
    }
}

#[test]
fn resuming_from_a_checkpoint_gives_the_same_bits() {
    let graph = simulated(60, 3000, 5);
    let groups = graph.groups();
    let distributed = distribute(groups, 3, |i, j| (3 * i + j) as usize);
    let robust = |options: &FitOptions| {
        options.method.is_some_and(|method| matches!(method, Method::Bregman | Method::HuberLasso))
    };
    // The state does not depend on how the outlier rule determined the number of votes.
    let given = |options: &FitOptions| options.outliers != OutlierRule::Auto;
    for options in distributable_options().into_iter().filter(robust).filter(given) {
        let run = |checkpoints| {
            run_distributed(60, groups, &distributed, checkpoints, |part| {
                fit(part, &options).unwrap()
            })
        };
        let complete = run((0..3).map(|_| Some(MemoryCheckpoint::new(1, None))).collect());
        let kept = complete[0].1.len();
        assert!(kept > 0, "{options:?} kept nothing");
        for state in [0, kept / 2, kept - 1] {
            let checkpoints = complete
                .iter()
                .map(|(_, kept)| Some(MemoryCheckpoint::new(u64::MAX, Some(kept[state].clone()))));
            let resumed = run(checkpoints.collect());
            for ((a, _), (b, _)) in complete.iter().zip(&resumed) {
                assert_eq!((&a.scores, &a.flagged), (&b.scores, &b.flagged), "{options:?}");
                assert_eq!((&a.entries, a.stop), (&b.entries, b.stop), "{options:?}");
            }
        }
    }
}

#[test]
fn checkpoints_of_other_votes_are_rejected() {
    let (graph, other) = (simulated(20, 600, 6), simulated(21, 600, 6));
    let options = FitOptions::new().outliers(OutlierRule::Share(0.1));
    let one = |graph: &ComparisonGraph, checkpoint| {
        let distributed = vec![(0..graph.groups().len()).collect()];
        run_distributed(graph.items(), graph.groups(), &distributed, vec![Some(checkpoint)], |g| {
            fit(g, &options)
        })
        .remove(0)
    };
    let (fitted, kept) = one(&graph, MemoryCheckpoint::new(1, None));
    assert!(fitted.is_ok() && !kept.is_empty());
    let (fitted, _) = one(&other, MemoryCheckpoint::new(1, Some(kept[0].clone())));
    assert!(fitted.unwrap_err().to_string().contains("lbi"));
}

#[test]
fn methods_that_are_not_distributable_are_rejected() {
    let graph = simulated(10, 100, 7);
    let rejected = |options: FitOptions| {
        let distributed = distribute(graph.groups(), 2, |i, _| i as usize);
        let found = run_distributed(10, graph.groups(), &distributed, vec![None, None], |g| {
            fit(g, &options)
        });
        found.into_iter().map(|(fit, _)| fit.unwrap_err().to_string()).collect::<Vec<_>>()
    };
    let iss = FitOptions::new().method(Method::InverseScaleSpace);
    let direct = FitOptions::new().method(Method::L2).backend(BackendChoice::Fixed(Backend::Dense));
    let cv = OutlierRule::CrossValidation(Default::default());
    let cv = FitOptions::new().outliers(cv);
    for (options, word) in
        [(iss, "several processes"), (direct, "auto or cg"), (cv, "scaled or auto")]
    {
        let messages = rejected(options);
        assert!(messages.iter().all(|message| message.contains(word)), "{messages:?}");
    }
}
