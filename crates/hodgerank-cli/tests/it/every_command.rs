//! Every command on every study: it succeeds, its output can be parsed, and the commands agree with
//! each other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::TestDir;
use serde_json::Value;

/// A file of votes, parsed by the `csv` crate.
struct Votes {
    path: String,
    header: csv::StringRecord,
    rows: Vec<csv::StringRecord>,
}

impl Votes {
    fn read(path: &Path) -> Self {
        let mut reader = csv::Reader::from_path(path).unwrap();
        let header = reader.headers().unwrap().clone();
        let rows = reader.into_records().map(Result::unwrap).collect();
        Self { path: path.to_str().unwrap().to_owned(), header, rows }
    }

    fn has(&self, column: &str) -> bool {
        self.header.iter().any(|name| name == column)
    }

    /// The columns of the two items of a vote.
    fn item_columns(&self) -> [usize; 2] {
        let names = if self.has("left") { ["left", "right"] } else { ["winner", "loser"] };
        names.map(|name| self.header.iter().position(|column| column == name).unwrap())
    }

    fn items(&self) -> BTreeSet<&str> {
        let columns = self.item_columns();
        self.rows.iter().flat_map(|row| columns.map(|column| &row[column])).collect()
    }

    /// Pairs that were compared, regardless of sides.
    fn pairs(&self) -> BTreeSet<[&str; 2]> {
        let columns = self.item_columns();
        let pairs = self.rows.iter().map(|row| columns.map(|column| &row[column]));
        pairs.map(|[a, b]| if a <= b { [a, b] } else { [b, a] }).collect()
    }
}

/// The CSV files of `testdata`, and the published studies where they are available.
fn studies() -> Vec<PathBuf> {
    let published = hodgerank_testdata::find_published_studies().into_iter();
    let folders = published.flat_map(|data| [data.join("pc-vqa"), data.join("pc-iqa"), data]);
    // Further published files need options of their own or have counts.
    let is_study = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("ref") || name == "human-age.csv"
    };
    let published: Vec<PathBuf> = folders.flat_map(|folder| csv_files(&folder)).collect();
    let mut studies = csv_files(hodgerank_testdata::directory());
    studies.extend(published.into_iter().filter(is_study));
    studies
}

fn csv_files(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "csv")).collect()
}

fn list<'a>(document: &'a Value, key: &str) -> &'a Vec<Value> {
    document[key].as_array().unwrap_or_else(|| panic!("no list of {key}"))
}

fn sum(rows: &[Value], key: &str) -> u64 {
    rows.iter().map(|row| row[key].as_u64().unwrap()).sum()
}

/// Runs a command twice. Returns the number of rows of its CSV output, and its JSON output.
#[track_caller]
fn both(votes: &Votes, command: &[&str], options: &[&str]) -> (usize, Value) {
    let dir = TestDir::new();
    let run = |format| {
        let output = ["--format", format, "--threads", "1"];
        dir.run(&[command, &[&votes.path], options, &output].concat()).success()
    };
    let (text, document) = (run("csv"), run("json").json());
    let rows = csv::Reader::from_reader(&*text.stdout).into_records();
    let rows: Vec<_> = rows.collect::<Result<_, _>>().expect("rows of one length");
    (rows.len(), document)
}

#[track_caller]
fn names(values: &[Value]) -> BTreeSet<&str> {
    values.iter().map(|name| name.as_str().unwrap()).collect()
}

fn check(votes: &Votes, options: &[&str]) {
    let (path, total) = (&votes.path, votes.rows.len() as u64);
    let items = votes.items();

    let (rows, ranked) = both(votes, &["rank"], options);
    let ranking = list(&ranked, "ranking");
    let ranked_items: Vec<Value> = ranking.iter().map(|row| row["item"].clone()).collect();
    assert_eq!((rows, ranking.len()), (items.len(), items.len()), "{path}");
    assert_eq!(names(&ranked_items), items, "{path}");
    assert!(ranking.is_sorted_by_key(|row| row["rank"].as_u64()), "{path}");
    assert_eq!(
        (&ranked["input"]["rows"], &ranked["input"]["rejected"]),
        (&total.into(), &0.into())
    );
    let flagged = ranked["outliers"]["comparisons"].as_u64().unwrap();
    assert!(flagged < total / 2, "{path}: {flagged} of {total}");
    // The automatic rule may flag no vote.
    assert!(flagged > 0 || options.is_empty(), "{path}");
    assert_eq!(sum(ranking, "flagged"), 2 * flagged, "{path}: once per item of a vote");

    let (rows, found) = both(votes, &["outliers"], options);
    assert_eq!(rows, list(&found, "votes").len(), "{path}");
    assert_eq!(sum(list(&found, "votes"), "flagged"), flagged, "{path}");

    if votes.has("annotator") {
        let annotators = list(&ranked, "annotators");
        assert_eq!((sum(annotators, "votes"), sum(annotators, "flagged")), (total, flagged));
        let (rows, found) = both(votes, &["annotators"], &[]);
        let judged = list(&found, "annotators");
        assert_eq!((rows, judged.len()), (annotators.len(), annotators.len()), "{path}");
        assert_eq!(sum(judged, "votes"), total, "{path}");
    } else {
        let run = TestDir::new().run(&["annotators", path]);
        assert_eq!(run.code, Some(2), "{path}: {}", run.stderr);
        assert!(run.stderr.contains("there is no column of annotators"), "{}", run.stderr);
        assert!(ranked.get("annotators").is_none(), "{path}");
    }

    let dir = TestDir::new();
    let outputs = ["-o", "kept.csv", "--flagged", "flagged.csv"];
    dir.run(&[&["clean", path], options, &outputs].concat()).success();
    let [kept, removed] =
        ["kept.csv", "flagged.csv"].map(|name| Votes::read(&dir.path().join(name)));
    assert_eq!(kept.header, votes.header, "{path}");
    let own = votes.header.len();
    let added = match ranked["method"]["name"].as_str() {
        Some("bt" | "crowd") => &["row", "reason", "probability"][..],
        _ => &["row", "reason"],
    };
    assert!(removed.header.iter().take(own).eq(&votes.header), "{path}");
    assert_eq!(removed.header.iter().skip(own).collect::<Vec<_>>(), added, "{path}");
    assert_eq!(removed.rows.len() as u64, flagged, "{path}");
    let mut parts = (kept.rows.iter().peekable(), removed.rows.iter());
    for (number, row) in (1..).zip(&votes.rows) {
        if parts.0.next_if_eq(&row).is_none() {
            let flagged = parts.1.next().unwrap_or_else(|| panic!("{path}: row {number} is lost"));
            assert!(flagged.iter().take(own).eq(row), "{path}: rows keep their order");
            assert_eq!(flagged[own], number.to_string(), "{path}");
        }
    }
    assert_eq!((parts.0.next(), parts.1.next()), (None, None), "{path}: and none is new");

    let (rows, found) = both(votes, &["path"], options);
    assert_eq!((&found["schema"], rows), (&"hodgerank/path/1".into(), list(&found, "lines").len()));
    assert!(rows > items.len() && rows.is_multiple_of(items.len()), "{path}: {rows}");

    let (rows, compared) = both(votes, &["compare"], options);
    let [comparison] = &list(&compared, "comparisons")[..] else { panic!("{path}: one study") };
    let methods = list(comparison, "methods");
    assert_eq!(names(list(comparison, "items")), items, "{path}");
    // The method crowd takes part if there are annotators.
    assert!((10..=11).contains(&methods.len()), "{path}");
    assert_eq!(rows, methods.len() * items.len(), "{path}");
    let same = methods.iter().find(|method| method["name"] == ranked["method"]["name"]);
    assert_eq!(same.map(|method| &method["flagged"]), Some(&flagged.into()), "{path}");

    dir.run(&[&["report", path, "-o", "report.html"], options].concat()).success();
    let report = dir.read("report.html");
    assert!(report.starts_with(b"<!doctype html>") && report.ends_with(b"</html>\n"), "{path}");

    let (rows, predicted) = both(votes, &["predict"], options);
    let predictions = list(&predicted, "predictions");
    assert_eq!(rows, items.len() * (items.len() - 1) / 2, "{path}");
    assert_eq!((rows, &predicted["input"]), (predictions.len(), &ranked["input"]), "{path}");
    let connected = predicted["certificate"]["components"] == 1;
    let known = predictions.iter().filter(|row| row["probability"].is_f64()).count();
    assert_eq!(known == rows, connected, "{path}: {known} of {rows}");

    let (_, diagnosed) = both(votes, &["diagnose"], options);
    assert_eq!(diagnosed["input"], ranked["input"], "{path}");
    assert_eq!(diagnosed["design"]["pairs"], votes.pairs().len(), "{path}");
    assert_eq!(diagnosed["verdict"]["can_rank"], ranked["input"]["components"] == 1, "{path}");
    let suspects = &diagnosed["identifiability"]["suspects"];
    assert_eq!(suspects["comparisons"], flagged, "{path}");
    assert_eq!(suspects["conditions"].is_null(), flagged == 0, "{path}");
}

/// `decompose` has no outlier rule, so one run per file is enough.
fn check_decomposition(votes: &Votes) {
    let path = &votes.path;
    let (rows, split) = both(votes, &["decompose"], &[]);
    assert_eq!(rows, votes.pairs().len(), "{path}");
    assert_eq!(split["input"]["rows"], votes.rows.len(), "{path}");
    let shares: Vec<f64> = split["shares"]
        .as_object()
        .unwrap()
        .values()
        .map(|share| share.as_f64().unwrap())
        .collect();
    assert!(shares.len() == 4 && shares.iter().all(|share| (0.0..=1.0).contains(share)), "{path}");
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{path}: {shares:?}");
    let triangles = list(&split, "triangles");
    assert!(triangles.is_sorted_by_key(|one| -one["energy"].as_f64().unwrap()), "{path}");
    let named = triangles.iter().all(|one| one.get("annotators").is_some());
    assert!(triangles.is_empty() || named == votes.has("annotator"), "{path}");
}

#[test]
fn every_command_runs_on_every_study() {
    let files = studies();
    assert!(files.len() >= 6, "{files:?}");
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| {
                let votes = Votes::read(file);
                check(&votes, &[]);
                check(&votes, &["--outliers", "5%"]);
                check_decomposition(&votes);
            });
        }
    });
}
