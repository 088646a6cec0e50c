//! Annotators who prefer one item whatever it is compared with, or reject it: fans.
//!
//! Fans are honest about all other items, so no behaviour describes them, and a few can move their item
//! to the top. What gives them away is that people disagree about one item far more than about others.
//!
//! | step | what |
//! |---|---|
//! | 1 | items on which the residuals of annotators vary more than chance explains |
//! | 2 | for such an item i: its score, the share φ of fans, and who they are, by maximum likelihood with all other scores fixed |
//! | 3 | if the gain is large, the votes of fans on the item do not count, and the search goes on |
//!
//! Step 2 maximises Σ_annotators log((1 − φ) H + φ E) over θ_i and φ by EM. H is the likelihood of the
//! annotator's votes on the item by their behaviour, E that of a fan, who prefers the item but for a
//! share [`FAN_ERROR`] of votes.
//!
//! Where people disagree about many items, they have different tastes, and nobody is called a fan. The
//! same holds if most people who compared an item would be its fans: the item may just be good.
//!
//! Cost: step 1 is a pass over the votes; step 2 reads the votes on one item.

use rayon::prelude::*;

use super::blocks::SidedVote;
use super::search::{RunState, Search, SearchEnd};
use super::slopes::MAX_SCORE;
use crate::error::Result;
use crate::numeric;

/// Most items with fans, and most items that are examined for each.
const MAX_FAVOURITES: usize = 3;
const MAX_SUSPECTS: usize = 4;
/// If more items than this share stand out, people have different tastes.
const MAX_SUSPECT_SHARE: f64 = 0.2;
/// Standard deviations by which disagreement about an item must be above its mean by chance: for an item to be
/// examined, with many votes and with fewer, and to stand out.
const MIN_DEVIATIONS: f64 = 5.0;
const MIN_DEVIATIONS_OF_FEW: f64 = 1.0;
/// With more votes, fans disagree enough with others, and examining an item takes time.
const MANY_VOTES: f64 = 200_000.0;
/// Gain of the log-likelihood by fans, above the logarithm of the number of favourites to choose from.
const MIN_GAIN: f64 = 2.0;
/// The same for graded votes, of which only the sides are looked at, with the noise of a typical annotator.
const MIN_GAIN_OF_GRADED: f64 = 4.8;
/// Smallest number of fans, and their largest share among those who compared the item.
const MIN_FANS: f64 = 2.0;
const MAX_FAN_SHARE: f64 = 0.5;
/// The share of votes on the favourite in which a fan does not prefer it.
const FAN_ERROR: f64 = 0.05;
/// From this probability on someone is treated as a fan.
const MIN_PROBABILITY: f64 = 0.5;
/// Steps of EM, and of the search for a score without fans.
const STEPS: usize = 40;
/// Largest change of a score in one step, in log-odds.
const MAX_CHANGE: f64 = 1.0;
/// Smallest probability of an answer by a behaviour.
const MIN_ANSWER: f64 = 1e-4;
/// Equal votes of an annotator stand for so many votes at most: they are no independent evidence.
const MAX_COUNT: u32 = 1000;
/// The normal distribution function is that of the logistic with this factor, within 0.01.
const LOGISTIC: f64 = 1.702;

/// An item with fans.
#[derive(Debug, Clone)]
pub(super) struct Favourite {
    pub(super) item: u32,
    /// Whether its fans prefer the item; otherwise they reject it.
    pub(super) is_preferred: bool,
    pub(super) fans: Vec<Fan>,
}

/// An annotator who may be a fan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fan {
    pub(super) block: usize,
    pub(super) probability: f64,
    /// The share of the annotator's votes that are on the item.
    pub(super) vote_share: f64,
}

/// An item that may have fans, too few or with too few votes to be sure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PossibleFavourite {
    pub(super) item: u32,
    /// The probability of fans.
    pub(super) probability: f64,
    /// By how much the item's score would change without their votes.
    pub(super) change: f64,
}

/// What was found about fans.
#[derive(Debug, Clone, Default)]
pub(super) struct Fans {
    pub(super) favourites: Vec<Favourite>,
    pub(super) possible: Vec<PossibleFavourite>,
}

/// Looks for fans; their votes on their favourites do not count any more.
pub(super) fn find(search: &mut Search<'_>, end: &mut SearchEnd) -> Result<Fans> {
    let mut found = Fans::default();
    while found.favourites.len() < MAX_FAVOURITES {
        let suspects = suspects(search);
        let max = (MAX_SUSPECT_SHARE * search.scores.len() as f64).max(MAX_SUSPECTS as f64);
        let standing_out = suspects.iter().filter(|own| own.deviations > MIN_DEVIATIONS);
        found.possible.clear();
        if standing_out.count() as f64 > max {
            break;
        }
        let examined: Vec<Examined> = suspects
            .into_iter()
            .take(MAX_SUSPECTS)
            .map(|suspect| examine(search, suspect.item))
            .collect();
        let Some(position) = examined.iter().position(|own| own.is_supported) else {
            found.possible = examined.iter().map(|own| own.possible(search)).collect();
            break;
        };
        let Some(Examined { score, favourite, .. }) = examined.into_iter().nth(position) else {
            break;
        };
        let item = favourite.item as usize;
        for fan in favourite.fans.iter().filter(|fan| fan.probability > MIN_PROBABILITY) {
            search.blocks.remove(fan.block, favourite.item);
        }
        search.has_removed_votes = true;
        search.scores[item] = score;
        search.evaluate();
        let again = RunState { iterations_before: end.iterations, ..RunState::default() };
        *end = search.run_unsaved(again)?;
        found.favourites.push(favourite);
    }
    Ok(found)
}

/// P(left) = slope · p + offset of an annotator, averaged over their behaviours, p being the probability
/// that an honest answer is left; none if the annotator does not count.
fn line(search: &Search<'_>, block: usize) -> Option<(f64, f64)> {
    let (mut slope, mut offset, mut total) = (0.0, 0.0, 0.0);
    for (point, &r) in search.points.iter().zip(&search.responsibility[block]) {
        let (own_slope, own_offset) = point.line();
        slope += f64::from(r) * own_slope;
        offset += f64::from(r) * own_offset;
        total += f64::from(r);
    }
    (total > 0.5).then(|| (slope / total, offset / total))
}

/// Log-odds per unit of the scores of the search.
fn log_odds(search: &Search<'_>) -> f64 {
    search.answers.graded().map_or(1.0, |model| LOGISTIC / model.noise.sqrt())
}

fn logistic(d: f64) -> f64 {
    1.0 / (1.0 + (-d).exp())
}

/// Sums over the annotators who compared an item, in fixed-point numbers, so that their order does not
/// matter.
#[derive(Debug, Clone, Copy, Default)]
struct Dispersion {
    /// Σ of squared sums of residuals, less their expectation.
    excess: i128,
    /// The variance of that sum if votes are independent.
    variance: i128,
}

/// Residuals of one annotator on an item.
#[derive(Debug, Clone, Copy, Default)]
struct ItemResiduals {
    sum: i64,
    variance: i64,
}

/// An item about which people disagree.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Suspect {
    item: usize,
    /// Standard deviations above the mean by chance.
    deviations: f64,
}

/// Items about which people disagree more than chance explains, the most disputed first.
fn suspects(search: &Search<'_>) -> Vec<Suspect> {
    /// Fixed-point numbers are multiples of the inverse of this.
    const UNIT: f64 = 1_048_576.0;
    /// 3 · 2⁵¹: the sum with it has the rounded number in its last bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let fixed = |x: f64| (x * UNIT + SHIFT).to_bits() as i64 - SHIFT.to_bits() as i64;
    let items = search.scores.len();
    let factor = log_odds(search);
    let odds = |score: &f64| (factor * score).clamp(-MAX_SCORE, MAX_SCORE).exp();
    let odds: Vec<f64> = search.scores.iter().map(odds).collect();
    let advantage = (factor * search.side_advantage).exp();
    let ranges = search.blocks.split(rayon::current_num_threads());
    let of_range = |range: std::ops::Range<usize>| {
        let mut sums = vec![Dispersion::default(); items];
        let mut own = vec![ItemResiduals::default(); items];
        for block in range.take_while(|&block| block < search.annotators()) {
            let Some((slope, offset)) = line(search, block) else { continue };
            for vote in search.blocks.block(block) {
                let Some(side) = vote.side() else { continue };
                let (left, right) = (vote.left as usize, vote.right());
                let for_left = odds[left] * advantage;
                let q = slope * (for_left / (for_left + odds[right])) + offset;
                let answer = if side == 0 { 1.0 } else { 0.0 };
                let count = i64::from(vote.count.min(MAX_COUNT));
                let residual = count * fixed(answer - q);
                let variance = count * fixed(q * (1.0 - q));
                own[left].sum += residual;
                own[right].sum -= residual;
                own[left].variance += variance;
                own[right].variance += variance;
            }
            let mut add = |item: usize| {
                let ItemResiduals { sum, variance } = std::mem::take(&mut own[item]);
                let (sum, variance) = (i128::from(sum), i128::from(variance));
                let unit = UNIT as i128;
                sums[item].excess += sum * sum - unit * variance;
                // Of a sum of a few binary residuals; twice the square for many.
                sums[item].variance += 2 * variance * variance + unit * variance;
            };
            // Items that the annotator has not compared add nothing.
            match 2 * search.blocks.votes_of(block) > items {
                true => (0..items).for_each(add),
                false => search.blocks.block(block).for_each(|vote| {
                    add(vote.left as usize);
                    add(vote.right());
                }),
            }
        }
        sums
    };
    let add = |mut a: Vec<Dispersion>, b: Vec<Dispersion>| {
        for (a, b) in a.iter_mut().zip(b) {
            a.excess += b.excess;
            a.variance += b.variance;
        }
        a
    };
    let sums = ranges.into_par_iter().with_max_len(1).map(of_range).reduce_with(add);
    let sums = sums.unwrap_or_else(|| vec![Dispersion::default(); items]);
    let mut excess: Vec<f64> = sums.iter().map(|own| own.excess as f64).collect();
    let mut variance: Vec<f64> = sums.iter().map(|own| own.variance as f64).collect();
    search.communicator().sum(&mut excess);
    search.communicator().sum(&mut variance);
    // Both are products of two fixed-point numbers.
    let real = |value: f64| value / (UNIT * UNIT);
    let votes = search.communicator().sum_scalar(search.blocks.total());
    let is_strict = votes > MANY_VOTES || search.answers.graded().is_some();
    let least = if is_strict { MIN_DEVIATIONS } else { MIN_DEVIATIONS_OF_FEW };
    let suspect = |item: usize| Suspect {
        item,
        deviations: real(excess[item]) / real(variance[item]).sqrt(),
    };
    let mut found: Vec<Suspect> = (0..items)
        .filter(|&item| variance[item] > 0.0)
        .map(suspect)
        .filter(|own| own.deviations > least)
        .collect();
    found.sort_by(|a, b| b.deviations.total_cmp(&a.deviations).then(a.item.cmp(&b.item)));
    found
}

/// A vote on an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ItemVote {
    opponent: u32,
    is_left: bool,
    is_preferred: bool,
    count: u32,
}

/// The votes of an annotator on an item.
struct ItemVotes {
    block: usize,
    line: (f64, f64),
    votes: Vec<ItemVote>,
    vote_share: f64,
}

impl ItemVotes {
    /// The votes of all annotators of this process on an item, the same for any order of rows and any counts.
    fn of(search: &Search<'_>, item: usize) -> Vec<Self> {
        let of_block = |block: usize| {
            let line = line(search, block)?;
            let all = search.blocks.block(block);
            let mut votes: Vec<ItemVote> =
                all.clone().filter_map(|vote| ItemVote::of(vote, item)).collect();
            votes.sort_unstable();
            merge_equal(&mut votes);
            let total: f64 = all.map(|vote| f64::from(vote.count)).sum();
            let on_item: f64 = votes.iter().map(|vote| f64::from(vote.count)).sum();
            let vote_share = on_item / total.max(1.0);
            (on_item > 0.0).then_some(Self { block, line, votes, vote_share })
        };
        (0..search.annotators()).into_par_iter().filter_map(of_block).collect()
    }

    /// The log-likelihood of a fan.
    fn log_fan(&self, is_preferred: bool) -> f64 {
        let log = |vote: &ItemVote| match vote.is_preferred == is_preferred {
            true => (1.0 - FAN_ERROR).ln(),
            false => FAN_ERROR.ln(),
        };
        self.votes.iter().map(|vote| f64::from(vote.count) * log(vote)).sum()
    }
}

impl ItemVote {
    fn of(vote: SidedVote, item: usize) -> Option<Self> {
        let side = vote.side()?;
        let (is_left, opponent) = match (vote.left as usize == item, vote.right() == item) {
            (true, _) => (true, vote.right() as u32),
            (_, true) => (false, vote.left),
            _ => return None,
        };
        let (count, is_preferred) = (vote.count, (side == 0) == is_left);
        (count > 0).then_some(Self { opponent, is_left, is_preferred, count })
    }

    fn is_same(&self, other: &Self) -> bool {
        let content = |vote: &Self| (vote.opponent, vote.is_left, vote.is_preferred);
        content(self) == content(other)
    }
}

/// Merges equal votes, which follow each other, so that it does not matter how a file counts them.
fn merge_equal(votes: &mut Vec<ItemVote>) {
    votes.dedup_by(|next, kept| {
        let is_same = next.is_same(kept);
        if is_same {
            kept.count = kept.count.saturating_add(next.count);
        }
        is_same
    });
    votes.iter_mut().for_each(|vote| vote.count = vote.count.min(MAX_COUNT));
}

/// The likelihood of votes on an item at other scores of it.
struct ItemModel<'a> {
    search: &'a Search<'a>,
    factor: f64,
    /// The mean score of the items that it was compared with, and the precision of the prior about it.
    centre: f64,
    precision: f64,
}

/// Log-likelihood, and its slope and information in the score of the item.
#[derive(Debug, Clone, Copy, Default)]
struct ItemSlope {
    value: f64,
    gradient: f64,
    information: f64,
}

impl ItemModel<'_> {
    fn honest(&self, own: &ItemVotes, score: f64) -> ItemSlope {
        let (slope, offset) = own.line;
        let mut sums = ItemSlope::default();
        for vote in &own.votes {
            let sign = if vote.is_left { 1.0 } else { -1.0 };
            let d = sign * (score - self.search.scores[vote.opponent as usize]);
            let p = logistic(self.factor * (d + self.search.side_advantage));
            let q = (slope * p + offset).clamp(MIN_ANSWER, 1.0 - MIN_ANSWER);
            let rise = sign * slope * self.factor * p * (1.0 - p);
            let count = f64::from(vote.count);
            let is_left = vote.is_preferred == vote.is_left;
            sums.value += count * if is_left { q.ln() } else { (1.0 - q).ln() };
            sums.gradient += count * if is_left { rise / q } else { -rise / (1.0 - q) };
            sums.information += count * rise * rise / (q * (1.0 - q));
        }
        sums
    }

    fn log_prior(&self, score: f64) -> f64 {
        -0.5 * self.precision * (score - self.centre).powi(2)
    }

    /// The score after a step of Fisher scoring with these sums of all processes.
    fn next(&self, score: f64, gradient: f64, information: f64) -> f64 {
        let gradient = gradient - self.precision * (score - self.centre);
        let max_change = MAX_CHANGE / self.factor;
        let step = gradient / (information + self.precision).max(f64::MIN_POSITIVE);
        score + step.clamp(-max_change, max_change)
    }
}

/// The best explanation of the votes on an item by fans.
struct Examined {
    /// The score of the item without its fans.
    score: f64,
    favourite: Favourite,
    /// The gain of the log-likelihood, less the logarithm of the number of favourites to choose from.
    gain: f64,
    is_supported: bool,
}

impl Examined {
    fn possible(&self, search: &Search<'_>) -> PossibleFavourite {
        let item = self.favourite.item;
        PossibleFavourite {
            item,
            probability: logistic(self.gain),
            change: self.score - search.scores[item as usize],
        }
    }
}

/// Looks for the fans of an item.
fn examine(search: &Search<'_>, item: usize) -> Examined {
    let votes = ItemVotes::of(search, item);
    let mut sums = [0.0; 3];
    for own in &votes {
        for vote in &own.votes {
            sums[0] += f64::from(vote.count) * search.scores[vote.opponent as usize];
            sums[1] += f64::from(vote.count);
        }
    }
    sums[2] = votes.len() as f64;
    search.communicator().sum(&mut sums);
    let [scores, number, annotators] = sums;
    let centre = scores / number.max(1.0);
    let model = ItemModel { search, factor: log_odds(search), centre, precision: search.lambda };
    let without = value_without_fans(&model, &votes, search.scores[item]);
    let best = [true, false]
        .map(|is_preferred| MixtureFit::new(&model, &votes, is_preferred, search.scores[item]));
    let is_first = best[0].value >= best[1].value;
    let [preferred, rejected] = best;
    let (is_preferred, best) = if is_first { (true, preferred) } else { (false, rejected) };
    let choices = (2.0 * search.scores.len() as f64).ln();
    let gain = best.value - without - choices;
    let min_gain = if search.answers.graded().is_some() { MIN_GAIN_OF_GRADED } else { MIN_GAIN };
    let is_supported =
        gain > min_gain && best.fans >= MIN_FANS && best.fans <= MAX_FAN_SHARE * annotators;
    let fans = votes.iter().zip(&best.probability).map(|(own, &probability)| Fan {
        block: own.block,
        probability,
        vote_share: own.vote_share,
    });
    let favourite = Favourite { item: item as u32, is_preferred, fans: fans.collect() };
    Examined { score: best.score, favourite, gain, is_supported }
}

/// The largest log-likelihood if nobody is a fan.
fn value_without_fans(model: &ItemModel<'_>, votes: &[ItemVotes], start: f64) -> f64 {
    let mut score = start;
    let mut value = 0.0;
    for _ in 0..STEPS {
        let mut sums = [0.0; 3];
        for own in votes {
            let slope = model.honest(own, score);
            sums[0] += slope.value;
            sums[1] += slope.gradient;
            sums[2] += slope.information;
        }
        model.search.communicator().sum(&mut sums);
        value = sums[0] + model.log_prior(score);
        score = model.next(score, sums[1], sums[2]);
    }
    value
}

/// The score of an item and its fans at the maximum of the likelihood.
struct MixtureFit {
    score: f64,
    value: f64,
    /// The expected number of fans.
    fans: f64,
    probability: Vec<f64>,
}

impl MixtureFit {
    fn new(model: &ItemModel<'_>, votes: &[ItemVotes], is_preferred: bool, start: f64) -> Self {
        let communicator = model.search.communicator();
        let log_fan: Vec<f64> = votes.iter().map(|own| own.log_fan(is_preferred)).collect();
        // At the start, everybody who always prefers the item: its score is then that of the others,
        // and EM takes back those who are no fans.
        let is_constant = |own: &ItemVotes| {
            let is_same = |vote: &ItemVote| vote.is_preferred == is_preferred;
            let number: u32 = own.votes.iter().map(|vote| vote.count).sum();
            number > 1 && own.votes.iter().all(is_same)
        };
        let mut probability: Vec<f64> =
            votes.iter().map(|own| if is_constant(own) { 1.0 } else { 0.0 }).collect();
        let mut totals = [numeric::sum(&probability), votes.len() as f64];
        communicator.sum(&mut totals);
        let [mut fans, annotators] = totals;
        let (mut score, mut value) = (start, f64::NEG_INFINITY);
        for _ in 0..STEPS {
            // Half a fan and half an honest annotator before any vote.
            let share = (fans + 0.5) / (annotators + 1.0);
            let mut slopes = [0.0; 2];
            for (own, t) in votes.iter().zip(&probability) {
                let slope = model.honest(own, score);
                slopes[0] += (1.0 - t) * slope.gradient;
                slopes[1] += (1.0 - t) * slope.information;
            }
            communicator.sum(&mut slopes);
            score = model.next(score, slopes[0], slopes[1]);
            let mut sums = [0.0; 2];
            for ((own, t), log_fan) in votes.iter().zip(&mut probability).zip(&log_fan) {
                let honest = (1.0 - share).ln() + model.honest(own, score).value;
                let fan = share.ln() + log_fan;
                let largest = honest.max(fan);
                let total = (honest - largest).exp() + (fan - largest).exp();
                *t = (fan - largest).exp() / total;
                sums[0] += largest + total.ln();
                sums[1] += *t;
            }
            communicator.sum(&mut sums);
            value = sums[0] + model.log_prior(score);
            fans = sums[1];
        }
        Self { score, value, fans, probability }
    }
}
