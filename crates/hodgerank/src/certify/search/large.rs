//! Searches that need few fits.

use super::{Search, Set, Trial, predicted_size, prefix, size};
use crate::error::Result;

/// Stages in which votes are removed.
const STAGES: u64 = 3;
/// Maximum number of stages, where the prediction is too low.
const MAX_STAGES: usize = 8;
/// Bisection ends when the sets differ by less than this share.
const PRECISION: u64 = 200;

impl Search<'_> {
    /// Step 2: the shortest list of members, in order of influence, whose removal changes the result.
    pub(super) fn try_prefixes(&mut self, predicted: u64, order: &[(u32, f64, u64)]) {
        let available: u64 = order.iter().map(|(.., available)| available).sum();
        let longest = self.useful_size().min(available);
        let mut unchanged = self.exhausted;
        if longest <= unchanged {
            return;
        }
        let mut length = predicted.clamp(unchanged + 1, longest);
        let mut changed = loop {
            if !self.has_fits() {
                return;
            }
            if self.is_changed(prefix(order, length)) {
                break length;
            }
            if length == longest {
                return;
            }
            unchanged = length;
            length = (length + length.div_ceil(4)).min(longest);
        };
        while changed - unchanged > 1 + changed / PRECISION && self.has_fits() {
            let middle = unchanged.midpoint(changed);
            match self.is_changed(prefix(order, middle)) {
                true => changed = middle,
                false => unchanged = middle,
            }
        }
    }

    /// Step 3 for large studies: members are removed in stages, each in the order of influence after the
    /// one before.
    pub(super) fn try_stages(&mut self, pair: (u32, u32)) -> Result<()> {
        let mut at = Trial { set: Set::new(), fit: self.base.clone(), inversion: None };
        for stage in 0..MAX_STAGES as u64 {
            let influence = self.influence(&at)?;
            let order = self.order(&influence, &at, pair)?;
            let Some(needed) = predicted_size(&order, at.gap(pair)) else { return Ok(()) };
            let rest = STAGES.saturating_sub(stage);
            if rest <= 1 {
                return self.finish_stages(&at, needed, &order);
            }
            let next = union(&at.set, &prefix(&order, needed.div_ceil(rest)));
            if size(&next) > self.useful_size() || !self.has_fits() {
                return Ok(());
            }
            // A trial that changes the result already is kept as the best.
            let Some(trial) = self.try_sets(vec![next]).pop() else { return Ok(()) };
            at = trial;
        }
        Ok(())
    }

    /// The last stage: the shortest list that changes the result after what was removed before.
    fn finish_stages(
        &mut self,
        at: &Trial,
        predicted: u64,
        order: &[(u32, f64, u64)],
    ) -> Result<()> {
        let before = size(&at.set);
        let (mut unchanged, mut length) = (0, predicted);
        let mut changed = loop {
            if before + length > self.useful_size() {
                length = self.useful_size().saturating_sub(before);
            }
            if length <= unchanged || !self.has_fits() {
                return Ok(());
            }
            if self.is_changed(union(&at.set, &prefix(order, length))) {
                break length;
            }
            unchanged = length;
            length += length.div_ceil(4);
        };
        while changed - unchanged > 1 + (before + changed) / PRECISION && self.has_fits() {
            let middle = unchanged.midpoint(changed);
            match self.is_changed(union(&at.set, &prefix(order, middle))) {
                true => changed = middle,
                false => unchanged = middle,
            }
        }
        Ok(())
    }
}

/// Both sets.
fn union(one: &Set, other: &Set) -> Set {
    let mut all = one.clone();
    for &(member, taken) in other {
        match all.binary_search_by_key(&member, |(known, _)| *known) {
            Ok(place) => all[place].1 += taken,
            Err(place) => all.insert(place, (member, taken)),
        }
    }
    all
}
