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
    /// Prefers this item, and is honest otherwise.
    FanOf(u32),
    /// Rejects this item, and is honest otherwise.
    Against(u32),
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
                Kind::FanOf(item) if left == item => 1.0,
                Kind::FanOf(item) if right == item => 0.0,
                Kind::Against(item) if left == item => 0.0,
                Kind::Against(item) if right == item => 1.0,
                Kind::FanOf(_) | Kind::Against(_) => p,
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
    let study = crowd(30, &kinds, 80, 3);
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
            Kind::Careless(_) => &[AnnotatorClass::Careless, AnnotatorClass::Coin],
            Kind::FanOf(_) | Kind::Against(_) => &[AnnotatorClass::Fan],
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
fn clean_crowds_keep_their_unit() {
    let mut slopes = 0.0;
    for seed in 0..5 {
        let study = crowd(20, &[Kind::Careful; 30], 100, 10 + seed);
        let found = study.solve();
        let truth = &study.truth;
        let mean = truth.iter().sum::<f64>() / truth.len() as f64;
        let product: f64 =
            found.solution.scores.iter().zip(truth).map(|(s, t)| s * (t - mean)).sum();
        slopes += product / truth.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / 5.0;
        assert!(found.annotators.iter().all(|a| a.class == AnnotatorClass::Careful));
    }
    assert!((slopes - 1.0).abs() < 0.06, "{slopes}");
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

/// ℓ without the prior at these scores, vote by vote: the slow reference.
fn log_likelihood(study: &TestCrowd, search: &Search<'_>, scores: &[f64]) -> f64 {
    let votes = study.votes();
    let of_annotator = |annotator: usize| -> f64 {
        let of_point = |(k, point): (usize, &behaviour::Behaviour)| {
            let (slope, offset) = point.line();
            let product: f64 = votes
                .of(annotator)
                .iter()
                .map(|vote| {
                    let d = scores[vote.left as usize] - scores[vote.right as usize];
                    let left = slope / (1.0 + (-d).exp()) + offset;
                    let answer = if votes.y(vote) > 0.0 { left } else { 1.0 - left };
                    answer.max(likelihood::MIN_PROBABILITY).powi(vote.count as i32)
                })
                .product();
            search.shares.of[k] * product
        };
        search.points.iter().enumerate().map(of_point).sum::<f64>().ln()
    };
    (0..votes.annotators()).map(of_annotator).sum()
}

#[test]
fn likelihoods_and_slopes_are_those_of_the_slow_reference() {
    let study = crowd(8, &mixed()[18..], 40, 7);
    let (graph, votes) = (study.graph(), study.votes());
    let mut search = Search::new(&graph, &votes, None, &CrowdOptions::default()).unwrap();
    search.scores = study.truth.iter().map(|t| 0.7 * t).collect();
    search.evaluate();
    search.responsibility = search.shares.responsibilities(&search.evidence());
    let expected = log_likelihood(&study, &search, &search.scores);
    let found = search.shares.value(&search.evidence());
    assert!((found - expected).abs() < 2e-4 * study.rows.len() as f64, "{found} {expected}");
    let slopes = search.slopes(&search.scores, &search.responsibility, &search.pass);
    let mut scores = search.scores.clone();
    for item in 0..8 {
        let step = 1e-4;
        scores[item] += step;
        let up = log_likelihood(&study, &search, &scores);
        scores[item] -= 2.0 * step;
        let down = log_likelihood(&study, &search, &scores);
        scores[item] += step;
        let expected = (up - down) / (2.0 * step);
        let found = slopes.gradient[item];
        assert!(
            (found - expected).abs() < 2e-3 * (1.0 + expected.abs()),
            "{item}: {found} {expected}"
        );
    }
}

#[test]
fn no_step_decreases_the_objective() {
    for (seed, kinds) in
        [(21, mixed()), (22, vec![Kind::Careful; 15]), (23, mixed()[20..].to_vec())]
    {
        let study = crowd(12, &kinds, 50, seed);
        let (graph, votes) = (study.graph(), study.votes());
        // A given prior: the objective stays the same.
        let options = CrowdOptions { prior: Some(0.05), ..CrowdOptions::default() };
        let mut search = Search::new(&graph, &votes, None, &options).unwrap();
        search.evaluate();
        let dependence = vec![0.0; search.weights.len()];
        let mut value = f64::NEG_INFINITY;
        for iteration in 0..8 {
            search.update_behaviours();
            let (_, next) = (search.step().unwrap(), search.value(&dependence));
            assert!(next >= value - 1e-6 * next.abs(), "{iteration}: {value} {next}");
            value = next;
        }
        // The gradient vanishes at the end.
        let slopes = search.slopes(&search.scores, &search.responsibility, &search.pass);
        let pass = search.pass.clone();
        let gradient = search.newton_step(&slopes, &pass).unwrap().gradient;
        let largest = gradient.iter().fold(0.0_f64, |a, g| a.max(g.abs()));
        assert!(largest < 2e-3 * study.rows.len() as f64 / 12.0, "{largest}");
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
    let bad = found.bad_probability(None, (19, 0), 1.0);
    assert!(bad < 0.2, "{bad}");
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
        assert!((a - b).abs() < 1e-3, "{a} {b}");
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

/// The rank of an item, 1 for the best.
fn rank(scores: &[f64], item: usize) -> usize {
    1 + scores.iter().filter(|score| **score > scores[item]).count()
}

#[test]
fn fans_do_not_move_their_favourite() {
    // Twelve of forty people always prefer item 3, the 13th of 16.
    let mut kinds = vec![Kind::Careful; 28];
    kinds.extend([Kind::FanOf(3); 12]);
    let study = crowd(16, &kinds, 80, 21);
    let plain = crate::solve::bradley_terry::solve(&study.graph(), &Default::default()).unwrap();
    let moved = rank(&plain.solution.scores, 3);
    assert!(moved <= 10, "without a model of fans, rank {moved}");
    let found = study.solve();
    let place = rank(&found.solution.scores, 3);
    assert!((12..=14).contains(&place), "rank {place}");
    for (kind, estimate) in kinds.iter().zip(&found.annotators) {
        let is_fan = *kind == Kind::FanOf(3);
        assert_eq!(estimate.class == AnnotatorClass::Fan, is_fan, "{kind:?}: {estimate:?}");
        assert_eq!(
            estimate.favourite.map(|own| (own.item, own.is_preferred)),
            is_fan.then_some((3, true))
        );
    }
    // Votes for the favourite are bad, votes on other items are not.
    let bad = |pair, y| found.bad_probability(Some(30), pair, y);
    assert!(bad((3, 15), 1.0) > 0.9 && bad((15, 3), -1.0) > 0.9);
    assert!(bad((15, 4), 1.0) < 0.1 && bad((3, 15), -1.0) < 0.1);
}

#[test]
fn rejected_items_are_recognised_too() {
    let mut kinds = vec![Kind::Careful; 30];
    kinds.extend([Kind::Against(12); 10]);
    let study = crowd(16, &kinds, 80, 22);
    let found = study.solve();
    let place = rank(&found.solution.scores, 12);
    assert!((3..=5).contains(&place), "rank {place}");
    let fans = found.annotators.iter().filter(|own| own.class == AnnotatorClass::Fan);
    assert_eq!(fans.map(|own| own.annotator).collect::<Vec<_>>(), (30..40).collect::<Vec<u32>>());
}

#[test]
fn items_that_may_have_fans_are_less_certain() {
    // Six of forty people with three votes on their favourite each: too few to be sure.
    let mut kinds = vec![Kind::Careful; 34];
    kinds.extend([Kind::FanOf(3); 6]);
    let (mut found, mut possible) = (0, 0);
    for seed in 0..12 {
        let crowd = crowd(16, &kinds, 25, 300 + seed).solve();
        let is_found = crowd.annotators.iter().any(|own| own.favourite.is_some());
        let variance: f64 =
            crowd.variance_by_fans().filter(|(item, _)| *item == 3).map(|own| own.1).sum();
        found += usize::from(is_found);
        possible += usize::from(!is_found && variance > 0.01);
    }
    assert!(found + possible >= 9 && possible >= 1, "{found} found, {possible} possible");
    // Nobody here has a favourite that the votes speak for.
    let clean = crowd(16, &[Kind::Careful; 30], 200, 330).solve();
    assert!(clean.variance_by_fans().all(|(_, variance)| variance < 0.05));
}

#[test]
fn honest_people_are_not_called_fans() {
    for seed in 0..20 {
        let found = crowd(16, &[Kind::Careful; 30], 60, 100 + seed).solve();
        assert!(found.annotators.iter().all(|own| own.favourite.is_none()), "seed {seed}");
        let found = crowd(16, &mixed(), 60, 200 + seed).solve();
        assert!(found.annotators.iter().all(|own| own.favourite.is_none()), "seed {seed}");
    }
}

/// The largest difference of scores, relative to their largest.
fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let largest = a.iter().fold(0.0_f64, |largest, a| largest.max(a.abs()));
    a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs())) / largest
}

#[test]
fn settled_annotators_change_no_result() {
    let study = crowd(40, &mixed(), 1500, 25);
    let (graph, votes) = (study.graph(), study.votes());
    let mut search = Search::new(&graph, &votes, None, &CrowdOptions::default()).unwrap();
    search.evaluate();
    search.update_behaviours();
    search.settle();
    let settled = search.settled.blocks.iter().flatten().filter(|own| **own).count();
    assert!((20..=26).contains(&settled), "{settled} of 24 careful annotators are settled");
    // The objective changes as that of all votes does.
    let dependence = vec![1.0; search.weights.len()];
    let value = |search: &mut Search<'_>, factor: f64| {
        search.scores.iter_mut().for_each(|score| *score *= factor);
        search.evaluate();
        search.value(&dependence)
    };
    let change = value(&mut search, 1.02) - value(&mut search, 1.0 / 1.02);
    search.unsettle();
    let expected = value(&mut search, 1.02) - value(&mut search, 1.0 / 1.02);
    // Likelihoods of the others are interpolated.
    assert!((change - expected).abs() < 5e-3 * expected.abs(), "{change} {expected}");
    // The search without settled annotators.
    search.has_removed_votes = true;
    search.evaluate();
    let end = search.run(RunState::default(), None).unwrap();
    assert_eq!(end.status, Status::Solved);
    assert!(search.settled.blocks.is_none());
    graph.components().centre(&mut search.scores);
    let difference = largest_difference(&search.scores, &study.solve().solution.scores);
    assert!(difference < 2e-3, "{difference}");
}

#[test]
fn slopes_by_pairs_are_those_by_votes() {
    let mut study = crowd(20, &mixed(), 200, 26);
    let comparisons: Vec<Comparison> = std::mem::take(&mut study.rows)
        .into_iter()
        .enumerate()
        .map(|(k, (annotator, vote))| {
            let y = if k % 5 == 0 { 0.0 } else { 2.0 * f64::from(vote.outcome) - 1.0 };
            let comparison = Comparison::new(vote.left, vote.right, y);
            Comparison { annotator: Some(annotator), ..comparison }
        })
        .collect();
    for ties in [false, true] {
        let own: Vec<_> =
            comparisons.iter().filter(|vote| ties || vote.y != 0.0).cloned().collect();
        let votes = AnnotatorVotes::from_comparisons(study.annotators, &own, true);
        let graph = ComparisonGraph::new(20, Groups::merge(20, &own).unwrap().groups).unwrap();
        let mut search = Search::new(&graph, &votes, None, &CrowdOptions::default()).unwrap();
        search.evaluate();
        search.update_behaviours();
        let slopes = |search: &Search<'_>| {
            search.slopes(&search.scores, &search.responsibility, &search.pass)
        };
        let by_pairs = slopes(&search);
        search.has_removed_votes = true;
        let by_votes = slopes(&search);
        // Annotators count as certainly careful with a probability of at least 1 − 10⁻⁴.
        let is_close = |a: f64, b: f64| (a - b).abs() < 1e-3 * (1.0 + b.abs());
        for item in 0..20 {
            let [a, b] = [&by_pairs, &by_votes].map(|slopes| slopes.gradient[item]);
            assert!(is_close(a, b), "{item}: {a} {b}");
            let [a, b] = [&by_pairs, &by_votes].map(|slopes| slopes.information[item]);
            // With ties, the information of careful votes is the expected one.
            assert!(is_close(a, b) || ties && (a / b - 1.0).abs() < 0.05, "{item}: {a} {b}");
        }
        assert!((by_pairs.side_gradient - by_votes.side_gradient).abs() < 1.0);
        assert!((by_pairs.side_information / by_votes.side_information - 1.0).abs() < 0.05);
        assert!(is_close(by_pairs.ties, by_votes.ties) && ties == (by_votes.ties > 0.0));
        assert!(is_close(by_pairs.expected_ties, by_votes.expected_ties));
    }
}
