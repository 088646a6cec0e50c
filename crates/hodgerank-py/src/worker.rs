//! Runs a command on its own thread.
//!
//! The calling thread releases the interpreter lock, wakes up several times a second to forward
//! messages and to check for Ctrl-C, and receives the result. After Ctrl-C the exception is raised at
//! once; the worker stops before its next step and its result is dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hodgerank_commands::keywords::with_keywords;
use hodgerank_commands::{Failure, FileRecord, Observer, Task};
use hodgerank_io::read::InputFile;
use hodgerank_io::read::Progress;
use hodgerank_io::text::visible_message;
use pyo3::prelude::*;

use crate::errors::{exception, usage};

/// Interval at which the caller forwards messages and checks for Ctrl-C.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Messages of the worker, its progress, and whether it should stop.
#[derive(Default)]
struct SharedState {
    stopped: AtomicBool,
    messages: Mutex<Vec<(&'static str, String)>>,
    task: Mutex<Option<CurrentTask>>,
    files: FileRecord,
}

#[derive(Clone)]
struct CurrentTask {
    name: &'static str,
    read: Option<(u64, Arc<Progress>)>,
}

impl SharedState {
    fn push(&self, kind: &'static str, text: &str) {
        let text = with_keywords(text);
        lock(&self.messages).push((kind, visible_message(&text).into_owned()));
    }
}

impl Observer for SharedState {
    fn note(&self, text: &str) {
        self.push("note", text);
    }

    fn warn(&self, text: &str) {
        self.push("warn", text);
    }

    fn during(&self, task: Task<'_>, work: &mut dyn FnMut()) {
        if self.stopped.load(Ordering::Relaxed) {
            return;
        }
        *lock(&self.task) = Some(match task {
            Task::Reading(bytes, progress) => {
                CurrentTask { name: "reading", read: Some((bytes, Arc::clone(progress))) }
            }
            Task::Step(name) | Task::Counting { name, .. } => CurrentTask { name, read: None },
        });
        work();
        *lock(&self.task) = None;
    }

    fn file_record(&self) -> Option<&FileRecord> {
        Some(&self.files)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` with the number of threads for reading; `observer` is an object with the methods `note`,
/// `warn` and `step`.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    observer: &Bound<'_, PyAny>,
    work: impl FnOnce(usize, &dyn Observer) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    run_recorded(py, threads, observer, work).map(|(result, _)| result)
}

/// [`run`] with the files that were read.
pub(crate) fn run_recorded<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    observer: &Bound<'_, PyAny>,
    work: impl FnOnce(usize, &dyn Observer) -> Result<T, Failure> + Send + 'static,
) -> PyResult<(T, Vec<InputFile>)> {
    let pool = match threads {
        None => None,
        Some(0) => {
            return Err(usage(py, "threads = 0: expected at least 1", "leave it out for all"));
        }
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            Some(pool.map_err(|error| {
                usage(py, &format!("the threads could not be started: {error}"), "ask for fewer")
            })?)
        }
    };
    let state = Arc::new(SharedState::default());
    let (sender, mut receiver) = channel();
    let worker_state = Arc::clone(&state);
    let worker = std::thread::Builder::new().name("hodgerank".to_owned()).spawn(move || {
        let work = || work(threads.unwrap_or(0), &*worker_state);
        let result = catch_unwind(AssertUnwindSafe(|| match &pool {
            Some(pool) => pool.install(work),
            None => work(),
        }));
        // After Ctrl-C nobody receives the result.
        let _ = sender.send(result);
    });
    if let Err(error) = worker {
        return Err(usage(py, &format!("no thread could be started: {error}"), "end some others"));
    }
    loop {
        // A receiver cannot be shared between threads, only borrowed.
        let receiver_here = &mut receiver;
        match py.detach(move || receiver_here.recv_timeout(POLL_INTERVAL)) {
            Ok(Ok(result)) => {
                forward(&state, observer)?;
                let result = result.map_err(|failure| exception(py, &failure))?;
                return Ok((result, state.files.take()));
            }
            // A bug in hodgerank must not end the interpreter.
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                let problem = "hodgerank stopped because of an internal error; please report it";
                return Err(exception(
                    py,
                    &Failure::Unanswerable {
                        problem: problem.to_owned(),
                        help: "the message on standard error says where".to_owned(),
                    },
                ));
            }
            Err(RecvTimeoutError::Timeout) => {
                let polled = py.check_signals().and_then(|()| forward(&state, observer));
                if let Err(error) = polled {
                    state.stopped.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    }
}

/// Forwards messages and progress to the observer.
fn forward(state: &SharedState, observer: &Bound<'_, PyAny>) -> PyResult<()> {
    let messages = std::mem::take(&mut *lock(&state.messages));
    for (kind, text) in messages {
        observer.call_method1(kind, (text,))?;
    }
    let task = lock(&state.task).clone();
    if let Some(CurrentTask { name, read }) = task {
        let (done, all) = read.map_or((0, 0), |(bytes, progress)| (progress.bytes(), bytes));
        observer.call_method1("step", (name, done, all))?;
    }
    Ok(())
}
