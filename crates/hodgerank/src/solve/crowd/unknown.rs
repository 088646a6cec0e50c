//! Blocks of votes by unknown people.
//!
//! The hash of its pair says in which block a vote is. So the blocks depend neither on the order of the
//! rows nor on which process has read them, and a block has all votes on its pairs: those that agree with
//! the ranking are not separated from those that contradict it.

use super::blocks::SidedVote;
use crate::communicator::Communicator;

/// Votes per block, on average.
const VOTES_PER_BLOCK: usize = 256;

/// Calls `each` with the votes of each block that this process gets. Collective.
pub(super) fn for_each_block(
    votes: Vec<SidedVote>,
    communicator: &dyn Communicator,
    mut each: impl FnMut(&[SidedVote]),
) {
    // Numbers of votes are exact in sums of all processes.
    let total = communicator.sum_scalar(votes.len() as f64) as usize;
    let blocks = total.div_ceil(VOTES_PER_BLOCK);
    let votes = to_owners(votes, blocks, communicator);
    // Block b has the votes start[b]..start[b + 1] once they are sorted.
    let mut start = vec![0; blocks + 1];
    votes.iter().for_each(|vote| start[block_of(vote, blocks) + 1] += 1);
    for block in 0..blocks {
        start[block + 1] += start[block];
    }
    let Some(&first) = votes.first() else { return };
    let (mut sorted, mut next) = (vec![first; votes.len()], start.clone());
    for vote in votes {
        let place = &mut next[block_of(&vote, blocks)];
        sorted[*place] = vote;
        *place += 1;
    }
    for range in start.windows(2).filter(|range| range[0] < range[1]) {
        each(&sorted[range[0]..range[1]]);
    }
}

/// Sends each vote to the process that gets its block.
fn to_owners(
    votes: Vec<SidedVote>,
    blocks: usize,
    communicator: &dyn Communicator,
) -> Vec<SidedVote> {
    let processes = communicator.processes();
    if processes == 1 || blocks == 0 {
        return votes;
    }
    let mut messages = vec![Vec::new(); processes];
    for vote in votes {
        let owner = block_of(&vote, blocks) * processes / blocks;
        messages[owner].extend(vote.to_bytes());
    }
    let received = communicator.exchange(messages);
    let votes = received.iter().flat_map(|message| message.as_chunks().0);
    votes.map(SidedVote::from_bytes).collect()
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

    fn vote(left: u32, right: u32, y: f64) -> SidedVote {
        SidedVote::new(&AnnotatorVote { left, right, outcome: 0, count: 1 }, y)
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
        let blocks_of = |votes: Vec<SidedVote>| {
            let mut found: Vec<Vec<SidedVote>> = Vec::new();
            for_each_block(votes, &SingleProcess, |block| found.push(block.to_vec()));
            found.iter_mut().for_each(|block| block.sort_by_key(|vote| vote.to_bytes()));
            found
        };
        let number = votes.len();
        let found = blocks_of(votes.clone());
        assert_eq!(found.len(), number.div_ceil(VOTES_PER_BLOCK));
        assert_eq!(found.iter().map(Vec::len).sum::<usize>(), number);
        for block in &found {
            assert!((100..500).contains(&block.len()), "{}", block.len());
            for vote in block {
                let pair = |vote: &SidedVote| {
                    let (left, right) = (vote.left as usize, vote.right());
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
        assert_eq!(SidedVote::from_bytes(&tie.to_bytes()), tie);
    }
}
