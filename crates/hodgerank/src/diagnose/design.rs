//! The design of a study: which items were compared, how often, and which of them never won or lost.

use super::capped_list::CappedList;
use crate::graph::{ComparisonGraph, ItemPair};
use crate::identify::cycle_dimension;

/// The design of a study. Items are indices, or names after [`DesignSummary::map`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DesignSummary<I = u32> {
    /// Number of items.
    pub items: usize,
    /// Number of pairs compared at least once.
    pub pairs: usize,
    /// Number of votes.
    pub votes: u64,
    /// Share of all possible pairs that were compared, from 0 to 1.
    pub density: f64,
    /// Number of connected components; an item that was never compared is one.
    pub components: usize,
    /// Number of items of the largest component.
    pub largest_component: usize,
    /// Number of items that were never compared.
    pub never_compared: usize,
    /// Number of independent cycles of votes: without cycles no wrong vote can be identified.
    pub cycles: u64,
    /// Pairs without which a component would fall apart.
    pub bridges: CappedList<ItemPair<I>>,
    /// Items with few votes, in ascending order of votes.
    pub few_votes: CappedList<ItemVotes<I>>,
    /// Items that won a vote but lost none. Their scores have no upper bound in models such as
    /// Bradley–Terry, and depend on the size of outcomes here.
    pub undefeated: CappedList<I>,
    /// Items that lost a vote but won none.
    pub winless: CappedList<I>,
    /// Number of votes per compared pair.
    pub votes_per_pair: Spread,
    /// Number of votes per item.
    pub votes_per_item: Spread,
    /// Number of votes per annotator. A comparison graph does not know annotators, so
    /// [`super::diagnose`] leaves it empty for the caller to set.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub votes_per_annotator: Option<Spread>,
    /// n log n: the number of random pairs that connects all items, in order of magnitude.
    pub pairs_to_connect: f64,
    /// n^{3/2}: the number of random pairs that leaves no harmonic part, in order of magnitude.
    pub pairs_without_loops: f64,
}

/// An item and its number of votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ItemVotes<I = u32> {
    /// The item.
    pub item: I,
    /// Number of votes on it.
    pub votes: u64,
}

impl<I> DesignSummary<I> {
    /// Replaces the items, for example by their names.
    #[must_use]
    pub fn map<J>(self, name: impl Fn(I) -> J) -> DesignSummary<J> {
        DesignSummary {
            bridges: self.bridges.map(|pair| pair.map(&name)),
            few_votes: self
                .few_votes
                .map(|found| ItemVotes { item: name(found.item), votes: found.votes }),
            undefeated: self.undefeated.map(&name),
            winless: self.winless.map(&name),
            items: self.items,
            pairs: self.pairs,
            votes: self.votes,
            density: self.density,
            components: self.components,
            largest_component: self.largest_component,
            never_compared: self.never_compared,
            cycles: self.cycles,
            votes_per_pair: self.votes_per_pair,
            votes_per_item: self.votes_per_item,
            votes_per_annotator: self.votes_per_annotator,
            pairs_to_connect: self.pairs_to_connect,
            pairs_without_loops: self.pairs_without_loops,
        }
    }
}

impl DesignSummary {
    /// Summarises a graph. Items with fewer than `few` votes are listed; lists are cut after
    /// `max_listed` entries.
    pub(super) fn new(graph: &ComparisonGraph, few: u64, max_listed: usize) -> Self {
        let (n, pairs, components) = (graph.items(), graph.pairs(), graph.components());
        let all_pairs = n as f64 * (n as f64 - 1.0) / 2.0;
        let ItemTotals { votes, wins, losses } = ItemTotals::new(graph);
        let mut few_votes: Vec<ItemVotes> = votes
            .iter()
            .enumerate()
            .filter(|(_, votes)| **votes < few as f64)
            .map(|(i, votes)| ItemVotes { item: i as u32, votes: *votes as u64 })
            .collect();
        few_votes.sort_unstable_by_key(|found| (found.votes, found.item));
        let bridges = graph.bridges().into_iter();
        let bridges = bridges.map(|pair| ItemPair::of(pairs, pair as usize)).collect();
        let only = |some: &[f64], none: &[f64]| -> CappedList<u32> {
            let is = |i: &u32| some[*i as usize] > 0.0 && none[*i as usize] == 0.0;
            CappedList::new((0..n as u32).filter(is).collect(), max_listed)
        };
        Self {
            items: n,
            pairs: pairs.len(),
            votes: graph.groups().votes() as u64,
            density: if n > 1 { pairs.len() as f64 / all_pairs } else { 0.0 },
            components: components.len(),
            largest_component: if n > 0 { components.members(0).len() } else { 0 },
            never_compared: graph.never_compared().count(),
            cycles: cycle_dimension(graph) as u64,
            bridges: CappedList::new(bridges, max_listed),
            few_votes: CappedList::new(few_votes, max_listed),
            undefeated: only(&wins, &losses),
            winless: only(&losses, &wins),
            votes_per_pair: Spread::of(pairs.weight.clone()),
            votes_per_item: Spread::of(votes),
            votes_per_annotator: None,
            pairs_to_connect: (n as f64 * (n as f64).max(1.0).ln()).min(all_pairs),
            pairs_without_loops: (n as f64).powf(1.5).min(all_pairs),
        }
    }
}

/// Minimum, median, mean and maximum of a list of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Spread {
    /// The minimum.
    pub least: f64,
    /// The lower median.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub most: f64,
}

impl Spread {
    /// Summarises these numbers; all zero if there are none.
    #[must_use]
    pub fn of(mut values: Vec<f64>) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        values.sort_unstable_by(f64::total_cmp);
        Self {
            least: values[0],
            median: values[(values.len() - 1) / 2],
            mean: values.iter().sum::<f64>() / values.len() as f64,
            most: values[values.len() - 1],
        }
    }
}

/// Votes, wins and losses of each item.
struct ItemTotals {
    votes: Vec<f64>,
    wins: Vec<f64>,
    losses: Vec<f64>,
}

impl ItemTotals {
    fn new(graph: &ComparisonGraph) -> Self {
        let (groups, zeros) = (graph.groups(), vec![0.0; graph.items()]);
        let (mut votes, mut wins, mut losses) = (zeros.clone(), zeros.clone(), zeros);
        for (g, (&y, &w)) in groups.y.iter().zip(&groups.weight).enumerate() {
            let (left, right) = (groups.left[g] as usize, groups.right[g] as usize);
            votes[left] += w;
            votes[right] += w;
            if y != 0.0 {
                let (winner, loser) = if y > 0.0 { (left, right) } else { (right, left) };
                wins[winner] += w;
                losses[loser] += w;
            }
        }
        Self { votes, wins, losses }
    }
}
