//! The section about whether the data can support the ranking.

use crate::advice::VerdictText;
use crate::document::{Fold, Section};
use crate::findings::StudyFindings;
use crate::table::{PageColumn, PageTable, Values};
use crate::words::{percent, thousands};

pub(super) fn section(findings: &StudyFindings<'_>) -> Section {
    let verdict = VerdictText::new(&findings.diagnosis, findings.ranked.items);
    let mut section = Section::new("diagnosis", "Can the data support this ranking?", Fold::Screen);
    section.text = verdict.findings;
    section.text.extend(verdict.advice.iter().map(|advice| format!("Advice: {advice}")));
    section.tables.push(table(findings));
    section
}

fn table(findings: &StudyFindings<'_>) -> PageTable {
    let diagnosis = &findings.diagnosis;
    let design = &diagnosis.design;
    let whole = |number: usize| thousands(number as u64);
    let mut rows = vec![
        ("items", whole(design.items)),
        ("pairs compared", whole(design.pairs)),
        ("share of all pairs", percent(design.density)),
        ("components", whole(design.components)),
        ("bridges: pairs whose removal disconnects the graph", whole(design.bridges.count)),
        ("items with few votes", whole(design.few_votes.count)),
        ("items that never lost", whole(design.undefeated.count)),
        ("items that never won", whole(design.winless.count)),
        (
            "votes per item: minimum, median, maximum",
            format!(
                "{}, {}, {}",
                design.votes_per_item.least,
                design.votes_per_item.median,
                design.votes_per_item.most
            ),
        ),
        ("share of bad votes that can be detected", percent(diagnosis.identifiable.share)),
        ("bad votes that are certain to be detected", thousands(diagnosis.certain_outliers)),
    ];
    if let Some(connectivity) = &diagnosis.connectivity {
        rows.push(("algebraic connectivity", format!("{:.4}", connectivity.value)));
    }
    if let Some(resistance) = &diagnosis.resistance {
        rows.push(("largest effective resistance of a pair", format!("{:.4}", resistance.largest)));
        rows.push(("mean effective resistance", format!("{:.4}", resistance.mean)));
    }
    let (names, values): (Vec<String>, Vec<String>) =
        rows.into_iter().map(|(name, value)| (name.to_owned(), value)).unzip();
    PageTable {
        id: "diagnosis".to_owned(),
        title: "Properties of the data".to_owned(),
        note: None,
        columns: vec![
            PageColumn::new("figure", "property", Values::Text(names)),
            PageColumn::new("value", "value", Values::Text(values)),
        ],
    }
}
