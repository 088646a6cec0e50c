//! Binary and compressed files that are truncated, damaged or have wrong types: exit code 2, no panic.

use std::sync::Arc;

use crate::support::files::{
    self, arrow_file, arrow_stream, gzip, parquet, table, text, votes, zstd,
};
use crate::support::{Run, TestDir};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Float64Array, Int32Array, Int64Array, StringArray,
};

struct Case {
    name: &'static str,
    file: &'static str,
    bytes: Vec<u8>,
    parts: &'static [&'static str],
}

fn names(values: &[&str]) -> ArrayRef {
    text(values.iter().copied())
}

fn cut(mut bytes: Vec<u8>, share: f64) -> Vec<u8> {
    bytes.truncate((bytes.len() as f64 * share) as usize);
    bytes
}

fn two(column: (&'static str, ArrayRef)) -> Vec<u8> {
    parquet(&table(vec![("left", names(&["a", "a"])), ("right", names(&["b", "c"])), column]), 100)
}

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    let case = |name, file, bytes, parts| Case { name, file, bytes, parts };
    let study = votes(12, 5000);
    let csv = files::separated(&study, ",");
    let batch = files::batch(&study);
    let optional = |values: Vec<Option<&str>>| -> ArrayRef { Arc::new(StringArray::from(values)) };
    let with_null = table(vec![("winner", optional(vec![Some("a"), None])), ("loser", names(&["b", "c"]))]);
    let number = |values: Vec<f64>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
    let whole = |values: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(values)) };
    let mut checksum = gzip(&csv);
    let last = checksum.len() - 6;
    checksum[last] ^= 1;
    vec![
        case("gzip cut off", "v.csv.gz", cut(gzip(&csv), 0.7), &["v.csv.gz: cannot be read: "]),
        case("gzip with a wrong checksum", "v.csv.gz", checksum, &["v.csv.gz: cannot be read: corrupt gzip stream"]),
        case("gzip header alone", "v.csv.gz", cut(gzip(&csv), 0.001), &["v.csv.gz: cannot be read: "]),
        case("nothing in gzip", "v.csv.gz", gzip(""), &["v.csv.gz: the file is empty"]),
        case("zstd cut off", "v.csv.zst", cut(zstd(&csv), 0.7), &["v.csv.zst: cannot be read: incomplete frame"]),
        case("zstd cut off, JSON", "v.jsonl.zst", cut(zstd(files::json_lines(&study)), 0.9), &["v.jsonl.zst: cannot be read: "]),
        case("Parquet in gzip cut off", "v.parquet.gz", cut(gzip(parquet(&batch, 1000)), 0.5), &["v.parquet.gz: cannot be read: "]),
        case("Parquet cut off", "v.parquet", cut(parquet(&batch, 1000), 0.8), &["v.parquet: cannot be read: the Parquet data is damaged: "]),
        case("four bytes of Parquet", "v.parquet", b"PAR1".to_vec(), &["v.parquet: cannot be read: the Parquet data is damaged: "]),
        case("Parquet without middle", "v.parquet", b"PAR1\xff\xff\xff\x7fPAR1".to_vec(), &["v.parquet: cannot be read: the Parquet data is damaged: "]),
        case("Arrow file cut off", "v.arrow", cut(arrow_file(&batch), 0.6), &["v.arrow: cannot be read: the Arrow data is damaged: "]),
        case("six bytes of Arrow", "v.arrow", b"ARROW1".to_vec(), &["v.arrow: cannot be read: the Arrow data is damaged: "]),
        case("Arrow stream cut off", "v.arrow", cut(arrow_stream(&batch), 0.6), &["v.arrow: cannot be read: the Arrow data is damaged: "]),
        case("four bytes of an Arrow stream", "v.arrow", vec![0xff; 4], &["v.arrow: cannot be read: the Arrow data is damaged: "]),
        case("decimal items", "v.parquet", parquet(&table(vec![("winner", number(vec![1.0])), ("loser", names(&["b"]))]), 9),
            &["v.parquet: column 1 (`winner`) has the type Float64, but text or whole numbers are needed", "help: convert the column"]),
        case("decimal items, Arrow", "v.arrow", arrow_file(&table(vec![("winner", names(&["b"])), ("loser", number(vec![1.0]))])),
            &["v.arrow: column 2 (`loser`) has the type Float64", "help: "]),
        case("truth values as items", "v.arrow", arrow_stream(&table(vec![("winner", names(&["b"])), ("loser", Arc::new(BooleanArray::from(vec![true])))])),
            &["v.arrow: column 2 (`loser`) has the type Boolean", "help: "]),
        case("bytes as outcomes", "v.parquet", two(("winner", Arc::new(BinaryArray::from(vec![b"left".as_slice(), b"tie"])))),
            &["v.parquet: column 3 (`winner`) has the type Binary, but text, numbers or truth values are needed"]),
        case("truth values as counts", "v.parquet", parquet(&table(vec![("winner", names(&["a"])), ("loser", names(&["b"])), ("count", Arc::new(BooleanArray::from(vec![true])))]), 9),
            &["v.parquet: column 3 (`count`) has the type Boolean, but whole numbers are needed"]),
        case("no rows", "v.parquet", parquet(&files::batch(&[]), 9), &["v.parquet: there is a header but no vote below it"]),
        case("no rows, Arrow", "v.arrow", arrow_stream(&files::batch(&[])), &["v.arrow: there is a header but no vote below it"]),
        case("null item, Parquet", "v.parquet", parquet(&with_null, 1), &["v.parquet, row 2, column 1 (`winner`): the value is missing", "help: "]),
        case("null item, Arrow", "v.arrow", arrow_file(&with_null), &["v.arrow, row 2, column 1 (`winner`): the value is missing"]),
        case("null outcome", "v.parquet", two(("winner", optional(vec![Some("left"), None]))), &["v.parquet, row 2, column 3 (`winner`): the value is missing"]),
        case("null number", "v.parquet", two(("y", Arc::new(Int32Array::from(vec![Some(1), None])))), &["v.parquet, row 2, column 3 (`y`): the value is missing"]),
        case("unknown word, Parquet", "v.parquet", two(("winner", names(&["left", "lft"]))), &["v.parquet, row 2, column 3 (`winner`): unknown outcome: \"lft\"", "accepted: left"]),
        case("not a number, Parquet", "v.parquet", two(("y", number(vec![1.0, f64::NAN]))), &["v.parquet, row 2, column 3 (`y`): the outcome is not a finite number: \"NaN\""]),
        case("infinite, Arrow", "v.arrow", arrow_file(&table(vec![("left", names(&["a"])), ("right", names(&["b"])), ("y", number(vec![f64::NEG_INFINITY]))])),
            &["v.arrow, row 1, column 3 (`y`): the outcome is not a finite number: \"-inf\""]),
        case("an item against itself, Parquet", "v.parquet", parquet(&table(vec![("winner", whole(vec![1, 2, 3])), ("loser", whole(vec![2, 2, 1]))]), 2),
            &["v.parquet, row 2, column 2 (`loser`): an item is compared with itself: \"2\""]),
        case("empty item, Parquet", "v.parquet", parquet(&table(vec![("winner", names(&["a", ""])), ("loser", names(&["b", "b"]))]), 9),
            &["v.parquet, row 2, column 1 (`winner`): the item's name is empty"]),
        case("negative count, Parquet", "v.parquet", parquet(&table(vec![("winner", names(&["a", "a"])), ("loser", names(&["b", "b"])), ("count", whole(vec![3, -3]))]), 9),
            &["v.parquet, row 2, column 3 (`count`): the count is not a whole number from 0 up: \"-3\""]),
        case("fractional count, Arrow", "v.arrow", arrow_stream(&table(vec![("winner", names(&["a"])), ("loser", names(&["b"])), ("count", number(vec![0.5]))])),
            &["v.arrow, row 1, column 3 (`count`): the count is not a whole number from 0 up: \"0.5\""]),
        case("no outcome column, Parquet", "v.parquet", parquet(&table(vec![("left", names(&["a"])), ("right", names(&["b"]))]), 9),
            &["v.parquet: there is no outcome column among `left`, `right`", "--outcome NAME"]),
    ]
}

#[track_caller]
fn refused(name: &str, run: &Run, parts: &[&str]) {
    assert_eq!(run.code, Some(2), "{name}: {}", run.stderr);
    for part in parts {
        assert!(run.stderr.contains(part), "{name}: no {part:?} in\n{}", run.stderr);
    }
    assert!(!run.stderr.contains("panicked"), "{name}: {}", run.stderr);
    assert!(run.stdout.is_empty(), "{name}");
}

#[test]
fn invalid_tables_are_rejected() {
    for Case { name, file, bytes, parts } in cases() {
        let dir = TestDir::new();
        dir.write(file, bytes);
        let run = |threads| dir.run(&["rank", "-o", "out.csv", file, "--threads", threads]);
        let one = run("1");
        refused(name, &one, parts);
        let two = run("2").without_suggestion();
        assert_eq!(one.without_suggestion(), two, "{name}: the threads matter");
        assert_eq!(dir.file_names(), [file], "{name}: something was left behind");
    }
}

/// Damages a valid file of each format at many offsets; the program must not panic.
#[test]
fn random_damage_never_panics() {
    const PLACES: usize = 200;
    let study = votes(9, 300);
    let batch = files::batch(&study);
    let csv = files::separated(&study, ",");
    let formats = [
        ("v.parquet", parquet(&batch, 100)),
        ("v.arrow", arrow_file(&batch)),
        ("s.arrow", arrow_stream(&batch)),
        ("packed.arrow", files::packed_arrow_file(&batch)),
        ("t.arrow", files::packed_arrow_stream(&batch)),
        ("v.csv.gz", gzip(&csv)),
        ("v.csv.zst", zstd(&csv)),
    ];
    let damage_all = |(file, whole): &(&str, Vec<u8>)| {
        let dir = TestDir::new();
        dir.write(file, whole);
        dir.run(&["rank", file]).success();
        for number in 0..PLACES {
            // Metadata at the end of a file is damaged more often.
            let span = if number % 2 == 0 { whole.len() } else { whole.len().min(2048) };
            let from_end = number.wrapping_mul(0x9e37_79b9) % span;
            let at = whole.len() - 1 - from_end;
            let mut bytes = whole.clone();
            match number % 5 {
                0 => bytes.truncate(at),
                1 => bytes[at] = 0xff,
                2 => bytes[at] ^= 1 << (number % 8),
                3 => bytes[at] = bytes[at].wrapping_add(1),
                _ => bytes[at] = 0x7f,
            }
            dir.write(file, bytes);
            let run = dir.run(&["rank", file, "-o", "out.csv"]);
            let what = format!("{file}, byte {at}, damage {}: {}", number % 5, run.stderr);
            assert!(matches!(run.code, Some(0 | 2)), "exit {:?}: {what}", run.code);
            assert!(!run.stderr.contains("panicked"), "{what}");
            assert_eq!(dir.file_names().len(), if run.code == Some(0) { 2 } else { 1 }, "{what}");
            let _ = std::fs::remove_file(dir.path().join("out.csv"));
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = formats.iter().map(|f| scope.spawn(|| damage_all(f))).collect();
        workers.into_iter().for_each(|worker| worker.join().expect("no panic"));
    });
}

/// A file that claims a length of terabytes must not make the program allocate them.
#[test]
fn lengths_in_arrow_data_are_checked() {
    let batch = files::batch(&votes(5, 60));
    let (packed, stream) = (files::packed_arrow_file(&batch), files::packed_arrow_stream(&batch));
    for (name, whole) in [("plain", arrow_file(&batch)), ("packed", packed), ("stream", stream)] {
        let (dir, mut refused) = (TestDir::new(), 0);
        // Lengths are eight-byte numbers, aligned to eight bytes.
        for at in (5..whole.len()).step_by(8) {
            let mut bytes = whole.clone();
            bytes[at] = 0x6f;
            dir.write("v.arrow", bytes);
            let run = dir.run(&["rank", "v.arrow"]);
            let what = format!("{name}, byte {at}: {:?} {}", run.code, run.stderr);
            assert!(matches!(run.code, Some(0 | 2)), "{what}");
            refused += usize::from(run.stderr.contains("the file is cut off"));
            refused += usize::from(run.stderr.contains("when it is decompressed"));
        }
        assert!(refused >= 3, "{name}: {refused}");
    }
}
