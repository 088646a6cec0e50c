//! Small studies for [`crate::metamorphic`], and the same votes written in other ways.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};

use crate::support::database::of_csv;
use crate::support::files::{arrow_file, arrow_stream, gzip, parquet, table, text, zstd};

/// A row of a file of votes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) left: String,
    pub(crate) right: String,
    pub(crate) y: f64,
    pub(crate) annotator: String,
    pub(crate) count: u64,
}

/// A generator with the same sequence in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// The first of two items usually wins; annotator 0 clicks left, 1 votes the other way round, 2 at
/// random. `size` turns the difference of two items and a random number into an outcome.
fn votes(
    seed: u64,
    rows: usize,
    pair: impl Fn(&mut Random) -> (usize, usize),
    size: impl Fn(i32, &mut Random) -> f64,
    count: impl Fn(&mut Random) -> u64,
) -> Vec<Row> {
    let mut random = Random::new(seed);
    let row = |_| {
        let (left, right) = pair(&mut random);
        let annotator = random.below(9);
        let honest = size(right as i32 - left as i32, &mut random);
        let y = match annotator {
            0 => honest.abs(),
            1 => -honest,
            2 if random.below(2) == 0 => -honest,
            _ => honest,
        };
        Row {
            left: format!("wolf-{left}"),
            right: format!("wolf-{right}"),
            // A tie is 0 from both sides.
            y: if y == 0.0 { 0.0 } else { y },
            annotator: format!("ann-{annotator}"),
            count: count(&mut random),
        }
    };
    (0..rows).map(row).collect()
}

fn any_pair(items: usize, random: &mut Random) -> (usize, usize) {
    let left = random.below(items);
    (left, (left + 1 + random.below(items - 1)) % items)
}

fn sign(difference: i32, random: &mut Random) -> f64 {
    let noisy = f64::from(difference) + random.below(5) as f64 - 2.0;
    if noisy == 0.0 { 0.0 } else { noisy.signum() }
}

/// The studies, with names for messages.
pub(crate) fn all() -> Vec<(&'static str, Vec<Row>)> {
    let grade = |difference: i32, random: &mut Random| {
        (f64::from(2 * difference) + random.below(7) as f64 - 3.0) / 4.0
    };
    // Items 0 to 4 are never compared with 5 to 8.
    let apart = |random: &mut Random| match random.below(2) {
        0 => any_pair(5, random),
        _ => {
            let (left, right) = any_pair(4, random);
            (left + 5, right + 5)
        }
    };
    vec![
        (
            "votes",
            votes(1, 160, |random| any_pair(8, random), sign, |random| 1 + random.below(3) as u64),
        ),
        ("graded", votes(2, 120, |random| any_pair(7, random), grade, |_| 1)),
        ("components", votes(3, 130, apart, sign, |_| 1)),
    ]
}

pub(crate) fn shuffled(rows: &[Row]) -> Vec<Row> {
    let mut random = Random::new(17);
    let mut rows = rows.to_vec();
    for end in (1..rows.len()).rev() {
        rows.swap(end, random.below(end + 1));
    }
    rows
}

/// One of `step` votes from the other side.
pub(crate) fn swapped(rows: &[Row], step: usize) -> Vec<Row> {
    let turn = |(k, row): (usize, &Row)| match k % step {
        0 => Row {
            left: row.right.clone(),
            right: row.left.clone(),
            y: if row.y == 0.0 { 0.0 } else { -row.y },
            ..row.clone()
        },
        _ => row.clone(),
    };
    rows.iter().enumerate().map(turn).collect()
}

/// Other labels in the same order.
pub(crate) fn renamed(rows: &[Row]) -> Vec<Row> {
    let rename = |row: &Row| Row {
        left: row.left.replace("wolf", "yeti"),
        right: row.right.replace("wolf", "yeti"),
        annotator: row.annotator.replace("ann", "bob"),
        ..row.clone()
    };
    rows.iter().map(rename).collect()
}

/// A row for each vote.
pub(crate) fn split(rows: &[Row]) -> Vec<Row> {
    let one = |row: &Row| Row { count: 1, ..row.clone() };
    rows.iter().flat_map(|row| std::iter::repeat_n(one(row), row.count as usize)).collect()
}

/// Equal votes of an annotator in one row, where the first of them was.
pub(crate) fn merged(rows: &[Row]) -> Vec<Row> {
    let mut merged: Vec<Row> = Vec::new();
    let mut first = BTreeMap::new();
    for row in rows {
        let key = (row.left.clone(), row.right.clone(), row.y.to_bits(), row.annotator.clone());
        let at = *first.entry(key).or_insert(merged.len());
        match merged.get_mut(at) {
            Some(known) => known.count += row.count,
            None => merged.push(row.clone()),
        }
    }
    merged
}

/// Outcomes times `factor`.
pub(crate) fn scaled(rows: &[Row], factor: f64) -> Vec<Row> {
    rows.iter().map(|row| Row { y: factor * row.y, ..row.clone() }).collect()
}

pub(crate) fn separated(rows: &[Row], separator: &str) -> Vec<u8> {
    let header = ["left", "right", "y", "annotator", "count"].join(separator);
    let line = |row: &Row| {
        let Row { left, right, y, annotator, count } = row;
        [left, right, &y.to_string(), annotator, &count.to_string()]
            .map(String::as_str)
            .join(separator)
    };
    let lines = std::iter::once(header).chain(rows.iter().map(line));
    lines.flat_map(|line| (line + "\n").into_bytes()).collect()
}

fn json_lines(rows: &[Row]) -> Vec<u8> {
    let line = |row: &Row| {
        let Row { left, right, y, annotator, count } = row;
        let object = serde_json::json!({
            "annotator": annotator, "count": count, "y": y, "right": right, "left": left
        });
        format!("{object}\n").into_bytes()
    };
    rows.iter().flat_map(line).collect()
}

fn batch(rows: &[Row]) -> RecordBatch {
    let y: ArrayRef = Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.y)));
    let count: ArrayRef =
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.count as i64)));
    table(vec![
        ("left", text(rows.iter().map(|row| row.left.as_str()))),
        ("right", text(rows.iter().map(|row| row.right.as_str()))),
        ("y", y),
        ("annotator", text(rows.iter().map(|row| row.annotator.as_str()))),
        ("count", count),
    ])
}

/// The rows as files of every format: extension and content.
pub(crate) fn formats(rows: &[Row]) -> Vec<(&'static str, Vec<u8>)> {
    let (csv, batch) = (separated(rows, ","), batch(rows));
    vec![
        ("csv.gz", gzip(&csv)),
        ("csv.zst", zstd(&csv)),
        ("csv", String::from_utf8(csv).unwrap().replace('\n', "\r\n").into_bytes()),
        ("tsv", separated(rows, "\t")),
        ("jsonl", json_lines(rows)),
        ("parquet", parquet(&batch, 50)),
        ("arrow", arrow_file(&batch)),
        ("arrows", arrow_stream(&batch)),
        ("db", of_csv(&separated(rows, ","))),
    ]
}
