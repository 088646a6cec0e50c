//! How well methods recover the true scores of crowds, some of whose annotators are bad.
//!
//! Votes are simulated, so that the true scores and the bad votes are known (`simulated_crowd.rs`).
//!
//! | method | what |
//! |---|---|
//! | l2 | least squares |
//! | iss | inverse scale space with `--outliers auto`; not on more than 50,000 votes, where it is slow |
//! | plain | Bradley–Terry without lapses; least squares if answers are graded |
//! | bt | Bradley–Terry with its default options |
//! | crowd | Bradley–Terry with the behaviour of each annotator |
//! | oracle | plain, on the votes that are not bad |
//!
//! | measure | meaning |
//! |---|---|
//! | τ | Kendall's τ between the scores and the truth |
//! | gap closed | (τ − τ of plain) / (τ of the oracle − τ of plain), of mean τ; undefined on clean crowds |
//! | slope | regression of the scores on the true ones, for methods in log-odds; 1 is the true unit |
//! | gain | mean τ of crowd minus that of plain, with its standard error over studies |
//!
//! Small settings use the four smallest sizes and five seeds, full ones all six and twenty seeds. Seeds
//! start at 2000 + seed: 100 to 102 and 800 to 819 were used while the method `crowd` was chosen.
//!
//! If the folder of real studies contains `fgnet-age.csv`, methods that need no annotators are compared
//! with the true ages of its faces as well (`ages.rs`).

mod ages;
pub(crate) mod crowds;
mod estimator;
mod figure;
mod pairs;
mod random;
pub(crate) mod simulated_crowd;
mod summary;

use hodgerank::kendall;
use hodgerank_io::write::Table;
use rayon::prelude::*;

use crate::columns::{counts, numbers, table, texts};
use crate::error::Result;
use crate::findings::Findings;
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;
use crowds::{Cell, SIZES, Size};
use estimator::Estimator;
use simulated_crowd::SimulatedCrowd;
use summary::{CellMeans, Summary};

/// Smaller seeds were used to choose the method; the evidence uses others.
const FIRST_SEED: u64 = 2000;
const SMALL_SIZES: usize = 4;

/// What to simulate.
struct Plan {
    cells: Vec<Cell>,
    sizes: Vec<Size>,
    first_seed: u64,
    seeds: u64,
}

/// A value of each method, in the order of [`Estimator::ALL`]; NaN where undefined.
type OfEstimators = [f64; Estimator::ALL.len()];

/// The results of a study.
struct StudyResult {
    cell: usize,
    size: Size,
    seed: u64,
    votes: u64,
    bad_share: f64,
    tau: OfEstimators,
    slope: OfEstimators,
}

/// Repeats the experiment.
///
/// # Errors
/// If a solver fails, or `fgnet-age.csv` exists and cannot be read.
pub fn run(settings: &Settings, progress: &ProgressCallback<'_>) -> Result<Findings> {
    let (sizes, seeds) = if settings.full { (SIZES.len(), 20) } else { (SMALL_SIZES, 5) };
    let plan = Plan {
        cells: crowds::cells(),
        sizes: SIZES[..sizes].to_vec(),
        first_seed: FIRST_SEED.wrapping_add(settings.seed),
        seeds,
    };
    let results = plan.run(progress)?;
    let summary = plan.summary(&results);
    let (mut claims, mut tables) = (summary.claims(settings.full), vec![]);
    tables.push(("accuracy".to_owned(), summary.table()));
    tables.push(("accuracy-studies".to_owned(), plan.table(&results)));
    if let Some(ages) = ages::find(settings)? {
        claims.push(ages.claim());
        tables.push(("accuracy-ages".to_owned(), ages.table()));
    }
    Ok(Findings {
        title: format!(
            "Accuracy on simulated crowds: {} crowds and designs, {} sizes, seeds {} to {}",
            plan.cells.len(),
            plan.sizes.len(),
            plan.first_seed,
            plan.first_seed + plan.seeds - 1
        ),
        claims,
        tables,
        charts: vec![figure::draw(&summary)],
    })
}

impl Plan {
    /// Simulates every study and applies every method.
    fn run(&self, progress: &ProgressCallback<'_>) -> Result<Vec<StudyResult>> {
        let seeds = || self.first_seed..self.first_seed + self.seeds;
        let sizes = || self.sizes.iter().flat_map(|&size| seeds().map(move |seed| (size, seed)));
        let studies: Vec<(usize, Size, u64)> = (0..self.cells.len())
            .flat_map(|cell| sizes().map(move |(size, seed)| (cell, size, seed)))
            .collect();
        let steps = StepCounter::new(studies.len(), progress);
        let one = |&(cell, size, seed): &(usize, Size, u64)| {
            let result = StudyResult::new(cell, &self.cells[cell], size, seed);
            steps.advance();
            result
        };
        // One at a time: sizes differ so much that halves of the list take unequal times.
        studies.par_iter().with_max_len(1).map(one).collect()
    }

    fn summary(&self, results: &[StudyResult]) -> Summary {
        let of = |(k, &cell): (usize, &Cell)| {
            let own: Vec<&StudyResult> = results.iter().filter(|result| result.cell == k).collect();
            CellMeans::new(cell, &own)
        };
        Summary { cells: self.cells.iter().enumerate().map(of).collect() }
    }

    /// Returns a table with one row for each study.
    fn table(&self, results: &[StudyResult]) -> Table {
        let rows = || results.iter();
        let cell = |result: &StudyResult| self.cells[result.cell];
        let mut table = table([
            ("crowd", texts(rows().map(|r| cell(r).crowd_name()))),
            ("design", texts(rows().map(|r| cell(r).design.as_str()))),
            ("items", counts(rows().map(|r| r.size.items as u64))),
            ("annotators", counts(rows().map(|r| r.size.annotators as u64))),
            ("mean_votes", counts(rows().map(|r| r.size.mean_votes as u64))),
            ("seed", counts(rows().map(|r| r.seed))),
            ("votes", counts(rows().map(|r| r.votes))),
            ("bad_share", numbers(rows().map(|r| r.bad_share))),
        ]);
        for estimator in Estimator::ALL {
            let name = format!("tau_{}", estimator.as_str());
            table.push(name, numbers(rows().map(|r| r.tau[estimator as usize])));
        }
        for estimator in Estimator::IN_LOG_ODDS {
            let name = format!("slope_{}", estimator.as_str());
            table.push(name, numbers(rows().map(|r| r.slope[estimator as usize])));
        }
        table
    }
}

impl StudyResult {
    fn new(cell: usize, of: &Cell, size: Size, seed: u64) -> Result<Self> {
        let study = SimulatedCrowd::new(of, &size, seed);
        let graph = study.graph()?;
        let (mut tau, mut slope) = ([f64::NAN; _], [f64::NAN; _]);
        for estimator in Estimator::ALL {
            if let Some(scores) = estimator.scores(&study, &graph)? {
                tau[estimator as usize] = kendall::tau(&scores, &study.truth);
                if !study.is_graded() {
                    slope[estimator as usize] = regression_slope(&scores, &study.truth);
                }
            }
        }
        let (votes, bad_share) = (study.votes.len() as u64, study.bad_share());
        Ok(Self { cell, size, seed, votes, bad_share, tau, slope })
    }
}

/// Returns the slope of the regression of scores on the true ones, which have mean zero.
fn regression_slope(scores: &[f64], truth: &[f64]) -> f64 {
    let product: f64 = scores.iter().zip(truth).map(|(score, truth)| score * truth).sum();
    product / truth.iter().map(|truth| truth * truth).sum::<f64>()
}

#[cfg(test)]
mod tests;
