use super::*;
use crate::simulate::{Noise, SimulateOptions, Simulation};
use crate::{Comparison, FitOptions, Method, Study, Vote, Votes};

fn ranked(votes: &Votes, method: Method) -> RankedStudy {
    RankedStudy::new(votes.study().unwrap(), 0, &FitOptions::new().method(method)).unwrap()
}

/// Item a wins `wins` votes against b, and loses `losses`.
fn two_items(wins: u64, losses: u64) -> Votes {
    let mut votes = Votes::new();
    votes.add(Vote::prefer("a", "b").count(wins));
    votes.add(Vote::prefer("b", "a").count(losses));
    votes
}

#[test]
fn two_items_have_the_share_of_their_votes() {
    for (wins, losses) in [(3000, 1000), (500, 500), (100, 900)] {
        let votes = two_items(wins, losses);
        let share = wins as f64 / (wins + losses) as f64;
        // No vote is flagged by l2, and the factor fits the share.
        let l2 = ranked(&votes, Method::L2);
        let found = Predictor::new(&l2).unwrap().predict(0, 1);
        assert!((found.probability.unwrap() - share).abs() < 1e-5, "{found:?}, {share}");
        assert!((found.expected_outcome.unwrap() - (2.0 * share - 1.0)).abs() < 1e-12);
        assert_eq!((found.low, found.high), (None, None));
        let bt = RankedStudy::new(
            votes.study().unwrap(),
            0,
            &FitOptions::new().method(Method::BradleyTerry).prior(0.0).lapse_rate(0.0),
        )
        .unwrap();
        let found = Predictor::new(&bt).unwrap().predict(0, 1);
        assert!((found.probability.unwrap() - share).abs() < 1e-9, "{found:?}, {share}");
        assert_eq!(found.expected_outcome, None);
        let expected = Predictor::new(&bt).unwrap().expected_agreement();
        let better = (share != 0.5).then_some(share.max(1.0 - share));
        assert_eq!(expected.is_some(), better.is_some(), "{expected:?}, {share}");
        assert!((expected.unwrap_or(0.0) - better.unwrap_or(0.0)).abs() < 1e-9);
        let turned = Predictor::new(&bt).unwrap().predict(1, 0);
        assert!((turned.probability.unwrap() + share - 1.0).abs() < 1e-9);
    }
}

#[test]
fn components_do_not_compare() {
    let mut votes = two_items(3, 1);
    votes.prefer("x", "y");
    votes.prefer("y", "x");
    for method in [Method::L2, Method::BradleyTerry] {
        let study = ranked(&votes, method);
        let predictor = Predictor::new(&study).unwrap();
        let between = predictor.predict(0, 2);
        assert_eq!((between.probability, between.expected_outcome), (None, None), "{method}");
        assert!(predictor.predict(0, 1).probability.is_some(), "{method}");
    }
}

#[test]
fn separable_votes_have_an_expected_outcome_only() {
    let mut votes = Votes::new();
    votes.prefer("a", "b");
    votes.prefer("b", "c");
    votes.prefer("a", "c");
    let study = ranked(&votes, Method::L2);
    let predictor = Predictor::new(&study).unwrap();
    assert_eq!(predictor.no_factor(), Some(NoFactor::Separable));
    assert_eq!(predictor.expected_agreement(), None);
    let found = predictor.predict(0, 2);
    assert_eq!(found.probability, None);
    assert!((found.expected_outcome.unwrap() - 4.0 / 3.0).abs() < 1e-12, "{found:?}");
    let study = ranked(&votes, Method::BradleyTerry);
    assert!(Predictor::new(&study).unwrap().predict(0, 2).probability > Some(0.5));
}

#[test]
fn measures_by_hand() {
    // p = 0.8 with three votes for the left item and one against, p = 0.25 with one against, p = 0.5.
    let log_odds = |p: f64| (p / (1.0 - p)).ln();
    let found = Evaluation::new([
        (log_odds(0.8), true, 3),
        (log_odds(0.8), false, 1),
        (log_odds(0.25), false, 1),
        (0.0, true, 1),
    ]);
    let close = |found: Option<f64>, expected: f64| {
        assert!((found.unwrap() - expected).abs() < 1e-12, "{found:?}, {expected}");
    };
    assert_eq!(found.votes, 6);
    let log_loss = -(3.0 * 0.8_f64.ln() + 0.2_f64.ln() + 0.75_f64.ln() + 0.5_f64.ln()) / 6.0;
    close(found.log_loss, log_loss);
    close(found.brier_score, (3.0 * 0.04 + 0.64 + 0.0625 + 0.25) / 6.0);
    close(found.accuracy, (3.0 + 1.0 + 0.5) / 6.0);
    assert_eq!(found.calibration.len(), 10);
    let used: Vec<_> = found.calibration.iter().filter(|bin| bin.votes > 0).collect();
    assert_eq!(used.iter().map(|bin| bin.votes).collect::<Vec<_>>(), [1, 1, 4]);
    assert_eq!((used[0].from, used[0].to), (0.2, 0.3));
    close(used[0].mean_prediction, 0.25);
    close(used[0].preferred_left, 0.0);
    close(used[1].preferred_left, 1.0);
    close(used[2].mean_prediction, 0.8);
    close(used[2].preferred_left, 0.75);
    let nothing = Evaluation::new([]);
    assert_eq!((nothing.votes, nothing.log_loss, nothing.accuracy), (0, None, None));
}

#[test]
fn certain_predictions_have_a_finite_loss() {
    let found = Evaluation::new([(2000.0, false, 1), (-2000.0, false, 1)]);
    assert_eq!(found.log_loss, Some(1000.0));
    assert_eq!(found.calibration[9].votes, 1);
    let [log_loss, brier, accuracy] = Evaluation::BASELINE;
    let half = Evaluation::new([(0.0, true, 1), (0.0, false, 2)]);
    assert_eq!(half.brier_score, Some(brier));
    assert_eq!(half.accuracy, Some(accuracy));
    assert!((half.log_loss.unwrap() - log_loss).abs() < 1e-15);
}

/// Bradley–Terry votes on 12 items.
fn simulated(votes: u64, with_annotators: bool) -> (Study, Vec<Comparison>) {
    let noise = Noise::BradleyTerry { scale: 0.25 };
    let options = SimulateOptions { items: 12, votes, noise, seed: 4, ..Default::default() };
    let all: Vec<Comparison> =
        Simulation::new(&options).unwrap().map(|vote| vote.comparison()).collect();
    (study(&all, with_annotators), all)
}

fn study(votes: &[Comparison], with_annotators: bool) -> Study {
    let names: Vec<String> = (0..12).map(|item| format!("item-{item}")).collect();
    let mut labelled = Votes::new();
    // The order of rows must not matter, so the annotator follows from the content.
    for vote in votes {
        let annotator = format!("ann-{}", (3 * vote.left + vote.right) % 7);
        let [left, right] = [vote.left, vote.right].map(|item| names[item as usize].as_str());
        let vote = Vote::new(left, right, vote.y).count(vote.count);
        labelled.add(if with_annotators { vote.annotator(&annotator) } else { vote });
    }
    labelled.study().unwrap()
}

#[test]
fn a_holdout_is_a_part_of_the_votes_whatever_their_order() {
    for with_annotators in [true, false] {
        let (all, mut votes) = simulated(5000, with_annotators);
        let split = hold_out(all.clone(), 0.2, 1).unwrap();
        let held: u64 = split.held_out.iter().map(|vote| vote.count).sum();
        assert_eq!(held + split.training_votes, 5000);
        // Standard deviation 28.
        assert!((860..1140).contains(&held), "{held}");
        // Both parts together are all votes.
        for g in 0..all.groups.len() {
            let key = (all.groups.left[g], all.groups.right[g], all.groups.y[g]);
            let is_equal = |vote: &&Comparison| {
                let vote = vote.oriented();
                (vote.left, vote.right, vote.y) == key
            };
            let held: u64 = split.held_out.iter().filter(is_equal).map(|vote| vote.count).sum();
            let groups = &split.training.groups;
            let kept = groups.find(key.0, key.1, key.2).map_or(0.0, |g| groups.weight[g]);
            assert_eq!(held as f64 + kept, all.groups.weight[g]);
        }
        votes.reverse();
        let reversed = hold_out(study(&votes, with_annotators), 0.2, 1).unwrap();
        assert_eq!(reversed.held_out, split.held_out);
        assert_eq!(reversed.training.groups, split.training.groups);
        assert_eq!(reversed.training.sides, split.training.sides);
        assert_ne!(hold_out(all, 0.2, 2).unwrap().held_out, split.held_out);
    }
}

#[test]
fn kept_sides_are_those_of_kept_votes() {
    let (all, _) = simulated(3000, false);
    let split = hold_out(all.clone(), 0.3, 5).unwrap();
    let graph = split.training.clone().into_graph().unwrap();
    let found = graph.sides().unwrap().of_pairs(graph.pairs());
    let before = all.into_graph().unwrap();
    let [mut kept_left, mut all_left] = [0.0; 2];
    for (p, sides) in found.iter().enumerate() {
        let (left, right) = (graph.pairs().left[p], graph.pairs().right[p]);
        let votes = |y: f64| {
            let groups = graph.groups();
            groups.find(left, right, y).map_or(0.0, |g| groups.weight[g])
        };
        assert!(sides.won_left <= votes(1.0) && sides.lost_right <= votes(-1.0));
        kept_left += sides.won_left;
    }
    for sides in before.sides().unwrap().of_pairs(before.pairs()) {
        all_left += sides.won_left;
    }
    assert!((kept_left / all_left - 0.7).abs() < 0.05, "{kept_left} of {all_left}");
}

#[test]
fn shares_that_leave_nothing_are_refused() {
    for share in [0.0, 1.0, -0.1, f64::NAN] {
        let (all, _) = simulated(10, false);
        assert!(matches!(hold_out(all, share, 0), Err(Error::BadOption { option: "holdout", .. })));
    }
}

/// On Bradley–Terry votes, predictions agree with the shares of votes in every bin.
#[test]
fn predictions_of_simulated_votes_are_calibrated() {
    for (method, with_annotators) in
        [(Method::BradleyTerry, false), (Method::Crowd, true), (Method::L2, false)]
    {
        let (all, _) = simulated(40_000, with_annotators);
        let split = hold_out(all, 0.5, 3).unwrap();
        let options = FitOptions::new().method(method);
        let study = RankedStudy::new(split.training.clone(), 0, &options).unwrap();
        let found =
            HoldoutEvaluation::new(&Predictor::new(&study).unwrap(), &split, study.fit.crowd());
        assert_eq!((found.ties, found.unconnected), (0, 0));
        assert_eq!(found.all.votes, found.held_out_votes);
        for bin in found.all.calibration.iter().filter(|bin| bin.votes >= 200) {
            let (mean, share) = (bin.mean_prediction.unwrap(), bin.preferred_left.unwrap());
            // Scores of l2 are not on the logistic curve, so their bins are a little off.
            let allowed = 4.0 * (mean * (1.0 - mean) / bin.votes as f64).sqrt() + 0.015;
            assert!((mean - share).abs() < allowed, "{method}: {bin:?}");
        }
        let [log_loss, brier, accuracy] = Evaluation::BASELINE;
        assert!(found.all.log_loss.unwrap() < 0.9 * log_loss, "{method}: {found:?}");
        assert!(found.all.brier_score.unwrap() < 0.9 * brier, "{method}: {found:?}");
        assert!(found.all.accuracy.unwrap() > 1.3 * accuracy, "{method}: {found:?}");
        assert_eq!(found.careful.is_some(), method == Method::Crowd);
    }
}

#[test]
fn ties_and_unconnected_votes_are_counted() {
    let mut votes = two_items(40, 20);
    votes.add(Vote::tie("a", "b").count(30));
    // One vote connects c: if it is held out, there is no prediction for it.
    votes.prefer("c", "a");
    let all = votes.study().unwrap();
    let unconnected = (0..50).find_map(|seed| {
        let split = hold_out(all.clone(), 0.3, seed).unwrap();
        let options = FitOptions::new().method(Method::BradleyTerry);
        let study = RankedStudy::new(split.training.clone(), 0, &options).unwrap();
        let found =
            HoldoutEvaluation::new(&Predictor::new(&study).unwrap(), &split, study.fit.crowd());
        let counted = found.all.votes + found.ties + found.unconnected;
        assert_eq!(counted, found.held_out_votes, "{found:?}");
        assert!(found.ties > 0, "{found:?}");
        (found.unconnected > 0).then_some(found.unconnected)
    });
    assert_eq!(unconnected, Some(1));
}
