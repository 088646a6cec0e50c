//! Small studies, where all subsets can be tried by code that shares nothing with the search.

use super::*;
use crate::graph::{Groups, SideCounts};
use crate::ranking::Ranking;
use crate::simulate::{AnnotatorKind, Noise, SimulateOptions, Simulation};
use crate::{Comparison, OutlierRule};

const ITEMS: usize = 5;

/// A small study with six annotators.
fn study(seed: u64, votes: u64) -> Vec<Comparison> {
    let options = SimulateOptions {
        items: ITEMS,
        votes,
        noise: Noise::BradleyTerry { scale: 0.2 },
        annotators: vec![(AnnotatorKind::Careful, 5), (AnnotatorKind::Careless, 1)],
        seed,
        ..SimulateOptions::default()
    };
    Simulation::new(&options).unwrap().map(|vote| vote.comparison()).collect()
}

fn graph_of(votes: &[Comparison]) -> ComparisonGraph {
    let groups = Groups::merge(ITEMS, votes).unwrap().groups;
    let sides = SideCounts::of_comparisons(ITEMS, votes);
    ComparisonGraph::new(ITEMS, groups).unwrap().with_sides(Some(sides))
}

fn annotators_of(votes: &[Comparison]) -> AnnotatorVotes {
    AnnotatorVotes::from_comparisons(6, votes, true)
}

/// Whether an item of `lower` is ranked above one of `upper` in the same component.
fn is_changed(votes: &[Comparison], options: &FitOptions, target: &Target) -> bool {
    let graph = graph_of(votes);
    let annotators = options.uses_annotators().then(|| annotators_of(votes));
    let Ok(fit) = fit_with_annotators(&graph, annotators.as_ref(), options) else { return false };
    let mut rank = [(0, 0); ITEMS];
    for row in Ranking::within(&graph, &fit.components, &fit.scores).items {
        rank[row.item as usize] = (row.rank, row.component);
    }
    let pairs = target.upper.iter().flat_map(|i| target.lower.iter().map(move |j| (i, j)));
    pairs
        .map(|(&i, &j)| (rank[i as usize], rank[j as usize]))
        .any(|((above, one), (below, other))| one == other && below < above)
}

/// The size of the smallest set of at most `max` of `counts` for which `changes` holds.
fn smallest(counts: &[u64], max: u64, changes: &dyn Fn(&[u64]) -> bool) -> Option<u64> {
    fn any(
        counts: &[u64],
        taken: &mut Vec<u64>,
        rest: u64,
        changes: &dyn Fn(&[u64]) -> bool,
    ) -> bool {
        let next = taken.len();
        if next == counts.len() {
            return rest == 0 && changes(taken);
        }
        for take in 0..=rest.min(counts[next]) {
            taken.push(take);
            let found = any(counts, taken, rest - take, changes);
            taken.pop();
            if found {
                return true;
            }
        }
        false
    }
    (1..=max).find(|&size| any(counts, &mut Vec::new(), size, changes))
}

/// Equal votes, by the caller's key, and how many there are.
fn distinct<K: Ord>(votes: &[Comparison], key: impl Fn(&Comparison) -> K) -> Vec<Vec<Comparison>> {
    let mut sets: std::collections::BTreeMap<K, Vec<Comparison>> = Default::default();
    votes.iter().for_each(|vote| sets.entry(key(vote)).or_default().push(*vote));
    sets.into_values().collect()
}

/// Votes without the first `taken` of each set.
fn rest(sets: &[Vec<Comparison>], taken: &[u64]) -> Vec<Comparison> {
    let left = sets.iter().zip(taken);
    left.flat_map(|(set, taken)| set[*taken as usize..].iter().copied()).collect()
}

/// Removes the votes that a set lists, in either orientation unless it has annotators.
fn without_listed(votes: &[Comparison], found: &FoundSet) -> Vec<Comparison> {
    let mut left = votes.to_vec();
    for listed in &found.votes {
        for _ in 0..listed.removed {
            let is_listed = |vote: &Comparison| {
                let same = (vote.left, vote.right, vote.y) == (listed.left, listed.right, listed.y);
                listed.annotator.is_none_or(|known| vote.annotator == Some(known)) && same
            };
            let turned = |vote: &Comparison| {
                (vote.right, vote.left, -vote.y) == (listed.left, listed.right, listed.y)
            };
            let place = left.iter().position(is_listed).or_else(|| left.iter().position(turned));
            left.remove(place.expect("a listed vote is in the study"));
        }
    }
    let is_gone = |vote: &Comparison| {
        found.annotators.iter().any(|gone| vote.annotator == Some(gone.annotator))
    };
    left.retain(|vote| !is_gone(vote));
    left
}

/// Checks some studies with so many votes: every set that is found changes the result, and has at most 1.5
/// times as many members as the smallest one, which is searched for among sets of up to `max` votes, or 3
/// annotators.
fn check(studies: usize, options: &FitOptions, question: Question, votes: u64, max: u64) {
    let mut checked = 0;
    for seed in 0.. {
        let votes = study(seed, votes);
        let graph = graph_of(&votes);
        let annotators = annotators_of(&votes);
        let certified = certify(&graph, Some(&annotators), options, question).unwrap();
        let Standing::Ordered(target) = &certified.standing else { continue };
        let mut is_complete = true;
        let changed =
            |left: &[Comparison]| is_changed(left, &options.fixed_by(&certified.fit), target);
        let of_votes = match certified.method {
            Method::BradleyTerry => {
                distinct(&votes, |v| (v.left, v.right, v.y as i64, None::<u32>))
            }
            Method::Crowd => distinct(&votes, |v| (v.left, v.right, v.y as i64, v.annotator)),
            _ => distinct(&votes, |v| {
                let v = v.oriented();
                (v.left, v.right, v.y as i64, None::<u32>)
            }),
        };
        let by_person = distinct(&votes, |vote| vote.annotator);
        let person: Vec<u64> = by_person.iter().map(|_| 1).collect();
        let results = [(&certified.votes, max), (certified.annotators.as_ref().unwrap(), 3)];
        for (k, (result, max)) in results.into_iter().enumerate() {
            let counts: Vec<u64> = of_votes.iter().map(|set| set.len() as u64).collect();
            // Larger sets than these are within the factor.
            let smaller = match &result.found {
                None => max,
                Some(found) if found.is_smallest => found.removed - 1,
                Some(found) => (2 * found.removed - 1) / 3,
            };
            // Too many sets to try: the study is checked as far as possible, and does not count.
            is_complete &= smaller <= max;
            let smaller = smaller.min(max);
            let best = match k {
                0 => smallest(&counts, smaller, &|taken| changed(&rest(&of_votes, taken))),
                _ => smallest(&person, smaller, &|taken| {
                    let left = by_person.iter().zip(taken).filter(|(_, taken)| **taken == 0);
                    changed(&left.flat_map(|(set, _)| set.iter().copied()).collect::<Vec<_>>())
                }),
            };
            match (&result.found, best) {
                (Some(found), best) => {
                    let best = best.unwrap_or(found.removed);
                    assert!(2 * found.removed <= 3 * best, "seed {seed}: {found:?}, {best}");
                    assert!(!found.is_smallest || found.removed == best, "seed {seed}");
                    assert!(changed(&without_listed(&votes, found)), "seed {seed}: {found:?}");
                }
                (None, best) => assert_eq!(best, None, "seed {seed}"),
            }
        }
        checked += usize::from(is_complete);
        if checked == studies {
            break;
        }
    }
}

#[test]
fn least_squares_sets_are_nearly_the_smallest() {
    let options = FitOptions::new().method(Method::L2);
    check(20, &options, Question::Places(1), 30, 4);
}

#[test]
fn bradley_terry_sets_are_nearly_the_smallest() {
    let options = FitOptions::new().method(Method::BradleyTerry).lapse_rate(0.0);
    check(20, &options, Question::Places(1), 30, 4);
}

#[test]
fn robust_sets_are_nearly_the_smallest() {
    let options = FitOptions::new().method(Method::InverseScaleSpace);
    check(6, &options, Question::Places(1), 25, 4);
    let options = FitOptions::new().method(Method::Crowd);
    check(6, &options, Question::Places(1), 25, 4);
    let options = FitOptions::new().method(Method::HuberLasso).outliers(OutlierRule::Share(0.1));
    check(10, &options, Question::Places(1), 25, 4);
}

#[test]
fn sets_of_two_places_and_pairs_are_nearly_the_smallest() {
    let options = FitOptions::new().method(Method::L2);
    check(10, &options, Question::Places(2), 30, 4);
    check(10, &options, Question::Pair(1, 3), 12, 4);
}

#[test]
fn ties_and_items_that_do_not_compare_have_no_order() {
    let options = FitOptions::new().method(Method::L2);
    let votes =
        [Comparison::new(0, 1, 1.0), Comparison::new(1, 0, 1.0), Comparison::new(2, 3, 1.0)];
    let graph = graph_of(&votes);
    let standing = |question| certify(&graph, None, &options, question).unwrap().standing;
    assert_eq!(standing(Question::Pair(0, 1)), Standing::Tied(vec![0, 1]));
    assert_eq!(standing(Question::Places(1)), Standing::Tied(vec![0, 1]));
    assert_eq!(standing(Question::Pair(0, 2)), Standing::Incomparable);
    assert_eq!(standing(Question::Places(2)), Standing::TooFewItems(2));
}

#[test]
fn disconnecting_items_is_no_change() {
    // Only the vote of 0 over 1 compares them.
    let options = FitOptions::new().method(Method::L2);
    let votes = [
        Comparison::new(0, 1, 1.0),
        Comparison::new(1, 2, 1.0),
        Comparison::new(2, 3, 1.0),
        Comparison::new(3, 4, 1.0),
    ];
    let certified = certify(&graph_of(&votes), None, &options, Question::Places(1)).unwrap();
    assert_eq!(certified.votes.found, None);
    assert_eq!((certified.votes.members, certified.votes.max_removed), (4, 2));
    assert_eq!(certified.votes.exhausted, 2);
}
