//! The constants of the vote model that were chosen, and why.
//!
//! Tolerances and sizes of tasks, which change no digit that anyone sees, stand where they are used.

use super::prior::{Prior, PriorKind};

/// What decides which model is fitted, and how people are described in it.
pub(crate) struct Tuning {
    /// Precisions of the prior on scores, weakest first. With 0.1, a standard deviation of three log-odds, the best of
    /// seven items wins 99% of its votes.
    pub(crate) score_precisions: [f64; 4],
    /// Precisions of the prior on differences. With 0.3 an item has the weight of about one vote; weaker ones win only
    /// where pairs were chosen by outcomes, and are farther from the truth there.
    pub(crate) difference_precisions: [f64; 3],
    /// Where the search starts.
    pub(crate) first_prior: Prior,
    /// Standard errors by which a prior on scores must predict better than one on differences. On seven open real
    /// studies with six votes per item (24 draws), τ with the truth is 0.684 with one standard error, 0.693 with a half
    /// and 0.688 with none; held-out votes see no difference.
    pub(crate) doubt_of_scores: f64,
    /// λ_b: an advantage of three log-odds, 95% of all votes between equal items, is one standard deviation.
    pub(crate) side_precision: f64,
    /// Lapse rates that are compared; rates between them predict about the same.
    pub(crate) lapse_rates: [f64; 7],
    /// Gain of the log-likelihood of all votes by which lapses are in the model: that by chance in one of a thousand
    /// studies. Votes are flagged for it.
    pub(crate) lapse_evidence: f64,
    /// Standard errors by which scores must predict better with people. On the open real studies, log loss and τ with the
    /// truth are slightly better with a half than with 0 and 1. Studies of a few hundred votes are decided by chance all the
    /// same: one of 420 votes loses from 0 to 0.006 in log loss, depending on the splits.
    pub(crate) doubt_of_people: f64,
    /// Gain of the log-likelihood of all votes from which on people so clearly differ that any gain suffices. Without it,
    /// simulated crowds close 88% of the gap to the oracle in place of 91%; with 9, 20 and 40 they close the same.
    pub(crate) people_evidence: f64,
    /// Share of annotators that agree with the ranking or contradict it who must agree, for the direction to be certain.
    pub(crate) certain_honest_share: f64,
    /// The grid of log-sharpness of honest people. Finer steps were not tried.
    pub(crate) log_sharpness: [f64; 7],
    /// Side preferences of honest people, and those of people who only have a side; both also negative.
    pub(crate) honest_sides: [f64; 2],
    pub(crate) one_sided: [f64; 2],
    /// Contrary people: as sharp as others, or half as sharp.
    pub(crate) contrary_sharpness: [f64; 2],
    /// Honest people with at most this sharpness are called careless: they answer about as somebody half of whose votes
    /// are by chance.
    pub(crate) careless_sharpness: f64,
    /// The prior of the population: so many people, and the standard deviation of their log-sharpness and side
    /// preference. Of 1 person with 0.3, 3 with 0.3, and 3 with 0.5, the last predicts open real studies best. Simulated
    /// crowds agree: 1 person, 10 people, 0.3 and 0.8 close less of the gap to the oracle.
    pub(crate) population_people: f64,
    pub(crate) population_sd: f64,
    /// Share of each behaviour that is not honest in a crowd of which nothing is known.
    pub(crate) first_share: f64,
    /// The share of graded votes that are lapses: with 5%, an outcome of four standard deviations is as likely a lapse as
    /// honest.
    pub(crate) graded_lapses: f64,
    /// Precision of the prior on differences of graded scores, relative to that of a vote: an item has the weight of a
    /// third of a vote.
    pub(crate) graded_precision: f64,
    /// From so many votes per item on, the mean leverage is below 1%: leaving out a vote changes nothing.
    pub(crate) many_votes_per_item: f64,
    /// About so many votes are evaluated to compare models: their mean log-probability has a standard error below 0.001.
    pub(crate) evaluated_votes: f64,
}

/// The values in use.
pub(crate) const TUNING: Tuning = Tuning {
    score_precisions: [0.1, 0.3, 1.0, 3.0],
    difference_precisions: [0.3, 1.0, 3.0],
    first_prior: Prior { kind: PriorKind::Differences, precision: 1.0 },
    doubt_of_scores: 0.5,
    side_precision: 0.1,
    lapse_rates: [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5],
    lapse_evidence: 4.8,
    doubt_of_people: 0.5,
    people_evidence: 40.0,
    certain_honest_share: 0.6,
    log_sharpness: [0.0, -0.4, 0.4, -0.8, 0.8, -1.2, 1.2],
    honest_sides: [0.8, 1.6],
    one_sided: [1.5, 4.0],
    contrary_sharpness: [-1.0, -0.5],
    careless_sharpness: 0.5,
    population_people: 3.0,
    population_sd: 0.5,
    first_share: 0.02,
    graded_lapses: 0.05,
    graded_precision: 0.3,
    many_votes_per_item: 200.0,
    evaluated_votes: 300_000.0,
};
