//! What the automatic rule promises: see docs/selection.md for the evidence behind it.

use hodgerank::fit::{Fit, FitOptions, Method, fit};
use hodgerank::select::{self, OutlierRule};
use hodgerank::simulate::{Noise, SimulateOptions, SimulatedVote, Simulation};
use hodgerank::{Comparison, ComparisonGraph, Groups};

struct Study {
    votes: Vec<SimulatedVote>,
    group_of: Vec<Option<u32>>,
    graph: ComparisonGraph,
    truth: Vec<f64>,
}

fn study(options: &SimulateOptions) -> Study {
    let mut simulation = Simulation::new(options).unwrap();
    let votes: Vec<SimulatedVote> = simulation.by_ref().collect();
    let comparisons: Vec<Comparison> = votes.iter().map(SimulatedVote::comparison).collect();
    let merged = Groups::merge(options.items, &comparisons).unwrap();
    let graph = ComparisonGraph::new(options.items, merged.groups).unwrap();
    Study { votes, group_of: merged.group_of, graph, truth: simulation.truth().to_vec() }
}

impl Study {
    fn fit(&self, method: Method) -> Fit {
        let outliers = OutlierRule::Auto;
        let options = FitOptions { method: Some(method), outliers, ..Default::default() };
        fit(&self.graph, &options).unwrap()
    }

    fn auto(&self) -> Fit {
        self.fit(Method::InverseScaleSpace)
    }

    /// The harmonic mean of precision and recall on the bad votes.
    fn f1(&self, fit: &Fit) -> f64 {
        let weight = &self.graph.groups().weight;
        let flag = |vote: usize| {
            self.group_of[vote].map_or(0.0, |g| fit.flagged[g as usize] / weight[g as usize])
        };
        let bad = || (0..self.votes.len()).filter(|&vote| self.votes[vote].bad);
        let flagged: f64 = (0..self.votes.len()).map(flag).sum();
        2.0 * bad().map(flag).sum::<f64>() / (flagged + bad().count() as f64)
    }

    /// Kendall's τ of the scores to the truth.
    fn tau(&self, fit: &Fit) -> f64 {
        let (a, b) = (&fit.scores, &self.truth);
        let pairs = || (0..a.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let order = |(i, j): (usize, usize)| match (a[i] - a[j]) * (b[i] - b[j]) {
            x if x > 0.0 => 1.0,
            x if x < 0.0 => -1.0,
            _ => 0.0,
        };
        pairs().map(order).sum::<f64>() / pairs().count() as f64
    }
}

#[test]
fn honest_disagreement_is_not_flagged() {
    for (items, votes) in [(16, 500), (16, 2000), (60, 3000)] {
        for scale in [0.05, 0.1, 0.2, 0.5] {
            let noise = Noise::BradleyTerry { scale };
            let share = |seed| {
                let clean = SimulateOptions { items, votes, noise, seed, ..Default::default() };
                select::auto(&study(&clean).graph).unwrap().votes / votes as f64
            };
            let mean = (0..20).map(share).sum::<f64>() / 20.0;
            assert!(mean <= 0.005, "{items} items, {votes} votes, scale {scale}: {mean}");
        }
    }
}

#[test]
fn flips_without_noise_are_found() {
    for flips in [0.05, 0.1, 0.2] {
        let f1 = |seed| {
            let study = study(&SimulateOptions { votes: 2000, flips, seed, ..Default::default() });
            study.f1(&study.auto())
        };
        let mean = (0..10).map(f1).sum::<f64>() / 10.0;
        assert!(mean >= 0.9, "{flips}: {mean}");
    }
}

#[test]
fn the_ranking_does_not_suffer() {
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
            let study = study(&options);
            study.tau(&study.auto()) - study.tau(&study.fit(Method::L2))
        };
        let mean = (0..20).map(gain).sum::<f64>() / 20.0;
        assert!(mean >= -0.01, "{items} items, {votes} votes, {flips}, {noise:?}: {mean}");
    }
}

#[test]
fn graded_votes() {
    let noise = Noise::Gaussian { sigma: 0.05 };
    let mut f1 = 0.0;
    for seed in 0..10 {
        let clean = SimulateOptions { noise, graded: true, seed, ..Default::default() };
        let flagged = select::auto(&study(&clean).graph).unwrap().votes;
        assert!(flagged <= 0.005 * 2000.0, "seed {seed}: {flagged} clean votes");
        let flipped = study(&SimulateOptions { flips: 0.1, ..clean });
        f1 += flipped.f1(&flipped.auto()) / 10.0;
    }
    // A flip of a small difference cannot be told from noise.
    assert!(f1 >= 0.75, "{f1}");
}

#[test]
fn few_votes_ties_and_loose_items_do_no_harm() {
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
fn the_size_of_votes_does_not_matter() {
    let options = SimulateOptions { flips: 0.1, seed: 4, ..Default::default() };
    let study = study(&options);
    let mut groups = study.graph.groups().clone();
    groups.y.iter_mut().for_each(|y| *y *= 4.0);
    let scaled = ComparisonGraph::new(options.items, groups).unwrap();
    let flagged = |graph| select::auto(graph).unwrap().votes;
    assert_eq!(flagged(&scaled), flagged(&study.graph));
}

#[test]
fn the_same_votes_give_the_same_flags() {
    let noise = Noise::BradleyTerry { scale: 0.1 };
    let options = SimulateOptions { noise, flips: 0.1, seed: 9, ..Default::default() };
    let (first, second) = (study(&options).auto(), study(&options).auto());
    assert!(first.flagged.iter().any(|&votes| votes > 0.0));
    assert_eq!(first.flagged, second.flagged);
    assert_eq!(first.scores, second.scores);
}
