//! The decomposition against a reference implementation, known flows and complexes, and its contract.

use crate::shapes;
use crate::studies;
use std::time::Duration;

use crate::curl_reference::{ReferenceDecomposition, product, reference_decomposition, triangles};
use crate::shapes::largest_difference;
use hodgerank::decompose::{
    BettiNumber, CurlMethod, DecomposeOptions, Decomposition, LocalInconsistency,
    decompose as decompose_with,
};
use hodgerank::solve::Status;
use hodgerank::{Comparison, ComparisonGraph, Error};
use proptest::prelude::*;

fn decompose(graph: &ComparisonGraph) -> Decomposition {
    decompose_with(graph, &DecomposeOptions::default()).unwrap()
}

fn ones(items: usize, edges: &[(u32, u32)]) -> ComparisonGraph {
    let votes: Vec<_> = edges.iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect();
    shapes::graph(items, &votes)
}

fn betti(items: usize, edges: &[(u32, u32)]) -> Option<u64> {
    decompose(&shapes::voted(items, edges, 1)).betti.get()
}

/// Shares sum to 1; parts are orthogonal, add up to the votes and satisfy their conditions.
fn assert_sound(name: &str, graph: &ComparisonGraph, found: &Decomposition) {
    assert_eq!(found.status, Status::Solved, "{name}");
    let votes = graph.groups();
    let total: f64 = votes.y.iter().zip(&votes.weight).map(|(y, w)| w * y * y).sum();
    assert!((found.energy - total).abs() <= 1e-12 * total, "{name}: energy");
    assert!((found.energies.sum() - total).abs() <= 1e-9 * total, "{name}: sum");
    if total > 0.0 {
        assert!((found.shares.sum() - 1.0).abs() < 1e-9, "{name}: {:?}", found.shares);
        assert!(found.info.sum_error < 1e-9);
    }
    let flows = &found.flows;
    for (a, b) in [
        (&flows.gradient, &flows.curl),
        (&flows.gradient, &flows.harmonic),
        (&flows.curl, &flows.harmonic),
    ] {
        assert!(product(graph, a, b).abs() <= 1e-9 * total, "{name}: orthogonal");
    }
    for p in 0..flows.mean.len() {
        let sum = flows.gradient[p] + flows.curl[p] + flows.harmonic[p];
        assert!((sum - flows.mean[p]).abs() <= 1e-12 * (1.0 + sum.abs()), "{name}: pair {p}");
        // Bi-cycles: deviations of the votes of a pair from their mean sum to zero.
        let group =
            graph.pairs().first_group[p] as usize..graph.pairs().first_group[p + 1] as usize;
        let across: f64 = group.map(|g| votes.weight[g] * (votes.y[g] - flows.mean[p])).sum();
        assert!(across.abs() <= 1e-12 * graph.pairs().weight[p] * 10.0, "{name}: pair {p}");
    }
    assert!(found.info.curl_residual.unwrap() <= 1e-9, "{name}: {:?}", found.info);
    assert!(found.info.divergence_residual <= 1e-9, "{name}");
    for (_, [ab, bc, ac]) in triangles(graph) {
        let curl = flows.harmonic[ab] + flows.harmonic[bc] - flows.harmonic[ac];
        assert!(curl.abs() < 1e-8, "{name}: a triangle sees {curl:e}");
    }
}

fn assert_matches_reference(name: &str, graph: &ComparisonGraph, found: &Decomposition) {
    let ReferenceDecomposition { mean, gradient, curl, harmonic, curl_rank } =
        reference_decomposition(graph);
    let flows = &found.flows;
    for (part, a, b) in [
        ("mean", &flows.mean, &mean),
        ("gradient", &flows.gradient, &gradient),
        ("curl", &flows.curl, &curl),
        ("harmonic", &flows.harmonic, &harmonic),
    ] {
        let difference = largest_difference(a, b);
        assert!(difference < 1e-8, "{name}: {part} differs by {difference:e}");
    }
    let (pairs, components) = (graph.pairs().len(), graph.components().len());
    let dimension = pairs + components - graph.items() - curl_rank;
    assert_eq!(found.betti, BettiNumber::Exact(dimension as u64), "{name}");
}

/// Graphs that are small enough for Gram–Schmidt, with random weights and outcomes.
fn small_shapes() -> Vec<(&'static str, ComparisonGraph)> {
    let mut graphs = shapes::all();
    let mut add = |name, items, edges: &[(u32, u32)]| {
        graphs.push((name, shapes::voted(items, edges, 30 + items as u64)));
    };
    add("bipartite", 14, &shapes::bipartite(7));
    add("torus", 25, &shapes::torus(5));
    add("hexagon", 6, &shapes::cycle(6));
    for (k, edges) in [30, 60, 90, 120, 150, 180].into_iter().enumerate() {
        add("random with triangles", 30 + k, &shapes::random(30, edges, k as u64));
    }
    let strip: Vec<_> = (0..40).flat_map(|i| [(i, (i + 1) % 40), (i, (i + 2) % 40)]).collect();
    add("closed strip of triangles", 40, &strip);
    let mut two: Vec<_> = shapes::complete(9);
    two.extend(shapes::cycle(8).iter().map(|&(i, j)| (20 + i, 20 + j)));
    two.extend(shapes::torus(4).iter().map(|&(i, j)| (30 + i, 30 + j)));
    add("complete, cycle and torus", 50, &two);
    graphs
}

#[test]
fn results_match_the_reference() {
    let mut methods = Vec::new();
    for (name, graph) in small_shapes() {
        let found = decompose(&graph);
        assert_sound(name, &graph, &found);
        assert_matches_reference(name, &graph, &found);
        methods.push(found.info.method);
    }
    for method in [
        CurlMethod::NoTriangles,
        CurlMethod::NoHoles,
        CurlMethod::FewHoles,
        CurlMethod::ConjugateGradient,
    ] {
        assert!(methods.contains(&method), "{method:?} was never taken");
    }
}

#[test]
fn weights_of_any_size_are_decomposed() {
    let edges = shapes::random(25, 90, 3);
    let vote = |(k, &(i, j)): (usize, &(u32, u32))| {
        Comparison::new(i, j, f64::from(k as u32 % 7) - 3.0).with_count(10_u64.pow(k as u32 % 7))
    };
    let votes: Vec<_> = edges.iter().enumerate().map(vote).collect();
    let graph = shapes::graph(25, &votes);
    assert_matches_reference("weights", &graph, &decompose(&graph));
}

#[test]
fn shares_of_every_study_sum_to_one() {
    for (name, graph) in studies::all() {
        let found = decompose(&graph);
        assert_sound(&name, &graph, &found);
        assert_matches_reference(&name, &graph, &found);
        assert!(found.shares.gradient > 0.1, "{name}: {:?}", found.shares);
    }
}

#[test]
fn a_tree_is_all_gradient() {
    let found = decompose(&shapes::graph(100, &ones_votes(&shapes::tree(100, 3))));
    assert!((found.shares.gradient - 1.0).abs() < 1e-12);
    assert_eq!((found.betti.get(), found.transitivity.triangles), (Some(0), 0));
    assert_eq!(found.transitivity.rate, None);
    assert!(found.loops.is_empty() && found.triangles.is_empty());
}

fn ones_votes(edges: &[(u32, u32)]) -> Vec<Comparison> {
    edges.iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect()
}

#[test]
fn disagreement_within_pairs_is_all_bicycles() {
    let both = |&(i, j): &(u32, u32)| [1.5, -1.5].map(|y| Comparison::new(i, j, y).with_count(7));
    let votes: Vec<_> = shapes::complete(6).iter().flat_map(both).collect();
    let found = decompose(&shapes::graph(6, &votes));
    assert_eq!((found.shares.bicycles, found.shares.sum()), (1.0, 1.0));
    assert_eq!(found.energy, 15.0 * 14.0 * 2.25);
    assert_eq!((found.transitivity.triangles, found.transitivity.decided), (20, 0));
    assert_eq!(found.transitivity.rate, None);
}

/// W⁻¹Cᵀφ for random φ on graphs with and without holes.
#[test]
fn a_flow_of_triangles_is_all_curl() {
    for (name, graph) in small_shapes() {
        let mut flow = vec![0.0; graph.pairs().len()];
        for (k, (_, [ab, bc, ac])) in triangles(&graph).into_iter().enumerate() {
            let phi = f64::from(k as u32 * 37 % 11) - 4.0;
            for (p, sign) in [(ab, 1.0), (bc, 1.0), (ac, -1.0)] {
                flow[p] += sign * phi / graph.pairs().weight[p];
            }
        }
        let pairs = graph.pairs();
        let vote = |p: usize| {
            let count = pairs.weight[p] as u64;
            Comparison::new(pairs.left[p], pairs.right[p], flow[p]).with_count(count)
        };
        let votes: Vec<_> = (0..pairs.len()).map(vote).collect();
        let found = decompose(&shapes::graph(graph.items(), &votes));
        if found.energy > 0.0 {
            assert!((found.shares.curl - 1.0).abs() < 1e-9, "{name}: {:?}", found.shares);
            assert!(found.loops.is_empty(), "{name}: {:?}", found.loops);
        }
    }
}

#[test]
fn a_hexagon_is_all_harmonic_and_its_own_loop() {
    let graph = ones(6, &shapes::cycle(6));
    let found = decompose(&graph);
    assert!((found.shares.harmonic - 1.0).abs() < 1e-12);
    assert_eq!(found.betti, BettiNumber::Exact(1));
    assert_eq!(found.info.method, CurlMethod::NoTriangles);
    assert_eq!(found.loops.len(), 1);
    assert_eq!(found.loops[0].items, [0, 1, 2, 3, 4, 5]);
    assert!((found.loops[0].strength - 1.0).abs() < 1e-12);
    assert!((found.loops[0].total_flow - 6.0).abs() < 1e-12);
    let back: Vec<_> = shapes::cycle(6).iter().map(|&(i, j)| (j, i)).collect();
    assert_eq!(decompose(&ones(6, &back)).loops[0].items, [0, 5, 4, 3, 2, 1]);
}

/// The same loop with triangles next to it that do not fill it.
#[test]
fn a_hexagon_next_to_triangles_keeps_its_loop() {
    let mut edges = shapes::cycle(6);
    edges.extend([(0, 6), (1, 6), (6, 7), (7, 8), (8, 6)]);
    let found = decompose(&ones(9, &edges));
    assert_eq!(found.info.method, CurlMethod::FewHoles);
    assert_eq!(found.betti, BettiNumber::Exact(1));
    assert!(found.shares.harmonic > 0.3 && found.shares.curl > 0.2, "{:?}", found.shares);
    assert!(found.loops[0].items.starts_with(&[0, 1, 2, 3, 4, 5]));
}

#[test]
fn known_complexes_have_their_betti_numbers() {
    let squares =
        (0..2).flat_map(|k| shapes::cycle(4).into_iter().map(move |(i, j)| (4 * k + i, 4 * k + j)));
    let octahedron: Vec<_> =
        shapes::complete(6).into_iter().filter(|&(i, j)| i / 2 != j / 2).collect();
    assert_eq!(betti(6, &shapes::cycle(6)), Some(1));
    assert_eq!(betti(6, &octahedron), Some(0));
    assert_eq!(betti(8, &squares.collect::<Vec<_>>()), Some(2));
    assert_eq!(betti(6, &shapes::bipartite(3)), Some(4));
    assert_eq!(betti(3, &shapes::complete(3)), Some(0));
    assert_eq!(betti(60, &shapes::complete(60)), Some(0));
    for side in 4..9 {
        assert_eq!(betti(side * side, &shapes::torus(side as u32)), Some(2), "torus {side}");
    }
    assert_eq!(betti(49, &shapes::grid(7, 7)), Some(36));
    assert_eq!(betti(5, &[]), Some(0));
}

/// Twice its loop is a boundary: there is no hole over the rationals, though there is one modulo 2.
#[test]
fn the_projective_plane_has_no_hole() {
    let faces = [123, 134, 145, 156, 162, 235, 346, 452, 563, 624];
    let mut cells: Vec<Vec<u32>> = Vec::new();
    for face in faces {
        let [a, b, c] = [face / 100 % 10, face / 10 % 10, face % 10];
        for mut cell in
            [vec![a], vec![b], vec![c], vec![a, b], vec![b, c], vec![a, c], vec![a, b, c]]
        {
            cell.sort_unstable();
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
    }
    // Barycentric subdivision: a cell is adjacent to the cells in its boundary.
    let inside = |a: &[u32], b: &[u32]| a.len() < b.len() && a.iter().all(|x| b.contains(x));
    let mut edges = Vec::new();
    for (i, a) in cells.iter().enumerate() {
        let around = cells.iter().enumerate().filter(|(_, b)| inside(a, b));
        edges.extend(around.map(|(j, _)| (i as u32, j as u32)));
    }
    assert_eq!((cells.len(), edges.len()), (31, 90));
    let graph = shapes::voted(31, &edges, 5);
    let found = decompose(&graph);
    assert_eq!((found.betti, found.info.method), (BettiNumber::Exact(0), CurlMethod::NoHoles));
    assert_matches_reference("projective plane", &graph, &found);
}

#[test]
fn triangles_match_enumeration() {
    let options = DecomposeOptions { top_triangles: 25, ..DecomposeOptions::default() };
    let mut graphs = small_shapes();
    graphs.push(("tournament", ones(12, &shapes::random(12, 300, 9))));
    for (name, graph) in graphs {
        let found = decompose_with(&graph, &options).unwrap();
        let (counts, mean) = (&found.transitivity, &found.flows.mean);
        let all = triangles(&graph);
        assert_eq!((counts.triangles, counts.sampled), (all.len() as u64, None), "{name}");
        let signs = all.iter().map(|(_, [ab, bc, ac])| [mean[*ab], mean[*bc], -mean[*ac]]);
        let decided: Vec<[f64; 3]> = signs.clone().filter(|s| !s.contains(&0.0)).collect();
        let one_way = |s: &[f64; 3]| s.iter().all(|&f| f > 0.0) || s.iter().all(|&f| f < 0.0);
        let cyclic = decided.iter().filter(|s| one_way(s)).count();
        assert_eq!(
            (counts.decided, counts.cyclic),
            (decided.len() as u64, cyclic as u64),
            "{name}"
        );
        let weight = &graph.pairs().weight;
        let energy = |([ab, bc, ac], s): ([usize; 3], [f64; 3])| {
            let inverse: f64 = [ab, bc, ac].iter().map(|&p| weight[p].recip()).sum();
            s.iter().sum::<f64>().powi(2) / inverse
        };
        let cycles = all.iter().map(|(_, pairs)| *pairs).zip(signs).filter(|(_, s)| one_way(s));
        let mut energies: Vec<f64> = cycles.map(energy).collect();
        energies.sort_by(|a, b| b.total_cmp(a));
        energies.truncate(25);
        let listed: Vec<f64> = found.triangles.iter().map(|t| t.energy).collect();
        assert!(largest_difference(&listed, &energies) < 1e-12, "{name}");
        assert!(found.triangles.iter().all(|t| t.is_cyclic()), "{name}");
        for t in &found.triangles {
            let sum: f64 = t.flows.iter().sum();
            assert!((sum - t.curl).abs() < 1e-12 && t.items[0] < t.items[1].min(t.items[2]));
            for k in 0..3 {
                let (from, to) = (t.items[k], t.items[(k + 1) % 3]);
                let p = t.pairs[k] as usize;
                let ends = (graph.pairs().left[p], graph.pairs().right[p]);
                assert_eq!(ends, (from.min(to), from.max(to)), "{name}");
                assert_eq!(t.flows[k], if from < to { mean[p] } else { -mean[p] });
                assert_eq!(t.votes[k], graph.pairs().weight[p] as u64);
            }
        }
    }
}

/// A triangle is listed if its majorities form a cycle, and cycles with few votes are not the worst.
#[test]
fn listed_triangles_are_cycles_of_majorities_weighted_by_votes() {
    let votes = |left: u32, right: u32, wins: usize, losses: usize| {
        let won = std::iter::repeat_n(Comparison::new(left, right, 1.0), wins);
        won.chain(std::iter::repeat_n(Comparison::new(right, left, 1.0), losses))
    };
    // 0, 1, 2 are transitive with a large curl: 0 beats 1, 1 beats 2, and 0 hardly beats 2.
    let mut all: Vec<Comparison> = votes(0, 1, 40, 0).chain(votes(1, 2, 40, 0)).collect();
    all.extend(votes(0, 2, 21, 20));
    // A cycle of 134, 1 and 1 votes, and a weaker one that rests on many votes.
    all.extend(votes(3, 4, 134, 0).chain(votes(4, 5, 1, 0)).chain(votes(5, 3, 1, 0)));
    all.extend(votes(6, 7, 30, 10).chain(votes(7, 8, 30, 10)).chain(votes(8, 6, 30, 10)));
    let found = decompose(&shapes::graph(9, &all));
    let items: Vec<[u32; 3]> = found.triangles.iter().map(|t| t.items).collect();
    assert_eq!(items, [[6, 7, 8], [3, 4, 5]]);
    let [strong, weak] = [&found.triangles[0], &found.triangles[1]];
    assert!((strong.curl - 1.5).abs() < 1e-12 && (strong.energy - 30.0).abs() < 1e-9);
    assert!((weak.curl - 3.0).abs() < 1e-12 && weak.energy < 4.5, "{weak:?}");
    assert_eq!(found.transitivity.cyclic, 2);
}

/// Loops follow the flow, and all loops together add up to it.
#[test]
fn loops_make_up_the_harmonic_flow() {
    let options = DecomposeOptions { top_loops: usize::MAX, ..DecomposeOptions::default() };
    for (name, graph) in small_shapes() {
        let found = decompose_with(&graph, &options).unwrap();
        let (pairs, harmonic) = (graph.pairs(), &found.flows.harmonic);
        let mut left: Vec<f64> = harmonic.iter().zip(&pairs.weight).map(|(h, w)| h * w).collect();
        for cycle in &found.loops {
            assert!(cycle.items.len() >= 4 && cycle.items.len() == cycle.pairs.len(), "{name}");
            let mut once = cycle.items.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!((once.len(), once[0]), (cycle.items.len(), cycle.items[0]), "{name}");
            let mut total = 0.0;
            for (k, &p) in cycle.pairs.iter().enumerate() {
                let (from, to) = (cycle.items[k], cycle.items[(k + 1) % cycle.items.len()]);
                let p = p as usize;
                assert_eq!((pairs.left[p], pairs.right[p]), (from.min(to), from.max(to)), "{name}");
                let sign = if from < to { 1.0 } else { -1.0 };
                assert!(sign * harmonic[p] > 0.0, "{name}: against the flow");
                total += sign * harmonic[p];
                left[p] -= sign * cycle.strength;
            }
            assert!((total - cycle.total_flow).abs() < 1e-12 * total, "{name}");
        }
        let rest = left.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(rest < 1e-6, "{name}: {rest:e} is in no loop");
        assert_eq!(found.loops.is_empty(), harmonic.iter().all(|h| h.abs() < 1e-9), "{name}");
    }
}

#[test]
fn local_inconsistency_adds_up_and_is_sorted() {
    for (name, graph) in small_shapes() {
        let found = decompose(&graph);
        let whole = found.energies.bicycles + found.energies.curl + found.energies.harmonic;
        let pairs = found.worst_pairs(&graph, usize::MAX);
        let items = found.worst_items(&graph, usize::MAX);
        let locals: [(f64, Vec<LocalInconsistency>); 2] = [
            (1.0, pairs.iter().map(|found| found.local).collect()),
            (2.0, items.iter().map(|found| found.local).collect()),
        ];
        for (times, list) in locals {
            let sum: f64 = list.iter().map(|local| local.inconsistent).sum();
            assert!((sum - times * whole).abs() <= 1e-9 * found.energy, "{name}");
            let energy: f64 = list.iter().map(|local| local.energy).sum();
            assert!((energy - times * found.energy).abs() <= 1e-9 * found.energy, "{name}");
            assert!(list.is_sorted_by(|a, b| a.inconsistent >= b.inconsistent), "{name}");
        }
        let few = found.worst_pairs(&graph, 3);
        assert_eq!(few, pairs[..few.len()], "{name}");
    }
    // One vote against a chain of four: inconsistency on the cycle only, none on the tail.
    let votes = [(0, 1), (1, 2), (2, 0), (2, 3)].map(|(i, j)| Comparison::new(i, j, 1.0));
    let graph = shapes::graph(4, &votes);
    let items = decompose(&graph).worst_items(&graph, 4);
    assert_eq!(items[3].item, 3);
    assert!(items[3].local.share < 1e-12 && (items[0].local.energy - 2.0).abs() < 1.1);
}

#[test]
fn budgets_sample_the_listing_and_never_the_shares() {
    let graph = shapes::voted(40, &shapes::complete(40), 6);
    let all = decompose(&graph);
    let options = DecomposeOptions { max_triangles: 5000, ..DecomposeOptions::default() };
    let some = decompose_with(&graph, &options).unwrap();
    let share = some.transitivity.sampled.unwrap();
    assert!((share - 5000.0 / 9880.0).abs() < 1e-12);
    assert!(
        some.transitivity.triangles > 3500 && some.transitivity.triangles < 6500,
        "{}",
        some.transitivity.triangles
    );
    assert_eq!((some.shares, &some.flows), (all.shares, &all.flows));
    assert_eq!(decompose_with(&graph, &options).unwrap().triangles, some.triangles);
    // A complete graph has no holes, which is known without listing triangles.
    let none = DecomposeOptions { max_triangles: 0, ..options };
    let none = decompose_with(&graph, &none).unwrap();
    assert_eq!((none.shares, none.transitivity.sampled), (all.shares, Some(0.0)));

    let mut edges = shapes::complete(40);
    edges.extend(shapes::cycle(6).iter().map(|&(i, j)| (39 + i, 39 + j)));
    let few = shapes::voted(45, &edges, 7);
    let options = DecomposeOptions { max_triangles: 9000, ..options };
    let (all, some) = (decompose(&few), decompose_with(&few, &options).unwrap());
    assert!(some.transitivity.sampled.is_some() && some.info.curl_residual.is_none());
    assert_eq!(some.info.method, CurlMethod::FewHoles);
    assert_eq!((some.shares, some.betti), (all.shares, BettiNumber::Exact(1)));

    let holes = shapes::voted(60, &shapes::random(60, 400, 4), 7);
    let tight = DecomposeOptions { max_triangles: 20, ..DecomposeOptions::default() };
    let error = decompose_with(&holes, &tight).unwrap_err();
    assert!(matches!(error, Error::TooManyTriangles { max: 20, .. }), "{error}");
}

#[test]
fn empty_studies_and_ties_have_no_shares() {
    for graph in [shapes::voted(0, &[], 1), shapes::voted(4, &[], 1)] {
        let found = decompose(&graph);
        assert_eq!((found.energy, found.shares.sum()), (0.0, 0.0));
        assert_eq!(found.betti, BettiNumber::Exact(0));
    }
    let ties: Vec<_> = shapes::torus(4).iter().map(|&(i, j)| Comparison::new(i, j, 0.0)).collect();
    let found = decompose(&shapes::graph(16, &ties));
    assert_eq!((found.energy, found.shares.sum(), found.info.sum_error), (0.0, 0.0, 0.0));
    assert_eq!((found.betti.get(), found.transitivity.decided), (Some(2), 0));
    assert!(found.loops.is_empty() && found.triangles.is_empty());
}

#[test]
fn huge_and_tiny_outcomes_keep_their_shares() {
    let votes = shapes::votes(&shapes::torus(5), 8);
    let before = decompose(&shapes::graph(25, &votes));
    for factor in [2.0_f64.powi(400), 2.0_f64.powi(-400), 2.0_f64.powi(-600)] {
        let scaled: Vec<_> = votes.iter().map(|v| Comparison { y: v.y * factor, ..*v }).collect();
        let found = decompose(&shapes::graph(25, &scaled));
        assert_eq!(found.shares, before.shares);
        assert_eq!(found.triangles[0].items, before.triangles[0].items);
        assert_eq!(found.loops[0].items, before.loops[0].items);
    }
    let votes = [Comparison::new(0, 1, 1e200)];
    let result = decompose_with(&shapes::graph(2, &votes), &DecomposeOptions::default());
    assert!(matches!(result.unwrap_err(), Error::EnergyOverflow { .. }));
}

#[test]
fn bad_options_and_iteration_limits_are_reported() {
    let graph = shapes::voted(60, &shapes::random(60, 400, 4), 7);
    let options = DecomposeOptions { tolerance: 1.0, ..DecomposeOptions::default() };
    assert!(options.validate().is_err());
    let error = decompose_with(&graph, &options).unwrap_err();
    assert!(matches!(error, Error::BadOption { option: "tolerance", .. }));
    let options = DecomposeOptions { max_iterations: 2, ..DecomposeOptions::default() };
    let found = decompose_with(&graph, &options).unwrap();
    assert_eq!((found.status, found.info.iterations), (Status::IterationLimit, 2));
    assert!(found.info.curl_residual.unwrap() > 1e-9);
    assert!(found.info.sum_error < 1e-9, "stopped early, and still orthogonal");
    let exact = decompose(&graph);
    assert!(found.shares.harmonic >= exact.shares.harmonic);
}

#[test]
fn results_do_not_depend_on_threads() {
    let graphs = [
        shapes::voted(400, &shapes::random(400, 12_000, 4), 5),
        shapes::voted(150, &shapes::complete(150), 6),
        shapes::voted(1600, &shapes::torus(40), 7),
    ];
    for graph in graphs {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut found = pool.install(|| decompose(&graph));
            (found.info.time, found.info.gradient.time) = (Duration::ZERO, Duration::ZERO);
            format!("{found:?}")
        };
        let one = run(1);
        assert!(run(2) == one && run(5) == one);
    }
}

fn any_votes() -> impl Strategy<Value = (usize, Vec<Comparison>)> {
    (2..14_u32).prop_flat_map(|items| {
        let outcome = prop_oneof![Just(-1.0), Just(0.0), Just(1.0), -4.0..4.0];
        let vote = (0..items, 1..items, outcome, 1..40_u64).prop_map(move |(i, gap, y, count)| {
            Comparison::new(i, (i + gap) % items, y).with_count(count)
        });
        (Just(items as usize), prop::collection::vec(vote, 0..60))
    })
}

fn close(a: &Decomposition, b: &Decomposition) -> bool {
    let shares = |d: &Decomposition| {
        [d.energy, d.shares.bicycles, d.shares.gradient, d.shares.curl, d.shares.harmonic]
    };
    largest_difference(&shares(a), &shares(b)) < 1e-9 * (1.0 + a.energy)
        && a.betti == b.betti
        && a.transitivity.triangles == b.transitivity.triangles
        && a.transitivity.decided == b.transitivity.decided
        && a.transitivity.cyclic == b.transitivity.cyclic
}

proptest! {
    #[test]
    fn any_votes_are_split_as_in_the_textbook((items, votes) in any_votes()) {
        let graph = shapes::graph(items, &votes);
        let found = decompose(&graph);
        assert_sound("any", &graph, &found);
        assert_matches_reference("any", &graph, &found);
    }

    #[test]
    fn new_names_move_parts_along((items, votes) in any_votes(), seed in any::<u64>()) {
        let mut order: Vec<u32> = (0..items as u32).collect();
        order.sort_by_key(|&i| (u64::from(i) + 1).wrapping_mul(seed | 1).rotate_left(17));
        let rename = |v: &Comparison| {
            Comparison { left: order[v.left as usize], right: order[v.right as usize], ..*v }
        };
        let renamed: Vec<_> = votes.iter().map(rename).collect();
        let (before, after) = (shapes::graph(items, &votes), shapes::graph(items, &renamed));
        let (a, b) = (decompose(&before), decompose(&after));
        prop_assert!(close(&a, &b), "{a:?}\n{b:?}");
        for p in 0..before.pairs().len() {
            let (i, j) = (before.pairs().left[p], before.pairs().right[p]);
            let (i, j) = (order[i as usize], order[j as usize]);
            let q = (0..after.pairs().len())
                .find(|&q| (after.pairs().left[q], after.pairs().right[q]) == (i.min(j), i.max(j)))
                .unwrap();
            let sign = if i < j { 1.0 } else { -1.0 };
            for (x, y) in [
                (&a.flows.gradient, &b.flows.gradient),
                (&a.flows.curl, &b.flows.curl),
                (&a.flows.harmonic, &b.flows.harmonic),
            ] {
                prop_assert!((x[p] - sign * y[q]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn sides_and_splits_do_not_matter((items, votes) in any_votes()) {
        let before = decompose(&shapes::graph(items, &votes));
        let mirror = |v: &Comparison| Comparison { left: v.right, right: v.left, y: -v.y, ..*v };
        let flipped: Vec<_> = votes.iter().map(mirror).collect();
        let after = decompose(&shapes::graph(items, &flipped));
        prop_assert_eq!(&after.flows, &before.flows);
        prop_assert_eq!(&after.triangles, &before.triangles);
        prop_assert_eq!(&after.loops, &before.loops);
        let against: Vec<_> = votes.iter().map(|v| Comparison { y: -v.y, ..*v }).collect();
        prop_assert!(close(&decompose(&shapes::graph(items, &against)), &before));
    }
}
