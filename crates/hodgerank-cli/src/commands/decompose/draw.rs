//! The formatted text of a decomposition: shares as bars, then the most inconsistent places.

use std::io;

use hodgerank_commands::Figures;
use hodgerank_commands::decompose::{ListedTriangle, StudyDecomposition};

use crate::page::Page;
use crate::ranking_table::visible;
use crate::terminal::thousands;
use crate::text_table::{Cells, Column, Label, TextTable};

/// How many characters long bars are, and their heading.
const BAR_WIDTH: usize = 25;
const BARS: &str = "0%                   100%";
/// What a narrow terminal leaves out of the list of triangles, in this order.
const OPTIONAL_OF_TRIANGLES: &[&str] = &["annotators"];
/// Maximum number of annotators shown per triangle.
const MAX_ANNOTATORS: usize = 3;

pub(super) fn write(study: &Figures<StudyDecomposition>, page: &mut Page<'_>) -> io::Result<()> {
    page.by(study.by.as_deref())?;
    let figures = &study.figures;
    write_shares(figures, page)?;
    transitivity(figures, page)?;
    if figures.energy == 0.0 {
        return page.gap();
    }
    if !figures.triangles.is_empty() {
        page.gap()?;
        page.paragraph(
            "Cycles of three majorities, those that the votes support most first (curl: the sum of \
             the three mean votes)",
        )?;
        page.table(&triangles(&figures.triangles))?;
    }
    if !figures.loops.is_empty() {
        page.gap()?;
        page.paragraph("Strongest harmonic loops (cycles that triangles do not fill)")?;
        for found in &figures.loops {
            let mut names: Vec<String> = found.items.iter().map(|item| visible(item)).collect();
            names.extend(names.first().cloned());
            page.indented(&format!("{:.3}: {}", found.total_flow, names.join(" > ")))?;
        }
    }
    if !figures.items.is_empty() {
        page.gap()?;
        page.paragraph("Most inconsistent items")?;
        let rows = figures.items.iter();
        let rows = rows
            .map(|row| (Label::new(visible(&row.item)), row.local.inconsistent, row.local.share));
        page.table(&local("item", &rows.collect::<Vec<_>>()))?;
    }
    if !figures.pairs.is_empty() {
        page.gap()?;
        page.paragraph("Most inconsistent pairs")?;
        let rows = figures.pairs.iter().map(|row| {
            let pair = vec![visible(&row.pair.left), visible(&row.pair.right)];
            (Label::of_names(pair, " – "), row.local.inconsistent, row.local.share)
        });
        page.table(&local("pair", &rows.collect::<Vec<_>>()))?;
    }
    page.gap()
}

fn write_shares(figures: &StudyDecomposition, page: &mut Page<'_>) -> io::Result<()> {
    if figures.energy == 0.0 {
        return page.paragraph("All votes are ties: there is nothing to explain.");
    }
    let shares = &figures.shares;
    let parts = [
        ("gradient", shares.gradient, "explained by one ranking"),
        ("bi-cycles", shares.bicycles, "votes on the same pair that disagree"),
        ("curl", shares.curl, "cycles of three items"),
        ("harmonic", shares.harmonic, "longer cycles"),
    ];
    let bar = |share: f64| "█".repeat((share * BAR_WIDTH as f64).round() as usize);
    let bars = parts.iter().map(|(_, share, _)| bar(*share)).collect();
    let table = TextTable::new(vec![
        Column::phrases("part", &parts, |(name, ..)| (*name).to_owned()),
        Column::numbers("share", &parts, |(_, share, _)| format!("{:.1}%", 100.0 * share)),
        Column::new(BARS, Cells::Bar(bars)),
        Column::phrases("meaning", &parts, |(_, _, meaning)| (*meaning).to_owned()),
    ]);
    page.bare_table(&table.leaving_out(&[BARS])).map(drop)
}

fn transitivity(figures: &StudyDecomposition, page: &mut Page<'_>) -> io::Result<()> {
    let found = &figures.transitivity;
    let sampled = if found.sampled.is_some() { " of the sample" } else { "" };
    page.gap()?;
    let rate = match found.rate {
        Some(rate) => format!(
            "Transitivity satisfaction rate: {:.4} ({} of {} triangles{sampled} cyclic)",
            rate,
            thousands(found.cyclic),
            thousands(found.decided)
        ),
        None => {
            format!(
                "Transitivity satisfaction rate: undefined (no triangle{sampled} has three clear \
                 majorities)"
            )
        }
    };
    page.paragraph(&rate)?;
    let betti = match (figures.betti.number, figures.betti.reason) {
        (Some(0), _) => "Betti number: 0 (no harmonic part is possible)".to_owned(),
        (Some(number), _) => format!(
            "Betti number: {} (independent cycles that triangles do not fill)",
            thousands(number)
        ),
        (None, reason) => {
            format!("Betti number: not computed, {}", reason.unwrap_or("a limit was reached"))
        }
    };
    page.paragraph(&betti)
}

fn triangles(list: &[ListedTriangle]) -> TextTable {
    let items = |listed: &ListedTriangle| {
        let names = listed.triangle.items.iter().map(|item| visible(item));
        Label::of_names(names.collect(), " > ")
    };
    let mut columns = vec![
        Column::numbers("curl", list, |listed| format!("{:.3}", listed.triangle.curl)),
        Column::new("items", Cells::Label(list.iter().map(items).collect())),
        Column::phrases("votes", list, |listed| listed.triangle.votes.map(thousands).join(", ")),
    ];
    if list.iter().any(|triangle| !triangle.annotators.is_empty()) {
        columns.push(Column::sentences("annotators", list, |listed| {
            let named = listed.annotators.iter().take(MAX_ANNOTATORS);
            let named = named.map(|row| format!("{} ({})", visible(&row.annotator), row.votes));
            named.collect::<Vec<_>>().join(", ")
        }));
    }
    TextTable::new(columns).leaving_out(OPTIONAL_OF_TRIANGLES)
}

fn local(what: &'static str, rows: &[(Label, f64, f64)]) -> TextTable {
    let labels = rows.iter().map(|(label, ..)| label.clone()).collect();
    TextTable::new(vec![
        Column::new(what, Cells::Label(labels)),
        Column::numbers("inconsistent energy", rows, |(_, energy, _)| format!("{energy:.2}")),
        Column::numbers("share of energy", rows, |(.., share)| format!("{:.1}%", 100.0 * share)),
    ])
}
