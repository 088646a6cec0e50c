//! Messages, errors and progress on standard error.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use hodgerank_commands::Observer;
use hodgerank_io::BadRow;
use hodgerank_io::text::{visible_message, visible_name};
use indicatif::{ProgressBar, ProgressStyle};

pub(crate) use hodgerank_commands::Task;
pub(crate) use hodgerank_report::words::thousands;

use crate::failure::RunFailure;
use crate::width::{terminal_width, wrapping};

/// Standard error: messages, warnings, errors and progress bars.
#[derive(Debug)]
pub struct Terminal {
    quiet: bool,
    interactive: bool,
    colour: bool,
    started: Instant,
}

/// Progress bars appear once the program has run for so long, however many tasks that took.
const PROGRESS_DELAY: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

impl Terminal {
    /// The terminal of standard error; `quiet` prints errors only.
    #[must_use]
    pub fn new(quiet: bool) -> Self {
        let interactive = std::io::stderr().is_terminal();
        let colour = interactive && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty());
        Self { quiet, interactive, colour, started: Instant::now() }
    }

    /// Prints a message unless `quiet`.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            print(&self.wrap(&visible_message(text)));
        }
    }

    /// Prints a warning unless `quiet`.
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            self.print_marked("warning:", "33;1", text);
        }
    }

    /// Prints why the run failed and what to do.
    pub fn report_failure(&self, failure: &RunFailure) {
        self.print_marked("error:", "31;1", &failure.to_string());
        if let Some(row) = failure.bad_row() {
            self.point_at(row);
        }
        if let Some(help) = failure.help() {
            self.print_marked("help:", "36;1", &help);
        }
        if let Some(command) = failure.suggested_command() {
            // Not wrapped: it can be copied.
            print(&format!("{} {}", self.paint("try:", "36;1"), visible_message(&command)));
        }
    }

    fn print_marked(&self, mark: &str, code: &str, text: &str) {
        print(&self.wrap(&format!("{} {}", self.paint(mark, code), visible_message(text))));
    }

    /// Reports a failure, if any, and returns the exit code.
    #[must_use]
    pub fn end(&self, result: Result<(), RunFailure>) -> ExitCode {
        ExitCode::from(self.exit_code(result))
    }

    /// [`Terminal::end`] with the exit code as a number.
    pub(crate) fn exit_code(&self, result: Result<(), RunFailure>) -> u8 {
        match result {
            Ok(()) => 0,
            Err(failure) if failure.is_closed_pipe() => 0,
            Err(failure) => {
                self.report_failure(&failure);
                failure.exit_code()
            }
        }
    }

    /// Prints the row with its bad part underlined.
    fn point_at(&self, row: &BadRow) {
        let Some((text, fault)) = &row.snippet else { return };
        let gutter = row.position.number().to_string();
        let blank = " ".repeat(gutter.len());
        let before = text[..fault.start].chars().count();
        let width = text[fault.clone()].chars().count().max(1);
        let marks = self.paint(&"^".repeat(width), "31;1");
        let text = visible_name(text);
        print(&format!("  {gutter} | {text}\n  {blank} | {}{marks}", " ".repeat(before)));
    }

    /// Runs `work`, with a progress bar once the program has run for longer than a second.
    pub(crate) fn run<T>(&self, task: Task<'_>, work: impl FnOnce() -> T) -> T {
        if self.quiet || !self.interactive {
            return work();
        }
        std::thread::scope(|scope| {
            let (done, stop) = channel::<()>();
            scope.spawn(move || {
                let started = Instant::now();
                let mut bar: Option<ProgressBar> = None;
                while let Err(RecvTimeoutError::Timeout) = stop.recv_timeout(REDRAW) {
                    if self.started.elapsed() > PROGRESS_DELAY {
                        let bar = bar.get_or_insert_with(|| bar_for(&task, started));
                        match &task {
                            Task::Reading(_, progress) => bar.set_position(progress.bytes()),
                            Task::Counting { done, all, .. } => {
                                bar.set_length(all.load(Ordering::Relaxed));
                                bar.set_position(done.load(Ordering::Relaxed));
                            }
                            Task::Step(_) => {}
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

    /// Wraps lines between words; the terminal would wrap them anywhere.
    fn wrap(&self, text: &str) -> String {
        if self.interactive {
            textwrap::fill(text, wrapping(terminal_width()))
        } else {
            text.to_owned()
        }
    }

    fn paint(&self, text: &str, code: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

impl Observer for Terminal {
    fn note(&self, text: &str) {
        self.note(text);
    }

    fn warn(&self, text: &str) {
        self.warn(text);
    }

    fn during(&self, task: Task<'_>, work: &mut dyn FnMut()) {
        self.run(task, work);
    }
}

/// Prints a line to standard error. A closed pipe (`2>&1 | head`) is not an error.
fn print(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints what clap has to say about the arguments (an error, the help, the version) and returns the
/// exit code. Arguments can be names of files, which a pattern such as `*` expands to.
#[must_use]
pub fn end_parsing(definition: &clap::Command, error: &clap::Error) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(end_parsing_of(&arguments, definition, error))
}

/// [`end_parsing`] of these arguments.
pub(crate) fn end_parsing_of(
    arguments: &[OsString],
    definition: &clap::Command,
    error: &clap::Error,
) -> u8 {
    let given: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let shown: Vec<Cow<'_, str>> = given.iter().map(|argument| visible_name(argument)).collect();
    // The message for the arguments as they may be shown.
    let visible = match shown.iter().all(|argument| matches!(argument, Cow::Borrowed(_))) {
        true => None,
        false => definition.clone().try_get_matches_from(shown.iter().map(|s| &**s)).err(),
    };
    // If it cannot be printed, the exit code is all that is left.
    let _ = visible.as_ref().unwrap_or(error).print();
    if let Some(advice) = moved_flag(error) {
        print(advice);
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// Where to find what a flag of earlier versions did.
fn moved_flag(error: &clap::Error) -> Option<&'static str> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let flag = error.get(ContextKind::InvalidArg);
    let is_annotators = matches!(flag, Some(ContextValue::String(flag)) if flag == "--annotators");
    (error.kind() == ErrorKind::UnknownArgument && is_annotators)
        .then_some("help: to list the annotators, run: hodgerank annotators FILE")
}

fn bar_for(task: &Task<'_>, started: Instant) -> ProgressBar {
    let (bar, template) = match task {
        Task::Reading(total, _) if *total > 0 => (
            ProgressBar::new(*total),
            "reading {wide_bar} {percent}% of {binary_total_bytes} ({binary_bytes_per_sec}, {eta})",
        ),
        Task::Reading(..) => (
            ProgressBar::new_spinner(),
            "{spinner} reading {binary_bytes} ({binary_bytes_per_sec})",
        ),
        Task::Counting { all, .. } => (
            ProgressBar::new(all.load(Ordering::Relaxed)),
            "{msg} {wide_bar} {percent}% of {human_len} ({elapsed})",
        ),
        Task::Step(_) => (ProgressBar::new_spinner(), "{spinner} {msg} ({elapsed})"),
    };
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = bar.with_style(style).with_elapsed(started.elapsed());
    if let Task::Step(name) | Task::Counting { name, .. } = task {
        bar.set_message(*name);
    }
    bar
}
