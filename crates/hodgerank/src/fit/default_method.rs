//! The method that is used if none is given.
//!
//! | outlier rule | votes | default |
//! |---|---|---|
//! | auto, a share, a count | with annotators | `crowd` |
//! | auto, a share, a count | of one size, without annotators | `bt` |
//! | auto, a share, a count | graded, without annotators | `iss`, or `lbi` if it would take too long |
//! | λ | | `hlasso` |
//! | time, scaled, cross-validation | | `iss`, or `lbi` if it would take too long |
//!
//! The evidence is `hodgerank experiment accuracy`. Rules that belong to a path have a method with that
//! path. Where several processes share the votes, `lbi` takes the place of `iss`, and of `bt` with a
//! share or a count.

use super::Target;
use crate::annotator_votes::AnnotatorVotes;
use crate::graph::ComparisonGraph;
use crate::path::Parameter;
use crate::select::OutlierRule;
use crate::select::lapse::vote_size;
use crate::solve::Method;
use crate::solve::inverse_scale_space;

/// Estimated multiply-adds up to which `iss` is the default method: about ten seconds on one core.
pub const MAX_ISS_COST: f64 = 1e10;

/// Whether a model of how people vote is the default with this rule, where it can be.
pub(crate) fn prefers_model(rule: OutlierRule) -> bool {
    matches!(rule, OutlierRule::Auto | OutlierRule::Share(_) | OutlierRule::Count(_))
}

/// The default among models of how people vote; none if a path is the default.
pub(super) fn default_model(
    graph: &ComparisonGraph,
    votes: Option<&AnnotatorVotes>,
    rule: OutlierRule,
) -> Option<Method> {
    if !prefers_model(rule) {
        return None;
    }
    // Of all processes: a single one may have none.
    let annotators = votes.map_or(0, AnnotatorVotes::annotators) as f64;
    if graph.communicator().sum_scalar(annotators) > 0.0 {
        return Some(Method::Crowd);
    }
    // Several processes have no common order of lapses, from which a number could be taken.
    let can_run = rule == OutlierRule::Auto || graph.communicator().is_single_process();
    vote_size(graph).filter(|_| can_run).map(|_| Method::BradleyTerry)
}

/// The default among methods with a path.
pub(super) fn default_path_method(graph: &ComparisonGraph, target: Target) -> Method {
    let votes = match target {
        Target::Votes(votes) => votes,
        Target::Nothing => 0.0,
        Target::Value(Parameter::Lambda, _) => return Method::HuberLasso,
        Target::Value(Parameter::Time, _) => graph.votes() / 2.0,
    };
    let is_cheap = || inverse_scale_space::cost_estimate(graph, votes) <= MAX_ISS_COST;
    if graph.communicator().is_single_process() && is_cheap() {
        Method::InverseScaleSpace
    } else {
        Method::Bregman
    }
}
