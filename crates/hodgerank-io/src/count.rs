//! Votes counted while rows are read, one counter per thread.

mod annotated;
mod queue;

use std::sync::Arc;

use hodgerank::{Labels, SideTally, Study, Tally, natural_order};

use annotated::AnnotatedVotes;
pub(crate) use annotated::NO_ANNOTATOR;
use queue::{QueuedVote, VoteQueue};

use crate::columns::{Layout, PossibleCodes, Role};
use crate::error::{Problem, Result};
use crate::excluded::{ExcludedAnnotators, ExclusionCounter};
use crate::labels::trimmed;
use crate::parse::{Cells, Interpretation, OutcomeCache, Row, RowFate, could_be_outcome};
use crate::study::{Input, OutcomesSeen, PassedOver, Rejected};
use crate::table_head::TableHead;

/// The votes that one thread has counted.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    by: Labels,
    studies: Vec<StudyCounts>,
    /// The study of the empty `by` value: the only study if there is no `by` column.
    unnamed: Option<usize>,
    outcomes: OutcomesSeen,
    outcome_cache: OutcomeCache,
    /// Number of items whose names are also outcomes ([`could_be_outcome`]).
    outcome_like_items: usize,
    /// Whether to keep every vote with its annotator.
    keeps_votes: bool,
    /// Whether to count votes by side.
    counts_sides: bool,
    /// Whose votes are not counted.
    excluded: Option<ExclusionCounter>,
    /// Votes whose items have not been looked up yet.
    queue: VoteQueue,
}

/// The votes of one study that one thread has counted.
#[derive(Debug, Default)]
struct StudyCounts {
    items: Labels,
    tally: Tally,
    annotators: Labels,
    rows: u64,
    /// Every vote with its annotator, if they are kept.
    votes: Option<AnnotatedVotes>,
    /// If they are kept, the votes of tables without annotators: they are counted only, because most
    /// inputs have such tables alone, and keeping every vote would take memory for nothing.
    unannotated: Tally,
    /// The votes by side, if they are counted: of tables with sides, and without annotators if all other
    /// votes are kept.
    sides: Option<SideTally>,
}

impl Counter {
    pub(crate) fn new(
        keeps_votes: bool,
        counts_sides: bool,
        excluded: Option<&Arc<ExcludedAnnotators>>,
    ) -> Self {
        let excluded = excluded.map(ExclusionCounter::new);
        Self { keeps_votes, counts_sides, excluded, ..Self::default() }
    }

    /// Counts a row, or returns the role of a bad cell and its problem. If `can_wait`, its items may be
    /// looked up later, at the latest by [`Counter::flush`].
    #[inline]
    pub(crate) fn count(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        can_wait: bool,
    ) -> Result<RowFate, (Role, Problem)> {
        let cell = |role: Role| cells[role as usize];
        if let Some(excluded) = &mut self.excluded
            && let Some(fate) = excluded.take(layout, cells)?
        {
            return Ok(fate);
        }
        let row = match Row::read(layout, cells, &mut self.outcome_cache)? {
            Row::Vote(row) => row,
            Row::PassedOver(fate) => return Ok(fate),
        };
        if let Some(interpretation) = row.interpretation {
            if !row.is_repeated {
                self.note(interpretation, cell(Role::Outcome));
            }
            if self.watches_codes(layout) {
                self.outcomes.codes.note(layout, cell(Role::Outcome), &row);
            }
        }
        let study = self.study(&row.study);
        if can_wait
            && self.studies[study].items.len() >= queue::MIN_ITEMS
            && !layout.has(Role::Annotator)
            && let Some(vote) = QueuedVote::new(study, &row, layout.has(Role::Outcome))
        {
            if self.queue.push(vote) {
                self.flush();
            }
            return Ok(RowFate::Counted);
        }
        let left = self.item(study, row.left);
        let right = self.item(study, row.right);
        let annotator = layout.has(Role::Annotator).then_some(row.annotator);
        let has_sides = layout.has(Role::Outcome);
        self.studies[study].add(left, right, row.y, row.count, annotator, has_sides);
        Ok(RowFate::Counted)
    }

    /// Counts the votes in the queue. Look-ups come first, so that their cache misses overlap.
    #[inline(never)]
    pub(crate) fn flush(&mut self) {
        let mut queue = std::mem::take(&mut self.queue);
        queue.look_up(|study| &self.studies[study].items);
        for (vote, [left, right]) in queue.drain() {
            let study = vote.study as usize;
            let [left, right] = [(left, &vote.left), (right, &vote.right)]
                .map(|(id, key)| id.unwrap_or_else(|| self.item(study, &key.to_bytes())));
            self.studies[study].add(left, right, vote.y, vote.count, None, vote.has_sides);
        }
        self.queue = queue;
    }

    /// The index of a `by` value's study; the value is empty if there is no `by` column.
    fn study(&mut self, by: &[u8]) -> usize {
        if let Some(study) = self.unnamed
            && by.is_empty()
        {
            return study;
        }
        let study = intern(&mut self.by, by) as usize;
        if study == self.studies.len() {
            let votes = self.keeps_votes.then(AnnotatedVotes::default);
            let sides = self.counts_sides.then(SideTally::new);
            self.studies.push(StudyCounts { votes, sides, ..StudyCounts::default() });
        }
        if by.is_empty() {
            self.unnamed = Some(study);
        }
        study
    }

    #[inline]
    fn item(&mut self, study: usize, name: &[u8]) -> u32 {
        let items = &mut self.studies[study].items;
        if let Some(id) = items.get(name) {
            return id;
        }
        if could_be_outcome(name) {
            self.outcome_like_items += 1;
        }
        intern(items, name)
    }

    #[inline]
    fn note(&mut self, interpretation: Interpretation, text: &[u8]) {
        let noted = match interpretation {
            Interpretation::AmbiguousLabel => &mut self.outcomes.ambiguous_label,
            Interpretation::WordOrNumber => &mut self.outcomes.plain,
            Interpretation::Label | Interpretation::Tie => return,
        };
        // The smallest, so that the message does not depend on how threads share the rows.
        if noted.as_ref().is_none_or(|known| text < known.as_bytes()) {
            *noted = Some(String::from_utf8_lossy(text).into_owned());
        }
    }

    /// Whether every outcome must be seen, because the numbers could still be codes for the sides.
    #[inline]
    pub(crate) fn watches_codes(&self, layout: &Layout) -> bool {
        layout.possible_codes != PossibleCodes::None && !self.outcomes.codes.is_settled()
    }

    /// The index of an item; only for input without a `by` column.
    #[inline]
    pub(crate) fn item_id(&self, name: &[u8]) -> Option<u32> {
        self.studies.first()?.items.get(trimmed(name))
    }

    /// The index of an annotator who was already counted, [`NO_ANNOTATOR`] for an empty name; only for
    /// input without a `by` column.
    #[inline]
    pub(crate) fn annotator_id(&self, name: &[u8]) -> Option<u32> {
        let name = trimmed(name);
        if name.is_empty() {
            return Some(NO_ANNOTATOR);
        }
        self.studies.first()?.annotators.get(name)
    }

    /// Number of items whose names are also outcomes; grows as rows are counted.
    pub(crate) fn outcome_like_items(&self) -> usize {
        self.outcome_like_items
    }

    /// Counts one vote on known items by a known annotator, none if the table has no annotators; only
    /// for input without a `by` column. `has_sides` says whether items of the table have sides.
    #[inline]
    pub(crate) fn count_by_id(
        &mut self,
        (left, right, y): (u32, u32, f64),
        annotator: Option<u32>,
        has_sides: bool,
    ) {
        let study = &mut self.studies[0];
        study.rows += 1;
        study.add_vote(left, right, y, 1, annotator, has_sides);
    }

    /// Bytes of memory that the counts take, approximately.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let study = |study: &StudyCounts| {
            study.items.memory_bytes()
                + study.annotators.memory_bytes()
                + study.tally.memory_bytes()
                + study.unannotated.memory_bytes()
                + study.sides.as_ref().map_or(0, SideTally::memory_bytes)
                + study.votes.as_ref().map_or(0, AnnotatedVotes::memory_bytes)
        };
        self.studies.iter().map(study).sum::<usize>() as u64
    }

    /// Merges the counts of all threads. The result does not depend on how threads shared the rows.
    pub(crate) fn finish(
        mut counters: Vec<Self>,
        has_by: bool,
        (rejected, passed_over): (Rejected, PassedOver),
        tables: Vec<TableHead>,
    ) -> Input {
        counters.iter_mut().for_each(Self::flush);
        let mut outcomes = OutcomesSeen::default();
        counters.iter().for_each(|counter| outcomes.merge(&counter.outcomes));
        let is_excluding = counters.iter().any(|counter| counter.excluded.is_some());
        let excluded = ExclusionCounter::merge(
            counters.iter().filter_map(|counter| counter.excluded.as_ref()),
        );
        let mut values = Labels::new();
        let mut parts: Vec<Vec<StudyCounts>> = Vec::new();
        for counter in counters {
            for (name, counted) in counter.by.iter().zip(counter.studies) {
                let study = values.intern(name) as usize;
                if study == parts.len() {
                    parts.push(Vec::new());
                }
                parts[study].push(counted);
            }
        }
        // Winner and loser do not say which item was on the left.
        let has_sides = tables.iter().all(|table| table.has_sides);
        let mut studies: Vec<Study> = values
            .iter()
            .zip(parts)
            .map(|(by, parts)| StudyCounts::merge(parts, has_by.then(|| by.to_owned()), has_sides))
            .collect();
        studies.sort_by(|a, b| {
            natural_order(a.by.as_deref().unwrap_or(""), b.by.as_deref().unwrap_or(""))
        });
        let excluded = is_excluding.then_some(excluded);
        let excluded_items = None;
        Input { studies, rejected, passed_over, excluded, excluded_items, tables, outcomes }
    }
}

impl StudyCounts {
    #[inline]
    fn add(
        &mut self,
        left: u32,
        right: u32,
        y: f64,
        count: u64,
        annotator: Option<&[u8]>,
        has_sides: bool,
    ) {
        self.rows += 1;
        let annotator = annotator.map(|name| match name.is_empty() {
            true => NO_ANNOTATOR,
            false => intern(&mut self.annotators, name),
        });
        self.add_vote(left, right, y, count, annotator, has_sides);
    }

    #[inline]
    fn add_vote(
        &mut self,
        left: u32,
        right: u32,
        y: f64,
        count: u64,
        annotator: Option<u32>,
        has_sides: bool,
    ) {
        match (&mut self.votes, annotator) {
            (None, _) => self.tally.add(left, right, y, count),
            (Some(_), None) => self.unannotated.add(left, right, y, count),
            (Some(votes), Some(annotator)) => {
                self.tally.add(left, right, y, count);
                votes.add(annotator, left, right, y, count);
                // Their sides are kept with them.
                return;
            }
        }
        if self.sides.is_some() && has_sides {
            self.add_side(left, right, y, count);
        }
    }

    /// Not inlined: methods that do not use sides would read more slowly.
    #[inline(never)]
    fn add_side(&mut self, left: u32, right: u32, y: f64, count: u64) {
        if let Some(sides) = &mut self.sides {
            sides.add(left, right, y, count);
        }
    }

    fn merge(mut parts: Vec<Self>, by: Option<String>, has_sides: bool) -> Study {
        let sets = parts.iter_mut().map(|part| std::mem::take(&mut part.items)).collect();
        let (items, mut new_ids) = Labels::merge_sorted(sets);
        let mut annotators: Labels = parts.iter().flat_map(|part| part.annotators.iter()).collect();
        let rows = parts.iter().map(|part| part.rows).sum();
        let votes = parts.iter().flat_map(|part| [part.tally.votes(), part.unannotated.votes()]);
        let comparisons = votes.fold(0, u64::saturating_add);
        let mut annotator_votes = None;
        if parts.iter().any(|part| part.votes.as_ref().is_some_and(|votes| !votes.is_empty())) {
            // Votes are in the order of annotators, which must not depend on that of rows.
            let sets = parts.iter_mut().map(|part| std::mem::take(&mut part.annotators)).collect();
            let mut new_annotators;
            (annotators, new_annotators) = Labels::merge_sorted(sets);
            let mut votes: Vec<AnnotatedVotes> =
                parts.iter_mut().map(|part| part.votes.take().unwrap_or_default()).collect();
            if parts.iter().any(|part| part.unannotated.votes() > 0) {
                // The votes that were kept are counted with the others.
                for (part, votes) in parts.iter_mut().zip(&votes) {
                    part.sides.iter_mut().for_each(|sides| votes.count_sides(sides));
                }
                let unannotated =
                    parts.iter_mut().map(|part| std::mem::take(&mut part.unannotated)).collect();
                let groups = Tally::finish(unannotated, &new_ids);
                // Their items have the final indices already.
                new_ids.push((0..items.len() as u32).collect());
                new_annotators.push(Vec::new());
                votes.push(AnnotatedVotes::unknown(&groups));
                parts.push(Self { tally: Tally::from(&groups), ..Self::default() });
            } else {
                parts.iter_mut().for_each(|part| part.sides = None);
            }
            let number = annotators.len();
            let merged = AnnotatedVotes::merge(votes, &new_ids, &new_annotators, number, has_sides);
            annotator_votes = Some(merged);
        }
        let sides = parts.iter_mut().map(|part| part.sides.take()).zip(&new_ids);
        let (sides, side_ids): (Vec<SideTally>, Vec<Vec<u32>>) =
            sides.filter_map(|(sides, ids)| Some((sides?, ids.clone()))).unzip();
        let has_sides = has_sides && !sides.is_empty();
        let sides = has_sides.then(|| SideTally::finish(sides, &side_ids));
        let tallies = parts.into_iter().flat_map(|part| [part.tally, part.unannotated]);
        let ids = new_ids.into_iter().flat_map(|ids| [ids.clone(), ids]);
        let (tallies, new_ids): (Vec<Tally>, Vec<Vec<u32>>) =
            tallies.zip(ids).filter(|(tally, _)| tally.votes() > 0).unzip();
        let groups = Tally::finish(tallies, &new_ids);
        Study { by, items, groups, rows, comparisons, annotators, annotator_votes, sides }
    }
}

/// The index of a name; adds the name if it is new.
#[inline]
fn intern(labels: &mut Labels, name: &[u8]) -> u32 {
    // Readers pass valid UTF-8 only, so the conversion is exact.
    labels.get(name).unwrap_or_else(|| labels.intern(&String::from_utf8_lossy(name)))
}
