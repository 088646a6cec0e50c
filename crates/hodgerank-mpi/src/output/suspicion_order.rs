//! One order of suspicion for the lists of all processes.
//!
//! The order is that of one machine: votes that entered the path, in the order in which they
//! entered (by λ or t, then larger residuals first); then flagged votes, then the others, by the
//! probability of being bad or else by residual; ties by pair and outcome. Where annotators decide, the
//! probability of a row comes first. Equal votes on several processes follow each other by rank. Numbers
//! are those of one machine, except for votes whose residuals or probabilities differ by rounding only.

use hodgerank::path::Parameter;
use hodgerank::{Comparison, RankedStudy};
use hodgerank_commands::listing::{Listing, SuspectVote};

use super::global_offsets::{KeyRun, SortKey, global_offsets};
use crate::comm::Exchange;

/// What the order of a study's votes depends on.
pub(crate) struct GlobalOrder<'a> {
    study: &'a RankedStudy,
    /// Of the path, if there is one.
    parameter: Option<Parameter>,
}

/// Numbers the rows of the lists of all processes from 1. There is one list for each study, sorted
/// in the order of suspicion. Collective.
pub(crate) fn number_rows(
    exchange: &impl Exchange,
    lists: &mut [Listing<SuspectVote>],
    orders: &[GlobalOrder<'_>],
) {
    let mut runs: Vec<KeyRun> = Vec::new();
    for ((study, list), order) in (0_u64..).zip(lists.iter()).zip(orders) {
        for row in &list.rows {
            let key = order.key(study, row);
            match runs.last_mut() {
                Some(last) if last.key == key => last.rows += 1,
                _ => runs.push(KeyRun { key, rows: 1 }),
            }
        }
    }
    debug_assert!(runs.is_sorted_by(|a, b| a.key < b.key), "lists are in order of suspicion");
    let rows: Vec<u64> = lists.iter().map(|list| list.rows.len() as u64).collect();
    let rows = exchange.all_gather(&rows);
    let rows_of_study = |study: usize| rows.iter().map(|rows| rows[study]).sum::<u64>();
    let mut before_study = 0;
    let mut offsets = runs.iter().zip(global_offsets(exchange, &runs));
    for (study, list) in lists.iter_mut().enumerate() {
        let mut rows = list.rows.iter_mut();
        while rows.len() > 0 {
            let Some((run, offset)) = offsets.next() else { break };
            for (k, row) in (0..run.rows).zip(&mut rows) {
                row.order = offset - before_study + k + 1;
            }
        }
        before_study += rows_of_study(study);
    }
}

impl<'a> GlobalOrder<'a> {
    /// Returns the order of a study's votes.
    pub(crate) fn of(study: &'a RankedStudy) -> Self {
        Self { study, parameter: study.fit.stop.map(|(parameter, _)| parameter) }
    }

    fn key(&self, study: u64, row: &SuspectVote) -> SortKey {
        const ENTERED: u64 = 0;
        const FLAGGED: u64 = 1;
        const OTHER: u64 = 2;
        let ascending = |value: f64| order_bits(value);
        let descending = |value: f64| !order_bits(value);
        let RankedStudy { items, graph, fit, .. } = self.study;
        let item = |label: &str| items.get(label.as_bytes()).unwrap_or(u32::MAX);
        let vote = Comparison::new(item(&row.left), item(&row.right), row.outcome).oriented();
        let pair = u64::from(vote.left) << 32 | u64::from(vote.right);
        let class_of = |flagged: bool| if flagged { FLAGGED } else { OTHER };
        if let Some(probability) = row.probability.filter(|_| fit.crowd().is_some()) {
            let group = graph.groups().find(vote.left, vote.right, vote.y);
            let class = class_of(group.is_some_and(|g| fit.flagged[g] > 0.0));
            let (first, residual) = (descending(probability), descending(row.residual.abs()));
            return [study, first, class, residual, pair, order_bits(vote.y)];
        }
        let size = row.probability.unwrap_or(row.residual.abs());
        let (class, first, second) = match (row.entry, row.size) {
            (Some(at), Some(size)) => {
                let along_path = match self.parameter {
                    Some(Parameter::Lambda) => descending(at),
                    Some(Parameter::Time) | None => ascending(at),
                };
                (ENTERED, along_path, descending(size))
            }
            _ => (class_of(row.flagged > 0), descending(size), 0),
        };
        [study, class, first, second, pair, order_bits(vote.y)]
    }
}

/// Returns bits that sort as the numbers do.
fn order_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
