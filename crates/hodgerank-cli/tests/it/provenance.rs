//! Documents say which program computed them, with which options and from which files.

use std::collections::BTreeMap;
use std::hash::Hasher as _;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::{Value, json};
use twox_hash::XxHash64;

use crate::support::{TestDir, files};

/// Every command that writes a document.
const COMMANDS: [&[&str]; 10] = [
    &["rank"],
    &["outliers"],
    &["annotators"],
    &["predict"],
    &["next"],
    &["certify", "--method", "l2"],
    &["compare"],
    &["decompose"],
    &["diagnose"],
    &["path"],
];

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", files::annotated(&files::votes(5, 60)));
    dir
}

/// A file as it is described.
fn described(dir: &TestDir, name: &str) -> Value {
    let bytes = dir.read(name);
    let mut hash = XxHash64::with_seed(0);
    hash.write(&bytes);
    json!({"name": name, "bytes": bytes.len(), "xxh64": format!("{:016x}", hash.finish())})
}

#[test]
fn every_document_says_where_it_comes_from() {
    let dir = dir();
    let file = described(&dir, "v.csv");
    for command in COMMANDS {
        let all = [command, &["v.csv", "--on-error", "skip", "--format", "json"]].concat();
        let run = dir.run(&all);
        let found = run.success().whole_json();
        let program = json!({"name": "hodgerank", "version": env!("CARGO_PKG_VERSION")});
        assert_eq!(found["program"], program, "{command:?}");
        let mut given = json!({"on_error": "skip"});
        if let [_, _, method] = command {
            given["method"] = json!(method);
        }
        assert_eq!(found["options"]["given"], given, "{command:?}");
        assert!(found["options"]["chosen"].is_object(), "{command:?}");
        assert_eq!(found["input"]["files"], json!([file]), "{command:?}");
    }
}

/// Parquet has the same in the metadata of the file.
#[test]
fn parquet_has_it_too() {
    let dir = dir();
    for command in COMMANDS {
        dir.run(&[command, &["v.csv", "-o", "out.parquet"]].concat()).success();
        let json = dir.run(&[command, &["v.csv", "--format", "json"]].concat());
        let json = json.success().whole_json();
        let file = std::fs::File::open(dir.path().join("out.parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let metadata: BTreeMap<&str, &str> = metadata
            .iter()
            .filter_map(|entry| Some((&*entry.key, entry.value.as_deref()?)))
            .collect();
        let parse = |key: &str| serde_json::from_str::<Value>(metadata[key]).unwrap();
        assert_eq!(parse("hodgerank.program"), json["program"], "{command:?}");
        assert_eq!(parse("hodgerank.options"), json["options"], "{command:?}");
        assert_eq!(parse("hodgerank.files"), json["input"]["files"], "{command:?}");
    }
}

#[test]
fn the_method_and_rule_that_were_chosen_are_named() {
    let dir = dir();
    let run = |arguments: &[&str]| {
        let all = [&["rank", "v.csv", "--format", "json"], arguments].concat();
        dir.run(&all).success().whole_json()
    };
    let found = run(&[]);
    assert_eq!(found["options"]["chosen"]["method"], "crowd");
    assert_eq!(found["options"]["chosen"]["outliers"], "auto");
    assert_eq!(found["method"]["rule"], "auto");
    let found = run(&["--method", "hlasso", "--lambda", "1.5"]);
    assert_eq!(found["options"]["given"], json!({"method": "hlasso", "lambda": "1.5"}));
    assert_eq!(found["options"]["chosen"].get("method"), None);
    assert_eq!(found["method"]["rule"], "lambda=1.5");
    assert_eq!(run(&["--method", "l2"])["method"].get("rule"), None);
}

/// All formats, plain and compressed, from files, pipes and standard input; one pass or two.
#[test]
fn hashes_are_those_of_whole_files() {
    let dir = dir();
    let source = hodgerank_testdata::directory().join("formats");
    for entry in std::fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.starts_with("votes.") {
            continue;
        }
        dir.write(name, std::fs::read(&path).unwrap());
        let expected = described(&dir, name);
        for command in ["rank", "outliers"] {
            let run = dir.run(&[command, name, "--format", "json"]).success();
            assert_eq!(run.whole_json()["input"]["files"], json!([expected]), "{command} {name}");
            let all = [command, "-", "--format", "json"];
            let run = dir.run_with_stdin(&all, &dir.read(name)).success();
            let found = run.whole_json()["input"]["files"][0].clone();
            assert_eq!(found["name"], "-");
            for key in ["bytes", "xxh64"] {
                assert_eq!(found[key], expected[key], "{command} < {name}");
            }
        }
    }
}

#[test]
fn several_files_and_studies_are_listed_once() {
    let dir = dir();
    dir.write("w.csv", files::annotated(&files::votes(5, 40)));
    let expected = json!([described(&dir, "v.csv"), described(&dir, "w.csv")]);
    for command in COMMANDS {
        let files = &["v.csv", "w.csv", "--by", "annotator", "--format", "json"];
        let all = [command, files].concat();
        let run = dir.run(&all);
        // Annotators cannot be both the studies and the people in them.
        if run.code == Some(0) {
            let mut found = run.whole_json();
            if found.is_array() {
                found = found[0].take();
            }
            assert_eq!(found["input"], json!({"files": expected}), "{command:?}");
        }
    }
    let run = dir.run(&["rank", "v.csv", "w.csv", "--by", "annotator", "--format", "json"]);
    assert!(run.success().whole_json()["groups_by"][0]["input"].get("files").is_none());
}

#[test]
fn options_that_do_not_change_the_result_do_not_change_the_document() {
    let dir = dir();
    let run = |arguments: &[&str]| {
        dir.run(&[&["rank", "v.csv", "--format", "json"], arguments].concat()).success().stdout
    };
    let expected = run(&[]);
    for arguments in [&["--threads", "1"][..], &["--quiet"], &["--top", "3"], &["-o", "-"]] {
        assert_eq!(run(arguments), expected, "{arguments:?}");
    }
}
