//! Faces and shoes: two clusters, every item of one compared with every item of the other.
//!
//! All votes say that the positive item wins by 1, except for 10% that are reversed. Scores that
//! explain the rest are constant within each cluster, with a gap of 1 between the clusters.
//!
//! | paper | here |
//! |---|---|
//! | FGLFW: 50 + 50, n_ij ~ U(5, 15), 10% reversed | `faces`: the same numbers |
//! | Shoes: 20 + 20, n_ij ~ U(5, 100), 10% reversed | `shoes`: the same numbers |
//! | how many votes are flagged: not given | as many as were reversed; LBI (κ = 50, Algorithm 3) stops at t = 1.1 |
//!
//! A reversed vote has a residual near −1.8 and enters at t near 0.6. From then on γ of LBI converges
//! to the residual at the rate κ, so that the scores have not converged when the last vote enters; by
//! t = 1.1 they are within e^(−50/2) of their limit. No other vote enters before that.
//!
//! Both sizes are small, so `--full` makes no difference.

use hodgerank::Method;
use hodgerank::fit::Fit;
use hodgerank::select::OutlierRule;
use hodgerank::simulate::designs;
use hodgerank_report::chart::{Axis, Chart, Colour, LegendEntry, PointShape, Sign};

use crate::charts::{chart, points};
use crate::columns::{counts, numbers, table, texts};
use crate::error::Result;
use crate::findings::{Claim, Findings};
use crate::labelled_study::LabelledStudy;
use crate::methods;
use crate::outlier_map::OutlierMap;
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;
use crate::statistics::{mean, range};

const SHARE: f64 = 0.1;
const TIME: f64 = 1.1;
/// Scores that differ by less than this are equal.
const MAX_SCORE_DIFFERENCE: f64 = 1e-6;

/// The sizes of a data set.
#[derive(Debug, Clone, Copy)]
pub struct BipartiteDesign {
    name: &'static str,
    /// Number of items in each cluster.
    cluster: u32,
    /// Minimum and maximum number of votes per pair.
    votes: (u32, u32),
    /// Whether iht and ilts give all items of a cluster the same score in the paper.
    trimming_is_clean: bool,
}

/// Face verification.
pub const FACES: BipartiteDesign =
    BipartiteDesign { name: "faces", cluster: 50, votes: (5, 15), trimming_is_clean: true };

/// Shoes.
pub const SHOES: BipartiteDesign =
    BipartiteDesign { name: "shoes", cluster: 20, votes: (5, 100), trimming_is_clean: false };

/// How a method separates the two clusters.
struct ClusterScores {
    /// The larger of the two ranges of scores within a cluster.
    spread: f64,
    /// Difference between the means of the clusters.
    gap: f64,
    /// Difference between the worst item of the better cluster and the best of the worse one.
    margin: f64,
}

impl ClusterScores {
    /// Whether each cluster has one score, and the gap is 1.
    fn is_clean(&self) -> bool {
        self.spread < MAX_SCORE_DIFFERENCE && (self.gap - 1.0).abs() < MAX_SCORE_DIFFERENCE
    }
}

/// Repeats the experiment.
///
/// # Errors
/// If a solver fails.
pub fn run(
    design: &BipartiteDesign,
    settings: &Settings,
    progress: &ProgressCallback<'_>,
) -> Result<Findings> {
    let BipartiteDesign { name, cluster, votes: (min, max), .. } = *design;
    let steps = StepCounter::new(2, progress);
    let mut votes = designs::bipartite(cluster, min, max, settings.seed)?;
    designs::flip_votes(&mut votes, SHARE, settings.seed);
    let study = LabelledStudy::new(2 * cluster as usize, &votes)?;
    let bad = votes.iter().filter(|vote| vote.bad).count() as u64;
    let fits = methods::fits(&study.graph, |method| {
        let outliers = match method {
            Method::Bregman => OutlierRule::Time(TIME),
            _ => OutlierRule::Count(bad),
        };
        Ok(methods::options(method, outliers))
    })?;
    steps.advance();
    let clusters: Vec<ClusterScores> =
        fits.iter().map(|fit| cluster_scores(&fit.scores, cluster as usize)).collect();
    let items: Vec<String> = (1..=study.graph.items()).map(|item| item.to_string()).collect();
    let of = |method: Method| &fits[methods::index(method)];
    let map = OutlierMap {
        graph: &study.graph,
        items: &items,
        l2: &of(Method::L2).scores,
        first: of(Method::LassoL2),
        second: of(Method::Bregman),
    };
    let mut claims = claims(design, &clusters);
    let [both, only_lasso, only_lbi] = map.counts();
    claims.push(
        Claim::new(
            "lasso-l2 and lbi flag the same distinct votes, except for at most two",
            format!("{both} by both, {only_lasso} by lasso-l2 alone, {only_lbi} by lbi alone"),
            only_lasso + only_lbi <= 2,
        )
        .in_paper("they disagree at two pairs"),
    );
    let mut charts = vec![scores(design, &fits)];
    charts.push(map.map(&format!("{name}-outliers"), &format!("Flagged votes, {name}")));
    steps.advance();
    Ok(Findings {
        title: format!(
            "Bipartite ranking, {name}: {cluster} + {cluster} items, {min} to {max} votes per \
             pair, {} votes, {:.0}% reversed",
            votes.len(),
            100.0 * SHARE
        ),
        claims,
        tables: vec![
            (name.to_owned(), summary(&fits, &clusters, &study)),
            (format!("{name}-scores"), score_table(&fits, cluster as usize)),
        ],
        charts,
    })
}

fn cluster_scores(scores: &[f64], cluster: usize) -> ClusterScores {
    let (better, worse) = scores.split_at(cluster);
    let (low, high) = range(better.iter().copied());
    let (lowest, highest) = range(worse.iter().copied());
    ClusterScores {
        spread: (high - low).max(highest - lowest),
        gap: mean(better.iter().copied()) - mean(worse.iter().copied()),
        margin: low - highest,
    }
}

fn claims(design: &BipartiteDesign, clusters: &[ClusterScores]) -> Vec<Claim> {
    let claim = |(&method, scores): (&Method, &ClusterScores)| {
        let found = format!("spread {:.1e}, gap {:.6}", scores.spread, scores.gap);
        let clean = || {
            let claim = format!("{method}: one score per cluster, gap 1");
            Claim::new(claim, found.clone(), scores.is_clean())
        };
        let (equal, perturbed) =
            ("same score inside clusters, a clear gap", "different degrees of score perturbations");
        match method {
            Method::InverseScaleSpace => clean(),
            Method::LassoL2 | Method::Bregman => clean().in_paper(equal),
            Method::HardThreshold | Method::Trimmed if design.trimming_is_clean => {
                clean().in_paper(equal)
            }
            Method::HardThreshold | Method::Trimmed => clean().in_paper(format!("no: {perturbed}")),
            _ => {
                let claim = format!("{method}: scores perturbed within clusters");
                Claim::new(claim, found, scores.spread >= MAX_SCORE_DIFFERENCE).in_paper(perturbed)
            }
        }
    };
    Method::PAPER.iter().zip(clusters).map(claim).collect()
}

fn summary(
    fits: &[Fit],
    clusters: &[ClusterScores],
    study: &LabelledStudy,
) -> hodgerank_io::write::Table {
    let hits = |fit: &Fit| -> f64 {
        let bad = fit.flagged.iter().zip(&study.bad).filter(|(_, bad)| **bad > 0.0);
        bad.map(|(flagged, _)| flagged).sum()
    };
    table([
        ("method", texts(Method::PAPER.iter().map(|method| method.as_str()))),
        ("spread", numbers(clusters.iter().map(|c| c.spread))),
        ("gap", numbers(clusters.iter().map(|c| c.gap))),
        ("margin", numbers(clusters.iter().map(|c| c.margin))),
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

/// Plots the scores of all items by each method.
fn scores(design: &BipartiteDesign, fits: &[Fit]) -> Chart {
    let cluster = design.cluster as usize;
    let items = 2 * cluster;
    let mut marks = Vec::new();
    let kinds = [(Colour::Kind(1), "positive"), (Colour::Kind(0), "negative")];
    for (c, (colour, what)) in kinds.iter().enumerate() {
        let own = c * cluster..(c + 1) * cluster;
        // Items are next to each other within the column of a method.
        let x = |item: usize, m: usize| m as f64 - 0.4 + 0.8 * item as f64 / items as f64;
        let positions: Vec<(f64, f64)> = (0..fits.len())
            .flat_map(|m| own.clone().map(move |item| (m, item)))
            .map(|(m, item)| (x(item, m), fits[m].scores[item]))
            .collect();
        let words = (0..fits.len())
            .flat_map(|m| own.clone().map(move |item| (m, item)))
            .map(|(m, item)| {
                let (name, score) = (fits[m].method.as_str(), fits[m].scores[item]);
                format!("{name}: item {}, {what}, {score:.4}", item + 1)
            })
            .collect();
        marks.push(points(*colour, PointShape::Circle, &positions, words));
    }
    let names = fits.iter().map(|fit| fit.method.as_str().to_owned()).collect();
    let all = fits.iter().flat_map(|fit| fit.scores.iter().copied());
    let (low, high) = range(all);
    let y = Axis::numbers("score", [low, high]);
    let alt = format!(
        "Scores of {items} items by {} methods. If a method is right, all items of a cluster are on \
         one horizontal line.",
        fits.len()
    );
    let x = Axis::labels("", names);
    let (id, title) = (format!("{}-scores", design.name), format!("Scores, {}", design.name));
    let mut chart = chart(&id, &title, &alt, x, y, marks);
    chart.legend = kinds
        .iter()
        .map(|(colour, what)| LegendEntry::new(*what, *colour, Sign::Point(PointShape::Circle)))
        .collect();
    chart
}
