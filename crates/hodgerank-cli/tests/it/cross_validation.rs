//! `--outliers cv`: the curve in the JSON, and errors.

use crate::support::{Run, TestDir};
use serde_json::Value;

/// Graded votes, some of them flipped.
fn dir(votes: &str) -> TestDir {
    let dir = TestDir::new();
    let noise = ["--noise", "gaussian", "--sigma", "0.05", "--flips", "5%", "--graded"];
    let study = ["simulate", "--items", "12", "--votes", votes, "-o", "v.csv"];
    dir.run(&[&study[..], &noise].concat()).success();
    dir
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn the_json_contains_the_curve() {
    let dir = dir("300");
    let cv = ["v.csv", "--method", "hlasso", "--outliers", "cv=4", "--seed", "7"];
    let json = dir.rank_json(&cv);
    let found = &json["method"]["cv"];
    assert_eq!((&found["folds"], &found["seed"]), (&Value::from(4), &Value::from(7)));
    let curve = found["curve"].as_array().unwrap();
    assert!(curve.len() > 10);
    assert!(curve.is_sorted_by(|a, b| number(&a["lambda"]) > number(&b["lambda"])));
    let kind = if found["refitted"] == true { "refit_error" } else { "error" };
    let least = |key| curve.iter().map(|at| number(&at[key])).fold(f64::INFINITY, f64::min);
    let chosen = curve.iter().find(|at| at["lambda"] == found["lambda"]).unwrap();
    assert_eq!(number(&chosen[kind]), least("error").min(least("refit_error")));
    assert!(number(&chosen["standard_error"]) > 0.0);
    assert!(number(&chosen["refit_standard_error"]) > 0.0);
    assert_eq!(json["method"]["lambda"], found["lambda"]);
    let flagged = number(&json["outliers"]["comparisons"]);
    assert!(flagged > 3.0 && flagged < 40.0, "{flagged} votes of 300");

    let iss = dir.rank_json(&["v.csv", "--outliers", "cv=4", "--seed", "7"]);
    assert_eq!(&iss["method"]["cv"], found);
    assert_eq!(number(&iss["outliers"]["comparisons"]), flagged);
    let other = dir.rank_json(&["v.csv", "--outliers", "cv=4", "--seed", "8"]);
    assert_ne!(other["method"]["cv"]["curve"], found["curve"]);
    let default = dir.rank_json(&["v.csv", "--outliers", "cv"]);
    assert_eq!(
        (&default["method"]["cv"]["folds"], &default["method"]["cv"]["seed"]),
        (&5.into(), &0.into())
    );
    assert!(dir.rank_json(&["v.csv"])["method"].get("cv").is_none());
}

#[test]
fn results_do_not_depend_on_threads() {
    let dir = dir("200");
    let run = |threads: &str| -> Run {
        let cv = ["rank", "v.csv", "--format", "json", "--outliers", "cv", "--threads", threads];
        dir.run(&cv).success()
    };
    assert_eq!(run("1").stdout, run("3").stdout);
}

#[test]
fn other_commands_accept_the_rule() {
    let dir = dir("200");
    for command in ["outliers", "clean", "compare", "path"] {
        dir.run(&[command, "v.csv", "--outliers", "cv=3"]).success();
    }
}

#[test]
fn unsuitable_votes_are_rejected() {
    let dir = dir("4001");
    dir.write("tree.csv", "winner,loser\na,b\nb,c\nc,d\n");
    let cases: [(&[&str], &[&str]); 6] = [
        (&["v.csv", "--outliers", "cv"], &["too many votes", "4001", "4000", "auto and scaled"]),
        (
            &["tree.csv", "--outliers", "cv"],
            &["at least 10 independent cycles", "have 0", "fewer folds", "auto"],
        ),
        (&["tree.csv", "--outliers", "cv=1"], &["cv=1: expected 2 folds or more"]),
        (&["tree.csv", "--outliers", "cv=x"], &["expected a share", "cv=FOLDS"]),
        (&["tree.csv", "--seed", "3"], &["--seed is an option of --outliers cv", "help: "]),
        (&["tree.csv", "--outliers", "5%", "--seed", "3"], &["--seed is an option"]),
    ];
    for (arguments, parts) in cases {
        let run = dir.run(&[&["rank"], arguments].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stdout.is_empty());
        for part in parts {
            assert!(run.stderr.contains(part), "{arguments:?}: no {part:?} in {}", run.stderr);
        }
    }
}
