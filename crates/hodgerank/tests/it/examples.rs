//! Every program in `examples/` runs and prints something.

use std::path::Path;
use std::process::Command;

#[test]
fn examples_run() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let Ok(entries) = std::fs::read_dir(sources) else { return };
    let sources = entries.map(|entry| entry.unwrap().path());
    for source in sources.filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let name = source.file_stem().unwrap();
        // Cargo builds examples next to the tests, unless it is asked for one test target only.
        let test = std::env::current_exe().unwrap();
        let example = test.parent().unwrap().with_file_name("examples").join(name);
        if !example.is_file() {
            return hodgerank_testdata::skip("needs the examples (cargo build --examples)");
        }
        let run = Command::new(&example).output().unwrap();
        let messages = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{}: {messages}", example.display());
        assert!(!run.stdout.is_empty(), "{} printed nothing", example.display());
    }
}
