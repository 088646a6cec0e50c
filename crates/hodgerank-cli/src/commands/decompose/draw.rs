//! The formatted text of a decomposition: shares as bars, then the most inconsistent places.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Table};
use hodgerank_commands::Figures;
use hodgerank_commands::decompose::{ListedTriangle, StudyDecomposition};

use crate::output::Style;
use crate::ranking_table::{visible, write_by};
use crate::terminal::thousands;

/// Maximum length of a bar in characters.
const MAX_BAR: usize = 30;
/// Minimum length of the longest possible bar; bars are omitted if there is less room.
const MIN_BAR: usize = 10;
/// Column at which the description of a share starts.
const DESCRIPTION_COLUMN: usize = 22;
/// Minimum width of a line, also if the terminal reports less.
const MIN_WIDTH: usize = 40;
/// Narrower tables do not show the annotators of triangles.
const MIN_WIDTH_FOR_ANNOTATORS: u16 = 60;
/// Maximum number of annotators shown per triangle.
const MAX_ANNOTATORS: usize = 3;

pub(super) fn write(
    study: &Figures<StudyDecomposition>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_by(study.by.as_deref(), out)?;
    let figures = &study.figures;
    shares(figures, style, out)?;
    transitivity(figures, style, out)?;
    if figures.energy == 0.0 {
        return writeln!(out);
    }
    if !figures.triangles.is_empty() {
        writeln!(out)?;
        paragraph(
            "Triangles with the largest curl (sum of the mean votes around them; 0 if consistent)",
            style,
            out,
        )?;
        writeln!(out, "{}", triangles(&figures.triangles, style))?;
        if has_annotators(&figures.triangles) && style.width < MIN_WIDTH_FOR_ANNOTATORS {
            paragraph(
                "columns left out: annotators (use a wider terminal or --format json)",
                style,
                out,
            )?;
        }
    }
    if !figures.loops.is_empty() {
        writeln!(out)?;
        paragraph("Strongest harmonic loops (cycles that triangles do not fill)", style, out)?;
        for found in &figures.loops {
            let mut names: Vec<String> = found.items.iter().map(|item| visible(item)).collect();
            names.extend(names.first().cloned());
            let cycle = format!("{:.3}: {}", found.total_flow, names.join(" > "));
            paragraph(&cycle, style, out)?;
        }
    }
    if !figures.items.is_empty() {
        writeln!(out)?;
        paragraph("Most inconsistent items", style, out)?;
        let rows = figures.items.iter();
        let rows = rows.map(|row| (visible(&row.item), row.local.inconsistent, row.local.share));
        writeln!(out, "{}", local("item", rows, style))?;
    }
    if !figures.pairs.is_empty() {
        writeln!(out)?;
        paragraph("Most inconsistent pairs", style, out)?;
        let rows = figures.pairs.iter().map(|row| {
            let pair = format!("{} – {}", visible(&row.pair.left), visible(&row.pair.right));
            (pair, row.local.inconsistent, row.local.share)
        });
        writeln!(out, "{}", local("pair", rows, style))?;
    }
    writeln!(out)
}

fn shares(figures: &StudyDecomposition, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let shares = &figures.shares;
    if figures.energy == 0.0 {
        return paragraph("All votes are ties: there is nothing to explain.", style, out);
    }
    let parts = [
        ("gradient", shares.gradient, "explained by one ranking"),
        ("bi-cycles", shares.bicycles, "votes on the same pair that disagree"),
        ("curl", shares.curl, "cycles of three items"),
        ("harmonic", shares.harmonic, "longer cycles"),
    ];
    let longest = parts.iter().map(|(_, _, description)| description.len()).max().unwrap_or(0);
    // Bars on some rows only would be misleading.
    let room = width(style).saturating_sub(DESCRIPTION_COLUMN + 2 + longest).min(MAX_BAR);
    let indent = " ".repeat(DESCRIPTION_COLUMN);
    let options = textwrap::Options::new(width(style)).subsequent_indent(&indent);
    for (name, share, description) in parts {
        let percent = 100.0 * share;
        if room < MIN_BAR {
            let line = format!("{name:<13}{percent:>6.1}%  {description}");
            writeln!(out, "{}", textwrap::fill(&line, &options))?;
        } else {
            let bar = "█".repeat((share * room as f64).round() as usize);
            writeln!(out, "{name:<13}{percent:>6.1}%  {bar:<room$}  {description}")?;
        }
    }
    Ok(())
}

fn transitivity(figures: &StudyDecomposition, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let found = &figures.transitivity;
    let sampled = if found.sampled.is_some() { " of the sample" } else { "" };
    writeln!(out)?;
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
    paragraph(&rate, style, out)?;
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
    paragraph(&betti, style, out)
}

/// Writes text wrapped to the width of the terminal.
fn paragraph(text: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", textwrap::fill(text, width(style)))
}

fn width(style: Style) -> usize {
    usize::from(style.width).max(MIN_WIDTH)
}

fn has_annotators(list: &[ListedTriangle]) -> bool {
    list.iter().any(|triangle| !triangle.annotators.is_empty())
}

fn triangles(list: &[ListedTriangle], style: Style) -> Table {
    let mut table = style.table();
    let with_annotators = has_annotators(list) && style.width >= MIN_WIDTH_FOR_ANNOTATORS;
    let mut header = vec!["curl", "items", "votes"];
    if with_annotators {
        header.push("annotators");
    }
    table.set_header(header);
    for ListedTriangle { triangle, annotators } in list {
        let items: Vec<String> = triangle.items.iter().map(|item| visible(item)).collect();
        let votes = triangle.votes.map(thousands).join(", ");
        let curl = Cell::new(format!("{:.3}", triangle.curl)).set_alignment(CellAlignment::Right);
        let mut row = vec![curl, Cell::new(items.join(" > ")), Cell::new(votes)];
        if with_annotators {
            let named = annotators.iter().take(MAX_ANNOTATORS);
            let named: Vec<String> =
                named.map(|row| format!("{} ({})", visible(&row.annotator), row.votes)).collect();
            row.push(Cell::new(named.join(", ")));
        }
        table.add_row(row);
    }
    table
}

fn local(what: &str, rows: impl Iterator<Item = (String, f64, f64)>, style: Style) -> Table {
    let mut table = style.table();
    table.set_header(vec![what, "inconsistent energy", "share of energy"]);
    for (name, energy, share) in rows {
        let number = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row(vec![
            Cell::new(name),
            number(format!("{energy:.2}")),
            number(format!("{:.1}%", 100.0 * share)),
        ]);
    }
    table
}
