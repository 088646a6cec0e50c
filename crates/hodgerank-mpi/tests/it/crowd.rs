//! Annotators are judged as on one machine, whichever processes read their votes.

use crate::clean::same_rows;
use crate::outliers::check_same_lists;
use crate::support::{TestFolder, assert_same, one_machine};

const CROWD: &str = "--method=crowd";

/// A row: left, right, the outcome from -1 to 1, and the annotator.
pub(crate) type CrowdRow = (usize, usize, i32, String);

/// Votes of careful people, and of some who are contrary, one-sided or random; every tenth is a tie.
pub(crate) fn crowd_rows(items: usize, annotators: usize, votes: usize) -> Vec<CrowdRow> {
    let mut state = 0x853c_49e6_748f_ea9b_u64;
    let mut draw = move |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut rows = Vec::new();
    for _ in 0..votes {
        for annotator in 0..annotators {
            let left = draw(items);
            let right = (left + 1 + draw(items - 1)) % items;
            // The smaller number usually wins, more clearly the further the two are apart.
            let is_honest = draw(2 * items) >= items - left.abs_diff(right).min(items);
            let honest = if (left < right) == is_honest { 1 } else { -1 };
            let y = match annotator % 10 {
                _ if draw(10) == 0 => 0,
                6 => -honest,
                7 => 1,
                8 => 1 - 2 * draw(2) as i32,
                _ => honest,
            };
            rows.push((left, right, y, format!("p{annotator}")));
        }
    }
    rows
}

/// Rows as text, in files of unequal size; `write` writes a row.
fn files(
    folder: &TestFolder,
    head: &str,
    rows: &[CrowdRow],
    write: impl Fn(usize, &CrowdRow) -> String,
) -> Vec<String> {
    let ends = [0, rows.len() / 7, rows.len() / 3, rows.len() / 2, rows.len()];
    let part = |(k, ends): (usize, &[usize])| {
        let own = (ends[0]..ends[1]).map(|row| write(row, &rows[row]));
        let text: String = std::iter::once(format!("{head}\n")).chain(own).collect();
        folder.put(&format!("crowd{k}.csv"), text)
    };
    ends.windows(2).enumerate().map(part).collect()
}

fn sided(row: &CrowdRow, annotator: &str) -> String {
    let (left, right, y, _) = row;
    let winner = ["right", "tie", "left"][(y + 1) as usize];
    format!("i{left},i{right},{winner},{annotator}\n")
}

const SIDED: &str = "left,right,winner,annotator";

pub(crate) fn sided_files(folder: &TestFolder, rows: &[CrowdRow]) -> Vec<String> {
    files(folder, SIDED, rows, |_, row| sided(row, &row.3))
}

#[track_caller]
fn compare(folder: &TestFolder, files: &[String], options: &[&str]) -> serde_json::Value {
    let one = one_machine(files, options);
    for size in [1, 2, 3] {
        let many = folder.rank(size, files, options);
        assert_same(&many, &one, &format!("{size} processes, {options:?}"));
    }
    one
}

#[test]
fn rankings_and_annotators_are_those_of_one_machine() {
    let folder = TestFolder::new();
    let files = sided_files(&folder, &crowd_rows(24, 40, 60));
    let one = compare(&folder, &files, &[CROWD]);
    let classes: Vec<&str> =
        one["annotators"].as_array().unwrap().iter().filter_map(|a| a["class"].as_str()).collect();
    assert_eq!(classes.len(), 40);
    for class in ["careful", "contrary", "left"] {
        assert!(classes.contains(&class), "{classes:?}");
    }
    assert!(one["outliers"]["comparisons"].as_u64().unwrap() > 300, "{:#}", one["outliers"]);
    compare(&folder, &files, &[CROWD, "--outliers=5%"]);
    compare(&folder, &files, &[CROWD, "--outliers=40", "--scale=elo"]);
}

#[test]
fn rows_without_annotators() {
    let folder = TestFolder::new();
    let rows = crowd_rows(20, 30, 60);
    // Every third vote is by nobody.
    let name = |row: usize, vote: &CrowdRow| match row % 3 {
        0 => String::new(),
        _ => vote.3.clone(),
    };
    let files = files(&folder, SIDED, &rows, |row, vote| sided(vote, &name(row, vote)));
    let one = compare(&folder, &files, &[CROWD]);
    assert_eq!(one["method"]["unknown_votes"].as_u64(), Some(600));
    check_same_lists(&folder, &files, &[2, 3], &[CROWD]);
    same_rows(&folder, &files, &[2, 3], &[CROWD]);
}

#[test]
fn winners_and_losers_have_no_sides() {
    let folder = TestFolder::new();
    let rows: Vec<CrowdRow> =
        crowd_rows(20, 30, 60).into_iter().filter(|(_, _, y, _)| *y != 0).collect();
    let row = |(left, right, y, annotator): &CrowdRow| match y {
        1 => format!("i{left},i{right},{annotator}\n"),
        _ => format!("i{right},i{left},{annotator}\n"),
    };
    let files = files(&folder, "winner,loser,annotator", &rows, |_, vote| row(vote));
    let one = compare(&folder, &files, &[CROWD]);
    assert!(one["annotators"][0]["left_share"].is_null());
    // A single file without sides is enough.
    let text: String = rows.iter().map(|row| sided(row, &row.3)).collect();
    let mixed = [folder.put("sided.csv", format!("{SIDED}\n{text}")), files[3].clone()];
    let one = compare(&folder, &mixed, &[CROWD]);
    assert!(one["annotators"][0]["left_share"].is_null());
}

#[test]
fn the_advantage_of_the_left_side_without_judging_annotators() {
    let folder = TestFolder::new();
    // Many people always choose the left side.
    let mut rows = crowd_rows(24, 40, 60);
    rows.retain(|(_, _, _, annotator)| !annotator.ends_with('0'));
    let advantage = |one: &serde_json::Value| one["method"]["side_advantage"].as_f64().unwrap();
    let sides = sided_files(&folder, &rows);
    let one = compare(&folder, &sides, &["--method=bt"]);
    assert!(advantage(&one) > 0.1, "{:#}", one["method"]);
    compare(&folder, &sides, &["--method=bt", "--lapse-rate=0", "--prior=0.1"]);
    // The default is bt if the names of annotators are empty, and if there are none.
    let nobody = files(&folder, SIDED, &rows, |_, row| sided(row, ""));
    let many = folder.rank(2, &nobody, &[]);
    assert_eq!(many["method"]["name"], "bt");
    assert_same(&many["ranking"], &one["ranking"], "nobody");
    assert!((advantage(&many) - advantage(&one)).abs() < 1e-10);
    check_same_lists(&folder, &nobody, &[2], &["--all"]);
    let head = "left,right,winner";
    let unnamed = files(&folder, head, &rows, |_, row| sided(row, "").replace(",\n", "\n"));
    let found = compare(&folder, &unnamed, &[]);
    assert_eq!(advantage(&found), advantage(&one));
    // A file of winners and losers has no sides.
    let winners = folder.put("winners.csv", "winner,loser\ni0,i1\n");
    let mixed = [unnamed[0].clone(), winners, unnamed[1].clone()];
    assert_eq!(advantage(&compare(&folder, &mixed, &[])), 0.0);
}

#[test]
fn a_crowd_for_each_value() {
    let folder = TestFolder::new();
    let rows = crowd_rows(12, 20, 80);
    // Most annotators vote in both studies, of which the first two files have only one.
    let row = |row: usize, vote: &CrowdRow| {
        let by = if row < 600 || row.is_multiple_of(2) { "x" } else { "y" };
        format!("{by},{}", sided(vote, &vote.3))
    };
    let files = files(&folder, &format!("topic,{SIDED}"), &rows, row);
    let one = compare(&folder, &files, &[CROWD, "--by=topic"]);
    assert_eq!(one["groups_by"].as_array().unwrap().len(), 2);
    check_same_lists(&folder, &files, &[3], &[CROWD, "--by=topic"]);
    same_rows(&folder, &files, &[2], &[CROWD, "--by=topic"]);
}

#[test]
fn lists_and_cleaned_votes_are_those_of_one_machine() {
    let folder = TestFolder::new();
    let files = sided_files(&folder, &crowd_rows(24, 40, 60));
    check_same_lists(&folder, &files, &[1, 2, 3], &[CROWD]);
    check_same_lists(&folder, &files, &[2], &[CROWD, "--outliers=5%"]);
    check_same_lists(&folder, &files, &[3], &[CROWD, "--all"]);
    check_same_lists(&folder, &files, &[2, 3], &[CROWD, "--per-group"]);
    check_same_lists(&folder, &files, &[2], &[CROWD, "--keep=winner,annotator"]);
    same_rows(&folder, &files, &[1, 2, 3], &[CROWD]);
    // One file: the other processes own annotators and pairs, but read nothing.
    same_rows(&folder, &files[3..], &[3], &[CROWD]);
}

#[test]
fn annotators_can_be_excluded() {
    let folder = TestFolder::new();
    let files = sided_files(&folder, &crowd_rows(24, 40, 60));
    let names = folder.put("names.txt", "p7\n\np17\nnobody\n");
    let from_file = format!("--exclude-annotators={names}");
    for exclude in ["--exclude-annotators=p7,p0", &from_file, "--exclude-annotators=suspicious"] {
        let one = compare(&folder, &files, &["--method=l2", exclude]);
        assert!(one["excluded"]["votes"].as_u64() >= Some(120), "{exclude}: {:#}", one["excluded"]);
        compare(&folder, &files, &[CROWD, exclude]);
        check_same_lists(&folder, &files, &[2], &["--method=lbi", "--outliers=5%", exclude]);
        same_rows(&folder, &files, &[2, 3], &["--method=lbi", "--outliers=5%", exclude]);
    }
    let run = folder
        .run(2, &[vec!["rank", &from_file], files.iter().map(String::as_str).collect()].concat());
    let stderr = run.good().stderr;
    assert!(
        stderr.contains("nobody") && stderr.contains("2 annotators with 120 votes"),
        "{stderr}"
    );
    let everybody = (0..40).map(|k| format!("p{k}")).collect::<Vec<_>>().join(",");
    let everybody = format!("--exclude-annotators={everybody}");
    let run = folder.run(3, &["rank", &everybody, &files[0], &files[1]]);
    assert_eq!((run.code, run.errors().len()), (Some(2), 1), "{}", run.stderr);
    assert!(run.errors()[0].contains("no vote is left"), "{}", run.stderr);
}

#[test]
fn suspicious_people_are_judged_over_all_studies() {
    let folder = TestFolder::new();
    let rows = crowd_rows(12, 30, 60);
    let row = |row: usize, vote: &CrowdRow| format!("{},{}", row % 4, sided(vote, &vote.3));
    let files = files(&folder, &format!("topic,{SIDED}"), &rows, row);
    let options = ["--method=l2", "--exclude-annotators=suspicious", "--by=topic"];
    let one = compare(&folder, &files, &options);
    assert!(one["excluded"]["annotators"].as_u64() >= Some(5), "{:#}", one["excluded"]);
}

#[test]
fn votes_without_annotators_are_refused() {
    let folder = TestFolder::new();
    let rows = crowd_rows(8, 5, 20);
    let files =
        files(&folder, "left,right,winner", &rows, |_, row| sided(row, "").replace(",\n", "\n"));
    let mut words = vec!["rank", CROWD];
    words.extend(files.iter().map(String::as_str));
    let run = folder.run(2, &words);
    assert_eq!((run.code, run.errors().len()), (Some(2), 1), "{}", run.stderr);
    assert!(run.errors()[0].contains("annotator"), "{}", run.stderr);
}
