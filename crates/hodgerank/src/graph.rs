//! The comparison graph: items are nodes, compared pairs are edges, votes are a flow on them.

mod components;
mod groups;
mod tally;

pub use components::Components;
pub use groups::{Groups, Merged};
pub use tally::Tally;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::team::{Alone, Team};

/// Items, merged votes, the pairs that they fall on, and the connected components.
///
/// Where a [`Team`] shares the votes, groups and pairs are those that are here; items, components,
/// [`ComparisonGraph::votes`] and [`ComparisonGraph::divergence`] are those of all.
#[derive(Debug, Clone)]
pub struct ComparisonGraph {
    items: usize,
    groups: Groups,
    pairs: Pairs,
    components: Components,
    votes: f64,
    team: Arc<dyn Team>,
}

/// The edges of the comparison graph: each compared pair once, in order of (left, right).
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    /// The smaller item index of each pair.
    pub left: Vec<u32>,
    /// The larger item index of each pair.
    pub right: Vec<u32>,
    /// Votes on the pair.
    pub weight: Vec<f64>,
    /// Groups of pair `p` are `first_group[p]..first_group[p + 1]`.
    pub first_group: Vec<u32>,
}

impl Pairs {
    /// How many pairs were compared at least once.
    #[must_use]
    pub fn len(&self) -> usize {
        self.left.len()
    }

    /// Whether nothing was compared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    fn of(groups: &Groups) -> Self {
        let most = groups.len();
        let mut pairs = Self {
            left: Vec::with_capacity(most),
            right: Vec::with_capacity(most),
            weight: Vec::with_capacity(most),
            first_group: Vec::with_capacity(most + 1),
        };
        for g in 0..groups.len() {
            let (left, right) = (groups.left[g], groups.right[g]);
            if pairs.left.last() == Some(&left) && pairs.right.last() == Some(&right) {
                *pairs.weight.last_mut().expect("as long as `left`") += groups.weight[g];
            } else {
                pairs.left.push(left);
                pairs.right.push(right);
                pairs.weight.push(groups.weight[g]);
                pairs.first_group.push(g as u32);
            }
        }
        pairs.first_group.push(groups.len() as u32);
        pairs
    }
}

impl ComparisonGraph {
    /// The graph on `items` items with the votes in `groups`.
    ///
    /// # Errors
    /// If a group names an item that does not exist, or there are more than 2³² − 1 of anything.
    pub fn new(items: usize, groups: Groups) -> Result<Self> {
        Self::shared(items, groups, Arc::new(Alone))
    }

    /// The same where `team` shares the votes and `groups` are those that are here. Votes on one
    /// pair must all be with one member.
    ///
    /// # Errors
    /// As [`ComparisonGraph::new`], for the groups that are here. The members must agree on success
    /// before they go on: one that fails asks nothing more of the team.
    pub fn shared(items: usize, groups: Groups, team: Arc<dyn Team>) -> Result<Self> {
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
        let components = Components::of(items, &pairs, &*team);
        let votes = team.sum_of(groups.votes());
        Ok(Self { items, groups, pairs, components, votes, team })
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

    /// How many votes there are, with everyone.
    #[must_use]
    pub fn votes(&self) -> f64 {
        self.votes
    }

    /// Those who share the votes.
    #[must_use]
    pub fn team(&self) -> &dyn Team {
        &*self.team
    }

    pub(crate) fn shared_team(&self) -> Arc<dyn Team> {
        Arc::clone(&self.team)
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

    /// Pairs whose loss would split a component in two: a single wrong vote there cannot be seen.
    #[must_use]
    pub fn bridges(&self) -> Vec<u32> {
        components::bridges(self.items, &self.pairs)
    }

    /// Items that no vote mentions.
    pub fn never_compared(&self) -> impl Iterator<Item = u32> + '_ {
        self.components.singletons()
    }

    /// Xθ: the score difference along each group.
    #[must_use]
    pub fn gradient(&self, theta: &[f64]) -> Vec<f64> {
        let groups = &self.groups;
        let ends = groups.left.iter().zip(&groups.right);
        ends.map(|(&i, &j)| theta[i as usize] - theta[j as usize]).collect()
    }

    /// XᵀW f: what flows out of each item, less what flows in, counting each group by its votes.
    #[must_use]
    pub fn divergence(&self, flow: &[f64]) -> Vec<f64> {
        let groups = &self.groups;
        let mut out = vec![0.0; self.items];
        for (g, &f) in flow.iter().enumerate() {
            let wf = groups.weight[g] * f;
            out[groups.left[g] as usize] += wf;
            out[groups.right[g] as usize] -= wf;
        }
        self.team.sum(&mut out);
        out
    }
}
