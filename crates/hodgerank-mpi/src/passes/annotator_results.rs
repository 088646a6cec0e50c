//! What is known about the annotators of the rows in a process's own files.
//!
//! Each annotator was judged by the one process that owns their label. For the second pass, a process
//! asks the owners of the annotators whose rows it read, in rounds of at most [`MAX_QUERIES`].

use hodgerank::solve::crowd::AnnotatorEstimate;
use hodgerank::{Labels, RankedStudy};

use super::owner_results::MAX_QUERIES;
use crate::comm::{Exchange, owner_of_label};

/// Returns the estimates of annotators, with their index in `local`, as far as anything is known;
/// nothing if the method does not judge annotators. Collective.
pub(super) fn query_owners(
    exchange: &impl Exchange,
    ranked: &RankedStudy,
    local: &Labels,
) -> Vec<AnnotatorEstimate> {
    let Some(crowd) = ranked.fit.crowd() else { return Vec::new() };
    let estimate = |label: &String| {
        let position = ranked.annotators.get(label.as_bytes()).and_then(|id| crowd.position(id));
        position.map(|position| crowd.annotators[position].clone())
    };
    let max_len = exchange.all_gather(&local.len()).into_iter().max().unwrap_or(0);
    let mut found = Vec::new();
    for start in (0..max_len).step_by(MAX_QUERIES) {
        let ids = start.min(local.len())..(start + MAX_QUERIES).min(local.len());
        let owner = |id: usize| owner_of_label(local.name(id as u32), exchange.size());
        let mut queries: Vec<Vec<String>> = vec![Vec::new(); exchange.size()];
        for id in ids.clone() {
            queries[owner(id)].push(local.name(id as u32).to_owned());
        }
        let received = exchange.all_to_all(&queries);
        let replies: Vec<Vec<Option<AnnotatorEstimate>>> =
            received.iter().map(|labels| labels.iter().map(estimate).collect()).collect();
        let mut replies: Vec<_> =
            exchange.all_to_all(&replies).into_iter().map(Vec::into_iter).collect();
        for id in ids {
            let reply = replies[owner(id)].next().expect("one reply for each query");
            found.extend(reply.map(|mut estimate| {
                estimate.annotator = id as u32;
                estimate
            }));
        }
    }
    found
}
