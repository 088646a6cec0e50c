//! What every command of the program works with.

use std::sync::Arc;

use hodgerank_cli::Terminal;
use hodgerank_commands::{Watch, Work};
use hodgerank_report::words::thousands;

use crate::memory;
use crate::world::World;

/// The ranks, this rank's voice, and its threads.
#[derive(Debug)]
pub struct Session {
    /// All ranks.
    pub world: Arc<World>,
    /// Who hears of notes and warnings.
    pub voice: Arc<Voice>,
    /// Threads of this rank.
    pub threads: usize,
}

impl Session {
    /// Says how much memory a rank has needed, where the system tells.
    pub fn tell_memory(&self) {
        let Some(bytes) = memory::most_bytes_of_a_rank(&self.world) else { return };
        let megabytes = thousands(bytes.div_ceil(1_000_000));
        self.voice.note(&match self.world.size() {
            1 => format!("one rank, which held at most {megabytes} MB"),
            ranks => format!("{ranks} ranks, each of which held at most {megabytes} MB"),
        });
    }
}

/// Speaks on rank 0 and is silent elsewhere, so that everything is said once.
pub struct Voice(Option<Terminal>);

impl Voice {
    /// The voice of this rank.
    #[must_use]
    pub fn new(world: &World, quiet: bool) -> Self {
        Self(world.is_first().then(|| Terminal::new(quiet)))
    }
}

impl Observer for Voice {
    fn note(&self, text: &str) {
        if let Some(terminal) = &self.0 {
            Watch::note(terminal, text);
        }
    }

    fn warn(&self, text: &str) {
        if let Some(terminal) = &self.0 {
            Watch::warn(terminal, text);
        }
    }

    fn during(&self, what: Task<'_>, work: &mut dyn FnMut()) {
        match &self.0 {
            Some(terminal) => terminal.during(what, work),
            None => work(),
        }
    }
}

impl std::fmt::Debug for Voice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "speaking" } else { "silent" })
    }
}

/// Threads of a rank where nothing is said: the node's cores, shared by its ranks.
#[must_use]
pub fn default_threads(world: &World) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (cores / world.ranks_here()).max(1)
}
