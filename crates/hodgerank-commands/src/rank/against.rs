//! What changed since a ranking that was saved earlier (`--against`).

use std::collections::{BTreeMap, HashMap};

use hodgerank::RankedStudy;
use hodgerank::kendall::PairAgreement;
use hodgerank::scale::ScoreScale;
use hodgerank_report::words::thousands;
use serde::Serialize;

use super::saved::{SavedAnchor, SavedItem, SavedRanking, SavedScale, SavedStudy};
use crate::failure::Failure;
use crate::text::visible;

/// The changes of one study since an earlier ranking.
#[derive(Debug, Clone, Serialize)]
pub struct RankingChanges {
    /// The earlier method.
    pub method: String,
    /// The earlier scale.
    pub scale: String,
    /// Items in both rankings.
    pub common: usize,
    /// Kendall's τ over them; pairs that one of the rankings does not compare are left out. `None` if a
    /// ranking orders no pair.
    pub kendall: Option<f64>,
    /// Whether scores of the two rankings compare.
    pub scores_compare: bool,
    /// The items in the order of the new ranking.
    pub items: Vec<ItemChange>,
    /// Items of the earlier ranking only, best first.
    pub gone: Vec<GoneItem>,
}

/// An item of the new ranking; what is missing in the earlier one is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemChange {
    /// The item.
    pub item: String,
    /// Its rank.
    pub rank: u32,
    /// Its earlier rank.
    pub old_rank: Option<u32>,
    /// Ranks gained: the earlier rank less the new one.
    pub rank_change: Option<i64>,
    /// Its score.
    pub score: f64,
    /// Its earlier score.
    pub old_score: Option<f64>,
    /// The new score less the earlier one; `None` if they do not compare.
    pub score_change: Option<f64>,
}

/// An item that is no longer ranked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GoneItem {
    /// The item.
    pub item: String,
    /// Its earlier rank.
    pub old_rank: u32,
    /// Its earlier score.
    pub old_score: f64,
}

/// The changes of all studies, in their order; `None` for studies that the earlier ranking does not have.
#[derive(Debug)]
pub(super) struct StudyChanges {
    pub(super) of_study: Vec<Option<RankingChanges>>,
    /// What a reader must know about all studies together.
    pub(super) warnings: Vec<String>,
}

/// Compares each study with the study of the same name in the earlier ranking.
///
/// # Errors
/// If one of the rankings has studies and the other does not, or no name is in both.
pub(super) fn changes(
    studies: &[RankedStudy],
    saved: &SavedRanking,
) -> Result<StudyChanges, Failure> {
    let new = studies.iter().any(|study| study.by.is_some());
    let old = saved.studies.iter().any(|study| study.by.is_some());
    let name = &saved.name;
    match (new, old) {
        (true, false) => {
            return Err(Failure::usage(
                format!("{name} has one ranking, and --by asks for several"),
                "leave --by out, or save the earlier ranking with the same --by",
            ));
        }
        (false, true) => {
            return Err(Failure::usage(
                format!("{name} has one ranking for each value of a column (--by)"),
                "add --by with the same column, or save the earlier ranking without --by",
            ));
        }
        _ => {}
    }
    let mut earlier: BTreeMap<Option<&str>, &SavedStudy> =
        saved.studies.iter().map(|study| (study.by.as_deref(), study)).collect();
    let of_study: Vec<_> = studies
        .iter()
        .map(|study| Some(RankingChanges::new(study, earlier.remove(&study.by.as_deref())?)))
        .collect();
    if of_study.iter().all(Option::is_none) {
        return Err(Failure::usage(
            format!("{name} has none of these studies"),
            "check that --by names the same column as for the earlier ranking",
        ));
    }
    let mut warnings = Vec::new();
    let mut tell = |names: Vec<String>, what: &str| {
        if !names.is_empty() {
            warnings.push(format!("{} {what}: {}", thousands(names.len() as u64), listed(&names)));
        }
    };
    let unmatched = studies.iter().zip(&of_study).filter(|(_, changes)| changes.is_none());
    let unmatched = unmatched.filter_map(|(study, _)| study.by.as_deref()).map(visible).collect();
    tell(unmatched, "studies are not in the earlier ranking");
    let gone = earlier.keys().flatten().map(|by| visible(by)).collect();
    tell(gone, "studies of the earlier ranking have no votes now");
    Ok(StudyChanges { of_study, warnings })
}

/// The first names of a list.
fn listed(names: &[String]) -> String {
    const MAX_NAMES: usize = 5;
    let more = if names.len() > MAX_NAMES { ", …" } else { "" };
    names[..names.len().min(MAX_NAMES)].join(", ") + more
}

impl RankingChanges {
    fn new(study: &RankedStudy, old: &SavedStudy) -> Self {
        let scores_compare =
            old.method.name == study.fit.method.as_str() && old.scale == scale(study);
        let mut earlier: HashMap<&str, &SavedItem> =
            old.ranking.iter().map(|row| (row.item.as_str(), row)).collect();
        let mut items = Vec::with_capacity(study.input.items);
        // Ranks of the items of each pair of an earlier and a new component.
        let mut parts: BTreeMap<(u32, u32), (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        for row in study.rows() {
            let before = earlier.remove(row.item);
            if let Some(before) = before {
                let part = parts.entry((before.component, row.component)).or_default();
                part.0.push(f64::from(before.rank));
                part.1.push(f64::from(row.rank));
            }
            // Minus zero would be printed with its sign.
            let score = row.score + 0.0;
            items.push(ItemChange {
                item: row.item.to_owned(),
                rank: row.rank,
                old_rank: before.map(|before| before.rank),
                rank_change: before.map(|before| i64::from(before.rank) - i64::from(row.rank)),
                score,
                old_score: before.map(|before| before.score),
                score_change: before.filter(|_| scores_compare).map(|before| score - before.score),
            });
        }
        let common = parts.values().map(|(ranks, _)| ranks.len()).sum();
        let mut agreement = PairAgreement::default();
        for (before, now) in parts.values() {
            agreement += PairAgreement::new(before, now);
        }
        let gone = old.ranking.iter().filter(|row| earlier.contains_key(row.item.as_str()));
        let gone = gone.map(|row| GoneItem {
            item: row.item.clone(),
            old_rank: row.rank,
            old_score: row.score,
        });
        Self {
            method: old.method.name.clone(),
            scale: old.scale.name.clone(),
            common,
            kendall: Some(agreement.tau()).filter(|tau| !tau.is_nan()),
            scores_compare,
            items,
            gone: gone.collect(),
        }
    }

    /// Items that the earlier ranking does not have.
    #[must_use]
    pub fn new_items(&self) -> Vec<&ItemChange> {
        self.items.iter().filter(|item| item.old_rank.is_none()).collect()
    }

    /// Items whose rank changed, the largest changes first.
    #[must_use]
    pub fn movers(&self) -> Vec<&ItemChange> {
        let size = |item: &ItemChange| item.rank_change.map_or(0, i64::unsigned_abs);
        let mut moved: Vec<_> = self.items.iter().filter(|item| size(item) > 0).collect();
        moved.sort_by_key(|item| std::cmp::Reverse(size(item)));
        moved
    }

    /// What a reader of the changes must know.
    pub(super) fn warning(&self, study: &RankedStudy) -> Option<String> {
        if self.common == 0 {
            return Some("no item is in both rankings".to_owned());
        }
        let now = study.fit.method.as_str();
        let reason = if self.method != now {
            format!("the earlier method is {}, and this one is {now}", self.method)
        } else if !self.scores_compare {
            "the scales or anchors differ".to_owned()
        } else {
            return None;
        };
        Some(format!("scores do not compare with those of the earlier ranking, ranks do: {reason}"))
    }
}

/// The scale of a study in the form in which it is saved.
fn scale(study: &RankedStudy) -> SavedScale {
    study.elo.as_ref().map_or_else(SavedScale::default, |elo| SavedScale {
        name: ScoreScale::Elo.as_str().to_owned(),
        anchor: elo
            .anchor
            .as_ref()
            .map(|anchor| SavedAnchor { item: anchor.item.clone(), value: anchor.value }),
    })
}
