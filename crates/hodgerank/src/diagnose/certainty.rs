//! How certain a ranking is: which places are settled, and what would settle the next one.

use super::votes_needed::{PairTests, VotesNeeded};
use crate::error::Result;
use crate::ranked_study::RankedStudy;
use crate::ranking::RankedItem;
use crate::settled::Settled;
use crate::uncertainty::{self, MAX_ITEMS, MAX_ITEMS_BY_DEFAULT};

/// How certain the first place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum FirstPlace {
    /// No other item can have it.
    Settled,
    /// Other items may have it.
    Open,
    /// Too little is known about the item that has it.
    Provisional,
    /// The ranking has no intervals.
    #[default]
    Unknown,
}

/// How certain the ranking of the largest component is.
#[derive(Debug, Clone, PartialEq)]
pub struct Certainty {
    /// How certain the first place is.
    pub first_place: FirstPlace,
    /// The item that is ranked first, if it is provisional.
    pub provisional: Option<ProvisionalItem>,
    /// Which places are settled, or why that is not known.
    pub places: std::result::Result<SettledPlaces, NoIntervals>,
}

/// An item about which too little is known to place it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProvisionalItem {
    /// The item.
    pub item: u32,
    /// Number of votes on it.
    pub votes: u64,
    /// Whether it won votes and lost none.
    pub is_undefeated: bool,
    /// Whether it has too few votes ([`crate::Ranking::is_thin`]).
    pub is_thin: bool,
    /// The best and the worst rank, if they are known.
    pub rank_range: Option<(u32, u32)>,
}

/// Which places are settled. Items are indices, or names after [`SettledPlaces::map`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SettledPlaces<I = u32> {
    /// Settled places and tiers.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub settled: Settled,
    /// What would settle the next place; none if all are settled.
    pub next: Option<NextPlace<I>>,
}

/// The first place that is not settled.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NextPlace<I = u32> {
    /// The number of places that would be settled with it.
    pub places: usize,
    /// The item that has it now.
    pub item: I,
    /// The item that is hardest to tell from it.
    pub rival: I,
    /// The votes that it takes.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub votes: VotesNeeded,
}

/// Why a ranking has no intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoIntervals {
    /// The method has none.
    Method,
    /// There are too many items to estimate them without being asked.
    NotByDefault,
    /// There are too many items.
    TooManyItems,
    /// They were not asked for, or the votes that count do not determine all scores.
    NotEstimated,
}

impl Certainty {
    /// Examines a ranking; none if it is empty.
    ///
    /// # Errors
    /// If a linear system cannot be solved.
    pub fn new(study: &RankedStudy) -> Result<Option<Self>> {
        let rows: Vec<&RankedItem> =
            study.ranking.items.iter().filter(|row| row.component == 1).collect();
        let Some(first) = rows.first() else { return Ok(None) };
        let provisional = ProvisionalItem {
            item: first.item,
            votes: first.comparisons,
            is_undefeated: first.wins > 0 && first.losses == 0,
            is_thin: study.ranking.is_thin(first),
            rank_range: first.rank_range,
        };
        let places = match Settled::of_ranking(&study.ranking, 1) {
            Some(settled) => Ok(SettledPlaces::new(study, &rows, settled)?),
            None => Err(NoIntervals::of(study)),
        };
        let first_place = match &places {
            Ok(places) if places.settled.places > 0 => FirstPlace::Settled,
            _ if first.provisional => FirstPlace::Provisional,
            Ok(_) => FirstPlace::Open,
            Err(_) => FirstPlace::Unknown,
        };
        let is_provisional = first_place == FirstPlace::Provisional;
        Ok(Some(Self { first_place, provisional: is_provisional.then_some(provisional), places }))
    }
}

impl SettledPlaces {
    fn new(study: &RankedStudy, rows: &[&RankedItem], settled: Settled) -> Result<Self> {
        let Some(uncertainty) = &study.uncertainty else { return Ok(Self { settled, next: None }) };
        let Some((row, below)) = rows[settled.places.min(rows.len())..].split_first() else {
            return Ok(Self { settled, next: None });
        };
        let tests = PairTests { study, uncertainty, rows };
        let hardest = tests.hardest(row, below);
        let next = hardest.map(|(rival, t)| {
            let votes = tests.votes_needed(row, below, t)?;
            Ok(NextPlace { places: settled.places + 1, item: row.item, rival, votes })
        });
        Ok(Self { next: next.transpose()?, settled })
    }

    /// Replaces the items, for example by their names.
    #[must_use]
    pub fn map<J>(self, name: impl Fn(u32) -> J) -> SettledPlaces<J> {
        let next = self.next.map(|NextPlace { places, item, rival, votes }| NextPlace {
            places,
            item: name(item),
            rival: name(rival),
            votes,
        });
        SettledPlaces { settled: self.settled, next }
    }
}

impl NoIntervals {
    fn of(study: &RankedStudy) -> Self {
        let items = study.graph.items();
        match uncertainty::supports(study.fit.method) {
            false => Self::Method,
            true if items > MAX_ITEMS => Self::TooManyItems,
            true if items > MAX_ITEMS_BY_DEFAULT => Self::NotByDefault,
            true => Self::NotEstimated,
        }
    }
}
