//! On which side an item is shown: each item as often on the left as on the right.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::annotator_votes::AnnotatorVotes;

/// For each item, how much more often it was on the left than on the right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideBalance(Vec<i64>);

impl SideBalance {
    /// The balance of items without votes.
    #[must_use]
    pub fn new(items: usize) -> Self {
        Self(vec![0; items])
    }

    /// The balance of the votes on these items; that of no votes if their sides are unknown.
    #[must_use]
    pub fn of_votes(items: usize, votes: Option<&AnnotatorVotes>) -> Self {
        let mut balance = Self::new(items);
        let votes = votes.filter(|votes| votes.has_sides());
        for vote in votes.map_or(&[][..], |votes| votes.all(false)) {
            balance.add(vote.left, vote.right, i64::from(vote.count));
        }
        balance
    }

    fn add(&mut self, left: u32, right: u32, count: i64) {
        self.0[left as usize] += count;
        self.0[right as usize] -= count;
    }

    /// The items with the one on the left first that was there less often; at random if both were equally often.
    pub(super) fn orient(&mut self, i: u32, j: u32, rng: &mut ChaCha8Rng) -> (u32, u32) {
        let is_first_left = match self.0[i as usize].cmp(&self.0[j as usize]) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => rng.random(),
            std::cmp::Ordering::Greater => false,
        };
        let (left, right) = if is_first_left { (i, j) } else { (j, i) };
        self.add(left, right, 1);
        (left, right)
    }
}
