//! Who was compared with whom, how often, and who never lost.

use crate::graph::ComparisonGraph;
use crate::identify::cycle_dimension;

/// The shape of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// Items.
    pub items: usize,
    /// Pairs compared at least once.
    pub pairs: usize,
    /// Votes.
    pub votes: f64,
    /// Pairs compared over all pairs there are.
    pub density: f64,
    /// Connected components; an item that was never compared is one.
    pub components: usize,
    /// Items of the largest component.
    pub largest_component: usize,
    /// Items that were never compared.
    pub never_compared: usize,
    /// Independent cycles of votes: what wrong votes can be seen by.
    pub cycles: f64,
    /// Pairs whose loss would split a component.
    pub bridges: Vec<u32>,
    /// Items with few votes, the fewest first, and how many they have.
    pub few_votes: Vec<(u32, u64)>,
    /// Items that lost no vote but won one: their scores have no upper bound in models such as
    /// Bradley and Terry's, and rest on the size of outcomes here.
    pub undefeated: Vec<u32>,
    /// Items that won no vote but lost one.
    pub winless: Vec<u32>,
    /// Votes on a compared pair.
    pub votes_per_pair: Spread,
    /// Votes on an item.
    pub votes_per_item: Spread,
    /// n log n: so many random pairs make a graph connected, in order of magnitude.
    pub pairs_to_connect: f64,
    /// n^{3/2}: so many random pairs leave no harmonic part, in order of magnitude.
    pub pairs_without_loops: f64,
}

/// How unevenly something is spread.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// The least.
    pub least: f64,
    /// Half have at most this.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The most.
    pub most: f64,
}

impl Spread {
    /// The spread of these numbers; zeros if there are none.
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

impl Design {
    pub(super) fn of(graph: &ComparisonGraph, few: u64) -> Self {
        let (n, pairs, components) = (graph.items(), graph.pairs(), graph.components());
        let all_pairs = n as f64 * (n as f64 - 1.0) / 2.0;
        let Record { votes, wins, losses } = Record::of(graph);
        let mut few_votes: Vec<(u32, u64)> = votes
            .iter()
            .enumerate()
            .filter(|(_, votes)| **votes < few as f64)
            .map(|(i, votes)| (i as u32, *votes as u64))
            .collect();
        few_votes.sort_unstable_by_key(|&(item, votes)| (votes, item));
        let only = |some: &[f64], none: &[f64]| -> Vec<u32> {
            let is = |i: &u32| some[*i as usize] > 0.0 && none[*i as usize] == 0.0;
            (0..n as u32).filter(is).collect()
        };
        Self {
            items: n,
            pairs: pairs.len(),
            votes: graph.groups().votes(),
            density: if n > 1 { pairs.len() as f64 / all_pairs } else { 0.0 },
            components: components.len(),
            largest_component: if n > 0 { components.members(0).len() } else { 0 },
            never_compared: graph.never_compared().count(),
            cycles: cycle_dimension(graph),
            bridges: graph.bridges(),
            few_votes,
            undefeated: only(&wins, &losses),
            winless: only(&losses, &wins),
            votes_per_pair: Spread::of(pairs.weight.clone()),
            votes_per_item: Spread::of(votes),
            pairs_to_connect: (n as f64 * (n as f64).max(1.0).ln()).min(all_pairs),
            pairs_without_loops: (n as f64).powf(1.5).min(all_pairs),
        }
    }
}

/// Votes, wins and losses of each item.
struct Record {
    votes: Vec<f64>,
    wins: Vec<f64>,
    losses: Vec<f64>,
}

impl Record {
    fn of(graph: &ComparisonGraph) -> Self {
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
