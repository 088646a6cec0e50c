//! Memory of a rank falls as ranks are added.

mod support;

use hodgerank::simulate::{SimulateOptions, Simulation};
use support::Place;

#[test]
fn more_ranks_hold_less_each() {
    // Of two million pairs most are voted on: what a rank holds is its distinct votes.
    let options = SimulateOptions { items: 2000, votes: 1_600_000, ..SimulateOptions::default() };
    let mut files = vec![String::from("left,right,y\n"); 8];
    for (k, vote) in Simulation::new(&options).unwrap().enumerate() {
        let line = format!("{},{},{}\n", vote.left, vote.right, vote.y);
        files[k % 8].push_str(&line);
    }
    let place = Place::new();
    let put = |(k, text): (usize, String)| place.put(&format!("{k}.csv"), text);
    let files: Vec<String> = files.into_iter().enumerate().map(put).collect();
    let most = |ranks: usize| -> f64 {
        let arguments =
            [vec!["rank".to_owned()], files.clone(), vec!["--outliers=1%".to_owned()]].concat();
        let run = place.run(ranks, &arguments).good();
        let (_, after) = run.stderr.split_once("held at most ").expect("memory is told");
        after.split(' ').next().unwrap().replace(',', "").parse().unwrap()
    };
    let [one, two, four] = [1, 2, 4].map(most);
    // The program itself and the tables in which votes are counted are the same for all.
    assert!(two < 0.7 * one && four < 0.9 * two, "{one} MB, {two} MB, {four} MB");
}
