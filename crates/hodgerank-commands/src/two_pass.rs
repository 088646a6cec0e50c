//! Two passes over the input: votes are counted and ranked, then every row is read again next to the
//! result for its distinct vote.
//!
//! Where several processes share the votes, each reads its own files again: its studies have the
//! distinct votes of these files ([`RankedStudy::with_groups`]).

use std::sync::Arc;

use hodgerank::{FitOptions, Model, RankedStudy};
use hodgerank_io::read::{JudgedCrowd, Progress, StudyFlags, TableHead};
use hodgerank_io::{Input, ReadOptions, Rejected, Sources};

use crate::failure::Failure;
use crate::input::{InputOptions, VoteSource, check_memory};
use crate::observer::{Observer, Task};
use crate::ranked::rank_study;

/// Ranked studies and the files that they were read from.
#[derive(Debug)]
pub struct TwoPass {
    /// The files.
    pub sources: Sources,
    /// How they are read.
    pub options: ReadOptions,
    /// The studies.
    pub studies: Vec<RankedStudy>,
    /// The format and columns of each file.
    pub tables: Vec<TableHead>,
    /// Rejected rows.
    pub rejected: Rejected,
    /// Bytes to read, if known, for the progress bar.
    pub bytes: u64,
}

impl TwoPass {
    /// The first pass: reads the votes, applies `check` and ranks.
    ///
    /// # Errors
    /// If the votes cannot be read, `check` refuses them, or a solver fails.
    pub fn new(
        votes: &VoteSource,
        input: &InputOptions,
        fit: &FitOptions,
        threads: usize,
        observer: &dyn Observer,
        check: impl FnOnce(&Input) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let sources = votes.again(observer)?;
        let bytes = votes.bytes();
        let annotator_votes = fit.needs_annotators();
        let options = ReadOptions { annotator_votes, ..input.read_options(threads) };
        let progress = Arc::new(Progress::default());
        let reading = Task::Reading(bytes, &progress);
        let read = observer.run(reading, || sources.read(&options, &progress))??;
        check_memory(&read)?;
        observer.list_rejected(&read.rejected);
        check(&read)?;
        let Input { studies, rejected, tables, .. } = read;
        let rank = |study| rank_study(study, rejected.total, fit, observer);
        let studies = studies.into_iter().map(rank).collect::<Result<_, _>>()?;
        Ok(Self { sources, options, studies, tables, rejected, bytes })
    }

    /// The studies in the form that the second pass needs.
    #[must_use]
    pub fn study_flags<'a>(&'a self) -> Vec<StudyFlags<'a>> {
        let flags = |study: &'a RankedStudy| StudyFlags {
            by: study.by.as_deref(),
            items: &study.items,
            groups: study.graph.groups(),
            flagged: &study.fit.flagged,
            crowd: match &study.fit.model {
                Some(Model::Crowd(flags)) => {
                    Some(JudgedCrowd { flags, annotators: &study.annotators })
                }
                _ => None,
            },
        };
        self.studies.iter().map(flags).collect()
    }

    /// Runs the second pass with a progress bar.
    ///
    /// # Errors
    /// If the pass fails or is interrupted.
    pub fn second_pass<T>(
        &self,
        observer: &dyn Observer,
        pass: impl FnOnce(&Arc<Progress>) -> hodgerank_io::Result<T>,
    ) -> Result<T, Failure> {
        let progress = Arc::new(Progress::default());
        Ok(observer.run(Task::Reading(self.bytes, &progress), || pass(&progress))??)
    }
}
