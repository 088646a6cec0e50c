//! Starting programs under `mpirun`.

use std::path::Path;
use std::process::{Command, Stdio};

/// Time limit of a run, in seconds. A run that takes longer is ended, and its test fails.
pub(crate) const TIME_LIMIT: &str = "60";

/// Returns `mpirun -n size program`, with a time limit.
pub(crate) fn mpirun(size: usize, program: &Path) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", TIME_LIMIT, "mpirun", "-n", &size.to_string()]);
    command.args(["--oversubscribe", "--bind-to", "none"]).arg(program);
    // Containers for tests often have no user but root.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    // Waiting processes yield: there may be fewer cores than processes.
    command.env("OMPI_MCA_mpi_yield_when_idle", "1");
    command.stdin(Stdio::null());
    command
}
