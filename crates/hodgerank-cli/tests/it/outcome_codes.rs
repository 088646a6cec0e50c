//! Outcome columns with codes for the two sides.

use crate::support::TestDir;

const ITEMS: [&str; 4] = ["cat", "cow", "dog", "hen"];

/// Rows of all pairs, with `values` in turn.
fn votes(column: &str, values: &[&str], rows: usize) -> String {
    let mut text = format!("left,right,{column}\n");
    for k in 0..rows {
        let (left, other) = (k % 4, 1 + k / 4 % 3);
        let value = values[k % values.len()];
        text += &format!("{},{},{value}\n", ITEMS[left], ITEMS[(left + other) % 4]);
    }
    text
}

#[test]
fn codes_without_a_vote_for_the_right_item_are_questioned() {
    let dir = TestDir::new();
    for (column, values, rows, parts) in [
        (
            "winner",
            &["1", "2", "1"][..],
            6,
            &["`winner` has only the values 1 (4 rows) and 2 (2 rows)", "1=left,2=right if 2 is"][..],
        ),
        (
            "winner",
            &["0", "1"],
            6,
            &["0 (3 rows) and 1 (3 rows)", "1=left,0=right", "0=left,1=right"],
        ),
        ("label", &["2", "1", "0"], 6, &["--outcome-as 1=left,2=right,0=tie"]),
        ("outcome", &["1", "2", "3"], 6, &["--outcome-as 1=left,2=right,3=tie"]),
        ("outcome", &["1.0", "2.0", "tie"], 6, &["1 (2 rows) and 2 (2 rows)"]),
        ("outcome", &["1", "3", "5"], 6, &["--outcome-as VALUE=MEANING"]),
        ("winner", &["1"], 10, &["only the value 1 (10 rows)", "--outcome-as number"]),
        ("y", &["1", "0"], 6, &["`y` has only the values 0 (3 rows) and 1 (3 rows)"]),
    ] {
        dir.write("v.csv", votes(column, values, rows));
        for threads in ["1", "2"] {
            let run = dir.run(&["rank", "v.csv", "--threads", threads]);
            assert_eq!(run.code, Some(2), "{column} {values:?}: {}", run.stderr);
            // Messages are wrapped.
            let message = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
            for part in parts {
                assert!(message.contains(part), "{part}: {message}");
            }
            assert!(run.stdout.is_empty());
        }
    }
}

#[test]
fn clear_outcomes_are_not_questioned() {
    let dir = TestDir::new();
    for (column, values, rows) in [
        ("winner", &["1", "2", "-1"][..], 6),
        ("winner", &["left"], 12),
        ("winner", &["a", "tie"], 12),
        ("winner", &["1"], 9),
        ("y", &["1", "4", "2", "1000"], 12),
        ("y", &["1"], 12),
        ("y", &["1", "0"], 4),
        ("score", &["0.5", "1"], 12),
        ("is_A_selected", &["1"], 12),
    ] {
        dir.write("v.csv", votes(column, values, rows));
        dir.run(&["rank", "v.csv", "--method", "l2"]).success();
    }
    dir.write("labels.csv", "left,right,winner\n1,2,1\n2,3,2\n3,1,3\n1,3,1\n3,2,3\n");
    dir.run(&["rank", "labels.csv", "--method", "l2"]).success();
    dir.write("wins.csv", "winner,loser\n".to_owned() + &"a,b\nb,c\na,c\n".repeat(5));
    dir.run(&["rank", "wins.csv", "--method", "l2"]).success();
}

#[test]
fn meanings_can_be_given() {
    let dir = TestDir::new();
    let ranked = |codes: &[&str], outcome_as: &str| {
        dir.write("v.csv", votes("winner", codes, 24));
        dir.rank_csv(&["v.csv", "--method", "l2", "--outcome-as", outcome_as])
    };
    let expected = ranked(&["left", "right", "tie", "left", "right"], "word");
    assert_eq!(ranked(&["1", "2", "0", "1", "2.0"], "1=left,2=right,0=tie"), expected);
    assert_eq!(ranked(&["0", "1", "x", "0", "1"], "0=left, 1=right, x=tie"), expected);
    assert_eq!(ranked(&["5", "1", "3", "5", "1"], "1=-1,3=0,5=1"), expected);
    // Everyone really chose the left item.
    let all_left = ranked(&["left"], "word");
    assert_eq!(ranked(&["1"], "number"), all_left);
    assert_eq!(ranked(&["1"], "1=left"), all_left);

    dir.write("v.csv", votes("winner", &["1", "2", "3"], 6));
    let run = dir.run(&["rank", "v.csv", "--outcome-as", "1=left,2=right"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("unknown outcome"), "{}", run.stderr);
    for bad in ["1=left,2", "1=lft", "labels"] {
        let run = dir.run(&["rank", "v.csv", "--outcome-as", bad]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains("--outcome-as"), "{}", run.stderr);
    }
}
