//! `next`: the pairs to ask next.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{TestDir, files, number};

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", files::annotated(&files::votes(6, 90)));
    dir
}

fn pairs(json: &Value) -> &[Value] {
    json["pairs"].as_array().expect("pairs")
}

fn names(pair: &Value) -> BTreeSet<&str> {
    ["left", "right"].iter().filter_map(|side| pair[side].as_str()).collect()
}

#[test]
fn pairs_are_listed_in_order_of_their_gain() {
    let dir = dir();
    let json = dir.json(&["next", "v.csv", "--pairs", "30"], b"");
    assert_eq!(json["schema"], "hodgerank/next/1");
    let found = pairs(&json);
    assert_eq!(found.len(), 30);
    let gains: Vec<f64> = found.iter().map(|pair| number(pair, "gain")).collect();
    assert!(gains.windows(2).all(|two| two[1] <= two[0] + 1e-12), "{gains:?}");
    assert!(gains.iter().all(|gain| *gain > 0.0 && *gain < 1.0), "{gains:?}");
    assert!(found.iter().all(|pair| names(pair).len() == 2));
    assert!(number(&json, "se_after") < number(&json, "se_before"));
    let probabilities = found.iter().map(|pair| number(pair, "probability"));
    assert!(probabilities.into_iter().all(|p| p > 0.01 && p < 0.99));
}

#[test]
fn a_seed_changes_sides_only() {
    let dir = dir();
    let run = |seed| dir.json(&["next", "v.csv", "--seed", seed], b"");
    let (one, two) = (run("1"), run("2"));
    assert_eq!(one, run("1"));
    let sets = |json: &Value| -> Vec<BTreeSet<String>> {
        pairs(json)
            .iter()
            .map(|pair| names(pair).into_iter().map(str::to_owned).collect())
            .collect()
    };
    assert_eq!(sets(&one), sets(&two));
}

#[test]
fn pairs_are_shared_out() {
    let dir = TestDir::new();
    dir.write("v.csv", "left,right,winner,annotator\na,b,a,ann\nb,c,b,ann\na,c,a,bob\n");
    dir.write("people.txt", "ann\nbob\ncem\n");
    let run = dir.run(&[
        "next",
        "v.csv",
        "--annotators",
        "people.txt",
        "--pairs",
        "20",
        "--format",
        "json",
    ]);
    let run = run.success();
    // Three pairs for each of three people, of whom ann has answered two and bob one.
    assert!(run.stderr.contains("only 6 of 20 pairs"), "{}", run.stderr);
    let json: Value = serde_json::from_str(run.text()).unwrap();
    let mut of: BTreeMap<&str, Vec<BTreeSet<&str>>> = BTreeMap::new();
    for pair in pairs(&json) {
        of.entry(pair["annotator"].as_str().unwrap()).or_default().push(names(pair));
    }
    assert_eq!(of["ann"], [BTreeSet::from(["a", "c"])]);
    assert_eq!(of["bob"].len(), 2);
    assert_eq!(of["cem"].len(), 3);
    assert!(!of["bob"].contains(&BTreeSet::from(["a", "c"])));
}

#[test]
fn items_without_votes_can_be_asked_about() {
    let dir = TestDir::new();
    dir.write("v.csv", "winner,loser,count\na,b,30\nb,c,30\na,c,30\nb,a,9\nc,b,9\n");
    dir.write("items.txt", "c\n new \nnewer\n");
    let json = dir.json(&["next", "v.csv", "--items", "items.txt", "--pairs", "4"], b"");
    for pair in pairs(&json) {
        assert!(names(pair).iter().any(|name| name.starts_with("new")), "{pair}");
    }
    // Before the first vote.
    let run =
        dir.run(&["next", "--items", "items.txt", "--pairs", "2", "--format", "csv"]).success();
    assert_eq!(run.text().lines().count(), 3, "{}", run.text());
    let reached: BTreeSet<&str> =
        run.text().lines().skip(1).flat_map(|line| line.split(',').take(2)).collect();
    assert_eq!(reached, BTreeSet::from(["c", "new", "newer"]));
    let run = dir.run(&["next", "--items", "items.txt", "--pairs", "1"]).success();
    assert!(run.stderr.contains("use --pairs 2 or more"), "{}", run.stderr);
}

#[test]
fn wrong_options_are_explained() {
    let dir = dir();
    dir.write("empty.txt", "\n\n");
    for (arguments, part) in [
        (&["next"][..], "<FILE>..."),
        (&["next", "v.csv", "--focus", "3"], "expected top=K"),
        (&["next", "v.csv", "--focus", "top=6"], "top=K with K from 1"),
        (&["next", "v.csv", "--pairs", "0"], "expected a whole number"),
        (&["next", "v.csv", "--annotators", "none.txt"], "--annotators none.txt: cannot be read"),
        (&["next", "--items", "empty.txt"], "--items empty.txt"),
        (&["next", "v.csv", "-o", "v.csv"], "v.csv"),
    ] {
        let run = dir.run(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{arguments:?}: {}", run.stderr);
    }
}
