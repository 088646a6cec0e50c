//! The examples for users run and print something.

use std::path::Path;
use std::process::Command;

/// Programs in `examples/` with a Python version in `python/examples/`. Others there are long
/// computations behind figures of the documentation.
const EXAMPLES: [&str; 3] = ["quickstart", "annotators", "path"];

#[test]
fn examples_run() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let is_there = |name: &&str| sources.join(format!("{name}.rs")).is_file();
    for name in EXAMPLES.into_iter().filter(is_there) {
        // Cargo builds examples next to the tests, unless it is asked for one test target only.
        let test = std::env::current_exe().unwrap();
        let example = test.parent().unwrap().with_file_name("examples").join(name);
        if !example.is_file() {
            return hodgerank_testdata::skip("needs the examples (cargo build --examples)");
        }
        let run = Command::new(&example).output().unwrap();
        let messages = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{name}: {messages}");
        assert!(!run.stdout.is_empty(), "{name} printed nothing");
    }
}
