//! Votes that are flagged somewhere on the path, in order of suspicion.

use hodgerank::Method;

use super::slider::Stops;
use crate::findings::Findings;

/// Groups in order of suspicion.
pub(super) struct Suspects {
    /// The groups that are listed.
    pub(super) groups: Vec<u32>,
    /// λ or t at which each entered; none without a path.
    pub(super) entered: Vec<Option<f64>>,
    /// Votes flagged before each, as a share of all votes: what bands of strength are made of.
    pub(super) depth: Vec<f64>,
    /// Methods that flag each, besides the one of the ranking.
    pub(super) agreeing: Vec<u32>,
    /// How many such methods there are.
    pub(super) others: u32,
    /// Groups that were flagged but are not listed.
    pub(super) left_out: usize,
    /// For each, the stops at which it turns.
    pub(super) turns: Vec<Vec<u32>>,
}

impl Suspects {
    pub(super) fn of(findings: &Findings<'_>, stops: Option<&Stops>, most: usize) -> Self {
        let ranked = findings.ranked;
        let weight = &ranked.graph.groups().weight;
        let (mut groups, mut turns): (Vec<u32>, Vec<Vec<u32>>) = (Vec::new(), Vec::new());
        let mut entered = Vec::new();
        match (&findings.path, stops) {
            (Some((_, path)), Some(stops)) => {
                let mut turns_of = stops.turns(path, weight.len());
                for entry in path.entries() {
                    let turned = std::mem::take(&mut turns_of[entry.group as usize]);
                    // A group that came and went between two stops is seen at neither.
                    if !turned.is_empty() {
                        groups.push(entry.group);
                        entered.push(Some(entry.at));
                        turns.push(turned);
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
        let left_out = groups.len().saturating_sub(most);
        groups.truncate(most);
        entered.truncate(most);
        turns.truncate(most);
        depth.truncate(most);
        let robust: Vec<&[f64]> = findings
            .methods
            .iter()
            .filter(|fit| fit.method != ranked.fit.method && is_robust(fit.method))
            .map(|fit| &fit.flagged[..])
            .collect();
        let count = |&g: &u32| robust.iter().filter(|flagged| flagged[g as usize] > 0.0).count();
        let agreeing = groups.iter().map(|g| count(g) as u32).collect();
        let others = robust.len() as u32;
        Self { groups, entered, depth, agreeing, others, left_out, turns }
    }

    /// Only those that the ranking does not trust.
    pub(super) fn flagged_in_ranking(&self, findings: &Findings<'_>) -> Self {
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

/// Methods with an opinion of their own: `lasso-l2` flags what `hlasso` flags.
fn is_robust(method: Method) -> bool {
    matches!(
        method,
        Method::HuberLasso
            | Method::Bregman
            | Method::InverseScaleSpace
            | Method::HardThreshold
            | Method::Trimmed
    )
}
