//! From scores to ranks, with each item's record beside it.

use crate::graph::{Chunk, ComparisonGraph, sums_of_items};

/// Items in order, best first, each component on its own scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Sorted by rank, then by component.
    pub items: Vec<RankedItem>,
}

/// One line of a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedItem {
    /// 1 is best. Items of equal score share a rank and the next rank is skipped (1, 2, 2, 4).
    pub rank: u32,
    /// Index of the item.
    pub item: u32,
    /// Its score; the mean over its component is zero.
    pub score: f64,
    /// Its component, counted from 1. Ranks and scores of different components do not compare.
    pub component: u32,
    /// Votes in which it took part.
    pub comparisons: u64,
    /// Votes that prefer it.
    pub wins: u64,
    /// Votes that prefer the other item.
    pub losses: u64,
    /// Votes that prefer neither.
    pub ties: u64,
    /// Votes on it that the method does not trust.
    pub flagged: u64,
}

/// Scores closer than this share of the component's largest score are the same number, rounded
/// differently.
const SAME_SCORE: f64 = 1e-11;

impl Ranking {
    /// Ranks the items of each component by `scores`.
    #[must_use]
    pub fn new(graph: &ComparisonGraph, scores: &[f64]) -> Self {
        let mut items = records(graph, scores);
        for members in graph.components().iter() {
            let largest = members.iter().map(|&i| scores[i as usize].abs()).fold(0.0, f64::max);
            let mut order = members.to_vec();
            order.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
            let (mut rank, mut last) = (0, f64::INFINITY);
            for (place, &item) in order.iter().enumerate() {
                let score = scores[item as usize];
                if last - score > SAME_SCORE * largest {
                    (rank, last) = (place as u32 + 1, score);
                }
                items[item as usize].rank = rank.max(1);
            }
        }
        // Stable, so items that share a rank stay in the order of their labels.
        items.sort_by_key(|item| (item.rank, item.component));
        Self { items }
    }
}

impl Ranking {
    /// Adds how many votes on each item are flagged, given the flagged votes of each group.
    #[must_use]
    pub fn with_flagged(mut self, graph: &ComparisonGraph, flagged: &[f64]) -> Self {
        let groups = graph.groups();
        let of_chunk = |Chunk { groups: range, first, flow, .. }: &mut Chunk<()>| {
            for (g, &votes) in range.clone().zip(&flagged[range.clone()]) {
                if votes > 0.0 {
                    flow[groups.left[g] as usize - *first] += votes;
                    flow[groups.right[g] as usize - *first] += votes;
                }
            }
        };
        let mut of_item = sums_of_items(graph.items(), groups, 1, of_chunk);
        graph.communicator().sum(&mut of_item);
        for row in &mut self.items {
            row.flagged = of_item[row.item as usize] as u64;
        }
        self
    }
}

fn records(graph: &ComparisonGraph, scores: &[f64]) -> Vec<RankedItem> {
    // Wins, losses and ties of each item. Counts are whole numbers, so that sums are exact.
    let groups = graph.groups();
    let of_chunk = |Chunk { groups: range, first, flow, .. }: &mut Chunk<()>| {
        let mut start = range.start;
        // Groups of a left item stand together: its sums need not go through memory.
        for run in groups.left[range.clone()].chunk_by(|a, b| a == b) {
            let mut of_left = [0.0; 3];
            for g in start..start + run.len() {
                let (y, weight) = (groups.y[g], groups.weight[g]);
                // No branch: whether a vote is a win is hard to guess.
                let is = [y > 0.0, y < 0.0, y == 0.0].map(|is| if is { weight } else { 0.0 });
                of_left.iter_mut().zip(is).for_each(|(sum, votes)| *sum += votes);
                let column = usize::from(y > 0.0) + 2 * usize::from(y == 0.0);
                flow[3 * groups.right[g] as usize + column - *first] += weight;
            }
            let left = 3 * run[0] as usize - *first;
            flow[left..left + 3].iter_mut().zip(of_left).for_each(|(sum, votes)| *sum += votes);
            start += run.len();
        }
    };
    let mut votes = sums_of_items(graph.items(), groups, 3, of_chunk);
    graph.communicator().sum(&mut votes);
    let record = |(item, votes): (usize, &[f64])| RankedItem {
        rank: 0,
        item: item as u32,
        score: scores[item],
        component: graph.components().of[item] + 1,
        comparisons: votes.iter().sum::<f64>() as u64,
        wins: votes[0] as u64,
        losses: votes[1] as u64,
        ties: votes[2] as u64,
        flagged: 0,
    };
    votes.chunks(3).enumerate().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, Groups};

    #[test]
    fn ranks_restart_in_each_component_and_are_shared_by_equals() {
        let votes = [
            Comparison::new(0, 1, 1.0).with_count(2),
            Comparison::new(0, 2, 1.0),
            Comparison::new(2, 1, 0.0),
            Comparison::new(4, 3, 2.5),
        ];
        let groups = Groups::merge(5, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(5, groups).unwrap();
        let ranking = Ranking::new(&graph, &[2.0, -1.0, -1.0 + 1e-15, -0.5, 0.5]);
        let found: Vec<_> = ranking.items.iter().map(|r| (r.rank, r.item, r.component)).collect();
        assert_eq!(found, [(1, 0, 1), (1, 4, 2), (2, 1, 1), (2, 2, 1), (2, 3, 2)]);
        let best = ranking.items[0];
        assert_eq!((best.comparisons, best.wins, best.losses, best.ties), (3, 3, 0, 0));
        let second = ranking.items[2];
        assert_eq!((second.comparisons, second.wins, second.losses, second.ties), (3, 0, 2, 1));
    }
}
