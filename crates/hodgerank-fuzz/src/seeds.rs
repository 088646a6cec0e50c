//! Inputs to start from: small files of every format and encoding, behind bytes for options.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};

use crate::readers::{gzip, zstd};
use crate::tables::{arrow_file, arrow_stream, database, parquet_file};

pub(crate) const CSV_WORDS: &[&[u8]] = &[
    b"left",
    b"right",
    b"winner",
    b"loser",
    b"tie",
    b"outcome",
    b"annotator",
    b"count",
    b"by",
    b"y",
    b"\r\n",
    b"\n\n",
    b"\"\"",
    b",\"",
    b"\",",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"-1",
    b"1e308",
    b"nan",
    b"9007199254740993",
    b"\0",
    b"\t",
    b";",
    b"is_a_selected",
    b"label",
];

pub(crate) const JSON_WORDS: &[&[u8]] = &[
    b"{\"",
    b"\":",
    b"\":\"",
    b"\",\"",
    b"}\n",
    b"\\u0000",
    b"\\ud800",
    b"[[[[",
    b"null",
    b"true",
    b"1e999",
    b"-0.0",
    b"\"left\"",
    b"\"right\"",
    b"\"winner\"",
    b"\"loser\"",
    b"\"y\"",
    b"\"count\"",
    b"\"annotator\"",
    b"{\"a\":{}}",
    b"\xef\xbb\xbf",
    b"\\n",
];

pub(crate) const BINARY_WORDS: &[&[u8]] = &[
    b"PAR1",
    b"ARROW1\0\0",
    b"\xff\xff\xff\xff",
    b"\0\0\0\0",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\x80",
    b"\x01\0\0\0",
    b"left",
    b"right",
    b"winner",
    b"\x7f",
    b"\x80",
];

pub(crate) const SQLITE_WORDS: &[&[u8]] = &[
    b"SQLite format 3\0",
    b"hodgerank_votes",
    b"CREATE TABLE votes(winner,loser)",
    b"CREATE VIEW v AS SELECT",
    b"votes",
    b"\x0d\0\0\0",
    b"\x05\0\0\0",
    b"\0\0\0\x02",
    b"\xff\xff\xff\xff",
    b"\x81\x01",
    b"left",
    b"winner",
];

/// Options that change nothing: see `read_options`.
const DEFAULTS: [u8; crate::read_options::OPTION_BYTES] = [0; 3];

/// Option bytes with `--on-error skip`.
const SKIP: [u8; crate::read_options::OPTION_BYTES] = [0, 0, 1 << 6];

/// Delimited text, with and without mistakes.
fn texts() -> Vec<Vec<u8>> {
    let utf16 = |text: &str, big: bool| -> Vec<u8> {
        let unit = |u: u16| if big { u.to_be_bytes() } else { u.to_le_bytes() };
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(unit).collect()
    };
    let simple = "left,right,winner\na,b,left\nb,c,right\na,c,tie\nc,a,a\n";
    let mut texts: Vec<Vec<u8>> = [
        simple,
        "winner,loser\na,b\nb,c\nc,a\n",
        "left,right,y\na,b,1\nb,c,-2.5\na,c,1e300\na,b,0\n",
        "left,right,outcome,annotator,count\na,b,left,ann,2\nb,c,b,bob,0\na,c,draw,,9007199254740992\n",
        "by,condition_a,condition_b,is_a_selected\nx,a,b,1\ny,a,b,0\nx,b,a,true\n",
        "left;right;winner\na;b;left\n",
        "left\tright\twinner\na\tb\tleft\n",
        "left|right|winner\na|b|left\n",
        "\u{feff}left,right,winner\r\na,b,left\r\n\r\nb,c,right",
        "left,right,winner\n\"a\",\"b, \"\"c\"\"\",left\n\"d\ne\",\"f\r\ng\",right\n",
        "left,right,winner\n\"a,b,left\n",
        "left,right,winner\na,b\nb,c,left,extra\na,a,left\n,b,left\na,b,maybe\n",
        "left,right,winner\na\0b,c,left\nc,\u{202e}d,right\n",
        "winner,loser,note\na,b,\"x\"y\nb,a,\"\n\"\n",
        "\n\n\nleft,right,winner\n\na,b,left\n\n",
        "left,right,winner,left\na,b,left,c\n",
        "left,right,winner\n1,2,1\n2,1,2\n1,3,3\n",
        "left,right,winner\n",
        "left,right,label\nvideo 1,video 2,video 1\nvideo 2,video 10,tie\n",
        "",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    texts.push(utf16(simple, true));
    texts.push(utf16(simple, false));
    texts.push([simple.as_bytes(), b"caf\xe9,b,left\n"].concat());
    texts.push(simple.as_bytes().iter().flat_map(|&byte| [byte, 0]).collect());
    texts
}

/// Every text behind these first bytes.
fn behind(first: &[u8], options: &[u8], texts: &[Vec<u8>]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| [first, options, text].concat()).collect()
}

pub(crate) fn delimited() -> Vec<Vec<u8>> {
    let mut seeds = behind(&[0], &DEFAULTS, &texts());
    seeds.extend(behind(&[0], &SKIP, &texts()));
    seeds.extend(behind(&[1], &DEFAULTS, &texts()[6..7]));
    // `--by`, `--outcome-as label`, `--delimiter |`.
    seeds.extend(behind(&[0], &[0, 0, 1 << 5], &texts()[4..5]));
    seeds.extend(behind(&[0], &[2, 0, 0], &texts()[16..19]));
    seeds.extend(behind(&[0], &[0, 4, 0], &texts()[7..8]));
    seeds
}

fn json_texts() -> Vec<Vec<u8>> {
    [
        "{\"left\":\"a\",\"right\":\"b\",\"winner\":\"left\"}\n{\"left\":\"b\",\"right\":\"c\",\"winner\":\"tie\"}\n",
        "{\"winner\":\"a\",\"loser\":\"b\"}\n\n{\"winner\":1,\"loser\":2}\r\n{\"winner\":true,\"loser\":1.5}",
        "{\"y\":-2.5e3,\"left\":\"\\u00e9\\n\",\"right\":\"\\ud83d\\ude00\",\"count\":3,\"annotator\":null}\n",
        "\u{feff}{\"winner\":\"a\",\"loser\":\"b\",\"extra\":{\"deep\":[[1,2],{}]}}\n",
        "{\"winner\":\"a\",\"loser\":\"b\"}\n{\"winner\":\"a\"}\n{\"winner\":\"a\",\"loser\":[1]}\nnot json\n",
        "{\"winner\":\"a\",\"winner\":\"b\",\"loser\":\"c\"}\n",
        "[{\"winner\":\"a\",\"loser\":\"b\"}]\n",
        "{}\n{}\n",
        "{\"winner\":\"a\\u0000\",\"loser\":\"\\ud800\"}\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

pub(crate) fn json_lines() -> Vec<Vec<u8>> {
    let mut seeds = behind(&[0], &DEFAULTS, &json_texts());
    seeds.extend(behind(&[0], &SKIP, &json_texts()));
    seeds
}

/// Tables of columns of several types.
fn batches() -> Vec<RecordBatch> {
    let text = |values: [&str; 3]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
    let items = || [("left", text(["a", "b", "a"])), ("right", text(["b", "c", "c"]))];
    let winner = ("winner", text(["left", "right", "tie"]));
    let y = ("y", Arc::new(Float64Array::from(vec![Some(1.0), None, Some(-2.5)])) as ArrayRef);
    let count = ("count", Arc::new(Int64Array::from(vec![1, 0, 7])) as ArrayRef);
    let [left, right] = items();
    let numbers = Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef;
    [
        vec![left.clone(), right.clone(), winner],
        vec![left, right.clone(), y, count],
        vec![("winner", numbers), ("loser", right.1)],
    ]
    .map(|columns| RecordBatch::try_from_iter(columns).expect("columns of one length"))
    .into()
}

pub(crate) fn parquet() -> Vec<Vec<u8>> {
    let files: Vec<Vec<u8>> = batches().iter().map(parquet_file).collect();
    behind(&[0], &DEFAULTS, &files)
}

pub(crate) fn arrow() -> Vec<Vec<u8>> {
    let batches = batches();
    let files: Vec<Vec<u8>> =
        batches.iter().flat_map(|batch| [arrow_file(batch), arrow_stream(batch)]).collect();
    behind(&[0], &DEFAULTS, &files)
}

/// Small databases: one table, a view, several tables.
pub(crate) fn sqlite() -> Vec<Vec<u8>> {
    const VOTES: &str = "CREATE TABLE votes(left TEXT, right TEXT, winner, annotator, count INTEGER);
        INSERT INTO votes VALUES ('a', 'b', 'left', 'ann', 1), ('b', 'c', 2.5, NULL, 3), (7, 'a', -1, 'bob', 1);";
    let statements = [
        VOTES.to_owned(),
        format!("{VOTES} CREATE VIEW hodgerank_votes AS SELECT * FROM votes WHERE count = 1"),
        format!("{VOTES} CREATE TABLE people(name); CREATE INDEX by_left ON votes(left)"),
        "CREATE TABLE v(winner PRIMARY KEY, loser) WITHOUT ROWID; INSERT INTO v VALUES ('a', 'b')"
            .to_owned(),
        "CREATE TABLE v(winner, loser); INSERT INTO v VALUES ('a', x'00ff'), (NULL, 'b')"
            .to_owned(),
    ];
    let files: Vec<Vec<u8>> = statements.iter().map(|sql| database(sql)).collect();
    let mut seeds = behind(&[0], &DEFAULTS, &files);
    seeds.extend(behind(&[0], &SKIP, &files));
    seeds
}

pub(crate) fn compressed() -> Vec<Vec<u8>> {
    let texts = &texts()[..4];
    let packed: Vec<Vec<u8>> = texts.iter().flat_map(|text| [gzip(text), zstd(text)]).collect();
    let mut seeds = behind(&[0], &DEFAULTS, &packed);
    (1..5).for_each(|how| seeds.extend(behind(&[how], &DEFAULTS, texts)));
    seeds.push([&[0], &DEFAULTS[..], &zstd(&parquet_file(&batches()[0]))].concat());
    seeds.push([&[0], &DEFAULTS[..], &gzip(&arrow_file(&batches()[0]))].concat());
    seeds
}

pub(crate) fn clean() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for pattern in [0, 0b0010_1100, 0xff] {
        seeds.extend(behind(&[0, pattern], &DEFAULTS, &texts()));
        seeds.extend(behind(&[1, pattern], &DEFAULTS, &json_texts()));
        seeds.extend(behind(&[0, pattern], &SKIP, &texts()));
    }
    seeds
}

/// Sequences of choices: any bytes are valid.
pub(crate) fn choices() -> Vec<Vec<u8>> {
    let sequence = |k: u32| -> Vec<u8> {
        let byte = |n: u32| (n.wrapping_mul(2_654_435_761).wrapping_add(k * 0x9e37) >> 13) as u8;
        let length = 8 + 12 * (k % 10);
        (k * 1000..k * 1000 + length).map(byte).collect()
    };
    (0..40).map(sequence).collect()
}
