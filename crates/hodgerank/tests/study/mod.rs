//! Simulated studies, whose outliers are known, and the real ones beside the project.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::path::Path as FilePath;

use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::{Comparison, ComparisonGraph, Groups, Labels, Path};

/// A graph, the group of each vote, and whether the vote is bad.
pub struct Study {
    pub graph: ComparisonGraph,
    pub group_of: Vec<u32>,
    pub bad: Vec<bool>,
}

pub fn simulated(options: &SimulateOptions) -> Study {
    let votes: Vec<_> = Simulation::new(options).unwrap().collect();
    let comparisons: Vec<Comparison> = votes.iter().map(|vote| vote.comparison()).collect();
    let merged = Groups::merge(options.items, &comparisons).unwrap();
    let graph = ComparisonGraph::new(options.items, merged.groups).unwrap();
    let group_of = merged.group_of.into_iter().map(|group| group.unwrap()).collect();
    Study { graph, group_of, bad: votes.iter().map(|vote| vote.bad).collect() }
}

/// How well the order of entry tells bad votes from good ones: the chance that a bad one entered
/// before a good one, ties counted half. Groups that never entered are ordered by the size of
/// their accumulated residuals.
pub fn auc(study: &Study, path: &Path) -> f64 {
    let p = accumulated(&study.graph, path);
    let mut suspicion: Vec<f64> = p.iter().map(|p| p.abs().min(1.0)).collect();
    for entry in path.entries() {
        suspicion[entry.group as usize] = 1.0 + 1.0 / entry.at;
    }
    separation(study, &suspicion)
}

/// The same where groups enter as λ falls; groups that never entered are equally trusted.
pub fn auc_of_lambda(study: &Study, path: &Path) -> f64 {
    let mut suspicion = vec![0.0; study.graph.groups().len()];
    for entry in path.entries() {
        suspicion[entry.group as usize] = entry.at;
    }
    separation(study, &suspicion)
}

fn separation(study: &Study, suspicion: &[f64]) -> f64 {
    let of_votes = |bad: bool| -> Vec<f64> {
        let votes = study.group_of.iter().zip(&study.bad).filter(|&(_, &b)| b == bad);
        votes.map(|(&g, _)| suspicion[g as usize]).collect()
    };
    let (bad, good) = (of_votes(true), of_votes(false));
    let above = |b: f64, g: f64| if b > g { 1.0 } else { f64::from(u8::from(b == g)) / 2.0 };
    let sum: f64 = bad.iter().flat_map(|&b| good.iter().map(move |&g| above(b, g))).sum();
    sum / (bad.len() * good.len()) as f64
}

/// Residuals of the groups trusted, added up over the time of a path, knot by knot.
pub fn accumulated(graph: &ComparisonGraph, path: &Path) -> Vec<f64> {
    let mut p = vec![0.0; graph.groups().len()];
    for knot in 1..path.knots.len() {
        let from = path.knots[knot - 1];
        let flagged = path.flagged_at(from);
        let r = residuals(graph, &path.scores_at(from));
        for (g, p) in p.iter_mut().enumerate() {
            if flagged.binary_search(&(g as u32)).is_err() {
                *p += (path.knots[knot] - from) * r[g];
            }
        }
    }
    p
}

/// y − Xθ.
pub fn residuals(graph: &ComparisonGraph, theta: &[f64]) -> Vec<f64> {
    graph.groups().y.iter().zip(graph.gradient(theta)).map(|(y, x)| y - x).collect()
}

/// PC-VQA, reference 1, and the column `lbi` of the published table; none where data are missing.
#[allow(clippy::print_stderr, reason = "a skipped test should say so")]
pub fn pc_vqa_1() -> Option<(ComparisonGraph, Vec<f64>)> {
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
pub fn every_votes_file() -> Vec<(String, ComparisonGraph)> {
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
