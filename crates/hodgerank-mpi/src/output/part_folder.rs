//! A folder of parts, one file from each process, that appears complete or not at all.
//!
//! Process 0 creates a hidden folder next to the final path, all processes write into it, and when
//! all are done it is renamed. All processes must see the same file system. A run that is interrupted
//! removes the hidden folder (`.hodgerank-…`); one that is killed leaves it behind, never a part of
//! the result.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hodgerank_commands::Failure;
use hodgerank_io::text::visible_name;
use hodgerank_io::write::{ClaimedOutput, Outputs, TemporaryFolder};

use crate::comm::World;

/// A folder that is being written.
#[derive(Debug)]
pub(crate) struct PartFolder {
    final_path: PathBuf,
    hidden_path: PathBuf,
    /// Removes the hidden folder when dropped. Only on process 0, until the folder is published.
    guard: Option<TemporaryFolder>,
}

/// Checks that a path can become a folder of parts. Creates nothing.
///
/// # Errors
/// [`Failure::Usage`] if it is a file or a folder that is not empty.
pub(crate) fn check_folder(flag: &str, path: &str) -> Result<(), Failure> {
    let refuse = |problem: &str, help: &str| {
        Err(Failure::usage(format!("{flag} {}: {problem}", visible_name(path)), help))
    };
    match fs::read_dir(path) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => refuse(
                "the folder is not empty",
                "choose a new folder, or empty this one: parts of different runs must not mix",
            ),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            refuse("this is a file", "choose a folder: each process writes one file into it")
        }
        Err(error) => Err(write_error(Path::new(path), error)),
    }
}

/// Gives folders their final names, after all processes have written their parts: all folders or
/// none. Only process 0 acts.
///
/// # Errors
/// If a folder cannot be renamed.
pub(crate) fn publish(folders: impl IntoIterator<Item = PartFolder>) -> Result<(), Failure> {
    let mut published: Vec<PathBuf> = Vec::new();
    for PartFolder { final_path, guard, .. } in folders {
        let Some(guard) = guard else { continue };
        // Renaming replaces an empty folder.
        if let Err(error) = guard.rename(&final_path) {
            // If these cannot be removed, the first error is still the one to report.
            published.iter().for_each(|path| _ = fs::remove_dir_all(path));
            return Err(write_error(&final_path, error));
        }
        published.push(final_path);
    }
    Ok(())
}

impl PartFolder {
    /// Creates the hidden folder. Collective; errors can differ between processes.
    ///
    /// # Errors
    /// If the folder cannot be created, or this process cannot see it.
    pub(crate) fn create(world: &World, path: &str) -> Result<Self, Failure> {
        let final_path = PathBuf::from(path);
        let parent = match final_path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let created = world.is_root().then(|| TemporaryFolder::create_in(&parent)).transpose();
        let name = created.as_ref().ok().and_then(|guard| file_name(guard.as_ref()?));
        // `None` if process 0 failed: the others then see no folder.
        let name: Option<String> = world.broadcast(Some(name));
        let guard = created.map_err(|error| write_error(&final_path, error))?;
        match name.map(|name| parent.join(name)).filter(|hidden| hidden.is_dir()) {
            Some(hidden_path) => Ok(Self { final_path, hidden_path, guard }),
            None => {
                let unseen = io::Error::other(
                    "this process cannot see the folder that process 0 created; all processes must \
                     share a file system",
                );
                Err(write_error(&final_path, unseen))
            }
        }
    }

    /// The file of a process, with an extension such as `csv.gz`.
    ///
    /// # Errors
    /// If the hidden folder is gone.
    pub(crate) fn claim_part(
        &self,
        flag: &'static str,
        rank: usize,
        extension: &str,
        outputs: &mut Outputs,
    ) -> Result<ClaimedOutput, hodgerank_io::Error> {
        let name = format!("part-{rank:05}.{extension}");
        let path = |folder: &Path| folder.join(&name).to_string_lossy().into_owned();
        outputs.claim_part(flag, &path(&self.hidden_path), &path(&self.final_path))
    }
}

fn file_name(folder: &TemporaryFolder) -> Option<String> {
    folder.path().file_name()?.to_str().map(str::to_owned)
}

fn write_error(path: &Path, source: io::Error) -> Failure {
    let file = path.to_string_lossy().as_ref().into();
    Failure::File(hodgerank_io::Error::write(&file, source))
}
