//! What a diagnosis says of designs whose strengths are known.

use crate::shapes;
use hodgerank::diagnose::{DiagnoseOptions, Diagnosis, Spread, diagnose};
use hodgerank::identify::FindableOptions;
use hodgerank::{Comparison, ComparisonGraph};

fn wins(edges: &[(u32, u32)]) -> Vec<Comparison> {
    edges.iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect()
}

fn look(graph: &ComparisonGraph) -> Diagnosis {
    let nothing = vec![0.0; graph.groups().len()];
    diagnose(graph, &nothing, &DiagnoseOptions::default()).unwrap()
}

fn said(found: &Diagnosis, words: &str) -> bool {
    found.verdict.findings.iter().any(|finding| finding.contains(words))
}

#[test]
fn a_complete_study_can_do_everything() {
    let edges: Vec<_> = (0..10).flat_map(|i| (i + 1..10).map(move |j| (i, j))).collect();
    let votes: Vec<_> = wins(&edges).into_iter().map(|vote| vote.with_count(20)).collect();
    let graph = shapes::graph(10, &votes);
    let found = look(&graph);
    assert!(found.verdict.can_rank && found.verdict.can_find_outliers);
    assert!(found.verdict.advice.is_empty(), "{:?}", found.verdict.advice);
    let design = &found.design;
    assert_eq!((design.pairs, design.density, design.components), (45, 1.0, 1));
    assert_eq!((design.undefeated.clone(), design.winless.clone()), (vec![0], vec![9]));
    assert_eq!(design.cycles, 900.0 - 10.0 + 1.0);
    assert!(design.bridges.is_empty() && design.few_votes.is_empty());
    // ρ = 2/(20·10), so s < 50.
    assert_eq!(found.certain_outliers, 49);
    assert!(found.findable.share >= 0.2 && found.conditions.is_none());
}

#[test]
fn a_tree_explains_everything_and_finds_nothing() {
    let graph = shapes::graph(9, &wins(&shapes::tree(9, 4)));
    let found = look(&graph);
    assert!(found.verdict.can_rank && !found.verdict.can_find_outliers);
    assert!(said(&found, "no cycle") && said(&found, "only link"));
    assert_eq!((found.design.bridges.len(), found.design.cycles), (8, 0.0));
    assert_eq!((found.certain_outliers, found.findable.share), (0, 0.0));
    assert!((found.resistance.unwrap().largest - 1.0).abs() < 1e-12);
}

#[test]
fn parts_and_loners_are_told() {
    let edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)];
    let found = look(&shapes::graph(7, &wins(&edges)));
    assert!(!found.verdict.can_rank && said(&found, "3 parts"));
    assert_eq!((found.design.components, found.design.never_compared), (3, 1));
    assert_eq!(found.design.few_votes[0], (6, 0));
    assert!(found.verdict.advice[0].contains("2 more pairs"));
}

#[test]
fn no_vote_at_all_is_no_reason_to_fail() {
    for items in [0, 1, 4] {
        let found = look(&shapes::graph(items, &[]));
        assert!(!found.verdict.can_rank && !found.verdict.can_find_outliers);
        assert!(found.connectivity.is_none() && found.resistance.is_none());
        assert!(said(&found, "nothing to rank"));
    }
}

#[test]
fn suspects_that_cut_the_graph_are_called_so() {
    let votes = wins(&[(0, 1), (1, 2), (2, 0), (2, 3)]);
    let graph = shapes::graph(4, &votes);
    let mut flagged = vec![0.0; 4];
    flagged[graph.groups().find(2, 3, 1.0).unwrap()] = 1.0;
    let found = diagnose(&graph, &flagged, &DiagnoseOptions::default()).unwrap();
    assert!(!found.verdict.can_find_outliers && said(&found, "fall apart"));
}

#[test]
fn threads_do_not_change_a_bit() {
    // Large enough for sketches.
    let graph = shapes::graph(2500, &wins(&shapes::random(2500, 9000, 3)));
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let findable = FindableOptions { draws: Some(1), ..FindableOptions::default() };
        let options = DiagnoseOptions { findable, ..DiagnoseOptions::default() };
        let nothing = vec![0.0; graph.groups().len()];
        pool.install(|| diagnose(&graph, &nothing, &options).unwrap())
    };
    assert!(run(1) == run(3));
}

#[test]
fn spreads_of_small_lists() {
    assert_eq!(Spread::of(vec![]), Spread::default());
    let spread = Spread::of(vec![4.0, 1.0, 2.0, 9.0]);
    assert_eq!(spread, Spread { least: 1.0, median: 2.0, mean: 4.0, most: 9.0 });
}
