//! Records that travel to the rank that their hash names.
//!
//! Cost: every record is sent once, in rounds of at most `CHUNK` bytes sent and received by each
//! rank, whatever the number of records. A round ends when the parcel of one receiver is full, so
//! hashes should spread the records evenly.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

use crate::world::{CHUNK, World};

/// The rank of a hash.
#[must_use]
pub fn rank_of(hash: u64, ranks: usize) -> usize {
    // The high bits of a product mix all bits of the hash; 2⁶⁴ over the golden ratio.
    let mixed = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((u128::from(mixed) * ranks as u128) >> 64) as usize
}

/// The hash of a name: the same on all ranks and in all runs.
#[must_use]
pub fn hash_of_name(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// Sends every record to the rank that `to` names, as the bytes that `write` appends, and hands
/// what arrives here to `take`: whole records, many at a time.
pub fn exchange<R>(
    world: &World,
    records: impl IntoIterator<Item = R>,
    to: impl Fn(&R) -> usize,
    write: impl Fn(&R, &mut Vec<u8>),
    mut take: impl FnMut(&[u8]),
) {
    let full = (CHUNK / world.size()).max(1);
    let mut records = records.into_iter();
    let mut parcels = vec![Vec::new(); world.size()];
    let mut more = true;
    loop {
        while more {
            let Some(record) = records.next() else {
                more = false;
                break;
            };
            let parcel = &mut parcels[to(&record)];
            write(&record, parcel);
            if parcel.len() >= full {
                break;
            }
        }
        let received = world.all_to_all(&parcels);
        parcels.iter_mut().for_each(Vec::clear);
        received.iter().for_each(|parcel| take(parcel));
        let mut going_on = [u64::from(more)];
        world.count(&mut going_on);
        if going_on == [0] {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_spread_over_the_ranks() {
        for ranks in [1, 2, 3, 7] {
            let mut names = vec![0; ranks];
            let mut numbers = vec![0; ranks];
            for k in 0..7000_u64 {
                names[rank_of(hash_of_name(&format!("item{k}")), ranks)] += 1;
                numbers[rank_of(k << 32 | (k + 1), ranks)] += 1;
            }
            let even = 7000 / ranks;
            for found in names.iter().chain(&numbers) {
                assert!((even * 8 / 10..=even * 12 / 10).contains(found), "{names:?} {numbers:?}");
            }
        }
    }
}
