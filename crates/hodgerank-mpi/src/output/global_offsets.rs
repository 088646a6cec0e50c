//! Positions of all processes' rows in one sorted order, found without collecting the rows.
//!
//! Each process has runs of rows with equal keys, sorted by key. The same key may occur on several
//! processes, whose rows then follow each other by rank. As in a parallel sample sort, splitters
//! taken from a sample divide the keys into one range for each process, which counts the rows of
//! its range and returns the offsets to the processes that sent the runs.
//!
//! Cost: each run is sent once, and its offset is sent back. A process counts the runs of one
//! range: about its share of all, with a sample of [`SAMPLE_SIZE`] keys from each process.

use serde::{Deserialize, Serialize};

use crate::comm::Exchange;

/// What rows are sorted by; smaller comes first.
pub(super) type SortKey = [u64; 6];

/// Number of keys that each process contributes to the sample.
const SAMPLE_SIZE: usize = 64;

/// Consecutive rows of one process with equal keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeyRun {
    pub(super) key: SortKey,
    pub(super) rows: u64,
}

/// Returns, for each run, the number of rows of all processes that come before it. `runs` are
/// sorted and have distinct keys. Collective.
pub(super) fn global_offsets(exchange: &impl Exchange, runs: &[KeyRun]) -> Vec<u64> {
    let splitters = splitters(exchange, runs);
    let mut ranges: Vec<Vec<KeyRun>> = vec![Vec::new(); exchange.size()];
    for run in runs {
        ranges[splitters.partition_point(|splitter| *splitter <= run.key)].push(*run);
    }
    let mut counted = RangeOffsets::count(&exchange.all_to_all(&ranges));
    let rows_of_ranges = exchange.all_gather(&counted.rows);
    let before: u64 = rows_of_ranges[..exchange.rank()].iter().sum();
    counted.offsets.iter_mut().flatten().for_each(|offset| *offset += before);
    // Ranges ascend with ranks, and so do the runs in each.
    exchange.all_to_all(&counted.offsets).concat()
}

/// Returns the first keys of all ranges except the first.
fn splitters(exchange: &impl Exchange, runs: &[KeyRun]) -> Vec<SortKey> {
    let stride = runs.len().div_ceil(SAMPLE_SIZE).max(1);
    let sample: Vec<SortKey> = runs.iter().step_by(stride).map(|run| run.key).collect();
    let mut keys = exchange.all_gather(&sample).concat();
    keys.sort_unstable();
    if keys.is_empty() {
        return Vec::new();
    }
    let size = exchange.size();
    (1..size).map(|range| keys[range * keys.len() / size]).collect()
}

/// Offsets within one range of keys.
struct RangeOffsets {
    /// For each process and each of its runs, the number of rows before it in the range.
    offsets: Vec<Vec<u64>>,
    /// Number of rows of the range.
    rows: u64,
}

impl RangeOffsets {
    fn count(received: &[Vec<KeyRun>]) -> Self {
        let mut offsets: Vec<Vec<u64>> = received.iter().map(|runs| vec![0; runs.len()]).collect();
        let mut sorted: Vec<(SortKey, usize, usize, u64)> = Vec::new();
        for (rank, runs) in received.iter().enumerate() {
            let runs = runs.iter().enumerate();
            sorted.extend(runs.map(|(index, run)| (run.key, rank, index, run.rows)));
        }
        sorted.sort_unstable();
        let mut total = 0;
        for (_, rank, index, rows) in sorted {
            offsets[rank][index] = total;
            total += rows;
        }
        Self { offsets, rows: total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_thread_team;

    #[test]
    fn offsets_are_those_of_one_sorted_list() {
        for size in [1, 2, 3, 5] {
            // Keys 0..400, some on several threads; one thread has none.
            let runs_of = |rank: usize| -> Vec<KeyRun> {
                let keys = (0..400_u64).filter(|key| (key * 7 + rank as u64) % 3 != 1);
                let keys = keys.filter(|_| rank != 1);
                keys.map(|key| KeyRun { key: [key / 50, 0, key, 1, 2, 3], rows: key % 4 }).collect()
            };
            let mut all: Vec<(SortKey, usize, u64)> = (0..size)
                .flat_map(|rank| {
                    runs_of(rank).into_iter().map(move |run| (run.key, rank, run.rows))
                })
                .collect();
            all.sort_unstable();
            let found =
                run_thread_team(size, |thread| global_offsets(thread, &runs_of(thread.rank())));
            let mut total = 0;
            let mut next = vec![0; size];
            for (_, rank, rows) in all {
                assert_eq!(found[rank][next[rank]], total, "{size} threads");
                next[rank] += 1;
                total += rows;
            }
        }
    }

    #[test]
    fn no_runs() {
        let found = run_thread_team(3, |thread| global_offsets(thread, &[]));
        assert_eq!(found, vec![Vec::<u64>::new(); 3]);
    }
}
