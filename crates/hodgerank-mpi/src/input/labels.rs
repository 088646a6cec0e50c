//! One numbering of labels for all processes: the distinct labels, in the order of one machine.
//!
//! Each label is sent to the process that owns it, which removes duplicates. Cost: each process
//! sends its labels once; then all processes receive the distinct ones, because all hold all scores.

use hodgerank::Labels;

use crate::comm::{World, decode_prefix, encode_into, owner_of_label, send_to_owners};

/// Returns the distinct labels of all processes that this process owns, in
/// [`hodgerank::natural_order`]. Collective.
#[must_use]
pub fn owned<'a>(world: &World, labels: impl IntoIterator<Item = &'a str>) -> Labels {
    owned_labels(world, labels).sorted().0
}

/// The same in the order in which they arrive.
fn owned_labels<'a>(world: &World, labels: impl IntoIterator<Item = &'a str>) -> Labels {
    let mut owned = Labels::new();
    send_to_owners(
        world,
        labels,
        |label| owner_of_label(label, world.size()),
        |&label, buffer| encode_into(label, buffer),
        |buffer| for_each_label(buffer, |label| _ = owned.intern(label)),
    );
    owned
}

/// Returns the distinct labels of all processes, in [`hodgerank::natural_order`]. Collective.
#[must_use]
pub fn merge<'a>(world: &World, labels: impl IntoIterator<Item = &'a str>) -> Labels {
    let owned = owned_labels(world, labels);
    let mut merged = Labels::new();
    for rank in 0..world.size() {
        let mut bytes = Vec::new();
        if rank == world.rank() {
            owned.iter().for_each(|label| encode_into(label, &mut bytes));
        }
        world.broadcast_bytes(rank, &mut bytes);
        for_each_label(&bytes, |label| _ = merged.intern(label));
    }
    drop(owned);
    merged.sorted().0
}

fn for_each_label(mut bytes: &[u8], mut each: impl FnMut(&str)) {
    while !bytes.is_empty() {
        let (label, rest) = decode_prefix(bytes);
        each(label);
        bytes = rest;
    }
}
