//! How often the irrepresentability condition C2 holds under uniform sampling.
//!
//! Pairs are drawn at random, with repetition, and random votes are declared outliers. C2 requires
//! that no good vote resembles a combination of outliers. On a large random graph L_c is near
//! (2m_c/n)·(1 − J/n), and a vote shares an item with 4s/n of the s outliers, so that the row sum is
//! near 2s/m_c = 2·OP/(1 − OP). C2 can therefore hold up to a third of outliers, and does if there
//! are enough votes that none shares items with far more outliers than the average.
//!
//! | paper | here |
//! |---|---|
//! | n = 20, 60, 100; 100 runs per cell | the same; small: n = 20 and 60, 20 runs |
//! | numbers of votes and shares: not given | n·(5 … 100), 5% … 50% |
//!
//! A run costs n³ plus pairs times outlier pairs.

use hodgerank::identify::c2_of_random_set;
use hodgerank::simulate::{SimulateOptions, Simulation};
use rayon::prelude::*;

use crate::charts::{Grid, heat_map};
use crate::columns::{counts, numbers, table};
use crate::error::Result;
use crate::findings::{Claim, Findings};
use crate::labelled_study::LabelledStudy;
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;

/// Maximum cost of the exact computation of C2; no cell comes near it.
const MAX_WORK: f64 = 1e11;
/// Above this share of outliers C2 must fail for any number of votes: 2·OP/(1 − OP) > 1.
const MAX_OUTLIER_SHARE: f64 = 1.0 / 3.0;

/// Repeats the experiment.
///
/// # Errors
/// If a system cannot be solved.
pub fn run(settings: &Settings, progress: &ProgressCallback<'_>) -> Result<Findings> {
    let (sizes, multiples, runs): (&[u64], &[u64], u64) = match settings.full {
        true => (&[20, 60, 100], &[5, 10, 15, 20, 30, 40, 50, 60, 80, 100], 100),
        false => (&[20, 60], &[5, 10, 20, 40, 80], 20),
    };
    let shares: Vec<f64> = match settings.full {
        true => (1..=10).map(|k| 0.05 * f64::from(k)).collect(),
        false => vec![0.05, 0.1, 0.2, 0.3, 0.4, 0.5],
    };
    let steps = StepCounter::new(sizes.len() * multiples.len() * shares.len(), progress);
    let mut charts = Vec::new();
    let mut rows: Vec<(u64, u64, f64, f64)> = Vec::new();
    for &items in sizes {
        let samples = multiples.iter().map(|multiple| multiple * items).collect();
        let grid = Grid { samples, shares: shares.clone() };
        let probability = |&(r, c): &(usize, usize)| -> Result<f64> {
            let held = (0..runs)
                .into_par_iter()
                .map(|k| holds(items, grid.samples[c], grid.shares[r], settings.seed, k))
                .collect::<Result<Vec<bool>>>()?;
            steps.advance();
            Ok(held.iter().filter(|&&held| held).count() as f64 / runs as f64)
        };
        let cells = grid.cells();
        let values: Vec<f64> = cells.iter().map(probability).collect::<Result<_>>()?;
        rows.extend(
            cells
                .iter()
                .zip(&values)
                .map(|(&(r, c), &value)| (items, grid.samples[c], grid.shares[r], value)),
        );
        let alt = format!(
            "Heat map: share of {runs} random studies of {items} items in which C2 holds. It rises \
             with the number of votes and falls with the share of outliers."
        );
        let title = format!("C2 holds, n = {items}");
        charts.push(heat_map(
            &format!("c2-n{items}"),
            &title,
            &alt,
            &grid,
            &grid.rows(&values),
            0.0,
        ));
    }
    let data = table([
        ("items", counts(rows.iter().map(|row| row.0))),
        ("votes", counts(rows.iter().map(|row| row.1))),
        ("outliers", numbers(rows.iter().map(|row| row.2))),
        ("probability", numbers(rows.iter().map(|row| row.3))),
    ]);
    Ok(Findings {
        title: format!("Probability that C2 holds under uniform sampling, {runs} runs per cell"),
        claims: claims(sizes, &rows),
        tables: vec![("c2".to_owned(), data)],
        charts,
    })
}

fn holds(items: u64, votes: u64, share: f64, seed: u64, run: u64) -> Result<bool> {
    // Graphs differ between runs; cells of the same run share their first votes.
    let seed = seed.wrapping_add(1000 * run);
    let options = SimulateOptions { items: items as usize, votes, seed, ..Default::default() };
    let votes: Vec<_> = Simulation::new(&options)?.collect();
    let study = LabelledStudy::new(options.items, &votes)?;
    Ok(c2_of_random_set(&study.graph, share, seed, MAX_WORK)?)
}

fn claims(sizes: &[u64], rows: &[(u64, u64, f64, f64)]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for &items in sizes {
        let own = || rows.iter().filter(move |row| row.0 == items);
        let max_votes = own().map(|row| row.1).max().unwrap_or(0);
        let sparse = own().filter(|row| row.1 == max_votes && row.2 <= 0.1 + 1e-9);
        let min = sparse.map(|row| row.3).fold(1.0, f64::min);
        let claim =
            format!("n = {items}: C2 holds with {max_votes} votes and at most 10% outliers");
        let found = format!("in at least {:.0}% of runs", 100.0 * min);
        claims.push(
            Claim::new(claim, found, min >= 0.95)
                .in_paper("with few outliers and enough samples C2 holds with high probability"),
        );
        let dense = own().filter(|row| row.2 > MAX_OUTLIER_SHARE);
        let max = dense.map(|row| row.3).fold(0.0, f64::max);
        let claim =
            format!("n = {items}: C2 fails above a third of outliers, for any number of votes");
        let found = format!("holds in at most {:.0}% of runs", 100.0 * max);
        claims.push(Claim::new(claim, found, max <= 0.05));
    }
    claims
}
