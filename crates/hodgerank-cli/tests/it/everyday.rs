//! What happens to every command in everyday use: a reader that leaves, a narrow terminal, inputs
//! that are no votes, a file named twice.

use crate::support::{Place, files};

/// All commands that read votes.
const COMMANDS: [&[&str]; 8] = [
    &["rank"],
    &["outliers"],
    &["outliers", "--annotators"],
    &["clean"],
    &["path"],
    &["compare"],
    &["decompose"],
    &["diagnose"],
];

/// Votes with annotators, a good part of them flagged.
fn place() -> Place {
    let place = Place::new();
    let votes = files::study();
    let row = |(n, (left, right, winner)): (usize, &files::Vote)| {
        format!("{left},{right},{winner},somebody-{}\n", n % 40)
    };
    let rows: String = votes.iter().enumerate().map(row).collect();
    place.put("v.csv", format!("left,right,winner,annotator\n{rows}"));
    place
}

#[test]
fn a_reader_may_leave_after_the_first_bytes() {
    let place = place();
    for command in COMMANDS {
        // Some, or none at all.
        for bytes in [4, 0] {
            let run = place.run_and_leave(&[command, &["v.csv", "-q"]].concat(), bytes);
            assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{command:?}");
        }
    }
}

#[test]
fn inputs_that_are_no_votes() {
    let place = place();
    place.put("empty.csv", "");
    std::fs::create_dir(place.path().join("folder")).unwrap();
    for command in COMMANDS {
        for (input, part) in [
            (&["empty.csv"][..], "empty.csv: the file is empty"),
            (&["folder"], "folder: cannot be opened: it is a folder"),
            (&["none.csv"], "none.csv: cannot be opened"),
            (&["-", "-"], "standard input can be read only once"),
        ] {
            let run = place.run_with(&[command, input].concat(), &place.get("v.csv"));
            assert_eq!((run.code, run.text()), (Some(2), ""), "{command:?} {input:?}");
            assert!(run.stderr.contains(part), "{command:?}: {}", run.stderr);
        }
    }
}

/// That may be meant, so it is done, but it must not go unnoticed.
#[test]
fn a_file_named_twice_counts_twice_and_says_so() {
    let place = place();
    for command in COMMANDS {
        let run = place.run(&[command, &["v.csv", "./v.csv"]].concat()).good();
        let warning = "v.csv and ./v.csv are the same file: each of its votes counts twice";
        assert!(run.stderr.contains(warning), "{command:?}: {}", run.stderr);
    }
    let twice = place.run(&["rank", "v.csv", "v.csv", "--format", "json"]).good();
    assert!(twice.stderr.contains("v.csv is named twice"), "{}", twice.stderr);
    assert_eq!(twice.json()["input"]["rows"], 6000);
    assert!(!place.run(&["rank", "v.csv"]).good().stderr.contains("twice"));
}

/// Columns that do not fit are left out or come below; headings are not broken.
#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stderr, reason = "a skipped test should say so")]
fn tables_fit_a_narrow_terminal() {
    let place = place();
    let program = env!("CARGO_BIN_EXE_hodgerank");
    let screen = |columns: u16, command: &[&str]| {
        let line = format!("stty cols {columns}; {program} {} v.csv --top 5 -q", command.join(" "));
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(place.path());
        let output = script.env("NO_COLOR", "1").env("TERM", "dumb").output().ok()?;
        assert!(output.status.success(), "{command:?}");
        Some(String::from_utf8(output.stdout).unwrap().replace('\r', ""))
    };
    for (command, headings) in [
        (&["rank"][..], &["rank", "item", "score", "flagged"][..]),
        (&["outliers"], &["left", "right", "outcome"]),
        (&["outliers", "--annotators"], &["annotator", "flagged", "p (flags)"]),
        (&["path"], &["knot", "time", "what", "value"]),
        (&["compare"], &["item", "lasso-l2", "l2", "ridge", "pc-lasso", "ilts", "iht", "hlasso"]),
        (&["decompose"], &["curl", "items", "votes", "voters", "item", "pair"]),
        (&["diagnose"], &["figure", "value"]),
    ] {
        for columns in [40, 80] {
            let Some(text) = screen(columns, command) else {
                eprintln!("skipped: no `script` to make a terminal with");
                return;
            };
            let table: Vec<&str> = text.lines().filter(|line| line.starts_with(' ')).collect();
            assert!(table.len() > 5, "{command:?}: {text}");
            // Only the notes on where to find what was left out are longer.
            for line in text.lines().filter(|line| !line.contains("--format csv")) {
                assert!(line.chars().count() <= columns.into(), "{command:?}: {line}");
            }
            for heading in headings {
                let there = |line: &&str| line.contains(&format!(" {heading} "));
                assert!(table.iter().any(there), "{command:?} {columns} {heading}: {text}");
            }
        }
        let wide = screen(200, command).unwrap();
        assert!(!wide.contains("no room") && !wide.contains("wider"), "{command:?}: {wide}");
    }
}
