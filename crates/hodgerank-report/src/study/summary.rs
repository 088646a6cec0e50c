//! The results in a few figures and sentences.

use hodgerank::diagnose::FirstPlace;
use hodgerank::uncertainty::{self, MAX_ITEMS, MAX_ITEMS_BY_DEFAULT};
use hodgerank::{RankedStudy, Settled, kendall};

use super::annotators;
use super::item_order::{ItemOrder, label};
use crate::document::{Fact, Sentence};
use crate::findings::StudyFindings;
use crate::words::{counted, listed, percent, thousands};

/// Returns the main figures.
pub(super) fn facts(findings: &StudyFindings<'_>) -> Vec<Fact> {
    let input = &findings.ranked.study.input;
    let fact = |name: &str, value: String| Fact { name: name.to_owned(), value };
    let mut facts = vec![
        fact("items", thousands(input.items as u64)),
        fact("votes", thousands(input.comparisons)),
    ];
    if input.annotators > 0 {
        facts.push(fact("annotators", thousands(input.annotators as u64)));
    }
    if let Some(agreement) = findings.agreement {
        facts.push(fact("votes that agree", percent(agreement)));
    }
    facts.push(fact("votes flagged", percent(findings.ranked.study.outliers.fraction)));
    facts
}

/// Returns the summary.
pub(super) fn sentences(findings: &StudyFindings<'_>, order: &ItemOrder) -> Vec<Sentence> {
    let mut texts = vec![
        certainty(findings.ranked.study, order),
        input(findings),
        best_items(findings, order),
        agreement(findings),
    ];
    texts.extend(effect_of_flags(findings, order));
    let mut sentences: Vec<Sentence> = texts.into_iter().map(Sentence::from).collect();
    sentences.extend(annotators::sentence(findings));
    sentences.push(verdict(findings).into());
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
    let by = match input.annotators {
        0 => String::new(),
        annotators => format!(" by {}", counted(annotators as u64, "annotator", "annotators")),
    };
    let rejected = match input.rejected {
        0 => String::new(),
        1 => " 1 row could not be read and was skipped.".to_owned(),
        rows => format!(" {} rows could not be read and were skipped.", thousands(rows)),
    };
    format!(
        "{} were compared in {}{by}.{rejected}",
        counted(input.items as u64, "item", "items"),
        counted(input.comparisons, "vote", "votes"),
    )
}

fn best_items(findings: &StudyFindings<'_>, order: &ItemOrder) -> String {
    let rows = &order.ranking.items;
    let first: Vec<String> = rows
        .iter()
        .take_while(|row| row.rank <= 3)
        .filter(|row| row.component == 1)
        .take(3)
        .map(|row| label(findings, row.item))
        .collect();
    let is_connected = findings.ranked.fit.components.len() == 1;
    match rows.last() {
        Some(last) if rows.len() > 3 && is_connected => {
            format!("Best: {}. Last: {}.", listed(&first), label(findings, last.item))
        }
        _ if is_connected => format!("Best: {}.", listed(&first)),
        _ => format!("Best in the largest component: {}.", listed(&first)),
    }
}

fn agreement(findings: &StudyFindings<'_>) -> String {
    if findings.all_votes.energy == 0.0 {
        return "All votes are ties.".to_owned();
    }
    let Some(all) = findings.agreement else {
        return "All items have the same score, so no vote agrees or disagrees with the ranking."
            .to_owned();
    };
    let groups = findings.ranked.graph.groups();
    let ties = if groups.y.contains(&0.0) { " (not counting ties)" } else { "" };
    let trusted = match findings.trusted_agreement {
        Some(trusted) if findings.flagged() > 0 => {
            format!(" Without flagged votes, {} agree.", percent(trusted))
        }
        _ => String::new(),
    };
    format!("{} of votes agree with this ranking{ties}.{trusted}", percent(all))
}

fn effect_of_flags(findings: &StudyFindings<'_>, order: &ItemOrder) -> Vec<String> {
    let flagged = findings.flagged();
    let method = findings.ranked.fit.method;
    if flagged == 0 {
        return vec!["No vote is flagged.".to_owned()];
    }
    let mut sentences = vec![format!(
        "{} ({} of all votes) {} flagged (method: {method}).",
        counted(flagged, "vote", "votes"),
        percent(findings.ranked.study.outliers.fraction),
        if flagged == 1 { "is" } else { "are" },
    )];
    let moves = order.ranking.items.iter().map(|row| {
        let plain = order.plain_rank[row.item as usize];
        (row.rank.abs_diff(plain), plain, row)
    });
    let moved = moves.clone().filter(|(by, ..)| *by > 0).count() as u64;
    // Of equal changes, that of the best item.
    let largest = moves.max_by_key(|(by, _, row)| (*by, std::cmp::Reverse(row.rank)));
    let tau = kendall::tau(&findings.ranked.fit.scores, &findings.all_votes.scores);
    sentences.push(match largest {
        Some((by, plain, row)) if by > 0 => format!(
            "Compared with the ranking by all votes, {} {} rank (Kendall's τ {tau:.3}); {} changes \
             most, from rank {plain} to rank {}.",
            counted(moved, "item", "items"),
            if moved == 1 { "changes" } else { "change" },
            label(findings, row.item),
            row.rank,
        ),
        _ => "Compared with the ranking by all votes, scores change but no item changes rank."
            .to_owned(),
    });
    sentences
}

fn verdict(findings: &StudyFindings<'_>) -> String {
    let verdict = &findings.diagnosis.verdict;
    match (verdict.can_rank, verdict.can_find_outliers) {
        (true, _) if verdict.first_place == FirstPlace::Provisional => {
            "All items are on one scale, but first place is provisional: too little is known about the \
             item that has it."
        }
        (true, true) => {
            "The data support this ranking: all items are on one scale, and bad votes can be \
             distinguished from good ones."
        }
        (true, false) => {
            "All items are on one scale, but the data are not sufficient to distinguish bad votes \
             from good ones with certainty."
        }
        (false, _) => "The data cannot put all items on one scale.",
    }
    .to_owned()
}
