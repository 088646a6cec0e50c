//! The class of an annotator who votes in several studies.
//!
//! A person's behaviour is taken to be the same in all studies. The likelihood of each behaviour follows from the
//! scores of each study, as in the crowd model, and those of several studies are multiplied. How common
//! behaviours are among all people is estimated with the scores of the studies fixed. A few votes in each of many
//! studies can so show together what no study shows alone.

use crate::annotator_votes::AnnotatorVotes;
use crate::communicator::Communicator;
use crate::labels::Labels;
use crate::model::behaviour::{OfBehaviours, POINTS, Population};
use crate::model::people::LikelihoodTable;
use crate::solve::crowd::{ClassEstimate, Crowd};

/// The votes of a study and what the crowd model says about them.
#[derive(Debug, Clone, Copy)]
pub struct StudyVotes<'a> {
    /// Scores and annotators.
    pub crowd: &'a Crowd,
    /// The votes that the crowd was fitted to.
    pub votes: &'a AnnotatorVotes,
    /// The names of the annotators.
    pub labels: &'a Labels,
    /// Votes are flagged if the probability that they are bad is above this.
    pub threshold: f64,
}

/// A person: study and index in it, for each study with votes of theirs.
pub(super) type Person = Vec<(usize, u32)>;

/// The estimate of each person; none if nothing is known. Collective.
pub(super) fn classes(
    studies: &[StudyVotes<'_>],
    people: &[&Person],
    communicator: &dyn Communicator,
) -> Vec<Option<ClassEstimate>> {
    if let [StudyVotes { crowd, .. }] = studies {
        let estimate = |person: &&Person| {
            let position = person.first().and_then(|&(_, annotator)| crowd.position(annotator));
            position.map(|position| ClassEstimate::from(&crowd.annotators[position]))
        };
        return people.iter().map(estimate).collect();
    }
    let has_sides = studies.iter().any(|study| study.votes.has_sides());
    let mut population = Population::new(has_sides);
    let of_study = |study: &StudyVotes<'_>| study.crowd.behaviour_logs(study.votes, &population);
    let logs: Vec<Vec<[f64; POINTS]>> = studies.iter().map(of_study).collect();
    let table = LikelihoodTable::new(&population.behaviours, 0.0);
    let likelihood = |person: &&Person| {
        let mut sum = [0.0; POINTS];
        for &(study, annotator) in *person {
            let own = &logs[study][annotator as usize];
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        table.relative(&sum).0
    };
    let likelihoods: Vec<OfBehaviours> = people.iter().map(likelihood).collect();
    population.improve(&likelihoods, None, communicator);
    let shares = population.shares();
    let estimate = |likelihood: &OfBehaviours| {
        let posterior = population.posterior(&shares, likelihood);
        Some(ClassEstimate::new(&population.behaviours, &posterior))
    };
    likelihoods.iter().map(estimate).collect()
}
