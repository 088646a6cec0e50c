//! The second pass: every row again, in the order of the files, beside the group that its vote
//! went into. Memory does not grow with the rows.
//!
//! A method may flag a group in part. Then the first votes in the order of the files are the flagged
//! ones. A row that stands for several votes is flagged as a whole or not at all: one that holds
//! more votes than are left to flag is kept.

use std::sync::Arc;

use arrow_array::RecordBatch;
use hodgerank::{Groups, Labels};

use super::batches::{Memo, Table};
use super::pump::PieceReport;
use super::rows::RowSink;
use super::{Progress, ReadOptions, Sources};
use crate::columns::{Layout, Role};
use crate::error::{Error, Problem, Result};
use crate::study::{Cells, Understood};

/// A study and what a method made of it.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The value of the `by` column.
    pub by: Option<&'a str>,
    /// The items.
    pub items: &'a Labels,
    /// The votes.
    pub groups: &'a Groups,
    /// How many votes of each group are flagged.
    pub flagged: &'a [f64],
}

/// A row of the input.
#[derive(Debug, Clone, Copy)]
pub struct Vote<'a> {
    /// Its study's place among the judged ones.
    pub study: usize,
    /// Its group; `None` for a vote cast zero times.
    pub group: Option<usize>,
    /// The item on the left, as in the input.
    pub left: u32,
    /// The item on the right.
    pub right: u32,
    /// How much `left` is preferred to `right`.
    pub y: f64,
    /// How many times the vote was cast.
    pub count: u64,
    /// Who cast it; empty where that is not known.
    pub annotator: &'a str,
    /// Whether it is flagged.
    pub flagged: bool,
}

/// How the second pass went.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Replayed {
    /// Rows that were rejected, as in the first pass.
    pub rejected: u64,
    /// Flagged votes in rows that also hold trusted ones, and were kept for that.
    pub kept_whole: f64,
}

/// What becomes of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept,
    Flagged,
    Rejected,
}

/// Looks at rows beside their groups.
pub(crate) trait Visitor: Send {
    /// Whether rows are wanted whole.
    const WHOLE: bool;

    /// A row; `text` is empty unless rows are wanted whole and the file is text.
    fn vote(&mut self, vote: &Vote<'_>, text: &[u8]) -> Result<()>;

    /// A blank line of a text file.
    fn blank(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    /// A batch, after its rows, with what became of them.
    fn batch(&mut self, batch: &RecordBatch, fates: &[Fate]) -> Result<()>;
}

/// Reads the files once more and hands every good row to `each`.
///
/// # Errors
/// If a file cannot be read, or is no longer what it was, or `each` fails.
pub fn replay(
    sources: &Sources,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    studies: &[Judged<'_>],
    each: impl FnMut(&Vote<'_>) -> Result<()> + Send,
) -> Result<Replayed> {
    visit(sources, options, progress, studies, &mut Each(each))
}

struct Each<F>(F);

impl<F: FnMut(&Vote<'_>) -> Result<()> + Send> Visitor for Each<F> {
    const WHOLE: bool = false;

    fn vote(&mut self, vote: &Vote<'_>, _: &[u8]) -> Result<()> {
        (self.0)(vote)
    }

    fn batch(&mut self, _: &RecordBatch, _: &[Fate]) -> Result<()> {
        Ok(())
    }
}

pub(crate) fn visit<V: Visitor>(
    sources: &Sources,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    studies: &[Judged<'_>],
    visitor: &mut V,
) -> Result<Replayed> {
    let joiner = Joiner {
        studies,
        by: studies.iter().map(|study| study.by.unwrap_or("")).collect(),
        to_flag: studies.iter().map(|study| study.flagged.to_vec()).collect(),
        visitor,
        fates: Vec::new(),
        failed: None,
    };
    let mut sinks = [joiner];
    let (rejected, _) = sources.each_file(options, progress, &mut sinks)?;
    let [joiner] = sinks;
    let kept_whole = joiner.to_flag.iter().flatten().sum();
    Ok(Replayed { rejected: rejected.total, kept_whole })
}

pub(super) struct Joiner<'a, V> {
    studies: &'a [Judged<'a>],
    /// Names of the studies, numbered as they are.
    by: Labels,
    /// For each study and group, the votes that are still to be flagged.
    to_flag: Vec<Vec<f64>>,
    visitor: &'a mut V,
    /// Of the batch at hand.
    fates: Vec<Fate>,
    failed: Option<Error>,
}

impl<V: Visitor> Joiner<'_, V> {
    /// `None` where the row's study, items or group are not those of the first pass.
    fn join<'c>(&mut self, said: &Understood<'c>, cells: &Cells<'c>) -> Option<Vote<'c>> {
        let study = self.by.get(cells[Role::By as usize])? as usize;
        let judged = &self.studies[study];
        let (left, right) = (judged.items.get(said.left)?, judged.items.get(said.right)?);
        let mut flagged = false;
        let mut group = None;
        if said.count > 0 {
            let found = judged.groups.find(left, right, said.y)?;
            group = Some(found);
            let to_flag = &mut self.to_flag[study][found];
            flagged = said.count as f64 <= *to_flag;
            if flagged {
                *to_flag -= said.count as f64;
            }
        }
        let annotator = std::str::from_utf8(cells[Role::Annotator as usize]).unwrap_or("");
        let (y, count) = (said.y, said.count);
        Some(Vote { study, group, left, right, y, count, annotator, flagged })
    }

    fn take_failure(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

impl<V: Visitor> RowSink for Joiner<'_, V> {
    const WHOLE: bool = V::WHOLE;

    fn row(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        text: &[u8],
    ) -> Result<(), (Role, Problem)> {
        let said = Understood::new(layout, cells)?;
        if self.failed.is_some() {
            return Ok(());
        }
        let done = match self.join(&said, cells) {
            Some(vote) => {
                self.fates.push(if vote.flagged { Fate::Flagged } else { Fate::Kept });
                self.visitor.vote(&vote, text)
            }
            None => Err(Error::Changed),
        };
        self.failed = done.err();
        Ok(())
    }

    fn blank(&mut self, line: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.visitor.blank(line).err();
        }
    }

    fn batch(
        &mut self,
        table: &Table,
        batch: &RecordBatch,
        _: &mut Memo,
        report: &mut PieceReport,
    ) -> Result<()> {
        self.fates.clear();
        table.each_row(batch, self, report, |joiner| joiner.fates.push(Fate::Rejected))?;
        self.take_failure()?;
        self.visitor.batch(batch, &self.fates)
    }

    fn end_of_text(&mut self) -> Result<()> {
        self.fates.clear();
        self.take_failure()
    }
}
