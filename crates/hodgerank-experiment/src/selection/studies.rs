//! The kinds of studies on which rules are tried.

use hodgerank::simulate::{AnnotatorKind, Noise, SimulateOptions};

/// A study to simulate, without its seed.
pub(super) struct Kind {
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

/// Every noise with every way of being bad, in each size.
pub(super) fn kinds() -> Vec<Kind> {
    let sizes = SIZES.iter().flat_map(|&size| NOISES.map(move |noise| (size, noise)));
    sizes.flat_map(|((items, votes), (name, noise))| of_noise(items, votes, name, noise)).collect()
}

fn of_noise(items: usize, votes: u64, name: &'static str, noise: Noise) -> Vec<Kind> {
    let plain = SimulateOptions { items, votes, noise, ..Default::default() };
    let kind = |bad_votes: String, options| Kind { noise: name, bad_votes, options };
    let flipped = |flips: f64| {
        let options = SimulateOptions { flips, ..plain.clone() };
        kind(format!("{}% flips", 100.0 * flips), options)
    };
    // At scale 0.5 disagreement drowns lapses: the only question is whether it is flagged.
    if name == "BT 0.5" {
        return vec![flipped(0.0)];
    }
    let mut kinds: Vec<Kind> = [0.0, 0.05, 0.1, 0.2, 0.3].map(flipped).into();
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
