//! The results of an experiment, independent of how they are printed.

use hodgerank_io::write::Table;
use hodgerank_report::chart::Chart;

/// The results of an experiment.
#[derive(Debug, Clone)]
pub struct Findings {
    /// A one-line description with the sizes used.
    pub title: String,
    /// The claims, and whether they hold.
    pub claims: Vec<Claim>,
    /// Data tables and the stems of their file names.
    pub tables: Vec<(String, Table)>,
    /// The charts.
    pub charts: Vec<Chart>,
}

/// A claim and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// What should hold.
    pub claim: String,
    /// The measured values.
    pub found: String,
    /// Whether the claim holds.
    pub holds: bool,
    /// What the paper says about it, if anything.
    pub paper: Option<String>,
}

impl Claim {
    /// Returns a claim that is not from the paper.
    pub(crate) fn new(claim: impl Into<String>, found: impl Into<String>, holds: bool) -> Self {
        Self { claim: claim.into(), found: found.into(), holds, paper: None }
    }

    /// Adds the paper's statement.
    pub(crate) fn in_paper(mut self, paper: impl Into<String>) -> Self {
        self.paper = Some(paper.into());
        self
    }
}
