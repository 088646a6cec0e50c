//! Paths: the fits of a robust method from "no vote flagged" to "many votes flagged".
//!
//! A path is indexed by a parameter that is monotone along it: λ decreases or the time t increases
//! ([`Parameter`]). It passes knots; at a knot some groups (distinct votes) enter the set of flagged
//! groups and some leave it. A [`Path`] stores the knots and these events, not copies of the set.
//! Scores are stored at evenly spread knots within a memory budget ([`SNAPSHOT_BYTES`]) and
//! interpolated in between as the method requires ([`Interpolation`]).
//!
//! Memory: 8 bytes per knot, 24 per event, and the snapshots.

mod event;
mod parameter;
mod recorder;
mod snapshots;

pub use event::{Change, Entry, Event};
pub use parameter::{Interpolation, Parameter, StopAt};
pub use recorder::Recorder;

use crate::graph::Groups;
use crate::status::Status;
use snapshots::Snapshots;

/// Memory for snapshots of the scores along a path, in bytes. When it is used up, every second
/// snapshot is dropped.
pub const SNAPSHOT_BYTES: usize = 64 << 20;

/// A path, built by a [`Recorder`].
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The parameter that indexes the path.
    pub parameter: Parameter,
    /// How scores behave between snapshots.
    pub interpolation: Interpolation,
    /// λ or t at each knot, in the order in which they are passed.
    pub knots: Vec<f64>,
    /// All events, in order.
    pub events: Vec<Event>,
    /// How the computation ended.
    pub status: Status,
    snapshots: Snapshots,
}

impl Path {
    /// Returns the groups in the order in which they first entered: the order of suspicion.
    ///
    /// Groups that enter at the same knot are in the solver's order, larger residuals first.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let first = |event: &Event, residual: f64| {
            let at = self.knots[event.knot as usize];
            Entry { group: event.group, at, residual, left_at: None }
        };
        if self.events.iter().all(|event| event.change != Change::Left) {
            // Without departures every event is a first entry.
            let entry = |event: &Event| match event.change {
                Change::Entered(residual) => Some(first(event, residual)),
                Change::Left => None,
            };
            return self.events.iter().filter_map(entry).collect();
        }
        let mut index_of = rustc_hash::FxHashMap::default();
        let mut entries: Vec<Entry> = Vec::new();
        for event in &self.events {
            match event.change {
                Change::Entered(residual) => {
                    index_of.entry(event.group).or_insert_with(|| {
                        entries.push(first(event, residual));
                        entries.len() - 1
                    });
                }
                Change::Left => {
                    if let Some(&index) = index_of.get(&event.group) {
                        entries[index].left_at.get_or_insert(self.knots[event.knot as usize]);
                    }
                }
            }
        }
        entries
    }

    /// Returns the groups that are flagged at λ or t = `value`, in ascending order.
    #[must_use]
    pub fn flagged_at(&self, value: f64) -> Vec<u32> {
        let passed =
            |event: &Event| !self.parameter.precedes(value, self.knots[event.knot as usize]);
        let events = &self.events[..self.events.partition_point(passed)];
        let mut flags: Vec<(u32, bool)> =
            events.iter().map(|event| (event.group, event.change != Change::Left)).collect();
        // The sort is stable: the last change of each group stays last.
        flags.sort_by_key(|&(group, _)| group);
        let by_group = flags.chunk_by(|a, b| a.0 == b.0);
        let last = by_group.filter_map(|changes| changes.last().filter(|&&(_, flagged)| flagged));
        last.map(|&(group, _)| group).collect()
    }

    /// Returns the number of votes that are flagged at λ or t = `value`.
    #[must_use]
    pub fn flagged_votes_at(&self, value: f64, groups: &Groups) -> f64 {
        self.flagged_at(value).into_iter().map(|g| groups.weight[g as usize]).sum()
    }

    /// Returns the scores at λ or t = `value`, interpolated between the neighbouring snapshots.
    ///
    /// They are exact at snapshots, and everywhere if the path is short enough for every knot to
    /// have one. Before the first knot and after the last one they are those of that knot.
    #[must_use]
    pub fn scores_at(&self, value: f64) -> Vec<f64> {
        let snapshots = &self.snapshots;
        let last = snapshots.knots.len() - 1;
        let at = |s: usize| self.knots[snapshots.knots[s] as usize];
        let after = snapshots
            .knots
            .partition_point(|&knot| !self.parameter.precedes(value, self.knots[knot as usize]));
        if after == 0 {
            return snapshots.scores(0).to_vec();
        }
        let before = after - 1;
        if before == last || self.interpolation == Interpolation::Constant || at(before) == value {
            return snapshots.scores(before).to_vec();
        }
        let fraction = (value - at(before)) / (at(after) - at(before));
        let ends = snapshots.scores(before).iter().zip(snapshots.scores(after));
        ends.map(|(a, b)| a + fraction * (b - a)).collect()
    }

    /// Returns the scores at the end of the path.
    #[must_use]
    pub fn last_scores(&self) -> &[f64] {
        self.snapshots.scores(self.snapshots.knots.len() - 1)
    }

    /// Returns the indices of the knots that have a snapshot, in ascending order.
    #[must_use]
    pub fn snapshot_knots(&self) -> &[u32] {
        &self.snapshots.knots
    }

    /// Returns the scores of snapshot `s`, the one at knot `snapshot_knots()[s]`.
    ///
    /// # Panics
    /// If there is no such snapshot.
    #[must_use]
    pub fn snapshot(&self, s: usize) -> &[f64] {
        self.snapshots.scores(s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(weights: &[f64]) -> Groups {
        Groups {
            left: vec![0; weights.len()],
            right: vec![1; weights.len()],
            y: (0..weights.len()).map(|y| y as f64).collect(),
            weight: weights.to_vec(),
        }
    }

    #[test]
    fn flags_and_scores_are_defined_at_every_parameter_value() {
        let groups = groups(&[2.0, 3.0, 5.0]);
        let mut recorder =
            Recorder::new(Parameter::Lambda, Interpolation::Linear, 4.0, &[0.0, 0.0]);
        recorder.record_knot(3.0, &[1.0, -1.0], [(2, Change::Entered(3.0))], &groups);
        recorder.record_knot(
            2.0,
            &[2.0, -2.0],
            [(0, Change::Entered(-2.0)), (2, Change::Left)],
            &groups,
        );
        assert!(recorder.reached(StopAt::Flagged(7.0)) && !recorder.reached(StopAt::Flagged(8.0)));
        assert!(recorder.reached(StopAt::Value(2.0)) && !recorder.reached(StopAt::Value(1.5)));
        recorder.record_knot(1.0, &[4.0, -4.0], [(2, Change::Entered(1.0))], &groups);
        let path = recorder.finish(Status::Complete, StopAt::End);
        assert_eq!(path.flagged_at(5.0), [] as [u32; 0]);
        assert_eq!(path.flagged_at(3.0), [2]);
        assert_eq!(path.flagged_at(2.5), [2]);
        assert_eq!(path.flagged_at(2.0), [0]);
        assert_eq!(path.flagged_at(0.5), [0, 2]);
        assert_eq!(path.flagged_votes_at(0.5, &groups), 7.0);
        assert_eq!(path.scores_at(9.0), [0.0, 0.0]);
        assert_eq!(path.scores_at(2.0), [2.0, -2.0]);
        assert_eq!(path.scores_at(1.5), [3.0, -3.0]);
        assert_eq!(path.scores_at(0.1), [4.0, -4.0]);
        let entries = path.entries();
        assert_eq!(entries.iter().map(|e| e.group).collect::<Vec<_>>(), [2, 0]);
        assert_eq!((entries[0].at, entries[0].left_at), (3.0, Some(2.0)));
        assert_eq!((entries[1].residual, entries[1].left_at), (-2.0, None));
    }

    #[test]
    fn constant_interpolation_holds_scores_until_the_next_knot() {
        let mut recorder = Recorder::new(Parameter::Time, Interpolation::Constant, 0.0, &[0.0]);
        recorder.record_knot(1.0, &[1.0], [], &groups(&[]));
        recorder.record_knot(2.0, &[5.0], [], &groups(&[]));
        let path = recorder.finish(Status::Complete, StopAt::End);
        assert_eq!(path.scores_at(0.9), [0.0]);
        assert_eq!(path.scores_at(1.0), [1.0]);
        assert_eq!(path.scores_at(1.9), [1.0]);
        assert_eq!(path.scores_at(7.0), [5.0]);
    }

    #[test]
    fn long_paths_store_a_bounded_number_of_snapshots() {
        let max_snapshots = 8;
        let mut recorder = Recorder::with_budget(
            Parameter::Time,
            Interpolation::Linear,
            0.0,
            &[0.0],
            8 * max_snapshots,
        );
        for knot in 1..=1000 {
            recorder.record_knot(f64::from(knot), &[f64::from(knot)], [], &groups(&[]));
            let stored = recorder.path_so_far().snapshot_knots();
            assert!(
                stored.len() <= max_snapshots
                    && stored[0] == 0
                    && *stored.last().unwrap() == knot as u32
            );
        }
        let path = recorder.finish(Status::Complete, StopAt::End);
        assert_eq!(path.knots.len(), 1001);
        assert!(path.snapshot_knots().len() >= max_snapshots / 2);
        for value in [0.0, 17.0, 123.4, 999.5, 1000.0] {
            assert!((path.scores_at(value)[0] - value).abs() < 1e-9, "{value}");
        }
    }
}
