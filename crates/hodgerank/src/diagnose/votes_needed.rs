//! How many more votes would settle a place.
//!
//! A place is settled once its item is told apart from all others: t = |θ̂_i − θ̂_j| / se_ij must be above a
//! critical value c for each of them. With f times the votes, standard errors are smaller by √f, if the new
//! votes are like the present ones: on the same pairs, by people of the same kind, as many per person. So
//!
//! f = max_j ((c + z) / t_ij)²,
//!
//! where z is the quantile of [`POWER`], because the next votes scatter too: with z = 0 they would succeed in
//! half of the studies. c is the critical value of Holm's procedure when that pair is tested: that of
//! Bonferroni for all pairs that are not clearer. It is slightly larger than that of the ranges of ranks.
//!
//! Votes on single pairs help more. R_ij is the effective resistance: se²_ij = s² R_ij, where s² is the variance
//! of one vote. m more votes on the pair make it R/(1 + mR), so that the pair needs m = (f_j − 1)/R_ij. The sum
//! over the rivals is an estimate: votes on one pair help the others as well.
//!
//! Failure modes: the gap is an estimate. Where it is smaller than its standard error, f is a guess.

use crate::annotators::normal_quantile;
use crate::error::Result;
use crate::laplacian::pseudo_inverse;
use crate::ranked_study::RankedStudy;
use crate::ranking::RankedItem;
use crate::uncertainty::{RankCoverage, Uncertainty};

/// The share of studies in which the votes should be enough.
const POWER: f64 = 0.8;
/// Above this multiple of the present votes, there is only a lower bound.
const MAX_FACTOR: f64 = 100.0;
/// Above this multiple, two scores are as good as equal.
const TIE_FACTOR: f64 = 1e4;
/// Most items for which single pairs are considered: a dense matrix is inverted.
const MAX_DENSE_ITEMS: usize = 2000;

/// The votes that it takes to settle a place. Numbers have two significant digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(tag = "estimate", rename_all = "kebab-case")
)]
pub enum VotesNeeded {
    /// A rough number.
    About {
        /// Further votes that are spread like the present ones.
        more_votes: u64,
        /// Further votes if they are all on the item and its rivals; none if that does not help, or there
        /// are too many items.
        more_votes_on_rivals: Option<u64>,
    },
    /// More than a hundred times the present votes.
    MoreThan {
        /// Further votes, at least.
        more_votes: u64,
    },
    /// The two scores are as good as equal.
    Tie,
    /// The item has too few votes for an estimate.
    FewVotes {
        /// Further votes on the item until there can be one.
        more_votes_on_item: u64,
    },
}

/// The tests that a place needs.
pub(super) struct PairTests<'a> {
    pub(super) study: &'a RankedStudy,
    pub(super) uncertainty: &'a Uncertainty,
    /// The items of the component, best first.
    pub(super) rows: &'a [&'a RankedItem],
}

impl PairTests<'_> {
    /// The item below `row` that is hardest to tell from it, and its statistic.
    pub(super) fn hardest(&self, row: &RankedItem, below: &[&RankedItem]) -> Option<(u32, f64)> {
        let tests = below.iter().map(|rival| (rival.item, self.statistic(row.item, rival.item)));
        tests.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The votes that settle the place of `row`, where `hardest` is the smallest statistic of the items below.
    pub(super) fn votes_needed(
        &self,
        row: &RankedItem,
        below: &[&RankedItem],
        hardest: f64,
    ) -> Result<VotesNeeded> {
        let ranking = &self.study.ranking;
        if ranking.is_thin(row) {
            let more_votes_on_item = ranking.enough_votes() - row.comparisons;
            return Ok(VotesNeeded::FewVotes { more_votes_on_item });
        }
        let needed = self.needed_statistic(row.item, hardest);
        let factor = (needed / hardest).powi(2);
        let votes = 0.5 * self.rows.iter().map(|row| row.comparisons as f64).sum::<f64>();
        if factor.is_nan() || factor > TIE_FACTOR {
            return Ok(VotesNeeded::Tie);
        }
        if factor > MAX_FACTOR {
            let more_votes = two_digits((MAX_FACTOR - 1.0) * votes);
            return Ok(VotesNeeded::MoreThan { more_votes });
        }
        let more = ((factor - 1.0) * votes).max(1.0);
        let needed = self.needed_statistic_on_rivals(row.item, hardest);
        let of_rivals = self.votes_on_rivals(row, below, needed)?;
        let on_rivals = of_rivals.map(|votes| votes.iter().sum::<f64>().max(1.0));
        let on_rivals = on_rivals.filter(|votes| *votes < more);
        Ok(VotesNeeded::About {
            more_votes: two_digits(more),
            more_votes_on_rivals: on_rivals.map(two_digits),
        })
    }

    fn statistic(&self, left: u32, right: u32) -> f64 {
        let gap = self.study.fit.scores[left as usize] - self.study.fit.scores[right as usize];
        let se = self.uncertainty.difference_se(left, right).unwrap_or(f64::INFINITY);
        if gap == 0.0 { 0.0 } else { gap.abs() / se }
    }

    /// The statistics of all pairs that the level holds for, increasing.
    fn family(&self, item: u32) -> Vec<f64> {
        let items = || self.rows.iter().map(|row| row.item);
        let mut family: Vec<f64> = match self.uncertainty.options.ranks {
            RankCoverage::All => {
                let pairs = items().enumerate();
                let of_item = |(k, i)| items().skip(k + 1).map(move |j| self.statistic(i, j));
                pairs.flat_map(of_item).collect()
            }
            RankCoverage::Each => {
                items().filter(|&j| j != item).map(|j| self.statistic(item, j)).collect()
            }
        };
        family.sort_by(f64::total_cmp);
        family
    }

    /// Bonferroni's critical value.
    fn critical(&self, pairs: usize) -> f64 {
        let level = self.uncertainty.options.level;
        normal_quantile(1.0 - 0.5 * (1.0 - level) / pairs.max(1) as f64)
    }

    /// The statistic that the hardest test of an item must be expected to have.
    fn needed_statistic(&self, item: u32, hardest: f64) -> f64 {
        let family = self.family(item);
        let critical = |pairs| self.critical(pairs);
        let position = family.partition_point(|t| *t <= hardest);
        let largest = critical(family.len());
        // Clearer pairs are tested earlier, with larger critical values, and must pass as well.
        let clearer = (position..family.len())
            .take_while(|&p| family[p] / hardest < largest)
            .map(|p| critical(p + 1) * hardest / family[p]);
        clearer.fold(critical(position) + normal_quantile(POWER), f64::max)
    }

    /// The same if the other pairs stay as they are.
    fn needed_statistic_on_rivals(&self, item: u32, hardest: f64) -> f64 {
        let needed = self.needed_statistic(item, hardest);
        let unclear = self.family(item).partition_point(|t| *t <= needed);
        needed.max(self.critical(unclear) + normal_quantile(POWER))
    }

    /// The votes that it takes on the pairs of an item and each of those below it, if there are no others.
    /// None with too many items.
    fn votes_on_rivals(
        &self,
        row: &RankedItem,
        below: &[&RankedItem],
        needed: f64,
    ) -> Result<Option<Vec<f64>>> {
        let graph = &self.study.graph;
        let n = graph.items();
        if n > MAX_DENSE_ITEMS {
            return Ok(None);
        }
        let pairs = graph.pairs();
        let inverse = pseudo_inverse(pairs, &pairs.weight, graph.components())?;
        let at = |i: u32, j: u32| inverse[i as usize * n + j as usize];
        let of_rival = |rival: &&RankedItem| {
            let (i, j) = (row.item, rival.item);
            let factor = (needed / self.statistic(i, j)).powi(2);
            (factor - 1.0).max(0.0) / (at(i, i) + at(j, j) - 2.0 * at(i, j))
        };
        Ok(Some(below.iter().map(of_rival).collect()))
    }
}

/// Rounds to two significant digits.
fn two_digits(votes: f64) -> u64 {
    let unit = 10_f64.powf(votes.max(1.0).log10().floor() - 1.0).max(1.0);
    ((votes / unit).round() * unit) as u64
}

#[cfg(test)]
mod tests;
