//! Formatted text of `hodgerank rank`.

mod changes;

use std::io;

use hodgerank_commands::rank::RankDocument;

use crate::output::{FormattedText, Style};
use crate::ranking_table;
use crate::terminal::thousands;

impl FormattedText for RankDocument {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        for (k, study) in self.studies.iter().enumerate() {
            match self.changes_of(k) {
                None => ranking_table::write(study, style, out, |rows, numbers, out| {
                    writeln!(out, "{}", ranking_table::draw(rows, numbers, style))
                })?,
                Some(found) => {
                    ranking_table::write(study, style, out, |rows, numbers, out| {
                        changes::write_rows(rows, &found.items, numbers, style, out)
                    })?;
                    changes::write_summary(found, style, out)?;
                }
            }
        }
        match self.uncounted.rejected.rows {
            0 => Ok(()),
            rows => writeln!(out, "{} rows were rejected and not counted", thousands(rows)),
        }
    }
}
