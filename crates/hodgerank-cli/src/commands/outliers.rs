//! Formatted text of `hodgerank outliers` and `hodgerank annotators`.

pub(crate) mod draw;

use std::io;

use hodgerank_commands::annotators::AnnotatorsDocument;
use hodgerank_commands::listing::{ListingRow, Listings};
use hodgerank_commands::outliers::OutliersDocument;

use crate::output::FormattedText;
use crate::page::Page;

impl FormattedText for OutliersDocument {
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.votes.write_text(page)
    }
}

impl FormattedText for AnnotatorsDocument {
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()> {
        match self {
            Self::Judged(judged) => draw::write(None, judged.rows(), page),
            Self::Evidence(lists) => lists.write_text(page),
        }
    }
}

impl<R: ListingRow + draw::FormattedRow + Send + Sync> FormattedText for Listings<R> {
    fn write_text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let lists = self.lists.iter();
        lists
            .map(|list| (list.by.as_deref(), &list.rows))
            .try_for_each(|(by, rows)| draw::write(by, rows, page))
    }
}
