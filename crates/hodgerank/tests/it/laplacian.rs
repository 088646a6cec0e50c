//! The Laplacian backends against each other and against Gaussian elimination; invariances.

use crate::shapes;
use crate::shapes::largest_difference;
use hodgerank::laplacian::{
    Backend, BackendChoice, LaplacianMatrix, LaplacianSystem, StoppingRule,
};
use hodgerank::{ComparisonGraph, Error};

const CHOICES: [BackendChoice; 4] = [
    BackendChoice::Auto,
    BackendChoice::Fixed(Backend::Dense),
    BackendChoice::Fixed(Backend::Sparse),
    BackendChoice::Fixed(Backend::ConjugateGradient),
];
const CG: BackendChoice = BackendChoice::Fixed(Backend::ConjugateGradient);
const EXACT: StoppingRule = StoppingRule { max_iterations: 100_000, ..StoppingRule::at(1e-13) };

fn vote_side(graph: &ComparisonGraph) -> Vec<f64> {
    graph.divergence(&graph.groups().y)
}

fn scores(graph: &ComparisonGraph, shift: f64, choice: BackendChoice) -> Vec<f64> {
    let system = LaplacianSystem::new(graph, shift, choice).unwrap();
    let (scores, info) = system.solve(&vote_side(graph), &EXACT).unwrap();
    assert!(info.converged, "{choice:?}: {info:?}");
    scores
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn matrix_entries_match_the_votes() {
    for (name, graph) in shapes::all() {
        let matrix = LaplacianMatrix::new(&graph, 0.25);
        let mut entries = Vec::new();
        for c in 0..matrix.components() {
            let (block, items) = (matrix.block(c), &matrix.items()[matrix.rows(c)]);
            assert_eq!(items, graph.components().members(c), "{name}");
            for i in 0..block.len() {
                let columns = block.neighbours(i);
                assert!(columns.windows(2).all(|pair| pair[0] < pair[1]), "{name}: order");
                let degree: f64 = block.weights(i).iter().sum();
                assert_eq!(block.diagonal(i), degree + 0.25, "{name}: diagonal");
                for (&j, &w) in columns.iter().zip(block.weights(i)) {
                    entries.push((items[i], items[j as usize], w));
                }
            }
        }
        let pairs = graph.pairs();
        let mut expected = Vec::new();
        for p in 0..pairs.len() {
            expected.push((pairs.left[p], pairs.right[p], pairs.weight[p]));
            expected.push((pairs.right[p], pairs.left[p], pairs.weight[p]));
        }
        entries.sort_by_key(|&(i, j, _)| (i, j));
        expected.sort_by_key(|&(i, j, _)| (i, j));
        assert_eq!(entries, expected, "{name}");
    }
}

#[test]
fn backends_match_the_reference() {
    for (name, graph) in shapes::all() {
        for shift in [0.0, 1e-3, 1.0, 50.0] {
            let expected = shapes::reference_scores(&graph, shift);
            for choice in CHOICES {
                let found = scores(&graph, shift, choice);
                let error = largest_difference(&found, &expected);
                assert!(error < 1e-9, "{name}, shift {shift}, {choice:?}: {error:e}");
            }
        }
    }
}

#[test]
fn backends_agree_on_larger_graphs() {
    let (random, grid) = (shapes::random(1500, 9000, 5), shapes::grid(40, 35));
    let cases =
        [(1500, random), (1400, grid), (1000, shapes::tree(1000, 6)), (800, shapes::path(800))];
    for (items, edges) in cases {
        let graph = shapes::voted(items, &edges, 21);
        let expected = scores(&graph, 0.0, CHOICES[1]);
        let size = expected.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        for choice in CHOICES {
            let error = largest_difference(&scores(&graph, 0.0, choice), &expected);
            assert!(error < 1e-9 * size.max(1.0), "{items} items, {choice:?}: {error:e}");
        }
    }
}

#[test]
fn any_right_hand_side_is_solved_when_there_is_a_shift() {
    let (items, edges) = shapes::disconnected();
    let graph = shapes::voted(items, &edges, 22);
    let rhs: Vec<f64> = (0..items).map(|i| (i as f64).sin() + 0.5).collect();
    for choice in CHOICES {
        let system = LaplacianSystem::new(&graph, 0.7, choice).unwrap();
        let (x, _) = system.solve(&rhs, &EXACT).unwrap();
        let weighted = graph.divergence(&graph.gradient(&x));
        let left: Vec<f64> = weighted.iter().zip(&x).map(|(l, x)| l + 0.7 * x).collect();
        assert!(largest_difference(&left, &rhs) < 1e-10, "{choice:?}");
    }
}

#[test]
fn a_zero_right_hand_side_gives_zero() {
    let (items, edges) = shapes::disconnected();
    let graph = shapes::voted(items, &edges, 23);
    for choice in CHOICES {
        let system = LaplacianSystem::new(&graph, 0.0, choice).unwrap();
        let (x, info) = system.solve(&vec![0.0; items], &StoppingRule::default()).unwrap();
        assert!(x.iter().all(|v| v.to_bits() == 0), "{choice:?}");
        assert_eq!((info.iterations, info.residual, info.converged), (0, 0.0, true));
    }
}

#[test]
fn components_are_independent() {
    let alone = shapes::random(3000, 12_000, 7);
    let mut both = alone.clone();
    both.extend(shapes::grid(80, 60).iter().map(|&(i, j)| (i + 3000, j + 3000)));
    let alone = shapes::votes(&alone, 24);
    let mut joined = alone.clone();
    joined.extend(shapes::votes(&both[12_000..], 25));
    let (alone, joined) = (shapes::graph(3000, &alone), shapes::graph(3000 + 4800, &joined));
    for choice in CHOICES {
        let (a, b) = (scores(&alone, 0.0, choice), scores(&joined, 0.0, choice));
        assert_eq!(bits(&a), bits(&b[..3000]), "{choice:?}");
    }
}

#[test]
fn scaling_by_powers_of_two_is_exact() {
    let graph = shapes::voted(300, &shapes::random(300, 900, 8), 26);
    let rhs = vote_side(&graph);
    for choice in CHOICES {
        let system = LaplacianSystem::new(&graph, 0.0, choice).unwrap();
        let (x, _) = system.solve(&rhs, &EXACT).unwrap();
        // Large enough that squares would overflow or underflow.
        for factor in [2.0_f64.powi(900), 2.0_f64.powi(-900)] {
            let scaled: Vec<f64> = rhs.iter().map(|b| b * factor).collect();
            let (y, info) = system.solve(&scaled, &EXACT).unwrap();
            assert!(info.converged && info.residual < 1e-12, "{choice:?}: {info:?}");
            let back: Vec<f64> = y.iter().map(|v| v / factor).collect();
            assert_eq!(bits(&back), bits(&x), "{choice:?}");
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let random = shapes::voted(30_000, &shapes::random(30_000, 150_000, 9), 27);
    let grid = shapes::voted(10_000, &shapes::grid(100, 100), 28);
    for (graph, choices) in [(random, &[CG, BackendChoice::Auto][..]), (grid, &CHOICES[2..])] {
        for &choice in choices {
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| bits(&scores(&graph, 0.0, choice)))
            };
            let one = run(1);
            assert!(one == run(2) && one == run(4), "{choice:?}");
        }
    }
}

#[test]
fn the_backend_depends_on_the_shape() {
    let chosen = |items: usize, edges: &[(u32, u32)]| {
        let graph = shapes::voted(items, edges, 29);
        LaplacianSystem::new(&graph, 0.0, BackendChoice::Auto).unwrap().backends().next()
    };
    use Backend::{ConjugateGradient, Dense, Sparse};
    assert_eq!(chosen(50, &shapes::random(50, 300, 10)), Some(Dense));
    assert_eq!(chosen(400, &shapes::complete(400)), Some(Dense));
    assert_eq!(chosen(20_000, &shapes::random(20_000, 200_000, 11)), Some(ConjugateGradient));
    assert_eq!(chosen(14_400, &shapes::grid(120, 120)), Some(Sparse));
    assert_eq!(chosen(20_000, &shapes::path(20_000)), Some(Sparse));
    assert_eq!(chosen(20_000, &shapes::tree(20_000, 12)), Some(Sparse));
    assert_eq!(chosen(20_000, &shapes::star(20_000)), Some(Sparse));
    assert_eq!(chosen(3, &[]), None);
}

#[test]
fn many_small_components_are_fast() {
    let pairs: shapes::Edges = (0..100_000).map(|i| (2 * i, 2 * i + 1)).collect();
    let graph = shapes::voted(300_000, &pairs, 30);
    let rhs = vote_side(&graph);
    let started = std::time::Instant::now();
    let system = LaplacianSystem::new(&graph, 0.0, BackendChoice::Auto).unwrap();
    let (x, info) = system.solve(&rhs, &StoppingRule::default()).unwrap();
    // Work proportional to components × items would take minutes.
    assert!(started.elapsed().as_secs() < 10);
    assert!(info.converged && info.residual < 1e-12);
    assert!(pairs.iter().all(|&(i, j)| x[i as usize] == -x[j as usize]));
    assert!(x[200_000..].iter().all(|&v| v == 0.0));
}

#[test]
fn the_iteration_limit_is_reported() {
    let graph = shapes::voted(2000, &shapes::path(2000), 31);
    let system = LaplacianSystem::new(&graph, 0.0, CG).unwrap();
    let rule = StoppingRule { max_iterations: 7, ..StoppingRule::default() };
    let (_, info) = system.solve(&vote_side(&graph), &rule).unwrap();
    assert_eq!(info.iterations, 7);
    assert!(!info.converged && info.residual > 1e-10);
}

#[test]
fn an_unreachable_tolerance_stops_at_rounding_error() {
    let graph = shapes::voted(500, &shapes::random(500, 2000, 13), 32);
    for choice in CHOICES {
        let system = LaplacianSystem::new(&graph, 0.0, choice).unwrap();
        let rule = StoppingRule::at(1e-30);
        let (_, info) = system.solve(&vote_side(&graph), &rule).unwrap();
        assert!(info.converged && info.iterations < 1000, "{choice:?}: {info:?}");
        assert!(info.residual < 1e-14, "{choice:?}: {info:?}");
    }
}

#[test]
fn unsolvable_systems_are_an_error() {
    let graph = shapes::voted(3, &shapes::path(3), 33);
    for shift in [-1.0, f64::NAN, f64::INFINITY] {
        let error = LaplacianSystem::new(&graph, shift, BackendChoice::Auto).unwrap_err();
        assert!(matches!(error, Error::BadOption { option: "shift", .. }));
    }
    let system = LaplacianSystem::new(&graph, 0.0, BackendChoice::Auto).unwrap();
    let error = system.solve(&[0.0, f64::INFINITY, 0.0], &EXACT).unwrap_err();
    assert!(matches!(error, Error::Overflow { item: 1, .. }));
    let large = shapes::voted(40_000, &shapes::star(40_000), 34);
    let dense = LaplacianSystem::new(&large, 0.0, BackendChoice::Fixed(Backend::Dense));
    assert!(matches!(dense.unwrap_err(), Error::TooLarge { count: 40_000, .. }));
}

#[test]
fn names_round_trip() {
    for choice in CHOICES {
        assert_eq!(choice.as_str().parse(), Ok(choice));
    }
    assert!("fast".parse::<BackendChoice>().is_err());
}

/// Three full blocks of columns and a partial one.
#[test]
fn dense_factors_of_several_blocks_are_exact_and_do_not_depend_on_threads() {
    let graph = shapes::voted(400, &shapes::random(400, 20_000, 3), 4);
    let rhs = graph.divergence(&graph.groups().y);
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let dense = BackendChoice::Fixed(Backend::Dense);
            let system = LaplacianSystem::new(&graph, 0.0, dense).unwrap();
            let (scores, info) = system.solve(&rhs, &EXACT).unwrap();
            assert!(info.residual < 1e-13 && info.iterations == 1, "{info:?}");
            let unchecked = StoppingRule { unchecked: true, ..EXACT };
            assert_eq!(system.solve(&rhs, &unchecked).unwrap().0, scores);
            scores
        })
    };
    let scores = solve(1);
    assert!(shapes::largest_difference(&scores, &shapes::reference_scores(&graph, 0.0)) < 1e-11);
    assert_eq!(solve(3), scores);
}
