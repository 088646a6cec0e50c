//! The result of a decomposition.

use std::time::Duration;

use super::flows::PairFlows;
use super::homology::BettiNumber;
use super::loops::HarmonicLoop;
use super::parts::HodgeParts;
use super::triangle::{Transitivity, Triangle};
use crate::solve::{Info, Status};

/// The result of [`super::decompose`].
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposition {
    /// Σ w y² of all votes.
    pub energy: f64,
    /// The energy of each part; they sum to `energy`.
    pub energies: HodgeParts,
    /// Each energy divided by the total; all 0 if the total is 0.
    pub shares: HodgeParts,
    /// The scores of the gradient part: least squares, mean zero on each component.
    pub scores: Vec<f64>,
    /// The flow of each part on each pair.
    pub flows: PairFlows,
    /// Number of triangles and how many of them are cyclic.
    pub transitivity: Transitivity,
    /// The triangles whose majorities form a cycle, those with the most energy first
    /// ([`Triangle::energy`]); empty if there is no cycle.
    pub triangles: Vec<Triangle>,
    /// The strongest loops of the harmonic part.
    pub loops: Vec<HarmonicLoop>,
    /// The first Betti number of the comparison graph with its triangles filled.
    pub betti: BettiNumber,
    /// Whether the parts met the tolerance.
    pub status: Status,
    /// How the parts were computed, and how accurate they are.
    pub info: DecomposeInfo,
}

/// How the curl part was separated from the harmonic part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CurlMethod {
    /// There is no triangle, so the whole remainder is harmonic.
    NoTriangles,
    /// The Betti number is 0, so the whole remainder is curl.
    NoHoles,
    /// The Betti number is small: the harmonic part was projected on an explicit basis, with one
    /// Laplacian system per basis vector.
    FewHoles,
    /// Conjugate gradients on the pairs of components whose Betti number may be positive.
    ConjugateGradient,
}

impl CurlMethod {
    /// The name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoTriangles => "no-triangles",
            Self::NoHoles => "no-holes",
            Self::FewHoles => "few-holes",
            Self::ConjugateGradient => "cg",
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for CurlMethod {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// How a decomposition was computed, and how accurate it is.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DecomposeInfo {
    /// The solver of the gradient part.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub gradient: Info,
    /// How the curl part was separated from the harmonic part.
    #[cfg_attr(feature = "serde", serde(rename = "name"))]
    pub method: CurlMethod,
    /// Iterations of `method`; 0 if nothing had to be solved.
    pub iterations: usize,
    /// ‖C · harmonic‖ / ‖C · remainder‖: the curl left in the harmonic part. 0 if it is below the
    /// rounding error of the votes; none if measuring it would exceed the budget of triangles.
    pub curl_residual: Option<f64>,
    /// ‖XᵀW · harmonic‖ relative to the same sums over the votes without signs.
    pub divergence_residual: f64,
    /// |1 − sum of the four shares|.
    pub sum_error: f64,
    /// Wall-clock time.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub time: Duration,
}
