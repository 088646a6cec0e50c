//! The certificate of one study in sentences, with lists of votes and annotators.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment};
use hodgerank_commands::Figures;
use hodgerank_commands::certify::{
    AnnotatorInSet, RankingCertificate, SetSearch, StudyCertificate, VoteInSet,
};
use hodgerank_report::words::{counted, listed};

use crate::output::Style;
use crate::ranking_table::{visible, write_by};
use crate::terminal::thousands;

/// Lines of text are not longer than this, however wide the terminal is.
const MAX_WIDTH: usize = 80;
/// Results with more items are counted, not listed.
const MAX_ITEMS: usize = 10;

pub(super) fn write(
    study: &Figures<StudyCertificate>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_by(study.by.as_deref(), out)?;
    let figures = &study.figures;
    for (k, ranking) in figures.rankings.iter().enumerate() {
        if k > 0 {
            writeln!(out)?;
        }
        let pair = figures.pair.as_ref();
        fill(&heading(ranking, pair), style, out)?;
        if !ranking.tied.is_empty() {
            continue;
        }
        fill(&sentence(&ranking.votes, ranking, pair, "vote", "votes"), style, out)?;
        write_votes(&ranking.votes.set, style, out)?;
        if let Some(annotators) = &ranking.annotators {
            fill(&sentence(annotators, ranking, pair, "annotator", "annotators"), style, out)?;
            write_annotators(&annotators.set, style, out)?;
        }
    }
    Ok(())
}

fn fill(text: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let options = textwrap::Options::new(usize::from(style.width).clamp(20, MAX_WIDTH))
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    writeln!(out, "{}", textwrap::fill(text, &options))
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

fn write_votes(votes: &[VoteInSet], style: Style, out: &mut dyn Write) -> io::Result<()> {
    if votes.is_empty() {
        return Ok(());
    }
    let has_annotators = votes.iter().any(|vote| vote.annotator.is_some());
    let mut table = style.table();
    let mut header = vec!["left", "right", "outcome", "removed", "of"];
    if has_annotators {
        header.insert(0, "annotator");
    }
    table.set_header(header);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    for vote in rows(votes, style) {
        let mut cells = vec![
            Cell::new(visible(&vote.left)),
            Cell::new(visible(&vote.right)),
            right(vote.outcome.to_string()),
            right(thousands(vote.removed)),
            right(thousands(vote.of)),
        ];
        if has_annotators {
            let annotator = vote.annotator.as_deref().map(visible).unwrap_or_default();
            cells.insert(0, Cell::new(annotator));
        }
        table.add_row(cells);
    }
    writeln!(out, "{table}")?;
    write_rest(votes.len(), style, out)
}

fn write_annotators(
    annotators: &[AnnotatorInSet],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if annotators.is_empty() {
        return Ok(());
    }
    let mut table = style.table();
    table.set_header(vec!["annotator", "votes"]);
    for gone in rows(annotators, style) {
        let votes = Cell::new(thousands(gone.votes)).set_alignment(CellAlignment::Right);
        table.add_row(vec![Cell::new(visible(&gone.annotator)), votes]);
    }
    writeln!(out, "{table}")?;
    write_rest(annotators.len(), style, out)
}

/// The rows that are shown.
fn rows<M>(all: &[M], style: Style) -> &[M] {
    let shown = if style.top > 0 { style.top.min(all.len()) } else { all.len() };
    &all[..shown]
}

fn write_rest(all: usize, style: Style, out: &mut dyn Write) -> io::Result<()> {
    match style.top {
        top if top > 0 && all > top => {
            let more = thousands((all - top) as u64);
            writeln!(out, "… and {more} more rows (--top 0 shows all; --format csv contains all)")
        }
        _ => Ok(()),
    }
}
