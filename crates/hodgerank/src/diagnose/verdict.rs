//! What a diagnosis means for a study, as facts. `hodgerank-report` puts them into words.

use super::certainty::FirstPlace;
use super::design::DesignSummary;
use crate::identify::{Accuracy, Conditions, IdentifiableShare};

/// The share of wrong votes that a well-designed study should be able to identify.
const GOOD_SHARE: f64 = 0.1;

/// What can be done with the votes, and what would help.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verdict {
    /// Whether the votes connect all items.
    pub can_rank: bool,
    /// Whether wrong votes can be identified: C2 holds for some share of random votes, and C1 and C2
    /// hold for the flagged votes.
    pub can_find_outliers: bool,
    /// How certain the first place is; unknown if only the design was examined.
    pub first_place: FirstPlace,
    /// Statements about the votes: first about the ranking, then about wrong votes, then about the
    /// flagged votes.
    pub findings: Vec<Finding>,
    /// Recommendations in the same order; empty if there are none.
    pub advice: Vec<Advice>,
}

/// A statement about the votes of a study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finding {
    /// No two items were compared.
    NoComparisons,
    /// All items are connected.
    Connected {
        /// Number of items.
        items: usize,
    },
    /// The items fall into several components.
    Disconnected {
        /// Number of components.
        components: usize,
    },
    /// Some pairs are bridges: the only link between two parts of the items.
    Bridges {
        /// Number of bridges.
        bridges: usize,
        /// Number of compared pairs.
        pairs: usize,
    },
    /// Some items have few votes.
    FewVotes {
        /// Number of such items.
        items: usize,
    },
    /// Too few pairs were compared to rule out a harmonic part.
    FewPairs {
        /// Number of compared pairs.
        pairs: usize,
        /// Random pairs needed, in order of magnitude.
        needed: f64,
    },
    /// The votes have no cycle, so that no vote can contradict the others.
    NoCycles,
    /// Randomly placed wrong votes can be identified up to a share.
    Identifiable {
        /// Share of all votes, above 0.
        share: f64,
    },
    /// Not even a small share of randomly placed wrong votes can be identified.
    NotIdentifiable,
    /// Any set of wrong votes up to a number can be identified.
    CertainOutliers {
        /// Number of votes.
        votes: u64,
        /// Whether the number is an estimate.
        estimated: bool,
    },
    /// Statement about the flagged votes.
    Flagged {
        /// Number of flagged votes.
        votes: u64,
        /// Which conditions hold for them.
        certainty: FlaggedCertainty,
    },
}

/// How certain it is that the flagged votes are wrong, by the conditions that hold for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlaggedCertainty {
    /// C1 fails: the other votes do not connect the items.
    Unchecked,
    /// C2 fails: correct votes may look like flagged ones.
    Ambiguous,
    /// C3 fails: some are too small, given the noise.
    TooSmall,
    /// C1, C2 and C3 hold.
    Certain,
}

/// A recommendation on which votes to collect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Advice {
    /// Collect votes on pairs of different items.
    CollectVotes,
    /// Compare items of different components.
    ConnectComponents {
        /// Pairs needed to connect all items.
        pairs: usize,
    },
    /// Compare the items behind bridges with other items.
    SecureBridges,
    /// Collect votes on the items that have few.
    AskAboutFewVotes,
    /// Repeat pairs or close loops, so that votes can contradict each other.
    CreateCycles,
    /// Collect more votes, on the same pairs or others.
    MoreVotes {
        /// The share that could be identified if every vote had been cast twice.
        share_if_doubled: f64,
    },
    /// Compare more pairs; more votes on the same pairs would not help.
    MorePairs,
    /// Collect more votes per item.
    MoreVotesPerItem,
    /// Repeat the pairs of the flagged votes.
    RepeatFlaggedPairs,
    /// Collect more votes near the flagged ones.
    MoreVotesNearFlagged,
}

/// The figures that a verdict is derived from.
pub(super) struct Evidence<'a> {
    pub(super) design: &'a DesignSummary,
    /// How ρ was computed; none if nothing was compared.
    pub(super) accuracy: Option<Accuracy>,
    pub(super) certain_outliers: u64,
    pub(super) identifiable: &'a IdentifiableShare,
    pub(super) identifiable_if_doubled: Option<&'a IdentifiableShare>,
    pub(super) conditions: Option<&'a Conditions>,
}

impl Verdict {
    pub(super) fn new(evidence: &Evidence<'_>) -> Self {
        let flagged_identifiable = evidence.conditions.is_none_or(|c| c.c1() && c.c2());
        let mut verdict = Self {
            can_rank: evidence.design.components == 1 && evidence.design.pairs > 0,
            can_find_outliers: evidence.identifiable.share > 0.0 && flagged_identifiable,
            ..Self::default()
        };
        verdict.add_ranking(evidence.design);
        if evidence.design.pairs > 0 {
            verdict.add_identifiability(evidence);
        }
        if let Some(conditions) = evidence.conditions {
            verdict.add_flagged(conditions);
        }
        verdict
    }

    fn add_ranking(&mut self, design: &DesignSummary) {
        if design.pairs == 0 {
            self.findings.push(Finding::NoComparisons);
            self.advice.push(Advice::CollectVotes);
            return;
        }
        let components = design.components;
        if self.can_rank {
            self.findings.push(Finding::Connected { items: design.items });
        } else {
            self.findings.push(Finding::Disconnected { components });
            self.advice.push(Advice::ConnectComponents { pairs: components - 1 });
        }
        if design.bridges.count > 0 {
            let (bridges, pairs) = (design.bridges.count, design.pairs);
            self.findings.push(Finding::Bridges { bridges, pairs });
            self.advice.push(Advice::SecureBridges);
        }
        if design.few_votes.count > 0 {
            self.findings.push(Finding::FewVotes { items: design.few_votes.count });
            self.advice.push(Advice::AskAboutFewVotes);
        }
        if (design.pairs as f64) < design.pairs_without_loops {
            let (pairs, needed) = (design.pairs, design.pairs_without_loops);
            self.findings.push(Finding::FewPairs { pairs, needed });
        }
    }

    fn add_identifiability(&mut self, evidence: &Evidence<'_>) {
        if evidence.design.cycles == 0 {
            self.findings.push(Finding::NoCycles);
            self.advice.push(Advice::CreateCycles);
            return;
        }
        let share = evidence.identifiable.share;
        self.findings.push(match share {
            share if share > 0.0 => Finding::Identifiable { share },
            _ => Finding::NotIdentifiable,
        });
        if evidence.certain_outliers > 0 {
            // Sketches underestimate ρ, so the number may be too large.
            let estimated = evidence.accuracy.is_some_and(|accuracy| accuracy != Accuracy::Exact);
            let votes = evidence.certain_outliers;
            self.findings.push(Finding::CertainOutliers { votes, estimated });
        }
        if share < GOOD_SHARE {
            self.advice.push(match evidence.identifiable_if_doubled.map(|found| found.share) {
                Some(doubled) if doubled > share => Advice::MoreVotes { share_if_doubled: doubled },
                Some(_) => Advice::MorePairs,
                None => Advice::MoreVotesPerItem,
            });
        }
    }

    fn add_flagged(&mut self, conditions: &Conditions) {
        let certainty = match (conditions.c1(), conditions.c2(), conditions.c3()) {
            (false, _, _) => FlaggedCertainty::Unchecked,
            (true, false, _) => FlaggedCertainty::Ambiguous,
            (true, true, false) => FlaggedCertainty::TooSmall,
            (true, true, true) => FlaggedCertainty::Certain,
        };
        let votes = conditions.outliers.round_ties_even() as u64;
        self.findings.push(Finding::Flagged { votes, certainty });
        match certainty {
            FlaggedCertainty::Unchecked => self.advice.push(Advice::RepeatFlaggedPairs),
            FlaggedCertainty::Ambiguous => self.advice.push(Advice::MoreVotesNearFlagged),
            FlaggedCertainty::TooSmall | FlaggedCertainty::Certain => {}
        }
    }
}
