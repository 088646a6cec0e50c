//! The flags of checkpoints.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hodgerank_io::write::Outputs;

/// Where and how often checkpoints are saved, and whether to resume from one.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointOptions {
    /// Folder in which the state of the solver is saved, one file for each process; removed when
    /// the run succeeds
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,
    /// How often the state is saved: 90s, 15m, 2h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_time, requires = "checkpoint")]
    pub every: Duration,
    /// Continue from the state in the folder of --checkpoint; files, options and the number of
    /// processes must be those of the run that saved it
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

impl CheckpointOptions {
    /// Checks that the folder is no other output: it is emptied when the run succeeds.
    ///
    /// # Errors
    /// If it is an input or an output of the run.
    pub fn claim(&self, outputs: &mut Outputs) -> Result<(), hodgerank_io::Error> {
        self.checkpoint
            .as_ref()
            .map_or(Ok(()), |path| outputs.claim_folder("--checkpoint", &path.to_string_lossy()))
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time such as 90s, 15m or 2h".to_owned();
    let (number, seconds) = match text.char_indices().last() {
        Some((end, 's')) => (&text[..end], 1.0),
        Some((end, 'm')) => (&text[..end], 60.0),
        Some((end, 'h')) => (&text[..end], 3600.0),
        _ => return Err(expected()),
    };
    let number: f64 = number.parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| expected())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(parse_time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("0.5m"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_time("2h"), Ok(Duration::from_secs(7200)));
        for bad in ["", "s", "60", "-1s", "1 d", "nans"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }
}
