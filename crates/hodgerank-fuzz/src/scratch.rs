//! Files for one execution, in memory where the system allows.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

thread_local! {
    static FOLDER: TempDir = new_folder();
}

fn new_folder() -> TempDir {
    let in_memory = Path::new("/dev/shm");
    let parent = if in_memory.is_dir() { in_memory.to_owned() } else { std::env::temp_dir() };
    tempfile::Builder::new().prefix("hodgerank-fuzz-").tempdir_in(parent).expect("a folder")
}

/// The path of a file of this thread; the next execution uses it again.
pub(crate) fn path(name: &str) -> PathBuf {
    FOLDER.with(|folder| folder.path().join(name))
}

/// Writes a file of this thread and returns its path.
pub(crate) fn write(name: &str, bytes: &[u8]) -> String {
    let path = path(name);
    std::fs::write(&path, bytes).expect("the file can be written");
    path.to_str().expect("a plain path").to_owned()
}
