//! Where each item stands, and the numbers that the page's tables know items by.

use hodgerank::{Labels, Ranking};
use rustc_hash::FxHashMap;

use crate::chart::short;
use crate::findings::Findings;

/// Characters of a label in a chart.
pub(super) const CHART_LABEL: usize = 22;

/// Items in the order of the ranking.
pub(super) struct Order {
    /// All items, best first.
    pub(super) ranking: Ranking,
    /// Rank of each item when every vote counts.
    pub(super) plain_rank: Vec<u32>,
    /// Score of each item when every vote counts.
    pub(super) plain_score: Vec<f64>,
    /// Place of each item in the ranking, from 0.
    pub(super) place: Vec<u32>,
    /// Rows of the ranking that the page lists.
    pub(super) listed: usize,
    /// Items that the page names, those of the listed rows first, and their numbers on the page.
    named: Vec<u32>,
    number: FxHashMap<u32, u32>,
}

impl Order {
    pub(super) fn of(findings: &Findings<'_>, most: usize) -> Self {
        let ranked = findings.ranked;
        let graph = &ranked.graph;
        let ranking = Ranking::new(graph, &ranked.fit.scores);
        let ranking = ranking.with_flagged(graph, &ranked.fit.flagged);
        let plain_score = findings.all_votes.scores.clone();
        let mut plain_rank = vec![0; graph.items()];
        for row in Ranking::new(graph, &plain_score).items {
            plain_rank[row.item as usize] = row.rank;
        }
        let mut place = vec![0; graph.items()];
        for (k, row) in ranking.items.iter().enumerate() {
            place[row.item as usize] = k as u32;
        }
        let listed = ranking.items.len().min(most);
        let named: Vec<u32> = ranking.items[..listed].iter().map(|row| row.item).collect();
        let number = named.iter().enumerate().map(|(k, &item)| (item, k as u32)).collect();
        Self { ranking, plain_rank, plain_score, place, listed, named, number }
    }

    /// The number by which the page's tables know an item.
    pub(super) fn number(&mut self, item: u32) -> u32 {
        *self.number.entry(item).or_insert_with(|| {
            self.named.push(item);
            self.named.len() as u32 - 1
        })
    }

    /// Names of all items that the page speaks of, by their numbers.
    pub(super) fn into_names(self, items: &Labels) -> Vec<String> {
        self.named.into_iter().map(|item| items.name(item).to_owned()).collect()
    }

    /// Rows for a chart that holds at most so many: all, or the best and the worst.
    pub(super) fn ends(&self, most: usize) -> Vec<usize> {
        ends(self.ranking.items.len(), most)
    }
}

/// Places from 0 to `all`: all of them, or the first and the last `most`.
pub(super) fn ends(all: usize, most: usize) -> Vec<usize> {
    if all <= most {
        return (0..all).collect();
    }
    (0..most.div_ceil(2)).chain(all - most / 2..all).collect()
}

/// An item's name as charts show it.
pub(super) fn label(findings: &Findings<'_>, item: u32) -> String {
    short(findings.ranked.items.name(item), CHART_LABEL)
}

/// Whose names these are, for an axis.
pub(super) fn rows_note(shown: usize, all: usize) -> Option<String> {
    (shown < all).then(|| {
        format!(
            "The best {} and the worst {} of {} items are drawn.",
            shown.div_ceil(2),
            shown / 2,
            crate::words::thousands(all as u64)
        )
    })
}
