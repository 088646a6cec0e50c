//! The formatted text of a diagnosis: the verdict, recommendations, then the figures.

use std::io;

use hodgerank::diagnose::{FirstPlace, Spread};
use hodgerank::graph::ItemPair;
use hodgerank::identify::{Accuracy, Conditions};
use hodgerank_commands::Figures;
use hodgerank_commands::diagnose::StudyDiagnosis;

use crate::page::Page;
use crate::ranking_table::visible;
use crate::terminal::thousands;
use crate::text_table::{Column, TextTable};

pub(super) fn write(study: &Figures<StudyDiagnosis>, page: &mut Page<'_>) -> io::Result<()> {
    page.by(study.by.as_deref())?;
    let figures = &study.figures;
    let answer = |yes: bool| if yes { "yes" } else { "no" };
    let verdict = &figures.verdict;
    page.paragraph(&format!("All items can be ranked together: {}", answer(verdict.can_rank)))?;
    page.paragraph(&format!(
        "Wrong votes can be identified:    {}",
        answer(verdict.can_find_outliers)
    ))?;
    page.paragraph(&format!("Settled places: {}", settled_places(figures)))?;
    page.gap()?;
    page.list(&verdict.findings)?;
    if !verdict.advice.is_empty() {
        page.gap()?;
        page.paragraph("Recommendations:")?;
        page.list(&verdict.advice)?;
    }
    page.gap()?;
    let rows = rows(figures);
    page.table(&TextTable::new(vec![
        Column::sentences("figure", &rows, |(name, _)| (*name).to_owned()),
        Column::sentences("value", &rows, |(_, value)| value.clone()),
    ]))?;
    page.gap()
}

fn settled_places(figures: &StudyDiagnosis) -> String {
    let is_provisional = figures.verdict.first_place == FirstPlace::Provisional;
    let mark = if is_provisional { ", first place is provisional" } else { "" };
    match &figures.settled {
        Some(places) => {
            let (places, items) = (places.settled.places as u64, places.settled.items() as u64);
            format!("{} of {}{mark}", thousands(places), thousands(items))
        }
        None => format!("unknown{mark}"),
    }
}

fn rows(figures: &StudyDiagnosis) -> Vec<(&'static str, String)> {
    let design = &figures.design;
    let whole = |number: usize| thousands(number as u64);
    let named = |count: usize, first: Option<String>| match first {
        Some(first) => format!("{}, such as {first}", whole(count)),
        None => whole(count),
    };
    let mut rows = vec![
        ("items", whole(design.items)),
        ("pairs compared", format!("{} ({})", whole(design.pairs), percent(design.density))),
        ("votes", thousands(design.votes)),
        ("components", whole(design.components)),
        ("independent cycles of votes", thousands(design.cycles)),
        ("bridges", named(design.bridges.count, design.bridges.first.first().map(pair))),
        ("items with few votes", {
            let first = design.few_votes.first.first();
            named(
                design.few_votes.count,
                first.map(|row| format!("{} ({})", visible(&row.item), row.votes)),
            )
        }),
        ("items that never lost", {
            named(design.undefeated.count, design.undefeated.first.first().map(|i| visible(i)))
        }),
        ("items that never won", {
            named(design.winless.count, design.winless.first.first().map(|i| visible(i)))
        }),
        ("votes per pair", spread(&design.votes_per_pair)),
        ("votes per item", spread(&design.votes_per_item)),
    ];
    if let Some(votes) = &design.votes_per_annotator {
        rows.push(("votes per annotator", spread(votes)));
    }
    let about = |number: f64| thousands(number.round() as u64);
    rows.push(("pairs needed to connect all items (n log n)", about(design.pairs_to_connect)));
    rows.push(("pairs needed for no harmonic part (n^1.5)", about(design.pairs_without_loops)));
    if let Some(found) = &figures.connectivity {
        let about = if found.converged { "" } else { "at most " };
        rows.push(("algebraic connectivity", format!("{about}{}", digits(found.value))));
    }
    if let Some(found) = &figures.resistance {
        rows.push((
            "largest effective resistance (rho)",
            format!("{}: {}{}", digits(found.largest), pair(&found.pair), estimate(found.accuracy)),
        ));
        rows.push(("mean effective resistance", digits(found.mean)));
        if let Some(item) = found.least_certain_items.first() {
            let name = visible(&item.item);
            rows.push((
                "least certain item",
                format!("{name}, variance {}", digits(item.variance)),
            ));
        }
    }
    let found = &figures.identifiability;
    rows.push(("wrong votes identifiable in any position", thousands(found.certain_outliers)));
    rows.push(("wrong votes identifiable at random positions", percent(found.share)));
    if let Some(share) = found.share_if_doubled {
        rows.push(("the same with twice the votes", percent(share)));
    }
    rows.push(("flagged votes", thousands(found.flagged.outliers.comparisons)));
    if let Some(conditions) = &found.flagged.conditions {
        rows.extend(condition_rows(conditions));
    }
    rows
}

fn condition_rows(found: &Conditions) -> Vec<(&'static str, String)> {
    let holds = |yes: bool| if yes { "holds" } else { "fails" };
    let number = |value: Option<f64>| value.map_or("none".to_owned(), digits);
    let eta = Some(found.eta()).filter(|eta| eta.is_finite());
    vec![
        ("C1 (C_min)", format!("{}, {}", holds(found.c1()), digits(found.c_min))),
        ("C2 (eta)", format!("{}, {}{}", holds(found.c2()), number(eta), estimate(found.accuracy))),
        (
            "C3 (smallest flagged vote / bound)",
            format!(
                "{}, {} / {}",
                holds(found.c3()),
                digits(found.gamma.0),
                number(found.gamma_needed)
            ),
        ),
        ("noise (sigma)", digits(found.sigma)),
        ("mu", digits(found.mu)),
        ("no correct vote flagged from lambda", number(found.lambda_bar)),
        ("no correct vote flagged until time", number(found.tau_bar)),
    ]
}

fn pair(pair: &ItemPair<String>) -> String {
    format!("{} – {}", visible(&pair.left), visible(&pair.right))
}

fn spread(spread: &Spread) -> String {
    let whole = |value: f64| thousands(value as u64);
    let (least, median, most) = (whole(spread.least), whole(spread.median), whole(spread.most));
    format!("{least} to {most}, median {median}")
}

fn percent(share: f64) -> String {
    let digits = if share > 0.0 && share < 0.001 { 4 } else { 1 };
    format!("{:.digits$}%", 100.0 * share)
}

fn digits(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-3..1e6).contains(&size) => format!("{value:.4}"),
        _ => format!("{value:.2e}"),
    }
}

fn estimate(accuracy: Accuracy) -> &'static str {
    match accuracy {
        Accuracy::Exact => "",
        Accuracy::Sketched { .. } => " (estimate)",
    }
}
