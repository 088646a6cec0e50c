//! `rank --against`: what changed since a ranking saved earlier.

use serde_json::{Value, json};

use crate::support::{TestDir, number};

const OLD: &str = "winner,loser,count\na,b,9\nb,a,2\nb,c,9\nc,b,2\nc,d,9\nd,c,2\na,d,9\nd,a,1\n";
/// d rises to the top, c is gone, e is new.
const NEW: &str = "winner,loser,count\na,b,9\nb,a,2\nd,a,9\na,d,2\nb,e,9\ne,b,2\nd,e,9\ne,d,1\n";

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("old.csv", OLD);
    dir.write("new.csv", NEW);
    dir.run(&["rank", "old.csv", "--method", "bt", "-o", "old.json"]).success();
    dir
}

fn item<'a>(changes: &'a Value, name: &str) -> &'a Value {
    let items = changes["items"].as_array().expect("items");
    items.iter().find(|item| item["item"] == name).expect("the item")
}

#[test]
fn ranks_and_scores_are_compared_item_by_item() {
    let dir = dir();
    let old: Value = serde_json::from_slice(&dir.read("old.json")).unwrap();
    let json = dir.rank_json(&["new.csv", "--method", "bt", "--against", "old.json"]);
    let changes = &json["against"];
    let d = item(changes, "d");
    assert_eq!((&d["old_rank"], &d["rank"], &d["rank_change"]), (&json!(4), &json!(1), &json!(3)));
    let difference = number(d, "score") - number(d, "old_score");
    assert_eq!(number(d, "score_change"), difference);
    let before = old["ranking"].as_array().unwrap().iter().find(|row| row["item"] == "d").unwrap();
    assert_eq!(d["old_score"], before["score"]);
    let e = item(changes, "e");
    assert_eq!(
        (&e["old_rank"], &e["rank_change"], &e["old_score"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    let gone = changes["gone"].as_array().unwrap();
    assert_eq!((gone.len(), &gone[0]["item"], &gone[0]["old_rank"]), (1, &json!("c"), &json!(3)));
    // a, b, d were first, second, fourth and are second, third, first: one pair agrees, two do not.
    assert_eq!((&changes["common"], number(changes, "kendall")), (&json!(3), -1.0 / 3.0));
    assert_eq!(changes["scores_compare"], true);
    let warnings = json["warnings"].as_array().unwrap();
    // The study is small.
    assert!(warnings.iter().all(|w| w.as_str().unwrap().contains("intervals")), "{warnings:?}");
}

#[test]
fn a_ranking_compared_with_itself_does_not_change() {
    let dir = dir();
    let json = dir.rank_json(&["old.csv", "--method", "bt", "--against", "old.json"]);
    assert_eq!(number(&json["against"], "kendall"), 1.0);
    assert_eq!(json["against"]["gone"], json!([]));
    for item in json["against"]["items"].as_array().unwrap() {
        assert_eq!(
            (&item["rank_change"], number(item, "score_change")),
            (&json!(0), 0.0),
            "{item}"
        );
    }
    let table = dir.run(&["rank", "old.csv", "--method", "bt", "--against", "old.json"]).success();
    assert!(table.text().contains("no item changed its rank"), "{}", table.text());
}

#[test]
fn csv_has_columns_of_changes() {
    let dir = dir();
    let csv = dir.rank_csv(&["new.csv", "--method", "bt", "--against", "old.json"]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let first = header.len() - 4;
    let columns: Vec<&str> = header.iter().skip(first).collect();
    assert_eq!(columns, ["old_rank", "rank_change", "old_score", "score_change"]);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!((&rows[0][1], &rows[0][first], &rows[0][first + 1]), ("d", "4", "3"));
    assert_eq!((&rows[3][1], &rows[3][first], &rows[3][first + 3]), ("e", "", ""));
    assert_eq!((&rows[1][1], &rows[1][first + 1]), ("a", "-1"));
}

#[test]
fn the_table_shows_moves_and_a_summary() {
    let dir = dir();
    let run = dir.run(&["rank", "new.csv", "--method", "bt", "--against", "old.json"]).success();
    let text = run.text();
    for expected in
        ["↑3", "↓1", "new", "largest moves: d (4 → 1)", "gone: c (was 3)", "new: e", "-0.333"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn scores_of_another_method_or_scale_do_not_compare() {
    let dir = dir();
    for options in [&["--method", "l2"][..], &["--method", "bt", "--scale", "elo"]] {
        let all = [&["new.csv", "--against", "old.json"], options].concat();
        let json = dir.rank_json(&all);
        assert_eq!(json["against"]["scores_compare"], false);
        let d = item(&json["against"], "d");
        assert_eq!((&d["score_change"], &d["rank_change"]), (&Value::Null, &json!(3)));
        let warnings = json["warnings"].to_string();
        assert!(warnings.contains("scores do not compare"), "{warnings}");
        let run = dir.run(&[&["rank"], &all[..]].concat()).success();
        assert!(run.stderr.contains("scores do not compare"), "{}", run.stderr);
    }
    // An Elo scale with the same anchor compares.
    let elo = ["--method", "bt", "--scale", "elo", "--anchor", "a=1000"];
    dir.run(&[&["rank", "old.csv", "-o", "elo.json.gz"], &elo[..]].concat()).success();
    let json = dir.rank_json(&[&["new.csv", "--against", "elo.json.gz"], &elo[..]].concat());
    assert_eq!(item(&json["against"], "a")["score_change"], 0.0);
    let json =
        dir.rank_json(&["new.csv", "--method", "bt", "--scale", "elo", "--against", "elo.json.gz"]);
    assert_eq!(json["against"]["scores_compare"], false);
}

#[test]
fn pairs_of_different_components_do_not_count_for_tau() {
    let dir = TestDir::new();
    dir.write("one.csv", "winner,loser\na,b\nx,y\n");
    dir.write("two.csv", "winner,loser\nb,a\nx,y\n");
    dir.run(&["rank", "one.csv", "--method", "l2", "-o", "one.json"]).success();
    let json = dir.rank_json(&["two.csv", "--method", "l2", "--against", "one.json"]);
    assert_eq!((&json["against"]["common"], number(&json["against"], "kendall")), (&json!(4), 0.0));
}

#[test]
fn studies_are_matched_by_name() {
    let dir = TestDir::new();
    let studies = |names: &[&str], votes: &str| {
        let rows =
            names.iter().flat_map(|name| votes.lines().map(move |vote| format!("{name},{vote}\n")));
        "study,winner,loser\n".to_owned() + &rows.collect::<String>()
    };
    dir.write("old.csv", studies(&["s1", "s2"], "a,b\nb,c\na,c"));
    dir.write("new.csv", studies(&["s2", "s3"], "c,b\nb,a\nc,a"));
    let rank = ["--by", "study", "--method", "l2"];
    dir.run(&[&["rank", "old.csv", "-o", "old.json"], &rank[..]].concat()).success();
    let all = [&["new.csv", "--against", "old.json"], &rank[..]].concat();
    let json = dir.rank_json(&all);
    let found = json["groups_by"].as_array().unwrap();
    assert_eq!(number(&found[0]["against"], "kendall"), -1.0);
    assert!(found[1].get("against").is_none(), "{}", found[1]);
    let run = dir.run(&[&["rank", "--format", "csv"], &all[..]].concat()).success();
    assert!(run.stderr.contains("not in the earlier ranking: s3"), "{}", run.stderr);
    assert!(run.stderr.contains("have no votes now: s1"), "{}", run.stderr);
    assert_eq!(run.text().lines().count(), 7);
    let run = dir.run(&["rank", "new.csv", "--against", "old.json"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("add --by"), "{}", run.stderr);
}

#[test]
fn a_file_that_is_no_ranking_is_refused_with_what_it_is() {
    let dir = dir();
    dir.run(&["diagnose", "old.csv", "-o", "diagnose.json"]).success();
    dir.write("other.json", "{\"a\": [1, 2]}");
    for (file, expected) in [
        ("old.csv", "not a JSON document"),
        ("other.json", "JSON that hodgerank did not write"),
        ("diagnose.json", "the output of `hodgerank diagnose`"),
        ("none.json", "none.json"),
    ] {
        let run = dir.run(&["rank", "new.csv", "--against", file]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(expected), "{file}: {}", run.stderr);
    }
}

#[test]
fn the_earlier_ranking_is_not_replaced() {
    let dir = dir();
    let before = dir.read("old.json");
    let run = dir.run(&["rank", "new.csv", "--against", "old.json", "-o", "./old.json"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert_eq!(dir.read("old.json"), before);
}
