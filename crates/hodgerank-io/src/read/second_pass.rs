//! The second pass: reads every row again, in the order of the files, and looks up its distinct vote.
//! Memory does not grow with the number of rows.
//!
//! A method can flag a part of a group. Then another pass counts the rows of such groups first, to
//! select those that are flagged (`split_groups.rs`). A row with a count is flagged completely or not
//! at all: if it has more votes than remain to be flagged, it is kept.

use std::sync::Arc;

use arrow_array::RecordBatch;
use hodgerank::fit::CrowdFlags;
use hodgerank::{FlagReason, Groups, Labels};

use super::batches::{BatchParser, BatchSink, FastPathCache};
use super::options::ReadOptions;
use super::parallel::ChunkReport;
use super::progress::Progress;
use super::rows::{RawRow, RowSink};
use super::source::Sources;
use super::split_groups::SplitGroups;
use crate::columns::{Layout, Role};
use crate::error::{Error, Problem, Result};
use crate::excluded::ExcludedAnnotators;
use crate::parse::{Cells, OutcomeCache, ParsedRow, Row, RowFate};
use crate::study::PassedOver;

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
    /// Why votes of each group are flagged, if it is known; not used where a crowd decides.
    pub reasons: Option<&'a [FlagReason]>,
    /// The probability that a vote of each group is bad, if the method estimates it.
    pub probability: Option<&'a [f64]>,
    /// Items that were left out after the first pass: rows on them are passed over.
    pub excluded_items: Option<&'a Labels>,
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
    /// The position of an annotator among those that the crowd knows enough about.
    fn position(&self, annotator: &[u8]) -> Option<usize> {
        self.annotators.get(annotator).and_then(|id| self.flags.crowd.position(id))
    }

    /// Why a vote is flagged that is bad with this probability.
    fn reason(&self, position: Option<usize>, probability: f64) -> FlagReason {
        let class = position.map(|position| self.flags.crowd.annotators[position].class);
        let of_class = class.and_then(FlagReason::of_class);
        of_class.unwrap_or_else(|| FlagReason::of_probability(probability))
    }
}

/// A row of the input with its group.
#[derive(Debug, Clone, Copy)]
pub struct VoteRow<'a> {
    /// The index of its source: the file or table.
    pub source: usize,
    /// The number of the row in its file, from 1, without the header and blank lines.
    pub row: u64,
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
    /// Why it is flagged, if it is and the reason is known.
    pub reason: Option<FlagReason>,
    /// The probability that the vote is bad, if the method estimates it.
    pub probability: Option<f64>,
}

/// A row of an excluded annotator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExcludedRow {
    /// The index of its source.
    pub(crate) source: usize,
    /// The number of the row, as [`VoteRow::row`].
    pub(crate) row: u64,
    /// How many times the vote was cast.
    pub(crate) count: u64,
    /// Why the annotator is excluded.
    pub(crate) reason: FlagReason,
}

impl<'a> StudyFlags<'a> {
    /// The only study, whose votes are flagged for no known reason.
    #[must_use]
    pub fn new(items: &'a Labels, groups: &'a Groups, flagged: &'a [f64]) -> Self {
        Self {
            by: None,
            items,
            groups,
            flagged,
            reasons: None,
            probability: None,
            excluded_items: None,
            crowd: None,
        }
    }

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
    /// Rows that were passed over, as in the first pass.
    pub passed_over: PassedOver,
    /// Number of flagged votes in rows that were kept because they also have trusted votes.
    pub kept_whole: f64,
}

/// The result of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowStatus {
    Kept,
    /// Flagged, or by an excluded annotator.
    Flagged,
    /// Rejected, ignored or filtered.
    PassedOver,
}

/// Receives rows with their groups.
pub(crate) trait RowVisitor: Send {
    /// Whether whole rows are needed ([`RowSink::WHOLE_ROWS`]).
    const WHOLE_ROWS: bool;

    /// Receives a row.
    fn vote(&mut self, vote: &VoteRow<'_>, raw: RawRow<'_>) -> Result<()>;

    /// Receives a row of an excluded annotator.
    fn excluded(&mut self, _: &ExcludedRow, _: RawRow<'_>) -> Result<()> {
        Ok(())
    }

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

    fn vote(&mut self, vote: &VoteRow<'_>, _: RawRow<'_>) -> Result<()> {
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
        let mut sinks = [RowMatcher::new(options, studies, SplitGroups::default(), &mut count)];
        sources.read_rows(options, &Arc::new(Progress::default()), &mut sinks)?;
        split_groups.allot(studies);
    }
    let mut sinks = [RowMatcher::new(options, studies, split_groups, visitor)];
    let ((rejected, passed_over), _) = sources.read_rows(options, progress, &mut sinks)?;
    let [matcher] = sinks;
    let kept_whole = matcher.to_flag.iter().flatten().sum();
    Ok(SecondPass { rejected: rejected.total, passed_over, kept_whole })
}

/// Finds the group of each row.
struct RowMatcher<'a, V> {
    excluded: Option<&'a ExcludedAnnotators>,
    /// Sources that have been started.
    started: usize,
    /// Rows of the current source before the current chunk or batch.
    rows_before: u64,
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
    fn new(
        options: &'a ReadOptions,
        studies: &'a [StudyFlags<'a>],
        split_groups: SplitGroups,
        visitor: &'a mut V,
    ) -> Self {
        Self {
            excluded: options.excluded.as_deref(),
            started: 0,
            rows_before: 0,
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
    fn find<'c>(&mut self, row: &ParsedRow<'c>, raw: &RawRow<'_>) -> Option<VoteRow<'c>> {
        let study = self.by.get(&row.study)? as usize;
        let flags = &self.studies[study];
        let (left, right) = (flags.items.get(row.left)?, flags.items.get(row.right)?);
        let annotator = std::str::from_utf8(row.annotator).unwrap_or("");
        let mut flagged = false;
        let mut group = None;
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
        let of_group = |values: Option<&[f64]>| Some(values?[group?]);
        let mut probability = of_group(flags.probability);
        let of_group_reason = |reasons: &[FlagReason]| reasons.get(group?).copied();
        let mut reason = flags.reasons.and_then(of_group_reason);
        if let Some(crowd) = flags.crowd {
            let position = crowd.position(row.annotator);
            let bad = crowd.flags.crowd.bad_probability(position, (left, right), y);
            flagged = count > 0 && bad > crowd.flags.threshold;
            (probability, reason) = (Some(bad), Some(crowd.reason(position, bad)));
        }
        let (source, number) = self.place(raw);
        Some(VoteRow {
            source,
            row: number,
            study,
            group,
            left,
            right,
            y,
            count,
            annotator,
            flagged,
            reason: reason.filter(|_| flagged),
            probability,
        })
    }

    fn is_on_excluded_item(&self, row: &ParsedRow<'_>) -> bool {
        let study = self.by.get(&row.study);
        let excluded = study.and_then(|study| self.studies[study as usize].excluded_items);
        let is_excluded = |item| excluded.is_some_and(|items| items.get(item).is_some());
        is_excluded(row.left) || is_excluded(row.right)
    }

    /// The index of the source, and the number of the row in it.
    fn place(&self, raw: &RawRow<'_>) -> (usize, u64) {
        (self.started.saturating_sub(1), self.rows_before + raw.number)
    }

    fn visit(&mut self, row: &ParsedRow<'_>, raw: RawRow<'_>) -> Result<()> {
        let excluded = self.excluded.and_then(|of| of.reason(row.annotator));
        if let Some(reason) = excluded {
            let (source, number) = self.place(&raw);
            self.statuses.push(RowStatus::Flagged);
            let row = ExcludedRow { source, row: number, count: row.count, reason };
            return self.visitor.excluded(&row, raw);
        }
        if self.is_on_excluded_item(row) {
            self.statuses.push(RowStatus::Kept);
            return Ok(());
        }
        let Some(vote) = self.find(row, &raw) else {
            // The file's name is added where it is known.
            return Err(Error::Changed {
                file: "the input".into(),
                difference: "it has a vote that it did not have at first".to_owned(),
            });
        };
        self.statuses.push(if vote.flagged { RowStatus::Flagged } else { RowStatus::Kept });
        self.visitor.vote(&vote, raw)
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
        raw: RawRow<'_>,
    ) -> Result<RowFate, (Role, Problem)> {
        let row = match Row::read(layout, cells, &mut self.outcome_cache)? {
            Row::Vote(row) => row,
            Row::PassedOver(fate) => {
                self.statuses.push(RowStatus::PassedOver);
                return Ok(fate);
            }
        };
        if self.failed.is_none() {
            self.failed = self.visit(&row, raw).err();
        }
        Ok(RowFate::Counted)
    }

    fn blank(&mut self, line: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.visitor.blank(line).err();
        }
    }

    fn start_source(&mut self) {
        self.started += 1;
        self.rows_before = 0;
    }

    fn end_text_chunk(&mut self, rows: u64) -> Result<()> {
        self.statuses.clear();
        self.rows_before += rows;
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
        parser.each_row(batch, self, report, |matcher| {
            matcher.statuses.push(RowStatus::PassedOver);
        })?;
        self.rows_before += batch.num_rows() as u64;
        self.take_failure()?;
        self.visitor.batch(batch, &self.statuses)
    }

    fn skip_rows(&mut self, rows: u64) {
        self.rows_before += rows;
    }
}
