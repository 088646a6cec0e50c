//! Several processes compute the ranking of one machine, however the votes are split into files.

use crate::support::files::{Vote, annotated, batch, json_lines, parquet, separated, votes};
use crate::support::{TestFolder, assert_same, one_machine};
use hodgerank::Method;

/// Every method and outlier rule that can be distributed.
const METHODS: [&[&str]; 14] = [
    &["--method=l2"],
    &["--method=ridge", "--ridge=2"],
    &["--method=lbi", "--outliers=5%"],
    &["--method=lbi", "--outliers=40", "--algorithm=2"],
    &["--method=lbi", "--time=0.5"],
    &["--method=lbi", "--outliers=scaled"],
    &["--method=hlasso", "--outliers=60"],
    &["--method=hlasso", "--outliers=lambda=0.8"],
    &["--method=hlasso", "--outliers=scaled"],
    &["--method=lbi", "--outliers=auto"],
    &["--method=hlasso", "--outliers=auto"],
    &["--method=bt"],
    &["--method=l2", "--scale=elo"],
    &["--method=crowd"],
];

fn compare(
    folder: &TestFolder,
    files: &[String],
    sizes: &[usize],
    extra: &[&str],
    methods: &[&[&str]],
) {
    for method in methods {
        let options: Vec<&str> = method.iter().chain(extra).copied().collect();
        let one = one_machine(files, &options);
        for &size in sizes {
            let many = folder.rank(size, files, &options);
            assert_same(&many, &one, &format!("{size} processes, {options:?}, {files:?}"));
        }
    }
}

/// Splits votes into unequal parts, so that processes have unequal work.
fn split(votes: &[Vote], parts: usize) -> Vec<&[Vote]> {
    let mut rest = votes;
    let mut found = Vec::new();
    for part in 0..parts - 1 {
        let (first, after) = rest.split_at(rest.len() / (2 + part % 2));
        found.push(first);
        rest = after;
    }
    found.push(rest);
    found
}

fn csv_files(folder: &TestFolder, votes: &[Vote], parts: usize) -> Vec<String> {
    let parts = split(votes, parts).into_iter().enumerate();
    parts.map(|(k, part)| folder.put(&format!("part{k}.csv"), separated(part, ","))).collect()
}

#[test]
fn every_method_on_any_number_of_processes() {
    let folder = TestFolder::new();
    let parts = votes(30, 4000);
    let parts = split(&parts, 5).into_iter().map(annotated).enumerate();
    let files: Vec<String> =
        parts.map(|(k, part)| folder.put(&format!("part{k}.csv"), part)).collect();
    for method in Method::ALL.iter().filter(|method| method.info().is_distributable) {
        let flag = format!("--method={method}");
        assert!(METHODS.iter().any(|options| options[0] == flag), "{flag} is not tested");
    }
    compare(&folder, &files, &[1, 2, 3, 4], &[], &METHODS);
}

#[test]
fn real_votes() {
    let Some(data) = hodgerank_testdata::published_studies() else { return };
    let folder = TestFolder::new();
    let file = |name: &str| data.join(name).to_str().unwrap().to_owned();
    let videos: Vec<String> = (1..=3).map(|k| file(&format!("pc-vqa/ref0{k}.csv"))).collect();
    compare(&folder, &videos, &[2, 4], &[], &[METHODS[0], METHODS[2], METHODS[8], METHODS[9]]);
    compare(
        &folder,
        &[file("human-age.csv")],
        &[2],
        &[],
        &[METHODS[0], METHODS[3], METHODS[6], METHODS[10], METHODS[13]],
    );
}

#[test]
fn row_groups_and_several_formats() {
    let folder = TestFolder::new();
    let votes = votes(25, 3000);
    let parts = split(&votes, 4);
    let mut files = vec![
        folder.put("a.parquet", parquet(&batch(parts[0]), 200)),
        folder.put("b.csv", separated(parts[1], ",")),
        folder.put("c.jsonl", json_lines(parts[2])),
        folder.put("d.tsv", separated(parts[3], "\t")),
    ];
    compare(&folder, &files, &[2, 3], &[], &[METHODS[0], METHODS[2]]);
    files.truncate(1);
    compare(&folder, &files, &[4], &[], &[METHODS[0], METHODS[6]]);
}

#[test]
fn more_processes_than_files_and_pairs() {
    let folder = TestFolder::new();
    let file = folder.put("few.csv", "left,right,winner\na,b,left\nb,c,left\na,c,tie\na,b,right\n");
    let one_file = [file];
    compare(&folder, &one_file, &[4], &[], &[METHODS[0], METHODS[1]]);
}

#[test]
fn components_counts_and_annotators() {
    let folder = TestFolder::new();
    let head = "winner,loser,count,annotator\n";
    let files = [
        folder.put("a.csv", format!("{head}a,b,3,x\nb,c,2,y\nd,e,1,x\nlone,a,0,z\n")),
        folder.put("b.csv", format!("{head}a,b,4,y\nc,a,1,x\ne,d,5,w\nf10,f9,2,x\n")),
    ];
    compare(&folder, &files, &[1, 2, 3], &[], &[METHODS[0], METHODS[1]]);
}

#[test]
fn a_ranking_for_each_value() {
    let folder = TestFolder::new();
    let rows = |scene: &str, seed: usize| -> String {
        let picked = votes(9, 900).into_iter().skip(seed);
        picked.map(|(left, right, winner)| format!("{scene},{left},{right},{winner}\n")).collect()
    };
    let head = "scene,left,right,winner\n";
    let files = [
        folder.put("a.csv", format!("{head}{}{}", rows("s10", 300), rows("s2", 10))),
        folder.put("b.csv", format!("{head}{}{}", rows("s2", 500), rows("only here", 0))),
    ];
    compare(&folder, &files, &[2, 4], &["--by=scene"], &[METHODS[0], METHODS[2]]);
}

#[test]
fn outcomes_of_many_values_and_items_of_many_names() {
    let folder = TestFolder::new();
    // Labels of different lengths, and outcomes that hardly any two votes share.
    let named: Vec<String> = votes(2000, 20_000)
        .into_iter()
        .enumerate()
        .map(|(k, (left, right, _))| {
            let y = (k * k % 10_007) as f64 / 5000.0 - 1.0;
            format!("Größe {left},{right:0>40},{y}\n")
        })
        .collect();
    let rows = |from: usize, to: usize| named[from..to].concat();
    let head = "item_a,item_b,y\n";
    let files = [
        folder.put("a.csv", format!("{head}{}", rows(0, 9000))),
        folder.put("b.csv", format!("{head}{}", rows(6000, 20_000))),
        folder.put("c.csv", format!("{head}{}", rows(100, 300))),
    ];
    // One machine uses conjugate gradients here too, and stops earlier by default.
    compare(&folder, &files, &[3], &["--tolerance=1e-13"], &[METHODS[0], METHODS[1]]);
}

#[test]
fn rejected_rows_are_counted_over_all_processes() {
    let folder = TestFolder::new();
    let good: String = separated(&votes(8, 300), ",");
    let files: Vec<String> = (0..4)
        .map(|k| {
            folder.put(&format!("{k}.csv"), format!("{good}x,x,left\na,b,maybe{k}\n,b,left\n"))
        })
        .collect();
    compare(&folder, &files, &[1, 3, 4], &["--on-error=skip"], &[METHODS[0]]);
    let parquet_rows = folder.put("g.parquet", parquet(&batch(&bad_votes()), 50));
    compare(&folder, &[parquet_rows], &[3], &["--on-error=skip"], &[METHODS[0]]);
}

/// Returns votes of which every hundredth compares an item with itself.
fn bad_votes() -> Vec<Vote> {
    let spoil = |(k, (left, right, winner)): (usize, Vote)| match k % 100 {
        99 => (left.clone(), left, winner),
        _ => (left, right, winner),
    };
    votes(8, 600).into_iter().enumerate().map(spoil).collect()
}

#[test]
fn the_default_is_that_of_one_machine() {
    let folder = TestFolder::new();
    let files = csv_files(&folder, &votes(12, 900), 2);
    let one = one_machine(&files, &[]);
    assert_eq!(one["method"]["name"], "bt");
    for size in [1, 2] {
        let many = folder.rank(size, &files, &[]);
        assert_same(&many, &one, &format!("{size} processes"));
    }
    // A number of votes is taken from the path of lbi.
    let many = folder.rank(2, &files, &["--outliers=5%"]);
    assert_eq!(many["method"]["name"], "lbi");
}

#[test]
fn changes_since_an_earlier_ranking() {
    let folder = TestFolder::new();
    let files = csv_files(&folder, &votes(12, 900), 3);
    let earlier = one_machine(&files[..2], &["--method=l2"]);
    let against = folder.put("earlier.json", earlier.to_string());
    let against = format!("--against={against}");
    compare(&folder, &files, &[1, 2, 3], &[&against], &[METHODS[0], METHODS[2]]);
    let many = folder.rank(2, &files, &[METHODS[0][0], &against]);
    assert!(many["against"]["kendall"].is_f64(), "{:#}", many["against"]);
    // Only process 0 reads the earlier ranking, and all fail if it is none.
    folder.put("votes.json", "{}");
    let words = ["rank", "--against=votes.json", &files[0], &files[1]];
    let run = folder.run(2, &words);
    assert_eq!((run.code, run.errors().len()), (Some(2), 1), "{}", run.stderr);
    assert!(run.errors()[0].contains("votes.json"), "{}", run.stderr);
    // Text shows the changes too.
    let run = folder.run(2, &["rank", "--method=l2", &against, &files[0], &files[1]]).good();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("clip-3"), "{text}");
}

#[test]
fn other_output_formats() {
    let folder = TestFolder::new();
    let files = csv_files(&folder, &votes(12, 900), 3);
    let run = |extra: &[&str]| {
        let mut words = vec!["rank", "--method=l2", "--quiet"];
        words.extend(files.iter().map(String::as_str));
        words.extend(extra);
        folder.run(3, &words).good()
    };
    let table = String::from_utf8(run(&[]).stdout).unwrap();
    assert_eq!(table.matches("clip-3").count(), 1, "{table}");
    let csv = String::from_utf8(run(&["--format=csv"]).stdout).unwrap();
    assert_eq!(csv.lines().count(), 13, "{csv}");
    let silent = run(&["-o", "out.parquet"]);
    assert!(silent.stdout.is_empty() && silent.stderr.is_empty(), "{}", silent.stderr);
    assert!(std::fs::read(folder.at("out.parquet")).unwrap().starts_with(b"PAR1"));
}
