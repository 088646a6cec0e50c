//! The state of long work, kept in a folder so that a run that was killed can go on.
//!
//! ```text
//! DIR/manifest.json                    which generation is whole, and what it belongs to
//! DIR/generation-00000007/rank-00003   the state of rank 3
//! ```
//!
//! Each rank writes its file into a new generation. When all are on disk, rank 0 renames a manifest
//! that names the generation into place, and older ones are removed. A kill at any moment leaves
//! the manifest of the old or of the new state, and that state is whole.
//!
//! One state is kept: that of the work at hand. A run that goes on does the work before it again
//! (with `--by`, the studies before it) and keeps nothing until it has come to the kept one.
//!
//! Failure modes: a state that cannot be written (a full disk) is a warning, and the work goes on
//! with the old state kept; one that cannot be read, or belongs to another run, is an error.

mod files;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{fs, io};

use hodgerank::communicator::Checkpoint;
use hodgerank_cli::Failure;
use hodgerank_commands::Watch as _;
use serde::{Deserialize, Serialize};

use crate::agree::{Failed, agree};
use crate::fingerprint::Fingerprint;
use crate::flags::CheckpointOptions;
use crate::session::{Session, Voice};
use crate::text::{from_bytes, to_bytes};
use crate::world::World;

/// Keeps states in a folder.
#[derive(Debug)]
pub struct Checkpoints {
    world: Arc<World>,
    voice: Arc<Voice>,
    folder: PathBuf,
    every: Duration,
    fingerprint: Fingerprint,
    now: Mutex<Now>,
}

#[derive(Debug)]
struct Now {
    /// When a state was kept last; rank 0's clock decides.
    last: Instant,
    generation: u64,
    study: usize,
    /// A state of an earlier run that nobody has asked for yet.
    waiting: Option<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    study: usize,
    work: String,
    state: Vec<u8>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    generation: u64,
    study: usize,
    work: String,
    /// Seconds since 1970.
    kept: u64,
    fingerprint: Fingerprint,
}

impl Checkpoints {
    /// Opens the folder, if one is asked for, and reads what an earlier run has kept in it.
    ///
    /// # Errors
    /// If the folder cannot be used, holds the state of a run that is not to be resumed, or that
    /// of another run, or a state is damaged.
    pub fn open(
        session: &Session,
        options: &CheckpointOptions,
        fingerprint: Fingerprint,
    ) -> Result<Option<Self>, Failed> {
        let Session { world, voice, .. } = session;
        let Some(folder) = options.checkpoint.clone() else { return Ok(None) };
        agree(world, prepare(&folder, world.rank()))?;
        let found = if world.is_first() { read_manifest(&folder) } else { Ok(None) };
        let mut bytes = to_bytes(&agree(world, found)?);
        world.broadcast(0, &mut bytes);
        let manifest: Option<Manifest> = agree(world, from_bytes(&bytes))?;
        if options.resume && manifest.is_none() {
            voice.note(&format!("nothing is kept in {} yet: beginning anew", folder.display()));
        }
        let mut now = Now { last: Instant::now(), generation: 0, study: 0, waiting: None };
        if let Some(manifest) = manifest {
            let usable = check(&manifest, options.resume, &fingerprint, &folder);
            agree(world, usable)?;
            let path = state_path(&folder, manifest.generation, world.rank());
            let state = files::read_state(&path).map_err(|error| cannot_read(&path, error));
            let state = agree(world, state)?;
            let Manifest { generation, study, work, kept, .. } = manifest;
            let age = seconds_now().saturating_sub(kept);
            voice.note(&format!("going on with {work} as it was kept {age} seconds ago"));
            now = Now { generation, waiting: Some(Waiting { study, work, state }), ..now };
        }
        let (world, voice) = (Arc::clone(world), Arc::clone(voice));
        let every = options.every;
        Ok(Some(Self { world, voice, folder, every, fingerprint, now: Mutex::new(now) }))
    }

    /// Says which study is solved now: the same work is done in each.
    pub fn begin_study(&self, study: usize) {
        self.now().study = study;
    }

    /// Removes what was kept: the work is done.
    pub fn remove(&self) {
        if self.world.is_first() {
            // Without a manifest the generations mean nothing.
            let _ = fs::remove_file(manifest_path(&self.folder));
        }
        self.world.barrier();
        self.remove_generations_but(None);
    }

    /// Writes a generation and makes it the one that counts, or says why that failed.
    fn write(&self, now: &Now, work: &str, state: &[u8]) -> Result<(), String> {
        let generation = now.generation + 1;
        let path = state_path(&self.folder, generation, self.world.rank());
        let folder = generation_path(&self.folder, generation);
        let written = fs::create_dir_all(folder).and_then(|()| files::write_state(&path, state));
        self.all_did(written.map_err(|error| cannot_write(&path, &error)))?;
        let manifest = Manifest {
            generation,
            study: now.study,
            work: work.to_owned(),
            kept: seconds_now(),
            fingerprint: self.fingerprint.clone(),
        };
        let path = manifest_path(&self.folder);
        let written = match self.world.is_first() {
            true => files::write_whole(&path, &[&to_bytes(&manifest)]),
            false => Ok(()),
        };
        self.all_did(written.map_err(|error| cannot_write(&path, &error)))
    }

    /// The first of everyone's failures, for everyone.
    fn all_did(&self, done: Result<(), String>) -> Result<(), String> {
        let said = self.world.all_gather(done.err().unwrap_or_default().as_bytes());
        match said.iter().find(|problem| !problem.is_empty()) {
            Some(problem) => Err(String::from_utf8_lossy(problem).into_owned()),
            None => Ok(()),
        }
    }

    /// Removes what no manifest names. What cannot be removed does no harm and is left.
    fn remove_generations_but(&self, kept: Option<u64>) {
        if !self.world.is_first_here() {
            return;
        }
        let kept = kept.map(|generation| generation_path(&self.folder, generation));
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let is_ours = entry.file_name().to_string_lossy().starts_with(GENERATION);
            if is_ours && Some(entry.path()) != kept {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Checkpoint for Checkpoints {
    fn is_due(&self) -> bool {
        let now = self.now();
        let due = self.world.is_first() && now.last.elapsed() >= self.every;
        let mut due = [f64::from(u8::from(due && now.waiting.is_none()))];
        self.world.max(&mut due);
        due[0] > 0.0
    }

    fn save(&self, work: &str, state: &[u8]) {
        let mut now = self.now();
        match self.write(&now, work, state) {
            Ok(()) => now.generation += 1,
            Err(problem) => self.voice.warn(&format!(
                "the state could not be kept, and the work goes on without: {problem}"
            )),
        }
        let kept = (now.generation > 0).then_some(now.generation);
        self.remove_generations_but(kept);
        now.last = Instant::now();
    }

    fn load(&self, work: &str) -> Option<Vec<u8>> {
        let mut now = self.now();
        let study = now.study;
        let waiting = now.waiting.take_if(|kept| kept.study == study && kept.work == work)?;
        now.last = Instant::now();
        Some(waiting.state)
    }
}

const GENERATION: &str = "generation-";

fn manifest_path(folder: &Path) -> PathBuf {
    folder.join("manifest.json")
}

fn generation_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("{GENERATION}{generation:08}"))
}

fn state_path(folder: &Path, generation: u64, rank: usize) -> PathBuf {
    generation_path(folder, generation).join(format!("rank-{rank:05}"))
}

/// Makes the folder and sees that it can be written to, before hours of work.
fn prepare(folder: &Path, rank: usize) -> Result<(), Failure> {
    let probe = folder.join(format!("probe-{rank:05}"));
    let tried = fs::create_dir_all(folder)
        .and_then(|()| files::write_whole(&probe, &[]))
        .and_then(|()| fs::remove_file(&probe));
    tried.map_err(|error| {
        let problem = format!("{}: states cannot be kept there: {error}", folder.display());
        Failure::usage(problem, "give --checkpoint a folder that all ranks can write to")
    })
}

fn read_manifest(folder: &Path) -> Result<Option<Manifest>, Failure> {
    let path = manifest_path(folder);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot_read(&path, error)),
    };
    let manifest = serde_json::from_slice(&bytes).map_err(|error| cannot_read(&path, error.into()));
    manifest.map(Some)
}

fn check(
    kept: &Manifest,
    resume: bool,
    fingerprint: &Fingerprint,
    folder: &Path,
) -> Result<(), Failure> {
    let folder = folder.display();
    if !resume {
        return Err(Failure::usage(
            format!("{folder} keeps the state of a run that did not end"),
            "add --resume to go on with it, or remove the folder to begin anew",
        ));
    }
    let differences = kept.fingerprint.differences(fingerprint);
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(
        format!("{folder} keeps the state of another run:\n  {}", differences.join("\n  ")),
        "run with the same ranks, files and options, or remove the folder to begin anew",
    ))
}

fn cannot_read(path: &Path, source: io::Error) -> Failure {
    let file = path.to_string_lossy().as_ref().into();
    Failure::from(hodgerank_io::Error::Read { file, source })
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
