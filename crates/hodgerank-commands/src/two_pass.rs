//! Two passes: votes are counted and judged, then every row is looked at beside its group.
//!
//! Where many machines share the votes, each looks again at its own files: its studies have the
//! groups of these files and what the team said of them ([`RankedStudy::beside`]).

use std::sync::Arc;

use hodgerank::fit::FitOptions;
use hodgerank_io::read::{Progress, StudyFlags, TableHead};
use hodgerank_io::{Input, ReadOptions, Rejected, Sources};

use crate::failure::Failure;
use crate::input::{InputOptions, Votes};
use crate::rank_study::{CountedStudy, RankedStudy, rank_study};
use crate::watch::{Watch, Work};

/// Studies that were judged, and the files that they came from.
#[derive(Debug)]
pub struct TwoPass {
    /// The files.
    pub sources: Sources,
    /// How they are read.
    pub options: ReadOptions,
    /// The studies.
    pub studies: Vec<RankedStudy>,
    /// What each file is.
    pub tables: Vec<TableHead>,
    /// Rows that were not counted.
    pub rejected: Rejected,
    /// Bytes to read, as far as that is known; for those who watch.
    pub bytes: u64,
}

impl TwoPass {
    /// Reads, refuses what `check` refuses, and judges.
    ///
    /// # Errors
    /// If the votes cannot be read, are refused or cannot be judged.
    pub fn new(
        votes: &Votes,
        input: &InputOptions,
        fit: &FitOptions,
        threads: usize,
        watch: &dyn Watch,
        check: impl FnOnce(&Input) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let sources = votes.again(watch)?;
        let bytes = votes.bytes();
        let options = input.read_options(threads);
        let progress = Arc::new(Progress::default());
        let reading = Work::Reading(bytes, &progress);
        let read = watch.watch(reading, || sources.read(&options, &progress))??;
        watch.list_rejected(&read.rejected);
        check(&read)?;
        let Input { studies, rejected, tables, .. } = read;
        let rank_study = |study| rank_study(CountedStudy::new(study)?, rejected.total, fit, watch);
        let studies = studies.into_iter().map(rank_study).collect::<Result<_, _>>()?;
        Ok(Self { sources, options, studies, tables, rejected, bytes })
    }

    /// The studies as the second pass needs them.
    #[must_use]
    pub fn judged<'a>(&'a self) -> Vec<StudyFlags<'a>> {
        let judged = |study: &'a RankedStudy| StudyFlags {
            by: study.table.by.as_deref(),
            items: &study.items,
            groups: study.graph.groups(),
            flagged: &study.fit.flagged,
        };
        self.studies.iter().map(judged).collect()
    }

    /// Does the second pass, with progress.
    ///
    /// # Errors
    /// If the pass fails or is not to be done.
    pub fn pass<T>(
        &self,
        watch: &dyn Watch,
        pass: impl FnOnce(&Arc<Progress>) -> hodgerank_io::Result<T>,
    ) -> Result<T, Failure> {
        let progress = Arc::new(Progress::default());
        Ok(watch.watch(Work::Reading(self.bytes, &progress), || pass(&progress))??)
    }
}
