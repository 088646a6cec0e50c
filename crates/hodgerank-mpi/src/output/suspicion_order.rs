//! One order of suspicion for the lists of all processes.
//!
//! The order is that of one machine: votes that entered the path, in the order in which they
//! entered (by λ or t, then larger residuals first); then flagged votes, then the others, by
//! residual; ties by pair and outcome. Equal votes on several processes follow each other by rank.
//! Numbers are those of one machine, except for votes whose residuals differ by rounding only.

use hodgerank::RankedStudy;
use hodgerank::path::Parameter;
use hodgerank::{Comparison, Labels};
use hodgerank_commands::listing::{Listing, SuspectVote};

use super::global_offsets::{KeyRun, SortKey, global_offsets};
use crate::comm::Exchange;

/// What the order of a study's votes depends on.
pub(crate) struct GlobalOrder<'a> {
    items: &'a Labels,
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
        Self { items: &study.items, parameter: study.fit.stop.map(|(parameter, _)| parameter) }
    }

    fn key(&self, study: u64, row: &SuspectVote) -> SortKey {
        const ENTERED: u64 = 0;
        const FLAGGED: u64 = 1;
        const OTHER: u64 = 2;
        let ascending = |value: f64| order_bits(value);
        let descending = |value: f64| !order_bits(value);
        let (class, first, second) = match (row.entry, row.size) {
            (Some(at), Some(size)) => {
                let along_path = match self.parameter {
                    Some(Parameter::Lambda) => descending(at),
                    Some(Parameter::Time) | None => ascending(at),
                };
                (ENTERED, along_path, descending(size))
            }
            _ if row.flagged > 0 => (FLAGGED, descending(row.residual.abs()), 0),
            _ => (OTHER, descending(row.residual.abs()), 0),
        };
        let item = |label: &str| self.items.get(label.as_bytes()).unwrap_or(u32::MAX);
        let vote = Comparison::new(item(&row.left), item(&row.right), row.outcome).oriented();
        let pair = u64::from(vote.left) << 32 | u64::from(vote.right);
        [study, class, first, second, pair, order_bits(vote.y)]
    }
}

/// Returns bits that sort as the numbers do.
fn order_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
