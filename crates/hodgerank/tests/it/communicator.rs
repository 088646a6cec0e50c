//! Votes shared by a team: the answers of one machine, for any split, and states that can be
//! taken up again.

use crate::studies;
use crate::thread_communicator::{Memory, deal, together};
use hodgerank::fit::{Fit, FitOptions, Method, fit};
use hodgerank::laplacian::{Backend, BackendChoice};
use hodgerank::select::OutlierRule;
use hodgerank::simulate::{Noise, SimulateOptions};
use hodgerank::solve::bregman::Algorithm;
use hodgerank::{Comparison, ComparisonGraph, Groups, Ranking};
use proptest::prelude::*;

/// Every method that can be shared, with every rule that can.
fn ways() -> Vec<FitOptions> {
    let with =
        |method, outliers| FitOptions { method: Some(method), outliers, ..FitOptions::default() };
    let (lbi, hlasso) = (Method::Bregman, Method::HuberLasso);
    let share = OutlierRule::Share(0.1);
    vec![
        with(Method::L2, share),
        with(Method::Ridge, share),
        with(lbi, share),
        with(lbi, OutlierRule::Count(25)),
        with(lbi, OutlierRule::Time(0.9)),
        with(lbi, OutlierRule::Scaled { m: 1.35 }),
        with(lbi, OutlierRule::Auto),
        FitOptions { algorithm: Algorithm::Gradient, ..with(lbi, share) },
        FitOptions { algorithm: Algorithm::Gradient, ..with(lbi, OutlierRule::Time(0.8)) },
        with(hlasso, share),
        with(hlasso, OutlierRule::Count(25)),
        with(hlasso, OutlierRule::Lambda(0.8)),
        with(hlasso, OutlierRule::Scaled { m: 1.35 }),
        with(hlasso, OutlierRule::Auto),
    ]
}

/// The largest difference of scores, after checks that all else is equal.
fn difference(graph: &ComparisonGraph, options: &FitOptions, members: usize, split: u32) -> f64 {
    let groups = graph.groups();
    let alone = fit(graph, options).unwrap();
    let dealt = deal(groups, members, |i, j| (i.wrapping_mul(split) ^ j.wrapping_mul(7)) as usize);
    let memories = dealt.iter().map(|_| None).collect();
    let found = together(graph.items(), groups, &dealt, memories, |shared| {
        assert_eq!(shared.components(), graph.components());
        assert_eq!(shared.votes(), graph.votes());
        let fit = fit(shared, options).unwrap();
        let ranking = Ranking::new(shared, &fit.scores).with_flagged(shared, &fit.flagged);
        (fit, ranking)
    });
    let ranking = Ranking::new(graph, &alone.scores).with_flagged(graph, &alone.flagged);
    let mut flagged = vec![0.0; groups.len()];
    for (((fit, records), _), mine) in found.iter().zip(&dealt) {
        assert_eq!(fit.scores, found[0].0.0.scores, "all members have the same bits");
        assert_eq!(fit.status, alone.status, "{options:?}");
        for (&g, &votes) in mine.iter().zip(&fit.flagged) {
            flagged[g] = votes;
        }
        let counts = |ranking: &Ranking| {
            let mut items = ranking.items.clone();
            items.sort_by_key(|item| item.item);
            items.into_iter().map(|i| (i.wins, i.losses, i.ties, i.flagged)).collect::<Vec<_>>()
        };
        assert_eq!(counts(records), counts(&ranking), "{options:?}");
    }
    assert_eq!(flagged, alone.flagged, "{options:?}, {members} members");
    let stop = |fit: &Fit| fit.stop.map_or(0.0, |(_, at)| at);
    assert!((stop(&found[0].0.0) - stop(&alone)).abs() < 1e-10, "{options:?}");
    let pairs = found[0].0.0.scores.iter().zip(&alone.scores);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn simulated(items: usize, votes: u64, seed: u64) -> ComparisonGraph {
    let noise = Noise::BradleyTerry { scale: 0.2 };
    let options =
        SimulateOptions { items, votes, flips: 0.1, noise, seed, ..SimulateOptions::default() };
    studies::simulated(&options).graph
}

#[test]
fn a_team_gives_the_answer_of_one_machine() {
    for (graph, seed) in [(simulated(16, 900, 1), 3), (simulated(120, 6000, 2), 11)] {
        for options in ways() {
            for members in 1..=4 {
                let off = difference(&graph, &options, members, seed);
                assert!(off < 1e-10, "{options:?}, {members} members: {off:e}");
            }
        }
    }
}

#[test]
fn graded_votes_shared_by_a_team() {
    let (noise, flips, graded) = (Noise::Gaussian { sigma: 0.05 }, 0.1, true);
    let options = SimulateOptions { votes: 1500, noise, flips, graded, ..Default::default() };
    let graph = studies::simulated(&options).graph;
    for options in ways().into_iter().filter(|way| way.outliers == OutlierRule::Auto) {
        assert!(fit(&graph, &options).unwrap().flagged.iter().any(|&votes| votes > 0.0));
        for members in 1..=4 {
            let off = difference(&graph, &options, members, 3);
            assert!(off < 1e-10, "{options:?}, {members} members: {off:e}");
        }
    }
}

#[test]
fn published_votes_shared_by_a_team() {
    let Some((graph, _)) = studies::pc_vqa_1() else { return };
    for options in ways() {
        let off = difference(&graph, &options, 3, 5);
        assert!(off < 1e-10, "{options:?}: {off:e}");
    }
}

#[test]
fn members_may_have_no_votes() {
    let graph = simulated(12, 300, 4);
    for options in ways() {
        // All pairs go to the first of three members.
        let off = difference(&graph, &options, 3, 0);
        assert!(off < 1e-10, "{options:?}: {off:e}");
        let dealt = vec![Vec::new(), (0..graph.groups().len()).collect()];
        let alone = fit(&graph, &options).unwrap();
        let found = together(12, graph.groups(), &dealt, vec![None, None], |g| {
            fit(g, &options).unwrap().scores
        });
        let off = found[0].0.iter().zip(&alone.scores).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-10, "{options:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Components in number, single items, ties, counts.
    #[test]
    fn any_votes_split_in_any_way(
        votes in prop::collection::vec((0..14_u32, 0..14_u32, -1..=1_i32, 1..4_u64), 1..60),
        members in 2..5_usize,
        split in 0..50_u32,
    ) {
        let votes: Vec<Comparison> = votes
            .into_iter()
            .filter(|(i, j, ..)| i != j)
            .map(|(i, j, y, count)| Comparison::new(i, j, f64::from(y)).with_count(count))
            .collect();
        let groups = Groups::merge(14, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(14, groups).unwrap();
        let l2 = FitOptions { method: Some(Method::L2), ..FitOptions::default() };
        prop_assert!(difference(&graph, &l2, members, split) < 1e-10);
    }
}

#[test]
fn a_kept_state_leads_to_the_same_bits() {
    let graph = simulated(60, 3000, 5);
    let groups = graph.groups();
    let dealt = deal(groups, 3, |i, j| (3 * i + j) as usize);
    let robust = |options: &FitOptions| {
        options.method.is_some_and(|method| matches!(method, Method::Bregman | Method::HuberLasso))
    };
    // How a rule came to its number of votes makes no difference to the state.
    let given = |options: &FitOptions| options.outliers != OutlierRule::Auto;
    for options in ways().into_iter().filter(robust).filter(given) {
        let run = |memories| {
            together(60, groups, &dealt, memories, |shared| fit(shared, &options).unwrap())
        };
        let whole = run((0..3).map(|_| Some(Memory::new(1, None))).collect());
        let kept = whole[0].1.len();
        assert!(kept > 0, "{options:?} kept nothing");
        for state in [0, kept / 2, kept - 1] {
            let memories = whole
                .iter()
                .map(|(_, kept)| Some(Memory::new(u64::MAX, Some(kept[state].clone()))));
            let resumed = run(memories.collect());
            for ((a, _), (b, _)) in whole.iter().zip(&resumed) {
                assert_eq!((&a.scores, &a.flagged), (&b.scores, &b.flagged), "{options:?}");
                assert_eq!((&a.entries, a.stop), (&b.entries, b.stop), "{options:?}");
            }
        }
    }
}

#[test]
fn a_state_of_other_votes_is_refused() {
    let (graph, other) = (simulated(20, 600, 6), simulated(21, 600, 6));
    let options = FitOptions { outliers: OutlierRule::Share(0.1), ..FitOptions::default() };
    let one = |graph: &ComparisonGraph, memory| {
        let dealt = vec![(0..graph.groups().len()).collect()];
        together(graph.items(), graph.groups(), &dealt, vec![Some(memory)], |g| fit(g, &options))
            .remove(0)
    };
    let (fitted, kept) = one(&graph, Memory::new(1, None));
    assert!(fitted.is_ok() && !kept.is_empty());
    let (fitted, _) = one(&other, Memory::new(1, Some(kept[0].clone())));
    assert!(fitted.unwrap_err().to_string().contains("lbi"));
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let graph = simulated(10, 100, 7);
    let refused = |options: FitOptions| {
        let dealt = deal(graph.groups(), 2, |i, _| i as usize);
        let found = together(10, graph.groups(), &dealt, vec![None, None], |g| fit(g, &options));
        found.into_iter().map(|(fit, _)| fit.unwrap_err().to_string()).collect::<Vec<_>>()
    };
    let iss = FitOptions { method: Some(Method::InverseScaleSpace), ..FitOptions::default() };
    let direct = FitOptions {
        method: Some(Method::L2),
        backend: BackendChoice::Fixed(Backend::Dense),
        ..FitOptions::default()
    };
    let cv = OutlierRule::CrossValidation(Default::default());
    let cv = FitOptions { outliers: cv, ..FitOptions::default() };
    for (options, word) in [(iss, "hlasso or lbi"), (direct, "auto or cg"), (cv, "scaled=")] {
        let told = refused(options);
        assert!(told.iter().all(|told| told.contains(word)), "{told:?}");
    }
}
