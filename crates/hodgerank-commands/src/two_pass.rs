//! Two passes over the input: votes are counted and ranked, then every row is read again next to the
//! result for its distinct vote.
//!
//! Where several processes share the votes, each reads its own files again: its studies have the
//! distinct votes of these files ([`RankedStudy::with_local_votes`]).

use std::sync::Arc;

use hodgerank::{FitOptions, FlagReason, Model, RankedStudy};
use hodgerank_io::read::{JudgedCrowd, Progress, StudyFlags, TableHead};
use hodgerank_io::{
    ExcludedItems, ExcludedVotes, Input, PassedOver, ReadOptions, Rejected, Sources,
};

use crate::different_studies;
use crate::document::UncountedRows;
use crate::failure::Failure;
use crate::input::{self, ReadPlan, VoteSource};
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
    /// Rows that are no votes, or that were not wanted.
    pub passed_over: PassedOver,
    /// What was left out with excluded annotators.
    pub excluded: Option<ExcludedVotes>,
    /// Items that were left out because of few votes.
    pub excluded_items: Option<ExcludedItems>,
    /// Why votes of each distinct vote of each study are flagged, where other processes share the votes
    /// and know it.
    pub known_reasons: Option<Vec<Vec<FlagReason>>>,
    /// Whether there are several files, some of which other processes may read.
    pub has_files: bool,
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
        plan: &ReadPlan<'_>,
        fit: &FitOptions,
        observer: &dyn Observer,
        check: impl FnOnce(&Input) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let exclusion = plan.input.exclusion()?;
        let mut sources = votes.again(observer)?;
        let bytes = votes.bytes();
        let mut options = plan.kept.apply(plan.input.read_options(votes.files(), plan.threads)?);
        plan.input.join_spellings(&mut sources, &mut options, bytes, observer)?;
        let read = input::read(&sources, &mut options, exclusion.as_ref(), bytes, observer);
        let mut read = read.map_err(|failure| votes.explained(failure, &options))?;
        plan.input.check_used(&read.tables)?;
        different_studies::note(votes, &options, observer);
        plan.items.apply(&mut read, observer)?;
        check(&read)?;
        let Input { studies, rejected, passed_over, excluded, excluded_items, tables, .. } = read;
        let rank = |study| rank_study(study, rejected.total, fit, observer);
        let studies = studies.into_iter().map(rank).collect::<Result<_, _>>()?;
        Ok(Self {
            sources,
            options,
            studies,
            has_files: tables.len() > 1,
            tables,
            rejected,
            passed_over,
            excluded,
            excluded_items,
            known_reasons: None,
            bytes,
        })
    }

    /// The rows that were not counted.
    #[must_use]
    pub fn uncounted(&self) -> UncountedRows {
        UncountedRows::new(&self.rejected, self.excluded.as_ref())
            .with_items(self.excluded_items.as_ref())
            .with_passed_over(self.passed_over)
    }

    /// Why the votes of each study are flagged.
    #[must_use]
    pub fn flag_reasons(&self) -> Vec<Vec<FlagReason>> {
        let of_studies = || self.studies.iter().map(RankedStudy::flag_reasons).collect();
        self.known_reasons.clone().unwrap_or_else(of_studies)
    }

    /// The studies in the form that the second pass needs; `reasons` are those of
    /// [`TwoPass::flag_reasons`], or none.
    #[must_use]
    pub fn study_flags<'a>(&'a self, reasons: &'a [Vec<FlagReason>]) -> Vec<StudyFlags<'a>> {
        let flags = |(k, study): (usize, &'a RankedStudy)| StudyFlags {
            by: study.by.as_deref(),
            items: &study.items,
            groups: study.graph.groups(),
            flagged: &study.fit.flagged,
            reasons: reasons.get(k).map(Vec::as_slice),
            probability: study.fit.bad_probability.as_deref(),
            excluded_items: self.excluded_items.as_ref().map(|found| &found.of_study[k]),
            crowd: match &study.fit.model {
                Some(Model::Crowd(flags)) => {
                    Some(JudgedCrowd { flags, annotators: &study.annotators })
                }
                _ => None,
            },
        };
        self.studies.iter().enumerate().map(flags).collect()
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
