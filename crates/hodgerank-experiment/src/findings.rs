//! What an experiment found, free of where it is printed.

use hodgerank_io::write::Table;
use hodgerank_report::chart::Chart;

/// What an experiment found.
#[derive(Debug, Clone)]
pub struct Findings {
    /// What was done, with its sizes.
    pub title: String,
    /// What was claimed, and what came out.
    pub claims: Vec<Claim>,
    /// The data: the stem of a file's name, and what it holds.
    pub tables: Vec<(String, Table)>,
    /// The figures.
    pub charts: Vec<Chart>,
}

/// A claim beside what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// What should hold.
    pub claim: String,
    /// What was found, in figures.
    pub found: String,
    /// Whether it holds.
    pub holds: bool,
    /// What the paper itself says, where it does.
    pub paper: Option<String>,
}

impl Claim {
    /// A claim of our own.
    pub(crate) fn new(claim: impl Into<String>, found: impl Into<String>, holds: bool) -> Self {
        Self { claim: claim.into(), found: found.into(), holds, paper: None }
    }

    /// The same with the paper's words or figures.
    pub(crate) fn in_paper(mut self, paper: impl Into<String>) -> Self {
        self.paper = Some(paper.into());
        self
    }
}
