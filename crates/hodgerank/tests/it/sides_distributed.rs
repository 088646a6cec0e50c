//! The advantage of the left side on several processes: each has the sides of its own pairs.

use crate::thread_communicator::{distribute, run_processes};
use hodgerank::fit::{Fit, Model, fit};
use hodgerank::simulate::{Noise, SimulateOptions, Simulation};
use hodgerank::solve::bradley_terry::BradleyTerryEstimates;
use hodgerank::{Comparison, ComparisonGraph, FitOptions, Groups, Method, SideCounts};

/// Votes, some of which go to the left item whatever it is: the first one of each `step`.
fn votes(items: usize, number: u64, flips: f64, step: usize) -> Vec<Comparison> {
    let (noise, ties) = (Noise::BradleyTerry { scale: 0.1 }, 0.1);
    let options =
        SimulateOptions { items, votes: number, noise, ties, flips, seed: 3, ..Default::default() };
    let votes = Simulation::new(&options).unwrap().map(|vote| vote.comparison());
    let to_left = |(k, vote): (usize, Comparison)| match k % step {
        0 => Comparison::new(vote.left, vote.right, 1.0),
        _ => vote,
    };
    votes.enumerate().map(to_left).collect()
}

fn owner(i: u32, j: u32) -> usize {
    (5 * i.min(j) + 3 * i.max(j)) as usize
}

fn estimates(fit: &Fit) -> BradleyTerryEstimates {
    match &fit.model {
        Some(Model::BradleyTerry(estimates)) => estimates.clone(),
        _ => panic!("an estimate"),
    }
}

#[test]
fn several_processes_find_the_advantage_of_one() {
    let bt = FitOptions::new().method(Method::BradleyTerry);
    for (items, number, flips, step) in
        [(16, 3000, 0.0, 8), (16, 30_000, 0.2, 40), (60, 6000, 0.1, 8)]
    {
        let votes = votes(items, number, flips, step);
        let groups = Groups::merge(items, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items, groups.clone()).unwrap();
        let graph = graph.with_sides(Some(SideCounts::of_comparisons(items, &votes)));
        let single = fit(&graph, &bt).unwrap();
        let expected = estimates(&single);
        assert!(expected.side_advantage > 0.02, "{expected:?}");
        assert!(step == 8 || expected.lapse_rate > 0.0, "{expected:?}");
        for processes in [2, 3] {
            let distributed = distribute(&groups, processes, owner);
            let checkpoints = (0..processes).map(|_| None).collect();
            let found =
                run_processes(items, &groups, &distributed, checkpoints, |process, graph| {
                    let is_own = |v: &&Comparison| owner(v.left, v.right) % processes == process;
                    let own: Vec<Comparison> = votes.iter().filter(is_own).copied().collect();
                    let sides = SideCounts::of_comparisons(items, &own);
                    fit(&graph.clone().with_sides(Some(sides)), &bt).unwrap()
                });
            for (fit, _) in &found {
                assert_eq!(fit.scores, found[0].0.scores, "all processes have the same bits");
                let estimates = estimates(fit);
                for (a, b) in [
                    (estimates.side_advantage, expected.side_advantage),
                    (estimates.lapse_rate, expected.lapse_rate),
                    (estimates.tie_odds, expected.tie_odds),
                ] {
                    assert!((a - b).abs() < 1e-9, "{estimates:?} {expected:?}");
                }
                for (a, b) in fit.scores.iter().zip(&single.scores) {
                    assert!((a - b).abs() < 1e-9, "{a} {b}");
                }
            }
        }
    }
}
