//! The automatic outlier rule; docs/selection.md has the evidence behind it.

use crate::studies::{SimulatedStudy, kendall, simulated};
use hodgerank::fit::{Fit, fit};
use hodgerank::select::{self, OutlierRule};
use hodgerank::simulate::{Noise, SimulateOptions};
use hodgerank::{Comparison, ComparisonGraph, FitOptions, Groups, Method};

fn fitted(study: &SimulatedStudy, method: Method) -> Fit {
    let outliers = OutlierRule::Auto;
    let options = FitOptions::new().method(method).outliers(outliers);
    fit(&study.graph, &options).unwrap()
}

fn iss(study: &SimulatedStudy) -> Fit {
    fitted(study, Method::InverseScaleSpace)
}

/// The harmonic mean of precision and recall on the bad votes.
fn f1(study: &SimulatedStudy, fit: &Fit) -> f64 {
    let weight = &study.graph.groups().weight;
    let flagged_share = |g: u32| fit.flagged[g as usize] / weight[g as usize];
    let flagged: f64 = study.group_of.iter().map(|&g| flagged_share(g)).sum();
    let bad = study.group_of.iter().zip(&study.bad).filter(|(_, bad)| **bad);
    let (count, hits) = bad.fold((0.0, 0.0), |(n, sum), (&g, _)| (n + 1.0, sum + flagged_share(g)));
    2.0 * hits / (flagged + count)
}

fn tau(study: &SimulatedStudy, fit: &Fit) -> f64 {
    kendall(&fit.scores, &study.truth)
}

#[test]
fn honest_disagreement_is_not_flagged() {
    let mut shares = Vec::new();
    for (items, votes) in [(16, 500), (16, 2000), (60, 3000)] {
        for scale in [0.05, 0.1, 0.2, 0.5] {
            let noise = Noise::BradleyTerry { scale };
            let share = |seed| {
                let clean = SimulateOptions { items, votes, noise, seed, ..Default::default() };
                select::auto(&simulated(&clean).graph).unwrap().votes / votes as f64
            };
            shares.extend((0..20).map(share));
        }
    }
    // Votes are flagged if chance explains the gain in at most one of a thousand studies.
    let flagged = shares.iter().filter(|share| **share > 0.0).count();
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!(flagged <= 2 && mean <= 0.001, "{flagged} of {}: {mean}", shares.len());
}

#[test]
fn flips_without_noise_are_found() {
    // The prior leaves some doubt about neighbours in the ranking, more so where flips are rare.
    for (flips, least) in [(0.05, 0.8), (0.1, 0.85), (0.2, 0.9)] {
        let score = |seed| {
            let study =
                simulated(&SimulateOptions { votes: 2000, flips, seed, ..Default::default() });
            f1(&study, &iss(&study))
        };
        let mean = (0..10).map(score).sum::<f64>() / 10.0;
        assert!(mean >= least, "{flips}: {mean}");
    }
}

#[test]
fn rankings_do_not_get_worse() {
    for (items, votes, flips, noise) in [
        (16, 500, 0.1, Noise::None),
        (16, 2000, 0.0, Noise::BradleyTerry { scale: 0.2 }),
        (16, 2000, 0.1, Noise::BradleyTerry { scale: 0.1 }),
        (16, 2000, 0.2, Noise::Gaussian { sigma: 0.1 }),
        (40, 3000, 0.3, Noise::BradleyTerry { scale: 0.1 }),
    ] {
        let gain = |seed| {
            let options =
                SimulateOptions { items, votes, flips, noise, seed, ..Default::default() };
            let study = simulated(&options);
            tau(&study, &iss(&study)) - tau(&study, &fitted(&study, Method::L2))
        };
        let mean = (0..20).map(gain).sum::<f64>() / 20.0;
        assert!(mean >= -0.01, "{items} items, {votes} votes, {flips}, {noise:?}: {mean}");
    }
}

#[test]
fn graded_votes() {
    let noise = Noise::Gaussian { sigma: 0.05 };
    let mut mean = 0.0;
    for seed in 0..10 {
        let clean = SimulateOptions { noise, graded: true, seed, ..Default::default() };
        let flagged = select::auto(&simulated(&clean).graph).unwrap().votes;
        assert!(flagged <= 0.005 * 2000.0, "seed {seed}: {flagged} clean votes");
        let flipped = simulated(&SimulateOptions { flips: 0.1, ..clean });
        mean += f1(&flipped, &iss(&flipped)) / 10.0;
    }
    // A flip of a small difference cannot be distinguished from noise.
    assert!(mean >= 0.75, "{mean}");
}

#[test]
fn few_votes_ties_and_isolated_items_have_no_outliers() {
    let votes = |votes: &[Comparison], items| {
        let graph = ComparisonGraph::new(items, Groups::merge(items, votes).unwrap().groups);
        select::auto(&graph.unwrap()).unwrap().votes
    };
    assert_eq!(votes(&[Comparison::new(0, 1, 1.0)], 2), 0.0);
    assert_eq!(votes(&[Comparison::new(0, 1, 0.0)], 2), 0.0);
    assert_eq!(votes(&[Comparison::new(0, 1, 1.0), Comparison::new(0, 1, -1.0)], 2), 0.0);
    let circle = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| Comparison::new(i, j, 1.0));
    assert_eq!(votes(&circle, 5), 0.0);
}

#[test]
fn results_do_not_depend_on_units() {
    let options = SimulateOptions { flips: 0.1, seed: 4, ..Default::default() };
    let study = simulated(&options);
    let mut groups = study.graph.groups().clone();
    groups.y.iter_mut().for_each(|y| *y *= 4.0);
    let scaled = ComparisonGraph::new(options.items, groups).unwrap();
    let flagged = |graph| select::auto(graph).unwrap().votes;
    assert_eq!(flagged(&scaled), flagged(&study.graph));
}

#[test]
fn results_are_deterministic() {
    let noise = Noise::BradleyTerry { scale: 0.1 };
    let options = SimulateOptions { noise, flips: 0.1, seed: 9, ..Default::default() };
    let (first, second) = (iss(&simulated(&options)), iss(&simulated(&options)));
    assert!(first.flagged.iter().any(|&votes| votes > 0.0));
    assert_eq!(first.flagged, second.flagged);
    assert_eq!(first.scores, second.scores);
}
