//! Reading, sharing and judging; then each rank's own files once more, beside what was said of them.
//!
//! Every command begins with [`Session::look`]: all ranks judge all votes, each owns some groups.
//! Commands on single rows go on with [`FirstPass::again`]: each rank has the groups of its own
//! files, and asks their owners.

use hodgerank::FitOptions;
use std::sync::Arc;

use hodgerank::communicator::{Checkpoint, Communicator};
use hodgerank_cli::Failure;
use hodgerank_commands::{
    CountedStudy, InputOptions, RankedStudy, TwoPass, Watch, places, rank_study,
};
use hodgerank_io::read::TableHead;
use hodgerank_io::{Rejected, Sources};

use crate::agree::{Failed, agree};
use crate::checkpoint::Checkpoints;
use crate::fingerprint::Fingerprint;
use crate::flags::CheckpointOptions;
use crate::own::Own;
use crate::session::Session;
use crate::shards::Plan;
use crate::votes::rank_of_pair;
use crate::{MpiTeam, lookup, reading, studies};

/// What is to be judged, and how.
pub(crate) struct Job<'a> {
    pub(crate) files: &'a [String],
    pub(crate) input: &'a InputOptions,
    pub(crate) fit: &'a FitOptions,
    pub(crate) checkpoint: &'a CheckpointOptions,
    /// Of the flags: a kept state is for the same job only.
    pub(crate) flags: Fingerprint,
    /// Whether the files are looked at again; what that needs is kept.
    pub(crate) again: bool,
}

/// Studies that all have judged; their groups are those that this rank owns.
pub(crate) struct FirstPass {
    plan: Plan,
    pub(crate) studies: Vec<RankedStudy>,
    /// Of the files that are read here.
    pub(crate) tables: Vec<TableHead>,
    /// Of everyone.
    pub(crate) rejected: Rejected,
    own: Own,
    kept: Option<Arc<Checkpoints>>,
}

impl Session {
    /// Reads, refuses what is refused of the files that are read here or of a study, and judges.
    ///
    /// # Errors
    /// If anyone cannot read, refuses or cannot judge.
    pub(crate) fn look(
        &self,
        job: Job<'_>,
        check_files: impl FnOnce(&[TableHead]) -> Result<(), Failure>,
        check_study: impl Fn(&CountedStudy) -> Result<(), Failure>,
    ) -> Result<FirstPass, Failed> {
        let Self { world, voice, threads } = self;
        let voice: &dyn Observer = &**voice;
        let named = if world.is_first() { places::check_inputs(job.files, voice) } else { Ok(()) };
        agree(world, named)?;
        let plan = Plan::make(world, job.files, job.input.read_options(*threads).format)?;
        let fingerprint = job.flags.with_plan(&plan, world.size());
        let kept = Checkpoints::open(self, job.checkpoint, fingerprint)?.map(Arc::new);
        let keeper = kept.clone().map(|kept| kept as Arc<dyn Checkpoint>);
        let communicator: Arc<dyn Communicator> = Arc::new(MpiTeam::new(Arc::clone(world), keeper));

        let read = reading::read(world, &plan, job.input, *threads, voice)?;
        agree(world, check_files(&read.tables))?;
        let own = if job.again { Own::keep(&read.studies) } else { Own::default() };
        let shared = studies::share(world, &communicator, read.studies)?;
        for study in &shared {
            agree(world, check_study(study))?;
        }
        let mut studies = Vec::with_capacity(shared.len());
        for (number, study) in shared.into_iter().enumerate() {
            if let Some(kept) = &kept {
                kept.begin_study(number);
            }
            studies.push(agree(world, rank_study(study, read.rejected.total, job.fit, voice))?);
        }
        Ok(FirstPass { plan, studies, tables: read.tables, rejected: read.rejected, own, kept })
    }
}

impl FirstPass {
    /// This rank's own files beside what the owners of their votes said.
    ///
    /// # Errors
    /// If anyone has too many groups to be numbered.
    pub(crate) fn again(
        &mut self,
        session: &Session,
        input: &InputOptions,
    ) -> Result<TwoPass, Failed> {
        let Session { world, threads, .. } = session;
        let owner = |left, right| rank_of_pair(left, right, world.size());
        let mut studies = Vec::with_capacity(self.studies.len());
        for study in self.studies.drain(..) {
            let groups = self.own.take(study.table.by.as_deref(), &study.items);
            studies.push(agree(world, lookup::beside(&**world, study, groups, owner))?);
        }
        Ok(TwoPass {
            sources: Sources::shares(&self.plan.shares(world.rank())),
            options: input.read_options(*threads),
            studies,
            tables: std::mem::take(&mut self.tables),
            rejected: std::mem::take(&mut self.rejected),
            bytes: self.plan.bytes(world.rank()),
        })
    }

    /// Everything is written: no state need be kept any more.
    pub(crate) fn done(self) {
        if let Some(kept) = self.kept {
            kept.remove();
        }
    }
}
