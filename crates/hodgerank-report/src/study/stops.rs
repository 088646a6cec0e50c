//! The knots of the path at which the slider stops.

use hodgerank::Path;
use hodgerank::path::Change;

use crate::findings::StudyFindings;

/// The stops of the slider.
pub(super) struct Stops {
    /// Indices of knots in the order of the path; the first is the start of the path.
    pub(super) knots: Vec<usize>,
    /// The stop that corresponds to the report's ranking.
    pub(super) chosen: usize,
}

impl Stops {
    /// Chooses stops at about equal numbers of additional flagged votes, `max_stops` of them and up
    /// to two more. `None` if nothing is flagged on the path.
    pub(super) fn new(findings: &StudyFindings<'_>, max_stops: usize) -> Option<Self> {
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
        let target = |s: usize| all * s as f64 / max_stops as f64;
        let mut knots: Vec<usize> =
            (1..max_stops).map(|s| flagged.partition_point(|&votes| votes < target(s))).collect();
        knots.extend([0, chosen, last]);
        knots.retain(|&knot| knot <= last);
        knots.sort_unstable();
        knots.dedup();
        let chosen = knots.partition_point(|&knot| knot < chosen);
        Some(Self { knots, chosen })
    }

    /// Changes the turns of a distinct vote so that it is flagged at the stop of the report's ranking if the
    /// ranking flags it, and as before at all other stops.
    pub(super) fn set_chosen(&self, turns: &mut Vec<u32>, is_flagged: bool) {
        let chosen = self.chosen as u32;
        let is_on = |stop: u32| turns.iter().filter(|&&turn| turn <= stop).count() % 2 == 1;
        // Nothing is flagged before the first stop, and the last stop has no next one.
        let before = chosen > 0 && is_on(chosen - 1);
        let after = (self.chosen + 1 < self.knots.len()).then(|| is_on(chosen + 1));
        let split = turns.partition_point(|&turn| turn < chosen);
        let rest: Vec<u32> = turns.drain(split..).filter(|&turn| turn > chosen + 1).collect();
        turns.extend((before != is_flagged).then_some(chosen));
        turns.extend((after.is_some_and(|on| on != is_flagged)).then_some(chosen + 1));
        turns.extend(rest);
    }

    /// For each distinct vote, the stops at which it becomes flagged, not flagged, and so on.
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
            // Two changes between the same stops cancel.
            if turns.last() == Some(&stop) {
                turns.pop();
            } else {
                turns.push(stop);
            }
        }
        turns
    }
}

/// Returns the largest number of votes flagged up to each knot: non-decreasing, so that it can be
/// binary searched.
pub(super) fn votes_at_knots(path: &Path, weight: &[f64]) -> Vec<f64> {
    let mut votes = vec![0.0; path.knots.len()];
    for event in &path.events {
        let w = weight[event.group as usize];
        votes[event.knot as usize] +=
            if matches!(event.change, Change::Entered(_)) { w } else { -w };
    }
    let (mut sum, mut max) = (0.0, 0.0f64);
    for knot in &mut votes {
        sum += *knot;
        max = max.max(sum);
        *knot = max;
    }
    votes
}
