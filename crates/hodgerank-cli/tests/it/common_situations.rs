//! Situations that every command must handle: a closed pipe, input without votes, a
//! file given twice.

use crate::support::{TestDir, files};

/// All commands that read votes.
const COMMANDS: [&[&str]; 11] = [
    &["rank"],
    &["outliers"],
    &["annotators"],
    &["clean"],
    &["path"],
    &["compare"],
    &["certify", "--method", "l2"],
    &["decompose"],
    &["diagnose"],
    &["predict"],
    &["next"],
];

/// Votes with annotators, many of them flagged.
fn dir() -> TestDir {
    let dir = TestDir::new();
    let votes = files::study();
    let row = |(n, (left, right, winner)): (usize, &files::Vote)| {
        format!("{left},{right},{winner},somebody-{}\n", n % 40)
    };
    let rows: String = votes.iter().enumerate().map(row).collect();
    dir.write("v.csv", format!("left,right,winner,annotator\n{rows}"));
    dir
}

#[test]
fn closed_pipes_end_the_run_quietly() {
    let dir = dir();
    for command in COMMANDS {
        for bytes in [4, 0] {
            let run = dir.run_and_close_stdout(&[command, &["v.csv", "-q"]].concat(), bytes);
            assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{command:?}");
        }
    }
}

#[test]
fn input_without_votes_is_rejected() {
    let dir = dir();
    dir.write("empty.csv", "");
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    for command in COMMANDS {
        for (input, part) in [
            (&["empty.csv"][..], "empty.csv: the file is empty"),
            (&["folder"], "folder: the folder has no file of a known format"),
            (&["none.csv"], "none.csv: cannot be opened"),
            (&["-", "-"], "standard input can be read only once"),
        ] {
            let run = dir.run_with_stdin(&[command, input].concat(), &dir.read("v.csv"));
            assert_eq!((run.code, run.text()), (Some(2), ""), "{command:?} {input:?}");
            assert!(run.stderr.contains(part), "{command:?}: {}", run.stderr);
        }
    }
}

/// It may be intended, so it is a warning and not an error.
#[test]
fn a_file_given_twice_counts_twice_with_a_warning() {
    let dir = dir();
    for command in COMMANDS {
        let run = dir.run(&[command, &["v.csv", "./v.csv"]].concat()).success();
        let warning = "v.csv and ./v.csv are the same file: each of its votes counts twice";
        assert!(run.stderr.contains(warning), "{command:?}: {}", run.stderr);
    }
    let twice = dir.run(&["rank", "v.csv", "v.csv", "--format", "json"]).success();
    assert!(twice.stderr.contains("v.csv is named twice"), "{}", twice.stderr);
    assert_eq!(twice.json()["input"]["rows"], 6000);
    assert!(!dir.run(&["rank", "v.csv"]).success().stderr.contains("twice"));
}
