//! `report`: one HTML file that a study's owner shows to others.

use std::path::{Path, PathBuf};

use clap::Args;
use hodgerank::fit::FitOptions;
use hodgerank_io::write::Output;
use hodgerank_report::document::ReportPage;
use hodgerank_report::figure;
use hodgerank_report::findings::{ReportInput, StudyFindings};
use hodgerank_report::study::{self, Limits};

use crate::annotators;
use crate::failure::Failure;
use crate::input::{InputOptions, Votes};
use crate::method::MethodOptions;
use crate::places;
use crate::rank_study::RankedStudy;
use crate::two_pass::TwoPass;
use crate::watch::{Watch, Work};

/// Studies that one page holds.
const MAX_STUDIES: usize = 200;

/// Options of `report`.
#[derive(Debug, Args)]
pub struct ReportOptions {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// How to rank.
    #[command(flatten)]
    pub method: MethodOptions,
    /// File to write; it appears whole or not at all, and needs no other file and no network
    #[arg(
        long,
        short,
        value_name = "FILE",
        default_value = "report.html",
        help_heading = "Output"
    )]
    pub output: String,
    /// Also write each chart into this folder, as SVG and as PNG for print
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub figures: Option<String>,
    /// What stands at the top [default: the names of the files]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub title: Option<String>,
}

/// Writes the page.
///
/// # Errors
/// If an option makes no sense, the votes cannot be read, a solver fails, or writing does.
pub fn report(
    votes: &Votes,
    options: &ReportOptions,
    threads: usize,
    watch: &dyn Watch,
) -> Result<(), Failure> {
    let fit_options = options.method.fit_options()?;
    places::check_outputs(&[("--output", &options.output)], votes.files())?;
    let output = Output::create(&options.output)?;

    let check = |input: &hodgerank_io::Input| match input.studies.len() {
        0..=MAX_STUDIES => Ok(()),
        studies => Err(Failure::usage(
            format!("--by gives {studies} studies, and a page holds {MAX_STUDIES} at most"),
            "choose another column for --by, or report on a part of the rows",
        )),
    };
    let mut look = TwoPass::new(votes, &options.input, &fit_options, threads, watch, check)?;
    if look.tables.iter().any(|table| table.has_annotator) {
        let lists = annotators::list(&look, watch)?;
        for (study, list) in look.studies.iter_mut().zip(lists) {
            study.table.annotators = Some(list);
        }
    }
    let title = options.title.clone().unwrap_or_else(|| title(votes));
    let figures = options.figures.as_deref().map(Path::new);
    write(&look.studies, title, &fit_options, figures, output, watch)?;
    watch.note(&format!("report written to {}", options.output));
    if let Some(folder) = &options.figures {
        watch.note(&format!("figures written to {folder}"));
    }
    Ok(())
}

/// The names of the files, without folders and endings.
fn title(votes: &Votes) -> String {
    const MOST: usize = 3;
    let Votes::Files(files) = votes else { return "votes".to_owned() };
    let stem = |file: &String| match file.as_str() {
        "-" => "votes".to_owned(),
        file => {
            let name = std::path::Path::new(file).file_name().unwrap_or_default().to_string_lossy();
            name.split('.').next().unwrap_or_default().to_owned()
        }
    };
    let mut names: Vec<String> = files.iter().take(MOST).map(stem).collect();
    if files.len() > MOST {
        names.push(format!("{} more files", files.len() - MOST));
    }
    names.join(", ")
}

/// Finds what there is to show, and writes the page and the figures.
///
/// # Errors
/// If a solver fails, or writing does.
pub fn write(
    studies: &[RankedStudy],
    title: String,
    options: &FitOptions,
    figures: Option<&Path>,
    mut output: Output,
    watch: &dyn Watch,
) -> Result<(), Failure> {
    let limits = Limits::shared_by(studies.len());
    let mut pages = Vec::with_capacity(studies.len());
    for (k, judged) in studies.iter().enumerate() {
        let RankedStudy { items, graph, fit, table } = judged;
        let ranked = ReportInput { items, graph, fit, table };
        let findings =
            watch.watch(Work::Step("looking"), || StudyFindings::new(ranked, options))??;
        pages.push(study::page(&findings, &limits));
        if let Some(folder) = figures {
            let folder = folder_of(folder, k, table.by.as_deref());
            let charts = study::figures(&findings);
            watch.watch(Work::Step("drawing"), || figure::write(&charts, &folder))??;
        }
    }
    let document = ReportPage {
        schema: ReportPage::SCHEMA,
        title,
        program: format!("hodgerank {}", env!("CARGO_PKG_VERSION")),
        studies: pages,
    };
    document.write_html(&mut output).map_err(|error| output.error(error))?;
    watch.watch(Work::Step("writing"), || output.finish())??;
    Ok(())
}

/// A folder for each study, where there are several: its number and what of its name a file system
/// takes.
fn folder_of(folder: &Path, k: usize, by: Option<&str>) -> PathBuf {
    const MOST: usize = 40;
    let Some(by) = by else { return folder.to_owned() };
    let safe = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = by.chars().take(MOST).map(safe).collect();
    folder.join(format!("{:03}-{name}", k + 1))
}
