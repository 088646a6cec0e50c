//! `diagnose`: whether votes support a ranking, and whether bad votes can be found.

use crate::support::files::{self, study};
use crate::support::{TestDir, number, without_provenance};
use serde_json::{Value, json};

/// Two cycles of three items with a single link between them.
const TWO_SIDES: &str = "winner,loser,count\n\
    a,b,4\nb,c,4\nc,a,4\nd,e,4\ne,f,4\nf,d,4\na,d,1\n";
const TREE: &str = "winner,loser\ntop,mid\nmid,low\ntop,other\n";
const TWO_PARTS: &str = "winner,loser\na,b\na,b\nb,a\nb,a\nc,d\nc,d\nd,c\nd,c\n";

#[track_caller]
fn diagnosed(votes: &str, options: &[&str]) -> Value {
    TestDir::new().json(&[&["diagnose", "-"], options].concat(), votes.as_bytes())
}

/// Three votes on each pair of five items in alphabetical order, and one vote against it.
fn complete() -> String {
    let items = ["a", "b", "c", "d", "e"];
    let pairs = items.iter().enumerate().flat_map(|(k, left)| {
        items[k + 1..].iter().map(move |right| format!("{left},{right},left,3\n"))
    });
    format!("left,right,winner,count\n{}a,e,right,1\n", pairs.collect::<String>())
}

fn verdict(document: &Value) -> (bool, bool) {
    let answer = |key: &str| document["verdict"][key].as_bool().unwrap();
    (answer("can_rank"), answer("can_find_outliers"))
}

#[track_caller]
fn first(document: &Value, list: &str) -> Value {
    let listed = &document["design"][list];
    assert_eq!(listed["count"], listed["first"].as_array().unwrap().len(), "{list}");
    listed["first"].clone()
}

#[test]
fn a_complete_study_supports_a_ranking() {
    let dir = TestDir::new();
    dir.write("v.csv", complete());
    let run = dir.run(&["diagnose", "v.csv", "--strict", "--format", "json"]).success();
    let found = run.json();
    assert_eq!((&found["schema"], verdict(&found)), (&json!("hodgerank/diagnose/1"), (true, true)));
    assert_eq!(found["input"], dir.rank_json(&["v.csv"])["input"]);
    assert_eq!(found["verdict"]["advice"], json!([]), "nothing is wanting");
    assert_eq!(found["settled"]["next"]["estimate"], "more-than");
    let design = &found["design"];
    for (figure, value) in [
        ("items", 5.0),
        ("pairs", 10.0),
        ("votes", 31.0),
        ("density", 1.0),
        ("components", 1.0),
        // 31 votes minus the four of a spanning tree.
        ("cycles", 27.0),
    ] {
        assert_eq!(number(design, figure), value, "{figure}");
    }
    assert_eq!(first(&found, "bridges"), json!([]));
    // Ten pairs with three votes each, one with a fourth: λ₂ of the complete graph is 5 · 3.
    assert!((number(&found["connectivity"], "value") - 15.0).abs() < 1e-6);
    // ρ of a pair with three votes is slightly below 2 / (5 · 3).
    assert!((0.12..0.1334).contains(&number(&found["identifiability"], "rho")), "{found}");
    let table = dir.run(&["diagnose", "v.csv", "--strict"]).success();
    let verdict = "All items can be ranked together: yes\nWrong votes can be identified:    yes\n";
    assert!(table.text().starts_with(verdict), "{}", table.text());
}

/// The diagnosis is written in full before `--strict` fails.
#[track_caller]
fn strict_fails(votes: &str, problem: &str, help: &str) -> Value {
    let dir = TestDir::new();
    let output = ["diagnose", "-", "--format", "json"];
    let good = dir.run_with_stdin(&output, votes.as_bytes()).success();
    let strict = dir.run_with_stdin(&[&output[..], &["--strict"]].concat(), votes.as_bytes());
    assert_eq!(strict.code, Some(3), "{}", strict.stderr);
    assert_eq!(strict.json(), good.json());
    assert!(
        strict.stderr.contains(problem) && strict.stderr.contains(&format!("help: {help}")),
        "{}",
        strict.stderr
    );

    let to_file = ["diagnose", "-", "--strict", "-o", "found.json"];
    assert_eq!(dir.run_with_stdin(&to_file, votes.as_bytes()).code, Some(3));
    let written = serde_json::from_slice(&dir.read("found.json")).expect("JSON");
    assert_eq!(without_provenance(written), good.json());
    good.json()
}

#[test]
fn a_tree_can_be_ranked_but_hides_bad_votes() {
    let found = strict_fails(TREE, "wrong votes cannot be identified", "Repeat some pairs");
    assert_eq!(verdict(&found), (true, false));
    assert_eq!(
        (&found["design"]["cycles"], &found["design"]["bridges"]["count"]),
        (&json!(0), &json!(3))
    );
    let figures = &found["identifiability"];
    assert!((number(figures, "rho") - 1.0).abs() < 1e-12, "{figures}");
    assert_eq!(number(figures, "findable_share"), 0.0);
    assert_eq!(figures["certain_outliers"], 0);
}

#[test]
fn components_have_no_common_scale() {
    let found =
        strict_fails(TWO_PARTS, "the items cannot all be ranked together", "Compare items of");
    assert!(!verdict(&found).0);
    assert_eq!(
        (&found["design"]["components"], &found["design"]["largest_component"]),
        (&json!(2), &json!(2))
    );
    let advice = found["verdict"]["advice"][0].as_str().unwrap();
    assert!(advice.contains("1 more pair can"), "{advice}");
}

#[test]
fn weak_points_are_listed() {
    let found = diagnosed(TWO_SIDES, &["--few-votes", "9"]);
    let [left, right] = ["left", "right"].map(|side| first(&found, "bridges")[0][side].clone());
    assert_eq!((left, right), (json!("a"), json!("d")));
    let few = |item: &str, votes: u64| json!({"item": item, "votes": votes});
    assert_eq!(
        first(&found, "few_votes"),
        json!([few("b", 8), few("c", 8), few("e", 8), few("f", 8)])
    );
    assert_eq!((first(&found, "undefeated"), first(&found, "winless")), (json!([]), json!([])));
    assert_eq!(first(&diagnosed(TWO_SIDES, &[]), "few_votes"), json!([]), "five votes are enough");
    let spread = &found["design"]["votes_per_pair"];
    assert_eq!((number(spread, "least"), number(spread, "most")), (1.0, 4.0));

    let found = diagnosed(TREE, &[]);
    assert_eq!(first(&found, "undefeated"), json!(["top"]));
    assert_eq!(first(&found, "winless"), json!(["low", "other"]));
    let votes = first(&found, "few_votes");
    assert_eq!(
        (votes.as_array().unwrap().len(), &votes[0]["votes"], &votes[3]["votes"]),
        (4, &json!(1), &json!(2))
    );
    let table = TestDir::new().run_with_stdin(&["diagnose", "-"], TREE.as_bytes()).success();
    for part in [
        "1, such as top",
        "2, such as low",
        "4, such as low (1)",
        "no wrong vote can be identified",
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(table.text()).contains(part), "{part}: {}", table.text());
    }
}

/// Options are checked before the file is opened.
#[test]
fn invalid_noise_is_rejected() {
    let dir = TestDir::new();
    for sigma in ["0", "-1", "nan", "inf"] {
        let run = dir.run(&["diagnose", "none.csv", "--sigma", sigma, "-o", "found.json"]);
        assert_eq!(run.code, Some(2), "{sigma}: {}", run.stderr);
        assert!(run.stderr.contains("expected a finite number above 0"), "{}", run.stderr);
        assert_eq!(dir.file_names(), [""; 0], "{sigma}");
    }
    for wrong in [["--draws", "0"], ["--few-votes", "-1"], ["--outliers", "200%"]] {
        let run = dir.run(&[&["diagnose", "none.csv"], &wrong[..]].concat());
        assert_eq!((run.code, run.text()), (Some(2), ""), "{wrong:?}");
        assert!(!run.stderr.contains("none.csv"), "{}", run.stderr);
    }
}

#[test]
fn conditions_need_flagged_votes() {
    // A ranking explains these votes completely.
    let agreed = "left,right,y,count\na,b,1,3\nb,c,1,3\na,c,2,3\n";
    let suspects = |document: &Value| document["identifiability"]["suspects"].clone();
    let none = suspects(&diagnosed(agreed, &[]));
    assert_eq!((&none["comparisons"], &none["conditions"]), (&json!(0), &Value::Null));

    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&study(), ","));
    let command = ["diagnose", "v.csv", "--outliers", "5%"];
    let found = suspects(&dir.json(&command, b""));
    let ranked = dir.rank_json(&command[1..]);
    assert_eq!(found["comparisons"], ranked["outliers"]["comparisons"]);
    assert_eq!(found["method"], ranked["method"]);
    let conditions = &found["conditions"];
    for condition in ["c1", "c2", "c3"] {
        assert!(conditions[condition].is_boolean(), "{condition}: {conditions}");
    }
    assert_eq!(conditions["c2"], number(conditions, "eta") > 0.0);
    assert!(number(conditions, "sigma") > 0.0 && number(conditions, "c_min") > 0.0);

    // A given noise is used, and every bound grows with it.
    let [little, much] = ["0.1", "0.4"].map(|sigma| {
        let document = dir.json(&[&command[..], &["--sigma", sigma]].concat(), b"");
        suspects(&document)["conditions"].clone()
    });
    assert_eq!((number(&little, "sigma"), number(&much, "sigma")), (0.1, 0.4));
    assert!((number(&much, "lambda_bar") / number(&little, "lambda_bar") - 4.0).abs() < 1e-9);
    assert!(number(&much, "gamma_needed") > number(&little, "gamma_needed"));
}

#[test]
fn annotators_are_counted() {
    let votes = "winner,loser,annotator\na,b,ann\nb,c,ann\nc,a,ann\na,c,bob\n";
    let spread = &diagnosed(votes, &[])["design"]["votes_per_annotator"];
    assert_eq!(*spread, json!({"least": 1.0, "median": 1.0, "mean": 2.0, "most": 3.0}));
    for unknown in [TWO_SIDES.to_owned(), complete()] {
        assert!(diagnosed(&unknown, &[])["design"].get("votes_per_annotator").is_none());
    }
}

#[test]
fn studies_of_one_file_are_separate() {
    let dir = TestDir::new();
    let rows = "one,a,b,ann\none,b,c,ann\none,c,a,bob\ntwo,x,y,bob\n";
    dir.write("v.csv", format!("film,winner,loser,annotator\n{rows}"));
    let both = dir.json(&["diagnose", "v.csv", "--by", "film"], b"");
    let groups = both["groups_by"].as_array().unwrap();
    assert_eq!(
        (groups.len(), &groups[0]["by"], &groups[1]["by"]),
        (2, &json!("one"), &json!("two"))
    );
    assert_eq!((verdict(&groups[0]), verdict(&groups[1])), ((true, true), (true, false)));
    let most = |group: &Value| number(&group["design"]["votes_per_annotator"], "most");
    assert_eq!((most(&groups[0]), most(&groups[1])), (2.0, 1.0));
    let strict = dir.run(&["diagnose", "v.csv", "--by", "film", "--strict"]);
    assert_eq!(strict.code, Some(3));
    assert!(strict.stderr.contains("error: two: wrong votes"), "{}", strict.stderr);
    let csv = dir.run(&["diagnose", "v.csv", "--by", "film", "--format", "csv"]).success();
    assert!(csv.text().starts_with("by,figure,value\none,"), "{}", csv.text());
    assert!(csv.text().contains("\ntwo,design.items,2\n"), "{}", csv.text());
}

/// Each number of the JSON is a row of the table, named by its path.
#[test]
fn the_table_has_every_number() {
    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&study(), ","));
    let document = dir.json(&["diagnose", "v.csv"], b"");
    let table = dir.run(&["diagnose", "v.csv", "--format", "csv"]).success();
    assert!(table.text().starts_with("figure,value\n"), "{}", table.text());
    let rows = csv::Reader::from_reader(&*table.stdout).into_records().map(Result::unwrap);
    let mut figures = 0;
    for row in rows {
        let mut value = &document;
        for step in row[0].split('.') {
            value = match step.parse::<usize>() {
                Ok(position) => &value[position - 1],
                Err(_) => &value[step],
            };
        }
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        assert_eq!(&row[1], if value.is_null() { "" } else { &text }, "{}", &row[0]);
        figures += 1;
    }
    assert_eq!(figures, leaves(&document) - leaves(&document["rejected"]) - 1, "and no schema");
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(leaves).sum(),
        Value::Array(values) => values.iter().map(leaves).sum(),
        _ => 1,
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let dir = TestDir::new();
    dir.write("dense.csv", files::separated(&study(), ","));
    dir.write("sparse.csv", files::separated(&files::votes(200, 900), ","));
    for file in ["dense.csv", "sparse.csv"] {
        for format in ["table", "csv", "json", "parquet"] {
            let [one, two] = ["1", "2"].map(|threads| {
                let output = ["--format", format, "--threads", threads, "--outliers", "5%"];
                dir.run(&[&["diagnose", file], &output[..]].concat()).success()
            });
            assert!(!one.stdout.is_empty() && one == two, "{file} {format}");
        }
    }
}
