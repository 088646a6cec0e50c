//! `--min-votes`: the result is that of a file without the votes on items that have few.

use serde_json::json;

use crate::support::TestDir;

const HEADER: &str = "annotator,left,right,winner,scene\n";

/// Votes on five items by six people in two scenes. In the first scene, `new` has three votes, and `only-new` has
/// one, on `new`.
fn rows() -> Vec<String> {
    let mut rows = Vec::new();
    for n in 0..400 {
        let (left, right) = (n % 5, (n + 1 + n / 5 % 4) % 5);
        let winner = if (left < right) == (n % 7 < 5) { "left" } else { "right" };
        rows.push(format!("ann-{},i{left},i{right},{winner},scene-{}", n % 6, n / 5 % 2));
    }
    for rival in ["i0", "i1", "only-new"] {
        rows.push(format!("ann-1,new,{rival},left,scene-0"));
    }
    rows
}

fn file(rows: &[String]) -> String {
    format!("{HEADER}{}\n", rows.join("\n"))
}

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("all.csv", file(&rows()));
    let rest: Vec<String> = rows().into_iter().filter(|row| !row.contains("new")).collect();
    dir.write("rest.csv", file(&rest));
    dir
}

#[test]
fn commands_that_rank_leave_out_items_with_few_votes() {
    let dir = dir();
    for command in [
        &["rank"][..],
        // A second pass over the rows.
        &["rank", "--method", "l2"],
        &["compare", "--methods", "l2,bt,crowd"],
        &["predict"],
        &["certify"],
        &["diagnose"],
    ] {
        for by in [&[][..], &["--by", "scene"]] {
            let run = |file: &str, more: &[&str]| {
                dir.json(&[command, &[file, "--quiet"], by, more].concat(), b"")
            };
            let (mut expected, mut found) =
                (run("rest.csv", &[]), run("all.csv", &["--min-votes", "10"]));
            let left_out = found.as_object_mut().unwrap().remove("excluded_items").unwrap();
            assert_eq!((&left_out["min_votes"], &left_out["votes"]), (&json!(10), &json!(3)));
            let names = [("new", 3), ("only-new", 1)].map(|(item, votes)| match by {
                [] => json!({"item": item, "votes": votes}),
                _ => json!({"by": "scene-0", "item": item, "votes": votes}),
            });
            assert_eq!(left_out["items"], json!(names), "{command:?}");
            // The rows are those that were read.
            for document in [&mut expected, &mut found] {
                remove_rows(document);
            }
            assert_eq!(found, expected, "{command:?} {by:?}");
        }
    }
}

fn remove_rows(document: &mut serde_json::Value) {
    if let Some(input) = document["input"].as_object_mut() {
        input.remove("rows");
    }
    for study in document["groups_by"].as_array_mut().into_iter().flatten() {
        remove_rows(study);
    }
}

#[test]
fn what_is_left_out_is_said() {
    let dir = dir();
    let message =
        "2 items with fewer than 10 votes excluded, and with them 3 votes: new (3), only-new (1)";
    let run = dir.run(&["rank", "all.csv", "--min-votes", "10"]).success();
    assert!(run.stderr.contains(message), "{}", run.stderr);
    dir.run(&["report", "all.csv", "--min-votes", "10", "-o", "r.html"]).success();
    assert!(String::from_utf8(dir.read("r.html")).unwrap().contains(message));
    let run = dir.run(&["rank", "all.csv", "--min-votes", "1"]).success();
    assert!(run.stderr.contains("no item with fewer than 1 vote was excluded"), "{}", run.stderr);
}

#[test]
fn leaving_out_everything_is_refused() {
    let dir = dir();
    let run = dir.run(&["rank", "all.csv", "--min-votes", "1000"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(
        run.stderr.contains("--min-votes 1000 leaves no two items to compare"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("choose a smaller number"), "{}", run.stderr);
}
