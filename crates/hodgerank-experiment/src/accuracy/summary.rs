//! Means over the studies of a cell, and what they say about `crowd`.

use hodgerank_io::write::Table;

use super::crowds::{AnswerKind, Cell, CrowdKind};
use super::estimator::Estimator;
use super::{OfEstimators, StudyResult};
use crate::columns::{counts, numbers, table, texts};
use crate::findings::Claim;
use crate::statistics::{mean, standard_error};

const MIN_GAP_BASIC: f64 = 0.9;
/// Over all crowds, and over those of the small settings, whose people have fewer votes.
const MIN_GAP_ALL: f64 = 0.75;
const MIN_GAP_ALL_SMALL: f64 = 0.7;
const MAX_LOSS_CLEAN: f64 = 0.002;
const MAX_LOSS: f64 = 0.005;

/// Means over the studies of a cell.
pub(super) struct CellMeans {
    pub(super) cell: Cell,
    studies: u64,
    bad_share: f64,
    pub(super) tau: OfEstimators,
    slope: OfEstimators,
    /// How much better than plain crowd is, and the standard error of that.
    gain: f64,
    gain_error: f64,
}

impl CellMeans {
    pub(super) fn new(cell: Cell, results: &[&StudyResult]) -> Self {
        let over = |of: fn(&StudyResult) -> &OfEstimators| {
            std::array::from_fn(|m| mean(results.iter().map(|result| of(result)[m])))
        };
        let gain = |result: &&StudyResult| {
            result.tau[Estimator::Crowd as usize] - result.tau[Estimator::Plain as usize]
        };
        // Both methods see the same votes, so that studies vary less in the difference than in τ.
        let gains: Vec<f64> = results.iter().map(gain).collect();
        Self {
            cell,
            studies: results.len() as u64,
            bad_share: mean(results.iter().map(|result| result.bad_share)),
            tau: over(|result| &result.tau),
            slope: over(|result| &result.slope),
            gain: mean(gains.iter().copied()),
            gain_error: standard_error(&gains),
        }
    }
}

/// The means of all cells.
pub(super) struct Summary {
    pub(super) cells: Vec<CellMeans>,
}

impl Summary {
    /// Mean τ of a method over the cells that are chosen.
    pub(super) fn tau(&self, estimator: Estimator, is_in: impl Fn(&Cell) -> bool) -> f64 {
        let cells = self.cells.iter().filter(|means| is_in(&means.cell));
        mean(cells.map(|means| means.tau[estimator as usize]))
    }

    pub(super) fn claims(&self, is_full: bool) -> Vec<Claim> {
        let min_all = if is_full { MIN_GAP_ALL } else { MIN_GAP_ALL_SMALL };
        // Crowds with ties would count twice.
        let has_sides = |cell: &Cell| cell.answers == AnswerKind::Side;
        let is_basic = |cell: &Cell| CrowdKind::BASIC.contains(&cell.crowd) && has_sides(cell);
        let basic = CrowdKind::BASIC.map(CrowdKind::as_str).join(", ");
        let is_graded = |cell: &Cell| cell.answers == AnswerKind::Graded;
        let plain = "plain Bradley–Terry";
        vec![
            self.gap_claim(&format!("the crowds {basic}"), plain, is_basic, MIN_GAP_BASIC),
            self.gap_claim("all crowds", plain, has_sides, min_all),
            self.gap_claim("graded crowds", "least squares", is_graded, MIN_GAP_BASIC),
            self.clean_claim(),
            self.worst_claim(),
        ]
    }

    fn gap_claim(
        &self,
        which: &str,
        plain_name: &str,
        is_in: impl Fn(&Cell) -> bool,
        min: f64,
    ) -> Claim {
        let [plain, crowd, oracle] = [Estimator::Plain, Estimator::Crowd, Estimator::Oracle]
            .map(|estimator| self.tau(estimator, &is_in));
        let gap = gap_closed(crowd, plain, oracle);
        Claim::new(
            format!(
                "over {which}, crowd closes at least {:.0}% of the gap in mean τ between \
                 {plain_name} and the oracle",
                100.0 * min
            ),
            format!("{:.1}%: plain {plain:.4}, crowd {crowd:.4}, oracle {oracle:.4}", 100.0 * gap),
            gap >= min,
        )
    }

    fn clean_claim(&self) -> Claim {
        let gain = |answers: AnswerKind| {
            let is_in = |cell: &Cell| cell.crowd == CrowdKind::Clean && cell.answers == answers;
            self.tau(Estimator::Crowd, is_in) - self.tau(Estimator::Plain, is_in)
        };
        let [sides, ties, graded] =
            [AnswerKind::Side, AnswerKind::SideOrTie, AnswerKind::Graded].map(gain);
        Claim::new(
            format!(
                "on clean crowds, with ties, without and graded, crowd loses at most \
                 {MAX_LOSS_CLEAN} in mean τ against plain"
            ),
            format!("{sides:+.4} without ties, {ties:+.4} with ties, {graded:+.4} graded"),
            sides.min(ties).min(graded) >= -MAX_LOSS_CLEAN,
        )
    }

    fn worst_claim(&self) -> Claim {
        let worst = self.cells.iter().min_by(|a, b| a.gain.total_cmp(&b.gain));
        let found = worst.map_or_else(String::new, |worst| {
            let (crowd, design) = (worst.cell.crowd_name(), worst.cell.design.as_str());
            format!("worst {:+.4} ± {:.4} ({crowd}, {design})", worst.gain, worst.gain_error)
        });
        Claim::new(
            format!("with no crowd and design is crowd more than {MAX_LOSS} in mean τ below plain"),
            found,
            worst.is_some_and(|worst| worst.gain >= -MAX_LOSS),
        )
    }

    /// Returns a table with one row for each crowd and design.
    pub(super) fn table(&self) -> Table {
        let rows = || self.cells.iter();
        let mut table = table([
            ("crowd", texts(rows().map(|means| means.cell.crowd_name()))),
            ("design", texts(rows().map(|means| means.cell.design.as_str()))),
            ("studies", counts(rows().map(|means| means.studies))),
            ("bad_share", numbers(rows().map(|means| means.bad_share))),
        ]);
        for estimator in Estimator::ALL {
            let tau = numbers(rows().map(|means| means.tau[estimator as usize]));
            table.push(format!("tau_{}", estimator.as_str()), tau);
        }
        table.push("gain_crowd", numbers(rows().map(|means| means.gain)));
        table.push("gain_crowd_error", numbers(rows().map(|means| means.gain_error)));
        for estimator in Estimator::WITH_GAP {
            let gap = |means: &CellMeans| {
                let tau = |estimator: Estimator| means.tau[estimator as usize];
                gap_closed(tau(estimator), tau(Estimator::Plain), tau(Estimator::Oracle))
            };
            table.push(format!("gap_closed_{}", estimator.as_str()), numbers(rows().map(gap)));
        }
        for estimator in Estimator::IN_LOG_ODDS {
            let slope = numbers(rows().map(|means| means.slope[estimator as usize]));
            table.push(format!("slope_{}", estimator.as_str()), slope);
        }
        table
    }
}

/// Returns the share of the gap between plain and the oracle that a τ closes; NaN without a gap.
fn gap_closed(tau: f64, plain: f64, oracle: f64) -> f64 {
    if oracle == plain { f64::NAN } else { (tau - plain) / (oracle - plain) }
}
