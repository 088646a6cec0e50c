//! How much memory is available. A failed allocation aborts the process without an explanation, so
//! large needs are compared with it in advance.
//!
//! Linux only: on other systems nothing is known, and nothing is refused.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// Less than this is not checked: reading what is available would take longer than using it.
const MIN_CHECKED: u64 = 16 << 20;

/// Checks that `needed` bytes are available for `what`.
///
/// # Errors
/// [`Error::Memory`] if less is available.
pub fn require(what: &str, needed: u64) -> Result<()> {
    if needed < MIN_CHECKED {
        return Ok(());
    }
    match available() {
        Some(available) if available < needed => {
            Err(Error::Memory { what: what.to_owned(), needed, available })
        }
        _ => Ok(()),
    }
}

/// Bytes that this process can still allocate: the smallest of the free memory of the machine, of its
/// control group, and of its address space. `None` if unknown.
#[must_use]
pub fn available() -> Option<u64> {
    let machine = || kilobytes(&read("/proc/meminfo")?, "MemAvailable:");
    [machine(), control_group(), address_space()].into_iter().flatten().min()
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The bytes in a line such as `MemAvailable:  1024 kB`.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024)
}

/// What `ulimit -v` leaves.
fn address_space() -> Option<u64> {
    let limits = read("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let used = kilobytes(&read("/proc/self/status")?, "VmSize:")?;
    Some(limit.saturating_sub(used))
}

/// What the memory limit of the control group (version 2) leaves; the cache of files does not count.
fn control_group() -> Option<u64> {
    let groups = read("/proc/self/cgroup")?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    let mut folder = root.join(path);
    let mut smallest = None;
    loop {
        let number = |name: &str| -> Option<u64> {
            fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()
        };
        if let (Some(limit), Some(used)) = (number("memory.max"), number("memory.current")) {
            let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
            let cache = |name: &str| -> Option<u64> {
                stat.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
            };
            let cached = cache("inactive_file ").unwrap_or(0) + cache("active_file ").unwrap_or(0);
            let left = limit.saturating_sub(used.saturating_sub(cached));
            smallest = Some(smallest.map_or(left, |smallest: u64| smallest.min(left)));
        }
        if folder == root || !folder.pop() {
            return smallest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_needs_are_refused() {
        if available().is_some() {
            let message = require("a test", u64::MAX).unwrap_err().to_string();
            assert!(message.starts_with("not enough memory for a test: about"), "{message}");
        }
        require("a test", 0).unwrap();
    }

    #[test]
    fn lines_are_found_by_name() {
        let text = "MemFree:  1 kB\nMemAvailable:   24 kB\n";
        assert_eq!(kilobytes(text, "MemAvailable:"), Some(24 * 1024));
        assert_eq!(kilobytes(text, "Swap:"), None);
    }
}
