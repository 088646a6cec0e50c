//! `--matrix`: the probabilities of all pairs of some items.

use hodgerank::Labels;
use hodgerank::predict::Predictor;
use hodgerank_io::write::{Column, Table};
use serde::Serialize;

/// A square matrix of probabilities.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbabilityMatrix {
    /// The items of rows and columns, best first or as they were asked for.
    pub items: Vec<String>,
    /// For each row and column, the probability that the item of the row is preferred; none on the
    /// diagonal and between components.
    pub probabilities: Vec<Vec<Option<f64>>>,
}

impl ProbabilityMatrix {
    pub(super) fn new(predictor: &Predictor<'_>, labels: &Labels, items: &[u32]) -> Self {
        let probability = |row: u32, column: u32| match row == column {
            true => None,
            false => predictor.predict(row, column).probability,
        };
        let row = |&row: &u32| items.iter().map(|&column| probability(row, column)).collect();
        Self {
            items: items.iter().map(|&item| labels.name(item).to_owned()).collect(),
            probabilities: items.iter().map(row).collect(),
        }
    }

    /// A column of labels, and one for each item.
    pub(super) fn push_columns(&self, table: &mut Table) {
        table.push("item", Column::Text(self.items.iter().cloned().map(Some).collect()));
        for (k, item) in self.items.iter().enumerate() {
            let column = self.probabilities.iter().map(|row| row[k]).collect();
            table.push(item, Column::Number(column));
        }
    }
}
