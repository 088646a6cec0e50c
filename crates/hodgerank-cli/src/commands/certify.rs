//! Formatted text of `hodgerank certify`.

mod draw;

use std::io;

use hodgerank_commands::certify::CertifyDocument;

use crate::output::FormattedText;
use crate::page::Page;

impl FormattedText for CertifyDocument {
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.studies.iter().try_for_each(|study| draw::write(study, page))
    }
}
