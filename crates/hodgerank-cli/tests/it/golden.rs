//! The output of every command on the studies of `testdata`, compared with `testdata/golden`.
//!
//! `HODGERANK_BLESS=1 cargo test --release --workspace --test it golden` replaces the files by
//! the current output; the diff then shows what changed. No output has fields that vary between runs,
//! such as times; experiments that print times are not among the commands.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// Relative difference up to which two numbers are equal: other processors may round sums
/// differently.
const RELATIVE_TOLERANCE: f64 = 1e-9;

/// Absolute difference up to which two numbers are equal, for quantities that are zero up to
/// rounding, such as residuals.
const ABSOLUTE_TOLERANCE: f64 = 1e-12;

/// Name of the golden file, whose ending is the output format, and the command line. Commands run
/// in `testdata`; `OUT` is a temporary directory, whose file of the golden name is compared
/// if the command writes it, and standard output otherwise.
const CASES: &[(&str, &str)] = &[
    ("rank.json", "rank complete.csv"),
    ("rank.csv", "rank complete.csv"),
    ("rank-l2.json", "rank complete.csv --method l2"),
    ("rank-ridge.json", "rank complete.csv --method ridge"),
    ("rank-hlasso.json", "rank complete.csv --method hlasso"),
    ("rank-hlasso-paper.json", "rank complete.csv --method hlasso --outliers 5% --protocol paper"),
    ("rank-lasso-l2.json", "rank complete.csv --method lasso-l2"),
    ("rank-lbi.json", "rank complete.csv --method lbi"),
    ("rank-lbi-time.json", "rank complete.csv --method lbi --kappa 50 --time 0.7 --algorithm 2"),
    ("rank-iss.json", "rank complete.csv --method iss"),
    ("rank-iht.json", "rank complete.csv --method iht"),
    ("rank-ilts.json", "rank complete.csv --method ilts"),
    ("rank-pc-lasso.json", "rank complete.csv --method pc-lasso"),
    ("rank-count.json", "rank incomplete.csv --outliers 40"),
    ("rank-lambda.json", "rank incomplete.csv --method hlasso --lambda 1.2"),
    ("rank-scaled.json", "rank graded.csv --outliers scaled"),
    ("rank-cv.json", "rank graded.csv --outliers cv=3 --seed 2"),
    ("rank-annotators.json", "rank annotators.csv"),
    ("rank-components.json", "rank components.csv"),
    ("rank-by.json", "rank studies.csv --by study"),
    ("rank-by.csv", "rank studies.csv --by study"),
    ("rank-elo.json", "rank annotators.csv --scale elo --anchor item-12=1200 --method l2"),
    ("rank-bt-elo.csv", "rank components.csv --scale elo --method bt"),
    ("rank-against.json", "rank complete.csv --method l2 --against golden/rank.json"),
    ("rank-against.csv", "rank studies.csv --by study --outliers 5% --against golden/rank-by.json"),
    ("outliers.json", "outliers graded.csv"),
    ("outliers.csv", "outliers annotators.csv"),
    ("outliers-all.csv", "outliers formats/votes.csv --all"),
    ("annotators.json", "annotators annotators.csv"),
    ("annotators.csv", "annotators annotators.csv"),
    ("outliers-per-group.json", "outliers incomplete.csv --per-group"),
    ("outliers-by.csv", "outliers studies.csv --by study --per-group"),
    ("clean-kept.csv", "clean formats/votes.csv -o OUT/clean-kept.csv --flagged OUT/flagged.csv"),
    (
        "clean-flagged.csv",
        "clean formats/votes.csv -o OUT/kept.csv --flagged OUT/clean-flagged.csv",
    ),
    ("certify.json", "certify formats/votes.csv"),
    ("certify-pair.csv", "certify complete.csv --method l2 --pair 9,6"),
    ("compare.json", "compare incomplete.csv"),
    ("compare.csv", "compare incomplete.csv --outliers 5%"),
    ("path-iss.json", "path formats/votes.csv --method iss"),
    ("path-hlasso.csv", "path formats/votes.csv --method hlasso --outliers 10%"),
    ("path-lbi.csv", "path formats/votes.csv --method lbi --outliers 10% --what events"),
    ("path-events.json", "path formats/votes.csv --what events"),
    ("decompose.json", "decompose annotators.csv"),
    ("decompose.csv", "decompose incomplete.csv"),
    ("decompose-by.json", "decompose studies.csv --by study"),
    ("diagnose.json", "diagnose annotators.csv"),
    ("diagnose.csv", "diagnose components.csv"),
    ("diagnose-graded.json", "diagnose graded.csv --outliers 5%"),
    ("next.json", "next annotators.csv --pairs 12 --seed 3"),
    ("next.csv", "next studies.csv --by study --pairs 5 --focus top=2"),
    ("predict.json", "predict formats/votes.csv"),
    ("predict.csv", "predict graded.csv"),
    ("predict-matrix.csv", "predict annotators.csv --matrix"),
    ("predict-by.csv", "predict studies.csv --by study --method l2"),
    ("predict-holdout.json", "predict annotators.csv --holdout 20% --seed 1"),
    ("predict-holdout.csv", "predict components.csv --holdout 30% --method bt"),
    ("simulate.csv", "simulate --items 6 --votes 60 --flips 10% --ties 5% --seed 3"),
    (
        "simulate-annotators.jsonl",
        "simulate --items 5 --votes 40 --annotators careful=3,careless=1,malicious=1,always-left=1 \
         --noise bradley-terry --mark-bad",
    ),
    (
        "simulate-graded.tsv",
        "simulate --items 5 --votes 40 --graded --noise gaussian --truth OUT/truth.csv",
    ),
    // Not shoes-claims.csv, whose texts contain rounding errors.
    ("shoes-scores.csv", "experiment shoes --out OUT"),
    ("report.html", "report annotators.csv -o OUT/report.html"),
    ("report-by.html", "report studies.csv --by study -o OUT/report-by.html"),
];

/// The output of a case; of a report, the facts listed by [`facts`].
fn output(name: &str, command: &str) -> String {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    let command = command.replace("OUT", out.to_str().unwrap());
    let mut arguments: Vec<&str> = command.split(' ').collect();
    let ending = name.rsplit_once('.').unwrap().1;
    if !command.contains(out.to_str().unwrap()) || arguments[0] == "simulate" {
        arguments.extend(["--format", ending]);
    }
    let run = Command::new(env!("CARGO_BIN_EXE_hodgerank"))
        .args(arguments)
        .arg("--quiet")
        .current_dir(hodgerank_testdata::directory())
        .output()
        .unwrap();
    assert!(run.status.success(), "{command}: {}", String::from_utf8_lossy(&run.stderr));
    let text = std::fs::read_to_string(out.join(name))
        .unwrap_or_else(|_| String::from_utf8(run.stdout).unwrap());
    // A new version does not change the golden files.
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let text = text.replace(&version, "\"version\": \"VERSION\"");
    if ending == "html" {
        serde_json::to_string_pretty(&facts(&text)).unwrap() + "\n"
    } else {
        text
    }
}

/// Title, items, sections, charts and tables (with their lengths) of a report. Wording, style and
/// script are tested elsewhere.
fn facts(html: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"report\">";
    let (_, rest) = html.split_once(start).unwrap();
    let report: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let section = |section: &Value| {
        let charts: Vec<Value> = list(&section["charts"]).iter().map(|c| c["id"].clone()).collect();
        let tables: Vec<Value> = list(&section["tables"])
            .iter()
            .map(|table| json!([table["id"], list(&table["columns"][0]["values"]).len()]))
            .collect();
        json!({ "id": section["id"], "charts": charts, "tables": tables })
    };
    let study = |study: &Value| {
        let sections: Vec<Value> = list(&study["sections"]).iter().map(section).collect();
        let flagged = study["slider"]["flagged"].clone();
        json!({ "items": study["items"], "sections": sections, "slider_flagged": flagged })
    };
    let studies: Vec<Value> = list(&report["studies"]).iter().map(study).collect();
    json!({ "schema": report["schema"], "title": report["title"], "studies": studies })
}

/// Whether two texts are equal up to rounding of the numbers in them.
fn same(name: &str, expected: &str, found: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    match name.rsplit_once('.').unwrap().1 {
        _ if expected == found => true,
        "json" | "html" => same_json(&parse(expected), &parse(found)),
        "jsonl" => {
            same_lists(expected.lines(), found.lines(), |a, b| same_json(&parse(a), &parse(b)))
        }
        ending => {
            let separator = if ending == "tsv" { '\t' } else { ',' };
            let cells = |line: &str| line.split(separator).map(str::to_owned).collect::<Vec<_>>();
            same_lists(expected.lines(), found.lines(), |a, b| {
                same_lists(cells(a), cells(b), |a, b| match (a.parse(), b.parse()) {
                    (Ok(a), Ok(b)) => same_number(a, b),
                    _ => a == b,
                })
            })
        }
    }
}

fn same_json(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || same_number(a.as_f64().unwrap(), b.as_f64().unwrap())
        }
        (Value::Array(a), Value::Array(b)) => same_lists(a, b, same_json),
        (Value::Object(a), Value::Object(b)) => {
            same_lists(a, b, |(key, a), (other, b)| key == other && same_json(a, b))
        }
        (a, b) => a == b,
    }
}

fn same_number(a: f64, b: f64) -> bool {
    let difference = (a - b).abs();
    a == b || difference <= ABSOLUTE_TOLERANCE.max(RELATIVE_TOLERANCE * a.abs().max(b.abs()))
}

fn same_lists<A, B>(
    a: impl IntoIterator<Item = A>,
    b: impl IntoIterator<Item = B>,
    same: impl Fn(A, B) -> bool,
) -> bool {
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) => {
                if !same(a, b) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// The first line that differs, for the message.
fn first_difference(expected: &str, found: &str) -> String {
    let pairs = expected.lines().zip(found.lines()).enumerate();
    let differing = pairs.into_iter().find(|(_, (a, b))| a != b);
    differing.map_or_else(
        || "the numbers of lines differ".to_owned(),
        |(line, (a, b))| format!("line {}:\n  expected {a}\n  found    {b}", line + 1),
    )
}

#[test]
fn golden_outputs() {
    let folder = hodgerank_testdata::directory().join("golden");
    let bless = std::env::var_os("HODGERANK_BLESS").is_some_and(|value| value != "0");
    let mut failures = Vec::new();
    for &(name, command) in CASES {
        let found = output(name, command);
        let path = folder.join(golden_name(name));
        if bless {
            std::fs::write(&path, found).unwrap();
            continue;
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if !same(name, &expected, &found) {
            failures.push(format!("{name}, {}", first_difference(&expected, &found)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let mut expected: Vec<String> = CASES.iter().map(|(name, _)| golden_name(name)).collect();
    let mut stored: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    expected.sort();
    stored.sort();
    assert_eq!(stored, expected, "files without a case");
}

/// Facts of a report are stored as JSON.
fn golden_name(name: &str) -> String {
    name.replace(".html", "-html.json")
}

/// The same votes in every format give the same ranking.
#[test]
fn formats_of_testdata_agree() {
    let rank = |file: &str| output("rank.csv", &format!("rank {file}"));
    let expected = rank("formats/votes.csv");
    for ending in ["tsv", "jsonl", "parquet", "arrow", "csv.gz", "csv.zst"] {
        let file = format!("formats/votes.{ending}");
        assert!(Path::new(hodgerank_testdata::directory()).join(&file).is_file());
        assert_eq!(rank(&file), expected, "{ending}");
    }
}

#[test]
fn comparison_tolerates_rounding_only() {
    assert!(same("x.json", r#"{"a": [1.0, 2]}"#, r#"{"a": [1.0000000000001, 2]}"#));
    assert!(!same("x.json", r#"{"a": [1.0, 2]}"#, r#"{"a": [1.00001, 2]}"#));
    assert!(!same("x.json", r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#));
    assert!(!same("x.json", r#"["a"]"#, r#"["b"]"#));
    assert!(same("x.csv", "a,b\nx,0.1\n", "a,b\nx,0.10000000000000002\n"));
    assert!(!same("x.csv", "a,b\nx,0.1\n", "a,b\ny,0.1\n"));
    assert!(!same("x.csv", "a,b\nx,0.1\n", "a,b\n"));
}
