//! A failure of one process ends all of them, with one message, and nothing is written.

use crate::support::files::{batch, parquet, separated, study};
use crate::support::{MpiRun, TestFolder};
use hodgerank::Method;

/// Runs `rank` with an output file, and checks that it fails with one message.
#[track_caller]
fn fails(folder: &TestFolder, size: usize, code: i32, words: &[&str]) -> MpiRun {
    let mut arguments = vec!["rank", "--output=out.json"];
    arguments.extend(words);
    let run = folder.run(size, &arguments);
    assert_eq!(run.code, Some(code), "{}", run.stderr);
    assert_eq!(run.errors().len(), 1, "{}", run.stderr);
    assert!(run.stdout.is_empty());
    let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().contains("hodgerank")).collect();
    assert!(!folder.has("out.json") && left.is_empty(), "{left:?}");
    run
}

fn good_files(folder: &TestFolder, count: usize) -> Vec<String> {
    let text = separated(&study(), ",");
    (0..count).map(|k| folder.put(&format!("good{k}.csv"), &text)).collect()
}

#[test]
fn a_missing_shard() {
    let folder = TestFolder::new();
    good_files(&folder, 3);
    for size in [1, 3] {
        let words = ["good0.csv", "good1.csv", "missing.csv", "good2.csv"];
        let run = fails(&folder, size, 2, &words);
        assert!(run.errors()[0].contains("missing.csv: cannot be opened"), "{}", run.stderr);
    }
}

#[test]
fn a_corrupt_shard() {
    let folder = TestFolder::new();
    good_files(&folder, 2);
    let whole = parquet(&batch(&study()), 500);
    folder.put("whole.parquet", &whole);
    folder.put("cut.parquet", &whole[..whole.len() - 100]);
    let run = fails(&folder, 3, 2, &["good0.csv", "cut.parquet", "whole.parquet"]);
    assert!(run.errors()[0].contains("cut.parquet"), "{}", run.stderr);
    // The footer is intact, so that all processes start to read; one finds the damage.
    let mut spoilt = whole;
    let middle = spoilt.len() / 2;
    spoilt[middle - 200..middle + 200].fill(0xff);
    folder.put("spoilt.parquet", &spoilt);
    let run = fails(&folder, 3, 2, &["spoilt.parquet"]);
    assert!(run.errors()[0].contains("spoilt.parquet"), "{}", run.stderr);
}

#[test]
fn the_first_bad_row_is_named() {
    let folder = TestFolder::new();
    good_files(&folder, 3);
    let text = separated(&study(), ",");
    folder.put("bad1.csv", format!("{text}a,b,perhaps\n"));
    folder.put("bad2.csv", format!("{text}a,a,left\n"));
    for size in [2, 4] {
        let run = fails(&folder, size, 2, &["good0.csv", "bad1.csv", "good1.csv", "bad2.csv"]);
        let wanted = "bad1.csv, line 3002, column 3 (`winner`): unknown outcome: \"perhaps\"";
        assert!(run.errors()[0].contains(wanted), "{}", run.stderr);
        assert!(run.stderr.contains("help: "), "{}", run.stderr);
    }
}

#[test]
fn rows_of_row_groups_keep_their_numbers() {
    let folder = TestFolder::new();
    let mut votes = study();
    votes[2345].2 = "perhaps";
    folder.put("votes.parquet", parquet(&batch(&votes), 100));
    for size in [1, 2, 3] {
        let run = fails(&folder, size, 2, &["votes.parquet"]);
        assert!(run.errors()[0].contains("votes.parquet, row 2346"), "{}", run.stderr);
    }
}

#[test]
fn outcomes_that_contradict_each_other_on_different_processes() {
    let folder = TestFolder::new();
    folder.put("labels.csv", "left,right,winner\n1,2,1\n2,1,2\n");
    folder.put("numbers.csv", "left,right,winner\n1,2,-1\n5,6,-0.5\n");
    for size in [1, 2] {
        let run = fails(&folder, size, 2, &["labels.csv", "numbers.csv"]);
        assert!(run.errors()[0].contains("ambiguous"), "{}", run.stderr);
    }
}

#[test]
fn no_rows_left() {
    let folder = TestFolder::new();
    folder.put("a.csv", "left,right,winner\nx,y,perhaps\n");
    folder.put("b.csv", "left,right,winner\nx,x,left\nx,,left\n");
    for size in [1, 2, 3] {
        let run = fails(&folder, size, 2, &["--on-error=skip", "a.csv", "b.csv"]);
        let wanted = "every row was rejected (3 in all); the first: a.csv, line 2";
        assert!(run.errors()[0].contains(wanted), "{}", run.stderr);
    }
    // It is no failure if all rows of one process are bad but another has good ones.
    folder.put("c.csv", "left,right,winner\nx,y,left\n");
    let run = folder.run(3, &["rank", "--on-error=skip", "a.csv", "b.csv", "c.csv"]).good();
    assert!(run.stderr.contains("3 rows were rejected"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_distributed_is_refused_before_reading() {
    let folder = TestFolder::new();
    for method in Method::ALL.iter().filter(|method| !method.info().is_distributable) {
        let run = fails(&folder, 2, 2, &["missing.csv", "--method", method.as_str()]);
        assert!(run.errors()[0].contains(method.as_str()), "{}", run.stderr);
        assert!(
            run.stderr.contains("use l2, ridge, hlasso, lbi, bt or crowd, or run"),
            "{}",
            run.stderr
        );
    }
    let run = fails(&folder, 2, 2, &["missing.csv", "--method=hlasso", "--outliers=cv"]);
    assert!(run.errors()[0].contains("cv"), "{}", run.stderr);
    let run = fails(&folder, 2, 2, &["-"]);
    assert!(run.errors()[0].contains("standard input"), "{}", run.stderr);
    fails(&folder, 2, 2, &["missing.csv", "--method=nonsense"]);
}

#[test]
fn disconnected_votes_may_be_refused() {
    let folder = TestFolder::new();
    folder.put("a.csv", "winner,loser\na,b\n");
    folder.put("b.csv", "winner,loser\nc,d\n");
    let run = fails(&folder, 2, 3, &["--require-connected", "a.csv", "b.csv"]);
    assert!(run.stderr.contains("component 2 (2 items): c, d"), "{}", run.stderr);
}
