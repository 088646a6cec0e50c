//! The results in one number and a few sentences.

use hodgerank::diagnose::FirstPlace;
use hodgerank::uncertainty::{self, MAX_ITEMS, MAX_ITEMS_BY_DEFAULT};
use hodgerank::{RankedStudy, Settled, kendall};

use super::annotators;
use super::item_order::{ItemOrder, label};
use crate::document::{Fact, Headline, Sentence};
use crate::findings::StudyFindings;
use crate::words::{counted, listed, percent, thousands};

/// Returns the size of the study in figures.
pub(super) fn facts(findings: &StudyFindings<'_>) -> Vec<Fact> {
    let input = &findings.ranked.study.input;
    let fact = |name: &str, value: String| Fact { name: name.to_owned(), value };
    let one_or = |number: u64, one: &'static str, many: &'static str| match number {
        1 => fact(one, thousands(number)),
        _ => fact(many, thousands(number)),
    };
    let mut facts = vec![
        one_or(input.items as u64, "item", "items"),
        one_or(input.comparisons, "vote", "votes"),
    ];
    if input.annotators > 0 {
        facts.push(one_or(input.annotators as u64, "annotator", "annotators"));
    }
    let flagged = findings.flagged();
    let name = if flagged == 1 { "flagged vote" } else { "flagged votes" };
    let share = percent(findings.ranked.study.outliers.fraction);
    facts.push(match flagged {
        0 => fact(name, "none".to_owned()),
        _ => fact(name, format!("{} ({share})", thousands(flagged))),
    });
    facts
}

/// How many votes agree with the ranking, and how many of careful annotators would; `None` if no vote can
/// agree or disagree.
pub(super) fn headline(findings: &StudyFindings<'_>) -> Option<Headline> {
    let agreement = findings.agreement?;
    let value = rounded_percent(agreement);
    let careful = match findings.careful_agreement.map(|share| (share, rounded_percent(share))) {
        None => String::new(),
        Some((_, careful)) if careful == value => {
            "; careful annotators would reach about the same".to_owned()
        }
        // With few votes the ranking fits them better than it would fit others.
        Some((share, careful)) if share < agreement => {
            format!("; about {careful} can be expected of careful annotators")
        }
        Some((_, careful)) => format!("; careful annotators would reach about {careful}"),
    };
    let ties = match findings.ranked.graph.groups().y.contains(&0.0) {
        true => " (ties do not count)",
        false => "",
    };
    let text = format!("of votes agree with this ranking{careful}{ties}.");
    Some(Headline { value, text })
}

/// A whole percentage; one decimal close to 0 and 1, so that 99.8% is not said to be all.
fn rounded_percent(share: f64) -> String {
    match (100.0 * share).round() {
        whole if (1.0..=99.0).contains(&whole) || share == 0.0 || share == 1.0 => {
            format!("{whole}%")
        }
        // The decimal is cut off, not rounded, for the same reason.
        _ => format!("{}%", (1000.0 * share).floor() / 10.0),
    }
}

/// Returns the results in three sentences, and a fourth if the ranking cannot be trusted as it is.
pub(super) fn sentences(findings: &StudyFindings<'_>, order: &ItemOrder) -> Vec<Sentence> {
    let mut texts = vec![certainty(findings.ranked.study, order), input(findings)];
    texts.push(match no_agreement(findings) {
        Some(reason) => reason.to_owned(),
        None => effect_of_flags(findings, order),
    });
    texts.extend(doubt(findings).map(str::to_owned));
    texts.into_iter().map(Sentence::from).collect()
}

/// Returns further results.
pub(super) fn more(findings: &StudyFindings<'_>, order: &ItemOrder) -> Vec<Sentence> {
    let mut sentences = vec![Sentence::from(best_items(findings, order))];
    sentences.extend(trusted_agreement(findings).map(Sentence::from));
    sentences.extend(largest_change(findings, order).map(Sentence::from));
    sentences.extend(annotators::sentence(findings));
    if doubt(findings).is_none() {
        sentences.push(
            "The data support this ranking: all items are on one scale, and bad votes can be \
             told from good ones."
                .to_owned()
                .into(),
        );
    }
    sentences
}

/// Which ranks are settled; of the largest component, if there are several.
fn certainty(study: &RankedStudy, order: &ItemOrder) -> String {
    let method = study.fit.method;
    if study.uncertainty.is_none() {
        return if !uncertainty::supports(method) {
            format!("How certain the ranks are is not known: the method {method} has no intervals.")
        } else if study.input.items > MAX_ITEMS_BY_DEFAULT {
            format!(
                "How certain the ranks are was not estimated, because there are more than \
                 {MAX_ITEMS_BY_DEFAULT} items."
            )
        } else {
            "How certain the ranks are was not estimated.".to_owned()
        };
    }
    let Some(settled) = Settled::of_ranking(&order.ranking, 1) else {
        return format!(
            "Which ranks are certain was not estimated, because there are more than {MAX_ITEMS} items."
        );
    };
    let sentence = settled.sentence();
    match study.fit.components.len() {
        1 => sentence,
        _ => {
            let (initial, rest) = sentence.split_at(1);
            format!("In the largest component, {}{rest}", initial.to_lowercase())
        }
    }
}

fn input(findings: &StudyFindings<'_>) -> String {
    let input = &findings.ranked.study.input;
    let items = counted(input.items as u64, "item", "items");
    let votes = counted(input.comparisons, "vote", "votes");
    let rejected = match input.rejected {
        0 => String::new(),
        rows => format!(" {} could not be read.", counted(rows, "row", "rows")),
    };
    match input.annotators {
        0 => format!("The ranking rests on {votes} on {items}.{rejected}"),
        annotators => {
            let annotators = counted(annotators as u64, "annotator", "annotators");
            format!("{annotators} compared {items} in {votes}.{rejected}")
        }
    }
}

fn best_items(findings: &StudyFindings<'_>, order: &ItemOrder) -> String {
    let rows = &order.ranking.items;
    let first: Vec<String> = rows
        .iter()
        .take_while(|row| row.rank <= 3)
        .filter(|row| row.component == 1)
        .take(3)
        .map(|row| label(findings.ranked, row.item))
        .collect();
    let is_connected = findings.ranked.fit.components.len() == 1;
    match rows.last() {
        Some(last) if rows.len() > 3 && is_connected => {
            format!("Best: {}. Last: {}.", listed(&first), label(findings.ranked, last.item))
        }
        _ if is_connected => format!("Best: {}.", listed(&first)),
        _ => format!("Best in the largest component: {}.", listed(&first)),
    }
}

/// Why no vote agrees or disagrees with the ranking.
fn no_agreement(findings: &StudyFindings<'_>) -> Option<&'static str> {
    match findings.agreement {
        Some(_) => None,
        None if findings.all_votes.energy == 0.0 => Some("All votes are ties."),
        None => {
            Some("All items have the same score, so no vote agrees or disagrees with the ranking.")
        }
    }
}

fn trusted_agreement(findings: &StudyFindings<'_>) -> Option<String> {
    let trusted = findings.trusted_agreement.filter(|_| findings.flagged() > 0)?;
    Some(format!("Of the votes that are not flagged, {} agree with the ranking.", percent(trusted)))
}

/// How many votes are flagged, and how many ranks that changes.
fn effect_of_flags(findings: &StudyFindings<'_>, order: &ItemOrder) -> String {
    let flagged = findings.flagged();
    if flagged == 0 {
        return "No vote is flagged as doubtful.".to_owned();
    }
    let moved = order
        .ranking
        .items
        .iter()
        .filter(|row| row.rank != order.plain_rank[row.item as usize])
        .count();
    let effect = match moved {
        0 => "no item would have another rank if all votes counted the same".to_owned(),
        _ => format!(
            "{} another rank if all votes counted the same",
            counted(moved as u64, "item would have", "items would have")
        ),
    };
    format!(
        "{} ({}) {} flagged as doubtful; {effect}.",
        counted(flagged, "vote", "votes"),
        percent(findings.ranked.study.outliers.fraction),
        if flagged == 1 { "is" } else { "are" },
    )
}

/// The item whose rank differs most from that by all votes.
fn largest_change(findings: &StudyFindings<'_>, order: &ItemOrder) -> Option<String> {
    let moves = order.ranking.items.iter().map(|row| {
        let plain = order.plain_rank[row.item as usize];
        (row.rank.abs_diff(plain), plain, row)
    });
    // Of equal changes, that of the best item.
    let largest = moves.max_by_key(|(by, _, row)| (*by, std::cmp::Reverse(row.rank)));
    let (_, plain, row) = largest.filter(|(by, ..)| *by > 0)?;
    let tau = kendall::tau(&findings.ranked.fit.scores, &findings.all_votes.scores);
    Some(format!(
        "Compared with the ranking by all votes (least squares), {} changes most: from rank {plain} to \
         rank {}. Kendall's τ between the two rankings is {tau:.3}.",
        label(findings.ranked, row.item),
        row.rank,
    ))
}

/// Why the ranking cannot be trusted as it is, if so.
fn doubt(findings: &StudyFindings<'_>) -> Option<&'static str> {
    let verdict = &findings.diagnosis.verdict;
    match (verdict.can_rank, verdict.can_find_outliers) {
        (true, _) if verdict.first_place == FirstPlace::Provisional => {
            Some("First place is provisional: too little is known about the item that has it.")
        }
        (true, true) => None,
        (true, false) => {
            Some("There are too few votes to tell bad votes from good ones with certainty.")
        }
        (false, _) => Some(
            "The data cannot put all items on one scale: some are not connected to the others by votes.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::rounded_percent;

    #[test]
    fn nearly_all_is_not_all() {
        for (share, text) in
            [(0.739, "74%"), (1.0, "100%"), (0.998, "99.8%"), (0.99999, "99.9%"), (0.0, "0%")]
        {
            assert_eq!(rounded_percent(share), text);
        }
    }
}
