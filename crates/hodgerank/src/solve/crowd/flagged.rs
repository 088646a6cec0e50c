//! Counts of flagged votes.
//!
//! A process judges the votes of its annotators, and counts the flagged votes of the pairs that it owns.

use rayon::prelude::*;

use crate::communicator::Communicator;
use crate::comparison::positive_zero;
use crate::graph::ComparisonGraph;

/// The items of a flagged vote in the order of groups, its outcome and its count.
pub(super) type FlaggedVote = ((u32, u32), f64, u32);

const RECORD_BYTES: usize = 20;

/// Up to so many items and distinct outcomes, votes are counted in a table of all of them.
const MAX_TABLE_ITEMS: usize = 2048;
const MAX_TABLE_OUTCOMES: usize = 4;

/// Number of flagged votes of each group of this process, from those of its annotators, in lists for each of
/// several ranges of them. Collective.
///
/// # Panics
/// If a vote is not one of the graph.
pub(super) fn count_by_group<I: Iterator<Item = FlaggedVote>>(
    graph: &ComparisonGraph,
    outcomes: &[f64],
    lists: impl ParallelIterator<Item = I>,
) -> Vec<f64> {
    let communicator = graph.communicator();
    // Votes may be turned round.
    let mut sizes: Vec<f64> = outcomes.iter().flat_map(|&y| [positive_zero(y), positive_zero(-y)]).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let has_table = graph.items() <= MAX_TABLE_ITEMS && sizes.len() <= MAX_TABLE_OUTCOMES;
    if !has_table || !communicator.is_single_process() {
        let all: Vec<FlaggedVote> = lists.flat_map_iter(|list| list).collect();
        return count_sorted(graph, send_to_owners(communicator, all));
    }
    let place = |left: u32, right: u32, y: f64| {
        let (left, right) = (left as usize, right as usize);
        let outcome: usize = sizes.iter().map(|known| usize::from(*known < y)).sum();
        sizes.len() * (right * (right - 1) / 2 + left) + outcome
    };
    let cells = sizes.len() * graph.items() * graph.items().saturating_sub(1) / 2;
    // Single votes are counted in the table; larger counts might not fit.
    let table = lists.map(|list| {
        let mut counts = vec![0_u32; cells];
        let mut larger = Vec::new();
        for vote in list {
            let ((left, right), y, count) = vote;
            match count {
                1 => counts[place(left, right, y)] += 1,
                _ => larger.push(vote),
            }
        }
        (counts, larger)
    });
    let add = |(mut counts, mut larger): (Vec<u32>, Vec<FlaggedVote>), other: (Vec<u32>, Vec<_>)| {
        counts.iter_mut().zip(other.0).for_each(|(count, other)| *count += other);
        larger.extend(other.1);
        (counts, larger)
    };
    let Some((counts, larger)) = table.reduce_with(add) else {
        return vec![0.0; graph.groups().len()];
    };
    let mut found = if larger.is_empty() {
        vec![0.0; graph.groups().len()]
    } else {
        count_sorted(graph, larger)
    };
    let groups = graph.groups();
    found.par_iter_mut().enumerate().for_each(|(g, found)| {
        *found += f64::from(counts[place(groups.left[g], groups.right[g], groups.y[g])]);
    });
    found
}

/// The same for many items: votes are sorted as the groups, which are then read once. A search for each
/// vote would wait for memory most of the time.
fn count_sorted(graph: &ComparisonGraph, mut flagged: Vec<FlaggedVote>) -> Vec<f64> {
    let groups = graph.groups();
    let key = |&((left, right), _, _): &FlaggedVote| u64::from(left) << 32 | u64::from(right);
    flagged.par_sort_unstable_by_key(key);
    let mut counts = vec![0.0; groups.len()];
    let mut first = 0;
    for (pair, y, count) in flagged {
        while first < groups.len() && (groups.left[first], groups.right[first]) < pair {
            first += 1;
        }
        let group = (first..groups.len())
            .take_while(|&g| (groups.left[g], groups.right[g]) == pair)
            .find(|&g| groups.y[g] == y);
        counts[group.expect("the votes of the graph")] += f64::from(count);
    }
    counts
}

/// Sends each vote to the process that owns its pair; returns those that arrive here. Collective.
fn send_to_owners(communicator: &dyn Communicator, votes: Vec<FlaggedVote>) -> Vec<FlaggedVote> {
    let processes = communicator.processes();
    if processes == 1 {
        return votes;
    }
    let mut messages = vec![Vec::new(); processes];
    for ((left, right), y, count) in votes {
        let message = &mut messages[communicator.owner_of_pair(left, right)];
        message.extend(left.to_le_bytes());
        message.extend(right.to_le_bytes());
        message.extend(y.to_le_bytes());
        message.extend(count.to_le_bytes());
    }
    let received = communicator.exchange(messages);
    let records = received.iter().flat_map(|message| message.as_chunks().0);
    records.map(from_record).collect()
}

fn from_record(record: &[u8; RECORD_BYTES]) -> FlaggedVote {
    let four = |at: usize| u32::from_le_bytes(std::array::from_fn(|k| record[at + k]));
    let y = f64::from_le_bytes(std::array::from_fn(|k| record[8 + k]));
    ((four(0), four(4)), y, four(16))
}

/// The number just below the largest probability that `wanted` votes reach; 0 if there are fewer votes.
/// `votes` are the probabilities of this process, with their counts. Collective.
pub(super) fn threshold_of(
    communicator: &dyn Communicator,
    mut votes: Vec<(f64, u32)>,
    wanted: f64,
) -> f64 {
    votes.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    // Numbers of votes are whole, so that their sums are exact.
    let mut sum = 0.0;
    let up_to = |(_, count): &(f64, u32)| {
        sum += f64::from(*count);
        sum
    };
    let counts: Vec<f64> = votes.iter().map(up_to).collect();
    let reach = |probability: f64| {
        let number = votes.partition_point(|(own, _)| *own >= probability);
        let own = if number > 0 { counts[number - 1] } else { 0.0 };
        communicator.sum_scalar(own) >= wanted
    };
    if !reach(0.0) {
        return 0.0;
    }
    // The bits of numbers from 0 to 1 sort as the numbers do.
    let (mut low, mut above) = (0_u64, 1.0_f64.to_bits() + 1);
    while above - low > 1 {
        let middle = low + (above - low) / 2;
        match reach(f64::from_bits(middle)) {
            true => low = middle,
            false => above = middle,
        }
    }
    f64::from_bits(low).next_down()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::SingleProcess;
    use crate::{Comparison, Groups};

    #[test]
    fn thresholds_flag_at_least_as_many_votes_as_wanted() {
        let votes = vec![(0.5, 2), (1.0, 1), (0.25, 4), (0.5, 1), (0.0, 3)];
        let found = |wanted| {
            let threshold = threshold_of(&SingleProcess, votes.clone(), wanted);
            let flagged = votes.iter().filter(|(probability, _)| *probability > threshold);
            flagged.map(|(_, count)| count).sum::<u32>()
        };
        assert_eq!([1.0, 2.0, 4.0, 5.0, 8.0].map(found), [1, 4, 4, 8, 8]);
        // Those with a probability of zero too.
        assert_eq!(found(9.0), 11);
        // There are not so many.
        assert_eq!(threshold_of(&SingleProcess, votes.clone(), 12.0), 0.0);
    }

    #[test]
    fn table_and_sorting_count_the_same() {
        let votes: Vec<Comparison> = (0..400_u32)
            .map(|k| (k * 7 % 19, k * 11 % 23, f64::from(k % 3) - 1.0))
            .filter(|(left, right, _)| left != right)
            .map(|(left, right, y)| Comparison::new(left, right, y))
            .collect();
        let graph = ComparisonGraph::new(23, Groups::merge(23, &votes).unwrap().groups).unwrap();
        let flagged: Vec<FlaggedVote> = votes
            .iter()
            .enumerate()
            .map(|(k, vote)| (vote.oriented(), k as u32 % 4))
            .map(|(vote, count)| ((vote.left, vote.right), vote.y, count))
            .collect();
        let lists = flagged.par_chunks(100).map(|list| list.iter().copied());
        let counted = count_by_group(&graph, &[-1.0, 0.0, 1.0], lists);
        assert_eq!(counted, count_sorted(&graph, flagged.clone()));
        let all: f64 = flagged.iter().map(|(_, _, count)| f64::from(*count)).sum();
        assert_eq!(counted.iter().sum::<f64>(), all);
    }
}
