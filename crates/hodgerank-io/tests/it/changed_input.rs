//! A file that changes between the two passes is an error, whatever the format and the change.

use std::path::Path;
use std::sync::Arc;

use hodgerank::Groups;
use hodgerank_io::read::{Progress, SecondPass, StudyFlags, second_pass};
use hodgerank_io::{Error, Input, ReadOptions, Sources};

use crate::support::{arrow_file, arrow_stream, gzip, parquet, zstd};

/// A way to store rows of winner, loser and annotator in a file.
type Encode = fn(&[[String; 3]]) -> Vec<u8>;

const FORMATS: [(&str, Encode); 8] = [
    ("votes.csv", csv),
    ("votes.jsonl", json_lines),
    ("votes.csv.gz", |rows| gzip(&csv(rows))),
    ("votes.csv.zst", |rows| zstd(&csv(rows))),
    ("votes.parquet", parquet),
    ("votes.parquet.gz", |rows| gzip(&parquet(rows))),
    ("votes.arrow", arrow_file),
    ("votes.arrows", arrow_stream),
];

fn csv(rows: &[[String; 3]]) -> Vec<u8> {
    let line = |row: &[String; 3]| row.join(",") + "\n";
    ("winner,loser,annotator\n".to_owned() + &rows.iter().map(line).collect::<String>()).into()
}

fn json_lines(rows: &[[String; 3]]) -> Vec<u8> {
    let line = |[winner, loser, annotator]: &[String; 3]| {
        format!("{{\"winner\": {winner:?}, \"loser\": {loser:?}, \"annotator\": {annotator:?}}}\n")
    };
    rows.iter().map(line).collect::<String>().into()
}

/// Every ordered pair of six items, several times.
fn rows() -> Vec<[String; 3]> {
    let row = |k: usize| {
        let (winner, other) = (k % 6, 1 + k / 6 % 5);
        [format!("i{winner}"), format!("i{}", (winner + other) % 6), format!("w{}", k % 7)]
    };
    (0..120).map(row).collect()
}

/// Changes that leave each row a vote which the first pass has seen too.
fn changes() -> Vec<(&'static str, Vec<[String; 3]>)> {
    let appended = [rows(), rows()[..1].to_vec()].concat();
    let mut reordered = rows();
    reordered.swap(3, 50);
    let mut other_votes = rows();
    other_votes[7].swap(0, 1);
    let mut other_annotator = rows();
    other_annotator[7][2] = "w9".to_owned();
    vec![
        ("truncated", rows()[..60].to_vec()),
        ("appended to", appended),
        ("reordered", reordered),
        ("other votes", other_votes),
        ("another annotator", other_annotator),
    ]
}

fn first_pass(path: &Path) -> (Sources, Input) {
    let sources = Sources::repeatable(&[path.to_str().unwrap().to_owned()]);
    let options = ReadOptions { threads: 2, ..ReadOptions::default() };
    let input = sources.read(&options, &Arc::new(Progress::default())).unwrap();
    (sources, input)
}

fn flags<'a>(input: &'a Input, flagged: &'a [f64]) -> [StudyFlags<'a>; 1] {
    let study = &input.studies[0];
    [StudyFlags::new(&study.items, &study.groups, flagged)]
}

fn none_flagged(groups: &Groups) -> Vec<f64> {
    vec![0.0; groups.len()]
}

fn read_again(sources: &Sources, input: &Input) -> Result<SecondPass, Error> {
    let flagged = none_flagged(&input.studies[0].groups);
    let options = ReadOptions::default();
    let studies = flags(input, &flagged);
    second_pass(sources, &options, &Arc::new(Progress::default()), &studies, |_| Ok(()))
}

#[test]
fn every_change_is_noticed_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for (name, encode) in FORMATS {
        let path = folder.path().join(name);
        for (change, changed) in changes() {
            std::fs::write(&path, encode(&rows())).unwrap();
            let (sources, input) = first_pass(&path);
            read_again(&sources, &input).unwrap();
            std::fs::write(&path, encode(&changed)).unwrap();
            let error = read_again(&sources, &input).unwrap_err();
            assert!(matches!(error, Error::Changed { .. }), "{name}, {change}: {error}");
            assert_eq!(error.file(), path.to_str(), "{name}, {change}");
        }
    }
}

/// The same content under another inode is no change.
#[test]
fn a_copy_of_the_file_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    for (name, encode) in FORMATS {
        let path = folder.path().join(name);
        std::fs::write(&path, encode(&rows())).unwrap();
        let (sources, input) = first_pass(&path);
        std::fs::copy(&path, folder.path().join("copy")).unwrap();
        std::fs::rename(folder.path().join("copy"), &path).unwrap();
        read_again(&sources, &input).unwrap();
    }
}

#[test]
fn what_only_the_second_pass_cannot_read_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("votes.csv");
    for later in ["", "winner,loser\n", "left,right\na,b\n", "winner,loser,annotator\na\n"] {
        std::fs::write(&path, csv(&rows())).unwrap();
        let (sources, input) = first_pass(&path);
        std::fs::write(&path, later).unwrap();
        let error = read_again(&sources, &input).unwrap_err();
        assert!(matches!(error, Error::Changed { .. }), "{later:?}: {error}");
    }
}
