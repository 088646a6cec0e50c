//! Every command in terminals of several widths: no line is too long, and no number or label is broken.

use std::collections::BTreeSet;

use crate::support::TestDir;

/// Every command that prints, with the votes of [`dir`].
const COMMANDS: [&str; 17] = [
    "rank v.csv",
    "rank v.csv --scale elo",
    "rank v.csv --method l2 --against old.json",
    "outliers v.csv --top 20",
    "annotators v.csv",
    "clean v.csv -o clean.csv",
    "predict v.csv",
    "predict v.csv --matrix",
    "predict v.csv --holdout 20%",
    "next v.csv",
    "certify v.csv --method l2",
    "compare v.csv",
    "decompose v.csv",
    "diagnose v.csv",
    "path v.csv --method iss --what events --top 20",
    "report v.csv -o report.html",
    "simulate --items 5 --votes 50 -o simulated.csv",
];

/// Words of notes that only narrow terminals have.
const NOTES: &str = "left out use a wider terminal or --format csv json or parquet scores ranges of ranks \
                     Ranges hold holds";

/// Votes of one size with counts of five digits, on items with long names.
fn dir() -> TestDir {
    let dir = TestDir::new();
    let names: Vec<String> =
        (1..=9).map(|k| format!("mixtral-{k}x7b-instruct-v0.{k}-with-a-long-name")).collect();
    let mut rows = String::from("left,right,winner,annotator,count\n");
    for (i, left) in names.iter().enumerate() {
        for (j, right) in names.iter().enumerate().skip(i + 1) {
            for annotator in 0..5 {
                // Two fifths of the votes of the last annotator are reversed.
                let is_reversed = (i + 2 * j + annotator) % 5 < usize::from(annotator == 4) * 2;
                let winner = if is_reversed { right } else { left };
                let count = if annotator == 0 { 3001 + i } else { 3 };
                rows += &format!("{left},{right},{winner},annotator-{annotator},{count}\n");
            }
        }
    }
    dir.write("v.csv", rows);
    dir.run(&["rank", "v.csv", "-o", "old.json", "-q"]).success();
    dir
}

/// What a command shows in a pseudo-terminal; `None` without the program `script`.
#[cfg(target_os = "linux")]
fn screen(dir: &TestDir, columns: u16, command: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_hodgerank");
    let line = format!("stty rows 24 cols {columns}; {program} {command}");
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(dir.path()).env_remove("COLUMNS");
    let output = script.env("NO_COLOR", "1").env("TERM", "dumb").output().ok()?;
    let text = String::from_utf8(output.stdout).expect("the screen is UTF-8").replace('\r', "");
    assert!(output.status.success(), "{command}: {text}");
    // A progress bar is drawn and erased with sequences of control characters.
    let is_text = |line: &&str| !line.contains('\x1b');
    Some(text.lines().filter(is_text).map(|line| format!("{line}\n")).collect())
}

fn words(text: &str) -> BTreeSet<String> {
    let punctuation: &[char] = &[',', ';', ':', '.', '(', ')'];
    text.split_whitespace().map(|word| word.trim_matches(punctuation).to_owned()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn no_line_is_too_long_and_nothing_is_broken() {
    let dir = dir();
    for command in COMMANDS {
        let Some(wide) = screen(&dir, 400, command) else {
            hodgerank_testdata::skip("needs the program `script` for a pseudo-terminal");
            return;
        };
        assert!(!wide.contains("wider terminal"), "{command}: {wide}");
        let mut whole = words(&wide);
        whole.extend(words(NOTES));
        for columns in [60, 80, 100, 200] {
            let text = screen(&dir, columns, command).unwrap_or_default();
            for line in text.lines() {
                let width = line.chars().count();
                assert!(width <= columns.into(), "{command} in {columns} columns: {line}\n{text}");
            }
            for word in words(&text).iter().filter(|word| !word.starts_with('─')) {
                let is_whole = match word.strip_suffix('…') {
                    Some(start) => whole.iter().any(|word| word.starts_with(start)),
                    None => whole.contains(word),
                };
                assert!(is_whole, "{command} in {columns} columns: {word}\n{text}");
            }
        }
    }
}

/// The demo and an experiment have other numbers in each run, such as times.
#[cfg(target_os = "linux")]
#[test]
fn the_demo_and_experiments_fit_80_columns() {
    let dir = TestDir::new();
    for command in ["demo -o demo.html", "experiment shoes --out results"] {
        let Some(text) = screen(&dir, 80, command) else {
            hodgerank_testdata::skip("needs the program `script` for a pseudo-terminal");
            return;
        };
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_width_of_zero_counts_as_80() {
    let dir = dir();
    let (zero, eighty) = (screen(&dir, 0, "rank v.csv -q"), screen(&dir, 80, "rank v.csv -q"));
    assert_eq!(zero, eighty);
}

#[test]
fn the_bar_keeps_its_axis_and_notes_explain_only_what_is_shown() {
    let dir = dir();
    let table = |columns: &str| {
        let mut command = dir.command(&["rank", "v.csv", "-q"]);
        let output = command.env("COLUMNS", columns).output().expect("the program runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let axis = |line: &str| line.chars().position(|letter| letter == '│');
    let wide = table("200");
    let rows: Vec<&str> = wide.lines().filter(|line| line.contains('│')).collect();
    assert_eq!(rows.len(), 10, "{wide}");
    assert!(rows.iter().all(|row| axis(row) == axis(rows[0])), "{wide}");
    assert!(wide.contains("± and ranges of ranks hold with 95% confidence"), "{wide}");
    let narrow = table("30");
    assert!(!narrow.contains('│') && !narrow.contains("confidence"), "{narrow}");
    assert!(narrow.contains("left out: "), "{narrow}");
    assert!(table("0").lines().all(|line| line.chars().count() <= 100));
}

/// The widths of files do not depend on the terminal.
#[test]
fn files_have_the_width_of_a_page() {
    let dir = dir();
    let write = |columns: &str| {
        let mut command = dir.command(&["rank", "v.csv", "-q", "-o", "ranking.txt"]);
        assert!(command.env("COLUMNS", columns).status().expect("the program runs").success());
        dir.read("ranking.txt")
    };
    assert_eq!(write("40"), write("150"));
}

#[cfg(target_os = "linux")]
#[test]
fn progress_shows_the_share_that_is_done() {
    let dir = TestDir::new();
    let program = env!("CARGO_BIN_EXE_hodgerank");
    let line = format!("stty rows 24 cols 80; {program} simulate --votes 30000000 -o v.csv.zst");
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(dir.path()).env("TERM", "xterm");
    let Ok(output) = script.output() else {
        hodgerank_testdata::skip("needs the program `script` for a pseudo-terminal");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("simulating") && text.contains("% of 30,000,000"), "{text}");
}
