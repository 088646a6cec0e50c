use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::diagnose::{DiagnoseOptions, FirstPlace, NextPlace, diagnose_ranked};
use crate::settled::Settled;
use crate::{Comparison, FitOptions, Groups, IntervalOptions, Labels, Method, Study};

/// The items are named by their numbers.
fn ranked(items: usize, votes: &[Comparison]) -> RankedStudy {
    let names: Vec<String> = (0..items).map(|item| item.to_string()).collect();
    let study = Study {
        by: None,
        items: names.iter().map(String::as_str).collect(),
        groups: Groups::merge(items, votes).unwrap().groups,
        annotators: Labels::new(),
        annotator_votes: None,
        sides: None,
        rows: votes.len() as u64,
        comparisons: votes.iter().map(|vote| vote.count).sum(),
    };
    let options = FitOptions::new().method(Method::BradleyTerry);
    let ranked = RankedStudy::new(study, 0, &options).unwrap();
    ranked.with_uncertainty(&IntervalOptions::default()).unwrap()
}

/// Bradley–Terry votes on pairs that `pair` draws.
fn draw(
    scores: &[f64],
    votes: u64,
    random: &mut ChaCha8Rng,
    pair: impl Fn(&mut ChaCha8Rng) -> (u32, u32),
) -> Vec<Comparison> {
    let vote = |_| {
        let (left, right) = pair(random);
        let odds = (scores[right as usize] - scores[left as usize]).exp();
        let y = if random.random::<f64>() < 1.0 / (1.0 + odds) { 1.0 } else { -1.0 };
        Comparison::new(left, right, y)
    };
    (0..votes).map(vote).collect()
}

fn any_pair(items: u32) -> impl Fn(&mut ChaCha8Rng) -> (u32, u32) {
    move |random| {
        let left = random.random_range(0..items);
        (left, (left + 1 + random.random_range(0..items - 1)) % items)
    }
}

fn next_of(study: &RankedStudy) -> Option<NextPlace> {
    let found = diagnose_ranked(study, &DiagnoseOptions::default()).unwrap();
    found.certainty.unwrap().places.unwrap().next
}

fn settled_places(study: &RankedStudy) -> usize {
    Settled::of_ranking(&study.ranking, 1).unwrap().places
}

#[test]
fn so_many_votes_settle_the_place_in_most_studies() {
    const ITEMS: u32 = 8;
    let scores: Vec<f64> = (0..ITEMS).map(|item| 0.25 * f64::from(item)).collect();
    let (mut studies, mut enough, mut tenth) = (0, 0, 0);
    let (mut focused, mut focused_enough) = (0, 0);
    for seed in 0..40 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let votes = draw(&scores, 400, &mut random, any_pair(ITEMS));
        let study = ranked(ITEMS as usize, &votes);
        let Some(next) = next_of(&study) else { continue };
        let VotesNeeded::About { more_votes, more_votes_on_rivals } = next.votes else { continue };
        let fitted = &study.fit.scores;
        let is_settled = |more: Vec<Comparison>| {
            let study = ranked(ITEMS as usize, &[votes.clone(), more].concat());
            settled_places(&study) >= next.places
        };
        studies += 1;
        let more = draw(fitted, more_votes, &mut random, any_pair(ITEMS));
        tenth += u32::from(is_settled(more[..more.len() / 10].to_vec()));
        enough += u32::from(is_settled(more));
        let Some(on_rivals) = more_votes_on_rivals else { continue };
        assert!(on_rivals < more_votes);
        let more = on_rival_pairs(&study, next.places, on_rivals, &mut random);
        focused += 1;
        focused_enough += u32::from(is_settled(more));
    }
    assert!(studies >= 20 && focused >= 20, "{studies} studies, {focused}");
    let shares = [enough, focused_enough].map(|settled| f64::from(settled) / f64::from(studies));
    assert!(shares.iter().all(|share| (0.65..0.95).contains(share)), "{shares:?}");
    assert!(4 * tenth < studies, "{tenth} of {studies} with a tenth of the votes");
}

/// Votes on the pairs of the item at a place and those below it, spread as they are needed.
fn on_rival_pairs(
    study: &RankedStudy,
    place: usize,
    votes: u64,
    random: &mut ChaCha8Rng,
) -> Vec<Comparison> {
    let rows: Vec<&RankedItem> = study.ranking.items.iter().collect();
    let tests = PairTests { study, uncertainty: study.uncertainty.as_ref().unwrap(), rows: &rows };
    let (row, below) = rows[place - 1..].split_first().unwrap();
    let (_, hardest) = tests.hardest(row, below).unwrap();
    let needed = tests.needed_statistic_on_rivals(row.item, hardest);
    let of_rivals = tests.votes_on_rivals(row, below, needed).unwrap().unwrap();
    let total: f64 = of_rivals.iter().sum();
    let pair = |random: &mut ChaCha8Rng| {
        let mut left = random.random::<f64>() * total;
        let rival = of_rivals.iter().position(|votes| {
            left -= votes;
            left < 0.0
        });
        (row.item, below[rival.unwrap_or(0)].item)
    };
    draw(&study.fit.scores, votes, random, pair)
}

#[test]
fn an_item_with_eight_votes_settles_nothing() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let scores: Vec<f64> = (0..12).map(|item| 0.25 * f64::from(item)).collect();
    let mut votes = draw(&scores, 3000, &mut random, any_pair(12));
    votes.extend((4..12).map(|rival| Comparison::new(12, rival, 1.0)));
    let study = ranked(13, &votes);
    let first = &study.ranking.items[0];
    assert_eq!((first.item, first.comparisons, first.provisional), (12, 8, true));
    let found = diagnose_ranked(&study, &DiagnoseOptions::default()).unwrap();
    assert!(found.verdict.can_rank);
    assert_eq!(found.verdict.first_place, FirstPlace::Provisional);
    let certainty = found.certainty.unwrap();
    let provisional = certainty.provisional.unwrap();
    assert_eq!((provisional.item, provisional.votes, provisional.is_undefeated), (12, 8, true));
    let places = certainty.places.unwrap();
    assert_eq!(places.settled.places, 0);
    let next = places.next.unwrap();
    assert_eq!((next.places, next.item), (1, 12));
    let VotesNeeded::FewVotes { more_votes_on_item } = next.votes else { panic!("{next:?}") };
    assert_eq!(8 + more_votes_on_item, study.ranking.enough_votes());
}

#[test]
fn equal_items_are_a_tie() {
    // Two items that everything is the same for, above two others.
    let pair = |left, right, wins, losses| {
        let vote = Comparison::new(left, right, 1.0);
        [vote.with_count(wins), Comparison { y: -1.0, ..vote }.with_count(losses)]
    };
    let votes = [
        pair(0, 1, 50, 50),
        pair(0, 2, 80, 20),
        pair(1, 2, 80, 20),
        pair(0, 3, 90, 10),
        pair(1, 3, 90, 10),
        pair(2, 3, 70, 30),
    ];
    let study = ranked(4, &votes.concat());
    let next = next_of(&study).unwrap();
    assert_eq!((next.places, next.votes), (1, VotesNeeded::Tie));
    assert!([next.item, next.rival].contains(&0) && [next.item, next.rival].contains(&1));
}

#[test]
fn numbers_have_two_digits() {
    let numbers = [1.2, 9.6, 12.4, 99.7, 123.0, 1250.0, 987_654.0].map(two_digits);
    assert_eq!(numbers, [1, 10, 12, 100, 120, 1300, 990_000]);
}
