//! From scores to ranks: the rows of a ranking and its columns.
//!
//! [`RankedItem`] is a row, [`RankedItem::COLUMNS`] lists its columns. To add a column, add a field,
//! compute it in [`Ranking::new`] and add its row to the list: CSV, JSON, Parquet and Python follow.

use std::fmt;

use crate::graph::{Chunk, ComparisonGraph, Components, sums_of_items};
use crate::labels::Labels;
use crate::uncertainty::Uncertainty;

/// Items sorted by rank, then by component; each component has its own scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The rows.
    pub items: Vec<RankedItem>,
}

/// A row of a ranking. `I` is the item: its index, or its label ([`RankedItem::with_label`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedItem<I = u32> {
    /// 1 is best. Items with equal scores share a rank and the next rank is skipped (1, 2, 2, 4).
    pub rank: u32,
    /// The item.
    pub item: I,
    /// Its score; the mean over its component is zero, unless the ranking has another scale.
    pub score: f64,
    /// The standard error of the score, if it is known; infinite if the votes do not bound it.
    pub se: Option<f64>,
    /// The ends of the interval of the score.
    pub interval: Option<(f64, f64)>,
    /// The best and the worst rank that the votes leave possible.
    pub rank_range: Option<(u32, u32)>,
    /// Its tier: items of a tier cannot be told from its best item. Counted from 1.
    pub tier: Option<u32>,
    /// Its component, counted from 1. Ranks and scores of different components do not compare.
    pub component: u32,
    /// Votes on the item.
    pub comparisons: u64,
    /// Votes that prefer the item.
    pub wins: u64,
    /// Votes that prefer the other item.
    pub losses: u64,
    /// Votes that prefer neither.
    pub ties: u64,
    /// Votes on the item that are flagged.
    pub flagged: u64,
    /// Whether too little is known about the item to place it: it never won or never lost, has far fewer
    /// votes than others, or its range of ranks spans more than half of its component.
    pub provisional: bool,
}

/// A column of a ranking: its name in CSV, JSON, Parquet and Python, and its values.
#[derive(Debug, Clone, Copy)]
pub struct RankingColumn {
    /// The name.
    pub name: &'static str,
    /// How a row's value is read, by type.
    pub value: ColumnValue,
}

/// How a column's value is read from a row.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the variants are the types of the values")]
pub enum ColumnValue {
    Text(for<'a> fn(&RankedItem<&'a str>) -> &'a str),
    Real(fn(&RankedItem<&str>) -> f64),
    Small(fn(&RankedItem<&str>) -> u32),
    Whole(fn(&RankedItem<&str>) -> u64),
    OptionalReal(fn(&RankedItem<&str>) -> Option<f64>),
    OptionalSmall(fn(&RankedItem<&str>) -> Option<u32>),
    Truth(fn(&RankedItem<&str>) -> bool),
}

impl RankedItem {
    /// The columns, in the order in which they are written.
    pub const COLUMNS: [RankingColumn; 16] = {
        use ColumnValue::{OptionalReal, OptionalSmall, Real, Small, Text, Truth, Whole};
        const fn column(name: &'static str, value: ColumnValue) -> RankingColumn {
            RankingColumn { name, value }
        }
        [
            column("rank", Small(|row| row.rank)),
            column("item", Text(|row| row.item)),
            // Minus zero would be printed with its sign.
            column("score", Real(|row| row.score + 0.0)),
            // Unbounded numbers are left out.
            column("se", OptionalReal(|row| row.se.filter(|se| se.is_finite()))),
            column("low", OptionalReal(|row| row.interval.map(|i| i.0).filter(|x| x.is_finite()))),
            column("high", OptionalReal(|row| row.interval.map(|i| i.1).filter(|x| x.is_finite()))),
            column("rank_low", OptionalSmall(|row| row.rank_range.map(|range| range.0))),
            column("rank_high", OptionalSmall(|row| row.rank_range.map(|range| range.1))),
            column("tier", OptionalSmall(|row| row.tier)),
            column("component", Small(|row| row.component)),
            column("comparisons", Whole(|row| row.comparisons)),
            column("wins", Whole(|row| row.wins)),
            column("losses", Whole(|row| row.losses)),
            column("ties", Whole(|row| row.ties)),
            column("flagged", Whole(|row| row.flagged)),
            column("provisional", Truth(|row| row.provisional)),
        ]
    };

    /// The row with the label of its item.
    #[must_use]
    pub fn with_label(self, items: &Labels) -> RankedItem<&str> {
        self.with_item(items.name(self.item))
    }

    fn with_item<I>(self, item: I) -> RankedItem<I> {
        RankedItem {
            rank: self.rank,
            item,
            score: self.score,
            se: self.se,
            interval: self.interval,
            rank_range: self.rank_range,
            tier: self.tier,
            component: self.component,
            comparisons: self.comparisons,
            wins: self.wins,
            losses: self.losses,
            ties: self.ties,
            flagged: self.flagged,
            provisional: self.provisional,
        }
    }
}

/// A number with so many decimals. What rounds to zero has no sign.
#[must_use]
pub fn with_decimals(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(size) if size.bytes().all(|byte| matches!(byte, b'0' | b'.')) => size.to_owned(),
        _ => text,
    }
}

impl<I: fmt::Display> fmt::Display for RankedItem<I> {
    /// `1. cat (0.6667)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {} ({})", self.rank, self.item, with_decimals(self.score, 4))
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for RankedItem<&str> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut map = serializer.serialize_map(Some(RankedItem::COLUMNS.len()))?;
        for RankingColumn { name, value } in RankedItem::COLUMNS {
            match value {
                ColumnValue::Text(value) => map.serialize_entry(name, value(self))?,
                ColumnValue::Real(value) => map.serialize_entry(name, &value(self))?,
                ColumnValue::Small(value) => map.serialize_entry(name, &value(self))?,
                ColumnValue::Whole(value) => map.serialize_entry(name, &value(self))?,
                ColumnValue::OptionalReal(value) => map.serialize_entry(name, &value(self))?,
                ColumnValue::OptionalSmall(value) => map.serialize_entry(name, &value(self))?,
                ColumnValue::Truth(value) => map.serialize_entry(name, &value(self))?,
            }
        }
        map.end()
    }
}

/// An item with less than this part of the median number of votes has few.
const FEW_VOTES: u64 = 5;

/// With so many votes, an item that won all of them did not do so by chance.
const ENOUGH_VOTES: u64 = 30;

/// Scores that differ by less than this share of the component's largest score count as equal: the
/// difference is rounding.
const EQUAL_SCORE_TOLERANCE: f64 = 1e-11;

impl Ranking {
    /// Ranks the items of each component of the graph by `scores`. No vote is flagged.
    #[must_use]
    pub fn new(graph: &ComparisonGraph, scores: &[f64]) -> Self {
        Self::within(graph, graph.components(), scores)
    }

    /// As [`Ranking::new`], for other components: those of the votes that count.
    #[must_use]
    pub fn within(graph: &ComparisonGraph, components: &Components, scores: &[f64]) -> Self {
        let mut items = records(graph, components, scores);
        for members in components.iter() {
            let largest = members.iter().map(|&i| scores[i as usize].abs()).fold(0.0, f64::max);
            let mut order = members.to_vec();
            order.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
            let (mut rank, mut last) = (0, f64::INFINITY);
            for (place, &item) in order.iter().enumerate() {
                let score = scores[item as usize];
                if last - score > EQUAL_SCORE_TOLERANCE * largest {
                    (rank, last) = (place as u32 + 1, score);
                }
                items[item as usize].rank = rank.max(1);
            }
        }
        // Stable: items that share a rank stay in the order of their indices.
        items.sort_by_key(|item| (item.rank, item.component));
        let mut ranking = Self { items };
        ranking.mark_provisional();
        ranking
    }

    /// Adds standard errors, intervals, ranges of ranks and tiers.
    #[must_use]
    pub fn with_uncertainty(mut self, uncertainty: &Uncertainty) -> Self {
        for row in &mut self.items {
            let item = row.item as usize;
            row.se = Some(uncertainty.se[item]);
            row.interval = Some(uncertainty.interval(row.item, row.score));
            row.rank_range = uncertainty.rank_ranges.get(item).copied();
            row.tier = uncertainty.tiers.get(item).copied();
        }
        self.mark_provisional();
        self
    }

    /// Marks items about which too little is known: those that never won or never lost, that have less than
    /// a [`FEW_VOTES`]th of the median number of votes, or whose range of ranks spans more than half of
    /// their component.
    fn mark_provisional(&mut self) {
        let median = self.median_votes();
        let mut sizes = vec![0_u32; self.items.len() + 1];
        self.items.iter().for_each(|row| sizes[row.component as usize] += 1);
        for row in &mut self.items {
            let size = sizes[row.component as usize];
            let is_wide = row.rank_range.is_some_and(|(low, high)| 2 * (high - low + 1) > size);
            let is_unbounded = row.se.is_some_and(|se| !se.is_finite());
            row.provisional = row.wins == 0
                || row.losses == 0
                || row.comparisons * FEW_VOTES < median
                || (size > 2 && is_wide)
                || is_unbounded;
        }
    }

    /// The number of votes from which on the place of an item can be certain: fewer may all agree by chance,
    /// so that its standard error says little.
    #[must_use]
    pub fn enough_votes(&self) -> u64 {
        self.median_votes().div_ceil(FEW_VOTES).max(ENOUGH_VOTES)
    }

    /// Whether an item has too few votes for its standard error to mean anything: it won or lost all of them,
    /// or others have far more, and it has fewer than [`Ranking::enough_votes`].
    #[must_use]
    pub fn is_thin(&self, row: &RankedItem) -> bool {
        let is_one_sided = row.wins == 0 || row.losses == 0;
        let votes = row.comparisons;
        votes < self.enough_votes() && (is_one_sided || votes * FEW_VOTES < self.median_votes())
    }

    fn median_votes(&self) -> u64 {
        let mut votes: Vec<u64> = self.items.iter().map(|row| row.comparisons).collect();
        votes.sort_unstable();
        votes.get(votes.len() / 2).copied().unwrap_or(0)
    }

    /// Sets how many votes on each item are flagged, given the flagged votes of each distinct vote.
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

fn records(graph: &ComparisonGraph, components: &Components, scores: &[f64]) -> Vec<RankedItem> {
    // Wins, losses and ties of each item. Counts are whole numbers, so the sums are exact.
    let groups = graph.groups();
    let of_chunk = |Chunk { groups: range, first, flow, .. }: &mut Chunk<()>| {
        let mut start = range.start;
        // Distinct votes are sorted by their left item, so its sums stay in registers.
        for run in groups.left[range.clone()].chunk_by(|a, b| a == b) {
            let mut of_left = [0.0; 3];
            for g in start..start + run.len() {
                let (y, weight) = (groups.y[g], groups.weight[g]);
                // Branch-free: the outcome of a vote is hard to predict.
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
        se: None,
        interval: None,
        rank_range: None,
        tier: None,
        component: components.of[item] + 1,
        comparisons: votes.iter().sum::<f64>() as u64,
        wins: votes[0] as u64,
        losses: votes[1] as u64,
        ties: votes[2] as u64,
        flagged: 0,
        provisional: false,
    };
    votes.chunks(3).enumerate().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, Groups};

    #[test]
    fn zero_has_no_sign() {
        let texts = [-1e-17, -0.00004, -0.00006, 0.5, -1.0].map(|value| with_decimals(value, 4));
        assert_eq!(texts, ["0.0000", "0.0000", "-0.0001", "0.5000", "-1.0000"]);
        assert_eq!((with_decimals(-0.4, 0), with_decimals(-0.6, 0)), ("0".into(), "-1".into()));
    }

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
