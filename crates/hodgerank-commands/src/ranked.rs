//! Ranks one study, and describes how it was ranked.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use hodgerank::model::{Decision, Link, Prior, PriorKind, Refinement};
use hodgerank::path::Parameter;
use hodgerank::select::cross_validation::CrossValidation;
use hodgerank::select::lapse::LapseTest;
use hodgerank::solve::RidgeOptions;
use hodgerank::solve::crowd::AnnotatorClass;
use hodgerank::uncertainty::cautions::{FEW_VOTES, FEW_VOTES_OF_ANNOTATOR};
use hodgerank::uncertainty::{Caution, IntervalEngine};
use hodgerank::{
    FitOptions, IgnoredOption, IntervalOptions, Method, Model, OutlierSummary, RankedStudy, Study,
};
use hodgerank_report::words::{counted, thousands};
use serde::Serialize;

use crate::certificate::{confirmation, objection};
use crate::failure::Failure;
use crate::observer::{Observer, Task};
use crate::text::{or_list, visible};

/// Ranks a study; `rejected` rows of the input were not counted.
///
/// # Errors
/// If an option is invalid for the votes, or a solver fails.
pub fn rank_study(
    study: Study,
    rejected: u64,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<RankedStudy, Failure> {
    let ranked =
        observer.run(Task::Step("solving"), || RankedStudy::new(study, rejected, options))??;
    announce(&ranked, observer);
    Ok(ranked)
}

/// Adds standard errors, intervals, ranges of ranks and tiers, and warns if they may be too narrow. Shows the
/// progress of a bootstrap.
///
/// # Errors
/// If an option is invalid, a solver fails, or intervals were asked for that the ranking does not have.
pub fn estimate_uncertainty(
    ranked: RankedStudy,
    options: &IntervalOptions,
    observer: &dyn Observer,
) -> Result<RankedStudy, Failure> {
    let (done, all) = (AtomicU64::new(0), AtomicU64::new(options.draws() as u64));
    let task = match options.intervals {
        Some(IntervalEngine::Bootstrap) => {
            Task::Counting { name: "bootstrap", done: &done, all: &all }
        }
        _ => Task::Step("estimating uncertainty"),
    };
    let ranked = observer.run(task, || ranked.with_counted_uncertainty(options, &done))??;
    let by = ranked.by.as_ref().map_or(String::new(), |by| format!("{}: ", visible(by)));
    // With several studies it would be repeated for each; their documents have it.
    let is_told =
        |caution: &&Caution| ranked.by.is_none() || !matches!(caution, Caution::UnknownAnnotators);
    let cautions = ranked.uncertainty.iter().flat_map(|found| &found.cautions).filter(is_told);
    for warning in cautions.filter_map(interval_warning) {
        observer.warn(&format!("{by}{warning}"));
    }
    Ok(ranked)
}

/// Tells the observer the size of a ranked study, how many votes are flagged, and the warnings.
pub fn announce(ranked: &RankedStudy, observer: &dyn Observer) {
    let by = ranked.by.as_ref().map_or(String::new(), |by| format!("{}: ", visible(by)));
    let annotators = match ranked.input.annotators {
        0 => String::new(),
        annotators => format!(" by {}", counted(annotators as u64, "annotator", "annotators")),
    };
    let flagged = match ranked.outliers {
        OutlierSummary { comparisons: 0, .. } => String::new(),
        OutlierSummary { comparisons, fraction } => {
            let votes = counted(comparisons, "vote", "votes");
            format!(", {votes} flagged ({:.1}%)", 100.0 * fraction)
        }
    };
    let lapses = ranked.fit.lapses.map_or(String::new(), |test| lapse_test(&test));
    let checked = confirmation(ranked).map_or(String::new(), |text| format!("; {text}"));
    observer.note(&format!(
        "{by}{}, {}{annotators} ({} distinct), method {}{lapses}{flagged}{checked}",
        counted(ranked.input.items as u64, "item", "items"),
        counted(ranked.input.comparisons, "vote", "votes"),
        thousands(ranked.input.groups as u64),
        ranked.fit.method,
    ));
    if let Some(model) = &ranked.fit.model {
        observer.note(&format!("{by}{}", choices(model)));
    }
    for warning in warnings(ranked) {
        observer.warn(&format!("{by}{warning}"));
    }
}

/// What was chosen by how well it predicts votes, and what that gains.
fn choices(model: &Model) -> String {
    let Prior { kind, precision } = model.prior();
    let on = match kind {
        PriorKind::Scores => "the scores",
        PriorKind::Differences => "differences of compared items",
    };
    let mut text = format!("prior on {on} with precision {precision:.2}");
    for Decision { refinement, gain, is_used, .. } in model.decisions() {
        let what = match refinement {
            Refinement::Sides => "an advantage of one side",
            Refinement::Lapses => "random answers",
            Refinement::People => "how reliable each annotator is",
        };
        let changes = if *gain > 0.0 { "improves" } else { "worsens" };
        let used = if *is_used { "used" } else { "not used" };
        text.push_str(&format!(
            "; {what} {changes} predictions by {:.4} per vote: {used}",
            gain.abs()
        ));
    }
    text
}

/// What a reader of the ranking must know.
#[must_use]
pub fn warnings(ranked: &RankedStudy) -> Vec<String> {
    let mut warnings = Vec::new();
    if ranked.input.components > 1 {
        let alone = ranked.ranking.items.iter().filter(|item| item.comparisons == 0).count();
        let mut text = format!(
            "the votes fall into {} components that no vote connects; each is ranked on its own, \
             and ranks and scores of different components do not compare",
            ranked.input.components
        );
        if alone > 0 {
            text.push_str(&format!(" ({alone} items were compared with nothing)"));
        }
        warnings.push(text);
    }
    warnings.extend(objection(ranked));
    warnings.extend(ignored_options(ranked));
    warnings.extend(close_decision(ranked));
    warnings.extend(flagged_majority(ranked));
    warnings.extend(crowd_warnings(ranked));
    warnings.extend(interval_warnings(ranked));
    warnings
}

/// How clearly the votes decide whether there are lapses.
fn lapse_test(test: &LapseTest) -> String {
    match test.is_passed() {
        true => format!(", lapse rate {:.1}%", 100.0 * test.rate),
        false => ", no lapses".to_owned(),
    }
}

/// Options that were given and that the method does not use, which was chosen for the votes.
fn ignored_options(ranked: &RankedStudy) -> Vec<String> {
    let method = ranked.fit.method;
    let ignored = ranked.options.ignored_by(method).into_iter();
    let text = |ignored: IgnoredOption| {
        let flag = ignored.option.replace('_', "-");
        let methods = or_list(&ignored.methods);
        format!(
            "--{flag} changes nothing: method {method}, which was chosen for these votes, does not use \
             it; --method {methods} does"
        )
    };
    ignored.map(text).collect()
}

/// A decision about lapses that another study of the same size could well reverse.
fn close_decision(ranked: &RankedStudy) -> Option<String> {
    let test = ranked.fit.lapses.filter(LapseTest::is_close)?;
    let is_bt = ranked.fit.method == Method::BradleyTerry;
    let (decision, advice) = match (test.is_passed(), is_bt) {
        (true, true) => ("some votes are lapses", "add --lapse-rate 0 to rank without lapses"),
        (true, false) => ("some votes are lapses", "add --outliers 0 to flag no votes"),
        (false, true) => ("no votes are lapses", "add --lapse-rate 0.05 to allow for some"),
        (false, false) => ("no votes are lapses", "add --outliers 2% to flag some"),
    };
    Some(format!(
        "it is a close decision that {decision}: lapses raise the log-likelihood by {:.1}, and {:.1} is \
         required; {advice}, and see whether the ranking changes",
        test.gain, test.needed
    ))
}

/// Reasons why intervals and ranges of ranks may be too narrow.
fn interval_warnings(ranked: &RankedStudy) -> Vec<String> {
    let found = ranked.uncertainty.iter().flat_map(|found| &found.cautions);
    found.filter_map(interval_warning).collect()
}

fn interval_warning(caution: &Caution) -> Option<String> {
    let text = match *caution {
        Caution::UnknownAnnotators => {
            "the votes do not say who voted, so that bad annotators cannot be \
             found; if there are any, scores are too close together and intervals too narrow"
                .to_owned()
        }
        Caution::FewAnnotators(annotators) => format!(
            "with votes by only {annotators} annotators, intervals are rough; they use Student's t"
        ),
        Caution::FewVotes(median) => {
            let votes = if median == 1 { "1 vote".to_owned() } else { format!("{median} votes") };
            format!(
                "half of the items have {votes} or fewer, so that intervals and ranges of ranks may \
                 be too narrow; {FEW_VOTES} votes per item are enough"
            )
        }
        Caution::UnjudgedAnnotators(share) => format!(
            "{:.0}% of the votes are by annotators with fewer than {FEW_VOTES_OF_ANNOTATOR} votes, \
             who cannot be judged, so that intervals may be too narrow; ask each annotator more often",
            100.0 * share
        ),
        Caution::SimilarItems(agreement) => format!(
            "items that are compared with each other are so similar that {:.0}% of careful votes agree \
             with the ranking; careless annotators cannot be told from careful ones, so that scores may be \
             too close together and intervals too narrow",
            100.0 * agreement
        ),
        _ => return None,
    };
    Some(text)
}

/// A ranking that rests on a minority of the votes.
fn flagged_majority(ranked: &RankedStudy) -> Option<String> {
    let share = ranked.outliers.fraction;
    let advice = match ranked.fit.crowd() {
        Some(_) => "`hodgerank annotators` lists whose votes they are",
        None => {
            "look for outcomes with misplaced decimal points, or set the number with --outliers"
        }
    };
    (share > 0.5).then(|| {
        format!(
            "more than half of the votes are flagged ({:.0}%), so the ranking rests on a minority of \
             them; {advice}",
            100.0 * share
        )
    })
}

/// How the items were ranked. Fields that a method does not have are left out.
#[derive(Debug, Clone, Default, Serialize)]
pub struct MethodSummary {
    /// The method.
    pub name: &'static str,
    /// How it was chosen, if it was not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<&'static str>,
    /// How many votes it flags, as `--outliers` takes it; only for methods that flag votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Strength of the ridge penalty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
    /// λ at which the path stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// Time at which the path stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Damping of lbi, if given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// Time step of lbi, if given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dt: Option<f64>,
    /// The cross-validation of λ, with `--outliers cv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv: Option<CrossValidation>,
    /// Whether there are lapses, where the votes decided it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lapses: Option<LapseSummary>,
    /// What a model of how people vote estimates besides the scores.
    #[serde(flatten)]
    pub model: Option<ModelSummary>,
    /// The linear solver (of the largest component).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<&'static str>,
    /// Its iterations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    /// Its relative residual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
}

impl MethodSummary {
    /// How this study was ranked.
    #[must_use]
    pub fn new(ranked: &RankedStudy) -> Self {
        let RankedStudy { fit, options, .. } = ranked;
        let at = |wanted| fit.stop.filter(|(parameter, _)| *parameter == wanted).map(|(_, at)| at);
        let is_ridge = fit.method == Method::Ridge;
        Self {
            name: fit.method.as_str(),
            chosen: options.method.is_none().then(|| why_chosen(fit.method)),
            rule: fit.method.info().flags_votes.then(|| options.rule().to_string()),
            ridge: is_ridge.then(|| options.ridge.unwrap_or(RidgeOptions::default().ridge)),
            lambda: at(Parameter::Lambda),
            time: at(Parameter::Time),
            kappa: options.kappa,
            dt: options.dt,
            cv: fit.cross_validation.clone(),
            lapses: fit.lapses.as_ref().map(LapseSummary::new),
            model: fit
                .model
                .as_ref()
                .and_then(|model| ModelSummary::new(model, ranked.graph.votes())),
            backend: fit.linear.map(|linear| linear.backend),
            iterations: fit.linear.map(|linear| linear.iterations),
            residual: fit.linear.map(|linear| linear.residual),
        }
    }
}

/// Whether there are lapses, and how clearly the votes decide it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LapseSummary {
    /// Share of votes that are lapses; 0 if lapses are not in the model.
    pub rate: f64,
    /// Gain of the log-likelihood by lapses.
    pub gain: f64,
    /// The gain that is needed for lapses to be in the model.
    pub gain_needed: f64,
    /// Whether another study of this size could well decide otherwise.
    pub close: bool,
}

impl LapseSummary {
    fn new(test: &LapseTest) -> Self {
        let LapseTest { rate, gain, needed } = *test;
        Self { rate, gain, gain_needed: needed, close: test.is_close() }
    }
}

/// Estimates of a model of how people vote.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum ModelSummary {
    /// Bradley–Terry with lapses.
    BradleyTerry {
        /// Share of votes that are lapses: answers that do not depend on the items.
        lapse_rate: f64,
        /// Precision of the prior.
        prior: f64,
        /// Odds of a tie between equal items.
        tie_odds: f64,
        /// Advantage of the left side in log-odds.
        side_advantage: f64,
        /// Always 1: scores are no longer stretched.
        stretch: f64,
        /// Log-likelihood of the votes.
        log_likelihood: f64,
        /// Gain of the log-likelihood of votes that are left out by lapses.
        lapse_gain: f64,
        /// What was chosen.
        #[serde(flatten)]
        chosen: ChosenModel,
    },
    /// Bradley–Terry of a crowd.
    Crowd {
        /// Share of annotators of each class.
        classes: BTreeMap<&'static str, f64>,
        /// Precision of the prior.
        prior: f64,
        /// Odds of a tie between equal items.
        tie_odds: f64,
        /// Advantage of the left side in log-odds.
        side_advantage: f64,
        /// Standard deviation of a typical annotator's outcomes, for graded votes.
        #[serde(skip_serializing_if = "Option::is_none")]
        noise: Option<f64>,
        /// Log-likelihood of the votes.
        log_likelihood: f64,
        /// The same if every annotator were careful.
        log_likelihood_careful: f64,
        /// Standard deviation of the logarithm of the sharpness of honest annotators.
        sharpness_sd: f64,
        /// Standard deviation of their preferences for a side in log-odds.
        side_preference_sd: f64,
        /// Votes by people of whom nothing is known.
        unknown_votes: u64,
        /// Iterations of the last search for scores.
        iterations: usize,
        /// What was chosen.
        #[serde(flatten)]
        chosen: ChosenModel,
    },
}

/// What was chosen by how well it predicts votes.
#[derive(Debug, Clone, Serialize)]
pub struct ChosenModel {
    /// What the prior is on: the scores, or the differences of compared items.
    pub prior_kind: &'static str,
    /// What was tried, and what it gains.
    pub decisions: Vec<Decision>,
    /// The probability of a vote of this crowd; none for graded votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkSummary>,
}

/// P(left) = left + (1 − left − right) F(slope · difference + shift).
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LinkSummary {
    /// Share of votes for the left side, whatever the items.
    pub left: f64,
    /// Share of votes for the right side, whatever the items.
    pub right: f64,
    /// Log-odds per unit of the scores.
    pub slope: f64,
    /// Advantage of the left side in log-odds.
    pub shift: f64,
}

impl ChosenModel {
    fn new(model: &Model) -> Self {
        let link = |link: Link| {
            let Link { left, right, slope, shift, .. } = link;
            LinkSummary { left, right, slope, shift }
        };
        Self {
            prior_kind: model.prior().kind.as_str(),
            decisions: model.decisions().to_vec(),
            link: model.link().map(link),
        }
    }
}

/// Why a method is the default for the votes.
fn why_chosen(method: Method) -> &'static str {
    match method {
        Method::Crowd => "annotators are known",
        Method::BradleyTerry => "annotators are not known",
        Method::HuberLasso => "it has the parameter of the outlier rule",
        _ => "by cost",
    }
}

impl ModelSummary {
    fn new(model: &Model, votes: f64) -> Option<Self> {
        match model {
            Model::BradleyTerry(found) => Some(Self::BradleyTerry {
                lapse_rate: found.lapse_rate,
                prior: found.prior.precision,
                tie_odds: found.tie_odds,
                side_advantage: found.side_advantage,
                stretch: 1.0,
                log_likelihood: found.log_likelihood,
                lapse_gain: votes * found.lapse_test(1.0).gain,
                chosen: ChosenModel::new(model),
            }),
            Model::Crowd(flags) => {
                let found = &flags.crowd.estimates;
                let shares = found.class_shares.iter();
                Some(Self::Crowd {
                    classes: shares.map(|(class, share)| (class.as_str(), *share)).collect(),
                    prior: found.prior.precision,
                    tie_odds: found.tie_odds,
                    side_advantage: found.side_advantage,
                    noise: found.noise,
                    log_likelihood: found.log_likelihood,
                    log_likelihood_careful: found.log_likelihood_careful,
                    sharpness_sd: found.sharpness_sd,
                    side_preference_sd: found.side_preference_sd,
                    unknown_votes: found.unknown_votes,
                    iterations: found.iterations,
                    chosen: ChosenModel::new(model),
                })
            }
            _ => None,
        }
    }
}

/// Where warnings say that annotators are listed. The report, which lists them itself, names its section instead.
pub(crate) const ANNOTATORS_COMMAND: &str = "`hodgerank annotators`";

/// What a reader must know about the crowd.
fn crowd_warnings(ranked: &RankedStudy) -> Vec<String> {
    let Some(crowd) = ranked.fit.crowd() else { return Vec::new() };
    let mut warnings = Vec::new();
    if crowd.estimates.is_direction_uncertain {
        warnings.push(
            "nearly as many annotators vote against this ranking as for it, so it may be upside down: \
             compare it with items whose order is known"
                .to_owned(),
        );
    }
    let count = |classes: &[AnnotatorClass]| -> u64 {
        let counts = crowd.estimates.class_counts.iter();
        counts.filter(|(class, _)| classes.contains(class)).map(|(_, count)| count).sum()
    };
    let kinds = [
        (count(&[AnnotatorClass::Left, AnnotatorClass::Right]), "one-sided"),
        (count(&[AnnotatorClass::Contrary]), "contrary"),
        (count(&[AnnotatorClass::Coin]), "random"),
        (count(&[AnnotatorClass::Careless]), "careless"),
    ];
    let kinds: Vec<String> = kinds
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, kind)| format!("{} {kind}", thousands(*number)))
        .collect();
    if !kinds.is_empty() {
        warnings.push(format!(
            "of {} annotators: {}; {ANNOTATORS_COMMAND} lists them",
            thousands(ranked.input.annotators as u64),
            kinds.join(", ")
        ));
    }
    if crowd.estimates.unknown_votes > 0 {
        warnings.push(format!(
            "{} votes have no annotator; they count as those of a typical one",
            thousands(crowd.estimates.unknown_votes)
        ));
    }
    warnings
}
