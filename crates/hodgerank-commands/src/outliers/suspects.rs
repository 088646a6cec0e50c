//! Votes, or groups of equal ones, in order of suspicion.

use hodgerank::Labels;
use hodgerank::path::Entry;
use hodgerank_io::read::{Vote, second_pass};
use hodgerank_io::write::{Listing, SuspectRow};
use hodgerank_report::words::thousands;

use crate::failure::Failure;
use crate::rank_study::RankedStudy;
use crate::two_pass::TwoPass;
use crate::watch::Watch;

pub(super) const SCHEMA: &str = "hodgerank/outliers/1";

/// The order of suspicion of a study's groups.
struct Order {
    /// Groups, the most suspicious first.
    groups: Vec<u32>,
    /// For each group, its first entry into the path.
    entry: Vec<Option<Entry>>,
    /// For each group, y − (θ_left − θ_right).
    residual: Vec<f64>,
}

impl Order {
    /// Groups that entered come as they entered; then flagged ones, then the rest, by residual.
    fn of(study: &RankedStudy) -> Self {
        let groups = study.graph.groups();
        let difference = study.graph.gradient(&study.fit.scores);
        let residual: Vec<f64> = groups.y.iter().zip(difference).map(|(y, d)| y - d).collect();
        let mut entry: Vec<Option<Entry>> = vec![None; groups.len()];
        for &first in &study.fit.entries {
            entry[first.group as usize].get_or_insert(first);
        }
        let entered = study.fit.entries.iter().map(|entry| entry.group);
        let mut rest: Vec<u32> =
            (0..groups.len() as u32).filter(|&g| entry[g as usize].is_none()).collect();
        let is_flagged = |g: u32| study.fit.flagged[g as usize] > 0.0;
        rest.sort_by(|&a, &b| {
            let size = |g: u32| residual[g as usize].abs();
            is_flagged(b).cmp(&is_flagged(a)).then(size(b).total_cmp(&size(a))).then(a.cmp(&b))
        });
        let groups = entered.chain(rest).collect();
        Self { groups, entry, residual }
    }
}

/// One line for each group; only groups with flagged votes unless `all` are wanted.
#[must_use]
pub fn groups(study: &RankedStudy, all: bool) -> Listing<SuspectRow> {
    let order = Order::of(study);
    let groups = study.graph.groups();
    let row = |(place, g): (usize, usize)| SuspectRow {
        order: place as u64 + 1,
        left: study.items.name(groups.left[g]).to_owned(),
        right: study.items.name(groups.right[g]).to_owned(),
        outcome: groups.y[g],
        count: groups.weight[g] as u64,
        annotator: None,
        entry: order.entry[g].map(|entry| entry.at),
        size: order.entry[g].map(|entry| entry.residual.abs()),
        residual: order.residual[g],
        flagged: study.fit.flagged[g] as u64,
    };
    let wanted = order.groups.iter().map(|&g| g as usize);
    let wanted = wanted.filter(|&g| all || study.fit.flagged[g] > 0.0);
    Listing::new(&study.table, wanted.enumerate().map(row).collect())
}

/// A row of the input that is to be listed.
struct Listed {
    /// Place of its group in the order of suspicion.
    place: u32,
    left: u32,
    right: u32,
    annotator: Option<u32>,
    y: f64,
    count: u64,
    flagged: bool,
}

/// One line for each row of the input; only flagged ones unless `all` are wanted.
///
/// # Errors
/// If the second pass fails.
pub fn rows(
    look: &TwoPass,
    all: bool,
    watch: &dyn Watch,
) -> Result<Vec<Listing<SuspectRow>>, Failure> {
    let orders: Vec<Order> = look.studies.iter().map(Order::of).collect();
    let places: Vec<Vec<u32>> = orders.iter().map(places).collect();
    let mut annotators = Labels::new();
    let mut listed: Vec<Vec<Listed>> = orders.iter().map(|_| Vec::new()).collect();
    let collect = |vote: &Vote<'_>| {
        if let Some(group) = vote.group.filter(|_| all || vote.flagged) {
            let known = (!vote.annotator.is_empty()).then(|| annotators.intern(vote.annotator));
            let &Vote { study, left, right, y, count, flagged, .. } = vote;
            let place = places[study][group];
            listed[study].push(Listed { place, left, right, annotator: known, y, count, flagged });
        }
        Ok(())
    };
    let counts = look.pass(watch, |progress| {
        second_pass(&look.sources, &look.options, progress, &look.judged(), collect)
    })?;
    if counts.kept_whole > 0.0 {
        watch.warn(&format!(
            "{} flagged votes stand in rows with a count that also hold trusted votes; these rows \
             are not listed as flagged",
            thousands(counts.kept_whole as u64)
        ));
    }
    let studies = look.studies.iter().zip(&orders).zip(listed);
    Ok(studies
        .map(|((study, order), mut listed)| {
            // Stable: equal votes stay in the order of the files.
            listed.sort_by_key(|vote| vote.place);
            let row =
                |(number, vote): (usize, &Listed)| row_of(number, vote, study, order, &annotators);
            Listing::new(&study.table, listed.iter().enumerate().map(row).collect())
        })
        .collect())
}

fn places(order: &Order) -> Vec<u32> {
    let mut places = vec![0; order.groups.len()];
    for (place, &g) in order.groups.iter().enumerate() {
        places[g as usize] = place as u32;
    }
    places
}

fn row_of(
    number: usize,
    vote: &Listed,
    study: &RankedStudy,
    order: &Order,
    annotators: &Labels,
) -> SuspectRow {
    let group = order.groups[vote.place as usize] as usize;
    let entry = order.entry[group];
    // Groups store each pair one way round; the vote may have been cast the other way.
    let turned = vote.left > vote.right;
    let residual = order.residual[group];
    SuspectRow {
        order: number as u64 + 1,
        left: study.items.name(vote.left).to_owned(),
        right: study.items.name(vote.right).to_owned(),
        outcome: vote.y,
        count: vote.count,
        annotator: vote.annotator.map(|annotator| annotators.name(annotator).to_owned()),
        entry: entry.map(|entry| entry.at),
        size: entry.map(|entry| entry.residual.abs()),
        residual: if turned { -residual } else { residual },
        flagged: if vote.flagged { vote.count } else { 0 },
    }
}
