//! Formatted text of `hodgerank diagnose`.

mod draw;

use std::io;

use hodgerank_commands::diagnose::Diagnosed;

use crate::output::FormattedText;
use crate::page::Page;

impl FormattedText for Diagnosed {
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.studies.iter().try_for_each(|study| draw::write(study, page))
    }
}
