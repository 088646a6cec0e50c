//! Simulated studies, whose bad votes are known, the studies of `testdata` and the published ones.

use std::path::Path as FilePath;

use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::{Comparison, ComparisonGraph, Groups, Labels, Path, detection};

/// A simulated study: its graph, the distinct vote of each vote, whether the vote is bad, and the
/// true scores.
pub(crate) struct SimulatedStudy {
    pub(crate) graph: ComparisonGraph,
    pub(crate) group_of: Vec<u32>,
    pub(crate) bad: Vec<bool>,
    pub(crate) truth: Vec<f64>,
}

pub(crate) fn simulated(options: &SimulateOptions) -> SimulatedStudy {
    let mut simulation = Simulation::new(options).unwrap();
    let votes: Vec<_> = simulation.by_ref().collect();
    let comparisons: Vec<Comparison> = votes.iter().map(|vote| vote.comparison()).collect();
    let merged = Groups::merge(options.items, &comparisons).unwrap();
    let graph = ComparisonGraph::new(options.items, merged.groups).unwrap();
    let group_of = merged.group_of.into_iter().map(|group| group.unwrap()).collect();
    let (bad, truth) = (votes.iter().map(|vote| vote.bad).collect(), simulation.truth().to_vec());
    SimulatedStudy { graph, group_of, bad, truth }
}

/// The area under the ROC curve of a path as a classifier of bad votes.
pub(crate) fn auc(study: &SimulatedStudy, path: &Path) -> f64 {
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

/// PC-VQA, reference 1, and the paper's table of its scores. Item k has index k − 1.
pub(crate) struct PublishedStudy {
    pub(crate) graph: ComparisonGraph,
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl PublishedStudy {
    /// Returns `None`, and records the test as skipped, where the published studies are missing.
    pub(crate) fn read() -> Option<Self> {
        let data = hodgerank_testdata::published_studies()?;
        let (_, graph) = read_votes(&data.join("pc-vqa/ref01.csv"));
        let table = std::fs::read_to_string(data.join("golden/pc-vqa-ref01.csv")).unwrap();
        let mut lines = table.lines();
        let columns = lines.next().unwrap().split(',').map(str::to_owned).collect();
        let numbers = |row: &str| row.split(',').map(|x| x.parse().unwrap()).collect();
        let mut rows: Vec<Vec<f64>> = lines.map(numbers).collect();
        rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
        Some(Self { graph, columns, rows })
    }

    /// The published scores of a method.
    pub(crate) fn column(&self, name: &str) -> Vec<f64> {
        let index = self.columns.iter().position(|column| column == name).unwrap();
        self.rows.iter().map(|row| row[index]).collect()
    }
}

/// The complete study of `testdata`.
pub(crate) fn complete() -> ComparisonGraph {
    read_votes(&hodgerank_testdata::file("complete.csv")).1
}

/// Name and graph of studies of `winner,loser` and `left,right,y`: those of `testdata`, and the
/// published ones where they are available.
pub(crate) fn all() -> Vec<(String, ComparisonGraph)> {
    let small = ["complete.csv", "incomplete.csv", "graded.csv"].map(hodgerank_testdata::file);
    let numbered = |folder| (1..=5).map(move |k| format!("{folder}/ref0{k}.csv"));
    let published = hodgerank_testdata::find_published_studies().into_iter().flat_map(|data| {
        let names = numbered("pc-vqa").chain(numbered("pc-iqa"));
        names.chain(["human-age.csv".to_owned()]).map(move |name| data.join(name))
    });
    small.into_iter().chain(published).map(|path| read_votes(&path)).collect()
}

/// Name and graph of a study. Items are in natural order.
fn read_votes(path: &FilePath) -> (String, ComparisonGraph) {
    let text = std::fs::read_to_string(path).unwrap();
    let cells = text.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
    let rows: Vec<(&str, &str, f64)> = cells
        .map(|cells| match cells[..] {
            [winner, loser] => (winner, loser, 1.0),
            [left, right, y] | [_, left, right, y] => (left, right, y.parse().unwrap()),
            _ => panic!("{}: {cells:?}", path.display()),
        })
        .collect();
    let (items, _) = rows.iter().flat_map(|row| [row.0, row.1]).collect::<Labels>().sorted();
    let index = |label: &str| items.get(label.as_bytes()).unwrap();
    let votes: Vec<Comparison> =
        rows.iter().map(|&(l, r, y)| Comparison::new(index(l), index(r), y)).collect();
    let groups = Groups::merge(items.len(), &votes).unwrap().groups;
    (path.display().to_string(), ComparisonGraph::new(items.len(), groups).unwrap())
}

/// Kendall's τ of two score vectors; a tie counts as 0.
pub(crate) fn kendall(a: &[f64], b: &[f64]) -> f64 {
    let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
    let pairs = (0..a.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let sum: f64 = pairs.map(|(i, j)| sign((a[i] - a[j]) * (b[i] - b[j]))).sum();
    sum / (a.len() * (a.len() - 1) / 2) as f64
}
