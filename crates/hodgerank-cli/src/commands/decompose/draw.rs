//! A decomposition for eyes: the shares as bars and in words, then the worst places.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Table};
use hodgerank_io::write::{DecompositionFigures, OfStudy, TriangleFigures};

use crate::table::{Style, visible};
use crate::terminal::thousands;

const BAR: usize = 30;

pub(super) fn write(
    study: &OfStudy<DecompositionFigures>,
    style: Style,
    out: &mut impl Write,
) -> io::Result<()> {
    if let Some(by) = &study.by {
        writeln!(out, "── {} ──", visible(by))?;
    }
    let figures = &study.figures;
    shares(figures, style, out)?;
    transitivity(figures, out)?;
    if !figures.triangles.is_empty() {
        writeln!(out, "\nWorst triangles: what a walk round them sums to; 0 in any ranking")?;
        writeln!(out, "{}", triangles(&figures.triangles, style))?;
    }
    if !figures.loops.is_empty() {
        writeln!(out, "\nStrongest loops that no triangles fill")?;
        for found in &figures.loops {
            let mut names: Vec<String> = found.items.iter().map(|item| visible(item)).collect();
            names.extend(names.first().cloned());
            let walk = format!("{:.3}: {}", found.total_flow, names.join(" > "));
            writeln!(out, "{}", textwrap::fill(&walk, usize::from(style.width).max(20)))?;
        }
    }
    if !figures.items.is_empty() {
        writeln!(out, "\nItems whose votes agree least with one ranking")?;
        let rows = figures.items.iter();
        let rows = rows.map(|row| (visible(&row.item), row.inconsistent, row.share));
        writeln!(out, "{}", local("item", rows, style))?;
    }
    if !figures.pairs.is_empty() {
        writeln!(out, "\nPairs whose votes agree least with one ranking")?;
        let rows = figures.pairs.iter().map(|row| {
            let pair = format!("{} – {}", visible(&row.left), visible(&row.right));
            (pair, row.inconsistent, row.share)
        });
        writeln!(out, "{}", local("pair", rows, style))?;
    }
    writeln!(out)
}

fn shares(figures: &DecompositionFigures, style: Style, out: &mut impl Write) -> io::Result<()> {
    let shares = &figures.shares;
    if figures.energy == 0.0 {
        return writeln!(out, "All votes are ties: there is nothing to explain.");
    }
    let room = usize::from(style.width);
    for (name, share, meaning) in [
        ("one ranking", shares.gradient, "gradient: what scores explain"),
        ("within pairs", shares.bicycles, "bi-cycles: votes on one pair that disagree"),
        ("triangles", shares.curl, "curl: circles of three items"),
        ("long loops", shares.harmonic, "harmonic: longer circles"),
    ] {
        let bar = "█".repeat((share * BAR as f64).round() as usize);
        let line = format!("{name:<13}{:>6.1}%  {bar:<BAR$}  {meaning}", 100.0 * share);
        let line = if room < 22 + BAR + meaning.len() {
            format!("{name:<13}{:>6.1}%  {meaning}", 100.0 * share)
        } else {
            line
        };
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn transitivity(figures: &DecompositionFigures, out: &mut impl Write) -> io::Result<()> {
    let found = &figures.transitivity;
    writeln!(out)?;
    match found.rate {
        Some(rate) => writeln!(
            out,
            "transitivity satisfaction rate {:.4}: {} of {} triangles run in a circle",
            rate,
            thousands(found.cyclic),
            thousands(found.decided)
        )?,
        None => writeln!(out, "no triangle has three majorities: transitivity does not apply")?,
    }
    match (figures.betti.number, figures.betti.reason) {
        (Some(number), _) => writeln!(out, "holes that could hide long loops (Betti): {number}"),
        (None, reason) => {
            writeln!(out, "holes (Betti number): not counted, {}", reason.unwrap_or("too many"))
        }
    }
}

fn triangles(list: &[TriangleFigures], style: Style) -> Table {
    let mut table = style.table();
    let voters = list.iter().any(|triangle| !triangle.annotators.is_empty());
    let mut header = vec!["curl", "items", "votes"];
    if voters {
        header.push("voters");
    }
    table.set_header(header);
    for triangle in list {
        let items: Vec<String> = triangle.items.iter().map(|item| visible(item)).collect();
        let votes = triangle.votes.map(thousands).join(", ");
        let curl = Cell::new(format!("{:.3}", triangle.curl)).set_alignment(CellAlignment::Right);
        let mut row = vec![curl, Cell::new(items.join(" > ")), Cell::new(votes)];
        if voters {
            let named = triangle.annotators.iter().take(3);
            let named: Vec<String> =
                named.map(|who| format!("{} ({})", visible(&who.annotator), who.votes)).collect();
            row.push(Cell::new(named.join(", ")));
        }
        table.add_row(row);
    }
    table
}

fn local(what: &str, rows: impl Iterator<Item = (String, f64, f64)>, style: Style) -> Table {
    let mut table = style.table();
    table.set_header(vec![what, "inconsistent energy", "of its votes'"]);
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
