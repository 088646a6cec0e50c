//! Evidence for the selection rules: simulated studies in which the bad votes are known.
//!
//! ```text
//! cargo run --release -p hodgerank --example selection_evidence -- --seeds 3
//! cargo run --release -p hodgerank --example selection_evidence -- --small --seeds 3
//! ```
//!
//! `--small`: only studies that cross-validation can take, with that rule beside the others.
//!
//! Prints Markdown: a summary by rule, then every setting. `docs/selection.md` says how to read it.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use hodgerank::fit::{FitOptions, Method, fit};
use hodgerank::select::OutlierRule;
use hodgerank::select::cross_validation::{CrossValidationOptions, MOST_VOTES};
use hodgerank::simulate::{AnnotatorKind, Noise, SimulateOptions, SimulatedVote, Simulation};
use hodgerank::{Comparison, ComparisonGraph, Groups, Result};
use rayon::prelude::*;

/// A name, and a rule with the method that follows it.
type Rule = (&'static str, Method, OutlierRule);

/// The rules; least squares comes last.
fn rules(small: bool) -> Vec<Rule> {
    let mut rules = vec![
        ("auto", Method::InverseScaleSpace, OutlierRule::Auto),
        ("5%", Method::InverseScaleSpace, OutlierRule::Share(0.05)),
        ("10%", Method::InverseScaleSpace, OutlierRule::Share(0.10)),
        ("lambda=1 (hlasso)", Method::HuberLasso, OutlierRule::Lambda(1.0)),
        ("scaled", Method::InverseScaleSpace, OutlierRule::Scaled { m: 1.35 }),
        ("scaled (hlasso)", Method::HuberLasso, OutlierRule::Scaled { m: 1.35 }),
    ];
    if small {
        let cv = OutlierRule::CrossValidation(CrossValidationOptions::default());
        rules.push(("cv", Method::InverseScaleSpace, cv));
    }
    rules.push(("none (l2)", Method::L2, OutlierRule::Auto));
    rules
}

/// Seeds below were used to tune the automatic rule; evidence must come from others.
const FIRST_SEED: u64 = 1000;

/// A study to simulate, without its seed.
struct Setting {
    name: String,
    options: SimulateOptions,
}

/// What a rule achieved, a mean over studies. NaN where there is nothing to measure.
#[derive(Debug, Clone, Copy)]
struct Score {
    f1: f64,
    precision: f64,
    recall: f64,
    flagged: f64,
    tau: f64,
}

/// A setting's mean scores, one for each rule, and what could be had at best.
struct Outcome {
    bad: f64,
    ceiling: f64,
    scores: Vec<Score>,
}

fn main() -> Result<()> {
    let (small, seeds) = from_arguments();
    let rules = rules(small);
    let mut settings = settings();
    settings.retain(|setting| !small || setting.options.votes <= MOST_VOTES as u64);
    let outcomes: Vec<Outcome> = settings
        .par_iter()
        .map(|setting| outcome(setting, &rules, seeds))
        .collect::<Result<_>>()?;
    let last = FIRST_SEED + seeds - 1;
    println!("{} settings, seeds {FIRST_SEED} to {last}.\n", settings.len());
    print_summary(&rules, &outcomes);
    print_table(
        "F1; on clean votes the share flagged",
        &rules,
        &settings,
        &outcomes,
        true,
        |outcome, rule| {
            let score = outcome.scores[rule];
            if outcome.bad == 0.0 { percent(score.flagged) } else { number(score.f1) }
        },
    );
    print_table("Precision / recall", &rules, &settings, &outcomes, false, |outcome, rule| {
        let score = outcome.scores[rule];
        format!("{} / {}", number(score.precision), number(score.recall))
    });
    print_table(
        "Kendall's τ to the true ranking",
        &rules,
        &settings,
        &outcomes,
        false,
        |outcome, rule| number(outcome.scores[rule].tau),
    );
    Ok(())
}

fn from_arguments() -> (bool, u64) {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let small = arguments.first().is_some_and(|first| first == "--small");
    arguments.drain(..usize::from(small));
    let seeds = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Some(3),
        ["--seeds", count] => count.parse().ok().filter(|&count| count > 0),
        _ => None,
    };
    let seeds = seeds.unwrap_or_else(|| {
        eprintln!("usage: selection_evidence [--small] [--seeds N], N at least 1");
        std::process::exit(2)
    });
    (small, seeds)
}

fn settings() -> Vec<Setting> {
    let noises = [
        ("none", Noise::None),
        ("BT 0.1", Noise::BradleyTerry { scale: 0.1 }),
        ("BT 0.2", Noise::BradleyTerry { scale: 0.2 }),
        ("BT 0.5", Noise::BradleyTerry { scale: 0.5 }),
        ("normal 0.1", Noise::Gaussian { sigma: 0.1 }),
    ];
    let mix = [
        (AnnotatorKind::Careful, 20),
        (AnnotatorKind::Careless, 3),
        (AnnotatorKind::Malicious, 2),
        (AnnotatorKind::AlwaysLeft, 1),
    ];
    let mut settings = Vec::new();
    for (items, votes) in [(16, 500), (16, 2000), (16, 8000), (100, 5000), (100, 20_000)] {
        for (noise_name, noise) in noises {
            let mut add = |what: String, change: &dyn Fn(&mut SimulateOptions)| {
                let mut options = SimulateOptions { items, votes, noise, ..Default::default() };
                change(&mut options);
                settings.push(Setting {
                    name: format!("{items} | {votes} | {noise_name} | {what}"),
                    options,
                });
            };
            // At scale 0.5 disagreement drowns lapses: the only question is whether it is flagged.
            let weak = noise_name == "BT 0.5";
            let shares = if weak { &[0.0][..] } else { &[0.0, 0.05, 0.1, 0.2, 0.3] };
            for &flips in shares {
                add(format!("{}% flips", 100.0 * flips), &|options| options.flips = flips);
            }
            if weak {
                continue;
            }
            add("annotators".to_owned(), &|options| options.annotators = mix.to_vec());
            if let Noise::Gaussian { .. } = noise {
                for flips in [0.0, 0.1, 0.2] {
                    add(format!("graded, {}% flips", 100.0 * flips), &|options| {
                        options.flips = flips;
                        options.graded = true;
                    });
                }
            }
        }
    }
    settings
}

/// Simulates the setting once for each seed and fits by every rule.
fn outcome(setting: &Setting, rules: &[Rule], seeds: u64) -> Result<Outcome> {
    let mut studies: Vec<Vec<Score>> = Vec::new();
    let (mut bad, mut ceilings) = (0.0, Vec::new());
    for seed in FIRST_SEED..FIRST_SEED + seeds {
        let options = SimulateOptions { seed, ..setting.options.clone() };
        let mut simulation = Simulation::new(&options)?;
        let votes: Vec<SimulatedVote> = simulation.by_ref().collect();
        let truth = simulation.truth();
        let comparisons: Vec<Comparison> = votes.iter().map(SimulatedVote::comparison).collect();
        let merged = Groups::merge(options.items, &comparisons)?;
        let weight = merged.groups.weight.clone();
        let graph = ComparisonGraph::new(options.items, merged.groups)?;
        bad += votes.iter().filter(|vote| vote.bad).count() as f64;
        ceilings.push(ceiling(&votes, truth));
        let mut scores = Vec::new();
        for &(_, method, outliers) in rules {
            let fit_options = FitOptions { method: Some(method), outliers, ..Default::default() };
            let found = fit(&graph, &fit_options)?;
            // A vote inherits the flag of its group, in part where the group is flagged in part.
            let flag_of = |vote: usize| {
                merged.group_of[vote]
                    .map_or(0.0, |g| found.flagged[g as usize] / weight[g as usize])
            };
            scores.push(score(&votes, flag_of, kendall(&found.scores, truth)));
        }
        studies.push(scores);
    }
    let over = |rule: usize, of: fn(&Score) -> f64| mean(studies.iter().map(|s| of(&s[rule])));
    Ok(Outcome {
        bad,
        ceiling: mean(ceilings),
        scores: (0..rules.len())
            .map(|rule| Score {
                f1: over(rule, |s| s.f1),
                precision: over(rule, |s| s.precision),
                recall: over(rule, |s| s.recall),
                flagged: over(rule, |s| s.flagged),
                tau: over(rule, |s| s.tau),
            })
            .collect(),
    })
}

fn score(votes: &[SimulatedVote], flag_of: impl Fn(usize) -> f64, tau: f64) -> Score {
    let flagged: f64 = (0..votes.len()).map(&flag_of).sum();
    let bad = votes.iter().filter(|vote| vote.bad).count() as f64;
    let hits: f64 = (0..votes.len()).filter(|&vote| votes[vote].bad).map(&flag_of).sum();
    let f1 = if bad > 0.0 { 2.0 * hits / (flagged + bad) } else { f64::NAN };
    let recall = hits / bad;
    Score { f1, precision: hits / flagged, recall, flagged: flagged / votes.len() as f64, tau }
}

/// The best F1 of any cut by someone who knows the true scores: of the votes with the largest true
/// residuals, the best number to flag.
fn ceiling(votes: &[SimulatedVote], truth: &[f64]) -> f64 {
    let residual = |vote: &SimulatedVote| {
        (vote.y - (truth[vote.left as usize] - truth[vote.right as usize])).abs()
    };
    let mut ordered: Vec<(f64, bool)> = votes.iter().map(|v| (residual(v), v.bad)).collect();
    ordered.sort_by(|a, b| b.0.total_cmp(&a.0));
    let bad = votes.iter().filter(|vote| vote.bad).count() as f64;
    let mut hits = 0.0;
    let mut best: f64 = 0.0;
    for (k, (_, is_bad)) in ordered.iter().enumerate() {
        hits += f64::from(u8::from(*is_bad));
        best = best.max(2.0 * hits / (k as f64 + 1.0 + bad));
    }
    best
}

/// Kendall's τ: pairs in the same order less pairs in opposite order, over all pairs.
fn kendall(a: &[f64], b: &[f64]) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0.0);
    for i in 0..a.len() {
        for j in 0..i {
            let product = (a[i] - a[j]) * (b[i] - b[j]);
            sum += if product == 0.0 { 0.0 } else { product.signum() };
            pairs += 1.0;
        }
    }
    sum / pairs
}

fn print_summary(rules: &[Rule], outcomes: &[Outcome]) {
    let l2 = rules.len() - 1;
    println!("## Summary by rule\n");
    println!(
        "| rule | clean: flagged, mean | clean: flagged, worst | F1 | share of best F1 | precision \
         | recall | τ | τ less l2's | worst τ less l2's |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let (clean, bad): (Vec<_>, Vec<_>) = outcomes.iter().partition(|outcome| outcome.bad == 0.0);
    for (rule, (name, _, _)) in rules.iter().enumerate() {
        let flagged = || clean.iter().map(|outcome| outcome.scores[rule].flagged);
        let over = |of: fn(&Score) -> f64| mean(bad.iter().map(|o| of(&o.scores[rule])));
        let of_best = mean(bad.iter().map(|o| o.scores[rule].f1 / o.ceiling));
        let gain = || outcomes.iter().map(|o| o.scores[rule].tau - o.scores[l2].tau);
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {:+.4} | {:+.3} |",
            percent(mean(flagged())),
            percent(flagged().fold(0.0, f64::max)),
            number(over(|s| s.f1)),
            number(of_best),
            number(over(|s| s.precision)),
            number(over(|s| s.recall)),
            number(mean(outcomes.iter().map(|o| o.scores[rule].tau))),
            mean(gain()),
            gain().fold(f64::INFINITY, f64::min),
        );
    }
}

fn print_table(
    title: &str,
    rules: &[Rule],
    settings: &[Setting],
    outcomes: &[Outcome],
    with_ceiling: bool,
    cell: impl Fn(&Outcome, usize) -> String,
) {
    println!("\n## {title}\n");
    let best = if with_ceiling { " best |" } else { "" };
    let names: Vec<&str> = rules.iter().map(|(name, _, _)| *name).collect();
    let names = names.join(" | ");
    println!("| items | votes | noise | bad votes |{best} {names} |");
    let columns = rules.len() + usize::from(with_ceiling);
    println!("|---:|---:|---|---|{}", "---:|".repeat(columns));
    for (setting, outcome) in settings.iter().zip(outcomes) {
        let cells: Vec<String> = (0..rules.len()).map(|rule| cell(outcome, rule)).collect();
        let best = match (with_ceiling, outcome.bad > 0.0) {
            (false, _) => String::new(),
            (true, false) => " 0% |".to_owned(),
            (true, true) => format!(" {} |", number(outcome.ceiling)),
        };
        println!("| {} |{best} {} |", setting.name, cells.join(" | "));
    }
}

/// The mean of what can be measured.
fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values
        .into_iter()
        .filter(|value| !value.is_nan())
        .fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

fn number(value: f64) -> String {
    if value.is_nan() { "–".to_owned() } else { format!("{value:.3}") }
}

fn percent(value: f64) -> String {
    format!("{:.2}%", 100.0 * value)
}
