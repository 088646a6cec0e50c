//! Parts of many ranks together are what one machine writes, however the votes are split into files.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use clap::Parser;
use hodgerank_commands::Votes;
use hodgerank_commands::clean::{CleanOptions, clean};
use hodgerank_io::ReadOptions;
use support::files::{batch, gzip, parquet, separated, votes};
use support::{Nobody, Place, Run, shared_data};

const LBI: [&str; 2] = ["--method=lbi", "--outliers=10%"];
const HLASSO: [&str; 2] = ["--method=hlasso", "--outliers=10%"];

#[derive(Parser)]
struct OneMachine {
    #[command(flatten)]
    options: CleanOptions,
}

/// Cleans on one machine, into `kept` and `flagged` with this ending.
fn one_machine(place: &Place, files: &[String], options: &[&str], ending: &str) -> [String; 2] {
    let [kept, flagged] = ["kept", "flagged"].map(|name| place.at(&format!("{name}.{ending}")));
    let mut words = vec!["clean", "--output", &kept, "--flagged", &flagged];
    words.extend(options);
    let options = OneMachine::parse_from(words).options;
    clean(&Votes::Files(files.to_vec()), &options, 1, &Nobody).unwrap();
    [kept, flagged]
}

/// Cleans with many ranks, anew, and returns the parts of the two folders.
fn many(
    place: &Place,
    ranks: usize,
    files: &[String],
    options: &[&str],
) -> (Run, [Vec<String>; 2]) {
    for folder in ["many", "many-flagged"] {
        let _ = std::fs::remove_dir_all(place.at(folder));
    }
    let mut words = vec!["clean", "--output=many", "--flagged=many-flagged"];
    words.extend(options);
    words.extend(files.iter().map(String::as_str));
    let run = place.run(ranks, &words).good();
    (run, ["many", "many-flagged"].map(|folder| parts(&place.at(folder))))
}

fn parts(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = entries.map(|path| path.to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// The rows of text files, sorted; headers must be alike and are left out.
fn rows(files: &[String]) -> Vec<String> {
    let texts: Vec<String> =
        files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let heads: BTreeSet<&str> = texts.iter().filter_map(|text| text.lines().next()).collect();
    assert_eq!(heads.len(), 1);
    let mut rows: Vec<String> =
        texts.iter().flat_map(|text| text.lines().skip(1)).map(str::to_owned).collect();
    rows.sort();
    rows
}

#[track_caller]
fn same_rows(place: &Place, files: &[String], ranks: &[usize], options: &[&str]) {
    let one = one_machine(place, files, options, "csv");
    let expected = one.map(|file| rows(&[file]));
    assert!(!expected[0].is_empty() && !expected[1].is_empty());
    for &ranks in ranks {
        let (run, parts) = many(place, ranks, files, options);
        assert!(run.stderr.contains("flagged rows"), "{}", run.stderr);
        for (parts, expected) in parts.iter().zip(&expected) {
            assert_eq!(parts.len(), ranks.min(files.len()));
            assert!(rows(parts) == *expected, "{ranks} ranks, {options:?}");
        }
    }
}

#[test]
fn parts_are_the_rows_of_one_machine() {
    let place = Place::new();
    let files = place.csv_files(&votes(30, 4000), 5);
    same_rows(&place, &files, &[1, 2, 3, 4], &LBI);
    same_rows(&place, &files, &[3], &HLASSO);
    // More ranks than files: the others read nothing and write nothing.
    same_rows(&place, &files[..2], &[4], &LBI);
    same_rows(&place, &files[..1], &[2], &HLASSO);
}

#[test]
fn real_votes() {
    let Some(data) = shared_data() else { return };
    let place = Place::new();
    let file = |name: &str| data.join(name).to_str().unwrap().to_owned();
    let videos: Vec<String> = (1..=3).map(|k| file(&format!("pc-vqa/ref0{k}.csv"))).collect();
    same_rows(&place, &videos, &[2, 4], &LBI);
    same_rows(&place, &[file("human-age.csv")], &[2], &HLASSO);
    // Two annotators, a study each, whose rows stand in both files.
    let by = ["--method=lbi", "--outliers=5%", "--by=annotator"];
    let ages = std::fs::read_to_string(file("human-age.csv")).unwrap();
    let (head, rest) = ages.split_once('\n').unwrap();
    let of = |k: usize| -> String {
        let rows = rest.lines().enumerate().filter(|(row, _)| row % 2 == k);
        rows.map(|(_, row)| row)
            .filter(|row| row.starts_with("1,") || row.starts_with("2,"))
            .map(|row| format!("{row}\n"))
            .collect()
    };
    let halves: Vec<String> =
        (0..2).map(|k| place.put(&format!("half{k}.csv"), format!("{head}\n{}", of(k)))).collect();
    same_rows(&place, &halves, &[2], &by);
}

/// What the votes of files are, whatever their format.
fn read(files: &[String]) -> (Vec<String>, hodgerank::Groups) {
    let input = hodgerank_io::read::read(files, &ReadOptions::default(), &Arc::default()).unwrap();
    let study = &input.studies[0];
    (study.items.iter().map(str::to_owned).collect(), study.groups.clone())
}

#[test]
fn parts_have_the_format_of_the_input() {
    let place = Place::new();
    let votes = votes(25, 3000);
    let halves = [&votes[..1000], &votes[1000..]];
    let kinds: [(&str, Vec<String>); 2] = [
        // Row groups of one file, spread over the ranks.
        ("parquet", vec![place.put("a.parquet", parquet(&batch(&votes), 200))]),
        (
            "csv.gz",
            vec![
                place.put("a.csv.gz", gzip(separated(halves[0], ","))),
                place.put("b.csv.gz", gzip(separated(halves[1], ","))),
            ],
        ),
    ];
    for (ending, files) in kinds {
        let one = one_machine(&place, &files, &LBI, ending);
        let (_, found) = many(&place, 2, &files, &LBI);
        for (parts, one) in found.into_iter().zip(one) {
            let names: Vec<&str> = parts
                .iter()
                .map(|part| Path::new(part).file_name().unwrap().to_str().unwrap())
                .collect();
            assert_eq!(names, [format!("part-00000.{ending}"), format!("part-00001.{ending}")]);
            assert_eq!(read(&parts), read(&[one]), "{ending}");
        }
    }
}

#[test]
fn a_folder_appears_whole_or_not_at_all() {
    let place = Place::new();
    let good = place.csv_files(&votes(12, 600), 2);
    let before = || -> BTreeSet<String> { parts(&place.at(".")).into_iter().collect() };
    place.put("bad.csv", "left,right,winner\na,b,perhaps\n");
    let untouched = before();
    let fails = |words: &[&str], code: i32, message: &str| {
        let run = place.run(3, words);
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert_eq!(run.errors().len(), 1, "{}", run.stderr);
        assert!(run.stderr.contains(message), "{}", run.stderr);
    };
    let (a, b) = (good[0].as_str(), good[1].as_str());
    let output = "--output=new";
    fails(&["clean", output, a, "bad.csv", b], 2, "bad.csv, line 2");
    fails(&["clean", "--output=no/such/folder", a, b], 1, "no/such/folder");
    fails(&["clean", output, "--flagged=new", a, b], 2, "cannot go to the same place");
    fails(&["clean", output, "--method=iss", a, b], 2, "needs all votes on one machine");
    // The second folder cannot be made; the first must not stay.
    fails(&["clean", output, "--flagged=no/such", a, b], 1, "no/such");
    fails(&["clean", a, b], 2, "--output");
    // Parts of one run are of one kind, whoever reads what.
    place.put("other.csv", "winner,loser\na,b\n");
    fails(&["clean", output, a, "other.csv"], 2, "cannot be");
    std::fs::remove_file(place.at("other.csv")).unwrap();
    assert_eq!(before(), untouched);
    // A folder that holds something is refused, an empty one is taken.
    std::fs::create_dir(place.at("full")).unwrap();
    place.put("full/part-00000.csv", "of another run\n");
    fails(&["clean", "--output=full", a, b], 2, "the folder is not empty");
    assert_eq!(
        std::fs::read_to_string(place.at("full/part-00000.csv")).unwrap(),
        "of another run\n"
    );
    std::fs::create_dir(place.at("empty")).unwrap();
    place.run(2, &["clean", "--output=empty", LBI[0], LBI[1], a, b]).good();
    assert_eq!(parts(&place.at("empty")).len(), 2);
    let hidden = before().into_iter().filter(|name| name.contains("/.hodgerank")).count();
    assert_eq!(hidden, 0);
}
