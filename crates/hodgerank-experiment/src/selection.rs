//! The evidence for `--outliers auto`: simulated studies in which the bad votes are known.
//!
//! Each rule that says how many votes to flag is tried on each kind of study.
//!
//! | figure | meaning |
//! |---|---|
//! | flagged (clean) | share of the votes flagged where none is bad; close to 0 is right |
//! | F1 | harmonic mean of precision and recall; beside it the best that any cut by someone who knows the true scores reaches |
//! | τ | Kendall's τ of the ranking to the truth |
//!
//! Small settings take one seed of each kind, full ones three, and the rule `cv` on studies of the first seed that it can take. Studies begin at seed 1000 + seed:
//! smaller ones were used to tune the rule. `docs/selection.md` discusses the figures.

mod figure;
mod studies;

use hodgerank::fit::fit;
use hodgerank::select::OutlierRule;
use hodgerank::select::cross_validation::{CrossValidationOptions, MAX_VOTES};
use hodgerank::simulate::{SimulateOptions, SimulatedVote, Simulation};
use hodgerank::{FitOptions, Method, kendall};
use hodgerank_io::write::Table;
use rayon::prelude::*;

use crate::columns::{counts, mean, numbers, table, texts};
use crate::error::Result;
use crate::progress::Steps;
use crate::study::KnownStudy;
use crate::{Claim, Findings, Progress, Settings};
use studies::Kind;

/// Smaller seeds were used to tune the automatic rule; evidence must come from others.
const FIRST_SEED: u64 = 1000;

/// A rule with the method that follows it.
struct Rule {
    name: &'static str,
    method: Method,
    outliers: OutlierRule,
}

const fn rule(name: &'static str, method: Method, outliers: OutlierRule) -> Rule {
    Rule { name, method, outliers }
}

/// The rules; `auto` comes first, least squares last but for `cv`, which cannot take all studies.
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

/// What a rule achieved, a mean over studies. Not a number where there is nothing to measure.
#[derive(Debug, Clone, Copy)]
struct Score {
    f1: f64,
    precision: f64,
    recall: f64,
    flagged: f64,
    tau: f64,
}

const NOTHING: Score =
    Score { f1: f64::NAN, precision: f64::NAN, recall: f64::NAN, flagged: f64::NAN, tau: f64::NAN };

/// A kind's mean scores, one for each rule, and what could be had at best.
struct Outcome {
    bad: f64,
    best_f1: f64,
    scores: Vec<Score>,
}

/// Repeats the experiment.
///
/// # Errors
/// If a solver fails.
pub fn run(settings: &Settings, progress: &Progress<'_>) -> Result<Findings> {
    let kinds = studies::kinds();
    let rules = rules(settings.full);
    let seeds = if settings.full { 3 } else { 1 };
    let first = FIRST_SEED.wrapping_add(settings.seed);
    let steps = Steps::new(kinds.len(), progress);
    let one = |kind: &Kind| {
        let outcome = outcome(kind, &rules, first, seeds);
        steps.one_more();
        outcome
    };
    let outcomes: Vec<Outcome> = kinds.par_iter().map(one).collect::<Result<_>>()?;
    let means: Vec<Mean> = (0..rules.len()).map(|rule| Mean::of(&outcomes, rule)).collect();
    Ok(Findings {
        title: format!(
            "Rules for how many votes to flag: {} kinds of studies, seeds {first} to {}",
            kinds.len(),
            first + seeds - 1
        ),
        claims: claims(&rules, &means),
        tables: vec![
            ("selection".to_owned(), summary(&rules, &means)),
            ("selection-studies".to_owned(), long(&rules, &kinds, &outcomes)),
        ],
        charts: vec![figure::draw(&rules, &means)],
    })
}

/// Simulates the kind once for each seed and fits by every rule.
fn outcome(kind: &Kind, rules: &[Rule], first: u64, seeds: u64) -> Result<Outcome> {
    let mut studies: Vec<Vec<Score>> = Vec::new();
    let (mut bad, mut best) = (0.0, Vec::new());
    for seed in first..first + seeds {
        let options = SimulateOptions { seed, ..kind.options.clone() };
        let mut simulation = Simulation::new(&options)?;
        let votes: Vec<SimulatedVote> = simulation.by_ref().collect();
        let truth = simulation.truth();
        let study = KnownStudy::new(options.items, &votes)?;
        bad += study.bad.iter().sum::<f64>();
        best.push(best_f1(&votes, truth));
        let of_rule = |rule: &Rule| -> Result<Score> {
            let left_out = votes.len() > MAX_VOTES || seed != first;
            if left_out && matches!(rule.outliers, OutlierRule::CrossValidation(_)) {
                return Ok(NOTHING);
            }
            let (method, outliers) = (Some(rule.method), rule.outliers);
            let found = fit(&study.graph, &FitOptions::new().method(method).outliers(outliers))?;
            Ok(score(&study, &found.flagged, kendall::tau(&found.scores, truth)))
        };
        studies.push(rules.iter().map(of_rule).collect::<Result<_>>()?);
    }
    let over = |rule: usize, of: fn(&Score) -> f64| mean(studies.iter().map(|s| of(&s[rule])));
    let scores = (0..rules.len()).map(|rule| Score {
        f1: over(rule, |s| s.f1),
        precision: over(rule, |s| s.precision),
        recall: over(rule, |s| s.recall),
        flagged: over(rule, |s| s.flagged),
        tau: over(rule, |s| s.tau),
    });
    Ok(Outcome { bad, best_f1: mean(best), scores: scores.collect() })
}

/// A vote inherits the flag of its group, in part where the group is flagged in part.
fn score(study: &KnownStudy, flagged: &[f64], tau: f64) -> Score {
    let weight = &study.graph.groups().weight;
    let hits: f64 = (0..weight.len()).map(|g| study.bad[g] * flagged[g] / weight[g]).sum();
    let (bad, flagged) = (study.bad.iter().sum::<f64>(), flagged.iter().sum::<f64>());
    let f1 = if bad > 0.0 { 2.0 * hits / (flagged + bad) } else { f64::NAN };
    let votes = study.graph.groups().votes();
    Score { f1, precision: hits / flagged, recall: hits / bad, flagged: flagged / votes, tau }
}

/// The best F1 of any cut by someone who knows the true scores: of the votes with the largest true
/// residuals, the best number to flag.
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

/// A rule's figures over all kinds of studies.
struct Mean {
    clean_flagged: f64,
    clean_worst: f64,
    f1: f64,
    share_of_best: f64,
    precision: f64,
    recall: f64,
    tau: f64,
}

impl Mean {
    fn of(outcomes: &[Outcome], rule: usize) -> Self {
        let (clean, bad): (Vec<_>, Vec<_>) = outcomes.iter().partition(|o| o.bad == 0.0);
        let flagged = || clean.iter().map(|outcome| outcome.scores[rule].flagged);
        let over = |of: fn(&Score) -> f64| mean(bad.iter().map(|o| of(&o.scores[rule])));
        Self {
            clean_flagged: mean(flagged()),
            clean_worst: flagged().fold(0.0, f64::max),
            f1: over(|s| s.f1),
            share_of_best: mean(bad.iter().map(|o| o.scores[rule].f1 / o.best_f1)),
            precision: over(|s| s.precision),
            recall: over(|s| s.recall),
            tau: mean(outcomes.iter().map(|o| o.scores[rule].tau)),
        }
    }
}

fn claims(rules: &[Rule], means: &[Mean]) -> Vec<Claim> {
    // `cv` is left out: it sees other studies.
    let others = || rules.iter().zip(means).skip(1).filter(|(rule, _)| rule.name != "cv");
    let best = |what: &str, of: fn(&Mean) -> f64| {
        let next = others().max_by(|a, b| of(a.1).total_cmp(&of(b.1)));
        let (name, value) = next.map_or(("none", f64::NAN), |(rule, m)| (rule.name, of(m)));
        Claim::new(
            format!("auto has the best mean {what} of the rules"),
            format!("{:.3}; next {value:.3} ({name})", of(&means[0])),
            of(&means[0]) >= value,
        )
    };
    let clean = Claim::new(
        "auto leaves clean votes alone: below 0.1% flagged in the mean",
        format!(
            "mean {:.3}%, worst {:.3}%",
            100.0 * means[0].clean_flagged,
            100.0 * means[0].clean_worst
        ),
        means[0].clean_flagged < 1e-3,
    );
    vec![clean, best("F1", |m| m.f1), best("τ to the truth", |m| m.tau)]
}

fn summary(rules: &[Rule], means: &[Mean]) -> Table {
    let column = |of: fn(&Mean) -> f64| numbers(means.iter().map(of));
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

/// One row for each kind of study and rule.
fn long(rules: &[Rule], kinds: &[Kind], outcomes: &[Outcome]) -> Table {
    let rows = || {
        let of = |(kind, outcome)| rules.iter().enumerate().map(move |rule| (kind, outcome, rule));
        kinds.iter().zip(outcomes).flat_map(of)
    };
    let column = |of: fn(&Score) -> f64| {
        numbers(
            rows().map(|(_, outcome, (rule, _)): (&Kind, &Outcome, _)| of(&outcome.scores[rule])),
        )
    };
    table([
        ("items", counts(rows().map(|(kind, ..)| kind.options.items as u64))),
        ("votes", counts(rows().map(|(kind, ..)| kind.options.votes))),
        ("noise", texts(rows().map(|(kind, ..)| kind.noise))),
        ("bad_votes", texts(rows().map(|(kind, ..)| kind.bad_votes.clone()))),
        ("rule", texts(rows().map(|(.., (_, rule))| rule.name))),
        ("best_f1", numbers(rows().map(|(_, outcome, _)| outcome.best_f1))),
        ("f1", column(|s| s.f1)),
        ("precision", column(|s| s.precision)),
        ("recall", column(|s| s.recall)),
        ("flagged", column(|s| s.flagged)),
        ("tau", column(|s| s.tau)),
    ])
}
