//! `hodgerank compare`: all methods side by side.

use std::io;

use clap::Args;
use hodgerank_commands::Answer as _;
use hodgerank_commands::compare::{
    CompareOptions, Compared, Comparison, MethodRanking, compare, long_table,
};

use crate::failure::Failure;
use crate::flags::{Files, OutputFormat, OutputOptions};
use crate::table::{Style, room, visible, write_by};
use crate::terminal::Terminal;

/// Flags of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    options: CompareOptions,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(
    arguments: &CompareArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let format = arguments.output.format()?;
    let mut output = arguments.output.create()?;
    let compared = compare(&arguments.files.votes(), &arguments.options, threads, terminal)?;
    let Compared { comparisons } = &compared;
    let written = match format {
        OutputFormat::Json => compared.write_json(&mut output),
        OutputFormat::Csv => long_table(comparisons).write_csv(&mut output),
        OutputFormat::Parquet => long_table(comparisons).write_parquet(&mut output),
        OutputFormat::Table => {
            let style = Style::here(&arguments.output);
            comparisons.iter().try_for_each(|comparison| draw(comparison, style, &mut output))
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    Ok(())
}

/// Items in the order of the reference; a rank that differs from its is marked with a star.
fn draw(comparison: &Comparison, style: Style, out: &mut impl io::Write) -> io::Result<()> {
    write_by(comparison.by.as_deref(), out)?;
    let reference = comparison.methods.iter().find(|m| m.name == comparison.reference);
    let lead = reference.or(comparison.methods.first());
    let mut order: Vec<usize> = (0..comparison.items.len()).collect();
    if let Some(lead) = lead {
        order.sort_by_key(|&i| lead.ranks[i]);
    }
    if style.top > 0 {
        order.truncate(style.top);
    }
    let mut names: Vec<String> = vec!["item".to_owned()];
    names.extend(order.iter().map(|&i| visible(&comparison.items[i])));
    names.push("votes flagged".to_owned());
    let place = comparison.methods.iter().position(|m| m.name == comparison.reference);
    names.extend(place.map(|_| format!("τ with {}", comparison.reference)));
    let column = |(m, method): (usize, &MethodRanking), with_scores: bool| {
        let cell = |&i: &usize| {
            let differs = reference.is_some_and(|r| r.ranks[i] != method.ranks[i]);
            let star = if differs { "*" } else { "" };
            let score =
                if with_scores { format!(" ({:.3})", method.scores[i]) } else { String::new() };
            format!("{}{star}{score}", method.ranks[i])
        };
        let mut cells: Vec<String> = vec![method.name.to_owned()];
        cells.extend(order.iter().map(cell));
        cells.push(method.flagged.to_string());
        cells.extend(place.map(|place| format!("{:.3}", comparison.kendall[place][m])));
        cells
    };
    let columns = |with_scores: bool| -> Vec<Vec<String>> {
        comparison.methods.iter().enumerate().map(|method| column(method, with_scores)).collect()
    };
    // Nine methods with their scores need a wide screen; ranks alone need less, and part where even
    // they do not fit.
    let width = usize::from(style.width);
    let (wide, narrow) = (columns(true), columns(false));
    let with_scores = blocks(&names, &wide, width).len() <= 1;
    let shown = if with_scores { wide } else { narrow };
    for block in blocks(&names, &shown, width) {
        let mut table = style.table();
        let row = |r: usize| std::iter::once(&names).chain(block).map(move |cells| &cells[r]);
        table.set_header(row(0));
        for r in 1..names.len() {
            table.add_row(row(r));
        }
        writeln!(out, "{table}")?;
    }
    writeln!(out, "* rank differs from that of {}", comparison.reference)?;
    if !with_scores {
        writeln!(out, "scores: on a wider terminal, or with --format csv, json or parquet")?;
    }
    Ok(())
}

/// As many columns beside the names as fit, then the next ones.
fn blocks<'a>(
    names: &[String],
    columns: &'a [Vec<String>],
    width: usize,
) -> Vec<&'a [Vec<String>]> {
    let text = |cells: &'a [String]| cells.iter().map(String::as_str);
    let taken = room(names.iter().map(String::as_str), true);
    let rooms: Vec<usize> = columns.iter().map(|cells| room(text(cells), false)).collect();
    let mut blocks = Vec::new();
    let mut start = 0;
    while start < columns.len() {
        let mut end = start + 1;
        // The last column needs no gap after it.
        while end < columns.len() && taken + rooms[start..=end].iter().sum::<usize>() <= width + 1 {
            end += 1;
        }
        blocks.push(&columns[start..end]);
        start = end;
    }
    blocks
}
