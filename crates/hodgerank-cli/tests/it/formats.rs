//! The same votes in every format, notation and order give the same ranking, byte by byte.

use std::sync::Arc;

use crate::support::TestDir;
use crate::support::files::{self, Vote, gzip, table, zstd};
use arrow_array::types::{Int8Type, Int32Type, UInt16Type};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, DictionaryArray, Float32Array, Int16Array, Int64Array,
    LargeStringArray, StringArray, StringViewArray, UInt8Array, UInt64Array,
};

fn study() -> Vec<Vote> {
    files::votes(15, 3000)
}

/// The ranking that every representation of [`study`] must give.
fn expected() -> String {
    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&study(), ","));
    let ranking = dir.rank_csv(&["v.csv"]);
    assert!(
        ranking.starts_with("rank,item,score,se,low,high,rank_low,rank_high,tier,component,comparisons,wins,losses,ties,flagged,provisional\n")
    );
    assert_eq!(ranking.lines().count(), 16);
    ranking
}

#[test]
fn every_format_plain_compressed_and_on_standard_input() {
    let (study, expected) = (study(), expected());
    let batch = files::batch(&study);
    let (csv, tsv) = (files::separated(&study, ","), files::separated(&study, "\t"));
    for (name, bytes) in [
        ("v.csv", csv.clone().into_bytes()),
        ("v.tsv", tsv.into_bytes()),
        ("v.jsonl", files::json_lines(&study).into_bytes()),
        ("v.ndjson", files::json_lines(&study).into_bytes()),
        ("v.parquet", files::parquet(&batch, 700)),
        ("v.arrow", files::arrow_file(&batch)),
        ("stream.arrow", files::arrow_stream(&batch)),
        ("packed.arrow", files::packed_arrow_file(&batch)),
        ("packed-stream.arrow", files::packed_arrow_stream(&batch)),
        ("semicolons.csv", files::separated(&study, ";").into_bytes()),
        ("tabs.csv", files::separated(&study, "\t").into_bytes()),
    ] {
        let dir = TestDir::new();
        for (name, bytes) in [
            (name.to_owned(), bytes.clone()),
            (format!("{name}.gz"), gzip(&bytes)),
            (format!("{name}.zst"), zstd(&bytes)),
        ] {
            dir.write(&name, &bytes);
            for threads in ["1", "2", "4"] {
                let ranking = dir.rank_csv(&[&name, "--threads", threads]);
                assert_eq!(ranking, expected, "{name} on {threads} threads");
            }
            // The format is recognised by the content, compressed or not.
            let run = dir.run_with_stdin(&["rank", "-", "--format", "csv"], &bytes).success();
            assert_eq!(run.text(), expected, "{name} on standard input");
        }
    }
}

#[test]
fn text_notations() {
    let (study, expected) = (study(), expected());
    let csv = files::separated(&study, ",");
    let marked = [b"\xef\xbb\xbf", csv.as_bytes()].concat();
    let jsonl = files::json_lines(&study);
    for (name, bytes) in [
        ("carriage returns", csv.replace('\n', "\r\n").into_bytes()),
        ("byte-order mark", marked),
        ("byte-order mark, JSON", [b"\xef\xbb\xbf", jsonl.as_bytes()].concat()),
        ("blank lines", format!("\n\r\n{}\n\n\r\n", csv.replace('\n', "\n\n")).into_bytes()),
        ("blank lines, JSON", jsonl.replace('\n', "\r\n\n").into_bytes()),
        ("no last line end", csv.trim_end().as_bytes().to_vec()),
        ("no last line end, JSON", jsonl.trim_end().as_bytes().to_vec()),
        ("quotes", quote_all(&csv).into_bytes()),
        ("capitals", csv.replace(",left\n", ",Left\n").replace(",tie", ", TIE ").into_bytes()),
        (
            "other words",
            csv.replace(",left\n", ",model_a\n")
                .replace(",right\n", ",B\n")
                .replace(",tie", ",tie (bothbad)")
                .into_bytes(),
        ),
        (
            "names of columns",
            csv.replacen("left,right,winner", "Model A,model-b,Outcome", 1).into_bytes(),
        ),
        (
            "other columns",
            csv.replace('\n', ",\"x,\n\"\"y\"\n")
                .replacen(",\"x,\n\"\"y\"\n", ",note\n", 1)
                .into_bytes(),
        ),
    ] {
        let dir = TestDir::new();
        let run = dir.run_with_stdin(&["rank", "-", "--format", "csv"], &bytes).success();
        assert_eq!(run.text(), expected, "{name}");
    }
}

fn quote_all(csv: &str) -> String {
    let line = |line: &str| format!("\"{}\"\r\n", line.replace(',', "\",\""));
    csv.lines().map(line).collect()
}

#[test]
fn outcome_notations() {
    let (study, expected) = (study(), expected());
    let dir = TestDir::new();
    let check = |name: &str, header: &str, row: &dyn Fn(&Vote) -> String, arguments: &[&str]| {
        let rows: String = study.iter().map(|vote| row(vote) + "\n").collect();
        dir.write("v.csv", format!("{header}\n{rows}"));
        assert_eq!(dir.rank_csv(&[&["v.csv"], arguments].concat()), expected, "{name}");
    };
    let number = |vote: &Vote| match vote.2 {
        "left" => "1",
        "right" => "-1.0",
        _ => "0",
    };
    let label = |vote: &Vote| match vote.2 {
        "left" => vote.0.clone(),
        "right" => vote.1.clone(),
        tie => tie.to_owned(),
    };
    check("numbers", "left,right,y", &|v| format!("{},{},{}", v.0, v.1, number(v)), &[]);
    check("score", "video_a,video_b,score", &|v| format!("{},{},{}", v.0, v.1, number(v)), &[]);
    check("labels", "left,right,label", &|v| format!("{},{},{}", v.0, v.1, label(v)), &[]);
    let as_label: &[&str] = &["--outcome-as", "label"];
    check(
        "labels, said",
        "left,right,winner",
        &|v| format!("{},{},{}", v.0, v.1, label(v)),
        as_label,
    );
    let as_number: &[&str] = &["--outcome-as", "number"];
    check(
        "numbers, said",
        "left,right,winner",
        &|v| format!("{},{},{}", v.0, v.1, number(v)),
        as_number,
    );
    let given: &[&str] = &["--left", "p", "--right", "q", "--outcome", "said"];
    check("flags", "said,winner,q,p", &|v| format!("{},x,{},{}", v.2, v.1, v.0), given);
    check(
        "turned round",
        "left,right,winner",
        &|v| {
            let turned = match v.2 {
                "left" => "right",
                "right" => "left",
                tie => tie,
            };
            format!("{},{},{turned}", v.1, v.0)
        },
        &[],
    );
}

/// Without ties, votes can also be written as winner and loser, or as selections.
#[test]
fn winners_losers_and_selections() {
    let study: Vec<Vote> = study().into_iter().filter(|vote| vote.2 != "tie").collect();
    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&study, ","));
    let expected = dir.rank_csv(&["v.csv"]);
    let won: Vec<(&str, &str)> = study
        .iter()
        .map(|(left, right, who)| if *who == "left" { (left, right) } else { (right, left) })
        .map(|(winner, loser)| (winner.as_str(), loser.as_str()))
        .collect();
    let rows: String = won.iter().map(|(winner, loser)| format!("{loser},{winner}\n")).collect();
    dir.write("w.csv", format!("loser,winner\n{rows}"));
    assert_eq!(dir.rank_csv(&["w.csv"]), expected);
    dir.write("g.csv", format!("bad,good\n{rows}"));
    assert_eq!(dir.rank_csv(&["g.csv", "--winner", "good", "--loser", "bad"]), expected);
    let batch = table(vec![
        ("winner", files::text(won.iter().map(|pair| pair.0))),
        ("loser", files::text(won.iter().map(|pair| pair.1))),
    ]);
    dir.write("w.parquet", files::parquet(&batch, 1000));
    assert_eq!(dir.rank_csv(&["w.parquet"]), expected);

    let selected: Vec<bool> = study.iter().map(|vote| vote.2 == "left").collect();
    let rows = study.iter().zip(&selected);
    let rows: String =
        rows.map(|(v, &left)| format!("{},{},{}\n", v.0, v.1, u8::from(left))).collect();
    dir.write("s.csv", format!("condition_A,condition_B,is_A_selected\n{rows}"));
    assert_eq!(dir.rank_csv(&["s.csv"]), expected);
    dir.write("t.csv", format!("left,right,winner\n{rows}"));
    assert_eq!(dir.rank_csv(&["t.csv", "--outcome-as", "selected"]), expected);
    let batch = table(vec![
        ("condition_A", files::text(study.iter().map(|v| v.0.as_str()))),
        ("condition_B", files::text(study.iter().map(|v| v.1.as_str()))),
        ("is_A_selected", Arc::new(BooleanArray::from(selected))),
    ]);
    dir.write("s.parquet", files::parquet(&batch, 1000));
    dir.write("s.arrow", files::arrow_stream(&batch));
    assert_eq!(dir.rank_csv(&["s.parquet"]), expected);
    assert_eq!(dir.rank_csv(&["s.arrow"]), expected);
}

#[test]
fn column_types() {
    let (study, expected) = (study(), expected());
    let left: Vec<&str> = study.iter().map(|vote| vote.0.as_str()).collect();
    let right: Vec<&str> = study.iter().map(|vote| vote.1.as_str()).collect();
    let winner: Vec<&str> = study.iter().map(|vote| vote.2).collect();
    type Make = fn(&[&str]) -> ArrayRef;
    let kinds: [(&str, Make); 6] = [
        ("Utf8", |values| Arc::new(StringArray::from(values.to_vec()))),
        ("LargeUtf8", |values| Arc::new(LargeStringArray::from(values.to_vec()))),
        ("Utf8View", |values| Arc::new(StringViewArray::from(values.to_vec()))),
        ("Dictionary Int32", |v| {
            Arc::new(v.iter().copied().collect::<DictionaryArray<Int32Type>>())
        }),
        ("Dictionary Int8", |v| Arc::new(v.iter().copied().collect::<DictionaryArray<Int8Type>>())),
        ("Dictionary UInt16", |v| {
            Arc::new(v.iter().copied().collect::<DictionaryArray<UInt16Type>>())
        }),
    ];
    let dir = TestDir::new();
    for (kind, make) in kinds {
        let batch =
            table(vec![("left", make(&left)), ("right", make(&right)), ("winner", make(&winner))]);
        dir.write("v.parquet", files::parquet(&batch, 999));
        dir.write("v.arrow", files::arrow_file(&batch));
        dir.write("s.arrow", files::arrow_stream(&batch));
        for name in ["v.parquet", "v.arrow", "s.arrow"] {
            assert_eq!(dir.rank_csv(&[name]), expected, "{kind}, {name}");
        }
    }
}

#[test]
fn numbers_as_items_outcomes_and_counts() {
    let study = study();
    let number = |name: &str| name["clip-".len()..].parse::<i64>().unwrap();
    let y = |vote: &Vote| f32::from(i8::from(vote.2 == "left") - i8::from(vote.2 == "right"));
    let rows: String =
        study.iter().map(|v| format!("{},{},{},1\n", number(&v.0), number(&v.1), y(v))).collect();
    let dir = TestDir::new();
    dir.write("v.csv", format!("left,right,y,count\n{rows}"));
    let expected = dir.rank_csv(&["v.csv"]);
    let left: Vec<i64> = study.iter().map(|v| number(&v.0)).collect();
    let right: Vec<i64> = study.iter().map(|v| number(&v.1)).collect();
    let small = |values: &[i64]| -> ArrayRef {
        Arc::new(UInt8Array::from_iter_values(values.iter().map(|&v| v as u8)))
    };
    let medium = |values: &[i64]| -> ArrayRef {
        Arc::new(Int16Array::from_iter_values(values.iter().map(|&v| v as i16)))
    };
    let large = |values: &[i64]| -> ArrayRef { Arc::new(Int64Array::from(values.to_vec())) };
    let single = |values: &[i64]| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values(values.iter().map(|&v| v as f32)))
    };
    let outcomes: Vec<i64> = study.iter().map(|v| y(v) as i64).collect();
    let ones: ArrayRef = Arc::new(UInt64Array::from(vec![1; study.len()]));
    for (left, right, y, count) in [
        (small(&left), medium(&right), single(&outcomes), Arc::clone(&ones)),
        (large(&left), small(&right), medium(&outcomes), single(&vec![1; ones.len()])),
    ] {
        let batch = table(vec![("left", left), ("right", right), ("y", y), ("count", count)]);
        dir.write("v.parquet", files::parquet(&batch, 800));
        dir.write("v.arrow", files::arrow_file(&batch));
        assert_eq!(dir.rank_csv(&["v.parquet"]), expected);
        assert_eq!(dir.rank_csv(&["v.arrow"]), expected);
    }
    let rows = study.iter().map(|v| {
        format!("{{\"y\":{:.1},\"left\":{},\"right\":\"{}\"}}\n", y(v), number(&v.0), number(&v.1))
    });
    dir.write("v.jsonl", rows.collect::<String>());
    assert_eq!(dir.rank_csv(&["v.jsonl"]), expected);
}
