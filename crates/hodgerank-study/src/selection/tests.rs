use std::time::{Duration, Instant};

use rand::SeedableRng as _;

use super::*;

/// The posterior of items in a row, each compared with the next one and with some further away.
fn posterior(items: usize) -> Posterior {
    let mean = |item: usize| 3.0 * (0.5 - item as f64 / items as f64);
    let n = items as u32;
    let information = (0..n).flat_map(|i| [1, 7, 60].map(|step| (i, (i + step) % n, 0.4)));
    let information = information.filter(|(i, j, _)| i != j).collect();
    Posterior::new((0..items).map(mean).collect(), information, 0.3)
}

fn refit(posterior: Posterior, seen: Seen) -> Refit {
    Refit::new(posterior, &[], seen, None, (64, 1)).unwrap()
}

struct Study {
    selection: Selection,
    shown: Vec<u64>,
    rng: ChaCha8Rng,
    number: i64,
}

impl Study {
    fn new(items: usize, refit: Option<Refit>) -> Self {
        let mut selection = Selection::default();
        refit.into_iter().for_each(|refit| selection.install(refit));
        let rng = ChaCha8Rng::seed_from_u64(1);
        Self { selection, shown: vec![0; items], rng, number: 0 }
    }

    /// Shows a pair, and votes for the item with the smaller index.
    fn vote(&mut self, voter: &mut Voter, repeats: f64) -> Option<Shown> {
        self.number += 1;
        let (id, rng) = (self.number, &mut self.rng);
        let pair = self.selection.next_pair(voter, &self.shown, repeats, id, rng)?;
        self.shown[pair.left as usize] += 1;
        self.shown[pair.right as usize] += 1;
        voter.show(pair);
        self.selection.show(&pair);
        voter.pending.clear();
        voter.votes.push((id.to_string(), pair));
        self.selection.vote(id, &pair, f64::from(u8::from(pair.left < pair.right)));
        Some(pair)
    }
}

fn vote_on_all(items: usize, refit: Option<Refit>, repeats: f64, limit: usize) -> Voter {
    let (mut study, mut voter) = (Study::new(items, refit), Voter::default());
    for _ in 0..limit {
        if study.vote(&mut voter, repeats).is_none() {
            break;
        }
        let range = (study.shown.iter().min().unwrap(), study.shown.iter().max().unwrap());
        assert!(repeats > 0.0 || range.1 - range.0 <= 4, "{:?}", study.shown);
    }
    voter
}

#[test]
fn nobody_gets_a_pair_twice_until_all_are_asked() {
    let empty = || refit(Posterior::without_votes(8), Seen::default());
    for start in [None, Some(empty())] {
        let voter = vote_on_all(8, start, 0.0, 100);
        assert_eq!((voter.votes.len(), voter.asked.len()), (28, 28));
        let left = voter.votes.iter().filter(|(_, pair)| pair.left < pair.right).count();
        assert!((6..=22).contains(&left), "{left}");
    }
}

#[test]
fn repetitions_come_later_and_once() {
    let start = refit(Posterior::without_votes(20), Seen::default());
    let voter = vote_on_all(20, Some(start), 0.2, 100);
    let repeats: Vec<usize> = (0..100).filter(|&k| voter.votes[k].1.is_repeat).collect();
    assert!((10..=30).contains(&repeats.len()), "{}", repeats.len());
    for k in repeats {
        let pair = |k: usize| unordered(voter.votes[k].1.left, voter.votes[k].1.right);
        let times: Vec<usize> = (0..100).filter(|&other| pair(other) == pair(k)).collect();
        assert!(times.len() == 2 && times[1] - times[0] >= MIN_DISTANCE, "{times:?}");
    }
    assert_eq!(voter.asked.len() + voter.repeated.len(), 100);
}

/// People who vote at the same time are not asked the same pair, and a vote changes what is asked before the next
/// fit.
#[test]
fn pairs_on_screens_and_votes_count_at_once() {
    let mut study = Study::new(40, Some(refit(posterior(40), Seen::default())));
    let mut pairs = std::collections::HashSet::new();
    for id in 0..20 {
        let voter = Voter::default();
        let rng = &mut study.rng;
        let pair = study.selection.next_pair(&voter, &study.shown, 0.0, id, rng).unwrap();
        study.selection.show(&pair);
        pairs.insert(unordered(pair.left, pair.right));
    }
    assert_eq!(pairs.len(), 20);
    let next = |study: &mut Study| {
        let rng = &mut ChaCha8Rng::seed_from_u64(5);
        let pair = study.selection.next_pair(&Voter::default(), &study.shown, 0.0, 99, rng);
        pair.map(|pair| unordered(pair.left, pair.right)).unwrap()
    };
    let (left, right) = next(&mut study);
    let pair = Shown { id: 20, left, right, is_repeat: false };
    study.selection.show(&pair);
    for number in 1..30 {
        study.selection.vote(number, &pair, 1.0);
    }
    let Some(Candidates::All { selector, .. }) = &study.selection.candidates else { panic!() };
    // The answer is clear by now, so that asking again would tell little.
    let asked_again = selector.gain(left, right);
    let (left, right) = next(&mut study);
    let Some(Candidates::All { selector, .. }) = &study.selection.candidates else { panic!() };
    assert!(selector.gain(left, right) > 2.0 * asked_again);
}

/// What happened after the votes of a fit were read is repeated, what the fit knows is not.
#[test]
fn a_fit_that_arrives_late_misses_nothing() {
    let mut study = Study::new(30, Some(refit(posterior(30), Seen::default())));
    let mut voter = Voter::default();
    let pairs: Vec<Shown> = (0..10).map(|_| study.vote(&mut voter, 0.0).unwrap()).collect();
    study.selection.commit();
    // One that a failed transaction takes back.
    study.vote(&mut voter, 0.0);
    study.selection.roll_back();
    study.selection.install(refit(posterior(30), Seen { shown: 7, votes: 6 }));
    let mut expected = PairSelector::new(posterior(30), None).unwrap();
    // In the order of the events: pairs 8 to 10 are asked, and votes 7 to 10 are answered.
    for pair in &pairs[6..] {
        if pair.id > 7 {
            expected.ask(pair.left, pair.right);
        }
        expected.answer(pair.left, pair.right, f64::from(u8::from(pair.left < pair.right)));
    }
    let Some(Candidates::All { selector, .. }) = &study.selection.candidates else { panic!() };
    for (i, j) in [(0, 1), (3, 17), (pairs[9].left, pairs[9].right)] {
        assert_eq!(selector.gain(i, j).to_bits(), expected.gain(i, j).to_bits());
    }
}

/// It makes no difference whether the fit catches up before it is handed over.
#[test]
fn a_fit_catches_up_before_it_is_handed_over() {
    let (pairs, votes) = (vec![(1, 2), (5, 9), (3, 4)], vec![(1, 2, 1.0), (9, 8, 0.5)]);
    let mut early = refit(posterior(30), Seen { shown: 10, votes: 10 });
    let seen = Seen { shown: 13, votes: 12 };
    let later = Later { shown: pairs.clone(), votes: votes.clone(), seen };
    assert_eq!(early.catch_up(&later), 5);
    assert_eq!(early.seen(), seen);
    let mut expected = PairSelector::new(posterior(30), None).unwrap();
    pairs.iter().for_each(|&(i, j)| expected.ask(i, j));
    votes.iter().for_each(|&(i, j, wins)| expected.answer(i, j, wins));
    let Candidates::All { selector, .. } = &early.candidates else { panic!() };
    for (i, j) in [(0, 1), (1, 2), (9, 8)] {
        assert_eq!(selector.gain(i, j).to_bits(), expected.gain(i, j).to_bits());
    }
}

/// An item that everybody wants to know about does not crowd out the others.
#[test]
fn items_are_balanced() {
    let mut known = vec![(0, 1, 0.01)];
    known.extend((1..30).flat_map(|i| (i + 1..30).map(move |j| (i, j, 4.0))));
    let open = Posterior::new(vec![0.0; 30], known, 0.01);
    let mut study = Study::new(30, Some(refit(open, Seen::default())));
    for _ in 0..60 {
        study.vote(&mut Voter::default(), 0.0);
    }
    let (most, all) = (study.shown.iter().max().unwrap(), study.shown.iter().sum::<u64>());
    assert!(*most <= 2 * all / 30 + 9, "{:?}", study.shown);
}

/// Many items have a queue.
#[test]
fn many_items_are_chosen_from_a_queue() {
    let items = MAX_EXACT_ITEMS + 1;
    let mut study = Study::new(items, Some(refit(posterior(items), Seen::default())));
    let mut voter = Voter::default();
    for _ in 0..80 {
        assert!(study.vote(&mut voter, 0.0).is_some());
    }
    assert_eq!(voter.asked.len(), 80);
}

/// The figure in docs/study.md: `cargo test --release -p hodgerank-study thousand -- --nocapture`. The limit
/// is generous because other tests run at the same time.
#[test]
#[expect(clippy::print_stdout, reason = "the figure")]
fn a_choice_among_a_thousand_items_takes_milliseconds() {
    let mut study = Study::new(1000, Some(refit(posterior(1000), Seen::default())));
    let mut voters: Vec<Voter> = (0..20).map(|_| Voter::default()).collect();
    let mut times: Vec<Duration> = (0..600)
        .map(|round| {
            let start = Instant::now();
            study.vote(&mut voters[round % 20], 0.05).unwrap();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!(
        "1,000 items: a choice with its updates takes {:.1?} (median), {:.1?} (99%)",
        times[300], times[594]
    );
    assert!(times[300] < Duration::from_millis(50), "{:?}", times[300]);
}
