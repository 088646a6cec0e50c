//! One number for each part of the decomposition.

/// A number for each of the four parts of the votes: an energy, or a share of the total energy.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HodgeParts {
    /// Disagreement between votes on the same pair.
    pub bicycles: f64,
    /// Explained by one ranking of all items.
    pub gradient: f64,
    /// Cycles of three items.
    pub curl: f64,
    /// Longer cycles that triangles do not fill.
    pub harmonic: f64,
}

impl HodgeParts {
    /// Returns the sum of the four numbers.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.bicycles + self.gradient + self.curl + self.harmonic
    }

    /// Returns the sum of the parts that no ranking explains: bi-cycles, curl and harmonic part.
    #[must_use]
    pub fn inconsistent(&self) -> f64 {
        self.bicycles + self.curl + self.harmonic
    }

    pub(super) fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self {
            bicycles: f(self.bicycles),
            gradient: f(self.gradient),
            curl: f(self.curl),
            harmonic: f(self.harmonic),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.bicycles += other.bicycles;
        self.gradient += other.gradient;
        self.curl += other.curl;
        self.harmonic += other.harmonic;
    }
}
