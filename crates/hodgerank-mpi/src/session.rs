//! What every command needs: the processes, the terminal, the threads.

use std::sync::Arc;

use clap::{ArgMatches, Args};
use hodgerank_cli::Terminal;
use hodgerank_commands::{Observer, Provenance, Task};
use hodgerank_io::read::InputFile;
use hodgerank_report::words::thousands;

use crate::comm::{World, peak_memory};

/// One run of the program, on this process.
#[derive(Debug)]
pub struct Session {
    /// All processes.
    pub world: Arc<World>,
    /// Where messages and progress go.
    pub terminal: Arc<RootTerminal>,
    /// Number of threads of this process.
    pub threads: usize,
    /// The arguments of the command.
    pub matches: ArgMatches,
}

impl Session {
    /// What a result was computed with and from; `A` are the command's own arguments. No process reads
    /// whole files, so they are not hashed.
    pub fn provenance<A: Args>(&self, files: &[String]) -> Provenance {
        let files = files.iter().map(|file| InputFile::unhashed(file)).collect();
        Provenance::of_arguments::<A>(&self.matches).with_files(files)
    }

    /// Prints the peak memory of the processes, if it is known. Collective.
    pub fn report_peak_memory(&self) {
        let Some(bytes) = peak_memory::max_peak_memory(&self.world) else { return };
        let megabytes = thousands(bytes.div_ceil(1_000_000));
        self.terminal.note(&match self.world.size() {
            1 => format!("1 process, peak memory {megabytes} MB"),
            size => format!("{size} processes, peak memory of each at most {megabytes} MB"),
        });
    }
}

/// The terminal of process 0. On other processes it prints nothing, so that each message appears
/// once.
pub struct RootTerminal(Option<Terminal>);

impl RootTerminal {
    /// Creates the terminal of this process. With `quiet` it prints errors only.
    #[must_use]
    pub fn new(world: &World, quiet: bool) -> Self {
        Self(world.is_root().then(|| Terminal::new(quiet)))
    }
}

impl Observer for RootTerminal {
    fn note(&self, text: &str) {
        if let Some(terminal) = &self.0 {
            Observer::note(terminal, text);
        }
    }

    fn warn(&self, text: &str) {
        if let Some(terminal) = &self.0 {
            Observer::warn(terminal, text);
        }
    }

    fn during(&self, what: Task<'_>, work: &mut dyn FnMut()) {
        match &self.0 {
            Some(terminal) => terminal.during(what, work),
            None => work(),
        }
    }
}

impl std::fmt::Debug for RootTerminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RootTerminal").field(&self.0.is_some()).finish()
    }
}

/// Returns the default number of threads: the node's cores divided by its processes.
#[must_use]
pub fn default_threads(world: &World) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (cores / world.node_size()).max(1)
}
