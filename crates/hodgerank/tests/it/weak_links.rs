//! Votes of weight 1 next to votes of weights up to 2⁵³: scores are right on both sides of a weak
//! link, or the status says that they are not.

use crate::shapes;
use crate::shapes::largest_difference;
use hodgerank::laplacian::{Backend, BackendChoice, FittedVotes, error_bound};
use hodgerank::solve::{L2Options, RidgeOptions, Solution, Status, l2, ridge};
use hodgerank::{Comparison, ComparisonGraph, Result};
use proptest::prelude::*;

const CHOICES: [BackendChoice; 4] = [
    BackendChoice::Auto,
    BackendChoice::Fixed(Backend::Dense),
    BackendChoice::Fixed(Backend::Sparse),
    BackendChoice::Fixed(Backend::ConjugateGradient),
];

fn solve(graph: &ComparisonGraph, a: f64, backend: BackendChoice) -> Result<Solution> {
    if a > 0.0 {
        let options = RidgeOptions { ridge: a, backend, ..RidgeOptions::default() };
        return ridge::solve(graph, &options);
    }
    l2::solve(graph, &L2Options { backend, ..L2Options::default() })
}

/// A sum with the rounding error of its last addition only (Neumaier).
fn exact_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut rest) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        rest += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + rest
}

/// The mean of the scores that each spanning tree implies, weighted by the product of the tree's
/// weights: another way to the same scores, without a subtraction of weights. For connected graphs.
fn scores_by_spanning_trees(graph: &ComparisonGraph, a: f64) -> Vec<f64> {
    let (groups, pairs, n) = (graph.groups(), graph.pairs(), graph.items());
    let mut edges: Vec<(usize, usize, f64, f64)> = Vec::new();
    for p in 0..pairs.len() {
        let range = pairs.first_group[p] as usize..pairs.first_group[p + 1] as usize;
        let flow = exact_sum(range.map(|g| groups.weight[g] * groups.y[g]));
        let (w, ends) = (pairs.weight[p], (pairs.left[p] as usize, pairs.right[p] as usize));
        edges.push((ends.0, ends.1, w, flow / w));
    }
    let ground = n;
    let nodes = if a > 0.0 { n + 1 } else { n };
    if a > 0.0 {
        edges.extend((0..n).map(|i| (i, ground, a, 0.0)));
    }
    let mut total = 0.0;
    let mut sums = vec![Vec::new(); n];
    for chosen in 0_u32..1 << edges.len() {
        if chosen.count_ones() as usize != nodes - 1 {
            continue;
        }
        let tree: Vec<_> =
            (0..edges.len()).filter(|e| chosen >> e & 1 == 1).map(|e| edges[e]).collect();
        if let Some(scores) = scores_of_tree(nodes, &tree) {
            let weight: f64 = tree.iter().map(|edge| edge.2).product();
            total += weight;
            let zero = if a > 0.0 { scores[ground] } else { scores[0] };
            (0..n).for_each(|i| sums[i].push(weight * (scores[i] - zero)));
        }
    }
    let mut scores: Vec<f64> =
        sums.into_iter().map(|terms| exact_sum(terms.into_iter()) / total).collect();
    if a == 0.0 {
        graph.components().centre(&mut scores);
    }
    scores
}

/// The scores with node 0 at zero; none if the edges are not a spanning tree.
fn scores_of_tree(nodes: usize, tree: &[(usize, usize, f64, f64)]) -> Option<Vec<f64>> {
    let mut scores = vec![None; nodes];
    scores[0] = Some(0.0);
    for _ in 0..nodes {
        for &(i, j, _, y) in tree {
            match (scores[i], scores[j]) {
                (Some(left), None) => scores[j] = Some(left - y),
                (None, Some(right)) => scores[i] = Some(right + y),
                _ => {}
            }
        }
    }
    scores.into_iter().collect()
}

fn spread(scores: &[f64]) -> f64 {
    let (low, high) = scores.iter().fold((0.0_f64, 0.0_f64), |(l, h), s| (l.min(*s), h.max(*s)));
    high - low
}

#[test]
fn every_backend_sees_a_vote_next_to_heavy_ones() {
    for heavy in [1_000_000_u64, 1_000_000_000_000, 1 << 53] {
        let votes = [
            Comparison::new(0, 1, 1.0).with_count(heavy),
            Comparison::new(1, 2, 1.0),
            Comparison::new(0, 2, -1.0),
        ];
        let graph = shapes::graph(3, &votes);
        let expected = scores_by_spanning_trees(&graph, 0.0);
        for choice in CHOICES {
            let solution = match solve(&graph, 0.0, choice) {
                Err(_) if choice == BackendChoice::Fixed(Backend::Sparse) => continue,
                solution => solution.unwrap(),
            };
            let error = largest_difference(&solution.scores, &expected);
            assert_eq!(solution.status, Status::Solved, "{heavy}, {choice:?}");
            assert!(error < 1e-12, "{heavy}, {choice:?}: {error:e}, {:?}", solution.scores);
            assert!(solution.info.error_bound.unwrap() >= error / spread(&expected));
        }
    }
}

/// Two clusters of heavy votes, connected by three votes of weight 1 that say 1, 2 and 3.
fn two_clusters(size: u32, pairs: usize, heavy: u64) -> (ComparisonGraph, Vec<f64>) {
    let truth = |i: u32| f64::from(i * 7 % 11) / 8.0 + if i < size { 2.0 } else { 0.0 };
    let mut votes = Vec::new();
    for offset in [0, size] {
        let edges = shapes::random(size, pairs, 3);
        for (i, j) in edges.into_iter().chain(shapes::path(size)) {
            let (i, j) = (i + offset, j + offset);
            votes.push(Comparison::new(i, j, truth(i) - truth(j)).with_count(heavy));
        }
    }
    for k in 0..3 {
        let (i, j) = (k, size + k);
        let y = truth(i) - truth(j) + f64::from(k) - 1.0;
        votes.push(Comparison::new(i, j, y));
    }
    let graph = shapes::graph(2 * size as usize, &votes);
    let mut expected: Vec<f64> = (0..2 * size).map(truth).collect();
    graph.components().centre(&mut expected);
    (graph, expected)
}

#[test]
fn clusters_with_few_votes_between_them_are_placed_correctly() {
    for (size, pairs, choices) in [(150, 600, &CHOICES[..]), (1500, 6000, &CHOICES[3..])] {
        for heavy in [100_000_000, 1_000_000_000_000] {
            let (graph, expected) = two_clusters(size, pairs, heavy);
            for &choice in choices {
                let solution = match solve(&graph, 0.0, choice) {
                    Err(_) if choice == BackendChoice::Fixed(Backend::Sparse) => continue,
                    solution => solution.unwrap(),
                };
                let error = largest_difference(&solution.scores, &expected);
                assert_eq!(solution.status, Status::Solved, "{size}, {heavy}, {choice:?}");
                assert!(error < 1e-7, "{size}, {heavy}, {choice:?}: {error:e}");
            }
        }
    }
}

#[test]
fn the_bound_shows_scores_that_are_wrong_across_a_weak_link() {
    let (graph, mut scores) = two_clusters(40, 150, 1 << 40);
    let weight = &graph.groups().weight;
    let bound = |scores: &[f64]| {
        error_bound(&graph, &FittedVotes { weight, force: None, shift: 0.0 }, scores).unwrap()
    };
    assert!(bound(&scores).is_small(), "{:?}", bound(&scores));
    assert_eq!(bound(&scores).components, 1);
    // One cluster is moved by a thousandth: invisible in the relative residual.
    scores[..40].iter_mut().for_each(|score| *score += 1e-3);
    let moved = bound(&scores);
    assert!(!moved.is_small() && moved.relative > 1e-3 / spread(&scores), "{moved:?}");
    assert!(moved.relative < 10.0 * 1e-3 / spread(&scores), "{moved:?}");
    let nan = vec![f64::NAN; 80];
    assert!(!bound(&nan).is_small());
}

#[test]
fn removed_votes_can_leave_several_components() {
    let (graph, scores) = two_clusters(40, 150, 7);
    let groups = graph.groups();
    let is_link = |g: usize| groups.left[g] < 40 && groups.right[g] >= 40;
    let weight: Vec<f64> =
        (0..groups.len()).map(|g| if is_link(g) { 0.0 } else { groups.weight[g] }).collect();
    let votes = FittedVotes { weight: &weight, force: None, shift: 0.0 };
    let bound = error_bound(&graph, &votes, &scores).unwrap();
    assert_eq!(bound.components, 2);
    assert!(bound.is_small(), "{bound:?}");
}

/// Up to 5 items, weights from 1 to 2⁵³ with every order of magnitude equally likely.
fn extreme_votes() -> impl Strategy<Value = (usize, Vec<Comparison>)> {
    (2..6_u32).prop_flat_map(|items| {
        let count = (0..=53_u32, any::<u64>())
            .prop_map(|(bits, more)| (1_u64 << bits) + more % (1 << bits.min(52)) / 2);
        let vote =
            (0..items, 1..items, -4.0..4.0, count.clone()).prop_map(move |(i, gap, y, count)| {
                Comparison::new(i, (i + gap) % items, y).with_count(count)
            });
        let chain = prop::collection::vec((-4.0..4.0, count), items as usize - 1);
        (Just(items as usize), prop::collection::vec(vote, 0..5), chain).prop_map(
            |(items, mut votes, chain)| {
                for (i, (y, count)) in (0..).zip(chain) {
                    votes.push(Comparison::new(i, i + 1, y).with_count(count));
                }
                (items, votes)
            },
        )
    })
}

proptest! {
    #[test]
    fn extreme_weights_are_solved_or_reported(
        (items, votes) in extreme_votes(),
        a in prop_oneof![Just(0.0), Just(1.0), Just(1e-6)],
    ) {
        let graph = shapes::graph(items, &votes);
        let expected = scores_by_spanning_trees(&graph, a);
        let scale = spread(&expected).max(1e-6);
        for choice in CHOICES {
            let solved = solve(&graph, a, choice);
            let is_exact =
                matches!(choice, BackendChoice::Auto | BackendChoice::Fixed(Backend::Dense));
            let Ok(solution) = solved else {
                prop_assert!(!is_exact, "{choice:?}");
                continue;
            };
            let error = largest_difference(&solution.scores, &expected);
            if is_exact {
                prop_assert_eq!(solution.status, Status::Solved, "{:?}: {:?}", choice, solution.info);
                prop_assert!(error <= 1e-9 * scale, "{choice:?}: {error:e} of {scale}");
            }
            if solution.status == Status::Solved {
                prop_assert!(error <= 1e-5 * scale, "{choice:?}: {error:e} of {scale}");
                let bound = solution.info.error_bound.unwrap();
                prop_assert!(error <= 2.0 * bound * scale + 1e-13, "{choice:?}: {error:e}, {bound:e}");
            }
        }
    }
}
