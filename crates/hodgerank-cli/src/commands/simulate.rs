//! `hodgerank simulate`: synthetic studies with known truth.

use std::io::{self, Write as _};

use clap::{Args, ValueEnum};
use hodgerank::simulate::{AnnotatorKind, Noise, SimulateOptions, Simulation};
use hodgerank_io::Format;
use hodgerank_io::write::{Output, VoteColumns, VoteWriter};

use crate::args::{InputFormat, parse_share};
use crate::failure::Failure;
use crate::terminal::{Terminal, Work, thousands};

/// Flags of `simulate`.
#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    /// Number of items
    #[arg(long, value_name = "N", default_value_t = 16)]
    items: usize,
    /// Number of votes
    #[arg(long, value_name = "M", default_value_t = 2000)]
    votes: u64,
    /// Share of votes turned round at random, such as 5%
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = parse_share)]
    flips: f64,
    /// Share of votes answered with a tie
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = parse_share)]
    ties: f64,
    /// How careful annotators err
    #[arg(long, value_enum, default_value_t = NoiseKind::None)]
    noise: NoiseKind,
    /// Score difference at which Bradley–Terry votes go 73 to 27 [default: 0.2]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    noise_scale: Option<f64>,
    /// Standard deviation of Gaussian noise on score differences [default: 0.1]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    sigma: Option<f64>,
    /// Outcomes are score differences (column y), not words
    #[arg(long)]
    graded: bool,
    /// Annotators by kind, such as careful=20,careless=3,malicious=2,always-left=1
    #[arg(long, value_name = "KIND=N,…", value_delimiter = ',', value_parser = parse_annotators)]
    annotators: Vec<(AnnotatorKind, u32)>,
    /// Same seed, same study
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Adds a column that marks the bad votes
    #[arg(long)]
    mark_bad: bool,
    /// File of votes: .csv, .tsv, .jsonl, .parquet or .arrow [default: CSV on standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
    /// Format of the votes, where the name does not tell
    #[arg(long, value_enum)]
    format: Option<InputFormat>,
    /// File for the true scores (CSV: item,score)
    #[arg(long, value_name = "FILE")]
    truth: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NoiseKind {
    /// The better item always wins
    None,
    /// The better item wins with a probability that grows with the difference of scores
    BradleyTerry,
    /// The sign of the difference of scores plus normal noise
    Gaussian,
}

pub(crate) fn run(arguments: &SimulateArguments, terminal: &Terminal) -> Result<(), Failure> {
    let options = arguments.options()?;
    let format = arguments.format()?;
    let mut simulation = Simulation::new(&options)?;
    let output = Output::create(arguments.output.as_deref().unwrap_or("-"))?;
    let truth = arguments.truth.as_deref().map(Output::create).transpose()?;
    let items = item_names(options.items);
    if let Some(truth) = truth {
        write_truth(truth, &items, simulation.truth())?;
    }
    let columns = VoteColumns {
        annotator: !simulation.annotators().is_empty(),
        graded: options.graded,
        bad: arguments.mark_bad,
    };
    let annotators = annotator_names(simulation.annotators());
    let mut bad = 0_u64;
    let written = terminal.watch(Work::Step("simulating"), || -> Result<Output, Failure> {
        let name = arguments.output.as_deref().unwrap_or("standard output");
        let failed = |source: io::Error| {
            Failure::File(hodgerank_io::Error::Write { file: name.into(), source })
        };
        let mut writer =
            VoteWriter::new(output, format, columns, items, annotators).map_err(failed)?;
        for vote in simulation.by_ref() {
            bad += u64::from(vote.bad);
            writer.push(vote).map_err(failed)?;
        }
        writer.finish().map_err(failed)
    })?;
    written.finish()?;
    terminal.note(&format!(
        "{} votes on {} items, {} of them bad (seed {})",
        thousands(options.votes),
        thousands(options.items as u64),
        thousands(bad),
        options.seed
    ));
    Ok(())
}

impl SimulateArguments {
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

    fn format(&self) -> Result<Format, Failure> {
        match (self.format, &self.output) {
            (Some(format), _) => Ok(format.into()),
            (None, None) => Ok(Format::Csv),
            (None, Some(path)) => Format::of_name(path).ok_or_else(|| {
                Failure::usage(
                    format!("{path}: the ending does not say what to write"),
                    "end the name in .csv, .tsv, .jsonl, .parquet or .arrow, or add --format",
                )
            }),
        }
    }
}

/// `item-01`, `item-02`, …: as many digits as the last one needs.
pub(crate) fn item_names(items: usize) -> Vec<String> {
    let digits = items.to_string().len();
    (1..=items).map(|number| format!("item-{number:0digits$}")).collect()
}

/// `careful-01`, `malicious-02`, …: the name tells the truth about its bearer.
pub(crate) fn annotator_names(kinds: &[AnnotatorKind]) -> Vec<String> {
    let digits = kinds.len().to_string().len();
    let named = kinds.iter().enumerate();
    named.map(|(place, kind)| format!("{}-{:0digits$}", kind.as_str(), place + 1)).collect()
}

fn write_truth(mut out: Output, items: &[String], truth: &[f64]) -> Result<(), Failure> {
    let mut text = String::from("item,score\n");
    for (item, score) in items.iter().zip(truth) {
        text.push_str(&format!("{item},{score}\n"));
    }
    out.write_all(text.as_bytes()).map_err(|error| out.error(error))?;
    out.finish()?;
    Ok(())
}

fn parse_annotators(text: &str) -> Result<(AnnotatorKind, u32), String> {
    let expected = "expected KIND=NUMBER with a kind of careful, careless, malicious, always-left";
    let (kind, number) = text.split_once('=').ok_or(expected)?;
    let kind = kind.trim().parse::<AnnotatorKind>().map_err(|_| expected)?;
    Ok((kind, number.trim().parse().map_err(|_| expected)?))
}
