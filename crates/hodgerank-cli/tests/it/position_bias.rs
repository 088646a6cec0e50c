//! `annotators --fdr`, `rank --position-bias correct` and `--ties`.

use crate::support::{TestDir, number};
use serde_json::Value;

/// 40 annotators with 60 votes each; the first 20 choose the left item in two of three votes, whatever it is.
fn biased(dir: &TestDir, name: &str, is_reversed: bool) {
    let mut rows = Vec::new();
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for annotator in 0..40 {
        for _ in 0..60 {
            let left = random(6);
            let right = (left + 1 + random(5)) % 6;
            let is_pulled = random(3) > 0 && annotator < 20;
            let prefers_left = is_pulled | ((left < right) != (random(9) == 0));
            let winner = if prefers_left { "left" } else { "right" };
            rows.push(format!("p{annotator},item{left},item{right},{winner}"));
        }
    }
    if is_reversed {
        rows.reverse();
    }
    dir.write(name, format!("annotator,left,right,winner\n{}\n", rows.join("\n")));
}

#[test]
fn biased_annotators_are_selected() {
    let dir = TestDir::new();
    biased(&dir, "v.csv", false);
    for path in ["iss", "lasso"] {
        let found = dir.json(&["annotators", "v.csv", "--fdr", "10%", "--path", path], b"");
        let rows = found["annotators"].as_array().unwrap();
        assert_eq!(rows.len(), 40);
        let selected = rows.iter().filter(|row| row["selected"] == true).count();
        assert!((20..=23).contains(&selected), "{path}: {selected}");
        for (k, row) in rows.iter().enumerate() {
            assert_eq!(number(row, "position_bias_order"), (k + 1) as f64, "{row}");
            let name = row["annotator"].as_str().unwrap();
            let is_biased = name[1..].parse::<u32>().unwrap() < 20;
            assert!(!is_biased || row["selected"] == true, "{path}: {row}");
            assert_eq!(number(row, "position_bias") > 0.35, is_biased, "{row}");
            assert!(number(row, "position_bias_se") > 0.0);
        }
    }
    let csv = dir.run(&["annotators", "v.csv", "--fdr", "0.1", "--format", "csv"]).success();
    let header = csv.text().lines().next().unwrap();
    assert!(header.ends_with("position_bias,position_bias_se,position_bias_order,selected"));
    let table = dir.run(&["annotators", "v.csv", "--fdr", "10%", "--top", "3"]).success();
    assert!(table.text().contains("selected") && table.text().contains('±'), "{}", table.text());
    assert!(
        table.stderr.contains("annotators with position bias at a false discovery rate of 10%"),
        "{}",
        table.stderr
    );
}

/// Without `--fdr` nothing is added.
#[test]
fn other_runs_stay_as_they_are() {
    let dir = TestDir::new();
    biased(&dir, "v.csv", false);
    let found = dir.json(&["annotators", "v.csv"], b"");
    assert!(found["annotators"][0].get("selected").is_none());
    let ranked = dir.json(&["rank", "v.csv", "--method", "l2"], b"");
    assert!(ranked.get("position_bias").is_none());
}

#[test]
fn bytes_do_not_depend_on_threads_or_the_order_of_rows() {
    let dir = TestDir::new();
    biased(&dir, "v.csv", false);
    biased(&dir, "w.csv", true);
    let run = |file: &str, threads: &str| {
        let options = ["--fdr", "10%", "--format", "csv", "--threads", threads];
        dir.run(&[&["annotators", file][..], &options].concat()).success().stdout
    };
    let first = run("v.csv", "1");
    assert_eq!(first, run("v.csv", "3"));
    assert_eq!(first, run("w.csv", "2"));
}

#[test]
fn correction_takes_the_pull_out() {
    let dir = TestDir::new();
    biased(&dir, "v.csv", false);
    let ranked = dir.json(&["rank", "v.csv", "--position-bias", "correct"], b"");
    assert_eq!(ranked["method"]["name"], "l2");
    let taken = &ranked["position_bias"];
    assert_eq!(number(taken, "fdr"), 0.1);
    assert!((20..=23).contains(&taken["annotators"].as_array().unwrap().len()), "{taken}");
    assert!(number(&taken["annotators"][0], "subtracted") > 0.35);
    // Named annotators: the same as subtracting by hand.
    let one = ["--position-bias", "correct", "--biased-annotators", "p0", "--method", "l2"];
    let named = dir.json(&[&["rank", "v.csv"][..], &one].concat(), b"");
    assert_eq!(named["position_bias"]["annotators"].as_array().unwrap().len(), 1);
    let mean = number(&named["position_bias"]["annotators"][0], "subtracted");
    let text = std::fs::read_to_string(dir.path().join("v.csv")).unwrap();
    let rows = text.lines().skip(1).map(|row| {
        let cells: Vec<&str> = row.split(',').collect();
        let y = if cells[3] == "left" { 1.0 } else { -1.0 };
        let y = if cells[0] == "p0" { y - mean } else { y };
        format!("{},{},{y}\n", cells[1], cells[2])
    });
    dir.write("by-hand.csv", format!("left,right,y\n{}", rows.collect::<String>()));
    let by_hand = dir.json(&["rank", "by-hand.csv", "--method", "l2"], b"");
    let scores = |found: &Value| -> Vec<(String, f64)> {
        let rows = found["ranking"].as_array().unwrap().iter();
        rows.map(|row| (row["item"].to_string(), number(row, "score"))).collect()
    };
    for (a, b) in scores(&named).iter().zip(&scores(&by_hand)) {
        assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-9, "{a:?} and {b:?}");
    }
}

#[track_caller]
fn refused(dir: &TestDir, arguments: &[&str], parts: &[&str]) {
    let run = dir.run(arguments);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    for part in parts {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let dir = TestDir::new();
    dir.write("sides.csv", "winner,loser,annotator\na,b,x\nb,a,y\na,b,y\n");
    refused(&dir, &["annotators", "sides.csv", "--fdr", "10%"], &["side", "left, right"]);
    let correct = ["rank", "sides.csv", "--position-bias", "correct"];
    refused(&dir, &correct, &["side", "left, right"]);
    biased(&dir, "v.csv", false);
    refused(&dir, &["annotators", "v.csv", "--fdr", "0"], &["above 0%"]);
    refused(&dir, &["annotators", "v.csv", "--path", "lasso"], &["--fdr"]);
    let crowd = ["rank", "v.csv", "--position-bias", "correct", "--method", "crowd"];
    refused(&dir, &crowd, &["part of its model"]);
    let unknown = ["rank", "v.csv", "--position-bias", "correct", "--biased-annotators", "p00"];
    refused(&dir, &unknown, &["there is no annotator p00"]);
    dir.write("nobody.csv", "left,right,winner\na,b,left\nb,a,left\n");
    refused(&dir, &["rank", "nobody.csv", "--position-bias", "correct"], &["annotator"]);
}

#[test]
fn few_annotators_are_told_why_nobody_is_selected() {
    let dir = TestDir::new();
    // One annotator with several votes, others with one.
    dir.write(
        "v.csv",
        "annotator,left,right,winner\nx,a,b,left\nx,b,a,left\nx,a,c,left\ny,b,c,left\nz,c,a,right\n",
    );
    let run = dir.run(&["annotators", "v.csv", "--fdr", "10%", "--format", "json"]).success();
    assert!(run.stderr.contains("at least 15 annotators"), "{}", run.stderr);
    let rows = run.json()["annotators"].as_array().unwrap().clone();
    assert!(rows.iter().all(|row| row["selected"] == Value::Bool(false)));
}

#[test]
fn ties_count_as_told() {
    let dir = TestDir::new();
    dir.write("v.csv", "left,right,winner\na,b,left\nb,a,tie\na,b,tie\nb,a,left\na,c,left\n");
    dir.write("left.csv", "left,right,winner\na,b,left\nb,a,left\na,b,left\nb,a,left\na,c,left\n");
    dir.write("drop.csv", "left,right,winner\na,b,left\nb,a,left\na,c,left\n");
    let ranking = |file: &str, options: &[&str]| {
        let arguments = [&["rank", file, "--method", "l2"][..], options].concat();
        dir.json(&arguments, b"")["ranking"].clone()
    };
    assert_eq!(ranking("v.csv", &["--ties", "left"]), ranking("left.csv", &[]));
    assert_eq!(ranking("v.csv", &["--ties", "drop"]), ranking("drop.csv", &[]));
    assert_eq!(ranking("v.csv", &["--ties", "zero"]), ranking("v.csv", &[]));
    // Columns of Parquet files are looked up by their values.
    for file in ["t.csv", "t.parquet"] {
        let study = ["simulate", "--items", "5", "--votes", "600", "--ties", "0.2", "-o", file];
        dir.run(&study).success();
    }
    for ties in ["zero", "left", "drop"] {
        let options = ["--ties", ties];
        assert_eq!(ranking("t.parquet", &options), ranking("t.csv", &options), "{ties}");
    }
    assert_ne!(ranking("t.csv", &["--ties", "left"]), ranking("t.csv", &["--ties", "drop"]));
}

/// The 17 annotators and the scores of the paper, through the program.
#[test]
fn human_age_is_that_of_the_paper() {
    let Some(data) = hodgerank_testdata::published_studies() else { return };
    let file = data.join("human-age.csv").to_string_lossy().into_owned();
    let golden = |name: &str| std::fs::read_to_string(data.join("golden").join(name)).unwrap();
    let annotators = golden("human-age-biased-annotators.csv");
    let names: Vec<&str> =
        annotators.lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
    let dir = TestDir::new();
    for path in ["iss", "lasso"] {
        let found = dir.json(&["annotators", &file, "--fdr", "10%", "--path", path], b"");
        let rows = found["annotators"].as_array().unwrap();
        let is_listed = |row: &&Value| names.contains(&row["annotator"].as_str().unwrap());
        assert_eq!(rows[..17].iter().filter(is_listed).count(), 17, "{path}");
        let selected = rows.iter().filter(is_listed).filter(|row| row["selected"] == true);
        assert!(selected.count() >= 12, "{path}");
    }
    let list = names.join(",");
    let options = ["--position-bias", "correct", "--biased-annotators", &list, "--method", "l2"];
    let ranked = dir.json(&[&["rank", &file][..], &options].concat(), b"");
    let scores = golden("human-age-position-bias.csv");
    let mut compared = 0;
    for row in scores.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let of = |row: &&Value| row["item"] == *cells[0];
        let found = ranked["ranking"].as_array().unwrap().iter().find(of).unwrap();
        let expected: f64 = cells[4].parse().unwrap();
        assert!((number(found, "score") - expected).abs() < 6e-5, "{row}: {found}");
        compared += 1;
    }
    assert_eq!(compared, 30);
}
