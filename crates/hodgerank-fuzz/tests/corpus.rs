//! Seeds and saved inputs keep every promise.

use std::path::Path;

use hodgerank_fuzz::{Target, harness};

fn run_all(name: &str) {
    let target = Target::find(name).expect("the name of a target");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let seeds = target.seeds();
    assert!(!seeds.is_empty());
    for input in seeds.into_iter().chain(harness::inputs(&corpus).unwrap()) {
        target.run(&input);
    }
}

macro_rules! targets {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            run_all(stringify!($name));
        })*

        /// The list above, the targets and the libFuzzer programs are the same.
        #[test]
        fn lists_agree() {
            let tested = [$(stringify!($name)),*];
            let names: Vec<&str> = Target::ALL.iter().map(|target| target.name).collect();
            assert_eq!(tested[..], names[..]);
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            for name in names {
                assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
                let program = std::fs::read_to_string(folder.join(format!("fuzz_targets/{name}.rs")));
                assert!(program.unwrap().contains(&format!("\"{name}\"")), "{name}");
            }
        }
    };
}

targets!(delimited, json_lines, parquet, arrow, sqlite, compressed, tables, clean, study);
