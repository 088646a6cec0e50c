//! The folder that holds a checkpoint.
//!
//! ```text
//! DIR/manifest.json                       which generation is complete, and the run it belongs to
//! DIR/generation-00000007/process-00003   the state of process 3
//! ```
//!
//! Each process writes its file into a new generation. When all are on disk, process 0 renames a
//! manifest that names the generation into place, and older generations are removed. A kill at any
//! moment leaves the manifest of the old or of the new state, and that state is complete.
//!
//! Only one state is saved: that of the current solver. A resumed run repeats the work before it
//! (with `--by`, the earlier studies) and saves nothing until it reaches the saved state.
//!
//! If a state cannot be written (a full disk), the run prints a warning and continues; the old
//! state stays. If a state cannot be read, or belongs to another run, the run fails.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{fs, io};

use hodgerank::communicator::Checkpoint;
use hodgerank_cli::RunFailure;
use hodgerank_commands::Observer as _;
use hodgerank_io::text::visible_path;
use hodgerank_io::write::write_whole;
use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use super::options::CheckpointOptions;
use super::state_file::{read_state, write_state};
use crate::comm::{CollectiveError, Exchange as _, World};
use crate::session::{RootTerminal, Session};

/// Saves the states of solvers in a folder.
#[derive(Debug)]
pub struct CheckpointFolder {
    world: Arc<World>,
    terminal: Arc<RootTerminal>,
    path: PathBuf,
    interval: Duration,
    fingerprint: Fingerprint,
    progress: Mutex<CheckpointProgress>,
}

#[derive(Debug)]
struct CheckpointProgress {
    /// When a state was last saved; the clock of process 0 decides.
    last_save: Instant,
    generation: u64,
    study: usize,
    /// The state of an earlier run, until its solver resumes.
    pending: Option<PendingState>,
}

#[derive(Debug)]
struct PendingState {
    study: usize,
    solver: String,
    state: Vec<u8>,
}

/// JSON, so that users can read which run a checkpoint belongs to.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    generation: u64,
    study: usize,
    solver: String,
    /// Seconds since 1970.
    saved_at: u64,
    fingerprint: Fingerprint,
}

impl CheckpointFolder {
    /// Opens the folder, if the options name one, and reads the state of an earlier run in it.
    /// Collective.
    ///
    /// # Errors
    /// If the folder is not writable; if it holds the state of a run that is not to be resumed, or
    /// of a different run; if a state is damaged.
    pub fn open(
        session: &Session,
        options: &CheckpointOptions,
        fingerprint: Fingerprint,
    ) -> Result<Option<Self>, CollectiveError> {
        let Session { world, terminal, .. } = session;
        let Some(path) = options.checkpoint.clone() else { return Ok(None) };
        world.all_ok(prepare(&path, world.rank()))?;
        let manifest = world.is_root().then(|| read_manifest(&path));
        let manifest: Option<Manifest> = world.broadcast(world.all_ok(manifest.transpose())?);
        if options.resume && manifest.is_none() {
            let folder = visible_path(&path);
            terminal.note(&format!("no checkpoint in {folder} yet: starting from the beginning"));
        }
        let mut progress = CheckpointProgress {
            last_save: Instant::now(),
            generation: 0,
            study: 0,
            pending: None,
        };
        if let Some(manifest) = manifest {
            world.all_ok(check(&manifest, options.resume, &fingerprint, &path))?;
            let Manifest { generation, study, solver, saved_at, .. } = manifest;
            let file = state_path(&path, generation, world.rank());
            let state = read_state(&file).map_err(|error| read_error(&file, error));
            let state = world.all_ok(state)?;
            let age = seconds_now().saturating_sub(saved_at);
            terminal.note(&format!("resuming {solver} from the state saved {age} seconds ago"));
            progress.generation = generation;
            progress.pending = Some(PendingState { study, solver, state });
        }
        Ok(Some(Self {
            world: Arc::clone(world),
            terminal: Arc::clone(terminal),
            path,
            interval: options.every,
            fingerprint,
            progress: Mutex::new(progress),
        }))
    }

    /// Sets the number of the study that is being solved: states of solvers belong to a study.
    pub fn begin_study(&self, study: usize) {
        self.lock().study = study;
    }

    /// Removes the checkpoint, after the results were written. Collective.
    pub fn remove(&self) {
        if self.world.is_root() {
            // Without a manifest, generations are ignored.
            let _ = fs::remove_file(manifest_path(&self.path));
        }
        self.world.barrier();
        self.remove_generations_except(None);
    }

    /// Writes a new generation, then the manifest that names it.
    fn write(
        &self,
        progress: &CheckpointProgress,
        solver: &str,
        state: &[u8],
    ) -> Result<(), String> {
        let generation = progress.generation + 1;
        let path = state_path(&self.path, generation, self.world.rank());
        let folder = generation_path(&self.path, generation);
        let written = fs::create_dir_all(folder).and_then(|()| write_state(&path, state));
        self.all_written(&path, written)?;
        let manifest = Manifest {
            generation,
            study: progress.study,
            solver: solver.to_owned(),
            saved_at: seconds_now(),
            fingerprint: self.fingerprint.clone(),
        };
        let path = manifest_path(&self.path);
        let written = match self.world.is_root() {
            true => serde_json::to_vec(&manifest)
                .map_err(Into::into)
                .and_then(|bytes| write_whole(&path, &[&bytes])),
            false => Ok(()),
        };
        self.all_written(&path, written)
    }

    /// Returns the error of the lowest rank on all processes.
    fn all_written(&self, path: &Path, written: io::Result<()>) -> Result<(), String> {
        let problem = written.err().map(|error| format!("{}: {error}", visible_path(path)));
        self.world.all_gather(&problem).into_iter().flatten().next().map_or(Ok(()), Err)
    }

    /// Removes generations that no manifest names. Those that cannot be removed do no harm.
    fn remove_generations_except(&self, current: Option<u64>) {
        if !self.world.is_node_root() {
            return;
        }
        let current = current.map(|generation| generation_path(&self.path, generation));
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let is_generation = entry.file_name().to_string_lossy().starts_with(GENERATION_PREFIX);
            if is_generation && Some(entry.path()) != current {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, CheckpointProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Checkpoint for CheckpointFolder {
    fn is_due(&self) -> bool {
        let progress = self.lock();
        let due = self.world.is_root() && progress.last_save.elapsed() >= self.interval;
        let mut due = [f64::from(u8::from(due && progress.pending.is_none()))];
        self.world.max(&mut due);
        due[0] > 0.0
    }

    fn save(&self, solver: &str, state: &[u8]) {
        let mut progress = self.lock();
        match self.write(&progress, solver, state) {
            Ok(()) => progress.generation += 1,
            Err(problem) => self
                .terminal
                .warn(&format!("the checkpoint could not be saved; the run continues: {problem}")),
        }
        let current = (progress.generation > 0).then_some(progress.generation);
        self.remove_generations_except(current);
        progress.last_save = Instant::now();
    }

    fn load(&self, solver: &str) -> Option<Vec<u8>> {
        let mut progress = self.lock();
        let study = progress.study;
        let is_wanted =
            |pending: &mut PendingState| pending.study == study && pending.solver == solver;
        let pending = progress.pending.take_if(is_wanted)?;
        progress.last_save = Instant::now();
        Some(pending.state)
    }
}

const GENERATION_PREFIX: &str = "generation-";

fn manifest_path(folder: &Path) -> PathBuf {
    folder.join("manifest.json")
}

fn generation_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("{GENERATION_PREFIX}{generation:08}"))
}

fn state_path(folder: &Path, generation: u64, rank: usize) -> PathBuf {
    generation_path(folder, generation).join(format!("process-{rank:05}"))
}

/// Creates the folder and checks that it is writable, before hours of work.
fn prepare(folder: &Path, rank: usize) -> Result<(), RunFailure> {
    let probe = folder.join(format!("probe-{rank:05}"));
    let written = fs::create_dir_all(folder)
        .and_then(|()| write_whole(&probe, &[]))
        .and_then(|()| fs::remove_file(&probe));
    written.map_err(|error| {
        let folder = visible_path(folder);
        let problem = format!("{folder}: checkpoints cannot be saved there: {error}");
        RunFailure::usage(problem, "give --checkpoint a folder that all processes can write to")
    })
}

fn read_manifest(folder: &Path) -> Result<Option<Manifest>, RunFailure> {
    let path = manifest_path(folder);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(read_error(&path, error)),
    };
    let manifest = serde_json::from_slice(&bytes).map_err(|error| read_error(&path, error.into()));
    manifest.map(Some)
}

fn check(
    manifest: &Manifest,
    resume: bool,
    fingerprint: &Fingerprint,
    folder: &Path,
) -> Result<(), RunFailure> {
    let folder = visible_path(folder);
    if !resume {
        return Err(RunFailure::usage(
            format!("{folder} holds the checkpoint of an unfinished run"),
            "add --resume to continue that run, or remove the folder to start from the beginning",
        ));
    }
    let differences = manifest.fingerprint.differences(fingerprint);
    if differences.is_empty() {
        return Ok(());
    }
    Err(RunFailure::usage(
        format!(
            "{folder} holds the checkpoint of a different run:\n  {}",
            differences.join("\n  ")
        ),
        "use the same number of processes, files and options, or remove the folder to start from \
         the beginning",
    ))
}

fn read_error(path: &Path, source: io::Error) -> RunFailure {
    let file = path.to_string_lossy().as_ref().into();
    RunFailure::from(hodgerank_io::Error::Read { file, source })
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
