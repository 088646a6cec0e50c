//! `hodgerank certify`: the sets change the result when their votes are taken out of the file.

use serde_json::Value;

use crate::support::TestDir;

/// Every pair of six items, with annotators; `a` is a little better than `b`.
fn rows() -> Vec<[String; 4]> {
    let items = ["a", "b", "c", "d", "e", "f"];
    let mut rows = Vec::new();
    for (i, left) in items.iter().enumerate() {
        for (j, right) in items.iter().enumerate().filter(|(j, _)| *j != i) {
            for n in 0..4 {
                // The better item wins three of four votes, and `b` wins against `a` once more.
                let is_upset = n == (i + j) % 4 || (left, right, n) == (&"a", &"b", 0);
                let winner = if (i < j) == is_upset { "right" } else { "left" };
                let annotator = format!("p{}", (5 * i + 3 * j + n) % 9);
                rows.push([(*left).to_owned(), (*right).to_owned(), winner.to_owned(), annotator]);
            }
        }
    }
    rows
}

fn csv(rows: &[[String; 4]]) -> String {
    let rows: String = rows.iter().map(|row| row.join(",") + "\n").collect();
    format!("left,right,winner,annotator\n{rows}")
}

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", csv(&rows()));
    dir
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// The rows without the votes that a set lists.
fn without(set: &[Value]) -> Vec<[String; 4]> {
    let mut rows = rows();
    for member in set {
        if member.get("left").is_none() {
            rows.retain(|row| row[3] != text(member, "annotator"));
            continue;
        }
        let prefers_left = member["outcome"].as_f64().unwrap() > 0.0;
        let (left, right) = (text(member, "left"), text(member, "right"));
        let is_vote = |row: &[String; 4], turned: bool| {
            let (l, r) = if turned { (right, left) } else { (left, right) };
            let winner = if prefers_left != turned { "left" } else { "right" };
            let annotator = member.get("annotator").map_or(&*row[3], |name| name.as_str().unwrap());
            row[0] == l && row[1] == r && row[2] == winner && row[3] == annotator
        };
        for _ in 0..member["removed"].as_u64().unwrap() {
            let as_listed = rows.iter().position(|row| is_vote(row, false));
            let found = as_listed.or_else(|| rows.iter().position(|row| is_vote(row, true)));
            rows.remove(found.expect("a listed vote is in the file"));
        }
    }
    rows
}

/// Checks every set of a document: without its votes, `rank` has another result.
#[track_caller]
fn check_sets(dir: &TestDir, json: &Value, places: usize) {
    let rankings = json["rankings"].as_array().unwrap();
    for ranking in rankings {
        let method = text(ranking, "method");
        let mut rank = vec!["rank", "rest.csv", "--method", method, "--format", "json"];
        if (text(ranking, "ranking"), method) == ("plain", "bt") {
            rank.extend(["--lapse-rate", "0"]);
        }
        for kind in ["votes", "annotators"] {
            let search = &ranking[kind];
            assert_eq!(search["found"], true, "{method} {kind}");
            assert_eq!(search["verified"], true);
            let set = search["set"].as_array().unwrap();
            dir.write("rest.csv", csv(&without(set)));
            let ranked = dir.run(&rank).success().json();
            let first = ranked["ranking"].as_array().unwrap().iter().take(places);
            let first: Vec<&Value> = first.map(|row| &row["item"]).collect();
            let expected: Vec<&Value> = search["result"].as_array().unwrap().iter().collect();
            assert_eq!(first, expected, "{method} {kind}");
            assert_ne!(
                Value::from(first.into_iter().cloned().collect::<Vec<_>>()),
                ranking["result"]
            );
        }
    }
}

#[test]
fn sets_change_the_result_when_their_votes_are_removed() {
    let dir = dir();
    for options in [&[][..], &["--method", "l2"], &["--method", "iss"], &["--method", "bt"]] {
        let json = dir.run(&[&["certify", "v.csv", "--format", "json"], options].concat());
        let json = json.success().json();
        assert_eq!(json["schema"], "hodgerank/certify/1");
        assert_eq!((&json["places"], &json["input"]["comparisons"]), (&1.into(), &120.into()));
        let rankings = json["rankings"].as_array().unwrap().len();
        assert_eq!(rankings, if options.contains(&"l2") { 1 } else { 2 });
        check_sets(&dir, &json, 1);
    }
}

#[test]
fn the_first_places_are_a_set() {
    let dir = dir();
    let options = ["certify", "v.csv", "--method", "l2", "--places", "2", "--format", "json"];
    let json = dir.run(&options).success().json();
    assert_eq!(json["rankings"][0]["result"], serde_json::json!(["a", "b"]));
    let search = &json["rankings"][0]["votes"];
    assert!(["a", "b"].contains(&text(search, "below")), "{search}");
    check_sets(&dir, &json, 2);
}

#[test]
fn text_says_what_is_proven() {
    let dir = dir();
    let run = dir.run(&["certify", "v.csv", "--method", "l2"]).success();
    let sentence = run.text().replace('\n', " ");
    for part in [
        "Plain ranking (l2): a is first. Removing ",
        " of 120 votes (",
        " makes b first instead of a. Verified by ranking without them. ",
        " of 9 annotators (",
    ] {
        assert!(sentence.contains(part), "{part}: {}", run.text());
    }
    assert!(run.text().lines().all(|line| line.chars().count() <= 100), "{}", run.text());
    // Nothing can be removed that changes the order of two items with one vote.
    dir.write("one.csv", "winner,loser\na,b\n");
    let run = dir.run(&["certify", "one.csv", "--method", "l2"]).success();
    let text = run.text().replace('\n', " ");
    assert!(text.contains("No set of up to 0 of 1 vote was found"), "{text}");
    assert!(text.contains("does not prove that there is none"), "{text}");
    dir.write("tied.csv", "winner,loser\na,b\nb,a\n");
    let run = dir.run(&["certify", "tied.csv", "--method", "l2"]).success();
    assert!(run.text().contains("a and b have equal scores"), "{}", run.text());
}

#[test]
fn pairs_are_checked() {
    let dir = dir();
    let certify =
        |file: &str, pair: &str| dir.run(&["certify", file, "--method", "l2", "--pair", pair]);
    let run = certify("v.csv", "f,c").success();
    assert!(run.text().contains("c is above f"), "{}", run.text());
    assert!(run.text().contains("puts f above c"), "{}", run.text());
    dir.write("models.csv", "winner,loser\ngpt-4,claude\nllama,vicuna\nclaude,gpt-4\n");
    let run = certify("models.csv", "claude,gpt4");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("there is no item gpt4"), "{}", run.stderr);
    assert!(run.stderr.contains("--pair claude,gpt-4"), "{}", run.stderr);
    let run = certify("models.csv", "llama,gpt-4");
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("do not compare"), "{}", run.stderr);
    for (arguments, code) in [
        (&["--pair", "a,b", "--places", "2"][..], 2),
        (&["--pair", "a"], 2),
        (&["--pair", "a,a"], 2),
        (&["--places", "0"], 2),
        (&["--places", "6"], 3),
        (&["--lambda", "1"], 2),
    ] {
        let run = dir.run(&[&["certify", "v.csv"], arguments].concat());
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn tables_list_the_members_of_all_sets() {
    let dir = dir();
    let run = |format: &str| dir.run(&["certify", "v.csv", "--method", "iss", "--format", format]);
    let csv = run("csv").success();
    let json = run("json").success().json();
    let mut lines = csv.text().lines();
    let header = "ranking,method,set,annotator,left,right,outcome,removed,of";
    assert_eq!(lines.next(), Some(header));
    let length = |search: &Value| search["set"].as_array().map_or(0, Vec::len);
    let rankings = json["rankings"].as_array().unwrap().iter();
    let members: usize = rankings.map(|r| length(&r["votes"]) + length(&r["annotators"])).sum();
    assert_eq!(lines.count(), members);
}

#[test]
fn studies_have_their_own_sets() {
    let dir = dir();
    let by = ["certify", "v.csv", "--method", "l2", "--by", "annotator", "--format", "json"];
    let json = dir.run(&by).success().json();
    let studies = json["groups_by"].as_array().unwrap();
    assert_eq!(studies.len(), 9);
    assert!(studies.iter().all(|study| study["rankings"].as_array().unwrap().len() == 1));
}
