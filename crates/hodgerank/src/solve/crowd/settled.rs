//! Annotators who are certainly careful are settled for a while: their likelihoods are not computed in every
//! step.
//!
//! A settled annotator counts as careful, so that sums over pairs are enough for their votes
//! (`slopes.rs`). By how much the log-likelihood of all settled votes has changed since then follows from
//! sums over pairs too: that of all votes as careful ones, less that of the votes of the others.
//!
//! Before the search decides anything, the likelihoods of everybody are computed again.

use super::likelihood::{BlockLogs, POINTS};
use super::search::Search;

/// The probability of being careful from which an annotator can be settled.
const MIN_PROBABILITY: f32 = 1.0 - 1e-6;
/// The probability below which a settled annotator should not have been.
const MIN_PROBABILITY_AFTER: f32 = 0.999;
/// Largest difference of scores: farther apart, likelihoods have bounds that sums over pairs do not have.
const MAX_RANGE: f64 = 9.0;

/// Who is settled.
#[derive(Debug, Clone, Default)]
pub(super) struct Settled {
    /// For each block of this process; none if nobody is settled on any process.
    pub(super) blocks: Option<Vec<bool>>,
    /// The log-likelihood of the settled votes when they were settled.
    before: f64,
}

impl Settled {
    #[inline]
    pub(super) fn is_settled(&self, block: usize) -> bool {
        self.blocks.as_ref().is_some_and(|blocks| blocks[block])
    }
}

impl Search<'_> {
    /// Settles the annotators who are certainly careful, if the model allows that.
    pub(super) fn settle(&mut self) {
        let (low, high) = self
            .scores
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        if !self.has_pair_sums() || high - low > MAX_RANGE {
            self.unsettle();
        } else if self.settled.blocks.is_none() {
            let is_careful = |row: &[f32; POINTS]| row[0] >= MIN_PROBABILITY;
            self.settle_blocks(self.responsibility.iter().map(is_careful).collect());
        }
    }

    /// Settles these blocks at the present likelihoods.
    pub(super) fn settle_blocks(&mut self, blocks: Vec<bool>) {
        let rows = self.likelihoods.relative.iter_mut().zip(&blocks);
        for (row, _) in rows.filter(|(_, is_settled)| **is_settled) {
            *row = [0.0; POINTS];
            row[0] = 1.0;
        }
        self.settled.blocks = Some(blocks);
        self.settled.before = self.settled_log_likelihood();
    }

    /// Computes the likelihoods of everybody again. Returns whether somebody should not have been settled.
    /// Collective.
    pub(super) fn unsettle(&mut self) -> bool {
        let Some(settled) = std::mem::take(&mut self.settled).blocks else { return false };
        // The scores are those of the last pass over the pairs.
        self.evaluate_blocks();
        self.update_behaviours();
        let is_wrong = |(own, row): (&bool, &[f32; POINTS])| *own && row[0] < MIN_PROBABILITY_AFTER;
        let is_any_wrong = settled.iter().zip(&self.responsibility).any(is_wrong);
        let mut found = [if is_any_wrong { 1.0 } else { 0.0 }];
        self.communicator().max(&mut found);
        found[0] > 0.0
    }

    /// By how much the log-likelihood of the settled votes has changed; the part of this process.
    pub(super) fn settled_change(&self) -> f64 {
        match self.settled.blocks {
            None => 0.0,
            Some(_) => self.settled_log_likelihood() - self.settled.before,
        }
    }

    fn settled_log_likelihood(&self) -> f64 {
        let blocks = self.likelihoods.logs.iter().enumerate();
        let others = blocks.filter(|(block, _)| !self.settled.is_settled(*block));
        let log = |(_, logs): (usize, &BlockLogs)| logs.careful + logs.ties;
        self.pass.log_likelihood - others.map(log).sum::<f64>()
    }
}
