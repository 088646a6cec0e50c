//! How labels are written to CSV and TSV.

use clap::Args;
use hodgerank_io::Format;
use hodgerank_io::write::LabelStyle;

use crate::failure::Failure;

/// How labels are written.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct LabelOptions {
    /// Put an apostrophe before labels that spreadsheet programs would run as formulas: those that
    /// begin with =, +, - or @. For CSV and TSV
    #[arg(long)]
    pub spreadsheet_safe: bool,
}

impl LabelOptions {
    /// How labels are written.
    #[must_use]
    pub fn style(self) -> LabelStyle {
        if self.spreadsheet_safe { LabelStyle::SpreadsheetSafe } else { LabelStyle::Exact }
    }

    /// Refuses the option for formats that no spreadsheet reads as cells.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the option is given and the format is neither CSV nor TSV.
    pub fn check_format(self, format: Option<Format>) -> Result<(), Failure> {
        match format {
            Some(Format::Csv | Format::Tsv) | None => Ok(()),
            Some(format) => self.refuse_unless(false, format.title()),
        }
    }

    /// Refuses the option unless the output is CSV.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the option is given and the output is not CSV.
    pub fn refuse_unless(self, is_csv: bool, format: &str) -> Result<(), Failure> {
        if is_csv || !self.spreadsheet_safe {
            return Ok(());
        }
        Err(Failure::usage(
            format!("--spreadsheet-safe is an option for CSV and TSV, and this output is {format}"),
            "leave --spreadsheet-safe out, or write CSV",
        ))
    }
}
