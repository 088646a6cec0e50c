//! Who reads what: files, and row groups of Parquet files, spread over the ranks by their size.
//!
//! Rank 0 looks at the files and everyone hears the plan, so that all agree on it. The largest
//! unit goes first, each to the rank with the least to read; no rank then has more than 4/3 of
//! what the best plan would give it. A compressed Parquet file, like a text file, is one unit.

use hodgerank_cli::Failure;
use hodgerank_io::Format;
use hodgerank_io::read::{Share, measure};
use serde::{Deserialize, Serialize};

use crate::agree::{Failed, agree};
use crate::text::{from_bytes, to_bytes};
use crate::world::World;

/// Who reads what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The files, in the order given.
    pub files: Vec<PlannedFile>,
}

/// A file and its readers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedFile {
    /// Its name.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Who reads each row group, or for a file without such the whole of it.
    pub readers: Vec<usize>,
    /// Whether it is read by row groups.
    pub by_row_groups: bool,
}

impl Plan {
    /// Makes the plan on rank 0 and hears it everywhere.
    ///
    /// # Errors
    /// If rank 0 cannot open a file, or it is no file.
    pub fn make(world: &World, paths: &[String], format: Option<Format>) -> Result<Self, Failed> {
        let made = if world.is_first() {
            Self::look(paths, format, world.size())
        } else {
            Ok(Self { files: Vec::new() })
        };
        let made = agree(world, made)?;
        let mut bytes = to_bytes(&made);
        world.broadcast(0, &mut bytes);
        agree(world, from_bytes(&bytes))
    }

    fn look(paths: &[String], format: Option<Format>, ranks: usize) -> Result<Self, Failure> {
        let mut files = Vec::with_capacity(paths.len());
        let mut sizes = Vec::new();
        for path in paths {
            let found = measure(path, format)?;
            let units = found.row_groups.unwrap_or_default();
            let by_row_groups = !units.is_empty();
            let units = if by_row_groups { units } else { vec![found.bytes] };
            let readers = vec![0; units.len()];
            sizes.extend(units);
            files.push(PlannedFile {
                path: path.clone(),
                bytes: found.bytes,
                readers,
                by_row_groups,
            });
        }
        let spread = spread(&sizes, ranks);
        let readers = files.iter_mut().flat_map(|file| &mut file.readers);
        readers.zip(spread).for_each(|(reader, rank)| *reader = rank);
        Ok(Self { files })
    }

    /// How much a rank reads; a file by row groups is taken to be spread evenly over them.
    #[must_use]
    pub fn bytes(&self, rank: usize) -> u64 {
        let part = |file: &PlannedFile| {
            let mine = file.readers.iter().filter(|&&reader| reader == rank).count() as u64;
            file.bytes * mine / (file.readers.len() as u64).max(1)
        };
        self.files.iter().map(part).sum()
    }

    /// What this rank reads, in the order of the files.
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

/// A rank for each size: the largest first, each to the one with the least.
fn spread(sizes: &[u64], ranks: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&unit| std::cmp::Reverse(sizes[unit]));
    let mut load = vec![(0_u64, 0_usize); ranks];
    let mut reader = vec![0; sizes.len()];
    for unit in order {
        // Of several with equally many bytes the one with the fewest units: empty files count too.
        let rank = (0..ranks).min_by_key(|&rank| load[rank]).unwrap_or(0);
        load[rank].0 += sizes[unit];
        load[rank].1 += 1;
        reader[unit] = rank;
    }
    reader
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_units_are_spread_first() {
        assert_eq!(spread(&[1, 5, 2, 4], 2), [0, 0, 1, 1]);
        assert_eq!(spread(&[3, 3, 3], 2), [0, 1, 0]);
        assert_eq!(spread(&[7], 3), [0]);
        assert_eq!(spread(&[0, 0, 0], 3), [0, 1, 2]);
    }

    #[test]
    fn each_unit_has_one_reader() {
        let file = |path: &str, readers: &[usize], by_row_groups| PlannedFile {
            path: path.to_owned(),
            bytes: 1,
            readers: readers.to_vec(),
            by_row_groups,
        };
        let plan = Plan { files: vec![file("a", &[1], false), file("b", &[0, 1, 0], true)] };
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
