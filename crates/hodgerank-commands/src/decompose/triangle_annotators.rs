//! The annotators of the listed triangles: a second pass over the input, if it names annotators.
//!
//! Memory grows with annotators and listed triangles, not with rows.

use std::collections::HashMap;

use hodgerank::Labels;
use hodgerank::decompose::Decomposition;
use hodgerank_io::read::{VoteRow, second_pass};

use super::study_decomposition::AnnotatorVotes;
use crate::failure::Failure;
use crate::observer::Observer;
use crate::two_pass::TwoPass;

/// Maximum number of annotators listed per triangle.
const MAX_LISTED: usize = 20;

/// Returns the annotators of each listed triangle of each study, most votes first; empty if the
/// input does not name annotators.
pub(super) fn of_triangles(
    pass: &TwoPass,
    splits: &[Decomposition],
    observer: &dyn Observer,
) -> Result<Vec<Vec<Vec<AnnotatorVotes>>>, Failure> {
    let any = splits.iter().any(|split| !split.triangles.is_empty());
    if !any || !pass.tables.iter().any(|table| table.has_annotator) {
        return Ok(Vec::new());
    }
    let mut listed: Vec<PairAnnotators> = splits.iter().map(PairAnnotators::new).collect();
    let mut names = Labels::new();
    pass.second_pass(observer, |progress| {
        let add = |vote: &VoteRow<'_>| {
            if !vote.annotator.is_empty() {
                listed[vote.study].add(vote, &mut names);
            }
            Ok(())
        };
        second_pass(&pass.sources, &pass.options, progress, &pass.study_flags(&[]), add)
    })?;
    let of_study = |(split, annotators): (&Decomposition, PairAnnotators)| {
        let triangles = split.triangles.iter();
        triangles.map(|triangle| annotators.of(triangle.items, &names)).collect()
    };
    Ok(splits.iter().zip(listed).map(of_study).collect())
}

/// Number of votes of each annotator on the pairs of the listed triangles.
struct PairAnnotators {
    of_pair: HashMap<(u32, u32), HashMap<u32, u64>>,
}

impl PairAnnotators {
    fn new(split: &Decomposition) -> Self {
        let triangles = split.triangles.iter();
        let pairs = triangles.flat_map(|triangle| sides(triangle.items));
        Self { of_pair: pairs.map(|pair| (pair, HashMap::new())).collect() }
    }

    fn add(&mut self, vote: &VoteRow<'_>, names: &mut Labels) {
        let pair = (vote.left.min(vote.right), vote.left.max(vote.right));
        if let Some(annotators) = self.of_pair.get_mut(&pair) {
            *annotators.entry(names.intern(vote.annotator)).or_default() += vote.count;
        }
    }

    fn of(&self, triangle: [u32; 3], names: &Labels) -> Vec<AnnotatorVotes> {
        let mut votes: HashMap<u32, u64> = HashMap::new();
        for of_pair in sides(triangle).iter().filter_map(|pair| self.of_pair.get(pair)) {
            for (&annotator, &count) in of_pair {
                *votes.entry(annotator).or_default() += count;
            }
        }
        let row = |(annotator, votes)| AnnotatorVotes {
            annotator: names.name(annotator).to_owned(),
            votes,
        };
        let mut annotators: Vec<AnnotatorVotes> = votes.into_iter().map(row).collect();
        annotators.sort_by(|a, b| {
            let by_name = || hodgerank::natural_order(&a.annotator, &b.annotator);
            b.votes.cmp(&a.votes).then_with(by_name)
        });
        annotators.truncate(MAX_LISTED);
        annotators
    }
}

fn sides([a, b, c]: [u32; 3]) -> [(u32, u32); 3] {
    [(a, b), (b, c), (c, a)].map(|(i, j)| (i.min(j), i.max(j)))
}
