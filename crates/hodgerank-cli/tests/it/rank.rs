//! `rank`: published scores, output formats, disconnected votes, rejected rows.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::support::{TestDir, files};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

const ROW_KEYS: [&str; 16] = [
    "rank",
    "item",
    "score",
    "se",
    "low",
    "high",
    "rank_low",
    "rank_high",
    "tier",
    "component",
    "comparisons",
    "wins",
    "losses",
    "ties",
    "flagged",
    "provisional",
];

#[track_caller]
fn assert_keys(object: &Value, keys: &[&str]) {
    let object = object.as_object().expect("an object");
    let mut found: Vec<&str> = object.keys().map(String::as_str).collect();
    let mut wanted = keys.to_vec();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

fn scores(json: &Value) -> HashMap<&str, f64> {
    let rows = json["ranking"].as_array().expect("rows");
    rows.iter().map(|row| (row["item"].as_str().unwrap(), row["score"].as_f64().unwrap())).collect()
}

/// Two components: three items and two items.
const APART: &str = "winner,loser\na,b\nb,c\na,c\nx,y\n";

/// Options, and the column of the paper that has the scores.
type Setting = (String, &'static str);

/// Five columns of the three tables of the paper.
#[test]
fn published_scores_are_reproduced() {
    let Some(data) = hodgerank_testdata::published_studies() else { return };
    let lbi = "--method lbi --kappa 50 --dt 0.00004";
    let common = [
        ("--method l2".to_owned(), "l2"),
        ("--method ridge --ridge 1".to_owned(), "xgb_linear"),
        ("--method hlasso --outliers 5% --protocol paper".to_owned(), "hlasso"),
        ("--method lasso-l2 --outliers 5% --protocol paper".to_owned(), "lasso_l2"),
    ];
    let first = [
        ("--method hlasso --lambda 1.43953".to_owned(), "hlasso"),
        (format!("{lbi} --time 0.66756 --algorithm 2"), "lbi"),
        (format!("{lbi} --time 0.66756 --algorithm 3"), "lbi"),
        (format!("{lbi} --time 0.66756 --algorithm 4"), "lbi"),
    ];
    let second = [
        ("--method hlasso --lambda 1.17863".to_owned(), "hlasso"),
        (format!("{lbi} --time 0.83220 --algorithm 2"), "lbi"),
        (format!("{lbi} --time 0.83212 --algorithm 3"), "lbi"),
    ];
    let third = [(format!("{lbi} --time 0.68136 --algorithm 3"), "lbi")];
    // The third table counts a tie as a vote for the left item.
    let tables: [(&str, &str, &str, usize, &[Setting]); 3] = [
        ("pc-vqa/ref01.csv", "golden/pc-vqa-ref01.csv", "zero", 16, &first),
        ("pc-iqa/ref10.csv", "golden/pc-iqa-ref10.csv", "zero", 16, &second),
        ("human-age.csv", "golden/human-age.csv", "left", 30, &third),
    ];
    let dir = TestDir::new();
    for (votes, golden, ties, items, own) in tables {
        let mut reader = csv::Reader::from_path(data.join(golden)).unwrap();
        let header = reader.headers().unwrap().clone();
        let published: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(published.len(), items);
        let votes = data.join(votes);
        for (setting, column) in common.iter().chain(own) {
            let file = [votes.to_str().unwrap(), "--ties", ties];
            let arguments = [&file[..], &setting.split(' ').collect::<Vec<_>>()].concat();
            let json = dir.rank_json(&arguments);
            let found = scores(&json);
            let column = header.iter().position(|name| name == *column).unwrap();
            for record in &published {
                let score: f64 = record[column].parse().unwrap();
                let difference = (found[&record[0]] - score).abs();
                assert!(difference < 6e-5, "{arguments:?}, item {}: {difference}", &record[0]);
            }
        }
    }
}

/// Every method on every study of one component.
#[test]
fn every_method_ranks_every_study() {
    let names = ["complete.csv", "incomplete.csv", "annotators.csv", "graded.csv", "studies.csv"];
    let mut studies: Vec<PathBuf> = names.map(hodgerank_testdata::file).to_vec();
    let published = hodgerank_testdata::find_published_studies();
    for folder in published.iter().flat_map(|data| [data.join("pc-vqa"), data.join("pc-iqa")]) {
        studies.extend(std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    studies.extend(published.map(|data| data.join("human-age.csv")));
    let dir = TestDir::new();
    for file in studies.iter().map(|study| study.to_str().unwrap()) {
        for method in
            ["", "l2", "ridge", "hlasso", "lasso-l2", "lbi", "iss", "iht", "ilts", "pc-lasso"]
        {
            let flags: &[&str] = if method.is_empty() { &[] } else { &["--method", method] };
            let json = dir.rank_json(&[&[file], flags].concat());
            assert_eq!(json["input"]["components"], 1, "{file}");
            let status = json["status"].as_str().unwrap();
            assert!(["solved", "complete"].contains(&status), "{method} on {file}: {status}");
            assert!(json["outliers"]["fraction"].as_f64().unwrap() < 0.3, "{method} on {file}");
        }
    }
}

#[test]
fn annotators_and_ties_of_a_published_study() {
    let Some(data) = hodgerank_testdata::published_studies() else { return };
    let age = TestDir::new().rank_json(&[data.join("human-age.csv").to_str().unwrap()]);
    let input = &age["input"];
    assert_eq!((&input["rows"], &input["annotators"]), (&14_011.into(), &94.into()));
    let ties: u64 =
        age["ranking"].as_array().unwrap().iter().map(|r| r["ties"].as_u64().unwrap()).sum();
    assert_eq!(ties, 2 * 1233);
}

#[test]
fn the_json_has_the_documented_keys() {
    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&files::votes(12, 900), ","));
    let json = dir.rank_json(&["v.csv", "--method", "l2"]);
    let promised = ["schema", "input", "method", "ranking", "outliers", "status"];
    let all = [&promised[..], &["certificate", "uncertainty", "warnings", "rejected"]].concat();
    assert_keys(&json, &all);
    assert_eq!((&json["schema"], &json["status"]), (&"hodgerank/rank/1".into(), &"solved".into()));
    let input = ["rows", "rejected", "comparisons", "items", "groups", "annotators", "components"];
    assert_keys(&json["input"], &input);
    assert_keys(&json["outliers"], &["comparisons", "fraction"]);
    assert_keys(&json["rejected"], &["rows", "first"]);
    assert_eq!(json["method"]["name"], "l2");
    let ridge = dir.rank_json(&["v.csv", "--method", "ridge"]);
    assert_eq!(
        (&ridge["method"]["name"], &ridge["method"]["ridge"]),
        (&"ridge".into(), &1.0.into())
    );

    let rows = json["ranking"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    let mut last = (0, f64::INFINITY);
    for row in rows {
        assert_keys(row, &ROW_KEYS);
        assert!(row["item"].is_string());
        let whole = |key: &str| row[key].as_u64().unwrap();
        assert_eq!(whole("comparisons"), whole("wins") + whole("losses") + whole("ties"));
        let now = (whole("rank"), row["score"].as_f64().unwrap());
        assert!(now.0 > last.0 && now.1 < last.1, "sorted by rank");
        last = now;
    }
    let sum: f64 = scores(&json).values().sum();
    assert!(sum.abs() < 1e-12, "mean zero");
    let by = dir.rank_json(&["v.csv", "--by", "winner", "--winner", "left", "--loser", "right"]);
    assert_keys(&by, &["schema", "groups_by", "rejected"]);
    assert_keys(&by["groups_by"][0], &[&all[1..9], &["by"]].concat());
}

#[test]
fn csv_and_parquet_have_the_rows_of_the_json() {
    let dir = TestDir::new();
    dir.write("v.csv", format!("{APART}\"say \"\"hi\"\"\",a\n"));
    for (name, arguments) in [("plain", &["v.csv"][..]), ("by", &["v.csv", "--by", "loser"])] {
        let json = dir.rank_json(arguments);
        let tables = json["groups_by"].as_array().cloned().unwrap_or_else(|| vec![json.clone()]);
        let mut expected: Vec<(String, Value)> = Vec::new();
        for table in &tables {
            let by = table["by"].as_str().unwrap_or("");
            expected.extend(
                table["ranking"].as_array().unwrap().iter().map(|r| (by.to_owned(), r.clone())),
            );
        }
        let output = |file: &str| dir.run(&[&["rank", "-o", file], arguments].concat()).success();
        output("out.csv");
        let written = dir.read("out.csv");
        let mut reader = csv::Reader::from_reader(&*written).into_deserialize();
        for (by, row) in &expected {
            let found: HashMap<String, String> = reader.next().unwrap().unwrap();
            assert_eq!(found.get("by").map_or("", String::as_str), by, "{name}");
            for key in ROW_KEYS {
                let value = &row[key];
                let text = match value {
                    Value::Null => String::new(),
                    value => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                };
                assert_eq!(found[key], text, "{name}, {key}");
            }
        }
        assert!(reader.next().is_none());

        output("out.parquet");
        let bytes = std::fs::File::open(dir.path().join("out.parquet")).unwrap();
        let batches = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap();
        let mut rows = expected.iter();
        for batch in batches.map(Result::unwrap) {
            for at in 0..batch.num_rows() {
                let (by, row) = rows.next().unwrap();
                let column = |key: &str| batch.column_by_name(key).unwrap();
                if name == "by" {
                    assert_eq!(column("by").as_string::<i32>().value(at), by);
                }
                assert_eq!(column("item").as_string::<i32>().value(at), row["item"]);
                assert_eq!(column("score").as_primitive::<Float64Type>().value(at), row["score"]);
                for key in ["rank", "component"] {
                    assert_eq!(column(key).as_primitive::<UInt32Type>().value(at), row[key]);
                }
                for key in ["comparisons", "wins", "losses", "ties", "flagged"] {
                    assert_eq!(column(key).as_primitive::<UInt64Type>().value(at), row[key]);
                }
            }
        }
        assert!(rows.next().is_none());
    }
}

#[test]
fn disconnected_votes_are_reported() {
    let dir = TestDir::new();
    dir.write("v.csv", APART);
    let run = dir.run(&["rank", "v.csv", "--format", "json"]).success();
    let warning = "the votes fall into 2 components that no vote connects";
    assert!(run.stderr.contains(&format!("warning: {warning}")), "{}", run.stderr);
    let json = run.json();
    assert!(json["warnings"][0].as_str().unwrap().starts_with(warning));
    assert_eq!(json["input"]["components"], 2);
    assert_eq!(json["components"][0]["items"], 3);
    assert_eq!(json["components"][1]["comparisons"], 1);
    let rows = json["ranking"].as_array().unwrap();
    let brief: Vec<_> = rows
        .iter()
        .map(|r| (r["rank"].as_u64(), r["item"].as_str(), r["component"].as_u64()))
        .collect();
    let row = |rank, item, component| (Some(rank), Some(item), Some(component));
    assert_eq!(
        brief,
        [row(1, "a", 1), row(1, "x", 2), row(2, "b", 1), row(2, "y", 2), row(3, "c", 1)]
    );
    let table = dir.run(&["rank", "v.csv"]).success();
    assert!(table.text().contains("component 2: 2 items, 1 votes (ranked separately)"));
}

#[test]
fn connectedness_can_be_required() {
    let dir = TestDir::new();
    dir.write("v.csv", APART);
    let run = dir.run(&["rank", "v.csv", "--require-connected", "-o", "out.json"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    for part in [
        "error: the votes fall into 2 components",
        "component 1 (3 items): a, b, c",
        "component 2 (2 items): x, y",
        "help: ",
    ] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    assert_eq!(dir.file_names(), ["v.csv"]);
    dir.write("joined.csv", format!("{APART}c,x\n"));
    dir.run(&["rank", "joined.csv", "--require-connected"]).success();
    let by = dir.run(&["rank", "v.csv", "--require-connected", "--by", "winner"]);
    assert_eq!(by.code, Some(0), "each winner's votes hang together: {}", by.stderr);
}

#[test]
fn rejected_rows_are_counted_and_listed() {
    let dir = TestDir::new();
    let bad: String = (1..=13).map(|number| format!("p,q,oops{number}\n")).collect();
    dir.write("v.csv", format!("left,right,winner\na,b,left\n{bad}b,c,left\n"));
    dir.write("w.csv", "left,right,winner\na,b\n");
    for threads in ["1", "2"] {
        let run = dir.run(&[
            "rank",
            "v.csv",
            "w.csv",
            "--on-error",
            "skip",
            "--format",
            "json",
            "--threads",
            threads,
        ]);
        let json = run.clone().success().json();
        assert_eq!((&json["input"]["rows"], &json["input"]["rejected"]), (&2.into(), &14.into()));
        assert_eq!((&json["input"]["items"], &json["rejected"]["rows"]), (&3.into(), &14.into()));
        let listed = json["rejected"]["first"].as_array().unwrap();
        assert_eq!(listed.len(), 10);
        assert_keys(&listed[0], &["file", "position", "column", "value", "problem"]);
        assert_eq!(
            (&listed[9]["position"], &listed[9]["value"]),
            (&"line 12".into(), &"oops10".into())
        );
        assert!(
            run.stderr.contains("warning: 14 rows were rejected and not counted"),
            "{}",
            run.stderr
        );
        assert!(
            run.stderr
                .contains("  v.csv, line 12, column 3 (`winner`): unknown outcome: \"oops10\"\n")
        );
        assert!(!run.stderr.contains("oops11") && run.stderr.contains("… and 4 more"));
    }
    let skip = |format: &str, file: &str| {
        dir.run(&["rank", "w.csv", "v.csv", "--on-error", "skip", "--format", format, "-o", file])
            .success()
    };
    skip("table", "out.txt");
    assert!(String::from_utf8(dir.read("out.txt")).unwrap().contains("14 rows were rejected"));
    skip("parquet", "out.parquet");
    let file = std::fs::File::open(dir.path().join("out.parquet")).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    assert_eq!(builder.schema().metadata()["hodgerank.rejected"], "14");
    let listed = skip("json", "out.json");
    assert!(listed.stderr.contains("  w.csv, line 2, column 3 (`winner`): the row has 2 fields"));
}
