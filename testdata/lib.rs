//! Where the tests of all crates find their data, and how they report that they were skipped.
//!
//! The small studies of this directory are always available. The published studies, which the
//! acceptance values of the paper's tables need, are not part of the repository.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Overrides the directory of the published studies.
const PUBLISHED_DATA: &str = "HODGERANK_PUBLISHED_DATA";

/// Names the file to which skipped tests are appended; `scripts/test` sets it.
const SKIPPED_TESTS: &str = "HODGERANK_SKIPPED_TESTS";

/// The directory of this crate's data.
pub fn directory() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The path of a file below `testdata/`.
///
/// # Panics
/// If there is no such file.
#[track_caller]
pub fn file(name: &str) -> PathBuf {
    let path = directory().join(name);
    assert!(path.is_file(), "{} is missing", path.display());
    path
}

/// The directory of the published studies, for tests that use them where they are available.
pub fn find_published_studies() -> Option<PathBuf> {
    let data = std::env::var_os(PUBLISHED_DATA)
        .map_or_else(|| directory().join("../../shared/data"), PathBuf::from);
    data.is_dir().then_some(data)
}

/// The directory of the published studies, for tests that cannot do without them. Where it is
/// missing, records the current test as skipped; the test should then return.
pub fn published_studies() -> Option<PathBuf> {
    let found = find_published_studies();
    if found.is_none() {
        skip("needs the published studies (../shared/data)");
    }
    found
}

/// Records that the current test was skipped: on standard error, and in the file that
/// `scripts/test` shows at the end of its run.
///
/// # Panics
/// If that file cannot be written.
#[allow(clippy::print_stderr, reason = "shown next to the test's result")]
pub fn skip(reason: &str) {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    // The test harness names each thread after the test that runs on it.
    let thread = std::thread::current();
    let line = format!("{package}::{}: {reason}\n", thread.name().unwrap_or("?"));
    eprint!("skipped: {line}");
    if let Some(path) = std::env::var_os(SKIPPED_TESTS) {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        // One call per line, so that lines of tests that run at the same time do not mix.
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the list can be written");
    }
}
