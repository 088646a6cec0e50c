//! Annotators with position bias, with a bound on the false discovery rate.
//!
//! Model (Xu, Xiong, Cao and Yao, ICML 2016): y = Xθ + Aγ + noise, where A tells which annotator cast each vote
//! and γ_a is the pull of annotator a to the left side, zero for most. The scores θ are projected out;
//! the columns of A are then followed along the inverse scale space or the LASSO path, on which
//! annotators with a strong bias enter first. Knockoffs say how many of those who entered would
//! have done so by chance.
//!
//! | step | where |
//! |---|---|
//! | Σ = Aᵀ(I − H)A, through a factor with one row per item | `gram` |
//! | knockoff copies by their inner products | `knockoffs` |
//! | times of entry | `iss`, `lasso`, on the systems of `active` |
//! | statistics, e-values over draws, selection | `selection` |
//! | votes without the bias of some annotators | `correct` |
//!
//! What is proven: if the noise of the votes is normal and has the same variance for all, the expected
//! share of annotators without bias among those selected is at most `fdr`. For votes of ±1 this
//! holds approximately, by the central limit theorem over the votes of an annotator; see the experiment
//! `position-bias` for what was measured. The draws have a fixed seed, so that the same votes always give
//! the same answer; the bound holds for any number of draws.
//!
//! Estimates: γ̂ = Σ⁻¹Aᵀ(I − H)y, least squares of scores and all biases together, with the standard error
//! σ̂√(Σ⁻¹)_aa. It does not depend on who is selected.
//!
//! Cost: for p annotators, n items, r = min(n, p) and d draws: r²p multiply-adds to set up, and for
//! each draw r² (or less) for each column that enters before the threshold of the draw is known.
//!
//! Failure modes: annotators whose bias the votes cannot tell from the scores have no estimate and are
//! never selected; nobody is selected unless several annotators stand out
//! ([`PositionBias::min_selected`], 15 at 10%).

mod active;
mod correct;
mod gram;
mod iss;
mod knockoffs;
mod lasso;
mod selection;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;

pub use correct::{mean_outcomes, without_bias};

use crate::annotator_votes::AnnotatorVotes;
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::numeric::sum;
use crate::solve::{L2Options, l2};
use active::Design;
use gram::{AnnotatorSums, BiasGram, annotator_sums};
use iss::IssPath;
use knockoffs::Knockoffs;

/// Annotators followed in all draws together. Where there are many, a draw differs little from the next.
const ANNOTATORS_IN_ALL_DRAWS: usize = 50_000;
/// The fewest draws, unless fewer are asked for.
const MIN_DRAWS: usize = 10;

/// The path on which annotators are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum BiasPath {
    /// Inverse scale space: estimates are not shrunk
    #[default]
    Iss,
    /// LASSO
    Lasso,
}

impl BiasPath {
    /// Both paths.
    pub const ALL: [Self; 2] = [Self::Iss, Self::Lasso];

    /// The name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Iss => "iss",
            Self::Lasso => "lasso",
        }
    }

    fn entries(
        self,
        design: &Design<'_>,
        is_done: impl FnMut(usize, usize) -> bool,
    ) -> Vec<[f64; 2]> {
        match self {
            Self::Iss => iss::entries(design, is_done),
            Self::Lasso => lasso::entries(design, is_done),
        }
    }
}

/// A false discovery rate: the largest expected share of mistakes among those selected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiscoveryRate(f64);

impl DiscoveryRate {
    /// A rate between 0 and 1, both excluded.
    ///
    /// # Errors
    /// [`Error::BadOption`] for any other number.
    pub fn new(rate: f64) -> Result<Self> {
        if rate > 0.0 && rate < 1.0 {
            return Ok(Self(rate));
        }
        Err(Self::refused(rate.to_string()))
    }

    /// As a number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    fn refused(value: String) -> Error {
        let expected = "a share above 0% and below 100%, such as 10% or 0.1";
        Error::BadOption { option: "fdr", value, expected }
    }
}

impl Default for DiscoveryRate {
    fn default() -> Self {
        Self(0.1)
    }
}

impl FromStr for DiscoveryRate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (number, unit) = match text.strip_suffix('%') {
            Some(percent) => (percent, 100.0),
            None => (text, 1.0),
        };
        let number: f64 = number.trim().parse().map_err(|_| Self::refused(text.to_owned()))?;
        Self::new(number / unit).map_err(|_| Self::refused(text.to_owned()))
    }
}

impl fmt::Display for DiscoveryRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Two decimals more than a percentage could need, without trailing zeros.
        write!(f, "{}%", (self.0 * 1e6).round() / 1e4)
    }
}

/// Options of [`position_bias`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `fdr` | 10% | expected share of mistakes among those selected | above 0, below 1 |
/// | `path` | `iss` | on which annotators are followed | `iss`, `lasso` |
/// | `draws` | 50 | draws of knockoffs; fewer for more than 1,000 annotators, down to 10 | 1 or more |
/// | `seed` | 0 | seed of the draws | |
/// | `max_entries` | 2000 | entries after which the order is not followed further | 1 or more |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionBiasOptions {
    /// Expected share of mistakes among those selected.
    pub fdr: DiscoveryRate,
    /// On which annotators are followed.
    pub path: BiasPath,
    /// Draws of knockoffs; fewer for more than 1,000 annotators, down to 10.
    pub draws: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// Entries after which the order is not followed further.
    pub max_entries: usize,
}

impl Default for PositionBiasOptions {
    fn default() -> Self {
        let (fdr, path) = (DiscoveryRate::default(), BiasPath::default());
        Self { fdr, path, draws: 50, seed: 0, max_entries: 2000 }
    }
}

/// What is known about the position bias of an annotator.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AnnotatorBias {
    /// Votes cast.
    pub votes: u64,
    /// The pull to the left, in units of the outcomes; none if it cannot be told from the scores.
    pub bias: Option<f64>,
    /// Its standard error; none without a bias, or if there are too few votes to estimate one.
    pub se: Option<f64>,
    /// The place at which the annotator enters the path, from 1; none if it was not followed so far.
    pub order: Option<u32>,
    /// λ, or 1/t on the ISS path, at which the annotator enters.
    pub importance: f64,
    /// The e-value: how strong the evidence for a bias is.
    pub e_value: f64,
    /// Whether the annotator is among those with bias.
    pub selected: bool,
    /// The mean vote: −1 if every vote was for the right side, for votes of ±1.
    pub mean_outcome: f64,
}

/// The position bias of all annotators.
#[derive(Debug, Clone, PartialEq)]
pub struct PositionBias {
    /// Of each annotator, by index.
    pub annotators: Vec<AnnotatorBias>,
    /// The options.
    pub options: PositionBiasOptions,
    /// Whether draws of knockoffs were possible; otherwise nobody can be selected.
    pub has_knockoffs: bool,
}

impl PositionBias {
    /// Indices of the annotators who are selected.
    pub fn selected(&self) -> impl Iterator<Item = u32> + '_ {
        let annotators = (0..).zip(&self.annotators);
        annotators.filter(|(_, annotator)| annotator.selected).map(|(a, _)| a)
    }

    /// Annotators whose bias the votes cannot tell from the scores.
    #[must_use]
    pub fn unidentified(&self) -> usize {
        self.annotators.iter().filter(|bias| bias.votes > 0 && bias.bias.is_none()).count()
    }

    /// How many annotators must stand out in a draw before any can be selected at this rate.
    #[must_use]
    pub fn min_selected(&self) -> usize {
        // Less the rounding of the rate.
        (1.0 / (selection::LEVEL_SHARE * self.options.fdr.get()) - 1e-9).ceil() as usize
    }
}

/// Finds the annotators with position bias. `votes` are those of `graph`, with sides.
///
/// # Errors
/// [`Error::NoSides`] if sides are unknown, [`Error::NoAnnotators`] without annotators; otherwise if the
/// scores cannot be computed or there are too many annotators.
pub fn position_bias(
    graph: &ComparisonGraph,
    votes: &AnnotatorVotes,
    options: &PositionBiasOptions,
) -> Result<PositionBias> {
    let study = BiasStudy::new(graph, votes)?;
    study.select(options)
}

/// The ISS path of all annotators.
///
/// # Errors
/// As [`position_bias`].
pub fn bias_path(
    graph: &ComparisonGraph,
    votes: &AnnotatorVotes,
    max_entries: usize,
) -> Result<Vec<BiasStep>> {
    let study = BiasStudy::new(graph, votes)?;
    Ok(study.path(max_entries))
}

/// The biases between two events of the ISS path.
#[derive(Debug, Clone, PartialEq)]
pub struct BiasStep {
    /// The time from which on they hold.
    pub time: f64,
    /// Annotators and their biases; zero for all others.
    pub biases: Vec<(u32, f64)>,
}

/// A study, reduced to what the paths need.
struct BiasStudy {
    sums: Vec<AnnotatorSums>,
    gram: BiasGram,
    /// Outcomes were divided by this, so that their squares can be added.
    unit: f64,
}

impl BiasStudy {
    fn new(graph: &ComparisonGraph, votes: &AnnotatorVotes) -> Result<Self> {
        if !votes.has_sides() {
            return Err(Error::NoSides);
        }
        if votes.annotators() == 0 {
            return Err(Error::NoAnnotators);
        }
        let unit = votes.outcomes().iter().fold(0.0_f64, |largest, y| largest.max(y.abs()));
        let unit = if unit > 0.0 { unit } else { 1.0 };
        let mut scores = l2::solve(graph, &L2Options::default())?.scores;
        scores.iter_mut().for_each(|score| *score /= unit);
        let groups = graph.groups();
        let squares: Vec<f64> = (0..groups.len())
            .map(|g| {
                let fitted = scores[groups.left[g] as usize] - scores[groups.right[g] as usize];
                groups.weight[g] * (groups.y[g] / unit - fitted).powi(2)
            })
            .collect();
        let sums = annotator_sums(votes, &scores, unit);
        let gram = BiasGram::new(graph, &sums, sum(&squares))?;
        Ok(Self { sums, gram, unit })
    }

    fn select(&self, options: &PositionBiasOptions) -> Result<PositionBias> {
        let gram = &self.gram;
        let of_all = |sums: &AnnotatorSums| AnnotatorBias {
            votes: sums.votes as u64,
            mean_outcome: if sums.votes > 0.0 {
                self.unit * sums.outcomes / sums.votes
            } else {
                0.0
            },
            ..AnnotatorBias::default()
        };
        let mut annotators: Vec<AnnotatorBias> = self.sums.iter().map(of_all).collect();
        let knockoffs = Knockoffs::new(gram)?;
        let noise = knockoffs.noise();
        let has_knockoffs = knockoffs.s > 0.0 && noise.is_some() && gram.len() > 0;
        let max_draws = (ANNOTATORS_IN_ALL_DRAWS / gram.len().max(1)).max(MIN_DRAWS);
        let draws = if has_knockoffs { options.draws.min(max_draws) } else { 0 };
        let level = selection::LEVEL_SHARE * options.fdr.get();
        // The order of the annotators themselves is one more task, the longest one.
        let task = |k: usize| match k {
            0 => {
                let mut left = options.max_entries.min(gram.len());
                let is_done = |_, _| {
                    left -= 1;
                    left == 0
                };
                options.path.entries(&Design::annotators(gram), is_done)
            }
            _ => {
                let copies = knockoffs.draw(gram, options.seed, k as u64);
                let design = Design::with_knockoffs(gram, knockoffs.s, &copies);
                let mut counter = selection::SignCounter::new(gram.len(), level);
                options.path.entries(&design, |a, copy| counter.is_done(a, copy))
            }
        };
        let mut entries: Vec<Vec<[f64; 2]>> =
            (0..draws + 1).into_par_iter().with_max_len(1).map(task).collect();
        let own = entries.swap_remove(0);
        let mut e_values = vec![0.0; gram.len()];
        for importance in &entries {
            let statistics = selection::statistics(importance);
            let found = selection::e_values(&statistics, level);
            e_values.iter_mut().zip(found).for_each(|(sum, e)| *sum += e / draws as f64);
        }
        let selected = selection::select(&e_values, options.fdr.get());
        let mut order: Vec<usize> = (0..gram.len()).filter(|&a| own[a][0] > 0.0).collect();
        order.sort_by(|&a, &b| own[b][0].total_cmp(&own[a][0]).then(a.cmp(&b)));
        for (place, &a) in (1..).zip(&order) {
            annotators[gram.members[a]].order = Some(place);
        }
        for (a, &member) in gram.members.iter().enumerate() {
            let scale = self.unit / gram.scale[a];
            let annotator = &mut annotators[member];
            annotator.bias = Some(scale * knockoffs.estimate[a]);
            annotator.se = noise.map(|noise| scale * noise * knockoffs.inverse_diagonal[a].sqrt());
            annotator.importance = self.unit * own[a][0];
            annotator.e_value = e_values[a];
            annotator.selected = selected[a];
        }
        Ok(PositionBias { annotators, options: *options, has_knockoffs })
    }

    fn path(&self, max_entries: usize) -> Vec<BiasStep> {
        let design = Design::annotators(&self.gram);
        let mut path = IssPath::new(&design);
        let mut steps = Vec::new();
        while let Some(entry) = path.next_entry().filter(|_| steps.len() < max_entries) {
            path.apply(entry);
            let bias = |(a, values): (usize, [f64; 2])| {
                (self.gram.members[a] as u32, self.unit * values[0] / self.gram.scale[a])
            };
            let time = entry.time / self.unit;
            steps.push(BiasStep { time, biases: path.active_values().map(bias).collect() });
        }
        steps
    }
}
