//! The paper's experiments, repeated: what it claims beside what is found.
//!
//! [`run`] repeats an [`Experiment`] with [`Settings`] and returns its [`Findings`]: claims, data
//! tables and descriptions of charts. Nothing is written or drawn here. Small settings take some
//! seconds each; [`Settings::full`] takes those of the paper.
//!
//! | module | experiment |
//! |---|---|
//! | [`bias`] | how far estimates of γ and θ are off |
//! | [`c2`] | how often C2 holds on random graphs |
//! | [`auc`] | Experiment I: outliers found, beside the truth |
//! | [`image`] | Experiment II: a picture from spoilt differences |
//! | [`speedup`] | Experiment IV: parallel iterations |
//! | [`tables`] | real studies with all methods |
//! | [`bipartite`] | faces and shoes: two clusters |
//! | [`selection`] | how many votes to flag |
//!
//! Random numbers come from ChaCha8 streams of [`Settings::seed`]; findings other than times are the
//! same for any number of threads.

pub mod auc;
pub mod bias;
pub mod bipartite;
pub mod c2;
mod columns;
mod draw;
pub mod error;
mod findings;
pub mod image;
mod methods;
mod outlier_map;
mod progress;
pub mod selection;
pub mod speedup;
mod study;
pub mod tables;

pub use error::{Error, Result};
pub use findings::{Claim, Findings};
pub use progress::Progress;

use std::path::PathBuf;
use std::str::FromStr;

/// An experiment by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the table above says it")]
pub enum Experiment {
    Bias,
    C2,
    Auc,
    Image,
    Speedup,
    Tables,
    Faces,
    Shoes,
    Selection,
}

impl Experiment {
    /// All of them, in the order of the paper.
    pub const ALL: [Self; 9] = [
        Self::Bias,
        Self::C2,
        Self::Auc,
        Self::Image,
        Self::Speedup,
        Self::Tables,
        Self::Faces,
        Self::Shoes,
        Self::Selection,
    ];

    /// Its name on the command line and of its folder.
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
        }
    }
}

impl FromStr for Experiment {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        let names = || Self::ALL.map(Self::as_str).join(", ");
        let named = Self::ALL.into_iter().find(|experiment| experiment.as_str() == name);
        named.ok_or_else(|| format!("expected one of {}", names()))
    }
}

/// How an experiment is run.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Whether to take the paper's sizes instead of small ones.
    pub full: bool,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Folder of the real studies, for `tables`.
    pub data: Option<PathBuf>,
    /// Picture for `image`; a generated one otherwise.
    pub image: Option<PathBuf>,
}

/// Repeats an experiment.
///
/// # Errors
/// If a file is missing or makes no sense, or a solver fails.
pub fn run(
    experiment: Experiment,
    settings: &Settings,
    progress: &Progress<'_>,
) -> Result<Findings> {
    match experiment {
        Experiment::Bias => bias::run(settings, progress),
        Experiment::C2 => c2::run(settings, progress),
        Experiment::Auc => auc::run(settings, progress),
        Experiment::Image => image::run(settings, progress),
        Experiment::Speedup => speedup::run(settings, progress),
        Experiment::Tables => tables::run(settings, progress),
        Experiment::Faces => bipartite::run(&bipartite::FACES, settings, progress),
        Experiment::Shoes => bipartite::run(&bipartite::SHOES, settings, progress),
        Experiment::Selection => selection::run(settings, progress),
    }
}
