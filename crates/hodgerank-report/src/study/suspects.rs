//! Distinct votes that are flagged somewhere on the path, in order of suspicion.

use hodgerank::Method;

use super::stops::Stops;
use crate::findings::StudyFindings;

/// Distinct votes in order of suspicion, in columns of the same length.
pub(super) struct Suspects {
    /// The distinct votes.
    pub(super) groups: Vec<u32>,
    /// λ or t at which each becomes flagged; `None` without a path.
    pub(super) entered: Vec<Option<f64>>,
    /// Votes flagged before each, as a share of all votes.
    pub(super) depth: Vec<f64>,
    /// Number of other robust methods that flag each of them.
    pub(super) agreeing: Vec<u32>,
    /// How many other robust methods there are.
    pub(super) others: u32,
    /// Number of flagged distinct votes that are not listed.
    pub(super) left_out: usize,
    /// The stops at which each changes between flagged and not flagged.
    pub(super) turns: Vec<Vec<u32>>,
}

impl Suspects {
    /// Collects at most `max_listed` distinct votes.
    pub(super) fn new(
        findings: &StudyFindings<'_>,
        stops: Option<&Stops>,
        max_listed: usize,
    ) -> Self {
        let ranked = findings.ranked;
        let weight = &ranked.graph.groups().weight;
        let (mut groups, mut turns): (Vec<u32>, Vec<Vec<u32>>) = (Vec::new(), Vec::new());
        let mut entered = Vec::new();
        match (&findings.path, stops) {
            (Some((_, path)), Some(stops)) => {
                let mut turns_of = stops.turns(path, weight.len());
                for entry in path.entries() {
                    let own = std::mem::take(&mut turns_of[entry.group as usize]);
                    // A vote that is flagged only between two stops is never shown.
                    if !own.is_empty() {
                        groups.push(entry.group);
                        entered.push(Some(entry.at));
                        turns.push(own);
                    }
                }
            }
            _ => {
                groups.extend(
                    (0..weight.len() as u32).filter(|&g| ranked.fit.flagged[g as usize] > 0.0),
                );
                entered.resize(groups.len(), None);
                turns.resize(groups.len(), Vec::new());
            }
        }
        let all: f64 = weight.iter().sum();
        let mut before = 0.0;
        let depth = groups.iter().map(|&g| {
            let depth = before / all;
            before += weight[g as usize];
            depth
        });
        let mut depth: Vec<f64> = depth.collect();
        let left_out = groups.len().saturating_sub(max_listed);
        groups.truncate(max_listed);
        entered.truncate(max_listed);
        turns.truncate(max_listed);
        depth.truncate(max_listed);
        let robust: Vec<&[f64]> = findings
            .methods
            .iter()
            .filter(|fit| fit.method != ranked.fit.method && flags_on_its_own(fit.method))
            .map(|fit| &fit.flagged[..])
            .collect();
        let count = |&g: &u32| robust.iter().filter(|flagged| flagged[g as usize] > 0.0).count();
        let agreeing = groups.iter().map(|g| count(g) as u32).collect();
        let others = robust.len() as u32;
        Self { groups, entered, depth, agreeing, others, left_out, turns }
    }

    /// Returns only the votes that are flagged in the ranking.
    pub(super) fn flagged_in_ranking(&self, findings: &StudyFindings<'_>) -> Self {
        let flagged = &findings.ranked.fit.flagged;
        let kept: Vec<usize> =
            (0..self.groups.len()).filter(|&k| flagged[self.groups[k] as usize] > 0.0).collect();
        Self {
            groups: kept.iter().map(|&k| self.groups[k]).collect(),
            entered: kept.iter().map(|&k| self.entered[k]).collect(),
            depth: kept.iter().map(|&k| self.depth[k]).collect(),
            agreeing: kept.iter().map(|&k| self.agreeing[k]).collect(),
            others: self.others,
            left_out: self.left_out,
            turns: kept.iter().map(|&k| self.turns[k].clone()).collect(),
        }
    }
}

/// Whether a method chooses votes to flag itself: `lasso-l2` flags what `hlasso` flags.
fn flags_on_its_own(method: Method) -> bool {
    method.info().flags_votes && method != Method::LassoL2
}
