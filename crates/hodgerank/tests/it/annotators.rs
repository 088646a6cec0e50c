//! Annotators: exact tests against hand-computed values, and simulated good and bad annotators.

use hodgerank::annotators::{
    AnnotatorOptions, AnnotatorReport, AnnotatorTallies, binomial_half_two_sided, fisher_more,
    holm, wilson,
};
use hodgerank::simulate::{AnnotatorKind, Noise, SimulateOptions, SimulatedVote, Simulation};
use hodgerank::solve::{TrimmedOptions, trimmed};
use hodgerank::{Comparison, ComparisonGraph, Error, Groups, Labels};

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn exact_tests_match_hand_computed_values() {
    // Fisher's tea-tasting example: eight cups, four with milk first.
    assert!(close(fisher_more(4, 4, 4, 8), 1.0 / 70.0));
    assert!(close(fisher_more(3, 4, 4, 8), 17.0 / 70.0));
    assert!(close(fisher_more(2, 4, 4, 8), 53.0 / 70.0));
    assert!(close(fisher_more(1, 4, 4, 8), 69.0 / 70.0));
    assert_eq!(fisher_more(0, 4, 4, 8), 1.0);
    assert_eq!((fisher_more(0, 5, 0, 9), fisher_more(9, 9, 9, 9)), (1.0, 1.0));
    assert!(close(binomial_half_two_sided(9, 10), 22.0 / 1024.0));
    assert!(close(binomial_half_two_sided(1, 10), 22.0 / 1024.0));
    assert!(close(binomial_half_two_sided(0, 3), 0.25));
    assert!(close(binomial_half_two_sided(2, 5), 1.0));
    assert_eq!((binomial_half_two_sided(0, 0), binomial_half_two_sided(5, 10)), (1.0, 1.0));
    let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
    assert!(adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]).all(|(a, b)| close(*a, b)));
    assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
    assert!(holm(&[]).is_empty());
}

#[test]
fn fisher_matches_enumeration() {
    let choose = |n: u64, k: u64| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
    for votes in 1..14_u64 {
        for flagged in 0..=votes {
            for mine in 0..=votes {
                let (least, most) = ((mine + flagged).saturating_sub(votes), mine.min(flagged));
                for seen in least..=most {
                    let ways = |k| choose(flagged, k) * choose(votes - flagged, mine - k);
                    let more: f64 = (seen..=most).map(ways).sum();
                    let p = fisher_more(seen, mine, flagged, votes);
                    assert!(
                        close(p, more / choose(votes, mine)),
                        "{seen} {mine} {flagged} {votes}"
                    );
                }
            }
        }
    }
}

#[test]
fn large_counts_are_accurate() {
    // Neighbouring tails must add up: P(≥ k) of mine and P(≥ rest) of the others are one table.
    let (mine, flagged, votes) = (40_000, 300_000, 1_000_000);
    let upper = fisher_more(12_100, mine, flagged, votes);
    let below = 1.0 - fisher_more(flagged - 12_099, votes - mine, flagged, votes);
    assert!((upper - below).abs() < 1e-8, "{upper} {below}");
    // Normal approximation with continuity correction: sd = 89.8, z = 1.108.
    assert!((upper - 0.1339).abs() < 0.002, "{upper}");
    let p = binomial_half_two_sided(500_000 - 980, 1_000_000);
    assert!((p - 0.05).abs() < 0.0002, "{p}");
    let sure = binomial_half_two_sided(0, 1_000_000);
    assert!(sure == 0.0 && fisher_more(10_000, 10_000, 10_000, 10_000_000) == 0.0);
}

#[test]
fn intervals_match_published_tables() {
    let near = |(a, b): (f64, f64), (c, d): (f64, f64)| (a - c).abs() + (b - d).abs() < 2e-4;
    assert!(near(wilson(0, 10, 0.95), (0.0, 0.2775)));
    assert!(near(wilson(10, 10, 0.95), (0.7225, 1.0)));
    assert!(near(wilson(5, 10, 0.95), (0.2366, 0.7634)));
    assert!(near(wilson(15, 100, 0.99), (0.0801, 0.2635)));
    assert_eq!(wilson(0, 0, 0.95), (0.0, 1.0));
}

#[test]
fn tallies_can_be_merged_in_any_order() {
    let mut whole = AnnotatorTallies::new();
    whole.add(2, Some(true), Some(true), false, 3);
    whole.add(2, Some(false), Some(false), true, 1);
    whole.add(0, None, None, false, 2);
    let tally = whole.tallies()[2];
    assert_eq!((tally.votes, tally.decided, tally.agreeing), (4, 4, 3));
    assert_eq!((tally.flagged, tally.sided, tally.left), (1, 4, 3));
    assert_eq!((whole.tallies()[0].votes, whole.tallies()[0].sided), (2, 0));
    let (mut one_by_one, mut rest) = (AnnotatorTallies::new(), AnnotatorTallies::new());
    one_by_one.add(0, None, None, false, 1);
    one_by_one.add(0, None, None, false, 1);
    for _ in 0..3 {
        rest.add(2, Some(true), Some(true), false, 1);
    }
    rest.add(2, Some(false), Some(false), true, 1);
    one_by_one.merge(&rest);
    assert_eq!(one_by_one, whole);
    let report = whole.report(&labels(3), &AnnotatorOptions::default()).unwrap();
    assert_eq!(report.iter().map(|r| r.annotator).collect::<Vec<_>>(), [2, 0]);
    assert_eq!(
        (report[0].agreement, report[0].flagged_share, report[0].left_share),
        (Some(0.75), 0.25, Some(0.75))
    );
    assert_eq!((report[1].agreement, report[1].left_share), (None, None));
    assert_eq!(report[1].left_p, Some(1.0));
    // One flag among six votes, four of which are mine.
    assert!(close(report[0].flagged_p, 4.0 / 6.0) && close(report[0].left_p.unwrap(), 10.0 / 16.0));
    for level in [0.0, 1.0, f64::NAN] {
        let options = AnnotatorOptions { level, ..Default::default() };
        let error = whole.report(&labels(3), &options).unwrap_err();
        assert!(matches!(error, Error::BadOption { option: "level", .. }));
    }
}

/// Reports on annotators of votes that trimmed least squares flags, as in the program.
fn reports(votes: &[SimulatedVote], items: usize) -> Vec<AnnotatorReport> {
    let comparisons: Vec<Comparison> = votes.iter().map(|vote| vote.comparison()).collect();
    let merged = Groups::merge(items, &comparisons).unwrap();
    let graph = ComparisonGraph::new(items, merged.groups).unwrap();
    let found = trimmed::solve(&graph, &TrimmedOptions::default()).unwrap();
    let scores = &found.solution.scores;
    let mut tallies = AnnotatorTallies::new();
    for (vote, group) in votes.iter().zip(&merged.group_of) {
        let gap = scores[vote.left as usize] - scores[vote.right as usize];
        let left_chosen = (vote.y != 0.0).then_some(vote.y > 0.0);
        let agrees = (vote.y * gap != 0.0).then_some(vote.y * gap > 0.0);
        let flagged = found.removed[group.unwrap() as usize] > 0.0;
        tallies.add(vote.annotator.unwrap(), left_chosen, agrees, flagged, 1);
    }
    let annotators = tallies.tallies().len();
    tallies.report(&labels(annotators), &AnnotatorOptions::default()).unwrap()
}

/// Labels `a0`, `a1`, ….
fn labels(count: usize) -> Labels {
    let mut labels = Labels::default();
    for k in 0..count {
        labels.intern(&format!("a{k}"));
    }
    labels
}

#[test]
fn equally_suspicious_annotators_are_in_the_order_of_their_labels() {
    for order in [["ann", "bob", "w2", "w10"], ["w10", "bob", "w2", "ann"]] {
        let mut labels = Labels::default();
        let mut tallies = AnnotatorTallies::new();
        for name in order {
            let annotator = labels.intern(name);
            tallies.add(annotator, None, Some(true), false, 5);
        }
        let reports = tallies.report(&labels, &AnnotatorOptions::default()).unwrap();
        let found: Vec<&str> = reports.iter().map(|r| labels.name(r.annotator)).collect();
        assert_eq!(found, ["ann", "bob", "w2", "w10"]);
    }
}

#[test]
fn bad_annotators_are_found_and_careful_ones_are_not() {
    use AnnotatorKind::{AlwaysLeft, Careful, Careless, Malicious};
    for seed in 0..5 {
        let annotators = vec![(Careful, 20), (Careless, 2), (Malicious, 2), (AlwaysLeft, 2)];
        let flips = 0.03;
        let options =
            SimulateOptions { votes: 3000, annotators, flips, seed, ..SimulateOptions::default() };
        let mut study = Simulation::new(&options).unwrap();
        let votes: Vec<SimulatedVote> = study.by_ref().collect();
        let found = reports(&votes, 16);
        assert!(found.windows(2).all(|two| two[0].suspicion() <= two[1].suspicion()));
        for report in found {
            let kind = study.annotators()[report.annotator as usize];
            let flagged = report.flagged_p_adjusted < 0.05;
            assert_eq!(flagged, kind != Careful, "{seed}: {kind} {report:?}");
            assert_eq!(
                report.left_p_adjusted.unwrap() < 0.05,
                kind == AlwaysLeft,
                "{seed}: {kind}"
            );
            let agreement = report.agreement.unwrap();
            match kind {
                Careful => assert!(agreement > 0.85, "{seed}: {agreement}"),
                Malicious => assert!(agreement < 0.2, "{seed}: {agreement}"),
                Careless | AlwaysLeft => {
                    assert!((0.3..0.7).contains(&agreement), "{seed}: {agreement}");
                }
            }
        }
    }
}

#[test]
fn careful_annotators_are_rarely_significant() {
    let mut significant = [0, 0];
    for seed in 0..50 {
        let annotators = vec![(AnnotatorKind::Careful, 25)];
        let noise = Noise::BradleyTerry { scale: 0.15 };
        let options = SimulateOptions { annotators, noise, seed, ..SimulateOptions::default() };
        let votes: Vec<SimulatedVote> = Simulation::new(&options).unwrap().collect();
        let found = reports(&votes, 16);
        significant[0] += usize::from(found.iter().any(|r| r.flagged_p_adjusted < 0.05));
        significant[1] += usize::from(found.iter().any(|r| r.left_p_adjusted.unwrap() < 0.05));
    }
    assert!(significant.iter().all(|&studies| studies <= 5), "{significant:?}");
}
