//! Signals that end the program: unfinished outputs are removed first.

use std::io;

/// Prepares for signals. Call it once, before the first output is opened.
///
/// While there are temporary files, SIGINT, SIGTERM, SIGHUP and SIGQUIT remove them first; the program
/// then ends as it would have without the handler. A file that reaches the limit on file sizes
/// (SIGXFSZ) is an ordinary error of the write.
///
/// # Errors
/// If the system refuses a handler.
#[cfg(unix)]
pub fn prepare() -> io::Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default())?;
    // A thread costs a small ranking more than its certificate, and without files it has nothing to do.
    hodgerank_io::write::before_first_temporary(watch);
    Ok(())
}

/// Starts the thread that waits for signals.
#[cfg(unix)]
fn watch() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;

    /// Removing files needs little.
    const STACK_BYTES: usize = 256 << 10;

    let ignored = ignored_signals();
    let is_watched = |signal: &i32| !ignored.contains(signal);
    let watched = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(is_watched);
    let mut signals = Signals::new(watched)?;
    let wait = move || {
        let Some(signal) = signals.forever().next() else { return };
        let _unfinished = hodgerank_io::write::remove_unfinished();
        // Ends the process. If even that fails, the exit code is the one that shells use.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        std::process::exit(128 + signal);
    };
    std::thread::Builder::new().name("signals".to_owned()).stack_size(STACK_BYTES).spawn(wait)?;
    Ok(())
}

/// Other systems have no such signals.
#[cfg(not(unix))]
pub fn prepare() -> io::Result<()> {
    Ok(())
}

/// Signals that this process was started to ignore: by `nohup`, or as a background job of a script.
/// Where the system does not tell, these are the ones that such programs set.
#[cfg(unix)]
fn ignored_signals() -> Vec<i32> {
    use signal_hook::consts::SIGHUP;
    const UNKNOWN: [i32; 1] = [SIGHUP];

    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => (1..=64).filter(|signal| mask >> (signal - 1) & 1 == 1).collect(),
        None => UNKNOWN.to_vec(),
    }
}
