//! Faces and shoes: two clusters, every item of one compared with every item of the other.
//!
//! All votes say that the positive item wins by 1, but for 10% that are turned round. Scores that
//! explain the rest put each cluster at one place, with a gap of 1 between the two.
//!
//! | paper | here |
//! |---|---|
//! | FGLFW: 50 + 50, n_ij ~ U(5, 15), 10% turned round | `faces`: the same numbers |
//! | Shoes: 20 + 20, n_ij ~ U(5, 100), 10% turned round | `shoes`: the same numbers |
//! | how many votes are flagged: not said | as many as were turned round; LBI (κ = 50, Algorithm 3) stops at t = 1.1 |
//!
//! A vote turned round has a residual near −1.8 and enters at t near 0.6. γ of LBI then meets its
//! residual at the rate κ, so that where the last of them enters its scores are still on the way;
//! by t = 1.1 they have come within e^(−50/2) of the end. Nothing else enters before that.
//!
//! Both sizes are small: there is no other setting for `--full`.

use hodgerank::fit::{Fit, Method};
use hodgerank::select::OutlierRule;
use hodgerank::simulate::designs;
use hodgerank_report::chart::{Axis, Chart, Colour, LegendEntry, Shape, Sign};

use crate::columns::{counts, mean, numbers, range, table, texts};
use crate::draw::{chart, points};
use crate::error::Result;
use crate::methods::{self, METHODS};
use crate::outlier_map::OutlierMap;
use crate::progress::Steps;
use crate::study::KnownStudy;
use crate::{Claim, Findings, Progress, Settings};

const SHARE: f64 = 0.1;
const TIME: f64 = 1.1;
/// What counts as one place.
const SAME: f64 = 1e-6;

/// The numbers of a data set.
#[derive(Debug, Clone, Copy)]
pub struct Design {
    name: &'static str,
    cluster: u32,
    votes: (u32, u32),
    /// Whether iht and ilts put each cluster at one place in the paper.
    trimming_is_clean: bool,
}

/// Face verification.
pub const FACES: Design =
    Design { name: "faces", cluster: 50, votes: (5, 15), trimming_is_clean: true };

/// Shoes.
pub const SHOES: Design =
    Design { name: "shoes", cluster: 20, votes: (5, 100), trimming_is_clean: false };

/// How a method places the two clusters.
struct Placement {
    /// The larger of the two spreads inside a cluster.
    spread: f64,
    /// Between the means of the clusters.
    gap: f64,
    /// From the worst of the better to the best of the worse cluster.
    margin: f64,
}

impl Placement {
    fn is_clean(&self) -> bool {
        self.spread < SAME && (self.gap - 1.0).abs() < SAME
    }
}

/// Repeats the experiment.
///
/// # Errors
/// If a solver fails.
pub fn run(design: &Design, settings: &Settings, progress: &Progress<'_>) -> Result<Findings> {
    let Design { name, cluster, votes: (fewest, most), .. } = *design;
    let steps = Steps::new(2, progress);
    let mut votes = designs::bipartite(cluster, fewest, most, settings.seed)?;
    designs::flip_votes(&mut votes, SHARE, settings.seed);
    let study = KnownStudy::new(2 * cluster as usize, &votes)?;
    let bad = votes.iter().filter(|vote| vote.bad).count() as u64;
    let fits = methods::fits(&study.graph, |method| {
        let outliers = match method {
            Method::Bregman => OutlierRule::Time(TIME),
            _ => OutlierRule::Count(bad),
        };
        Ok(methods::options(method, outliers))
    })?;
    steps.one_more();
    let placements: Vec<Placement> =
        fits.iter().map(|fit| placement(&fit.scores, cluster as usize)).collect();
    let items: Vec<String> = (1..=study.graph.items()).map(|item| item.to_string()).collect();
    let of = |method: Method| &fits[METHODS.iter().position(|&m| m == method).unwrap_or(0)];
    let map = OutlierMap {
        graph: &study.graph,
        items: &items,
        l2: &of(Method::L2).scores,
        first: of(Method::LassoL2),
        second: of(Method::Bregman),
    };
    let mut claims = claims(design, &placements);
    let [both, only_lasso, only_lbi] = map.counts();
    claims.push(
        Claim::new(
            "lasso-l2 and lbi flag the same groups of votes but for at most two",
            format!("{both} by both, {only_lasso} by lasso-l2 alone, {only_lbi} by lbi alone"),
            only_lasso + only_lbi <= 2,
        )
        .in_paper("they disagree at two pairs"),
    );
    let mut charts = vec![scores(design, &fits)];
    charts.push(map.map(&format!("{name}-outliers"), &format!("Suspicious votes, {name}")));
    steps.one_more();
    Ok(Findings {
        title: format!(
            "Bipartite ranking, {name}: {cluster} + {cluster} items, {fewest} to {most} votes a \
             pair, {} votes, {:.0}% turned round",
            votes.len(),
            100.0 * SHARE
        ),
        claims,
        tables: vec![
            (name.to_owned(), summary(&fits, &placements, &study)),
            (format!("{name}-scores"), score_table(&fits, cluster as usize)),
        ],
        charts,
    })
}

fn placement(scores: &[f64], cluster: usize) -> Placement {
    let (better, worse) = scores.split_at(cluster);
    let (low, high) = range(better.iter().copied());
    let (lowest, highest) = range(worse.iter().copied());
    Placement {
        spread: (high - low).max(highest - lowest),
        gap: mean(better.iter().copied()) - mean(worse.iter().copied()),
        margin: low - highest,
    }
}

fn claims(design: &Design, placements: &[Placement]) -> Vec<Claim> {
    let claim = |(&method, placement): (&Method, &Placement)| {
        let name = method.as_str();
        let found = format!("spread {:.1e}, gap {:.6}", placement.spread, placement.gap);
        let clean = || {
            let claim = format!("{name}: each cluster at one place, gap 1");
            Claim::new(claim, found.clone(), placement.is_clean())
        };
        let (alike, perturbed) =
            ("same score inside clusters, a clear gap", "different degrees of score perturbations");
        match method {
            Method::InverseScaleSpace => clean(),
            Method::LassoL2 | Method::Bregman => clean().in_paper(alike),
            Method::HardThreshold | Method::Trimmed if design.trimming_is_clean => {
                clean().in_paper(alike)
            }
            Method::HardThreshold | Method::Trimmed => clean().in_paper(format!("no: {perturbed}")),
            _ => {
                let claim = format!("{name}: scores perturbed inside clusters");
                Claim::new(claim, found, placement.spread >= SAME).in_paper(perturbed)
            }
        }
    };
    METHODS.iter().zip(placements).map(claim).collect()
}

fn summary(
    fits: &[Fit],
    placements: &[Placement],
    study: &KnownStudy,
) -> hodgerank_io::write::Table {
    let hits = |fit: &Fit| -> f64 {
        let bad = fit.flagged.iter().zip(&study.bad).filter(|(_, bad)| **bad > 0.0);
        bad.map(|(flagged, _)| flagged).sum()
    };
    table([
        ("method", texts(METHODS.map(Method::as_str))),
        ("spread", numbers(placements.iter().map(|p| p.spread))),
        ("gap", numbers(placements.iter().map(|p| p.gap))),
        ("margin", numbers(placements.iter().map(|p| p.margin))),
        ("flagged", numbers(fits.iter().map(|fit| fit.flagged.iter().sum()))),
        ("flagged_bad", numbers(fits.iter().map(hits))),
    ])
}

fn score_table(fits: &[Fit], cluster: usize) -> hodgerank_io::write::Table {
    let items = 1..=2 * cluster as u64;
    let mut table = table([
        ("item", counts(items.clone())),
        (
            "cluster",
            texts(items.map(|i| if i <= cluster as u64 { "positive" } else { "negative" })),
        ),
    ]);
    for fit in fits {
        table.push(fit.method.as_str(), numbers(fit.scores.iter().copied()));
    }
    table
}

/// Scores of all items, method by method.
fn scores(design: &Design, fits: &[Fit]) -> Chart {
    let cluster = design.cluster as usize;
    let items = 2 * cluster;
    let mut marks = Vec::new();
    let kinds = [(Colour::Kind(1), "positive"), (Colour::Kind(0), "negative")];
    for (c, (colour, what)) in kinds.iter().enumerate() {
        let own = c * cluster..(c + 1) * cluster;
        // Items of a method stand side by side in its column.
        let place = |item: usize, m: usize| m as f64 - 0.4 + 0.8 * item as f64 / items as f64;
        let places: Vec<(f64, f64)> = (0..fits.len())
            .flat_map(|m| own.clone().map(move |item| (m, item)))
            .map(|(m, item)| (place(item, m), fits[m].scores[item]))
            .collect();
        let words = (0..fits.len())
            .flat_map(|m| own.clone().map(move |item| (m, item)))
            .map(|(m, item)| {
                let (name, score) = (fits[m].method.as_str(), fits[m].scores[item]);
                format!("{name}: item {}, {what}, {score:.4}", item + 1)
            })
            .collect();
        marks.push(points(*colour, Shape::Circle, &places, words));
    }
    let names = fits.iter().map(|fit| fit.method.as_str().to_owned()).collect();
    let all = fits.iter().flat_map(|fit| fit.scores.iter().copied());
    let (low, high) = range(all);
    let y = Axis::numbers("score", [low, high]);
    let alt = format!(
        "Scores of {items} items by {} methods. Where a method is right, all items of a cluster lie \
         on one line.",
        fits.len()
    );
    let x = Axis::labels("", names);
    let (id, title) = (format!("{}-scores", design.name), format!("Scores, {}", design.name));
    let mut chart = chart(&id, &title, &alt, x, y, marks);
    chart.legend = kinds
        .iter()
        .map(|(colour, what)| LegendEntry::new(*what, *colour, Sign::Point(Shape::Circle)))
        .collect();
    chart
}
