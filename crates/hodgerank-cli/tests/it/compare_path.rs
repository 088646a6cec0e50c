//! `compare` and `path`.

use crate::support::TestDir;
use serde_json::Value;

fn study(dir: &TestDir) {
    dir.run(&[
        "simulate", "--items", "10", "--votes", "1500", "--flips", "10%", "--seed", "4", "-o",
        "v.csv",
    ])
    .success();
}

#[track_caller]
fn json(dir: &TestDir, arguments: &[&str]) -> Value {
    dir.json(&[arguments, &["--quiet"]].concat(), b"")
}

#[test]
fn compare_agrees_with_rank_of_each_method() {
    let dir = TestDir::new();
    study(&dir);
    let document = json(&dir, &["compare", "v.csv", "--outliers", "10%"]);
    assert_eq!(document["schema"], "hodgerank/compare/1");
    let comparison = &document["comparisons"][0];
    let methods = comparison["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 10);
    for (index, method) in methods.iter().enumerate() {
        assert_eq!(comparison["kendall"][index][index], 1.0);
        let name = method["name"].as_str().unwrap();
        let flags = !["l2", "ridge", "pc-lasso"].contains(&name);
        let outliers = if flags { &["--outliers", "10%"][..] } else { &[] };
        let alone = json(&dir, &[&["rank", "v.csv", "--method", name], outliers].concat());
        for row in alone["ranking"].as_array().unwrap() {
            let items = comparison["items"].as_array().unwrap();
            let item = items.iter().position(|item| item == &row["item"]).unwrap();
            assert_eq!(method["ranks"][item], row["rank"], "{name}");
        }
        assert_eq!(method["flagged"].as_u64().unwrap() > 0, flags, "{name}");
    }
    let refused = dir.run(&["compare", "v.csv", "--method", "l2"]);
    assert_eq!(refused.code, Some(2));
}

#[test]
fn paths_start_at_l2_and_end_at_the_scores_of_rank() {
    let dir = TestDir::new();
    study(&dir);
    let l2 = json(&dir, &["rank", "v.csv", "--method", "l2"]);
    for method in ["hlasso", "lbi", "iss"] {
        let options = ["v.csv", "--method", method, "--outliers", "10%"];
        let path = json(&dir, &[&["path"][..], &options].concat());
        let lines = path["lines"].as_array().unwrap();
        let score = |lines: &[Value], item: &Value| {
            lines.iter().find(|line| line["item"] == *item).unwrap()["score"].as_f64().unwrap()
        };
        let end = json(&dir, &[&["rank"][..], &options].concat());
        for (ranking, lines) in [(&l2, &lines[..10]), (&end, &lines[lines.len() - 10..])] {
            for row in ranking["ranking"].as_array().unwrap() {
                let (found, expected) =
                    (score(lines, &row["item"]), row["score"].as_f64().unwrap());
                assert!((found - expected).abs() < 1e-8, "{method}: {found} {expected}");
            }
        }
        let events = [&["path"][..], &options, &["--what", "events"]].concat();
        let events = json(&dir, &events);
        let entered: u64 = events["lines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| {
                let votes = line["event"]["votes"].as_u64().unwrap();
                if line["event"]["change"] == "entered" { votes } else { 0 }
            })
            .sum();
        assert!(entered >= 150, "{method}: {entered}");
    }
    assert_eq!(dir.run(&["path", "v.csv", "--method", "l2"]).code, Some(2));
}

#[test]
fn long_tables_are_csv_and_parquet() {
    let dir = TestDir::new();
    study(&dir);
    for (command, header) in [
        (&["compare", "v.csv", "--methods", "l2,iss"][..], "item,method,rank,score,differs"),
        (&["path", "v.csv", "--method", "iss", "--outliers", "5%"], "knot,time,item,score"),
    ] {
        let csv = dir.run(&[command, &["--format", "csv", "--quiet"]].concat());
        let csv = String::from_utf8(csv.stdout).unwrap();
        assert_eq!(csv.lines().next(), Some(header));
        let parquet = dir.run(&[command, &["--format", "parquet", "--quiet"]].concat());
        assert_eq!(&parquet.stdout[..4], b"PAR1");
    }
}
