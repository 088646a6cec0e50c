//! How few votes, or annotators, must be removed for a result of the ranking to change.
//!
//! Not to be confused with [`crate::certificate`], which checks that a fit solves its own equations. Here
//! the fit is taken as right, and the question is how much it depends on single votes and people.
//!
//! **Objective.** Let U be the items in the first k places (or one given item) and V all others (or
//! another given item). Find the smallest set of votes, and the smallest set of annotators, without which
//! the same method with the same options places some item of V above some item of U.
//!
//! **Method.** An exact answer would need a fit for every subset. So candidates are found by influence
//! (`influence.rs`), and confirmed by fits of the votes that remain (`search.rs`):
//!
//! | step | what |
//! |---|---|
//! | 1 | all sets of one, two and three members, as far as the number of fits permits |
//! | 2 | for the pairs (i in U, j in V) that seem closest: remove votes in order of influence on θ_i − θ_j; the shortest list that changes the result by bisection |
//! | 3 | in small studies a beam search, otherwise the same in stages with new influences after each |
//! | 4 | members are dropped one by one while the result stays changed |
//!
//! What is reported is proven: the method was run without these votes, and the result was different.
//! That no smaller set exists is proven only if step 1 tried all smaller ones ([`FoundSet::is_smallest`]).
//! If nothing is found, that proves nothing.
//!
//! Removing votes can disconnect items. Items in different components do not compare, so a result counts
//! as changed only if two items of one component have changed their order. Equal scores are no change.
//!
//! **Cost.** A limited number of fits ([`MAX_FITS`], fewer for large studies), each as expensive as
//! ranking the study, and one linear solve for each pair that is examined.
//!
//! **Failure modes.** Influences are derivatives. Methods that flag votes jump where a vote is flagged or
//! no longer flagged, and models of a crowd where an annotator changes class. The sets that are found
//! still change the result, but smaller ones may be missed.
//!
//! | symbol | here |
//! |---|---|
//! | U, V | [`Target::upper`], [`Target::lower`] |
//! | θ_i − θ_j | `gap` |

mod influence;
mod search;
mod target;
mod vote_table;

pub use target::{Question, Standing, Target};

use crate::annotator_votes::AnnotatorVotes;
use crate::error::Result;
use crate::fit::{Fit, fit_with_annotators};
use crate::graph::ComparisonGraph;
use crate::options::FitOptions;
use crate::select::lapse::vote_size;
use crate::solve::Method;
use search::{Members, Search};
use vote_table::VoteTable;

pub use search::MAX_FITS;

/// The answer for one ranking.
#[derive(Debug, Clone)]
pub struct Certified {
    /// The method, given or chosen.
    pub method: Method,
    /// The fit of all votes.
    pub fit: Fit,
    /// The result that is examined.
    pub standing: Standing,
    /// What was found among votes.
    pub votes: SearchResult,
    /// What was found among annotators, where they are known.
    pub annotators: Option<SearchResult>,
}

/// The result of one search.
#[derive(Debug, Clone, Default)]
pub struct SearchResult {
    /// The smallest set that was found; none if no set was found.
    pub found: Option<FoundSet>,
    /// How many members there are to choose from: votes, or annotators.
    pub members: u64,
    /// Sets with more members than this were not tried.
    pub max_removed: u64,
    /// All sets of up to this size were tried.
    pub exhausted: u64,
    /// Number of fits.
    pub fits: usize,
}

/// A set whose removal changes the result. It was verified by a fit of the remaining votes.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSet {
    /// Number of members: votes, or annotators.
    pub removed: u64,
    /// Number of votes removed.
    pub removed_votes: u64,
    /// Whether all smaller sets were tried.
    pub is_smallest: bool,
    /// The votes, if votes were removed.
    pub votes: Vec<RemovedVote>,
    /// The annotators, if annotators were removed.
    pub annotators: Vec<RemovedAnnotator>,
    /// An item that is now above `below`, and was not before.
    pub above: u32,
    /// The other item.
    pub below: u32,
    /// The items in the examined places afterwards, the best first; for a pair the item that is now above.
    pub upper: Vec<u32>,
}

/// Equal votes, some or all of which are removed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RemovedVote {
    /// Who cast them, if the method distinguishes votes by annotator.
    pub annotator: Option<u32>,
    /// The item on the left, if the method distinguishes sides; otherwise the first item.
    pub left: u32,
    /// The other item.
    pub right: u32,
    /// How much the left item is preferred.
    pub y: f64,
    /// How many are removed.
    pub removed: u64,
    /// How many there are.
    pub of: u64,
}

/// An annotator whose votes are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovedAnnotator {
    /// The annotator.
    pub annotator: u32,
    /// The number of their votes.
    pub votes: u64,
}

/// Searches for the smallest sets of votes and of annotators whose removal changes the result of the
/// ranking with these options. `votes` are the votes of the graph with their annotators, if they are known.
///
/// # Errors
/// If the votes cannot be ranked with these options.
pub fn certify(
    graph: &ComparisonGraph,
    votes: Option<&AnnotatorVotes>,
    options: &FitOptions,
    question: Question,
) -> Result<Certified> {
    // The method and the prior could be others without some of the votes.
    let first = fit_with_annotators(graph, votes, options)?;
    let options = options.fixed_by(&first);
    let table = VoteTable::new(graph, votes, first.method);
    let fit = table.without(&Vec::new())?.fit(&options)?;
    let standing = Standing::new(question, &fit);
    let has_annotators = table.annotators() > 0;
    let mut certified = Certified {
        method: fit.method,
        standing,
        votes: SearchResult { members: graph.votes() as u64, ..SearchResult::default() },
        annotators: has_annotators
            .then(|| SearchResult { members: table.annotators() as u64, ..Default::default() }),
        fit,
    };
    if let Standing::Ordered(target) = &certified.standing {
        let search = |members| Search::new(&table, &options, target, &certified.fit, members).run();
        let votes = search(Members::Votes)?;
        let annotators = has_annotators.then(|| search(Members::Annotators)).transpose()?;
        (certified.votes, certified.annotators) = (votes, annotators);
    }
    Ok(certified)
}

/// The options of the plain ranking to which a robust one is compared: Bradley–Terry without lapses for
/// `bt` and `crowd` on votes of one size, and least squares otherwise. None if the options are plain
/// already.
#[must_use]
pub fn plain_options(
    graph: &ComparisonGraph,
    method: Method,
    options: &FitOptions,
) -> Option<FitOptions> {
    let is_model = matches!(method, Method::BradleyTerry | Method::Crowd);
    let plain = FitOptions::new()
        .backend(options.backend)
        .tolerance(options.tolerance)
        .max_iterations(options.max_iterations);
    let (plain, is_same) = match is_model && vote_size(graph).is_some() {
        true => {
            let plain = FitOptions { prior: options.prior, ..plain };
            let is_same = method == Method::BradleyTerry && options.lapse_rate == Some(0.0);
            (plain.method(Method::BradleyTerry).lapse_rate(0.0), is_same)
        }
        false => (plain.method(Method::L2), method == Method::L2),
    };
    (!is_same).then_some(plain)
}

#[cfg(test)]
mod tests;
