//! Reading compared with a direct implementation: labels collected, votes merged by `Groups::merge`.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use hodgerank::Study;
use hodgerank::{Comparison, Groups, Labels};
use hodgerank_io::labels::trim;
use hodgerank_io::read::Progress;
use hodgerank_io::{
    ColumnNames, Error, Format, Input, OnError, OutcomeAs, Position, ReadOptions, Result,
};
use proptest::prelude::*;

/// One row: left item, right item, outcome, count.
type Row = (String, String, f64, u64);

fn read(path: &Path, threads: usize, format: Format, on_error: OnError) -> Result<Input> {
    // Given, because few random outcomes can look like codes for the sides.
    let columns = ColumnNames { outcome_as: Some(OutcomeAs::Number), ..ColumnNames::default() };
    let options =
        ReadOptions { columns, format: Some(format), on_error, threads, ..ReadOptions::default() };
    let files = [path.to_str().expect("a plain path").to_owned()];
    hodgerank_io::read(&files, &options, &Arc::new(Progress::default()))
}

fn read_bytes(bytes: &[u8], threads: usize, format: Format, on_error: OnError) -> Result<Input> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    read(file.path(), threads, format, on_error)
}

/// Rows as the `csv` crate writes them.
fn as_csv(rows: &[Row], style: csv::QuoteStyle) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().quote_style(style).from_writer(Vec::new());
    writer.write_record(["left", "right", "y", "count"]).unwrap();
    for row in rows {
        writer.serialize(row).unwrap();
    }
    writer.into_inner().unwrap()
}

fn as_json(rows: &[Row]) -> Vec<u8> {
    let mut text = String::new();
    for (left, right, y, count) in rows {
        let (left, right) = (serde_json::json!(left), serde_json::json!(right));
        writeln!(text, "{{\"left\":{left},\"right\":{right},\"y\":{y:?},\"count\":{count}}}")
            .unwrap();
    }
    text.into_bytes()
}

#[track_caller]
fn assert_direct_merge(rows: &[Row], study: &Study) {
    let names = rows.iter().flat_map(|row| [trim(&row.0), trim(&row.1)]);
    let (items, _) = names.collect::<Labels>().sorted();
    let index = |name: &str| items.get(trim(name).as_bytes()).unwrap();
    let votes: Vec<Comparison> = rows
        .iter()
        .map(|(l, r, y, count)| Comparison::new(index(l), index(r), *y).with_count(*count))
        .collect();
    let merged = Groups::merge(items.len(), &votes).unwrap();
    assert_eq!(study.items.iter().collect::<Vec<_>>(), items.iter().collect::<Vec<_>>());
    assert_eq!(study.groups, merged.groups);
    assert_eq!(study.rows, rows.len() as u64);
    assert_eq!(study.comparisons, rows.iter().map(|row| row.3).sum::<u64>());
}

/// Names that need quoting, and names that look as if they did.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-d]",
        2 => "[,;\"\n\r\t éα☕a'{}]{1,5}",
        1 => any::<String>(),
    ]
    .prop_filter("an item has a name", |name| !trim(name).is_empty())
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let y = prop_oneof![Just(1.0), Just(-1.0), Just(0.0), -1e9..1e9_f64];
    let row = (name(), name(), y, 0..4_u64);
    let row = row.prop_filter("two different items", |(left, right, ..)| trim(left) != trim(right));
    prop::collection::vec(row, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn tables_are_read_as_merged_votes(rows in rows(), always in any::<bool>()) {
        let style = if always { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
        let (csv, json) = (as_csv(&rows, style), as_json(&rows));
        for threads in 1..=3 {
            for (bytes, format) in [(&csv, Format::Csv), (&json, Format::Jsonl)] {
                let input = read_bytes(bytes, threads, format, OnError::Stop).unwrap();
                prop_assert_eq!(input.rejected.total, 0);
                prop_assert_eq!(input.studies.len(), 1);
                assert_direct_merge(&rows, &input.studies[0]);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_give_a_study_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        header in prop::sample::select(vec!["", "left,right,winner\n", "{\"winner\":\"a\",\"loser\":\"b\"}\n"]),
    ) {
        let bytes = [header.as_bytes(), &bytes].concat();
        for &format in Format::ALL {
            for on_error in [OnError::Stop, OnError::Skip] {
                let one = read_bytes(&bytes, 1, format, on_error);
                let two = read_bytes(&bytes, 2, format, on_error);
                prop_assert_eq!(one.is_ok(), two.is_ok());
            }
        }
    }

    /// Characters with a meaning in CSV and JSON.
    #[test]
    fn almost_valid_tables_give_a_study_or_an_error(text in "[ab,\"\n\r{}:0.;\u{0}-]{0,120}") {
        for (header, format) in [("winner,loser\n", Format::Csv), ("{\"winner\":1,\"loser\":2}\n", Format::Jsonl)] {
            let text = format!("{header}{text}");
            let stopped = read_bytes(text.as_bytes(), 1, format, OnError::Stop);
            let skipped = read_bytes(text.as_bytes(), 2, format, OnError::Skip);
            if let (Ok(stopped), Ok(skipped)) = (&stopped, &skipped) {
                prop_assert_eq!(skipped.rejected.total, 0);
                prop_assert_eq!(&stopped.studies[0].groups, &skipped.studies[0].groups);
            } else if let Ok(skipped) = skipped {
                prop_assert!(skipped.rejected.total > 0);
                let Err(Error::Row(row)) = stopped else { panic!("a row was rejected") };
                prop_assert_eq!(row.position, skipped.rejected.first[0].position);
            }
        }
    }
}

/// About five blocks of rows whose names contain many newlines and quotes, so that blocks end inside
/// quoted fields.
fn large() -> Vec<Row> {
    let name = |number: usize| match number % 3 {
        0 => format!("plain {number}"),
        1 => format!("\"{number}\",\n\n\"\"\n{}\r\n", "long\n".repeat(number % 23)),
        _ => format!("\n{}\"{number}", ",\"\n".repeat(number % 17)),
    };
    let row = |k: usize| {
        let (left, right) = (k * 7919 % 401, k * 104_729 % 401);
        let right = if left == right { (right + 1) % 401 } else { right };
        (name(left), name(right), [1.0, -1.0, 0.0, 2.5][k % 4], 1 + (k % 2) as u64)
    };
    (0..60_000).map(row).collect()
}

#[test]
fn blocks_that_end_inside_quotes_are_joined() {
    let rows = large();
    let csv = as_csv(&rows, csv::QuoteStyle::Necessary);
    assert!(csv.len() > 4 << 20, "{} bytes are too few blocks", csv.len());
    let json = as_json(&rows);
    for threads in [1, 2, 3, 4] {
        for (bytes, format) in [(&csv, Format::Csv), (&json, Format::Jsonl)] {
            let input = read_bytes(bytes, threads, format, OnError::Stop).unwrap();
            assert_direct_merge(&rows, &input.studies[0]);
        }
    }
}

/// The line at which a row (counted from 0) starts, by a scan of the whole file.
fn line_of(csv: &[u8], row: usize) -> u64 {
    let mut reader = csv::ReaderBuilder::new().from_reader(csv);
    let record = reader.byte_records().nth(row).unwrap().unwrap();
    let start = record.position().unwrap().byte() as usize;
    1 + csv[..start].iter().filter(|&&byte| byte == b'\n').count() as u64
}

#[test]
fn late_errors_have_the_right_position() {
    let mut rows = large();
    let (first, second) = (41_234, 55_000);
    for bad in [first, second] {
        rows[bad].1 = rows[bad].0.clone();
    }
    let csv = as_csv(&rows, csv::QuoteStyle::Necessary);
    let lines = [first, second].map(|row| Position::Line(line_of(&csv, row)));
    for threads in [1, 2, 3, 4] {
        let Err(Error::Row(row)) = read_bytes(&csv, threads, Format::Csv, OnError::Stop) else {
            panic!("the row is bad");
        };
        assert_eq!(row.position, lines[0], "{threads} threads");
        let shown = row.value.trim_end_matches('…');
        assert!(!shown.is_empty() && trim(&rows[first].0).starts_with(shown), "{shown:?}");
        let input = read_bytes(&csv, threads, Format::Csv, OnError::Skip).unwrap();
        assert_eq!(input.rejected.total, 2);
        let found: Vec<Position> = input.rejected.first.iter().map(|row| row.position).collect();
        assert_eq!(found, lines, "{threads} threads");
    }
    let json = as_json(&rows);
    for threads in [1, 2, 3] {
        let error = read_bytes(&json, threads, Format::Jsonl, OnError::Stop).unwrap_err();
        assert!(error.to_string().contains(&format!(", line {}, ", first + 1)), "{error}");
    }
}

#[test]
fn late_unclosed_quotes_are_reported_where_they_open() {
    let rows = large();
    let csv = as_csv(&rows, csv::QuoteStyle::Necessary);
    let line = csv.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
    let csv = [&csv, &b"a,b,1,1\na,\"b,1,1\nc,d,1,1\n"[..]].concat();
    for threads in [1, 2, 3, 4] {
        for on_error in [OnError::Stop, OnError::Skip] {
            let Err(Error::Row(row)) = read_bytes(&csv, threads, Format::Csv, on_error) else {
                panic!("the quote is never closed");
            };
            assert_eq!(row.position, Position::Line(line + 1), "{threads} threads");
        }
    }
}
