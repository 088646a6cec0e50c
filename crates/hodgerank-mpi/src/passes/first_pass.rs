//! Reading, distributing and ranking the votes.

use std::sync::Arc;

use hodgerank::communicator::{Checkpoint, Communicator};
use hodgerank::{FitOptions, InputSummary, RankedStudy};
use hodgerank_cli::RunFailure;
use hodgerank_commands::{
    InputOptions, Kept, Observer, Task, TwoPass, annotators, announce, places,
};
use hodgerank_io::read::TableHead;
use hodgerank_io::{ExcludedVotes, PassedOver, ReadOptions, Rejected, Sources};

use super::exclusion;
use super::owner_results::with_local_votes;
use crate::checkpoint::{CheckpointFolder, CheckpointOptions, Fingerprint};
use crate::comm::{CollectiveError, MpiCommunicator, owner_of_pair};
use crate::input::{DistributedStudy, KeptColumns, LocalVotes, ShardPlan, read, studies};
use crate::session::Session;

/// What to rank, and how.
pub(crate) struct Job<'a> {
    pub(crate) files: &'a [String],
    pub(crate) input: &'a InputOptions,
    pub(crate) fit: &'a FitOptions,
    pub(crate) checkpoint: &'a CheckpointOptions,
    /// Of the command line. A checkpoint can be resumed by the same job only.
    pub(crate) fingerprint: Fingerprint,
    /// Whether a second pass follows, for which the votes read here are kept.
    pub(crate) has_second_pass: bool,
}

/// Studies that all processes have ranked. Their distinct votes are those that this process owns.
pub(crate) struct FirstPass {
    plan: ShardPlan,
    /// What this process reads. It remembers what the first pass has read.
    sources: Sources,
    options: ReadOptions,
    pub(crate) studies: Vec<RankedStudy>,
    /// Of the files that are read here.
    pub(crate) tables: Vec<TableHead>,
    /// Of all processes.
    pub(crate) rejected: Rejected,
    /// Of all processes.
    pub(crate) passed_over: PassedOver,
    /// Of all processes; none if nobody was to be excluded.
    pub(crate) excluded: Option<ExcludedVotes>,
    local: LocalVotes,
    checkpoint: Option<Arc<CheckpointFolder>>,
}

impl Session {
    /// Reads the files, checks those read here and then each study, and ranks. Collective.
    ///
    /// # Errors
    /// If reading, a check or ranking fails on any process.
    pub(crate) fn first_pass(
        &self,
        job: Job<'_>,
        check_files: impl FnOnce(&[TableHead]) -> Result<(), RunFailure>,
        check_study: impl Fn(&DistributedStudy) -> Result<(), RunFailure>,
    ) -> Result<FirstPass, CollectiveError> {
        let Self { world, terminal, threads, .. } = self;
        let terminal: &dyn Observer = &**terminal;
        let checked =
            if world.is_root() { places::check_inputs(job.files, terminal) } else { Ok(()) };
        world.all_ok(checked)?;
        world.all_ok(job.input.check_distributed())?;
        let options = world.all_ok(job.input.read_options(job.files, *threads))?;
        let plan = ShardPlan::new(world, job.files, options.format)?;
        let exclusion = exclusion::resolve(self, &plan, job.input)?;
        let excluded = exclusion.as_ref().map(|(_, annotators)| annotators);
        let fingerprint = job.fingerprint.with_plan(&plan, world.size());
        let fingerprint = fingerprint.with_excluded(excluded.map(|annotators| &**annotators));
        let checkpoint = CheckpointFolder::open(self, job.checkpoint, fingerprint)?.map(Arc::new);
        let saved_to = checkpoint.clone().map(|folder| folder as Arc<dyn Checkpoint>);
        let communicator: Arc<dyn Communicator> =
            Arc::new(MpiCommunicator::new(Arc::clone(world), saved_to));

        let kept = Kept::needed_by(job.fit);
        let options = ReadOptions { excluded: excluded.cloned(), ..kept.apply(options) };
        let (input, sources) = read::read(world, &plan, &options, terminal)?;
        terminal.list_uncounted(&input);
        if let Some((exclusion, annotators)) = &exclusion {
            world.all_ok(annotators::check(&input.tables))?;
            exclusion.announce(annotators, &input, terminal);
        }
        world.all_ok(check_files(&input.tables))?;
        let local = match job.has_second_pass {
            true => LocalVotes::copy_of(&input.studies),
            false => LocalVotes::default(),
        };
        let columns = KeptColumns::new(kept, &input.tables);
        let distributed = studies::distribute(world, &communicator, input.studies, columns)?;
        for study in &distributed {
            world.all_ok(check_study(study))?;
        }
        let (rejected, excluded) = (input.rejected, input.excluded);
        let passed_over = input.passed_over;
        let mut studies = Vec::with_capacity(distributed.len());
        for (number, study) in distributed.into_iter().enumerate() {
            if let Some(checkpoint) = &checkpoint {
                checkpoint.begin_study(number);
            }
            let solved = solve(study, rejected.total, job.fit, "solving", terminal);
            let ranked = world.all_ok(solved)?;
            announce(&ranked, terminal);
            studies.push(ranked);
        }
        let tables = input.tables;
        Ok(FirstPass {
            plan,
            sources,
            options,
            studies,
            tables,
            rejected,
            passed_over,
            excluded,
            local,
            checkpoint,
        })
    }
}

/// Ranks one study; `step` is what the user sees meanwhile. Collective.
pub(super) fn solve(
    study: DistributedStudy,
    rejected: u64,
    options: &FitOptions,
    step: &'static str,
    observer: &dyn Observer,
) -> Result<RankedStudy, RunFailure> {
    let DistributedStudy { by, items, graph, input, annotators, annotator_votes } = study;
    let input = InputSummary { rejected, ..input };
    let annotators = (annotators, annotator_votes);
    let solve = || RankedStudy::of_graph(by, items, graph, input, annotators, options);
    Ok(observer.run(Task::Step(step), solve)??)
}

impl FirstPass {
    /// Prepares the second pass over the files of this process: studies then have the distinct
    /// votes that were read here, with the results of their owners. Collective.
    ///
    /// # Errors
    /// If any process has too many distinct votes to number them.
    pub(crate) fn second_pass(&mut self, session: &Session) -> Result<TwoPass, CollectiveError> {
        let world = &session.world;
        let owner = |left, right| owner_of_pair(left, right, world.size());
        let (mut studies, mut reasons) = (Vec::new(), Vec::new());
        for study in self.studies.drain(..) {
            let local = self.local.take(study.by.as_deref(), &study.items);
            let found = world.all_ok(with_local_votes(&**world, study, local, owner))?;
            studies.push(found.0);
            reasons.push(found.1);
        }
        Ok(TwoPass {
            sources: std::mem::replace(&mut self.sources, Sources::shares(&[])),
            options: self.options.clone(),
            studies,
            tables: std::mem::take(&mut self.tables),
            rejected: std::mem::take(&mut self.rejected),
            passed_over: self.passed_over,
            excluded: self.excluded.take(),
            excluded_items: None,
            known_reasons: Some(reasons),
            has_files: self.plan.files.len() > 1,
            bytes: self.plan.bytes(world.rank()),
        })
    }

    /// Removes the checkpoint, after the results were written. Collective.
    pub(crate) fn finish(self) {
        if let Some(checkpoint) = self.checkpoint {
            checkpoint.remove();
        }
    }
}
