//! The search for the smallest set of votes or annotators whose removal changes the result.
//!
//! Every candidate is tried: the votes that remain are ranked with the same method and options. The number
//! of fits is limited by the size of the study and not by time, so that the same votes give the same sets.

mod large;
mod small;

use rayon::prelude::*;

use super::influence::Influence;
use super::target::Target;
use super::vote_table::{Removal, VoteTable};
use super::{FoundSet, RemovedAnnotator, RemovedVote, SearchResult};
use crate::error::Result;
use crate::fit::Fit;
use crate::options::FitOptions;

/// Maximum number of fits of one search.
pub const MAX_FITS: usize = 3000;
/// Minimum number, however large the study.
const MIN_FITS: usize = 60;
/// Rows times fits, up to which there are more fits than the minimum.
const MAX_ROWS_FITTED: usize = 250_000;
/// Pairs of items for which a search is made, if they are many.
const MAX_PAIRS: usize = 6;
/// Items above and below the line from which these pairs are taken.
const MAX_UPPER: usize = 6;
const MAX_LOWER: usize = 40;
/// Sets with more different members are not shortened one by one.
const MAX_SHORTENED: usize = 64;
/// Influences are compared in this many steps, so that rounding does not decide between equal ones.
const STEPS: f64 = 1e9;

/// What is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Members {
    /// Single votes: a member is a row of the table, and can be taken as often as it has votes.
    Votes,
    /// All votes of a person.
    Annotators,
}

/// Members and how many times each is taken, by member.
type Set = Vec<(u32, u64)>;

fn size(set: &Set) -> u64 {
    set.iter().map(|(_, taken)| taken).sum()
}

/// The set with one member more.
fn with(set: &Set, member: u32) -> Set {
    let mut larger = set.clone();
    match larger.binary_search_by_key(&member, |(known, _)| *known) {
        Ok(place) => larger[place].1 += 1,
        Err(place) => larger.insert(place, (member, 1)),
    }
    larger
}

/// The set with one member less.
fn without(set: &Set, place: usize) -> Set {
    let mut smaller = set.clone();
    smaller[place].1 -= 1;
    smaller.retain(|(_, taken)| *taken > 0);
    smaller
}

/// A set, and the ranking without it.
#[derive(Debug)]
struct Trial {
    set: Set,
    fit: Fit,
    inversion: Option<(u32, u32)>,
}

impl Trial {
    fn gap(&self, (i, j): (u32, u32)) -> f64 {
        match self.fit.components.of[i as usize] == self.fit.components.of[j as usize] {
            true => self.fit.scores[i as usize] - self.fit.scores[j as usize],
            // Items that do not compare can never change their order.
            false => f64::INFINITY,
        }
    }
}

/// One search.
pub(super) struct Search<'a> {
    table: &'a VoteTable<'a>,
    options: &'a FitOptions,
    target: &'a Target,
    base: &'a Fit,
    members: Members,
    /// How often each member can be taken.
    counts: Vec<u64>,
    fits: usize,
    max_fits: usize,
    max_removed: u64,
    /// All sets of up to this size were tried.
    exhausted: u64,
    best: Option<Trial>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        table: &'a VoteTable<'a>,
        options: &'a FitOptions,
        target: &'a Target,
        base: &'a Fit,
        members: Members,
    ) -> Self {
        let counts: Vec<u64> = match members {
            Members::Votes => table.rows.iter().map(|row| row.count).collect(),
            Members::Annotators => vec![1; table.annotators()],
        };
        let max_fits = (MAX_ROWS_FITTED / table.rows.len().max(1)).clamp(MIN_FITS, MAX_FITS);
        let max_removed = counts.iter().sum::<u64>() / 2;
        let (fits, exhausted, best) = (0, 0, None);
        Self {
            table,
            options,
            target,
            base,
            members,
            counts,
            fits,
            max_fits,
            max_removed,
            exhausted,
            best,
        }
    }

    /// Runs the steps of [`super`].
    ///
    /// # Errors
    /// If a linear system cannot be solved.
    pub(super) fn run(mut self) -> Result<SearchResult> {
        if self.max_removed > 0 {
            self.try_all_small_sets();
            if self.best.is_none() {
                self.search_pairs()?;
                self.shorten();
            }
        }
        let found = self.best.as_ref().map(|best| self.describe(best));
        Ok(SearchResult {
            found,
            members: self.counts.iter().sum(),
            max_removed: self.max_removed,
            exhausted: self.exhausted,
            fits: self.fits,
        })
    }

    /// Steps 2 and 3, for the pairs of items that seem closest.
    fn search_pairs(&mut self) -> Result<()> {
        let all = Trial { set: Set::new(), fit: self.base.clone(), inversion: None };
        let at_base = self.influence(&all)?;
        let Target { upper, lower } = self.target;
        let first_upper = upper.len().saturating_sub(MAX_UPPER);
        let mut predicted = Vec::new();
        for &i in upper[first_upper..].iter().rev() {
            for &j in lower.iter().take(MAX_LOWER) {
                let order = self.order(&at_base, &all, (i, j))?;
                let needed = predicted_size(&order, all.gap((i, j)));
                predicted.push((needed.unwrap_or(u64::MAX), (i, j), order));
            }
        }
        // Stable: of pairs that need as many, the one nearest to the line is first.
        predicted.sort_by_key(|(needed, ..)| *needed);
        predicted.truncate(MAX_PAIRS);
        for (k, (needed, pair, order)) in predicted.iter().enumerate() {
            self.try_prefixes(*needed, order);
            if self.can_try_beam() {
                self.try_beam(*pair)?;
            } else if k == 0 {
                self.try_stages(*pair)?;
            }
        }
        Ok(())
    }

    /// The largest set that would be an improvement.
    fn useful_size(&self) -> u64 {
        self.best.as_ref().map_or(self.max_removed, |best| size(&best.set) - 1)
    }

    /// The votes of a set.
    fn removal(&self, set: &Set) -> Removal {
        match self.members {
            Members::Votes => set.clone(),
            Members::Annotators => {
                let of = |(a, _): &(u32, u64)| self.table.of_annotator[*a as usize].iter().copied();
                set.iter().flat_map(of).collect()
            }
        }
    }

    /// Ranks without each set, as long as fits are left, and keeps the smallest that changes the result.
    /// A set without which nothing can be ranked is no trial.
    fn try_sets(&mut self, mut sets: Vec<Set>) -> Vec<Trial> {
        sets.truncate(self.max_fits - self.fits);
        self.fits += sets.len();
        let try_set = |set: Set| {
            let fit = self.table.without(&self.removal(&set)).ok()?.fit(self.options).ok()?;
            let inversion = self.target.inversion(&fit.scores, &fit.components);
            Some(Trial { set, fit, inversion })
        };
        let trials: Vec<Option<Trial>> = sets.into_par_iter().map(try_set).collect();
        let mut others = Vec::with_capacity(trials.len());
        for trial in trials.into_iter().flatten() {
            if trial.inversion.is_some() && size(&trial.set) <= self.useful_size() {
                self.best = Some(trial);
            } else {
                others.push(trial);
            }
        }
        others
    }

    /// Whether the result changes without this set.
    fn is_changed(&mut self, set: Set) -> bool {
        let known = self.best.as_ref().map(|best| best.set.clone());
        self.try_sets(vec![set]);
        self.best.as_ref().map(|best| &best.set) != known.as_ref()
    }

    fn has_fits(&self) -> bool {
        self.fits < self.max_fits
    }

    fn influence(&self, at: &Trial) -> Result<Influence> {
        let remaining = self.table.without(&self.removal(&at.set))?;
        Influence::new(self.table, &remaining, &at.fit)
    }

    /// The members that bring the items of a pair closer together, the most influential first, each with
    /// its influence and how often it can be taken.
    fn order(
        &self,
        influence: &Influence,
        at: &Trial,
        pair: (u32, u32),
    ) -> Result<Vec<(u32, f64, u64)>> {
        let of_row = influence.on_pair(pair, self.base.scores.len())?;
        let mut left = self.counts.clone();
        at.set.iter().for_each(|&(member, taken)| left[member as usize] -= taken);
        let of_member = |member: usize| match self.members {
            Members::Votes => of_row[member],
            Members::Annotators => {
                let rows = self.table.of_annotator[member].iter();
                rows.map(|&(row, count)| count as f64 * of_row[row as usize]).sum()
            }
        };
        let members = (0..left.len()).filter(|&member| left[member] > 0);
        let mut order: Vec<(u32, f64, u64)> =
            members.map(|member| (member as u32, of_member(member), left[member])).collect();
        let largest = order.iter().map(|(_, own, _)| own.abs()).fold(f64::MIN_POSITIVE, f64::max);
        let step = |own: f64| (STEPS * own / largest).round() as i64;
        order.retain(|(_, own, _)| step(*own) > 0);
        order.sort_by_key(|(member, own, _)| (-step(*own), *member));
        Ok(order)
    }

    /// Step 4.
    fn shorten(&mut self) {
        let Some(best) = &self.best else { return };
        let mut set = best.set.clone();
        if set.len() > MAX_SHORTENED {
            return;
        }
        let mut place = 0;
        while place < set.len() && size(&set) > self.exhausted + 1 && self.has_fits() {
            let smaller = without(&set, place);
            if self.is_changed(smaller.clone()) {
                set = smaller;
                place = 0;
            } else {
                place += 1;
            }
        }
    }

    fn describe(&self, best: &Trial) -> FoundSet {
        let Trial { set, fit, inversion } = best;
        let (above, below) = inversion.unwrap_or_default();
        let vote = |&(row, removed): &(u32, u64)| {
            let vote = &self.table.rows[row as usize];
            let (left, right, y) = (vote.left, vote.right, vote.y);
            RemovedVote { annotator: vote.annotator, left, right, y, removed, of: vote.count }
        };
        let annotator = |&(annotator, _): &(u32, u64)| {
            let votes = self.table.of_annotator[annotator as usize].iter();
            RemovedAnnotator { annotator, votes: votes.map(|(_, count)| count).sum() }
        };
        let (votes, annotators) = match self.members {
            Members::Votes => (set.iter().map(vote).collect(), Vec::new()),
            Members::Annotators => (Vec::new(), set.iter().map(annotator).collect()),
        };
        FoundSet {
            removed: size(set),
            removed_votes: self.removal(set).iter().map(|(_, count)| count).sum(),
            is_smallest: size(set) <= self.exhausted + 1,
            votes,
            annotators,
            above,
            below,
            upper: self.target.upper_after(&fit.scores, &fit.components),
        }
    }
}

/// The number of members whose influences add up to the gap; none if all together do not.
fn predicted_size(order: &[(u32, f64, u64)], gap: f64) -> Option<u64> {
    let (mut needed, mut rest) = (0, gap);
    for &(_, influence, available) in order {
        let taken = (rest / influence).ceil().max(1.0);
        if taken <= available as f64 {
            return Some(needed + taken as u64);
        }
        needed += available;
        rest -= influence * available as f64;
    }
    None
}

/// The first members of a list.
fn prefix(order: &[(u32, f64, u64)], length: u64) -> Set {
    let mut rest = length;
    let mut set: Set = Vec::new();
    for &(member, _, available) in order {
        let taken = available.min(rest);
        if taken == 0 {
            break;
        }
        set.push((member, taken));
        rest -= taken;
    }
    set.sort_unstable();
    set
}
