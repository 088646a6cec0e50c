//! Who voted on the worst triangles: a second pass over the input, where it names annotators.
//!
//! Memory grows with annotators and listed triangles, not with rows.

use std::collections::HashMap;

use super::figures::VoterFigures;
use hodgerank::Labels;
use hodgerank::decompose::Decomposition;
use hodgerank_io::read::{Vote, second_pass};

use crate::failure::Failure;
use crate::observer::Observer;
use crate::two_pass::TwoPass;

/// Most annotators named for one triangle.
const MAX_NAMED: usize = 20;

/// For each study and each of its listed triangles, those who voted on it, who voted most first.
pub(super) fn behind_triangles(
    pass: &TwoPass,
    splits: &[Decomposition],
    observer: &dyn Observer,
) -> Result<Vec<Vec<Vec<VoterFigures>>>, Failure> {
    let any = splits.iter().any(|split| !split.triangles.worst.is_empty());
    if !any || !pass.tables.iter().any(|table| table.has_annotator) {
        return Ok(Vec::new());
    }
    let mut listed: Vec<PairVoters> = splits.iter().map(PairVoters::new).collect();
    let mut names = Labels::new();
    pass.second_pass(observer, |progress| {
        let note = |vote: &Vote<'_>| {
            if !vote.annotator.is_empty() {
                listed[vote.study].note(vote, &mut names);
            }
            Ok(())
        };
        second_pass(&pass.sources, &pass.options, progress, &pass.study_flags(), note)
    })?;
    let of_study = |(split, voters): (&Decomposition, PairVoters)| {
        let triangles = split.triangles.worst.iter();
        triangles.map(|triangle| voters.on(triangle.items, &names)).collect()
    };
    Ok(splits.iter().zip(listed).map(of_study).collect())
}

/// Votes of each annotator on the pairs of the listed triangles.
struct PairVoters {
    of_pair: HashMap<(u32, u32), HashMap<u32, u64>>,
}

impl PairVoters {
    fn new(split: &Decomposition) -> Self {
        let triangles = split.triangles.worst.iter();
        let pairs = triangles.flat_map(|triangle| sides(triangle.items));
        Self { of_pair: pairs.map(|pair| (pair, HashMap::new())).collect() }
    }

    fn note(&mut self, vote: &Vote<'_>, names: &mut Labels) {
        let pair = (vote.left.min(vote.right), vote.left.max(vote.right));
        if let Some(voters) = self.of_pair.get_mut(&pair) {
            *voters.entry(names.intern(vote.annotator)).or_default() += vote.count;
        }
    }

    fn on(&self, triangle: [u32; 3], names: &Labels) -> Vec<VoterFigures> {
        let mut votes: HashMap<u32, u64> = HashMap::new();
        for voters in sides(triangle).iter().filter_map(|pair| self.of_pair.get(pair)) {
            voters.iter().for_each(|(&who, &count)| *votes.entry(who).or_default() += count);
        }
        let figure = |(who, votes)| VoterFigures { annotator: names.name(who).to_owned(), votes };
        let mut voters: Vec<VoterFigures> = votes.into_iter().map(figure).collect();
        voters.sort_by(|a, b| {
            let by_name = || hodgerank::natural_order(&a.annotator, &b.annotator);
            b.votes.cmp(&a.votes).then_with(by_name)
        });
        voters.truncate(MAX_NAMED);
        voters
    }
}

fn sides([a, b, c]: [u32; 3]) -> [(u32, u32); 3] {
    [(a, b), (b, c), (c, a)].map(|(i, j)| (i.min(j), i.max(j)))
}
