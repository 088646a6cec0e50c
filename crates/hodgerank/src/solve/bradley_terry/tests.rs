use super::*;
use crate::model::choose::left_out_of;
use crate::model::pass::Pass;
use crate::model::prior::PriorTerm;
use crate::model::votes::VoteModel;
use crate::simulate::{Noise, SimulateOptions, Simulation};
use crate::{Comparison, Groups};

fn graph_of(items: usize, votes: &[Comparison]) -> ComparisonGraph {
    ComparisonGraph::new(items, Groups::merge(items, votes).unwrap().groups).unwrap()
}

fn plain() -> BradleyTerryOptions {
    BradleyTerryOptions { prior: Some(0.0), lapse_rate: Some(0.0), ..Default::default() }
}

fn simulated(votes: u64, flips: f64, seed: u64) -> (Vec<Comparison>, Vec<f64>) {
    let noise = Noise::BradleyTerry { scale: 0.25 };
    let options = SimulateOptions { items: 20, votes, noise, flips, seed, ..Default::default() };
    let mut simulation = Simulation::new(&options).unwrap();
    let votes = simulation.by_ref().map(|vote| vote.comparison()).collect();
    (votes, simulation.truth().to_vec())
}

/// Hunter's minorisation-maximisation, which shares nothing with the solver but the model.
fn reference(items: usize, votes: &[Comparison]) -> Vec<f64> {
    let mut strength = vec![1.0; items];
    for _ in 0..20_000 {
        let (mut wins, mut sums) = (vec![0.0; items], vec![0.0; items]);
        for vote in votes {
            let (i, j) = (vote.left as usize, vote.right as usize);
            wins[if vote.y > 0.0 { i } else { j }] += vote.count as f64;
            let share = vote.count as f64 / (strength[i] + strength[j]);
            sums[i] += share;
            sums[j] += share;
        }
        (0..items).for_each(|i| strength[i] = wins[i] / sums[i]);
    }
    let mut scores: Vec<f64> = strength.iter().map(|strength| strength.ln()).collect();
    let mean = scores.iter().sum::<f64>() / items as f64;
    scores.iter_mut().for_each(|score| *score -= mean);
    scores
}

#[test]
fn without_prior_and_lapses_it_is_the_maximum_likelihood() {
    let (votes, _) = simulated(2000, 0.1, 1);
    let found = solve(&graph_of(20, &votes), &plain()).unwrap();
    assert_eq!(found.solution.status, Status::Solved);
    assert!(found.solution.info.residual < 1e-12, "{:?}", found.solution.info);
    for (score, expected) in found.solution.scores.iter().zip(reference(20, &votes)) {
        assert!((score - expected).abs() < 1e-8, "{score} {expected}");
    }
}

#[test]
fn ties_are_as_many_as_expected() {
    let (mut votes, _) = simulated(4000, 0.0, 3);
    votes.iter_mut().step_by(4).for_each(|vote| vote.y = 0.0);
    let graph = graph_of(20, &votes);
    let found = solve(&graph, &plain()).unwrap();
    assert_eq!(found.solution.status, Status::Solved);
    // At the maximum as many ties are expected as there are.
    let model = VoteModel {
        advantage: 0.0,
        tie_odds: found.estimates.tie_odds,
        lapse_rate: 0.0,
        tie_share: 0.25,
    };
    let sums =
        Pass::new(&PairVotes::new(&graph), &no_prior(&graph), &found.solution.scores, &model).sums;
    assert!((sums.ties - sums.expected_ties).abs() < 1e-6 * sums.ties, "{sums:?}");
}

fn no_prior(graph: &ComparisonGraph) -> PriorTerm {
    Prior { kind: PriorKind::Scores, precision: 0.0 }.term(graph)
}

#[test]
fn slopes_are_those_of_finite_differences() {
    let votes = [
        Comparison::new(0, 1, 1.0).with_count(5),
        Comparison::new(0, 1, -1.0).with_count(2),
        Comparison::new(0, 1, 0.0).with_count(3),
    ];
    let graph = graph_of(2, &votes);
    let votes = PairVotes::new(&graph);
    for d in [-3.0, -0.4, 0.0, 0.7, 5.0] {
        for tie_odds in [0.3, 1.0, 2.5] {
            for lapse_rate in [0.0, 0.2] {
                let model = VoteModel { advantage: 0.0, tie_odds, lapse_rate, tie_share: 0.3 };
                let pass = |d: f64| Pass::new(&votes, &no_prior(&graph), &[d, 0.0], &model);
                let (here, step) = (pass(d), 1e-4);
                let [below, at, above] =
                    [d - step, d, d + step].map(|d| pass(d).sums.log_likelihood);
                let slope = (above - below) / (2.0 * step);
                assert!((here.gradient[0] - slope).abs() < 1e-6, "{d} {tie_odds} {lapse_rate}");
                assert_eq!(here.gradient[0], -here.gradient[1]);
                // The expected information: that of the slopes, by the probabilities of the outcomes.
                let terms = model.at(d);
                let probabilities = terms.log.map(f64::exp);
                assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let squares =
                    probabilities.iter().zip(terms.slope).map(|(p, slope)| p * slope * slope);
                assert!((terms.information - squares.sum::<f64>()).abs() < 1e-12, "{terms:?}");
                let curvature = (2.0 * at - above - below) / (step * step);
                let found = f64::from(here.pair_information[0]);
                assert!((found - curvature.max(0.0)).abs() < 1e-4, "{found} {curvature}");
            }
        }
    }
}

#[test]
fn ties_follow_davidson() {
    // Equal items, 30 wins each and 20 ties: ν = 20 / 30.
    let votes = [
        Comparison::new(0, 1, 1.0).with_count(30),
        Comparison::new(1, 0, 1.0).with_count(30),
        Comparison::new(0, 1, 0.0).with_count(20),
    ];
    let found = solve(&graph_of(2, &votes), &plain()).unwrap();
    assert!((found.estimates.tie_odds - 2.0 / 3.0).abs() < 1e-6, "{:?}", found.estimates);
    assert!(found.solution.scores[0].abs() < 1e-9);
}

#[test]
fn undefeated_items_stay_finite_and_few_wins_do_not_overtake_many() {
    let mut votes = vec![
        Comparison::new(0, 4, 1.0).with_count(5),
        Comparison::new(1, 4, 1.0).with_count(146),
        Comparison::new(5, 4, -1.0).with_count(7),
    ];
    for (i, j) in [(2, 3), (3, 4), (2, 4)] {
        votes.push(Comparison::new(i, j, 1.0).with_count(60));
        votes.push(Comparison::new(j, i, 1.0).with_count(20));
    }
    let found = solve(&graph_of(6, &votes), &BradleyTerryOptions::default()).unwrap();
    let scores = &found.solution.scores;
    assert!(scores.iter().all(|score| score.abs() < 20.0), "{scores:?}");
    assert!(scores[1] > scores[0], "{scores:?}");
    assert!(scores[5] < scores[4], "{scores:?}");
}

#[test]
fn lapses_are_found() {
    let (votes, _) = simulated(30_000, 0.15, 4);
    let found = solve(&graph_of(20, &votes), &BradleyTerryOptions::default()).unwrap();
    // Flips of 15% are lapses of 30%, half of which agree by chance.
    assert!((found.estimates.lapse_rate - 0.3).abs() < 0.05, "{:?}", found.estimates);
    let (votes, _) = simulated(30_000, 0.0, 5);
    let found = solve(&graph_of(20, &votes), &BradleyTerryOptions::default()).unwrap();
    assert_eq!(found.estimates.lapse_rate, 0.0, "{:?}", found.estimates);
}

/// The logarithm of the probability of each vote by a fit without it: the slow reference.
#[test]
fn votes_are_left_out_as_if_the_model_were_fitted_again() {
    let (votes, _) = simulated(150, 0.1, 8);
    for kind in [PriorKind::Scores, PriorKind::Differences] {
        let options = BradleyTerryOptions {
            prior: Some(0.5),
            prior_kind: Some(kind),
            lapse_rate: Some(0.0),
            ..Default::default()
        };
        let graph = graph_of(20, &votes);
        let given = Given { kind: Some(kind), precision: Some(0.5), lapse_rate: Some(0.0) };
        let Prepared { mut newton, chosen } =
            Prepared::new(&graph, None, given, BackendChoice::default()).unwrap();
        let left_out = left_out_of(&mut newton, &chosen.votes).unwrap();
        let found: f64 = left_out.iter().map(|vote| vote.count * vote.log).sum();
        let log = |k: usize| {
            let mut others = votes.clone();
            let vote = others.remove(k);
            let scores = solve(&graph_of(20, &others), &options).unwrap().solution.scores;
            let d = scores[vote.left as usize] - scores[vote.right as usize];
            -(-vote.y * d).exp().ln_1p()
        };
        let expected: f64 = (0..votes.len()).map(log).sum();
        // Variances are estimated from random draws, and the difference without a vote to second order.
        assert!((found / expected - 1.0).abs() < 0.03, "{kind:?}: {found} {expected}");
    }
}

#[test]
fn sides_and_split_rows_change_nothing_and_labels_only_their_order() {
    let (votes, _) = simulated(3000, 0.1, 6);
    let scores = |votes: &[Comparison]| {
        solve(&graph_of(20, votes), &BradleyTerryOptions::default()).unwrap().solution.scores
    };
    let expected = scores(&votes);
    let swapped: Vec<Comparison> =
        votes.iter().rev().map(|v| Comparison::new(v.right, v.left, -v.y)).collect();
    assert_eq!(scores(&swapped), expected);
    let relabelled: Vec<Comparison> =
        votes.iter().map(|v| Comparison::new(19 - v.left, 19 - v.right, v.y)).collect();
    for (score, expected) in scores(&relabelled).iter().rev().zip(&expected) {
        assert!((score - expected).abs() < 1e-6, "{score} {expected}");
    }
}

#[test]
fn invalid_options_are_rejected() {
    for (prior, lapse_rate) in
        [(Some(-1.0), None), (Some(f64::NAN), None), (None, Some(-0.1)), (None, Some(1.0))]
    {
        let options = BradleyTerryOptions { prior, lapse_rate, ..Default::default() };
        assert!(options.validate().is_err(), "{options:?}");
    }
}
