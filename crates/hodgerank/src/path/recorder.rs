//! How a path comes to be, knot by knot.

use std::sync::Arc;

use super::snapshots::Snapshots;
use super::{Change, Event, Interpolation, Parameter, Path, SNAPSHOT_BYTES, StopAt};
use crate::communicator::{Communicator, SingleProcess, StateReader, StateWriter};
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::status::Status;

/// Writes a path down as a solver walks along it.
#[derive(Debug, Clone)]
pub struct Recorder {
    path: Path,
    /// A byte for each group: one of the three below.
    flags: Vec<u8>,
    flagged_votes_here: f64,
    communicator: Arc<dyn Communicator>,
    /// The same with everyone.
    ever_flagged_votes: f64,
}

const NEVER_FLAGGED: u8 = 0;
const FLAGGED: u8 = 1;
const TRUSTED_AGAIN: u8 = 2;

impl Recorder {
    /// A path on `graph`. Where a team shares the votes, everyone records the changes of the groups
    /// that are with them, and hardly any scores but the last ones.
    pub(crate) fn on(
        graph: &ComparisonGraph,
        parameter: Parameter,
        between: Interpolation,
        start: f64,
        scores: &[f64],
    ) -> Self {
        let communicator = graph.communicator_handle();
        let room = if communicator.is_single_process() { SNAPSHOT_BYTES } else { 0 };
        let recorder = Self::with_budget(parameter, between, start, scores, room);
        Self { communicator, ..recorder }
    }

    /// A path that begins at `start` with the scores that trust every vote.
    #[must_use]
    pub fn new(parameter: Parameter, between: Interpolation, start: f64, scores: &[f64]) -> Self {
        Self::with_budget(parameter, between, start, scores, SNAPSHOT_BYTES)
    }

    /// The same with other room for snapshots than [`SNAPSHOT_BYTES`].
    #[must_use]
    pub fn with_budget(
        parameter: Parameter,
        between: Interpolation,
        start: f64,
        scores: &[f64],
        bytes: usize,
    ) -> Self {
        let mut snapshots = Snapshots::new(scores.len(), bytes);
        snapshots.push(0, scores);
        let path = Path {
            parameter,
            between,
            knots: vec![start],
            events: Vec::new(),
            status: Status::Complete,
            snapshots,
        };
        let (flags, communicator): (_, Arc<dyn Communicator>) =
            (Vec::new(), Arc::new(SingleProcess));
        Self { path, flags, flagged_votes_here: 0.0, communicator, ever_flagged_votes: 0.0 }
    }

    /// Passes a knot: λ or t, the scores there, and what changed. `groups` gives the votes.
    pub fn knot(
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
            self.record(Event { knot, group, change }, groups);
        }
        self.ever_flagged_votes = self.communicator.sum_scalar(self.flagged_votes_here);
    }

    fn record(&mut self, event: Event, groups: &Groups) {
        self.flags.resize(groups.len(), NEVER_FLAGGED);
        let flag = &mut self.flags[event.group as usize];
        match event.change {
            Change::Entered(_) => {
                debug_assert!(*flag != FLAGGED, "entered twice");
                if *flag == NEVER_FLAGGED {
                    self.flagged_votes_here += groups.weight[event.group as usize];
                }
                *flag = FLAGGED;
            }
            Change::Left => {
                debug_assert!(*flag == FLAGGED, "left without having entered");
                *flag = TRUSTED_AGAIN;
            }
        }
        self.path.events.push(event);
    }

    /// Better scores for the last knot.
    pub(crate) fn refine(&mut self, scores: &[f64]) {
        let last = self.path.snapshots.knots.len() - 1;
        let span = self.path.snapshots.span(last);
        self.path.snapshots.values[span].copy_from_slice(scores);
    }

    /// Whether the sweep has come to where it was to end. λ or t is that of the last knot.
    #[must_use]
    pub fn reached(&self, until: StopAt) -> bool {
        match until {
            StopAt::End => false,
            StopAt::Value(value) => {
                let last = self.path.knots[self.path.knots.len() - 1];
                !self.path.parameter.precedes(last, value)
            }
            StopAt::Flagged(votes) => self.ever_flagged_votes >= votes,
        }
    }

    /// Votes flagged so far, by groups that entered at some time, whether or not they left again.
    #[must_use]
    pub fn ever_flagged_votes(&self) -> f64 {
        self.ever_flagged_votes
    }

    /// Whether a group is flagged now.
    #[must_use]
    pub fn is_flagged(&self, group: u32) -> bool {
        self.flags.get(group as usize) == Some(&FLAGGED)
    }

    /// Writes down how far the path has come.
    pub(crate) fn save(&self, state: &mut StateWriter) {
        let Path { knots, events, snapshots, .. } = &self.path;
        state.numbers(knots.iter());
        let column = |of: fn(&Event) -> u32| events.iter().map(of).collect::<Vec<_>>();
        state.indices(&column(|event| event.knot));
        state.indices(&column(|event| event.group));
        // A residual is finite, so that infinity can stand for a group that left.
        let residual = |event: &Event| match event.change {
            Change::Entered(residual) => residual,
            Change::Left => f64::INFINITY,
        };
        state.numbers(events.iter().map(residual).collect::<Vec<_>>().iter());
        state.count(u64::from(snapshots.stride));
        state.indices(&snapshots.knots);
        state.numbers(snapshots.values.iter());
    }

    /// Goes back to where a path on the same graph had come.
    pub(crate) fn restore(&mut self, state: &mut StateReader<'_>, groups: &Groups) -> Result<()> {
        self.path.knots = state.numbers()?;
        let (knots, of_group, residuals) = (state.indices()?, state.indices()?, state.numbers()?);
        self.path.snapshots.stride = state.count()? as u32;
        self.path.snapshots.knots = state.indices()?;
        self.path.snapshots.values = state.numbers()?;
        self.path.events.clear();
        for ((knot, group), residual) in knots.into_iter().zip(of_group).zip(residuals) {
            let change =
                if residual == f64::INFINITY { Change::Left } else { Change::Entered(residual) };
            self.record(Event { knot, group, change }, groups);
        }
        self.ever_flagged_votes = self.communicator.sum_scalar(self.flagged_votes_here);
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn so_far(&self) -> &Path {
        &self.path
    }

    /// The finished path.
    #[must_use]
    pub fn finish(mut self, status: Status) -> Path {
        self.path.status = status;
        self.path
    }
}
