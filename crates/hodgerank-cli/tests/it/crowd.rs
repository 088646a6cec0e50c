//! `rank --method crowd` and `annotators` on votes of people of known kinds.

use serde_json::Value;

use crate::support::TestDir;

/// Twenty careful people, three who always click left, two contrary ones and a passer-by, on twelve items.
fn votes() -> String {
    let mut text = "annotator,left,right,winner\n".to_owned();
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for annotator in 0..26 {
        let (name, number) = match annotator {
            0..20 => (format!("careful-{annotator}"), 60),
            20..23 => (format!("left-{annotator}"), 60),
            23..25 => (format!("contrary-{annotator}"), 60),
            _ => ("passer-by".to_owned(), 2),
        };
        for _ in 0..number {
            let left = random(12);
            let right = (left + 1 + random(11)) % 12;
            // The smaller number wins, the more clearly the farther apart.
            let is_clear = random(12) >= 12 / (1 + left.abs_diff(right));
            let better_is_left = (left < right) == (is_clear || random(2) == 0);
            let chooses_left = match name.split('-').next() {
                Some("left") => true,
                Some("contrary") => !better_is_left,
                _ => better_is_left,
            };
            let winner = if chooses_left { "left" } else { "right" };
            text.push_str(&format!("{name},i{left},i{right},{winner}\n"));
        }
    }
    text
}

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", votes());
    dir
}

fn json(dir: &TestDir, arguments: &[&str]) -> Value {
    dir.json(&[arguments, &["--quiet"]].concat(), b"")
}

#[test]
fn annotators_are_classified_with_a_verdict() {
    let dir = dir();
    let document = json(&dir, &["annotators", "v.csv"]);
    assert_eq!(document["schema"], "hodgerank/annotators/1");
    let rows = document["annotators"].as_array().unwrap();
    assert_eq!(rows.len(), 26);
    for (place, row) in rows.iter().enumerate() {
        let name = row["annotator"].as_str().unwrap();
        let (class, verdict) = match name.split('-').next() {
            Some("left") => ("left", "always left"),
            Some("contrary") => ("contrary", "answers the opposite"),
            Some("careful") => ("careful", "fine"),
            _ => ("", "too few votes"),
        };
        assert_eq!(row["class"].as_str().unwrap_or(""), class, "{row}");
        assert_eq!(row["verdict"], verdict, "{row}");
        // The most problematic come first.
        assert_eq!(place < 5, class == "left" || class == "contrary", "{name} is number {place}");
        if class == "left" {
            assert_eq!(row["left_share"], 1.0);
            assert!((row["expected_left_share"].as_f64().unwrap() - 0.5).abs() < 0.2, "{row}");
            assert!(row["left_p_adjusted"].as_f64().unwrap() < 1e-6, "{row}");
        }
        if class == "careful" {
            assert!(row["left_p_adjusted"].as_f64().unwrap() > 0.001, "{row}");
            assert!(row["honest"].as_f64().unwrap() > 0.8, "{row}");
        }
    }
    let table = dir.run(&["annotators", "v.csv"]).success();
    assert!(table.text().contains("always left"), "{}", table.text());
}

#[test]
fn the_evidence_shows_how_others_voted() {
    let dir = dir();
    let document = json(&dir, &["annotators", "v.csv", "--explain", "contrary-23"]);
    let rows = document["evidence"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["count"].as_u64().unwrap()).sum::<u64>(), 60);
    let first = &rows[0];
    let (others_left, others_right) = (&first["others_left"], &first["others_right"]);
    let others_prefer_left = others_left.as_u64() > others_right.as_u64();
    assert_eq!(first["vote"], if others_prefer_left { "right" } else { "left" }, "{first}");
    let run = dir.run(&["annotators", "v.csv", "--explain", "nobody"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("there is no annotator nobody"), "{}", run.stderr);
}

#[test]
fn crowd_flags_the_votes_of_bad_annotators_only() {
    let dir = dir();
    let ranked = json(&dir, &["rank", "v.csv", "--method", "crowd"]);
    assert_eq!(ranked["status"], "solved");
    assert!(ranked["method"]["classes"]["careful"].as_f64().unwrap() > 0.6, "{}", ranked["method"]);
    let flagged = ranked["outliers"]["comparisons"].as_u64().unwrap();
    assert!((300..340).contains(&flagged), "{flagged} of 300 bad votes");
    let listed = json(&dir, &["outliers", "v.csv", "--method", "crowd"]);
    let votes = listed["votes"].as_array().unwrap();
    assert_eq!(votes.len() as u64, flagged);
    let is_bad = |vote: &&Value| !vote["annotator"].as_str().unwrap().starts_with("careful");
    assert!(votes.iter().filter(is_bad).count() >= 295);
    assert!(votes.is_sorted_by(|a, b| a["probability"].as_f64() >= b["probability"].as_f64()));
    dir.run(&["clean", "v.csv", "--method", "crowd", "-o", "kept.csv", "--flagged", "bad.csv"])
        .success();
    let lines = |name: &str| dir.read(name).iter().filter(|&&byte| byte == b'\n').count() as u64;
    assert_eq!((lines("kept.csv"), lines("bad.csv")), (1502 + 1 - flagged, flagged + 1));
}

/// The JSON of `rank --method crowd` lists the annotators as `annotators` does.
#[test]
fn the_json_of_rank_judges_annotators() {
    let dir = dir();
    let expected = json(&dir, &["annotators", "v.csv"]);
    let ranked = json(&dir, &["rank", "v.csv", "--method", "crowd"]);
    assert_eq!(ranked["annotators"], expected["annotators"]);
    assert_eq!(ranked["annotators"].as_array().map(Vec::len), Some(26));
    let other = json(&dir, &["rank", "v.csv", "--method", "hlasso"]);
    assert!(other["annotators"][0]["flagged_share"].is_number(), "{}", other["annotators"][0]);
}

#[test]
fn crowd_needs_annotators() {
    let dir = TestDir::new();
    dir.write("v.csv", "winner,loser\na,b\nb,c\n");
    let run = dir.run(&["rank", "v.csv", "--method", "crowd"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("--annotator") && run.stderr.contains("bt"), "{}", run.stderr);
    let run = dir.run(&["annotators", "v.csv"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

#[test]
fn rows_in_any_order_and_any_threads_give_the_same_bytes() {
    let dir = dir();
    let text = votes();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    dir.write("r.csv", lines.join("\n") + "\n");
    let run = |file: &str, threads: &str| {
        let all =
            ["rank", file, "--method", "crowd", "--format", "csv", "--threads", threads, "--quiet"];
        dir.run(&all).success().text().to_owned()
    };
    let expected = run("v.csv", "1");
    assert_eq!(run("r.csv", "1"), expected);
    assert_eq!(run("r.csv", "3"), expected);
}

/// Three votes of each person in each of thirty scenes: too few to say anything in one of them.
#[test]
fn annotators_are_pooled_over_studies() {
    let dir = TestDir::new();
    let mut text = "annotator,left,right,winner,scene\n".to_owned();
    for scene in 0..30 {
        for annotator in 0..12 {
            for vote in 0..3 {
                let (n, item) = (scene + annotator + vote, vote + annotator % 3);
                let (better, worse) = (format!("i{item}"), format!("i{}", item + 1 + n % 2));
                let better_is_left = n % 3 != 0;
                let (left, right) = match better_is_left {
                    true => (better, worse),
                    false => (worse, better),
                };
                // Everyone makes a mistake now and then.
                let (name, is_honest) = match annotator {
                    0 => ("left", true),
                    1 => ("contrary", false),
                    2 => ("newcomer", true),
                    _ => ("careful", (scene * 7 + annotator * 5 + vote) % 13 != 0),
                };
                let chooses_left = name == "left" || better_is_left == is_honest;
                let winner = if chooses_left { "left" } else { "right" };
                // The newcomer votes in one scene only, once.
                if name != "newcomer" || (scene, vote) == (3, 0) {
                    let row = format!("{name}-{annotator},{left},{right},{winner},{scene}\n");
                    text.push_str(&row);
                }
            }
        }
    }
    dir.write("v.csv", &text);
    let document = json(&dir, &["annotators", "v.csv", "--by", "scene"]);
    let rows = document["annotators"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    for row in rows {
        let name = row["annotator"].as_str().unwrap();
        let (class, verdict) = match name.split('-').next() {
            Some("left") => ("left", "always left"),
            Some("contrary") => ("contrary", "answers the opposite"),
            Some("newcomer") => ("", "too few votes"),
            _ => ("careful", "fine"),
        };
        assert_eq!(row["class"].as_str().unwrap_or(""), class, "{row}");
        assert_eq!(row["verdict"], verdict, "{row}");
        assert_eq!(row["votes"], if class.is_empty() { 1 } else { 90 }, "{row}");
        if class == "left" {
            assert!(row["left_p_adjusted"].as_f64().unwrap() < 1e-6, "{row}");
        }
    }
    // Votes add up, and so does what is expected of them.
    let studies = document["groups_by"].as_array().unwrap();
    assert_eq!(studies.len(), 30);
    let of_left = |study: &Value| {
        let rows = study["annotators"].as_array().unwrap();
        rows.iter().find(|row| row["annotator"] == "left-0").unwrap().clone()
    };
    let pooled = of_left(&document);
    let expected = studies.iter().map(|study| {
        let row = of_left(study);
        row["expected_left_share"].as_f64().unwrap() * row["votes"].as_f64().unwrap() / 90.0
    });
    let difference = expected.sum::<f64>() - pooled["expected_left_share"].as_f64().unwrap();
    assert!(difference.abs() < 1e-9, "{difference}");
    let csv = dir.run(&["annotators", "v.csv", "--by", "scene", "--format", "csv"]).success();
    assert_eq!(csv.text().lines().count(), 13);
    assert!(csv.text().starts_with("annotator,votes,flagged,class,"), "{}", csv.text());
    // One person in all scenes, or in none.
    let ranked =
        json(&dir, &["rank", "v.csv", "--by", "scene", "--exclude-annotators", "suspicious"]);
    assert_eq!(ranked["excluded"]["votes"], 180, "{}", ranked["excluded"]);
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    dir.write("r.csv", lines.join("\n"));
    let reversed = ["annotators", "r.csv", "--by", "scene", "--threads", "3"];
    assert_eq!(json(&dir, &reversed), document);
}
