//! Builds a path, knot by knot.

use std::sync::Arc;

use super::event::{Change, Event};
use super::parameter::{Interpolation, Parameter, StopAt};
use super::snapshots::Snapshots;
use super::{Path, SNAPSHOT_BYTES};
use crate::communicator::{Communicator, SingleProcess, StateReader, StateWriter};
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::status::Status;

/// Builds a [`Path`] while a solver computes it.
#[derive(Debug, Clone)]
pub struct Recorder {
    path: Path,
    /// One of the three constants below for each group.
    flags: Vec<u8>,
    communicator: Arc<dyn Communicator>,
    /// Votes of this process that have been flagged.
    local_ever_flagged_votes: f64,
    /// Votes of all processes that have been flagged.
    ever_flagged_votes: f64,
}

const NEVER_FLAGGED: u8 = 0;
const FLAGGED: u8 = 1;
const TRUSTED_AGAIN: u8 = 2;

impl Recorder {
    /// Creates a recorder for a path on `graph`, starting at `start`. If several processes share
    /// the votes, each records the events of its own groups and only a few snapshots.
    pub(crate) fn for_graph(
        graph: &ComparisonGraph,
        parameter: Parameter,
        interpolation: Interpolation,
        start: f64,
        scores: &[f64],
    ) -> Self {
        let communicator = graph.communicator_handle();
        let bytes = if communicator.is_single_process() { SNAPSHOT_BYTES } else { 0 };
        let recorder = Self::with_budget(parameter, interpolation, start, scores, bytes);
        Self { communicator, ..recorder }
    }

    /// Creates a recorder for a path that starts at `start` with no vote flagged.
    #[must_use]
    pub fn new(
        parameter: Parameter,
        interpolation: Interpolation,
        start: f64,
        scores: &[f64],
    ) -> Self {
        Self::with_budget(parameter, interpolation, start, scores, SNAPSHOT_BYTES)
    }

    /// As [`Recorder::new`], with `bytes` of memory for snapshots instead of [`SNAPSHOT_BYTES`].
    #[must_use]
    pub fn with_budget(
        parameter: Parameter,
        interpolation: Interpolation,
        start: f64,
        scores: &[f64],
        bytes: usize,
    ) -> Self {
        let mut snapshots = Snapshots::new(scores.len(), bytes);
        snapshots.push(0, scores);
        let path = Path {
            parameter,
            interpolation,
            knots: vec![start],
            events: Vec::new(),
            status: Status::Complete,
            snapshots,
        };
        let (flags, communicator): (_, Arc<dyn Communicator>) =
            (Vec::new(), Arc::new(SingleProcess));
        Self { path, flags, local_ever_flagged_votes: 0.0, communicator, ever_flagged_votes: 0.0 }
    }

    /// Records a knot at λ or t = `value`: the scores there and the groups that enter or leave.
    pub fn record_knot(
        &mut self,
        value: f64,
        scores: &[f64],
        changes: impl IntoIterator<Item = (u32, Change)>,
        groups: &Groups,
    ) {
        let knot = self.path.knots.len() as u32;
        self.path.knots.push(value);
        self.path.snapshots.push(knot, scores);
        let changes = changes.into_iter();
        self.path.events.reserve(changes.size_hint().0);
        for (group, change) in changes {
            self.record_event(Event { knot, group, change }, groups);
        }
        self.ever_flagged_votes = self.communicator.sum_scalar(self.local_ever_flagged_votes);
    }

    fn record_event(&mut self, event: Event, groups: &Groups) {
        self.flags.resize(groups.len(), NEVER_FLAGGED);
        let flag = &mut self.flags[event.group as usize];
        match event.change {
            Change::Entered(_) => {
                debug_assert!(*flag != FLAGGED, "a flagged group enters");
                if *flag == NEVER_FLAGGED {
                    self.local_ever_flagged_votes += groups.weight[event.group as usize];
                }
                *flag = FLAGGED;
            }
            Change::Left => {
                debug_assert!(*flag == FLAGGED, "a trusted group leaves");
                *flag = TRUSTED_AGAIN;
            }
        }
        self.path.events.push(event);
    }

    /// Replaces the scores of the last knot by more precise ones.
    pub(crate) fn replace_last_scores(&mut self, scores: &[f64]) {
        let last = self.path.snapshots.knots.len() - 1;
        let span = self.path.snapshots.span(last);
        self.path.snapshots.values[span].copy_from_slice(scores);
    }

    /// Whether the last knot is at or past the requested end of the path.
    #[must_use]
    pub fn reached(&self, stop: StopAt) -> bool {
        match stop {
            StopAt::End => false,
            StopAt::Value(value) => {
                let last = self.path.knots[self.path.knots.len() - 1];
                !self.path.parameter.precedes(last, value)
            }
            StopAt::Flagged(votes) | StopAt::FlaggedOrEnd(votes) => {
                self.ever_flagged_votes >= votes
            }
        }
    }

    /// Returns the number of votes flagged so far, including those that are trusted again.
    #[must_use]
    pub fn ever_flagged_votes(&self) -> f64 {
        self.ever_flagged_votes
    }

    /// Whether a group is flagged at the last knot.
    #[must_use]
    pub fn is_flagged(&self, group: u32) -> bool {
        self.flags.get(group as usize) == Some(&FLAGGED)
    }

    /// Saves the path so far to a checkpoint.
    pub(crate) fn save(&self, state: &mut StateWriter) {
        let Path { knots, events, snapshots, .. } = &self.path;
        state.numbers(knots.iter());
        let column = |field: fn(&Event) -> u32| events.iter().map(field).collect::<Vec<_>>();
        state.indices(&column(|event| event.knot));
        state.indices(&column(|event| event.group));
        // Residuals are finite, so infinity can encode a group that left.
        let residual = |event: &Event| match event.change {
            Change::Entered(residual) => residual,
            Change::Left => f64::INFINITY,
        };
        state.numbers(events.iter().map(residual).collect::<Vec<_>>().iter());
        state.count(u64::from(snapshots.stride));
        state.indices(&snapshots.knots);
        state.numbers(snapshots.values.iter());
    }

    /// Restores a path on the same graph from a checkpoint.
    pub(crate) fn restore(&mut self, state: &mut StateReader<'_>, groups: &Groups) -> Result<()> {
        self.path.knots = state.numbers()?;
        let (knots, event_groups, residuals) =
            (state.indices()?, state.indices()?, state.numbers()?);
        self.path.snapshots.stride = state.count()? as u32;
        self.path.snapshots.knots = state.indices()?;
        self.path.snapshots.values = state.numbers()?;
        self.path.events.clear();
        for ((knot, group), residual) in knots.into_iter().zip(event_groups).zip(residuals) {
            let change =
                if residual == f64::INFINITY { Change::Left } else { Change::Entered(residual) };
            self.record_event(Event { knot, group, change }, groups);
        }
        self.ever_flagged_votes = self.communicator.sum_scalar(self.local_ever_flagged_votes);
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn path_so_far(&self) -> &Path {
        &self.path
    }

    /// Returns the finished path. A path that ended before a requested λ, time or number of flagged
    /// votes is not complete, whatever the solver says.
    #[must_use]
    pub fn finish(mut self, status: Status, stop: StopAt) -> Path {
        let is_required = matches!(stop, StopAt::Value(_) | StopAt::Flagged(_));
        let fell_short = status == Status::Complete && is_required && !self.reached(stop);
        self.path.status = if fell_short { Status::NotReached } else { status };
        self.path
    }
}
