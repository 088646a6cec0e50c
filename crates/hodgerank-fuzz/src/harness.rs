//! Runs targets without instrumentation: seeded mutations of seeds, kept if they cause something new.
//!
//! The same seed and number of executions give the same inputs. Panics are caught, saved as findings,
//! and the run continues. What a process cannot survive (stack overflow, abort, endless loop) ends
//! it; the input at fault is then in the file [`Settings::running`].

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::mutate::{Random, mutate};
use crate::{Signature, Target};

/// An execution that takes longer than this is an endless loop.
const MAX_HANG: Duration = Duration::from_secs(60);

/// Number of findings after which a run ends: the rest would hardly be different.
const MAX_FINDINGS: usize = 20;

/// How a target is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where mutations start.
    pub seed: u64,
    /// Maximum number of executions.
    pub executions: u64,
    /// Maximum duration.
    pub time: Duration,
    /// Folder of further inputs to start from.
    pub corpus: PathBuf,
    /// Folder for inputs that break a promise.
    pub artifacts: PathBuf,
}

impl Settings {
    /// The file that has the current input while a target runs.
    #[must_use]
    pub fn running(&self, target: &Target) -> PathBuf {
        self.artifacts.join(format!(".running-{}", target.name))
    }
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// Executions.
    pub executions: u64,
    /// Inputs that did something new.
    pub kept: usize,
    /// Time taken.
    pub time: Duration,
    /// Saved inputs that broke a promise, and how.
    pub findings: Vec<(PathBuf, String)>,
}

/// Runs a target.
///
/// # Errors
/// If the corpus cannot be read or a finding cannot be saved.
pub fn run(target: &Target, settings: &Settings) -> io::Result<Summary> {
    std::fs::create_dir_all(&settings.artifacts)?;
    let running = settings.running(target);
    let started = Instant::now();
    let last_panic = watch_panics();
    let executions = watch_for_hangs(target.name);
    let mut random = Random::new(settings.seed);
    let mut corpus = target.seeds();
    corpus.extend(inputs(&settings.corpus.join(target.name))?);
    let unchanged = corpus.len();
    let (mut summary, mut seen, mut reported) =
        (Summary::default(), HashSet::new(), HashSet::new());
    for k in 0..settings.executions {
        if started.elapsed() > settings.time || summary.findings.len() >= MAX_FINDINGS {
            break;
        }
        let input = next_input(target, &corpus, unchanged, k, &mut random);
        std::fs::write(&running, &input)?;
        executions.store(k + 1, Ordering::Relaxed);
        summary.executions = k + 1;
        match panic::catch_unwind(AssertUnwindSafe(|| target.run(&input))) {
            Ok(signature) => {
                if seen.insert(signature) && k >= unchanged as u64 {
                    corpus.push(input);
                    summary.kept += 1;
                }
            }
            Err(_) => {
                let message = last_panic.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if reported.insert(Signature::of(&message)) {
                    let path = settings.artifacts.join(artifact_name(target, &input));
                    std::fs::write(&path, &input)?;
                    summary.findings.push((path, message));
                }
            }
        }
    }
    executions.store(0, Ordering::Relaxed);
    std::fs::remove_file(&running)?;
    summary.time = started.elapsed();
    Ok(summary)
}

/// First every input of the corpus as it is, then mutations.
fn next_input(
    target: &Target,
    corpus: &[Vec<u8>],
    unchanged: usize,
    k: u64,
    random: &mut Random,
) -> Vec<u8> {
    if k < unchanged as u64 {
        return corpus[k as usize].clone();
    }
    let mut input = corpus[random.below(corpus.len())].clone();
    let other = &corpus[random.below(corpus.len())];
    mutate(&mut input, other, target.words, target.max_bytes, random);
    input
}

/// The files of a folder in the order of their names; none if there is no folder.
///
/// # Errors
/// If a file cannot be read.
pub fn inputs(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let paths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<io::Result<_>>()?;
    paths.sort();
    paths.iter().map(std::fs::read).collect()
}

/// The name under which an input is saved.
#[must_use]
pub fn artifact_name(target: &Target, input: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    format!("{}-{:016x}", target.name, hasher.finish())
}

/// Keeps the message of the last panic instead of printing it.
fn watch_panics() -> Arc<Mutex<String>> {
    let last = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&last);
    panic::set_hook(Box::new(move |info| {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = write!(text, "{info}");
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }));
    last
}

/// Aborts the process if one execution takes longer than [`MAX_HANG`]. The counter is the number of
/// executions, 0 if none is running.
fn watch_for_hangs(name: &'static str) -> Arc<AtomicU64> {
    let executions = Arc::new(AtomicU64::new(0));
    let watched = Arc::downgrade(&executions);
    std::thread::spawn(move || {
        let (mut last, mut since) = (0, Instant::now());
        while let Some(executions) = watched.upgrade() {
            let now = executions.load(Ordering::Relaxed);
            if now != last {
                (last, since) = (now, Instant::now());
            } else if now > 0 && since.elapsed() > MAX_HANG {
                eprintln!("{name}: execution {now} does not end");
                std::process::abort();
            }
            drop(executions);
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    executions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails_on_q(bytes: &[u8]) -> Signature {
        assert!(!bytes.contains(&b'q'), "a q at {:?}", bytes.iter().position(|&b| b == b'q'));
        Signature::of(if bytes.contains(&b'x') { "with" } else { "without" })
    }

    /// A broken promise is found and saved once, and the run is the same every time.
    #[test]
    fn findings_are_saved_and_runs_repeat() {
        let target = Target {
            name: "test",
            max_bytes: 64,
            check: fails_on_q,
            seeds: || vec![b"abc".to_vec()],
            words: &[b"q", b"x"],
        };
        let folder = tempfile::tempdir().unwrap();
        let run = || {
            let settings = Settings {
                seed: 7,
                executions: 500,
                time: Duration::from_secs(60),
                corpus: folder.path().join("corpus"),
                artifacts: folder.path().join("artifacts"),
            };
            run(&target, &settings).unwrap()
        };
        let (first, second) = (run(), run());
        assert_eq!((first.executions, first.findings.len()), (500, 1));
        assert_eq!(first.findings, second.findings);
        let (path, message) = &first.findings[0];
        assert!(message.contains("a q at"), "{message}");
        assert!(std::fs::read(path).unwrap().contains(&b'q'));
        assert_eq!(std::fs::read_dir(folder.path().join("artifacts")).unwrap().count(), 1);
    }
}
