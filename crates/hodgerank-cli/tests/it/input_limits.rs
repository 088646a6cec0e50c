//! Input that is too large, too deep or too wide: an error, or an answer in reasonable time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Int64Array};

use crate::support::files::{self, table, text};
use crate::support::{Run, TestDir};

/// Generous: the slow paths that these tests are about took many times as long.
const LIMIT: Duration = Duration::from_secs(10);

fn timed(run: impl FnOnce() -> Run) -> Run {
    let start = Instant::now();
    let run = run();
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
    run
}

/// The message, without line breaks.
fn message(run: &Run) -> String {
    run.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn assert_refused(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    for part in parts {
        assert!(message(run).contains(part), "{part}: {}", message(run));
    }
}

#[test]
fn blank_lines_before_the_header_are_skipped() {
    let dir = TestDir::new();
    let blank = "\n".repeat(500_000) + &" \r\n".repeat(500_000);
    dir.write("v.csv", blank.clone() + "winner,loser\na,b\nb,c\na,c\n");
    let csv = timed(|| dir.run(&["rank", "v.csv", "--method", "l2", "--format", "csv"])).success();
    dir.write("plain.csv", "winner,loser\na,b\nb,c\na,c\n");
    assert_eq!(csv.text(), dir.rank_csv(&["plain.csv", "--method", "l2"]));
    let json = "{\"winner\":\"a\",\"loser\":\"b\"}\n{\"winner\":\"b\",\"loser\":\"c\"}\n";
    dir.write("v.jsonl", blank.clone() + json);
    timed(|| dir.run(&["rank", "v.jsonl", "--method", "l2"])).success();
    dir.write("bad.csv", blank.clone() + "winner,loser\na,b\nb,b\n");
    assert_refused(&timed(|| dir.run(&["rank", "bad.csv"])), &["bad.csv, line 1000003"]);
    dir.write("empty.csv", blank);
    assert_refused(&timed(|| dir.run(&["rank", "empty.csv"])), &["the file is empty"]);
}

/// `clean` writes the blank lines again.
#[test]
fn blank_lines_are_kept_by_clean() {
    let dir = TestDir::new();
    let votes = "\n \n\nwinner,loser\na,b\n\nb,c\na,c\n";
    dir.write("v.csv", votes);
    let run = dir.run(&["clean", "v.csv", "--method", "hlasso", "--outliers", "0"]).success();
    assert_eq!(run.text(), votes);
}

/// The time depends on the number of bytes, not on the number of keys.
#[test]
fn wide_json_lines_are_read_as_fast_as_others() {
    let dir = TestDir::new();
    let keys: String = (0..1000).map(|k| format!(",\"key-{k}\":{k}")).collect();
    let list = format!(",\"list\":[1{}]", ",1".repeat(keys.len() / 2));
    let seconds = |extra: &str| {
        let row = |k: usize| {
            let loser = (k % 5 + 1 + k % 4) % 5;
            format!("{{\"winner\":\"i{}\",\"loser\":\"i{loser}\"{extra}}}\n", k % 5)
        };
        dir.write("v.jsonl", (0..1500).map(row).collect::<String>());
        let once = || {
            let start = Instant::now();
            dir.run(&["rank", "v.jsonl", "--method", "l2", "--threads", "1"]).success();
            start.elapsed().as_secs_f64()
        };
        // The shortest of several, because other programs run too.
        (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
    };
    let (wide, narrow) = (seconds(&keys), seconds(&list));
    assert!(wide < 5.0 * narrow + 0.2, "{wide} s with many keys, {narrow} s with a long list");
}

#[test]
fn long_first_lines_are_read() {
    let dir = TestDir::new();
    let long = "x".repeat(3 << 20);
    let rows = format!(
        "{{\"note\":\"{long}\",\"winner\":\"a\",\"loser\":\"b\"}}\n\
         {{\"winner\":\"b\",\"loser\":\"c\"}}\n"
    );
    dir.write("v.jsonl", rows);
    dir.run(&["rank", "v.jsonl", "--method", "l2"]).success();
    dir.write("v.csv", format!("winner,loser,note {long}\na,b,1\nb,c,2\n"));
    dir.run(&["rank", "v.csv", "--method", "l2"]).success();
}

#[test]
fn long_records_are_named_for_what_they_are() {
    let dir = TestDir::new();
    let long = "x".repeat(70 << 20);
    dir.write("plain.csv", format!("winner,loser\na,b\nc,{long}\n"));
    let run = dir.run(&["rank", "plain.csv"]);
    assert_refused(&run, &["longer than 64 MiB"]);
    assert!(!message(&run).contains("quote"), "{}", message(&run));
    dir.write("quoted.csv", format!("winner,loser\na,b\nc,\"{long}\n"));
    assert_refused(&dir.run(&["rank", "quoted.csv"]), &["a quote is opened and never closed"]);
    dir.write("long.jsonl", format!("{{\"winner\":\"a\",\"loser\":\"{long}\"}}\n"));
    assert_refused(&dir.run(&["rank", "long.jsonl"]), &["longer than 64 MiB"]);
}

#[test]
fn long_names_are_refused() {
    let dir = TestDir::new();
    let fits = "x".repeat(1 << 20);
    let rows = |name: &str| format!("winner,loser,annotator\na,{name},w\n{name},b,w\n");
    dir.write("v.csv", rows(&fits));
    dir.run(&["rank", "v.csv", "--method", "l2", "--format", "csv"]).success();
    dir.write("v.csv", rows(&(fits.clone() + "x")));
    assert_refused(
        &dir.run(&["rank", "v.csv"]),
        &["line 2, column 2", "longer than 1048576 bytes"],
    );
    dir.write("v.csv", format!("winner,loser,annotator\na,b,{fits}x\n"));
    assert_refused(&dir.run(&["rank", "v.csv"]), &["column 3 (`annotator`)", "longer than"]);
}

/// Small files that claim 500 MB after decompression. The claims are refused before memory is
/// allocated for them.
#[test]
fn large_claims_are_refused_before_anything_is_decoded() {
    const CLAIM: u64 = 500_000_000;
    let dir = TestDir::new();
    let long = "x".repeat(54_321);
    let batch = table(vec![
        ("winner", text([long.as_str(), "b"].into_iter())),
        ("loser", text(["c", "c"].into_iter())),
    ]);
    // The first page's header follows the four magic bytes: its type, then its size, each after the
    // byte that announces a number.
    let mut parquet = files::parquet(&batch, 10);
    assert_eq!((parquet[4], parquet[6]), (0x15, 0x15));
    let size = 7 + parquet[7..].iter().take_while(|&&byte| byte & 0x80 != 0).count();
    parquet.splice(7..=size, varint(CLAIM << 1));
    dir.write("v.parquet", parquet);
    // A compressed buffer begins with its length. The bytes of the labels follow their ends, which
    // have the same number.
    let length = (long.len() as u64 + 1).to_le_bytes();
    for (name, mut arrow) in [
        ("v.arrow", files::packed_arrow_file(&batch)),
        ("v.arrows", files::packed_arrow_stream(&batch)),
    ] {
        let at = arrow.windows(8).rposition(|bytes| bytes == length).expect("the length");
        arrow[at..at + 8].copy_from_slice(&CLAIM.to_le_bytes());
        dir.write(name, arrow);
    }
    for name in ["v.parquet", "v.arrow", "v.arrows"] {
        let parts = [name, "takes 500 MB when it is decompressed", "write the file again"];
        assert_refused(&dir.run(&["rank", name]), &parts);
    }
}

/// A number in seven bits a byte.
fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[test]
fn too_many_columns_are_refused() {
    let dir = TestDir::new();
    let header: Vec<String> = (0..20_000).map(|k| format!("c{k}")).collect();
    let row = vec!["1"; 20_000].join(",");
    dir.write("v.csv", format!("winner,loser,{}\na,b,{row}\n", header.join(",")));
    assert_refused(&dir.run(&["rank", "v.csv"]), &["it has 20002 columns, more than 16384"]);
}

#[test]
fn nested_json_does_not_overflow_the_stack() {
    let dir = TestDir::new();
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    dir.write("v.jsonl", format!("{{\"winner\":\"a\",\"loser\":\"b\",\"deep\":{deep}}}\n"));
    dir.run(&["rank", "v.jsonl", "--method", "l2"]).success();
    dir.write("w.jsonl", format!("{{\"winner\":\"a\",\"loser\":{deep}}}\n"));
    assert_eq!(dir.run(&["rank", "w.jsonl"]).code, Some(2));
}

#[test]
fn nested_parquet_does_not_overflow_the_stack() {
    let Some(data) = hodgerank_testdata::published_studies() else { return };
    let path = data.join("hard/nested-10000.parquet");
    if !path.is_file() {
        return hodgerank_testdata::skip("needs the file hard/nested-10000.parquet");
    }
    let run = TestDir::new().run(&["rank", path.to_str().expect("a plain path")]);
    assert_refused(&run, &["nested in more than 100 levels"]);
}

#[test]
fn sums_of_counts_are_exact_or_refused() {
    let dir = TestDir::new();
    let max: u64 = 1 << 53;
    let count = |counts: &[u64]| {
        let row = |count: &u64| format!("a,b,{count}\n");
        format!("winner,loser,count\n{}", counts.iter().map(row).collect::<String>())
    };
    dir.write("v.csv", count(&[max - 1, 1]));
    dir.run(&["rank", "v.csv", "--method", "l2", "--format", "csv"]).success();
    for counts in [&[max, 1][..], &[max, max, max, max]] {
        dir.write("v.csv", count(counts));
        assert_refused(&dir.run(&["rank", "v.csv"]), &["votes, more than 2^53"]);
    }
    dir.write("v.csv", count(&[max + 1]));
    assert_refused(&dir.run(&["rank", "v.csv"]), &["line 2, column 3", "larger than 2^53"]);
    let names = |name: &'static str| text([name].into_iter());
    let counts: ArrayRef = Arc::new(Int64Array::from(vec![max as i64 + 1]));
    let batch = table(vec![("winner", names("a")), ("loser", names("b")), ("count", counts)]);
    dir.write("v.parquet", files::parquet(&batch, 10));
    assert_refused(&dir.run(&["rank", "v.parquet"]), &["larger than 2^53"]);
}

#[test]
fn ambiguous_columns_are_questioned() {
    let dir = TestDir::new();
    dir.write("v.csv", "winner,loser,left,right,outcome\na,b,b,a,right\nc,a,a,c,right\n");
    assert_refused(
        &dir.run(&["rank", "v.csv"]),
        &["two pairs of columns", "--winner winner --loser loser", "--left left --right right"],
    );
    let given = ["rank", "v.csv", "--method", "l2", "--winner", "winner", "--loser", "loser"];
    dir.run(&given).success();
    let given = ["--left", "left", "--right", "right", "--outcome", "outcome"];
    dir.run(&[&["rank", "v.csv", "--method", "l2"], &given[..]].concat()).success();
    dir.write("w.csv", "winner,loser,worker,annotator\na,b,w,x\nb,c,w,y\n");
    assert_refused(
        &dir.run(&["rank", "w.csv"]),
        &["could be the annotator", "--annotator annotator or --annotator worker"],
    );
    dir.run(&["rank", "w.csv", "--method", "l2", "--annotator", "worker"]).success();
}

/// A column of the footer says that it is compressed with Brotli; no page is decoded.
#[test]
fn brotli_is_named() {
    let dir = TestDir::new();
    let batch =
        table(vec![("winner", text(["a"].into_iter())), ("loser", text(["b"].into_iter()))]);
    // In the metadata, the codec follows the column's name: 0 is none, 4 is Brotli, stored doubled.
    let mut parquet = files::parquet(&batch, 10);
    let found = parquet.windows(8).position(|bytes| bytes == b"winner\x15\x00");
    parquet[found.expect("the codec") + 7] = 8;
    dir.write("v.parquet", parquet);
    let run = dir.run(&["rank", "v.parquet"]);
    assert_refused(&run, &["compressed with Brotli, which is not supported", "zstd"]);
    assert!(!message(&run).contains("damaged"), "{}", message(&run));
}

/// A header that cannot be used ends the run at once: the writer of the pipe notices.
#[test]
fn the_header_of_a_pipe_is_checked_before_the_rest_is_copied() {
    use std::io::Write as _;
    let dir = TestDir::new();
    let mut child = dir.spawn(&["clean", "-"]);
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    stdin.write_all(b"first,second\n").expect("the program reads");
    let rows = "a,b\n".repeat(1 << 16);
    // 4 GB in all, if nobody stops it.
    let stopped = (0..1 << 14).any(|_| stdin.write_all(rows.as_bytes()).is_err());
    assert!(stopped);
    drop(stdin);
    assert_eq!(child.wait_with_output().expect("the program ends").status.code(), Some(2));
}

#[cfg(target_os = "linux")]
mod little_room {
    use super::*;

    /// Runs a shell command line with the program as `$0`.
    fn shell(dir: &TestDir, line: &str) -> Run {
        let output = std::process::Command::new("sh")
            .args(["-c", line, env!("CARGO_BIN_EXE_hodgerank")])
            .current_dir(dir.path())
            .output()
            .expect("there is a shell");
        Run {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
        }
    }

    #[test]
    fn a_missing_folder_for_temporary_files_is_named() {
        let dir = TestDir::new();
        dir.write("v.csv", "winner,loser\na,b\nb,c\na,c\n");
        let run = shell(&dir, "cat v.csv | TMPDIR=/nonexistent \"$0\" clean - --method hlasso");
        assert!(message(&run).contains("temporary file in /nonexistent"), "{}", message(&run));
        assert!(!message(&run).contains("cannot be read"), "{}", message(&run));
        assert_eq!(run.code, Some(1), "{}", run.stderr);
    }

    fn ring(items: usize) -> String {
        let row = |k: usize| format!("i{k},i{}\ni{k},i{}\n", (k + 1) % items, (k * 7 + 3) % items);
        let rows = (0..items).filter(|k| (k * 7 + 3) % items != *k);
        format!("winner,loser\n{}", rows.map(row).collect::<String>())
    }

    #[test]
    fn many_items_need_little_address_space() {
        let dir = TestDir::new();
        dir.write("v.csv", ring(200_000));
        let rank = "ulimit -v 500000; \"$0\" rank v.csv --method l2 --format csv --threads 2";
        let run = shell(&dir, rank).success();
        assert_eq!(run.text().lines().count(), 200_001);
    }

    #[test]
    fn too_little_memory_is_an_error_with_figures() {
        let dir = TestDir::new();
        dir.write("v.csv", ring(1_500_000));
        let run = shell(&dir, "ulimit -v 400000; \"$0\" rank v.csv --method l2 --threads 1");
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(message(&run).contains("not enough memory for"), "{}", message(&run));
        assert!(message(&run).contains("MB are available"), "{}", message(&run));
    }
}
