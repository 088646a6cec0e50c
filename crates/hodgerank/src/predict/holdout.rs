//! Sets a random part of the votes aside.
//!
//! Each vote is held out with the same probability. Votes are drawn in the order of annotators, items and
//! outcomes, equal ones together, so that the result depends on the votes and the seed only, not on the
//! order of rows or on the method that is evaluated.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution as _};

use crate::annotator_votes::AnnotatorVotes;
use crate::comparison::Comparison;
use crate::error::{Error, Result};
use crate::graph::{Groups, SideCounts};
use crate::study::Study;

/// A study in two parts.
#[derive(Debug, Clone)]
pub struct Holdout {
    /// The study without the votes that are held out; its items are those of the whole study.
    pub training: Study,
    /// The number of its votes.
    pub training_votes: u64,
    /// The votes that are held out.
    pub held_out: Vec<Comparison>,
}

/// Holds out a share of the votes. If votes were kept with their annotators, so are those of both parts.
///
/// # Errors
/// [`Error::BadOption`] if the share is not between 0 and 1.
pub fn hold_out(study: Study, share: f64, seed: u64) -> Result<Holdout> {
    let bad_share = || Error::BadOption {
        option: "holdout",
        value: share.to_string(),
        expected: "a share above 0 and below 1",
    };
    if !(share > 0.0 && share < 1.0) {
        return Err(bad_share());
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut kept, mut held_out) = (Vec::new(), Vec::new());
    for vote in votes(&study) {
        let draw = Binomial::new(vote.count, share).map_err(|_| bad_share())?;
        let held = draw.sample(&mut rng).min(vote.count);
        for (list, count) in [(&mut held_out, held), (&mut kept, vote.count - held)] {
            if count > 0 {
                list.push(vote.with_count(count));
            }
        }
    }
    let groups = Groups::merge(study.items.len(), &kept)?.groups;
    let annotator_votes = study.annotator_votes.as_ref().map(|votes| {
        AnnotatorVotes::from_comparisons(votes.annotators(), &kept, votes.has_sides())
    });
    // A stream of its own, so that the votes held out do not depend on whether sides were counted.
    rng.set_stream(1);
    let sides =
        study.sides.as_ref().map(|sides| keep_sides(sides, &study.groups, &groups, &mut rng));
    let training_votes = kept.iter().map(|vote| vote.count).sum();
    let training = Study { groups, annotator_votes, sides, comparisons: training_votes, ..study };
    Ok(Holdout { training, training_votes, held_out })
}

/// The votes in a fixed order.
fn votes(study: &Study) -> Vec<Comparison> {
    let Some(votes) = &study.annotator_votes else {
        let groups = &study.groups;
        let vote = |g: usize| {
            let vote = Comparison::new(groups.left[g], groups.right[g], groups.y[g]);
            vote.with_count(groups.weight[g] as u64)
        };
        return (0..groups.len()).map(vote).collect();
    };
    let number = votes.annotators();
    let of_annotator = |a: usize| {
        votes.of(a).iter().map(move |vote| Comparison {
            annotator: (a < number).then_some(a as u32),
            left: vote.left,
            right: vote.right,
            y: votes.y(vote),
            count: u64::from(vote.count),
        })
    };
    (0..=number).flat_map(of_annotator).collect()
}

/// The sides of the votes that are kept. Counts by side do not say which vote was on which side. So of the
/// kept wins of an item in a pair, as many are on the left as among all its wins, with what is no whole
/// number rounded at random; the same for its losses and for ties.
fn keep_sides(sides: &SideCounts, all: &Groups, kept: &Groups, rng: &mut ChaCha8Rng) -> SideCounts {
    let codes = sides.clone().into_codes();
    let votes = |groups: &Groups, (left, right): (u32, u32), code: f64| -> f64 {
        // Codes of ties are ±2, of all others the sign of the outcome.
        let sign = if code.abs() > 1.0 { 0.0 } else { code };
        let sign_of = |y: f64| if y == 0.0 { 0.0 } else { y.signum() };
        let of_pair = groups.of_pair(left, right).filter(|&g| sign_of(groups.y[g]) == sign);
        of_pair.map(|g| groups.weight[g]).sum()
    };
    // The last pair with ties whose second item was on the left, and how many of them are kept.
    let mut tied = None;
    let mut weight = Vec::with_capacity(codes.len());
    for g in 0..codes.len() {
        let (pair, code) = ((codes.left[g], codes.right[g]), codes.y[g]);
        let (before, after) = (votes(all, pair, code), votes(kept, pair, code));
        let expected = after * (codes.weight[g] / before);
        let random = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let drawn = match tied {
            // The other ties are what is left.
            Some((last, other)) if last == pair && code > 1.0 => after - other,
            _ => (expected + random).floor().min(after).min(codes.weight[g]),
        };
        if code < -1.0 {
            tied = Some((pair, drawn));
        }
        weight.push(drawn);
    }
    SideCounts::from_codes(codes.reweighted(&weight))
}
