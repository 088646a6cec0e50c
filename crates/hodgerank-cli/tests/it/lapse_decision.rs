//! The program says how clearly the votes decide whether there are lapses.

use crate::support::TestDir;

/// A study with this share of reversed votes.
fn study(flips: &str, votes: &str, seed: &str) -> TestDir {
    let dir = TestDir::new();
    let noise = ["--noise", "bradley-terry", "--noise-scale", "0.1"];
    let study = ["simulate", "--votes", votes, "--flips", flips, "--seed", seed, "-o", "v.csv"];
    dir.run(&[&study[..], &noise].concat()).success();
    dir
}

#[test]
fn lapses_are_reported_with_their_evidence() {
    let dir = study("10%", "5000", "1");
    for method in ["bt", "iss", "hlasso"] {
        let run = dir.run(&["rank", "v.csv", "--method", method, "--format", "json"]).success();
        assert!(run.stderr.contains("lapse rate "), "{}", run.stderr);
        assert!(!run.stderr.contains("close decision"), "{}", run.stderr);
        let lapses = &run.json()["method"]["lapses"];
        let number = |key: &str| lapses[key].as_f64().unwrap_or(f64::NAN);
        // A tenth of the votes are reversed: a fifth are lapses, half of which agree by chance.
        assert!((number("rate") - 0.2).abs() < 0.06, "{method}: {lapses}");
        assert!(number("gain") > 2.0 * number("gain_needed"), "{method}: {lapses}");
        assert!(number("gain_needed") > 0.0, "{method}: {lapses}");
        assert_eq!(lapses["close"], false);
    }
    let given = dir.run(&["rank", "v.csv", "--method", "bt", "--lapse-rate", "0.1"]).success();
    assert!(!given.stderr.contains("lapse rate"), "{}", given.stderr);
}

#[test]
fn close_decisions_bring_a_warning_on_both_sides() {
    let (mut passed, mut failed) = (0, 0);
    for seed in 0..12 {
        let dir = study("2%", "1500", &seed.to_string());
        let run = dir.run(&["rank", "v.csv", "--method", "bt", "--format", "json"]).success();
        let lapses = &run.json()["method"]["lapses"];
        let gain = lapses["gain"].as_f64().unwrap_or(f64::NAN);
        let needed = lapses["gain_needed"].as_f64().unwrap_or(f64::NAN);
        let is_close = needed > 0.0 && (gain / needed - 1.0).abs() < 0.5;
        assert_eq!(lapses["close"], is_close, "{lapses}");
        assert_eq!(run.stderr.contains("close decision"), is_close, "{}", run.stderr);
        passed += u32::from(is_close && gain > needed);
        failed += u32::from(is_close && gain < needed);
    }
    assert!(passed + failed > 0, "{passed} {failed}");
}
