//! Statistics per annotator: `outliers --annotators`, and the same list in the JSON of `rank`.

use crate::support::{Run, TestDir, files, number};
use serde_json::Value;

/// A study of careful, malicious and one-sided annotators.
fn annotated(dir: &TestDir, name: &str) {
    let people = "careful=16,malicious=2,always-left=1";
    let noise = ["--noise", "bradley-terry", "--noise-scale", "0.05"];
    let study = ["simulate", "--items", "12", "--votes", "4000", "--annotators", people];
    dir.run(&[&study[..], &noise, &["-o", name]].concat()).success();
}

#[track_caller]
fn annotators(dir: &TestDir, arguments: &[&str], input: &[u8]) -> Value {
    dir.json(&[&["outliers", "--annotators"], arguments].concat(), input)
}

#[track_caller]
fn ranked(dir: &TestDir, arguments: &[&str], input: &[u8]) -> Value {
    dir.json(&[&["rank"], arguments].concat(), input)
}

#[test]
fn bad_annotators_are_found() {
    let dir = TestDir::new();
    for name in ["v.csv", "v.parquet"] {
        annotated(&dir, name);
        let found = annotators(&dir, &[name], b"");
        assert_eq!(found["schema"], "hodgerank/annotators/1");
        let rows = found["annotators"].as_array().unwrap();
        assert_eq!(rows.len(), 19);
        for (row, kind) in rows.iter().zip(["malicious", "malicious", "always-left", "careful"]) {
            let is_good = kind == "careful";
            assert!(row["annotator"].as_str().unwrap().starts_with(kind), "{name}: {row}");
            assert_eq!(number(row, "flagged_p_adjusted") > 0.01, is_good, "{row}");
            assert_eq!(number(row, "agreement") > 0.8, is_good, "{row}");
            let (low, high) = (number(row, "flagged_low"), number(row, "flagged_high"));
            assert!((low..high).contains(&number(row, "flagged_share")), "{row}");
        }
        assert_eq!(number(&rows[2], "left_share"), 1.0);
        assert!(number(&rows[2], "left_p_adjusted") < 1e-6);
        let total = |key| rows.iter().map(|row| number(row, key)).sum::<f64>();
        assert_eq!(total("votes"), 4000.0);
        assert_eq!(total("flagged"), number(&found["outliers"], "comparisons"));
    }
    let table = dir.run(&["outliers", "v.csv", "--annotators"]).success();
    assert!(table.text().contains("malicious-"), "{}", table.text());
    let csv = dir.run(&["outliers", "v.csv", "--annotators", "--format", "csv"]).success();
    assert!(csv.text().starts_with("annotator,votes,agreement,flagged,flagged_share,"));
}

/// Columns winner and loser do not say which item was on the left.
#[test]
fn side_statistics_need_sides() {
    let dir = TestDir::new();
    let rows: String = (0..60).map(|n| format!("a,b,ann-{}\n", n % 3)).collect();
    dir.write("v.csv", format!("winner,loser,annotator\n{rows}"));
    let found = annotators(&dir, &["v.csv"], b"");
    let rows = found["annotators"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["left_share"].is_null() && row["left_p"].is_null()));
}

/// The list of annotators in the output, as text.
fn list_of(run: &Run) -> &str {
    let text = run.text();
    let start = text.find("  \"annotators\": [").expect("the list begins");
    let length = text[start..].find("\n  ]").expect("the list ends");
    &text[start..start + length]
}

/// The JSON of `rank` contains the list of `outliers --annotators`.
#[test]
fn the_json_of_rank_contains_annotators() {
    let dir = TestDir::new();
    for name in ["v.csv", "v.csv.gz", "v.parquet", "v.arrow"] {
        annotated(&dir, name);
        for (source, input) in [(name, Vec::new()), ("-", dir.read(name))] {
            let run = |command: &[&str]| {
                let all = [command, &[source, "--format", "json"]].concat();
                dir.run_with_stdin(&all, &input).success()
            };
            let (expected, found) = (run(&["outliers", "--annotators"]), run(&["rank"]));
            // The same text: fields and annotators in the same order.
            assert_eq!(list_of(&found), list_of(&expected), "{name}, {source}");
            let (expected, found) = (expected.json(), found.json());
            assert_eq!(found["annotators"].as_array().unwrap().len(), 19, "{name}");
            for key in ["annotators", "input", "method", "outliers", "status"] {
                assert_eq!(found[key], expected[key], "{name}, {source}: {key}");
            }
        }
    }
    for format in ["csv", "table"] {
        let run = dir.run(&["rank", "v.csv", "--format", format]).success();
        assert!(!run.text().contains("malicious"), "{}", run.text());
    }
}

#[test]
fn annotators_are_listed_per_study() {
    let dir = TestDir::new();
    annotated(&dir, "v.csv");
    let text = String::from_utf8(dir.read("v.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let row = |(n, row): (usize, &str)| format!("{row},scene-{}\n", n % 2);
    let rows: String = rows.lines().enumerate().map(row).collect();
    dir.write("by.csv", format!("{header},scene\n{rows}"));
    dir.write("by.csv.gz", files::gzip(dir.read("by.csv")));
    for (source, input) in
        [("by.csv", Vec::new()), ("by.csv.gz", Vec::new()), ("-", dir.read("by.csv.gz"))]
    {
        let arguments = [source, "--by", "scene", "--outliers", "6%"];
        let expected = annotators(&dir, &arguments, &input);
        let found = ranked(&dir, &arguments, &input);
        assert!(found.get("annotators").is_none(), "each value has its own");
        let parts = |document: &Value| document["groups_by"].as_array().unwrap().clone();
        assert_eq!(parts(&found).len(), 2);
        for (found, expected) in parts(&found).iter().zip(&parts(&expected)) {
            assert_eq!(found["by"], expected["by"]);
            assert_eq!(found["annotators"], expected["annotators"], "{source}");
            let votes = found["annotators"].as_array().unwrap().iter();
            assert_eq!(votes.map(|row| number(row, "votes")).sum::<f64>(), 2000.0);
        }
    }
}

#[test]
fn annotators_need_a_column() {
    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&files::votes(6, 200), ","));
    assert!(ranked(&dir, &["v.csv"], b"").get("annotators").is_none());
    assert!(ranked(&dir, &["-"], &dir.read("v.csv")).get("annotators").is_none());
    // A column without names gives an empty list and a warning.
    dir.write("nobody.csv", "winner,loser,annotator\na,b,\na,b,\n");
    let run = dir.run(&["rank", "nobody.csv", "--format", "json"]).success();
    assert_eq!(run.json()["annotators"], Value::Array(Vec::new()));
    assert!(run.stderr.contains("2 votes have no annotator"), "{}", run.stderr);
}

/// Standard input is copied to a temporary file only if it has to be read twice.
#[cfg(unix)]
#[test]
fn only_json_reads_standard_input_twice() {
    let dir = TestDir::new();
    annotated(&dir, "v.csv");
    let run = |format: &str| {
        let file = std::fs::File::open(dir.path().join("v.csv")).unwrap();
        let mut command = dir.command(&["rank", "-", "--format", format]);
        command.env("TMPDIR", dir.path().join("missing")).stdin(file);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for format in ["csv", "table", "parquet"] {
        assert_eq!(run(format).0, Some(0), "{format}");
    }
    let (code, message) = run("json");
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("cannot be copied to a temporary file in"), "{message}");
}
