//! Targets for the readers: any bytes are votes or an error, and every way of reading agrees.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use hodgerank::Study;
use hodgerank_io::read::{Progress, StudyFlags, second_pass};
use hodgerank_io::{Error, Format, Input, OnError, ReadOptions, Result, Sources};

use crate::Signature;
use crate::choices::Choices;
use crate::read_options::read_options;
use crate::scratch;

/// Below this number, every whole number is an `f64`.
const MAX_EXACT: u64 = 1 << 53;

pub(crate) fn delimited(bytes: &[u8]) -> Signature {
    let mut choices = Choices::new(bytes);
    let format = choices.one_of(&[Format::Csv, Format::Tsv]);
    let options = read_options(&mut choices, Some(format));
    let (signature, _) = check_reading(choices.rest(), &options);
    signature
}

pub(crate) fn json_lines(bytes: &[u8]) -> Signature {
    let mut choices = Choices::new(bytes);
    choices.byte();
    let options = read_options(&mut choices, Some(Format::Jsonl));
    let text = choices.rest();
    let (signature, input) = check_reading(text, &options);
    if let (Some(input), OnError::Stop) = (input, options.on_error) {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let mut rows = 0;
        for line in lines {
            rows += 1;
            // Values are not converted: 1e999 is valid JSON, but no number of a programming language.
            let parsed = std::str::from_utf8(line).ok().and_then(|line| {
                serde_json::from_str::<BTreeMap<String, serde::de::IgnoredAny>>(line).ok()
            });
            assert!(parsed.is_some(), "not JSON, but read: {:?}", String::from_utf8_lossy(line));
        }
        assert_eq!(rows, input.studies.iter().map(|study| study.rows).sum::<u64>());
    }
    signature
}

pub(crate) fn parquet(bytes: &[u8]) -> Signature {
    binary(bytes, Format::Parquet)
}

pub(crate) fn arrow(bytes: &[u8]) -> Signature {
    binary(bytes, Format::Arrow)
}

pub(crate) fn sqlite(bytes: &[u8]) -> Signature {
    binary(bytes, Format::Sqlite)
}

fn binary(bytes: &[u8], format: Format) -> Signature {
    let mut choices = Choices::new(bytes);
    let detected = choices.byte() & 1 == 0;
    let options = read_options(&mut choices, (!detected).then_some(format));
    check_reading(choices.rest(), &options).0
}

/// The first byte chooses what the rest is: a compressed file, or a file to compress.
pub(crate) fn compressed(bytes: &[u8]) -> Signature {
    let mut choices = Choices::new(bytes);
    let how = choices.below(5);
    let options = read_options(&mut choices, None);
    let content = choices.rest();
    let packed = match how {
        0 => return check_reading(content, &options).0,
        1 => gzip(content),
        2 => zstd(content),
        // Several members or frames are one file.
        3 | 4 => {
            let (first, second) = content.split_at(content.len() / 2);
            let pack = if how == 3 { gzip } else { zstd };
            [pack(first), pack(second)].concat()
        }
        _ => unreachable!("below 5"),
    };
    // A file that is compressed twice is not read, and neither is a compressed database; a file of the test may
    // look like one.
    let [gzip_magic, zstd_magic]: [&[u8]; 2] = [&[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd]];
    let refused = [gzip_magic, zstd_magic, b"SQLite format 3\0"];
    if refused.iter().any(|magic| content.starts_with(magic)) {
        return check_reading(&packed, &options).0;
    }
    let (signature, plain) = check_reading(content, &options);
    let (_, unpacked) = check_reading(&packed, &options);
    match (plain, unpacked) {
        (Some(plain), Some(unpacked)) => assert_same(&plain, &unpacked),
        (None, None) => {}
        (Some(_), None) => panic!("read plain, refused when compressed"),
        (None, Some(_)) => panic!("refused plain, read when compressed"),
    }
    signature
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("memory can be written")
}

/// Reads a file with these options.
pub(crate) fn read(file: &str, options: &ReadOptions) -> Result<Input> {
    hodgerank_io::read(&[file.to_owned()], options, &Arc::new(Progress::default()))
}

/// Reads the content of a file in every way. Returns what happened, and the votes if it was read.
pub(crate) fn check_reading(content: &[u8], options: &ReadOptions) -> (Signature, Option<Input>) {
    let file = scratch::write("input", content);
    let one = read(&file, options);
    check_threads(&file, options, &one);
    check_on_error(&file, options, &one);
    match one {
        Err(error) => (signature(&error), None),
        Ok(input) => {
            input.studies.iter().for_each(check_study);
            check_second_pass(&file, options, &input);
            let (studies, rejected) = (input.studies.len(), input.rejected.total as usize);
            let items = input.studies[0].items.len();
            let seen = format!("{} {} {}", words(studies), words(rejected), words(items / 2));
            (Signature::of(&seen), Some(input))
        }
    }
}

/// What is wrong with a file, without the values in the message.
pub(crate) fn signature(error: &Error) -> Signature {
    let kind = match error {
        Error::Row(row) => format!("{:?}", row.problem),
        Error::Columns { problem, .. } => format!("{problem:?}"),
        Error::Read { source, .. } | Error::Open { source, .. } => source.to_string(),
        other => format!("{other:?}"),
    };
    // The name of a variant, and what follows it if that is a message.
    let is_message = matches!(error, Error::Read { .. } | Error::Open { .. });
    let end = kind.find(|c: char| !c.is_alphabetic()).filter(|_| !is_message);
    Signature::of(&kind[..end.unwrap_or(kind.len())])
}

fn words(count: usize) -> &'static str {
    ["none", "single", "several", "numerous"][count.min(3)]
}

/// The number of threads changes neither the votes nor the error.
fn check_threads(file: &str, options: &ReadOptions, one: &Result<Input>) {
    let several = read(file, &ReadOptions { threads: 3, ..options.clone() });
    match (one, &several) {
        (Ok(one), Ok(several)) => assert_same(one, several),
        (Err(one), Err(several)) => assert_eq!(one.to_string(), several.to_string()),
        (one, several) => {
            panic!("one thread: {:?}, three threads: {:?}", one.is_ok(), several.is_ok())
        }
    }
}

/// Skipping bad rows changes nothing where there are none, and rejects the row that stops. A bad row
/// may also hide columns of JSON lines, which are collected from the first rows.
fn check_on_error(file: &str, options: &ReadOptions, one: &Result<Input>) {
    let other = match options.on_error {
        OnError::Stop => OnError::Skip,
        OnError::Skip => OnError::Stop,
    };
    let other = read(file, &ReadOptions { on_error: other, ..options.clone() });
    let (stop, skip) = match options.on_error {
        OnError::Stop => (one, &other),
        OnError::Skip => (&other, one),
    };
    match (stop, skip) {
        (Ok(stop), Ok(skip)) => assert_same(stop, skip),
        (Ok(_), Err(error)) => panic!("no row is bad, but skipping bad rows fails: {error}"),
        (Err(Error::Row(row)), Ok(skip)) => {
            let rejected = &skip.rejected;
            let is_listed = rejected.first.iter().any(|bad| bad.position == row.position);
            assert!(is_listed || rejected.total > rejected.first.len() as u64, "{row}");
        }
        (Err(Error::Columns { .. }), Ok(skip)) => assert!(skip.rejected.total > 0),
        (Err(stop), Ok(_)) => panic!("only a bad row can be skipped: {stop}"),
        (Err(_), Err(_)) => {}
    }
}

/// Asserts that two inputs have the same votes.
pub(crate) fn assert_same(one: &Input, other: &Input) {
    assert_eq!(one.rejected.total, other.rejected.total, "rejected rows");
    assert_eq!(one.studies.len(), other.studies.len(), "studies");
    for (one, other) in one.studies.iter().zip(&other.studies) {
        assert_eq!(one.by, other.by);
        assert!(one.items.iter().eq(other.items.iter()), "items");
        assert_eq!(sorted(one), sorted(other), "annotators");
        assert_eq!((one.rows, one.comparisons), (other.rows, other.comparisons));
        assert_eq!(one.groups, other.groups);
    }
}

fn sorted(study: &Study) -> Vec<&str> {
    let mut annotators: Vec<&str> = study.annotators.iter().collect();
    annotators.sort_unstable();
    annotators
}

/// Checks that a study is consistent.
fn check_study(study: &Study) {
    let (items, groups) = (study.items.len(), &study.groups);
    assert!(study.rows > 0 && items >= 2, "{} rows, {items} items", study.rows);
    assert!(study.items.iter().all(|label| !label.is_empty()));
    for g in 0..groups.len() {
        assert!(groups.left[g] < groups.right[g] && (groups.right[g] as usize) < items);
        assert!(groups.y[g].is_finite() && groups.weight[g] >= 1.0);
        assert!(groups.weight[g].is_finite() && groups.weight[g].fract() == 0.0);
    }
    if study.comparisons < MAX_EXACT {
        assert_eq!(groups.weight.iter().sum::<f64>(), study.comparisons as f64);
    }
}

/// The second pass finds every row of the first pass and its distinct vote.
fn check_second_pass(file: &str, options: &ReadOptions, input: &Input) {
    let unflagged: Vec<Vec<f64>> =
        input.studies.iter().map(|study| vec![0.0; study.groups.len()]).collect();
    let mut votes: Vec<(u64, Vec<f64>)> = unflagged.iter().map(|none| (0, none.clone())).collect();
    let flags = study_flags(&input.studies, &unflagged);
    let (sources, progress) = read_for_two_passes(file, options);
    let pass = second_pass(&sources, options, &progress, &flags, |row| {
        let (rows, weight) = &mut votes[row.study];
        *rows += 1;
        if let Some(group) = row.group {
            weight[group] += row.count as f64;
        }
        assert!(!row.flagged);
        Ok(())
    });
    let pass = pass.expect("the file was read once and did not change");
    assert_eq!(pass.rejected, input.rejected.total);
    for (study, (rows, weight)) in input.studies.iter().zip(&votes) {
        assert_eq!(*rows, study.rows);
        if study.comparisons < MAX_EXACT {
            assert_eq!(*weight, study.groups.weight);
        }
    }
}

/// Reads a file that is known to be readable, so that it can be read again.
pub(crate) fn read_for_two_passes(file: &str, options: &ReadOptions) -> (Sources, Arc<Progress>) {
    let (sources, progress) =
        (Sources::repeatable(&[file.to_owned()]), Arc::new(Progress::default()));
    sources.read(options, &progress).expect("the file was read before");
    (sources, progress)
}

/// What the second pass needs to know about the studies.
pub(crate) fn study_flags<'a>(
    studies: &'a [Study],
    flagged: &'a [Vec<f64>],
) -> Vec<StudyFlags<'a>> {
    let flags = |(study, flagged): (&'a Study, &'a Vec<f64>)| StudyFlags {
        by: study.by.as_deref(),
        ..StudyFlags::new(&study.items, &study.groups, flagged)
    };
    studies.iter().zip(flagged).map(flags).collect()
}
