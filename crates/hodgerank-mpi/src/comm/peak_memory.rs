//! Peak memory of processes.

use std::fs;

use super::world::World;

/// Returns the largest resident size that this process has had, in bytes. `None` where the system
/// does not report it (only Linux does).
#[must_use]
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kilobytes)
}

/// Returns the maximum of [`peak_memory`] over all processes. `None` if it is unknown for any.
/// Collective.
#[must_use]
pub fn max_peak_memory(world: &World) -> Option<u64> {
    let local = peak_memory();
    let mut bytes_and_unknown = [local.unwrap_or(0) as f64, f64::from(u8::from(local.is_none()))];
    world.max(&mut bytes_and_unknown);
    let [bytes, unknown] = bytes_and_unknown;
    (unknown == 0.0).then_some(bytes as u64)
}
