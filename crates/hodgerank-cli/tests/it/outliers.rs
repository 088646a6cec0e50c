//! `outliers`: votes in order of suspicion.

use crate::support::files::{self, Vote, study};
use crate::support::{TestDir, number};
use serde_json::Value;

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&study(), ","));
    dir
}

#[track_caller]
fn json(dir: &TestDir, arguments: &[&str]) -> Value {
    dir.json(&[&["outliers"], arguments].concat(), b"")
}

fn votes(json: &Value) -> &Vec<Value> {
    json["votes"].as_array().expect("a list of votes")
}

#[test]
fn flagged_votes_are_in_order_of_entry() {
    let dir = dir();
    let iss = ["v.csv", "--method", "iss"];
    let ranked = dir.rank_json(&iss);
    let found = json(&dir, &iss);
    assert_eq!(found["schema"], "hodgerank/outliers/1");
    assert_eq!(found["outliers"], ranked["outliers"]);
    assert_eq!(found["input"], ranked["input"]);
    let rows = votes(&found);
    let flagged: f64 = rows.iter().map(|row| number(row, "flagged")).sum();
    assert!(flagged > 0.0);
    assert_eq!(flagged, number(&ranked["outliers"], "comparisons"));
    for (index, row) in rows.iter().enumerate() {
        assert_eq!(row["order"], index as u64 + 1);
        assert!(number(row, "size") >= 0.0 && row["annotator"].is_null());
    }
    assert!(rows.is_sorted_by(|a, b| number(a, "entry") <= number(b, "entry")), "iss runs in time");
    let score = |name: &Value| {
        let items = ranked["ranking"].as_array().unwrap();
        number(items.iter().find(|row| row["item"] == *name).unwrap(), "score")
    };
    for row in rows {
        let residual = number(row, "outcome") - (score(&row["left"]) - score(&row["right"]));
        assert!((residual - number(row, "residual")).abs() < 1e-9, "{row}");
    }
}

#[test]
fn all_votes_are_listed_once() {
    let dir = dir();
    let found = json(&dir, &["v.csv", "--all", "--method", "iss"]);
    let rows = votes(&found);
    assert_eq!(rows.len(), 3000);
    let entered = rows.iter().take_while(|row| !row["entry"].is_null()).count();
    let rest = &rows[entered..];
    assert!(entered > 0 && rest.iter().all(|row| row["entry"].is_null()));
    let size = |row: &Value| number(row, "residual").abs();
    assert!(rest.is_sorted_by(|a, b| size(a) >= size(b)));
    let line = |row: &Value| {
        let outcome = match number(row, "outcome") {
            y if y > 0.0 => "left",
            y if y < 0.0 => "right",
            _ => "tie",
        };
        format!("{},{},{outcome}", row["left"].as_str().unwrap(), row["right"].as_str().unwrap())
    };
    let mut listed: Vec<String> = rows.iter().map(line).collect();
    let mut given: Vec<String> =
        study().iter().map(|(left, right, winner)| format!("{left},{right},{winner}")).collect();
    listed.sort();
    given.sort();
    assert_eq!(listed, given, "as in the input, sides too");
}

#[test]
fn groups_sum_to_their_votes() {
    let dir = dir();
    for method in ["iss", "lasso-l2", "lbi", "iht"] {
        for all in [&[][..], &["--all"]] {
            let method = ["v.csv", "--method", method, "--outliers", "5%"];
            let arguments = [&method[..], all].concat();
            let single = json(&dir, &arguments);
            let grouped = json(&dir, &[&arguments[..], &["--per-group"]].concat());
            let sum = |json: &Value, key| votes(json).iter().map(|r| number(r, key)).sum::<f64>();
            assert_eq!(sum(&single, "flagged"), sum(&grouped, "flagged"), "{arguments:?}");
            let count = if all.is_empty() { "flagged" } else { "count" };
            assert_eq!(sum(&single, "count"), sum(&grouped, count), "{arguments:?}");
        }
    }
}

#[test]
fn formats_and_sources_agree() {
    let (study, dir) = (study(), dir());
    let csv = |arguments: &[&str], input: &[u8]| {
        let all = [&["outliers", "--format", "csv"], arguments].concat();
        dir.run_with_stdin(&all, input).success().text().to_owned()
    };
    let expected = csv(&["v.csv"], b"");
    let header = "order,left,right,outcome,count,annotator,entry,size,residual,flagged,probability,reason,row\n";
    assert!(expected.starts_with(header));
    assert_eq!(expected.lines().count(), votes(&json(&dir, &["v.csv"])).len() + 1);
    dir.write("v.jsonl", files::json_lines(&study));
    dir.write("v.parquet", files::parquet(&files::batch(&study), 400));
    dir.write("v.arrow", files::arrow_stream(&files::batch(&study)));
    for name in ["v.jsonl", "v.parquet", "v.arrow"] {
        assert_eq!(csv(&[name], b""), expected, "{name}");
        assert_eq!(csv(&["-"], &dir.read(name)), expected, "{name}");
    }
    for threads in ["1", "3"] {
        assert_eq!(csv(&["v.csv", "--threads", threads], b""), expected);
    }
    dir.run(&["outliers", "v.csv", "-o", "o.parquet"]).success();
    assert!(dir.read("o.parquet").starts_with(b"PAR1"));
    let table = dir.run(&["outliers", "v.csv", "--top", "3"]).success();
    assert_eq!(table.text().lines().count(), 2 + 3 + 1, "{}", table.text());
    let none = dir.run(&["outliers", "v.csv", "--method", "l2"]).success();
    assert_eq!(none.text(), "no vote is flagged\n");
}

#[test]
fn votes_are_listed_per_study() {
    let dir = dir();
    let lines = |scene: &str, votes: &[Vote]| -> String {
        votes.iter().map(|(l, r, w)| format!("{l},{r},{w},{scene}\n")).collect()
    };
    let study = study();
    let (one, two) = study.split_at(1400);
    let header = "left,right,winner,scene\n";
    dir.write("one.csv", format!("{header}{}", lines("1", one)));
    dir.write("both.csv", format!("{header}{}{}", lines("2", two), lines("1", one)));
    let both = json(&dir, &["both.csv", "--by", "scene"]);
    assert_eq!(
        (&both["groups_by"][0]["by"], &both["groups_by"][1]["by"]),
        (&"1".into(), &"2".into())
    );
    // The rows of the first study come last.
    let mut expected = votes(&json(&dir, &["one.csv"])).clone();
    for vote in &mut expected {
        vote["row"] = (vote["row"].as_u64().unwrap() + two.len() as u64).into();
    }
    assert_eq!(both["groups_by"][0]["votes"].as_array(), Some(&expected));
    let csv = dir.run(&["outliers", "both.csv", "--by", "scene", "--format", "csv"]).success();
    assert!(csv.text().starts_with("by,order,left,"));
}

#[test]
fn counts_are_votes() {
    let dir = TestDir::new();
    let good = "a,b,left,10\nb,c,left,10\na,c,left,10\n";
    dir.write("v.csv", format!("left,right,winner,count\n{good}c,a,left,2\nc,a,left,0\n"));
    let found = json(&dir, &["v.csv", "--method", "iht", "--outliers", "2"]);
    let rows = votes(&found);
    assert_eq!(rows.len(), 1, "{found}");
    assert_eq!((&rows[0]["count"], &rows[0]["flagged"]), (&2.into(), &2.into()));
    assert_eq!((&rows[0]["left"], number(&rows[0], "outcome")), (&"c".into(), 1.0));
}

#[test]
fn invalid_options_are_rejected() {
    let dir = dir();
    dir.write("bad.csv", "left,right,winner\na,b,lft\n");
    let before = dir.file_names();
    for (arguments, part) in [
        (&["v.csv", "--annotators"][..], "hodgerank annotators"),
        (&["bad.csv", "-o", "x.csv"], "unknown outcome"),
        (&["none.csv", "-o", "x.csv"], "cannot be opened"),
        (&["v.csv", "-o", "x.xls"], "the extension does not determine"),
    ] {
        let run = dir.run(&[&["outliers"], arguments].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{}", run.stderr);
        assert!(run.stdout.is_empty());
        assert_eq!(dir.file_names(), before, "{arguments:?}");
    }
}
