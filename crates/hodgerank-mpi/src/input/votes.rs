//! Sends each distinct vote to the process that owns its pair, where equal ones are merged.
//!
//! Solvers rely on all votes on a pair being in one process, and merging is then as exact as on
//! one machine. Cost: each distinct vote is sent once, as 24 bytes. Memory is freed while
//! sending, and arriving votes are merged at once, so that a process holds little more than
//! its own part.

use hodgerank::{Groups, Tally};

use crate::comm::{World, owner_of_pair, send_to_owners};

/// Bytes of a distinct vote in a message. Not encoded with postcard: there are as many of these as
/// distinct votes, and records of fixed size need no parsing.
const RECORD_BYTES: usize = 24;

/// Returns the distinct votes of all processes that this process owns, merged and sorted.
/// `global_index` maps the item indices of `groups` to those of all processes, of which there are
/// `items`. Collective.
#[must_use]
pub fn send_to_pair_owners(
    world: &World,
    groups: Groups,
    global_index: &[u32],
    items: usize,
) -> Groups {
    let mut tally = Tally::new();
    send_to_owners(
        world,
        DrainedGroups { groups, taken: 0 }.map(|(left, right, y, weight)| {
            (global_index[left as usize], global_index[right as usize], y, weight as u64)
        }),
        |&(left, right, ..)| owner_of_pair(left, right, world.size()),
        |&(left, right, y, count), buffer| {
            buffer.extend(left.to_le_bytes());
            buffer.extend(right.to_le_bytes());
            buffer.extend(y.to_le_bytes());
            buffer.extend(count.to_le_bytes());
        },
        |buffer| {
            for record in buffer.as_chunks::<RECORD_BYTES>().0 {
                let (left, right, y, count) = read_record(record);
                tally.add(left, right, y, count);
            }
        },
    );
    let identity: Vec<u32> = (0..items as u32).collect();
    Tally::finish(vec![tally], &[identity])
}

fn read_record(record: &[u8; RECORD_BYTES]) -> (u32, u32, f64, u64) {
    let four = |at: usize| std::array::from_fn(|k| record[at + k]);
    let eight = |at: usize| std::array::from_fn(|k| record[at + k]);
    (
        u32::from_le_bytes(four(0)),
        u32::from_le_bytes(four(4)),
        f64::from_le_bytes(eight(8)),
        u64::from_le_bytes(eight(16)),
    )
}

/// Distinct votes from the last to the first. Frees the memory of those that were taken.
struct DrainedGroups {
    groups: Groups,
    taken: usize,
}

impl Iterator for DrainedGroups {
    type Item = (u32, u32, f64, f64);

    fn next(&mut self) -> Option<Self::Item> {
        const SHRINK_INTERVAL: usize = 1 << 18;
        let Groups { left, right, y, weight } = &mut self.groups;
        self.taken += 1;
        if self.taken.is_multiple_of(SHRINK_INTERVAL) {
            left.shrink_to_fit();
            right.shrink_to_fit();
            y.shrink_to_fit();
            weight.shrink_to_fit();
        }
        Some((left.pop()?, right.pop()?, y.pop()?, weight.pop()?))
    }
}
