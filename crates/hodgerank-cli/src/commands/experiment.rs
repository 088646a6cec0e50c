//! `hodgerank experiment`: repeats the paper's experiments and compares the results with its claims.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use hodgerank_experiment::{Claim, Experiment, Findings, Settings};
use hodgerank_io::write::{self, LabelStyle, Output, Outputs, Table};
use hodgerank_report::figure::{self, FigureOptions};

use crate::failure::RunFailure;
use crate::output::{OutputOptions, Style};
use crate::page::{Markup, Page};
use crate::terminal::{Task, Terminal};
use crate::text_table::{Column, TextTable};

/// Arguments of `experiment`.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    /// bias, c2, auc, image, speedup, tables, faces, shoes, selection, accuracy, coverage,
    /// position-bias, sampling, or all
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: Named,
    /// Folder for data (CSV) and figures; created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Use the paper's sizes; the default is small sizes, a few minutes for all experiments
    #[arg(long)]
    full: bool,
    /// Seed; the same seed gives the same results except for times
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Folder of the real data, for `tables`, `position-bias` and `sampling`
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Image for `image`: PGM (P2 or P5) or PNG [default: a generated one]
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Format of the table of claims
    #[arg(long, value_enum, default_value_t = Markup::Terminal)]
    format: Markup,
}

/// One experiment, or all.
#[derive(Debug, Clone, Copy)]
enum Named {
    One(Experiment),
    All,
}

fn parse_name(name: &str) -> Result<Named, String> {
    match name {
        "all" => Ok(Named::All),
        _ => name.parse().map(Named::One).map_err(|expected| format!("{expected}, all")),
    }
}

pub(crate) fn run(args: &ExperimentArgs, terminal: &Terminal) -> Result<(), RunFailure> {
    let ExperimentArgs { name, out, full, seed, data, image, format } = args;
    let settings = Settings { full: *full, seed: *seed, data: data.clone(), image: image.clone() };
    let mut experiments = match *name {
        Named::One(experiment) => vec![experiment],
        Named::All => Experiment::ALL.to_vec(),
    };
    if matches!(name, Named::All) && data.is_none() {
        experiments.retain(|&experiment| experiment != Experiment::Tables);
        terminal.warn("tables is left out: it needs the real studies, --data DIR");
    }
    let inputs = image.iter().chain(data).map(|path| path.to_string_lossy().into_owned());
    let mut outputs = Outputs::new(&inputs.collect::<Vec<String>>());
    outputs.claim_folder("--out", &out.to_string_lossy())?;
    std::fs::create_dir_all(out).map_err(|source| {
        let file = out.to_string_lossy().into_owned().into();
        RunFailure::from(hodgerank_io::Error::write(&file, source))
    })?;
    for experiment in experiments {
        let started = Instant::now();
        let findings = find(experiment, &settings, terminal)?;
        write_data(experiment, &findings, out, &mut outputs)?;
        terminal.run(Task::Step("drawing"), || {
            figure::write(&findings.charts, out, "--out", &FigureOptions::default(), &mut outputs)
        })?;
        let seconds = started.elapsed().as_secs_f64();
        let mut output = outputs.standard()?;
        let style = Style::new(&OutputOptions::default());
        let page = &mut Page::new(*format, style, &mut output);
        let written = write_page(experiment, &findings, settings.seed, seconds, page);
        written.map_err(|error| output.error(error))?;
        output.finish()?;
    }
    Ok(())
}

fn find(
    experiment: Experiment,
    settings: &Settings,
    terminal: &Terminal,
) -> Result<Findings, RunFailure> {
    let (done, all) = (AtomicU64::new(0), AtomicU64::new(0));
    let progress = |step: u64, steps: u64| {
        all.store(steps, Ordering::Relaxed);
        done.fetch_max(step, Ordering::Relaxed);
    };
    let work = Task::Counting { name: experiment.as_str(), done: &done, all: &all };
    Ok(terminal.run(work, || hodgerank_experiment::run(experiment, settings, &progress))?)
}

fn write_data(
    experiment: Experiment,
    findings: &Findings,
    out: &Path,
    outputs: &mut Outputs,
) -> Result<(), RunFailure> {
    let claims = (format!("{}-claims", experiment.as_str()), claims_table(&findings.claims));
    let mut written = Vec::new();
    for (stem, table) in findings.tables.iter().chain([&claims]) {
        let file = out.join(format!("{stem}.csv"));
        let mut output = outputs.claim("--out", &file.to_string_lossy())?.open()?;
        table.write_csv(LabelStyle::Exact, &mut output).map_err(|error| output.error(error))?;
        written.push(output);
    }
    Ok(Output::finish_all(written)?)
}

fn claims_table(claims: &[Claim]) -> Table {
    let text = |of: fn(&Claim) -> Option<&String>| {
        write::Column::Text(claims.iter().map(|claim| of(claim).cloned()).collect())
    };
    let mut table = Table::default();
    table.push("claim", text(|claim| Some(&claim.claim)));
    table.push("paper", text(|claim| claim.paper.as_ref()));
    table.push("found", text(|claim| Some(&claim.found)));
    table.push("holds", write::Column::Truth(claims.iter().map(|claim| claim.holds).collect()));
    table
}

fn write_page(
    experiment: Experiment,
    findings: &Findings,
    seed: u64,
    seconds: f64,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let claims = &findings.claims;
    page.heading(experiment.as_str())?;
    page.paragraph(&findings.title)?;
    page.gap()?;
    page.table(&TextTable::new(vec![
        Column::phrases("holds", claims, |claim| {
            if claim.holds { "yes".to_owned() } else { "NO".to_owned() }
        }),
        Column::sentences("claim", claims, |claim| claim.claim.clone()),
        Column::sentences("found", claims, |claim| claim.found.clone()),
        Column::sentences("the paper", claims, |claim| {
            claim.paper.clone().unwrap_or_else(|| "–".to_owned())
        }),
    ]))?;
    let held = claims.iter().filter(|claim| claim.holds).count();
    let all = claims.len();
    page.paragraph(&format!("{held} of {all} claims hold; seed {seed}, {seconds:.1} s"))?;
    page.gap()
}
