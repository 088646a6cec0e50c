//! Results are what was asked for, or the program says so.

use crate::support::TestDir;
use serde_json::Value;

const ONE_GROSS_OUTCOME: &[u8] =
    b"left,right,y\na,b,1\na,b,1\na,b,4\na,b,1\nb,c,1\na,c,2\na,c,1000\na,c,2\n";

/// Two triples, connected by two opposite votes.
const TWO_TRIPLES: &[u8] =
    b"winner,loser\na1,a2\na2,a3\na1,a3\nb1,b2\nb2,b3\nb1,b3\na1,b1\nb1,a1\n";

#[test]
fn lambda_is_reached_however_large_the_largest_residual() {
    let dir = TestDir::new();
    for method in ["hlasso", "lasso-l2"] {
        let arguments = ["rank", "-", "--method", method, "--lambda", "1"];
        let found = dir.json(&arguments, ONE_GROSS_OUTCOME);
        assert_eq!(found["method"]["lambda"], 1.0, "{method}");
        assert_eq!(found["status"], "complete", "{method}");
        let certificate = &found["certificate"];
        assert_eq!(certificate["asked"]["lambda"], 1.0);
        assert_eq!(certificate["reached"]["lambda"], 1.0);
        let violation = certificate["violation"].as_f64().unwrap();
        assert!(violation <= certificate["max_violation"].as_f64().unwrap());
        assert_eq!(certificate["components"], 1);
    }
}

#[test]
fn fewer_flagged_votes_than_requested_are_reported() {
    let dir = TestDir::new();
    let votes = b"left,right,y\na,b,1\nb,c,1\na,c,2\na,c,2\na,c,-3\n";
    for method in ["hlasso", "lasso-l2", "iss", "lbi"] {
        let arguments = ["rank", "-", "--method", method, "--outliers", "4"];
        let run = dir.run_with_stdin(&[&arguments[..], &["--format", "json"]].concat(), votes);
        let found: Value = run.success().json();
        assert_eq!(found["status"], "not-reached", "{method}");
        assert_eq!(found["certificate"]["asked"]["votes"], 4.0, "{method}");
        let reached = found["certificate"]["reached"]["votes"].as_f64().unwrap();
        assert!(reached < 4.0, "{method}: {reached}");
        let warning = found["warnings"][0].as_str().unwrap();
        assert!(warning.contains("4 votes were to be flagged"), "{method}: {warning}");
    }
}

#[test]
fn items_that_trusted_votes_do_not_connect_are_not_put_on_one_scale() {
    let dir = TestDir::new();
    let arguments = ["rank", "-", "--method", "lasso-l2", "--lambda", "0.5"];
    let run = dir.run_with_stdin(&[&arguments[..], &["--format", "json"]].concat(), TWO_TRIPLES);
    let found: Value = run.clone().success().json();
    assert!(run.stderr.contains("fall into 2 components"), "{}", run.stderr);
    assert_eq!(found["status"], "disconnected");
    assert_eq!(found["input"]["components"], 1, "all votes together connect the items");
    assert_eq!(found["certificate"]["components"], 2);
    assert_eq!(found["components"].as_array().unwrap().len(), 2);
    for row in found["ranking"].as_array().unwrap() {
        let of_a = row["item"].as_str().unwrap().starts_with('a');
        assert_eq!(row["component"], if of_a { 1 } else { 2 });
    }
    let refused = [&arguments[..], &["--require-connected"]].concat();
    let run = dir.run_with_stdin(&refused, TWO_TRIPLES);
    assert_eq!((run.code, run.stdout.len()), (Some(3), 0), "{}", run.stderr);
    assert!(run.stderr.contains("without the flagged votes"), "{}", run.stderr);
    let accepted = ["rank", "-", "--require-connected", "--method", "hlasso", "--lambda", "0.5"];
    dir.run_with_stdin(&accepted, TWO_TRIPLES).success();
}

#[test]
fn the_order_of_rows_does_not_order_annotators() {
    let dir = TestDir::new();
    let rows = ["zoe,a,b", "ann,a,b", "w10,b,c", "w2,b,c", "zoe,a,c", "ann,a,c"];
    let file = |rows: &[&str]| format!("annotator,winner,loser\n{}\n", rows.join("\n"));
    dir.write("forward.csv", file(&rows));
    let backward: Vec<&str> = rows.iter().rev().copied().collect();
    dir.write("backward.csv", file(&backward));
    let names = |document: &Value| -> Vec<String> {
        let annotators = document["annotators"].as_array().unwrap();
        annotators.iter().map(|a| a["annotator"].as_str().unwrap().to_owned()).collect()
    };
    for name in ["forward.csv", "backward.csv"] {
        for arguments in [&["rank", name][..], &["annotators", name]] {
            let document = dir.json(arguments, b"");
            assert_eq!(names(&document), ["ann", "w2", "w10", "zoe"], "{arguments:?}");
        }
    }
}

#[test]
fn compare_leaves_out_methods_that_do_not_support_so_many_items() {
    let dir = TestDir::new();
    let mut votes = "winner,loser\n".to_owned();
    for i in 0..2500 {
        votes.push_str(&format!("i{i},i{}\ni{i},i{}\n", i + 1, (i + 7) % 2501));
    }
    dir.write("v.csv", votes);
    let run = dir.run(&["compare", "v.csv", "--outliers", "1%", "--format", "json"]).success();
    assert!(run.stderr.contains("pc-lasso is left out"), "{}", run.stderr);
    let document = run.json();
    let methods = document["comparisons"][0]["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 9);
    assert!(methods.iter().all(|method| method["name"] != "pc-lasso"));
    let run = dir.run(&["compare", "v.csv", "--methods", "l2,pc-lasso"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}
