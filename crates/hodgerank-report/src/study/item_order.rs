//! The order of the items, and their indices in the page's tables.

use hodgerank::{Labels, Ranking};
use rustc_hash::FxHashMap;

use crate::chart::short_label;
use crate::findings::{ReportInput, StudyFindings};

/// Maximum number of characters of an item's name in a chart.
pub(super) const MAX_LABEL: usize = 22;

/// The items in the order of the ranking.
pub(super) struct ItemOrder {
    /// All items, best first.
    pub(super) ranking: Ranking,
    /// Rank of each item when every vote counts.
    pub(super) plain_rank: Vec<u32>,
    /// Score of each item when every vote counts.
    pub(super) plain_score: Vec<f64>,
    /// Position of each item in the ranking, from 0.
    pub(super) position: Vec<u32>,
    /// Number of rows of the ranking that the page lists.
    pub(super) listed: usize,
    /// Items that tables refer to: those of the listed rows first, then others as they occur.
    named: Vec<u32>,
    /// The index of each of them in `named`.
    index: FxHashMap<u32, u32>,
}

impl ItemOrder {
    pub(super) fn new(findings: &StudyFindings<'_>, max_listed: usize) -> Self {
        let ranked = findings.ranked;
        let graph = ranked.graph;
        let ranking = Ranking::within(graph, &ranked.fit.components, &ranked.fit.scores);
        let ranking = ranking.with_flagged(graph, &ranked.fit.flagged);
        let ranking = match &ranked.study.uncertainty {
            Some(uncertainty) => ranking.with_uncertainty(uncertainty),
            None => ranking,
        };
        let plain = &findings.all_votes.scores;
        let unit = findings.unit_of_outcomes();
        let plain_score = plain.iter().map(|score| unit * score).collect();
        let mut plain_rank = vec![0; graph.items()];
        for row in Ranking::new(graph, plain).items {
            plain_rank[row.item as usize] = row.rank;
        }
        let mut position = vec![0; graph.items()];
        for (k, row) in ranking.items.iter().enumerate() {
            position[row.item as usize] = k as u32;
        }
        let listed = ranking.items.len().min(max_listed);
        let named: Vec<u32> = ranking.items[..listed].iter().map(|row| row.item).collect();
        let index = named.iter().enumerate().map(|(k, &item)| (item, k as u32)).collect();
        Self { ranking, plain_rank, plain_score, position, listed, named, index }
    }

    /// Returns the index of an item in the page's list of names, and adds it if it is missing.
    pub(super) fn index(&mut self, item: u32) -> u32 {
        *self.index.entry(item).or_insert_with(|| {
            self.named.push(item);
            self.named.len() as u32 - 1
        })
    }

    /// Returns the names of all items that tables refer to, in the order of their indices.
    pub(super) fn into_names(self, items: &Labels) -> Vec<String> {
        self.named.into_iter().map(|item| items.name(item).to_owned()).collect()
    }

    /// Rows for a chart with at most `max_rows` rows: all, or the best and the worst.
    pub(super) fn best_and_worst(&self, max_rows: usize) -> Vec<usize> {
        best_and_worst(self.ranking.items.len(), max_rows)
    }
}

/// Indices below `all`: all of them, or `max_rows` from both ends.
pub(super) fn best_and_worst(all: usize, max_rows: usize) -> Vec<usize> {
    if all <= max_rows {
        return (0..all).collect();
    }
    (0..max_rows.div_ceil(2)).chain(all - max_rows / 2..all).collect()
}

/// Returns an item's name, shortened for charts.
pub(super) fn label(ranked: ReportInput<'_>, item: u32) -> String {
    short_label(ranked.items.name(item), MAX_LABEL)
}

/// Returns the note of a chart that shows only the best and the worst items.
pub(super) fn rows_note(shown: usize, all: usize) -> Option<String> {
    (shown < all).then(|| {
        format!(
            "The best {} and the worst {} of {} items are shown.",
            shown.div_ceil(2),
            shown / 2,
            crate::words::thousands(all as u64)
        )
    })
}
