//! The live ranking is that of a fit of all votes.

use std::time::{Duration, Instant};

use hodgerank::{FitOptions, IntervalOptions, RankedStudy, Vote, Votes};
use serde_json::Value;

use crate::client::{Running, id, settings, start};

/// The owner's page once it has so many votes.
fn live(study: &Running, votes: u64) -> Value {
    let start = Instant::now();
    loop {
        let state = study.post("/api/owner/state", &study.owner(), &Value::Null).json();
        if state["live"]["votes"] == votes {
            return state["live"].clone();
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{state}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The fit of the downloaded votes.
fn batch(study: &Running) -> RankedStudy {
    let text = study.post("/api/owner/votes.csv", &study.owner(), &Value::Null).body;
    let mut votes = Votes::new();
    for line in text.lines().skip(1) {
        // Labels have a comma and quotes: "item 1, ""quoted""".
        let fields: Vec<&str> = line.split("\"\"\",").collect();
        let label =
            |field: &str| format!("{}\"", field.trim_start_matches('"').replace("\"\"", "\""));
        let rest: Vec<&str> = fields[2].split(',').collect();
        let outcome = match rest[0] {
            "left" => 1.0,
            "right" => -1.0,
            _ => 0.0,
        };
        let (left, right) = (label(fields[0]), label(fields[1]));
        votes.add(Vote::new(&left, &right, outcome).annotator(rest[1]));
    }
    let ranked = RankedStudy::new(votes.study().unwrap(), 0, &FitOptions::default()).unwrap();
    ranked.with_uncertainty(&IntervalOptions::default()).unwrap()
}

#[test]
fn a_vote_changes_the_ranking_as_a_fit_of_all_votes_does() {
    let study = start(6, Some(3), &settings());
    let mut number = 0;
    let mut states: Vec<(String, Value)> = (0..3).map(|voter| study.agree(voter)).collect();
    for round in 0..3 {
        for (secret, state) in &mut states {
            for _ in 0..4 {
                number += 1;
                let choice = ["left", "right", "left", "tie", "right"][number % 5];
                *state = study.vote(secret, &id(number), state, choice).json();
            }
        }
        let (live, ranked) = (live(&study, 12 * (round + 1)), batch(&study));
        let rows: Vec<_> = ranked.rows().collect();
        let places = live["ranking"].as_array().unwrap();
        assert_eq!(places.len(), rows.len());
        for (place, row) in places.iter().zip(rows) {
            assert_eq!(place["item"], row.item);
            assert_eq!(place["rank"], row.rank);
            assert_eq!(place["score"].as_f64(), Some(row.score), "the same bits");
            let worst = row.rank_range.map(|range| u64::from(range.1));
            assert_eq!(place["rank_high"].as_u64(), worst);
        }
    }
}
