//! The sets as a table: one row for each member.

use hodgerank_io::write::{Column, Table};

use super::StudyCertificate;
use crate::document::{Figures, table_by};

#[derive(Default)]
struct Rows {
    ranking: Vec<Option<String>>,
    method: Vec<Option<String>>,
    kind: Vec<Option<String>>,
    annotator: Vec<Option<String>>,
    left: Vec<Option<String>>,
    right: Vec<Option<String>>,
    outcome: Vec<Option<f64>>,
    removed: Vec<Option<u64>>,
    of: Vec<Option<u64>>,
}

/// The members of all sets. A study without a set has no rows.
pub(super) fn set_table(studies: &[Figures<StudyCertificate>]) -> Table {
    let mut rows = Rows::default();
    let mut lengths = Vec::with_capacity(studies.len());
    for study in studies {
        let before = rows.ranking.len();
        for ranking in &study.figures.rankings {
            let mut start = |kind: &str| {
                rows.ranking.push(Some(ranking.ranking.to_owned()));
                rows.method.push(Some(ranking.method.to_owned()));
                rows.kind.push(Some(kind.to_owned()));
            };
            for vote in &ranking.votes.set {
                start("votes");
                rows.annotator.push(vote.annotator.clone());
                rows.left.push(Some(vote.left.clone()));
                rows.right.push(Some(vote.right.clone()));
                rows.outcome.push(Some(vote.outcome));
                rows.removed.push(Some(vote.removed));
                rows.of.push(Some(vote.of));
            }
            for gone in ranking.annotators.iter().flat_map(|annotators| &annotators.set) {
                start("annotators");
                rows.annotator.push(Some(gone.annotator.clone()));
                rows.left.push(None);
                rows.right.push(None);
                rows.outcome.push(None);
                rows.removed.push(Some(gone.votes));
                rows.of.push(Some(gone.votes));
            }
        }
        lengths.push((study.by.as_deref(), rows.ranking.len() - before));
    }
    let mut table = table_by(lengths.into_iter());
    table.push("ranking", Column::Text(rows.ranking));
    table.push("method", Column::Text(rows.method));
    table.push("set", Column::Text(rows.kind));
    table.push("annotator", Column::Text(rows.annotator));
    table.push("left", Column::Text(rows.left));
    table.push("right", Column::Text(rows.right));
    table.push("outcome", Column::Number(rows.outcome));
    table.push("removed", Column::Whole(rows.removed));
    table.push("of", Column::Whole(rows.of));
    table
}
