//! One dictionary for all ranks: the names of all, each once, in the order of one machine.
//!
//! A name goes to the rank of its hash, where copies from different ranks meet and one is kept.
//! Cost: each rank sends its names once; then the distinct ones come to everyone, because everyone
//! holds all scores.

use hodgerank::Labels;

use crate::exchange::{exchange, hash_of_name, rank_of};
use crate::world::World;

/// The distinct names whose hash names this rank. Over all ranks, each name is there once.
#[must_use]
pub fn met_here<'a>(world: &World, names: impl IntoIterator<Item = &'a str>) -> Labels {
    let mut met = Labels::new();
    exchange(
        world,
        names,
        |name| rank_of(hash_of_name(name), world.size()),
        |name, parcel| write_name(name, parcel),
        |parcel| each_name(parcel, |name| _ = met.intern(name)),
    );
    met
}

/// How many distinct names there are, with everyone.
#[must_use]
pub fn count_distinct<'a>(world: &World, names: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut count = [met_here(world, names).len() as u64];
    world.count(&mut count);
    count[0]
}

/// The distinct names of everyone, in [`hodgerank::natural_order`].
#[must_use]
pub fn of_all<'a>(world: &World, names: impl IntoIterator<Item = &'a str>) -> Labels {
    let met = met_here(world, names);
    let mut all = Labels::new();
    for rank in 0..world.size() {
        let mut bytes = Vec::new();
        if rank == world.rank() {
            met.iter().for_each(|name| write_name(name, &mut bytes));
        }
        world.broadcast(rank, &mut bytes);
        each_name(&bytes, |name| _ = all.intern(name));
    }
    drop(met);
    all.sorted().0
}

fn write_name(name: &str, out: &mut Vec<u8>) {
    out.extend((name.len() as u64).to_le_bytes());
    out.extend(name.as_bytes());
}

/// Reads what [`write_name`] wrote.
fn each_name(mut bytes: &[u8], mut each: impl FnMut(&str)) {
    while let Some((length, rest)) = bytes.split_first_chunk::<8>() {
        let (name, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
        each(&String::from_utf8_lossy(name));
        bytes = rest;
    }
}
