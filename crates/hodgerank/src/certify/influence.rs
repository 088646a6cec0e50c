//! How much single votes move the scores, to first order.
//!
//! At the fit the gradient vanishes: Σ e_r x_r = 0 over the votes, and the prior, with x_r = +1 at the left
//! item and −1 at the right one. Removing one vote of row r moves θ_i − θ_j by about
//!
//! −e_r x_rᵀ H⁻¹ (e_i − e_j) / (1 − c_r x_rᵀ H⁻¹ x_r),  H = Σ c_r x_r x_rᵀ + prior,
//!
//! which is exact for least squares. H is a Laplacian, so that one solve gives the influences of all votes.
//!
//! | method | e | c |
//! |---|---|---|
//! | least squares | residual y − d | 1 |
//! | without flagged votes | (1 − flagged share) × residual | 1 − flagged share |
//! | `hlasso` | residual, clipped at ±λ | 1, or 0 where it is clipped |
//! | `bt`, `crowd` | ∂ log P/∂d (`model/votes.rs`, `solve/crowd/influence.rs`) | expected information |

use super::vote_table::{Remaining, VoteTable};
use crate::error::Result;
use crate::fit::{Fit, Model};
use crate::graph::ComparisonGraph;
use crate::laplacian::{BackendChoice, LaplacianSystem, StoppingRule};
use crate::model::prior::PriorTerm;
use crate::model::votes::{VoteModel, outcome_of};
use crate::path::Parameter;
use crate::solve::Method;
use crate::solve::crowd::CrowdSlopes;

/// Items up to which the denominator is computed, with one solve for each item.
const MAX_ITEMS_WITH_LEVERAGE: usize = 150;
/// Weight of a pair without information, relative to the largest: keeps the graph connected.
const MIN_RELATIVE_WEIGHT: f64 = 1e-9;
/// Largest leverage of a single vote: beyond it, the first order says nothing.
const MAX_LEVERAGE: f64 = 0.9;
const TOLERANCE: f64 = 1e-8;

/// The first-order model at a fit.
#[derive(Debug)]
pub(super) struct Influence {
    /// e of one vote of each row, in the direction of its left item; 0 if none is left.
    slopes: Vec<f64>,
    /// c of the same.
    curvatures: Vec<f64>,
    ends: Vec<(u32, u32)>,
    system: LaplacianSystem,
    /// H⁻¹ by columns of items, if there are few.
    inverse: Option<Vec<Vec<f64>>>,
}

impl Influence {
    /// The influences at the fit of the remaining votes.
    ///
    /// # Errors
    /// If the system cannot be set up.
    pub(super) fn new(table: &VoteTable<'_>, remaining: &Remaining, fit: &Fit) -> Result<Self> {
        let rows = table.rows.len();
        let (mut slopes, mut curvatures) = (vec![0.0; rows], vec![0.0; rows]);
        for r in (0..rows).filter(|&r| remaining.counts[r] > 0) {
            (slopes[r], curvatures[r]) = slope_and_curvature(table, remaining, fit, r);
        }
        let graph = &remaining.graph;
        let pair_of_group = pairs_of_groups(graph);
        let prior = fit.model.as_ref().map(|model| model.prior().term(graph));
        let own = |p: usize| prior.as_ref().map_or(0.0, |prior| prior.pair_weight(p));
        let mut weights: Vec<f64> = (0..graph.pairs().len()).map(own).collect();
        let shift = prior.as_ref().map_or(0.0, PriorTerm::shift);
        for r in (0..rows).filter(|&r| remaining.counts[r] > 0) {
            let pair = pair_of_group[remaining.group_of[r] as usize];
            weights[pair as usize] += remaining.counts[r] as f64 * curvatures[r];
        }
        let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        weights.iter_mut().for_each(|w| *w = w.max(MIN_RELATIVE_WEIGHT * largest));
        let system = LaplacianSystem::new(graph, shift, BackendChoice::Auto)?
            .reweighted_with_shift(graph, &weights, shift)?;
        let mut influence = Self {
            slopes,
            curvatures,
            ends: table.rows.iter().map(|row| (row.left, row.right)).collect(),
            system,
            inverse: None,
        };
        if graph.items() <= MAX_ITEMS_WITH_LEVERAGE {
            let column = |item: u32| influence.solve(&[(item, 1.0)], graph.items());
            influence.inverse = Some((0..graph.items() as u32).map(column).collect::<Result<_>>()?);
        }
        Ok(influence)
    }

    fn solve(&self, entries: &[(u32, f64)], items: usize) -> Result<Vec<f64>> {
        let mut rhs = vec![0.0; items];
        entries.iter().for_each(|&(item, value)| rhs[item as usize] = value);
        Ok(self.system.solve(&rhs, &StoppingRule::at(TOLERANCE))?.0)
    }

    /// By how much θ_i − θ_j decreases, if one vote of each row is removed.
    ///
    /// # Errors
    /// If the system cannot be solved.
    pub(super) fn on_pair(&self, (i, j): (u32, u32), items: usize) -> Result<Vec<f64>> {
        let direction = match &self.inverse {
            Some(columns) => {
                let columns = columns[i as usize].iter().zip(&columns[j as usize]);
                columns.map(|(a, b)| a - b).collect()
            }
            None => self.solve(&[(i, 1.0), (j, -1.0)], items)?,
        };
        let of_row = |r: usize| {
            let (left, right) = (self.ends[r].0 as usize, self.ends[r].1 as usize);
            let first_order = self.slopes[r] * (direction[left] - direction[right]);
            let leverage = self.inverse.as_ref().map_or(0.0, |columns| {
                let resistance = columns[left][left] + columns[right][right]
                    - columns[left][right]
                    - columns[right][left];
                (self.curvatures[r] * resistance).clamp(0.0, MAX_LEVERAGE)
            });
            first_order / (1.0 - leverage)
        };
        Ok((0..self.ends.len()).map(of_row).collect())
    }
}

fn pairs_of_groups(graph: &ComparisonGraph) -> Vec<u32> {
    let pairs = graph.pairs();
    let of_pair = |p: usize| {
        let groups = pairs.first_group[p + 1] - pairs.first_group[p];
        std::iter::repeat_n(p as u32, groups as usize)
    };
    (0..pairs.len()).flat_map(of_pair).collect()
}

/// e and c of one vote of a row.
fn slope_and_curvature(
    table: &VoteTable<'_>,
    remaining: &Remaining,
    fit: &Fit,
    r: usize,
) -> (f64, f64) {
    let row = &table.rows[r];
    let group = remaining.group_of[r] as usize;
    let d = fit.scores[row.left as usize] - fit.scores[row.right as usize];
    match &fit.model {
        None => {
            let residual = row.y - d;
            match (fit.method, fit.stop) {
                (Method::HuberLasso, Some((Parameter::Lambda, lambda))) if lambda > 0.0 => {
                    let is_inside = residual.abs() <= lambda;
                    (residual.clamp(-lambda, lambda), f64::from(u8::from(is_inside)))
                }
                _ => {
                    let weight = remaining.graph.groups().weight[group];
                    let kept = 1.0 - fit.flagged[group] / weight;
                    (kept * residual, kept)
                }
            }
        }
        Some(Model::BradleyTerry(found)) => {
            let model = VoteModel {
                advantage: found.side_advantage,
                tie_odds: found.tie_odds,
                lapse_rate: found.lapse_rate,
                tie_share: 0.0,
            };
            let terms = model.at(d + found.side_advantage);
            (terms.slope[outcome_of(row.y)], terms.information)
        }
        Some(Model::Crowd(flags)) => {
            let slopes = CrowdSlopes::new(&flags.crowd);
            let annotator = row.annotator.map(|a| remaining.annotator_of[a as usize]);
            let own = slopes.of_annotator(annotator).of_vote(row.left, row.right, row.y);
            (own.gradient, own.information)
        }
    }
}
