//! The table of `decompose`: a row for each compared pair.

use hodgerank_io::write::{Column, Table};

use crate::document::Figures;

use super::flow_row::FlowRow;
use super::study_decomposition::StudyDecomposition;

/// Returns the flows of all studies, a row for each compared pair.
#[must_use]
pub fn flow_table(studies: &[Figures<StudyDecomposition>]) -> Table {
    let rows = || {
        studies
            .iter()
            .flat_map(|study| study.figures.flows.iter().map(move |row| (study.by.as_deref(), row)))
    };
    let text = |pick: fn(&FlowRow) -> &str| {
        Column::Text(rows().map(|(_, row)| Some(pick(row).to_owned())).collect())
    };
    let number = |pick: fn(&FlowRow) -> f64| {
        // Adding 0.0 turns −0.0 into 0.0, which would be printed with its sign.
        Column::Number(rows().map(|(_, row)| Some(pick(row) + 0.0)).collect())
    };
    let mut table = Table::default();
    if studies.iter().any(|study| study.by.is_some()) {
        table.push("by", Column::Text(rows().map(|(by, _)| by.map(str::to_owned)).collect()));
    }
    table.push("left", text(|row| &row.left));
    table.push("right", text(|row| &row.right));
    table.push("votes", Column::Whole(rows().map(|(_, row)| Some(row.votes)).collect()));
    table.push("mean", number(|row| row.mean));
    table.push("gradient", number(|row| row.parts.gradient));
    table.push("curl", number(|row| row.parts.curl));
    table.push("harmonic", number(|row| row.parts.harmonic));
    table.push("energy", number(|row| row.energy));
    table.push("bicycle_energy", number(|row| row.parts.bicycles));
    table
}
