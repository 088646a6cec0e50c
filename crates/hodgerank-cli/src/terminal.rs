//! Messages, errors and progress on standard error.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use hodgerank_commands::Watch;
use hodgerank_io::BadRow;
use indicatif::{ProgressBar, ProgressStyle};

pub(crate) use hodgerank_commands::Work;
pub(crate) use hodgerank_report::words::thousands;

use crate::failure::Failure;

/// Standard error, and what may be printed there.
#[derive(Debug)]
pub struct Terminal {
    quiet: bool,
    interactive: bool,
    colour: bool,
}

/// Work shorter than this shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

impl Terminal {
    /// Standard error as it is; `quiet` says errors only.
    #[must_use]
    pub fn new(quiet: bool) -> Self {
        let interactive = std::io::stderr().is_terminal();
        let colour = interactive && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty());
        Self { quiet, interactive, colour }
    }

    /// A message that the user should see unless asked for quiet.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            say(&self.wrap(text));
        }
    }

    /// A warning: something that changes how the result must be read.
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            say(&self.wrap(&format!("{} {text}", self.paint("warning:", "33;1"))));
        }
    }

    /// Says why the run failed and what to do.
    pub fn fail(&self, failure: &Failure) {
        say(&self.wrap(&format!("{} {failure}", self.paint("error:", "31;1"))));
        if let Some(row) = failure.bad_row() {
            self.point_at(row);
        }
        if let Some(help) = failure.help() {
            say(&self.wrap(&format!("{} {help}", self.paint("help:", "36;1"))));
        }
    }

    /// Says how the run went where that needs saying, and what the program ends with.
    #[must_use]
    pub fn end(&self, done: Result<(), Failure>) -> ExitCode {
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
            Err(failure) => {
                self.fail(&failure);
                ExitCode::from(failure.exit_code())
            }
        }
    }

    /// Shows the row with its bad part underlined.
    fn point_at(&self, row: &BadRow) {
        let Some((text, fault)) = &row.snippet else { return };
        let gutter = row.position.number().to_string();
        let blank = " ".repeat(gutter.len());
        let shown = |part: &str| part.replace(char::is_control, " ");
        let before = shown(&text[..fault.start]).chars().count();
        let width = text[fault.clone()].chars().count().max(1);
        let marks = self.paint(&"^".repeat(width), "31;1");
        say(&format!("  {gutter} | {}\n  {blank} | {}{marks}", shown(text), " ".repeat(before)));
    }

    /// Does `work`, with a bar on the terminal once it has taken longer than a second.
    pub(crate) fn watch<T>(&self, what: Work<'_>, work: impl FnOnce() -> T) -> T {
        if self.quiet || !self.interactive {
            return work();
        }
        std::thread::scope(|scope| {
            let (done, stop) = channel::<()>();
            scope.spawn(move || {
                let started = Instant::now();
                let mut bar: Option<ProgressBar> = None;
                while let Err(RecvTimeoutError::Timeout) = stop.recv_timeout(REDRAW) {
                    if started.elapsed() > PATIENCE {
                        let bar = bar.get_or_insert_with(|| bar_for(&what, started));
                        match &what {
                            Work::Reading(_, progress) => bar.set_position(progress.bytes()),
                            Work::Counting { done, all, .. } => {
                                bar.set_length(all.load(Ordering::Relaxed));
                                bar.set_position(done.load(Ordering::Relaxed));
                            }
                            Work::Step(_) => {}
                        }
                        bar.tick();
                    }
                }
                if let Some(bar) = bar {
                    bar.finish_and_clear();
                }
            });
            let result = work();
            drop(done);
            result
        })
    }

    /// Breaks lines between words, where the terminal would break them anywhere.
    fn wrap(&self, text: &str) -> String {
        if self.interactive { textwrap::fill(text, textwrap::termwidth()) } else { text.to_owned() }
    }

    fn paint(&self, text: &str, code: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

impl Watch for Terminal {
    fn note(&self, text: &str) {
        self.note(text);
    }

    fn warn(&self, text: &str) {
        self.warn(text);
    }

    fn during(&self, what: Work<'_>, work: &mut dyn FnMut()) {
        self.watch(what, work);
    }
}

/// Prints a line. Where nobody listens any more (`2>&1 | head`), nothing is printed.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn bar_for(what: &Work<'_>, started: Instant) -> ProgressBar {
    let (bar, template) = match what {
        Work::Reading(total, _) if *total > 0 => (
            ProgressBar::new(*total),
            "reading {wide_bar} {binary_bytes}/{binary_total_bytes} ({binary_bytes_per_sec}, {eta})",
        ),
        Work::Reading(..) => (
            ProgressBar::new_spinner(),
            "{spinner} reading {binary_bytes} ({binary_bytes_per_sec})",
        ),
        Work::Counting { all, .. } => (
            ProgressBar::new(all.load(Ordering::Relaxed)),
            "{msg} {wide_bar} {pos}/{len} ({elapsed})",
        ),
        Work::Step(_) => (ProgressBar::new_spinner(), "{spinner} {msg} ({elapsed})"),
    };
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = bar.with_style(style).with_elapsed(started.elapsed());
    if let Work::Step(name) | Work::Counting { name, .. } = what {
        bar.set_message(*name);
    }
    bar
}
