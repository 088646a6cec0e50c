//! The second pass: reads every row again, in the order of the files, and looks up its distinct vote.
//! Memory does not grow with the number of rows.
//!
//! A method can flag a part of a group. Then another pass counts the rows of such groups first, to
//! select those that are flagged (`split_groups.rs`). A row with a count is flagged completely or not
//! at all: if it has more votes than remain to be flagged, it is kept.

use std::sync::Arc;

use arrow_array::RecordBatch;
use hodgerank::fit::CrowdFlags;
use hodgerank::{Groups, Labels};

use super::batches::{BatchParser, BatchSink, FastPathCache};
use super::options::ReadOptions;
use super::parallel::ChunkReport;
use super::progress::Progress;
use super::rows::RowSink;
use super::source::Sources;
use super::split_groups::SplitGroups;
use crate::columns::{Layout, Role};
use crate::error::{Error, Problem, Result};
use crate::parse::{Cells, OutcomeCache, ParsedRow};

/// The votes of a study and how many of them are flagged.
#[derive(Debug, Clone, Copy)]
pub struct StudyFlags<'a> {
    /// The value of the `by` column, if there is one.
    pub by: Option<&'a str>,
    /// The items.
    pub items: &'a Labels,
    /// The distinct votes.
    pub groups: &'a Groups,
    /// Number of flagged votes of each group.
    pub flagged: &'a [f64],
    /// The crowd, if votes are judged by their annotators: then it decides which rows are flagged.
    pub crowd: Option<JudgedCrowd<'a>>,
}

/// A crowd and the names of its annotators.
#[derive(Debug, Clone, Copy)]
pub struct JudgedCrowd<'a> {
    /// The crowd.
    pub flags: &'a CrowdFlags,
    /// The annotators.
    pub annotators: &'a Labels,
}

impl JudgedCrowd<'_> {
    /// The probability that a vote is bad.
    fn bad_probability(&self, annotator: &[u8], items: (u32, u32), y: f64) -> f64 {
        let crowd = &self.flags.crowd;
        let position = self.annotators.get(annotator).and_then(|id| crowd.position(id));
        crowd.bad_probability(position, items, y)
    }
}

/// A row of the input with its group.
#[derive(Debug, Clone, Copy)]
pub struct VoteRow<'a> {
    /// The index of its study.
    pub study: usize,
    /// The index of its group; `None` if `count` is 0.
    pub group: Option<usize>,
    /// The item on the left, as in the input: an index into the study's items.
    pub left: u32,
    /// The item on the right.
    pub right: u32,
    /// How much `left` is preferred to `right`.
    pub y: f64,
    /// How many times the vote was cast.
    pub count: u64,
    /// The annotator; empty if unknown.
    pub annotator: &'a str,
    /// Whether the row is flagged.
    pub flagged: bool,
    /// The probability that the vote is bad, if votes are judged by their annotators.
    pub probability: Option<f64>,
}

impl StudyFlags<'_> {
    /// Flagged votes of each group whose rows are still to be found; none where a crowd decides.
    pub(super) fn flagged_by_group(&self) -> Vec<f64> {
        match self.crowd {
            Some(_) => vec![0.0; self.flagged.len()],
            None => self.flagged.to_vec(),
        }
    }
}

/// Counts of the second pass.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SecondPass {
    /// Number of rejected rows, as in the first pass.
    pub rejected: u64,
    /// Number of flagged votes in rows that were kept because they also have trusted votes.
    pub kept_whole: f64,
}

/// The result of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowStatus {
    Kept,
    Flagged,
    Rejected,
}

/// Receives rows with their groups.
pub(crate) trait RowVisitor: Send {
    /// Whether whole rows are needed ([`RowSink::WHOLE_ROWS`]).
    const WHOLE_ROWS: bool;

    /// Receives a row; `text` is empty for batches, and can be empty unless whole rows are needed.
    fn vote(&mut self, vote: &VoteRow<'_>, text: &[u8]) -> Result<()>;

    /// Receives a blank line of a text file.
    fn blank(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Receives a batch after its rows, with the status of each.
    fn batch(&mut self, batch: &RecordBatch, statuses: &[RowStatus]) -> Result<()>;
}

/// Reads the sources again and calls `each` for every row that is a vote.
///
/// # Errors
/// If a file cannot be read or has changed, or if `each` fails.
pub fn second_pass(
    sources: &Sources,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    studies: &[StudyFlags<'_>],
    each: impl FnMut(&VoteRow<'_>) -> Result<()> + Send,
) -> Result<SecondPass> {
    visit_rows(sources, options, progress, studies, &mut VoteCallback(each))
}

/// A visitor that needs votes only.
struct VoteCallback<F>(F);

impl<F: FnMut(&VoteRow<'_>) -> Result<()> + Send> RowVisitor for VoteCallback<F> {
    const WHOLE_ROWS: bool = false;

    fn vote(&mut self, vote: &VoteRow<'_>, _: &[u8]) -> Result<()> {
        (self.0)(vote)
    }

    fn batch(&mut self, _: &RecordBatch, _: &[RowStatus]) -> Result<()> {
        Ok(())
    }
}

/// Reads the sources again and passes every row to `visitor`.
pub(crate) fn visit_rows<V: RowVisitor>(
    sources: &Sources,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    studies: &[StudyFlags<'_>],
    visitor: &mut V,
) -> Result<SecondPass> {
    let mut split_groups = SplitGroups::default();
    if SplitGroups::exist(studies) {
        let mut count = VoteCallback(|row: &VoteRow<'_>| {
            split_groups.record(studies, row);
            Ok(())
        });
        let mut sinks = [RowMatcher::new(studies, SplitGroups::default(), &mut count)];
        sources.read_rows(options, &Arc::new(Progress::default()), &mut sinks)?;
        split_groups.allot(studies);
    }
    let mut sinks = [RowMatcher::new(studies, split_groups, visitor)];
    let (rejected, _) = sources.read_rows(options, progress, &mut sinks)?;
    let [matcher] = sinks;
    let kept_whole = matcher.to_flag.iter().flatten().sum();
    Ok(SecondPass { rejected: rejected.total, kept_whole })
}

/// Finds the group of each row.
struct RowMatcher<'a, V> {
    studies: &'a [StudyFlags<'a>],
    /// The `by` values of the studies, with the same indices.
    by: Labels,
    /// For each study and group, the number of votes that remain to be flagged.
    to_flag: Vec<Vec<f64>>,
    split_groups: SplitGroups,
    visitor: &'a mut V,
    outcome_cache: OutcomeCache,
    /// The rows of the current batch.
    statuses: Vec<RowStatus>,
    failed: Option<Error>,
}

impl<'a, V: RowVisitor> RowMatcher<'a, V> {
    fn new(studies: &'a [StudyFlags<'a>], split_groups: SplitGroups, visitor: &'a mut V) -> Self {
        Self {
            studies,
            by: studies.iter().map(|study| study.by.unwrap_or("")).collect(),
            to_flag: studies.iter().map(StudyFlags::flagged_by_group).collect(),
            split_groups,
            visitor,
            outcome_cache: OutcomeCache::default(),
            statuses: Vec::new(),
            failed: None,
        }
    }

    /// Finds a row's group; `None` if the first pass did not see its study, items or outcome.
    fn find<'c>(&mut self, row: &ParsedRow<'c>, cells: &Cells<'c>) -> Option<VoteRow<'c>> {
        let study = self.by.get(cells[Role::By as usize])? as usize;
        let flags = &self.studies[study];
        let (left, right) = (flags.items.get(row.left)?, flags.items.get(row.right)?);
        let annotator = std::str::from_utf8(cells[Role::Annotator as usize]).unwrap_or("");
        let mut flagged = false;
        let mut group = None;
        let judge = |crowd: JudgedCrowd<'_>| {
            crowd.bad_probability(cells[Role::Annotator as usize], (left, right), row.y)
        };
        let probability = flags.crowd.map(judge);
        if row.count > 0 {
            let found = flags.groups.find(left, right, row.y)?;
            group = Some(found);
            let to_flag = &mut self.to_flag[study][found];
            flagged = self
                .split_groups
                .take((study, found), annotator, row.count)
                .unwrap_or(row.count as f64 <= *to_flag);
            if flagged {
                *to_flag -= row.count as f64;
            }
        }
        let (y, count) = (row.y, row.count);
        if let (Some(crowd), Some(probability)) = (flags.crowd, probability) {
            flagged = count > 0 && probability > crowd.flags.threshold;
        }
        Some(VoteRow { study, group, left, right, y, count, annotator, flagged, probability })
    }

    fn take_failure(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

impl<V: RowVisitor> RowSink for RowMatcher<'_, V> {
    const WHOLE_ROWS: bool = V::WHOLE_ROWS;

    fn row(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        text: &[u8],
    ) -> Result<(), (Role, Problem)> {
        let row = ParsedRow::new(layout, cells, &mut self.outcome_cache)?;
        if self.failed.is_some() {
            return Ok(());
        }
        let done = match self.find(&row, cells) {
            Some(vote) => {
                self.statuses.push(if vote.flagged { RowStatus::Flagged } else { RowStatus::Kept });
                self.visitor.vote(&vote, text)
            }
            // The file's name is added where it is known.
            None => Err(Error::Changed {
                file: "the input".into(),
                difference: "it has a vote that it did not have at first".to_owned(),
            }),
        };
        self.failed = done.err();
        Ok(())
    }

    fn blank(&mut self, line: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.visitor.blank(line).err();
        }
    }

    fn end_text_chunk(&mut self) -> Result<()> {
        self.statuses.clear();
        self.take_failure()
    }
}

impl<V: RowVisitor> BatchSink for RowMatcher<'_, V> {
    fn batch(
        &mut self,
        parser: &BatchParser,
        batch: &RecordBatch,
        _: &mut FastPathCache,
        report: &mut ChunkReport,
    ) -> Result<()> {
        self.statuses.clear();
        parser
            .each_row(batch, self, report, |matcher| matcher.statuses.push(RowStatus::Rejected))?;
        self.take_failure()?;
        self.visitor.batch(batch, &self.statuses)
    }
}
