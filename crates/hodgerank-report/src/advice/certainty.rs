//! How certain a ranking is, in words.

use hodgerank::Labels;
use hodgerank::diagnose::{
    Certainty, NextPlace, NoIntervals, ProvisionalItem, SettledPlaces, VotesNeeded,
};
use hodgerank_io::text::visible_name;

use crate::words::{counted, thousands};

/// What a diagnosis says about the ranking.
pub(super) struct CertaintyText {
    /// What was found, one sentence or two each.
    pub(super) findings: Vec<String>,
    /// What would help.
    pub(super) advice: Vec<String>,
}

impl CertaintyText {
    /// The text; `is_part` says whether there are other components.
    pub(super) fn new(certainty: &Certainty, items: &Labels, is_part: bool) -> Self {
        let name = |item: u32| visible_name(items.name(item)).into_owned();
        let (mut findings, mut advice) = (Vec::new(), Vec::new());
        match &certainty.places {
            Ok(places) => {
                let of = if is_part { "In the largest component: " } else { "" };
                findings.push(format!("{of}{}", places.settled.sentence()));
            }
            Err(reason) => {
                let (reason, help) = no_intervals_text(*reason);
                findings.push(format!("It is not known which places are settled: {reason}."));
                advice.push(help.to_owned());
            }
        }
        findings
            .extend(certainty.provisional.map(|item| provisional_text(&item, &name(item.item))));
        if let Ok(SettledPlaces { next: Some(next), .. }) = &certainty.places {
            match next.votes {
                VotesNeeded::FewVotes { more_votes_on_item } => advice.push(format!(
                    "Collect about {} on {} first: with fewer, its place cannot be certain.",
                    counted(more_votes_on_item, "more vote", "more votes"),
                    name(next.item)
                )),
                _ => findings.push(next_text(next, &name(next.item), &name(next.rival))),
            }
        }
        Self { findings, advice }
    }
}

fn provisional_text(item: &ProvisionalItem, name: &str) -> String {
    let votes = counted(item.votes, "vote", "votes");
    let why = match item.rank_range {
        _ if item.is_undefeated && item.is_thin => format!("after {votes}, of which it lost none"),
        _ if item.is_thin => format!("after only {votes}"),
        Some((best, worst)) => format!("but may have any rank from {best} to {worst}"),
        None => format!("after {votes}"),
    };
    format!("{name} is ranked first {why}: this place is provisional.")
}

fn next_text(next: &NextPlace, item: &str, rival: &str) -> String {
    let place = match next.places {
        1 => "first place".to_owned(),
        places => format!("the top {places}"),
    };
    match next.votes {
        VotesNeeded::About { more_votes, more_votes_on_rivals } => {
            let focused = more_votes_on_rivals.map_or(String::new(), |votes| {
                format!(
                    " About {} would do if they only compared {item} with the items that may be better.",
                    thousands(votes)
                )
            });
            format!(
                "About {} would settle {place}, if they are spread like the present ones ({item} is \
                 closest to {rival}).{focused}",
                counted(more_votes, "more vote", "more votes")
            )
        }
        VotesNeeded::MoreThan { more_votes } => format!(
            "{item} and {rival} are so close that it would take more than {} more votes to settle {place}.",
            thousands(more_votes)
        ),
        VotesNeeded::Tie | VotesNeeded::FewVotes { .. } => {
            format!("{item} and {rival} are practically tied: more votes cannot settle {place}.")
        }
    }
}

/// Why there are no intervals, and what to do.
fn no_intervals_text(reason: NoIntervals) -> (&'static str, &'static str) {
    match reason {
        NoIntervals::Method => (
            "the method has no intervals",
            "Use --method bt, crowd, l2 or hlasso to see which places are settled.",
        ),
        NoIntervals::NotByDefault => (
            "with more than 300 items, intervals are estimated only on request",
            "Add --intervals sandwich to see which places are settled.",
        ),
        NoIntervals::TooManyItems => (
            "intervals are limited to 2,048 items",
            "Leave out items with few votes (--min-votes) to see which places are settled.",
        ),
        NoIntervals::NotEstimated => (
            "intervals were not estimated",
            "Add --intervals sandwich to see which places are settled, or why that cannot be told.",
        ),
    }
}
