//! The results for the votes in a process's own files.
//!
//! Each distinct vote was ranked by the one process that owns its pair. For the second pass, a
//! process asks the owners of its votes: whether each is flagged and why, and where it entered the path.
//! Queries are sent in rounds of at most [`MAX_QUERIES`] from each process, which bounds the memory
//! of messages.
//!
//! Distributed methods flag equal votes all or none, so one reply holds for all votes of a group,
//! whichever process read them. Methods that judge annotators flag some: then the annotator of a row
//! decides (`annotator_results.rs`), and a reply says whether any vote of the group is flagged.

use hodgerank::path::{Entry, Parameter};
use hodgerank::{FlagReason, Groups, Labels, LocalResults, RankedStudy};
use hodgerank_commands::Failure;
use serde::{Deserialize, Serialize};

use super::annotator_results;
use crate::comm::Exchange;

/// Maximum number of queries that a process sends in one round.
pub(super) const MAX_QUERIES: usize = if cfg!(test) { 3 } else { 1 << 18 };

/// Asks about a distinct vote.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct VoteQuery {
    left: u32,
    right: u32,
    y: f64,
}

/// What the owner of a distinct vote knows about it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct VoteResult {
    is_flagged: bool,
    /// Why it is flagged, if it is; none where annotators decide.
    reason: Option<FlagReason>,
    /// The probability that it is bad, if the method estimates it.
    probability: Option<f64>,
    entry: Option<PathEntry>,
}

/// Where a distinct vote entered the path: [`Entry`] without the owner's number of the vote.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct PathEntry {
    at: f64,
    residual: f64,
    left_at: Option<f64>,
}

/// Replaces the distinct votes of a study, which this process owns, by those of its own files, and its
/// annotators by theirs. Also returns why votes of each distinct vote are flagged, if they are; nothing
/// where annotators decide. `owner` returns the process that owns a pair. Collective.
///
/// # Errors
/// If there are too many distinct votes to number them.
pub(super) fn with_local_votes(
    exchange: &impl Exchange,
    ranked: RankedStudy,
    (groups, annotators): (Groups, Labels),
    owner: impl Fn(u32, u32) -> usize,
) -> Result<(RankedStudy, Vec<FlagReason>), Failure> {
    let GroupResults { flagged, reasons, probabilities, mut entries } =
        query_owners(exchange, &ranked, &groups, owner);
    let estimates = annotator_results::query_owners(exchange, &ranked, &annotators);
    let parameter = ranked.fit.stop.map_or(Parameter::Time, |(parameter, _)| parameter);
    // The order of a path: by λ (falling) or t, then larger residuals first, then by group.
    let at = |entry: &Entry| if parameter == Parameter::Lambda { -entry.at } else { entry.at };
    entries.sort_by(|a, b| {
        let size = |entry: &Entry| entry.residual.abs();
        at(a).total_cmp(&at(b)).then(size(b).total_cmp(&size(a))).then(a.group.cmp(&b.group))
    });
    let bad_probability = ranked.fit.bad_probability.is_some().then_some(probabilities);
    let local = LocalResults { groups, flagged, entries, bad_probability, annotators, estimates };
    Ok((ranked.with_local_votes(local)?, reasons))
}

#[derive(Debug, Default)]
struct GroupResults {
    /// Flagged votes of each group.
    flagged: Vec<f64>,
    /// The reason of each group, or nothing.
    reasons: Vec<FlagReason>,
    /// The probability of each group, or nothing.
    probabilities: Vec<f64>,
    /// In the order of the groups.
    entries: Vec<Entry>,
}

fn query_owners(
    exchange: &impl Exchange,
    ranked: &RankedStudy,
    local: &Groups,
    owner: impl Fn(u32, u32) -> usize,
) -> GroupResults {
    let max_len = exchange.all_gather(&local.len()).into_iter().max().unwrap_or(0);
    let owned = OwnedResults::new(ranked);
    let mut results = GroupResults::default();
    for start in (0..max_len).step_by(MAX_QUERIES) {
        let groups = start.min(local.len())..(start + MAX_QUERIES).min(local.len());
        let owners: Vec<usize> =
            groups.clone().map(|g| owner(local.left[g], local.right[g])).collect();
        let mut queries: Vec<Vec<VoteQuery>> = vec![Vec::new(); exchange.size()];
        for (g, &owner) in groups.clone().zip(&owners) {
            let (left, right, y) = (local.left[g], local.right[g], local.y[g]);
            queries[owner].push(VoteQuery { left, right, y });
        }
        let received = exchange.all_to_all(&queries);
        let replies: Vec<Vec<VoteResult>> = received
            .iter()
            .map(|queries| queries.iter().map(|query| owned.result(query)).collect())
            .collect();
        let mut replies: Vec<_> =
            exchange.all_to_all(&replies).into_iter().map(Vec::into_iter).collect();
        for (g, &owner) in groups.zip(&owners) {
            let result = replies[owner].next().expect("one reply for each query");
            results.push(g as u32, local.weight[g], &result);
        }
    }
    results
}

impl GroupResults {
    fn push(&mut self, group: u32, weight: f64, result: &VoteResult) {
        self.reasons.extend(result.reason);
        self.probabilities.extend(result.probability);
        self.flagged.push(if result.is_flagged { weight } else { 0.0 });
        self.entries.extend(result.entry.map(|PathEntry { at, residual, left_at }| Entry {
            group,
            at,
            residual,
            left_at,
        }));
    }
}

/// The results for the distinct votes that this process owns.
struct OwnedResults<'a> {
    groups: &'a Groups,
    flagged: &'a [f64],
    /// Of each group, or none.
    reasons: Vec<FlagReason>,
    probability: Option<&'a [f64]>,
    /// Sorted by group.
    entries: Vec<Entry>,
}

impl<'a> OwnedResults<'a> {
    fn new(ranked: &'a RankedStudy) -> Self {
        let mut entries = ranked.fit.entries.clone();
        entries.sort_unstable_by_key(|entry| entry.group);
        Self {
            groups: ranked.graph.groups(),
            flagged: &ranked.fit.flagged,
            reasons: ranked.flag_reasons(),
            probability: ranked.fit.bad_probability.as_deref(),
            entries,
        }
    }

    fn result(&self, query: &VoteQuery) -> VoteResult {
        let g = self.groups.find(query.left, query.right, query.y);
        let g = g.expect("every vote was sent to the owner of its pair");
        let entry = self.entries.binary_search_by_key(&(g as u32), |entry| entry.group);
        let entry = entry.ok().map(|index| {
            let Entry { at, residual, left_at, .. } = self.entries[index];
            PathEntry { at, residual, left_at }
        });
        VoteResult {
            is_flagged: self.flagged[g] > 0.0,
            reason: self.reasons.get(g).copied(),
            probability: self.probability.map(|of_groups| of_groups[g]),
            entry,
        }
    }
}

#[cfg(test)]
mod tests {
    use hodgerank::{ComparisonGraph, FitOptions, InputSummary, Labels, Method};

    use super::*;
    use crate::comm::{TeamThread, run_thread_team};

    /// Every pair of five items, with both outcomes.
    fn all_groups() -> Vec<(u32, u32, f64)> {
        let pairs = (0..5).flat_map(|i| (i + 1..5).map(move |j| (i, j)));
        pairs.flat_map(|(i, j)| [(i, j, -1.0), (i, j, 1.0)]).collect()
    }

    fn groups(of: impl Iterator<Item = (u32, u32, f64)>, weight: f64) -> Groups {
        let mut groups = Groups::default();
        for (left, right, y) in of {
            groups.left.push(left);
            groups.right.push(right);
            groups.y.push(y);
            groups.weight.push(weight);
        }
        groups
    }

    /// Results that need no solver: whether a group is flagged, and its entry.
    fn rule((left, right, y): (u32, u32, f64)) -> (bool, Option<Entry>) {
        let at = f64::from(left + right);
        let left_at = (left == 0).then_some(at + 0.5);
        let entry = Entry { group: 0, at, residual: y * f64::from(left + 1), left_at };
        (right == 4, (right >= 3).then_some(entry))
    }

    fn probability((left, right, y): (u32, u32, f64)) -> f64 {
        f64::from(left + 5 * right) / 30.0 + 0.01 * y
    }

    #[test]
    fn results_come_from_the_owners() {
        let owner = |size: usize| move |left: u32, right: u32| (left * 3 + right) as usize % size;
        for size in [1, 2, 4] {
            let work = |exchange: &TeamThread<'_>| {
                let (owner, rank) = (owner(size), exchange.rank());
                let is_owned = |&(left, right, _): &(u32, u32, f64)| owner(left, right) == rank;
                let owned: Vec<_> = all_groups().into_iter().filter(is_owned).collect();
                let graph = ComparisonGraph::new(5, groups(owned.iter().copied(), 2.0)).unwrap();
                let items: Labels = ["a", "b", "c", "d", "e"].into_iter().collect();
                let input = InputSummary { comparisons: 40, groups: 20, ..Default::default() };
                let options = FitOptions::new().method(Method::L2);
                let nobody = (Labels::new(), None);
                let ranked = RankedStudy::of_graph(None, items, graph, input, nobody, &options);
                let mut ranked = ranked.unwrap();
                ranked.fit.bad_probability =
                    Some(owned.iter().map(|vote| probability(*vote)).collect());
                ranked.fit.stop = Some((Parameter::Lambda, 1.0));
                for (g, &group) in owned.iter().enumerate() {
                    let (flagged, entry) = rule(group);
                    ranked.fit.flagged[g] = if flagged { 2.0 } else { 0.0 };
                    let entry = entry.map(|entry| Entry { group: g as u32, ..entry });
                    ranked.fit.entries.extend(entry);
                }
                // The last thread has read nothing, the others have read different parts.
                let read = all_groups().into_iter().skip(rank);
                let read = read.filter(|_| size == 1 || rank + 1 < size);
                let read = (groups(read, 1.0), Labels::new());
                let (study, reasons) = with_local_votes(exchange, ranked, read, owner).unwrap();
                assert_eq!(reasons.len(), study.fit.flagged.len());
                assert_eq!(study.flag_reasons(), reasons);
                study
            };
            for (rank, study) in run_thread_team(size, work).into_iter().enumerate() {
                let local = study.graph.groups();
                let expected = if size > 1 && rank + 1 == size { 0 } else { 20 - rank };
                assert_eq!(local.len(), expected);
                for g in 0..local.len() {
                    let (flagged, entry) = rule((local.left[g], local.right[g], local.y[g]));
                    assert_eq!(study.fit.flagged[g], if flagged { 1.0 } else { 0.0 });
                    let expected = probability((local.left[g], local.right[g], local.y[g]));
                    assert_eq!(study.fit.bad_probability.as_ref().unwrap()[g], expected);
                    let found = study.fit.entries.iter().find(|entry| entry.group == g as u32);
                    let entry = entry.map(|entry| Entry { group: g as u32, ..entry });
                    assert_eq!(found.copied(), entry);
                }
                // λ falls along the path.
                let falls =
                    |a: &Entry, b: &Entry| (a.at, a.residual.abs()) >= (b.at, b.residual.abs());
                assert!(study.fit.entries.is_sorted_by(falls));
            }
        }
    }
}
