//! Runs fuzz targets on a stable toolchain, and writes the seeds for libFuzzer.

use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use hodgerank_fuzz::Target;
use hodgerank_fuzz::harness::{self, Settings};

#[derive(Parser)]
#[command(about = "Runs the fuzz targets of hodgerank without instrumentation")]
struct Program {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run targets, each in a process of its own
    Run {
        #[command(flatten)]
        settings: RunSettings,
        /// Number of targets that run at the same time
        #[arg(long, default_value_t = 1)]
        jobs: usize,
        /// Targets [default: all]
        #[arg(value_parser = target)]
        targets: Vec<Target>,
    },
    /// Run one target in this process
    Worker {
        #[command(flatten)]
        settings: RunSettings,
        #[arg(value_parser = target)]
        target: Target,
    },
    /// Run a target on single files; a broken promise is a panic
    Replay {
        #[arg(value_parser = target)]
        target: Target,
        files: Vec<PathBuf>,
    },
    /// Write the seeds of each target into a folder of its name, and its words into a dictionary for
    /// libFuzzer
    Seeds { folder: PathBuf },
    /// List the targets and their largest inputs in bytes
    List,
}

#[derive(Args, Clone)]
struct RunSettings {
    /// Seed of the mutations
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Maximum number of executions of each target
    #[arg(long, default_value_t = u64::MAX)]
    executions: u64,
    /// Maximum number of seconds of each target
    #[arg(long, default_value_t = 86_400)]
    seconds: u64,
    /// Folder of further inputs to start from, in a folder for each target
    #[arg(long, default_value = "fuzz/corpus")]
    corpus: PathBuf,
    /// Folder for inputs that break a promise
    #[arg(long, default_value = "fuzz/artifacts")]
    artifacts: PathBuf,
}

impl RunSettings {
    fn settings(&self) -> Settings {
        let Self { seed, executions, seconds, corpus, artifacts } = self.clone();
        Settings { seed, executions, time: Duration::from_secs(seconds), corpus, artifacts }
    }
}

fn target(name: &str) -> Result<Target, String> {
    let names: Vec<&str> = Target::ALL.iter().map(|target| target.name).collect();
    Target::find(name).ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

fn main() -> io::Result<ExitCode> {
    let found = match Program::parse().task {
        Task::Run { settings, jobs, targets } => {
            let targets = if targets.is_empty() { Target::ALL.to_vec() } else { targets };
            run_all(&targets, jobs, &settings)?
        }
        Task::Worker { settings, target } => work(&target, &settings.settings())?,
        Task::Replay { target, files } => {
            for file in files {
                println!("{}", file.display());
                target.run(&std::fs::read(file)?);
            }
            false
        }
        Task::Seeds { folder } => {
            for target in Target::ALL {
                std::fs::create_dir_all(&folder)?;
                std::fs::write(folder.join(format!("{}.dict", target.name)), target.dictionary())?;
                let folder = folder.join(target.name);
                std::fs::create_dir_all(&folder)?;
                for (k, seed) in target.seeds().iter().enumerate() {
                    std::fs::write(folder.join(format!("seed-{k:03}")), seed)?;
                }
            }
            false
        }
        Task::List => {
            Target::ALL.iter().for_each(|target| println!("{}\t{}", target.name, target.max_bytes));
            false
        }
    };
    Ok(if found { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs each target in a worker process. Returns whether something was found.
fn run_all(targets: &[Target], jobs: usize, settings: &RunSettings) -> io::Result<bool> {
    let waiting = Mutex::new(targets.iter());
    let next = || waiting.lock().expect("no worker panics").next();
    let work = || -> io::Result<bool> {
        let mut found = false;
        while let Some(target) = next() {
            found |= run_worker(target, settings)?;
        }
        Ok(found)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, io::Result<bool>>| {
            worker.join().expect("no worker panics")
        };
        workers.into_iter().map(join).try_fold(false, |all, found| Ok(all | found?))
    })
}

/// Runs a target in a process of its own, so that even an abort is a finding.
fn run_worker(target: &Target, settings: &RunSettings) -> io::Result<bool> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("worker");
    command.args(["--seed", &settings.seed.to_string()]);
    command.args(["--executions", &settings.executions.to_string()]);
    command.args(["--seconds", &settings.seconds.to_string()]);
    command.arg("--corpus").arg(&settings.corpus).arg("--artifacts").arg(&settings.artifacts);
    let status = command.arg(target.name).status()?;
    let running = settings.settings().running(target);
    if running.exists() {
        let input = std::fs::read(&running)?;
        let saved = settings.artifacts.join(harness::artifact_name(target, &input));
        std::fs::rename(&running, &saved)?;
        println!("{}: the process ended ({status}): {}", target.name, saved.display());
    }
    Ok(!status.success())
}

/// Runs one target in this process and prints the result. Returns whether something was found.
fn work(target: &Target, settings: &Settings) -> io::Result<bool> {
    let summary = harness::run(target, settings)?;
    let seconds = summary.time.as_secs_f64();
    println!(
        "{:<11} {:>9} executions, {:>7.0} a second, {:>3} inputs kept, {} findings",
        target.name,
        summary.executions,
        summary.executions as f64 / seconds.max(1e-3),
        summary.kept,
        summary.findings.len()
    );
    for (path, message) in &summary.findings {
        println!("  {}: {}", path.display(), message.lines().take(3).collect::<Vec<_>>().join(" "));
    }
    Ok(!summary.findings.is_empty())
}
