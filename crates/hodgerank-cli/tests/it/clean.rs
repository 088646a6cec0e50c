//! `clean`: the input without its flagged votes, everything else unchanged.

use std::sync::Arc;

use crate::support::files::{self, Vote, study};
use crate::support::{Run, TestDir};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Votes with an additional column that no method uses.
fn text_rows(study: &[Vote]) -> Vec<String> {
    let row = |(number, (left, right, winner)): (usize, &Vote)| {
        format!("{left},\"note {number}, \"\"ß\"\"\",{right},{winner}")
    };
    study.iter().enumerate().map(row).collect()
}

/// Runs `clean` with both outputs in the format of the input.
fn clean(dir: &TestDir, ending: &str, arguments: &[&str]) -> Run {
    let (kept, flagged) = (format!("kept.{ending}"), format!("flagged.{ending}"));
    let outputs = ["-o", kept.as_str(), "--flagged", flagged.as_str()];
    dir.run(&[&["clean"], arguments, &outputs].concat()).success()
}

fn text(dir: &TestDir, name: &str) -> String {
    String::from_utf8(dir.read(name)).unwrap()
}

/// Flagged rows without the columns that were added to them.
fn without_columns(text: &str, added: usize) -> String {
    let line = |line: &str| {
        let content = line.trim_end_matches(['\r', '\n']);
        let own = content.rsplitn(added + 1, ',').last().unwrap();
        format!("{own}{}", &line[content.len()..])
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Asserts that the rows of `all` are those of the other two, in the same order.
#[track_caller]
fn assert_parted(all: &[&str], kept: &[&str], flagged: &[&str]) {
    let (mut kept, mut flagged) = (kept.iter().peekable(), flagged.iter().peekable());
    for row in all {
        if kept.next_if_eq(&row).is_none() {
            assert_eq!(flagged.next(), Some(row));
        }
    }
    assert_eq!((kept.next(), flagged.next()), (None, None));
}

fn scores(dir: &TestDir, arguments: &[&str]) -> Vec<(String, f64)> {
    let json = dir.rank_json(arguments);
    let row = |row: &serde_json::Value| {
        (row["item"].as_str().unwrap().to_owned(), row["score"].as_f64().unwrap())
    };
    let mut scores: Vec<_> = json["ranking"].as_array().unwrap().iter().map(row).collect();
    scores.sort_by(|a, b| a.0.cmp(&b.0));
    scores
}

/// For these methods, least squares on the kept votes gives the robust scores.
#[test]
fn l2_on_kept_votes_gives_the_robust_scores() {
    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&study(), ","));
    for method in ["iss", "lasso-l2", "iht"] {
        let method = ["--method", method, "--outliers", "6%"];
        clean(&dir, "csv", &[&["v.csv"], &method[..]].concat());
        let robust = scores(&dir, &[&["v.csv"], &method[..]].concat());
        let refit = scores(&dir, &["kept.csv", "--method", "l2"]);
        assert_ne!(robust, scores(&dir, &["v.csv", "--method", "l2"]));
        for (robust, refit) in robust.iter().zip(&refit) {
            assert_eq!(robust.0, refit.0);
            assert!((robust.1 - refit.1).abs() < 1e-8, "{method:?}: {robust:?} {refit:?}");
        }
    }
}

#[test]
fn rows_are_split_and_otherwise_unchanged() {
    let dir = TestDir::new();
    let rows = text_rows(&study());
    let header = "left,note,right,\"winner\"";
    for (mark, end, last) in [("", "\n", "\n"), ("\u{feff}", "\r\n", "\r\n"), ("", "\n", "")] {
        let body = rows.join(end);
        dir.write("v.csv", format!("{mark}{header}{end}{body}{last}"));
        clean(&dir, "csv", &["v.csv", "--outliers", "100"]);
        let (kept, flagged) = (text(&dir, "kept.csv"), text(&dir, "flagged.csv"));
        // Row, reason and probability.
        let flagged = without_columns(&flagged, 3);
        let head = format!("{mark}{header}{end}");
        let lines = |text: String| -> Vec<String> {
            let body = text.strip_prefix(&head).expect("the header");
            let body = body.strip_suffix(end).unwrap_or(body);
            body.split(end).map(str::to_owned).collect()
        };
        let (kept, flagged) = (lines(kept), lines(flagged));
        assert!((100..400).contains(&flagged.len()), "{}", flagged.len());
        assert_parted(&refs(&rows), &refs(&kept), &refs(&flagged));
    }
}

fn refs(rows: &[String]) -> Vec<&str> {
    rows.iter().map(String::as_str).collect()
}

#[test]
fn all_formats_agree() {
    let (study, dir) = (study(), TestDir::new());
    let batch = files::batch(&study);
    dir.write("v.csv", files::separated(&study, ","));
    clean(&dir, "csv", &["v.csv"]);
    let kept = dir.rank_csv(&["kept.csv", "--method", "l2"]);
    let flagged = dir.rank_csv(&["flagged.csv", "--method", "l2"]);
    for (ending, bytes) in [
        ("tsv", files::separated(&study, "\t").into_bytes()),
        ("jsonl", files::json_lines(&study).into_bytes()),
        ("csv.gz", files::gzip(files::separated(&study, ","))),
        ("jsonl.zst", files::zstd(files::json_lines(&study))),
        ("parquet", files::parquet(&batch, 700)),
        ("arrow", files::arrow_file(&batch)),
        ("arrows", files::arrow_stream(&batch)),
        ("ipc", files::packed_arrow_file(&batch)),
    ] {
        let name = format!("v.{ending}");
        dir.write(&name, bytes);
        clean(&dir, ending, &[&name]);
        let ranking = |part: &str| dir.rank_csv(&[&format!("{part}.{ending}"), "--method", "l2"]);
        assert_eq!(ranking("kept"), kept, "{ending}");
        assert_eq!(ranking("flagged"), flagged, "{ending}");
    }
    assert!(dir.read("kept.csv.gz").starts_with(&[0x1f, 0x8b]));
}

/// Unused columns, types, nulls and schema metadata are kept.
#[test]
fn parquet_keeps_schema_and_columns() {
    let (study, dir) = (study(), TestDir::new());
    let votes = files::batch(&study);
    let numbers = (0..study.len() as i64).map(|row| (row % 7 > 0).then_some(row));
    let number: ArrayRef = Arc::new(numbers.collect::<Int64Array>());
    let column = |index: usize| Arc::clone(votes.column(index));
    let table = files::table(vec![
        ("number", number),
        ("right", column(1)),
        ("left", column(0)),
        ("winner", column(2)),
    ]);
    let notes = [("made by".to_owned(), "a test".to_owned())].into();
    let schema = Arc::new(table.schema().as_ref().clone().with_metadata(notes));
    let table = RecordBatch::try_new(Arc::clone(&schema), table.columns().to_vec()).unwrap();
    dir.write("v.parquet", files::parquet(&table, 512));
    clean(&dir, "parquet", &["v.parquet"]);
    let rows_of = |name: &str| -> Vec<String> {
        let file = file_of(&dir.read(name));
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let columns: Vec<usize> = (0..schema.fields().len()).collect();
        let own = builder.schema().project(&columns).unwrap();
        assert_eq!(own, *schema, "{name}");
        let added = if name == "flagged.parquet" { 3 } else { 0 };
        assert_eq!(builder.schema().fields().len(), columns.len() + added, "{name}");
        let batches = builder.build().unwrap().map(Result::unwrap);
        let batches = batches.map(|batch| batch.project(&columns).unwrap());
        batches.flat_map(|batch| (0..batch.num_rows()).map(move |r| show(&batch, r))).collect()
    };
    let (all, kept, flagged) =
        (rows_of("v.parquet"), rows_of("kept.parquet"), rows_of("flagged.parquet"));
    assert!(!flagged.is_empty());
    assert_parted(&refs(&all), &refs(&kept), &refs(&flagged));
}

fn file_of(bytes: &[u8]) -> std::fs::File {
    use std::io::{Seek as _, Write as _};
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

fn show(batch: &RecordBatch, row: usize) -> String {
    let cells = batch.columns().iter().map(|column| format!("{:?}", column.slice(row, 1)));
    cells.collect::<Vec<_>>().join("|")
}

#[test]
fn standard_input_is_read_twice() {
    let (study, dir) = (study(), TestDir::new());
    dir.write("v.csv", files::separated(&study, ","));
    clean(&dir, "csv", &["v.csv"]);
    for bytes in
        [files::separated(&study, ",").into_bytes(), files::gzip(files::separated(&study, ","))]
    {
        let run = dir.run_with_stdin(&["clean", "-"], &bytes).success();
        assert_eq!(run.stdout, dir.read("kept.csv"));
    }
    let parquet = files::parquet(&files::batch(&study), 500);
    let run = dir.run_with_stdin(&["clean", "-", "-o", "k.parquet"], &parquet).success();
    assert!(run.stdout.is_empty());
    let ranking = |name: &str| dir.rank_csv(&[name, "--method", "l2"]);
    assert_eq!(ranking("k.parquet"), ranking("kept.csv"));
}

/// Without flagged votes the output equals the input, byte by byte.
#[test]
fn blank_lines_are_kept() {
    let dir = TestDir::new();
    let (csv, json) = (files::separated(&study(), ","), files::json_lines(&study()));
    let gaps = |text: &str, end: &str, blank: &str| -> String {
        let line = |(n, line): (usize, &str)| match n % 50 {
            0 => format!("{blank}{end}{line}{end}"),
            _ => format!("{line}{end}"),
        };
        text.lines().enumerate().map(line).collect()
    };
    let mut quoted = csv.clone();
    quoted.push_str("\"clip-1\",clip-2,left\n");
    for (name, text) in [
        ("v.csv", gaps(&csv, "\n", "")),
        ("v.csv", format!("{}\n\n", gaps(&csv, "\n", "").trim_end())),
        ("v.csv", gaps(&csv, "\r\n", "")),
        ("v.csv", gaps(&quoted, "\n", "")),
        ("v.csv", format!("\u{feff}{}", gaps(&quoted, "\r\n", ""))),
        ("v.jsonl", gaps(&json, "\n", " ")),
        ("v.jsonl", format!("{}\n\n  ", gaps(&json, "\r\n", "").trim_end())),
    ] {
        dir.write(name, &text);
        let same = dir.run(&["clean", name, "--method", "l2"]).success();
        assert!(same.text() == text, "nothing is flagged: {name}");
        let ending = name.trim_start_matches("v.");
        clean(&dir, ending, &[name, "--outliers", "100"]);
        let (kept, flagged) = (format!("kept.{ending}"), format!("flagged.{ending}"));
        let blank = |text: &str| text.lines().filter(|line| line.trim().is_empty()).count();
        assert_eq!(blank(&self::text(&dir, &kept)), blank(&text), "{name}");
        assert!(blank(&self::text(&dir, &flagged)) <= 1, "at most before the header");
    }
}

#[test]
fn several_files_and_by() {
    let (study, dir) = (study(), TestDir::new());
    let with_scene = |votes: &[Vote], scene: &str| -> String {
        votes.iter().map(|(l, r, w)| format!("{scene},{l},{r},{w}\n")).collect()
    };
    let (first, second) = study.split_at(1500);
    let header = "scene,left,right,winner\n";
    let (one, two) = (with_scene(first, "1"), with_scene(second, "2"));
    dir.write("1.csv", format!("{header}{}", one.trim_end()));
    dir.write("2.csv", format!("{header}{two}"));
    clean(&dir, "csv", &["1.csv", "2.csv", "--by", "scene"]);
    let (kept, flagged) = (text(&dir, "kept.csv"), text(&dir, "flagged.csv"));
    // Row, file, reason and probability.
    let flagged = without_columns(&flagged, 4);
    let all = format!("{one}{two}");
    let rows = |text: &str| -> Vec<String> {
        text.strip_prefix(header).unwrap_or(text).lines().map(str::to_owned).collect()
    };
    let (all, kept, flagged) = (rows(&all), rows(&kept), rows(&flagged));
    assert_parted(&refs(&all), &refs(&kept), &refs(&flagged));
    for (scene, file) in [("1", "1.csv"), ("2", "2.csv")] {
        let alone = dir.run(&["clean", file]).success();
        let alone = rows(alone.text());
        let here: Vec<_> = kept.iter().filter(|row| row.starts_with(scene)).cloned().collect();
        assert_eq!(here, alone, "each scene is cleaned on its own");
    }
}

/// Of a partly flagged group the first votes are removed; rows with counts are never split.
#[test]
fn partly_flagged_groups_and_counts() {
    let dir = TestDir::new();
    let good = "a,b,left,10\nb,c,left,10\na,c,left,10\n";
    let iht = ["--method", "iht", "--outliers", "3"];
    dir.write(
        "v.csv",
        format!("left,right,winner,count\n{good}c,a,left,2\na,c,right,2\na,c,right,1\n"),
    );
    let run = clean(&dir, "csv", &[&["v.csv"], &iht[..]].concat());
    let flagged = without_columns(&text(&dir, "flagged.csv"), 2);
    assert_eq!(flagged, "left,right,winner,count\nc,a,left,2\na,c,right,1\n");
    assert!(!run.stderr.contains("these rows were kept"), "{}", run.stderr);
    dir.write("v.csv", format!("left,right,winner,count\n{good}c,a,left,4\n"));
    let run = clean(&dir, "csv", &[&["v.csv"], &iht[..]].concat());
    assert_eq!(text(&dir, "flagged.csv"), "left,right,winner,count,row,reason\n");
    assert_eq!(text(&dir, "kept.csv"), text(&dir, "v.csv"));
    assert!(run.stderr.contains("3 flagged votes are in rows with a count"), "{}", run.stderr);
}

#[test]
fn rejected_rows_are_in_no_output_and_reported() {
    let (mut study, dir) = (study(), TestDir::new());
    study[100].2 = "nobody";
    study[2000].2 = "";
    let kept_and_flagged = |ending: &str, bytes: Vec<u8>| {
        let name = format!("v.{ending}");
        dir.write(&name, bytes);
        let run = clean(&dir, ending, &[&name, "--on-error", "skip"]);
        assert!(run.stderr.contains("2 rejected rows were not written"), "{}", run.stderr);
        let rows =
            |part: &str| dir.rank_json(&[&format!("{part}.{ending}")])["input"]["rows"].clone();
        (rows("kept").as_u64().unwrap(), rows("flagged").as_u64().unwrap())
    };
    let text = kept_and_flagged("csv", files::separated(&study, ",").into_bytes());
    assert_eq!(text.0 + text.1, study.len() as u64 - 2);
    assert_eq!(kept_and_flagged("jsonl", files::json_lines(&study).into_bytes()), text);
    assert_eq!(kept_and_flagged("parquet", files::parquet(&files::batch(&study), 999)), text);
}
