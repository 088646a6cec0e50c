//! Huber-LASSO and its refit on PC-VQA, reference 1, against the paper's table.

use crate::shapes;
use std::path::Path;

use crate::shapes::largest_difference;
use hodgerank::path::StopAt;
use hodgerank::solve::huber_lasso::{self, Knots};
use hodgerank::solve::lasso_l2::{self, Protocol};
use hodgerank::solve::{HuberLassoOptions, LassoL2Options, Status};
use hodgerank::{Comparison, ComparisonGraph};

/// The votes, and a column of the table; items in numeric order.
struct Study {
    graph: ComparisonGraph,
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Study {
    #[allow(clippy::print_stderr, reason = "a skipped test should say so")]
    fn read() -> Option<Self> {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        let Ok(votes) = std::fs::read_to_string(data.join("pc-vqa/ref01.csv")) else {
            eprintln!("skipped: the shared data are not here");
            return None;
        };
        let table = std::fs::read_to_string(data.join("golden/pc-vqa-ref01.csv")).unwrap();
        let mut lines = table.lines();
        let columns = lines.next().unwrap().split(',').map(str::to_owned).collect();
        let numbers = |row: &str| row.split(',').map(|x| x.parse().unwrap()).collect();
        let mut rows: Vec<Vec<f64>> = lines.map(numbers).collect();
        rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let index = |label: &str| {
            let label: f64 = label.parse().unwrap();
            rows.iter().position(|row| row[0] == label).unwrap() as u32
        };
        let vote = |row: &str| {
            let (winner, loser) = row.split_once(',').unwrap();
            Comparison::new(index(winner), index(loser), 1.0)
        };
        let votes: Vec<Comparison> = votes.lines().skip(1).map(vote).collect();
        Some(Self { graph: shapes::graph(rows.len(), &votes), columns, rows })
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let at = self.columns.iter().position(|column| column == name).unwrap();
        self.rows.iter().map(|row| row[at]).collect()
    }

    fn five_percent(&self) -> StopAt {
        StopAt::Flagged(0.05 * self.graph.groups().votes())
    }
}

#[test]
fn hlasso_meets_the_table() {
    let Some(study) = Study::read() else { return };
    let expected = study.column("hlasso");
    let options = HuberLassoOptions::default();
    let at = huber_lasso::solve_at(&study.graph, 1.43953, None, &options).unwrap();
    assert!(largest_difference(&at.scores, &expected) < 6e-5);
    let path = huber_lasso::path(&study.graph, &options, study.five_percent()).unwrap();
    assert_eq!(path.knots.len(), 13);
    let lambda = path.knots[12];
    assert!((lambda - 1.43953).abs() < 5e-6);
    assert_eq!(path.flagged_at(lambda).len(), 61);
    assert!(largest_difference(path.last_scores(), &expected) < 6e-5);
    let exact = HuberLassoOptions { knots: Knots::Exact { most: 1000 }, ..options };
    let exact = huber_lasso::path(&study.graph, &exact, StopAt::End).unwrap();
    assert_eq!(exact.flagged_at(lambda).len(), 61);
    assert!(largest_difference(&exact.scores_at(lambda), &expected) < 6e-5);
}

#[test]
fn lasso_l2_meets_the_table() {
    let Some(study) = Study::read() else { return };
    let options = LassoL2Options { protocol: Protocol::Paper, ..LassoL2Options::default() };
    let found = lasso_l2::solve(&study.graph, &options, study.five_percent()).unwrap();
    let votes = |g: &u32| study.graph.groups().weight[*g as usize];
    assert_eq!(found.removed.len(), 52);
    assert_eq!(found.removed.iter().map(votes).sum::<f64>(), 193.0);
    assert_eq!((found.solution.status, found.components), (Status::Solved, 1));
    let difference = largest_difference(&found.solution.scores, &study.column("lasso_l2"));
    assert!(difference < 6e-5, "{difference:e}");
}
