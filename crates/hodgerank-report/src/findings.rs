//! Everything that a report shows of one study, found once.
//!
//! | part | from |
//! |---|---|
//! | the ranking | handed over: the report is about it |
//! | the path behind the slider | the ranking's own method, or the default one where that has none |
//! | all methods | as many votes flagged as in the ranking, so that they can be compared |
//! | where inconsistency lives | the decomposition of all votes, and of those still trusted |
//! | what the data can carry | the diagnosis |
//!
//! Cost: dominated by the slowest methods; those that would take long are left out and named.

use hodgerank::decompose::{DecomposeOptions, Decomposition, decompose};
use hodgerank::diagnose::{DiagnoseOptions, Diagnosis, diagnose};
use hodgerank::fit::{self, Fit};
use hodgerank::select::OutlierRule;
use hodgerank::solve::inverse_scale_space;
use hodgerank::{AnnotatorReport, ComparisonGraph, Error, Method, Path, RankedStudy, Result};
use rayon::prelude::*;

/// Groups beyond which only methods of a few passes over the votes are compared.
const MANY_GROUPS: usize = 2_000_000;

/// Multiply-adds that a comparison may spend on `iss`: about a second.
const MAX_ISS_COST: f64 = 1e9;

/// Share of the votes that the slider goes up to, if the ranking does not go further itself.
const SLIDER_SHARE: f64 = 0.2;

/// Everything that is shown of a study.
#[derive(Debug)]
pub struct Findings<'a> {
    /// The study.
    pub ranked: &'a RankedStudy,
    /// Statistics of the annotators, if they are known.
    pub annotators: Option<&'a [AnnotatorReport<String>]>,
    /// What a reader of the ranking must know.
    pub warnings: &'a [String],
    /// All methods that were compared.
    pub methods: Vec<Fit>,
    /// Methods that were not: these votes are too many for them, or would take them long.
    pub left_out: Vec<Method>,
    /// The path behind the slider, and whose it is.
    pub path: Option<(Method, Path)>,
    /// Where the inconsistency of all votes lives.
    pub all_votes: Decomposition,
    /// The same of the votes that are trusted; none where that is all.
    pub trusted_votes: Option<Decomposition>,
    /// What the data can carry.
    pub diagnosis: Diagnosis,
}

impl<'a> Findings<'a> {
    /// Finds it all.
    ///
    /// # Errors
    /// If a solver fails.
    pub fn new(
        ranked: &'a RankedStudy,
        annotators: Option<&'a [AnnotatorReport<String>]>,
        warnings: &'a [String],
    ) -> Result<Self> {
        let RankedStudy { graph, fit, .. } = ranked;
        let ((methods, path), (decompositions, diagnosis)) = rayon::join(
            || (compare(ranked), compute_path(ranked)),
            || {
                let diagnosis = diagnose(graph, &fit.flagged, &DiagnoseOptions::default());
                (decompositions(ranked), diagnosis)
            },
        );
        let (methods, left_out) = methods?;
        let (all_votes, trusted_votes) = decompositions?;
        let (path, diagnosis) = (path?, diagnosis?);
        Ok(Self {
            ranked,
            annotators,
            warnings,
            methods,
            left_out,
            path,
            all_votes,
            trusted_votes,
            diagnosis,
        })
    }

    /// Votes flagged in the ranking.
    #[must_use]
    pub fn flagged(&self) -> u64 {
        self.ranked.outliers.comparisons
    }
}

/// All methods with as many votes flagged as in the ranking.
fn compare(study: &RankedStudy) -> Result<(Vec<Fit>, Vec<Method>)> {
    let RankedStudy { graph, fit, options, .. } = study;
    let votes = fit.flagged.iter().sum::<f64>();
    let is_quick = |method: Method| match method {
        Method::L2 | Method::Ridge | Method::Bregman => true,
        Method::InverseScaleSpace => {
            inverse_scale_space::cost_estimate(graph, votes) <= MAX_ISS_COST
        }
        _ => graph.groups().len() <= MANY_GROUPS,
    };
    let fits: Vec<(Method, Option<Fit>)> = Method::ALL
        .par_iter()
        .map(|&method| {
            if method == fit.method {
                return Ok((method, Some(fit.clone())));
            }
            if !is_quick(method) {
                return Ok((method, None));
            }
            let outliers = OutlierRule::Count(votes as u64);
            match hodgerank::fit(graph, &options.with_method_and_rule(method, outliers)) {
                // Some methods say themselves what is too much for them.
                Err(Error::TooLarge { .. }) => Ok((method, None)),
                found => found.map(|fit| (method, Some(fit))),
            }
        })
        .collect::<Result<_>>()?;
    let left_out =
        fits.iter().filter(|(_, fit)| fit.is_none()).map(|(method, _)| *method).collect();
    Ok((fits.into_iter().filter_map(|(_, fit)| fit).collect(), left_out))
}

/// The path beyond the place where the ranking was taken.
fn compute_path(study: &RankedStudy) -> Result<Option<(Method, Path)>> {
    let RankedStudy { graph, fit, options, .. } = study;
    let groups = graph.groups();
    // A path ends with votes left to trust.
    if groups.votes() < 2.0 {
        return Ok(None);
    }
    let flagged = fit.flagged.iter().sum::<f64>();
    let votes = (2.0 * flagged).max(SLIDER_SHARE * groups.votes()).min(0.5 * groups.votes());
    let cost = |votes| inverse_scale_space::cost_estimate(graph, votes);
    let method = match fit.method {
        Method::HuberLasso | Method::LassoL2 => Method::HuberLasso,
        Method::Bregman => Method::Bregman,
        Method::InverseScaleSpace => Method::InverseScaleSpace,
        _ if cost(votes) <= MAX_ISS_COST => Method::InverseScaleSpace,
        _ => Method::Bregman,
    };
    // Where going further would take long, the slider ends where the ranking was taken.
    let too_far = method == Method::InverseScaleSpace && cost(votes) > MAX_ISS_COST;
    let votes = if too_far { flagged } else { votes };
    let outliers = OutlierRule::Count(votes.max(1.0) as u64);
    let options = options.with_method_and_rule(method, outliers);
    Ok(Some((method, fit::path(graph, &options)?)))
}

fn decompositions(study: &RankedStudy) -> Result<(Decomposition, Option<Decomposition>)> {
    let RankedStudy { graph, fit, .. } = study;
    let all = decompose(graph, &DecomposeOptions::default())?;
    if fit.flagged.iter().all(|&votes| votes == 0.0) {
        return Ok((all, None));
    }
    let groups = graph.groups();
    let left: Vec<f64> = groups.weight.iter().zip(&fit.flagged).map(|(w, f)| w - f).collect();
    let trusted = ComparisonGraph::new(graph.items(), groups.reweighted(&left))?;
    Ok((all, Some(decompose(&trusted, &DecomposeOptions::default())?)))
}
