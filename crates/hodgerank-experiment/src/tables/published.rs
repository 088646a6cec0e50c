//! PublishedTable tables: items, and one column of scores for each method.

use hodgerank::Method;
use std::path::Path;

use crate::error::{Error, Result};

pub(super) struct PublishedTable {
    columns: Vec<String>,
    /// Items and their scores.
    rows: Vec<(String, Vec<f64>)>,
}

impl PublishedTable {
    /// Reads the table of a study; `None` if there is no file.
    pub(super) fn read(data: &Path, name: &str) -> Result<Option<Self>> {
        let file = data.join("golden").join(format!("{name}.csv"));
        if !file.exists() {
            return Ok(None);
        }
        let bad = |problem: String| Error::PublishedTable { file: file.clone(), problem };
        let text = std::fs::read_to_string(&file).map_err(|error| bad(error.to_string()))?;
        let mut lines = text.lines();
        let header = lines.next().ok_or_else(|| bad("the file is empty".to_owned()))?;
        let columns: Vec<String> = header.split(',').skip(1).map(str::to_owned).collect();
        let mut rows = Vec::new();
        for (line, row) in lines.enumerate() {
            let mut cells = row.split(',');
            let item = cells.next().unwrap_or_default().to_owned();
            let scores: Option<Vec<f64>> = cells.map(|cell| cell.parse().ok()).collect();
            let complete = scores.filter(|scores| scores.len() == columns.len());
            let problem = || format!("line {}: expected {} numbers", line + 2, columns.len());
            rows.push((item, complete.ok_or_else(|| bad(problem()))?));
        }
        Ok(Some(Self { columns, rows }))
    }

    /// Returns the scores of a method in the order of `items`; `None` if the method or an item is
    /// missing.
    pub(super) fn scores(&self, method: Method, items: &[String]) -> Option<Vec<f64>> {
        let name = match method {
            Method::Ridge => "xgb_linear".to_owned(),
            _ => method.as_str().replace('-', "_"),
        };
        let column = self.columns.iter().position(|column| *column == name)?;
        let row = |item: &String| self.rows.iter().find(|row| row.0 == *item);
        items.iter().map(|item| row(item).map(|row| row.1[column])).collect()
    }
}
