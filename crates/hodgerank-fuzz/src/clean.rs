//! `clean`: trusted and flagged rows together are the rows of the input, byte for byte.

use hodgerank_io::read::TableHead;
use hodgerank_io::write::{
    self, ClaimedOutput, CleanOutputs, Cleaned, LabelStyle, Output, Outputs,
};
use hodgerank_io::{Error, Format, Input, OnError, ReadOptions};

use crate::Signature;
use crate::choices::Choices;
use crate::read_options::read_options;
use crate::readers::{read, read_for_two_passes, study_flags};
use crate::scratch;

pub(crate) fn check(bytes: &[u8]) -> Signature {
    let mut choices = Choices::new(bytes);
    let format = choices.one_of(&[Format::Csv, Format::Jsonl, Format::Tsv]);
    let pattern = choices.byte();
    let options = read_options(&mut choices, Some(format));
    let text = choices.rest();
    let file = scratch::write("votes", text);
    let Ok(input) = read(&file, &options) else { return Signature::of("refused") };
    // Every distinct vote is flagged completely, in part or not at all, as the pattern's bits say.
    let flag = |(g, &weight): (usize, &f64)| match pattern.rotate_left(g as u32) & 3 {
        0 | 1 => 0.0,
        2 => weight,
        _ => (weight / 2.0).floor(),
    };
    let flagged: Vec<Vec<f64>> = input
        .studies
        .iter()
        .map(|study| study.groups.weight.iter().enumerate().map(flag).collect())
        .collect();
    let [kept, removed] = ["kept", "removed"].map(scratch::path);
    let mut claims = Outputs::new(std::slice::from_ref(&file));
    let outputs = [("--output", &kept), ("--flagged", &removed)].map(|(flag, path)| {
        let claimed = claims.claim(flag, path.to_str().expect("a plain path"));
        claimed.and_then(ClaimedOutput::open).expect("the folder is writable")
    });
    let cleaned = clean(&file, &options, &input, &flagged, outputs);
    let [kept, removed] = [kept, removed].map(|path| std::fs::read(path).expect("written"));
    check_counts(&input, &flagged, &cleaned);
    if options.on_error == OnError::Stop {
        assert_rows(text, &kept, &removed, format == Format::Jsonl);
    }
    check_kept(&kept, &options, &input, &cleaned);
    Signature::of(if cleaned.flagged_rows > 0 { "flagged rows" } else { "none flagged" })
}

fn clean(
    file: &str,
    options: &ReadOptions,
    input: &Input,
    flagged: &[Vec<f64>],
    [kept, removed]: [Output; 2],
) -> Cleaned {
    let (sources, progress) = read_for_two_passes(file, options);
    let flags = study_flags(&input.studies, flagged);
    let tables: &[TableHead] = &input.tables;
    // Without reasons, so that the rows of both outputs are those of the input.
    let flagged = Some(removed);
    let (with_reasons, with_file, labels) = (false, false, LabelStyle::Exact);
    let outputs = CleanOutputs { kept, flagged, with_reasons, with_file, labels };
    write::clean(&sources, options, &progress, &flags, tables, outputs)
        .expect("the file was read once and did not change")
}

fn check_counts(input: &Input, flagged: &[Vec<f64>], cleaned: &Cleaned) {
    let rows: u64 = input.studies.iter().map(|study| study.rows).sum();
    assert_eq!(cleaned.kept_rows + cleaned.flagged_rows, rows);
    assert_eq!(cleaned.second_pass.rejected, input.rejected.total);
    let votes: f64 = flagged.iter().flatten().sum();
    if votes < (1_u64 << 53) as f64 {
        assert_eq!(cleaned.flagged_votes as f64 + cleaned.second_pass.kept_whole, votes);
    }
}

/// Asserts that the two outputs have the same head, and that the rest of the input is a merge of
/// the rest of both: nothing is lost, changed or reordered. `without_header` says that each row is a
/// line of its own and the outputs start with the first of them.
fn assert_rows(text: &[u8], kept: &[u8], removed: &[u8], without_header: bool) {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let marked = [text, kept, removed].map(|bytes| bytes.starts_with(MARK));
    assert!(marked[0] == marked[1] && marked[0] == marked[2], "byte-order marks: {marked:?}");
    let [text, kept, removed] = [text, kept, removed].map(|bytes| {
        // A last row without a line end may get one.
        with_line_end(if marked[0] { &bytes[MARK.len()..] } else { bytes })
    });
    let common = text.iter().zip(&kept).zip(&removed).take_while(|((t, k), r)| t == k && t == r);
    let head = if without_header { 0 } else { common.count() };
    // The longest common start may reach into the first row, so try every line end.
    let ends = (0..=head).rev().filter(|&end| end == 0 || text[end - 1] == b'\n');
    let is_split = ends.into_iter().any(|end| {
        let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
            bytes[end.min(bytes.len())..]
                .split_inclusive(|&b| b == b'\n')
                .map(<[u8]>::to_vec)
                .collect()
        };
        is_merge(&lines(&text), &lines(&kept), &lines(&removed))
    });
    assert!(
        is_split,
        "input {:?}, kept {:?}, flagged {:?}",
        String::from_utf8_lossy(&text),
        String::from_utf8_lossy(&kept),
        String::from_utf8_lossy(&removed)
    );
}

fn with_line_end(text: &[u8]) -> Vec<u8> {
    let end: &[u8] = if text.is_empty() || text.ends_with(b"\n") { b"" } else { b"\n" };
    [text, end].concat()
}

/// Whether `all` is a merge of `one` and `other` that keeps the order of both.
fn is_merge(all: &[Vec<u8>], one: &[Vec<u8>], other: &[Vec<u8>]) -> bool {
    if all.len() != one.len() + other.len() {
        return false;
    }
    // `reached[k]`: the lines so far can be k lines of `one` and the rest of `other`.
    let mut reached = vec![false; one.len() + 1];
    reached[0] = true;
    for (done, line) in all.iter().enumerate() {
        let mut next = vec![false; one.len() + 1];
        for k in 0..=one.len().min(done) {
            if reached[k] && one.get(k) == Some(line) {
                next[k + 1] = true;
            }
            if reached[k] && other.get(done - k) == Some(line) {
                next[k] = true;
            }
        }
        reached = next;
    }
    reached[one.len()]
}

/// The trusted rows can be read again: as many rows as were kept.
fn check_kept(kept: &[u8], options: &ReadOptions, input: &Input, cleaned: &Cleaned) {
    let file = scratch::write("again", kept);
    match read(&file, options) {
        Ok(again) => {
            assert_eq!(again.rejected.total, 0, "only votes are kept");
            assert_eq!(
                again.studies.iter().map(|study| study.rows).sum::<u64>(),
                cleaned.kept_rows
            );
        }
        // The votes for the right items may be those that were flagged.
        Err(Error::NoRightVotes { .. }) => {}
        // Without rows there is nothing to read. JSON lines have no header, so that a column can
        // disappear with its last row.
        Err(error) => {
            let can_lose_columns = input.tables[0].format == Format::Jsonl;
            assert!(cleaned.kept_rows == 0 || can_lose_columns, "{error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_are_recognised() {
        assert_rows(b"h\n1\n2\n1\n", b"h\n1\n1\n", b"h\n2\n", false);
        assert_rows(b"h\n1\n1\n1", b"h\n1\n1\n", b"h\n1", false);
        assert_rows(b"{1}\n{1}\n{2}\n", b"{1}\n{2}\n", b"{1}\n", true);
        for (kept, removed) in
            [("h\n1\n", "h\n2\n"), ("h\n2\n1\n1\n", "h\n"), ("h\n1\n3\n", "h\n1\n")]
        {
            let result = std::panic::catch_unwind(|| {
                assert_rows(b"h\n1\n2\n1\n", kept.as_bytes(), removed.as_bytes(), false);
            });
            assert!(result.is_err(), "{kept:?} {removed:?}");
        }
    }
}
