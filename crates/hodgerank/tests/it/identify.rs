//! The conditions of the theorems against their m × m definitions, known graphs and each other.

use crate::shapes;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};
use hodgerank::identify::{
    Accuracy, ConditionOptions, Conditions, IdentifiableOptions, algebraic_connectivity,
    conditions, identifiable_share, resistances,
};
use hodgerank::{Comparison, ComparisonGraph, Groups};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// All quantities by their definitions, from one row per vote.
struct Dense {
    rho: f64,
    c_min: f64,
    irrepresentable: f64,
    mu: f64,
    inverse_norm: f64,
}

fn dense(graph: &ComparisonGraph, flagged: &[f64]) -> Dense {
    let groups = graph.groups();
    let mut rows = Vec::new();
    for (g, &flagged) in flagged.iter().enumerate() {
        for vote in 0..groups.weight[g] as usize {
            rows.push((groups.left[g] as usize, groups.right[g] as usize, (vote as f64) < flagged));
        }
    }
    let (m, n) = (rows.len(), graph.items());
    let x = Mat::from_fn(m, n, |k, i| {
        f64::from(i8::from(rows[k].0 == i)) - f64::from(i8::from(rows[k].1 == i))
    });
    // X L† Xᵀ from the singular vectors of X.
    let svd = x.thin_svd().unwrap();
    let kept: Vec<usize> = (0..n.min(m)).filter(|&k| svd.S()[k] > 1e-9).collect();
    let u = svd.U();
    let hat = Mat::from_fn(m, m, |a, b| kept.iter().map(|&k| u[(a, k)] * u[(b, k)]).sum::<f64>());
    let gram = Mat::from_fn(m, m, |a, b| f64::from(u8::from(a == b)) - hat[(a, b)]);
    let (inside, outside): (Vec<usize>, Vec<usize>) = (0..m).partition(|&k| rows[k].2);
    let gram_s = Mat::from_fn(inside.len(), inside.len(), |a, b| gram[(inside[a], inside[b])]);
    let inverse = gram_s.llt(Side::Lower).unwrap().inverse();
    let cross = Mat::from_fn(outside.len(), inside.len(), |a, b| gram[(outside[a], inside[b])]);
    let row_sum = |matrix: &Mat<f64>| -> f64 {
        let sum = |k: usize| matrix.row(k).iter().map(|v| v.abs()).sum::<f64>();
        (0..matrix.nrows()).map(sum).fold(0.0, f64::max)
    };
    let all = |a: usize| (0..m).map(move |b| (a, b));
    Dense {
        rho: (0..m).flat_map(all).map(|at| hat[at]).fold(0.0, f64::max),
        c_min: gram_s.self_adjoint_eigenvalues(Side::Lower).unwrap()[0],
        irrepresentable: row_sum(&(cross * &inverse)),
        mu: outside.iter().map(|&k| gram[(k, k)]).fold(0.0, f64::max),
        inverse_norm: row_sum(&inverse),
    }
}

/// A graph with counts from 1 to 3, and flagged votes without which it stays connected.
fn study(items: u32, edges: usize, share: f64, seed: u64) -> (ComparisonGraph, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let ring = (0..items).map(|i| (i, (i + 1) % items));
    let edges: Vec<_> = ring.chain(shapes::random(items, edges, seed)).collect();
    let mut vote = |&(i, j): &(u32, u32)| {
        let y = if rng.random_bool(0.7) { 1.0 } else { -1.0 };
        Comparison::new(i, j, y).with_count(rng.random_range(1..=3))
    };
    let votes: Vec<_> = edges.iter().map(&mut vote).collect();
    let graph = shapes::graph(items as usize, &votes);
    let weight = &graph.groups().weight;
    loop {
        let flag =
            |&w: &f64| if rng.random_bool(share) { rng.random_range(1.0..=w).floor() } else { 0.0 };
        let mut flag = flag;
        let flagged: Vec<f64> = weight.iter().map(&mut flag).collect();
        let trusted: Vec<f64> = weight.iter().zip(&flagged).map(|(w, f)| w - f).collect();
        let rest =
            ComparisonGraph::new(graph.items(), graph.groups().reweighted(&trusted)).unwrap();
        if flagged.iter().sum::<f64>() > 0.0 && rest.components().len() == 1 {
            return (graph, flagged);
        }
    }
}

fn found(graph: &ComparisonGraph, flagged: &[f64], options: &ConditionOptions) -> Conditions {
    let resistances = resistances(graph).unwrap();
    conditions(graph, flagged, &resistances, options).unwrap().unwrap()
}

#[track_caller]
fn close(fast: f64, dense: f64) {
    assert!((fast - dense).abs() <= 1e-8 * dense.abs().max(1.0), "{fast} {dense}");
}

#[test]
fn results_match_the_definitions() {
    for (seed, items, edges, share) in
        [(1, 5, 6, 0.2), (2, 12, 40, 0.1), (3, 12, 60, 0.3), (4, 30, 150, 0.15), (5, 60, 200, 0.1)]
    {
        let (graph, flagged) = study(items, edges, share, seed);
        let dense = dense(&graph, &flagged);
        let fast = found(&graph, &flagged, &ConditionOptions::default());
        close(resistances(&graph).unwrap().largest.0, dense.rho);
        close(fast.c_min, dense.c_min);
        close(fast.irrepresentable, dense.irrepresentable);
        close(fast.mu, dense.mu);
        close(fast.inverse_norm, dense.inverse_norm);
        assert_eq!(fast.accuracy, Accuracy::Exact);
    }
}

#[test]
fn incoherence_implies_the_other_conditions_with_its_constants() {
    // Complete graph with 40 votes per pair: ρ = 2/(40 n).
    let edges: Vec<_> = (0..12).flat_map(|i| (i + 1..12).map(move |j| (i, j))).collect();
    let votes: Vec<_> =
        edges.iter().map(|&(i, j)| Comparison::new(i, j, 1.0).with_count(40)).collect();
    let graph = shapes::graph(12, &votes);
    let rho = resistances(&graph).unwrap().largest.0;
    close(rho, 2.0 / (40.0 * 12.0));
    let s = (1.0 / (2.0 * rho)).ceil() - 1.0;
    let mut flagged = vec![0.0; graph.groups().len()];
    (0..s as usize).for_each(|k| flagged[(7 * k) % 66] += 1.0);
    let fast = found(&graph, &flagged, &ConditionOptions::default());
    assert!(fast.c_min >= 1.0 - s * rho - 1e-12 && fast.c2());
    assert!(fast.eta() >= (1.0 - 2.0 * s * rho) / (1.0 - s * rho) - 1e-12);
}

#[test]
fn sketches_are_close_lower_bounds() {
    let (graph, flagged) = study(60, 400, 0.1, 9);
    let exact = found(&graph, &flagged, &ConditionOptions::default());
    let sketched =
        found(&graph, &flagged, &ConditionOptions { max_work: 0.0, ..Default::default() });
    let Accuracy::Sketched { relative_error, .. } = sketched.accuracy else {
        panic!("no work was allowed for the exact way");
    };
    for (sketch, exact) in [
        (sketched.irrepresentable, exact.irrepresentable),
        (sketched.inverse_norm, exact.inverse_norm),
    ] {
        assert!(
            sketch <= exact + 1e-9 && sketch >= (1.0 - relative_error) * exact,
            "{sketch} {exact}"
        );
    }
}

#[test]
fn sketched_resistances_obey_foster_and_find_the_largest() {
    // A ring of 2,500 items with a shortcut; without it an edge of the ring has R = (n − 1)/n.
    let n = 2500;
    let mut edges: Vec<_> = (0..n).map(|i| (i, (i + 1) % n)).collect();
    edges.push((0, 100));
    let votes: Vec<_> = edges.iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect();
    let graph = shapes::graph(n as usize, &votes);
    let found = resistances(&graph).unwrap();
    assert!(matches!(found.accuracy, Accuracy::Sketched { .. }));
    let foster: f64 = found.pairs.iter().zip(&graph.pairs().weight).map(|(r, w)| r * w).sum();
    assert!((foster / f64::from(n - 1) - 1.0).abs() < 0.1, "{foster}");
    // Outside the shortcut the rest of the ring is 2,399 edges in series with 100 ∥ 1.
    let other_way = f64::from(n - 101) + 100.0 / 101.0;
    close(found.largest.0, other_way / (1.0 + other_way));
}

#[test]
fn connectivity_of_known_graphs() {
    let complete: Vec<_> = (0..30).flat_map(|i| (i + 1..30).map(move |j| (i, j))).collect();
    let path: Vec<_> = (1..50).map(|i| (i - 1, i)).collect();
    let star: Vec<_> = (1..20).map(|i| (0, i)).collect();
    let path_value = 2.0 - 2.0 * (std::f64::consts::PI / 50.0).cos();
    let with_small_part: Vec<_> = path.iter().copied().chain([(50, 51)]).collect();
    for (items, edges, value) in [
        (30, complete, 30.0),
        (50, path, path_value),
        (20, star, 1.0),
        (52, with_small_part, path_value),
    ] {
        let votes: Vec<_> = edges.iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect();
        let found = algebraic_connectivity(&shapes::graph(items, &votes)).unwrap().unwrap();
        assert!(found.converged);
        close(found.value, value);
    }
    assert!(algebraic_connectivity(&shapes::graph(3, &[])).unwrap().is_none());
}

#[test]
fn outliers_that_cut_the_graph_fail_the_first_condition() {
    let votes = [(0, 1), (1, 2), (2, 0), (2, 3)].map(|(i, j)| Comparison::new(i, j, 1.0));
    let graph = shapes::graph(4, &votes);
    let bridge = graph.groups().find(2, 3, 1.0).unwrap();
    let mut flagged = vec![0.0; 4];
    flagged[bridge] = 1.0;
    let cut = found(&graph, &flagged, &ConditionOptions::default());
    assert!(!cut.c1() && !cut.c2() && !cut.c3() && cut.lambda_bar.is_none());
}

#[test]
fn no_outlier_and_no_cycle_have_no_conditions() {
    let tree: Vec<_> =
        shapes::tree(9, 1).iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect();
    let graph = shapes::graph(9, &tree);
    let r = resistances(&graph).unwrap();
    assert!(conditions(&graph, &[1.0; 8], &r, &ConditionOptions::default()).unwrap().is_none());
    assert_eq!(identifiable_share(&graph, &IdentifiableOptions::default()).unwrap().share, 0.0);
    let (graph, flagged) = study(8, 20, 0.2, 1);
    let nothing = vec![0.0; flagged.len()];
    let r = resistances(&graph).unwrap();
    assert!(conditions(&graph, &nothing, &r, &ConditionOptions::default()).unwrap().is_none());
}

#[test]
fn bounds_follow_the_theorems() {
    let (graph, flagged) = study(10, 300, 0.02, 3);
    let options = ConditionOptions { sigma: Some(0.5), ..Default::default() };
    let limit = found(&graph, &flagged, &options);
    assert!(limit.c1() && limit.c2());
    let m = graph.groups().votes();
    let lambda = 2.0 * 0.5 * (limit.mu * m.ln()).sqrt() / limit.eta();
    close(limit.lambda_bar.unwrap(), lambda);
    close(limit.tau_bar.unwrap(), 1.0 / lambda);
    let with = |kappa| found(&graph, &flagged, &ConditionOptions { kappa: Some(kappa), ..options });
    // The paper: τ̄λ̄ tends to 1 as κ grows, and the theorem says nothing for small κ.
    assert!(with(1e-3).tau_bar.is_none());
    let products: Vec<f64> =
        [1e2, 1e4, 1e8].iter().map(|&k| with(k).tau_bar.unwrap() * lambda).collect();
    assert!(products.is_sorted() && products[2] > 1.0 - 1e-5 && products[0] < 1.0 - 1e-4);
    assert!(ConditionOptions { sigma: Some(-1.0), ..options }.validate().is_err());
}

/// The probability that C2 holds, over random designs.
fn probability(votes: usize, share: f64) -> f64 {
    let runs = 40;
    let held = (0..runs).filter(|&seed| {
        let edges = shapes::random(20, votes, seed);
        let votes: Vec<_> = edges.iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect();
        let graph = shapes::graph(20, &votes);
        let mut rng = ChaCha8Rng::seed_from_u64(1000 + seed);
        let mut flagged = vec![0.0; graph.groups().len()];
        for (flag, &w) in flagged.iter_mut().zip(&graph.groups().weight) {
            *flag = (0..w as usize).filter(|_| rng.random_bool(share)).count() as f64;
        }
        let r = resistances(&graph).unwrap();
        conditions(&graph, &flagged, &r, &ConditionOptions::default())
            .unwrap()
            .is_none_or(|conditions| conditions.c2())
    });
    held.count() as f64 / runs as f64
}

#[test]
fn irrepresentability_rises_with_votes_and_falls_with_outliers() {
    let by_votes: Vec<f64> = [50, 100, 200, 400].map(|votes| probability(votes, 0.1)).to_vec();
    let by_share: Vec<f64> = [0.05, 0.1, 0.2, 0.4].map(|share| probability(150, share)).to_vec();
    let falling: Vec<f64> = by_share.iter().rev().copied().collect();
    assert!(by_votes.is_sorted() && by_votes[3] > by_votes[0] + 0.5, "{by_votes:?}");
    assert!(falling.is_sorted() && falling[3] > falling[0] + 0.5, "{by_share:?}");
}

#[test]
fn more_votes_find_more_outliers() {
    let share = |votes| {
        let edges = shapes::random(20, votes, 5);
        let votes: Vec<_> = edges.iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect();
        identifiable_share(&shapes::graph(20, &votes), &IdentifiableOptions::default()).unwrap()
    };
    let found = [30, 100, 300, 1000, 3000].map(share);
    assert!(found.iter().map(|f| f.share).is_sorted(), "{found:?}");
    assert!(found[0].share <= 0.05 && found[4].share >= 0.2, "{found:?}");
    assert!(found.iter().all(|f| f.trials.iter().map(|t| t.share).is_sorted()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn results_do_not_depend_on_names_and_sides(seed in 0u64..1000) {
        let (graph, flagged) = study(10, 30, 0.1, seed);
        let groups = graph.groups();
        let rename = |i: u32| (3 * i + 1) % 10;
        let votes: Vec<_> = (0..groups.len()).map(|g| {
            let y = -groups.y[g];
            Comparison::new(rename(groups.right[g]), rename(groups.left[g]), y)
                .with_count(groups.weight[g] as u64)
        }).collect();
        let merged = Groups::merge(10, &votes).unwrap();
        let mut moved = vec![0.0; groups.len()];
        for (g, &to) in merged.group_of.iter().enumerate() {
            moved[to.unwrap() as usize] = flagged[g];
        }
        let other = ComparisonGraph::new(10, merged.groups).unwrap();
        let (a, b) = (
            found(&graph, &flagged, &ConditionOptions::default()),
            found(&other, &moved, &ConditionOptions::default()),
        );
        for (a, b) in [
            (a.c_min, b.c_min),
            (a.irrepresentable, b.irrepresentable),
            (a.mu, b.mu),
            (a.sigma, b.sigma),
            (a.gamma.0, b.gamma.0),
        ] {
            prop_assert!((a - b).abs() <= 1e-7 * a.abs().max(1.0), "{} {}", a, b);
        }
    }
}
