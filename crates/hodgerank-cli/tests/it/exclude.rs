//! `--exclude-annotators`: the result is that of a file without the rows of these annotators.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use serde_json::{Value, json};

use crate::support::{TestDir, files};

/// Fourteen careful people, three who always click left and one contrary one, on ten items in two
/// scenes. The first row is by a left-clicker, on an item that nobody else votes on.
fn rows() -> Vec<String> {
    let mut rows = vec!["left-1,stranger,i1,left,scene-0".to_owned()];
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for n in 0..18 * 120 {
        let annotator = n % 18;
        let left = random(10);
        let right = (left + 1 + random(9)) % 10;
        // The smaller number wins, the more clearly the farther apart.
        let is_clear = random(10) >= 10 / (1 + left.abs_diff(right));
        let better_is_left = (left < right) == (is_clear || random(2) == 0);
        let (name, chooses_left) = match annotator {
            0..14 => (format!("careful-{annotator}"), better_is_left),
            14..17 => (format!("left-{}", annotator - 13), true),
            _ => ("contrary, the".to_owned(), !better_is_left),
        };
        let winner = if chooses_left { "left" } else { "right" };
        rows.push(format!("\"{name}\",i{left},i{right},{winner},scene-{}", random(2)));
    }
    rows
}

const HEADER: &str = "annotator,left,right,winner,scene";

fn file(rows: &[String]) -> String {
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

/// The votes (`all.csv`), and those without bad annotators (`rest.csv`).
fn dir() -> TestDir {
    let dir = TestDir::new();
    let rows = rows();
    dir.write("all.csv", file(&rows));
    let rest: Vec<String> =
        rows.into_iter().filter(|row| row.trim_matches('"').starts_with("careful")).collect();
    dir.write("rest.csv", file(&rest));
    // A name with a comma needs a file; blank lines do not matter.
    dir.write("names.txt", "left-1\n\nleft-2\r\nleft-3\ncontrary, the\n");
    dir
}

fn without_counts(mut document: Value) -> Value {
    document.as_object_mut().unwrap().remove("excluded");
    document
}

#[test]
fn every_command_leaves_their_votes_out() {
    let dir = dir();
    for command in [
        &["rank"][..],
        &["rank", "--method", "crowd"],
        &["rank", "--by", "scene"],
        &["compare", "--methods", "l2,iss,bt"],
        &["path"],
        &["outliers", "--per-group"],
        &["annotators"],
        &["annotators", "--by", "scene"],
        &["certify", "--method", "l2"],
        &["decompose"],
        &["diagnose"],
        &["predict"],
        &["predict", "--holdout", "20%"],
    ] {
        let json = |arguments: &[&str]| dir.json(&[command, arguments].concat(), b"");
        let found = json(&["all.csv", "--exclude-annotators", "names.txt"]);
        let expected = json!({"annotators": 4, "rows": 481, "votes": 481});
        assert_eq!(found["excluded"], expected, "{command:?}");
        assert_eq!(without_counts(found), json(&["rest.csv"]), "{command:?}");
        // The crowd model comes to the same conclusion.
        let found = json(&["all.csv", "--exclude-annotators", "suspicious"]);
        assert_eq!(found["excluded"], expected, "{command:?}");
        assert_eq!(without_counts(found), json(&["rest.csv"]), "{command:?}");
    }
}

#[test]
fn tables_are_the_same_bytes() {
    let dir = dir();
    let csv = |arguments: &[&str], input: &[u8]| {
        let all = [&["rank", "--format", "csv", "-q"], arguments].concat();
        dir.run_with_stdin(&all, input).success().text().to_owned()
    };
    let expected = csv(&["rest.csv"], b"");
    for who in ["names.txt", "suspicious", "./names.txt"] {
        for threads in ["1", "3"] {
            let exclude = ["--exclude-annotators", who, "--threads", threads];
            assert_eq!(csv(&[&["all.csv"], &exclude[..]].concat(), b""), expected, "{who}");
            let input = dir.read("all.csv");
            assert_eq!(csv(&[&["-"], &exclude[..]].concat(), &input), expected, "{who}");
        }
    }
    // Rows in any order, and other formats with their fast path.
    let mut rows = rows();
    rows.reverse();
    dir.write("reversed.csv", file(&rows));
    let column = |k: usize| -> ArrayRef {
        let text = |row: &String| {
            let (name, rest) = match row.strip_prefix('"') {
                Some(row) => row.split_once("\",").unwrap(),
                None => row.split_once(',').unwrap(),
            };
            [name].into_iter().chain(rest.split(',')).nth(k).unwrap().to_owned()
        };
        Arc::new(rows.iter().map(|row| Some(text(row))).collect::<StringArray>())
    };
    let columns = HEADER.split(',').enumerate().map(|(k, name)| (name, column(k)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    dir.write("v.parquet", files::parquet(&batch, 200));
    dir.write("v.arrow", files::arrow_stream(&batch));
    for name in ["reversed.csv", "v.parquet", "v.arrow"] {
        for who in ["names.txt", "suspicious"] {
            assert_eq!(csv(&[name, "--exclude-annotators", who], b""), expected, "{name}");
        }
    }
}

#[test]
fn clean_writes_their_rows_as_flagged() {
    let dir = dir();
    let text = |name: &str| String::from_utf8(dir.read(name)).unwrap();
    dir.run(&["clean", "rest.csv", "-o", "expected.csv"]).success();
    for (who, reason) in
        [("names.txt", "annotator excluded"), ("suspicious", "annotator favours the left side")]
    {
        let exclude = ["--exclude-annotators", who];
        let outputs = ["-o", "kept.csv", "--flagged", "flagged.csv"];
        let run = dir.run(&[&["clean", "all.csv"], &exclude[..], &outputs].concat()).success();
        assert_eq!(text("kept.csv"), text("expected.csv"), "{who}");
        assert!(run.stderr.contains("4 annotators with 481 votes excluded"), "{}", run.stderr);
        assert!(run.stderr.contains("481 of them by excluded annotators"), "{}", run.stderr);
        let flagged = text("flagged.csv");
        let mut lines = flagged.lines();
        let header = "annotator,left,right,winner,scene,row,reason,probability";
        assert_eq!(lines.next(), Some(header));
        // No probability: their votes are not part of the ranking.
        let first = format!("left-1,stranger,i1,left,scene-0,1,{reason},");
        assert_eq!(lines.next(), Some(first.as_str()));
        let kept = text("kept.csv").lines().count();
        assert_eq!(flagged.lines().count() + kept, text("all.csv").lines().count() + 1);
    }
}

#[test]
fn names_that_nobody_has_are_reported() {
    let dir = dir();
    let warnings =
        |who: &str| dir.run(&["rank", "all.csv", "--exclude-annotators", who]).success().stderr;
    let text = warnings("lefft-2,left-1");
    assert!(
        text.contains("no row is by the excluded annotator lefft-2; did you mean left-2?"),
        "{text}"
    );
    assert!(text.contains("1 annotator with 121 votes excluded"), "{text}");
    let text = warnings("missing.txt");
    assert!(text.contains("missing.txt, and there is no file of this name"), "{text}");
    assert!(text.contains("no annotator was excluded"), "{text}");
    let many: Vec<String> = (0..9).map(|n| format!("nobody at all {n}")).collect();
    let text = warnings(&many.join(","));
    assert!(text.contains("4 more excluded names occur in no row"), "{text}");
    assert!(!text.contains("did you mean"), "{text}");
}

#[test]
fn a_file_called_suspicious_needs_its_folder() {
    let dir = dir();
    dir.write("suspicious", "careful-1\n");
    let excluded = |who: &str| {
        dir.json(&["rank", "all.csv", "--exclude-annotators", who], b"")["excluded"].clone()
    };
    assert_eq!(excluded("./suspicious")["annotators"], 1);
    assert_eq!(excluded("suspicious")["annotators"], 4);
}

#[test]
fn what_cannot_work_is_refused() {
    let dir = dir();
    dir.write("anonymous.csv", "winner,loser\na,b\nb,c\n");
    dir.write("few.csv", "annotator,winner,loser\nann,a,b\nbob,b,a\n");
    dir.write("latin.txt", b"ok\nJos\xe9\n");
    for (arguments, part) in [
        (&["anonymous.csv", "--exclude-annotators", "ann"][..], "name the column with --annotator"),
        (&["anonymous.csv", "--exclude-annotators", "suspicious"], "no column of annotators"),
        (&["few.csv", "--exclude-annotators", "bob,ann"], "all 2 rows are by excluded annotators"),
        (&["few.csv", "--exclude-annotators", " , "], "has no names"),
        (&["few.csv", "--exclude-annotators", "latin.txt"], "latin.txt: line 2 is not UTF-8"),
        (
            &["all.csv", "--exclude-annotators", "names.txt", "-o", "./names.txt"],
            "would replace the input names.txt",
        ),
    ] {
        for command in ["rank", "outliers", "clean"] {
            let run = dir.run(&[&[command], arguments].concat());
            assert_eq!(run.code, Some(2), "{command} {arguments:?}: {}", run.stderr);
            assert!(run.stderr.contains(part), "{command}: {}", run.stderr);
            assert_eq!(run.text(), "", "{command}");
        }
    }
}

#[test]
fn the_report_says_who_was_left_out() {
    let dir = dir();
    dir.run(&["report", "all.csv", "--exclude-annotators", "suspicious", "-o", "r.html"]).success();
    let page = String::from_utf8(dir.read("r.html")).unwrap();
    assert!(page.contains("4 annotators with 481 votes excluded"));
    dir.run(&["report", "rest.csv", "-o", "r.html"]).success();
    assert!(!String::from_utf8(dir.read("r.html")).unwrap().contains("votes excluded"));
}
