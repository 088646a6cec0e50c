//! Where documents are written, and in which format: one writer for all commands.

use std::io::{self, IsTerminal as _, Write};

use clap::{Args, ValueEnum};
use hodgerank_commands::{Document, LabelOptions, Provenance};
use hodgerank_io::text::visible_name;
use hodgerank_io::write::{Output, Outputs};

use crate::failure::RunFailure;
use crate::page::{Markup, Page};
use crate::width::{chosen_width, terminal_width};

/// Output options of every command that returns a document.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Output format [default: by the extension of --output, else table]
    #[arg(long, value_enum)]
    pub format: Option<OutputFormat>,
    /// File to write [default: standard output]
    ///
    /// It appears whole or not at all.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
    /// Maximum number of rows in a formatted table, 0 for all; other formats contain all rows
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub top: usize,
    /// How labels are written.
    #[command(flatten)]
    pub labels: LabelOptions,
    /// Plain text even if standard output looks like a terminal; not a flag.
    #[arg(skip)]
    pub plain: bool,
}

/// The formats in which a document can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// A formatted table
    Table,
    /// Comma-separated values
    Csv,
    /// One JSON document
    Json,
    /// Apache Parquet
    Parquet,
    /// Tables in Markdown, for GitHub and wikis
    Markdown,
    /// Tables in LaTeX, for papers (packages booktabs and longtable)
    Latex,
}

impl OutputFormat {
    fn title(self) -> &'static str {
        match self {
            Self::Table => "a formatted table",
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Parquet => "Parquet",
            Self::Markdown => "Markdown",
            Self::Latex => "LaTeX",
        }
    }

    /// Whether it is for people: a page of text and tables.
    pub(crate) fn is_page(self) -> bool {
        matches!(self, Self::Table | Self::Markdown | Self::Latex)
    }

    /// The format of a file name, by its extension.
    fn of_name(path: &str) -> Result<Self, RunFailure> {
        let lower = path.to_ascii_lowercase();
        let stem = lower.strip_suffix(".gz").or(lower.strip_suffix(".zst")).unwrap_or(&lower);
        match std::path::Path::new(stem).extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("json") => Ok(Self::Json),
            Some("parquet") => Ok(Self::Parquet),
            Some("txt") => Ok(Self::Table),
            Some("md") => Ok(Self::Markdown),
            Some("tex") => Ok(Self::Latex),
            _ => Err(RunFailure::usage(
                format!(
                    "{}: the extension does not determine the output format",
                    visible_name(path)
                ),
                "use the extension .csv, .json, .parquet, .txt, .md or .tex, or add --format \
                 table|csv|json|parquet|markdown|latex",
            )),
        }
    }
}

/// A document with a formatted text for people.
pub trait FormattedText: Document {
    /// Writes the text.
    ///
    /// # Errors
    /// If writing fails.
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()>;
}

/// How text is formatted.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Width of the terminal, or of a page if there is none.
    pub(crate) width: usize,
    /// Whether colour and bold type may be used.
    pub(crate) is_styled: bool,
    /// Maximum number of rows, 0 for all.
    pub(crate) top: usize,
}

impl Style {
    /// The style for standard output and these options.
    pub(crate) fn new(options: &OutputOptions) -> Self {
        const PAGE_WIDTH: usize = 100;
        let is_standard = !options.plain && options.output.is_none();
        let is_terminal = is_standard && io::stdout().is_terminal();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let width = match is_terminal {
            true => terminal_width(),
            false => chosen_width().filter(|_| is_standard).unwrap_or(PAGE_WIDTH),
        };
        Self { width, is_styled: is_terminal && !no_colour, top: options.top }
    }
}

/// An open output, ready for one document.
pub struct DocumentOutput {
    /// The format in which the document will be written.
    pub format: OutputFormat,
    style: Style,
    labels: LabelOptions,
    output: Output,
}

impl OutputOptions {
    /// Opens the output before any work is done, so that what cannot be written is refused early.
    /// `outputs` knows the other files of the command: the output cannot be one of them.
    ///
    /// # Errors
    /// If the format is unknown or the file cannot be written.
    pub fn open(&self, outputs: &mut Outputs) -> Result<DocumentOutput, RunFailure> {
        let format = self.check_format()?;
        let name = self.output.as_deref().unwrap_or("-");
        let output = outputs.claim("--output", name)?.open()?;
        Ok(self.with_output(format, output))
    }

    /// Uses an output that is already open.
    ///
    /// # Errors
    /// If the format is unknown.
    pub fn to_output(&self, output: Output) -> Result<DocumentOutput, RunFailure> {
        Ok(self.with_output(self.check_format()?, output))
    }

    fn with_output(&self, format: OutputFormat, output: Output) -> DocumentOutput {
        DocumentOutput { format, style: Style::new(self), labels: self.labels, output }
    }

    fn check_format(&self) -> Result<OutputFormat, RunFailure> {
        let format = match (self.format, &self.output) {
            (Some(format), _) => format,
            (None, None) => OutputFormat::Table,
            (None, Some(path)) => OutputFormat::of_name(path)?,
        };
        self.labels.refuse_unless(format == OutputFormat::Csv, format.title())?;
        Ok(format)
    }
}

impl DocumentOutput {
    /// Whether the format has room for the files that were read.
    pub(crate) fn names_files(&self) -> bool {
        matches!(self.format, OutputFormat::Json | OutputFormat::Parquet)
    }

    /// Whether the document is written as JSON.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.format == OutputFormat::Json
    }

    /// Writes the document and completes the file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(
        mut self,
        document: &impl FormattedText,
        provenance: &Provenance,
    ) -> Result<(), RunFailure> {
        let style = self.style;
        let page =
            |markup, out: &mut Output| document.write_text(&mut Page::new(markup, style, out));
        let out = &mut self.output;
        let written = match self.format {
            OutputFormat::Table => page(Markup::Terminal, out),
            OutputFormat::Markdown => page(Markup::Markdown, out),
            OutputFormat::Latex => page(Markup::Latex, out),
            OutputFormat::Json => document.write_json(provenance, out),
            OutputFormat::Csv => {
                document.table().and_then(|table| table.write_csv(self.labels.style(), out))
            }
            OutputFormat::Parquet => document.table().and_then(|mut table| {
                provenance.push_metadata(&document.methods(), &mut table)?;
                // Parquet needs a writer that can be sent to other threads.
                let mut bytes = Vec::new();
                table.write_parquet(&mut bytes)?;
                out.write_all(&bytes)
            }),
        };
        written.map_err(|error| self.output.error(error))?;
        self.output.finish()?;
        Ok(())
    }
}

impl std::fmt::Debug for DocumentOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DocumentOutput").field("format", &self.format).finish_non_exhaustive()
    }
}
