//! Survey exports as they occur: each reaches the right ranking in two commands at most, of which the
//! first one suggests the second.

use std::process::Command;

use serde_json::Value;

use crate::support::workbook::{Cell, workbook};
use crate::support::{Run, TestDir};

/// Items from the best to the worst.
const ITEMS: [&str; 6] = ["Espresso", "Cappuccino", "Flat White", "Latte", "Mocha", "Café crème"];

/// A vote: participant, left item, right item, whether the left one is preferred.
type Vote = (usize, usize, usize, bool);

/// Every pair by every participant, in both orders; the better item wins in eight votes of ten.
fn votes() -> Vec<Vote> {
    let mut votes = Vec::new();
    for participant in 0..10 {
        for left in 0..ITEMS.len() {
            for right in (0..ITEMS.len()).filter(|&right| right != left) {
                let is_careless = (3 * participant + left + 2 * right).is_multiple_of(5);
                votes.push((participant, left, right, (left < right) != is_careless));
            }
        }
    }
    votes
}

/// A label as different people type it.
fn typed(item: usize, k: usize) -> String {
    let label = ITEMS[item];
    match k % 7 {
        0 => label.to_lowercase(),
        2 => format!(" {label} "),
        3 => label.replace(' ', "\u{a0}"),
        4 if k.is_multiple_of(3) => label.to_uppercase(),
        5 => label.replace('é', "e\u{301}"),
        _ => label.to_owned(),
    }
}

/// The command that a failed run suggests, in its JSON form, run in a shell.
#[track_caller]
fn run_suggestion(folder: &TestDir, first: &Run) -> Value {
    assert_eq!(first.code, Some(2), "{}", first.stderr);
    let suggested = first.stderr.lines().find_map(|line| line.strip_prefix("try: "));
    let suggested = suggested.unwrap_or_else(|| panic!("no command in: {}", first.stderr));
    let program = env!("CARGO_BIN_EXE_hodgerank");
    let script = format!("hodgerank() {{ '{program}' \"$@\"; }}; {suggested} --format json");
    let output = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output();
    Run::from(output.expect("bash is installed")).success().json()
}

#[track_caller]
fn check_ranking(found: &Value) {
    let items = found["ranking"].as_array().expect("a ranking");
    let names: Vec<&str> = items.iter().filter_map(|item| item["item"].as_str()).collect();
    assert_eq!(names, ITEMS);
}

#[test]
fn semicolons_decimal_commas_and_mixed_spellings() {
    let folder = TestDir::new();
    let mut text = "\u{feff}Teilnehmer;Option A;Option B;Score\r\n".to_owned();
    for (k, (participant, left, right, prefers_left)) in votes().into_iter().enumerate() {
        let (left, right) = (typed(left, k), typed(right, k + 3));
        let score = if prefers_left { "1,5" } else { "-1,5" };
        text += &format!("T{participant};{left};{right};{score}\r\n");
        if k % 23 == 5 {
            text += &format!("T{participant};{left};{right};Don't know\r\n;;;\r\n");
        }
    }
    text += ";;;\r\n;;;\r\n";
    folder.write("umfrage.csv", text);
    let first = folder.run(&["rank", "umfrage.csv", "--annotator", "Teilnehmer"]);
    assert!(first.stderr.contains("\"Don't know\": 13 rows, first at line 8"), "{}", first.stderr);
    let found = run_suggestion(&folder, &first);
    check_ranking(&found);
    assert_eq!(found["passed_over"]["ignored"], 13);
    assert_eq!(found["passed_over"]["blank"], 15);
    assert_eq!(found["rejected"]["rows"], 0);
    assert_eq!(found["input"]["annotators"], 10);
}

#[test]
fn a_workbook() {
    let folder = TestDir::new();
    let mut rows = vec![vec![
        Cell::Text("Participant"),
        Cell::Text("Option 1"),
        Cell::Text("Option 2"),
        Cell::Text("Choice"),
    ]];
    for (k, (participant, left, right, prefers_left)) in votes().into_iter().enumerate() {
        let choice = ITEMS[if prefers_left { left } else { right }];
        let items = [Cell::Text(ITEMS[left]), Cell::Text(ITEMS[right])];
        let choice = if k % 50 == 7 { "No answer" } else { choice };
        rows.push(
            [Cell::Number(participant as f64)]
                .into_iter()
                .chain(items)
                .chain([Cell::Text(choice)])
                .collect(),
        );
        if k.is_multiple_of(40) {
            rows.push(vec![Cell::Empty, Cell::Empty]);
        }
    }
    folder.write("Befragung 1.xlsx", workbook(&[("Answers", rows), ("Notes", Vec::new())]));
    let first = folder.run(&["rank", "Befragung 1.xlsx"]);
    assert!(first.stderr.contains("\"No answer\": 6 rows, first at line 10"), "{}", first.stderr);
    let found = run_suggestion(&folder, &first);
    check_ranking(&found);
    assert_eq!(found["input"]["annotators"], 10);
    let sheet = ["rank", "Befragung 1.xlsx", "--ignore", "no answer", "--sheet"];
    folder.run(&[&sheet[..], &["Answers"]].concat()).success();
    let missing = folder.run(&[&sheet[..], &["Votes"]].concat());
    assert!(missing.stderr.contains("the sheets are `Answers`, `Notes`"), "{}", missing.stderr);
    // A cleaned sheet is a CSV file.
    let clean = ["clean", "Befragung 1.xlsx", "--ignore", "No answer", "-o", "clean.csv"];
    folder.run(&clean).success();
    check_ranking(&folder.rank_json(&["clean.csv"]));
}

#[test]
fn unknown_headers() {
    let folder = TestDir::new();
    let header =
        "Zeitstempel,Befragte Person,Links gezeigt,Rechts gezeigt,Besser gefällt mir,Alter";
    let mut text = format!("{header}\n");
    for (k, (participant, left, right, prefers_left)) in votes().into_iter().enumerate() {
        let better = match k % 31 {
            11 => "weiß nicht".to_owned(),
            _ => typed(if prefers_left { left } else { right }, k),
        };
        let (left, right) = (ITEMS[left], ITEMS[right]);
        let age = 20 + participant;
        text += &format!("2026-03-01 10:{k:04},P{participant},{left},\"{right}\",{better},{age}\n");
    }
    folder.write("export.csv", text);
    let found = run_suggestion(&folder, &folder.run(&["rank", "export.csv"]));
    check_ranking(&found);
    assert_eq!(found["input"]["annotators"], 10);
    assert_eq!(found["passed_over"]["ignored"], 10);
}
