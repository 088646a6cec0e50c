//! Writes figures to files.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hodgerank_io::Error;
use hodgerank_io::write::{Output, Outputs};

use super::{FigureError, FigureOptions, draw_with};
use crate::chart::Chart;

/// Writes each chart as `FOLDER/ID.svg`, `.pdf` and `.png` and returns the files, in order.
///
/// The folder is created if it does not exist. No file appears in it before all figures have been
/// drawn and written completely. `flag` is the option that named the folder, and `outputs` are the
/// outputs of the command, which must not clash.
///
/// # Errors
/// If an `id` is not a valid file name or occurs twice, if a figure cannot be drawn, or if the folder
/// or a file cannot be written.
pub fn write<'a>(
    charts: impl IntoIterator<Item = &'a Chart>,
    folder: &Path,
    flag: &'static str,
    options: &FigureOptions,
    outputs: &mut Outputs,
) -> Result<Vec<PathBuf>, FigureError> {
    let mut names = HashSet::new();
    let mut files = Vec::new();
    for chart in charts {
        if !is_file_name(&chart.id) || !names.insert(chart.id.as_str()) {
            return Err(FigureError::Name { id: chart.id.clone() });
        }
        let figure = draw_with(chart, options);
        let path = |extension| folder.join(format!("{}.{extension}", chart.id));
        let (pdf, png) = (figure.pdf()?, figure.png()?);
        files.push((path("svg"), figure.into_svg().into_bytes()));
        files.push((path("pdf"), pdf));
        files.push((path("png"), png));
    }
    std::fs::create_dir_all(folder).map_err(|source| {
        let file = folder.display().to_string().into();
        FigureError::Write(Error::write(&file, source))
    })?;
    let mut written = Vec::new();
    for (path, bytes) in &files {
        let mut output = outputs.claim(flag, utf8(path)?)?.open()?;
        output.write_all(bytes).map_err(|source| output.error(source))?;
        written.push(output);
    }
    Output::finish_all(written)?;
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

/// Whether an id consists of ASCII letters and digits joined by hyphens: no path separators.
fn is_file_name(id: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric());
    id.split('-').all(is_word)
}

fn utf8(path: &Path) -> Result<&str, FigureError> {
    path.to_str().ok_or_else(|| {
        let file: Arc<str> = path.display().to_string().into();
        let source = std::io::Error::other("the path is not valid UTF-8; choose another folder");
        FigureError::Write(Error::write(&file, source))
    })
}
