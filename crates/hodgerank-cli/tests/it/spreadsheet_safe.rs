//! `--spreadsheet-safe`: labels that a spreadsheet would run as formulas become text.

use crate::support::TestDir;

const VOTES: &str =
    "left,right,y,annotator\n=a,b,1,@p\n=a,+b,2,@p\nb,+b,1,q\n+b,=a,-1.5,q\n-7,b,-2,\"=q,r\"\n";

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("v.csv", VOTES);
    dir
}

/// Cells of a CSV file that begin like a formula and are no numbers.
fn formulas(csv: &str) -> Vec<String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(csv.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cells = records.iter().flat_map(|record| record.iter().map(str::to_owned));
    cells.filter(|c| c.starts_with(['=', '+', '-', '@']) && c.parse::<f64>().is_err()).collect()
}

#[test]
fn every_table_can_be_made_safe() {
    let dir = dir();
    for command in [
        &["rank"][..],
        &["rank", "--by", "annotator"],
        &["compare", "--methods", "l2,hlasso"],
        &["path", "--method", "hlasso"],
        &["path", "--method", "hlasso", "--what", "events"],
        &["outliers", "--all"],
        &["annotators"],
        &["certify", "--method", "l2"],
        &["decompose"],
        &["diagnose"],
        &["predict"],
        &["next"],
        &["predict", "--matrix"],
    ] {
        let plain = [&command[..1], &["v.csv", "--format", "csv"], &command[1..]].concat();
        let exact = dir.run(&plain).success();
        let safe = dir.run(&[&plain[..], &["--spreadsheet-safe"]].concat()).success();
        assert_eq!(formulas(safe.text()), [""; 0], "{command:?}");
        if command[0] == "rank" {
            assert!(formulas(exact.text()).contains(&"=a".to_owned()), "{}", exact.text());
            assert!(safe.text().contains("'=a") && safe.text().contains("'+b"));
            // Numbers stay numbers, also as labels.
            assert!(safe.text().contains(",-7,") && !safe.text().contains("'-7"));
        }
        assert_eq!(
            safe.text().replace('\'', ""),
            exact.text(),
            "{command:?}: nothing else differs"
        );
    }
}

#[test]
fn clean_changes_labels_only_if_asked() {
    let dir = dir();
    let l2 = ["clean", "v.csv", "--method", "l2"];
    assert_eq!(dir.run(&l2).success().text(), VOTES);
    let safe = dir.run(&[&l2[..], &["--spreadsheet-safe"]].concat()).success();
    let expected = "left,right,y,annotator\n'=a,b,1,'@p\n'=a,'+b,2,'@p\nb,'+b,1,q\n'+b,'=a,-1.5,q\n-7,b,-2,\"'=q,r\"\n";
    assert_eq!(safe.text(), expected);
    dir.write("v.tsv", "winner\tloser\r\n=a,\t@b\r\nc\t=a,\r\n");
    let arguments = ["clean", "v.tsv", "--method", "l2", "--spreadsheet-safe"];
    let safe = dir.run(&arguments).success();
    assert_eq!(safe.text(), "winner\tloser\r\n'=a,\t'@b\r\nc\t'=a,\r\n");
}

#[test]
fn other_formats_refuse_the_option() {
    let dir = dir();
    dir.write("v.jsonl", "{\"winner\": \"=a\", \"loser\": \"b\"}\n");
    for arguments in [
        &["rank", "v.csv", "--format", "json"][..],
        &["rank", "v.csv", "-o", "out.parquet"],
        &["rank", "v.csv"],
        &["clean", "v.jsonl"],
    ] {
        let run = dir.run(&[arguments, &["--spreadsheet-safe"]].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("--spreadsheet-safe is an option for CSV"), "{}", run.stderr);
    }
    assert_eq!(dir.file_names(), ["v.csv", "v.jsonl"]);
}
