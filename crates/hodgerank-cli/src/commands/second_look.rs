//! Two passes: votes are counted and judged, then every row is looked at beside its group.

use std::sync::Arc;

use hodgerank::fit::FitOptions;
use hodgerank_io::read::{Judged, Progress, TableHead};
use hodgerank_io::{Input, ReadOptions, Rejected, Sources};

use super::rank::{self, JudgedStudy};
use crate::args::InputOptions;
use crate::failure::Failure;
use crate::places;
use crate::terminal::{Terminal, Work};

/// Studies that were judged, and the files that they came from.
pub(crate) struct SecondLook {
    pub(crate) sources: Sources,
    pub(crate) options: ReadOptions,
    pub(crate) studies: Vec<JudgedStudy>,
    pub(crate) tables: Vec<TableHead>,
    pub(crate) rejected: Rejected,
    bytes: u64,
}

impl SecondLook {
    /// Reads, refuses what `check` refuses, and judges.
    pub(crate) fn new(
        input: &InputOptions,
        fit: &FitOptions,
        threads: usize,
        terminal: &Terminal,
        check: impl FnOnce(&Input) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        places::check_inputs(&input.files, terminal)?;
        let size = |file: &String| std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        let bytes = input.files.iter().map(size).sum();
        let options = input.read_options(threads);
        let sources = Sources::again(&input.files)?;
        let progress = Arc::new(Progress::default());
        let read = terminal
            .watch(Work::Reading(bytes, &progress), || sources.read(&options, &progress))?;
        terminal.list_rejected(&read.rejected);
        check(&read)?;
        let Input { studies, rejected, tables } = read;
        let judge = |study| rank::judge(study, rejected.total, fit, terminal);
        let studies = studies.into_iter().map(judge).collect::<Result<_, _>>()?;
        Ok(Self { sources, options, studies, tables, rejected, bytes })
    }

    /// The studies as the second pass needs them.
    pub(crate) fn judged<'a>(&'a self) -> Vec<Judged<'a>> {
        let judged = |study: &'a JudgedStudy| Judged {
            by: study.table.by.as_deref(),
            items: &study.items,
            groups: study.graph.groups(),
            flagged: &study.fit.flagged,
        };
        self.studies.iter().map(judged).collect()
    }

    /// Does the second pass, with progress.
    pub(crate) fn watch<T>(
        &self,
        terminal: &Terminal,
        pass: impl FnOnce(&Arc<Progress>) -> T,
    ) -> T {
        let progress = Arc::new(Progress::default());
        terminal.watch(Work::Reading(self.bytes, &progress), || pass(&progress))
    }
}
