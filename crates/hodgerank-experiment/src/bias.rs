//! Bias of LASSO, LBI and ISS: their estimates of γ and θ compared with the truth.
//!
//! | paper | here |
//! |---|---|
//! | n = 10, m = 100, θ* ~ U(0, 1), σ = 0.1, κ = 100 | the same |
//! | outliers: not given | 10 votes with an offset of ±1 |
//! | λ and t: not given | λ = 2σ√(log m), the λ̄ of the theorems for μ = η = 1; t = 1/λ |
//!
//! Bias is the mean of sign(γ*)(γ̂ − γ*) over the true outliers and over repetitions: with every method
//! γ̂ contains the vote's noise, whose mean is zero. The oracle knows the outliers and fits the other
//! votes. A repetition takes a few milliseconds.

use hodgerank::path::StopAt;
use hodgerank::simulate::{Noise, SimulateOptions, Simulation, designs};
use hodgerank::solve::bregman::{self, BregmanOptions};
use hodgerank::solve::inverse_scale_space::{self, InverseScaleSpaceOptions};
use hodgerank::solve::{HuberLassoOptions, L2Options, huber_lasso, l2};
use hodgerank::{ComparisonGraph, Groups};
use hodgerank_report::chart::{Axis, Chart, Colour, LegendEntry, Mark, PointShape, Sign};
use rayon::prelude::*;

use crate::charts::{self, chart};
use crate::columns::{counts, numbers, table, texts};
use crate::error::Result;
use crate::findings::{Claim, Findings};
use crate::labelled_study::LabelledStudy;
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;
use crate::statistics::{mean, range};

const ITEMS: usize = 10;
const VOTES: u64 = 100;
const SIGMA: f64 = 0.1;
const SHARE: f64 = 0.1;
const OFFSET: f64 = 1.0;
const KAPPA: f64 = 100.0;
/// Estimators, as named in the data; the oracle is first.
const ESTIMATORS: [&str; 4] = ["oracle", "lasso", "lbi", "iss"];
const LASSO: usize = 1;
/// A bias is "much smaller" than that of LASSO if it is below this share of it.
const MAX_RELATIVE_BIAS: f64 = 0.2;

/// True γ of the outliers and true θ, and the estimates of both.
struct Repetition {
    gamma: Vec<f64>,
    theta: Vec<f64>,
    estimates: Vec<Estimate>,
}

struct Estimate {
    gamma: Vec<f64>,
    theta: Vec<f64>,
}

/// Repeats the experiment.
///
/// # Errors
/// If a solver fails.
pub fn run(settings: &Settings, progress: &ProgressCallback<'_>) -> Result<Findings> {
    let count: u64 = if settings.full { 1000 } else { 50 };
    let steps = StepCounter::new(count as usize, progress);
    let one = |k: u64| {
        let done = repetition(settings.seed.wrapping_add(k));
        steps.advance();
        done
    };
    let repetitions: Vec<Repetition> =
        (0..count).into_par_iter().map(one).collect::<Result<_>>()?;
    let errors: Vec<EstimateErrors> =
        (0..ESTIMATORS.len()).map(|m| errors(&repetitions, m)).collect();
    Ok(Findings {
        title: format!(
            "Bias of γ and θ: n = {ITEMS}, m = {VOTES}, σ = {SIGMA}, {:.0}% of the votes with an \
             offset of ±{OFFSET}, κ = {KAPPA}, λ = 1/t = {:.3}, {count} repetitions",
            100.0 * SHARE,
            lambda()
        ),
        claims: claims(&errors),
        tables: vec![
            ("bias".to_owned(), summary(&errors)),
            ("bias-gamma".to_owned(), long_table(&repetitions, |r| &r.gamma, |e| &e.gamma)),
            ("bias-theta".to_owned(), long_table(&repetitions, |r| &r.theta, |e| &e.theta)),
        ],
        charts: vec![
            scatter("bias-gamma", "γ of the outliers", &repetitions[0], |r| &r.gamma, |e| &e.gamma),
            scatter("bias-theta", "Scores θ", &repetitions[0], |r| &r.theta, |e| &e.theta),
        ],
    })
}

fn lambda() -> f64 {
    2.0 * SIGMA * (VOTES as f64).ln().sqrt()
}

fn repetition(seed: u64) -> Result<Repetition> {
    let noise = Noise::Gaussian { sigma: SIGMA };
    let options = SimulateOptions {
        items: ITEMS,
        votes: VOTES,
        noise,
        graded: true,
        seed,
        ..Default::default()
    };
    let mut simulation = Simulation::new(&options)?;
    let mut votes: Vec<_> = simulation.by_ref().collect();
    let clean: Vec<f64> = votes.iter().map(|vote| vote.y).collect();
    designs::add_offsets(&mut votes, SHARE, OFFSET, seed);
    let study = LabelledStudy::new(ITEMS, &votes)?;
    let graph = &study.graph;
    // Distinct votes have the item with the smaller number on the left; γ* must follow.
    let outliers: Vec<(usize, f64)> = votes
        .iter()
        .zip(&clean)
        .zip(&study.group_of)
        .filter(|((vote, _), _)| vote.bad)
        .map(|((vote, clean), &g)| (g, vote.y - clean, vote.left > vote.right))
        .map(|(g, gamma, mirrored)| (g, if mirrored { -gamma } else { gamma }))
        .collect();
    let of_outliers = |gamma: &[f64]| outliers.iter().map(|&(g, _)| gamma[g]).collect();
    let estimate = |theta: Vec<f64>, gamma: &[f64]| Estimate { gamma: of_outliers(gamma), theta };

    let theta = l2::solve(&without_bad(&study)?, &L2Options::default())?.scores;
    let oracle = estimate(theta.clone(), &residuals(graph, &theta));
    let (lambda, time) = (lambda(), StopAt::Value(1.0 / lambda()));
    let theta = huber_lasso::solve_at(graph, lambda, None, &HuberLassoOptions::default())?.scores;
    let gamma = huber_lasso::outliers(graph, &theta, lambda);
    let lasso = estimate(theta, &gamma);
    let options = BregmanOptions { kappa: Some(KAPPA), ..Default::default() };
    let (path, gamma) = bregman::compute_path_and_outliers(graph, &options, time)?;
    let lbi = estimate(path.last_scores().to_vec(), &gamma);
    let path =
        inverse_scale_space::compute_path(graph, &InverseScaleSpaceOptions::default(), time)?;
    let mut gamma = vec![0.0; graph.groups().len()];
    let r = residuals(graph, path.last_scores());
    for g in path.flagged_at(1.0 / lambda) {
        gamma[g as usize] = r[g as usize];
    }
    let iss = estimate(path.last_scores().to_vec(), &gamma);
    Ok(Repetition {
        gamma: outliers.iter().map(|&(_, gamma)| gamma).collect(),
        theta: simulation.truth().to_vec(),
        estimates: vec![oracle, lasso, lbi, iss],
    })
}

fn without_bad(study: &LabelledStudy) -> Result<ComparisonGraph> {
    let groups: Groups = study.graph.groups().reweighted(&study.good);
    Ok(ComparisonGraph::new(study.graph.items(), groups)?)
}

fn residuals(graph: &ComparisonGraph, theta: &[f64]) -> Vec<f64> {
    graph.groups().y.iter().zip(graph.gradient(theta)).map(|(y, fit)| y - fit).collect()
}

/// Errors of an estimator over all repetitions.
struct EstimateErrors {
    bias: f64,
    /// Root mean square error of γ.
    gamma_error: f64,
    /// Root mean square error of θ.
    theta_error: f64,
    /// Root mean square difference between θ and that of the oracle.
    from_oracle: f64,
}

fn errors(repetitions: &[Repetition], method: usize) -> EstimateErrors {
    let gammas = || {
        let of =
            |r: &'_ Repetition| r.gamma.clone().into_iter().zip(r.estimates[method].gamma.clone());
        repetitions.iter().flat_map(of)
    };
    let square = |a: &f64, b: &f64| (a - b) * (a - b);
    let thetas = repetitions.iter().flat_map(|r| r.theta.iter().zip(&r.estimates[method].theta));
    let oracle = repetitions
        .iter()
        .flat_map(|r| r.estimates[0].theta.iter().zip(&r.estimates[method].theta));
    EstimateErrors {
        bias: mean(gammas().map(|(truth, found)| truth.signum() * (found - truth))),
        gamma_error: mean(gammas().map(|(truth, found)| square(&truth, &found))).sqrt(),
        theta_error: mean(thetas.map(|(a, b)| square(a, b))).sqrt(),
        from_oracle: mean(oracle.map(|(a, b)| square(a, b))).sqrt(),
    }
}

fn claims(errors: &[EstimateErrors]) -> Vec<Claim> {
    let lasso = &errors[LASSO];
    let smaller = |m: usize| {
        let (name, own) = (ESTIMATORS[m], errors[m].bias);
        Claim::new(
            format!("the bias of {name} on γ is below a fifth of LASSO's"),
            format!("{name} {own:+.4}, LASSO {:+.4}", lasso.bias),
            own.abs() < MAX_RELATIVE_BIAS * lasso.bias.abs(),
        )
        .in_paper("LBI shows much smaller bias than LASSO")
    };
    let closer = |m: usize| {
        let (name, own) = (ESTIMATORS[m], &errors[m]);
        Claim::new(
            format!("{name} is closer to the oracle's scores than LASSO is"),
            format!(
                "rms from the oracle: {name} {:.4}, LASSO {:.4}",
                own.from_oracle, lasso.from_oracle
            ),
            own.from_oracle < lasso.from_oracle,
        )
        .in_paper("the error of LBI is mainly noise that the oracle has too")
    };
    vec![smaller(2), smaller(3), closer(2), closer(3)]
}

fn summary(errors: &[EstimateErrors]) -> hodgerank_io::write::Table {
    table([
        ("method", texts(ESTIMATORS)),
        ("gamma_bias", numbers(errors.iter().map(|e| e.bias))),
        ("gamma_rms_error", numbers(errors.iter().map(|e| e.gamma_error))),
        ("theta_rms_error", numbers(errors.iter().map(|e| e.theta_error))),
        ("theta_rms_from_oracle", numbers(errors.iter().map(|e| e.from_oracle))),
    ])
}

/// Returns a table with one row for each estimated number.
fn long_table(
    repetitions: &[Repetition],
    truth: impl Fn(&Repetition) -> &Vec<f64>,
    found: impl Fn(&Estimate) -> &Vec<f64>,
) -> hodgerank_io::write::Table {
    let truth = &truth;
    let rows = || {
        let of = move |(k, r)| (0..truth(r).len()).map(move |index| (k, r, index));
        repetitions.iter().enumerate().flat_map(of)
    };
    let mut table = table([
        ("repetition", counts(rows().map(|(k, ..)| k as u64))),
        ("place", counts(rows().map(|(.., index)| index as u64))),
        ("truth", numbers(rows().map(|(_, r, index)| truth(r)[index]))),
    ]);
    for (m, name) in ESTIMATORS.iter().enumerate() {
        table.push(*name, numbers(rows().map(|(_, r, index)| found(&r.estimates[m])[index])));
    }
    table
}

/// Plots the estimates of one repetition against the truth, with a line of perfect estimates.
fn scatter(
    id: &str,
    title: &str,
    repetition: &Repetition,
    truth: impl Fn(&Repetition) -> &Vec<f64>,
    found: impl Fn(&Estimate) -> &Vec<f64>,
) -> Chart {
    let truth = truth(repetition);
    let (low, high) = range(truth.iter().copied());
    let mut marks = vec![charts::line(Colour::Muted, &[(low, low), (high, high)], "no error")];
    let shapes =
        [PointShape::Circle, PointShape::Square, PointShape::Triangle, PointShape::Diamond];
    let mut legend = vec![LegendEntry::new("no error", Colour::Muted, Sign::Line)];
    let mut all = truth.clone();
    for (m, name) in ESTIMATORS.iter().enumerate() {
        let own = found(&repetition.estimates[m]);
        all.extend(own);
        let positions: Vec<_> = truth.iter().copied().zip(own.iter().copied()).collect();
        let words =
            positions.iter().map(|(t, f)| format!("{name}: {f:.3}, truth {t:.3}")).collect();
        let colour = Colour::Kind(m as u8);
        let mut estimates = charts::points(colour, shapes[m], &positions, words);
        // Points get smaller, so that identical estimates remain visible.
        if let Mark::Points { size, .. } = &mut estimates {
            *size = 7.0 - 1.3 * m as f64;
        }
        marks.push(estimates);
        legend.push(LegendEntry::new(*name, colour, Sign::Point(shapes[m])));
    }
    let alt = format!(
        "{} values of one repetition, estimated by {}.",
        truth.len(),
        ESTIMATORS.join(", ")
    );
    let x = Axis::numbers("truth", truth.iter().copied());
    let mut chart = chart(id, title, &alt, x, Axis::numbers("estimate", all), marks);
    chart.legend = legend;
    chart
}
