//! `report`: one HTML file that a study's owner shows to others.

use std::path::{Path, PathBuf};

use clap::Args;
use hodgerank::{FitOptions, IntervalOptions, RankedStudy};
use hodgerank_io::STUDY_FILE;
use hodgerank_io::text::visible_name;
use hodgerank_io::write::{Output, Outputs};
use hodgerank_report::document::ReportPage;
use hodgerank_report::figure::{self, FigureOptions, FigureWidth};
use hodgerank_report::findings::{ReportInput, StudyFindings};
use hodgerank_report::study::{Limits, figures as charts, page};

use crate::exclude;
use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, VoteSource};
use crate::min_votes::{self, ItemOptions};
use crate::observer::{Observer, Task};
use crate::ranked::{ANNOTATORS_COMMAND, estimate_uncertainty, rank_study, warnings};

/// Maximum number of studies on one page.
const MAX_STUDIES: usize = 200;

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// Which items are ranked.
    #[command(flatten)]
    pub kept_items: ItemOptions,
    /// How to rank.
    #[command(flatten)]
    pub method: FitOptions,
    /// Intervals.
    #[command(flatten)]
    pub uncertainty: IntervalOptions,
    /// File to write; it appears whole or not at all, and needs no other file and no network
    #[arg(
        long,
        short,
        value_name = "FILE",
        default_value = "report.html",
        help_heading = "Output"
    )]
    pub output: String,
    /// Also write each chart to this folder, as SVG, PDF and PNG
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub figures: Option<String>,
    /// How figures are drawn.
    #[command(flatten)]
    pub figure_style: FigureStyle,
    /// Title of the page [default: the names of the files]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub title: Option<String>,
}

/// How figures are drawn.
#[derive(Debug, Default, Args)]
pub struct FigureStyle {
    /// Width of the figures, such as 8cm, 84mm, 3.5in or 252pt [default: 16cm]
    #[arg(long, value_name = "WIDTH", requires = "figures", help_heading = "Output")]
    pub figure_width: Option<FigureWidth>,
    /// Draw no titles in the figures, for papers with captions
    #[arg(long, requires = "figures", help_heading = "Output")]
    pub no_title: bool,
}

impl From<&FigureStyle> for FigureOptions {
    fn from(style: &FigureStyle) -> Self {
        Self { width: style.figure_width.unwrap_or_default(), title: !style.no_title }
    }
}

/// Writes the page.
///
/// # Errors
/// If an option is invalid, the votes cannot be read, a solver fails, or writing does.
pub fn report(
    votes: &VoteSource,
    options: &ReportArgs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<(), Failure> {
    let fit_options = options.method;
    fit_options.validate()?;
    options.uncertainty.validate()?;
    let mut outputs = Outputs::new(&options.input.files(votes));
    let page = outputs.claim("--output", &options.output)?;
    if let Some(folder) = &options.figures {
        outputs.claim_folder("--figures", folder)?;
    }
    let output = page.open()?;

    // The report compares all methods.
    let kept = Kept { annotator_votes: true, sides: true };
    let input = votes.read(
        &ReadPlan::new(&options.input, kept, threads).with_items(options.kept_items),
        observer,
    )?;
    if input.studies.len() > MAX_STUDIES {
        let studies = input.studies.len();
        return Err(Failure::usage(
            format!("--by gives {studies} studies, and a page holds {MAX_STUDIES} at most"),
            "choose another column for --by, or report on a part of the rows",
        ));
    }
    let rank = |study| {
        let ranked = rank_study(study, input.rejected.total, &fit_options, observer)?;
        estimate_uncertainty(ranked, &options.uncertainty, observer)
    };
    let studies = input.studies.into_iter().map(rank).collect::<Result<Vec<_>, _>>()?;
    let title = options.title.clone().unwrap_or_else(|| title(votes));
    let figures = options.figures.as_deref().map(Path::new);
    let style = FigureOptions::from(&options.figure_style);
    let figures =
        figures.map(|folder| ReportFigures { folder, options: style, outputs: &mut outputs });
    let notes: Vec<String> = input
        .excluded
        .as_ref()
        .map(exclude::description)
        .into_iter()
        .chain(input.excluded_items.as_ref().map(min_votes::description))
        .collect();
    let page = PageOptions { title, notes: &notes, by: options.input.by() };
    write(&studies, page, figures, output, observer)?;
    observer.note(&format!("report written to {}", visible_name(&options.output)));
    if let Some(folder) = &options.figures {
        observer.note(&format!("figures written to {}", visible_name(folder)));
    }
    Ok(())
}

/// The names of the files, without folders and endings. A study has the name of its folder.
fn title(votes: &VoteSource) -> String {
    const MAX_FILES: usize = 3;
    let files = votes.files();
    if files.is_empty() {
        return "votes".to_owned();
    }
    let stem = |file: &String| match file.as_str() {
        "-" => "votes".to_owned(),
        file => study_name(Path::new(file)).unwrap_or_else(|| {
            let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
            name.split('.').next().unwrap_or_default().to_owned()
        }),
    };
    let mut names: Vec<String> = files.iter().take(MAX_FILES).map(stem).collect();
    if files.len() > MAX_FILES {
        names.push(format!("{} more files", files.len() - MAX_FILES));
    }
    names.join(", ")
}

/// The name of the folder that a study's database is in.
fn study_name(file: &Path) -> Option<String> {
    if file.file_name()? != STUDY_FILE {
        return None;
    }
    let file = file.canonicalize().ok()?;
    Some(file.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// What a page says besides its studies.
#[derive(Debug, Default)]
pub struct PageOptions<'a> {
    /// The heading.
    pub title: String,
    /// Shown with the warnings of every study.
    pub notes: &'a [String],
    /// The column that distinguishes the studies, if there are several.
    pub by: Option<&'a str>,
}

/// Where the charts of a report are written as figures, and how they are drawn.
#[derive(Debug)]
pub struct ReportFigures<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// How they are drawn.
    pub options: FigureOptions,
    /// The outputs of the command, which must not clash.
    pub outputs: &'a mut Outputs,
}

/// Analyses the studies and writes the page, and figures to a folder.
///
/// # Errors
/// If a solver fails, or writing does.
pub fn write(
    studies: &[RankedStudy],
    PageOptions { title, notes, by }: PageOptions<'_>,
    mut figures: Option<ReportFigures<'_>>,
    mut output: Output,
    observer: &dyn Observer,
) -> Result<(), Failure> {
    let limits = Limits::shared_by(studies.len());
    let mut pages = Vec::with_capacity(studies.len());
    for (k, study) in studies.iter().enumerate() {
        let warnings = [notes.to_vec(), warnings(study)].concat();
        let on_page = |text: &String| text.replace(ANNOTATORS_COMMAND, "the section Annotators");
        let warnings: Vec<String> =
            warnings.iter().map(|text| as_sentence(&on_page(text))).collect();
        let input = ReportInput::new(study, &warnings);
        let findings = observer.run(Task::Step("analysing"), || StudyFindings::new(input))??;
        pages.push(page(&findings, &limits));
        if let Some(ReportFigures { folder, options, outputs }) = &mut figures {
            let folder = study_folder(folder, k, study.by.as_deref());
            let charts = charts(&findings);
            let write = || figure::write(&charts, &folder, "--figures", options, outputs);
            observer.run(Task::Step("drawing"), write)??;
        }
    }
    let document = ReportPage {
        schema: ReportPage::SCHEMA,
        title,
        program: format!("hodgerank {}", env!("CARGO_PKG_VERSION")),
        by: by.map(str::to_owned),
        studies: pages,
    };
    document.write_html(&mut output).map_err(|error| output.error(error))?;
    observer.run(Task::Step("writing"), || output.finish())??;
    Ok(())
}

/// A message of the terminal as a sentence of the page.
fn as_sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    let end = if message.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{end}", first.unwrap_or_default(), letters.as_str())
}

/// The folder of a study, if there are several: its number, and its name without characters that
/// file systems refuse.
pub(crate) fn study_folder(folder: &Path, k: usize, by: Option<&str>) -> PathBuf {
    const MAX_CHARACTERS: usize = 40;
    let Some(by) = by else { return folder.to_owned() };
    let safe = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = by.chars().take(MAX_CHARACTERS).map(safe).collect();
    folder.join(format!("{:03}-{name}", k + 1))
}
