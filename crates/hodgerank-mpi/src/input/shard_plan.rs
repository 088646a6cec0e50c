//! Which process reads what: files, and row groups of Parquet files, assigned by size.
//!
//! Process 0 measures the files and broadcasts the plan. The largest unit is assigned first, each
//! to the process with the fewest bytes so far; no process then reads more than 4/3 of what it would
//! in the best plan. A text file or a compressed Parquet file is one unit.

use hodgerank_cli::RunFailure;
use hodgerank_io::Format;
use hodgerank_io::read::{Share, measure};
use serde::{Deserialize, Serialize};

use crate::comm::{CollectiveError, World};

/// The readers of all files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShardPlan {
    /// The files, in the order of the command line.
    pub files: Vec<PlannedFile>,
}

/// A file and its readers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedFile {
    /// Its path.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// The process that reads each row group, or the one that reads the whole file.
    pub readers: Vec<usize>,
    /// Whether `readers` are those of row groups.
    pub by_row_groups: bool,
}

impl ShardPlan {
    /// Plans on process 0 and returns the plan on all. Collective.
    ///
    /// # Errors
    /// If process 0 cannot open a file, or a path is not a file.
    pub fn new(
        world: &World,
        paths: &[String],
        format: Option<Format>,
    ) -> Result<Self, CollectiveError> {
        let plan = world.is_root().then(|| Self::measure(paths, format, world.size()));
        let plan = world.all_ok(plan.transpose())?;
        Ok(world.broadcast(plan))
    }

    fn measure(paths: &[String], format: Option<Format>, size: usize) -> Result<Self, RunFailure> {
        let mut files = Vec::with_capacity(paths.len());
        let mut unit_bytes = Vec::new();
        for path in paths {
            let found = measure(path, format)?;
            let units = found.row_groups.unwrap_or_default();
            let by_row_groups = !units.is_empty();
            let units = if by_row_groups { units } else { vec![found.bytes] };
            let readers = vec![0; units.len()];
            unit_bytes.extend(units);
            files.push(PlannedFile {
                path: path.clone(),
                bytes: found.bytes,
                readers,
                by_row_groups,
            });
        }
        let assigned = assign(&unit_bytes, size);
        let readers = files.iter_mut().flat_map(|file| &mut file.readers);
        readers.zip(assigned).for_each(|(reader, rank)| *reader = rank);
        Ok(Self { files })
    }

    /// Returns how many bytes a process reads. The row groups of a file count as equally large.
    #[must_use]
    pub fn bytes(&self, rank: usize) -> u64 {
        let part = |file: &PlannedFile| {
            let mine = file.readers.iter().filter(|&&reader| reader == rank).count() as u64;
            file.bytes * mine / (file.readers.len() as u64).max(1)
        };
        self.files.iter().map(part).sum()
    }

    /// Returns what a process reads, in the order of the files.
    #[must_use]
    pub fn shares(&self, rank: usize) -> Vec<Share> {
        let share = |file: &PlannedFile| {
            let units = 0..file.readers.len();
            let mine: Vec<usize> = units.filter(|&unit| file.readers[unit] == rank).collect();
            let share = Share {
                path: file.path.clone(),
                row_groups: file.by_row_groups.then(|| mine.clone()),
            };
            (!mine.is_empty()).then_some(share)
        };
        self.files.iter().filter_map(share).collect()
    }
}

/// Returns a reader for each unit: the largest first, each to the process with the smallest load.
fn assign(unit_bytes: &[u64], size: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..unit_bytes.len()).collect();
    order.sort_by_key(|&unit| std::cmp::Reverse(unit_bytes[unit]));
    // Bytes, then units, so that empty files are distributed as well.
    let mut load = vec![(0_u64, 0_usize); size];
    let mut reader = vec![0; unit_bytes.len()];
    for unit in order {
        let rank = (0..size).min_by_key(|&rank| load[rank]).unwrap_or(0);
        load[rank].0 += unit_bytes[unit];
        load[rank].1 += 1;
        reader[unit] = rank;
    }
    reader
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_units_are_assigned_first() {
        assert_eq!(assign(&[1, 5, 2, 4], 2), [0, 0, 1, 1]);
        assert_eq!(assign(&[3, 3, 3], 2), [0, 1, 0]);
        assert_eq!(assign(&[7], 3), [0]);
        assert_eq!(assign(&[0, 0, 0], 3), [0, 1, 2]);
    }

    #[test]
    fn each_unit_has_one_reader() {
        let file = |path: &str, readers: &[usize], by_row_groups| PlannedFile {
            path: path.to_owned(),
            bytes: 1,
            readers: readers.to_vec(),
            by_row_groups,
        };
        let plan = ShardPlan { files: vec![file("a", &[1], false), file("b", &[0, 1, 0], true)] };
        let of = |rank| plan.shares(rank);
        let share = |path: &str, row_groups: Option<&[usize]>| Share {
            path: path.to_owned(),
            row_groups: row_groups.map(<[_]>::to_vec),
        };
        assert_eq!(of(0), [share("b", Some(&[0, 2]))]);
        assert_eq!(of(1), [share("a", None), share("b", Some(&[1]))]);
        assert_eq!(of(2), []);
    }
}
