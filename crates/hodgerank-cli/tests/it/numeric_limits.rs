//! Votes at the limits of arithmetic, and results that must not depend on the order of rows.

use std::collections::BTreeMap;

use crate::support::{TestDir, number};

fn scores(dir: &TestDir, arguments: &[&str]) -> BTreeMap<String, f64> {
    let json = dir.rank_json(arguments);
    assert_eq!(json["status"], "solved", "{arguments:?}: {json}");
    let rows = json["ranking"].as_array().unwrap();
    let name = |row: &serde_json::Value| row["item"].as_str().unwrap().to_owned();
    rows.iter().map(|row| (name(row), number(row, "score"))).collect()
}

#[test]
fn one_vote_next_to_very_many_is_not_lost() {
    let dir = TestDir::new();
    // With the last vote, 2⁵³ votes: the largest number that is accepted.
    for count in ["1000000000000", "9007199254740991"] {
        let rows = format!("left,right,y,count\na,b,0,{count}\nb,c,1,1\n");
        dir.write("v.csv", rows);
        for backend in ["auto", "dense", "cg"] {
            let scores = scores(&dir, &["v.csv", "--method", "l2", "--backend", backend]);
            assert!((scores["c"] + 2.0 / 3.0).abs() < 1e-9, "{backend}, {count}: {scores:?}");
            assert!((scores["a"] - 1.0 / 3.0).abs() < 1e-9, "{backend}, {count}: {scores:?}");
        }
    }
}

#[test]
fn an_overflow_names_the_item_by_its_label() {
    let dir = TestDir::new();
    dir.write("v.csv", "left,right,y\nred,blue,1.7e308\nred,green,1.7e308\nblue,green,1\n");
    for command in ["rank", "compare"] {
        let run = dir.run(&[command, "v.csv"]);
        assert_eq!(run.code, Some(2), "{command}: {}", run.stderr);
        assert!(run.stderr.contains("item red:"), "{command}: {}", run.stderr);
    }
}

/// Five annotators cast the same wrong vote, and two votes are flagged.
#[test]
fn which_of_equal_votes_are_flagged_does_not_depend_on_the_order_of_rows() {
    let dir = TestDir::new();
    let mut rows: Vec<String> = Vec::new();
    for n in 0..30 {
        let (winner, loser) = [("a", "b"), ("b", "c"), ("a", "c")][n % 3];
        rows.push(format!("{winner},{loser},careful{},1", n % 4));
    }
    // Names in an order that is neither that of the rows nor that of the bytes.
    rows.extend([7, 10, 2, 30, 9].map(|n| format!("c,a,w{n},1")));
    let mut flagged = Vec::new();
    for turn in 0..4 {
        rows.rotate_left(11 * turn);
        if turn == 3 {
            rows.reverse();
        }
        dir.write("v.csv", format!("winner,loser,annotator,count\n{}\n", rows.join("\n")));
        let iht = ["v.csv", "--method", "iht", "--outliers", "2"];
        let table = dir.json(&[&["rank"], &iht[..]].concat(), b"");
        let blamed = table["annotators"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| number(row, "flagged") > 0.0);
        let mut blamed: Vec<String> =
            blamed.map(|row| row["annotator"].as_str().unwrap().to_owned()).collect();
        blamed.sort();
        assert_eq!(blamed, ["w2", "w7"], "turn {turn}");
        let clean =
            [&["clean"], &iht[..], &["-o", "kept.csv", "--flagged", "flagged.csv"]].concat();
        dir.run(&clean).success();
        let text = String::from_utf8(dir.read("flagged.csv")).unwrap();
        // Without the number of the row.
        let vote = |line: &str| line.split(',').take(4).collect::<Vec<_>>().join(",");
        let mut lines: Vec<String> = text.lines().map(vote).collect();
        lines.sort();
        flagged.push(lines);
    }
    assert!(flagged.windows(2).all(|turns| turns[0] == turns[1]), "{flagged:?}");
}

/// One decimal-point error must not make ilts distrust most of the votes.
#[test]
fn ilts_survives_a_gross_vote() {
    let dir = TestDir::new();
    let study = ["simulate", "--items", "8", "--votes", "300", "--graded", "--noise", "gaussian"];
    dir.run(&[&study[..], &["-o", "v.csv"]].concat()).success();
    let text = String::from_utf8(dir.read("v.csv")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let gross = "item-1,item-2,-1000000";
    assert!(lines[0].starts_with("left,right,"), "{}", lines[0]);
    let fields = lines[0].split(',').count();
    let gross = format!("{gross}{}", ",".repeat(fields - 3));
    lines.push(&gross);
    dir.write("gross.csv", lines.join("\n"));
    let json = dir.rank_json(&["gross.csv", "--method", "ilts"]);
    assert!(number(&json["outliers"], "fraction") < 0.4, "{}", json["outliers"]);
}

#[test]
fn a_majority_of_flagged_votes_is_a_warning() {
    let dir = TestDir::new();
    let study = ["simulate", "--items", "6", "--votes", "200", "--noise", "gaussian", "--graded"];
    dir.run(&[&study[..], &["-o", "v.csv"]].concat()).success();
    let warned = |share: &str| {
        let run = dir.run(&["rank", "v.csv", "--method", "iht", "--outliers", share]).success();
        run.stderr.contains("more than half of the votes are flagged")
    };
    assert!(warned("60%"));
    assert!(!warned("10%"));
}
