//! What came out, in a few sentences.

use hodgerank::kendall;

use super::order::{Order, label};
use crate::document::Fact;
use crate::findings::Findings;
use crate::words::{counted, listed, percent, thousands};

/// The main figures.
pub(super) fn facts(findings: &Findings<'_>) -> Vec<Fact> {
    let input = &findings.ranked.input;
    let fact = |name: &str, value: String| Fact { name: name.to_owned(), value };
    let mut facts = vec![
        fact("items", thousands(input.items as u64)),
        fact("votes", thousands(input.comparisons)),
    ];
    if input.annotators > 0 {
        facts.push(fact("annotators", thousands(input.annotators as u64)));
    }
    facts.push(fact("explained by one ranking", percent(findings.all_votes.shares.gradient)));
    facts.push(fact("votes set aside", percent(findings.ranked.outliers.fraction)));
    facts
}

pub(super) fn sentences(findings: &Findings<'_>, order: &Order) -> Vec<String> {
    let mut sentences = vec![what_was_asked(findings), leaders(findings, order)];
    sentences.push(consistency(findings));
    sentences.extend(what_flags_changed(findings, order));
    sentences.extend(annotators(findings));
    sentences.push(verdict(findings));
    sentences
}

fn what_was_asked(findings: &Findings<'_>) -> String {
    let input = &findings.ranked.input;
    let by = match input.annotators {
        0 => String::new(),
        annotators => format!(" by {}", counted(annotators as u64, "annotator", "annotators")),
    };
    let rejected = match input.rejected {
        0 => String::new(),
        rows => {
            format!(" {} could not be read and were not counted.", counted(rows, "row", "rows"))
        }
    };
    format!(
        "{} were compared in {}{by}.{rejected}",
        counted(input.items as u64, "item", "items"),
        counted(input.comparisons, "vote", "votes"),
    )
}

fn leaders(findings: &Findings<'_>, order: &Order) -> String {
    let rows = &order.ranking.items;
    let first: Vec<String> = rows
        .iter()
        .take_while(|row| row.rank <= 3)
        .filter(|row| row.component == 1)
        .take(3)
        .map(|row| label(findings, row.item))
        .collect();
    let more =
        if findings.ranked.graph.components().len() > 1 { " of the largest component" } else { "" };
    match rows.last() {
        Some(last) if rows.len() > 3 && more.is_empty() => {
            format!("At the top: {}. Last: {}.", listed(&first), label(findings, last.item))
        }
        _ => format!("At the top{more}: {}.", listed(&first)),
    }
}

fn consistency(findings: &Findings<'_>) -> String {
    let share = findings.all_votes.shares.gradient;
    if findings.all_votes.energy == 0.0 {
        return "All votes are ties.".to_owned();
    }
    let judged = match share {
        share if share >= 0.6 => "The votes agree well",
        share if share >= 0.25 => "The votes agree in the main",
        _ => "The votes disagree much",
    };
    let trusted = match &findings.trusted_votes {
        Some(trusted) if trusted.energy > 0.0 => {
            format!("; of the votes still trusted it explains {}", percent(trusted.shares.gradient))
        }
        _ => String::new(),
    };
    format!("{judged}: one ranking explains {} of what they say{trusted}.", percent(share))
}

fn what_flags_changed(findings: &Findings<'_>, order: &Order) -> Vec<String> {
    let flagged = findings.flagged();
    if flagged == 0 {
        return vec!["No vote is flagged: robust and plain ranking are the same.".to_owned()];
    }
    let mut sentences = vec![format!(
        "{} ({} of all votes) contradict the rest and were set aside by {}.",
        counted(flagged, "vote", "votes"),
        percent(findings.ranked.outliers.fraction),
        findings.ranked.fit.method.as_str(),
    )];
    let moves = order.ranking.items.iter().map(|row| {
        let plain = order.plain_rank[row.item as usize];
        (row.rank.abs_diff(plain), plain, row)
    });
    let moved = moves.clone().filter(|(by, ..)| *by > 0).count() as u64;
    // The largest move; of equal ones the best item's.
    let largest = moves.max_by_key(|(by, _, row)| (*by, std::cmp::Reverse(row.rank)));
    let tau = kendall::tau(&findings.ranked.fit.scores, &findings.all_votes.scores);
    sentences.push(match largest {
        Some((by, plain, row)) if by > 0 => format!(
            "That changes the rank of {} (Kendall's τ with the plain ranking {tau:.3}); {} moves \
             furthest, from {plain} to {}.",
            counted(moved, "item", "items"),
            label(findings, row.item),
            row.rank,
        ),
        _ => "That changes scores, but the rank of no item.".to_owned(),
    });
    sentences
}

fn annotators(findings: &Findings<'_>) -> Option<String> {
    let rows = findings.annotators?;
    let suspect = rows.iter().filter(|row| row.flagged_p_adjusted < 0.05).count() as u64;
    (suspect > 0).then(|| {
        let (who, cast) = match suspect {
            1 => ("1 annotator".to_owned(), "casts"),
            _ => (format!("{} annotators", thousands(suspect)), "cast"),
        };
        format!("{who} {cast} more flagged votes than chance explains.")
    })
}

fn verdict(findings: &Findings<'_>) -> String {
    let verdict = &findings.diagnosis.verdict;
    match (verdict.can_rank, verdict.can_find_outliers) {
        (true, true) => {
            "The data can support this: all items are on one scale, and bad votes can \
                         be told from good ones."
        }
        (true, false) => {
            "All items are on one scale, but with these data bad votes cannot be told \
                          from good ones with certainty."
        }
        (false, _) => "The data cannot put all items on one scale.",
    }
    .to_owned()
}
