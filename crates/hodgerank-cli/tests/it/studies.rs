//! Studies from several files, counts, annotators, `--by`, and unusual names.

use std::sync::Arc;

use crate::support::TestDir;
use crate::support::files::{self, Vote, table};
use arrow_array::{ArrayRef, Int64Array, StringArray};
use serde_json::Value;

fn study() -> Vec<Vote> {
    files::votes(14, 2500)
}

#[test]
fn several_files_are_one_study() {
    let (study, dir) = (study(), TestDir::new());
    dir.write("all.csv", files::separated(&study, ","));
    let expected = dir.rank_csv(&["all.csv"]);
    let (first, rest) = study.split_at(800);
    let (second, third) = rest.split_at(800);
    dir.write("1.csv", files::separated(first, ","));
    dir.write("2.jsonl.gz", files::gzip(files::json_lines(second)));
    dir.write("3.parquet", files::parquet(&files::batch(third), 100));
    for files in [["1.csv", "2.jsonl.gz", "3.parquet"], ["3.parquet", "1.csv", "2.jsonl.gz"]] {
        for threads in ["1", "2", "4"] {
            let ranking = dir.rank_csv(&[&files[..], &["--threads", threads]].concat());
            assert_eq!(ranking, expected, "{files:?} on {threads} threads");
        }
    }
    assert_eq!(dir.rank_json(&["1.csv", "2.jsonl.gz", "3.parquet"])["input"]["rows"], 2500);
    let other = dir.run_with_stdin(
        &["rank", "--format", "csv", "1.csv", "-", "3.parquet"],
        files::separated(second, "\t").as_bytes(),
    );
    assert_eq!(other.success().text(), expected);
}

#[test]
fn row_order_and_sides_change_rounding_only() {
    let (mut study, dir) = (study(), TestDir::new());
    dir.write("v.csv", files::separated(&study, ","));
    let before = dir.rank_json(&["v.csv"]);
    for step in [3, 7, 11] {
        let rows = study.len();
        study = (0..rows).map(|row| study[(row * step + 5) % rows].clone()).collect();
        // Every third vote with sides exchanged.
        for vote in study.iter_mut().step_by(3) {
            let (left, right, winner) = vote.clone();
            let turned = [("left", "right"), ("right", "left"), ("tie", "tie")];
            let winner = turned.iter().find(|pair| pair.0 == winner).unwrap().1;
            *vote = (right, left, winner);
        }
        dir.write("v.csv", files::separated(&study, ","));
        let after = dir.rank_json(&["v.csv"]);
        let rows = before["ranking"].as_array().unwrap();
        for (old, new) in rows.iter().zip(after["ranking"].as_array().unwrap()) {
            let (mut old, mut new) = (old.clone(), new.clone());
            let score = |row: &mut Value| row["score"].take().as_f64().unwrap();
            assert!((score(&mut old) - score(&mut new)).abs() <= 1e-12);
            assert_eq!(old, new);
        }
    }
}

#[test]
fn counts_equal_repeated_rows() {
    let dir = TestDir::new();
    let (mut counted, mut repeated) = (String::new(), String::new());
    let (mut json, mut counts) = (String::new(), Vec::new());
    let study = study();
    for (number, (left, right, winner)) in study.iter().enumerate() {
        let count = [1, 0, 3, 2][number % 4];
        counts.push(count);
        counted.push_str(&format!("{count},{left},{right},{winner}\n"));
        json.push_str(&format!(
            "{{\"n\":{count}.0,\"left\":\"{left}\",\"right\":\"{right}\",\"winner\":\"{winner}\"}}\n"
        ));
        repeated.push_str(&format!("{left},{right},{winner}\n").repeat(count as usize));
    }
    dir.write("r.csv", format!("left,right,winner\n{repeated}"));
    let expected = dir.rank_csv(&["r.csv"]);
    dir.write("c.csv", format!("count,left,right,winner\n{counted}"));
    assert_eq!(dir.rank_csv(&["c.csv"]), expected);
    dir.write("n.csv", format!("n,left,right,winner\n{counted}"));
    assert_eq!(dir.rank_csv(&["n.csv", "--count", "n"]), expected);
    assert_ne!(dir.rank_csv(&["n.csv"]), expected, "the count was not asked for");
    dir.write("n.jsonl", json);
    assert_eq!(dir.rank_csv(&["n.jsonl", "--count", "n"]), expected);
    let votes = files::batch(&study);
    let column = |index: usize| Arc::clone(votes.column(index));
    let count: ArrayRef = Arc::new(Int64Array::from(counts));
    let batch = table(vec![
        ("left", column(0)),
        ("right", column(1)),
        ("winner", column(2)),
        ("count", count),
    ]);
    dir.write("c.parquet", files::parquet(&batch, 400));
    assert_eq!(dir.rank_csv(&["c.parquet"]), expected);
}

#[test]
fn counts_of_zero_are_no_comparisons() {
    let dir = TestDir::new();
    dir.write("v.csv", "winner,loser,count\na,b,2\nx,a,0\nb,z,0\n");
    let json = dir.rank_json(&["v.csv"]);
    let input = &json["input"];
    assert_eq!((&input["items"], &input["components"]), (&4.into(), &3.into()));
    assert_eq!((&input["rows"], &input["comparisons"]), (&3.into(), &2.into()));
    let rows = json["ranking"].as_array().unwrap();
    for item in ["x", "z"] {
        let row = rows.iter().find(|row| row["item"] == item).unwrap();
        assert_eq!((&row["score"], &row["comparisons"]), (&0.0.into(), &0.into()), "{item}");
    }
    assert!(json["warnings"][0].as_str().unwrap().contains("2 items were compared with nothing"));
    dir.write("zero.csv", "winner,loser,count\na,b,0\n");
    assert_eq!(dir.rank_json(&["zero.csv"])["input"]["comparisons"], 0);
}

#[test]
fn annotators_are_counted() {
    let dir = TestDir::new();
    let rows = "ann,a,b\nbob,b,c\nann,a,c\n,a,b\n";
    for (header, arguments, annotators) in [
        ("annotator,winner,loser", &[][..], 2),
        ("worker_id,winner,loser", &[], 2),
        ("Judge,winner,loser", &[], 2),
        ("who,winner,loser", &[], 0),
        ("who,winner,loser", &["--annotator", "who"], 2),
    ] {
        dir.write("v.csv", format!("{header}\n{rows}"));
        for threads in ["1", "2"] {
            let json = dir.rank_json(&[&["v.csv", "--threads", threads], arguments].concat());
            assert_eq!(json["input"]["annotators"], annotators, "{header}");
            assert_eq!(json["input"]["rows"], 4);
        }
    }
    let people: ArrayRef = Arc::new(StringArray::from(vec![Some("ann"), None, Some("bob")]));
    let column = |values: [&'static str; 3]| files::text(values.into_iter());
    let (winner, loser) = (column(["a", "b", "a"]), column(["b", "c", "c"]));
    let batch = table(vec![("winner", winner), ("rater", people), ("loser", loser)]);
    dir.write("v.parquet", files::parquet(&batch, 2));
    assert_eq!(dir.rank_json(&["v.parquet"])["input"]["annotators"], 2);
    dir.write(
        "v.jsonl",
        "{\"winner\":\"a\",\"loser\":\"b\"}\n{\"winner\":\"b\",\"loser\":\"c\",\"annotator\":7}\n",
    );
    assert_eq!(dir.rank_json(&["v.jsonl"])["input"]["annotators"], 1);
}

#[test]
fn studies_are_ranked_separately() {
    let (study, dir) = (study(), TestDir::new());
    let scene = |number: usize| ["scene 10", "scene 2", "a, \"b\""][number % 3];
    let mut csv = String::from("scene,left,right,winner\n");
    let mut json = String::new();
    for (number, (left, right, winner)) in study.iter().enumerate() {
        let scene = scene(number);
        csv.push_str(&format!("\"{}\",{left},{right},{winner}\n", scene.replace('"', "\"\"")));
        json.push_str(&format!(
            "{{\"scene\":{scene:?},\"left\":\"{left}\",\"right\":\"{right}\",\"winner\":\"{winner}\"}}\n"
        ));
    }
    dir.write("v.csv", csv);
    dir.write("v.jsonl", json);
    let all = dir.rank_json(&["v.csv", "--by", "scene"]);
    assert_eq!(all["schema"], "hodgerank/rank/1");
    let groups = all["groups_by"].as_array().unwrap();
    let values: Vec<&str> = groups.iter().map(|group| group["by"].as_str().unwrap()).collect();
    assert_eq!(values, ["a, \"b\"", "scene 2", "scene 10"], "in the order of people");
    for (group, wanted) in groups.iter().zip([2, 1, 0]) {
        let part: Vec<Vote> = study.iter().skip(wanted).step_by(3).cloned().collect();
        dir.write("part.csv", files::separated(&part, ","));
        let alone = dir.rank_json(&["part.csv"]);
        for key in ["ranking", "input", "method", "status"] {
            assert_eq!(group[key], alone[key], "{key}");
        }
    }
    assert_eq!(dir.rank_json(&["v.jsonl", "--by", "scene"]), all);
    let table = dir.rank_csv(&["v.csv", "--by", "scene", "--threads", "1"]);
    assert!(table.starts_with("by,rank,item,"));
    assert_eq!(table, dir.rank_csv(&["v.jsonl", "--by", "scene", "--threads", "4"]));
}

/// One column may be both annotator and study.
#[test]
fn by_annotator() {
    let dir = TestDir::new();
    dir.write("v.csv", "annotator,winner,loser\nann,a,b\nbob,b,a\nann,a,\"c\"\n");
    dir.write(
        "v.jsonl",
        "{\"annotator\":\"ann\",\"winner\":\"a\",\"loser\":\"b\"}\n\
         {\"annotator\":\"bob\",\"winner\":\"b\",\"loser\":\"a\"}\n\
         {\"annotator\":\"ann\",\"winner\":\"a\",\"loser\":\"c\"}\n",
    );
    let column = |values: [&'static str; 3]| files::text(values.into_iter());
    let batch = table(vec![
        ("winner", column(["a", "b", "a"])),
        ("annotator", column(["ann", "bob", "ann"])),
        ("loser", column(["b", "a", "c"])),
    ]);
    dir.write("v.arrow", files::arrow_file(&batch));
    for name in ["v.csv", "v.jsonl", "v.arrow"] {
        let json = dir.rank_json(&[name, "--by", "annotator"]);
        let found: Vec<_> = json["groups_by"].as_array().unwrap().iter().collect();
        let brief = |group: &Value| (group["by"].clone(), group["input"]["rows"].clone());
        assert_eq!(brief(found[0]), ("ann".into(), 2.into()), "{name}");
        assert_eq!(brief(found[1]), ("bob".into(), 1.into()), "{name}");
        assert!(found.iter().all(|group| group["input"]["annotators"] == 1), "{name}");
    }
}

#[test]
fn unusual_names_are_kept() {
    let names =
        ["a, b", "say \"hi\"", "two\nlines", "café ☕", " spaced ", "tab\there", "left", "12"];
    let (dir, mut writer) = (TestDir::new(), csv::Writer::from_writer(Vec::new()));
    let mut json = String::new();
    writer.write_record(["winner", "loser"]).unwrap();
    for pair in names.windows(2) {
        writer.write_record(pair).unwrap();
        json.push_str(&serde_json::json!({ "winner": pair[0], "loser": pair[1] }).to_string());
        json.push('\n');
    }
    dir.write("v.csv", writer.into_inner().unwrap());
    dir.write("v.jsonl", json);
    let ranked = dir.rank_json(&["v.csv"]);
    let rows = ranked["ranking"].as_array().unwrap();
    let found: Vec<&str> = rows.iter().map(|row| row["item"].as_str().unwrap()).collect();
    // All but the spaces at the ends.
    let names = names.map(str::trim);
    assert_eq!(found, names, "each beats the next");
    let table = dir.rank_csv(&["v.csv"]);
    assert_eq!(table, dir.rank_csv(&["v.jsonl"]));
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let read: Vec<String> = reader.records().map(|record| record.unwrap()[1].to_owned()).collect();
    assert_eq!(read, names, "the CSV of a ranking keeps them too");
}

#[test]
fn labels_that_look_like_outcomes() {
    let dir = TestDir::new();
    dir.write("v.csv", "left,right,winner\n1,2,2\n2,3,2\n3,1,1\n");
    let best = |arguments: &[&str]| {
        dir.rank_json(&[&["v.csv"], arguments].concat())["ranking"][0]["item"].clone()
    };
    assert_eq!(best(&[]), "2", "every outcome is a label of its row");
    assert_eq!(best(&["--outcome-as", "label"]), "2");
    // As numbers, the left item wins by 2, 2 and 1.
    assert_eq!(best(&["--outcome-as", "number"]), "1");
}
