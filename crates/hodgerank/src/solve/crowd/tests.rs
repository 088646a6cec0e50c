use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::annotator_votes::AnnotatorVote;
use crate::status::Status;
use crate::{Comparison, Groups};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Careful,
    Careless(f64),
    Contrary,
    Left,
    Right,
    Coin,
}

struct TestCrowd {
    truth: Vec<f64>,
    rows: Vec<(u32, AnnotatorVote)>,
    annotators: usize,
}

/// Votes of people of these kinds on random pairs.
fn crowd(items: usize, kinds: &[Kind], votes: usize, seed: u64) -> TestCrowd {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let truth: Vec<f64> = (0..items).map(|i| 5.0 * i as f64 / items as f64 - 2.5).collect();
    let mut rows = Vec::new();
    for (annotator, kind) in kinds.iter().enumerate() {
        for _ in 0..votes {
            let left = random.random_range(0..items as u32);
            let right = (left + 1 + random.random_range(0..items as u32 - 1)) % items as u32;
            let d = truth[left as usize] - truth[right as usize];
            let p = 1.0 / (1.0 + (-d).exp());
            let p = match *kind {
                Kind::Careful => p,
                Kind::Careless(lapses) => (1.0 - lapses) * p + 0.5 * lapses,
                Kind::Contrary => 1.0 - p,
                Kind::Left => 1.0,
                Kind::Right => 0.0,
                Kind::Coin => 0.5,
            };
            let outcome = u32::from(random.random::<f64>() < p);
            rows.push((annotator as u32, AnnotatorVote { left, right, outcome, count: 1 }));
        }
    }
    TestCrowd { truth, rows, annotators: kinds.len() }
}

impl TestCrowd {
    fn votes(&self) -> AnnotatorVotes {
        let parts = [self.rows.clone()];
        AnnotatorVotes::new(self.annotators, &parts, vec![-1.0, 1.0], true)
    }

    fn graph(&self) -> ComparisonGraph {
        let vote = |(_, vote): &(u32, AnnotatorVote)| {
            let y = 2.0 * f64::from(vote.outcome) - 1.0;
            Comparison::new(vote.left, vote.right, y).with_count(vote.count.into())
        };
        let votes: Vec<Comparison> = self.rows.iter().map(vote).collect();
        let items = self.truth.len();
        ComparisonGraph::new(items, Groups::merge(items, &votes).unwrap().groups).unwrap()
    }

    fn solve(&self) -> Crowd {
        solve(&self.graph(), &self.votes(), &CrowdOptions::default()).unwrap()
    }

    fn tau(&self, scores: &[f64]) -> f64 {
        crate::kendall::tau(scores, &self.truth)
    }
}

fn mixed() -> Vec<Kind> {
    let mut kinds = vec![Kind::Careful; 24];
    kinds.extend([Kind::Contrary; 4]);
    kinds.extend([Kind::Left; 4]);
    kinds.extend([Kind::Right; 3]);
    kinds.extend([Kind::Coin; 3]);
    kinds.extend([Kind::Careless(0.6); 2]);
    kinds
}

#[test]
fn bad_annotators_are_recognised_and_do_not_tilt_the_ranking() {
    let kinds = mixed();
    let study = crowd(30, &kinds, 150, 3);
    let found = study.solve();
    assert_eq!(found.solution.status, Status::Solved);
    let plain = crate::solve::bradley_terry::solve(&study.graph(), &Default::default()).unwrap();
    let (ours, theirs) = (study.tau(&found.solution.scores), study.tau(&plain.solution.scores));
    assert!(ours > theirs && ours > 0.9, "{ours} {theirs}");
    for (kind, estimate) in kinds.iter().zip(&found.annotators) {
        let expected: &[AnnotatorClass] = match kind {
            Kind::Careful => &[AnnotatorClass::Careful],
            Kind::Contrary => &[AnnotatorClass::Contrary],
            Kind::Left => &[AnnotatorClass::Left],
            Kind::Right => &[AnnotatorClass::Right],
            Kind::Coin => &[AnnotatorClass::Coin, AnnotatorClass::Careless],
            // Most answers are by chance: none is certain.
            Kind::Careless(_) => {
                &[AnnotatorClass::Careless, AnnotatorClass::Careful, AnnotatorClass::Coin]
            }
        };
        assert!(expected.contains(&estimate.class), "{kind:?}: {estimate:?}");
        assert!(estimate.honest_low <= estimate.honest && estimate.honest <= estimate.honest_high);
    }
    let first = found.bad_probability(Some(0), (29, 0), 1.0);
    assert!(first < 0.01, "{first}");
    // Whatever a contrary or one-sided annotator says.
    for annotator in [24, 28, 32] {
        for y in [-1.0, 1.0] {
            let bad = found.bad_probability(Some(annotator), (29, 0), y);
            assert!(bad > 0.9, "{annotator} {y}: {bad}");
        }
    }
}

#[test]
fn nobody_of_a_clean_crowd_is_suspicious() {
    for seed in 0..5 {
        let found = crowd(20, &[Kind::Careful; 30], 100, 10 + seed).solve();
        assert!(found.annotators.iter().all(|a| a.class == AnnotatorClass::Careful));
    }
}

#[test]
fn order_of_rows_and_threads_change_no_bit() {
    let mut study = crowd(25, &mixed(), 60, 5);
    let scores = study.solve().solution.scores;
    study.rows.reverse();
    for threads in [1, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let again = pool.install(|| study.solve());
        assert_eq!(again.solution.scores, scores, "{threads} threads");
    }
}

#[test]
fn swapped_sides_swap_left_and_right() {
    let mut study = crowd(25, &mixed(), 60, 6);
    let before = study.solve();
    for (_, vote) in &mut study.rows {
        (vote.left, vote.right, vote.outcome) = (vote.right, vote.left, 1 - vote.outcome);
    }
    let after = study.solve();
    for (a, b) in before.solution.scores.iter().zip(&after.solution.scores) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    for (a, b) in before.annotators.iter().zip(&after.annotators) {
        let mirrored = match a.class {
            AnnotatorClass::Left => AnnotatorClass::Right,
            AnnotatorClass::Right => AnnotatorClass::Left,
            class => class,
        };
        assert_eq!(mirrored, b.class);
    }
}

#[test]
fn people_without_names_are_unknown() {
    let mut study = crowd(20, &mixed(), 60, 8);
    let passers_by = crowd(20, &[Kind::Careful; 200], 2, 9);
    let annotators = study.annotators as u32;
    // Half of them have names.
    for (annotator, vote) in passers_by.rows {
        let named = annotator < 100;
        study.rows.push((if named { annotators + annotator } else { annotators + 100 }, vote));
    }
    study.annotators += 100;
    let found = study.solve();
    assert_eq!(found.annotators.len(), 140);
    assert_eq!(found.estimates.unknown_votes, 200);
    assert_eq!(found.bad_probability(None, (19, 0), 1.0), 0.0);
}

#[test]
fn counts_are_repeated_votes() {
    let study = crowd(15, &mixed(), 40, 11);
    let merged: Vec<_> = study
        .rows
        .iter()
        .map(|&(annotator, vote)| (annotator, AnnotatorVote { count: 3, ..vote }))
        .collect();
    let repeated = study.rows.iter().flat_map(|&row| [row; 3]).collect();
    let with = |rows| TestCrowd { rows, truth: study.truth.clone(), ..study };
    let (merged, repeated) = (with(merged).solve(), with(repeated).solve());
    for (a, b) in merged.solution.scores.iter().zip(&repeated.solution.scores) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn a_divided_crowd_has_an_uncertain_direction() {
    let mut kinds = vec![Kind::Careful; 11];
    kinds.extend([Kind::Contrary; 10]);
    let found = crowd(20, &kinds, 80, 12).solve();
    assert!(found.estimates.is_direction_uncertain, "{:?}", found.estimates);
    let found = crowd(20, &[Kind::Careful; 20], 80, 12).solve();
    assert!(!found.estimates.is_direction_uncertain, "{:?}", found.estimates);
    // A single annotator is an honest one.
    let found = crowd(10, &[Kind::Careful; 1], 200, 13).solve();
    assert_eq!(found.annotators.len(), 1);
    assert!(!found.estimates.is_direction_uncertain);
}

#[test]
fn flagged_votes_are_counted_in_their_groups() {
    let study = crowd(12, &mixed(), 50, 14);
    let (graph, votes, found) = (study.graph(), study.votes(), study.solve());
    let flagged = found.flagged(&graph, &votes, 0.5);
    let mut expected = vec![0.0; graph.groups().len()];
    for &(annotator, vote) in &study.rows {
        let y = 2.0 * f64::from(vote.outcome) - 1.0;
        let position = found.position(annotator);
        if found.bad_probability(position, (vote.left, vote.right), y) > 0.5 {
            expected[graph.groups().find(vote.left, vote.right, y).unwrap()] += 1.0;
        }
    }
    assert_eq!(flagged, expected);
    let total: f64 = flagged.iter().sum();
    assert!((500.0..1100.0).contains(&total), "{total} of 2,000 votes, 800 by bad annotators");
    // At least as many as asked for.
    let threshold = found.threshold_of(&graph, &votes, 300.0);
    let some: f64 = found.flagged(&graph, &votes, threshold).iter().sum();
    assert!((300.0..total).contains(&some), "{some} of {total}");
}

#[test]
fn a_difference_of_taste_silences_nobody() {
    // Seven of sixteen people have the opposite taste.
    let mut kinds = vec![Kind::Careful; 9];
    kinds.extend([Kind::Contrary; 7]);
    let study = crowd(8, &kinds, 60, 31);
    let found = study.solve();
    assert!(!found.estimates.uses_people(), "{:?}", found.estimates.decisions);
    let flagged: f64 = found.flagged(&study.graph(), &study.votes(), 0.5).iter().sum();
    assert_eq!(flagged, 0.0);
    let plain = crate::solve::bradley_terry::solve(&study.graph(), &Default::default()).unwrap();
    for (a, b) in found.solution.scores.iter().zip(&plain.solution.scores) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

/// The gradient of ℓ without the prior, vote by vote, with the voices that were found.
fn gradient(study: &TestCrowd, found: &Crowd) -> Vec<f64> {
    let mut gradient = vec![0.0; study.truth.len()];
    let scores = &found.solution.scores;
    for &(annotator, vote) in &study.rows {
        let own = &found.annotators[annotator as usize];
        let (i, j) = (vote.left as usize, vote.right as usize);
        let advantage = found.estimates.side_advantage + own.side_preference;
        let p = 1.0 / (1.0 + (-(own.sharpness * (scores[i] - scores[j]) + advantage)).exp());
        let slope = own.weight * own.sharpness * (f64::from(vote.outcome) - p);
        gradient[i] += slope;
        gradient[j] -= slope;
    }
    gradient
}

#[test]
fn the_gradient_vanishes() {
    let study = crowd(12, &mixed(), 60, 32);
    let options =
        CrowdOptions { prior: Some(0.0), people: UsePeople::Always, ..Default::default() };
    let found = solve(&study.graph(), &study.votes(), &options).unwrap();
    assert_eq!(found.solution.status, Status::Solved);
    assert!(found.solution.info.residual < 1e-9, "{:?}", found.solution.info);
    let gradient = gradient(&study, &found);
    let largest = gradient.iter().fold(0.0_f64, |a, g| a.max(g.abs()));
    assert!(largest < 1e-6, "{gradient:?}");
}

#[test]
fn slopes_of_votes_are_those_of_finite_differences() {
    let study = crowd(10, &mixed(), 60, 33);
    let mut found = study.solve();
    assert!(found.estimates.uses_people());
    let log = |found: &Crowd, annotator: usize, (i, j): (usize, usize)| {
        let own = &found.annotators[annotator];
        let scores = &found.solution.scores;
        let advantage = found.estimates.side_advantage + own.side_preference;
        let x = own.sharpness * (scores[i] - scores[j]) + advantage;
        own.weight * -(-x).exp().ln_1p()
    };
    for annotator in [0, 25, 30, 36] {
        let slope =
            CrowdSlopes::new(&found).of_annotator(Some(annotator as u32)).of_vote(3, 5, 1.0);
        let here = found.solution.scores[3];
        found.solution.scores[3] = here + 1e-5;
        let up = log(&found, annotator, (3, 5));
        found.solution.scores[3] = here - 1e-5;
        let down = log(&found, annotator, (3, 5));
        found.solution.scores[3] = here;
        let expected = (up - down) / 2e-5;
        assert!((slope.gradient - expected).abs() < 1e-6, "{annotator}: {slope:?} {expected}");
        assert!(slope.information >= 0.0);
    }
}
