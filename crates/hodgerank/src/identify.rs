//! Can wrong votes be told from right ones? The conditions of the paper's two theorems.
//!
//! Model, vote by vote: y = Xθ + γ + ε, where γ is zero but on the set S of s outliers, and ε is
//! noise with standard deviation σ. What a ranking cannot explain lies in the cycle space ker Xᵀ, of
//! dimension l = m − n + components; Ψ projects on it, and ΨᵀΨ = 1 − X L† Xᵀ. Everything follows
//! from two Laplacians, L of all votes and L_c of the inliers; no m × m matrix is ever formed.
//!
//! | condition | definition | computed as |
//! |---|---|---|
//! | C0 | ρ = max xᵢᵀL†xⱼ < 1/(2s) | ρ = the largest effective resistance of a compared pair |
//! | C1 | C_min = λ_min(Ψ_SᵀΨ_S) > 0 | min vᵀL_c v / vᵀL v |
//! | C2 | ‖Ψ_{Sᶜ}ᵀΨ_S(Ψ_SᵀΨ_S)⁻¹‖_∞ = 1 − η < 1 | max over j ∉ S of Σ_{k∈S} \|xⱼᵀL_c†x_k\| |
//! | C3 | γ_min > c₀λ̄ | c₀ = η/√(C_min μ) + ‖(Ψ_SᵀΨ_S)⁻¹‖_∞ |
//!
//! Why: the Gram matrix of S is 1 − X_S L† X_Sᵀ, and by Woodbury's formula
//! L†X_Sᵀ(1 − X_S L†X_Sᵀ)⁻¹ = L_c†X_Sᵀ and (1 − X_S L†X_Sᵀ)⁻¹ = 1 + X_S L_c† X_Sᵀ. For ρ: X L† Xᵀ is
//! positive semidefinite, so that its largest entry stands on the diagonal.
//!
//! | symbol | formula |
//! |---|---|
//! | μ | max over j ∉ S of 1 − xⱼᵀL†xⱼ |
//! | λ̄ | 2σ√(μ log m)/η: from there on hlasso flags no good vote, with probability 1 − 2/m |
//! | τ̄ | (1 − B/(κη))/λ̄: until then lbi flags none; 1/λ̄ for iss, where κ is infinite |
//! | B | γ_max + 2σ√(log m/C_min) + (‖Ψγ‖ + 2σ√(s log l))/√(C_min l) |
//!
//! (The theorem prints 2s√(log l) in B; its proof bounds that term by 2σ√(s log l), used here.)
//!
//! Votes on one pair count one by one. Cost: exact up to some thousand items, n³ for each Laplacian;
//! above that some dozens of Laplacian solves, with an [`Accuracy`] that says so.
//!
//! Failure modes: the conditions are sufficient, not necessary: where C2 fails some outliers may
//! still be found. S, σ and γ are usually estimates themselves.

mod coherence;
mod findable;
mod resistance;

pub use findable::{Findable, FindableOptions, Trial, c2_of_random_set, findable_share};
pub use resistance::{Resistances, resistances};

use crate::error::{Error, Result};
use crate::graph::{ComparisonGraph, Groups};
use crate::laplacian::{BackendChoice, LaplacianSystem, StoppingRule, smallest_eigenvalue};
use crate::numeric::dot;
use crate::solve::{L2Options, l2};
use coherence::OutlierSet;

/// How a figure was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Accuracy {
    /// From full matrices, up to rounding.
    Exact,
    /// The largest among candidates that random sketches proposed, each then computed exactly: at
    /// most the true maximum, and close to it.
    Sketched {
        /// How many random vectors there were.
        sketches: u32,
        /// How many candidates were computed.
        checked: u32,
        /// Standard error of the sketch, relative: how far a missed candidate may lie above.
        relative_error: f64,
    },
}

/// Options of [`conditions`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `sigma` | from the inliers | standard deviation of honest votes | above 0 |
/// | `kappa` | infinite (iss) | κ of lbi, for τ̄ | above 0 |
/// | `work` | 2e10 | most steps of the exact way to C2 | any |
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the table says it")]
pub struct IdentifyOptions {
    pub sigma: Option<f64>,
    pub kappa: Option<f64>,
    pub work: f64,
}

impl Default for IdentifyOptions {
    fn default() -> Self {
        Self { sigma: None, kappa: None, work: 2e10 }
    }
}

impl IdentifyOptions {
    /// Checks that all values make sense.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that does not.
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
    /// s: votes in S.
    pub outliers: f64,
    /// C_min of C1; 0 if the votes outside S do not hold the items together.
    pub c_min: f64,
    /// Bound of the relative error of `c_min`.
    pub c_min_accuracy: f64,
    /// 1 − η: the largest row sum of C2; infinite where C1 fails.
    pub irrepresentable: f64,
    /// How `irrepresentable` and `inverse_norm` were found.
    pub accuracy: Accuracy,
    /// μ_Ψ.
    pub mu: f64,
    /// ‖(Ψ_SᵀΨ_S)⁻¹‖_∞.
    pub inverse_norm: f64,
    /// σ, given or estimated.
    pub sigma: f64,
    /// Sizes of the smallest and the largest outlier.
    pub gamma: (f64, f64),
    /// λ̄; none where C2 fails.
    pub lambda_bar: Option<f64>,
    /// τ̄; none where C2 fails or κ is too small for the theorem.
    pub tau_bar: Option<f64>,
    /// c₀λ̄: outliers must be larger than this.
    pub gamma_needed: Option<f64>,
}

impl Conditions {
    /// η of C2; positive where it holds.
    #[must_use]
    pub fn eta(&self) -> f64 {
        1.0 - self.irrepresentable
    }

    /// C1: outliers leave their own traces in the cycle space.
    #[must_use]
    pub fn c1(&self) -> bool {
        self.c_min > 0.0
    }

    /// C2: no good vote looks like a combination of outliers.
    #[must_use]
    pub fn c2(&self) -> bool {
        self.irrepresentable < 1.0
    }

    /// C3: the outliers are large enough.
    #[must_use]
    pub fn c3(&self) -> bool {
        self.gamma_needed.is_some_and(|needed| self.gamma.0 > needed)
    }
}

/// The conditions where `flagged` votes of each group are the outliers; none if that is no vote,
/// or if there is no cycle.
///
/// # Errors
/// If an option makes no sense or a system cannot be solved.
///
/// # Panics
/// If there is not one number for each group.
pub fn conditions(
    graph: &ComparisonGraph,
    flagged: &[f64],
    resistances: &Resistances,
    options: &IdentifyOptions,
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
    let noise = Noise::of(graph, &inliers, &trusted, flagged, options.sigma)?;
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
    let sums = set.row_sums(options.work)?;
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

/// l = m − n + components: how many independent cycles the votes have.
#[must_use]
pub fn cycle_dimension(graph: &ComparisonGraph) -> f64 {
    graph.groups().votes() - graph.items() as f64 + graph.components().len() as f64
}

/// What the votes outside S say about those inside.
struct Noise {
    sigma: f64,
    gamma: (f64, f64),
    /// ‖Ψγ‖.
    cycle_size: f64,
}

impl Noise {
    /// γ is what the flagged votes are off by from the scores of the others.
    fn of(
        graph: &ComparisonGraph,
        inliers: &ComparisonGraph,
        trusted: &[f64],
        flagged: &[f64],
        sigma: Option<f64>,
    ) -> Result<Self> {
        let groups = graph.groups();
        let theta = l2::solve(inliers, &L2Options::default())?.scores;
        let r: Vec<f64> = groups.residuals(&theta).collect();
        let squares = |weights: &[f64]| -> f64 {
            r.iter().zip(weights).map(|(r, weight)| weight * r * r).sum()
        };
        let freedom = cycle_dimension(inliers);
        let estimate = if freedom > 0.0 { (squares(trusted) / freedom).sqrt() } else { 0.0 };
        let sizes = || r.iter().zip(flagged).filter(|(_, f)| **f > 0.0).map(|(r, _)| r.abs());
        let gamma = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
        // ‖Ψγ‖² = ‖γ‖² − bᵀL†b with b = Xᵀγ.
        let votes = Groups { weight: flagged.to_vec(), ..groups.clone() };
        let b = ComparisonGraph::new(graph.items(), votes)?.divergence(&r);
        let system = LaplacianSystem::new(graph, 0.0, BackendChoice::Auto)?;
        let (explained, _) = system.solve(&b, &StoppingRule::default())?;
        let explained = dot(&b, &explained);
        let cycle_size = (squares(flagged) - explained).max(0.0).sqrt();
        Ok(Self { sigma: sigma.unwrap_or(estimate), gamma, cycle_size })
    }
}

/// C_min = min vᵀL_c v / vᵀL v, and the bound of its relative error.
fn c_min(graph: &ComparisonGraph, inliers: &ComparisonGraph) -> Result<(f64, f64)> {
    let all = LaplacianSystem::new(graph, 0.0, BackendChoice::Auto)?;
    let trusted = LaplacianSystem::new(inliers, 0.0, BackendChoice::Auto)?;
    let found = smallest_eigenvalue(
        graph.items(),
        &|x, out| trusted.multiply(x, out),
        &|x, out| all.multiply(x, out),
        &|b| trusted.solve(b, &INNER).map(|(x, _)| x),
        eigenvalue_tolerance(graph.items()),
        MAX_STEPS,
    )?;
    // L_c ⪯ L.
    Ok((found.value.min(1.0), found.accuracy))
}

/// λ₂ of the largest component: how well it hangs together. None if no pair was compared.
///
/// # Errors
/// If a system cannot be solved.
pub fn algebraic_connectivity(
    graph: &ComparisonGraph,
) -> Result<Option<crate::laplacian::Eigenvalue>> {
    if graph.pairs().is_empty() {
        return Ok(None);
    }
    let largest = largest_component(graph)?;
    let system = LaplacianSystem::new(&largest, 0.0, BackendChoice::Auto)?;
    let n = largest.items();
    smallest_eigenvalue(
        n,
        &|x, out| system.multiply(x, out),
        &|x, out| out.copy_from_slice(x),
        &|b| system.solve(b, &INNER).map(|(x, _)| x),
        eigenvalue_tolerance(n),
        MAX_STEPS,
    )
    .map(Some)
}

/// The graph of the items of the first component alone.
fn largest_component(graph: &ComparisonGraph) -> Result<ComparisonGraph> {
    let (components, pairs) = (graph.components(), graph.pairs());
    let members = components.members(0);
    let mut new_of = vec![u32::MAX; graph.items()];
    members.iter().enumerate().for_each(|(new, &item)| new_of[item as usize] = new as u32);
    let inside = |&p: &usize| new_of[pairs.left[p] as usize] != u32::MAX;
    let kept: Vec<usize> = (0..pairs.len()).filter(inside).collect();
    let end = |end: &[u32]| kept.iter().map(|&p| new_of[end[p] as usize]).collect();
    let groups = Groups {
        left: end(&pairs.left),
        right: end(&pairs.right),
        y: vec![0.0; kept.len()],
        weight: kept.iter().map(|&p| pairs.weight[p]).collect(),
    };
    ComparisonGraph::new(members.len(), groups)
}

/// Preconditioners need few digits.
const INNER: StoppingRule = StoppingRule::at(1e-8);
const MAX_STEPS: usize = 200;

/// The error of the value is about the square of the accuracy of the vector.
fn eigenvalue_tolerance(items: usize) -> f64 {
    if items <= 10_000 { 1e-6 } else { 1e-2 }
}

/// Sums over the groups of each pair.
fn per_pair(graph: &ComparisonGraph, per_group: &[f64]) -> Vec<f64> {
    let first = &graph.pairs().first_group;
    first.windows(2).map(|w| per_group[w[0] as usize..w[1] as usize].iter().sum()).collect()
}
