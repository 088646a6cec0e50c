//! Where flagged votes are in the input, and why they are flagged: `outliers` and `clean --flagged`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{TestDir, files};

/// Twenty votes for each pair of a, b and c in this order, six against the first pair in rows 4, 6, …
/// and two ties. Row 3 of the file cannot be read.
fn dir() -> TestDir {
    let dir = TestDir::new();
    let mut rows = vec!["a,b,left,n1".to_owned(), "b,c,left,n2".to_owned(), "a,b".to_owned()];
    for n in 0..60 {
        let (left, right) = [("a", "b"), ("b", "c"), ("a", "c")][n % 3];
        rows.push(match n {
            0 | 3 | 6 => format!("{left},{right},right,\"odd, {n}\""),
            _ => format!("{left},{right},left,n{n}"),
        });
    }
    dir.write("v.csv", format!("left,right,winner,note\n\n{}\n", rows.join("\n")));
    dir
}

const OPTIONS: [&str; 6] = ["--on-error", "skip", "--method", "iht", "--outliers", "3"];

fn votes(document: &Value) -> Vec<Value> {
    document["votes"].as_array().unwrap().clone()
}

#[test]
fn outliers_list_rows_reasons_and_columns() {
    let dir = dir();
    let command = [&["outliers", "v.csv", "--keep", "note"], &OPTIONS[..]].concat();
    let found = votes(&dir.json(&command, b""));
    let rows: Vec<u64> = found.iter().map(|vote| vote["row"].as_u64().unwrap()).collect();
    assert_eq!(rows, [4, 7, 10]);
    for (vote, note) in found.iter().zip(["odd, 0", "odd, 3", "odd, 6"]) {
        assert_eq!(vote["reason"], "against a clear majority", "{vote}");
        assert_eq!(vote["columns"]["note"], note, "{vote}");
        assert!(vote["file"].is_null(), "{vote}");
    }
    let csv = dir.run(&[&command[..], &["--format", "csv"]].concat()).success();
    let lines: Vec<&str> = csv.text().lines().collect();
    assert!(lines[0].ends_with(",probability,reason,row,note"), "{}", lines[0]);
    assert!(lines[1].ends_with(",,against a clear majority,4,\"odd, 0\""), "{}", lines[1]);
    let table = dir.run(&command).success();
    assert!(table.text().contains("note=odd, 0"), "{}", table.text());
    let missing = dir.run(&[&["outliers", "v.csv", "--keep", "id"], &OPTIONS[..]].concat());
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("no column `id` (keep)"), "{}", missing.stderr);
    assert!(missing.stderr.contains("give one of these names to --keep"), "{}", missing.stderr);
}

#[test]
fn all_formats_have_the_same_rows_and_columns() {
    let (study, dir) = (files::study(), TestDir::new());
    dir.write("v.csv", files::separated(&study, ","));
    dir.write("v.jsonl", files::json_lines(&study));
    dir.write("v.parquet", files::parquet(&files::batch(&study), 700));
    dir.write("v.arrow", files::arrow_stream(&files::batch(&study)));
    let list = |name: &str| {
        votes(&dir.json(&["outliers", name, "--keep", "winner,left", "--outliers", "90"], b""))
    };
    let expected = list("v.csv");
    assert!(expected.len() >= 90);
    for vote in &expected {
        let (left, right, winner) = &study[vote["row"].as_u64().unwrap() as usize - 1];
        assert_eq!(
            (&vote["left"], &vote["right"]),
            (&left.as_str().into(), &right.as_str().into())
        );
        assert_eq!(vote["columns"]["winner"], *winner);
        assert_eq!(vote["columns"]["left"], left.as_str());
    }
    for name in ["v.jsonl", "v.parquet", "v.arrow"] {
        assert_eq!(list(name), expected, "{name}");
    }
    let csv = dir.run(&["outliers", "v.csv", "--keep", "left", "--format", "csv"]).success();
    assert!(csv.text().lines().next().unwrap().ends_with(",row,input_left"));
}

#[test]
fn several_files_are_named() {
    let dir = dir();
    dir.write("more.csv", "left,right,winner,note\nb,a,left,x\n");
    let command = [&["outliers", "v.csv", "more.csv"], &OPTIONS[..5], &["4"]].concat();
    let found = votes(&dir.json(&command, b""));
    let places: Vec<(&str, u64)> = found
        .iter()
        .map(|vote| (vote["file"].as_str().unwrap(), vote["row"].as_u64().unwrap()))
        .collect();
    assert_eq!(places, [("v.csv", 4), ("v.csv", 7), ("v.csv", 10), ("more.csv", 1)]);
    dir.write(
        "v.csv",
        "left,right,winner,note\na,b,left,x\na,b,left,x\na,b,left,x\nb,a,left,row\n",
    );
    let outputs = ["-o", "kept.csv", "--flagged", "bad.csv"];
    let clean = ["clean", "v.csv", "more.csv", "--method", "iht", "--outliers", "2"];
    dir.run(&[&clean[..], &outputs].concat()).success();
    assert_eq!(
        String::from_utf8(dir.read("bad.csv")).unwrap(),
        "left,right,winner,note,row,file,reason\nb,a,left,row,4,v.csv,against the ranking\n\
         b,a,left,x,1,more.csv,against the ranking\n"
    );
}

#[test]
fn columns_of_the_input_keep_their_names() {
    let dir = TestDir::new();
    let good = "a,b,left,r,1\n".repeat(9);
    dir.write("v.csv", format!("left,right,winner,reason,row\r\n{good}b,a,left,\"r, s\",2"));
    let outputs = ["-o", "kept.csv", "--flagged", "bad.csv"];
    dir.run(&[&["clean", "v.csv", "--method", "iht", "--outliers", "1"], &outputs[..]].concat())
        .success();
    assert_eq!(
        String::from_utf8(dir.read("bad.csv")).unwrap(),
        "left,right,winner,reason,row,flagged_row,flagged_reason\r\n\
         b,a,left,\"r, s\",2,10,against a clear majority"
    );
}

#[test]
fn reasons_are_those_of_the_method() {
    let dir = TestDir::new();
    let people = ["--annotators", "careful=16,malicious=2,always-left=2,careless=2"];
    let noise = ["--noise", "bradley-terry", "--noise-scale", "0.05"];
    let study = ["simulate", "--items", "12", "--votes", "6000", "-o", "v.csv"];
    dir.run(&[&study[..], &people, &noise].concat()).success();
    let reasons = |arguments: &[&str]| -> BTreeSet<String> {
        let found = dir.json(&[&["outliers", "v.csv"], arguments].concat(), b"");
        let reason = |vote: &Value| vote["reason"].as_str().unwrap().to_owned();
        votes(&found).iter().map(reason).collect()
    };
    let set = |reasons: &[&str]| reasons.iter().map(|reason| (*reason).to_owned()).collect();
    let crowd: BTreeSet<String> =
        set(&["annotator answers the opposite", "annotator favours the left side"]);
    let found = reasons(&["--method", "crowd"]);
    assert!(found.is_superset(&crowd), "{found:?}");
    assert_eq!(reasons(&["--method", "bt"]), set(&["more likely a lapse than honest"]));
    let many = reasons(&["--method", "bt", "--outliers", "30%"]);
    assert!(many.contains("among the likeliest lapses"), "{many:?}");
    let robust: BTreeSet<String> = set(&["against a clear majority", "against the ranking"]);
    let found = reasons(&["--method", "iss"]);
    assert!(!found.is_empty() && found.is_subset(&robust), "{found:?}");
    // Votes that are not flagged have no reason; distinct votes have no row.
    let all = votes(&dir.json(&["outliers", "v.csv", "--all"], b""));
    assert!(all.iter().all(|vote| (vote["flagged"] == 0) == vote["reason"].is_null()));
    let per_group = ["outliers", "v.csv", "--per-group", "--method", "iss"];
    let distinct = votes(&dir.json(&per_group, b""));
    assert!(distinct.iter().all(|vote| vote["row"].is_null() && vote["reason"].is_string()));
    dir.run(&["clean", "v.csv", "--method", "crowd", "-o", "k.csv", "--flagged", "f.csv"])
        .success();
    let flagged = String::from_utf8(dir.read("f.csv")).unwrap();
    let mut lines = flagged.lines();
    assert!(lines.next().unwrap().ends_with(",row,reason,probability"));
    for line in lines {
        let probability: f64 = line.rsplit(',').next().unwrap().parse().unwrap();
        assert!(probability > 0.5, "{line}");
    }
}
