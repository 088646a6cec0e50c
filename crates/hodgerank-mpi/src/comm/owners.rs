//! Which process owns a label or a pair of items, and sending records to their owners.
//!
//! Cost: every record is sent once, in rounds in which each process sends and receives at most
//! [`MAX_CHUNK_BYTES`]. A round ends when the buffer for one receiver is full, so hashes should
//! distribute the records evenly.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

use super::exchange::Exchange as _;
use super::world::{MAX_CHUNK_BYTES, World};

/// Returns the process, of `size`, that owns the votes on a pair. `left` is the smaller index.
#[must_use]
pub fn owner_of_pair(left: u32, right: u32, size: usize) -> usize {
    owner_of_hash(u64::from(left) << 32 | u64::from(right), size)
}

/// Returns the process, of `size`, that owns a label: the same one in all runs.
pub(crate) fn owner_of_label(label: &str, size: usize) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(label.as_bytes());
    owner_of_hash(hasher.finish(), size)
}

fn owner_of_hash(hash: u64, size: usize) -> usize {
    // The high bits of a product mix all bits of the hash; 2⁶⁴ over the golden ratio.
    let mixed = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((u128::from(mixed) * size as u128) >> 64) as usize
}

/// Sends every record to the process `owner` returns, as the bytes that `write` appends, and calls
/// `receive` with what arrives here: buffers of whole records.
pub(crate) fn send_to_owners<R>(
    world: &World,
    records: impl IntoIterator<Item = R>,
    owner: impl Fn(&R) -> usize,
    write: impl Fn(&R, &mut Vec<u8>),
    mut receive: impl FnMut(&[u8]),
) {
    let full = (MAX_CHUNK_BYTES / world.size()).max(1);
    let mut records = records.into_iter();
    let mut buffers = vec![Vec::new(); world.size()];
    let mut more = true;
    loop {
        while more {
            let Some(record) = records.next() else {
                more = false;
                break;
            };
            let buffer = &mut buffers[owner(&record)];
            write(&record, buffer);
            if buffer.len() >= full {
                break;
            }
        }
        let received = world.all_to_all_bytes(&buffers);
        buffers.iter_mut().for_each(Vec::clear);
        received.iter().for_each(|buffer| receive(buffer));
        let mut senders_left = [u64::from(more)];
        world.sum_counts(&mut senders_left);
        if senders_left == [0] {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_distributed_evenly() {
        for size in [1, 2, 3, 7] {
            let mut labels = vec![0; size];
            let mut pairs = vec![0; size];
            for k in 0..7000_u32 {
                labels[owner_of_label(&format!("item{k}"), size)] += 1;
                pairs[owner_of_pair(k, k + 1, size)] += 1;
            }
            let even = 7000 / size;
            for count in labels.iter().chain(&pairs) {
                assert!((even * 8 / 10..=even * 12 / 10).contains(count), "{labels:?} {pairs:?}");
            }
        }
    }
}
