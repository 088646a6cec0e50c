//! Distinct votes that the ranking flags, or that are flagged somewhere on the path, in order of suspicion.

use hodgerank::Method;
use rustc_hash::FxHashSet;

use super::stops::Stops;
use crate::findings::StudyFindings;

/// Distinct votes in order of suspicion, in columns of the same length. Those that the ranking flags come
/// first.
pub(super) struct Suspects {
    /// The distinct votes.
    pub(super) groups: Vec<u32>,
    /// How many votes of each the ranking flags.
    pub(super) flagged: Vec<f64>,
    /// λ or t at which each becomes flagged on the path; `None` if it does not, or without a path.
    pub(super) entered: Vec<Option<f64>>,
    /// Votes flagged before each, as a share of all votes.
    pub(super) depth: Vec<f64>,
    /// Number of other robust methods that flag each of them.
    pub(super) agreeing: Vec<u32>,
    /// How many other robust methods there are.
    pub(super) others: u32,
    /// Number of distinct votes that the ranking flags, listed or not.
    pub(super) in_ranking: usize,
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
        let is_flagged = |g: u32| ranked.fit.flagged[g as usize] > 0.0;
        let mut entered: Vec<Option<f64>> = vec![None; weight.len()];
        let mut turns: Vec<Vec<u32>> = Vec::new();
        let mut groups: Vec<u32> = Vec::new();
        if let (Some((method, path)), Some(stops)) = (&findings.path, stops) {
            turns = stops.turns(path, weight.len());
            for g in 0..weight.len() as u32 {
                stops.set_chosen(&mut turns[g as usize], is_flagged(g));
            }
            // Along its own path, the ranking flags votes in the order of the path.
            let is_own = *method == ranked.fit.method;
            for entry in path.entries() {
                let is_new = entered[entry.group as usize].replace(entry.at).is_none();
                // A vote that is flagged only between two stops is never shown.
                let is_shown = !turns[entry.group as usize].is_empty();
                if is_new && is_shown && (is_own || !is_flagged(entry.group)) {
                    groups.push(entry.group);
                }
            }
        }
        let mut own: Vec<u32> = (0..weight.len() as u32).filter(|&g| is_flagged(g)).collect();
        let in_ranking = own.len();
        let on_path: FxHashSet<u32> = groups.iter().copied().collect();
        own.retain(|g| !on_path.contains(g));
        sort_by_suspicion(&mut own, findings);
        groups.splice(0..0, own);
        turns.resize(weight.len(), Vec::new());
        let all: f64 = weight.iter().sum();
        let mut before = 0.0;
        let depth = groups.iter().map(|&g| {
            let depth = before / all;
            let own = ranked.fit.flagged[g as usize];
            before += if own > 0.0 { own } else { weight[g as usize] };
            depth
        });
        let mut depth: Vec<f64> = depth.collect();
        let left_out = groups.len().saturating_sub(max_listed);
        groups.truncate(max_listed);
        depth.truncate(max_listed);
        let robust: Vec<&[f64]> = findings
            .methods
            .iter()
            .filter(|fit| fit.method != ranked.fit.method && flags_on_its_own(fit.method))
            .map(|fit| &fit.flagged[..])
            .collect();
        let count = |&g: &u32| robust.iter().filter(|flagged| flagged[g as usize] > 0.0).count();
        Self {
            flagged: groups.iter().map(|&g| ranked.fit.flagged[g as usize]).collect(),
            entered: groups.iter().map(|&g| entered[g as usize]).collect(),
            depth,
            agreeing: groups.iter().map(|g| count(g) as u32).collect(),
            others: robust.len() as u32,
            in_ranking,
            left_out,
            turns: groups.iter().map(|&g| std::mem::take(&mut turns[g as usize])).collect(),
            groups,
        }
    }

    /// Returns only the votes that are flagged in the ranking.
    pub(super) fn flagged_in_ranking(&self) -> Self {
        let kept: Vec<usize> = (0..self.groups.len()).filter(|&k| self.flagged[k] > 0.0).collect();
        Self {
            groups: kept.iter().map(|&k| self.groups[k]).collect(),
            flagged: kept.iter().map(|&k| self.flagged[k]).collect(),
            entered: kept.iter().map(|&k| self.entered[k]).collect(),
            depth: kept.iter().map(|&k| self.depth[k]).collect(),
            agreeing: kept.iter().map(|&k| self.agreeing[k]).collect(),
            others: self.others,
            in_ranking: self.in_ranking,
            left_out: self.in_ranking - kept.len(),
            turns: kept.iter().map(|&k| self.turns[k].clone()).collect(),
        }
    }

    /// The number of votes that are flagged in the ranking and listed.
    pub(super) fn listed_votes(&self) -> u64 {
        self.flagged.iter().sum::<f64>() as u64
    }
}

/// Sorts distinct votes of a method without a path: those with the most flagged votes that contradict the
/// ranking most first.
fn sort_by_suspicion(groups: &mut [u32], findings: &StudyFindings<'_>) {
    let (fit, votes) = (findings.ranked.fit, findings.ranked.graph.groups());
    let size = |g: u32| {
        let g = g as usize;
        let [left, right] = [votes.left[g], votes.right[g]].map(|item| fit.scores[item as usize]);
        fit.flagged[g] * fit.residual(votes.y[g], left - right).abs()
    };
    // Each size is computed once: it takes a hyperbolic tangent.
    let mut sized: Vec<(f64, u32)> = groups.iter().map(|&g| (size(g), g)).collect();
    sized.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (group, (_, sorted)) in groups.iter_mut().zip(sized) {
        *group = sorted;
    }
}

/// Whether a method chooses votes to flag itself: `lasso-l2` flags what `hlasso` flags.
fn flags_on_its_own(method: Method) -> bool {
    method.info().flags_votes && method != Method::LassoL2
}
