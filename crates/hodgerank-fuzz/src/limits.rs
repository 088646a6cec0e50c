//! Limits of time and memory of one execution.

use std::time::{Duration, Instant};

/// Inputs are at most some kilobytes, so anything near this limit grows too fast with its input.
const MAX_TIME: Duration = Duration::from_secs(2);

/// Largest growth of the peak memory of the process in one execution.
const MAX_BYTES: u64 = 512 << 20;

/// Runs `work`.
///
/// # Panics
/// If it takes more than [`MAX_TIME`] or [`MAX_BYTES`].
pub(crate) fn enforce<T>(work: impl Fn() -> T) -> T {
    let peak_before = peak_memory();
    let started = Instant::now();
    let result = work();
    let elapsed = started.elapsed();
    if elapsed > MAX_TIME {
        // Other programs may have slowed this one down: what counts is the time of the processor.
        let before = processor_time();
        let started = Instant::now();
        work();
        let again = match (before, processor_time()) {
            (Some(before), Some(after)) => after - before,
            _ => started.elapsed(),
        };
        assert!(again <= MAX_TIME, "slow: {:.1} s of processor time", again.as_secs_f64());
    }
    let grown = peak_memory().saturating_sub(peak_before);
    assert!(grown <= MAX_BYTES, "large: peak memory grew by {} MB", grown >> 20);
    result
}

/// Peak memory of this process in bytes; 0 where the system does not tell.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse().ok());
    kilobytes.unwrap_or(0_u64) << 10
}

/// Processor time of this process, with its threads. `None` where the system does not tell.
fn processor_time() -> Option<Duration> {
    // The fields after the name of the program, which is in parentheses: utime and stime are fields
    // 14 and 15 of all, in hundredths of a second on Linux.
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_ascii_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(10 * ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_limited() {
        let result = std::panic::catch_unwind(|| {
            enforce(|| std::hint::black_box(vec![1_u8; 600 << 20]).len())
        });
        assert!(cfg!(not(target_os = "linux")) || result.is_err());
    }

    #[test]
    fn sleeping_is_not_slow_but_computing_is() {
        enforce(|| std::thread::sleep(MAX_TIME + Duration::from_millis(50)));
        let busy = || {
            let started = processor_time();
            while processor_time().zip(started).is_some_and(|(now, then)| now - then < MAX_TIME * 2)
            {
            }
        };
        let result = std::panic::catch_unwind(|| enforce(busy));
        assert!(cfg!(not(target_os = "linux")) || result.is_err());
    }
}
