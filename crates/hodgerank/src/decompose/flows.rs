//! Votes as a flow on pairs: their means, what is lost in taking them, and the gradient part.

use super::Parts;
use crate::error::{Error, Result};
use crate::graph::{ComparisonGraph, Pairs};
use crate::numeric::{largest_magnitude, norm, power_of_two_below};

/// Votes for and against that cancel to within this, relative to their sum, are even.
const EVEN: f64 = 4.0 * f64::EPSILON;

/// The flow of each part on each pair, in the order of [`ComparisonGraph::pairs`]: how much the
/// left item is preferred to the right one. `mean = gradient + curl + harmonic`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairFlows {
    /// The mean of the votes on the pair. Votes that cancel to rounding have mean zero exactly.
    pub mean: Vec<f64>,
    /// The difference of scores: what one ranking of all items explains.
    pub gradient: Vec<f64>,
    /// What circles in triangles.
    pub curl: Vec<f64>,
    /// What circles around holes.
    pub harmonic: Vec<f64>,
    /// Σ w y² of the votes on the pair.
    pub energy: Vec<f64>,
    /// Σ w (y − mean)² of the votes on the pair: their disagreement with each other.
    pub bicycles: Vec<f64>,
}

impl PairFlows {
    /// Means and energies of the votes, in units of `unit`; the three parts are zero.
    pub(super) fn of_votes(graph: &ComparisonGraph, unit: f64) -> Self {
        let (groups, pairs) = (graph.groups(), graph.pairs());
        let mut flows = Self::zeros(pairs.len());
        for p in 0..pairs.len() {
            let range = pairs.first_group[p] as usize..pairs.first_group[p + 1] as usize;
            let votes = || range.clone().map(|g| (groups.weight[g], groups.y[g] / unit));
            let (sum, size) =
                votes().fold((0.0, 0.0), |(sum, size), (w, y)| (sum + w * y, size + w * y.abs()));
            let mean = if sum.abs() <= EVEN * size { 0.0 } else { sum / pairs.weight[p] };
            flows.mean[p] = mean;
            flows.energy[p] = votes().map(|(w, y)| w * y * y).sum();
            // One distinct vote agrees with itself, whatever the division rounds to.
            if range.len() > 1 {
                flows.bicycles[p] = votes().map(|(w, y)| w * (y - mean) * (y - mean)).sum();
            }
        }
        flows
    }

    fn zeros(pairs: usize) -> Self {
        let zeros = || vec![0.0; pairs];
        Self {
            mean: zeros(),
            gradient: zeros(),
            curl: zeros(),
            harmonic: zeros(),
            energy: zeros(),
            bicycles: zeros(),
        }
    }

    /// Back to the units of the votes.
    pub(super) fn scale(&mut self, unit: f64) {
        for flow in [&mut self.mean, &mut self.gradient, &mut self.curl, &mut self.harmonic] {
            flow.iter_mut().for_each(|f| *f *= unit);
        }
        for energy in [&mut self.energy, &mut self.bicycles] {
            energy.iter_mut().for_each(|e| *e *= unit * unit);
        }
    }

    /// The energies of the four parts.
    pub(super) fn parts(&self, pairs: &Pairs) -> Parts {
        Parts {
            bicycles: self.bicycles.iter().sum(),
            gradient: energy(pairs, &self.gradient),
            curl: energy(pairs, &self.curl),
            harmonic: energy(pairs, &self.harmonic),
        }
    }
}

/// Σ w f².
pub(super) fn energy(pairs: &Pairs, flow: &[f64]) -> f64 {
    pairs.weight.iter().zip(flow).map(|(w, f)| w * f * f).sum()
}

/// The power of two in whose units the outcomes are computed with, and which loses no digit.
pub(super) fn unit(graph: &ComparisonGraph) -> Result<f64> {
    let largest = largest_magnitude(&graph.groups().y);
    if largest == 0.0 {
        return Ok(1.0);
    }
    let unit = power_of_two_below(largest);
    let bound = graph.groups().votes() * largest * largest;
    if bound.is_finite() { Ok(unit) } else { Err(Error::EnergyOverflow { largest }) }
}

/// ‖div f‖ relative to the same sum without signs: how far flow · votes is from balance at items.
pub(super) fn imbalance(items: usize, pairs: &Pairs, flow: &[f64], scale: &[f64]) -> f64 {
    let (mut signed, mut size) = (vec![0.0; items], vec![0.0; items]);
    for p in 0..pairs.len() {
        let (left, right) = (pairs.left[p] as usize, pairs.right[p] as usize);
        let (f, s) = (pairs.weight[p] * flow[p], pairs.weight[p] * scale[p].abs());
        signed[left] += f;
        signed[right] -= f;
        size[left] += s;
        size[right] += s;
    }
    if norm(&size) > 0.0 { norm(&signed) / norm(&size) } else { 0.0 }
}
