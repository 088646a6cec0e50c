//! The section with the ranking: ranks, scores, and how certain they are.

use hodgerank::RankedItem;
use hodgerank::uncertainty::RankCoverage;

use super::item_order::ItemOrder;
use super::ranking_chart::chart;
use super::rounded::rounded;
use crate::chart::short_label;
use crate::document::{Fold, RANKING, Section, Slider};
use crate::findings::{ReportInput, StudyFindings};
use crate::table::{PageColumn, PageTable, Values};
use crate::words::{percent, thousands};

/// What the mark of provisional items means.
pub(super) const PROVISIONAL: &str = "* provisional: too little is known about the item, because it has \
    few votes, has never won or never lost, or could have more than half of the ranks.";

pub(super) fn section(
    findings: &StudyFindings<'_>,
    order: &ItemOrder,
    slider: Option<&Slider>,
) -> Section {
    let mut section = Section::new("ranking", "Ranking", Fold::Never);
    let method = findings.ranked.fit.method;
    section.text.push(match findings.flagged() {
        0 => format!("Method: {method}. No vote is flagged, so all votes count."),
        flagged => format!(
            "Method: {method}. {} of {} votes {} flagged and count less or not at all.",
            thousands(flagged),
            thousands(findings.ranked.study.input.comparisons),
            if flagged == 1 { "is" } else { "are" },
        ),
    });
    section.help.push(scores(findings));
    section.help.extend(certainty(findings.ranked, slider.is_some()));
    section.charts.push(chart(findings, order, slider));
    section.tables.push(table(findings, order));
    section
}

/// What scores mean, whatever the method.
fn scores(findings: &StudyFindings<'_>) -> String {
    let meaning = match findings.ranked.fit.outcome_size {
        Some(_) => {
            "If two scores differ by 1, about 73 of 100 careful annotators prefer the item with the \
             higher score; by 2, 88; by 3, 95 (scores are log-odds)."
        }
        None => {
            "The difference of two scores says how strongly a typical vote that is not flagged prefers \
             the first item: 0 is no preference, and 1 is a vote for it."
        }
    };
    let plain = match (findings.flagged(), findings.ranked.fit.outcome_size) {
        (0, None) => "",
        (_, None) => " Plain scores are computed from all votes (least squares).",
        (_, Some(_)) => {
            " Plain scores are computed from all votes (least squares) and shown in the same unit."
        }
    };
    format!("Only differences of scores mean something; zero is the average. {meaning}{plain}")
}

/// How error bars, ranges of ranks and tiers are to be read.
pub(super) fn certainty(ranked: ReportInput<'_>, has_slider: bool) -> Option<String> {
    let found = ranked.study.uncertainty.as_ref()?;
    let hold = match found.options.ranks {
        RankCoverage::All => "all of them hold together",
        RankCoverage::Each => "each of them holds",
    };
    let at_stop = match has_slider {
        true => " At other stops of the slider they are not known.",
        false => "",
    };
    Some(format!(
        "Error bars are the {level} intervals of the scores. Ranges in parentheses are the ranks that \
         an item can have; {hold} with a probability of {level}. The items of a tier cannot be told from its \
         best item; the next tier starts with the first item that is certainly worse. Error bars of two items \
         can overlap although one is certainly better: ranges and tiers compare items in pairs, which is more \
         exact.{at_stop}",
        level = level(ranked),
    ))
}

/// The level of intervals and ranges of ranks: `95%`.
pub(super) fn level(ranked: ReportInput<'_>) -> String {
    let level = ranked.study.uncertainty.as_ref().map_or(0.0, |found| found.options.level);
    percent(level).replace(".0%", "%")
}

/// A label of at most `max_characters`, with the mark of provisional items.
pub(super) fn marked(label: String, row: &RankedItem, max_characters: usize) -> String {
    match row.provisional {
        true => short_label(&label, max_characters - 2) + " *",
        false => label,
    }
}

/// The columns that say where an item stands and how certain that is. Tables list items in the order of `rows`.
pub(super) fn standing(ranked: ReportInput<'_>, rows: &[RankedItem]) -> Vec<PageColumn> {
    let largest = largest_score(rows);
    let scores = rows.iter().map(|row| Some(rounded(row.score, largest))).collect();
    let rank = |row: &RankedItem| {
        let (low, high) = row.rank_range.unwrap_or((row.rank, row.rank));
        (row.rank, low, high, row.provisional)
    };
    let has_intervals = ranked.study.uncertainty.is_some();
    let mut columns = vec![
        PageColumn::new("rank", "rank", Values::Rank(rows.iter().map(rank).collect())).with_hint(
            match has_intervals {
                true => "In parentheses: the best and the worst rank that the votes leave possible",
                false => "",
            },
        ),
        PageColumn::new("item", "item", Values::Item((0..rows.len() as u32).collect())),
        PageColumn::new("score", "score", Values::Number(scores)).with_hint(
            match ranked.fit.outcome_size {
                None => "Only differences mean something: 0 is no preference, 1 a vote for the first item",
                Some(_) => "At a difference of 1, 73 of 100 careful annotators prefer the first item",
            },
        ),
    ];
    if has_intervals {
        let margin = |row: &RankedItem| {
            let (low, high) = row.interval?;
            Some(rounded(0.5 * (high - low), largest)).filter(|margin| margin.is_finite())
        };
        let hint = format!("Half the width of the {} interval of the score", level(ranked));
        let margins = Values::Number(rows.iter().map(margin).collect());
        columns.push(PageColumn::new("margin", "±", margins).with_hint(&hint));
        let tiers = Values::Whole(rows.iter().map(|row| row.tier.map(i64::from)).collect());
        columns.push(
            PageColumn::new("tier", "tier", tiers)
                .with_hint("Items of a tier cannot be told from its best item"),
        );
    }
    columns
}

/// The column of the numbers of votes.
pub(super) fn votes(rows: &[RankedItem]) -> PageColumn {
    let votes = Values::Whole(rows.iter().map(|row| Some(row.comparisons as i64)).collect());
    PageColumn::new("votes", "votes", votes).with_hint("Votes on this item")
}

/// The component of each item; `None` if there is one only.
pub(super) fn component(ranked: ReportInput<'_>, rows: &[RankedItem]) -> Option<PageColumn> {
    let values = rows.iter().map(|row| Some(row.component.into())).collect();
    let column = PageColumn::new("component", "component", Values::Whole(values))
        .with_hint("Ranks and scores of different components cannot be compared");
    (ranked.fit.components.len() > 1).then_some(column)
}

fn largest_score(rows: &[RankedItem]) -> f64 {
    rows.iter().fold(0.0, |max, row| max.max(row.score.abs()))
}

fn table(findings: &StudyFindings<'_>, order: &ItemOrder) -> PageTable {
    let rows = &order.ranking.items[..order.listed];
    let all = order.ranking.items.len();
    let whole = |pick: &dyn Fn(&RankedItem) -> i64| {
        Values::Whole(rows.iter().map(|row| Some(pick(row))).collect())
    };
    let largest = largest_score(rows);
    let number = |pick: &dyn Fn(&RankedItem) -> f64| {
        Values::Number(rows.iter().map(|row| Some(rounded(pick(row), largest))).collect())
    };
    let plain = |row: &RankedItem| i64::from(order.plain_rank[row.item as usize]);
    let mut columns = standing(findings.ranked, rows);
    columns.extend([
        PageColumn::new("plain_rank", "plain rank", whole(&plain))
            .with_hint("Rank by all votes (least squares)"),
        PageColumn::new(
            "plain_score",
            "plain score",
            number(&|row| order.plain_score[row.item as usize]),
        )
        .with_hint("Score by all votes (least squares)"),
        PageColumn::new("flagged", "flagged", whole(&|row| row.flagged as i64))
            .with_hint("Flagged votes on this item"),
        votes(rows),
        PageColumn::new("wins", "wins", whole(&|row| row.wins as i64)),
        PageColumn::new("losses", "losses", whole(&|row| row.losses as i64)),
        PageColumn::new("ties", "ties", whole(&|row| row.ties as i64)),
    ]);
    columns.extend(component(findings.ranked, rows));
    let mut notes = Vec::new();
    if order.listed < all {
        notes.push(format!(
            "The best {} of {} items are listed; `hodgerank rank` lists all.",
            thousands(order.listed as u64),
            thousands(all as u64)
        ));
    }
    if rows.iter().any(|row| row.provisional) {
        notes.push(PROVISIONAL.to_owned());
    }
    let note = (!notes.is_empty()).then(|| notes.join(" "));
    PageTable { id: RANKING.to_owned(), title: "All items, best first".to_owned(), note, columns }
}
