//! The lists of several processes are together the list of one machine, with the same numbers.

use crate::support::files::{batch, parquet, separated, votes};
use crate::support::{Silent, TestFolder};
use clap::Parser;
use hodgerank_commands::outliers::{OutliersArgs, OutliersDocument, outliers};
use hodgerank_commands::{Document as _, Provenance, VoteSource};
use serde_json::Value;

const LBI: [&str; 2] = ["--method=lbi", "--outliers=10%"];
const HLASSO: [&str; 2] = ["--method=hlasso", "--outliers=10%"];

#[derive(Parser)]
struct OneMachineOutliers {
    #[command(flatten)]
    options: OutliersArgs,
}

fn one_machine(files: &[String], options: &[&str]) -> OutliersDocument {
    let words = std::iter::once("outliers").chain(options.iter().copied());
    let options = OneMachineOutliers::parse_from(words).options;
    outliers(&VoteSource::Files(files.to_vec()), &options, 1, &Silent).unwrap()
}

fn json(found: &OutliersDocument) -> Value {
    let mut bytes = Vec::new();
    found.write_json(&Provenance::default(), &mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// A row of a list: its number, its vote with sorted items, and the rest.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
struct ListedVote {
    order: u64,
    vote: (String, String, f64),
    others: (u64, u64, [String; 3], Option<u64>),
    numbers: [f64; 4],
}

impl ListedVote {
    fn new(row: &Value) -> Self {
        let text = |name: &str| row[name].as_str().unwrap_or("").to_owned();
        let number = |name: &str| row[name].as_f64().unwrap_or(-1.0);
        let whole = |name: &str| row[name].as_u64().unwrap();
        let (left, right, y) = (text("left"), text("right"), number("outcome"));
        let (vote, residual) = match left < right {
            true => ((left, right, y), number("residual")),
            false => ((right, left, 0.0 - y), -number("residual")),
        };
        Self {
            order: whole("order"),
            vote,
            others: (
                whole("count"),
                whole("flagged"),
                ["annotator", "reason", "file"].map(text),
                row["row"].as_u64(),
            ),
            numbers: [number("entry"), number("size"), residual, number("probability")],
        }
    }
}

/// Returns the rows of each list, sorted by number.
fn lines(documents: &[Value]) -> Vec<Vec<ListedVote>> {
    let lists = |document: &Value| match &document["groups_by"] {
        Value::Array(lists) => lists.clone(),
        _ => vec![document.clone()],
    };
    let mut all: Vec<Vec<ListedVote>> = Vec::new();
    for document in documents {
        let lists = lists(document);
        all.resize(lists.len(), Vec::new());
        for (lines, list) in all.iter_mut().zip(lists) {
            lines.extend(list["votes"].as_array().unwrap().iter().map(ListedVote::new));
        }
    }
    for lines in &mut all {
        lines.sort_by_key(|line| line.order);
    }
    all
}

#[track_caller]
pub(crate) fn check_same_lists(
    folder: &TestFolder,
    files: &[String],
    sizes: &[usize],
    options: &[&str],
) {
    let expected = lines(&[json(&one_machine(files, options))]);
    assert!(expected.iter().any(|lines| lines.len() > 20), "{options:?}");
    for &size in sizes {
        let _ = std::fs::remove_dir_all(folder.at("lists"));
        let mut words = vec!["outliers", "--output=lists", "--format=json"];
        words.extend(options);
        words.extend(files.iter().map(String::as_str));
        folder.run(size, &words).good();
        let parts = std::fs::read_dir(folder.at("lists")).unwrap();
        let read = |path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let parts: Vec<Value> = parts.map(|part| read(part.unwrap().path())).collect();
        for part in &parts {
            // Each part is sorted.
            let own: Vec<u64> = part["votes"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|row| row["order"].as_u64().unwrap())
                .collect();
            assert!(own.is_sorted());
        }
        let found = lines(&parts);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            check_same_rows(found, expected, &format!("{size} processes, {options:?}"));
        }
    }
}

/// Checks that the same votes have the same numbers; equal votes may be swapped.
#[track_caller]
fn check_same_rows(found: &[ListedVote], expected: &[ListedVote], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let numbers: Vec<u64> = found.iter().map(|line| line.order).collect();
    assert!(numbers.into_iter().eq(1..=expected.len() as u64), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((found.order, &found.vote), (expected.order, &expected.vote), "{what}");
        let pairs = found.numbers.iter().zip(expected.numbers);
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} {expected:?}");
    }
    let others = |lines: &[ListedVote]| {
        let mut others: Vec<_> =
            lines.iter().map(|line| (line.vote.clone(), line.others.clone())).collect();
        others.sort_by(|a, b| a.partial_cmp(b).unwrap());
        others
    };
    assert_eq!(others(found), others(expected), "{what}");
}

#[test]
fn numbers_are_those_of_one_machine() {
    let folder = TestFolder::new();
    let files = folder.csv_files(&votes(30, 4000), 5);
    check_same_lists(&folder, &files, &[1, 2, 3, 4], &LBI);
    check_same_lists(&folder, &files, &[3], &[&HLASSO[..], &["--all"]].concat());
    check_same_lists(&folder, &files, &[2], &[&LBI[..], &["--per-group", "--all"]].concat());
    check_same_lists(&folder, &files[..2], &[4], &[&HLASSO[..], &["--per-group"]].concat());
    check_same_lists(&folder, &files, &[3], &["--method=bt"]);
    check_same_lists(&folder, &files, &[2], &["--method=bt", "--all"]);
    // Least squares flags nothing; all votes are sorted by residual.
    check_same_lists(&folder, &files, &[3], &["--method=l2", "--all"]);
}

#[test]
fn real_votes() {
    let Some(data) = hodgerank_testdata::published_studies() else { return };
    let folder = TestFolder::new();
    let file = |name: &str| data.join(name).to_str().unwrap().to_owned();
    let videos: Vec<String> = (1..=3).map(|k| file(&format!("pc-vqa/ref0{k}.csv"))).collect();
    check_same_lists(&folder, &videos, &[2, 4], &LBI);
    check_same_lists(&folder, &videos, &[3], &HLASSO);
    check_same_lists(&folder, &[file("human-age.csv")], &[2], &LBI);
}

#[test]
fn rows_of_row_groups_keep_their_numbers() {
    let folder = TestFolder::new();
    let file = folder.put("a.parquet", parquet(&batch(&votes(25, 3000)), 200));
    check_same_lists(&folder, &[file], &[2, 3], &LBI);
}

#[test]
fn one_list_for_each_value() {
    let folder = TestFolder::new();
    // The process that reads the first file does not see the study of the second.
    let of = |by: &str, items| {
        let rows = separated(&votes(items, 1500), ",");
        let row = |(k, row): (usize, &str)| match k {
            0 => format!("{row},topic\n"),
            _ => format!("{row},{by}\n"),
        };
        rows.lines().enumerate().map(row).collect::<String>()
    };
    let files = [folder.put("a.csv", of("x", 10)), folder.put("b.csv", of("y", 14))];
    check_same_lists(&folder, &files, &[1, 2, 3], &[&LBI[..], &["--by=topic"]].concat());
}

#[test]
fn a_table_of_the_first_rows() {
    let folder = TestFolder::new();
    let files = folder.csv_files(&votes(12, 3000), 3);
    let run = |size: usize, top: &str| {
        let mut words = vec!["outliers", top];
        words.extend(LBI);
        // Short names, so that a row fits on a line.
        words.extend(["part0.csv", "part1.csv", "part2.csv"]);
        String::from_utf8(folder.run(size, &words).good().stdout).unwrap()
    };
    let orders = |text: &str| -> Vec<u64> {
        let first_word = |line: &str| line.split_whitespace().next()?.parse().ok();
        text.lines().filter_map(first_word).collect()
    };
    let single = run(1, "--top=7");
    assert!(single.contains(" more (--top 0 shows all; --output DIR contains all)"), "{single}");
    assert_eq!(orders(&single), [1, 2, 3, 4, 5, 6, 7], "{single}");
    assert_eq!(run(3, "--top=7").lines().last(), single.lines().last());
    assert_eq!(orders(&run(3, "--top=7")), orders(&single));
    let whole = run(2, "--top=0");
    let single = one_machine(&files, &LBI);
    assert_eq!(orders(&whole).len(), single.votes.lists[0].rows.len());
}

#[test]
fn invalid_arguments_are_refused() {
    let folder = TestFolder::new();
    let files = folder.csv_files(&votes(12, 600), 2);
    let fails = |words: &[&str], message: &str| {
        let mut all = vec!["outliers"];
        all.extend(words);
        all.extend(files.iter().map(String::as_str));
        let run = folder.run(2, &all);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(message) && run.stdout.is_empty(), "{}", run.stderr);
        assert!(!folder.has("lists"));
    };
    fails(&["--format=csv"], "add --output DIR");
    fails(&["--format=table", "--output=lists"], "leave out --output");
    fails(&["--exclude-annotators=ann"], "there is no column of annotators");
    fails(&["--keep=note", "--output=lists"], "`note`");
    fails(&["--annotators"], "hodgerank annotators");
    fails(&["--method=ilts", "--output=lists"], "needs all votes on one machine");
}
