//! Formatted text of `hodgerank certify`.

mod draw;

use std::io;

use hodgerank_commands::certify::CertifyDocument;

use crate::output::{FormattedText, Style};

impl FormattedText for CertifyDocument {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        self.studies.iter().try_for_each(|study| draw::write(study, style, out))
    }
}
