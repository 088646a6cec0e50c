//! `predict`: probabilities of pairs, and their evaluation on held-out votes.

use serde_json::Value;

use crate::support::{TestDir, number};

/// A small arena: better models win more often.
const ARENA: &str = "winner,loser,count
gpt-4,claude,60\nclaude,gpt-4,40\nclaude,llama,70\nllama,claude,30
gpt-4,llama,80\nllama,gpt-4,20\nllama,vicuna,65\nvicuna,llama,35\ngpt-4,vicuna,88\nvicuna,gpt-4,12\n";

fn arena() -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", ARENA);
    dir
}

#[track_caller]
fn predictions<'a>(json: &'a Value) -> Vec<(&'a str, &'a str, f64)> {
    let rows = json["predictions"].as_array().expect("predictions").iter();
    let name = |row: &'a Value, key: &str| row[key].as_str().unwrap();
    rows.map(|row| (name(row, "left"), name(row, "right"), number(row, "probability"))).collect()
}

fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[test]
fn probabilities_follow_from_scores() {
    let dir = arena();
    for method in ["bt", "l2"] {
        let options = ["v.csv", "--method", method];
        let ranked = dir.rank_json(&[&options[..], &["--scale", "elo"]].concat());
        let rows = ranked["ranking"].as_array().unwrap();
        let points = |item: &str| {
            let row = rows.iter().find(|row| row["item"] == item).unwrap();
            number(row, "score") * std::f64::consts::LN_10 / 400.0
        };
        let json = dir.json(&[&["predict"], &options[..]].concat(), b"");
        assert_eq!(json["schema"], "hodgerank/predict/1");
        assert_eq!(json["method"]["name"], method);
        assert_eq!(json["input"], ranked["input"]);
        let found = predictions(&json);
        // All pairs, each with the better item on the left.
        assert_eq!(found.len(), 6);
        for (left, right, probability) in found {
            let expected = logistic(points(left) - points(right));
            assert!((probability - expected).abs() < 1e-9, "{left}, {right}: {probability}");
            assert!(probability >= 0.5, "{left}, {right}: {probability}");
        }
        let first = &json["predictions"][0];
        assert_eq!(first["expected_outcome"].is_null(), method == "bt", "{first}");
        let [low, high] = ["low", "high"].map(|end| first[end].as_f64());
        let p = first["probability"].as_f64();
        assert!(method != "bt" || (low < p && p < high && low > Some(0.0)), "{first}");
    }
}

#[test]
fn pairs_can_be_chosen() {
    let dir = arena();
    dir.write("p.csv", "id,right,left\n1,gpt-4,vicuna\n2,llama,claude\n");
    dir.write("plain.csv", "vicuna,gpt-4\nclaude,llama\n");
    let pairs = |options: &[&str]| {
        let json = dir.json(&[&["predict", "v.csv", "--method", "bt"], options].concat(), b"");
        let name = |(left, right, _): (&str, &str, f64)| format!("{left} {right}");
        predictions(&json).into_iter().map(name).collect::<Vec<_>>()
    };
    let listed = ["vicuna gpt-4", "claude llama"];
    assert_eq!(pairs(&["--pairs", "p.csv"]), listed);
    assert_eq!(pairs(&["--pairs", "plain.csv"]), listed);
    let among = ["vicuna gpt-4", "vicuna claude", "gpt-4 claude"];
    assert_eq!(pairs(&["--items", "vicuna,gpt-4,claude"]), among);
    let all = pairs(&[]);
    assert_eq!(all[..3], ["gpt-4 claude", "gpt-4 llama", "gpt-4 vicuna"]);
    // Formatted tables show neighbours in the ranking.
    let run = dir.run(&["predict", "v.csv", "--method", "bt"]).success();
    let rows: Vec<Vec<&str>> =
        run.text().lines().skip(2).map(|line| line.split_whitespace().take(2).collect()).collect();
    let neighbours = [["gpt-4", "claude"], ["claude", "llama"], ["llama", "vicuna"]];
    assert_eq!(rows[..3], neighbours, "{}", run.text());
    assert!(run.text().contains("neighbours in the ranking"), "{}", run.text());
}

#[test]
fn a_matrix_has_the_same_probabilities() {
    let dir = arena();
    let options = ["predict", "v.csv", "--method", "bt", "--matrix"];
    let csv = dir.run(&[&options[..], &["--format", "csv"]].concat()).success();
    let rows: Vec<Vec<&str>> = csv.text().lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["item", "gpt-4", "claude", "llama", "vicuna"]);
    let json = dir.json(&options, b"");
    assert_eq!(json["matrix"]["items"][3], "vicuna");
    let pairs = dir.json(&options[..4], b"");
    for (left, right, probability) in predictions(&pairs) {
        let place = |item| rows[0].iter().position(|name| *name == item).unwrap();
        let cell = |row: usize, column: usize| rows[row][column].parse::<f64>().unwrap();
        let (left, right) = (place(left), place(right));
        assert_eq!(cell(left, right), probability);
        assert!((cell(right, left) - (1.0 - probability)).abs() < 1e-12);
        assert_eq!(rows[left][left], "", "nothing on the diagonal");
        assert_eq!(json["matrix"]["probabilities"][left - 1][right - 1], probability);
    }
    let text = dir.run(&options).success();
    assert!(text.text().contains("1. gpt-4"), "{}", text.text());
    let some = dir.run(&[&options[..], &["--items", "llama,gpt-4", "--format", "csv"]].concat());
    assert!(some.success().text().starts_with("item,llama,gpt-4\nllama,,0.2"));
}

#[test]
fn nothing_is_predicted_between_components() {
    let dir = TestDir::new();
    dir.write("v.csv", "winner,loser\na,b\nb,a\na,b\nx,y\ny,x\nx,y\n");
    for method in ["bt", "l2"] {
        let options = ["predict", "v.csv", "--method", method];
        let json = dir.json(&options, b"");
        let rows = json["predictions"].as_array().unwrap();
        assert_eq!(rows.len(), 6);
        for row in rows {
            let [left, right] = ["left", "right"].map(|key| row[key].as_str().unwrap());
            let within = [["a", "b"], ["x", "y"]].contains(&[left, right]);
            assert_eq!(row["probability"].is_f64(), within, "{row}");
            assert!(within || row["expected_outcome"].is_null(), "{row}");
        }
        let warnings = json["warnings"].as_array().unwrap();
        assert!(warnings[0].as_str().unwrap().contains("components"), "{json}");
        let csv = dir.run(&[&options[..], &["--format", "csv", "-q"]].concat()).success();
        assert!(csv.text().contains("\na,x,,,,,\n"), "{}", csv.text());
    }
}

#[test]
fn separable_votes_have_no_probabilities_in_least_squares() {
    let dir = TestDir::new();
    dir.write("v.csv", "winner,loser\na,b\nb,c\na,c\n");
    let run = dir.run(&["predict", "v.csv", "--method", "l2", "--format", "json"]).success();
    assert!(run.stderr.contains("give no probabilities"), "{}", run.stderr);
    let row = &run.json()["predictions"][0];
    assert!(row["probability"].is_null() && row["expected_outcome"].is_f64(), "{row}");
    let bt = dir.json(&["predict", "v.csv", "--method", "bt"], b"");
    assert!(predictions(&bt).iter().all(|(.., probability)| *probability > 0.5));
}

/// Votes in which the better item usually wins, with an annotator who votes at random.
fn crowd() -> TestDir {
    let dir = TestDir::new();
    let options = ["simulate", "--items", "10", "--votes", "4000", "--ties", "5%", "-o", "v.csv"];
    let noise = ["--noise", "bradley-terry", "--annotators", "careful=12,careless=3"];
    dir.run(&[&options[..], &noise[..]].concat()).success();
    dir
}

#[test]
fn held_out_votes_are_evaluated() {
    let dir = crowd();
    let evaluate = |options: &[&str]| {
        dir.json(&[&["predict", "v.csv", "--holdout", "25%"], options].concat(), b"")
    };
    let json = evaluate(&["--seed", "3"]);
    assert_eq!(
        (&json["schema"], &json["input"]["rows"]),
        (&"hodgerank/predict/1".into(), &4000.into())
    );
    let holdout = &json["holdout"];
    let count = |key: &str| holdout[key].as_u64().unwrap();
    assert_eq!(count("training_votes") + count("held_out_votes"), 4000);
    assert_eq!(count("votes") + count("ties") + count("unconnected"), count("held_out_votes"));
    assert!((900..1100).contains(&count("held_out_votes")) && count("ties") > 20, "{holdout}");
    let bins = holdout["calibration"].as_array().unwrap();
    assert_eq!(bins.len(), 10);
    let votes: u64 = bins.iter().map(|bin| bin["votes"].as_u64().unwrap()).sum();
    assert_eq!(votes, count("votes"));
    assert!((number(&holdout["baseline"], "log_loss") - 2_f64.ln()).abs() < 1e-15);
    assert!(number(holdout, "log_loss") < 0.68 && number(holdout, "accuracy") > 0.6, "{holdout}");
    // Careless annotators cannot be predicted.
    let careful = &holdout["careful"];
    assert!(careful["votes"].as_u64() < Some(count("votes")), "{careful}");
    assert!(number(careful, "log_loss") < number(holdout, "log_loss"), "{holdout}");
    // The same votes are held out for every method, and others with another seed.
    for method in ["bt", "l2", "hlasso"] {
        let other = evaluate(&["--seed", "3", "--method", method]);
        for key in ["training_votes", "held_out_votes", "ties", "votes"] {
            assert_eq!(other["holdout"][key], holdout[key], "{method}: {key}");
        }
        assert_eq!(other["holdout"]["careful"]["votes"], careful["votes"], "{method}");
        assert!(number(&other["holdout"], "log_loss") < 0.69, "{method}: {other}");
    }
    assert_ne!(evaluate(&["--seed", "4"])["holdout"]["log_loss"], holdout["log_loss"]);
    assert_eq!(evaluate(&[])["holdout"], evaluate(&["--seed", "0"])["holdout"]);
    let run = dir.run(&["predict", "v.csv", "--holdout", "25%"]).success();
    for part in ["log loss", "Brier score", "always 1/2", "careful", "ties held out"] {
        assert!(run.text().contains(part), "{part}: {}", run.text());
    }
    assert!(run.text().lines().all(|line| line.chars().count() <= 80), "{}", run.text());
    let csv = dir.run(&["predict", "v.csv", "--holdout", "25%", "--format", "csv"]).success();
    assert!(
        csv.text()
            .starts_with("annotators,from,to,votes,mean_prediction,preferred_left\nall,0,0.1,")
    );
    assert_eq!(csv.text().lines().count(), 21);
}

#[test]
fn the_order_of_rows_and_threads_do_not_matter() {
    let dir = crowd();
    let text = String::from_utf8(dir.read("v.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.reverse();
    dir.write("reversed.csv", format!("{header}\n{}\n", rows.join("\n")));
    for options in [&["--holdout", "20%"][..], &["--holdout", "20%", "--method", "bt"], &[]] {
        let run = |file: &str, threads: &str| {
            let all = [&["predict", file, "--format", "json", "--threads", threads], options];
            dir.run(&all.concat()).success().json()
        };
        let expected = run("v.csv", "1");
        assert_eq!(run("v.csv", "3"), expected, "{options:?}");
        assert_eq!(run("reversed.csv", "2"), expected, "{options:?}");
    }
}

#[test]
fn studies_are_predicted_one_by_one() {
    let dir = TestDir::new();
    let rows = ARENA.lines().skip(1).flat_map(|row| ["s1", "s2"].map(|s| format!("{s},{row}\n")));
    dir.write("v.csv", "study,winner,loser,count\n".to_owned() + &rows.collect::<String>());
    let options = ["predict", "v.csv", "--by", "study", "--method", "bt"];
    let json = dir.json(&options, b"");
    let studies = json["groups_by"].as_array().unwrap();
    assert_eq!(studies.len(), 2);
    assert_eq!(studies[0]["predictions"], studies[1]["predictions"]);
    let csv = dir.run(&[&options[..], &["--format", "csv"]].concat()).success();
    assert!(csv.text().starts_with(
        "by,left,right,probability,crowd_probability,low,high,expected_outcome\ns1,gpt-4,claude,0.6"
    ));
    let holdout = dir.json(&[&options[..], &["--holdout", "30%"]].concat(), b"");
    assert!(holdout["groups_by"][1]["holdout"]["votes"].as_u64() > Some(50));
}

#[track_caller]
fn refused(dir: &TestDir, options: &[&str], code: i32, words: &[&str]) {
    let run = dir.run(&[&["predict", "v.csv"], options].concat());
    assert_eq!(run.code, Some(code), "{options:?}: {}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "{word}: {}", run.stderr);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let dir = arena();
    dir.write("p.csv", "left,right\ngpt-4,claude\nlama,gpt-4\n");
    dir.write("self.csv", "gpt-4,gpt-4\n");
    dir.write("short.csv", "left,right\ngpt-4\n");
    dir.write("empty.csv", "");
    refused(
        &dir,
        &["--items", "gpt-4,GPT4"],
        2,
        &["there is no item GPT4", "similar item is gpt-4"],
    );
    refused(&dir, &["--items", "gpt-4"], 2, &["names one item", "--items a,b,c"]);
    refused(&dir, &["--items", "gpt-4,claude,gpt-4"], 2, &["names gpt-4 twice"]);
    refused(&dir, &["--pairs", "p.csv"], 2, &["p.csv, line 3: there is no item lama", "is llama"]);
    refused(&dir, &["--pairs", "self.csv"], 2, &["line 1: gpt-4 is compared with itself"]);
    refused(&dir, &["--pairs", "short.csv"], 2, &["short.csv, line 2: an item is missing"]);
    refused(&dir, &["--pairs", "empty.csv"], 2, &["empty.csv: there are no pairs"]);
    refused(&dir, &["--pairs", "none.csv"], 2, &["none.csv: cannot be opened"]);
    refused(&dir, &["--pairs", "p.csv", "-o", "p.csv"], 2, &["p.csv"]);
    refused(&dir, &["--pairs", "p.csv", "--items", "a,b"], 2, &["cannot be used with"]);
    refused(&dir, &["--holdout", "20%", "--matrix"], 2, &["cannot be used with"]);
    refused(&dir, &["--holdout", "0"], 2, &["above 0 and below 1"]);
    refused(&dir, &["--seed", "1"], 2, &["--seed is an option of --holdout"]);
    refused(&dir, &["--by", "winner", "--matrix"], 2, &["--matrix lists one study"]);
    let piped = dir.run_with_stdin(&["predict", "-", "--pairs", "-"], ARENA.as_bytes());
    assert_eq!(piped.code, Some(2), "{}", piped.stderr);
    dir.write("s.csv", "winner,loser\na,b\nb,c\na,c\na,c\na,b\nb,c\n");
    let run = dir.run(&["predict", "s.csv", "--method", "l2", "--holdout", "30%"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("--method bt"), "{}", run.stderr);
}

#[test]
fn pairs_of_too_many_items_are_refused_with_advice() {
    let dir = TestDir::new();
    let votes: String = (0..2001).map(|k| format!("i{k},i{}\n", (k + 1) % 2001)).collect();
    dir.write("v.csv", format!("winner,loser\n{votes}"));
    let options = ["--method", "l2", "--format", "csv"];
    refused(&dir, &options, 2, &["2,001 items have 2,001,000 pairs", "--items", "--pairs"]);
    // Neighbours in the ranking are few.
    dir.run(&["predict", "v.csv", "--method", "l2", "-q"]).success();
}

#[test]
fn figures_show_the_calibration() {
    let dir = arena();
    let figures = ["--holdout", "25%", "--figures", "f"];
    let run = |options: &[&str]| dir.run(&[&["predict", "v.csv"], options].concat());
    let done = run(&figures).success();
    assert!(done.stderr.contains("figures written to f"), "{}", done.stderr);
    let svg = String::from_utf8(dir.read("f/calibration.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("Predictions and held-out votes"));
    assert!(dir.read("f/calibration.png").starts_with(b"\x89PNG"));
    // Without held-out votes there is nothing to draw.
    assert_eq!(run(&["--figures", "g"]).code, Some(2));
    // No output replaces another one.
    let clash = run(&[&figures[..], &["--format", "csv", "-o", "f/calibration.svg"]].concat());
    assert_eq!(clash.code, Some(2), "{}", clash.stderr);
    assert!(clash.stderr.contains("--figures"), "{}", clash.stderr);
}
