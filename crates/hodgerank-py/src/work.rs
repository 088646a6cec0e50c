//! A command on a thread of its own.
//!
//! The calling thread lets go of the interpreter's lock, wakes a few times a second to hand on
//! messages and to see whether the user wants to stop (Ctrl-C), and takes the answer. After Ctrl-C
//! the exception is raised at once; the worker ends before its next step and its answer is dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hodgerank_commands::{Failure, Watch, Work};
use hodgerank_io::read::Progress;
use pyo3::prelude::*;

use crate::errors::{exception, usage};

/// How long the caller sleeps between two looks.
const NAP: Duration = Duration::from_millis(50);

/// What the worker has to say, and whether it is to go on.
#[derive(Default)]
struct Wire {
    stopped: AtomicBool,
    said: Mutex<Vec<(&'static str, String)>>,
    step: Mutex<Option<Step>>,
}

#[derive(Clone)]
struct Step {
    name: &'static str,
    read: Option<(u64, Arc<Progress>)>,
}

impl Wire {
    fn say(&self, how: &'static str, text: &str) {
        lock(&self.said).push((how, text.to_owned()));
    }
}

impl Watch for Wire {
    fn note(&self, text: &str) {
        self.say("note", text);
    }

    fn warn(&self, text: &str) {
        self.say("warn", text);
    }

    fn during(&self, what: Work<'_>, work: &mut dyn FnMut()) {
        if self.stopped.load(Ordering::Relaxed) {
            return;
        }
        *lock(&self.step) = Some(match what {
            Work::Reading(bytes, progress) => {
                Step { name: "reading", read: Some((bytes, Arc::clone(progress))) }
            }
            Work::Step(name) | Work::Counting { name, .. } => Step { name, read: None },
        });
        work();
        *lock(&self.step) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does `work`, which gets the number of threads to read with, and tells `watcher` (an object with
/// `note`, `warn` and `step`) how it goes.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    watcher: &Bound<'_, PyAny>,
    work: impl FnOnce(usize, &dyn Watch) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
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
    let wire = Arc::new(Wire::default());
    let (hand_over, mut answer) = channel();
    let of_worker = Arc::clone(&wire);
    let worker = std::thread::Builder::new().name("hodgerank".to_owned()).spawn(move || {
        let work = || work(threads.unwrap_or(0), &*of_worker);
        let done = catch_unwind(AssertUnwindSafe(|| match &pool {
            Some(pool) => pool.install(work),
            None => work(),
        }));
        // Nobody listens any more after Ctrl-C.
        let _ = hand_over.send(done);
    });
    if let Err(error) = worker {
        return Err(usage(py, &format!("no thread could be started: {error}"), "end some others"));
    }
    loop {
        // Borrowed for this thread alone: a receiver cannot be shared.
        let listener = &mut answer;
        match py.detach(move || listener.recv_timeout(NAP)) {
            Ok(Ok(done)) => {
                tell(&wire, watcher)?;
                return done.map_err(|failure| exception(py, &failure));
            }
            // A bug of ours: the interpreter goes on.
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                let problem = "hodgerank gave up in a way that it never should; please report this";
                return Err(exception(
                    py,
                    &Failure::Unanswerable {
                        problem: problem.to_owned(),
                        help: "the message on standard error tells where".to_owned(),
                    },
                ));
            }
            Err(RecvTimeoutError::Timeout) => {
                let looked = py.check_signals().and_then(|()| tell(&wire, watcher));
                if let Err(error) = looked {
                    wire.stopped.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    }
}

/// Hands on what was said, and where the work is.
fn tell(wire: &Wire, watcher: &Bound<'_, PyAny>) -> PyResult<()> {
    let said = std::mem::take(&mut *lock(&wire.said));
    for (how, text) in said {
        watcher.call_method1(how, (text,))?;
    }
    let step = lock(&wire.step).clone();
    if let Some(Step { name, read }) = step {
        let (done, all) = read.map_or((0, 0), |(bytes, progress)| (progress.bytes(), bytes));
        watcher.call_method1("step", (name, done, all))?;
    }
    Ok(())
}
