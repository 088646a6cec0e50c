//! Formatted text of `hodgerank decompose`.

mod draw;

use std::io;

use hodgerank_commands::decompose::Decomposed;

use crate::output::FormattedText;
use crate::page::Page;

impl FormattedText for Decomposed {
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.studies.iter().try_for_each(|study| draw::write(study, page))
    }
}
