//! A run that was killed and resumed ends as one that was not.

mod support;

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use support::files::{separated, votes};
use support::{Place, assert_same};

/// Long enough to be killed in its midst: small steps of time on many votes.
const WORK: [&str; 4] = ["--method=lbi", "--algorithm=2", "--outliers=30%", "--kappa=400"];

fn files(place: &Place) -> Vec<String> {
    let votes = votes(150, 40_000);
    let parts = votes.chunks(14_000).enumerate();
    parts.map(|(k, part)| place.put(&format!("{k}.csv"), separated(part, ","))).collect()
}

fn words<'a>(files: &'a [String], extra: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["rank", "--output=out.json"];
    words.extend(WORK);
    words.extend(files.iter().map(String::as_str));
    words.extend(extra);
    words
}

const KEEP: [&str; 2] = ["--checkpoint=kept", "--every=0.01s"];

/// Kills one of the ranks as soon as a state was kept, and waits for all to end.
fn kill_one_rank(place: &Place, ranks: usize, words: &[&str]) {
    let mut child = place.command(ranks, words).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !place.has("kept/manifest.json") {
        assert!(begun.elapsed() < Duration::from_secs(30), "no state was kept");
        assert!(child.try_wait().unwrap().is_none(), "it ended before a state was kept");
        std::thread::sleep(Duration::from_millis(5));
    }
    let victim = last_rank(place.path(), &child);
    assert!(
        std::process::Command::new("kill").args(["-KILL", &victim]).status().unwrap().success()
    );
    let killed = Instant::now();
    let status = child.wait().unwrap();
    assert!(!status.success());
    assert!(killed.elapsed() < Duration::from_secs(20), "{:?}", killed.elapsed());
    assert!(!place.has("out.json"));
}

/// The process of a rank: one that works in the folder of this test.
fn last_rank(folder: &Path, mpirun: &Child) -> String {
    let works_here = |pid: &String| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let place = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        name.trim() == "hodgerank-mpi" && place == folder.canonicalize().unwrap()
    };
    let entries = std::fs::read_dir("/proc").unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let found: Vec<String> = names.filter(works_here).collect();
    assert!(!found.contains(&mpirun.id().to_string()));
    found.last().expect("a rank is at work").clone()
}

fn result(place: &Place) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(place.at("out.json")).unwrap()).unwrap()
}

#[test]
fn killed_and_resumed() {
    let place = Place::new();
    let files = files(&place);
    for ranks in [1, 2, 3] {
        place.run(ranks, &words(&files, &[])).good();
        let whole = result(&place);
        std::fs::remove_file(place.at("out.json")).unwrap();
        kill_one_rank(&place, ranks, &words(&files, &KEEP));
        let run = place.run(ranks, &words(&files, &["--checkpoint=kept", "--resume"])).good();
        assert!(run.stderr.contains("going on with"), "{}", run.stderr);
        assert_same(&result(&place), &whole, &format!("{ranks} ranks"));
        assert!(!place.has("kept/manifest.json"), "what was kept is removed at the end");
        let left = std::fs::read_dir(place.at("kept")).unwrap().count();
        assert_eq!(left, 0, "and so are the states");
        std::fs::remove_file(place.at("out.json")).unwrap();
    }
}

#[test]
fn another_run_is_refused() {
    let place = Place::new();
    let files = files(&place);
    kill_one_rank(&place, 2, &words(&files, &KEEP));
    let refused = |ranks, extra: &[&str], files: &[String], part: &str| {
        let run = place.run(ranks, &words(files, extra));
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert_eq!(run.errors().len(), 1, "{}", run.stderr);
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
        assert!(!place.has("out.json"));
    };
    let resume = ["--checkpoint=kept", "--resume"];
    refused(2, &["--checkpoint=kept"], &files, "add --resume");
    refused(3, &resume, &files, "ranks: 2 then, 3 now");
    refused(2, &resume, &files[..2], "file 3: ");
    let other = ["--checkpoint=kept", "--resume", "--tolerance=1e-8"];
    refused(2, &other, &files, "--tolerance: 0.0000000001 then, 1e-8 now");
    let states: Vec<_> = std::fs::read_dir(place.at("kept")).unwrap().flatten().collect();
    let generation = states.iter().find(|entry| entry.path().is_dir()).unwrap().path();
    let state = generation.join("rank-00001");
    let mut bytes = std::fs::read(&state).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&state, bytes).unwrap();
    refused(2, &resume, &files, "rank-00001: cannot be read: the kept state is damaged");
    std::fs::remove_file(&state).unwrap();
    refused(2, &resume, &files, "rank-00001: cannot be read");
}

#[test]
fn nothing_kept_yet() {
    let place = Place::new();
    let files = [place.put("a.csv", separated(&votes(10, 500), ","))];
    let run = place.run(2, &words(&files, &["--checkpoint=kept", "--resume"])).good();
    assert!(run.stderr.contains("nothing is kept in kept yet: beginning anew"), "{}", run.stderr);
    let run = place.run(2, &words(&files, &["--resume"]));
    assert_eq!(run.code, Some(2));
    let run = place.run(2, &words(&files, &["--checkpoint=a.csv"]));
    assert_eq!(run.code, Some(2));
    assert!(run.errors()[0].contains("states cannot be kept there"), "{}", run.stderr);
}
