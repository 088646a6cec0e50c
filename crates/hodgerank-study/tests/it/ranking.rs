//! The live ranking is that of a fit of all votes.

use hodgerank::{FitOptions, IntervalOptions, RankedStudy, Vote, Votes};
use hodgerank_report::study::live_ranking;
use serde_json::{Value, json};

use crate::client::{Running, id, settings, start};

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

/// The live ranking of so many votes has the bits of a fit of the downloaded votes: scores, intervals, ranges of
/// ranks, tiers.
fn assert_exact(study: &Running, votes: u64) {
    let live = study.live(votes, |_| true);
    let expected = serde_json::to_string(&live_ranking(&batch(study)).unwrap()).unwrap();
    // Through text, as the page reads it.
    assert_eq!(live["ranking"], serde_json::from_str::<Value>(&expected).unwrap());
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
        assert_exact(&study, 12 * (round + 1));
    }
    // One vote more, the same taken back, and one voter less.
    let (secret, state) = &states[0];
    assert_eq!(study.vote(secret, &id(99), state, "left").status, 200);
    assert_exact(&study, 37);
    assert_eq!(study.post("/api/undo", secret, &json!({ "id": id(99) })).status, 200);
    assert_exact(&study, 36);
    let exclude = json!({ "voter": "voter-2", "excluded": true });
    assert_eq!(study.post("/api/owner/exclude", &study.owner(), &exclude).status, 200);
    assert_exact(&study, 24);
}

/// `--until top=1`: when the first place is settled, nobody is asked any more.
#[test]
fn a_study_ends_when_its_places_are_settled() {
    let until = hodgerank_study::store::Settings { until_top: Some(1), ..settings() };
    let study = start(3, Some(60), &until);
    let (mut votes, mut is_over) = (0, false);
    for voter in 0..59 {
        let (secret, mut state) = study.agree(voter);
        // Nearly everybody prefers the item that comes first in the list.
        while let [pair, ..] = state["pairs"].as_array().unwrap().as_slice() {
            let text = |side: &str| study.get(pair[side]["address"].as_str().unwrap(), "").body;
            let is_left = text("left") < text("right");
            let choice = if is_left == (votes % 9 > 0) { "left" } else { "right" };
            votes += 1;
            state = study.vote(&secret, &id(votes), &state, choice).json();
        }
        is_over = state["ended"] == true;
        if is_over {
            assert!(state["voted"].as_u64() < Some(3), "the voter has not seen all pairs: {state}");
            break;
        }
        if voter % 5 == 4 {
            study.live(votes as u64, |_| true);
        }
    }
    assert!(is_over, "{votes} votes settle nothing");
    let live = study.live(votes as u64, |live| live["is_settled"] == true);
    assert_eq!(live["ranking"]["items"][0], "item 0, \"quoted\"");
    let (_, state) = study.agree(59);
    assert_eq!((&state["pairs"], &state["ended"]), (&json!([]), &json!(true)));
}
