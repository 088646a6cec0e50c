use std::collections::{BTreeMap, HashSet};

use rand::RngExt;

use super::*;

/// The inverse of a symmetric matrix by Gauss–Jordan elimination.
fn inverse(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    for (i, row) in a.iter_mut().enumerate() {
        row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
    }
    for k in 0..n {
        let pivot = a[k][k];
        a[k].iter_mut().for_each(|entry| *entry /= pivot);
        let row = a[k].clone();
        for (i, other) in a.iter_mut().enumerate() {
            if i != k {
                let factor = other[k];
                other.iter_mut().zip(&row).for_each(|(entry, own)| *entry -= factor * own);
            }
        }
    }
    a.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// H with one more vote on each of these pairs.
fn precision(posterior: &Posterior, asked: &[(u32, u32)]) -> Vec<Vec<f64>> {
    let n = posterior.items();
    let mut matrix = vec![vec![0.0; n]; n];
    (0..n).for_each(|i| matrix[i][i] = posterior.prior());
    let votes = asked.iter().map(|&(i, j)| (i, j, vote_information(posterior.difference(i, j))));
    for (i, j, information) in posterior.information().iter().copied().chain(votes) {
        let (i, j) = (i as usize, j as usize);
        matrix[i][i] += information;
        matrix[j][j] += information;
        matrix[i][j] -= information;
        matrix[j][i] -= information;
    }
    matrix
}

fn variance(covariance: &[Vec<f64>], i: u32, j: u32) -> f64 {
    let (i, j) = (i as usize, j as usize);
    covariance[i][i] + covariance[j][j] - 2.0 * covariance[i][j]
}

fn random_posterior(items: usize, pairs: usize, rng: &mut ChaCha8Rng) -> Posterior {
    let means = (0..items).map(|_| rng.random_range(-2.0..2.0)).collect();
    let mut pair = || {
        let i = rng.random_range(0..items as u32);
        let j = (i + rng.random_range(1..items as u32)) % items as u32;
        (i.min(j), i.max(j), rng.random_range(0.1..3.0))
    };
    Posterior::new(means, (0..pairs).map(|_| pair()).collect(), 0.5)
}

fn ask(posterior: &Posterior, options: &NextPairsOptions) -> NextPairs {
    let mut sides = SideBalance::new(posterior.items());
    next_pairs(posterior, &mut sides, None, options).unwrap()
}

fn options(pairs: usize) -> NextPairsOptions {
    NextPairsOptions { pairs, top: None, seed: 1 }
}

fn unordered(pair: &NextPair) -> (u32, u32) {
    (pair.left.min(pair.right), pair.left.max(pair.right))
}

/// The mean of KL(new posterior ‖ old posterior) over both answers, from full matrices.
#[test]
fn the_gain_is_the_expected_divergence() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let posterior = random_posterior(4, 5, &mut rng);
    let (h, n) = (precision(&posterior, &[]), 4);
    let s = inverse(h.clone());
    for (i, j) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
        let p = logistic(posterior.difference(i, j));
        let after = inverse(precision(&posterior, &[(i, j)]));
        // ln det H' − ln det H = ln(1 + vC); the trace is that of H S'.
        let vc = p * (1.0 - p) * variance(&s, i, j);
        let trace: f64 = (0..n).map(|a| (0..n).map(|b| h[a][b] * after[b][a]).sum::<f64>()).sum();
        let mut expected = 0.0;
        for (y, probability) in [(1.0, p), (0.0, 1.0 - p)] {
            let shift: Vec<f64> =
                (0..n).map(|a| (after[a][i as usize] - after[a][j as usize]) * (y - p)).collect();
            let square: f64 =
                (0..n).map(|a| (0..n).map(|b| shift[a] * h[a][b] * shift[b]).sum::<f64>()).sum();
            expected += probability * 0.5 * (trace - n as f64 + square + (1.0 + vc).ln());
        }
        let gain = expected_gain(vc);
        assert!((gain - expected).abs() < 1e-12, "{gain} and {expected}");
    }
}

/// Evaluates every pair anew after each choice.
#[test]
fn a_batch_is_the_greedy_one() {
    for seed in 0..20 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let posterior = random_posterior(7, 9, &mut rng);
        let found = ask(&posterior, &options(80));
        let mut asked = Vec::new();
        for pair in &found.pairs {
            let covariance = inverse(precision(&posterior, &asked));
            let gain = |i, j| {
                let information = vote_information(posterior.difference(i, j));
                expected_gain(information * variance(&covariance, i, j))
            };
            let best = (0..7)
                .flat_map(|i| (i + 1..7).map(move |j| (i, j)))
                .map(|(i, j)| gain(i, j))
                .fold(0.0, f64::max);
            let own = gain(pair.left, pair.right);
            assert!((own - best).abs() < 1e-12 && (pair.gain - best).abs() < 1e-11, "seed {seed}");
            asked.push(unordered(pair));
        }
        let covariance = inverse(precision(&posterior, &asked));
        let trace: f64 = (0..7).map(|i| covariance[i][i]).sum();
        let total: f64 = covariance.iter().flatten().sum();
        let se = ((trace - total / 7.0) / 7.0).sqrt();
        assert!((found.se_after - se).abs() < 1e-10, "{} and {se}", found.se_after);
        assert!(found.se_after < found.se_before);
        assert!(found.pairs.windows(2).all(|two| two[1].gain <= two[0].gain + 1e-12));
    }
}

#[test]
fn items_without_votes_come_first() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let posterior = random_posterior(10, 200, &mut rng).with_more_items(2);
    let found = ask(&posterior, &options(6));
    assert!(found.pairs.iter().all(|pair| pair.left >= 10 || pair.right >= 10), "{found:?}");
}

/// Two groups of items that no vote connects.
#[test]
fn components_are_connected_first() {
    let pairs = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)];
    let information = pairs.map(|(i, j)| (i, j, 5.0)).to_vec();
    let posterior = Posterior::new(vec![0.3, 0.0, -0.3, 0.2, 0.0, -0.2], information, 0.5);
    let first = ask(&posterior, &options(1)).pairs[0];
    assert_ne!(first.left < 3, first.right < 3, "{first:?}");
}

#[test]
fn designs_without_votes_are_connected_and_even() {
    for (items, pairs) in [(2, 1), (2, 5), (5, 4), (5, 10), (5, 33), (40, 39), (40, 200), (40, 780)]
    {
        let found = ask(&Posterior::without_votes(items), &options(pairs));
        assert_eq!(found.pairs.len(), pairs);
        let mut sets = crate::numeric::DisjointSets::new(items);
        let mut times: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let mut degree = vec![0; items];
        for pair in &found.pairs {
            sets.join(pair.left, pair.right);
            *times.entry(unordered(pair)).or_default() += 1;
            degree[pair.left as usize] += 1;
            degree[pair.right as usize] += 1;
        }
        let roots: HashSet<u32> = (0..items as u32).map(|item| sets.root(item)).collect();
        assert_eq!(roots.len(), 1, "{items} items, {pairs} pairs");
        let all = items * (items - 1) / 2;
        let most = times.values().max().copied().unwrap_or(0);
        assert_eq!(most, pairs.div_ceil(all), "{items} items, {pairs} pairs");
        assert!(found.se_after < found.se_before);
    }
}

#[test]
fn sides_are_balanced() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let posterior = random_posterior(12, 30, &mut rng);
    let mut balance = vec![0_i64; 12];
    for pair in ask(&posterior, &options(600)).pairs {
        balance[pair.left as usize] += 1;
        balance[pair.right as usize] -= 1;
    }
    assert!(balance.iter().all(|lead| lead.abs() <= 3), "{balance:?}");
}

#[test]
fn nobody_is_asked_a_pair_twice() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let posterior = random_posterior(6, 10, &mut rng);
    let mut assignment = Assignment::new(3);
    assignment.has_been_asked(1, 4, 2);
    let mut sides = SideBalance::new(6);
    let found = next_pairs(&posterior, &mut sides, Some(&mut assignment), &options(100)).unwrap();
    // 15 pairs for each of three people, one of which is known.
    assert_eq!(found.pairs.len(), 44);
    let asked: HashSet<(Option<u32>, (u32, u32))> =
        found.pairs.iter().map(|pair| (pair.annotator, unordered(pair))).collect();
    assert_eq!(asked.len(), 44);
    assert!(!asked.contains(&(Some(1), (2, 4))));
    // As long as everybody can be asked, they are asked in turn.
    let mut load = [0_usize; 3];
    for pair in &found.pairs[..30] {
        load[pair.annotator.unwrap() as usize] += 1;
    }
    assert!(load.iter().max().unwrap() - load.iter().min().unwrap() <= 1, "{load:?}");
}

#[test]
fn a_focus_asks_about_items_at_the_border() {
    let means: Vec<f64> = (0..30).map(|k| 3.0 - 0.4 * f64::from(k)).collect();
    let information = (0..29).map(|k| (k, k + 1, 20.0)).collect();
    let posterior = Posterior::new(means, information, 0.5);
    let asks = |top| {
        let found = ask(&posterior, &NextPairsOptions { top, ..options(20) });
        let near = |item: u32| (1..=4).contains(&item);
        found.pairs.iter().filter(|pair| near(pair.left) || near(pair.right)).count()
    };
    assert!(asks(Some(3)) >= 18 && asks(None) <= 12, "{} and {}", asks(Some(3)), asks(None));
}

#[test]
fn many_items_are_asked_about_with_their_neighbours() {
    let items = MAX_EXACT_ITEMS + 500;
    let means: Vec<f64> = (0..items).map(|k| 4.0 - 8.0 * k as f64 / items as f64).collect();
    let information = (0..items as u32 - 101).map(|k| (k, k + 1, 2.0)).collect();
    let posterior = Posterior::new(means.clone(), information, 0.5);
    let found = ask(&posterior, &options(300));
    assert!(found.is_approximate && found.se_after < found.se_before);
    assert_eq!(found.pairs.len(), 300);
    for pair in &found.pairs {
        let difference = means[pair.left as usize] - means[pair.right as usize];
        assert!(difference.abs() < 0.5, "{pair:?}");
        // The last hundred items have no votes.
        assert!(pair.left.max(pair.right) as usize >= items - 101, "{pair:?}");
    }
    let design = ask(&Posterior::without_votes(items), &options(2 * items));
    assert_eq!(design.pairs.len(), 2 * items);
}

#[test]
fn seeds_decide_between_equal_pairs_only() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let posterior = random_posterior(9, 20, &mut rng);
    let run = |seed| ask(&posterior, &NextPairsOptions { seed, ..options(10) });
    assert_eq!(run(1), run(1));
    let pairs = |found: NextPairs| found.pairs.iter().map(unordered).collect::<Vec<_>>();
    assert_eq!(pairs(run(1)), pairs(run(2)));
    let empty = |seed| ask(&Posterior::without_votes(9), &NextPairsOptions { seed, ..options(10) });
    assert_ne!(empty(1), empty(2));
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let posterior = Posterior::without_votes(3);
    let mut sides = SideBalance::new(3);
    for wrong in [
        NextPairsOptions { pairs: 0, ..options(1) },
        NextPairsOptions { top: Some(0), ..options(1) },
        NextPairsOptions { top: Some(3), ..options(1) },
    ] {
        assert!(next_pairs(&posterior, &mut sides, None, &wrong).is_err(), "{wrong:?}");
    }
    let one = Posterior::without_votes(1);
    assert!(next_pairs(&one, &mut SideBalance::new(1), None, &options(1)).is_err());
}

/// Asks and answers random pairs; returns the pairs with the information that each had when it was asked.
fn interleave(
    selector: &mut PairSelector,
    pairs: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<(u32, u32, f64)> {
    let items = selector.items() as u32;
    let mut asked = Vec::new();
    for k in 0..pairs {
        let i = rng.random_range(0..items);
        let j = (i + rng.random_range(1..items)) % items;
        let difference = selector.exact().posterior().difference(i, j);
        asked.push((i, j, vote_information(difference)));
        selector.ask(i, j);
        if k % 3 > 0 {
            selector.answer(i, j, [0.0, 0.5, 1.0][rng.random_range(0..3)]);
        }
    }
    asked
}

/// S after rank-one updates is the inverse of H with these pairs, by a factorisation. 100 pairs are more than the
/// columns that are kept apart.
#[test]
fn rank_one_updates_give_the_covariance_of_a_factorisation() {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    for (items, pairs) in [(2, 5), (12, 40), (60, 100)] {
        let posterior = random_posterior(items, 2 * items, &mut rng);
        let mut selector = PairSelector::new(posterior.clone(), None).unwrap();
        let asked = interleave(&mut selector, pairs, &mut rng);
        let information = [posterior.information(), &asked].concat();
        let whole = Posterior::new(posterior.means().to_vec(), information, posterior.prior());
        let whole = exact::ExactPosterior::new(whole).unwrap();
        for i in 0..items as u32 {
            let (own, other) = (selector.exact().row(i), whole.row(i));
            for (a, b) in own.iter().zip(&other) {
                assert!((a - b).abs() < 1e-9, "{a} and {b}");
            }
            let (a, b) = (selector.exact().variances()[i as usize], other[i as usize]);
            assert!((a - b).abs() < 1e-9, "{a} and {b}");
        }
    }
}

/// The bounds miss no pair: the best pair is that of an evaluation of all pairs, at any time.
#[test]
fn a_choice_is_the_best_of_all_pairs_that_may_be_asked() {
    for seed in 0..30 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let posterior = random_posterior(15, 20, &mut rng);
        let top = (seed % 2 == 0).then_some(4);
        let mut selector = PairSelector::new(posterior.clone(), top).unwrap();
        let relevance = focus::Relevance::new(&posterior, selector.exact().variances(), top);
        for round in 0..20 {
            interleave(&mut selector, round % 4, &mut rng);
            let may_ask = |i: u32, j: u32| !(i + j + round as u32).is_multiple_of(3);
            let worth = |i, j| relevance.of(i, j) * selector.exact().gain(i, j);
            let most = (0..15)
                .flat_map(|i| (i + 1..15).map(move |j| (i, j)))
                .filter(|&(i, j)| may_ask(i, j))
                .map(|(i, j)| worth(i, j))
                .fold(0.0, f64::max);
            let best = selector.best(&mut rng, &may_ask).unwrap();
            let own = relevance.of(best.first, best.second) * best.gain;
            assert!(may_ask(best.first, best.second) && (own - most).abs() < 1e-12, "seed {seed}");
            selector.ask(best.first, best.second);
        }
        assert_eq!(selector.best(&mut rng, &|_, _| false), None);
    }
}

/// The mean after an answer is one Newton step: H'(μ' − μ) = x (y − p).
#[test]
fn an_answer_moves_the_means() {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let posterior = random_posterior(5, 8, &mut rng);
    let mut selector = PairSelector::new(posterior.clone(), None).unwrap();
    selector.ask(3, 1);
    selector.answer(3, 1, 1.0);
    let after = precision(&posterior, &[(3, 1)]);
    let moved = selector.exact().posterior();
    for (i, row) in after.iter().enumerate() {
        let shifts = moved.means().iter().zip(posterior.means()).map(|(new, old)| new - old);
        let product: f64 = row.iter().zip(shifts).map(|(h, shift)| h * shift).sum();
        let surprise = 1.0 - logistic(posterior.difference(3, 1));
        let expected = surprise * (f64::from(u8::from(i == 3)) - f64::from(u8::from(i == 1)));
        assert!((product - expected).abs() < 1e-12, "{product} and {expected}");
    }
    assert!(moved.difference(3, 1) > posterior.difference(3, 1));
}

/// Without votes, and while nothing is answered, items are asked about equally often.
#[test]
fn choices_without_votes_are_even_and_connected() {
    let mut rng = ChaCha8Rng::seed_from_u64(19);
    let mut selector = PairSelector::new(Posterior::without_votes(30), None).unwrap();
    let (mut times, mut sets) = (vec![0_i32; 30], crate::numeric::DisjointSets::new(30));
    for round in 1..=90 {
        let BestPair { first, second, .. } = selector.best(&mut rng, &|_, _| true).unwrap();
        selector.ask(first, second);
        sets.join(first, second);
        times[first as usize] += 1;
        times[second as usize] += 1;
        let range = times.iter().max().unwrap() - times.iter().min().unwrap();
        assert!(range <= 2, "{round}: {times:?}");
    }
    let roots: HashSet<u32> = (0..30).map(|item| sets.root(item)).collect();
    assert_eq!(roots.len(), 1);
}
