//! Sums whose bits do not depend on the number of threads.

use rayon::prelude::*;

/// Entries of a vector added up by one task of [`add_parts`].
const ENTRIES_PER_TASK: usize = 1 << 14;

/// Σ values in eight partial sums, which do not wait for each other's additions.
pub(crate) fn sum(values: &[f64]) -> f64 {
    let (blocks, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for block in blocks {
        sums.iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
    }
    sums.iter().chain(rest).sum()
}

/// Runs tasks in parallel and adds up their `K` results in the order of the tasks.
///
/// Tasks must be cut by a fixed size, not by the number of threads.
pub(crate) fn sum_tasks<T: Send, const K: usize>(
    tasks: impl IndexedParallelIterator<Item = T>,
    sums: impl Fn(T) -> [f64; K] + Send + Sync,
) -> [f64; K] {
    let partial: Vec<[f64; K]> = tasks.map(sums).collect();
    partial.iter().fold([0.0; K], |mut total, part| {
        for (t, p) in total.iter_mut().zip(part) {
            *t += p;
        }
        total
    })
}

/// out ← Σ parts, added up in the order of the parts. A part is the index of its first entry in
/// `out` and its values; entries that it does not cover count as zero.
pub(crate) fn add_parts<'a, I>(out: &mut [f64], parts: impl Fn() -> I + Sync)
where
    I: Iterator<Item = (usize, &'a [f64])>,
{
    let add = |start: usize, out: &mut [f64]| {
        out.fill(0.0);
        let end = start + out.len();
        for (first, values) in parts() {
            let (from, to) = (start.max(first), end.min(first + values.len()));
            if from < to {
                let out = &mut out[from - start..to - start];
                out.iter_mut().zip(&values[from - first..to - first]).for_each(|(o, v)| *o += v);
            }
        }
    };
    if out.len() <= ENTRIES_PER_TASK {
        add(0, out);
    } else {
        let tasks = out.par_chunks_mut(ENTRIES_PER_TASK).enumerate();
        tasks.for_each(|(task, out)| add(task * ENTRIES_PER_TASK, out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_where_they_overlap() {
        let parts = [(0, vec![1.0; 3]), (2, vec![10.0; 20_000]), (40_000, vec![5.0])];
        let mut out = vec![9.0; 40_001];
        add_parts(&mut out, || parts.iter().map(|(first, values)| (*first, &values[..])));
        assert_eq!(out[..4], [1.0, 1.0, 11.0, 10.0]);
        assert_eq!(out[20_001..20_003], [10.0, 0.0]);
        assert_eq!(out[40_000], 5.0);
        assert_eq!(out.iter().sum::<f64>(), 3.0 + 200_000.0 + 5.0);
    }
}
