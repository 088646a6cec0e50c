//! Huber-LASSO: optimality along paths, a slow reference, invariances, and bad input.

use crate::shapes;
use crate::shapes::largest_difference;
use crate::studies;
use crate::studies::residuals;
use hodgerank::laplacian::{Backend, BackendChoice};
use hodgerank::path::{Change, Path, StopAt};
use hodgerank::simulate::SimulateOptions;
use hodgerank::solve::huber_lasso::{self, Knots};
use hodgerank::solve::{HuberLassoOptions, L2Options, Status, l2};
use hodgerank::{Comparison, ComparisonGraph, Error, Groups};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const EXACT: Knots = Knots::Exact { max_knots: 100_000 };

/// Tighter than the default, so that scores can be compared.
fn options(knots: Knots) -> HuberLassoOptions {
    HuberLassoOptions { knots, tolerance: 1e-12, ..HuberLassoOptions::default() }
}

fn full_path(graph: &ComparisonGraph, knots: Knots) -> Path {
    let path = huber_lasso::compute_path(graph, &options(knots), StopAt::End).unwrap();
    assert_eq!(path.status, Status::Complete);
    path
}

/// max|XᵀWψ(r)| over λ_max · largest degree.
fn kkt(graph: &ComparisonGraph, theta: &[f64], lambda: f64, lambda_max: f64) -> f64 {
    let psi: Vec<f64> = residuals(graph, theta).iter().map(|r| r.clamp(-lambda, lambda)).collect();
    let slope = graph.divergence(&psi).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let mut degree = vec![0.0; graph.items()];
    let groups = graph.groups();
    for g in 0..groups.len() {
        degree[groups.left[g] as usize] += groups.weight[g];
        degree[groups.right[g] as usize] += groups.weight[g];
    }
    let scale = lambda_max * degree.iter().copied().fold(0.0, f64::max);
    if scale > 0.0 { slope / scale } else { slope }
}

/// Whether the optimum is unique: the groups strictly inside ±λ connect what all groups connect.
/// (Opposite votes with equal counts can make the objective constant in a direction.)
fn is_unique(graph: &ComparisonGraph, theta: &[f64], lambda: f64) -> bool {
    let inside = residuals(graph, theta).into_iter().map(|r| r.abs() < lambda * (1.0 - 1e-6));
    let weight: Vec<f64> = inside.map(|inside| f64::from(u8::from(inside))).collect();
    let inside = ComparisonGraph::new(graph.items(), graph.groups().reweighted(&weight)).unwrap();
    inside.components().len() == graph.components().len()
}

/// Asserts that both scores are optimal, and equal if the optimum is unique; returns whether it is.
fn assert_same(name: &str, graph: &ComparisonGraph, a: &[f64], b: &[f64], lambda: f64) -> bool {
    let [at_a, at_b] = [a, b].map(|theta| huber_lasso::objective(graph, theta, lambda));
    assert!((at_a - at_b).abs() <= 1e-10 * (1e-3 + at_a), "{name}: {at_a}, {at_b} at {lambda}");
    let unique = is_unique(graph, a, lambda);
    let difference = largest_difference(a, b);
    assert!(!unique || difference < 1e-8, "{name}: {difference:e} at {lambda}");
    unique
}

/// Asserts optimality, flagged groups and mean zero at all knots.
fn assert_path(name: &str, graph: &ComparisonGraph, path: &Path) {
    let lambda_max = path.knots[0];
    assert_eq!(path.snapshot_knots().len(), path.knots.len(), "{name}: small enough for all");
    for (s, &lambda) in path.knots.iter().enumerate() {
        let theta = path.snapshot(s);
        let kkt = kkt(graph, theta, lambda, lambda_max);
        assert!(kkt < 1e-8, "{name}: {kkt:e} at knot {s}, λ = {lambda}");
        for members in graph.components().iter() {
            let sum: f64 = members.iter().map(|&i| theta[i as usize]).sum();
            assert!(sum.abs() < 1e-9 * members.len() as f64, "{name}: mean");
        }
    }
    let mut flagged = vec![false; graph.groups().len()];
    let mut events = path.events.iter().peekable();
    for (knot, &lambda) in path.knots.iter().enumerate() {
        let mut last = f64::INFINITY;
        while let Some(event) = events.next_if(|event| event.knot as usize == knot) {
            flagged[event.group as usize] = event.change != Change::Left;
            if let Change::Entered(r) = event.change {
                let found = residuals(graph, path.snapshot(knot))[event.group as usize];
                assert!((r - found).abs() < 1e-9 * lambda_max, "{name}: residual of an entry");
                assert!(r.abs() <= last, "{name}: larger residuals come first");
                last = r.abs();
            }
        }
        for (g, r) in residuals(graph, path.snapshot(knot)).iter().enumerate() {
            let beyond = r.abs() - lambda;
            if beyond.abs() > 1e-7 * lambda_max + 1e-12 {
                assert_eq!(
                    flagged[g],
                    beyond > 0.0,
                    "{name}: group {g} at knot {knot}, {beyond:e}"
                );
            }
        }
    }
}

/// ±1 votes that follow an order, some of them flipped, with counts from 1 to `max_count`.
fn binary(items: u32, votes: usize, flips: f64, max_count: u64, seed: u64) -> ComparisonGraph {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let vote = |_| {
        let i = rng.random_range(0..items);
        let j = (i + rng.random_range(1..items)) % items;
        let y = if (i > j) == rng.random_bool(flips) { -1.0 } else { 1.0 };
        Comparison::new(i, j, y).with_count(rng.random_range(1..=max_count))
    };
    shapes::graph(items as usize, &(0..votes).map(vote).collect::<Vec<_>>())
}

fn cases() -> Vec<(&'static str, ComparisonGraph)> {
    let mut cases = shapes::all();
    cases.push(("binary", binary(30, 400, 0.1, 1, 1)));
    cases.push(("binary, weighted", binary(25, 300, 0.2, 30, 2)));
    cases.push(("binary, sparse", binary(60, 90, 0.2, 1, 3)));
    cases.push(("binary, many on a pair", binary(5, 400, 0.3, 1, 4)));
    let tournament: Vec<_> = shapes::complete(9)
        .iter()
        .map(|&(i, j)| Comparison::new(i, j, if (j - i) <= 4 { 1.0 } else { -1.0 }))
        .collect();
    cases.push(("a tournament without a winner", shapes::graph(9, &tournament)));
    let cycle: Vec<_> = (0..7).map(|i| Comparison::new(i, (i + 1) % 7, 1.0)).collect();
    cases.push(("one cycle", shapes::graph(7, &cycle)));
    let cube = |v: u32| (0..3).map(move |bit| (v, v ^ (1 << bit)));
    let cube: Vec<_> = (0..8).flat_map(cube).filter(|(i, j)| i < j).collect();
    let cube: Vec<_> = cube
        .iter()
        .enumerate()
        .map(|(k, &(i, j))| Comparison::new(i, j, f64::from(k as u32 % 3) - 1.0))
        .collect();
    cases.push(("cube, ties among votes", shapes::graph(8, &cube)));
    cases
}

#[test]
fn grid_paths_are_optimal() {
    for (name, graph) in cases() {
        for backend in [Backend::Dense, Backend::ConjugateGradient] {
            let backend = BackendChoice::Fixed(backend);
            let options = HuberLassoOptions { backend, ..HuberLassoOptions::default() };
            let path = huber_lasso::compute_path(&graph, &options, StopAt::End).unwrap();
            assert_eq!(path.status, Status::Complete, "{name}");
            assert_path(name, &graph, &path);
        }
    }
    let large = shapes::voted(3000, &shapes::random(3000, 40_000, 5), 6);
    let mesh = shapes::voted(2500, &shapes::grid(50, 50), 7);
    for (name, graph) in [("several tasks", large), ("mesh", mesh)] {
        let options = HuberLassoOptions::default();
        assert_path(
            name,
            &graph,
            &huber_lasso::compute_path(&graph, &options, StopAt::End).unwrap(),
        );
    }
}

#[test]
fn exact_paths_are_optimal() {
    for (name, graph) in cases() {
        let path = full_path(&graph, EXACT);
        assert_path(name, &graph, &path);
        let last = *path.knots.last().unwrap();
        assert!(path.knots.len() == 1 || last == 0.0, "{name}: ends at {last}");
    }
}

#[test]
fn grid_and_exact_agree() {
    let mut unique = 0;
    for (name, graph) in cases() {
        let (grid, exact) = (full_path(&graph, Knots::default()), full_path(&graph, EXACT));
        assert_eq!(grid.knots[0], exact.knots[0]);
        for (s, &lambda) in grid.knots.iter().enumerate() {
            let between = exact.scores_at(lambda);
            unique += usize::from(assert_same(name, &graph, grid.snapshot(s), &between, lambda));
        }
    }
    assert!(unique > 700, "{unique}");
}

/// The paper's Proposition 1 with dense matrices: coordinate descent for the LASSO in γ on the
/// projection on cycles, one row for each vote, then least squares on y − γ.
fn proposition_1(items: usize, votes: &[Comparison], lambda: f64) -> Vec<f64> {
    let rows: Vec<Comparison> =
        votes.iter().flat_map(|v| std::iter::repeat_n(v.with_count(1), v.count as usize)).collect();
    let m = rows.len();
    let fit = |y: &[f64]| {
        let votes: Vec<_> = rows.iter().zip(y).map(|(v, &y)| Comparison { y, ..*v }).collect();
        shapes::reference_scores(&shapes::graph(items, &votes), 0.0)
    };
    let column = |k: usize| {
        let unit: Vec<f64> = (0..m).map(|l| f64::from(u8::from(l == k))).collect();
        let theta = fit(&unit);
        let x = |l: usize| theta[rows[l].left as usize] - theta[rows[l].right as usize];
        (0..m).map(|l| unit[l] - x(l)).collect::<Vec<f64>>()
    };
    let cycles: Vec<Vec<f64>> = (0..m).map(column).collect();
    let mut gamma = vec![0.0; m];
    // The residual of the projected problem, Π(y − γ).
    let mut left: Vec<f64> =
        (0..m).map(|l| (0..m).map(|k| cycles[k][l] * rows[k].y).sum()).collect();
    for _ in 0..200_000 {
        let mut moved = 0.0_f64;
        for k in 0..m {
            let size = cycles[k][k];
            if size < 1e-12 {
                continue;
            }
            let pull = left[k] + size * gamma[k];
            let next = (pull - pull.clamp(-lambda, lambda)) / size;
            let step = next - gamma[k];
            moved = moved.max(step.abs());
            gamma[k] = next;
            left.iter_mut().zip(&cycles[k]).for_each(|(left, c)| *left -= step * c);
        }
        if moved < 1e-14 {
            break;
        }
    }
    fit(&rows.iter().zip(&gamma).map(|(v, g)| v.y - g).collect::<Vec<f64>>())
}

#[test]
fn results_match_proposition_1_of_the_paper() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut unique = 0;
    for (items, edges) in [(6, 14), (9, 25), (12, 30)] {
        let edges = shapes::random(items, edges, u64::from(items));
        let vote = |&(i, j): &(u32, u32)| {
            Comparison::new(i, j, rng.random_range(-2.0..2.0)).with_count(rng.random_range(1..=3))
        };
        let votes: Vec<_> = edges.iter().map(vote).collect();
        let graph = shapes::graph(items as usize, &votes);
        let exact = full_path(&graph, EXACT);
        for share in [0.9, 0.6, 0.3, 0.1] {
            let lambda = share * exact.knots[0];
            let slow = proposition_1(items as usize, &votes, lambda);
            let fast = huber_lasso::solve_at(&graph, lambda, None, &options(EXACT)).unwrap();
            assert_eq!(fast.status, Status::Solved);
            unique += usize::from(assert_same("newton", &graph, &fast.scores, &slow, lambda));
            assert_same("homotopy", &graph, &exact.scores_at(lambda), &slow, lambda);
        }
    }
    assert!(unique >= 6, "{unique}");
}

#[test]
fn consistent_votes_have_a_path_of_one_knot() {
    let votes: Vec<_> = shapes::complete(6)
        .iter()
        .map(|&(i, j)| Comparison::new(i, j, f64::from(i) - f64::from(j)))
        .collect();
    for knots in [Knots::default(), EXACT] {
        let path = full_path(&shapes::graph(6, &votes), knots);
        assert_eq!((path.knots.len(), path.events.len()), (1, 0));
        assert_eq!(full_path(&shapes::voted(4, &[], 1), knots).knots, [0.0]);
        assert!(full_path(&shapes::voted(0, &[], 1), knots).last_scores().is_empty());
    }
}

#[test]
fn one_wrong_vote_among_many_is_the_first_to_enter() {
    let mut votes: Vec<_> = shapes::complete(12)
        .iter()
        .map(|&(i, j)| Comparison::new(i, j, f64::from(j) - f64::from(i)))
        .collect();
    votes[17].y -= 5.0;
    let graph = shapes::graph(12, &votes);
    let wrong = graph.groups().find(votes[17].left, votes[17].right, votes[17].y).unwrap();
    for knots in [Knots::default(), EXACT] {
        let entries = full_path(&graph, knots).entries();
        assert_eq!(entries[0].group as usize, wrong);
        assert!(entries[0].residual.abs() > 3.0);
        let theta = huber_lasso::solve_at(&graph, 1e-3, None, &options(knots)).unwrap().scores;
        let gamma = huber_lasso::outliers(&graph, &theta, 1e-3);
        assert!((gamma[wrong].abs() - 5.0).abs() < 0.1);
        assert!(gamma.iter().enumerate().all(|(g, x)| g == wrong || x.abs() < 0.1));
    }
}

#[test]
fn paths_stop_where_asked() {
    let graph = binary(30, 400, 0.1, 3, 10);
    for knots in [Knots::default(), EXACT] {
        let whole = full_path(&graph, knots);
        let value = 0.37 * whole.knots[0];
        let to_value =
            huber_lasso::compute_path(&graph, &options(knots), StopAt::Value(value)).unwrap();
        assert_eq!(*to_value.knots.last().unwrap(), value);
        let alone = huber_lasso::solve_at(&graph, value, None, &options(knots)).unwrap();
        assert_same("value", &graph, to_value.last_scores(), &alone.scores, value);
        if knots == EXACT {
            assert_eq!(to_value.flagged_at(value), whole.flagged_at(value));
        }
        let flagged =
            huber_lasso::compute_path(&graph, &options(knots), StopAt::Flagged(20.0)).unwrap();
        let votes = |path: &Path| -> f64 {
            path.entries().iter().map(|e| graph.groups().weight[e.group as usize]).sum()
        };
        assert!(votes(&flagged) >= 20.0 && flagged.knots.len() < whole.knots.len());
        assert_eq!(flagged.knots[..], whole.knots[..flagged.knots.len()]);
        let above = StopAt::Value(2.0 * whole.knots[0]);
        assert_eq!(
            huber_lasso::compute_path(&graph, &options(knots), above).unwrap().knots.len(),
            1
        );
    }
    let cut =
        huber_lasso::compute_path(&graph, &options(Knots::Exact { max_knots: 5 }), StopAt::End)
            .unwrap();
    assert_eq!(cut.status, Status::IterationLimit);
}

#[test]
fn a_large_lambda_is_least_squares() {
    for (name, graph) in shapes::all() {
        let theta = huber_lasso::solve_at(&graph, 1e3, None, &options(EXACT)).unwrap().scores;
        let l2 = l2::solve(&graph, &L2Options::default()).unwrap().scores;
        assert!(largest_difference(&theta, &l2) < 1e-9, "{name}");
    }
}

#[test]
fn the_solution_does_not_depend_on_the_start() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for (name, graph) in cases() {
        let lambda_max = full_path(&graph, Knots::default()).knots[0].max(1e-3);
        for share in [0.5, 0.05, 1e-4] {
            let lambda = share * lambda_max;
            let far: Vec<f64> = (0..graph.items()).map(|_| rng.random_range(-50.0..50.0)).collect();
            let [a, b] = [None, Some(&far[..])].map(|warm| {
                let found = huber_lasso::solve_at(&graph, lambda, warm, &options(EXACT)).unwrap();
                assert_eq!(found.status, Status::Solved, "{name} {share}");
                huber_lasso::objective(&graph, &found.scores, lambda)
            });
            assert!((a - b).abs() <= 1e-8 * a, "{name}, {share}: {a} and {b}");
        }
    }
}

#[test]
fn bad_options_are_named() {
    let graph = binary(5, 30, 0.2, 1, 12);
    let good = HuberLassoOptions::default();
    assert!(good.validate().is_ok() && options(EXACT).validate().is_ok());
    let cases = [
        (HuberLassoOptions { tolerance: 0.0, ..good }, "tolerance"),
        (HuberLassoOptions { max_iterations: 0, ..good }, "max-iterations"),
        (options(Knots::Grid { count: 1, ratio: 0.1 }), "knots"),
        (options(Knots::Grid { count: 9, ratio: 1.0 }), "lambda-ratio"),
        (options(Knots::Grid { count: 9, ratio: f64::NAN }), "lambda-ratio"),
        (options(Knots::Exact { max_knots: 0 }), "knots"),
    ];
    for (options, name) in cases {
        let named = |error| matches!(error, Error::BadOption { option, .. } if option == name);
        assert!(
            named(huber_lasso::compute_path(&graph, &options, StopAt::End).unwrap_err()),
            "{name}"
        );
        assert!(named(huber_lasso::solve_at(&graph, 1.0, None, &options).unwrap_err()), "{name}");
    }
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = huber_lasso::solve_at(&graph, lambda, None, &good).unwrap_err();
        assert!(matches!(error, Error::BadOption { option: "lambda", .. }));
    }
    let huge = [Comparison::new(0, 1, f64::MAX).with_count(3)];
    let overflow =
        huber_lasso::compute_path(&shapes::graph(2, &huge), &good, StopAt::End).unwrap_err();
    assert!(matches!(overflow, Error::Overflow { .. }));
}

#[test]
fn results_do_not_depend_on_threads() {
    let graph = binary(800, 60_000, 0.2, 2, 13);
    let sparse = binary(1200, 3000, 0.1, 2, 15);
    let small = binary(600, 1500, 0.2, 2, 14);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let to = Knots::Exact { max_knots: 300 };
            let exact = huber_lasso::compute_path(&small, &options(to), StopAt::End).unwrap();
            // Sparse enough for the sampled factor.
            let sparse = full_path(&sparse, Knots::default());
            (full_path(&graph, Knots::default()), sparse, exact)
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(4));
}

fn any_votes() -> impl Strategy<Value = (usize, Vec<Comparison>)> {
    (3..14_u32).prop_flat_map(|items| {
        let vote = (0..items, 1..items, -4..=4_i32, 0.0..1.0, 1..9_u64).prop_map(
            move |(i, gap, y, noise, count)| {
                let y = f64::from(y) + noise;
                Comparison::new(i, (i + gap) % items, y).with_count(count)
            },
        );
        (Just(items as usize), prop::collection::vec(vote, 0..50))
    })
}

#[test]
fn flips_enter_first() {
    let exact = HuberLassoOptions {
        knots: Knots::Exact { max_knots: 10_000 },
        ..HuberLassoOptions::default()
    };
    let mut sum = 0.0;
    for seed in 0..20 {
        let options = SimulateOptions { flips: 0.05, seed, ..SimulateOptions::default() };
        let study = studies::simulated(&options);
        let path = huber_lasso::compute_path(&study.graph, &exact, StopAt::End).unwrap();
        sum += studies::auc(&study, &path);
    }
    assert!(sum / 20.0 >= 0.99, "{}", sum / 20.0);
}

proptest! {
    #[test]
    fn any_path_is_optimal((items, votes) in any_votes(), ties in any::<bool>()) {
        let round = |v: &Comparison| Comparison { y: v.y.floor(), ..*v };
        let votes: Vec<_> = if ties { votes.iter().map(round).collect() } else { votes };
        let graph = shapes::graph(items, &votes);
        let (grid, exact) = (full_path(&graph, Knots::default()), full_path(&graph, EXACT));
        assert_path("grid", &graph, &grid);
        assert_path("exact", &graph, &exact);
        for (s, &lambda) in grid.knots.iter().enumerate() {
            assert_same("both", &graph, grid.snapshot(s), &exact.scores_at(lambda), lambda);
        }
    }

    #[test]
    fn merging_counts_and_sides_do_not_matter((items, votes) in any_votes()) {
        let graph = shapes::graph(items, &votes);
        let before = full_path(&graph, Knots::default());
        let one_by_one: Vec<_> = votes
            .iter()
            .flat_map(|v| std::iter::repeat_n(v.with_count(1), v.count as usize))
            .collect();
        let apart = Groups::keep_apart(items, &one_by_one).unwrap().groups;
        let apart = full_path(&ComparisonGraph::new(items, apart).unwrap(), Knots::default());
        let mirror = |v: &Comparison| Comparison { left: v.right, right: v.left, y: -v.y, ..*v };
        let flipped: Vec<_> = votes.iter().map(mirror).collect();
        prop_assert_eq!(&full_path(&shapes::graph(items, &flipped), Knots::default()), &before);
        prop_assert_eq!(apart.knots.len(), before.knots.len());
        for (s, &lambda) in before.knots.iter().enumerate() {
            prop_assert!((apart.knots[s] - lambda).abs() < 1e-9);
            assert_same("apart", &graph, before.snapshot(s), apart.snapshot(s), lambda);
        }
    }

    #[test]
    fn new_names_move_scores_along((items, votes) in any_votes(), seed in any::<u64>()) {
        let mut order: Vec<u32> = (0..items as u32).collect();
        order.sort_by_key(|&i| (u64::from(i) + 1).wrapping_mul(seed | 1).rotate_left(17));
        let renamed: Vec<_> = votes
            .iter()
            .map(|v| Comparison { left: order[v.left as usize], right: order[v.right as usize], ..*v })
            .collect();
        for knots in [Knots::default(), EXACT] {
            let graph = shapes::graph(items, &votes);
            let before = full_path(&graph, knots);
            let after = full_path(&shapes::graph(items, &renamed), knots);
            for lambda in (1..10).map(|k| before.knots[0] * f64::from(k) / 10.0) {
                let after = after.scores_at(lambda);
                let moved: Vec<f64> = order.iter().map(|&i| after[i as usize]).collect();
                let before = before.scores_at(lambda);
                if knots == EXACT {
                    assert_same("renamed", &graph, &before, &moved, lambda);
                } else if is_unique(&graph, &before, lambda) {
                    // Between knots of a grid scores are approximate, with the same error.
                    prop_assert!(largest_difference(&before, &moved) < 1e-2);
                }
            }
        }
    }
}
