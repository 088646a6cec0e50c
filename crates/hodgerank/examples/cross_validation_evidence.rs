//! Evidence for how cross-validation picks λ from its two curves.
//!
//! ```text
//! cargo run --release -p hodgerank --example cross_validation_evidence
//! ```
//!
//! Prints Markdown: mean F1 of Huber-LASSO at the λ that each way of picking takes, and the best F1
//! of any λ on the curve. Studies have 16 items and 1,000 votes.
#![allow(clippy::print_stdout)]

use hodgerank::select::cross_validation::{
    CrossValidationOptions, CurvePoint, PredictionError, solve,
};
use hodgerank::simulate::{Noise, SimulateOptions, Simulation};
use hodgerank::solve::{HuberLassoOptions, huber_lasso};
use hodgerank::{Comparison, ComparisonGraph, Groups, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Name, flips, normal noise, graded, and the share of votes that are 2 to 4 off.
const STUDIES: [(&str, f64, f64, bool, f64); 7] = [
    ("±1, no noise, 5% flips", 0.05, 0.0, false, 0.0),
    ("±1, normal 0.1, 5% flips", 0.05, 0.1, false, 0.0),
    ("±1, normal 0.1, 10% flips", 0.10, 0.1, false, 0.0),
    ("graded, normal 0.1, 10% flips", 0.10, 0.1, true, 0.0),
    ("graded, normal 0.1, 20% flips", 0.20, 0.1, true, 0.0),
    ("graded, normal 0.05, 5% flips", 0.05, 0.05, true, 0.0),
    ("graded, normal 0.1, 5% far off", 0.0, 0.1, true, 0.05),
];
/// Beside the seeds that the rule was made with, and those of `hodgerank experiment selection`.
const SEEDS: std::ops::Range<u64> = 2000..2005;
const ITEMS: usize = 16;

fn main() -> Result<()> {
    println!("| study | shrunk | refitted | either (taken) | either, one standard error | best |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (name, flips, sigma, graded, far) in STUDIES {
        let mut sums = [0.0; 5];
        for seed in SEEDS {
            let noise = Noise::Gaussian { sigma };
            let options =
                SimulateOptions { votes: 1000, flips, noise, graded, seed, ..Default::default() };
            let f1 = study(&options, far)?;
            sums.iter_mut().zip(f1).for_each(|(sum, f1)| *sum += f1);
        }
        let means = sums.map(|sum| format!("{:.3}", sum / SEEDS.count() as f64));
        println!("| {name} | {} |", means.join(" | "));
    }
    Ok(())
}

fn study(options: &SimulateOptions, far: f64) -> Result<[f64; 5]> {
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let spoil = |vote: hodgerank::simulate::SimulatedVote| {
        let mut comparison = vote.comparison();
        let spoiled = rng.random_bool(far);
        if spoiled {
            let error = rng.random_range(2.0..4.0);
            comparison.y += if rng.random_bool(0.5) { error } else { -error };
        }
        (comparison, vote.bad || spoiled)
    };
    let (votes, bad): (Vec<Comparison>, Vec<bool>) = Simulation::new(options)?.map(spoil).unzip();
    let merged = Groups::merge(ITEMS, &votes)?;
    let graph = ComparisonGraph::new(ITEMS, merged.groups)?;
    let found = solve(&graph, &CrossValidationOptions::default())?;
    let curve = &found.curve;
    let f1: Vec<f64> = curve
        .iter()
        .map(|at| f1(&graph, &merged.group_of, &bad, at.lambda))
        .collect::<Result<_>>()?;
    let shrunk = least(curve, |at| at.shrunk);
    let refitted = least(curve, |at| at.refitted);
    let either = |at: &CurvePoint| if found.refitted { at.refitted } else { at.shrunk };
    let limit = either(&curve[found.chosen]);
    let limit = limit.mean + limit.standard_error;
    let within = curve.iter().position(|at| either(at).mean <= limit).unwrap_or(found.chosen);
    let best = f1.iter().copied().fold(0.0, f64::max);
    Ok([f1[shrunk], f1[refitted], f1[found.chosen], f1[within], best])
}

fn least(curve: &[CurvePoint], of: fn(&CurvePoint) -> PredictionError) -> usize {
    let mean = |k: &usize| of(&curve[*k]).mean;
    (0..curve.len()).min_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap_or(0)
}

fn f1(graph: &ComparisonGraph, group_of: &[Option<u32>], bad: &[bool], lambda: f64) -> Result<f64> {
    let scores = huber_lasso::solve_at(graph, lambda, None, &HuberLassoOptions::default())?.scores;
    let gamma = huber_lasso::outliers(graph, &scores, lambda);
    // At λ_max itself rounding may leave something.
    let is_flagged = |g: &Option<u32>| g.is_some_and(|g| gamma[g as usize].abs() > 1e-9);
    let flagged: Vec<bool> = group_of.iter().map(is_flagged).collect();
    let hits = flagged.iter().zip(bad).filter(|(flagged, bad)| **flagged && **bad).count();
    let count = |which: &[bool]| which.iter().filter(|is| **is).count();
    Ok(2.0 * hits as f64 / (count(&flagged) + count(bad)) as f64)
}
