//! Formatted text of `hodgerank rank`.

use std::io;

use hodgerank_commands::rank::RankDocument;

use crate::output::{FormattedText, Style};
use crate::ranking_table;
use crate::terminal::thousands;

impl FormattedText for RankDocument {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        for study in &self.studies {
            ranking_table::write(study, style, out)?;
        }
        match self.uncounted.rejected.rows {
            0 => Ok(()),
            rows => writeln!(out, "{} rows were rejected and not counted", thousands(rows)),
        }
    }
}
