//! Which places of a ranking are settled, from the ranges of ranks and the tiers of its items.

use std::fmt;

use crate::ranking::Ranking;

/// What the votes settle about the items of one component.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Settled {
    /// How many places are settled, from the first on: nobody else can have them.
    pub places: usize,
    /// The ranks of each tier, best first.
    pub tiers: Vec<TierRanks>,
}

/// The ranks of the items of a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TierRanks {
    /// The rank of its best item.
    pub first: u32,
    /// The rank of its worst item.
    pub last: u32,
}

impl Settled {
    /// Summarises a component: `rank_ranges` has the best and the worst rank of each item, `tiers` its tier,
    /// counted from 1, with the items in the same order, which may be any.
    ///
    /// # Panics
    /// If the two do not have the same length.
    #[must_use]
    pub fn new(rank_ranges: &[(u32, u32)], tiers: &[u32]) -> Self {
        assert_eq!(rank_ranges.len(), tiers.len(), "one tier per item");
        // Only one item can have a certain rank: it is told apart from all others.
        let mut is_certain = vec![false; rank_ranges.len()];
        for &(best, worst) in rank_ranges {
            if let Some(place) = is_certain.get_mut((best as usize).wrapping_sub(1)) {
                *place |= best == worst;
            }
        }
        let places = is_certain.iter().take_while(|&&is_certain| is_certain).count();
        let mut order = tiers.to_vec();
        order.sort_unstable();
        let mut first = 1;
        let of_tier = |items: &[u32]| {
            let last = first + items.len() as u32 - 1;
            let tier = TierRanks { first, last };
            first = last + 1;
            tier
        };
        Self { places, tiers: order.chunk_by(|a, b| a == b).map(of_tier).collect() }
    }

    /// Summarises a component of a ranking, counted from 1; none if the ranking has no ranges of ranks.
    ///
    /// An item with too few votes ([`Ranking::is_thin`]) settles nothing, whatever its range: if it won all of
    /// eight votes, they contradict nothing, and its standard error is far too small.
    #[must_use]
    pub fn of_ranking(ranking: &Ranking, component: u32) -> Option<Self> {
        let rows = ranking.items.iter().filter(|row| row.component == component);
        let ranges = rows.clone().map(|row| row.rank_range).collect::<Option<Vec<_>>>()?;
        let tiers = rows.clone().map(|row| row.tier).collect::<Option<Vec<_>>>()?;
        let settled = Self::new(&ranges, &tiers);
        // Rows are sorted by rank.
        let places = rows.take(settled.places).take_while(|row| !ranking.is_thin(row)).count();
        Some(Self { places, ..settled })
    }

    /// The number of items.
    #[must_use]
    pub fn items(&self) -> usize {
        self.tiers.last().map_or(0, |tier| tier.last as usize)
    }

    /// Whether every place is settled.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.places == self.items()
    }

    /// The tier that begins after the settled places; none if all are settled.
    #[must_use]
    pub fn next_tier(&self) -> Option<TierRanks> {
        let is_next = |tier: &&TierRanks| tier.last as usize > self.places;
        self.tiers.iter().find(is_next).copied()
    }

    /// What is settled, as a sentence: "The top 3 are settled; ranks 4 to 9 form one tier."
    #[must_use]
    pub fn sentence(&self) -> String {
        let Some(next) = self.next_tier() else {
            return match self.items() {
                0 | 1 => "There is nothing to rank: one item has no rival.".to_owned(),
                2 => "Both ranks are settled.".to_owned(),
                items => format!("All {items} ranks are settled."),
            };
        };
        let tier = match next.last > next.first {
            true => format!("{next} form one tier"),
            false => format!("{next} is not certain yet"),
        };
        match self.places {
            0 => format!("First place is not settled: {tier}."),
            1 => format!("First place is settled; {tier}."),
            places => format!("The top {places} are settled; {tier}."),
        }
    }
}

/// "rank 4", "ranks 4 and 5" or "ranks 4 to 9".
impl fmt::Display for TierRanks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last - self.first {
            0 => write!(f, "rank {}", self.first),
            1 => write!(f, "ranks {} and {}", self.first, self.last),
            _ => write!(f, "ranks {} to {}", self.first, self.last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_places_are_settled_up_to_the_first_uncertain_one() {
        // Ranks 5, 1, 3, 2, 4: the last one is certain, and does not count after two that are not.
        let ranges = [(5, 5), (1, 1), (3, 4), (2, 2), (3, 4)];
        let settled = Settled::new(&ranges, &[4, 1, 3, 2, 3]);
        assert_eq!(settled.places, 2);
        let spans: Vec<_> = settled.tiers.iter().map(|tier| (tier.first, tier.last)).collect();
        assert_eq!(spans, [(1, 1), (2, 2), (3, 4), (5, 5)]);
        assert_eq!(settled.sentence(), "The top 2 are settled; ranks 3 and 4 form one tier.");
    }

    #[test]
    fn sentences() {
        let sentence =
            |ranges: &[(u32, u32)], tiers: &[u32]| Settled::new(ranges, tiers).sentence();
        let all: Vec<(u32, u32)> = (1..=12).map(|rank| (rank, rank)).collect();
        let tiers: Vec<u32> = (1..=12).collect();
        assert_eq!(sentence(&all, &tiers), "All 12 ranks are settled.");
        assert_eq!(sentence(&all[..2], &tiers[..2]), "Both ranks are settled.");
        assert_eq!(
            sentence(&[(1, 5); 5], &[1; 5]),
            "First place is not settled: ranks 1 to 5 form one tier."
        );
        assert_eq!(
            sentence(&[(1, 1), (2, 3), (2, 3)], &[1, 2, 2]),
            "First place is settled; ranks 2 and 3 form one tier."
        );
        // The best item is surely better than the second, and perhaps not than the third.
        assert_eq!(
            sentence(&[(1, 2), (2, 3), (1, 3)], &[1, 2, 2]),
            "First place is not settled: rank 1 is not certain yet."
        );
        let alone = Settled::new(&[(1, 1)], &[1]);
        assert!(alone.is_complete() && alone.next_tier().is_none());
        assert_eq!(alone.sentence(), Settled::new(&[], &[]).sentence());
    }

    #[test]
    #[should_panic(expected = "one tier per item")]
    fn lengths_must_agree() {
        let _ = Settled::new(&[(1, 1)], &[]);
    }
}
