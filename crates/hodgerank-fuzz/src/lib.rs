//! Fuzz targets: functions that take any bytes and panic if a promise of the project is broken.
//!
//! | target | bytes are | checks |
//! |---|---|---|
//! | `delimited`, `json_lines`, `parquet`, `arrow`, `sqlite` | options and a file | the file is read as votes or refused; threads, passes and `--on-error` agree |
//! | `compressed` | options and a file, plain or compressed | as above; compression changes nothing |
//! | `tables` | choices of headers, options and cells | CSV, TSV, JSON lines, Parquet, Arrow and SQLite files of the same cells are read alike |
//! | `clean` | options, which rows to flag, and a file | every row is in one of the outputs, byte for byte |
//! | `study` | a valid study with extreme values, a method and its options | scores satisfy the method's optimality conditions |
//!
//! The same functions run in two ways: under libFuzzer, guided by coverage (`fuzz/`), and in the
//! [`harness`] of this crate, which needs no more than a stable toolchain.

#![warn(missing_docs)]

mod choices;
mod clean;
pub mod harness;
mod limits;
mod mutate;
mod optimality;
mod read_options;
mod readers;
mod scratch;
mod seeds;
mod study;
mod tables;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// What happened to an input, coarsely: the harness keeps inputs with new signatures as seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature(u64);

impl Signature {
    /// The signature of a text: its first words, without numbers.
    fn of(text: &str) -> Self {
        const MAX_WORDS: usize = 9;
        let mut hasher = DefaultHasher::new();
        let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 1);
        words.take(MAX_WORDS).for_each(|word| word.hash(&mut hasher));
        Self(hasher.finish())
    }
}

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, also that of the libFuzzer program.
    pub name: &'static str,
    /// The largest input worth trying, in bytes.
    pub max_bytes: usize,
    check: fn(&[u8]) -> Signature,
    seeds: fn() -> Vec<Vec<u8>>,
    /// Words of the format, for mutations.
    words: &'static [&'static [u8]],
}

impl Target {
    /// Every target.
    pub const ALL: &'static [Self] = &[
        Self {
            name: "delimited",
            max_bytes: 4096,
            check: readers::delimited,
            seeds: seeds::delimited,
            words: seeds::CSV_WORDS,
        },
        Self {
            name: "json_lines",
            max_bytes: 4096,
            check: readers::json_lines,
            seeds: seeds::json_lines,
            words: seeds::JSON_WORDS,
        },
        Self {
            name: "parquet",
            max_bytes: 16384,
            check: readers::parquet,
            seeds: seeds::parquet,
            words: seeds::BINARY_WORDS,
        },
        Self {
            name: "arrow",
            max_bytes: 16384,
            check: readers::arrow,
            seeds: seeds::arrow,
            words: seeds::BINARY_WORDS,
        },
        Self {
            name: "sqlite",
            max_bytes: 16384,
            check: readers::sqlite,
            seeds: seeds::sqlite,
            words: seeds::SQLITE_WORDS,
        },
        Self {
            name: "compressed",
            max_bytes: 4096,
            check: readers::compressed,
            seeds: seeds::compressed,
            words: seeds::CSV_WORDS,
        },
        Self {
            name: "tables",
            max_bytes: 512,
            check: tables::check,
            seeds: seeds::choices,
            words: seeds::BINARY_WORDS,
        },
        Self {
            name: "clean",
            max_bytes: 4096,
            check: clean::check,
            seeds: seeds::clean,
            words: seeds::CSV_WORDS,
        },
        Self {
            name: "study",
            max_bytes: 512,
            check: study::check,
            seeds: seeds::choices,
            words: seeds::BINARY_WORDS,
        },
    ];

    /// The target of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|target| target.name == name)
    }

    /// Inputs to start from.
    #[must_use]
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        (self.seeds)()
    }

    /// Words of the format, as a dictionary for libFuzzer.
    #[must_use]
    pub fn dictionary(&self) -> String {
        let escaped = |word: &&[u8]| word.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        let line = |word: String| format!("\"{word}\"\n");
        self.words.iter().map(escaped).map(line).collect()
    }

    /// Runs the target on an input, within the limits of time and memory.
    ///
    /// # Panics
    /// If the input breaks a promise or exceeds a limit: that is a finding.
    pub fn run(&self, bytes: &[u8]) -> Signature {
        limits::enforce(|| (self.check)(bytes))
    }
}

/// Runs the target `name`, for libFuzzer.
///
/// # Panics
/// If there is no such target, and for a finding.
pub fn run(name: &str, bytes: &[u8]) {
    let target = Target::find(name).expect("the name of a target");
    target.run(bytes);
}
