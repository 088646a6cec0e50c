//! Files that have the same labels but not the same votes: each may be a study of its own.
//!
//! Experiments number their items, so that `1` to `16` of one file have nothing to do with `1` to `16` of
//! another. For each file and pair of items, the margin is the difference of the votes for and against,
//! as a share of all. If the files are parts of one study, a file's margins agree with those of the other
//! files, up to chance; in different studies they do not. Margins of pairs, not of items, are compared,
//! because the parts of a study can have different pairs.

use std::collections::BTreeMap;
use std::sync::Arc;

use hodgerank::Study;
use hodgerank_io::{ColumnNames, FileStudies, ReadOptions, Sources};

use crate::input::VoteSource;
use crate::observer::Observer;

/// Larger inputs are not read once more.
const MAX_BYTES: u64 = 64 << 20;
/// Pairs that a file must share with the others.
const MIN_PAIRS: usize = 10;
/// The share of all labels that each file must have.
const MIN_LABELS: f64 = 0.9;
/// Agreement below which a file looks like another study, as a share of what one study would have.
const MIN_AGREEMENT: f64 = 0.5;

/// Votes for the first item and all votes, for pairs of labels in their order.
type Margins = BTreeMap<(String, String), (f64, f64)>;

/// Notes if files that are read as one study look like different studies.
pub(crate) fn note(votes: &VoteSource, options: &ReadOptions, observer: &dyn Observer) {
    let files = votes.files();
    let ColumnNames { by, by_file, .. } = &options.columns;
    let is_file = |file: &String| std::path::Path::new(file).is_file();
    if files.len() < 2
        || by.is_some()
        || by_file.is_some()
        || votes.bytes() > MAX_BYTES
        || !files.iter().all(is_file)
    {
        return;
    }
    let mut options = ReadOptions { annotator_votes: false, sides: false, ..options.clone() };
    options.columns.by_file = Some(FileStudies::Path);
    // The files could be read before; if one has changed, there is nothing to say about it.
    let Ok(input) = Sources::once(files).read(&options, &Arc::default()) else { return };
    if are_different(&input.studies) {
        observer.note(&format!(
            "the {} files have the same labels, but their votes do not agree: if each file is a study of \
             its own, add --by-file",
            files.len()
        ));
    }
}

/// Whether at least half of the studies do not agree with the others.
fn are_different(studies: &[Study]) -> bool {
    let mut labels: Vec<&str> = studies.iter().flat_map(|study| study.items.iter()).collect();
    labels.sort_unstable();
    labels.dedup();
    let has_most = |study: &Study| study.items.len() as f64 >= MIN_LABELS * labels.len() as f64;
    if studies.len() < 2 || !studies.iter().all(has_most) {
        return false;
    }
    let margins: Vec<Margins> = studies.iter().map(margins).collect();
    let mut all = Margins::new();
    for (pair, (won, votes)) in margins.iter().flatten() {
        let sum = all.entry(pair.clone()).or_default();
        *sum = (sum.0 + won, sum.1 + votes);
    }
    let different = margins.iter().filter(|one| disagrees(one, &all)).count();
    2 * different >= studies.len()
}

fn margins(study: &Study) -> Margins {
    let mut margins = Margins::new();
    let groups = &study.groups;
    for g in 0..groups.len() {
        let name = |item: u32| study.items.name(item).to_owned();
        let (left, right, y, votes) =
            (name(groups.left[g]), name(groups.right[g]), groups.y[g], groups.weight[g]);
        let for_left = if y > 0.0 {
            1.0
        } else if y < 0.0 {
            0.0
        } else {
            0.5
        };
        let (pair, share) = match left < right {
            true => ((left, right), for_left),
            false => ((right, left), 1.0 - for_left),
        };
        let sum = margins.entry(pair).or_default();
        *sum = (sum.0 + share * votes, sum.1 + votes);
    }
    margins
}

/// Whether the margins of one study disagree with those of the rest of all.
fn disagrees(one: &Margins, all: &Margins) -> bool {
    // For each pair: the product of the two margins, and their squares without the part of chance. In one
    // study, both have the same expectation.
    let (mut products, mut squares) = (Vec::new(), Vec::new());
    for (pair, &(won, votes)) in one {
        let (all_won, all_votes) = all[pair];
        let (rest_won, rest_votes) = (all_won - won, all_votes - votes);
        if votes < 2.0 || rest_votes < 2.0 {
            continue;
        }
        let margin = |won: f64, votes: f64| 2.0 * won / votes - 1.0;
        let square = |margin: f64, votes: f64| (margin * margin * votes - 1.0) / (votes - 1.0);
        let (own, rest) = (margin(won, votes), margin(rest_won, rest_votes));
        products.push(own * rest);
        squares.push((square(own, votes) + square(rest, rest_votes)) / 2.0);
    }
    if products.len() < MIN_PAIRS {
        return false;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (agreement, expected) = (mean(&products), mean(&squares));
    let deviation = products.iter().map(|value| (value - agreement).powi(2)).sum::<f64>();
    let error = deviation.sqrt() / products.len() as f64;
    agreement + 2.0 * error < MIN_AGREEMENT * expected
}

#[cfg(test)]
mod tests {
    use super::*;
    use hodgerank::{Comparison, Groups, Labels};

    /// Ten items, in an order of quality that depends on `order`. Each pair has `votes` votes, of which
    /// the better item gets most.
    fn study(order: usize, votes: u64, seed: u64) -> Study {
        let names: Vec<String> = (1..=10).map(|k| k.to_string()).collect();
        let items: Labels = names.iter().map(String::as_str).collect();
        let mut state = seed;
        let mut list = Vec::new();
        for i in 0..10_u32 {
            for j in i + 1..10 {
                for _ in 0..votes {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                    let is_careless = (state >> 33).is_multiple_of(4);
                    let quality = |k: u32| (k as usize + 1) * order % 11;
                    let y = if (quality(i) > quality(j)) != is_careless { 1.0 } else { -1.0 };
                    list.push(Comparison::new(i, j, y));
                }
            }
        }
        let groups = Groups::merge(10, &list).unwrap().groups;
        let rows = list.len() as u64;
        Study {
            by: None,
            items,
            groups,
            rows,
            comparisons: rows,
            annotators: Labels::new(),
            annotator_votes: None,
            sides: None,
        }
    }

    #[test]
    fn parts_of_a_study_agree() {
        for votes in [2, 3, 10] {
            let days: Vec<Study> = (1..6).map(|day| study(1, votes, 77 * day)).collect();
            assert!(!are_different(&days), "{votes} votes");
        }
    }

    #[test]
    fn numbered_items_of_different_studies_do_not() {
        let studies: Vec<Study> =
            [1, 3, 4, 5].into_iter().map(|order| study(order, 10, order as u64)).collect();
        assert!(are_different(&studies));
        assert!(!are_different(&studies[..1]));
    }
}
