//! Diagnosis of designs with known properties.

use crate::shapes;
use hodgerank::diagnose::{
    Advice, CappedList, DiagnoseOptions, Diagnosis, Finding, FlaggedCertainty, ItemVotes, Spread,
    diagnose,
};
use hodgerank::identify::IdentifiableOptions;
use hodgerank::{Comparison, ComparisonGraph};

fn wins(edges: &[(u32, u32)]) -> Vec<Comparison> {
    edges.iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect()
}

fn diagnosed(graph: &ComparisonGraph) -> Diagnosis {
    let nothing = vec![0.0; graph.groups().len()];
    diagnose(graph, &nothing, &DiagnoseOptions::default()).unwrap()
}

fn has(found: &Diagnosis, finding: Finding) -> bool {
    found.verdict.findings.contains(&finding)
}

fn only(item: u32) -> CappedList<u32> {
    CappedList { count: 1, first: vec![item] }
}

#[test]
fn a_complete_study_supports_everything() {
    let edges: Vec<_> = (0..10).flat_map(|i| (i + 1..10).map(move |j| (i, j))).collect();
    let votes: Vec<_> = wins(&edges).into_iter().map(|vote| vote.with_count(20)).collect();
    let graph = shapes::graph(10, &votes);
    let found = diagnosed(&graph);
    assert!(found.verdict.can_rank && found.verdict.can_find_outliers);
    assert!(found.verdict.advice.is_empty(), "{:?}", found.verdict.advice);
    let design = &found.design;
    assert_eq!((design.pairs, design.density, design.components), (45, 1.0, 1));
    assert_eq!((design.undefeated.clone(), design.winless.clone()), (only(0), only(9)));
    assert_eq!(design.cycles, 900 - 10 + 1);
    assert_eq!((design.bridges.count, design.few_votes.count), (0, 0));
    // ρ = 2/(20·10), so s < 50.
    assert_eq!(found.certain_outliers, 49);
    assert!(found.identifiable.share >= 0.2 && found.conditions.is_none());
}

#[test]
fn a_tree_can_be_ranked_but_has_no_findable_outliers() {
    let graph = shapes::graph(9, &wins(&shapes::tree(9, 4)));
    let found = diagnosed(&graph);
    assert!(found.verdict.can_rank && !found.verdict.can_find_outliers);
    assert!(has(&found, Finding::NoCycles));
    assert!(has(&found, Finding::Bridges { bridges: 8, pairs: 8 }));
    assert_eq!((found.design.bridges.count, found.design.cycles), (8, 0));
    assert_eq!((found.certain_outliers, found.identifiable.share), (0, 0.0));
    assert!((found.resistance.unwrap().largest - 1.0).abs() < 1e-12);
}

#[test]
fn components_and_isolated_items_are_reported() {
    let edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)];
    let found = diagnosed(&shapes::graph(7, &wins(&edges)));
    assert!(!found.verdict.can_rank && has(&found, Finding::Disconnected { components: 3 }));
    assert_eq!((found.design.components, found.design.never_compared), (3, 1));
    assert_eq!(found.design.few_votes.first[0], ItemVotes { item: 6, votes: 0 });
    assert_eq!(found.verdict.advice[0], Advice::ConnectComponents { pairs: 2 });
}

#[test]
fn studies_without_votes_are_diagnosed() {
    for items in [0, 1, 4] {
        let found = diagnosed(&shapes::graph(items, &[]));
        assert!(!found.verdict.can_rank && !found.verdict.can_find_outliers);
        assert!(found.connectivity.is_none() && found.resistance.is_none());
        assert!(has(&found, Finding::NoComparisons));
    }
}

#[test]
fn flagged_votes_that_disconnect_the_graph_are_reported() {
    let votes = wins(&[(0, 1), (1, 2), (2, 0), (2, 3)]);
    let graph = shapes::graph(4, &votes);
    let mut flagged = vec![0.0; 4];
    flagged[graph.groups().find(2, 3, 1.0).unwrap()] = 1.0;
    let found = diagnose(&graph, &flagged, &DiagnoseOptions::default()).unwrap();
    let certainty = FlaggedCertainty::Unchecked;
    assert!(!found.verdict.can_find_outliers);
    assert!(has(&found, Finding::Flagged { votes: 1, certainty }));
}

#[test]
fn results_do_not_depend_on_threads() {
    // Large enough for sketched estimates.
    let graph = shapes::graph(2500, &wins(&shapes::random(2500, 9000, 3)));
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let identifiable = IdentifiableOptions { draws: Some(1), ..IdentifiableOptions::default() };
        let options = DiagnoseOptions { identifiable, ..DiagnoseOptions::default() };
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
