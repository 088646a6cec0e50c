//! The advantage of the left side.

use super::pair_counts::HonestVote;
use super::sided_counts::SidedSlope;
use super::*;
use crate::{AnnotatorVotes, Comparison, Groups};

/// Uniform numbers below one.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64
    }
}

const ITEMS: usize = 20;

fn truth(item: u32) -> f64 {
    0.2 * (f64::from(item) - 0.5 * (ITEMS - 1) as f64)
}

/// Votes with this advantage of the left side, odds of ties and share of random answers.
fn votes(number: usize, advantage: f64, tie_odds: f64, lapses: f64, seed: u64) -> Vec<Comparison> {
    let mut random = numbers(seed);
    let vote = |_| {
        let left = (random() * ITEMS as f64) as u32 % ITEMS as u32;
        let other = (random() * (ITEMS - 1) as f64) as u32 % (ITEMS as u32 - 1);
        let right = (left + 1 + other) % ITEMS as u32;
        let honest = HonestVote::new(truth(left) - truth(right) + advantage, tie_odds);
        let (lapse, u) = (random(), random());
        let y = match u {
            u if lapse < lapses => 1.0 - 2.0 * f64::from(u8::from(u < 0.5)),
            u if u < honest.win => 1.0,
            u if u < honest.win + honest.loss => -1.0,
            _ => 0.0,
        };
        Comparison::new(left, right, y)
    };
    (0..number).map(vote).collect()
}

fn graph_of(votes: &[Comparison]) -> ComparisonGraph {
    ComparisonGraph::new(ITEMS, Groups::merge(ITEMS, votes).unwrap().groups).unwrap()
}

fn sided_graph(votes: &[Comparison]) -> ComparisonGraph {
    graph_of(votes).with_sides(Some(SideCounts::of_comparisons(ITEMS, votes)))
}

fn swapped(votes: &[Comparison]) -> Vec<Comparison> {
    votes.iter().map(|v| Comparison::new(v.right, v.left, -v.y).with_count(v.count)).collect()
}

fn without_lapses(prior: f64) -> BradleyTerryOptions {
    BradleyTerryOptions { prior: Some(prior), lapse_rate: Some(0.0), ..Default::default() }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < tolerance, "{a} {b}");
    }
}

/// Newton's method on explicit votes with a dense Hessian in (θ, b, log ν). Shares nothing with the
/// solver but the model and the weights of the prior.
fn reference(votes: &[Comparison], lambda: f64, omega: &[(u32, u32, f64)]) -> (Vec<f64>, f64, f64) {
    let (b, log_nu, size) = (ITEMS, ITEMS + 1, ITEMS + 2);
    let mut x = vec![0.0; size];
    let has_ties = votes.iter().any(|vote| vote.y == 0.0);
    x[log_nu] = if has_ties { -1.0 } else { f64::NEG_INFINITY };
    for _ in 0..60 {
        let mut gradient = vec![0.0; size];
        let mut hessian = vec![vec![0.0; size]; size];
        for vote in votes {
            let (i, j) = (vote.left as usize, vote.right as usize);
            let d = x[i] - x[j] + x[b];
            let odds = [(0.5 * d).exp(), (-0.5 * d).exp(), x[log_nu].exp()];
            let total: f64 = odds.iter().sum();
            // The logarithms of the odds are linear: rows for win, loss and tie.
            let mut rows = vec![vec![0.0; size]; 3];
            for (row, sign) in [(0, 0.5), (1, -0.5)] {
                (rows[row][i], rows[row][j], rows[row][b]) = (sign, -sign, sign);
            }
            rows[2][log_nu] = 1.0;
            let outcome = if vote.y > 0.0 {
                0
            } else if vote.y < 0.0 {
                1
            } else {
                2
            };
            let weight = vote.count as f64;
            for p in [i, j, b, log_nu] {
                let mean = |q: usize| (0..3).map(|o| odds[o] / total * rows[o][q]).sum::<f64>();
                gradient[p] += weight * (rows[outcome][p] - mean(p));
                for q in [i, j, b, log_nu] {
                    let product: f64 =
                        (0..3).map(|o| odds[o] / total * rows[o][p] * rows[o][q]).sum();
                    hessian[p][q] += weight * (product - mean(p) * mean(q));
                }
            }
        }
        for &(i, j, omega) in omega {
            let (i, j) = (i as usize, j as usize);
            gradient[i] -= lambda * omega * (x[i] - x[j]);
            gradient[j] += lambda * omega * (x[i] - x[j]);
            for (p, q, sign) in [(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)] {
                hessian[p][q] += sign * lambda * omega;
            }
        }
        gradient[b] -= lambda * x[b];
        hessian[b][b] += lambda;
        // Scores are determined up to a constant.
        (0..ITEMS).for_each(|p| (0..ITEMS).for_each(|q| hessian[p][q] += 1.0));
        if !has_ties {
            // Without ties ν is zero, and says nothing.
            hessian[log_nu][log_nu] = 1.0;
        }
        let step = eliminate(hessian, gradient);
        x.iter_mut().zip(&step).for_each(|(x, step)| *x += step.clamp(-1.0, 1.0));
    }
    let mean = x[..ITEMS].iter().sum::<f64>() / ITEMS as f64;
    (x[..ITEMS].iter().map(|x| x - mean).collect(), x[b], x[log_nu].exp())
}

/// Gaussian elimination of a positive definite matrix.
fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    for p in 0..b.len() {
        for q in p + 1..b.len() {
            let factor = a[q][p] / a[p][p];
            let row = a[p].clone();
            a[q].iter_mut().zip(&row).for_each(|(a, row)| *a -= factor * row);
            b[q] -= factor * b[p];
        }
    }
    for p in (0..b.len()).rev() {
        let rest: f64 = (p + 1..b.len()).map(|q| a[p][q] * b[q]).sum();
        b[p] = (b[p] - rest) / a[p][p];
    }
    b
}

#[test]
fn scores_and_advantage_are_those_of_a_dense_search() {
    for (tie_odds, lambda, seed) in [(0.0, 0.0, 1), (0.5, 0.0, 2), (0.3, 0.4, 3)] {
        let votes = votes(3000, 0.6, tie_odds, 0.0, seed);
        let graph = sided_graph(&votes);
        let weights = GraphPrior::new(&graph).weights;
        let pairs = graph.pairs();
        let omega: Vec<(u32, u32, f64)> =
            (0..pairs.len()).map(|p| (pairs.left[p], pairs.right[p], weights[p])).collect();
        let (scores, advantage, ties) = reference(&votes, lambda, &omega);
        let found = solve(&graph, &without_lapses(lambda)).unwrap();
        assert_eq!(found.solution.status, Status::Solved);
        assert!(found.solution.info.residual < 1e-9, "{:?}", found.solution.info);
        assert_close(&found.solution.scores, &scores, 1e-8);
        assert_close(&[found.estimates.side_advantage], &[advantage], 1e-8);
        assert_close(&[found.estimates.tie_odds], &[ties], 1e-7);
    }
}

#[test]
fn slopes_are_those_of_finite_differences() {
    let votes = votes(400, 0.4, 0.5, 0.1, 4);
    let graph = sided_graph(&votes);
    let counts = PairCounts::new(&graph);
    let sided = SidedCounts::new(&counts, &graph.sides().unwrap().of_pairs(graph.pairs()));
    let start: Vec<f64> = (0..ITEMS as u32).map(|item| 0.7 * truth(item) + 0.1).collect();
    for lapse_rate in [0.0, 0.2] {
        let model = VoteModel { advantage: 0.3, tie_odds: 0.6, lapse_rate };
        let value = |scores: &[f64], model: &VoteModel| sided.log_likelihood(scores, model);
        let mut slopes: Vec<SidedSlope> = Vec::new();
        let sums = sided.evaluate(&start, &model, &mut slopes);
        let pairs = graph.pairs();
        let gradient = sum_ends(ITEMS, pairs, |p| (slopes[p].gradient, -slopes[p].gradient));
        let h = 1e-5;
        for item in 0..ITEMS {
            let moved = |step: f64| {
                let mut scores = start.clone();
                scores[item] += step;
                value(&scores, &model)
            };
            let expected = (moved(h) - moved(-h)) / (2.0 * h);
            assert!((gradient[item] - expected).abs() < 1e-5, "{item}");
        }
        let moved =
            |step: f64| value(&start, &VoteModel { advantage: model.advantage + step, ..model });
        let expected = (moved(h) - moved(-h)) / (2.0 * h);
        assert!((sums.side_gradient - expected).abs() < 1e-5);
        let moved =
            |step: f64| value(&start, &VoteModel { lapse_rate: model.lapse_rate + step, ..model });
        if lapse_rate > 0.0 {
            let expected = (moved(h) - moved(-h)) / (2.0 * h);
            assert!((sums.rate_gradient - expected).abs() < 1e-4);
        } else {
            // Without lapses the information is that of the votes themselves.
            let side = |step: f64| {
                let at = VoteModel { advantage: model.advantage + step, ..model };
                sided.evaluate(&start, &at, &mut Vec::new()).side_gradient
            };
            let curvature = -(side(h) - side(-h)) / (2.0 * h);
            assert!((sums.side_information - curvature).abs() < 1e-4);
        }
    }
}

#[test]
fn an_advantage_is_found_and_none_is_invented() {
    // 4,000 votes at differences of about one: a standard error of about 2/√4000.
    for (seed, tie_odds) in [(5, 0.0), (6, 0.4), (7, 0.0)] {
        let found =
            solve(&sided_graph(&votes(4000, 0.5, tie_odds, 0.0, seed)), &Default::default());
        let estimates = found.unwrap().estimates;
        assert!((estimates.side_advantage - 0.5).abs() < 0.11, "{estimates:?}");
    }
    let is_included = |seed: &u64| {
        let found = solve(&sided_graph(&votes(4000, 0.0, 0.2, 0.0, *seed)), &Default::default());
        found.unwrap().estimates.side_advantage != 0.0
    };
    let included = (100..120_u64).filter(is_included).count();
    assert!(included <= 1, "{included}");
}

#[test]
fn without_an_advantage_everything_is_as_without_sides() {
    for (seed, lapses) in [(100, 0.0), (101, 0.2)] {
        let votes = votes(3000, 0.0, 0.3, lapses, seed);
        let (with, without) = (sided_graph(&votes), graph_of(&votes));
        let [mut with, mut without] =
            [with, without].map(|graph| solve(&graph, &Default::default()).unwrap());
        assert_eq!(with.estimates.side_advantage, 0.0);
        for found in [&mut with, &mut without] {
            found.solution.info.time = std::time::Duration::ZERO;
        }
        assert_eq!(with, without);
    }
}

#[test]
fn swapped_sides_change_the_sign_only() {
    for lapses in [0.0, 0.15] {
        let votes = votes(4000, 0.5, 0.3, lapses, 8);
        let [found, turned] = [votes.clone(), swapped(&votes)]
            .map(|votes| solve(&sided_graph(&votes), &Default::default()).unwrap());
        let (a, b) = (found.estimates, turned.estimates);
        assert_close(&[a.side_advantage], &[-b.side_advantage], 1e-9);
        assert_close(&[a.lapse_rate, a.log_likelihood], &[b.lapse_rate, b.log_likelihood], 1e-6);
        assert!(a.side_advantage > 0.3);
        assert_eq!(a.lapse_rate > 0.0, lapses > 0.0, "{a:?}");
        assert_close(&found.solution.scores, &turned.solution.scores, 1e-9);
        assert_close(&found.lapse_probability, &turned.lapse_probability, 1e-9);
    }
}

#[test]
fn order_counts_and_threads_change_no_bit() {
    let votes = votes(3000, 0.5, 0.3, 0.1, 9);
    let mut once = votes.clone();
    once.extend(votes.iter().rev());
    let twice: Vec<Comparison> = votes.iter().map(|vote| vote.with_count(2)).collect();
    let found = |votes: &[Comparison], threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| solve(&sided_graph(votes), &Default::default()).unwrap());
        (found.solution.scores, found.estimates, found.lapse_probability)
    };
    let expected = found(&once, 1);
    assert!(expected.1.side_advantage > 0.3);
    for threads in [1, 3] {
        assert_eq!(found(&twice, threads), expected);
    }
}

#[test]
fn lapses_are_found_next_to_an_advantage() {
    for (seed, tie_odds) in [(10, 0.0), (11, 0.3)] {
        let votes = votes(30_000, 0.5, tie_odds, 0.1, seed);
        let found = solve(&sided_graph(&votes), &Default::default()).unwrap();
        let estimates = found.estimates;
        assert!((estimates.lapse_rate - 0.1).abs() < 0.04, "{estimates:?}");
        assert!((estimates.side_advantage - 0.5).abs() < 0.1, "{estimates:?}");
        let product: f64 =
            found.solution.scores.iter().zip(0..).map(|(s, item)| s * truth(item)).sum();
        let slope = product / (0..ITEMS as u32).map(|item| truth(item).powi(2)).sum::<f64>();
        assert!((0.9..1.1).contains(&slope), "{slope}: {estimates:?}");
        let given = BradleyTerryOptions { lapse_rate: Some(0.1), ..Default::default() };
        let given = solve(&sided_graph(&votes), &given).unwrap().estimates;
        assert_eq!((given.lapse_rate, given.lapse_gain), (0.1, 0.0));
        assert!((given.side_advantage - 0.5).abs() < 0.1, "{given:?}");
    }
    let clean = votes(30_000, 0.5, 0.3, 0.0, 12);
    let estimates = solve(&sided_graph(&clean), &Default::default()).unwrap().estimates;
    assert_eq!(estimates.lapse_rate, 0.0, "{estimates:?}");
}

#[test]
fn sides_of_annotators_are_those_of_pairs() {
    let votes = votes(3000, 0.5, 0.3, 0.0, 13);
    let annotated: Vec<Comparison> =
        votes.iter().zip(0..).map(|(v, k)| Comparison { annotator: Some(k % 7), ..*v }).collect();
    let annotated = AnnotatorVotes::from_comparisons(7, &annotated, true);
    assert_eq!(annotated.side_counts(ITEMS), Some(SideCounts::of_comparisons(ITEMS, &votes)));
}

#[test]
fn winners_on_the_left_are_no_advantage() {
    let mut votes = votes(2000, 0.0, 0.2, 0.0, 14);
    for vote in votes.iter_mut().filter(|vote| vote.y < 0.0) {
        *vote = Comparison::new(vote.right, vote.left, 1.0);
    }
    let found = solve(&sided_graph(&votes), &Default::default()).unwrap();
    assert_eq!(found.estimates.side_advantage, 0.0);
}

#[test]
fn sides_that_do_not_fit_the_votes_do_no_harm() {
    let (some, other) = (votes(500, 0.5, 0.3, 0.0, 15), votes(9000, 0.5, 0.3, 0.0, 16));
    let graph = graph_of(&some).with_sides(Some(SideCounts::of_comparisons(ITEMS, &other)));
    let found = solve(&graph, &Default::default()).unwrap();
    assert!(found.solution.scores.iter().all(|score| score.is_finite()));
    let none = graph_of(&some).with_sides(Some(SideCounts::default()));
    assert!(solve(&none, &Default::default()).unwrap().estimates.side_advantage.is_finite());
}
