//! The names of the experiments.

use std::str::FromStr;

/// An experiment of the paper, or one of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Experiment {
    /// Bias of the estimates of γ and θ ([`crate::bias`]).
    Bias,
    /// How often condition C2 holds on random graphs ([`crate::c2`]).
    C2,
    /// Experiment I: outlier detection ([`crate::auc`]).
    Auc,
    /// Experiment II: an image from noisy differences ([`crate::image`]).
    Image,
    /// Experiment IV: parallel speed-up ([`crate::speedup`]).
    Speedup,
    /// Real studies with all methods ([`crate::tables`]).
    Tables,
    /// Two clusters of faces ([`crate::bipartite`]).
    Faces,
    /// Two clusters of shoes ([`crate::bipartite`]).
    Shoes,
    /// Rules for the number of votes to flag ([`crate::selection`]).
    Selection,
    /// True scores recovered from crowds with bad annotators ([`crate::accuracy`]).
    Accuracy,
    /// How often intervals and ranges of ranks hold ([`crate::coverage`]).
    Coverage,
    /// Annotators with position bias ([`crate::position_bias`]).
    PositionBias,
    /// Which pairs to ask ([`crate::sampling`]).
    Sampling,
    /// Real studies: held-out votes and true orders ([`crate::real`]).
    Real,
}

impl Experiment {
    /// All experiments, in the order of the paper.
    pub const ALL: [Self; 14] = [
        Self::Bias,
        Self::C2,
        Self::Auc,
        Self::Image,
        Self::Speedup,
        Self::Tables,
        Self::Faces,
        Self::Shoes,
        Self::Selection,
        Self::Accuracy,
        Self::Coverage,
        Self::PositionBias,
        Self::Sampling,
        Self::Real,
    ];

    /// Returns the name on the command line and in file names.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bias => "bias",
            Self::C2 => "c2",
            Self::Auc => "auc",
            Self::Image => "image",
            Self::Speedup => "speedup",
            Self::Tables => "tables",
            Self::Faces => "faces",
            Self::Shoes => "shoes",
            Self::Selection => "selection",
            Self::Accuracy => "accuracy",
            Self::Coverage => "coverage",
            Self::PositionBias => "position-bias",
            Self::Sampling => "sampling",
            Self::Real => "real",
        }
    }
}

impl FromStr for Experiment {
    type Err = String;

    /// Reads an experiment's name; the error lists all names.
    fn from_str(name: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::as_str).join(", ");
        let named = Self::ALL.into_iter().find(|experiment| experiment.as_str() == name);
        named.ok_or_else(|| format!("expected one of {}", names()))
    }
}
