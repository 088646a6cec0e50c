//! The kinds of studies to which rules are applied.

use hodgerank::simulate::{AnnotatorKind, Noise, SimulateOptions};

/// Options of a study to simulate, without the seed.
pub(super) struct StudyKind {
    pub(super) noise: &'static str,
    pub(super) bad_votes: String,
    pub(super) options: SimulateOptions,
}

const NOISES: [(&str, Noise); 5] = [
    ("none", Noise::None),
    ("BT 0.1", Noise::BradleyTerry { scale: 0.1 }),
    ("BT 0.2", Noise::BradleyTerry { scale: 0.2 }),
    ("BT 0.5", Noise::BradleyTerry { scale: 0.5 }),
    ("normal 0.1", Noise::Gaussian { sigma: 0.1 }),
];
const SIZES: [(usize, u64); 5] = [(16, 500), (16, 2000), (16, 8000), (100, 5000), (100, 20_000)];

/// Returns every combination of size, noise and bad votes.
pub(super) fn kinds() -> Vec<StudyKind> {
    let sizes = SIZES.iter().flat_map(|&size| NOISES.map(move |noise| (size, noise)));
    sizes.flat_map(|((items, votes), (name, noise))| of_noise(items, votes, name, noise)).collect()
}

fn of_noise(items: usize, votes: u64, name: &'static str, noise: Noise) -> Vec<StudyKind> {
    let plain = SimulateOptions { items, votes, noise, ..Default::default() };
    let kind = |bad_votes: String, options| StudyKind { noise: name, bad_votes, options };
    let flipped = |flips: f64| {
        let options = SimulateOptions { flips, ..plain.clone() };
        kind(format!("{}% flips", 100.0 * flips), options)
    };
    // At scale 0.5 honest disagreement hides bad votes, so that only clean studies are informative.
    if name == "BT 0.5" {
        return vec![flipped(0.0)];
    }
    let mut kinds: Vec<StudyKind> = [0.0, 0.05, 0.1, 0.2, 0.3].map(flipped).into();
    let annotators = vec![
        (AnnotatorKind::Careful, 20),
        (AnnotatorKind::Careless, 3),
        (AnnotatorKind::Malicious, 2),
        (AnnotatorKind::AlwaysLeft, 1),
    ];
    let options = SimulateOptions { annotators, ..plain.clone() };
    kinds.push(kind("annotators".to_owned(), options));
    if let Noise::Gaussian { .. } = noise {
        kinds.extend([0.0, 0.1, 0.2].map(|flips| {
            let options = SimulateOptions { flips, graded: true, ..plain.clone() };
            kind(format!("graded, {}% flips", 100.0 * flips), options)
        }));
    }
    kinds
}
