//! `simulate`: synthetic studies with known true scores.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args, ValueEnum};
use hodgerank::simulate::{AnnotatorKind, Noise, SimulateOptions, Simulation};
use hodgerank_io::Format;
use hodgerank_io::write::{VoteColumns, VoteWriter};

use crate::failure::Failure;
use crate::observer::{Observer, Task};
use crate::text::parse_share;

/// Arguments of `simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Number of items
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub items: usize,
    /// Number of votes
    #[arg(long, value_name = "M", default_value_t = 2000)]
    pub votes: u64,
    /// Share of votes that are reversed at random, such as 5%
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = parse_share)]
    pub flips: f64,
    /// Share of ties
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = parse_share)]
    pub ties: f64,
    /// Noise of careful annotators
    #[arg(long, value_enum, default_value_t = NoiseKind::None)]
    pub noise: NoiseKind,
    /// Score difference at which 73% of Bradley–Terry votes prefer the better item [default: 0.2]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub noise_scale: Option<f64>,
    /// Standard deviation of Gaussian noise on score differences [default: 0.1]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub sigma: Option<f64>,
    /// Outcomes are score differences (column y), not words
    #[arg(long)]
    pub graded: bool,
    /// Annotators by kind, such as careful=20,careless=3,malicious=2,always-left=1
    #[arg(long, value_name = "KIND=N,…", value_delimiter = ',', value_parser = parse_annotators)]
    pub annotators: Vec<(AnnotatorKind, u32)>,
    /// Seed of the study
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    /// Add a column that marks the bad votes
    #[arg(long)]
    pub mark_bad: bool,
}

/// Noise of careful annotators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NoiseKind {
    /// The better item always wins
    None,
    /// The better item wins with a probability that grows with the difference of scores
    BradleyTerry,
    /// The sign of the difference of scores plus Gaussian noise
    Gaussian,
}

/// A study that is ready to be generated.
#[derive(Debug)]
pub struct SyntheticStudy {
    /// The votes and the true scores.
    pub simulation: Simulation,
    /// Labels of the items.
    pub items: Vec<String>,
    columns: VoteColumns,
}

impl SyntheticStudy {
    /// A study with these options.
    ///
    /// # Errors
    /// If an option is invalid.
    pub fn new(options: &SimulateArgs) -> Result<Self, Failure> {
        let plain = options.options()?;
        let simulation = Simulation::new(&plain)?;
        let columns = VoteColumns {
            annotator: !simulation.annotators().is_empty(),
            graded: plain.graded,
            bad: options.mark_bad,
        };
        Ok(Self { simulation, items: item_names(plain.items), columns })
    }

    /// Writes the votes to `out`, which messages call `name`, and says how many are bad.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write<W: io::Write + Send>(
        self,
        out: W,
        name: &str,
        format: Format,
        observer: &dyn Observer,
    ) -> Result<(W, u64), Failure> {
        let Self { mut simulation, items, columns } = self;
        let annotators = annotator_names(simulation.annotators());
        let (done, all) = (AtomicU64::new(0), AtomicU64::new(simulation.remaining()));
        let task = Task::Counting { name: "simulating", done: &done, all: &all };
        observer.run(task, || {
            let failed =
                |source: io::Error| Failure::File(hodgerank_io::Error::write(&name.into(), source));
            let mut bad = 0;
            let mut writer =
                VoteWriter::new(out, format, columns, &items, &annotators).map_err(failed)?;
            for vote in simulation.by_ref() {
                bad += u64::from(vote.bad);
                writer.push(vote).map_err(failed)?;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok((writer.finish().map_err(failed)?, bad))
        })?
    }
}

impl SimulateArgs {
    fn options(&self) -> Result<SimulateOptions, Failure> {
        let noise = match self.noise {
            NoiseKind::None => Noise::None,
            NoiseKind::BradleyTerry => {
                Noise::BradleyTerry { scale: self.noise_scale.unwrap_or(0.2) }
            }
            NoiseKind::Gaussian => Noise::Gaussian { sigma: self.sigma.unwrap_or(0.1) },
        };
        for (given, flag, kind, name) in [
            (self.noise_scale, "--noise-scale", NoiseKind::BradleyTerry, "bradley-terry"),
            (self.sigma, "--sigma", NoiseKind::Gaussian, "gaussian"),
        ] {
            if given.is_some() && self.noise != kind {
                return Err(Failure::usage(
                    format!("{flag} is an option of --noise {name}"),
                    format!("add --noise {name}, or leave {flag} out"),
                ));
            }
        }
        Ok(SimulateOptions {
            items: self.items,
            votes: self.votes,
            flips: self.flips,
            ties: self.ties,
            noise,
            graded: self.graded,
            annotators: self.annotators.clone(),
            seed: self.seed,
        })
    }
}

/// `item-01`, `item-02`, …: as many digits as the last one needs.
#[must_use]
pub fn item_names(items: usize) -> Vec<String> {
    let digits = items.to_string().len();
    (1..=items).map(|number| format!("item-{number:0digits$}")).collect()
}

/// `careful-01`, `malicious-02`, …: the name tells the truth about its bearer.
#[must_use]
pub fn annotator_names(kinds: &[AnnotatorKind]) -> Vec<String> {
    let digits = kinds.len().to_string().len();
    let named = kinds.iter().enumerate();
    named.map(|(place, kind)| format!("{}-{:0digits$}", kind.as_str(), place + 1)).collect()
}

fn parse_annotators(text: &str) -> Result<(AnnotatorKind, u32), String> {
    let expected = "expected KIND=NUMBER with a kind of careful, careless, malicious, always-left";
    let (kind, number) = text.split_once('=').ok_or(expected)?;
    let kind = kind.trim().parse::<AnnotatorKind>().map_err(|_| expected)?;
    Ok((kind, number.trim().parse().map_err(|_| expected)?))
}
