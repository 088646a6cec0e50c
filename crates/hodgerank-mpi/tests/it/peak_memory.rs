//! The memory of each process falls as processes are added.

use crate::support::TestFolder;
use hodgerank::simulate::{SimulateOptions, Simulation};

#[test]
fn more_processes_need_less_memory_each() {
    // Most of the two million pairs have votes, so that distinct votes dominate the memory.
    let options = SimulateOptions { items: 2000, votes: 1_600_000, ..SimulateOptions::default() };
    let mut files = vec![String::from("left,right,y\n"); 8];
    for (k, vote) in Simulation::new(&options).unwrap().enumerate() {
        let line = format!("{},{},{}\n", vote.left, vote.right, vote.y);
        files[k % 8].push_str(&line);
    }
    let folder = TestFolder::new();
    let put = |(k, text): (usize, String)| folder.put(&format!("{k}.csv"), text);
    let files: Vec<String> = files.into_iter().enumerate().map(put).collect();
    let few = [folder.put("few.csv", "left,right,y\n1,2,1\n2,3,1\n1,3,1\n")];
    // How several threads share a file depends on what else the machine does.
    let options = ["--outliers=1%", "--threads=1"].map(str::to_owned);
    let megabytes = |size: usize, files: &[String]| -> f64 {
        let arguments = [&["rank".to_owned()], files, &options].concat();
        let run = folder.run(size, &arguments).good();
        let (before, _) = run.stderr.split_once(" MB").expect("peak memory is printed");
        before.split(' ').next_back().unwrap().replace(',', "").parse().unwrap()
    };
    // The program, the MPI library and the tables in which each process counts do not shrink.
    let program = megabytes(1, &few);
    let [one, two, four] = [1, 2, 4].map(|size| megabytes(size, &files) - program);
    assert!(
        two < 0.7 * one && four < two,
        "{one} MB, {two} MB, {four} MB in addition to {program} MB"
    );
}
