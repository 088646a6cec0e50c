//! Figures as files.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hodgerank_io::Error;
use hodgerank_io::write::Output;

use super::{FigureError, draw};
use crate::chart::Chart;

/// Writes each chart as `FOLDER/ID.svg` and `FOLDER/ID.png` and returns the files, in order.
///
/// The folder is made where it is missing. Nothing appears in it before every figure is drawn and
/// written in full.
///
/// # Errors
/// If an `id` does not serve as the name of a file or occurs twice, if a figure cannot be drawn, or
/// if the folder or a file cannot be written.
pub fn write<'a>(
    charts: impl IntoIterator<Item = &'a Chart>,
    folder: &Path,
) -> Result<Vec<PathBuf>, FigureError> {
    let mut names = HashSet::new();
    let mut files = Vec::new();
    for chart in charts {
        if !is_name(&chart.id) || !names.insert(chart.id.as_str()) {
            return Err(FigureError::Name { id: chart.id.clone() });
        }
        let figure = draw(chart);
        let path = |ending| folder.join(format!("{}.{ending}", chart.id));
        let dots = figure.png()?;
        files.push((path("svg"), figure.into_svg().into_bytes()));
        files.push((path("png"), dots));
    }
    std::fs::create_dir_all(folder).map_err(|source| {
        let file = folder.display().to_string().into();
        FigureError::Write(Error::Write { file, source })
    })?;
    let mut outputs = Vec::new();
    for (path, bytes) in &files {
        let mut output = Output::create(utf8(path)?)?;
        output.write_all(bytes).map_err(|source| output.error(source))?;
        outputs.push(output);
    }
    for output in outputs {
        output.finish()?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

/// Words of letters and digits joined by hyphens: nothing that leaves the folder.
fn is_name(id: &str) -> bool {
    let letters = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric());
    id.split('-').all(letters)
}

fn utf8(path: &Path) -> Result<&str, FigureError> {
    path.to_str().ok_or_else(|| {
        let file: Arc<str> = path.display().to_string().into();
        let source = std::io::Error::other("its name is not UTF-8; choose another folder");
        FigureError::Write(Error::Write { file, source })
    })
}
