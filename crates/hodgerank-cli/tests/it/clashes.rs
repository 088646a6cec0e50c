//! Outputs that would replace an input or another output are refused before anything is read or
//! written, by every command.

use crate::support::writing::WRITING_COMMANDS;
use crate::support::{Run, TestDir};

const VOTES: &str =
    "annotator,left,right,winner\np,a,b,left\nq,b,c,left\np,a,c,right\nq,a,c,left\n";

#[track_caller]
fn assert_refused(run: &Run, part: &str, what: &str) {
    assert_eq!(run.code, Some(2), "{what}: {}", run.stderr);
    assert!(run.stderr.contains(part) && run.stderr.contains("help: "), "{what}: {}", run.stderr);
    assert!(run.stdout.is_empty(), "{what}");
}

/// The program's own list of commands is covered by the list that these tests use.
#[test]
fn every_command_that_writes_is_listed() {
    let dir = TestDir::new();
    let help = dir.run(&["--help"]).success();
    let commands = help.text().lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        // Descriptions that are wrapped are indented further.
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        // These write to standard output alone; study.rs tests `study`, which reads a database.
        .filter(|name| !["help", "completions", "sql", "study"].contains(name))
        .collect();
    assert!(names.len() > 5, "{names:?}");
    for name in names {
        assert!(WRITING_COMMANDS.iter().any(|command| command.name == name), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn no_command_replaces_its_input() {
    use std::os::unix::fs::symlink;
    let dir = TestDir::new();
    dir.write("v.csv", VOTES);
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    symlink("v.csv", dir.path().join("link.csv")).unwrap();
    symlink("../link.csv", dir.path().join("folder/link-to-link.csv")).unwrap();
    symlink(".", dir.path().join("here")).unwrap();
    std::fs::hard_link(dir.path().join("v.csv"), dir.path().join("hard.csv")).unwrap();
    let absolute = dir.path().join("v.csv").to_str().unwrap().to_owned();
    let names = ["v.csv", "./folder/../v.csv", "link.csv", "folder/link-to-link.csv", "hard.csv"];
    let names = || names.into_iter().chain(["here/v.csv", &absolute]);
    let before = dir.file_names();
    for command in WRITING_COMMANDS.iter().filter(|command| command.reads_votes) {
        for (flag, _) in command.arguments.iter().zip(&command.arguments[1..]).filter(is_output) {
            for name in names() {
                // All outputs but this one are harmless.
                let mut arguments = command.arguments("v.csv", "folder");
                let value = arguments.iter().position(|argument| argument == flag).unwrap() + 1;
                arguments[value] = name.to_owned();
                arguments.extend(format_of(command.name).map(str::to_owned));
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let run = dir.run(&arguments);
                assert_refused(&run, "would replace the input v.csv", &format!("{arguments:?}"));
                assert!(run.stderr.contains(name), "{}", run.stderr);
                assert_eq!(dir.read("v.csv"), VOTES.as_bytes(), "{arguments:?}");
                assert_eq!(dir.file_names(), before, "{arguments:?}");
            }
        }
    }
    assert_eq!(dir.file_names_in("folder"), ["link-to-link.csv"]);
    // The input may be one of several, and the link.
    let run = dir.run(&["rank", "hard.csv", "link.csv", "-o", "v.csv"]);
    assert_refused(&run, "would replace the input hard.csv", "several inputs");
}

fn is_output((flag, value): &(&&str, &&str)) -> bool {
    flag.starts_with('-') && value.starts_with("OUT/")
}

/// Commands with a document need a format for any name.
fn format_of(command: &str) -> impl Iterator<Item = &'static str> {
    let has_format = !matches!(command, "clean" | "report");
    has_format.then_some(["--format", "csv"]).into_iter().flatten()
}

/// The shell opened the input or the output.
#[cfg(unix)]
#[test]
fn redirected_inputs_and_outputs_are_recognised() {
    let dir = TestDir::new();
    dir.write("v.csv", VOTES);
    for (script, arguments, part) in [
        ("\"$@\" < v.csv", &["rank", "-", "-o", "v.csv"][..], "the file on standard input"),
        ("\"$@\" < v.csv", &["clean", "/dev/stdin", "-o", "v.csv"], "the input /dev/stdin"),
        ("\"$@\" >> v.csv", &["rank", "v.csv", "--format", "csv"], "the input v.csv"),
        ("\"$@\" >> v.csv", &["outliers", "v.csv", "-o", "/dev/stdout"], "the input v.csv"),
        ("\"$@\" < v.csv 1<> v.csv", &["decompose", "-"], "the file on standard input"),
    ] {
        let arguments: Vec<&str> = match arguments.contains(&"/dev/stdout") {
            true => [arguments, &["--format", "csv"]].concat(),
            false => arguments.to_vec(),
        };
        let run = dir.run_in_shell(script, &arguments);
        assert_refused(&run, part, script);
        assert_eq!(dir.read("v.csv"), VOTES.as_bytes(), "{script} {arguments:?}");
    }
    // Pipes and devices can be shared.
    dir.run_with_stdin(&["rank", "-", "-o", "/dev/null", "--format", "csv"], VOTES.as_bytes())
        .success();
}

#[cfg(unix)]
#[test]
fn outputs_do_not_replace_each_other() {
    let dir = TestDir::new();
    dir.write("v.csv", VOTES);
    dir.write("old.csv", "old");
    std::os::unix::fs::symlink("new.csv", dir.path().join("link.csv")).unwrap();
    std::fs::create_dir(dir.path().join("data")).unwrap();
    let before = dir.file_names();
    let same = "cannot be written to the same file";
    for arguments in [
        &["simulate", "-o", "x.csv", "--truth", "x.csv"][..],
        &["simulate", "-o", "x.csv", "--truth", "./x.csv"],
        &["simulate", "-o", "link.csv", "--truth", "new.csv"],
        &["simulate", "-o", "old.csv", "--truth", "data/../old.csv"],
        &["simulate", "--truth", "-"],
        &["simulate", "--truth", "/dev/stdout"],
        &["clean", "v.csv", "-o", "new.csv", "--flagged", "link.csv"],
        &["report", "v.csv", "-o", "old.csv", "--figures", "old.csv"],
        &["demo", "-o", "new.html", "--figures", "new.html"],
        &["demo", "-o", "-"],
    ] {
        assert_refused(&dir.run(arguments), same, &format!("{arguments:?}"));
        assert_eq!((dir.file_names(), dir.read("old.csv")), (before.clone(), b"old".to_vec()));
    }
    let run = dir.run(&["experiment", "tables", "--data", "data", "--out", "./data"]);
    assert_refused(&run, "--out ./data would replace the input data", "experiment");
    // Two outputs may both be discarded.
    dir.run(&["simulate", "--format", "csv", "-o", "/dev/null", "--truth", "/dev/null"]).success();
}
