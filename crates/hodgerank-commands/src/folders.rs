//! Folders among the inputs: their files are read. Of the folder of a study, only the database is read: an
//! export next to it has the same votes.

use std::path::Path;

use hodgerank_io::text::visible_name;
use hodgerank_io::{Format, STUDY_FILE};

use crate::failure::Failure;
use crate::observer::Observer;

/// The files of folders and those named one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// All files, those of a folder sorted by name.
    pub files: Vec<String>,
    /// Files of folders whose names are not those of a known format.
    skipped: Vec<String>,
    /// Folders without a file of a known format.
    empty: Vec<String>,
}

impl Folders {
    /// Replaces folders by their files; `None` if there is no folder. Folders in folders are not read.
    pub(crate) fn expand(names: &[String]) -> Option<Self> {
        let is_folder = |name: &String| name != "-" && Path::new(name).is_dir();
        if !names.iter().any(is_folder) {
            return None;
        }
        let mut found = Self { files: Vec::new(), skipped: Vec::new(), empty: Vec::new() };
        for name in names {
            if !is_folder(name) {
                found.files.push(name.clone());
                continue;
            }
            let study = Path::new(name).join(STUDY_FILE);
            if study.is_file() {
                found.files.push(study.to_string_lossy().into_owned());
                continue;
            }
            let before = found.files.len();
            for file in sorted_files(name) {
                match Format::from_file_name(&file) {
                    Some(_) => found.files.push(file),
                    None if is_part_of_database(&file) => {}
                    None => found.skipped.push(file),
                }
            }
            if found.files.len() == before {
                found.empty.push(name.clone());
            }
        }
        Some(found)
    }

    /// Names the files that are not read.
    ///
    /// # Errors
    /// [`Failure::Usage`] if a folder has no file that can be read.
    pub(crate) fn check(&self, observer: &dyn Observer) -> Result<(), Failure> {
        const MAX_LISTED: usize = 5;
        if let Some(folder) = self.empty.first() {
            return Err(Failure::usage(
                format!("{}: the folder has no file of a known format", visible_name(folder)),
                "name the files, with --input-format if their names do not tell the format",
            ));
        }
        if !self.skipped.is_empty() {
            let listed = self.skipped.iter().take(MAX_LISTED).map(|file| visible_name(file));
            let mut listed: Vec<String> = listed.map(Into::into).collect();
            if self.skipped.len() > MAX_LISTED {
                listed.push(format!("{} more", self.skipped.len() - MAX_LISTED));
            }
            observer
                .note(&format!("not read, because the format is not known: {}", listed.join(", ")));
        }
        Ok(())
    }
}

/// Whether a file is a log or an index that SQLite keeps next to a database.
fn is_part_of_database(file: &str) -> bool {
    let databases = ["-wal", "-shm", "-journal"].iter().filter_map(|end| file.strip_suffix(end));
    databases.into_iter().any(|file| Path::new(file).is_file())
}

/// The files in a folder, without hidden ones.
fn sorted_files(folder: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let is_hidden =
        |path: &Path| path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
    let files = files.filter(|path| path.is_file() && !is_hidden(path));
    let mut files: Vec<String> = files.map(|path| path.to_string_lossy().into_owned()).collect();
    files.sort_by(|a, b| hodgerank::natural_order(a, b));
    files
}
