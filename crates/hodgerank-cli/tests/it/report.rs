//! `report`: the file, its data and errors. Appearance and behaviour are tested in a browser
//! (`crates/hodgerank-report/page/test`).

use crate::support::files::{separated, votes};
use crate::support::{TestDir, number};
use serde_json::Value;

/// The data embedded in a report.
#[track_caller]
fn data(html: &[u8]) -> Value {
    let html = std::str::from_utf8(html).expect("a report is text");
    let start = "<script type=\"application/json\" id=\"report\">";
    let (_, rest) = html.split_once(start).expect("a report has data");
    let (json, _) = rest.split_once("</script>").expect("which end");
    serde_json::from_str(json).expect("and are JSON")
}

/// Votes as a CSV file.
fn study(items: usize, number: usize) -> String {
    separated(&votes(items, number), ",")
}

fn table<'a>(study: &'a Value, id: &str) -> &'a Value {
    let sections = study["sections"].as_array().unwrap().iter();
    let mut tables = sections.flat_map(|section| section["tables"].as_array().unwrap());
    tables.find(|table| table["id"] == id).unwrap_or_else(|| panic!("no table {id}"))
}

fn column<'a>(table: &'a Value, id: &str) -> &'a Vec<Value> {
    let columns = table["columns"].as_array().unwrap();
    columns.iter().find(|column| column["id"] == id).unwrap()["values"].as_array().unwrap()
}

#[test]
fn the_report_shows_the_ranking_of_rank() {
    let dir = TestDir::new();
    dir.write("votes.csv", study(9, 900));
    let run = dir.run(&["report", "votes.csv", "--outliers", "8%"]).success();
    assert!(run.stdout.is_empty() && run.stderr.contains("report.html"), "{}", run.stderr);
    assert_eq!(dir.file_names(), ["report.html", "votes.csv"]);
    let report = data(&dir.read("report.html"));
    assert_eq!(report["schema"], "hodgerank/report/1");
    assert_eq!(report["title"], "votes");
    let study = &report["studies"][0];
    let ranked = dir.rank_json(&["votes.csv", "--outliers", "8%"]);
    let shown = table(study, "ranking");
    for (row, item) in ranked["ranking"].as_array().unwrap().iter().enumerate() {
        let name = &study["items"][column(shown, "item")[row].as_u64().unwrap() as usize];
        assert_eq!(name, &item["item"]);
        let range = |end: &str| match &item[end] {
            Value::Null => item["rank"].clone(),
            rank => rank.clone(),
        };
        let rank = [&item["rank"], &range("rank_low"), &range("rank_high"), &item["provisional"]];
        assert_eq!(column(shown, "rank")[row], Value::from(rank.map(Clone::clone).to_vec()));
        assert_eq!(column(shown, "flagged")[row], item["flagged"]);
        let score = column(shown, "score")[row].as_f64().unwrap();
        assert!((score - number(item, "score")).abs() < 1e-4, "{item}");
    }
    let slider = &study["slider"];
    let chosen = slider["chosen"].as_u64().unwrap() as usize;
    assert_eq!(slider["flagged"][chosen], ranked["outliers"]["comparisons"]);
}

#[test]
fn results_do_not_depend_on_threads() {
    let dir = TestDir::new();
    dir.write("votes.csv", study(12, 2000));
    for threads in ["1", "2", "3"] {
        dir.run(&["report", "votes.csv", "-o", threads, "--threads", threads]).success();
    }
    let first = dir.read("1");
    assert!(first == dir.read("2") && first == dir.read("3"));
}

#[test]
fn each_study_has_its_own_page_and_figures() {
    let dir = TestDir::new();
    let mut votes = String::from("scene,winner,loser\n");
    for (scene, items) in [("a/b", "xyz"), ("<i>", "uvw")] {
        for (k, winner) in items.chars().enumerate() {
            for loser in items.chars().skip(k + 1) {
                votes.push_str(&format!("{scene},{winner},{loser}\n").repeat(4));
                votes.push_str(&format!("{scene},{loser},{winner}\n"));
            }
        }
    }
    dir.write("votes.csv", votes);
    let flags = ["--by", "scene", "-o", "r.html", "--figures", "figures", "--title", "Scenes"];
    dir.run(&[&["report", "votes.csv"], &flags[..]].concat()).success();
    let report = data(&dir.read("r.html"));
    assert_eq!(report["title"], "Scenes");
    let by: Vec<&str> =
        report["studies"].as_array().unwrap().iter().map(|s| s["by"].as_str().unwrap()).collect();
    assert_eq!(by, ["<i>", "a/b"]);
    for folder in ["001--i-", "002-a-b"] {
        for name in ["ranking", "bump", "shares", "comparisons"] {
            let svg = dir.read(&format!("figures/{folder}/{name}.svg"));
            assert!(svg.starts_with(b"<svg"), "{name}");
            let png = dir.read(&format!("figures/{folder}/{name}.png"));
            assert!(png.starts_with(b"\x89PNG"), "{name}");
            let pdf = dir.read(&format!("figures/{folder}/{name}.pdf"));
            assert!(pdf.starts_with(b"%PDF-"), "{name}");
        }
    }
}

#[test]
fn annotators_and_rejected_rows_are_shown() {
    let dir = TestDir::new();
    let mut votes = String::from("left,right,winner,worker\n");
    for k in 0..60 {
        let (who, says) = if k % 3 == 0 { ("zoe", "right") } else { ("ann", "left") };
        votes.push_str(&format!("a,b,{says},{who}\nb,c,{says},{who}\na,c,{says},{who}\n"));
    }
    votes.push_str("a,a,left,ann\n");
    dir.write("votes.csv", votes);
    dir.run(&["report", "votes.csv", "--on-error", "skip"]).success();
    let report = data(&dir.read("report.html"));
    let study = &report["studies"][0];
    let names = column(table(study, "annotators"), "annotator");
    assert_eq!(names.len(), 2);
    let summary = study["summary"].to_string();
    assert!(summary.contains("2 annotators") && summary.contains("1 row"), "{summary}");
}

#[test]
fn errors_leave_no_files() {
    let dir = TestDir::new();
    dir.write("votes.csv", study(5, 60));
    for (arguments, code, part) in [
        (&["report", "votes.csv", "-o", "votes.csv"][..], 2, "would replace the input"),
        (&["report", "votes.csv", "-o", "nowhere/r.html"], 1, "nowhere/r.html"),
        (&["report", "missing.csv"], 2, "missing.csv"),
        (&["report", "votes.csv", "--by", "nothing"], 2, "nothing"),
        (&["report", "votes.csv", "--figures", "f", "--figure-width", "8"], 2, "such as 8cm"),
        (&["report", "votes.csv", "--no-title"], 2, "--figures"),
        (&["report", "votes.csv", "--figures", "votes.csv"], 2, "would replace the input"),
        (&["report", "votes.csv", "--figures", "votes.csv/x"], 1, "votes.csv/x"),
    ] {
        let run = dir.run(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{arguments:?}: {}", run.stderr);
        assert_eq!(dir.file_names(), ["votes.csv"], "{arguments:?}");
    }
}

#[test]
fn standard_input_and_output_are_supported() {
    let dir = TestDir::new();
    let run = dir.run_with_stdin(&["report", "-", "-o", "-"], study(6, 200).as_bytes()).success();
    assert_eq!(data(&run.stdout)["title"], "votes");
    assert!(dir.file_names().is_empty());
}
