//! Formatted text of `hodgerank rank`.

mod changes;

use std::io;

use hodgerank_commands::rank::RankDocument;
use hodgerank_commands::rejected_rows;

use crate::output::FormattedText;
use crate::page::Page;
use crate::ranking_table;

impl FormattedText for RankDocument {
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()> {
        for (k, study) in self.studies.iter().enumerate() {
            match self.changes_of(k) {
                None => ranking_table::write(study, page, ranking_table::table)?,
                Some(found) => {
                    ranking_table::write(study, page, |rows, numbers| {
                        changes::table(rows, &found.items, numbers)
                    })?;
                    changes::write_summary(found, page)?;
                }
            }
        }
        match self.uncounted.rejected.rows {
            0 => Ok(()),
            rows => page.paragraph(&rejected_rows(rows)),
        }
    }
}
