//! The votes of each pair by side: which of its items was shown on the left.
//!
//! Distinct votes ([`Groups`]) have the item with the smaller index on the left, whichever was shown
//! there. Sides are counted next to them, in a tally of codes:
//!
//! | vote | code |
//! |---|---|
//! | prefers the left item | 1 |
//! | a tie | 2 |
//! | prefers the right item | not counted |
//!
//! A tally turns votes whose left item has the larger index, and with them the sign of the code. So
//! the codes of a pair i < j say who was on the left: 1 and 2 item i, −1 and −2 item j. If a and b votes
//! have the codes 1 and −1, t₊ the code 2, and i has W wins, L losses and T ties in all votes on the
//! pair, then all six counts follow:
//!
//! | on the left | i wins | i loses | ties |
//! |---|---|---|---|
//! | i | a | L − b | t₊ |
//! | j | W − a | b | T − t₊ |

use rayon::prelude::*;

use super::groups::Groups;
use super::{Pairs, Tally};
use crate::comparison::Comparison;

const LEFT_PREFERRED: f64 = 1.0;
const TIE: f64 = 2.0;
/// Pairs that one task looks up.
const PAIRS_PER_TASK: usize = 1 << 13;

/// Counts votes by side, with the caller's item numbers.
#[derive(Debug, Default)]
pub struct SideTally(Tally);

impl SideTally {
    /// An empty tally.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a vote `count` times on two different items that were shown on these sides. `y` must be
    /// finite.
    #[inline]
    pub fn add(&mut self, left: u32, right: u32, y: f64, count: u64) {
        if y >= 0.0 {
            let code = if y > 0.0 { LEFT_PREFERRED } else { TIE };
            self.0.add(left, right, code, count);
        }
    }

    /// Bytes of memory that the counts take, approximately.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }

    /// Merges tallies, as [`Tally::finish`].
    #[must_use]
    pub fn finish(tallies: Vec<Self>, new_of: &[Vec<u32>]) -> SideCounts {
        SideCounts(Tally::finish(tallies.into_iter().map(|tally| tally.0).collect(), new_of))
    }
}

/// The votes of each pair by side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SideCounts(Groups);

/// What the codes of a pair i < j say.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct PairSides {
    /// Votes for i, shown on the left.
    pub(crate) won_left: f64,
    /// Votes for j, shown on the left.
    pub(crate) lost_right: f64,
    /// Ties with i on the left.
    pub(crate) tied_left: f64,
}

impl SideCounts {
    /// Counts votes on `items` items that were shown on the sides that the votes name.
    #[must_use]
    pub fn of_comparisons(items: usize, votes: &[Comparison]) -> Self {
        let mut tally = SideTally::new();
        for vote in votes {
            tally.add(vote.left, vote.right, vote.y, vote.count);
        }
        SideTally::finish(vec![tally], &[(0..items as u32).collect()])
    }

    /// The counts as distinct votes with codes as outcomes, to be sent like votes.
    #[must_use]
    pub fn into_codes(self) -> Groups {
        self.0
    }

    /// The counts of [`SideCounts::into_codes`], from one or several processes.
    #[must_use]
    pub fn from_codes(codes: Groups) -> Self {
        Self(codes)
    }

    /// The counts if the groups of votes had other weights: in the same shares of each pair's wins, losses and
    /// ties.
    pub(crate) fn reweighted(&self, pairs: &Pairs, before: &Groups, after: &Groups) -> Self {
        let mut codes = self.0.clone();
        let mut p = 0;
        for c in 0..codes.len() {
            let pair = (codes.left[c], codes.right[c]);
            while p < pairs.len() && (pairs.left[p], pairs.right[p]) < pair {
                p += 1;
            }
            if p == pairs.len() {
                break;
            }
            let range = pairs.first_group[p] as usize..pairs.first_group[p + 1] as usize;
            let is_same = |y: f64| match codes.y[c] {
                LEFT_PREFERRED => y > 0.0,
                code if code == -LEFT_PREFERRED => y < 0.0,
                _ => y == 0.0,
            };
            let sum = |groups: &Groups| {
                let own = range.clone().filter(|&g| is_same(groups.y[g]));
                own.map(|g| groups.weight[g]).sum::<f64>()
            };
            codes.weight[c] *= sum(after) / sum(before).max(f64::MIN_POSITIVE);
        }
        Self(codes)
    }

    /// What is known about each pair.
    pub(crate) fn of_pairs(&self, pairs: &Pairs) -> Vec<PairSides> {
        let codes = &self.0;
        let mut found = vec![PairSides::default(); pairs.len()];
        let tasks = found.par_chunks_mut(PAIRS_PER_TASK).enumerate();
        tasks.for_each(|(task, found)| {
            let pair_of = |p: usize| (pairs.left[p], pairs.right[p]);
            let code_of = |g: usize| (codes.left[g], codes.right[g]);
            let first = task * PAIRS_PER_TASK;
            let mut g = partition_point(codes.len(), |g| code_of(g) < pair_of(first));
            for (k, found) in found.iter_mut().enumerate() {
                let pair = pair_of(first + k);
                while g < codes.len() && code_of(g) <= pair {
                    if code_of(g) == pair {
                        found.add(codes.y[g], codes.weight[g]);
                    }
                    g += 1;
                }
            }
        });
        found
    }
}

impl PairSides {
    fn add(&mut self, code: f64, votes: f64) {
        match code {
            LEFT_PREFERRED => self.won_left += votes,
            TIE => self.tied_left += votes,
            code if code == -LEFT_PREFERRED => self.lost_right += votes,
            _ => {}
        }
    }
}

/// The first index below `len` for which `is_before` is false; it is true up to there.
fn partition_point(len: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ComparisonGraph;

    #[test]
    fn codes_say_who_was_on_the_left() {
        let vote = |left, right, y, count| Comparison::new(left, right, y).with_count(count);
        let votes = [
            vote(0, 1, 1.0, 5),
            vote(0, 1, -1.0, 3),
            vote(1, 0, 2.5, 2),
            vote(1, 0, -0.5, 4),
            vote(0, 1, 0.0, 6),
            vote(1, 0, -0.0, 7),
            vote(2, 1, -1.0, 8),
            vote(2, 0, 1.0, 0),
        ];
        let graph = ComparisonGraph::new(3, Groups::merge(3, &votes).unwrap().groups).unwrap();
        let sides = SideCounts::of_comparisons(3, &votes);
        let found = sides.of_pairs(graph.pairs());
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], PairSides { won_left: 5.0, lost_right: 2.0, tied_left: 6.0 });
        // Item 1 won eight votes, all on the right.
        assert_eq!(found[1], PairSides::default());
        assert_eq!(SideCounts::from_codes(sides.clone().into_codes()), sides);
    }
}
