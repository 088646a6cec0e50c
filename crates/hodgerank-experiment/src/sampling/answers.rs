//! Where the answers come from: simulated crowds, and published studies.

use std::path::Path;
use std::sync::Arc;

use hodgerank::solve::bradley_terry::{self, BradleyTerryOptions};
use hodgerank::{ComparisonGraph, Groups};
use hodgerank_io::{ReadOptions, read};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::error::{Error, Result};
use crate::settings::Settings;

const ITEMS: usize = 16;
/// Standard deviation of true scores, in log-odds.
const SPREAD: f64 = 1.5;

/// A simulated crowd: each vote is by another annotator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crowd {
    name: &'static str,
    /// Share of votes that are random.
    random: f64,
    /// Share of votes that are the opposite of an honest one.
    contrary: f64,
}

impl Crowd {
    pub(super) const FAMILY: &'static str = "crowd";
    const ALL: [Self; 3] = [
        Self { name: "crowd, careful", random: 0.0, contrary: 0.0 },
        Self { name: "crowd, 20% random", random: 0.2, contrary: 0.0 },
        Self { name: "crowd, 10% contrary", random: 0.0, contrary: 0.1 },
    ];
}

/// A source of answers.
pub(super) enum Answers {
    Simulated(Crowd),
    Published {
        name: String,
        /// Answers on each pair, row by row: whether the first item is preferred.
        answers: Vec<Vec<bool>>,
        scores: Vec<f64>,
    },
}

/// All sources of an experiment: small settings have one study of each kind.
pub(super) fn sources(settings: &Settings) -> Result<Vec<Answers>> {
    let mut sources: Vec<Answers> = Crowd::ALL.map(Answers::Simulated).into();
    if let Some(data) = &settings.data {
        let numbers = if settings.full { 1..=5 } else { 1..=1 };
        for (folder, family) in [("pc-vqa", "PC-VQA"), ("pc-iqa", "PC-IQA")] {
            for k in numbers.clone() {
                let file = data.join(folder).join(format!("ref{k:02}.csv"));
                if file.exists() {
                    sources.push(Answers::published(&file, format!("{family} {k}"))?);
                }
            }
        }
    }
    Ok(sources)
}

impl Answers {
    fn published(file: &Path, name: String) -> Result<Self> {
        let options = ReadOptions::default();
        let input = read(&[file.to_string_lossy().into_owned()], &options, &Arc::default())?;
        let study = input.studies.into_iter().next().ok_or(Error::NoData)?;
        let items = study.items.len();
        let answers = answers_of(items, &study.groups);
        let graph = ComparisonGraph::new(items, study.groups)?;
        let options = BradleyTerryOptions { lapse_rate: Some(0.0), ..Default::default() };
        let scores = bradley_terry::solve(&graph, &options)?.solution.scores;
        Ok(Self::Published { name, answers, scores })
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Simulated(crowd) => crowd.name,
            Self::Published { name, .. } => name,
        }
    }

    pub(super) fn items(&self) -> usize {
        match self {
            Self::Simulated(_) => ITEMS,
            Self::Published { scores, .. } => scores.len(),
        }
    }

    /// The voters of one run.
    pub(super) fn start(&self, rng: &mut ChaCha8Rng) -> Voters {
        match self {
            Self::Simulated(crowd) => {
                let score = |_| SPREAD * Distribution::<f64>::sample(&StandardNormal, rng);
                Voters {
                    crowd: Some(*crowd),
                    left: Vec::new(),
                    scores: (0..ITEMS).map(score).collect(),
                }
            }
            Self::Published { answers, scores, .. } => {
                let mut left = answers.clone();
                left.iter_mut().for_each(|pair| pair.shuffle(rng));
                Voters { crowd: None, left, scores: scores.clone() }
            }
        }
    }
}

/// The answers on each pair, row by row. Ties are left out.
fn answers_of(items: usize, groups: &Groups) -> Vec<Vec<bool>> {
    let mut answers = vec![Vec::new(); items * items];
    for g in (0..groups.len()).filter(|&g| groups.y[g] != 0.0) {
        let pair = groups.left[g] as usize * items + groups.right[g] as usize;
        let votes = groups.weight[g] as usize;
        answers[pair].extend(std::iter::repeat_n(groups.y[g] > 0.0, votes));
    }
    answers
}

/// The voters of one run.
pub(super) struct Voters {
    /// None for a published study.
    crowd: Option<Crowd>,
    /// Answers that have not been given yet.
    left: Vec<Vec<bool>>,
    scores: Vec<f64>,
}

impl Voters {
    pub(super) fn true_scores(&self) -> &[f64] {
        &self.scores
    }

    /// Answers whether the first item is preferred. A published study without an answer that is left draws one
    /// from its scores.
    pub(super) fn prefers_first(&mut self, i: u32, j: u32, rng: &mut ChaCha8Rng) -> bool {
        let (i, j) = (i as usize, j as usize);
        let honest = |rng: &mut ChaCha8Rng, scores: &[f64]| {
            rng.random_bool(1.0 / (1.0 + (scores[j] - scores[i]).exp()))
        };
        let Some(crowd) = self.crowd else {
            let n = self.scores.len();
            let known = self.left[i.min(j) * n + i.max(j)].pop();
            return match known {
                Some(prefers_smaller) => prefers_smaller == (i < j),
                None => honest(rng, &self.scores),
            };
        };
        let kind: f64 = rng.random();
        if kind < crowd.random {
            rng.random()
        } else {
            honest(rng, &self.scores) != (kind < crowd.random + crowd.contrary)
        }
    }
}
