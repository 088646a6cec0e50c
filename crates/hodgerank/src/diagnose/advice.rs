//! A diagnosis in words: what this design can answer, and what to add.

use super::Diagnosis;
use crate::identify::Accuracy;

/// What can be done with the votes, in words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// Whether all items stand on one scale.
    pub can_rank: bool,
    /// Whether wrong votes can be told from right ones.
    pub can_find_outliers: bool,
    /// What was found, one statement each.
    pub findings: Vec<String>,
    /// What would help, one step each; empty if nothing is wanting.
    pub advice: Vec<String>,
}

/// The share of outliers that a careful study should be able to find.
const GOOD_SHARE: f64 = 0.1;

impl Verdict {
    pub(super) fn of(found: &Diagnosis) -> Self {
        let suspects_found = found.conditions.as_ref().is_none_or(|c| c.c1() && c.c2());
        let mut verdict = Self {
            can_rank: found.design.components == 1 && found.design.pairs > 0,
            can_find_outliers: found.findable.share > 0.0 && suspects_found,
            ..Self::default()
        };
        verdict.about_ranking(found);
        verdict.about_outliers(found);
        verdict.about_suspects(found);
        verdict
    }

    fn say(&mut self, finding: String) {
        self.findings.push(finding);
    }

    fn advise(&mut self, step: String) {
        self.advice.push(step);
    }

    fn about_ranking(&mut self, found: &Diagnosis) {
        let design = &found.design;
        if design.pairs == 0 {
            self.say("No two items were compared: there is nothing to rank.".to_owned());
            return self.advise("Collect votes on pairs of different items.".to_owned());
        }
        if self.can_rank {
            self.say(format!(
                "All {} items are on one scale: a ranking can be made.",
                design.items
            ));
        } else {
            self.say(format!(
                "The items fall into {} parts that were never compared with each other; each can be \
                 ranked on its own, but not against the others.",
                design.components
            ));
            self.advise(format!(
                "Compare items across the parts: {} more pairs can join them all, twice as many \
                 make the joints safe.",
                design.components - 1
            ));
        }
        if !design.bridges.is_empty() {
            self.say(format!(
                "{} of {} pairs are the only link between two sides: wrong votes there cannot be \
                 seen and shift everything behind them.",
                design.bridges.len(),
                design.pairs
            ));
            self.advise(
                "Compare the items behind single links with some other item too.".to_owned(),
            );
        }
        if !design.few_votes.is_empty() {
            self.say(format!("{} items have few votes.", design.few_votes.len()));
            self.advise("Ask about the items with few votes first.".to_owned());
        }
        if (design.pairs as f64) < design.pairs_without_loops {
            self.say(format!(
                "{} pairs were compared; about {:.0} random ones are needed before long loops of \
                 inconsistent votes vanish by themselves.",
                design.pairs, design.pairs_without_loops
            ));
        }
    }

    fn about_outliers(&mut self, found: &Diagnosis) {
        if found.design.pairs == 0 {
            return;
        }
        if found.design.cycles < 1.0 {
            self.say(
                "The votes have no cycle: whatever they say, a ranking explains it in full, and no \
                 wrong vote can be found."
                    .to_owned(),
            );
            return self.advise(
                "Ask some pairs again, or close loops: only votes that can contradict each other \
                 can expose a wrong one."
                    .to_owned(),
            );
        }
        let share = found.findable.share;
        if share > 0.0 {
            self.say(format!(
                "Wrong votes at random places can be found up to about {} of all votes, if they \
                 are far enough off.",
                percent(share)
            ));
        } else {
            self.say(
                "Even a few wrong votes at random places can hide behind right ones.".to_owned(),
            );
        }
        if found.certain_outliers > 0 {
            // ρ from sketches may be a little too small, and the number too large.
            let sketched = found.resistance.as_ref().is_some_and(|r| r.accuracy != Accuracy::Exact);
            let about = if sketched { "about " } else { "" };
            self.say(format!(
                "Up to {about}{} wrong votes can be found wherever they are.",
                found.certain_outliers
            ));
        }
        if share < GOOD_SHARE {
            let doubled = found.findable_if_doubled.as_ref().map(|f| f.share);
            self.advise(match doubled {
                Some(doubled) if doubled > share => format!(
                    "More votes help: if every vote had been cast twice, up to about {} wrong ones \
                     could be found.",
                    percent(doubled)
                ),
                Some(_) => {
                    "Compare more different pairs: more votes on the same pairs do little to \
                            expose wrong ones here."
                        .to_owned()
                }
                None => {
                    "Collect more votes for each item: the more checks a vote has, the more wrong \
                         ones can be found."
                        .to_owned()
                }
            });
        }
    }

    fn about_suspects(&mut self, found: &Diagnosis) {
        let Some(c) = &found.conditions else { return };
        let count = c.outliers;
        if !c.c1() {
            self.say(format!(
                "Without the {count:.0} suspected votes the items fall apart: these suspects rest \
                 on votes that nothing else checks."
            ));
            self.advise("Ask the pairs of the suspected votes again.".to_owned());
        } else if !c.c2() {
            self.say(format!(
                "The {count:.0} suspected votes stand so close together that right votes nearby \
                 may look wrong: take the list as a hint, not as a proof."
            ));
            self.advise("Collect more votes around the suspected ones.".to_owned());
        } else if c.c3() {
            self.say(format!(
                "The {count:.0} suspected votes are few and large enough to be told from the rest \
                 with near certainty."
            ));
        } else {
            self.say(format!(
                "The {count:.0} suspected votes can be told apart by their places; with the noise \
                 of the others some of them are too small for certainty."
            ));
        }
    }
}

fn percent(share: f64) -> String {
    format!("{}%", (1000.0 * share).round() / 10.0)
}
