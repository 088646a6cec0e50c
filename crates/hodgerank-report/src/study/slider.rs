//! The path at a bounded number of stops, for the slider.

use hodgerank::path::Change;
use hodgerank::{Path, Ranking};

use super::order::Order;
use super::suspects::Suspects;
use crate::document::Slider;
use crate::findings::Findings;

/// The knots of the path at which the slider stops.
pub(super) struct Stops {
    /// Knots, in the order of the path; the first is its start.
    pub(super) knots: Vec<usize>,
    /// The stop at which the ranking was taken.
    pub(super) chosen: usize,
}

impl Stops {
    /// Stops spread evenly over the flagged votes; none where nothing is ever flagged.
    pub(super) fn of(findings: &Findings<'_>, most: usize) -> Option<Self> {
        let (method, path) = findings.path.as_ref()?;
        let flagged = votes_at_knots(path, &findings.ranked.graph.groups().weight);
        let last = path.knots.len() - 1;
        let all = flagged[last];
        if all == 0.0 {
            return None;
        }
        let own = findings.ranked.fit.stop.filter(|_| *method == findings.ranked.fit.method);
        let in_ranking = findings.ranked.fit.flagged.iter().sum::<f64>();
        let chosen = match own {
            Some((_, at)) => {
                let distance = |&k: &usize| (path.knots[k] - at).abs();
                (0..=last).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
            }
            None => flagged.partition_point(|&votes| votes < in_ranking).min(last),
        };
        let target = |s: usize| all * s as f64 / most as f64;
        let mut knots: Vec<usize> =
            (1..most).map(|s| flagged.partition_point(|&votes| votes < target(s))).collect();
        knots.extend([0, chosen, last]);
        knots.retain(|&knot| knot <= last);
        knots.sort_unstable();
        knots.dedup();
        let chosen = knots.partition_point(|&knot| knot < chosen);
        Some(Self { knots, chosen })
    }

    /// For each group, the stops at which it becomes flagged, trusted again, and so on.
    pub(super) fn turns(&self, path: &Path, groups: usize) -> Vec<Vec<u32>> {
        let mut turns: Vec<Vec<u32>> = vec![Vec::new(); groups];
        for event in &path.events {
            let stop = self.knots.partition_point(|&knot| knot < event.knot as usize) as u32;
            if stop as usize == self.knots.len() {
                break;
            }
            let turns = &mut turns[event.group as usize];
            let is_on = turns.len() % 2 == 1;
            let turns_on = matches!(event.change, Change::Entered(_));
            if is_on == turns_on {
                continue;
            }
            // Two turns before the same stop cancel.
            if turns.last() == Some(&stop) {
                turns.pop();
            } else {
                turns.push(stop);
            }
        }
        turns
    }
}

/// Votes flagged at each knot; made never to fall, so that it can be searched.
pub(super) fn votes_at_knots(path: &Path, weight: &[f64]) -> Vec<f64> {
    let mut votes = vec![0.0; path.knots.len()];
    for event in &path.events {
        let w = weight[event.group as usize];
        votes[event.knot as usize] +=
            if matches!(event.change, Change::Entered(_)) { w } else { -w };
    }
    let (mut sum, mut most) = (0.0, 0.0f64);
    for knot in &mut votes {
        sum += *knot;
        most = most.max(sum);
        *knot = most;
    }
    votes
}

/// What the page needs at each stop, if there is a path. Where the ranking was taken, it is the
/// ranking.
pub(super) fn slider(
    findings: &Findings<'_>,
    order: &Order,
    stops: &Stops,
    suspects: &Suspects,
) -> Option<Slider> {
    let (_, path) = findings.path.as_ref()?;
    let ranked = findings.ranked;
    let (graph, groups) = (&ranked.graph, ranked.graph.groups());
    let count = stops.knots.len();
    let mut slider = Slider {
        parameter: path.parameter.as_str(),
        chosen: stops.chosen,
        at: stops.knots.iter().map(|&knot| path.knots[knot]).collect(),
        flagged: Vec::with_capacity(count),
        share: Vec::with_capacity(count),
        explained: Vec::with_capacity(count),
        unexplained: Vec::with_capacity(count),
        set_aside: Vec::with_capacity(count),
        ranks: Vec::with_capacity(count),
        scores: Vec::with_capacity(count),
        item_flagged: Vec::with_capacity(count),
        turns: suspects.turns.clone(),
    };
    let votes = groups.votes();
    let mut flagged = vec![0.0; groups.len()];
    let mut events = path.events.iter().peekable();
    let mut places = vec![0; graph.items()];
    for (s, &knot) in stops.knots.iter().enumerate() {
        while let Some(event) = events.next_if(|event| event.knot as usize <= knot) {
            let g = event.group as usize;
            flagged[g] =
                if matches!(event.change, Change::Entered(_)) { groups.weight[g] } else { 0.0 };
        }
        let is_chosen = s == stops.chosen;
        let at_stop = path.scores_at(path.knots[knot]);
        let (scores, flagged) = if is_chosen {
            (&ranked.fit.scores, &ranked.fit.flagged)
        } else {
            (&at_stop, &flagged)
        };
        let [explained, unexplained, set_aside] = energy_shares(findings, scores, flagged);
        slider.explained.push(rounded(explained, 1.0));
        slider.unexplained.push(rounded(unexplained, 1.0));
        slider.set_aside.push(rounded(set_aside, 1.0));
        let flagged_votes = flagged.iter().sum::<f64>();
        slider.flagged.push(flagged_votes as u64);
        slider.share.push(rounded(flagged_votes / votes, 1.0));
        let ranking = Ranking::new(graph, scores).with_flagged(graph, flagged);
        for (k, row) in ranking.items.iter().enumerate() {
            places[row.item as usize] = k;
        }
        let largest = scores.iter().fold(0.0f64, |most, score| most.max(score.abs()));
        let rows = || {
            let listed = order.ranking.items[..order.listed].iter();
            listed.map(|row| &ranking.items[places[row.item as usize]])
        };
        slider.ranks.push(rows().map(|row| row.rank).collect());
        slider.scores.push(rows().map(|row| rounded(row.score, largest)).collect());
        slider.item_flagged.push(rows().map(|row| row.flagged).collect());
    }
    Some(slider)
}

/// Shares of Σ w y²: explained by the scores, left by trusted votes, set aside with flagged ones.
fn energy_shares(findings: &Findings<'_>, scores: &[f64], flagged: &[f64]) -> [f64; 3] {
    let groups = findings.ranked.graph.groups();
    let (mut all, mut left, mut aside) = (0.0, 0.0, 0.0);
    for (g, &set_aside) in flagged.iter().enumerate() {
        let (y, w) = (groups.y[g], groups.weight[g]);
        let difference = scores[groups.left[g] as usize] - scores[groups.right[g] as usize];
        all += w * y * y;
        left += (w - set_aside) * (y - difference) * (y - difference);
        aside += set_aside * y * y;
    }
    if all == 0.0 {
        return [0.0; 3];
    }
    let (left, aside) = (left / all, aside / all);
    [(1.0 - left - aside).max(0.0), left, aside]
}

/// A number with as many decimals as five digits of the largest of its kind need: a page is read by
/// people, and digits take room.
pub(super) fn rounded(value: f64, largest: f64) -> f64 {
    if largest == 0.0 || !largest.is_finite() {
        return value;
    }
    let decimals = (5 - largest.log10().floor() as i32).clamp(0, 300);
    let scale = 10f64.powi(decimals);
    let scaled = (value * scale).round();
    // Zero without a sign.
    if scaled.is_finite() { scaled / scale + 0.0 } else { value }
}
