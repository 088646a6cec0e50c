//! The chart and the table of a study that still collects votes.

use hodgerank::{FitOptions, IntervalOptions, RankedStudy, Vote, Votes};
use hodgerank_report::chart::{Mark, Ticks};
use hodgerank_report::study::{live_ranking, votes_per_minute};
use hodgerank_report::table::Values;

/// Items 0 to `items`, of which the one with the smaller number wins three of four votes.
fn votes(prefix: &str, items: usize, all: &mut Votes) {
    for i in 0..items {
        for j in i + 1..items {
            for voter in 0..4 {
                let outcome = if (i + j + voter) % 4 == 0 { -1.0 } else { 1.0 };
                let (left, right) = (format!("{prefix}{i}"), format!("{prefix}{j}"));
                all.add(Vote::new(&left, &right, outcome).annotator(&format!("voter {voter}")));
            }
        }
    }
}

fn ranked(all: &Votes) -> RankedStudy {
    let ranked = RankedStudy::new(all.clone().study().unwrap(), 0, &FitOptions::default()).unwrap();
    ranked.with_uncertainty(&IntervalOptions::default()).unwrap()
}

#[test]
fn a_ranking_has_scores_intervals_and_tiers() {
    let mut all = Votes::new();
    votes("item ", 8, &mut all);
    let study = ranked(&all);
    let live = live_ranking(&study).unwrap();
    let scores: Vec<f64> = study.rows().map(|row| row.score + 0.0).collect();
    let has = |wanted: &dyn Fn(&Mark) -> bool| live.chart.marks.iter().any(wanted);
    assert!(has(&|mark| matches!(mark, Mark::Points { x, .. } if *x == scores)));
    assert!(has(&|mark| matches!(mark, Mark::Intervals { x0, .. } if x0.len() == 8)));
    assert!(has(&|mark| matches!(mark, Mark::Bands { .. })));
    let Ticks::Labels { labels } = &live.chart.y.ticks else { panic!("{:?}", live.chart.y) };
    assert!(labels[0].starts_with("1. item "), "{labels:?}");
    let ids: Vec<&str> = live.table.columns.iter().map(|column| column.id.as_str()).collect();
    assert_eq!(ids, ["rank", "item", "score", "margin", "tier", "votes"]);
    let names: Vec<&str> = study.rows().map(|row| row.item).collect();
    assert_eq!(live.items, names);
    assert!(live.help.is_some_and(|help| help.contains("95% intervals")));
}

#[test]
fn components_are_told_apart_and_long_rankings_are_cut() {
    let mut all = Votes::new();
    votes("large ", 45, &mut all);
    votes("small ", 3, &mut all);
    let live = live_ranking(&ranked(&all)).unwrap();
    let Ticks::Labels { labels } = &live.chart.y.ticks else { panic!("{:?}", live.chart.y) };
    assert!(labels.len() == 40 && labels.iter().all(|label| label.contains("large")), "{labels:?}");
    let note = live.chart.note.unwrap();
    assert!(note.contains("The best 40 of 45 items") && note.contains("component"), "{note}");
    let column = live.table.columns.last().unwrap();
    assert_eq!(column.id, "component");
    assert!(matches!(&column.values, Values::Whole(values) if values.len() == 48));
}

#[test]
fn votes_per_minute_are_bars_from_left_to_right() {
    let chart = votes_per_minute(&[3, 0, 7]);
    let [Mark::Bars { x0, y1, .. }] = &chart.marks[..] else { panic!("{:?}", chart.marks) };
    assert!(x0[0] > x0[1] && x0[1] > x0[2], "the last minute is on the right");
    assert_eq!((y1.as_slice(), chart.y.to), ([3.0, 0.0, 7.0].as_slice(), 7.0));
    assert!(chart.alt.contains("3 votes in the last one, and at most 7"), "{}", chart.alt);
    assert!(votes_per_minute(&[0; 30]).y.to > 0.0);
}
