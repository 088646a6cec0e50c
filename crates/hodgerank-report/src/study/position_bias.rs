//! The section about annotators who prefer a side: their inverse scale space path.
//!
//! Green: not selected. Red: always one side. Blue: mostly one side. As in Xu, Xiong, Cao and Yao
//! (ICML 2016).

use hodgerank::position_bias::{
    BiasStep, PositionBias, PositionBiasOptions, bias_path, position_bias,
};

use crate::chart::{Axis, Chart, Colour, LegendEntry, LineCurve, Mark, Sign, Ticks};
use crate::document::{Fold, Section};
use crate::findings::StudyFindings;
use crate::words::counted;

/// With more annotators, lines could not be told apart.
const MAX_ANNOTATORS: usize = 300;
/// Share of votes on one side from which on it counts as always.
const ALWAYS: f64 = 0.95;
/// The path is drawn up to the time at which this share of the annotators has entered: the rest is noise.
const SHOWN_SHARE: f64 = 0.5;

/// How an annotator is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fine,
    Always,
    Mostly,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Fine, Self::Always, Self::Mostly];

    fn colour(self) -> Colour {
        match self {
            Self::Fine => Colour::Kind(2),
            Self::Always => Colour::Kind(1),
            Self::Mostly => Colour::Kind(0),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Fine => "not selected",
            Self::Always => "always one side",
            Self::Mostly => "mostly one side",
        }
    }
}

/// The section; none without annotators and sides, or if there are too many annotators to draw.
pub(super) fn section(findings: &StudyFindings<'_>) -> Option<Section> {
    let ranked = &findings.ranked;
    let votes = ranked.annotator_votes()?;
    if !votes.has_sides() || !(2..=MAX_ANNOTATORS).contains(&votes.annotators()) {
        return None;
    }
    let found = position_bias(ranked.graph, votes, &PositionBiasOptions::default()).ok()?;
    let path = bias_path(ranked.graph, votes, MAX_ANNOTATORS).ok()?;
    let largest = votes.outcomes().iter().fold(0.0_f64, |largest, y| largest.max(y.abs()));
    let kind = |a: usize| {
        let bias = &found.annotators[a];
        match bias.selected {
            false => Kind::Fine,
            true if bias.mean_outcome.abs() >= (2.0 * ALWAYS - 1.0) * largest => Kind::Always,
            true => Kind::Mostly,
        }
    };
    let kinds: Vec<Kind> = (0..votes.annotators()).map(kind).collect();
    let selected = found.selected().count() as u64;
    let names = |a: u32| ranked.study.annotators.name(a).to_owned();
    let mut section = Section::new("position-bias", "Annotators who prefer a side", Fold::Detail);
    section.text.push(format!(
        "{} {} selected at a false discovery rate of {}: on average, at most this share of them has no \
         position bias.",
        counted(selected, "annotator", "annotators"),
        if selected == 1 { "is" } else { "are" },
        found.options.fdr,
    ));
    if selected == 0 {
        section.text.push(format!(
            "Nobody is selected at this rate unless at least {} stand out, so annotators who prefer a side \
             can remain. The section Annotators judges each of them separately.",
            counted(found.min_selected() as u64, "annotator", "annotators"),
        ));
    }
    section.help.push(
        "Each line is the estimated pull of an annotator to the left (above zero) or to the right. Those \
         who leave zero first have the strongest evidence against them."
            .to_owned(),
    );
    section.charts.push(chart(&path, &found, &kinds, names)?);
    Some(section)
}

/// The path of each annotator who has entered while it is drawn.
fn chart(
    path: &[BiasStep],
    found: &PositionBias,
    kinds: &[Kind],
    name: impl Fn(u32) -> String,
) -> Option<Chart> {
    let entered = (SHOWN_SHARE * kinds.len() as f64).max(found.selected().count() as f64 + 1.0);
    let shown: Vec<&BiasStep> =
        path.iter().take_while(|step| step.biases.len() as f64 <= entered).collect();
    let end = shown.last()?.time;
    let start = shown.first()?.time;
    let end = if end > start { end } else { 2.0 * start };
    let mut lines: Vec<(u32, Vec<f64>, Vec<f64>)> = Vec::new();
    for a in 0..kinds.len() as u32 {
        let (mut x, mut y) = (vec![0.0], vec![0.0]);
        for step in &shown {
            let bias = step.biases.iter().find(|(annotator, _)| *annotator == a);
            let bias = bias.map_or(0.0, |(_, bias)| *bias);
            let before = y[y.len() - 1];
            if bias != before {
                // The path is constant between events.
                x.extend([step.time, step.time]);
                y.extend([before, bias]);
            }
        }
        if y.len() > 1 {
            x.push(end);
            y.push(y[y.len() - 1]);
            lines.push((a, x, y));
        }
    }
    // Those who were not selected are drawn first, below the others.
    lines.sort_by_key(|(a, ..)| kinds[*a as usize] != Kind::Fine);
    let count = |kind: Kind| lines.iter().filter(|(a, ..)| kinds[*a as usize] == kind).count();
    let alt = format!(
        "Estimated pull of each annotator along the inverse scale space path: {} selected as always \
         choosing one side, {} as mostly, {} others.",
        count(Kind::Always),
        count(Kind::Mostly),
        count(Kind::Fine)
    );
    let y = Axis::numbers("pull to the left", lines.iter().flat_map(|(.., y)| y.iter().copied()));
    let x = Axis { name: "time of the path".to_owned(), from: 0.0, to: end, ticks: Ticks::Numbers };
    let mark = |(a, x, y): (u32, Vec<f64>, Vec<f64>)| {
        let kind = kinds[a as usize];
        let hover = format!("{}: {}", name(a), kind.words());
        let width = if kind == Kind::Fine { 1.0 } else { 1.5 };
        let (colour, curve) = (kind.colour(), LineCurve::Straight);
        Mark::Line { colour, width, dashed: false, curve, x, y, hover }
    };
    let legend = Kind::ALL.into_iter().filter(|kind| count(*kind) > 0);
    let legend =
        legend.map(|kind| LegendEntry::new(kind.words(), kind.colour(), Sign::Line)).collect();
    Some(Chart {
        id: "position-bias".to_owned(),
        title: "Position bias along the path".to_owned(),
        alt,
        note: None,
        x,
        y,
        aspect: 0.6,
        marks: lines.into_iter().map(mark).collect(),
        legend,
    })
}
