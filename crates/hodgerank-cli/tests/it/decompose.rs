//! `decompose`: parts, triangles and loops of the votes, and their annotators.

use crate::support::files::{self, study};
use crate::support::{TestDir, number};
use serde_json::{Value, json};

/// One vote per pair: the first letter beats the second.
fn wins(pairs: &[&str]) -> String {
    let row = |pair: &&str| format!("{},{}\n", &pair[..1], &pair[1..]);
    format!("winner,loser\n{}", pairs.iter().map(row).collect::<String>())
}

#[track_caller]
fn decomposed(votes: &str, options: &[&str]) -> Value {
    TestDir::new().json(&[&["decompose", "-"], options].concat(), votes.as_bytes())
}

/// The shares of bi-cycles, gradient, curl and harmonic part, rounded to 12 digits.
fn shares(figures: &Value) -> [f64; 4] {
    let share = |part| number(&figures["shares"], part);
    ["bicycles", "gradient", "curl", "harmonic"].map(share).map(|s| (1e12 * s).round() / 1e12)
}

const PAPER_SCISSORS_ROCK: [&str; 3] = ["ab", "bc", "ca"];
const HEXAGON: [&str; 6] = ["ab", "bc", "cd", "de", "ef", "fa"];

#[test]
fn the_json_has_the_documented_keys() {
    let found = decomposed(&wins(&PAPER_SCISSORS_ROCK), &[]);
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    for key in ["input", "energy", "shares", "triangles", "loops", "status"] {
        assert!(keys.iter().any(|name| *name == key), "{key}: {keys:?}");
    }
    assert_eq!(found["schema"], "hodgerank/decompose/1");
    assert_eq!(found["input"]["comparisons"], 3);
    assert_eq!(found["shares"].as_object().unwrap().len(), 4);
    assert_eq!(found["rejected"], json!({"rows": 0, "first": []}));
    assert!(found.get("groups_by").is_none());
}

#[test]
fn kinds_of_inconsistency_are_separated() {
    let circle = decomposed(&wins(&PAPER_SCISSORS_ROCK), &[]);
    assert_eq!((shares(&circle), number(&circle, "energy")), ([0.0, 0.0, 1.0, 0.0], 3.0));
    let triangle = &circle["triangles"][0];
    assert_eq!((&triangle["items"], &triangle["curl"]), (&json!(["a", "b", "c"]), &json!(3.0)));
    assert_eq!(triangle["votes"], json!([1, 1, 1]));
    assert!(triangle.get("annotators").is_none(), "nobody is named in the input");
    assert_eq!(circle["transitivity"]["rate"], 0.0);

    let hexagon = decomposed(&wins(&HEXAGON), &[]);
    assert_eq!(shares(&hexagon), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!((&hexagon["triangles"], &hexagon["betti"]["number"]), (&json!([]), &json!(1)));
    let loops = hexagon["loops"].as_array().unwrap();
    assert_eq!((loops.len(), &loops[0]["items"]), (1, &json!(["a", "b", "c", "d", "e", "f"])));
    assert!((number(&loops[0], "total_flow") - 6.0).abs() < 1e-12);
    // Loops have the direction of the votes.
    let back = decomposed(&wins(&HEXAGON.map(|p| if p == "ab" { "af" } else { p })), &[]);
    assert_eq!(back["loops"], json!([]), "a chain with a double end has no loop");
    let reversed = ["ba", "cb", "dc", "ed", "fe", "af"];
    let reversed = decomposed(&wins(&reversed), &[]);
    assert_eq!(reversed["loops"][0]["items"], json!(["a", "f", "e", "d", "c", "b"]));

    let tree = decomposed(&wins(&["ab", "ac", "cd", "ce", "ce"]), &[]);
    assert_eq!(shares(&tree), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!((&tree["triangles"], &tree["loops"]), (&json!([]), &json!([])));

    let quarrel = decomposed(&wins(&["ab", "ba"]), &[]);
    assert_eq!(shares(&quarrel), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn ties_have_zero_energy() {
    let ties = "left,right,winner\na,b,tie\nb,c,tie\nc,a,tie\n";
    let found = decomposed(ties, &[]);
    assert_eq!((number(&found, "energy"), shares(&found)), (0.0, [0.0; 4]));
    assert_eq!((&found["triangles"], &found["transitivity"]["rate"]), (&json!([]), &Value::Null));
    let table = TestDir::new().run_with_stdin(&["decompose", "-"], ties.as_bytes()).success();
    assert!(table.text().starts_with("All votes are ties"), "{}", table.text());
    assert!(!table.text().contains("inconsistent"), "{}", table.text());
}

/// From a file and from standard input, because the input has to be read twice.
#[test]
fn triangles_list_their_annotators() {
    let dir = TestDir::new();
    let votes = "winner,loser,annotator,count\n\
                 a,b,ann,1\nb,c,bob,3\nc,a,ann,1\nc,a,Zoë,1\na,d,carl,9\n";
    dir.write("v.csv", votes);
    for (input, name) in [("", "v.csv"), (votes, "-")] {
        let found = dir.json(&["decompose", name], input.as_bytes());
        let who = |name: &str, votes: u64| json!({"annotator": name, "votes": votes});
        let expected = json!([who("bob", 3), who("ann", 2), who("Zoë", 1)]);
        assert_eq!(found["triangles"][0]["annotators"], expected, "{name}");
        assert_eq!(found["triangles"][0]["votes"], json!([1, 3, 2]), "{name}");
    }
    let table = dir.run(&["decompose", "v.csv"]).success();
    assert!(table.text().contains("bob (3), ann (2), Zoë (1)"), "{}", table.text());
    let none = dir.json(&["decompose", "v.csv", "--triangles", "0"], b"");
    assert_eq!(none["triangles"], json!([]));
}

#[test]
fn studies_of_one_file_are_separate() {
    let dir = TestDir::new();
    let rows = |by: &str, pairs: &[&str], who: &str| -> String {
        pairs.iter().map(|p| format!("{by},{},{},{who}\n", &p[..1], &p[1..])).collect()
    };
    let (one, two) = (rows("one", &PAPER_SCISSORS_ROCK, "ann"), rows("two", &HEXAGON, "bob"));
    dir.write("v.csv", format!("film,winner,loser,annotator\n{one}{two}"));
    dir.write("one.csv", format!("film,winner,loser,annotator\n{one}"));
    let both = dir.json(&["decompose", "v.csv", "--by", "film"], b"");
    let groups = both["groups_by"].as_array().unwrap();
    assert_eq!(
        (groups.len(), &groups[0]["by"], &groups[1]["by"]),
        (2, &json!("one"), &json!("two"))
    );
    assert_eq!((shares(&groups[0])[2], shares(&groups[1])[3]), (1.0, 1.0));
    assert!(both.get("shares").is_none());
    let alone = dir.json(&["decompose", "one.csv"], b"");
    assert_eq!(groups[0]["triangles"], alone["triangles"], "with those who voted");

    let csv = dir.run(&["decompose", "v.csv", "--by", "film", "--format", "csv"]).success();
    let lines: Vec<&str> = csv.text().lines().collect();
    assert_eq!(lines[0], "by,left,right,votes,mean,gradient,curl,harmonic,energy,bicycle_energy");
    assert_eq!((lines.len(), lines[1]), (1 + 3 + 6, "one,a,b,1,1,0,1,0,1,0"));
}

/// mean = gradient + curl + harmonic for each pair, and the energies give the shares.
#[test]
fn the_flows_of_each_pair_add_up() {
    let dir = TestDir::new();
    // Many pairs have no vote, so that all four parts are present.
    let votes = files::votes(30, 120);
    dir.write("v.csv", files::separated(&votes, ","));
    let found = dir.json(&["decompose", "v.csv"], b"");
    let flows = dir.run(&["decompose", "v.csv", "--format", "csv"]).success();
    let mut reader = csv::Reader::from_reader(&*flows.stdout);
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|other| other == name).unwrap();
    let mut energies = [0.0; 4];
    let mut pairs = std::collections::BTreeSet::new();
    for row in reader.into_records().map(Result::unwrap) {
        let cell = |name: &str| row[column(name)].parse::<f64>().unwrap();
        let parts = ["gradient", "curl", "harmonic"].map(cell);
        let mean = cell("mean");
        assert!((parts.iter().sum::<f64>() - mean).abs() < 1e-9, "{row:?}");
        let within = cell("energy") - cell("votes") * mean * mean;
        assert!((within - cell("bicycle_energy")).abs() < 1e-9, "{row:?}");
        energies[0] += cell("bicycle_energy");
        for (energy, part) in energies[1..].iter_mut().zip(parts) {
            *energy += cell("votes") * part * part;
        }
        pairs.insert((row[column("left")].to_owned(), row[column("right")].to_owned()));
    }
    let sorted = |(a, b, _): &files::Vote| (a.min(b).clone(), a.max(b).clone());
    let given: std::collections::BTreeSet<_> = votes.iter().map(sorted).collect();
    let listed: std::collections::BTreeSet<_> =
        pairs.iter().map(|(a, b)| (a.min(b).clone(), a.max(b).clone())).collect();
    assert_eq!((listed, pairs.len()), (given.clone(), given.len()), "a row for each pair");
    for (energy, part) in energies.iter().zip(["bicycles", "gradient", "curl", "harmonic"]) {
        let share = number(&found["shares"], part);
        assert!((energy / number(&found, "energy") - share).abs() < 1e-9, "{part}");
        assert!(share > 1e-3, "{part}: {share}");
    }
}

#[test]
fn a_small_budget_samples_the_listing_and_never_the_shares() {
    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&study(), ","));
    let command = ["decompose", "v.csv", "--format", "json"];
    let run = |more: &[&str]| dir.run(&[&command[..], more].concat()).success();
    let all = run(&[]);
    assert!(!all.stderr.contains("warning"), "{}", all.stderr);
    assert_eq!(all.json()["transitivity"]["triangles"], 220);
    assert!(all.json()["transitivity"].get("sampled").is_none());
    for (budget, share) in [("0", "from a sample of 0.0% of"), ("110", "from a sample of 50.0% of")]
    {
        let some = run(&["--max-triangles", budget]);
        assert!(some.stderr.contains("warning: triangles are counted"), "{}", some.stderr);
        assert!(some.stderr.contains(share), "{}", some.stderr);
        let some = some.json();
        for key in ["shares", "energy", "betti", "items", "pairs"] {
            assert_eq!(some[key], all.json()[key], "{budget}: {key}");
        }
        let seen = number(&some["transitivity"], "triangles");
        assert!(seen < 220.0 && (seen > 0.0) == (budget == "110"), "{budget}: {seen}");
        assert_eq!(number(&some["transitivity"], "sampled"), if seen > 0.0 { 0.5 } else { 0.0 });
    }
    let seeds = ["1", "2"].map(|seed| run(&["--max-triangles", "110", "--seed", seed]).json());
    assert_ne!(seeds[0]["transitivity"], seeds[1]["transitivity"]);
    let table = dir.run(&["decompose", "v.csv", "--max-triangles", "0"]).success();
    assert!(table.text().contains("no triangle of the sample"), "{}", table.text());
}

/// Holes that can be distinguished from triangles only with all triangles.
#[test]
fn a_budget_too_small_for_the_shares_is_an_error() {
    let dir = TestDir::new();
    dir.write("v.csv", files::separated(&files::votes(60, 500), ","));
    let run = dir.run(&["decompose", "v.csv", "--max-triangles", "1"]);
    assert_eq!((run.code, run.text()), (Some(2), ""), "{}", run.stderr);
    assert!(run.stderr.contains("help: raise --max-triangles"), "{}", run.stderr);
}

#[test]
fn results_do_not_depend_on_threads() {
    let dir = TestDir::new();
    dir.write("dense.csv", files::separated(&study(), ","));
    dir.write("sparse.csv", files::separated(&files::votes(200, 900), ","));
    for file in ["dense.csv", "sparse.csv"] {
        for format in ["table", "csv", "json", "parquet"] {
            let [one, two] = ["1", "2"].map(|threads| {
                let output = ["--format", format, "--threads", threads];
                dir.run(&[&["decompose", file], &output[..]].concat()).success()
            });
            assert!(!one.stdout.is_empty() && one == two, "{file} {format}");
        }
    }
}
