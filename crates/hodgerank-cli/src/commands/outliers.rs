//! Formatted text of `hodgerank outliers` and `hodgerank annotators`.

pub(crate) mod draw;

use std::io;

use hodgerank_commands::annotators::AnnotatorsDocument;
use hodgerank_commands::listing::{ListingRow, Listings};
use hodgerank_commands::outliers::OutliersDocument;

use crate::output::{FormattedText, Style};

impl FormattedText for OutliersDocument {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Votes(lists) => lists.write_text(style, out),
            Self::Annotators(lists) => lists.write_text(style, out),
        }
    }
}

impl FormattedText for AnnotatorsDocument {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Judged(lists) => lists.write_text(style, out),
            Self::Evidence(lists) => lists.write_text(style, out),
        }
    }
}

impl<R: ListingRow + draw::FormattedRow + Send + Sync> FormattedText for Listings<R> {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        self.lists.iter().try_for_each(|list| draw::write(list, style, out))
    }
}
