//! Synthetic studies: seeds, shares, kinds of annotators and noise.

use hodgerank::Error;
use hodgerank::simulate::AnnotatorKind::{AlwaysLeft, Careful, Careless, Malicious};
use hodgerank::simulate::{AnnotatorKind, Noise, SimulateOptions, SimulatedVote, Simulation};

const VOTES: u64 = 100_000;

fn options() -> SimulateOptions {
    SimulateOptions { votes: VOTES, ..Default::default() }
}

fn votes(options: &SimulateOptions) -> Vec<SimulatedVote> {
    Simulation::new(options).expect("good options").collect()
}

/// Whether `hits` of `trials` is within four standard errors of the probability.
#[track_caller]
fn assert_share(hits: usize, trials: usize, probability: f64) {
    let share = hits as f64 / trials as f64;
    let error = (probability * (1.0 - probability) / trials as f64).sqrt();
    assert!(
        (share - probability).abs() <= 4.0 * error,
        "{hits} of {trials}: expected a share of {probability}, give or take {error}"
    );
}

fn count(votes: &[SimulatedVote], holds: impl Fn(&SimulatedVote) -> bool) -> usize {
    votes.iter().filter(|vote| holds(vote)).count()
}

#[test]
fn the_seed_determines_the_votes() {
    let one = SimulateOptions { flips: 0.1, ties: 0.1, votes: 1000, ..options() };
    let two = SimulateOptions { seed: 1, ..one.clone() };
    assert_eq!(votes(&one), votes(&one));
    assert_ne!(votes(&one), votes(&two));
    assert_ne!(Simulation::new(&one).unwrap().truth(), Simulation::new(&two).unwrap().truth());
}

#[test]
fn the_first_votes_of_a_seed_are_fixed() {
    let plain =
        SimulateOptions { votes: 8, noise: Noise::BradleyTerry { scale: 0.2 }, ..options() };
    let truth = Simulation::new(&plain).unwrap().truth()[..3].to_vec();
    assert_eq!(truth, [0.08290429626463558, -0.1602493968723161, 0.07297212351280546]);
    let seen: Vec<_> = votes(&plain).iter().map(|v| (v.left, v.right, v.y)).collect();
    let golden = [
        (12, 11, -1.0),
        (9, 14, -1.0),
        (7, 12, 1.0),
        (3, 0, -1.0),
        (10, 4, -1.0),
        (2, 8, -1.0),
        (0, 4, -1.0),
        (4, 1, 1.0),
    ];
    assert_eq!(seen, golden);

    let every_option = SimulateOptions {
        items: 10,
        votes: 6,
        flips: 0.3,
        ties: 0.2,
        noise: Noise::Gaussian { sigma: 0.25 },
        graded: true,
        annotators: vec![(Careful, 3), (Careless, 1), (Malicious, 1), (AlwaysLeft, 1)],
        seed: 42,
    };
    let vote = |annotator, left, right, y, bad| SimulatedVote {
        annotator: Some(annotator),
        left,
        right,
        y,
        bad,
    };
    let golden = [
        vote(5, 7, 1, 0.1365377950213881, true),
        vote(4, 4, 8, 0.8894785416801352, true),
        vote(3, 0, 7, -0.18184739394697932, false),
        vote(4, 1, 0, -0.24942633800454395, true),
        vote(1, 2, 5, -0.3064009235316672, true),
        vote(4, 1, 9, 0.5864966006638799, false),
    ];
    assert_eq!(votes(&every_option), golden);
}

#[test]
fn options_are_independent() {
    let noise = Noise::Gaussian { sigma: 0.3 };
    let plain = votes(&SimulateOptions { noise, votes: 2000, ..options() });
    let annotators = vec![(Careful, 3)];
    let busy =
        SimulateOptions { noise, votes: 2000, ties: 0.2, flips: 0.3, annotators, ..options() };
    for (a, b) in plain.iter().zip(votes(&busy)) {
        assert_eq!((a.left, a.right), (b.left, b.right));
        assert!(b.y == 0.0 || b.y == if b.bad { -a.y } else { a.y });
    }
}

#[test]
fn true_scores_are_centred_and_have_unit_range() {
    for items in [2, 3, 1_000_000] {
        let study = Simulation::new(&SimulateOptions { items, ..options() }).unwrap();
        let truth = study.truth();
        assert_eq!(truth.len(), items);
        assert!(truth.iter().sum::<f64>().abs() < 1e-8);
        let spread = truth.iter().copied().fold(f64::MIN, f64::max)
            - truth.iter().copied().fold(f64::MAX, f64::min);
        assert!(spread > 0.0 && spread < 1.0);
    }
}

#[test]
fn ordered_pairs_are_uniform_and_distinct() {
    let items = 5;
    let mut seen = vec![0; items * items];
    for vote in votes(&SimulateOptions { items, ..options() }) {
        seen[vote.left as usize * items + vote.right as usize] += 1;
    }
    for (pair, &hits) in seen.iter().enumerate() {
        let same = pair / items == pair % items;
        assert_share(hits, VOTES as usize, if same { 0.0 } else { 0.05 });
    }
}

#[test]
fn first_and_last_item_are_used() {
    for items in [2, 1_000_000] {
        let votes = votes(&SimulateOptions { items, ..options() });
        let largest = votes.iter().map(|v| v.left.max(v.right)).max().unwrap() as usize;
        let smallest = votes.iter().map(|v| v.left.min(v.right)).min().unwrap() as usize;
        assert!(votes.iter().all(|v| v.left != v.right));
        assert!(largest < items && largest >= items - 1 - items / 1000);
        assert!(smallest <= items / 1000);
    }
}

#[test]
fn the_number_of_votes_is_exact() {
    let mut study = Simulation::new(&SimulateOptions { votes: 3, ..options() }).unwrap();
    for left in (0..3).rev() {
        assert!(study.next().is_some());
        assert_eq!(study.size_hint(), (left, Some(left)));
    }
    assert_eq!(study.next(), None);
    assert_eq!(study.next(), None);
}

#[test]
fn without_noise_votes_follow_the_truth() {
    for graded in [false, true] {
        let options = SimulateOptions { graded, ..options() };
        let truth = Simulation::new(&options).unwrap().truth().to_vec();
        for vote in votes(&options) {
            let difference = truth[vote.left as usize] - truth[vote.right as usize];
            assert_eq!(vote.y, if graded { difference } else { difference.signum() });
            assert!(!vote.bad && vote.annotator.is_none());
        }
    }
}

#[test]
fn flips_and_ties_have_their_shares() {
    for noise in [Noise::None, Noise::BradleyTerry { scale: 0.1 }, Noise::Gaussian { sigma: 0.2 }] {
        let votes = votes(&SimulateOptions { flips: 0.2, ties: 0.1, noise, ..options() });
        let decided = count(&votes, |v| v.y != 0.0);
        assert_share(votes.len() - decided, votes.len(), 0.1);
        assert_share(count(&votes, |v| v.bad), decided, 0.2);
        assert_eq!(count(&votes, |v| v.bad && v.y == 0.0), 0);
        assert!(votes.iter().all(|v| v.y != 0.0 || v.y.is_sign_positive()));
    }
}

#[test]
fn shares_zero_and_one_are_exact() {
    let all_flipped = votes(&SimulateOptions { flips: 1.0, ..options() });
    assert!(all_flipped.iter().all(|v| v.bad));
    let all_tied = votes(&SimulateOptions { ties: 1.0, flips: 1.0, ..options() });
    assert!(all_tied.iter().all(|v| v.y == 0.0 && !v.bad));
}

#[test]
fn bradley_terry_wins_follow_the_logistic() {
    let scale = 0.3;
    let (items, noise) = (4, Noise::BradleyTerry { scale });
    let options = SimulateOptions { items, noise, ..options() };
    let truth = Simulation::new(&options).unwrap().truth().to_vec();
    let votes = votes(&options);
    assert_eq!(count(&votes, |v| v.bad), 0);
    for left in 0..items {
        for right in (0..items).filter(|&right| right != left) {
            let pair = |v: &SimulatedVote| (v.left as usize, v.right as usize) == (left, right);
            let wins = count(&votes, |v| pair(v) && v.y == 1.0);
            let odds = ((truth[left] - truth[right]) / scale).exp();
            assert_share(wins, count(&votes, pair), odds / (1.0 + odds));
        }
    }
}

#[test]
fn graded_bradley_terry_keeps_the_size_of_the_difference() {
    let noise = Noise::BradleyTerry { scale: 0.5 };
    let options = SimulateOptions { noise, graded: true, ..options() };
    let truth = Simulation::new(&options).unwrap().truth().to_vec();
    let votes = votes(&options);
    let difference = |v: &SimulatedVote| truth[v.left as usize] - truth[v.right as usize];
    assert!(votes.iter().all(|v| v.y.abs() == difference(v).abs()));
    assert!(count(&votes, |v| v.y == -difference(v)) > 10_000);
}

#[test]
fn gaussian_noise_has_its_deviation_and_its_sign() {
    let noise = Noise::Gaussian { sigma: 0.5 };
    let graded = SimulateOptions { noise, graded: true, ..options() };
    let truth = Simulation::new(&graded).unwrap().truth().to_vec();
    let (mut sum, mut squares) = (0.0, 0.0);
    for vote in votes(&graded) {
        let epsilon = (vote.y - truth[vote.left as usize] + truth[vote.right as usize]) / 0.5;
        sum += epsilon;
        squares += epsilon * epsilon;
    }
    // The standard errors of the mean of ε and of ε² are 1/√m and √(2/m).
    let m = VOTES as f64;
    assert!((sum / m).abs() <= 4.0 / m.sqrt());
    assert!((squares / m - 1.0).abs() <= 4.0 * (2.0 / m).sqrt());

    let signs = votes(&SimulateOptions { graded: false, ..graded.clone() });
    assert!(votes(&graded).iter().zip(signs).all(|(g, s)| g.y.signum() == s.y));
}

fn only(kind: AnnotatorKind) -> Vec<(AnnotatorKind, u32)> {
    vec![(kind, 5)]
}

#[test]
fn always_left_annotators_choose_left() {
    for graded in [false, true] {
        let annotators = only(AlwaysLeft);
        let votes = votes(&SimulateOptions { annotators, graded, ties: 0.2, ..options() });
        assert!(votes.iter().all(|v| v.y > 0.0));
        // Bad where a careful annotator would choose right (half of the non-ties) or tie.
        assert_share(count(&votes, |v| v.bad), votes.len(), 0.6);
    }
}

#[test]
fn malicious_votes_without_noise_are_bad() {
    let careful = votes(&SimulateOptions { graded: true, ..options() });
    let annotators = only(Malicious);
    let malicious = votes(&SimulateOptions { annotators, graded: true, ..options() });
    assert!(malicious.iter().all(|v| v.bad));
    assert!(malicious.iter().zip(careful).all(|(m, c)| m.y == -c.y));
}

#[test]
fn careless_annotators_vote_at_random() {
    for noise in [Noise::None, Noise::BradleyTerry { scale: 0.2 }, Noise::Gaussian { sigma: 0.2 }] {
        let annotators = only(Careless);
        let votes = votes(&SimulateOptions { annotators, noise, graded: true, ..options() });
        assert_share(count(&votes, |v| v.bad), votes.len(), 0.5);
        assert_share(count(&votes, |v| v.y > 0.0), votes.len(), 0.5);
    }
}

#[test]
fn annotators_are_ordered_and_vote_equally_often() {
    let annotators = vec![(Careful, 3), (Malicious, 0), (AlwaysLeft, 1), (Careful, 1)];
    let options = SimulateOptions { annotators, ..options() };
    let study = Simulation::new(&options).unwrap();
    assert_eq!(study.annotators(), [Careful, Careful, Careful, AlwaysLeft, Careful]);
    let votes = votes(&options);
    for annotator in 0..5 {
        assert_share(count(&votes, |v| v.annotator == Some(annotator)), votes.len(), 0.2);
    }
    assert!(votes.iter().all(|v| !v.bad || v.annotator == Some(3)));
}

#[test]
fn votes_convert_to_comparisons() {
    let vote = SimulatedVote { annotator: Some(7), left: 3, right: 1, y: -0.5, bad: true };
    let comparison = vote.comparison();
    assert_eq!((comparison.left, comparison.right, comparison.y), (3, 1, -0.5));
    assert_eq!((comparison.annotator, comparison.count), (Some(7), 1));
}

#[test]
fn kinds_are_parsed_by_name() {
    for kind in AnnotatorKind::ALL {
        assert_eq!(kind.as_str().parse(), Ok(kind));
        assert_eq!(kind.to_string(), kind.as_str());
    }
    assert_eq!("left".parse(), Ok(AlwaysLeft));
    let error = "sleepy".parse::<AnnotatorKind>().unwrap_err();
    assert!(error.to_string().contains("sleepy") && error.to_string().contains("always-left"));
}

#[test]
fn bad_options_are_named() {
    let bad = |change: &dyn Fn(&mut SimulateOptions)| {
        let mut options = SimulateOptions::default();
        change(&mut options);
        match Simulation::new(&options) {
            Err(Error::BadOption { option, .. }) => option,
            other => panic!("expected a bad option, not {other:?}"),
        }
    };
    assert_eq!(bad(&|o| o.items = 1), "items");
    assert_eq!(bad(&|o| o.items = usize::MAX), "items");
    assert_eq!(bad(&|o| o.votes = 0), "votes");
    for share in [-0.1, 1.1, f64::NAN] {
        assert_eq!(bad(&|o| o.flips = share), "flips");
        assert_eq!(bad(&|o| o.ties = share), "ties");
    }
    for scale in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert_eq!(bad(&|o| o.noise = Noise::BradleyTerry { scale }), "noise-scale");
    }
    for sigma in [-1.0, f64::INFINITY, f64::NAN] {
        assert_eq!(bad(&|o| o.noise = Noise::Gaussian { sigma }), "sigma");
    }
    assert_eq!(bad(&|o| o.annotators = vec![(Careful, 0)]), "annotators");
    assert_eq!(bad(&|o| o.annotators = vec![(Careful, u32::MAX); 3]), "annotators");
}
