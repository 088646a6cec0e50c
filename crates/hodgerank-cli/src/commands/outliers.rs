//! Formatted text of `hodgerank outliers` and `hodgerank annotators`.

pub(crate) mod draw;

use std::io;

use hodgerank_commands::annotators::AnnotatorsDocument;
use hodgerank_commands::listing::{ListingRow, Listings};
use hodgerank_commands::outliers::OutliersDocument;

use crate::output::{FormattedText, Style};

impl FormattedText for OutliersDocument {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        self.votes.write_text(style, out)
    }
}

impl FormattedText for AnnotatorsDocument {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Judged(judged) => draw::write(None, judged.rows(), style, out),
            Self::Evidence(lists) => lists.write_text(style, out),
        }
    }
}

impl<R: ListingRow + draw::FormattedRow + Send + Sync> FormattedText for Listings<R> {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        let lists = self.lists.iter();
        lists
            .map(|list| (list.by.as_deref(), &list.rows))
            .try_for_each(|(by, rows)| draw::write(by, rows, style, out))
    }
}
