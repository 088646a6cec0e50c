//! A folder of parts, one file from each member, that appears whole or not at all.
//!
//! Member 0 makes a hidden folder beside the place; everyone writes there; once all have, it gets
//! its name by one renaming. All members must see the same file system. A run that is killed leaves
//! the hidden folder (`.hodgerank-…`) behind, never half of the result.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hodgerank_commands::Failure;
use tempfile::TempDir;

use crate::mail::{Mail, Words};

/// A folder that is being filled.
#[derive(Debug)]
pub(crate) struct PartFolder {
    /// Where it is to appear.
    place: PathBuf,
    /// Where it is filled.
    hidden: PathBuf,
    /// Goes with the folder in it, unless the folder has appeared; with member 0.
    guard: Option<TempDir>,
}

/// Refuses a place that cannot become a folder of parts. Nothing is made yet.
///
/// # Errors
/// [`Failure::Usage`] that says what to do.
pub(crate) fn check_place(flag: &str, name: &str) -> Result<(), Failure> {
    let refuse =
        |problem: &str, help: &str| Err(Failure::usage(format!("{flag} {name}: {problem}"), help));
    match fs::read_dir(name) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => refuse(
                "the folder is not empty",
                "name a new folder, or empty this one yourself: parts of another run must not mix \
                 with those of this one",
            ),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            refuse("it is a file", "name a folder: each rank writes a part of its own into it")
        }
        Err(error) => Err(write_error(Path::new(name), error)),
    }
}

/// Lets folders appear, once all members have written their parts; all of them or none.
///
/// # Errors
/// If one cannot be renamed.
pub(crate) fn appear(folders: impl IntoIterator<Item = Option<PartFolder>>) -> Result<(), Failure> {
    let mut there: Vec<PathBuf> = Vec::new();
    for folder in folders.into_iter().flatten() {
        let (acts, place) = (folder.guard.is_some(), folder.place.clone());
        if let Err(failure) = folder.appear() {
            // What cannot be taken back is better said by the failure that led here.
            there.iter().for_each(|place| _ = fs::remove_dir_all(place));
            return Err(failure);
        }
        there.extend(acts.then_some(place));
    }
    Ok(())
}

impl PartFolder {
    /// Makes the hidden folder. To be called by all members; whether it worked is for them to agree
    /// on.
    ///
    /// # Errors
    /// If the folder cannot be made, or this member cannot see it.
    pub(crate) fn create(mail: &dyn Mail, name: &str) -> Result<Self, Failure> {
        let place = PathBuf::from(name);
        let above = match place.parent() {
            Some(above) if !above.as_os_str().is_empty() => above.to_owned(),
            _ => PathBuf::from("."),
        };
        let made = if mail.me() == 0 { Some(hidden_in(&above)) } else { None };
        let (guard, failed) = match made {
            Some(Ok(guard)) => (Some(guard), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        // Others learn its name from member 0; an empty name says that there is none.
        let file_name = guard.as_ref().and_then(|guard| guard.path().file_name()?.to_str());
        let told = mail.everyones(words_of(file_name.unwrap_or("").as_bytes()));
        if let Some(error) = failed {
            return Err(write_error(&place, error));
        }
        let hidden = above.join(text_of(&told[0]));
        if text_of(&told[0]).is_empty() || !hidden.is_dir() {
            let unseen = io::Error::other(
                "this rank cannot see the folder that rank 0 made; all must share a file system",
            );
            return Err(write_error(&place, unseen));
        }
        Ok(Self { place, hidden, guard })
    }

    /// The file of a member, with this ending (as `csv.gz`).
    pub(crate) fn part(&self, member: usize, ending: &str) -> String {
        self.hidden.join(format!("part-{member:05}.{ending}")).to_string_lossy().into_owned()
    }

    /// Only member 0 acts.
    fn appear(self) -> Result<(), Failure> {
        if let Some(guard) = self.guard {
            // An empty folder in its place is replaced.
            fs::rename(guard.path(), &self.place)
                .map_err(|error| write_error(&self.place, error))?;
            let _ = guard.keep();
        }
        Ok(())
    }
}

fn hidden_in(above: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hodgerank-");
    #[cfg(unix)]
    {
        // As an ordinary new folder would have them; the user's mask still applies.
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    builder.tempdir_in(above)
}

fn write_error(place: &Path, source: io::Error) -> Failure {
    let file = place.to_string_lossy().as_ref().into();
    Failure::File(hodgerank_io::Error::Write { file, source })
}

fn words_of(bytes: &[u8]) -> Words {
    bytes.iter().map(|&byte| u64::from(byte)).collect()
}

fn text_of(words: &[u64]) -> String {
    let bytes: Vec<u8> = words.iter().map(|&word| word as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
