//! Where everyone's lines stand in one order, found without bringing them together.
//!
//! Each member has runs of lines, sorted by key; the same key may be with several members, whose
//! lines then follow each other by member. The keys are cut into as many ranges as there are
//! members, at quantiles of a sample, so that each member counts one range; what it finds goes back
//! to where the runs came from.
//!
//! Cost: each run travels twice; a member counts at most the runs of a range, which is about its
//! share of all where the sample is fair (64 keys of each member).

use crate::mail::{Mail, Words};

/// What the order goes by; smaller comes first.
pub(crate) type Key = [u64; 6];

/// Words of a run on its way: its key and its lines.
const RUN: usize = 7;
/// Keys that each member gives for the sample.
const SAMPLE: usize = 64;

/// Lines that follow each other because their keys are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) key: Key,
    pub(crate) lines: u64,
}

/// How many lines of everyone come before each run. `runs` are sorted, without equal keys.
pub(crate) fn lines_before(mail: &dyn Mail, runs: &[Run]) -> Vec<u64> {
    let ends = range_ends(mail, runs);
    let mut parcels: Vec<Words> = vec![Words::new(); mail.members()];
    for run in runs {
        let counter = ends.partition_point(|end| *end <= run.key);
        parcels[counter].extend(run.key);
        parcels[counter].push(run.lines);
    }
    let found = count(&mail.exchange(parcels));
    // What comes before this member's range.
    let totals = mail.everyones(vec![found.lines]);
    let before: u64 = totals[..mail.me()].iter().flatten().sum();
    let back = found.before.into_iter().map(|runs| runs.into_iter().map(|lines| lines + before));
    // Ranges ascend as members do, and so do the runs of each.
    mail.exchange(back.map(Iterator::collect).collect()).concat()
}

/// The first keys of all ranges but the first.
fn range_ends(mail: &dyn Mail, runs: &[Run]) -> Vec<Key> {
    let stride = runs.len().div_ceil(SAMPLE).max(1);
    let sample = runs.iter().step_by(stride).flat_map(|run| run.key).collect();
    let samples = mail.everyones(sample).concat();
    let mut keys: Vec<Key> = samples.as_chunks::<6>().0.to_vec();
    keys.sort_unstable();
    if keys.is_empty() {
        return Vec::new();
    }
    (1..mail.members()).map(|range| keys[range * keys.len() / mail.members()]).collect()
}

struct Counted {
    /// For each member and each of its runs, the lines before it in this range.
    before: Vec<Words>,
    /// All lines of the range.
    lines: u64,
}

fn count(parcels: &[Words]) -> Counted {
    let mut before: Vec<Words> = parcels.iter().map(|parcel| vec![0; parcel.len() / RUN]).collect();
    let mut runs: Vec<(Key, usize, usize, u64)> = Vec::new();
    for (member, parcel) in parcels.iter().enumerate() {
        for (place, run) in parcel.as_chunks::<RUN>().0.iter().enumerate() {
            let &[a, b, c, d, e, f, lines] = run;
            runs.push(([a, b, c, d, e, f], member, place, lines));
        }
    }
    runs.sort_unstable();
    let mut total = 0;
    for (_, member, place, lines) in runs {
        before[member][place] = total;
        total += lines;
    }
    Counted { before, lines: total }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::together;

    /// Whatever the split, the places are those of one sorted list.
    #[test]
    fn places_are_those_of_one_list() {
        for members in [1, 2, 3, 5] {
            // Keys 0..400 with repetitions over members; some members have nothing.
            let of = |member: usize| -> Vec<Run> {
                let keys = (0..400_u64).filter(|key| (key * 7 + member as u64) % 3 != 1);
                let keys = keys.filter(|_| member != 1);
                keys.map(|key| Run { key: [key / 50, 0, key, 1, 2, 3], lines: key % 4 }).collect()
            };
            let mut all: Vec<(Key, usize, u64)> = (0..members)
                .flat_map(|member| {
                    of(member).into_iter().map(move |run| (run.key, member, run.lines))
                })
                .collect();
            all.sort_unstable();
            let found = together(members, |mail| lines_before(mail, &of(mail.me())));
            let mut total = 0;
            let mut next = vec![0; members];
            for (_, member, lines) in all {
                assert_eq!(found[member][next[member]], total, "{members} members");
                next[member] += 1;
                total += lines;
            }
        }
    }

    #[test]
    fn nothing_to_count() {
        assert_eq!(together(3, |mail| lines_before(mail, &[])), vec![Words::new(); 3]);
    }
}
