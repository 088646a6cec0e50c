//! The conditions C1 to C3 for a given set of outliers.

use super::accuracy::Accuracy;
use super::connectivity::cycle_dimension;
use super::eigenvalue::smallest_ratio;
use super::irrepresentable::OutlierSet;
use super::resistance::Resistances;
use crate::error::{Error, Result};
use crate::graph::{ComparisonGraph, Groups};
use crate::laplacian::{BackendChoice, LaplacianSystem, StoppingRule};
use crate::solve::{L2Options, l2};

/// Options of [`conditions`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `sigma` | estimated from the inliers | standard deviation of the noise of correct votes | above 0 |
/// | `kappa` | infinite (iss) | κ of lbi, for τ̄ | above 0 |
/// | `max_work` | 2e10 | maximum number of operations of the exact computation of C2 | any |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConditionOptions {
    /// Standard deviation of the noise of correct votes; estimated from the inliers if none.
    pub sigma: Option<f64>,
    /// κ of lbi; infinite (iss) if none.
    pub kappa: Option<f64>,
    /// Maximum number of operations of the exact computation of C2.
    pub max_work: f64,
}

impl Default for ConditionOptions {
    fn default() -> Self {
        Self { sigma: None, kappa: None, max_work: 2e10 }
    }
}

impl ConditionOptions {
    /// Checks that every value is in its range.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first value that is not.
    pub fn validate(&self) -> Result<()> {
        for (option, value) in [("sigma", self.sigma), ("kappa", self.kappa)] {
            if let Some(value) = value.filter(|v| !(*v > 0.0 && v.is_finite())) {
                let expected = "a finite number above 0";
                return Err(Error::BadOption { option, value: value.to_string(), expected });
            }
        }
        Ok(())
    }
}

/// The conditions for one set of outliers.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditions {
    /// s: the number of votes in S.
    pub outliers: f64,
    /// C_min of C1; 0 if the votes outside S do not connect the items.
    pub c_min: f64,
    /// Bound of the relative error of `c_min`.
    pub c_min_accuracy: f64,
    /// 1 − η: the largest row sum of C2; infinite if C1 fails.
    pub irrepresentable: f64,
    /// How `irrepresentable` and `inverse_norm` were computed.
    pub accuracy: Accuracy,
    /// μ: the largest 1 − xⱼᵀL†xⱼ of the votes outside S.
    pub mu: f64,
    /// ‖(Ψ_SᵀΨ_S)⁻¹‖_∞.
    pub inverse_norm: f64,
    /// σ, given or estimated.
    pub sigma: f64,
    /// Sizes |γ| of the smallest and the largest outlier.
    pub gamma: (f64, f64),
    /// λ̄; none if C2 fails.
    pub lambda_bar: Option<f64>,
    /// τ̄; none if C2 fails or κ is too small for the theorem.
    pub tau_bar: Option<f64>,
    /// c₀λ̄: the size that outliers must exceed for C3; none if C2 fails.
    pub gamma_needed: Option<f64>,
}

impl Conditions {
    /// η of C2; positive if C2 holds.
    #[must_use]
    pub fn eta(&self) -> f64 {
        1.0 - self.irrepresentable
    }

    /// C1: the outliers are linearly independent in the cycle space.
    #[must_use]
    pub fn c1(&self) -> bool {
        self.c_min > 0.0
    }

    /// C2 (irrepresentability): no correct vote is close to a combination of outliers.
    #[must_use]
    pub fn c2(&self) -> bool {
        self.irrepresentable < 1.0
    }

    /// C3: every outlier is larger than the noise requires.
    #[must_use]
    pub fn c3(&self) -> bool {
        self.gamma_needed.is_some_and(|needed| self.gamma.0 > needed)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Conditions {
    /// Writes the conditions and the quantities that they depend on.
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;

        let mut out = serializer.serialize_struct("Conditions", 14)?;
        out.serialize_field("c1", &self.c1())?;
        out.serialize_field("c2", &self.c2())?;
        out.serialize_field("c3", &self.c3())?;
        out.serialize_field("c_min", &self.c_min)?;
        out.serialize_field("c_min_accuracy", &self.c_min_accuracy)?;
        out.serialize_field("eta", &Some(self.eta()).filter(|eta| eta.is_finite()))?;
        out.serialize_field("mu", &self.mu)?;
        out.serialize_field("sigma", &self.sigma)?;
        out.serialize_field("gamma_min", &self.gamma.0)?;
        out.serialize_field("gamma_max", &self.gamma.1)?;
        out.serialize_field("lambda_bar", &self.lambda_bar)?;
        out.serialize_field("tau_bar", &self.tau_bar)?;
        out.serialize_field("gamma_needed", &self.gamma_needed)?;
        out.serialize_field("accuracy", &self.accuracy)?;
        out.end()
    }
}

/// Computes the conditions if `flagged` votes of each group are the outliers. None if no vote is
/// flagged or the votes have no cycle.
///
/// # Errors
/// If an option is out of range or a linear system cannot be solved.
///
/// # Panics
/// If `flagged` does not have one number per group.
pub fn conditions(
    graph: &ComparisonGraph,
    flagged: &[f64],
    resistances: &Resistances,
    options: &ConditionOptions,
) -> Result<Option<Conditions>> {
    options.validate()?;
    let groups = graph.groups();
    assert_eq!(flagged.len(), groups.len(), "one number for each group");
    let (s, m, l) = (flagged.iter().sum::<f64>(), groups.votes(), cycle_dimension(graph));
    if s == 0.0 || l < 1.0 {
        return Ok(None);
    }
    let trusted: Vec<f64> = groups.weight.iter().zip(flagged).map(|(w, f)| w - f).collect();
    let inliers = ComparisonGraph::new(graph.items(), groups.reweighted(&trusted))?;
    let noise = OutlierNoise::estimate(graph, &inliers, &trusted, flagged, options.sigma)?;
    let mu = resistances.mu(graph, &per_pair(graph, &trusted))?;
    let mut found = Conditions {
        outliers: s,
        c_min: 0.0,
        c_min_accuracy: 0.0,
        irrepresentable: f64::INFINITY,
        accuracy: Accuracy::Exact,
        mu,
        inverse_norm: f64::INFINITY,
        sigma: noise.sigma,
        gamma: noise.gamma,
        lambda_bar: None,
        tau_bar: None,
        gamma_needed: None,
    };
    if inliers.components().len() > graph.components().len() {
        return Ok(Some(found));
    }
    (found.c_min, found.c_min_accuracy) = c_min(graph, &inliers)?;
    let outliers = per_pair(graph, flagged);
    let set = OutlierSet { graph, inliers: &inliers, outliers: &outliers };
    let sums = set.row_sums(options.max_work)?;
    (found.irrepresentable, found.accuracy) = (sums.outside, sums.accuracy);
    found.inverse_norm = 1.0 + sums.inside;
    let eta = found.eta();
    if eta > 0.0 && found.c_min > 0.0 && mu > 0.0 {
        let lambda_bar = 2.0 * noise.sigma * (mu * m.ln()).sqrt() / eta;
        let c0 = eta / (found.c_min * mu).sqrt() + found.inverse_norm;
        found.lambda_bar = Some(lambda_bar);
        found.gamma_needed = Some(c0 * lambda_bar);
        let b = noise.gamma.1
            + 2.0 * noise.sigma * (m.ln() / found.c_min).sqrt()
            + (noise.cycle_size + 2.0 * noise.sigma * (s * l.ln()).sqrt())
                / (found.c_min * l).sqrt();
        let kept = 1.0 - options.kappa.map_or(0.0, |kappa| b / (kappa * eta));
        found.tau_bar = (kept >= 0.0 && lambda_bar > 0.0).then_some(kept / lambda_bar);
    }
    Ok(Some(found))
}

/// The noise of the inliers, and the size of the outliers relative to the inliers' scores.
struct OutlierNoise {
    sigma: f64,
    gamma: (f64, f64),
    /// ‖Ψγ‖.
    cycle_size: f64,
}

impl OutlierNoise {
    /// γ is the residual of a flagged vote with respect to the scores of the trusted votes.
    fn estimate(
        graph: &ComparisonGraph,
        inliers: &ComparisonGraph,
        trusted: &[f64],
        flagged: &[f64],
        sigma: Option<f64>,
    ) -> Result<Self> {
        let groups = graph.groups();
        let theta = l2::solve(inliers, &L2Options::default())?.scores;
        let fitted = graph.gradient(&theta);
        let r: Vec<f64> = groups.y.iter().zip(&fitted).map(|(y, fit)| y - fit).collect();
        let squares = |weights: &[f64]| -> f64 {
            r.iter().zip(weights).map(|(r, weight)| weight * r * r).sum()
        };
        let degrees_of_freedom = cycle_dimension(inliers);
        let estimate = if degrees_of_freedom > 0.0 {
            (squares(trusted) / degrees_of_freedom).sqrt()
        } else {
            0.0
        };
        let sizes = || r.iter().zip(flagged).filter(|(_, f)| **f > 0.0).map(|(r, _)| r.abs());
        let gamma = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
        // ‖Ψγ‖² = ‖γ‖² − bᵀL†b with b = Xᵀγ.
        let votes = Groups { weight: flagged.to_vec(), ..groups.clone() };
        let b = ComparisonGraph::new(graph.items(), votes)?.divergence(&r);
        let system = LaplacianSystem::new(graph, 0.0, BackendChoice::Auto)?;
        let (explained, _) = system.solve(&b, &StoppingRule::default())?;
        let explained: f64 = b.iter().zip(&explained).map(|(b, x)| b * x).sum();
        let cycle_size = (squares(flagged) - explained).max(0.0).sqrt();
        Ok(Self { sigma: sigma.unwrap_or(estimate), gamma, cycle_size })
    }
}

/// Returns C_min = min vᵀL_c v / vᵀL v, and a bound of its relative error.
fn c_min(graph: &ComparisonGraph, inliers: &ComparisonGraph) -> Result<(f64, f64)> {
    let all = LaplacianSystem::new(graph, 0.0, BackendChoice::Auto)?;
    let trusted = LaplacianSystem::new(inliers, 0.0, BackendChoice::Auto)?;
    let found = smallest_ratio(graph.items(), &trusted, &|x, out| all.multiply(x, out))?;
    // L_c ⪯ L, so the ratio is at most 1.
    Ok((found.value.min(1.0), found.accuracy))
}

/// Sums a number per group over the groups of each pair.
fn per_pair(graph: &ComparisonGraph, per_group: &[f64]) -> Vec<f64> {
    let first = &graph.pairs().first_group;
    first.windows(2).map(|w| per_group[w[0] as usize..w[1] as usize].iter().sum()).collect()
}
