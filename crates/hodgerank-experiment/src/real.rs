//! Real studies: how well scores predict votes that are held out, and how well they agree with the truth.
//!
//! Studies are the tables `NAME.csv` of a folder (of its folder `real` and the file `human-age.csv` if there is such a
//! folder); `NAME-truth.csv` has the columns `item` and `truth` (higher is better), and perhaps `group`: then only
//! items of one group have an order.
//!
//! | measure | how |
//! |---|---|
//! | log loss | a random fifth of the votes is held out; the link P(left) = l + (1 − l − r) F(T d + b) is fitted to these votes for each method, so that only the scores are judged; mean over splits. Ties do not count |
//! | τ, all votes | Kendall's τ with the truth |
//! | τ, six votes per item | the same with six votes per item, drawn at random; mean of six draws |
//!
//! Where pairs were chosen by earlier outcomes ([`ADAPTIVE`]), held-out votes reward weak priors: these studies are
//! not in the mean log loss.
//!
//! | method | what |
//! |---|---|
//! | default | what `hodgerank rank` does |
//! | people | `crowd`, with people in the model of the scores in any case |
//! | bt | without people |
//! | scores, differences | bt with one kind of prior |
//! | plain | bt without lapses, the prior on differences with precision 1 |
//! | l2, iss | least squares; inverse scale space with the default rule |

mod method;
mod study;

use hodgerank_io::write::Table;
use rayon::prelude::*;

use crate::columns::{counts, numbers, table, texts};
use crate::error::{Error, Result};
use crate::findings::{Claim, Findings};
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;
use crate::statistics::mean;
use method::RealMethod;
use study::RealStudy;

/// Studies whose pairs were chosen by earlier outcomes.
pub const ADAPTIVE: [&str; 3] =
    ["cj-gcse-2015", "cj-pollittx-efl-oracy", "cj-pollittx-philosophy2b"];

const SPLITS: u64 = 5;
const DRAWS: u64 = 6;
const SMALL_SPLITS: u64 = 2;
const SMALL_DRAWS: u64 = 2;
/// Largest loss against the better of plain Bradley–Terry and least squares.
const MAX_LOSS: f64 = 0.004;
const MIN_TAU_ALL: f64 = 0.925;
const MIN_TAU_SIX: f64 = 0.73;
/// Range of the slope of calibration, and the share of large studies in which it must be there.
const CALIBRATED: std::ops::RangeInclusive<f64> = 0.9..=1.1;
const MIN_CALIBRATED: f64 = 0.9;
const LARGE_STUDY: u64 = 1000;

/// One number for each method.
type OfMethods = [f64; RealMethod::ALL.len()];

/// What was found in a study.
struct StudyResult {
    name: String,
    items: u64,
    votes: u64,
    annotators: u64,
    log_loss: OfMethods,
    tau_all: OfMethods,
    tau_six: OfMethods,
    /// The slope of calibration of the default's probabilities for this crowd.
    calibration: f64,
    /// Splits in which people were part of the model of the scores.
    uses_people: f64,
}

/// A run on one study.
#[derive(Clone, Copy)]
enum Run {
    All,
    Split(u64),
    Six(u64),
}

/// Runs the experiment.
///
/// # Errors
/// If there is no folder or no study in it, a file is invalid, or a solver fails.
pub fn run(settings: &Settings, progress: &ProgressCallback<'_>) -> Result<Findings> {
    let data = settings.data.as_ref().ok_or(Error::NoData)?;
    let studies = RealStudy::find(data)?;
    let (splits, draws) = if settings.full { (SPLITS, DRAWS) } else { (SMALL_SPLITS, SMALL_DRAWS) };
    let seed = settings.seed;
    let runs_of = |study: &RealStudy| {
        let with_truth = |k: u64| study.has_truth().then_some(k);
        let all = with_truth(0).map(|_| Run::All);
        let six = (0..draws).filter_map(with_truth).map(|k| Run::Six(seed.wrapping_add(k)));
        let splits = (0..splits).map(|k| Run::Split(seed.wrapping_add(k)));
        all.into_iter().chain(splits).chain(six).collect::<Vec<_>>()
    };
    let runs: Vec<(usize, Run)> = (0..studies.len())
        .flat_map(|s| runs_of(&studies[s]).into_iter().map(move |run| (s, run)))
        .collect();
    let steps = StepCounter::new(runs.len(), progress);
    let one = |&(s, run): &(usize, Run)| {
        let found = studies[s].run(run);
        steps.advance();
        found
    };
    let found: Vec<study::RunResult> =
        runs.par_iter().with_max_len(1).map(one).collect::<Result<_>>()?;
    let results: Vec<StudyResult> = (0..studies.len())
        .map(|s| {
            let own = runs.iter().zip(&found).filter(|((study, _), _)| *study == s);
            let own: Vec<(Run, &study::RunResult)> =
                own.map(|((_, run), found)| (*run, found)).collect();
            studies[s].result(&own)
        })
        .collect();
    Ok(Findings {
        title: format!(
            "{} real studies, {splits} splits with seeds {seed} to {}",
            results.len(),
            seed.wrapping_add(splits - 1)
        ),
        claims: claims(&results),
        tables: vec![("real".to_owned(), table_of(&results))],
        charts: Vec::new(),
    })
}

/// The mean over the studies in which a number is known.
fn mean_of(results: &[&StudyResult], of: impl Fn(&StudyResult) -> f64) -> f64 {
    mean(results.iter().map(|result| of(result)).filter(|value| !value.is_nan()))
}

fn claims(results: &[StudyResult]) -> Vec<Claim> {
    let is_adaptive = |result: &&StudyResult| ADAPTIVE.contains(&result.name.as_str());
    let judged: Vec<&StudyResult> = results.iter().filter(|own| !is_adaptive(own)).collect();
    let all: Vec<&StudyResult> = results.iter().collect();
    let [default, plain, l2] =
        [RealMethod::Default, RealMethod::Plain, RealMethod::L2].map(|method| method as usize);
    let losses = RealMethod::ALL.map(|method| {
        let loss = mean_of(&judged, |own| own.log_loss[method as usize]);
        format!("{} {loss:.4}", method.as_str())
    });
    let loss =
        |own: &StudyResult| own.log_loss[default] - own.log_loss[plain].min(own.log_loss[l2]);
    let worst = judged.iter().max_by(|a, b| loss(a).total_cmp(&loss(b)));
    let of_default = |index: usize| mean_of(&judged, |own| own.log_loss[index]);
    let mut claims = vec![
        Claim::new(
            format!(
                "mean log loss of {} studies: the default is the best of default, plain and l2",
                judged.len()
            ),
            losses.join(", "),
            of_default(default) <= of_default(plain).min(of_default(l2)),
        ),
        Claim::new(
            format!(
                "in no study does the default lose more than {MAX_LOSS} against the better of plain and l2"
            ),
            worst.map_or_else(String::new, |own| format!("{:+.4} ({})", loss(own), own.name)),
            worst.is_none_or(|own| loss(own) <= MAX_LOSS),
        ),
    ];
    let with_truth: Vec<&StudyResult> =
        all.iter().copied().filter(|own| !own.tau_all[default].is_nan()).collect();
    if !with_truth.is_empty() {
        type Tau = fn(&StudyResult) -> &OfMethods;
        let taus: [(&str, Tau, f64); 2] = [
            ("all votes", |own| &own.tau_all, MIN_TAU_ALL),
            ("six votes per item", |own| &own.tau_six, MIN_TAU_SIX),
        ];
        for (name, of, min) in taus {
            let found = RealMethod::ALL.map(|method| {
                let tau = mean_of(&with_truth, |own| of(own)[method as usize]);
                format!("{} {tau:.3}", method.as_str())
            });
            claims.push(Claim::new(
                format!(
                    "mean τ with the truth of {} studies, {name}: the default has at least {min}",
                    with_truth.len()
                ),
                found.join(", "),
                mean_of(&with_truth, |own| of(own)[default]) >= min,
            ));
        }
    }
    let large: Vec<f64> = all
        .iter()
        .filter(|own| own.votes >= LARGE_STUDY)
        .map(|own| own.calibration)
        .filter(|slope| !slope.is_nan())
        .collect();
    if !large.is_empty() {
        let calibrated = large.iter().filter(|slope| CALIBRATED.contains(*slope)).count();
        claims.push(Claim::new(
            format!(
                "probabilities for the crowd: the slope of calibration on held-out votes is from {} to {} in at \
                 least {:.0}% of the studies with {LARGE_STUDY} votes or more",
                CALIBRATED.start(),
                CALIBRATED.end(),
                100.0 * MIN_CALIBRATED
            ),
            format!("{calibrated} of {}", large.len()),
            calibrated as f64 >= MIN_CALIBRATED * large.len() as f64,
        ));
    }
    claims
}

fn table_of(results: &[StudyResult]) -> Table {
    let rows = || results.iter();
    let mut table = table([
        ("study", texts(rows().map(|own| own.name.clone()))),
        ("items", counts(rows().map(|own| own.items))),
        ("votes", counts(rows().map(|own| own.votes))),
        ("annotators", counts(rows().map(|own| own.annotators))),
    ]);
    type Measure = fn(&StudyResult) -> &OfMethods;
    let measures: [(&str, Measure); 3] = [
        ("log_loss", |own| &own.log_loss),
        ("tau", |own| &own.tau_all),
        ("tau_six", |own| &own.tau_six),
    ];
    for (name, of) in measures {
        for method in RealMethod::ALL {
            let column = numbers(rows().map(|own| of(own)[method as usize]));
            table.push(format!("{name}_{}", method.as_str()), column);
        }
    }
    table.push("calibration_slope", numbers(rows().map(|own| own.calibration)));
    table.push("uses_people", numbers(rows().map(|own| own.uses_people)));
    table
}
