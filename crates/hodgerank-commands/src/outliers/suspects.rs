//! Votes, or distinct votes, in order of suspicion.

use hodgerank::path::Entry;
use hodgerank::{FlagReason, Labels, RankedStudy};
use hodgerank_io::read::{KeptColumns, RowValues, VoteRow};
use hodgerank_io::read::{second_pass, second_pass_with_columns};
use hodgerank_report::words::thousands;

use crate::failure::Failure;
use crate::listing::{Listing, SuspectVote};
use crate::observer::Observer;
use crate::two_pass::TwoPass;

/// The order of suspicion of a study's distinct votes.
struct SuspicionOrder {
    /// Distinct votes, the most suspicious first.
    groups: Vec<u32>,
    /// The first entry of each distinct vote into the path.
    entry: Vec<Option<Entry>>,
    /// [`Fit::residual`](hodgerank::Fit::residual) of each distinct vote.
    residual: Vec<f64>,
    /// The probability that a vote is bad, if the method estimates it.
    probability: Option<Vec<f64>>,
}

impl SuspicionOrder {
    /// Distinct votes that entered the path, in that order; then flagged ones and the rest, by the
    /// probability of being bad or else by residual.
    fn new(study: &RankedStudy) -> Self {
        let groups = study.graph.groups();
        let difference = study.graph.gradient(&study.fit.scores);
        let residual = groups.y.iter().zip(difference).map(|(&y, d)| study.fit.residual(y, d));
        let residual: Vec<f64> = residual.collect();
        let mut entry: Vec<Option<Entry>> = vec![None; groups.len()];
        for &first in &study.fit.entries {
            entry[first.group as usize].get_or_insert(first);
        }
        let entered = study.fit.entries.iter().map(|entry| entry.group);
        let mut rest: Vec<u32> =
            (0..groups.len() as u32).filter(|&g| entry[g as usize].is_none()).collect();
        let is_flagged = |g: u32| study.fit.flagged[g as usize] > 0.0;
        rest.sort_by(|&a, &b| {
            let size = |g: u32| match &study.fit.bad_probability {
                Some(probability) => probability[g as usize],
                None => residual[g as usize].abs(),
            };
            is_flagged(b).cmp(&is_flagged(a)).then(size(b).total_cmp(&size(a))).then(a.cmp(&b))
        });
        let groups = entered.chain(rest).collect();
        Self { groups, entry, residual, probability: study.fit.bad_probability.clone() }
    }
}

/// One row per distinct vote; only flagged ones unless `all`.
#[must_use]
pub fn distinct_votes(study: &RankedStudy, all: bool) -> Listing<SuspectVote> {
    let order = SuspicionOrder::new(study);
    let groups = study.graph.groups();
    let reasons = study.flag_reasons();
    let row = |(place, g): (usize, usize)| SuspectVote {
        order: place as u64 + 1,
        left: study.items.name(groups.left[g]).to_owned(),
        right: study.items.name(groups.right[g]).to_owned(),
        outcome: groups.y[g],
        count: groups.weight[g] as u64,
        annotator: None,
        entry: order.entry[g].map(|entry| entry.at),
        size: order.entry[g].map(|entry| entry.residual.abs()),
        residual: order.residual[g],
        probability: order.probability.as_ref().map(|of| of[g]),
        flagged: study.fit.flagged[g] as u64,
        // Where annotators decide, the votes of a group are flagged for different reasons.
        reason: reasons.get(g).filter(|_| study.fit.flagged[g] > 0.0).map(ToString::to_string),
        row: None,
        file: None,
        columns: None,
    };
    let wanted = order.groups.iter().map(|&g| g as usize);
    let wanted = wanted.filter(|&g| all || study.fit.flagged[g] > 0.0);
    Listing::new(study, wanted.enumerate().map(row).collect())
}

/// A row of the input that is to be listed.
struct ListedVote {
    /// Place of its group in the order of suspicion.
    place: u32,
    left: u32,
    right: u32,
    annotator: Option<u32>,
    y: f64,
    count: u64,
    flagged: bool,
    reason: Option<FlagReason>,
    /// The probability that it is bad, if the method estimates it.
    probability: Option<f64>,
    source: usize,
    row: u64,
    /// The values of the columns to keep.
    kept: Vec<Option<String>>,
}

/// One row per row of the input; only flagged ones unless `all`. Columns to keep are listed with it.
///
/// # Errors
/// If the second pass fails.
pub fn votes(
    pass: &TwoPass,
    all: bool,
    keep: &[String],
    observer: &dyn Observer,
) -> Result<Vec<Listing<SuspectVote>>, Failure> {
    let orders: Vec<SuspicionOrder> = pass.studies.iter().map(SuspicionOrder::new).collect();
    let places: Vec<Vec<u32>> = orders.iter().map(places).collect();
    let mut annotators = Labels::new();
    let mut listed: Vec<Vec<ListedVote>> = orders.iter().map(|_| Vec::new()).collect();
    let mut collect = |vote: &VoteRow<'_>, values: Option<&RowValues<'_>>| {
        if let Some(group) = vote.group.filter(|_| all || vote.flagged) {
            let known = (!vote.annotator.is_empty()).then(|| annotators.intern(vote.annotator));
            let &VoteRow { study, left, right, y, count, flagged, probability, .. } = vote;
            let &VoteRow { source, row, reason, .. } = vote;
            let kept = values.map(RowValues::read).transpose()?.unwrap_or_default();
            let place = places[study][group];
            listed[study].push(ListedVote {
                place,
                left,
                right,
                annotator: known,
                y,
                count,
                flagged,
                reason,
                probability,
                source,
                row,
                kept,
            });
        }
        Ok(())
    };
    let reasons = pass.flag_reasons();
    let flags = pass.study_flags(&reasons);
    let columns = KeptColumns::new(&pass.tables, keep)?;
    let counts = pass.second_pass(observer, |progress| {
        let (sources, options) = (&pass.sources, &pass.options);
        // Without columns to keep, only those with votes are read.
        if keep.is_empty() {
            let collect = |vote: &VoteRow<'_>| collect(vote, None);
            return second_pass(sources, options, progress, &flags, collect);
        }
        let collect = |vote: &VoteRow<'_>, values: &RowValues<'_>| collect(vote, Some(values));
        second_pass_with_columns(sources, options, progress, &flags, &columns, collect)
    })?;
    if counts.kept_whole > 0.0 {
        observer.warn(&format!(
            "{} flagged votes are in rows with a count that also contain trusted votes; these rows \
             are not listed as flagged",
            thousands(counts.kept_whole as u64)
        ));
    }
    let studies = pass.studies.iter().zip(&orders).zip(listed);
    Ok(studies
        .map(|((study, order), mut listed)| {
            // Stable: equal votes stay in the order of the files. Where annotators decide, equal votes
            // have different probabilities.
            let by_annotator = order.probability.is_none();
            listed.sort_by(|a, b| {
                let probability = |vote: &ListedVote| match vote.probability {
                    Some(probability) if by_annotator => probability,
                    _ => 0.0,
                };
                probability(b).total_cmp(&probability(a)).then(a.place.cmp(&b.place))
            });
            let row = |(number, vote): (usize, &ListedVote)| {
                let row = row_of(number, vote, study, order, &annotators);
                let file = pass.has_files.then(|| pass.tables[vote.source].file.to_string());
                let kept = || keep.iter().cloned().zip(vote.kept.iter().cloned()).collect();
                let columns = (!keep.is_empty()).then(kept);
                SuspectVote { file, columns, ..row }
            };
            Listing::new(study, listed.iter().enumerate().map(row).collect())
        })
        .collect())
}

fn places(order: &SuspicionOrder) -> Vec<u32> {
    let mut places = vec![0; order.groups.len()];
    for (place, &g) in order.groups.iter().enumerate() {
        places[g as usize] = place as u32;
    }
    places
}

fn row_of(
    number: usize,
    vote: &ListedVote,
    study: &RankedStudy,
    order: &SuspicionOrder,
    annotators: &Labels,
) -> SuspectVote {
    let group = order.groups[vote.place as usize] as usize;
    let entry = order.entry[group];
    // Distinct votes store each pair with its items in order; the row may have them swapped.
    let swapped = vote.left > vote.right;
    let residual = order.residual[group];
    SuspectVote {
        order: number as u64 + 1,
        left: study.items.name(vote.left).to_owned(),
        right: study.items.name(vote.right).to_owned(),
        outcome: vote.y,
        count: vote.count,
        annotator: vote.annotator.map(|annotator| annotators.name(annotator).to_owned()),
        entry: entry.map(|entry| entry.at),
        size: entry.map(|entry| entry.residual.abs()),
        residual: if swapped { -residual } else { residual },
        probability: vote.probability.or_else(|| order.probability.as_ref().map(|of| of[group])),
        flagged: if vote.flagged { vote.count } else { 0 },
        reason: vote.reason.map(|reason| reason.to_string()),
        row: Some(vote.row),
        file: None,
        columns: None,
    }
}
