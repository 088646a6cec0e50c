//! The comparison graph: items are vertices, compared pairs are edges, votes are a flow on them.

mod chunks;
mod components;
mod groups;
mod item_pair;
mod sides;
mod tally;

pub(crate) use chunks::{Chunk, Chunks, sums_of_items};
pub use components::Components;
pub use groups::{Groups, Merged};
pub use item_pair::ItemPair;
pub(crate) use sides::PairSides;
pub use sides::{SideCounts, SideTally};
pub use tally::Tally;

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::communicator::{Communicator, SingleProcess};
use crate::error::{Error, Result};

/// Number of distinct votes from which computations run in the pool.
const MIN_POOL_GROUPS: usize = 1 << 14;

/// Items, merged votes, compared pairs and connected components.
///
/// In a distributed graph ([`ComparisonGraph::distributed`]) groups and pairs are those of this
/// process; items, components, [`ComparisonGraph::votes`] and [`ComparisonGraph::divergence`] are
/// those of all processes.
#[derive(Debug, Clone)]
pub struct ComparisonGraph {
    items: usize,
    groups: Groups,
    pairs: Pairs,
    components: Components,
    votes: f64,
    sides: Option<SideCounts>,
    communicator: Arc<dyn Communicator>,
}

/// The edges of the comparison graph: each compared pair once, in order of (left, right).
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    /// The smaller item index of each pair.
    pub left: Vec<u32>,
    /// The larger item index of each pair.
    pub right: Vec<u32>,
    /// Number of votes on each pair.
    pub weight: Vec<f64>,
    /// Groups of pair `p` are `first_group[p]..first_group[p + 1]`.
    pub first_group: Vec<u32>,
}

impl Pairs {
    /// Number of compared pairs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.left.len()
    }

    /// Whether no pair was compared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    fn of(groups: &Groups) -> Self {
        let ranges = whole_pairs(groups);
        let is_first = |g: usize| {
            g == 0 || groups.left[g] != groups.left[g - 1] || groups.right[g] != groups.right[g - 1]
        };
        let count = |range: &Range<usize>| range.clone().filter(|&g| is_first(g)).count();
        let counts: Vec<usize> = ranges.par_iter().map(count).collect();
        let all = counts.iter().sum();
        let mut pairs = Self {
            left: vec![0; all],
            right: vec![0; all],
            weight: vec![0.0; all],
            first_group: vec![0; all + 1],
        };
        pairs.first_group[all] = groups.len() as u32;
        let mut rest = PairsMut {
            left: &mut pairs.left,
            right: &mut pairs.right,
            weight: &mut pairs.weight,
            first_group: &mut pairs.first_group[..all],
        };
        let parts: Vec<PairsMut<'_>> = counts.iter().map(|&count| rest.take(count)).collect();
        ranges.into_par_iter().zip(parts).for_each(|(range, part)| part.fill(groups, range));
        pairs
    }
}

/// The columns of consecutive pairs, to be filled by one task.
struct PairsMut<'a> {
    left: &'a mut [u32],
    right: &'a mut [u32],
    weight: &'a mut [f64],
    first_group: &'a mut [u32],
}

impl<'a> PairsMut<'a> {
    /// Splits off the first `count` pairs.
    fn take(&mut self, count: usize) -> Self {
        fn take<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
            slice.split_off_mut(..count).unwrap_or_default()
        }
        Self {
            left: take(&mut self.left, count),
            right: take(&mut self.right, count),
            weight: take(&mut self.weight, count),
            first_group: take(&mut self.first_group, count),
        }
    }

    /// Fills in the pairs of a range of groups that ends between pairs. Branch-free: whether a group
    /// starts a pair would be mispredicted, so a pair is written once for each of its groups.
    fn fill(self, groups: &Groups, range: Range<usize>) {
        let Some(start) = range.clone().next() else { return };
        let (mut pair, mut last) = (0, (groups.left[start], groups.right[start]));
        let (mut first, mut weight) = (start, 0.0);
        for g in range {
            let ends = (groups.left[g], groups.right[g]);
            let is_new = ends != last;
            pair += usize::from(is_new);
            first = if is_new { g } else { first };
            weight = groups.weight[g] + if is_new { 0.0 } else { weight };
            (self.left[pair], self.right[pair]) = ends;
            (self.weight[pair], self.first_group[pair]) = (weight, first as u32);
            last = ends;
        }
    }
}

/// Ranges of groups of about equal length that start and end between pairs.
fn whole_pairs(groups: &Groups) -> Vec<Range<usize>> {
    const MIN_GROUPS: usize = 1 << 15;
    let pair = |g: usize| (groups.left[g], groups.right[g]);
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < groups.len() {
        let mut end = groups.len().min(start + MIN_GROUPS);
        while end < groups.len() && pair(end) == pair(end - 1) {
            end += 1;
        }
        ranges.push(start..end);
        start = end;
    }
    ranges
}

impl ComparisonGraph {
    /// The graph on `items` items with the votes in `groups`.
    ///
    /// # Errors
    /// If a group names an item that does not exist, or there are more than 2³² − 1 of anything.
    pub fn new(items: usize, groups: Groups) -> Result<Self> {
        Self::distributed(items, groups, Arc::new(SingleProcess))
    }

    /// The graph of votes that are distributed over the processes of `communicator`; `groups` are
    /// those of this process. All votes on a pair must be on one process.
    ///
    /// # Errors
    /// As [`ComparisonGraph::new`], for the groups of this process. A process that fails makes no
    /// further collective call, so all processes must agree on success before they continue.
    pub fn distributed(
        items: usize,
        groups: Groups,
        communicator: Arc<dyn Communicator>,
    ) -> Result<Self> {
        for (what, count) in [("items", items), ("groups", groups.len())] {
            if count >= u32::MAX as usize {
                let (count, max) = (count as u64, u64::from(u32::MAX - 1));
                return Err(Error::TooLarge { what, count, max });
            }
        }
        if let Some(vote) = groups.right.iter().position(|&right| right as usize >= items) {
            return Err(Error::ItemOutOfRange { vote, index: groups.right[vote], items });
        }
        let pairs = Pairs::of(&groups);
        let ends = pairs.left.iter().copied().zip(pairs.right.iter().copied());
        let components = Components::of(items, ends, &*communicator);
        let votes = communicator.sum_scalar(groups.votes());
        Ok(Self { items, groups, pairs, components, votes, sides: None, communicator })
    }

    /// The same graph with the sides on which items were shown, if they are known. Where several
    /// processes share the votes, each has the sides of its own pairs, or none has any.
    #[must_use]
    pub fn with_sides(self, sides: Option<SideCounts>) -> Self {
        Self { sides, ..self }
    }

    /// The same votes with another weight of each group. Votes by side keep their shares of each pair's wins,
    /// losses and ties.
    pub(crate) fn reweighted(&self, weight: Vec<f64>) -> Self {
        let groups = Groups { weight, ..self.groups.clone() };
        let mut pairs = self.pairs.clone();
        for (sum, range) in pairs.weight.iter_mut().zip(self.pairs.first_group.windows(2)) {
            *sum = groups.weight[range[0] as usize..range[1] as usize].iter().sum();
        }
        let sides =
            self.sides.as_ref().map(|sides| sides.reweighted(&pairs, &self.groups, &groups));
        let votes = groups.votes();
        let (components, communicator) = (self.components.clone(), self.communicator.clone());
        Self { items: self.items, groups, pairs, components, votes, sides, communicator }
    }

    /// Number of items, compared or not.
    #[must_use]
    pub fn items(&self) -> usize {
        self.items
    }

    /// The merged votes.
    #[must_use]
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The votes of each pair by side, if sides are known.
    #[must_use]
    pub fn sides(&self) -> Option<&SideCounts> {
        self.sides.as_ref()
    }

    /// Number of votes, on all processes.
    #[must_use]
    pub fn votes(&self) -> f64 {
        self.votes
    }

    /// The communicator of the processes that hold the votes.
    #[must_use]
    pub fn communicator(&self) -> &dyn Communicator {
        &*self.communicator
    }

    /// The same as a handle that outlives the graph.
    pub(crate) fn communicator_handle(&self) -> Arc<dyn Communicator> {
        Arc::clone(&self.communicator)
    }

    /// Runs a computation on a thread of the pool, where parallel loops start at once: any other thread
    /// hands each loop over and sleeps until it ends. If several processes share the votes, the calling thread sends
    /// their messages and stays where it is.
    pub(crate) fn run_in_pool<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self.communicator.is_single_process() {
            true => rayon::scope(|_| work()),
            false => work(),
        }
    }

    /// The same if the study is worth the hand-over: a fit of few votes takes less time.
    pub(crate) fn run_in_pool_if_large<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self.groups.len() < MIN_POOL_GROUPS {
            true => work(),
            false => self.run_in_pool(work),
        }
    }

    /// The compared pairs.
    #[must_use]
    pub fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    /// The connected components.
    #[must_use]
    pub fn components(&self) -> &Components {
        &self.components
    }

    /// The connected components of the votes that remain when `removed` votes of each group are left
    /// out.
    #[must_use]
    pub(crate) fn components_without(&self, removed: &[f64]) -> Components {
        let Groups { left, right, weight, .. } = &self.groups;
        let kept = (0..weight.len()).filter(|&g| weight[g] > removed[g]);
        Components::of(self.items, kept.map(|g| (left[g], right[g])), &*self.communicator)
    }

    /// Pairs whose removal would split a component. A wrong vote on such a pair cannot be detected,
    /// because it lies on no cycle.
    #[must_use]
    pub fn bridges(&self) -> Vec<u32> {
        components::bridges(self.items, &self.pairs)
    }

    /// Items that no vote mentions.
    pub fn never_compared(&self) -> impl Iterator<Item = u32> + '_ {
        self.components.singletons()
    }

    /// Xθ: the score difference left − right of each group.
    #[must_use]
    pub fn gradient(&self, theta: &[f64]) -> Vec<f64> {
        let groups = &self.groups;
        let ends = groups.left.iter().zip(&groups.right);
        ends.map(|(&i, &j)| theta[i as usize] - theta[j as usize]).collect()
    }

    /// XᵀW f: for each item the outflow less the inflow of `flow`, each group weighted by its votes.
    #[must_use]
    pub fn divergence(&self, flow: &[f64]) -> Vec<f64> {
        let groups = &self.groups;
        let of_chunk = |Chunk { groups: range, first, flow: out, .. }: &mut Chunk<()>| {
            let mut start = range.start;
            // Groups are sorted by left item, so the sum of a left item stays in a register.
            for run in groups.left[range.clone()].chunk_by(|a, b| a == b) {
                let here = start..start + run.len();
                let mut of_left = 0.0;
                for ((weight, f), &right) in groups.weight[here.clone()]
                    .iter()
                    .zip(&flow[here.clone()])
                    .zip(&groups.right[here.clone()])
                {
                    of_left += weight * f;
                    out[right as usize - *first] -= weight * f;
                }
                out[run[0] as usize - *first] += of_left;
                start = here.end;
            }
        };
        let mut out = sums_of_items(self.items, groups, 1, of_chunk);
        self.communicator.sum(&mut out);
        out
    }
}
