//! Real studies, and what one run on a study finds.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hodgerank::model::{Link, LinkedVote};
use hodgerank::{AnnotatorVotes, Comparison, ComparisonGraph, Groups, Study};
use hodgerank_io::{ReadOptions, read};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::method::RealMethod;
use super::{OfMethods, Run, StudyResult};
use crate::error::{Error, Result};
use crate::statistics::mean;

const TRUTH: &str = "-truth.csv";
/// One of this many votes is held out.
const PARTS: usize = 5;
const VOTES_PER_ITEM: usize = 6;

/// A real study.
pub(super) struct RealStudy {
    name: String,
    study: Study,
    has_sides: bool,
    /// Single votes.
    votes: Vec<Comparison>,
    /// For each item with a known place, that and its group.
    truth: Vec<Option<(f64, String)>>,
}

/// What a run finds.
pub(super) struct RunResult {
    /// Log loss or τ.
    value: OfMethods,
    calibration: f64,
    uses_people: f64,
}

impl RealStudy {
    /// The studies of a folder.
    pub(super) fn find(data: &Path) -> Result<Vec<Self>> {
        let problem = |problem: String| Error::PublishedTable { file: data.to_owned(), problem };
        let inner = data.join("real");
        let folder = if inner.is_dir() { &inner } else { data };
        let entries = std::fs::read_dir(folder).map_err(|e| problem(e.to_string()))?;
        let mut files: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        let name = |file: &PathBuf| file.to_string_lossy().into_owned();
        files.retain(|file| name(file).ends_with(".csv") && !name(file).ends_with(TRUTH));
        if inner.is_dir() {
            files.extend(Some(data.join("human-age.csv")).filter(|file| file.exists()));
        }
        files.sort();
        if files.is_empty() {
            return Err(problem("no table NAME.csv in this folder".to_owned()));
        }
        files.iter().map(|file| Self::read(file)).collect()
    }

    fn read(file: &Path) -> Result<Self> {
        let path = file.to_string_lossy().into_owned();
        let options = ReadOptions { annotator_votes: true, ..ReadOptions::default() };
        let input = read(std::slice::from_ref(&path), &options, &Arc::default())?;
        let study = input.studies.into_iter().next().ok_or(Error::NoData)?;
        let all = match &study.annotator_votes {
            Some(votes) => votes.clone(),
            // Without annotators, votes are not read with their sides.
            None => AnnotatorVotes::unknown_of(&study.groups, false),
        };
        let mut votes = Vec::new();
        for a in 0..=all.annotators() {
            for vote in all.of(a) {
                let annotator = (a < all.annotators()).then_some(a as u32);
                let single = Comparison::new(vote.left, vote.right, all.y(vote));
                let single = Comparison { annotator, ..single };
                votes.extend(std::iter::repeat_n(single, vote.count as usize));
            }
        }
        let truth = path.replace(".csv", TRUTH);
        let truth = if Path::new(&truth).exists() {
            read_truth(Path::new(&truth))?
        } else {
            HashMap::new()
        };
        let truth = study.items.iter().map(|item| truth.get(item).cloned()).collect();
        let name =
            file.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self { name, has_sides: all.has_sides(), votes, truth, study })
    }

    pub(super) fn has_truth(&self) -> bool {
        self.truth.iter().any(Option::is_some)
    }

    fn graph(&self, votes: &[Comparison]) -> Result<(ComparisonGraph, AnnotatorVotes)> {
        let items = self.study.items.len();
        let graph = ComparisonGraph::new(items, Groups::merge(items, votes)?.groups)?;
        let annotators = self.study.annotators.len();
        Ok((graph, AnnotatorVotes::from_comparisons(annotators, votes, self.has_sides)))
    }

    /// What one run finds. The votes are shuffled by its seed.
    pub(super) fn run(&self, run: Run) -> Result<RunResult> {
        let (seed, stream) = match run {
            Run::All => (0, 0),
            Run::Split(seed) => (seed, 1),
            Run::Six(seed) => (seed, 2),
        };
        let mut votes = self.votes.clone();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        votes.shuffle(&mut random);
        let (held_out, kept) = match run {
            Run::All => (0, votes.len()),
            Run::Split(_) => (votes.len() / PARTS, votes.len()),
            Run::Six(_) => (0, votes.len().min(VOTES_PER_ITEM * self.study.items.len())),
        };
        let (graph, kept) = self.graph(&votes[held_out..kept])?;
        let held_out: Vec<&Comparison> =
            votes[..held_out].iter().filter(|vote| vote.y != 0.0).collect();
        let mut found = RunResult {
            value: [f64::NAN; RealMethod::ALL.len()],
            calibration: f64::NAN,
            uses_people: f64::NAN,
        };
        for method in RealMethod::ALL {
            let scores = method.scores(&graph, Some(&kept))?;
            found.value[method as usize] = match run {
                Run::Split(_) => self.link(&held_out, &scores).log_loss,
                _ => self.tau(&scores),
            };
        }
        if let Run::Split(_) = run {
            let fit = RealMethod::Default.fit(&graph, Some(&kept))?;
            let uses = fit.crowd().map(|crowd| crowd.estimates.uses_people());
            found.uses_people = uses.map_or(f64::NAN, |uses| f64::from(u8::from(uses)));
            if let Some(link) = fit.model.as_ref().and_then(|model| model.link()) {
                found.calibration = self.calibration(&held_out, &fit.scores, &link);
            }
        }
        Ok(found)
    }

    fn linked<'a>(
        &self,
        held_out: &'a [&Comparison],
        difference: impl Fn(&Comparison) -> f64 + 'a,
    ) -> Vec<LinkedVote> {
        let linked = |vote: &&Comparison| LinkedVote {
            difference: difference(vote),
            prefers_left: vote.y > 0.0,
            count: 1.0,
        };
        held_out.iter().map(linked).collect()
    }

    /// The link that explains votes best by these scores.
    fn link(&self, held_out: &[&Comparison], scores: &[f64]) -> Link {
        let votes =
            self.linked(held_out, |vote| scores[vote.left as usize] - scores[vote.right as usize]);
        Link::fit(&votes, self.has_sides)
    }

    /// The slope of the logistic regression of votes on the log-odds that a link predicts.
    fn calibration(&self, held_out: &[&Comparison], scores: &[f64], link: &Link) -> f64 {
        let votes = self.linked(held_out, |vote| {
            let p = link.probability(scores[vote.left as usize] - scores[vote.right as usize]);
            (p / (1.0 - p)).ln().clamp(-20.0, 20.0)
        });
        Link::logistic(&votes, self.has_sides).slope
    }

    /// Kendall's τ with the truth, over pairs of items of one group with different true places.
    fn tau(&self, scores: &[f64]) -> f64 {
        let (mut concordant, mut all) = (0.0, 0.0);
        for (i, a) in self.truth.iter().enumerate() {
            for (j, b) in self.truth.iter().enumerate().take(i) {
                let (Some((truth, group)), Some((other, of_other))) = (a, b) else { continue };
                if group == of_other && truth != other {
                    let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
                    concordant += sign(truth - other) * sign(scores[i] - scores[j]);
                    all += 1.0;
                }
            }
        }
        concordant / all
    }

    /// The means of all runs.
    pub(super) fn result(&self, runs: &[(Run, &RunResult)]) -> StudyResult {
        let of = |is_in: fn(&Run) -> bool| -> Vec<&RunResult> {
            runs.iter().filter(|(run, _)| is_in(run)).map(|(_, found)| *found).collect()
        };
        let means = |found: Vec<&RunResult>| -> OfMethods {
            std::array::from_fn(|k| mean(found.iter().map(|own| own.value[k])))
        };
        let splits = of(|run| matches!(run, Run::Split(_)));
        StudyResult {
            name: self.name.clone(),
            items: self.study.items.len() as u64,
            votes: self.votes.len() as u64,
            annotators: self.study.annotators.len() as u64,
            calibration: mean(splits.iter().map(|own| own.calibration)),
            uses_people: mean(splits.iter().map(|own| own.uses_people)),
            log_loss: means(splits),
            tau_all: means(of(|run| matches!(run, Run::All))),
            tau_six: means(of(|run| matches!(run, Run::Six(_)))),
        }
    }
}

/// The true place and the group of each item.
fn read_truth(file: &Path) -> Result<HashMap<String, (f64, String)>> {
    let problem = |problem: String| Error::PublishedTable { file: file.to_owned(), problem };
    let text = std::fs::read_to_string(file).map_err(|e| problem(e.to_string()))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| header.iter().position(|own| *own == name);
    let (Some(item), Some(truth)) = (column("item"), column("truth")) else {
        return Err(problem("expected the columns item and truth".to_owned()));
    };
    let group = column("group");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let place = cells.get(truth)?.parse().ok()?;
        let group = group.and_then(|group| cells.get(group)).copied().unwrap_or_default();
        Some(((*cells.get(item)?).to_owned(), (place, group.to_owned())))
    };
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            row(line).ok_or_else(|| problem(format!("{line}: expected an item and a number")))
        })
        .collect()
}
