//! Flagged votes of several processes.
//!
//! A process judges the votes of its annotators, and counts the flagged votes of the pairs that it owns.

use rayon::prelude::*;

use crate::communicator::Communicator;

/// The items of a flagged vote in the order of groups, its outcome and its count.
pub(super) type FlaggedVote = ((u32, u32), f64, u32);

const RECORD_BYTES: usize = 20;

/// Sends each vote to the process that owns its pair; returns those that arrive here. Collective.
pub(super) fn send_to_owners(
    communicator: &dyn Communicator,
    votes: Vec<FlaggedVote>,
) -> Vec<FlaggedVote> {
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
}
