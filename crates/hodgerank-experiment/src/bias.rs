//! Fig. bias: how far LASSO, LBI and ISS are off from the true γ and θ.
//!
//! | paper | here |
//! |---|---|
//! | n = 10, m = 100, θ* ~ U(0, 1), σ = 0.1, κ = 100 | the same |
//! | outliers: not said | 10 votes off by ±1 |
//! | λ and t: not said | λ = 2σ√(log m), the λ̄ of the theorems for μ = η = 1; t = 1/λ |
//!
//! Bias is the mean of sign(γ*)(γ̂ − γ*) over the true outliers and over repetitions: noise of a
//! vote stays in its γ̂ with every method, and its mean is zero. The oracle knows the outliers and
//! fits the other votes. Cost: some milliseconds a repetition.

use hodgerank::path::StopAt;
use hodgerank::simulate::{Noise, SimulateOptions, Simulation, designs};
use hodgerank::solve::bregman::{self, BregmanOptions};
use hodgerank::solve::inverse_scale_space::{self, InverseScaleSpaceOptions};
use hodgerank::solve::{HuberLassoOptions, L2Options, huber_lasso, l2};
use hodgerank::{ComparisonGraph, Groups};
use hodgerank_report::chart::{Axis, Chart, Colour, LegendEntry, Mark, PointShape, Sign};
use rayon::prelude::*;

use crate::columns::{counts, mean, numbers, table};
use crate::draw::{self, chart};
use crate::error::Result;
use crate::progress::Steps;
use crate::study::KnownStudy;
use crate::{Claim, Findings, Progress, Settings};

const ITEMS: usize = 10;
const VOTES: u64 = 100;
const SIGMA: f64 = 0.1;
const SHARE: f64 = 0.1;
const SIZE: f64 = 1.0;
const KAPPA: f64 = 100.0;
/// The oracle comes first.
const METHODS: [&str; 4] = ["oracle", "lasso", "lbi", "iss"];
const LASSO: usize = 1;
/// "Much smaller", in figures.
const MUCH: f64 = 0.2;

/// γ on the true outliers and θ: the truth and what each method says.
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
pub fn run(settings: &Settings, progress: &Progress<'_>) -> Result<Findings> {
    let count: u64 = if settings.full { 1000 } else { 50 };
    let steps = Steps::new(count as usize, progress);
    let one = |k: u64| {
        let done = repetition(settings.seed.wrapping_add(k));
        steps.one_more();
        done
    };
    let repetitions: Vec<Repetition> =
        (0..count).into_par_iter().map(one).collect::<Result<_>>()?;
    let figures: Vec<Figures> = (0..METHODS.len()).map(|m| figures(&repetitions, m)).collect();
    Ok(Findings {
        title: format!(
            "Bias of γ and θ: n = {ITEMS}, m = {VOTES}, σ = {SIGMA}, {:.0}% of the votes off by \
             ±{SIZE}, κ = {KAPPA}, λ = 1/t = {:.3}, {count} repetitions",
            100.0 * SHARE,
            lambda()
        ),
        claims: claims(&figures),
        tables: vec![
            ("bias".to_owned(), summary(&figures)),
            ("bias-gamma".to_owned(), long(&repetitions, |r| &r.gamma, |e| &e.gamma)),
            ("bias-theta".to_owned(), long(&repetitions, |r| &r.theta, |e| &e.theta)),
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
    designs::add_offsets(&mut votes, SHARE, SIZE, seed);
    let study = KnownStudy::new(ITEMS, &votes)?;
    let graph = &study.graph;
    // Groups have the smaller item on the left; so must γ*.
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
    let (path, gamma) = bregman::path_and_outliers(graph, &options, time)?;
    let lbi = estimate(path.last_scores().to_vec(), &gamma);
    let path = inverse_scale_space::path(graph, &InverseScaleSpaceOptions::default(), time)?;
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

fn without_bad(study: &KnownStudy) -> Result<ComparisonGraph> {
    let groups: Groups = study.graph.groups().reweighted(&study.good);
    Ok(ComparisonGraph::new(study.graph.items(), groups)?)
}

fn residuals(graph: &ComparisonGraph, theta: &[f64]) -> Vec<f64> {
    graph.groups().y.iter().zip(graph.gradient(theta)).map(|(y, fit)| y - fit).collect()
}

/// What a method is off by.
struct Figures {
    bias: f64,
    gamma_error: f64,
    theta_error: f64,
    from_oracle: f64,
}

fn figures(repetitions: &[Repetition], method: usize) -> Figures {
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
    Figures {
        bias: mean(gammas().map(|(truth, found)| truth.signum() * (found - truth))),
        gamma_error: mean(gammas().map(|(truth, found)| square(&truth, &found))).sqrt(),
        theta_error: mean(thetas.map(|(a, b)| square(a, b))).sqrt(),
        from_oracle: mean(oracle.map(|(a, b)| square(a, b))).sqrt(),
    }
}

fn claims(figures: &[Figures]) -> Vec<Claim> {
    let lasso = &figures[LASSO];
    let smaller = |m: usize| {
        let (name, own) = (METHODS[m], figures[m].bias);
        Claim::new(
            format!("the bias of {name} on γ is below a fifth of LASSO's"),
            format!("{name} {own:+.4}, LASSO {:+.4}", lasso.bias),
            own.abs() < MUCH * lasso.bias.abs(),
        )
        .in_paper("LBI shows much smaller bias than LASSO")
    };
    let near = |m: usize| {
        let (name, own) = (METHODS[m], &figures[m]);
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
    vec![smaller(2), smaller(3), near(2), near(3)]
}

fn summary(figures: &[Figures]) -> hodgerank_io::write::Table {
    table([
        ("method", crate::columns::texts(METHODS)),
        ("gamma_bias", numbers(figures.iter().map(|f| f.bias))),
        ("gamma_rms_error", numbers(figures.iter().map(|f| f.gamma_error))),
        ("theta_rms_error", numbers(figures.iter().map(|f| f.theta_error))),
        ("theta_rms_from_oracle", numbers(figures.iter().map(|f| f.from_oracle))),
    ])
}

/// One row for each number estimated.
fn long(
    repetitions: &[Repetition],
    truth: impl Fn(&Repetition) -> &Vec<f64>,
    found: impl Fn(&Estimate) -> &Vec<f64>,
) -> hodgerank_io::write::Table {
    let truth = &truth;
    let places = || {
        let of = move |(k, r)| (0..truth(r).len()).map(move |place| (k, r, place));
        repetitions.iter().enumerate().flat_map(of)
    };
    let mut table = table([
        ("repetition", counts(places().map(|(k, ..)| k as u64))),
        ("place", counts(places().map(|(.., place)| place as u64))),
        ("truth", numbers(places().map(|(_, r, place)| truth(r)[place]))),
    ]);
    for (m, name) in METHODS.iter().enumerate() {
        table.push(*name, numbers(places().map(|(_, r, place)| found(&r.estimates[m])[place])));
    }
    table
}

/// Estimates over the truth in one repetition; the line is where they should lie.
fn scatter(
    id: &str,
    title: &str,
    repetition: &Repetition,
    truth: impl Fn(&Repetition) -> &Vec<f64>,
    found: impl Fn(&Estimate) -> &Vec<f64>,
) -> Chart {
    let truth = truth(repetition);
    let (low, high) = crate::columns::range(truth.iter().copied());
    let mut marks = vec![draw::line(Colour::Muted, &[(low, low), (high, high)], "no error")];
    let shapes =
        [PointShape::Circle, PointShape::Square, PointShape::Triangle, PointShape::Diamond];
    let mut legend = vec![LegendEntry::new("no error", Colour::Muted, Sign::Line)];
    let mut all = truth.clone();
    for (m, name) in METHODS.iter().enumerate() {
        let own = found(&repetition.estimates[m]);
        all.extend(own);
        let places: Vec<_> = truth.iter().copied().zip(own.iter().copied()).collect();
        let words = places.iter().map(|(t, f)| format!("{name}: {f:.3}, truth {t:.3}")).collect();
        let colour = Colour::Kind(m as u8);
        let mut estimates = draw::points(colour, shapes[m], &places, words);
        // Estimates that are the same must all be seen: the first is the largest.
        if let Mark::Points { size, .. } = &mut estimates {
            *size = 7.0 - 1.3 * m as f64;
        }
        marks.push(estimates);
        legend.push(LegendEntry::new(*name, colour, Sign::Point(shapes[m])));
    }
    let alt =
        format!("{} values of one repetition, estimated by {}.", truth.len(), METHODS.join(", "));
    let x = Axis::numbers("truth", truth.iter().copied());
    let mut chart = chart(id, title, &alt, x, Axis::numbers("estimate", all), marks);
    chart.legend = legend;
    chart
}
