//! Searches that need many fits, for small studies.

use std::collections::BTreeSet;

use super::{STEPS, Search, Set, Trial, size, with};
use crate::error::Result;

/// Size up to which all sets are tried, if they are few.
const MAX_EXHAUSTED: u64 = 3;
/// Share of the fits that may be spent on all sets of one size.
const EXHAUSTIVE_SHARE: usize = 2;
/// Sets that are kept of each size, and how many members are tried to extend each.
const WIDTH: usize = 6;
const EXTENSIONS: usize = 12;
/// Size up to which a beam search looks for sets.
const MAX_BEAM_SIZE: u64 = 16;
/// Sizes for which fits must suffice for a beam search to start.
const MIN_SIZES: usize = 4;

impl Search<'_> {
    /// Step 1: all sets of one member, then of two, and of three, unless they are too many.
    pub(super) fn try_all_small_sets(&mut self) {
        let mut sets: Vec<Set> = vec![Set::new()];
        for larger in 1..=MAX_EXHAUSTED.min(self.max_removed) {
            let members = self.counts.len();
            let allowed = (self.max_fits - self.fits) / EXHAUSTIVE_SHARE;
            if sets.len().saturating_mul(members) > allowed.saturating_mul(larger as usize) {
                return;
            }
            // Each set once: members are added in order.
            let extend = |set: &Set| {
                let first = set.last().map_or(0, |(member, _)| *member as usize);
                let can_take = |member: &usize| {
                    let taken = set.last().filter(|(last, _)| *last as usize == *member);
                    taken.map_or(0, |(_, taken)| *taken) < self.counts[*member]
                };
                let members = (first..members).filter(can_take);
                members.map(|member| with(set, member as u32)).collect::<Vec<_>>()
            };
            sets = sets.iter().flat_map(extend).collect();
            self.try_sets(sets.clone());
            self.exhausted = larger;
            if self.best.is_some() {
                return;
            }
        }
    }

    /// Whether only small sets would be an improvement, and fits enough are left to find them.
    pub(super) fn can_try_beam(&self) -> bool {
        let has_fits = self.max_fits - self.fits >= MIN_SIZES * WIDTH * EXTENSIONS;
        has_fits && self.useful_size() <= MAX_BEAM_SIZE
    }

    /// Step 3 for small studies: from each size to the next, the sets with the smallest gaps are extended
    /// by the members with the largest influences.
    pub(super) fn try_beam(&mut self, pair: (u32, u32)) -> Result<()> {
        let mut beam = vec![Trial { set: Set::new(), fit: self.base.clone(), inversion: None }];
        while self.has_fits() {
            let next = size(&beam[0].set) + 1;
            if next > self.useful_size() {
                break;
            }
            let mut sets = BTreeSet::new();
            for trial in &beam {
                let influence = self.influence(trial)?;
                let order = self.order(&influence, trial, pair)?;
                let best = order.iter().take(EXTENSIONS);
                sets.extend(best.map(|(member, ..)| with(&trial.set, *member)));
            }
            let known = self.useful_size();
            beam = self.try_sets(sets.into_iter().collect());
            beam.retain(|trial| trial.gap(pair).is_finite());
            if self.useful_size() < known || beam.is_empty() {
                break;
            }
            // Rounding does not decide between equal gaps.
            let scale =
                STEPS / beam.iter().map(|trial| trial.gap(pair).abs()).fold(1e-300, f64::max);
            beam.sort_by_key(|trial| (scale * trial.gap(pair)).round() as i64);
            beam.truncate(WIDTH);
        }
        Ok(())
    }
}
