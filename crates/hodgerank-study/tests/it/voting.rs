//! Votes, votes sent again, and undoing.

use hodgerank_study::store::Database;
use serde_json::{Value, json};

use crate::client::{id, settings, start};

#[test]
fn a_vote_sent_again_counts_once() {
    let study = start(5, Some(2), &settings());
    let (secret, state) = study.agree(0);
    assert_eq!(state["pairs"].as_array().unwrap().len(), 2);
    for _ in 0..3 {
        assert_eq!(study.vote(&secret, &id(1), &state, "left").status, 200);
    }
    // Another vote on the same pair, and the same id for another pair.
    assert_eq!(study.vote(&secret, &id(2), &state, "right").status, 409);
    let next = study.post("/api/state", &secret, &Value::Null).json();
    assert_eq!(study.vote(&secret, &id(1), &next, "left").status, 409);
    // A pair of somebody else.
    let (other, own) = study.agree(1);
    assert_eq!(study.vote(&other, &id(3), &next, "left").status, 404);
    assert_eq!(study.vote(&other, &id(1), &own, "left").status, 409);
    let votes = Database::open(&study.folder).unwrap().votes().unwrap();
    assert_eq!(votes.len(), 1);
    assert_eq!((votes[0].choice, votes[0].voter.as_str()), (1, "voter-1"));
}

#[test]
fn the_last_vote_can_be_undone() {
    let study = start(5, Some(1), &settings());
    let (secret, first) = study.agree(0);
    let second = study.vote(&secret, &id(1), &first, "left").json();
    study.vote(&secret, &id(2), &second, "tie");
    let undo = |number| study.post("/api/undo", &secret, &json!({ "id": id(number) }));
    // Not the last one; then the last one, twice because the answer may be lost.
    assert_eq!(undo(1).status, 409);
    for _ in 0..2 {
        let state = undo(2).json();
        assert_eq!(state["pairs"][0], second["pairs"][0]);
        assert_eq!((&state["voted"], &state["last"]), (&json!(1), &json!(id(1))));
    }
    assert_eq!(
        study.vote(&secret, &id(2), &second, "tie").status,
        409,
        "an undone vote stays undone"
    );
    assert_eq!(study.vote(&secret, &id(3), &second, "right").status, 200);
    let votes = Database::open(&study.folder).unwrap().votes().unwrap();
    assert_eq!(votes.iter().map(|vote| vote.choice).collect::<Vec<_>>(), [1, -1]);
}

#[test]
fn a_voter_sees_each_pair_once_and_then_the_end() {
    let study = start(5, None, &settings());
    let joined = study.post("/api/join", &study.secret(0), &Value::Null).json();
    let secret = joined["secret"].as_str().unwrap().to_owned();
    let mut state = study.post("/api/state", &secret, &Value::Null).json();
    assert_eq!(state["pairs"], json!([]), "nothing is shown before the voter agrees");
    state = study.post("/api/consent", &secret, &Value::Null).json();
    let mut pairs = std::collections::BTreeSet::new();
    for number in 0..10 {
        let item = |side: &str| state["pairs"][0][side]["address"].as_str().unwrap().to_owned();
        let (left, right) = (item("left"), item("right"));
        assert!(pairs.insert((left.clone().min(right.clone()), left.max(right))));
        let reloaded = study.post("/api/state", &secret, &Value::Null).json();
        assert_eq!(reloaded["pairs"], state["pairs"], "a reload shows the same pairs");
        state = study.vote(&secret, &id(number), &state, "right").json();
    }
    assert_eq!((&state["pairs"], &state["voted"]), (&json!([]), &json!(10)));
}

#[test]
fn ties_only_where_they_are_allowed() {
    let study = start(3, Some(1), &hodgerank_study::store::Settings { ties: false, ..settings() });
    let (secret, state) = study.agree(0);
    assert_eq!(study.vote(&secret, &id(1), &state, "tie").status, 400);
    assert_eq!(study.vote(&secret, &id(1), &state, "both").status, 422);
    assert_eq!(study.vote(&secret, "short", &state, "left").status, 400);
    assert_eq!(study.vote(&secret, &id(1), &state, "left").status, 200);
}

/// Another program holds the database: the voter is told, and nothing is stored.
#[test]
fn a_locked_database_is_reported_and_the_server_goes_on() {
    let study = start(4, Some(1), &settings());
    let (secret, state) = study.agree(0);
    let other = rusqlite::Connection::open(study.folder.join("study.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(study.vote(&secret, &id(1), &state, "left").status, 503);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(study.vote(&secret, &id(1), &state, "left").status, 200);
    assert_eq!(Database::open(&study.folder).unwrap().votes().unwrap().len(), 1);
}
