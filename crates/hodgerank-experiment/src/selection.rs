//! The evidence for `--outliers auto`: simulated studies in which the bad votes are known.
//!
//! Each rule for the number of votes to flag is applied to each kind of study.
//!
//! | measure | meaning |
//! |---|---|
//! | flagged (clean) | share of the votes flagged in studies without bad votes; should be near 0 |
//! | F1 | harmonic mean of precision and recall; also the best F1 of any threshold on the residuals of the true scores |
//! | τ | Kendall's τ between the ranking and the truth |
//!
//! Small settings use one seed for each kind of study, full ones three. The rule `cv` is applied in
//! full settings only, to studies of the first seed that are small enough for it. Seeds start at
//! 1000 + seed, because smaller ones were used to tune the rule. `docs/selection.md` discusses the
//! results.

mod figure;
mod studies;

use hodgerank::fit::fit;
use hodgerank::select::OutlierRule;
use hodgerank::select::cross_validation::{CrossValidationOptions, MAX_VOTES};
use hodgerank::simulate::{SimulateOptions, SimulatedVote, Simulation};
use hodgerank::{FitOptions, Method, kendall};
use hodgerank_io::write::Table;
use rayon::prelude::*;

use crate::columns::{counts, numbers, table, texts};
use crate::error::Result;
use crate::findings::{Claim, Findings};
use crate::labelled_study::LabelledStudy;
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;
use crate::statistics::mean;
use studies::StudyKind;

/// Smaller seeds were used to tune the automatic rule; the evidence uses others.
const FIRST_SEED: u64 = 1000;

/// An outlier rule and the method that applies it.
struct Rule {
    name: &'static str,
    method: Method,
    outliers: OutlierRule,
}

const fn rule(name: &'static str, method: Method, outliers: OutlierRule) -> Rule {
    Rule { name, method, outliers }
}

/// The rules: `auto` first; `cv`, which cannot be applied to all studies, last.
fn rules(with_cv: bool) -> Vec<Rule> {
    let iss = Method::InverseScaleSpace;
    let scaled = OutlierRule::Scaled { m: 1.35 };
    let mut rules = vec![
        rule("auto", iss, OutlierRule::Auto),
        rule("5%", iss, OutlierRule::Share(0.05)),
        rule("10%", iss, OutlierRule::Share(0.10)),
        rule("lambda=1 (hlasso)", Method::HuberLasso, OutlierRule::Lambda(1.0)),
        rule("scaled", iss, scaled),
        rule("scaled (hlasso)", Method::HuberLasso, scaled),
        rule("none (l2)", Method::L2, OutlierRule::Auto),
    ];
    if with_cv {
        let cv = OutlierRule::CrossValidation(CrossValidationOptions::default());
        rules.push(rule("cv", iss, cv));
    }
    rules
}

/// Quality of a rule on a study, or a mean over studies; NaN where undefined.
#[derive(Debug, Clone, Copy)]
struct Quality {
    f1: f64,
    precision: f64,
    recall: f64,
    flagged: f64,
    tau: f64,
}

const UNDEFINED: Quality = Quality {
    f1: f64::NAN,
    precision: f64::NAN,
    recall: f64::NAN,
    flagged: f64::NAN,
    tau: f64::NAN,
};

/// Results on a kind of study.
struct KindResult {
    /// Number of bad votes.
    bad: f64,
    /// The best F1 that any rule can reach.
    best_f1: f64,
    /// Mean quality of each rule.
    quality: Vec<Quality>,
}

/// Repeats the experiment.
///
/// # Errors
/// If a solver fails.
pub fn run(settings: &Settings, progress: &ProgressCallback<'_>) -> Result<Findings> {
    let kinds = studies::kinds();
    let rules = rules(settings.full);
    let seeds = if settings.full { 3 } else { 1 };
    let first = FIRST_SEED.wrapping_add(settings.seed);
    let steps = StepCounter::new(kinds.len(), progress);
    let one = |kind: &StudyKind| {
        let result = result_of(kind, &rules, first, seeds);
        steps.advance();
        result
    };
    let results: Vec<KindResult> = kinds.par_iter().map(one).collect::<Result<_>>()?;
    let means: Vec<RuleMeans> =
        (0..rules.len()).map(|rule| RuleMeans::new(&results, rule)).collect();
    Ok(Findings {
        title: format!(
            "Rules for how many votes to flag: {} kinds of studies, seeds {first} to {}",
            kinds.len(),
            first + seeds - 1
        ),
        claims: claims(&rules, &means),
        tables: vec![
            ("selection".to_owned(), summary(&rules, &means)),
            ("selection-studies".to_owned(), long_table(&rules, &kinds, &results)),
        ],
        charts: vec![figure::draw(&rules, &means)],
    })
}

/// Simulates a kind of study once for each seed and applies every rule.
fn result_of(kind: &StudyKind, rules: &[Rule], first: u64, seeds: u64) -> Result<KindResult> {
    let mut studies: Vec<Vec<Quality>> = Vec::new();
    let (mut bad, mut best) = (0.0, Vec::new());
    for seed in first..first + seeds {
        let options = SimulateOptions { seed, ..kind.options.clone() };
        let mut simulation = Simulation::new(&options)?;
        let votes: Vec<SimulatedVote> = simulation.by_ref().collect();
        let truth = simulation.truth();
        let study = LabelledStudy::new(options.items, &votes)?;
        bad += study.bad.iter().sum::<f64>();
        best.push(best_f1(&votes, truth));
        let of_rule = |rule: &Rule| -> Result<Quality> {
            let is_skipped = votes.len() > MAX_VOTES || seed != first;
            if is_skipped && matches!(rule.outliers, OutlierRule::CrossValidation(_)) {
                return Ok(UNDEFINED);
            }
            let (method, outliers) = (Some(rule.method), rule.outliers);
            let found = fit(&study.graph, &FitOptions::new().method(method).outliers(outliers))?;
            Ok(quality(&study, &found.flagged, kendall::tau(&found.scores, truth)))
        };
        studies.push(rules.iter().map(of_rule).collect::<Result<_>>()?);
    }
    let over = |rule: usize, of: fn(&Quality) -> f64| mean(studies.iter().map(|s| of(&s[rule])));
    let quality = (0..rules.len()).map(|rule| Quality {
        f1: over(rule, |q| q.f1),
        precision: over(rule, |q| q.precision),
        recall: over(rule, |q| q.recall),
        flagged: over(rule, |q| q.flagged),
        tau: over(rule, |q| q.tau),
    });
    Ok(KindResult { bad, best_f1: mean(best), quality: quality.collect() })
}

/// Measures the flags of a fit. If a distinct vote is partly flagged, each of its votes counts as
/// flagged to that extent.
fn quality(study: &LabelledStudy, flagged: &[f64], tau: f64) -> Quality {
    let weight = &study.graph.groups().weight;
    let hits: f64 = (0..weight.len()).map(|g| study.bad[g] * flagged[g] / weight[g]).sum();
    let (bad, flagged) = (study.bad.iter().sum::<f64>(), flagged.iter().sum::<f64>());
    let f1 = if bad > 0.0 { 2.0 * hits / (flagged + bad) } else { f64::NAN };
    let votes = study.graph.groups().votes();
    Quality { f1, precision: hits / flagged, recall: hits / bad, flagged: flagged / votes, tau }
}

/// Returns the best F1 of any threshold on the residuals of the true scores.
fn best_f1(votes: &[SimulatedVote], truth: &[f64]) -> f64 {
    let residual = |vote: &SimulatedVote| {
        (vote.y - (truth[vote.left as usize] - truth[vote.right as usize])).abs()
    };
    let mut ordered: Vec<(f64, bool)> = votes.iter().map(|v| (residual(v), v.bad)).collect();
    ordered.sort_by(|a, b| b.0.total_cmp(&a.0));
    let bad = votes.iter().filter(|vote| vote.bad).count() as f64;
    let (mut hits, mut best) = (0.0, 0.0_f64);
    for (k, (_, is_bad)) in ordered.iter().enumerate() {
        hits += f64::from(u8::from(*is_bad));
        best = best.max(2.0 * hits / (k as f64 + 1.0 + bad));
    }
    best
}

/// Means of a rule over all kinds of studies.
struct RuleMeans {
    clean_flagged: f64,
    clean_worst: f64,
    f1: f64,
    share_of_best: f64,
    precision: f64,
    recall: f64,
    tau: f64,
}

impl RuleMeans {
    fn new(results: &[KindResult], rule: usize) -> Self {
        let (clean, bad): (Vec<_>, Vec<_>) = results.iter().partition(|r| r.bad == 0.0);
        let flagged = || clean.iter().map(|result| result.quality[rule].flagged);
        let over = |of: fn(&Quality) -> f64| mean(bad.iter().map(|r| of(&r.quality[rule])));
        Self {
            clean_flagged: mean(flagged()),
            clean_worst: flagged().fold(0.0, f64::max),
            f1: over(|q| q.f1),
            share_of_best: mean(bad.iter().map(|r| r.quality[rule].f1 / r.best_f1)),
            precision: over(|q| q.precision),
            recall: over(|q| q.recall),
            tau: mean(results.iter().map(|r| r.quality[rule].tau)),
        }
    }
}

fn claims(rules: &[Rule], means: &[RuleMeans]) -> Vec<Claim> {
    // `cv` is not comparable: it is applied to fewer studies.
    let others = || rules.iter().zip(means).skip(1).filter(|(rule, _)| rule.name != "cv");
    let best = |what: &str, of: fn(&RuleMeans) -> f64| {
        let next = others().max_by(|a, b| of(a.1).total_cmp(&of(b.1)));
        let (name, value) = next.map_or(("none", f64::NAN), |(rule, m)| (rule.name, of(m)));
        Claim::new(
            format!("auto has the best mean {what} of the rules"),
            format!("{:.3}; next {value:.3} ({name})", of(&means[0])),
            of(&means[0]) >= value,
        )
    };
    let clean = Claim::new(
        "auto flags less than 0.1% of the votes of clean studies on average",
        format!(
            "mean {:.3}%, worst {:.3}%",
            100.0 * means[0].clean_flagged,
            100.0 * means[0].clean_worst
        ),
        means[0].clean_flagged < 1e-3,
    );
    vec![clean, best("F1", |m| m.f1), best("τ with the truth", |m| m.tau)]
}

fn summary(rules: &[Rule], means: &[RuleMeans]) -> Table {
    let column = |of: fn(&RuleMeans) -> f64| numbers(means.iter().map(of));
    table([
        ("rule", texts(rules.iter().map(|rule| rule.name))),
        ("clean_flagged_mean", column(|m| m.clean_flagged)),
        ("clean_flagged_worst", column(|m| m.clean_worst)),
        ("f1", column(|m| m.f1)),
        ("share_of_best_f1", column(|m| m.share_of_best)),
        ("precision", column(|m| m.precision)),
        ("recall", column(|m| m.recall)),
        ("tau", column(|m| m.tau)),
    ])
}

/// Returns a table with one row for each kind of study and rule.
fn long_table(rules: &[Rule], kinds: &[StudyKind], results: &[KindResult]) -> Table {
    let rows = || {
        let of = |(kind, result)| rules.iter().enumerate().map(move |rule| (kind, result, rule));
        kinds.iter().zip(results).flat_map(of)
    };
    let column =
        |of: fn(&Quality) -> f64| {
            numbers(rows().map(|(_, result, (rule, _)): (&StudyKind, &KindResult, _)| {
                of(&result.quality[rule])
            }))
        };
    table([
        ("items", counts(rows().map(|(kind, ..)| kind.options.items as u64))),
        ("votes", counts(rows().map(|(kind, ..)| kind.options.votes))),
        ("noise", texts(rows().map(|(kind, ..)| kind.noise))),
        ("bad_votes", texts(rows().map(|(kind, ..)| kind.bad_votes.clone()))),
        ("rule", texts(rows().map(|(.., (_, rule))| rule.name))),
        ("best_f1", numbers(rows().map(|(_, result, _)| result.best_f1))),
        ("f1", column(|q| q.f1)),
        ("precision", column(|q| q.precision)),
        ("recall", column(|q| q.recall)),
        ("flagged", column(|q| q.flagged)),
        ("tau", column(|q| q.tau)),
    ])
}
