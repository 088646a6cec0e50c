//! `simulate` and `demo`.

use std::io::Read as _;

use crate::support::TestDir;

const STUDY: &[&str] = &["simulate", "--items", "30", "--votes", "4000", "--seed", "5"];
const LARGE: &[&str] = &["simulate", "--items", "30", "--votes", "100000", "--seed", "5"];

fn simulate(dir: &TestDir, arguments: &[&str]) {
    dir.run(&[STUDY, arguments].concat()).success();
}

fn simulate_large(dir: &TestDir, arguments: &[&str]) {
    dir.run(&[LARGE, arguments].concat()).success();
}

#[test]
fn every_format_has_the_same_votes() {
    let dir = TestDir::new();
    for kind in [
        &["--flips", "10%", "--ties", "5%"][..],
        &["--annotators", "careful=5,malicious=1", "--noise", "bradley-terry", "--mark-bad"],
        &["--graded", "--noise", "gaussian", "--sigma", "0.3", "--flips", "0.02"],
    ] {
        simulate(&dir, &[kind, &["-o", "v.csv"]].concat());
        let expected = dir.rank_json(&["v.csv"]);
        assert_eq!(
            (&expected["input"]["rows"], &expected["input"]["items"]),
            (&4000.into(), &30.into())
        );
        for name in [
            "v.tsv",
            "v.jsonl",
            "v.ndjson",
            "v.parquet",
            "v.arrow",
            "v.csv.gz",
            "v.tsv.zst",
            "v.parquet.gz",
        ] {
            simulate(&dir, &[kind, &["-o", name]].concat());
            assert!(dir.rank_json(&[name]) == expected, "{name} differs");
        }
        let run = dir.run(&[STUDY, kind].concat()).success();
        assert_eq!(run.stdout, dir.read("v.csv"), "standard output is CSV");
        let run = dir.run(&[STUDY, kind, &["--format", "arrow"]].concat()).success();
        assert_eq!(run.stdout, dir.read("v.arrow"));
        simulate(&dir, &[kind, &["--format", "jsonl", "-o", "votes"]].concat());
        assert_eq!(dir.read("votes"), dir.read("v.jsonl"));
    }
}

#[test]
fn the_seed_determines_every_byte() {
    let dir = TestDir::new();
    for name in ["v.csv", "v.jsonl.gz", "v.parquet", "v.arrow.zst"] {
        let make = |seed: &str, threads: &str| {
            let arguments = ["--flips", "5%", "--seed", seed, "--threads", threads, "-o", name];
            dir.run(&[&["simulate"], &arguments[..]].concat()).success();
            dir.read(name)
        };
        let bytes = make("1", "1");
        assert_eq!(make("1", "2"), bytes, "{name}");
        assert_ne!(make("2", "1"), bytes, "{name}");
    }
}

#[test]
fn ranking_recovers_the_true_scores() {
    let dir = TestDir::new();
    simulate_large(&dir, &["--graded", "-o", "v.csv", "--truth", "truth.csv"]);
    let truth = dir.read("truth.csv");
    let mut truth: Vec<(String, f64)> =
        csv::Reader::from_reader(&*truth).deserialize().map(Result::unwrap).collect();
    assert_eq!(truth.len(), 30);
    truth.sort_by(|a, b| b.1.total_cmp(&a.1));
    let ranked = dir.rank_json(&["v.csv"]);
    let mean = truth.iter().map(|(_, score)| score).sum::<f64>() / 30.0;
    for (row, (item, score)) in ranked["ranking"].as_array().unwrap().iter().zip(&truth) {
        assert_eq!(row["item"], item.as_str());
        assert!((row["score"].as_f64().unwrap() - (score - mean)).abs() < 1e-9, "{item}");
    }
    // Binary outcomes carry less information, but enough votes still give the order.
    simulate_large(&dir, &["--flips", "5%", "-o", "w.csv", "--truth", "w-truth.csv"]);
    assert_eq!(
        dir.read("w-truth.csv"),
        dir.read("truth.csv"),
        "the truth depends on the seed alone"
    );
    let ranked = dir.rank_json(&["w.csv"]);
    let best =
        ranked["ranking"].as_array().unwrap().iter().map(|row| row["item"].as_str().unwrap());
    assert_eq!(
        best.collect::<Vec<_>>(),
        truth.iter().map(|(item, _)| item.as_str()).collect::<Vec<_>>()
    );
}

#[test]
fn file_endings_select_compression() {
    let dir = TestDir::new();
    simulate(&dir, &["-o", "v.csv"]);
    simulate(&dir, &["-o", "v.csv.gz"]);
    let packed = dir.read("v.csv.gz");
    assert_eq!(packed[..2], [0x1f, 0x8b]);
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&*packed).read_to_end(&mut text).unwrap();
    assert_eq!(text, dir.read("v.csv"));
    assert!(packed.len() < text.len() / 2);
}

#[test]
fn bad_votes_are_marked_and_counted() {
    let dir = TestDir::new();
    let run =
        dir.run(&[STUDY, &["--flips", "10%", "--mark-bad", "-o", "v.csv"]].concat()).success();
    let text = String::from_utf8(dir.read("v.csv")).unwrap();
    assert!(text.starts_with("left,right,winner,bad\n"));
    let bad = text.lines().filter(|line| line.ends_with(",1")).count();
    assert!((250..550).contains(&bad), "{bad}");
    assert!(
        run.stderr.contains(&format!("4,000 votes on 30 items, {bad} of them bad (seed 5)")),
        "{}",
        run.stderr
    );
}

#[test]
fn invalid_options_are_rejected() {
    let dir = TestDir::new();
    for (arguments, part) in [
        (&["-o", "v.txt"][..], "v.txt: the extension does not determine the format"),
        (&["--sigma", "1"], "--sigma is an option of --noise gaussian"),
        (&["--noise-scale", "1", "--noise", "gaussian"], "--noise-scale is an option of"),
        (&["--noise", "gaussian", "--sigma", "-1"], "sigma"),
        (&["--flips", "120%"], "expected a share from 0 to 1"),
        (&["--annotators", "kind=3"], "expected KIND=NUMBER"),
        (&["--annotators", "careful"], "expected KIND=NUMBER"),
        (&["--items", "1"], "items"),
    ] {
        let run = dir.run(&[&["simulate", "--truth", "t.csv"], arguments].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{arguments:?}: {}", run.stderr);
        assert!(run.stdout.is_empty() && dir.file_names().is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_demo_prints_a_table_and_writes_a_report() {
    let dir = TestDir::new();
    let run = dir.run(&["demo"]).success();
    assert!(run.stderr.contains("hodgerank-demo.html"), "{}", run.stderr);
    let report = dir.read("hodgerank-demo.html");
    assert!(report.starts_with(b"<!doctype html>"));
    for coffee in ["espresso", "café au lait", "mocha"] {
        assert!(run.text().contains(coffee), "{}", run.text());
    }
    assert!(run.text().contains("rank") && run.text().lines().count() >= 13);
    assert!(run.stderr.contains("30 annotators") && run.stderr.contains("hodgerank rank"));
    assert_eq!(dir.run(&["demo"]), run, "the same every time");
    assert_ne!(dir.run(&["demo", "--seed", "3"]).success().stdout, run.stdout);
    let quiet = dir.run(&["demo", "--quiet", "-o", "again.html"]).success();
    assert_eq!((quiet.stdout, quiet.stderr.as_str()), (run.stdout, ""));
    assert_eq!(dir.file_names(), ["again.html", "hodgerank-demo.html"]);
    assert!(dir.read("again.html") == report);
}
