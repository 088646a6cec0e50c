//! Which pairs to ask: agreement with the true order against the number of votes, for three ways of choosing
//! pairs.
//!
//! | choice | pair |
//! |---|---|
//! | random | any, with equal probability |
//! | unsupervised | the largest (v(i) − v(j))², v the Fiedler vector of the graph of pairs asked so far: results of votes do not matter |
//! | supervised | the largest expected information at the scores so far, as `hodgerank next` chooses it |
//!
//! Xu, Xiong, Chen, Huang and Yao (AAAI 2018) compare the same three. Answers are drawn from crowds with known
//! scores and, with a folder of real studies, from the votes of PC-VQA and PC-IQA on the pair, without
//! replacement as long as there are any. The true order is then that of all votes. Scores are always those of
//! Bradley–Terry without lapses. Small settings repeat each study twice, full ones 30 times.

mod answers;
mod strategy;

use hodgerank::kendall;
use hodgerank_io::write::Table;
use hodgerank_report::chart::{Axis, Chart, Colour, LegendEntry, Sign};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::charts::{self, chart};
use crate::columns::{counts, numbers, table, texts};
use crate::error::Result;
use crate::findings::{Claim, Findings};
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;
use crate::statistics::{mean, standard_error};
use answers::{Answers, Crowd, sources};
use strategy::{Asked, Strategy};

const FULL_RUNS: u64 = 30;
const SMALL_RUNS: u64 = 2;
/// Numbers of votes at which the order is compared.
const CHECKPOINTS: [usize; 10] = [20, 40, 60, 80, 100, 120, 140, 160, 180, 200];
/// Where τ of the choices is compared, and by how much it should be larger.
const COMPARED: usize = 60;
const MIN_GAIN: f64 = 0.05;
/// How many of the votes at random should be enough for the same τ.
const RANDOM_VOTES: usize = 120;
const MAX_SHARE: f64 = 0.7;

/// Mean τ of a choice at each checkpoint.
struct Curve {
    study: String,
    strategy: Strategy,
    tau: Vec<f64>,
    error: Vec<f64>,
}

/// Repeats the experiment.
///
/// # Errors
/// If a solver fails, or a file of the folder cannot be read.
pub fn run(settings: &Settings, progress: &ProgressCallback<'_>) -> Result<Findings> {
    let runs = if settings.full { FULL_RUNS } else { SMALL_RUNS };
    let sources = sources(settings)?;
    let tasks: Vec<(usize, Strategy, u64)> = (0..sources.len())
        .flat_map(|study| Strategy::ALL.map(|strategy| (study, strategy)))
        .flat_map(|(study, strategy)| (0..runs).map(move |run| (study, strategy, run)))
        .collect();
    let steps = StepCounter::new(tasks.len(), progress);
    let one = |(study, strategy, run): (usize, Strategy, u64)| {
        let tau = collect(&sources[study], strategy, settings.seed.wrapping_add(run));
        steps.advance();
        tau
    };
    let found: Vec<Vec<f64>> = tasks.into_par_iter().map(one).collect::<Result<_>>()?;
    let groups = (0..sources.len()).flat_map(|k| Strategy::ALL.map(|strategy| (k, strategy)));
    let curves: Vec<Curve> = groups
        .zip(found.chunks(runs as usize))
        .map(|((study, strategy), runs)| {
            let at = |k: usize| -> Vec<f64> { runs.iter().map(|tau| tau[k]).collect() };
            Curve {
                study: sources[study].name().to_owned(),
                strategy,
                tau: (0..CHECKPOINTS.len()).map(|k| mean(at(k))).collect(),
                error: (0..CHECKPOINTS.len()).map(|k| standard_error(&at(k))).collect(),
            }
        })
        .collect();
    let families = Family::of(&curves);
    Ok(Findings {
        title: format!(
            "Which pairs to ask: {} studies, {runs} runs each, seeds from {}",
            sources.len(),
            settings.seed
        ),
        claims: families.iter().flat_map(Family::claims).collect(),
        tables: vec![("sampling".to_owned(), curve_table(&curves))],
        charts: families.iter().map(Family::chart).collect(),
    })
}

/// Collects votes one by one and returns τ at the checkpoints.
fn collect(source: &Answers, strategy: Strategy, seed: u64) -> Result<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut voters = source.start(&mut rng);
    let mut asked = Asked::new(source.items());
    let mut tau = Vec::with_capacity(CHECKPOINTS.len());
    for votes in 1..=CHECKPOINTS[CHECKPOINTS.len() - 1] {
        let (i, j) = strategy.choose(&asked, &mut rng)?;
        asked.add(i, j, voters.prefers_first(i, j, &mut rng));
        if CHECKPOINTS.contains(&votes) {
            tau.push(kendall::tau(&asked.scores()?, voters.true_scores()));
        }
    }
    Ok(tau)
}

/// Studies of one kind, which are summarised together.
struct Family {
    name: &'static str,
    /// Mean τ of each strategy at the checkpoints.
    tau: Vec<(Strategy, Vec<f64>)>,
}

impl Family {
    /// PC-VQA, PC-IQA and simulated crowds, as far as there are any.
    fn of(curves: &[Curve]) -> Vec<Self> {
        let mut families = Vec::new();
        for name in ["PC-VQA", "PC-IQA", Crowd::FAMILY] {
            let own = |curve: &&Curve| curve.study.starts_with(name);
            if !curves.iter().any(|curve| own(&curve)) {
                continue;
            }
            let tau = Strategy::ALL.map(|strategy| {
                let of = || curves.iter().filter(own).filter(move |c| c.strategy == strategy);
                let at = |k: usize| mean(of().map(|curve| curve.tau[k]));
                (strategy, (0..CHECKPOINTS.len()).map(at).collect())
            });
            families.push(Self { name, tau: tau.to_vec() });
        }
        families
    }

    fn of_strategy(&self, strategy: Strategy) -> &[f64] {
        let found = self.tau.iter().find(|(own, _)| *own == strategy);
        found.map_or(&[], |(_, tau)| tau)
    }

    fn claims(&self) -> [Claim; 2] {
        let at = |strategy: Strategy, votes: usize| {
            let k = CHECKPOINTS.iter().position(|checkpoint| *checkpoint == votes);
            k.map_or(f64::NAN, |k| self.of_strategy(strategy)[k])
        };
        let [random, supervised] =
            [Strategy::Random, Strategy::Supervised].map(|strategy| at(strategy, COMPARED));
        let wanted = at(Strategy::Random, RANDOM_VOTES);
        let needed = votes_for(self.of_strategy(Strategy::Supervised), wanted);
        [
            Claim::new(
                format!("{}: τ after {COMPARED} chosen votes is {MIN_GAIN} larger", self.name),
                format!("random {random:.3}, supervised {supervised:.3}"),
                supervised - random >= MIN_GAIN,
            ),
            Claim::new(
                format!(
                    "{}: {:.0}% of {RANDOM_VOTES} random votes are enough if they are chosen",
                    self.name,
                    100.0 * MAX_SHARE
                ),
                format!("{needed:.0} votes reach τ = {wanted:.3}"),
                needed <= MAX_SHARE * RANDOM_VOTES as f64,
            ),
        ]
    }

    fn chart(&self) -> Chart {
        let (mut marks, mut legend) = (Vec::new(), Vec::new());
        for (k, (strategy, tau)) in self.tau.iter().enumerate() {
            let points: Vec<(f64, f64)> =
                CHECKPOINTS.iter().zip(tau).map(|(votes, tau)| (*votes as f64, *tau)).collect();
            let colour = Colour::Kind(k as u8);
            marks.push(charts::line(colour, &points, strategy.as_str()));
            legend.push(LegendEntry::new(strategy.as_str(), colour, Sign::Line));
        }
        let id = format!("sampling-{}", self.name.to_lowercase().replace(' ', "-"));
        let title = format!("Order found after so many votes: {}", self.name);
        let alt = "Kendall's tau with the true order against the number of votes, for pairs chosen \
                   at random, by the graph and by expected information.";
        let x = Axis::numbers("votes", CHECKPOINTS.map(|votes| votes as f64));
        let y = Axis::numbers("Kendall's τ", self.tau.iter().flat_map(|(_, tau)| tau.clone()));
        let mut chart = chart(&id, &title, alt, x, y, marks);
        chart.legend = legend;
        chart
    }
}

/// The number of votes at which τ reaches a value, interpolated; infinite if it does not.
fn votes_for(tau: &[f64], wanted: f64) -> f64 {
    let Some(k) = tau.iter().position(|tau| *tau >= wanted) else { return f64::INFINITY };
    let votes = |k: usize| CHECKPOINTS[k] as f64;
    match k {
        0 => votes(0),
        k => {
            let share = (wanted - tau[k - 1]) / (tau[k] - tau[k - 1]);
            votes(k - 1) + share * (votes(k) - votes(k - 1))
        }
    }
}

fn curve_table(curves: &[Curve]) -> Table {
    let rows = || curves.iter().flat_map(|c| (0..CHECKPOINTS.len()).map(move |k| (c, k)));
    table([
        ("study", texts(rows().map(|(curve, _)| curve.study.clone()))),
        ("choice", texts(rows().map(|(curve, _)| curve.strategy.as_str()))),
        ("votes", counts(rows().map(|(_, k)| CHECKPOINTS[k] as u64))),
        ("tau", numbers(rows().map(|(curve, k)| curve.tau[k]))),
        ("standard_error", numbers(rows().map(|(curve, k)| curve.error[k]))),
    ])
}
