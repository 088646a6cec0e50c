//! A sweep from "trust every vote" to "trust fewer and fewer": what robust solvers return.
//!
//! Along the path the parameter (λ falling, or t rising) passes knots. At a knot some groups enter
//! the set of flagged ones and some leave it. A path keeps the knots and these changes, not copies
//! of the set; scores are kept at a bounded number of knots ([`SNAPSHOT_BYTES`]), spread evenly, and
//! read in between as the method's own law says ([`Interpolation`]).
//!
//! Memory: 8 bytes a knot, 24 a change, and the snapshots.

mod recorder;
mod snapshots;

pub use recorder::Recorder;

use crate::graph::Groups;
use crate::status::Status;
use snapshots::Snapshots;

/// Room for scores along a path. Above it every second snapshot is dropped.
pub const SNAPSHOT_BYTES: usize = 64 << 20;

/// What runs along a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// The penalty λ, falling from its largest value.
    Lambda,
    /// The time t, rising from zero.
    Time,
}

impl Parameter {
    /// Its name in outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lambda => "lambda",
            Self::Time => "time",
        }
    }

    /// Whether a path passes `a` before it passes `b`.
    fn precedes(self, a: f64, b: f64) -> bool {
        match self {
            Self::Lambda => a > b,
            Self::Time => a < b,
        }
    }
}

/// How scores run between two snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// On a straight line.
    Linear,
    /// They stay as they are until the next knot.
    Constant,
}

/// Where a sweep may end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopAt {
    /// Where the method itself ends.
    End,
    /// At this λ or t.
    Value(f64),
    /// At the first knot where at least this many votes have been flagged.
    Flagged(f64),
}

/// A group that became flagged, or trusted again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// The knot at which it happened.
    pub knot: u32,
    /// The group.
    pub group: u32,
    /// What happened.
    pub change: Change,
}

/// What happens to a group at a knot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// It is flagged from here on; its residual is this. The sign says which way the vote errs.
    Entered(f64),
    /// It is trusted again.
    Left,
}

/// A group's first entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The group.
    pub group: u32,
    /// λ or t at which it entered.
    pub at: f64,
    /// Its residual there.
    pub residual: f64,
    /// λ or t at which it left for the first time, if it did.
    pub left_at: Option<f64>,
}

/// A path. Made by a [`Recorder`].
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// What runs along it.
    pub parameter: Parameter,
    /// How scores run between snapshots.
    pub interpolation: Interpolation,
    /// λ or t at each knot, in the order in which they are passed.
    pub knots: Vec<f64>,
    /// All changes, in order.
    pub events: Vec<Event>,
    /// How the sweep ended.
    pub status: Status,
    snapshots: Snapshots,
}

impl Path {
    /// Groups in the order in which they entered for the first time: the order of suspicion.
    ///
    /// Groups that enter at one knot come as the solver put them, larger residuals first.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let first = |event: &Event, residual: f64| {
            let at = self.knots[event.knot as usize];
            Entry { group: event.group, at, residual, left_at: None }
        };
        if self.events.iter().all(|event| event.change != Change::Left) {
            // No one left, so no one came back: every event is a first entry.
            let entry = |event: &Event| match event.change {
                Change::Entered(residual) => Some(first(event, residual)),
                Change::Left => None,
            };
            return self.events.iter().filter_map(entry).collect();
        }
        let mut place = rustc_hash::FxHashMap::default();
        let mut entries: Vec<Entry> = Vec::new();
        for event in &self.events {
            match event.change {
                Change::Entered(residual) => {
                    place.entry(event.group).or_insert_with(|| {
                        entries.push(first(event, residual));
                        entries.len() - 1
                    });
                }
                Change::Left => {
                    if let Some(&place) = place.get(&event.group) {
                        entries[place].left_at.get_or_insert(self.knots[event.knot as usize]);
                    }
                }
            }
        }
        entries
    }

    /// The groups that are flagged at λ or t, ascending.
    #[must_use]
    pub fn flagged_at(&self, value: f64) -> Vec<u32> {
        let passed =
            |event: &Event| !self.parameter.precedes(value, self.knots[event.knot as usize]);
        let events = &self.events[..self.events.partition_point(passed)];
        let mut flags: Vec<(u32, bool)> =
            events.iter().map(|event| (event.group, event.change != Change::Left)).collect();
        // Stable, so that the last change of a group comes last and decides.
        flags.sort_by_key(|&(group, _)| group);
        let of_group = flags.chunk_by(|a, b| a.0 == b.0);
        let last = of_group.filter_map(|changes| changes.last().filter(|&&(_, flagged)| flagged));
        last.map(|&(group, _)| group).collect()
    }

    /// Votes flagged at λ or t.
    #[must_use]
    pub fn flagged_votes_at(&self, value: f64, groups: &Groups) -> f64 {
        self.flagged_at(value).into_iter().map(|g| groups.weight[g as usize]).sum()
    }

    /// The scores at λ or t, read between the snapshots on either side. Exact at snapshots, and
    /// everywhere while the path is short enough for all its knots to have one.
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
        let share = (value - at(before)) / (at(after) - at(before));
        let ends = snapshots.scores(before).iter().zip(snapshots.scores(after));
        ends.map(|(a, b)| a + share * (b - a)).collect()
    }

    /// The scores at the end of the path.
    #[must_use]
    pub fn last_scores(&self) -> &[f64] {
        self.snapshots.scores(self.snapshots.knots.len() - 1)
    }

    /// Knots that have a snapshot, in order.
    #[must_use]
    pub fn snapshot_knots(&self) -> &[u32] {
        &self.snapshots.knots
    }

    /// The scores of the `s`-th snapshot.
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
    fn flags_and_scores_can_be_asked_for_anywhere() {
        let groups = groups(&[2.0, 3.0, 5.0]);
        let mut recorder =
            Recorder::new(Parameter::Lambda, Interpolation::Linear, 4.0, &[0.0, 0.0]);
        recorder.knot(3.0, &[1.0, -1.0], [(2, Change::Entered(3.0))], &groups);
        recorder.knot(2.0, &[2.0, -2.0], [(0, Change::Entered(-2.0)), (2, Change::Left)], &groups);
        assert!(recorder.reached(StopAt::Flagged(7.0)) && !recorder.reached(StopAt::Flagged(8.0)));
        assert!(recorder.reached(StopAt::Value(2.0)) && !recorder.reached(StopAt::Value(1.5)));
        recorder.knot(1.0, &[4.0, -4.0], [(2, Change::Entered(1.0))], &groups);
        let path = recorder.finish(Status::Complete);
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
    fn steps_stay_until_the_next_knot() {
        let mut recorder = Recorder::new(Parameter::Time, Interpolation::Constant, 0.0, &[0.0]);
        recorder.knot(1.0, &[1.0], [], &groups(&[]));
        recorder.knot(2.0, &[5.0], [], &groups(&[]));
        let path = recorder.finish(Status::Complete);
        assert_eq!(path.scores_at(0.9), [0.0]);
        assert_eq!(path.scores_at(1.0), [1.0]);
        assert_eq!(path.scores_at(1.9), [1.0]);
        assert_eq!(path.scores_at(7.0), [5.0]);
    }

    #[test]
    fn long_paths_keep_a_bounded_number_of_snapshots() {
        let most = 8;
        let mut recorder =
            Recorder::with_budget(Parameter::Time, Interpolation::Linear, 0.0, &[0.0], 8 * most);
        for knot in 1..=1000 {
            recorder.knot(f64::from(knot), &[f64::from(knot)], [], &groups(&[]));
            let kept = recorder.so_far().snapshot_knots();
            assert!(kept.len() <= most && kept[0] == 0 && *kept.last().unwrap() == knot as u32);
        }
        let path = recorder.finish(Status::Complete);
        assert_eq!(path.knots.len(), 1001);
        assert!(path.snapshot_knots().len() >= most / 2);
        for value in [0.0, 17.0, 123.4, 999.5, 1000.0] {
            assert!((path.scores_at(value)[0] - value).abs() < 1e-9, "{value}");
        }
    }
}
