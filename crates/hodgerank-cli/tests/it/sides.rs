//! `bt` estimates an advantage of the left side where sides are known, whatever the format of the votes.

use std::sync::Arc;

use crate::support::TestDir;
use crate::support::files::{Vote, annotated, batch, json_lines, parquet, separated};
use hodgerank::{FitOptions, Method, SideCounts, Study, Votes};
use hodgerank_io::{ReadOptions, read};
use serde_json::Value;

/// Pseudo-random votes, every tenth a tie: the smaller number usually wins, more often on the left.
fn votes(number: usize) -> Vec<Vote> {
    let mut state = 0x853c_49e6_748f_ea9b_u64;
    let mut draw = move |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let vote = |_| {
        let left = draw(12);
        let right = (left + 1 + draw(11)) % 12;
        // Half of 32 votes, more if the left item is the better one, and five for its side.
        let chance = 16 + right + 5 - left;
        let outcome = match draw(10) {
            0 => "tie",
            _ if draw(32) < chance => "left",
            _ => "right",
        };
        (format!("clip-{left}"), format!("clip-{right}"), outcome)
    };
    (0..number).map(vote).collect()
}

/// Votes as CSV without sides; ties are left out.
fn winners(votes: &[Vote]) -> String {
    let row = |(left, right, outcome): &Vote| match *outcome {
        "left" => format!("{left},{right}\n"),
        "right" => format!("{right},{left}\n"),
        _ => String::new(),
    };
    std::iter::once("winner,loser\n".to_owned()).chain(votes.iter().map(row)).collect()
}

fn study(dir: &TestDir, files: &[&str], options: &ReadOptions) -> Study {
    let path = |file: &&str| dir.path().join(file).to_str().unwrap().to_owned();
    let files: Vec<String> = files.iter().map(path).collect();
    read(&files, options, &Arc::default()).unwrap().studies.remove(0)
}

#[test]
fn side_counts_are_the_same_however_votes_are_read() {
    let (votes, dir) = (votes(2000), TestDir::new());
    let mut in_memory = Votes::new();
    for (left, right, outcome) in &votes {
        let y = match *outcome {
            "left" => 1.0,
            "right" => -1.0,
            _ => 0.0,
        };
        in_memory.add(hodgerank::Vote::new(left, right, y));
    }
    let expected: Option<SideCounts> = in_memory.study().unwrap().sides;
    assert!(expected.is_some());
    let (some, others) = votes.split_at(700);
    dir.write("votes.csv", separated(&votes, ","));
    dir.write("votes.jsonl", json_lines(&votes));
    dir.write("votes.parquet", parquet(&batch(&votes), 300));
    dir.write("annotated.csv", annotated(&votes));
    dir.write("some.csv", annotated(some));
    dir.write("others.csv", separated(others, ","));
    dir.write("winners.csv", winners(others));
    for threads in [1, 3] {
        let counted = ReadOptions { sides: true, threads, ..Default::default() };
        for file in ["votes.csv", "votes.jsonl", "votes.parquet", "annotated.csv"] {
            assert_eq!(study(&dir, &[file], &counted).sides, expected, "{file}");
        }
        let kept = ReadOptions { annotator_votes: true, ..counted.clone() };
        assert_eq!(study(&dir, &["votes.parquet"], &kept).sides, expected);
        // Sides of votes that are kept follow from them.
        let found = study(&dir, &["annotated.csv"], &kept);
        assert_eq!(found.sides, None);
        let votes = found.annotator_votes.unwrap();
        assert_eq!(votes.side_counts(found.items.len()), expected);
        assert_eq!(study(&dir, &["some.csv", "others.csv"], &kept).sides, expected);
        // A single table without sides is enough.
        assert_eq!(study(&dir, &["winners.csv"], &counted).sides, None);
        assert_eq!(study(&dir, &["some.csv", "winners.csv"], &counted).sides, None);
        assert_eq!(study(&dir, &["some.csv", "winners.csv"], &kept).sides, None);
        let nothing = ReadOptions { threads, ..Default::default() };
        assert_eq!(study(&dir, &["votes.csv"], &nothing).sides, None);
    }
    let bt = FitOptions::new().method(Method::BradleyTerry);
    assert_eq!((bt.uses_sides(), bt.uses_annotators()), (true, false));
    assert!(FitOptions::new().uses_sides());
    assert!(!FitOptions::new().method(Method::L2).uses_sides());
}

fn advantage(document: &Value) -> f64 {
    document["method"]["side_advantage"].as_f64().unwrap()
}

#[test]
fn the_advantage_is_estimated_from_any_file_with_sides() {
    let (votes, dir) = (votes(4000), TestDir::new());
    dir.write("votes.csv", separated(&votes, ","));
    dir.write("votes.jsonl", json_lines(&votes));
    dir.write("votes.parquet", parquet(&batch(&votes), 500));
    dir.write("annotated.csv", annotated(&votes));
    dir.write("winners.csv", winners(&votes));
    let turned = |(left, right, outcome): &Vote| {
        let outcome = ["right", "left", "tie"][match *outcome {
            "left" => 0,
            "right" => 1,
            _ => 2,
        }];
        (right.clone(), left.clone(), outcome)
    };
    dir.write("turned.csv", separated(&votes.iter().map(turned).collect::<Vec<_>>(), ","));
    let expected = dir.rank_json(&["votes.csv"]);
    assert_eq!(expected["method"]["name"], "bt");
    assert!((0.4..1.0).contains(&advantage(&expected)), "{:#}", expected["method"]);
    for arguments in [
        &["votes.jsonl", "--threads", "1"][..],
        &["votes.parquet", "--threads", "3"],
        &["annotated.csv", "--method", "bt"],
    ] {
        let found = dir.rank_json(arguments);
        // Intervals depend on who voted.
        let scores = |document: &Value| -> Vec<(Value, Value)> {
            let rows = document["ranking"].as_array().unwrap().iter();
            rows.map(|row| (row["item"].clone(), row["score"].clone())).collect()
        };
        assert_eq!(scores(&found), scores(&expected), "{arguments:?}");
        assert_eq!(advantage(&found), advantage(&expected), "{arguments:?}");
    }
    let turned = dir.rank_json(&["turned.csv"]);
    assert!((advantage(&turned) + advantage(&expected)).abs() < 1e-9);
    assert_eq!(advantage(&dir.rank_json(&["winners.csv", "--method", "bt"])), 0.0);
    // `compare` has the votes of annotators, from which the sides follow.
    let scores = |file: &str| {
        let arguments = ["compare", file, "--methods", "bt,l2", "--format", "json", "--quiet"];
        let with_crowd = ["compare", file, "--methods", "bt,crowd", "--format", "json", "--quiet"];
        let arguments = if file == "annotated.csv" { with_crowd } else { arguments };
        dir.run(&arguments).success().json()["comparisons"][0]["methods"][0]["scores"].clone()
    };
    assert_eq!(scores("annotated.csv"), scores("votes.csv"));
}
