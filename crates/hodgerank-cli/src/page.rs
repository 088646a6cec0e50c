//! What commands show to people: headings, paragraphs, lists and tables, written for a terminal, as Markdown or
//! as LaTeX.

mod latex;
mod markdown;

use std::io::{self, Write};

use hodgerank_commands::visible;

use crate::output::Style;
use crate::terminal::thousands;
use crate::text_table::TextTable;
use crate::width::{with_short_words, wrapping};

/// Lines of text are not longer than this, however wide the terminal is.
const MAX_TEXT_WIDTH: usize = 100;

/// How a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Markup {
    /// A formatted table
    #[value(name = "table")]
    Terminal,
    /// Tables in Markdown
    Markdown,
    /// Tables in LaTeX (packages booktabs and longtable)
    Latex,
}

/// A page that is being written.
pub struct Page<'a> {
    markup: Markup,
    style: Style,
    out: &'a mut dyn Write,
}

impl<'a> Page<'a> {
    pub(crate) fn new(markup: Markup, style: Style, out: &'a mut dyn Write) -> Self {
        Self { markup, style, out }
    }

    /// The width of lines.
    pub(crate) fn width(&self) -> usize {
        self.style.width
    }

    /// How many of these rows are shown.
    pub(crate) fn shown(&self, rows: usize) -> usize {
        if self.style.top > 0 { self.style.top.min(rows) } else { rows }
    }

    /// Writes the value of the `--by` column as a heading, if there is one.
    pub(crate) fn by(&mut self, by: Option<&str>) -> io::Result<()> {
        by.map_or(Ok(()), |by| self.heading(&visible(by)))
    }

    pub(crate) fn heading(&mut self, text: &str) -> io::Result<()> {
        match self.markup {
            Markup::Terminal => writeln!(self.out, "── {text} ──"),
            Markup::Markdown => writeln!(self.out, "### {}\n", markdown::escape(text)),
            Markup::Latex => writeln!(self.out, "\\subsection*{{{}}}\n", latex::escape(text)),
        }
    }

    /// Writes text, wrapped between words.
    pub(crate) fn paragraph(&mut self, text: &str) -> io::Result<()> {
        match self.markup {
            Markup::Terminal => self.wrapped(text, "", ""),
            Markup::Markdown => writeln!(self.out, "{}\n", markdown::escape(text)),
            Markup::Latex => writeln!(self.out, "{}\n", latex::escape(text)),
        }
    }

    /// Writes text whose further lines are indented in a terminal.
    pub(crate) fn indented(&mut self, text: &str) -> io::Result<()> {
        match self.markup {
            Markup::Terminal => self.wrapped(text, "", "  "),
            _ => self.paragraph(text),
        }
    }

    pub(crate) fn list(&mut self, entries: &[String]) -> io::Result<()> {
        match self.markup {
            Markup::Terminal => {
                entries.iter().try_for_each(|entry| self.wrapped(entry, "- ", "  "))
            }
            Markup::Markdown => {
                let entries =
                    entries.iter().map(|entry| format!("- {}\n", markdown::escape(entry)));
                writeln!(self.out, "{}", entries.collect::<String>())
            }
            Markup::Latex => {
                let entries =
                    entries.iter().map(|entry| format!("\\item {}\n", latex::escape(entry)));
                let entries: String = entries.collect();
                writeln!(self.out, "\\begin{{itemize}}\n{entries}\\end{{itemize}}\n")
            }
        }
    }

    /// Writes a table, and names what a narrow terminal leaves out of it. Returns what was left out.
    pub(crate) fn table(&mut self, table: &TextTable) -> io::Result<Vec<&'static str>> {
        let left_out = self.bare_table(table)?;
        self.name_left_out(&left_out)?;
        Ok(left_out)
    }

    /// Names what narrow tables leave out.
    pub(crate) fn name_left_out(&mut self, names: &[&str]) -> io::Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let names = names.join(", ");
        self.hint(&format!(
            "left out: {names} (use a wider terminal, or --format csv, json or parquet)"
        ))
    }

    /// [`Page::table`] without naming what is left out.
    pub(crate) fn bare_table(&mut self, table: &TextTable) -> io::Result<Vec<&'static str>> {
        match self.markup {
            Markup::Terminal => {
                let laid_out = table.lay_out(self.width());
                for line in laid_out.lines(self.style.is_styled) {
                    writeln!(self.out, "{line}")?;
                }
                Ok(laid_out.left_out)
            }
            Markup::Markdown => markdown::write(table, self.out).map(|()| Vec::new()),
            Markup::Latex => latex::write(table, self.out).map(|()| Vec::new()),
        }
    }

    /// Writes a table that a terminal splits into blocks, each with the first column.
    pub(crate) fn blocks(&mut self, table: &TextTable) -> io::Result<()> {
        let blocks = match self.markup {
            Markup::Terminal => table.blocks(self.width()),
            _ => vec![table.clone()],
        };
        for (k, block) in blocks.iter().enumerate() {
            if k > 0 {
                self.gap()?;
            }
            self.table(block)?;
        }
        Ok(())
    }

    /// Whether a table takes several blocks.
    pub(crate) fn is_split(&self, table: &TextTable) -> bool {
        self.markup == Markup::Terminal && table.blocks(self.width()).len() > 1
    }

    /// Says how many rows are not shown.
    pub(crate) fn more(&mut self, rows: usize, what: &str) -> io::Result<()> {
        let hidden = rows - self.shown(rows);
        if hidden == 0 {
            return Ok(());
        }
        let hidden = thousands(hidden as u64);
        self.hint(&format!(
            "… and {hidden} more {what} (--top 0 shows all; --format csv, json or parquet contains all)"
        ))
    }

    /// Writes advice on how to use the program: a comment in Markdown and LaTeX.
    pub(crate) fn hint(&mut self, text: &str) -> io::Result<()> {
        match self.markup {
            Markup::Terminal => self.wrapped(text, "", ""),
            // `--` may not occur in comments of HTML.
            Markup::Markdown => writeln!(self.out, "<!-- {} -->\n", text.replace("--", "‐‐")),
            Markup::Latex => writeln!(self.out, "% {text}\n"),
        }
    }

    /// Writes an empty line. Markdown and LaTeX have one after each paragraph and table.
    pub(crate) fn gap(&mut self) -> io::Result<()> {
        match self.markup {
            Markup::Terminal => writeln!(self.out),
            Markup::Markdown | Markup::Latex => Ok(()),
        }
    }

    fn wrapped(&mut self, text: &str, first: &str, further: &str) -> io::Result<()> {
        let width = self.width().min(MAX_TEXT_WIDTH);
        let options = wrapping(width).initial_indent(first).subsequent_indent(further);
        let text = with_short_words(text, width.saturating_sub(further.len()));
        writeln!(self.out, "{}", textwrap::fill(&text, options))
    }
}

impl std::fmt::Debug for Page<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("markup", &self.markup).finish_non_exhaustive()
    }
}
