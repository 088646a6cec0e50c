//! The parts of several processes are together what one machine writes, however the votes are split
//! into files.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::support::files::{batch, gzip, parquet, separated, votes};
use crate::support::{MpiRun, Silent, TestFolder};
use clap::Parser;
use hodgerank_commands::VoteSource;
use hodgerank_commands::clean::{CleanArgs, clean};
use hodgerank_io::ReadOptions;

const LBI: [&str; 2] = ["--method=lbi", "--outliers=10%"];
const HLASSO: [&str; 2] = ["--method=hlasso", "--outliers=10%"];

#[derive(Parser)]
struct OneMachineClean {
    #[command(flatten)]
    options: CleanArgs,
}

/// Cleans on one machine, into `kept` and `flagged` with this extension.
fn one_machine(
    folder: &TestFolder,
    files: &[String],
    options: &[&str],
    extension: &str,
) -> [String; 2] {
    let [kept, flagged] = ["kept", "flagged"].map(|name| folder.at(&format!("{name}.{extension}")));
    let mut words = vec!["clean", "--output", &kept, "--flagged", &flagged];
    words.extend(options);
    let options = OneMachineClean::parse_from(words).options;
    clean(&VoteSource::Files(files.to_vec()), &options, 1, &Silent).unwrap();
    [kept, flagged]
}

/// Cleans with several processes and returns the parts of the two folders.
fn distributed(
    folder: &TestFolder,
    size: usize,
    files: &[String],
    options: &[&str],
) -> (MpiRun, [Vec<String>; 2]) {
    for name in ["many", "many-flagged"] {
        let _ = std::fs::remove_dir_all(folder.at(name));
    }
    let mut words = vec!["clean", "--output=many", "--flagged=many-flagged"];
    words.extend(options);
    words.extend(files.iter().map(String::as_str));
    let run = folder.run(size, &words).good();
    (run, ["many", "many-flagged"].map(|name| parts(&folder.at(name))))
}

fn parts(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = entries.map(|path| path.to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Returns the rows of text files, sorted, without their headers, which must be equal.
fn rows(files: &[String]) -> Vec<String> {
    let texts: Vec<String> =
        files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let heads: BTreeSet<&str> = texts.iter().filter_map(|text| text.lines().next()).collect();
    assert_eq!(heads.len(), 1);
    let rows = texts.iter().flat_map(|text| text.lines().skip(1)).map(str::to_owned);
    // Probabilities can differ by rounding.
    let rounded = |row: String| match row.rsplit_once(',') {
        Some((rest, p)) => format!("{rest},{:.9}", p.parse::<f64>().unwrap()),
        None => row,
    };
    let mut rows: Vec<String> = match heads.iter().any(|head| head.ends_with(",probability")) {
        true => rows.map(rounded).collect(),
        false => rows.collect(),
    };
    rows.sort();
    rows
}

#[track_caller]
pub(crate) fn same_rows(folder: &TestFolder, files: &[String], sizes: &[usize], options: &[&str]) {
    let one = one_machine(folder, files, options, "csv");
    let expected = one.map(|file| rows(&[file]));
    assert!(!expected[0].is_empty() && !expected[1].is_empty());
    for &size in sizes {
        let (run, parts) = distributed(folder, size, files, options);
        assert!(run.stderr.contains("flagged rows"), "{}", run.stderr);
        for (parts, expected) in parts.iter().zip(&expected) {
            assert_eq!(parts.len(), size.min(files.len()));
            assert!(rows(parts) == *expected, "{size} processes, {options:?}");
        }
    }
}

#[test]
fn parts_are_the_rows_of_one_machine() {
    let folder = TestFolder::new();
    let files = folder.csv_files(&votes(30, 4000), 5);
    same_rows(&folder, &files, &[1, 2, 3, 4], &LBI);
    same_rows(&folder, &files, &[3], &HLASSO);
    // More processes than files: the others read and write nothing.
    same_rows(&folder, &files[..2], &[4], &LBI);
    same_rows(&folder, &files[..1], &[2], &HLASSO);
}

#[test]
fn real_votes() {
    let Some(data) = hodgerank_testdata::published_studies() else { return };
    let folder = TestFolder::new();
    let file = |name: &str| data.join(name).to_str().unwrap().to_owned();
    let videos: Vec<String> = (1..=3).map(|k| file(&format!("pc-vqa/ref0{k}.csv"))).collect();
    same_rows(&folder, &videos, &[2, 4], &LBI);
    same_rows(&folder, &[file("human-age.csv")], &[2], &HLASSO);
    // Two annotators, a study each, with rows in both files.
    let by = ["--method=lbi", "--outliers=5%", "--by=annotator"];
    let ages = std::fs::read_to_string(file("human-age.csv")).unwrap();
    let (head, rest) = ages.split_once('\n').unwrap();
    let of = |k: usize| -> String {
        let rows = rest.lines().enumerate().filter(|(row, _)| row % 2 == k);
        rows.map(|(_, row)| row)
            .filter(|row| row.starts_with("1,") || row.starts_with("2,"))
            .map(|row| format!("{row}\n"))
            .collect()
    };
    let halves: Vec<String> =
        (0..2).map(|k| folder.put(&format!("half{k}.csv"), format!("{head}\n{}", of(k)))).collect();
    same_rows(&folder, &halves, &[2], &by);
}

/// Returns the items and distinct votes of files.
fn read(files: &[String]) -> (Vec<String>, hodgerank::Groups) {
    let input = hodgerank_io::read::read(files, &ReadOptions::default(), &Arc::default()).unwrap();
    let study = &input.studies[0];
    (study.items.iter().map(str::to_owned).collect(), study.groups.clone())
}

#[test]
fn parts_have_the_format_of_the_input() {
    let folder = TestFolder::new();
    let votes = votes(25, 3000);
    let halves = [&votes[..1000], &votes[1000..]];
    let kinds: [(&str, Vec<String>); 2] = [
        // Row groups of one file, distributed over the processes.
        ("parquet", vec![folder.put("a.parquet", parquet(&batch(&votes), 200))]),
        (
            "csv.gz",
            vec![
                folder.put("a.csv.gz", gzip(separated(halves[0], ","))),
                folder.put("b.csv.gz", gzip(separated(halves[1], ","))),
            ],
        ),
    ];
    for (extension, files) in kinds {
        let one = one_machine(&folder, &files, &LBI, extension);
        let (_, found) = distributed(&folder, 2, &files, &LBI);
        for (parts, one) in found.into_iter().zip(one) {
            let names: Vec<&str> = parts
                .iter()
                .map(|part| Path::new(part).file_name().unwrap().to_str().unwrap())
                .collect();
            assert_eq!(
                names,
                [format!("part-00000.{extension}"), format!("part-00001.{extension}")]
            );
            assert_eq!(read(&parts), read(&[one]), "{extension}");
        }
    }
}

#[test]
fn a_folder_appears_complete_or_not_at_all() {
    let folder = TestFolder::new();
    let good = folder.csv_files(&votes(12, 600), 2);
    let before = || -> BTreeSet<String> { parts(&folder.at(".")).into_iter().collect() };
    folder.put("bad.csv", "left,right,winner\na,b,perhaps\n");
    let untouched = before();
    let fails = |words: &[&str], code: i32, message: &str| {
        let run = folder.run(3, words);
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert_eq!(run.errors().len(), 1, "{}", run.stderr);
        assert!(run.stderr.contains(message), "{}", run.stderr);
    };
    let (a, b) = (good[0].as_str(), good[1].as_str());
    let output = "--output=new";
    fails(&["clean", output, a, "bad.csv", b], 2, "bad.csv, line 2");
    fails(&["clean", "--output=no/such/folder", a, b], 1, "no/such/folder");
    fails(&["clean", output, "--flagged=new", a, b], 2, "cannot be written to the same file");
    fails(&["clean", output, "--method=iss", a, b], 2, "needs all votes on one machine");
    // The second folder cannot be created; the first must be removed.
    fails(&["clean", output, "--flagged=no/such", a, b], 1, "no/such");
    fails(&["clean", a, b], 2, "--output");
    // All parts of a run have one schema, whichever process reads what.
    folder.put("other.csv", "winner,loser\na,b\n");
    fails(&["clean", output, a, "other.csv"], 2, "cannot be");
    std::fs::remove_file(folder.at("other.csv")).unwrap();
    assert_eq!(before(), untouched);
    // A folder that is not empty is refused, an empty one is replaced.
    std::fs::create_dir(folder.at("full")).unwrap();
    folder.put("full/part-00000.csv", "of another run\n");
    fails(&["clean", "--output=full", a, b], 2, "the folder is not empty");
    assert_eq!(
        std::fs::read_to_string(folder.at("full/part-00000.csv")).unwrap(),
        "of another run\n"
    );
    std::fs::create_dir(folder.at("empty")).unwrap();
    folder.run(2, &["clean", "--output=empty", LBI[0], LBI[1], a, b]).good();
    assert_eq!(parts(&folder.at("empty")).len(), 2);
    let hidden = before().into_iter().filter(|name| name.contains("/.hodgerank")).count();
    assert_eq!(hidden, 0);
}
