//! A decomposition for eyes: the shares as bars and in words, then the worst places.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Table};
use hodgerank_commands::Figures;
use hodgerank_commands::decompose::{DecompositionFigures, TriangleFigures};

use crate::output::Style;
use crate::ranking_table::{visible, write_by};
use crate::terminal::thousands;

/// Characters of a bar; there are none where there is no room for the shortest.
const LONGEST_BAR: usize = 30;
const SHORTEST_BAR: usize = 10;
/// Where the meaning of a share starts.
const MEANING: usize = 22;
/// Narrower terminals are not believed.
const NARROWEST: usize = 40;

pub(super) fn write(
    study: &Figures<DecompositionFigures>,
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
        say("Worst triangles: what a walk round them sums to; 0 in any ranking", style, out)?;
        writeln!(out, "{}", triangles(&figures.triangles, style))?;
    }
    if !figures.loops.is_empty() {
        writeln!(out, "\nStrongest loops that no triangles fill")?;
        for found in &figures.loops {
            let mut names: Vec<String> = found.items.iter().map(|item| visible(item)).collect();
            names.extend(names.first().cloned());
            let walk = format!("{:.3}: {}", found.total_flow, names.join(" > "));
            say(&walk, style, out)?;
        }
    }
    if !figures.items.is_empty() {
        writeln!(out)?;
        say("Items whose votes agree least with one ranking", style, out)?;
        let rows = figures.items.iter();
        let rows = rows.map(|row| (visible(&row.item), row.inconsistent, row.share));
        writeln!(out, "{}", local("item", rows, style))?;
    }
    if !figures.pairs.is_empty() {
        writeln!(out)?;
        say("Pairs whose votes agree least with one ranking", style, out)?;
        let rows = figures.pairs.iter().map(|row| {
            let pair = format!("{} – {}", visible(&row.left), visible(&row.right));
            (pair, row.inconsistent, row.share)
        });
        writeln!(out, "{}", local("pair", rows, style))?;
    }
    writeln!(out)
}

fn shares(figures: &DecompositionFigures, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let shares = &figures.shares;
    if figures.energy == 0.0 {
        return say("All votes are ties: there is nothing to explain.", style, out);
    }
    let parts = [
        ("one ranking", shares.gradient, "gradient: what scores explain"),
        ("within pairs", shares.bicycles, "bi-cycles: votes on one pair that disagree"),
        ("triangles", shares.curl, "curl: circles of three items"),
        ("long loops", shares.harmonic, "harmonic: longer circles"),
    ];
    let longest = parts.iter().map(|(_, _, meaning)| meaning.len()).max().unwrap_or(0);
    // All rows have bars or none has: bars of some alone would mislead.
    let room = width(style).saturating_sub(MEANING + 2 + longest).min(LONGEST_BAR);
    let indent = " ".repeat(MEANING);
    let options = textwrap::Options::new(width(style)).subsequent_indent(&indent);
    for (name, share, meaning) in parts {
        let percent = 100.0 * share;
        if room < SHORTEST_BAR {
            let line = format!("{name:<13}{percent:>6.1}%  {meaning}");
            writeln!(out, "{}", textwrap::fill(&line, &options))?;
        } else {
            let bar = "█".repeat((share * room as f64).round() as usize);
            writeln!(out, "{name:<13}{percent:>6.1}%  {bar:<room$}  {meaning}")?;
        }
    }
    Ok(())
}

fn transitivity(
    figures: &DecompositionFigures,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let found = &figures.transitivity;
    let sampled = if found.sampled.is_some() { " of a sample" } else { "" };
    writeln!(out)?;
    let rate = match found.rate {
        Some(rate) => format!(
            "transitivity satisfaction rate {:.4}: {} of {} triangles{sampled} run in a circle",
            rate,
            thousands(found.cyclic),
            thousands(found.decided)
        ),
        None => {
            format!("no triangle{sampled} has three majorities: there is no transitivity to rate")
        }
    };
    say(&rate, style, out)?;
    let holes = match (figures.betti.number, figures.betti.reason) {
        (Some(number), _) => format!("holes that could hide long loops (Betti): {number}"),
        (None, reason) => {
            format!("holes (Betti number): not counted, {}", reason.unwrap_or("too many"))
        }
    };
    say(&holes, style, out)
}

/// A sentence, broken where the terminal ends.
fn say(text: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", textwrap::fill(text, width(style)))
}

fn width(style: Style) -> usize {
    usize::from(style.width).max(NARROWEST)
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
