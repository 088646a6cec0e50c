//! Sends the votes of each annotator to the process that owns the annotator's label.
//!
//! Methods that judge people need all votes of a person in one place. Votes without an annotator stay
//! where they were read. Cost: each vote is sent once, as 16 bytes, next to the label of its annotator
//! once per [`VOTES_PER_RECORD`] votes.

use hodgerank::{AnnotatorVote, AnnotatorVotes, Labels};

use crate::comm::{
    Exchange as _, World, decode_prefix, encode_into, owner_of_label, send_to_owners,
};

/// Maximum number of votes of an annotator in one record.
const VOTES_PER_RECORD: usize = 1024;
const VOTE_BYTES: usize = 16;

/// Returns the votes of the annotators that this process owns, `owned`, and the votes without an
/// annotator that it read. `read` are the votes read here, after the labels of their annotators;
/// `global_index` maps their items to those of all processes. `has_sides` says whether items have sides
/// in all files. Collective.
#[must_use]
pub(super) fn send_to_annotator_owners(
    world: &World,
    (labels, read): (&Labels, AnnotatorVotes),
    global_index: &[u32],
    owned: &Labels,
    has_sides: bool,
) -> AnnotatorVotes {
    let outcomes = all_outcomes(world, read.outcomes());
    let global = |vote: &AnnotatorVote| AnnotatorVote {
        left: global_index[vote.left as usize],
        right: global_index[vote.right as usize],
        outcome: outcomes.partition_point(|known| *known < read.y(vote)) as u32,
        count: vote.count,
    };
    let records = labels.iter().enumerate().flat_map(|(annotator, label)| {
        read.of(annotator).chunks(VOTES_PER_RECORD).map(move |votes| (label, votes))
    });
    let mut votes: Vec<(u32, AnnotatorVote)> = Vec::new();
    send_to_owners(
        world,
        records,
        |(label, _)| owner_of_label(label, world.size()),
        |&(label, votes), buffer| {
            encode_into(&(label, votes.len()), buffer);
            votes.iter().for_each(|vote| write(&global(vote), buffer));
        },
        |mut buffer| {
            while !buffer.is_empty() {
                let ((label, count), rest): ((&str, usize), _) = decode_prefix(buffer);
                let (own, rest) = rest.split_at(count * VOTE_BYTES);
                let annotator = owned.get(label.as_bytes()).expect("labels were sent before");
                votes.extend(own.as_chunks().0.iter().map(|bytes| (annotator, read_vote(bytes))));
                buffer = rest;
            }
        },
    );
    let nobody = owned.len() as u32;
    votes.extend(read.unknown().iter().map(|vote| (nobody, global(vote))));
    drop(read);
    AnnotatorVotes::new(owned.len(), &[votes], outcomes, has_sides)
}

/// Returns the distinct outcomes of all processes, increasing.
fn all_outcomes(world: &World, own: &[f64]) -> Vec<f64> {
    let mut all = world.all_gather(&own.to_vec()).concat();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

fn write(vote: &AnnotatorVote, buffer: &mut Vec<u8>) {
    let AnnotatorVote { left, right, outcome, count } = *vote;
    for value in [left, right, outcome, count] {
        buffer.extend(value.to_le_bytes());
    }
}

fn read_vote(bytes: &[u8; VOTE_BYTES]) -> AnnotatorVote {
    let value = |at: usize| u32::from_le_bytes(std::array::from_fn(|k| bytes[at + k]));
    AnnotatorVote { left: value(0), right: value(4), outcome: value(8), count: value(12) }
}
