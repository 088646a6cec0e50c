//! Fig. C2: how often the irrepresentability condition C2 holds under uniform sampling.
//!
//! Pairs are drawn at random, with repetition, and votes are declared outliers at random places.
//! C2 asks that no good vote looks like a combination of outliers. On a large random graph L_c is
//! near (2m_c/n)·(1 − J/n), and a vote meets 4s/n of the s outliers at one of its ends, so that the row
//! sum is near 2s/m_c = 2·OP/(1 − OP): C2 can hold up to a third of outliers, and does where samples
//! are many enough for no vote to meet far more outliers than the mean.
//!
//! | paper | here |
//! |---|---|
//! | n = 20, 60, 100; 100 runs a cell | the same; small: n = 20 and 60, 20 runs |
//! | samples and shares: axes without figures in the text | n·(5 … 100), 5% … 50% |
//!
//! Cost: n³ and pairs times outlier pairs for a run.

use hodgerank::identify::c2_of_random_set;
use hodgerank::simulate::{SimulateOptions, Simulation};
use rayon::prelude::*;

use crate::columns::{counts, numbers, table};
use crate::draw::{Grid, heat_map};
use crate::error::Result;
use crate::progress::Steps;
use crate::study::KnownStudy;
use crate::{Claim, Findings, Progress, Settings};

/// Steps of the exact way to C2; no cell comes near.
const WORK: f64 = 1e11;
/// Above this share C2 must fail however many samples there are: 2·OP/(1 − OP) > 1.
const LIMIT: f64 = 1.0 / 3.0;

/// Repeats the experiment.
///
/// # Errors
/// If a system cannot be solved.
pub fn run(settings: &Settings, progress: &Progress<'_>) -> Result<Findings> {
    let (sizes, multiples, runs): (&[u64], &[u64], u64) = match settings.full {
        true => (&[20, 60, 100], &[5, 10, 15, 20, 30, 40, 50, 60, 80, 100], 100),
        false => (&[20, 60], &[5, 10, 20, 40, 80], 20),
    };
    let shares: Vec<f64> = match settings.full {
        true => (1..=10).map(|k| 0.05 * f64::from(k)).collect(),
        false => vec![0.05, 0.1, 0.2, 0.3, 0.4, 0.5],
    };
    let steps = Steps::new(sizes.len() * multiples.len() * shares.len(), progress);
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
            steps.one_more();
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
        title: format!("Probability that C2 holds under uniform sampling, {runs} runs a cell"),
        claims: claims(sizes, &rows),
        tables: vec![("c2".to_owned(), data)],
        charts,
    })
}

fn holds(items: u64, votes: u64, share: f64, seed: u64, run: u64) -> Result<bool> {
    // Graphs differ from run to run; cells of one run have the first votes in common.
    let seed = seed.wrapping_add(1000 * run);
    let options = SimulateOptions { items: items as usize, votes, seed, ..Default::default() };
    let votes: Vec<_> = Simulation::new(&options)?.collect();
    let study = KnownStudy::new(options.items, &votes)?;
    Ok(c2_of_random_set(&study.graph, share, seed, WORK)?)
}

fn claims(sizes: &[u64], rows: &[(u64, u64, f64, f64)]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for &items in sizes {
        let own = || rows.iter().filter(move |row| row.0 == items);
        let most = own().map(|row| row.1).max().unwrap_or(0);
        let sparse = own().filter(|row| row.1 == most && row.2 <= 0.1 + 1e-9);
        let least = sparse.map(|row| row.3).fold(1.0, f64::min);
        let claim =
            format!("n = {items}: holds where votes are many ({most}) and outliers at most 10%");
        let found = format!("at least {:.0}% of runs", 100.0 * least);
        claims.push(
            Claim::new(claim, found, least >= 0.95)
                .in_paper("with few outliers and enough samples C2 holds with high probability"),
        );
        let dense = own().filter(|row| row.2 > LIMIT).map(|row| row.3).fold(0.0, f64::max);
        let claim = format!("n = {items}: fails above a third of outliers, whatever the votes");
        let found = format!("at most {:.0}% of runs", 100.0 * dense);
        claims.push(Claim::new(claim, found, dense <= 0.05));
    }
    claims
}
