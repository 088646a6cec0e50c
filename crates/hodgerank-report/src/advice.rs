//! Diagnoses in words: findings and advice for people who run a study.

mod certainty;

use hodgerank::Labels;
use hodgerank::decompose::BettiLimit;
use hodgerank::diagnose::{Advice, Diagnosis, Finding, FirstPlace, FlaggedCertainty, Verdict};
use serde::Serialize;

use crate::words::{counted, thousands};
use certainty::CertaintyText;

/// A verdict in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictText {
    /// Whether all items can be ranked together.
    pub can_rank: bool,
    /// Whether wrong votes can be identified.
    pub can_find_outliers: bool,
    /// How certain the first place is.
    pub first_place: FirstPlace,
    /// What was found, one sentence each.
    pub findings: Vec<String>,
    /// What would help, one sentence each; empty if nothing is missing.
    pub advice: Vec<String>,
}

impl From<&Verdict> for VerdictText {
    fn from(verdict: &Verdict) -> Self {
        Self {
            can_rank: verdict.can_rank,
            can_find_outliers: verdict.can_find_outliers,
            first_place: verdict.first_place,
            findings: verdict.findings.iter().map(finding_text).collect(),
            advice: verdict.advice.iter().map(advice_text).collect(),
        }
    }
}

impl VerdictText {
    /// The verdict of a diagnosis, with what it says about the ranking of these items.
    #[must_use]
    pub fn new(diagnosis: &Diagnosis, items: &Labels) -> Self {
        let mut text = Self::from(&diagnosis.verdict);
        if let Some(certainty) = &diagnosis.certainty {
            let is_part = diagnosis.design.components > 1;
            let found = CertaintyText::new(certainty, items, is_part);
            // After the sentence about the components, before those about wrong votes.
            text.findings.splice(1..1, found.findings);
            let advice = usize::from(!text.can_rank);
            text.advice.splice(advice..advice, found.advice);
        }
        text
    }
}

/// Returns a finding as a sentence.
#[must_use]
pub fn finding_text(finding: &Finding) -> String {
    match *finding {
        Finding::NoComparisons => {
            "No two items were compared: there is nothing to rank.".to_owned()
        }
        Finding::Connected { items } => {
            format!("All {} items are connected and can be ranked together.", whole(items))
        }
        Finding::Disconnected { components } => format!(
            "The items form {} components that were never compared with each other: each can be \
             ranked on its own, but not against the others.",
            whole(components)
        ),
        Finding::Bridges { bridges, pairs } => format!(
            "{} of {} {}, the only connection between two parts of the items: a wrong vote there \
             cannot be detected, and it shifts all scores on one side.",
            whole(bridges),
            counted(pairs as u64, "pair", "pairs"),
            if bridges == 1 { "is a bridge" } else { "are bridges" },
        ),
        Finding::FewVotes { items: 1 } => "1 item has few votes.".to_owned(),
        Finding::FewVotes { items } => format!("{} items have few votes.", whole(items)),
        Finding::FewPairs { pairs, needed } => format!(
            "{} compared; a random design needs about {} pairs to rule out inconsistent loops of \
             four or more items (no harmonic part).",
            match pairs {
                1 => "1 pair was".to_owned(),
                _ => format!("{} pairs were", whole(pairs)),
            },
            thousands(needed.round() as u64)
        ),
        Finding::NoCycles => "The votes have no cycles: a ranking explains them exactly, so no \
                              wrong vote can be identified."
            .to_owned(),
        Finding::Identifiable { share } => format!(
            "Wrong votes that are spread at random can be identified up to about {} of all votes, \
             if they differ enough from the correct ones.",
            short_percent(share)
        ),
        Finding::NotIdentifiable => {
            "Not even a few wrong votes that are spread at random can be identified reliably."
                .to_owned()
        }
        Finding::CertainOutliers { votes, estimated } => format!(
            "Any set of up to {}{} can be identified, whichever votes they are.",
            if estimated { "about " } else { "" },
            counted(votes, "wrong vote", "wrong votes")
        ),
        Finding::Flagged { votes, certainty } => flagged_text(votes, certainty),
    }
}

fn flagged_text(votes: u64, certainty: FlaggedCertainty) -> String {
    let one = votes == 1;
    let flagged = match votes {
        1 => "flagged vote".to_owned(),
        _ => format!("{} flagged votes", thousands(votes)),
    };
    match certainty {
        FlaggedCertainty::Unchecked => format!(
            "Without the {flagged} the items are no longer connected: no other votes can confirm \
             or contradict {}.",
            if one { "it" } else { "them" }
        ),
        FlaggedCertainty::Ambiguous => format!(
            "The {flagged} {} hard to tell from correct votes nearby: treat {} as a hint, not as \
             proof.",
            if one { "is" } else { "are" },
            if one { "it" } else { "them" }
        ),
        FlaggedCertainty::TooSmall => format!(
            "The {flagged} can be told from correct votes nearby, but given the noise {} too \
             little from the ranking to be certain.",
            if one { "it differs" } else { "some of them differ" }
        ),
        FlaggedCertainty::Certain => format!(
            "The {flagged} {} enough from the ranking to be identified with near certainty.",
            if one { "differs" } else { "differ" }
        ),
    }
}

/// Returns a recommendation as a sentence.
#[must_use]
pub fn advice_text(advice: &Advice) -> String {
    match *advice {
        Advice::CollectVotes => "Collect votes on pairs of different items.".to_owned(),
        Advice::ConnectComponents { pairs } => format!(
            "Compare items of different components: {} can connect them all; twice as many make \
             the connection robust.",
            counted(pairs as u64, "more pair", "more pairs")
        ),
        Advice::SecureBridges => {
            "Compare the items on both sides of a bridge with further items.".to_owned()
        }
        Advice::AskAboutFewVotes => "Collect votes on the items with few votes first.".to_owned(),
        Advice::CreateCycles => "Repeat some pairs, or compare further pairs that close loops: \
                                 only votes that can contradict each other reveal a wrong one."
            .to_owned(),
        Advice::MoreVotes { share_if_doubled } => format!(
            "Collect more votes: with twice as many on each pair, up to about {} wrong votes \
             could be identified.",
            short_percent(share_if_doubled)
        ),
        Advice::MorePairs => "Compare more pairs: more votes on the same pairs would hardly help \
                              to identify wrong ones."
            .to_owned(),
        Advice::MoreVotesPerItem => "Collect more votes per item: the more votes can be checked \
                                     against others, the more wrong ones can be identified."
            .to_owned(),
        Advice::RepeatFlaggedPairs => "Repeat the pairs of the flagged votes.".to_owned(),
        Advice::MoreVotesNearFlagged => {
            "Collect more votes on the items of the flagged votes.".to_owned()
        }
    }
}

/// Returns why a Betti number was not computed.
#[must_use]
pub const fn betti_limit_text(limit: BettiLimit) -> &'static str {
    match limit {
        BettiLimit::Triangles => "the search for triangles would exceed max-triangles",
        BettiLimit::Equations => "the triangles would need too much memory",
        BettiLimit::Elimination => "the elimination would take too long",
    }
}

fn whole(number: usize) -> String {
    thousands(number as u64)
}

/// A percentage with at most one decimal: `20%`, `7.5%`.
fn short_percent(share: f64) -> String {
    format!("{}%", (1000.0 * share).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_agree_in_number() {
        let bridges = |bridges| finding_text(&Finding::Bridges { bridges, pairs: 1200 });
        assert!(bridges(1).starts_with("1 of 1,200 pairs is a bridge, "), "{}", bridges(1));
        assert!(bridges(2).starts_with("2 of 1,200 pairs are bridges, "), "{}", bridges(2));
        let connect = |pairs| advice_text(&Advice::ConnectComponents { pairs });
        assert!(connect(1).contains(": 1 more pair can"), "{}", connect(1));
        assert!(connect(2).contains(": 2 more pairs can"), "{}", connect(2));
        let certainty = FlaggedCertainty::TooSmall;
        let flagged = |votes| finding_text(&Finding::Flagged { votes, certainty });
        assert!(flagged(1).starts_with("The flagged vote can"), "{}", flagged(1));
        assert!(flagged(21).starts_with("The 21 flagged votes can"), "{}", flagged(21));
    }

    #[test]
    fn shares_have_no_superfluous_decimals() {
        assert_eq!((short_percent(0.2), short_percent(0.075)), ("20%".into(), "7.5%".into()));
    }
}
