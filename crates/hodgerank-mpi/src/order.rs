//! One order of suspicion for everyone's lists.
//!
//! The order is that of one machine: votes that entered the path, as they entered (by λ or t, then
//! larger residuals first); then flagged ones, then the rest, by residual; equal ones by pair and
//! outcome. Equal votes of several members follow each other by member. Each number is what it would
//! be on one machine, but for votes whose residuals are equal up to rounding.

use hodgerank::path::Parameter;
use hodgerank::{Comparison, Labels};
use hodgerank_commands::RankedStudy;
use hodgerank_io::write::{Listing, SuspectRow};

use crate::mail::Mail;
use crate::positions::{Key, Run, lines_before};

/// What the order of a study's votes depends on.
pub(crate) struct Course<'a> {
    items: &'a Labels,
    /// What runs along the path, where there is one.
    parameter: Option<Parameter>,
}

/// Numbers the lines of everyone's lists, one list for each study, each in order of suspicion.
pub(crate) fn number(mail: &dyn Mail, lists: &mut [Listing<SuspectRow>], courses: &[Course<'_>]) {
    let studies = || (0_u64..).zip(lists.iter()).zip(courses);
    let mut runs: Vec<Run> = Vec::new();
    for ((study, list), course) in studies() {
        for row in &list.rows {
            let key = course.key(study, row);
            match runs.last_mut() {
                Some(last) if last.key == key => last.lines += 1,
                _ => runs.push(Run { key, lines: 1 }),
            }
        }
    }
    debug_assert!(runs.is_sorted_by(|a, b| a.key < b.key), "lists stand in order of suspicion");
    let counts = lists.iter().map(|list| list.rows.len() as u64).collect();
    let counts = mail.everyones(counts);
    let of_study = |study| counts.iter().map(|counts| counts[study]).sum::<u64>();
    let mut before_study = 0;
    let mut starts = runs.iter().zip(lines_before(mail, &runs));
    for (study, list) in lists.iter_mut().enumerate() {
        let mut rows = list.rows.iter_mut();
        while rows.len() > 0 {
            let Some((run, before)) = starts.next() else { break };
            for (line, row) in (0..run.lines).zip(&mut rows) {
                row.order = before - before_study + line + 1;
            }
        }
        before_study += of_study(study);
    }
}

impl<'a> Course<'a> {
    /// That of a study.
    pub(crate) fn of(study: &'a RankedStudy) -> Self {
        Self { items: &study.items, parameter: study.fit.stop.map(|(parameter, _)| parameter) }
    }

    fn key(&self, study: u64, row: &SuspectRow) -> Key {
        const ENTERED: u64 = 0;
        const FLAGGED: u64 = 1;
        const REST: u64 = 2;
        let rising = |value: f64| order_bits(value);
        let falling = |value: f64| !order_bits(value);
        let (class, first, second) = match (row.entry, row.size) {
            (Some(at), Some(size)) => {
                let along = match self.parameter {
                    Some(Parameter::Lambda) => falling(at),
                    Some(Parameter::Time) | None => rising(at),
                };
                (ENTERED, along, falling(size))
            }
            _ if row.flagged > 0 => (FLAGGED, falling(row.residual.abs()), 0),
            _ => (REST, falling(row.residual.abs()), 0),
        };
        let item = |name: &str| self.items.get(name.as_bytes()).unwrap_or(u32::MAX);
        let vote = Comparison::new(item(&row.left), item(&row.right), row.outcome).oriented();
        let pair = u64::from(vote.left) << 32 | u64::from(vote.right);
        [study, class, first, second, pair, order_bits(vote.y)]
    }
}

/// Bits that sort as the numbers do.
fn order_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
