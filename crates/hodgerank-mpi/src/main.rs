//! The `hodgerank-mpi` program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use clap::FromArgMatches as _;
use hodgerank_cli::Terminal;
use hodgerank_mpi::agree::{Failed, agree};
use hodgerank_mpi::fingerprint::Fingerprint;
use hodgerank_mpi::flags::{Arguments, Command};
use hodgerank_mpi::session::{Session, Voice, default_threads};
use hodgerank_mpi::{World, clean, outliers, rank};

fn main() -> ExitCode {
    let world = match World::start() {
        Ok(world) => Arc::new(world),
        Err(failure) => return Terminal::new(false).end(Err(failure)),
    };
    let done = catch_unwind(AssertUnwindSafe(|| program(&world)));
    // A rank that broke cannot agree on anything any more, and the others would wait for it.
    let Ok(code) = done else { world.abort(101) };
    // What was said is out before the first rank ends: mpirun then ends the others.
    world.barrier();
    code
}

fn program(world: &Arc<World>) -> ExitCode {
    let flags = Arguments::clap();
    let parsed = flags.clone().try_get_matches().and_then(|matches| {
        let arguments = Arguments::from_arg_matches(&matches)?;
        Ok((matches, arguments))
    });
    let (matches, mut arguments) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            if world.is_first() {
                // Where nobody listens any more, nothing is printed.
                let _ = error.print();
            }
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let command = matches.subcommand().and_then(|(name, matches)| {
        Some(Fingerprint::of_options(flags.find_subcommand(name)?, matches))
    });
    let fingerprint = command.unwrap_or_default();
    let quiet = arguments.run.quiet;
    let work = || {
        let threads = agree(world, arguments.run.start_threads(default_threads(world)))?;
        let voice = Arc::new(Voice::new(world, quiet));
        let session = Session { world: Arc::clone(world), voice, threads };
        match &mut arguments.command {
            Command::Rank(flags) => {
                // mpirun gives every rank a terminal of no width, wherever its output goes.
                flags.rank.output.plain = true;
                rank::run(&session, &flags.rank, &flags.checkpoint, fingerprint)
            }
            Command::Outliers(flags) => outliers::run(&session, flags, fingerprint),
            Command::Clean(flags) => clean::run(&session, flags, fingerprint),
        }
    };
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Here(failure)) => Terminal::new(quiet).end(Err(failure)),
        Err(Failed::Elsewhere { exit_code }) => ExitCode::from(exit_code),
    }
}
