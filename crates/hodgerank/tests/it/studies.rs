//! Simulated studies, whose outliers are known, and the real ones beside the project.

use std::path::Path as FilePath;

use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::{Comparison, ComparisonGraph, Groups, Labels, Path, detection};

/// A graph, the group of each vote, and whether the vote is bad.
pub(crate) struct Study {
    pub(crate) graph: ComparisonGraph,
    pub(crate) group_of: Vec<u32>,
    pub(crate) bad: Vec<bool>,
}

pub(crate) fn simulated(options: &SimulateOptions) -> Study {
    let votes: Vec<_> = Simulation::new(options).unwrap().collect();
    let comparisons: Vec<Comparison> = votes.iter().map(|vote| vote.comparison()).collect();
    let merged = Groups::merge(options.items, &comparisons).unwrap();
    let graph = ComparisonGraph::new(options.items, merged.groups).unwrap();
    let group_of = merged.group_of.into_iter().map(|group| group.unwrap()).collect();
    Study { graph, group_of, bad: votes.iter().map(|vote| vote.bad).collect() }
}

/// How well a path tells bad votes from good ones.
pub(crate) fn auc(study: &Study, path: &Path) -> f64 {
    let groups = study.graph.groups().len();
    let (mut bad, mut good) = (vec![0.0; groups], vec![0.0; groups]);
    for (&g, &is_bad) in study.group_of.iter().zip(&study.bad) {
        let count = if is_bad { &mut bad } else { &mut good };
        count[g as usize] += 1.0;
    }
    let suspicion = detection::suspicion(&study.graph, path);
    detection::auc(&detection::roc(&suspicion, &bad, &good).unwrap())
}

/// y − Xθ.
pub(crate) fn residuals(graph: &ComparisonGraph, theta: &[f64]) -> Vec<f64> {
    graph.groups().y.iter().zip(graph.gradient(theta)).map(|(y, x)| y - x).collect()
}

/// PC-VQA, reference 1, and the column `lbi` of the published table; none where data are missing.
#[allow(clippy::print_stderr, reason = "a skipped test should say so")]
pub(crate) fn pc_vqa_1() -> Option<(ComparisonGraph, Vec<f64>)> {
    let data = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let Ok(votes) = std::fs::read_to_string(data.join("pc-vqa/ref01.csv")) else {
        eprintln!("skipped: the shared data are not here");
        return None;
    };
    let table = std::fs::read_to_string(data.join("golden/pc-vqa-ref01.csv")).unwrap();
    let column = table.lines().next().unwrap().split(',').position(|name| name == "lbi").unwrap();
    let rows: Vec<Vec<f64>> = table
        .lines()
        .skip(1)
        .map(|row| row.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    let index = |label: &str| -> u32 {
        let label: f64 = label.parse().unwrap();
        rows.iter().position(|row| row[0] == label).unwrap() as u32
    };
    let votes: Vec<Comparison> = votes
        .lines()
        .skip(1)
        .map(|row| row.split_once(',').unwrap())
        .map(|(winner, loser)| Comparison::new(index(winner), index(loser), 1.0))
        .collect();
    let groups = Groups::merge(rows.len(), &votes).unwrap().groups;
    let graph = ComparisonGraph::new(rows.len(), groups).unwrap();
    Some((graph, rows.iter().map(|row| row[column]).collect()))
}

/// The graph of every votes file of the shared data; none where they are missing.
#[allow(clippy::print_stderr, reason = "a skipped test should say so")]
pub(crate) fn every_votes_file() -> Vec<(String, ComparisonGraph)> {
    let data = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.exists() {
        eprintln!("skipped: the shared data are not here");
        return Vec::new();
    }
    let numbered = |folder| (1..=5).map(move |k| format!("{folder}/ref0{k}.csv"));
    let names = numbered("pc-vqa").chain(numbered("pc-iqa")).chain(["human-age.csv".to_owned()]);
    let read = |name: String| {
        let text = std::fs::read_to_string(data.join(&name)).unwrap();
        let mut items = Labels::new();
        let mut vote = |row: &str| match row.split(',').collect::<Vec<_>>()[..] {
            [winner, loser] => Comparison::new(items.intern(winner), items.intern(loser), 1.0),
            [_, left, right, y] => {
                Comparison::new(items.intern(left), items.intern(right), y.parse().unwrap())
            }
            _ => panic!("{name}: {row}"),
        };
        let votes: Vec<Comparison> = text.lines().skip(1).map(&mut vote).collect();
        let groups = Groups::merge(items.len(), &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items.len(), groups).unwrap();
        (name, graph)
    };
    names.map(read).collect()
}
