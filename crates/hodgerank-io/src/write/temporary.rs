//! Temporary files and folders next to the outputs they become, and a list of those that exist.
//!
//! A program that is told to end by a signal calls [`remove_unfinished`]. This crate is also used by
//! Python, so it installs no signal handlers itself; a program that has some installs them in
//! [`before_first_temporary`], when there is something to remove.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Temporary files and folders that exist. The lock is held while one is created, renamed or
/// removed, so that [`remove_unfinished`] misses none.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

type Registry = MutexGuard<'static, Vec<PathBuf>>;

type Preparation = fn() -> io::Result<()>;

/// What [`before_first_temporary`] was given and was not yet called.
static PREPARATION: Mutex<Option<Preparation>> = Mutex::new(None);

/// Calls `prepare` once, before the first temporary file or folder is created. If it fails, that file
/// is not created.
pub fn before_first_temporary(prepare: fn() -> io::Result<()>) {
    *PREPARATION.lock().unwrap_or_else(PoisonError::into_inner) = Some(prepare);
}

fn registry() -> Registry {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files and folders of all outputs that are not finished. No other output can
/// be started or finished until the returned value is dropped: keep it until the process ends.
#[must_use]
pub fn remove_unfinished() -> impl Sized {
    let mut registry = registry();
    registry.drain(..).for_each(|path| remove(&path));
    registry
}

/// Removes a file, or a folder into which other processes may still be writing.
fn remove(path: &Path) {
    const ATTEMPTS: usize = 20;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);
    if !path.is_dir() {
        // If it cannot be removed there is nobody left to tell.
        let _ = fs::remove_file(path);
        return;
    }
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(PAUSE),
            _ => return,
        }
    }
}

/// Creates something under a new name in a folder. `create` fails if the name is taken.
fn create_in<T>(
    folder: &Path,
    create: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    const ATTEMPTS: u32 = 1000;
    // Seeded by the system's random numbers, so that processes do not try the same names.
    let random = RandomState::new();
    let prepare = PREPARATION.lock().unwrap_or_else(PoisonError::into_inner).take();
    prepare.map_or(Ok(()), |prepare| prepare())?;
    let mut registry = registry();
    for attempt in 0..ATTEMPTS {
        let number = random.hash_one((std::process::id(), attempt));
        let path = folder.join(format!(".hodgerank-{number:016x}"));
        match create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => {
                let created = created?;
                registry.push(path.clone());
                return Ok((created, path));
            }
        }
    }
    Err(io::Error::other("no temporary name is free in the folder"))
}

/// A file or folder that is removed when dropped, unless it was renamed.
#[derive(Debug)]
struct Guard {
    path: PathBuf,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut registry = registry();
        // Renamed files are not in the list, and neither is anything after `remove_unfinished`.
        if let Some(index) = registry.iter().position(|path| *path == self.path) {
            registry.swap_remove(index);
            remove(&self.path);
        }
    }
}

/// A temporary file.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    pub(super) file: File,
    guard: Guard,
}

impl TemporaryFile {
    /// Creates a file in a folder; `is_private` makes it readable by its owner only, else the
    /// user's mask decides as for any new file.
    pub(super) fn create_in(folder: &Path, is_private: bool) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(if is_private { 0o600 } else { 0o666 });
        }
        #[cfg(not(unix))]
        let _ = is_private;
        let (file, path) = create_in(folder, |path| options.open(path))?;
        Ok(Self { file, guard: Guard { path } })
    }
}

impl Write for TemporaryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Renames files one right after the other; a signal does not come between them. Returns the index
/// of the first file that cannot be renamed.
pub(super) fn rename_all(files: &[(TemporaryFile, PathBuf)]) -> Result<(), (usize, io::Error)> {
    let mut registry = registry();
    for (index, (file, target)) in files.iter().enumerate() {
        let path = &file.guard.path;
        fs::rename(path, target).map_err(|error| (index, error))?;
        registry.retain(|other| other != path);
    }
    Ok(())
}

/// Writes a file, so that after a crash at any moment it is the new one or the old one.
///
/// # Errors
/// If the file cannot be written, synchronised or renamed.
pub fn write_whole(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.canonicalize()?,
        _ => Path::new(".").canonicalize()?,
    };
    let mut temporary = TemporaryFile::create_in(&folder, false)?;
    parts.iter().try_for_each(|part| temporary.write_all(part))?;
    temporary.file.sync_all()?;
    rename_all(&[(temporary, path.to_owned())]).map_err(|(_, error)| error)?;
    sync_folder(&folder)
}

/// A hidden folder that gets its final name when everything in it is complete. It is removed when
/// dropped before.
#[derive(Debug)]
pub struct TemporaryFolder {
    guard: Guard,
}

impl TemporaryFolder {
    /// Creates a folder in `parent`.
    ///
    /// # Errors
    /// If `parent` does not exist or cannot be written to.
    pub fn create_in(parent: &Path) -> io::Result<Self> {
        // A relative path would change its meaning with the current folder.
        let parent = parent.canonicalize()?;
        let ((), path) = create_in(&parent, |path| fs::create_dir(path))?;
        Ok(Self { guard: Guard { path } })
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.guard.path
    }

    /// Gives the folder its final name, which may be that of an empty folder.
    ///
    /// # Errors
    /// If the folder cannot be renamed; it is then removed.
    pub fn rename(self, to: &Path) -> io::Result<()> {
        let mut registry = registry();
        let renamed = fs::rename(self.path(), to);
        if renamed.is_ok() {
            registry.retain(|other| other != self.path());
        }
        // Dropping the guard takes the lock.
        drop(registry);
        renamed?;
        to.parent().map_or(Ok(()), sync_folder)
    }
}

/// Writes the names in a folder to disk, where the file system can do that.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // A folder that can be written to but not read, or a file system without this operation.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_files_and_folders_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(folder.path()).unwrap().count();
        let file = TemporaryFile::create_in(folder.path(), true).unwrap();
        let parts = TemporaryFolder::create_in(folder.path()).unwrap();
        fs::write(parts.path().join("part"), "x").unwrap();
        assert_eq!(count(), 2);
        drop((file, parts));
        assert_eq!(count(), 0);
    }

    #[test]
    fn renamed_folders_stay() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("parts");
        let parts = TemporaryFolder::create_in(folder.path()).unwrap();
        fs::write(parts.path().join("part"), "x").unwrap();
        parts.rename(&target).unwrap();
        assert_eq!(fs::read(target.join("part")).unwrap(), b"x");
        // A folder that is not empty is not replaced, and nothing is left behind.
        let parts = TemporaryFolder::create_in(folder.path()).unwrap();
        assert!(parts.rename(&target).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
