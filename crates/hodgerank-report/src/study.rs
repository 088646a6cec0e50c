//! What a report says of one study: its findings as words, charts and tables.
//!
//! One file for each section of the page. A page must stay small and quick, so each chart and table
//! has a limit ([`Limits`]); what is left out is counted and said where it would stand.

mod annotators;
mod comparisons;
mod consistency;
mod diagnosis;
mod flagged;
mod methods;
mod order;
mod path;
mod ranking;
mod slider;
mod summary;
mod suspects;

use crate::chart::Chart;
use crate::document::{Section, StudyPage};
use crate::findings::Findings;
use order::Order;
use slider::Stops;
use suspects::Suspects;

pub use path::path_chart;

/// What a page holds at most of one study.
///
/// | name | default | limits |
/// |---|---|---|
/// | `items` | 1,000 | rows of the ranking |
/// | `suspects` | 20,000 | different votes listed as flagged somewhere on the path |
/// | `stops` | 100 | places of the slider besides the first |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table says it")]
pub struct Limits {
    pub items: usize,
    pub suspects: usize,
    pub stops: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { items: 1_000, suspects: 20_000, stops: 100 }
    }
}

impl Limits {
    /// Limits for each of several studies on one page: together they get about what one gets.
    #[must_use]
    pub fn shared_by(studies: usize) -> Self {
        let whole = Self::default();
        let part = |of: usize, least: usize| (of / studies.max(1)).max(least).min(of);
        Self {
            items: part(whole.items * 10, 100).min(whole.items),
            suspects: part(whole.suspects, 200),
            stops: part(whole.stops * 10, 20).min(whole.stops),
        }
    }
}

/// What the page says of a study.
#[must_use]
pub fn page(findings: &Findings<'_>, limits: &Limits) -> StudyPage {
    let mut order = Order::of(findings, limits.items);
    let stops = Stops::of(findings, limits.stops);
    let suspects = Suspects::of(findings, stops.as_ref(), limits.suspects);
    let slider =
        stops.as_ref().and_then(|stops| slider::slider(findings, &order, stops, &suspects));
    let sections = sections(findings, &mut order, slider.as_ref(), &suspects);
    let ranked = findings.ranked;
    StudyPage {
        by: ranked.by.clone(),
        facts: summary::facts(findings),
        summary: summary::sentences(findings, &order),
        warnings: findings.warnings.to_vec(),
        items: order.into_names(&findings.ranked.items),
        slider,
        sections,
    }
}

fn sections(
    findings: &Findings<'_>,
    order: &mut Order,
    slider: Option<&crate::document::Slider>,
    suspects: &Suspects,
) -> Vec<Section> {
    let mut sections = vec![ranking::section(findings, order, slider)];
    if let (Some(slider), Some((method, _))) = (slider, &findings.path) {
        sections.push(path::section(findings, order, slider, *method));
    }
    sections.push(flagged::section(findings, order, suspects));
    sections.push(methods::section(findings, order));
    sections.extend(annotators::section(findings));
    sections.push(consistency::section(findings, order));
    sections.push(comparisons::section(findings, order));
    sections.push(diagnosis::section(findings));
    sections
}

/// The charts of a study for print: what follows the slider stands where the ranking was taken.
#[must_use]
pub fn figures(findings: &Findings<'_>) -> Vec<Chart> {
    let limits = Limits::default();
    let mut order = Order::of(findings, limits.items);
    let stops = Stops::of(findings, limits.stops);
    let suspects = Suspects::of(findings, stops.as_ref(), limits.suspects);
    let slider =
        stops.as_ref().and_then(|stops| slider::slider(findings, &order, stops, &suspects));
    let shown = suspects.flagged_in_ranking(findings);
    let sections = sections(findings, &mut order, slider.as_ref(), &shown);
    sections.into_iter().flat_map(|section| section.charts).collect()
}
