//! Rankings and flagged votes at each stop of the slider.

use hodgerank::path::Change;
use hodgerank::{Path, Ranking};
use rayon::prelude::*;

use super::item_order::ItemOrder;
use super::rounded::rounded;
use super::stops::Stops;
use super::suspects::Suspects;
use crate::document::Slider;
use crate::findings::{StudyFindings, agreeing_votes};

/// Number of consecutive stops that one thread computes: each such run follows the path from its start.
const STOPS_PER_RUN: usize = 10;

/// What the slider shows at one stop.
struct AtStop {
    flagged: u64,
    share: f64,
    agree: f64,
    disagree: f64,
    ranks: Vec<u32>,
    scores: Vec<f64>,
    item_flagged: Vec<u64>,
}

/// Computes the data of every stop; `None` without a path. The chosen stop shows the report's own
/// ranking.
pub(super) fn slider(
    findings: &StudyFindings<'_>,
    order: &ItemOrder,
    stops: &Stops,
    suspects: &Suspects,
) -> Option<Slider> {
    let (_, path) = findings.path.as_ref()?;
    let runs: Vec<Vec<AtStop>> = (0..stops.knots.len())
        .collect::<Vec<_>>()
        .par_chunks(STOPS_PER_RUN)
        .map(|run| compute_run(findings, order, stops, path, run))
        .collect();
    let count = stops.knots.len();
    let mut slider = Slider {
        parameter: path.parameter.as_str(),
        chosen: stops.chosen,
        at: stops.knots.iter().map(|&knot| path.knots[knot]).collect(),
        flagged: Vec::with_capacity(count),
        share: Vec::with_capacity(count),
        agree: Vec::with_capacity(count),
        disagree: Vec::with_capacity(count),
        ranks: Vec::with_capacity(count),
        scores: Vec::with_capacity(count),
        item_flagged: Vec::with_capacity(count),
        turns: suspects.turns.clone(),
    };
    for stop in runs.into_iter().flatten() {
        slider.flagged.push(stop.flagged);
        slider.share.push(stop.share);
        slider.agree.push(stop.agree);
        slider.disagree.push(stop.disagree);
        slider.ranks.push(stop.ranks);
        slider.scores.push(stop.scores);
        slider.item_flagged.push(stop.item_flagged);
    }
    Some(slider)
}

/// Computes consecutive stops.
fn compute_run(
    findings: &StudyFindings<'_>,
    order: &ItemOrder,
    stops: &Stops,
    path: &Path,
    run: &[usize],
) -> Vec<AtStop> {
    let ranked = findings.ranked;
    let (graph, groups) = (&ranked.graph, ranked.graph.groups());
    let (votes, unit) = (groups.votes(), findings.unit_of_outcomes());
    let mut flagged = vec![0.0; groups.len()];
    let mut events = path.events.iter().peekable();
    let mut positions = vec![0; graph.items()];
    let mut at_stop = |s: usize| {
        let knot = stops.knots[s];
        while let Some(event) = events.next_if(|event| event.knot as usize <= knot) {
            let g = event.group as usize;
            flagged[g] =
                if matches!(event.change, Change::Entered(_)) { groups.weight[g] } else { 0.0 };
        }
        let is_chosen = s == stops.chosen;
        let at_stop = path.scores_at(path.knots[knot]);
        // Scores along the path have the unit of the outcomes.
        let (scores, flagged, unit) = if is_chosen {
            (&ranked.fit.scores, &ranked.fit.flagged, 1.0)
        } else {
            (&at_stop, &flagged, unit)
        };
        let trusted = groups.weight.iter().zip(flagged).map(|(w, f)| w - f);
        let [agree, disagree] = agreeing_votes(graph, scores, trusted);
        let flagged_votes = flagged.iter().sum::<f64>();
        let ranking = Ranking::new(graph, scores).with_flagged(graph, flagged);
        for (k, row) in ranking.items.iter().enumerate() {
            positions[row.item as usize] = k;
        }
        let largest = scores.iter().fold(0.0f64, |max, score| max.max(score.abs()));
        let rows = || {
            let listed = order.ranking.items[..order.listed].iter();
            listed.map(|row| &ranking.items[positions[row.item as usize]])
        };
        let score = |score: f64| rounded(unit * score, unit * largest);
        AtStop {
            flagged: flagged_votes as u64,
            share: rounded(flagged_votes / votes, 1.0),
            agree: rounded(agree / votes, 1.0),
            disagree: rounded(disagree / votes, 1.0),
            ranks: rows().map(|row| row.rank).collect(),
            scores: rows().map(|row| score(row.score)).collect(),
            item_flagged: rows().map(|row| row.flagged).collect(),
        }
    };
    run.iter().map(|&s| at_stop(s)).collect()
}
