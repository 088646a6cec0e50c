//! Computes everything that a report shows about a study.
//!
//! | part | how it is computed |
//! |---|---|
//! | ranking | given: the report is about it |
//! | path of the slider | by the ranking's method, or by `iss` or `lbi` if that has no path |
//! | comparison of methods | each method flags votes by the rule of the ranking, as in `hodgerank compare` |
//! | annotators | by the fit of `crowd` in that comparison |
//! | consistency | decomposition of all votes, and of the votes that are not flagged |
//! | diagnosis | [`hodgerank::diagnose`] |
//! | predictions | [`hodgerank::predict`] |
//!
//! The slowest methods dominate the cost. Methods that would take too long are omitted and listed.

use std::sync::OnceLock;

use hodgerank::annotators::{JudgedAnnotator, judge};
use hodgerank::decompose::{DecomposeOptions, Decomposition, decompose};
use hodgerank::diagnose::{DiagnoseOptions, Diagnosis, diagnose_ranked};
use hodgerank::fit::{self, Fit};
use hodgerank::path::Parameter;
use hodgerank::predict::Predictor;
use hodgerank::select::{self, OutlierRule};
use hodgerank::solve::crowd::Crowd;
use hodgerank::solve::inverse_scale_space;
use hodgerank::{
    AnnotatorVotes, ComparisonGraph, Error, Labels, Method, Path, RankedStudy, Result,
};

/// Maximum number of distinct votes for methods that need more than a few passes over them.
const MAX_GROUPS: usize = 2_000_000;

/// Maximum number of multiply-adds to spend on `iss`: about a second.
const MAX_ISS_COST: f64 = 1e9;

/// The slowest methods, with the longest serial stretches first.
const SLOWEST: [Method; 4] =
    [Method::Trimmed, Method::HardThreshold, Method::InverseScaleSpace, Method::PcLasso];

/// Share of the votes flagged at the end of the slider, unless the ranking itself flags more.
const SLIDER_SHARE: f64 = 0.2;

/// A ranked study, and what else is known about it.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'a> {
    /// The study that the report is about.
    pub study: &'a RankedStudy,
    /// Labels of its items.
    pub items: &'a Labels,
    /// Its votes.
    pub graph: &'a ComparisonGraph,
    /// Its scores and flagged votes.
    pub fit: &'a Fit,
    /// What a reader of the ranking must know.
    pub warnings: &'a [String],
}

impl<'a> ReportInput<'a> {
    /// A report about `study`. Annotators are judged if it has their votes.
    #[must_use]
    pub fn new(study: &'a RankedStudy, warnings: &'a [String]) -> Self {
        let RankedStudy { items, graph, fit, .. } = study;
        Self { study, items, graph, fit, warnings }
    }

    /// The votes with their annotators; `None` if no annotator is known, or all votes are ties, which
    /// say nothing about annotators.
    #[must_use]
    pub fn annotator_votes(&self) -> Option<&'a AnnotatorVotes> {
        let can_judge = |votes: &&AnnotatorVotes| {
            votes.annotators() > 0 && votes.outcomes().iter().any(|&y| y != 0.0)
        };
        self.study.annotator_votes.as_ref().filter(can_judge)
    }
}

/// Everything that a report shows about a study.
#[derive(Debug)]
pub struct StudyFindings<'a> {
    /// The study and its ranking.
    pub ranked: ReportInput<'a>,
    /// The fits of all methods that were compared.
    pub methods: Vec<Fit>,
    /// Methods that were not compared, because the study is too large for them.
    pub left_out: Vec<Method>,
    /// The annotators, the most problematic first; `None` if there is nothing to judge
    /// ([`ReportInput::annotator_votes`]), or `crowd` was left out.
    pub annotators: Option<Vec<JudgedAnnotator<String>>>,
    /// The path of the slider and the method that computed it; `None` for fewer than two votes.
    pub path: Option<(Method, Path)>,
    /// Decomposition of all votes.
    pub all_votes: Decomposition,
    /// Decomposition of the votes that are not flagged; `None` if no vote is flagged.
    pub trusted_votes: Option<Decomposition>,
    /// Share of all votes that agree with the ranking; `None` if no vote can agree or disagree.
    pub agreement: Option<f64>,
    /// Share of the votes that are not flagged that agree with the ranking.
    pub trusted_agreement: Option<f64>,
    /// The agreement that careful annotators would reach on the same pairs; `None` if the scores give no
    /// probabilities ([`Predictor::no_factor`]).
    pub careful_agreement: Option<f64>,
    /// Whether the data can support the ranking.
    pub diagnosis: Diagnosis,
    /// Predicts which of two items a careful annotator prefers.
    pub predictor: Predictor<'a>,
}

impl<'a> StudyFindings<'a> {
    /// The factor that brings scores in the unit of the outcomes, such as plain ones, to the unit of the
    /// ranking, so that one chart can show both: 1 unless the ranking is in log-odds.
    #[must_use]
    pub fn unit_of_outcomes(&self) -> f64 {
        if self.ranked.fit.outcome_size.is_none() {
            return 1.0;
        }
        let pairs = self.all_votes.scores.iter().zip(&self.ranked.fit.scores);
        let product: f64 = pairs.map(|(plain, robust)| plain * robust).sum();
        let square: f64 = self.all_votes.scores.iter().map(|plain| plain * plain).sum();
        let factor = product / square;
        // Unrelated rankings have no common unit.
        if factor.is_finite() && factor > 0.0 { factor } else { 1.0 }
    }

    /// Computes the findings.
    ///
    /// # Errors
    /// If a solver fails.
    pub fn new(ranked: ReportInput<'a>) -> Result<Self> {
        let graph = ranked.graph;
        // Most parts have long serial stretches. The methods take longest, and they divide well, so the
        // thread that ends first takes some of them.
        let (methods, (diagnosis, ((path, predictor), decompositions))) = rayon::join(
            || compare(ranked),
            || {
                rayon::join(
                    || diagnose_ranked(ranked.study, &DiagnoseOptions::default()),
                    || {
                        rayon::join(
                            || (slider_path(ranked), Predictor::new(ranked.study)),
                            || decompositions(ranked),
                        )
                    },
                )
            },
        );
        let (methods, left_out) = methods?;
        let predictor = predictor?;
        let judged = crowd_of(&methods).zip(ranked.annotator_votes());
        let annotators = judged.map(|(crowd, votes)| judge(crowd, votes, &ranked.study.annotators));
        let (all_votes, trusted_votes) = decompositions?;
        Ok(Self {
            ranked,
            methods,
            left_out,
            annotators,
            path: path?,
            all_votes,
            trusted_votes,
            agreement: agreement(ranked, &graph.groups().weight),
            trusted_agreement: agreement(ranked, &trusted_weights(ranked)),
            careful_agreement: predictor.expected_agreement(),
            diagnosis: diagnosis?,
            predictor,
        })
    }

    /// Returns the number of votes flagged in the ranking.
    #[must_use]
    pub fn flagged(&self) -> u64 {
        self.ranked.study.outliers.comparisons
    }

    /// Returns what `crowd` says about the annotators, if it was fitted.
    #[must_use]
    pub fn crowd(&self) -> Option<&Crowd> {
        crowd_of(&self.methods)
    }
}

fn crowd_of(methods: &[Fit]) -> Option<&Crowd> {
    methods.iter().find_map(Fit::crowd)
}

/// All methods in the order of the chart that compares them: those without a path first. Methods that
/// judge people take part if annotators are known.
fn methods_in_order(has_annotators: bool) -> Vec<Method> {
    let can_run = |method: &Method| has_annotators || !method.needs_annotators();
    let mut methods: Vec<Method> = Method::ALL.iter().copied().filter(can_run).collect();
    // `lasso-l2` refits what `hlasso` flags, so it follows `hlasso`.
    methods.sort_by_key(|&method| {
        let path = method.info().path;
        (path.is_some(), path == Some(Parameter::Time), method == Method::LassoL2)
    });
    methods
}

/// Fits all methods with the options of the ranking, as `hodgerank compare` does. Where the number of votes
/// to flag depends on the ranking's method (λ, a time, cross-validation), the others flag as many.
fn compare(ranked: ReportInput<'_>) -> Result<(Vec<Fit>, Vec<Method>)> {
    let ReportInput { graph, fit, .. } = ranked;
    // The other methods keep enough votes to connect the items.
    let enough = (graph.items() - graph.components().len()) as f64;
    let flagged = fit.flagged.iter().sum::<f64>();
    let votes = flagged.min((graph.votes() - enough).max(0.0));
    let options = ranked.study.options;
    // Computed once for all methods.
    let auto = match options.rule() {
        OutlierRule::Auto => Some(select::auto(graph)?),
        _ => None,
    };
    let rule = match (options.rule(), auto) {
        (_, Some(auto)) => OutlierRule::Count(auto.votes as u64),
        (rule @ (OutlierRule::Share(_) | OutlierRule::Count(_)), _) if votes == flagged => rule,
        _ => OutlierRule::Count(votes as u64),
    };
    let is_quick = |method: Method| match method {
        Method::L2 | Method::Ridge | Method::Bregman => true,
        Method::InverseScaleSpace => {
            inverse_scale_space::cost_estimate(graph, votes) <= MAX_ISS_COST
        }
        _ => graph.groups().len() <= MAX_GROUPS,
    };
    let annotator_votes = ranked.annotator_votes();
    let fit_one = |method: Method| {
        if method == fit.method {
            return Ok(Some(fit.clone()));
        }
        if !is_quick(method) {
            return Ok(None);
        }
        let estimates_itself =
            matches!(method, Method::Trimmed | Method::BradleyTerry | Method::Crowd);
        let rule = match options.rule() {
            OutlierRule::Auto if estimates_itself => OutlierRule::Auto,
            _ => rule,
        };
        let options = options.with_method_and_rule(method, rule);
        match fit::fit_with_auto(graph, annotator_votes, &options, auto) {
            Err(Error::TooLarge { .. }) => Ok(None),
            result => result.map(Some),
        }
    };
    let methods = methods_in_order(annotator_votes.is_some());
    let mut slowest_first: Vec<usize> = (0..methods.len()).collect();
    slowest_first.sort_by_key(|&k| {
        SLOWEST.iter().position(|&slow| slow == methods[k]).unwrap_or(SLOWEST.len())
    });
    // First in, first out: a slow method that started last would leave the other threads without work.
    let slots: Vec<OnceLock<Result<Option<Fit>>>> =
        methods.iter().map(|_| OnceLock::new()).collect();
    rayon::scope_fifo(|scope| {
        for &k in &slowest_first {
            let (slot, method, fit_one) = (&slots[k], methods[k], &fit_one);
            scope.spawn_fifo(move |_| drop(slot.set(fit_one(method))));
        }
    });
    let fits = slots.into_iter().filter_map(OnceLock::into_inner).collect::<Result<Vec<_>>>()?;
    let fits: Vec<(Method, Option<Fit>)> = methods.into_iter().zip(fits).collect();
    let left_out =
        fits.iter().filter(|(_, fit)| fit.is_none()).map(|(method, _)| *method).collect();
    Ok((fits.into_iter().filter_map(|(_, fit)| fit).collect(), left_out))
}

/// Computes the path of the slider, beyond the number of votes that the ranking flags.
fn slider_path(ranked: ReportInput<'_>) -> Result<Option<(Method, Path)>> {
    let ReportInput { graph, fit, .. } = ranked;
    let groups = graph.groups();
    // A path never flags all votes.
    if groups.votes() < 2.0 {
        return Ok(None);
    }
    let flagged = fit.flagged.iter().sum::<f64>();
    let votes = (2.0 * flagged).max(SLIDER_SHARE * groups.votes()).min(0.5 * groups.votes());
    let cost = |votes| inverse_scale_space::cost_estimate(graph, votes);
    let method = match fit.method {
        Method::LassoL2 => Method::HuberLasso,
        method if method.info().path.is_some() => method,
        _ if cost(votes) <= MAX_ISS_COST => Method::InverseScaleSpace,
        _ => Method::Bregman,
    };
    // If a longer path would take too long, the slider ends at the report's ranking.
    let is_slow = method == Method::InverseScaleSpace && cost(votes) > MAX_ISS_COST;
    let votes = if is_slow { flagged } else { votes };
    let outliers = OutlierRule::Count(votes.max(1.0) as u64);
    let options = ranked.study.options.with_method_and_rule(method, outliers);
    Ok(Some((method, fit::path(graph, &options)?)))
}

fn decompositions(ranked: ReportInput<'_>) -> Result<(Decomposition, Option<Decomposition>)> {
    let ReportInput { graph, fit, .. } = ranked;
    let all = decompose(graph, &DecomposeOptions::default())?;
    if fit.flagged.iter().all(|&votes| votes == 0.0) {
        return Ok((all, None));
    }
    let groups = graph.groups().reweighted(&trusted_weights(ranked));
    let trusted = ComparisonGraph::new(graph.items(), groups)?;
    Ok((all, Some(decompose(&trusted, &DecomposeOptions::default())?)))
}

/// Returns how often each distinct vote was cast, without its flagged votes.
fn trusted_weights(ranked: ReportInput<'_>) -> Vec<f64> {
    let weight = &ranked.graph.groups().weight;
    weight.iter().zip(&ranked.fit.flagged).map(|(w, f)| w - f).collect()
}

/// Returns the share of votes whose sign matches the order of the scores. Tied votes, and votes on
/// items with equal scores, do not count; `None` if none is left.
fn agreement(ranked: ReportInput<'_>, weight: &[f64]) -> Option<f64> {
    let weight = weight.iter().copied();
    let [agree, disagree] = agreeing_votes(ranked.graph, &ranked.fit.scores, weight);
    (agree + disagree > 0.0).then(|| agree / (agree + disagree))
}

/// Returns the number of votes that agree with the order of the scores, and that contradict it. Tied
/// votes, and votes on items with equal scores, do neither. `weight` counts each distinct vote.
pub(crate) fn agreeing_votes(
    graph: &ComparisonGraph,
    scores: &[f64],
    weight: impl Iterator<Item = f64>,
) -> [f64; 2] {
    let groups = graph.groups();
    let (mut agree, mut disagree) = (0.0, 0.0);
    for (g, w) in weight.enumerate() {
        let difference = scores[groups.left[g] as usize] - scores[groups.right[g] as usize];
        let along = groups.y[g] * difference.signum();
        if difference != 0.0 && along > 0.0 {
            agree += w;
        } else if difference != 0.0 && along < 0.0 {
            disagree += w;
        }
    }
    [agree, disagree]
}
