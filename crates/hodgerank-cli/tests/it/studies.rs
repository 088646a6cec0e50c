//! What makes a study: several files, counts, annotators, `--by`, and names of any kind.

use std::sync::Arc;

use crate::support::Place;
use crate::support::files::{self, Vote, table};
use arrow_array::{ArrayRef, Int64Array, StringArray};
use serde_json::Value;

fn study() -> Vec<Vote> {
    files::votes(14, 2500)
}

#[test]
fn several_files_are_one_study() {
    let (study, place) = (study(), Place::new());
    place.put("all.csv", files::separated(&study, ","));
    let expected = place.ranking(&["all.csv"]);
    let (first, rest) = study.split_at(800);
    let (second, third) = rest.split_at(800);
    place.put("1.csv", files::separated(first, ","));
    place.put("2.jsonl.gz", files::gzip(files::json_lines(second)));
    place.put("3.parquet", files::parquet(&files::batch(third), 100));
    for files in [["1.csv", "2.jsonl.gz", "3.parquet"], ["3.parquet", "1.csv", "2.jsonl.gz"]] {
        for threads in ["1", "2", "4"] {
            let ranking = place.ranking(&[&files[..], &["--threads", threads]].concat());
            assert_eq!(ranking, expected, "{files:?} on {threads} threads");
        }
    }
    assert_eq!(place.rank(&["1.csv", "2.jsonl.gz", "3.parquet"])["input"]["rows"], 2500);
    let other = place.run_with(
        &["rank", "--format", "csv", "1.csv", "-", "3.parquet"],
        files::separated(second, "\t").as_bytes(),
    );
    assert_eq!(other.good().text(), expected);
}

#[test]
fn shuffled_rows_change_nothing_but_rounding() {
    let (mut study, place) = (study(), Place::new());
    place.put("v.csv", files::separated(&study, ","));
    let before = place.rank(&["v.csv"]);
    for step in [3, 7, 11] {
        let rows = study.len();
        study = (0..rows).map(|row| study[(row * step + 5) % rows].clone()).collect();
        // Also turned round, every third of them.
        for vote in study.iter_mut().step_by(3) {
            let (left, right, winner) = vote.clone();
            let turned = [("left", "right"), ("right", "left"), ("tie", "tie")];
            let winner = turned.iter().find(|pair| pair.0 == winner).unwrap().1;
            *vote = (right, left, winner);
        }
        place.put("v.csv", files::separated(&study, ","));
        let after = place.rank(&["v.csv"]);
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
fn counts_stand_for_repeated_rows() {
    let place = Place::new();
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
    place.put("r.csv", format!("left,right,winner\n{repeated}"));
    let expected = place.ranking(&["r.csv"]);
    place.put("c.csv", format!("count,left,right,winner\n{counted}"));
    assert_eq!(place.ranking(&["c.csv"]), expected);
    place.put("n.csv", format!("n,left,right,winner\n{counted}"));
    assert_eq!(place.ranking(&["n.csv", "--count", "n"]), expected);
    assert_ne!(place.ranking(&["n.csv"]), expected, "the count was not asked for");
    place.put("n.jsonl", json);
    assert_eq!(place.ranking(&["n.jsonl", "--count", "n"]), expected);
    let votes = files::batch(&study);
    let column = |place: usize| Arc::clone(votes.column(place));
    let count: ArrayRef = Arc::new(Int64Array::from(counts));
    let batch = table(vec![
        ("left", column(0)),
        ("right", column(1)),
        ("winner", column(2)),
        ("count", count),
    ]);
    place.put("c.parquet", files::parquet(&batch, 400));
    assert_eq!(place.ranking(&["c.parquet"]), expected);
}

#[test]
fn items_of_votes_cast_zero_times_were_never_compared() {
    let place = Place::new();
    place.put("v.csv", "winner,loser,count\na,b,2\nx,a,0\nb,z,0\n");
    let json = place.rank(&["v.csv"]);
    let input = &json["input"];
    assert_eq!((&input["items"], &input["components"]), (&4.into(), &3.into()));
    assert_eq!((&input["rows"], &input["comparisons"]), (&3.into(), &2.into()));
    let rows = json["ranking"].as_array().unwrap();
    for item in ["x", "z"] {
        let row = rows.iter().find(|row| row["item"] == item).unwrap();
        assert_eq!((&row["score"], &row["comparisons"]), (&0.0.into(), &0.into()), "{item}");
    }
    assert!(json["warnings"][0].as_str().unwrap().contains("2 items were compared with nothing"));
    place.put("zero.csv", "winner,loser,count\na,b,0\n");
    assert_eq!(place.rank(&["zero.csv"])["input"]["comparisons"], 0);
}

#[test]
fn annotators_are_counted() {
    let place = Place::new();
    let rows = "ann,a,b\nbob,b,c\nann,a,c\n,a,b\n";
    for (header, arguments, annotators) in [
        ("annotator,winner,loser", &[][..], 2),
        ("worker_id,winner,loser", &[], 2),
        ("Judge,winner,loser", &[], 2),
        ("who,winner,loser", &[], 0),
        ("who,winner,loser", &["--annotator", "who"], 2),
    ] {
        place.put("v.csv", format!("{header}\n{rows}"));
        for threads in ["1", "2"] {
            let json = place.rank(&[&["v.csv", "--threads", threads], arguments].concat());
            assert_eq!(json["input"]["annotators"], annotators, "{header}");
            assert_eq!(json["input"]["rows"], 4);
        }
    }
    let people: ArrayRef = Arc::new(StringArray::from(vec![Some("ann"), None, Some("bob")]));
    let column = |values: [&'static str; 3]| files::text(values.into_iter());
    let (winner, loser) = (column(["a", "b", "a"]), column(["b", "c", "c"]));
    let batch = table(vec![("winner", winner), ("rater", people), ("loser", loser)]);
    place.put("v.parquet", files::parquet(&batch, 2));
    assert_eq!(place.rank(&["v.parquet"])["input"]["annotators"], 2);
    place.put(
        "v.jsonl",
        "{\"winner\":\"a\",\"loser\":\"b\"}\n{\"winner\":\"b\",\"loser\":\"c\",\"annotator\":7}\n",
    );
    assert_eq!(place.rank(&["v.jsonl"])["input"]["annotators"], 1);
}

#[test]
fn each_value_of_by_is_ranked_on_its_own() {
    let (study, place) = (study(), Place::new());
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
    place.put("v.csv", csv);
    place.put("v.jsonl", json);
    let all = place.rank(&["v.csv", "--by", "scene"]);
    assert_eq!(all["schema"], "hodgerank/rank/1");
    let groups = all["groups_by"].as_array().unwrap();
    let values: Vec<&str> = groups.iter().map(|group| group["by"].as_str().unwrap()).collect();
    assert_eq!(values, ["a, \"b\"", "scene 2", "scene 10"], "in the order of people");
    for (group, wanted) in groups.iter().zip([2, 1, 0]) {
        let part: Vec<Vote> = study.iter().skip(wanted).step_by(3).cloned().collect();
        place.put("part.csv", files::separated(&part, ","));
        let alone = place.rank(&["part.csv"]);
        for key in ["ranking", "input", "method", "status"] {
            assert_eq!(group[key], alone[key], "{key}");
        }
    }
    assert_eq!(place.rank(&["v.jsonl", "--by", "scene"]), all);
    let table = place.ranking(&["v.csv", "--by", "scene", "--threads", "1"]);
    assert!(table.starts_with("by,rank,item,"));
    assert_eq!(table, place.ranking(&["v.jsonl", "--by", "scene", "--threads", "4"]));
}

/// One column may say both who voted and which study the vote belongs to.
#[test]
fn by_annotator() {
    let place = Place::new();
    place.put("v.csv", "annotator,winner,loser\nann,a,b\nbob,b,a\nann,a,\"c\"\n");
    place.put(
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
    place.put("v.arrow", files::arrow_file(&batch));
    for name in ["v.csv", "v.jsonl", "v.arrow"] {
        let json = place.rank(&[name, "--by", "annotator"]);
        let found: Vec<_> = json["groups_by"].as_array().unwrap().iter().collect();
        let brief = |group: &Value| (group["by"].clone(), group["input"]["rows"].clone());
        assert_eq!(brief(found[0]), ("ann".into(), 2.into()), "{name}");
        assert_eq!(brief(found[1]), ("bob".into(), 1.into()), "{name}");
        assert!(found.iter().all(|group| group["input"]["annotators"] == 1), "{name}");
    }
}

#[test]
fn names_of_any_kind_survive() {
    let names =
        ["a, b", "say \"hi\"", "two\nlines", "café ☕", " spaced ", "tab\there", "left", "12"];
    let (place, mut writer) = (Place::new(), csv::Writer::from_writer(Vec::new()));
    let mut json = String::new();
    writer.write_record(["winner", "loser"]).unwrap();
    for pair in names.windows(2) {
        writer.write_record(pair).unwrap();
        json.push_str(&serde_json::json!({ "winner": pair[0], "loser": pair[1] }).to_string());
        json.push('\n');
    }
    place.put("v.csv", writer.into_inner().unwrap());
    place.put("v.jsonl", json);
    let ranked = place.rank(&["v.csv"]);
    let rows = ranked["ranking"].as_array().unwrap();
    let found: Vec<&str> = rows.iter().map(|row| row["item"].as_str().unwrap()).collect();
    assert_eq!(found, names, "each beats the next");
    let table = place.ranking(&["v.csv"]);
    assert_eq!(table, place.ranking(&["v.jsonl"]));
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let read: Vec<String> = reader.records().map(|record| record.unwrap()[1].to_owned()).collect();
    assert_eq!(read, names, "the CSV of a ranking keeps them too");
}

#[test]
fn labels_that_look_like_outcomes() {
    let place = Place::new();
    place.put("v.csv", "left,right,winner\n1,2,2\n2,3,2\n3,1,1\n");
    let best = |arguments: &[&str]| {
        place.rank(&[&["v.csv"], arguments].concat())["ranking"][0]["item"].clone()
    };
    assert_eq!(best(&[]), "2", "every outcome is a label of its row");
    assert_eq!(best(&["--outcome-as", "label"]), "2");
    // As numbers the left item always wins: by 2, by 2 and by 1.
    assert_eq!(best(&["--outcome-as", "number"]), "1");
}
