//! Blocks of votes by unknown people.
//!
//! The hash of its pair says in which block a vote is. So the blocks depend neither on the order of the
//! rows nor on which process has read them, and a block has all votes on its pairs: those that agree with
//! the ranking are not separated from those that contradict it.

use super::blocks::SidedVote;
use crate::communicator::Communicator;

/// Votes per block, on average.
const VOTES_PER_BLOCK: f64 = 256.0;
/// More votes make larger blocks.
const MAX_BLOCKS: f64 = 1e6;

/// A vote by an unknown person, with its outcome if votes are graded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct UnknownVote {
    pub(super) vote: SidedVote,
    pub(super) outcome: f32,
}

impl UnknownVote {
    fn to_bytes(self) -> [u8; 16] {
        let (vote, outcome) = (self.vote.to_bytes(), self.outcome.to_le_bytes());
        std::array::from_fn(|k| if k < 12 { vote[k] } else { outcome[k - 12] })
    }

    fn from_bytes(bytes: &[u8; 16]) -> Self {
        let vote = SidedVote::from_bytes(&std::array::from_fn(|k| bytes[k]));
        let outcome = f32::from_le_bytes(std::array::from_fn(|k| bytes[12 + k]));
        Self { vote, outcome }
    }
}

/// Calls `each` with the votes of each block that this process gets. Collective.
pub(super) fn for_each_block(
    votes: Vec<UnknownVote>,
    communicator: &dyn Communicator,
    mut each: impl FnMut(&[UnknownVote]),
) {
    // Numbers of votes are exact in sums of all processes.
    let count = |unknown: &UnknownVote| f64::from(unknown.vote.count);
    let total = communicator.sum_scalar(votes.iter().map(count).sum());
    let blocks = (total / VOTES_PER_BLOCK).ceil().min(MAX_BLOCKS) as usize;
    let votes = to_owners(votes, blocks, communicator);
    // Block b has the votes start[b]..start[b + 1] once they are sorted.
    let mut start = vec![0; blocks + 1];
    votes.iter().for_each(|vote| start[block_of(&vote.vote, blocks) + 1] += 1);
    for block in 0..blocks {
        start[block + 1] += start[block];
    }
    let Some(&first) = votes.first() else { return };
    let (mut sorted, mut next) = (vec![first; votes.len()], start.clone());
    for vote in votes {
        let place = &mut next[block_of(&vote.vote, blocks)];
        sorted[*place] = vote;
        *place += 1;
    }
    for range in start.windows(2).filter(|range| range[0] < range[1]) {
        let block = &mut sorted[range[0]..range[1]];
        // Sums of graded votes are in this order.
        block.sort_unstable_by_key(|vote| vote.to_bytes());
        each(block);
    }
}

/// Sends each vote to the process that gets its block.
fn to_owners(
    votes: Vec<UnknownVote>,
    blocks: usize,
    communicator: &dyn Communicator,
) -> Vec<UnknownVote> {
    let processes = communicator.processes();
    if processes == 1 || blocks == 0 {
        return votes;
    }
    let mut messages = vec![Vec::new(); processes];
    for vote in votes {
        let owner = block_of(&vote.vote, blocks) * processes / blocks;
        messages[owner].extend(vote.to_bytes());
    }
    let received = communicator.exchange(messages);
    let votes = received.iter().flat_map(|message| message.as_chunks().0);
    votes.map(UnknownVote::from_bytes).collect()
}

/// The block of a vote, below `blocks`.
fn block_of(vote: &SidedVote, blocks: usize) -> usize {
    let (left, right) = (u64::from(vote.left), vote.right() as u64);
    // The finaliser of SplitMix64: every bit of the pair changes every bit of the hash.
    let mut hash = left.min(right) << 32 | left.max(right);
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    ((u128::from(hash) * blocks as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotator_votes::AnnotatorVote;
    use crate::communicator::SingleProcess;

    fn vote(left: u32, right: u32, y: f64) -> UnknownVote {
        let vote = SidedVote::new(&AnnotatorVote { left, right, outcome: 0, count: 1 }, y);
        UnknownVote { vote, outcome: y as f32 }
    }

    #[test]
    fn votes_on_a_pair_are_in_one_block() {
        let mut votes = Vec::new();
        for left in 0..60 {
            for right in 0..left {
                votes.extend([
                    vote(left, right, 1.0),
                    vote(right, left, 1.0),
                    vote(left, right, 0.0),
                ]);
            }
        }
        let blocks_of = |votes: Vec<UnknownVote>| {
            let mut found: Vec<Vec<UnknownVote>> = Vec::new();
            for_each_block(votes, &SingleProcess, |block| found.push(block.to_vec()));
            found
        };
        let number = votes.len();
        let found = blocks_of(votes.clone());
        assert_eq!(found.len(), number.div_ceil(256));
        assert_eq!(found.iter().map(Vec::len).sum::<usize>(), number);
        for block in &found {
            assert!((100..500).contains(&block.len()), "{}", block.len());
            for vote in block {
                let pair = |unknown: &UnknownVote| {
                    let (left, right) = (unknown.vote.left as usize, unknown.vote.right());
                    (left.min(right), left.max(right))
                };
                let same = block.iter().filter(|other| pair(other) == pair(vote)).count();
                assert_eq!(same, 3);
            }
        }
        votes.reverse();
        assert_eq!(blocks_of(votes), found);
        assert!(blocks_of(Vec::new()).is_empty());
        let tie = vote(7, 3, 0.0);
        assert_eq!(UnknownVote::from_bytes(&tie.to_bytes()), tie);
    }
}
