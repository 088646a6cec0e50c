//! How each annotator votes, judged by what the other votes say.
//!
//! The likelihood of a behaviour is a product over the annotator's votes. Each vote is compared with the
//! difference d of scores without that vote (`leave_one_out.rs`), so that no vote supports itself. d is
//! uncertain: averaged over its variance v, F(d) is about F(d / √(1 + π v / 8)).
//!
//! The likelihoods depend on a vote through its side and that difference alone. Votes are therefore counted by
//! difference in steps of 1/[`STEPS_PER_UNIT`], each shared by the two nearest steps: the logarithms are
//! interpolated linearly, with an error below 2·10⁻⁴ per vote. Counts are integers, so that neither the
//! order of the votes nor the number of threads matters. A tie is half a vote for each side.

use std::f64::consts::PI;

use rayon::prelude::*;

use super::behaviour::{Behaviour, OfBehaviours, POINTS};
use super::leave_one_out::{PairVariances, without_vote};
use super::votes::{Voice, VoteModel, outcome_of};
use crate::annotator_votes::{AnnotatorVote, AnnotatorVotes};

/// Smallest probability of a vote: no vote excludes a behaviour on its own.
const MIN_PROBABILITY: f64 = 1e-4;
/// Smallest likelihood of a behaviour relative to the largest.
const MIN_LIKELIHOOD: f64 = 1e-30;

const STEPS_PER_UNIT: usize = 16;
/// Votes on items further apart count as if they were so far apart: honest answers are certain there.
const MAX_DISTANCE: usize = 10;
/// Steps of |d|, and those of d; the step of d = 0 is in the middle.
const HALF: usize = MAX_DISTANCE * STEPS_PER_UNIT + 1;
const STEPS: usize = 2 * HALF + 1;
/// A vote counts so much, in parts of the two steps around it.
const PARTS: f64 = 256.0;

/// Logarithms of the probabilities of answers at each step of e: the difference of the scores towards the side
/// of the answer.
pub(crate) struct LikelihoodTable {
    /// For each step, answers left and right.
    rows: Vec<[[f64; POINTS]; 2]>,
    number: usize,
    pub(crate) advantage: f64,
}

impl LikelihoodTable {
    /// `advantage` is that of the left side.
    pub(crate) fn new(behaviours: &[Behaviour], advantage: f64) -> Self {
        let row = |step: usize| {
            let e = (step as f64 - HALF as f64) / STEPS_PER_UNIT as f64;
            let mut row = [[0.0; POINTS]; 2];
            for (k, own) in behaviours.iter().enumerate() {
                let log = |x: f64| (1.0 / (1.0 + (-x).exp())).max(MIN_PROBABILITY).ln();
                row[0][k] = log(own.predictor(e, advantage));
                // The opposite of the predictor towards the left item, which is at −e.
                row[1][k] = log(-own.predictor(-e, advantage));
            }
            row
        };
        Self { rows: (0..STEPS).map(row).collect(), number: behaviours.len(), advantage }
    }

    /// The logarithm of the likelihood of each behaviour; empties the histogram.
    fn logs(&self, histogram: &mut Histogram) -> [f64; POINTS] {
        let mut logs = [0.0; POINTS];
        histogram.drain(|step, [left, right]| {
            let [left_row, right_row] = &self.rows[step];
            // Both sides are added up first, so that swapped sides give the same bits.
            for (log, (of_left, of_right)) in logs.iter_mut().zip(left_row.iter().zip(right_row)) {
                *log += left * of_left + right * of_right;
            }
        });
        logs
    }

    /// Likelihoods relative to the largest, and the logarithm of that.
    pub(crate) fn relative(&self, logs: &[f64; POINTS]) -> (OfBehaviours, f64) {
        let largest = logs[..self.number].iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        let mut relative = [0.0; POINTS];
        for (relative, log) in relative.iter_mut().zip(&logs[..self.number]) {
            *relative = (log - largest).exp().max(MIN_LIKELIHOOD) as f32;
        }
        (relative, largest)
    }
}

/// Where annotators are judged.
pub(crate) struct Evidence<'a> {
    pub(crate) votes: &'a AnnotatorVotes,
    pub(crate) scores: &'a [f64],
    /// Log-odds of a typical annotator's votes per unit of the scores.
    pub(crate) unit: f64,
    pub(crate) model: VoteModel,
    /// None if leverages are so small that it does not matter whether a vote is left out.
    pub(crate) variances: Option<&'a PairVariances>,
}

impl Evidence<'_> {
    /// The logarithms of the likelihoods of each annotator; `voices` are those of the fit.
    pub(crate) fn logs(&self, table: &LikelihoodTable, voices: &[Voice]) -> Vec<[f64; POINTS]> {
        let ranges = self.votes.split(8 * rayon::current_num_threads());
        let run = |range: std::ops::Range<usize>| {
            let mut histogram = Histogram::new();
            let annotators = range.start..range.end.min(self.votes.annotators());
            let logs = annotators.map(|annotator| {
                for vote in self.votes.unsorted_of(annotator) {
                    self.count(vote, voices[annotator], &mut histogram);
                }
                table.logs(&mut histogram)
            });
            logs.collect::<Vec<_>>()
        };
        ranges.into_par_iter().with_max_len(1).map(run).collect::<Vec<_>>().concat()
    }

    #[inline]
    fn count(&self, vote: &AnnotatorVote, voice: Voice, histogram: &mut Histogram) {
        let y = self.votes.y(vote);
        let (i, j) = (vote.left as usize, vote.right as usize);
        let mut d = self.scores[i] - self.scores[j];
        if let Some(variances) = self.variances {
            let sign = if self.votes.has_sides() { 1.0 } else { 0.0 };
            let x = voice.sharpness * d + sign * (self.model.advantage + voice.side);
            let terms = self.model.at(x);
            let slope = voice.weight * voice.sharpness * terms.slope[outcome_of(y)];
            let information = voice.weight * voice.sharpness.powi(2) * terms.information;
            let without = without_vote(d, variances.of(i, j, 0.0), slope, information);
            let variance = without.variance * self.unit * self.unit;
            d = without.difference / (1.0 + PI / 8.0 * variance).sqrt();
        }
        let d = self.unit * d;
        let count = u64::from(vote.count);
        if y == 0.0 {
            // A tie is half a vote for each side.
            histogram.add(0, d, count);
            histogram.add(1, -d, count);
        } else {
            let is_right = y < 0.0;
            histogram.add(usize::from(is_right), if is_right { -d } else { d }, 2 * count);
        }
    }
}

/// Votes of an annotator by the step of e and by side.
struct Histogram {
    /// Left, right.
    counts: Vec<[u64; 2]>,
    /// One bit for each step to which votes were added: most annotators have few.
    used: [u64; STEPS.div_ceil(64)],
}

impl Histogram {
    fn new() -> Self {
        Self { counts: vec![[0; 2]; STEPS], used: [0; STEPS.div_ceil(64)] }
    }

    #[inline]
    fn add(&mut self, side: usize, towards: f64, halves: u64) {
        /// The largest |e| in steps: its upper neighbour still has a place.
        const LAST: f64 = (HALF - 1) as f64;
        let parts = (towards * STEPS_PER_UNIT as f64).clamp(-LAST, LAST) * PARTS;
        // Rounding is symmetric about zero, so that swapped sides have the same parts.
        let rounded = (parts + 0.5_f64.copysign(parts)) as i64;
        let position = (rounded + (HALF * PARTS as usize) as i64) as usize;
        let (step, upper) = (position / PARTS as usize, (position % PARTS as usize) as u64);
        self.counts[step][side] += halves * (PARTS as u64 - upper);
        self.counts[step + 1][side] += halves * upper;
        self.used[step / 64] |= 1 << (step % 64);
    }

    /// Calls `visit` with each step and the numbers of votes for the left and the right; empties the histogram.
    fn drain(&mut self, mut visit: impl FnMut(usize, [f64; 2])) {
        // The last bit of the word below: a vote belongs to its step and the next one.
        let mut carry = 0;
        for (word, used) in self.used.iter_mut().enumerate() {
            let own = std::mem::take(used);
            let mut steps = own | own << 1 | carry;
            carry = own >> 63;
            while steps != 0 {
                let step = 64 * word + steps.trailing_zeros() as usize;
                steps &= steps - 1;
                let counts = std::mem::take(&mut self.counts[step]);
                visit(step, counts.map(|count| count as f64 / (2.0 * PARTS)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::behaviour::behaviours;
    use crate::{AnnotatorVotes, Comparison};

    #[test]
    fn logarithms_are_those_of_single_votes() {
        let scores = [0.7, -0.3, 1.9];
        let votes = [(0, 1, 1.0), (2, 1, -1.0), (1, 2, -1.0), (0, 2, 0.0), (2, 0, 1.0)];
        let votes = votes.map(|(left, right, y)| Comparison {
            annotator: Some(0),
            ..Comparison::new(left, right, y)
        });
        let all = AnnotatorVotes::from_comparisons(1, &votes, true);
        let behaviours = behaviours(true);
        let (advantage, number) = (0.2, behaviours.len());
        let model = VoteModel { advantage, tie_odds: 0.3, lapse_rate: 0.0, tie_share: 0.2 };
        let evidence = Evidence { votes: &all, scores: &scores, unit: 1.0, model, variances: None };
        let table = LikelihoodTable::new(&behaviours, advantage);
        let found = evidence.logs(&table, &[Voice::TYPICAL]);
        for (k, own) in behaviours.iter().enumerate() {
            let log = |vote: &Comparison| {
                let d = scores[vote.left as usize] - scores[vote.right as usize];
                let left = 1.0 / (1.0 + (-own.predictor(d, advantage)).exp());
                match vote.y {
                    y if y > 0.0 => left.max(MIN_PROBABILITY).ln(),
                    y if y < 0.0 => (1.0 - left).max(MIN_PROBABILITY).ln(),
                    _ => {
                        0.5 * (left.max(MIN_PROBABILITY).ln()
                            + (1.0 - left).max(MIN_PROBABILITY).ln())
                    }
                }
            };
            let expected: f64 = votes.iter().map(log).sum();
            assert!((found[0][k] - expected).abs() < 2e-2, "{own:?}: {} {expected}", found[0][k]);
        }
        let (relative, largest) = table.relative(&found[0]);
        let best = relative[..number].iter().fold(0.0_f32, |a, &b| a.max(b));
        assert!(best == 1.0 && largest < 0.0);
    }
}
