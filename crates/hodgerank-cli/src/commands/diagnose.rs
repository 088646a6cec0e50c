//! Formatted text of `hodgerank diagnose`.

mod draw;

use std::io;

use hodgerank_commands::diagnose::Diagnosed;

use crate::output::{FormattedText, Style};

impl FormattedText for Diagnosed {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        self.studies.iter().try_for_each(|study| draw::write(study, style, out))
    }
}
