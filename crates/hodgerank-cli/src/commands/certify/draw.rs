//! The certificate of one study in sentences, with lists of votes and annotators.

use std::io;

use hodgerank_commands::Figures;
use hodgerank_commands::certify::{
    AnnotatorInSet, RankingCertificate, SetSearch, StudyCertificate, VoteInSet,
};
use hodgerank_report::words::{counted, listed};

use crate::page::Page;
use crate::ranking_table::visible;
use crate::terminal::thousands;
use crate::text_table::{Column, TextTable};

/// Results with more items are counted, not listed.
const MAX_ITEMS: usize = 10;
/// What a narrow terminal leaves out of a list of votes, in this order.
const OPTIONAL: &[&str] = &["of", "outcome", "annotator"];

pub(super) fn write(study: &Figures<StudyCertificate>, page: &mut Page<'_>) -> io::Result<()> {
    page.by(study.by.as_deref())?;
    let figures = &study.figures;
    for (k, ranking) in figures.rankings.iter().enumerate() {
        if k > 0 {
            page.gap()?;
        }
        let pair = figures.pair.as_ref();
        page.paragraph(&heading(ranking, pair))?;
        if !ranking.tied.is_empty() {
            continue;
        }
        page.paragraph(&sentence(&ranking.votes, ranking, pair, "vote", "votes"))?;
        write_votes(&ranking.votes.set, page)?;
        if let Some(annotators) = &ranking.annotators {
            page.paragraph(&sentence(annotators, ranking, pair, "annotator", "annotators"))?;
            write_annotators(&annotators.set, page)?;
        }
    }
    Ok(())
}

fn names(items: &[String]) -> String {
    let mut shown: Vec<String> = items.iter().take(MAX_ITEMS).map(|item| visible(item)).collect();
    if items.len() > MAX_ITEMS {
        shown.push(format!("{} more", items.len() - MAX_ITEMS));
    }
    listed(&shown)
}

/// What all votes say.
fn heading(ranking: &RankingCertificate, pair: Option<&[String; 2]>) -> String {
    let name = match ranking.ranking {
        "robust" => "Robust ranking",
        _ => "Plain ranking",
    };
    let method = match (ranking.ranking, ranking.method) {
        ("plain", "bt") => "bt without lapses",
        (_, method) => method,
    };
    let result = match (&ranking.result[..], pair) {
        _ if !ranking.tied.is_empty() => {
            format!(
                "{} have equal scores, so no result depends on their order.",
                names(&ranking.tied)
            )
        }
        ([above], Some(pair)) => {
            let below = pair.iter().find(|item| *item != above).unwrap_or(above);
            format!("{} is above {}.", visible(above), visible(below))
        }
        ([first], _) => format!("{} is first.", visible(first)),
        (items, _) => format!("the first {} are {}.", items.len(), names(items)),
    };
    format!("{name} ({method}): {result}")
}

/// What was found, and what is known about it.
fn sentence<M>(
    found: &SetSearch<M>,
    ranking: &RankingCertificate,
    pair: Option<&[String; 2]>,
    one: &str,
    many: &str,
) -> String {
    let (Some(removed), Some(votes)) = (found.removed, found.removed_votes) else {
        let tried = match found.all_tried_up_to {
            0 => String::new(),
            size => format!(" All sets of up to {} were tried.", counted(size, one, many)),
        };
        return format!(
            "No set of up to {} of {} was found whose removal changes this.{tried} This does not \
             prove that there is none.",
            thousands(found.max_removed),
            counted(found.of, one, many)
        );
    };
    let of = thousands(found.of);
    let share = share_of(found.share.unwrap_or(0.0));
    let what = match one {
        "vote" => format!("{} of {of} votes ({share})", thousands(removed)),
        _ => format!(
            "{} of {of} {many} ({}, {share})",
            thousands(removed),
            counted(votes, "vote", "votes")
        ),
    };
    let above = found.above.as_deref().map(visible).unwrap_or_default();
    let below = found.below.as_deref().map(visible).unwrap_or_default();
    let after = found.result.as_deref().unwrap_or_default();
    let change = match (&ranking.result[..], pair) {
        (_, Some(_)) => format!("puts {above} above {below}"),
        ([first], None) => {
            let new = after.first().map_or(above.clone(), |item| visible(item));
            format!("makes {new} first instead of {}", visible(first))
        }
        (before, None) => {
            let missing = |from: &[String], to: &[String]| {
                let gone = from.iter().filter(|item| !to.contains(item)).cloned();
                names(&gone.collect::<Vec<_>>())
            };
            let (new, old) = (missing(after, before), missing(before, after));
            format!("puts {new} among the first {} instead of {old}", before.len())
        }
    };
    let smallest = match found.smallest {
        true => "No smaller set does",
        false => "A smaller set may exist",
    };
    format!("Removing {what} {change}. Verified by ranking without them. {smallest}.")
}

fn share_of(share: f64) -> String {
    match 100.0 * share {
        percent if percent < 0.01 => "less than 0.01%".to_owned(),
        percent if percent < 0.1 => format!("{percent:.2}%"),
        percent => format!("{percent:.1}%"),
    }
}

fn write_votes(votes: &[VoteInSet], page: &mut Page<'_>) -> io::Result<()> {
    if votes.is_empty() {
        return Ok(());
    }
    let rows = &votes[..page.shown(votes.len())];
    let mut columns = vec![
        Column::labels("left", rows, |vote| visible(&vote.left)),
        Column::labels("right", rows, |vote| visible(&vote.right)),
        Column::numbers("outcome", rows, |vote| vote.outcome.to_string()),
        Column::numbers("removed", rows, |vote| thousands(vote.removed)),
        Column::numbers("of", rows, |vote| thousands(vote.of)),
    ];
    if votes.iter().any(|vote| vote.annotator.is_some()) {
        let name = |vote: &VoteInSet| vote.annotator.as_deref().map(visible).unwrap_or_default();
        columns.insert(0, Column::labels("annotator", rows, name));
    }
    page.table(&TextTable::new(columns).leaving_out(OPTIONAL))?;
    page.more(votes.len(), "rows")
}

fn write_annotators(annotators: &[AnnotatorInSet], page: &mut Page<'_>) -> io::Result<()> {
    if annotators.is_empty() {
        return Ok(());
    }
    let rows = &annotators[..page.shown(annotators.len())];
    page.table(&TextTable::new(vec![
        Column::labels("annotator", rows, |gone| visible(&gone.annotator)),
        Column::numbers("votes", rows, |gone| thousands(gone.votes)),
    ]))?;
    page.more(annotators.len(), "rows")
}
