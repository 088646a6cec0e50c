//! `hodgerank path`: the whole regularisation path as a long table, for plotting.

use std::io;

use clap::Args;
use hodgerank_commands::Answer as _;
use hodgerank_commands::path::{Document, Event, PathOptions, Walked, long_table, path};

use crate::failure::Failure;
use crate::flags::{Files, OutputFormat, OutputOptions};
use crate::table::{Style, visible};
use crate::terminal::Terminal;

/// Flags of `path`.
#[derive(Debug, Args)]
pub(crate) struct PathArguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    options: PathOptions,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(
    arguments: &PathArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let format = arguments.output.format()?;
    let mut output = arguments.output.create()?;
    let walked = path(&arguments.files.votes(), &arguments.options, threads, terminal)?;
    let Walked { documents, what } = &walked;
    let written = match format {
        OutputFormat::Json => walked.write_json(&mut output),
        OutputFormat::Csv => long_table(documents, *what).write_csv(&mut output),
        OutputFormat::Parquet => long_table(documents, *what).write_parquet(&mut output),
        OutputFormat::Table => {
            let style = Style::here(&arguments.output);
            documents.iter().try_for_each(|document| draw(document, style, &mut output))
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    Ok(())
}

fn draw(document: &Document, style: Style, out: &mut impl io::Write) -> io::Result<()> {
    let mut table = style.table();
    table.set_header(vec!["knot", document.parameter, "what", "value"]);
    let most = if style.top > 0 { style.top } else { usize::MAX };
    for line in document.lines.iter().take(most) {
        let (what, value) = match (&line.item, &line.event) {
            (Some(item), _) => (visible(item), line.score),
            (None, Some(event)) => {
                let pair = format!("{} – {}", visible(&event.left), visible(&event.right));
                let Event { change, y, votes, .. } = event;
                (format!("{change}: {pair}, y = {y}, {votes} votes"), event.residual)
            }
            (None, None) => continue,
        };
        let value = value.map_or(String::new(), |value| format!("{value:.4}"));
        table.add_row(vec![line.knot.to_string(), format!("{:.5}", line.at), what, value]);
    }
    writeln!(out, "{table}")?;
    if document.lines.len() > most {
        let more = document.lines.len() - most;
        writeln!(out, "… and {more} lines more (--top 0 shows all; --format csv has all)")?;
    }
    Ok(())
}
