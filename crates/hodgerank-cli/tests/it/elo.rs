//! `--scale elo` and `--anchor`: scores in Elo points.

use std::collections::HashMap;

use serde_json::Value;

use crate::support::{TestDir, number};

/// Points per log-odds.
const POINTS: f64 = 400.0 / std::f64::consts::LN_10;

/// A small arena: better models win more often.
const ARENA: &str = "winner,loser,count
gpt-4,claude,60\nclaude,gpt-4,40\nclaude,llama,70\nllama,claude,30
gpt-4,llama,80\nllama,gpt-4,20\nllama,vicuna,65\nvicuna,llama,35\ngpt-4,vicuna,88\nvicuna,gpt-4,12\n";

fn arena() -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", ARENA);
    dir
}

fn scores(json: &Value) -> HashMap<String, f64> {
    let rows = json["ranking"].as_array().expect("rows");
    rows.iter()
        .map(|row| (row["item"].as_str().unwrap().to_owned(), number(row, "score")))
        .collect()
}

#[test]
fn scores_are_log_odds_times_400_over_ln_10_with_a_mean_of_1000() {
    let dir = arena();
    let natural = scores(&dir.rank_json(&["v.csv", "--method", "bt"]));
    let json = dir.rank_json(&["v.csv", "--method", "bt", "--scale", "elo"]);
    assert_eq!(json["scale"]["name"], "elo");
    assert_eq!(json["scale"]["log_odds_per_unit"], 1.0);
    assert!((number(&json["scale"], "points_per_log_odds") - POINTS).abs() < 1e-12);
    let elo = scores(&json);
    for (item, score) in &natural {
        assert!((elo[item] - (1000.0 + POINTS * score)).abs() < 1e-9, "{item}");
    }
}

#[test]
fn scores_of_least_squares_go_through_the_most_likely_factor() {
    let dir = arena();
    let options = ["v.csv", "--method", "l2", "--outliers", "auto"];
    let natural = scores(&dir.rank_json(&options));
    let json = dir.rank_json(&[&options[..], &["--scale", "elo"]].concat());
    let factor = number(&json["scale"], "log_odds_per_unit");
    let likelihood = |factor: f64| -> f64 {
        let votes = ARENA.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let log = |vote: Vec<&str>| {
            let d = factor * (natural[vote[0]] - natural[vote[1]]);
            -vote[2].parse::<f64>().unwrap() * (-d).exp().ln_1p()
        };
        votes.map(log).sum()
    };
    // These votes have no lapses, so the factor maximises the plain likelihood.
    for other in [0.99, 0.999, 1.001, 1.01] {
        assert!(likelihood(factor) > likelihood(other * factor), "{factor}, {other}");
    }
    // Elo points of all methods have the same unit.
    let bt = scores(&dir.rank_json(&["v.csv", "--method", "bt", "--scale", "elo"]));
    for (item, score) in scores(&json) {
        assert!((score - bt[&item]).abs() < 25.0, "{item}: {score} and {}", bt[&item]);
    }
}

#[test]
fn the_unit_of_outcomes_does_not_matter() {
    let dir = TestDir::new();
    let votes = |unit: f64| {
        let rows = ARENA.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let row = |vote: Vec<&str>| format!("{},{},{unit},{}\n", vote[0], vote[1], vote[2]);
        "left,right,y,count\n".to_owned() + &rows.map(row).collect::<String>()
    };
    dir.write("one.csv", votes(1.0));
    dir.write("three.csv", votes(3.0));
    let elo = |file| dir.rank_json(&[file, "--method", "l2", "--scale", "elo"]);
    let (one, three) = (elo("one.csv"), elo("three.csv"));
    let three_scores = scores(&three);
    for (item, score) in scores(&one) {
        assert!((score - three_scores[&item]).abs() < 1e-6, "{item}");
    }
    let factor = |json: &Value| number(&json["scale"], "log_odds_per_unit");
    assert!((factor(&one) / factor(&three) - 3.0).abs() < 1e-9);
}

#[test]
fn every_format_has_the_same_numbers_and_the_table_whole_points() {
    let dir = arena();
    let options = ["v.csv", "--scale", "elo", "--anchor", "llama=1200", "--method", "bt"];
    let json = dir.rank_json(&options);
    assert_eq!(json["scale"]["anchor"], serde_json::json!({"item": "llama", "value": 1200.0}));
    let scores = scores(&json);
    assert_eq!(scores["llama"], 1200.0);
    let csv = dir.rank_csv(&options);
    for (item, score) in &scores {
        assert!(csv.contains(&format!(",{item},{score:?},")), "{csv}");
    }
    let table = dir.run(&[&["rank"], &options[..]].concat()).success();
    let llama = table.text().lines().find(|line| line.contains("llama")).unwrap();
    assert!(llama.contains(" 1200 ") && !llama.contains("1200."), "{llama}");
    // Bars start at the mean, which is above the anchor here.
    assert!(llama.contains("█│"), "{llama}");
}

#[test]
fn an_anchor_shifts_its_own_component_in_every_study() {
    let dir = TestDir::new();
    let study = "a,b\nb,a\na,b\nx,y\ny,x\nx,y\n";
    let rows = study.lines().flat_map(|vote| [format!("s1,{vote}\n"), format!("s2,{vote}\n")]);
    dir.write("v.csv", "study,winner,loser\n".to_owned() + &rows.collect::<String>());
    let options = ["v.csv", "--by", "study", "--method", "bt", "--scale", "elo", "--anchor", "y=0"];
    let json = dir.rank_json(&options);
    let studies = json["groups_by"].as_array().unwrap();
    assert_eq!(studies.len(), 2);
    for study in studies {
        let scores = scores(study);
        assert_eq!(scores["y"], 0.0);
        assert!(scores["x"] > 0.0 && scores["x"] < 200.0, "{scores:?}");
        assert!((scores["a"] + scores["b"] - 2000.0).abs() < 1e-9, "{scores:?}");
    }
}

#[test]
fn compare_shows_elo_points_of_each_method() {
    let dir = arena();
    let options =
        ["compare", "v.csv", "--scale", "elo", "--anchor", "vicuna=800", "--methods", "l2,bt"];
    let json = dir.json(&options, b"");
    let comparison = &json["comparisons"][0];
    let place = comparison["items"].as_array().unwrap().iter().position(|item| item == "vicuna");
    for method in comparison["methods"].as_array().unwrap() {
        assert_eq!(method["scores"][place.unwrap()], 800.0, "{method}");
        assert_eq!(method["scale"]["name"], "elo");
    }
    let table = dir.run(&options).success();
    assert!(table.text().contains("(800)"), "{}", table.text());
}

#[track_caller]
fn refused(dir: &TestDir, arguments: &[&str], code: i32, words: &[&str]) {
    let run = dir.run(arguments);
    assert_eq!(run.code, Some(code), "{}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "{word}: {}", run.stderr);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let dir = arena();
    let elo = |anchor| ["rank", "v.csv", "--scale", "elo", "--anchor", anchor];
    refused(&dir, &elo("GPT4=1000"), 2, &["there is no item GPT4", "--anchor gpt-4=1000"]);
    refused(&dir, &elo("zzz=1000"), 2, &["there is no item zzz"]);
    refused(&dir, &elo("gpt-4"), 2, &["ITEM=VALUE"]);
    refused(&dir, &["rank", "v.csv", "--anchor", "gpt-4=1"], 2, &["--scale elo"]);
    dir.write("s.csv", "winner,loser\na,b\nb,c\na,c\n");
    refused(
        &dir,
        &["rank", "s.csv", "--method", "l2", "--scale", "elo"],
        3,
        &["no vote contradicts", "--method bt"],
    );
    let separable = dir.rank_json(&["s.csv", "--scale", "elo"]);
    assert!(scores(&separable)["a"] > 1000.0);
}
