//! The paper's experiments: what it claims and what this implementation finds.
//!
//! [`run`] repeats an [`Experiment`] with [`Settings`] and returns its [`Findings`]: claims, data
//! tables and descriptions of charts. It writes and draws nothing. Small settings take a few seconds
//! each; [`Settings::full`] uses the paper's sizes.
//!
//! | module | experiment |
//! |---|---|
//! | [`bias`] | bias of the estimates of γ and θ |
//! | [`c2`] | how often condition C2 holds on random graphs |
//! | [`auc`] | Experiment I: outlier detection on simulated studies |
//! | [`image`] | Experiment II: an image reconstructed from noisy differences |
//! | [`speedup`] | Experiment IV: parallel speed-up |
//! | [`tables`] | real studies with all methods |
//! | [`bipartite`] | faces and shoes: two clusters |
//! | [`selection`] | rules for the number of votes to flag |
//! | [`accuracy`] | true scores recovered from crowds with bad annotators |
//! | [`coverage`] | how often intervals and ranges of ranks hold |
//! | [`position_bias`] | annotators with position bias, with a false discovery rate |
//! | [`sampling`] | which pairs to ask |
//! | [`real`] | real studies: held-out votes and true orders |
//!
//! Random numbers come from ChaCha8 streams of [`Settings::seed`]. Findings other than times do not
//! depend on the number of threads.

#![warn(missing_docs, clippy::print_stdout, clippy::print_stderr)]

pub mod accuracy;
pub mod auc;
pub mod bias;
pub mod bipartite;
pub mod c2;
mod charts;
mod columns;
pub mod coverage;
pub mod error;
mod experiment;
mod findings;
pub mod image;
mod labelled_study;
mod methods;
mod outlier_map;
pub mod position_bias;
mod progress;
pub mod real;
pub mod sampling;
pub mod selection;
mod settings;
pub mod speedup;
mod statistics;
pub mod tables;

pub use error::{Error, Result};
pub use experiment::Experiment;
pub use findings::{Claim, Findings};
pub use progress::ProgressCallback;
pub use settings::Settings;

/// Repeats an experiment.
///
/// # Errors
/// If a file is missing or invalid, or a solver fails.
pub fn run(
    experiment: Experiment,
    settings: &Settings,
    progress: &ProgressCallback<'_>,
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
        Experiment::Accuracy => accuracy::run(settings, progress),
        Experiment::Coverage => coverage::run(settings, progress),
        Experiment::PositionBias => position_bias::run(settings, progress),
        Experiment::Sampling => sampling::run(settings, progress),
        Experiment::Real => real::run(settings, progress),
    }
}
