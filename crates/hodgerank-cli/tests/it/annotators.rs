//! Statistics per annotator in the JSON of `rank`.

use crate::support::{TestDir, files, number};
use serde_json::Value;

/// A study of careful, malicious and one-sided annotators.
fn annotated(dir: &TestDir, name: &str) {
    let people = "careful=16,malicious=2,always-left=1";
    let noise = ["--noise", "bradley-terry", "--noise-scale", "0.05"];
    let study = ["simulate", "--items", "12", "--votes", "4000", "--annotators", people];
    dir.run(&[&study[..], &noise, &["-o", name]].concat()).success();
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
        let found = ranked(&dir, &[name, "--method", "iss"], b"");
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
    for format in ["csv", "table"] {
        let run = dir.run(&["rank", "v.csv", "--format", format]).success();
        assert!(!run.text().contains("malicious"), "{}", run.text());
    }
}

/// Columns winner and loser do not say which item was on the left.
#[test]
fn side_statistics_need_sides() {
    let dir = TestDir::new();
    let rows: String = (0..60).map(|n| format!("a,b,ann-{}\n", n % 3)).collect();
    dir.write("v.csv", format!("winner,loser,annotator\n{rows}"));
    let found = ranked(&dir, &["v.csv"], b"");
    let rows = found["annotators"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["left_share"].is_null() && row["left_p"].is_null()));
}

#[test]
fn all_formats_and_standard_input_give_the_same_statistics() {
    let dir = TestDir::new();
    annotated(&dir, "v.csv");
    let expected = ranked(&dir, &["v.csv"], b"");
    for name in ["v.csv.gz", "v.parquet", "v.arrow"] {
        annotated(&dir, name);
        for (source, input) in [(name, Vec::new()), ("-", dir.read(name))] {
            let found = ranked(&dir, &[source], &input);
            assert_eq!(found["annotators"], expected["annotators"], "{name}, {source}");
        }
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
        let found = ranked(&dir, &[source, "--by", "scene", "--outliers", "6%"], &input);
        assert!(found.get("annotators").is_none(), "each value has its own");
        let parts = found["groups_by"].as_array().unwrap();
        assert_eq!(parts.len(), 2);
        for found in parts {
            let rows = found["annotators"].as_array().unwrap();
            let total = |key| rows.iter().map(|row| number(row, key)).sum::<f64>();
            assert_eq!(total("votes"), 2000.0);
            assert_eq!(total("flagged"), number(&found["outliers"], "comparisons"));
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

/// Standard input is copied to a temporary file only if it has to be read twice: for methods that do
/// not judge annotators.
#[cfg(unix)]
#[test]
fn only_json_reads_standard_input_twice() {
    let dir = TestDir::new();
    annotated(&dir, "v.csv");
    let run = |format: &str| {
        let file = std::fs::File::open(dir.path().join("v.csv")).unwrap();
        let mut command = dir.command(&["rank", "-", "--method", "iss", "--format", format]);
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
