//! How much memory a rank has held.

use std::fs;

use crate::world::World;

/// The most bytes that this process has held at a time; none where the system does not tell.
#[must_use]
pub fn most_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kilobytes)
}

/// The most bytes that any rank has held; none where one of the systems does not tell.
#[must_use]
pub fn most_bytes_of_a_rank(world: &World) -> Option<u64> {
    let here = most_bytes();
    // One who does not know makes the others not know.
    let mut found = [here.unwrap_or(0) as f64, f64::from(u8::from(here.is_none()))];
    world.max(&mut found);
    (found[1] == 0.0).then_some(found[0] as u64)
}
