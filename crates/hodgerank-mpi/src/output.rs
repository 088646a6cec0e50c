//! Output in parts: folders with one file from each process, and one numbering of their rows.

mod global_offsets;
mod part_folder;
mod suspicion_order;

pub(crate) use part_folder::{PartFolder, check_folder, publish};
pub(crate) use suspicion_order::{GlobalOrder, number_rows};
