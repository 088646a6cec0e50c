//! The `hodgerank-mpi` program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use clap::FromArgMatches as _;
use hodgerank_cli::{RunFailure, Terminal};
use hodgerank_mpi::checkpoint::Fingerprint;
use hodgerank_mpi::comm::{CollectiveError, World};
use hodgerank_mpi::commands::MpiArgs;
use hodgerank_mpi::session::{RootTerminal, Session, default_threads};

fn main() -> ExitCode {
    let world = match World::start() {
        Ok(world) => Arc::new(world),
        Err(failure) => return Terminal::new(false).end(Err(failure)),
    };
    let result = catch_unwind(AssertUnwindSafe(|| run(&world)));
    // After a panic, this process takes part in no collective call, for which the others would wait.
    let Ok(code) = result else { world.abort(101) };
    // mpirun ends all processes when one fails: messages must be printed before.
    world.barrier();
    code
}

fn run(world: &Arc<World>) -> ExitCode {
    let definition = MpiArgs::clap();
    let parsed = definition.clone().try_get_matches().and_then(|matches| {
        let args = MpiArgs::from_arg_matches(&matches)?;
        Ok((matches, args))
    });
    let (matches, args) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            return match world.is_root() {
                true => hodgerank_cli::end_parsing(&definition, &error),
                false => ExitCode::from(error.exit_code() as u8),
            };
        }
    };
    let fingerprint = matches.subcommand().and_then(|(name, matches)| {
        Some(Fingerprint::of_options(definition.find_subcommand(name)?, matches))
    });
    let MpiArgs { command, run } = args;
    let work = || {
        world.all_ok(world.check_same_version())?;
        world.all_ok(hodgerank_cli::prepare_for_signals().map_err(RunFailure::Signals))?;
        let threads = world.all_ok(run.start_threads(default_threads(world)))?;
        let terminal = Arc::new(RootTerminal::new(world, run.quiet));
        let matches = matches.subcommand().map_or(&matches, |(_, matches)| matches).clone();
        let session = Session { world: Arc::clone(world), terminal, threads, matches };
        command.run(&session, fingerprint.unwrap_or_default())
    };
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(CollectiveError::Local(failure)) => Terminal::new(run.quiet).end(Err(failure)),
        Err(CollectiveError::Remote { exit_code }) => ExitCode::from(exit_code),
    }
}
