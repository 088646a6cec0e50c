//! Who cast the votes: `outliers --annotators`, and the same in the JSON of `rank`.

use crate::support::{Place, Run, files, number};
use serde_json::Value;

/// A study of careful, malicious and one-sided annotators.
fn annotated(place: &Place, name: &str) {
    let people = "careful=16,malicious=2,always-left=1";
    let noise = ["--noise", "bradley-terry", "--noise-scale", "0.05"];
    let study = ["simulate", "--items", "12", "--votes", "4000", "--annotators", people];
    place.run(&[&study[..], &noise, &["-o", name]].concat()).good();
}

#[track_caller]
fn annotators(place: &Place, arguments: &[&str], input: &[u8]) -> Value {
    place.json(&[&["outliers", "--annotators"], arguments].concat(), input)
}

#[track_caller]
fn ranked(place: &Place, arguments: &[&str], input: &[u8]) -> Value {
    place.json(&[&["rank"], arguments].concat(), input)
}

#[test]
fn bad_annotators_are_found() {
    let place = Place::new();
    for name in ["v.csv", "v.parquet"] {
        annotated(&place, name);
        let found = annotators(&place, &[name], b"");
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
    let table = place.run(&["outliers", "v.csv", "--annotators"]).good();
    assert!(table.text().contains("malicious-"), "{}", table.text());
    let csv = place.run(&["outliers", "v.csv", "--annotators", "--format", "csv"]).good();
    assert!(csv.text().starts_with("annotator,votes,agreement,flagged,flagged_share,"));
}

/// Winner and loser do not tell who stood on the left.
#[test]
fn sides_are_judged_only_where_there_are_sides() {
    let place = Place::new();
    let rows: String = (0..60).map(|n| format!("a,b,ann-{}\n", n % 3)).collect();
    place.put("v.csv", format!("winner,loser,annotator\n{rows}"));
    let found = annotators(&place, &["v.csv"], b"");
    let rows = found["annotators"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["left_share"].is_null() && row["left_p"].is_null()));
}

/// The list of annotators as it was written.
fn list_of(run: &Run) -> &str {
    let text = run.text();
    let start = text.find("  \"annotators\": [").expect("the list begins");
    let length = text[start..].find("\n  ]").expect("the list ends");
    &text[start..start + length]
}

/// The document of `rank` holds everything that the annotators' document holds.
#[test]
fn the_json_of_rank_has_the_annotators_too() {
    let place = Place::new();
    for name in ["v.csv", "v.csv.gz", "v.parquet", "v.arrow"] {
        annotated(&place, name);
        for (source, input) in [(name, Vec::new()), ("-", place.get(name))] {
            let run = |command: &[&str]| {
                let all = [command, &[source, "--format", "json"]].concat();
                place.run_with(&all, &input).good()
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
        let run = place.run(&["rank", "v.csv", "--format", format]).good();
        assert!(!run.text().contains("malicious"), "{}", run.text());
    }
}

#[test]
fn each_by_value_has_its_own_annotators() {
    let place = Place::new();
    annotated(&place, "v.csv");
    let text = String::from_utf8(place.get("v.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let row = |(n, row): (usize, &str)| format!("{row},scene-{}\n", n % 2);
    let rows: String = rows.lines().enumerate().map(row).collect();
    place.put("by.csv", format!("{header},scene\n{rows}"));
    place.put("by.csv.gz", files::gzip(place.get("by.csv")));
    for (source, input) in
        [("by.csv", Vec::new()), ("by.csv.gz", Vec::new()), ("-", place.get("by.csv.gz"))]
    {
        let arguments = [source, "--by", "scene", "--outliers", "6%"];
        let expected = annotators(&place, &arguments, &input);
        let found = ranked(&place, &arguments, &input);
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
fn without_a_column_there_are_no_annotators() {
    let place = Place::new();
    place.put("v.csv", files::separated(&files::votes(6, 200), ","));
    assert!(ranked(&place, &["v.csv"], b"").get("annotators").is_none());
    assert!(ranked(&place, &["-"], &place.get("v.csv")).get("annotators").is_none());
    // A column without names is a column: nobody is in the list, and that is said.
    place.put("nobody.csv", "winner,loser,annotator\na,b,\na,b,\n");
    let run = place.run(&["rank", "nobody.csv", "--format", "json"]).good();
    assert_eq!(run.json()["annotators"], Value::Array(Vec::new()));
    assert!(run.stderr.contains("2 votes do not say who cast them"), "{}", run.stderr);
}

/// Standard input is copied to a temporary file only where it must be read twice.
#[cfg(unix)]
#[test]
fn only_json_reads_standard_input_twice() {
    let place = Place::new();
    annotated(&place, "v.csv");
    let run = |format: &str| {
        let file = std::fs::File::open(place.path().join("v.csv")).unwrap();
        let mut command = place.command(&["rank", "-", "--format", format]);
        command.env("TMPDIR", place.path().join("missing")).stdin(file);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for format in ["csv", "table", "parquet"] {
        assert_eq!(run(format).0, Some(0), "{format}");
    }
    let (code, message) = run("json");
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("no temporary copy can be made in"), "{message}");
}
