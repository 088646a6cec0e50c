//! Identifiability: can wrong votes be told from correct ones? The conditions of the paper's two
//! theorems.
//!
//! Model, vote by vote: y = Xθ + γ + ε, where γ is zero except on the set S of s outliers, and ε is
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
//! Derivation: the Gram matrix of S is 1 − X_S L† X_Sᵀ, and by Woodbury's formula
//! L†X_Sᵀ(1 − X_S L†X_Sᵀ)⁻¹ = L_c†X_Sᵀ and (1 − X_S L†X_Sᵀ)⁻¹ = 1 + X_S L_c† X_Sᵀ. For ρ: X L† Xᵀ is
//! positive semidefinite, so its largest entry is on the diagonal.
//!
//! | symbol | formula |
//! |---|---|
//! | μ | max over j ∉ S of 1 − xⱼᵀL†xⱼ |
//! | λ̄ | 2σ√(μ log m)/η: for λ ≥ λ̄ hlasso flags no correct vote, with probability 1 − 2/m |
//! | τ̄ | (1 − B/(κη))/λ̄: until then lbi flags no correct vote; 1/λ̄ for iss, where κ is infinite |
//! | B | γ_max + 2σ√(log m/C_min) + (‖Ψγ‖ + 2σ√(s log l))/√(C_min l) |
//!
//! (The theorem prints 2s√(log l) in B; its proof bounds that term by 2σ√(s log l), used here.)
//!
//! Each vote on a pair counts by itself. Cost: exact up to a few thousand items, n³ per Laplacian;
//! above that some dozens of Laplacian solves, and [`Accuracy`] reports the error.
//!
//! Failure modes: the conditions are sufficient, not necessary: if C2 fails some outliers may still
//! be identified. S, σ and γ are usually estimates themselves.

mod accuracy;
mod conditions;
mod connectivity;
mod eigenvalue;
mod identifiable;
mod irrepresentable;
mod resistance;

pub use accuracy::Accuracy;
pub use conditions::{ConditionOptions, Conditions, conditions};
pub use connectivity::{algebraic_connectivity, cycle_dimension};
pub use identifiable::{
    IdentifiableOptions, IdentifiableShare, Trial, c2_of_random_set, identifiable_share,
};
pub use resistance::{Resistances, resistances};
