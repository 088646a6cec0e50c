//! The page of one study: its findings as texts, charts and tables.
//!
//! There is one module for each section of the page. To keep the page small and fast, each chart and
//! table has a limit ([`Limits`]); a note in its place says what is omitted.

mod annotator_chart;
mod annotators;
mod calibration;
mod comparisons;
mod consistency;
mod diagnosis;
mod flagged;
mod item_order;
mod live;
mod methods;
mod path;
mod position_bias;
mod predictions;
mod ranking;
mod ranking_chart;
mod rounded;
mod slider;
mod stops;
mod summary;
mod suspects;

use crate::chart::Chart;
use crate::document::{Section, Slider, StudyPage};
use crate::findings::StudyFindings;
use item_order::ItemOrder;
use stops::Stops;
use suspects::Suspects;

pub use calibration::calibration_chart;
pub use live::{LiveRanking, live_ranking, votes_per_minute};
pub use path::path_chart;
pub use predictions::no_probabilities;

/// Limits of the page of one study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of rows of the ranking. Default: 1,000.
    pub items: usize,
    /// Maximum number of distinct votes listed as flagged somewhere on the path. Default: 20,000.
    pub suspects: usize,
    /// Maximum number of stops of the slider; the first stop and the report's ranking can be added.
    /// Default: 100.
    pub stops: usize,
    /// Maximum number of annotators in the table. Default: 5,000.
    pub annotators: usize,
    /// Maximum number of items in the matrix of predictions. Default: 60.
    pub predicted: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { items: 1_000, suspects: 20_000, stops: 100, annotators: 5_000, predicted: 60 }
    }
}

impl Limits {
    /// Returns the limits for each of several studies on one page. The page as a whole stays about
    /// as large as with one study.
    #[must_use]
    pub fn shared_by(studies: usize) -> Self {
        let all = Self::default();
        let part = |of: usize, min: usize| (of / studies.max(1)).max(min).min(of);
        Self {
            items: part(all.items * 10, 100).min(all.items),
            suspects: part(all.suspects, 200),
            stops: part(all.stops * 10, 20).min(all.stops),
            annotators: part(all.annotators * 10, 100).min(all.annotators),
            // The size of a matrix is the square of its number of items.
            predicted: part(all.predicted.pow(2) * 10, 100).isqrt().min(all.predicted),
        }
    }
}

/// What several sections need.
struct Prepared {
    order: ItemOrder,
    suspects: Suspects,
    slider: Option<Slider>,
}

impl Prepared {
    fn new(findings: &StudyFindings<'_>, limits: &Limits) -> Self {
        let order = ItemOrder::new(findings, limits.items);
        let stops = Stops::new(findings, limits.stops);
        let suspects = Suspects::new(findings, stops.as_ref(), limits.suspects);
        let slider =
            stops.as_ref().and_then(|stops| slider::slider(findings, &order, stops, &suspects));
        Self { order, suspects, slider }
    }
}

/// Builds the page of a study.
#[must_use]
pub fn page(findings: &StudyFindings<'_>, limits: &Limits) -> StudyPage {
    let Prepared { mut order, suspects, slider } = Prepared::new(findings, limits);
    let sections = sections(findings, &mut order, slider.as_ref(), &suspects, limits);
    let ranked = findings.ranked;
    StudyPage {
        by: ranked.study.by.clone(),
        headline: summary::headline(findings),
        overview: ranking_chart::overview(ranked, &order),
        summary: summary::sentences(findings, &order),
        more: summary::more(findings, &order),
        facts: summary::facts(findings),
        warnings: findings.ranked.warnings.to_vec(),
        items: order.into_names(findings.ranked.items),
        slider,
        sections,
    }
}

fn sections(
    findings: &StudyFindings<'_>,
    order: &mut ItemOrder,
    slider: Option<&Slider>,
    suspects: &Suspects,
    limits: &Limits,
) -> Vec<Section> {
    let mut sections = vec![
        ranking::section(findings, order, slider),
        predictions::section(findings, order, limits.predicted),
        flagged::section(findings, order, suspects),
    ];
    sections.extend(annotators::section(findings, limits.annotators));
    sections.push(diagnosis::section(findings));
    if let (Some(slider), Some((method, _))) = (slider, &findings.path) {
        sections.push(path::section(findings, order, slider, *method));
    }
    sections.push(methods::section(findings, order));
    sections.extend(position_bias::section(findings));
    sections.push(consistency::section(findings, order));
    sections.push(comparisons::section(findings, order));
    sections
}

/// Returns the charts of a study for print. Charts that follow the slider show the report's ranking.
#[must_use]
pub fn figures(findings: &StudyFindings<'_>) -> Vec<Chart> {
    let limits = Limits::default();
    let Prepared { mut order, suspects, slider } = Prepared::new(findings, &limits);
    let shown = suspects.flagged_in_ranking();
    let sections = sections(findings, &mut order, slider.as_ref(), &shown, &limits);
    sections.into_iter().flat_map(|section| section.charts).collect()
}
