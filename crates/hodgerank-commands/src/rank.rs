//! `rank`: votes in, ranking out.

mod against;
mod saved;

pub use against::{GoneItem, ItemChange, RankingChanges};
pub use saved::SavedRanking;

use std::io;
use std::sync::OnceLock;

use clap::Args;
use hodgerank::annotators::JudgedAnnotator;
use hodgerank::ranking::ColumnValue;
use hodgerank::uncertainty::FEW_CLUSTERS;
use hodgerank::{
    AnnotatorReport, ComparisonGraph, ComponentSummary, Components, FitOptions, InputSummary,
    IntervalOptions, Labels, OutlierSummary, RankedItem, RankedStudy, Study, Uncertainty,
};
use hodgerank_io::write::{Column, Table};
use hodgerank_io::{Input, PassedOver};
use hodgerank_report::words::thousands;
use serde::Serialize;

use crate::annotators::{self, judged_annotators};
use crate::certificate::CertificateSummary;
use crate::document::{Document, StudyDocument, UncountedRows, table_by, write_studies};
use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, ReadsVotes, VoteSource};
use crate::min_votes::ItemOptions;
use crate::observer::Observer;
use crate::position_bias::{CorrectedBias, CorrectionOptions};
use crate::provenance::Provenance;
use crate::ranked::{MethodSummary, estimate_uncertainty, rank_study, warnings};
use crate::scale::{ScaleOptions, ScaleSummary};
use crate::text::visible;
use crate::two_pass::TwoPass;

const SCHEMA: &str = "hodgerank/rank/1";

/// Arguments of `rank`.
#[derive(Debug, Args)]
#[command(about = None, long_about = None)]
pub struct RankArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// Which items are ranked.
    #[command(flatten)]
    pub kept_items: ItemOptions,
    /// How to rank.
    #[command(flatten)]
    pub method: FitOptions,
    /// Fail with exit code 3 if some items cannot be compared with others, even indirectly
    #[arg(long)]
    pub require_connected: bool,
    /// Whose position bias is taken out.
    #[command(flatten)]
    pub bias: CorrectionOptions,
    /// The scale of the scores.
    #[command(flatten)]
    pub scale: ScaleOptions,
    /// Intervals and ranges of ranks.
    #[command(flatten)]
    pub uncertainty: IntervalOptions,
    /// Show what changed since this ranking, saved earlier with --format json
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub against: Option<String>,
    /// The earlier ranking itself, in place of its file; not a flag.
    #[arg(skip)]
    pub against_ranking: Option<SavedRanking>,
}

impl RankArgs {
    /// The earlier ranking, if there is one. It is read before the votes, so that a wrong file is
    /// refused early.
    ///
    /// # Errors
    /// If the file cannot be read or is not a ranking.
    pub fn earlier_ranking(&self, votes: &VoteSource) -> Result<Option<SavedRanking>, Failure> {
        match (&self.against, &self.against_ranking) {
            (Some(file), _) if file == "-" && votes.files().contains(file) => Err(Failure::usage(
                "standard input cannot be both the votes and the earlier ranking",
                "read one of them from a file",
            )),
            (Some(file), _) => SavedRanking::open(file).map(Some),
            (None, ranking) => Ok(ranking.clone()),
        }
    }
}

impl ReadsVotes for RankArgs {
    fn input(&self) -> &InputOptions {
        &self.input
    }
}

/// Rankings, one per study.
#[derive(Debug)]
pub struct RankDocument {
    /// The studies.
    pub studies: Vec<RankedStudy>,
    /// The annotators of each study.
    pub annotators: AnnotatorLists,
    /// The changes of each study since an earlier ranking; empty if there is none, `None` for studies
    /// that it does not have.
    pub changes: Vec<Option<RankingChanges>>,
    /// What was taken out of the votes of each study; empty if nothing was.
    pub corrected: Vec<CorrectedBias>,
    /// Rows that were not counted.
    pub uncounted: UncountedRows,
}

impl RankDocument {
    /// The document of these studies, without annotators, compared with an earlier ranking.
    ///
    /// # Errors
    /// If the studies of the two rankings do not match.
    pub fn new(
        studies: Vec<RankedStudy>,
        earlier: Option<&SavedRanking>,
        uncounted: UncountedRows,
        observer: &dyn Observer,
    ) -> Result<Self, Failure> {
        let mut changes = Vec::new();
        if let Some(earlier) = earlier {
            let found = against::changes(&studies, earlier)?;
            found.warnings.iter().for_each(|warning| observer.warn(warning));
            for (study, changes) in studies.iter().zip(&found.of_study) {
                let by = study.by.as_ref().map_or(String::new(), |by| format!("{}: ", visible(by)));
                if let Some(warning) = changes.as_ref().and_then(|changes| changes.warning(study)) {
                    observer.warn(&format!("{by}{warning}"));
                }
            }
            changes = found.of_study;
        }
        let (annotators, corrected) = (AnnotatorLists::None, Vec::new());
        Ok(Self { studies, annotators, changes, corrected, uncounted })
    }

    /// The annotators of study `k`, if they are listed.
    fn annotators_of(&self, k: usize) -> Option<&AnnotatorList> {
        match &self.annotators {
            AnnotatorLists::None => None,
            AnnotatorLists::Known(lists) => lists.get(k),
            AnnotatorLists::Judged(lists) => {
                let judge =
                    |study| AnnotatorList::Judged(judged_annotators(study).unwrap_or_default());
                lists.get_or_init(|| self.studies.iter().map(judge).collect()).get(k)
            }
        }
    }

    /// The changes of study `k` since the earlier ranking.
    #[must_use]
    pub fn changes_of(&self, k: usize) -> Option<&RankingChanges> {
        self.changes.get(k)?.as_ref()
    }
}

/// The annotators of all studies.
#[derive(Debug, Default)]
pub enum AnnotatorLists {
    /// They are not listed.
    #[default]
    None,
    /// The list of each study.
    Known(Vec<AnnotatorList>),
    /// Judged by the method that ranks the items, once the lists are needed: testing thousands of people
    /// takes longer than the ranking.
    Judged(OnceLock<Vec<AnnotatorList>>),
}

/// The annotators of a study, the most problematic first.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum AnnotatorList {
    /// Judged by the method that ranks the items.
    Judged(Vec<JudgedAnnotator<String>>),
    /// With statistics of their flagged votes.
    Flagged(Vec<AnnotatorReport<String>>),
}

/// Ranks the items, and lists the annotators if `with_annotators`: as the method judges them, or else
/// with statistics of their flagged votes, which need a second pass over the input.
///
/// # Errors
/// If an option is invalid, the votes cannot be read, or a solver fails.
pub fn rank(
    votes: &VoteSource,
    args: &RankArgs,
    with_annotators: bool,
    threads: usize,
    observer: &dyn Observer,
) -> Result<RankDocument, Failure> {
    let options = args.bias.apply(args.method)?;
    options.validate()?;
    args.scale.validate()?;
    args.uncertainty.validate()?;
    let earlier = args.earlier_ranking(votes)?;
    let connected = |study: &Study| {
        let graph = ComparisonGraph::new(study.items.len(), study.groups.clone())?;
        check_connected(graph.components(), Linked::ByVotes, &study.items, study.by.as_deref())
    };
    let check = |input: &Input| {
        let studies = || input.studies.iter();
        studies()
            .try_for_each(|study| args.scale.check_items(&study.items, study.by.as_deref()))?;
        match args.require_connected {
            true => studies().try_for_each(connected),
            false => Ok(()),
        }
    };
    let check_ranked = |ranked: &[RankedStudy]| match args.require_connected {
        true => ranked.iter().try_for_each(check_ranking_connected),
        false => Ok(()),
    };
    let document = |studies: Vec<RankedStudy>, uncounted| {
        let shown = |study: RankedStudy| {
            args.scale.apply(estimate_uncertainty(study, &args.uncertainty, observer)?)
        };
        let studies = studies.into_iter().map(shown).collect::<Result<_, Failure>>()?;
        RankDocument::new(studies, earlier.as_ref(), uncounted, observer)
    };
    let is_correcting = args.bias.position_bias.is_some();
    let mut kept = Kept::needed_by(&options).with_intervals(&options, &args.uncertainty);
    kept.annotator_votes |= is_correcting;
    let plan = ReadPlan::new(&args.input, kept, threads).with_items(args.kept_items);
    if with_annotators && !options.uses_annotators() && !is_correcting {
        let pass = TwoPass::new(votes, &plan, &options, observer, check)?;
        check_ranked(&pass.studies)?;
        let known = pass.tables.iter().any(|table| table.has_annotator);
        let annotators = if known { annotators::list(&pass, observer)? } else { Vec::new() };
        let annotators = match annotators.is_empty() {
            true => AnnotatorLists::None,
            false => {
                AnnotatorLists::Known(annotators.into_iter().map(AnnotatorList::Flagged).collect())
            }
        };
        let uncounted = pass.uncounted();
        return Ok(RankDocument { annotators, ..document(pass.studies, uncounted)? });
    }
    let input = votes.read(&plan, observer)?;
    check(&input)?;
    let uncounted = UncountedRows::from(&input);
    let has_annotator_column = input.tables.iter().any(|table| table.has_annotator);
    if has_annotator_column && input.studies.iter().all(|study| study.annotators.is_empty()) {
        let votes = input.studies.iter().map(|study| study.comparisons).sum();
        observer.warn(&format!("{} votes have no annotator", thousands(votes)));
    }
    let rank = |study| rank_study(study, uncounted.rejected.rows, &options, observer);
    let mut corrected = Vec::new();
    let mut correct = |study: Study| -> Result<Study, Failure> {
        if !is_correcting {
            return Ok(study);
        }
        let (study, taken_out) = args.bias.correct(study, observer)?;
        corrected.push(taken_out);
        Ok(study)
    };
    let studies = input.studies.into_iter().map(|study| rank(correct(study)?));
    let studies = studies.collect::<Result<Vec<_>, Failure>>()?;
    check_ranked(&studies)?;
    let annotators = match with_annotators && has_annotator_column && !is_correcting {
        true => AnnotatorLists::Judged(OnceLock::new()),
        false => AnnotatorLists::None,
    };
    Ok(RankDocument { annotators, corrected, ..document(studies, uncounted)? })
}

/// Which votes connect items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linked {
    /// All votes.
    ByVotes,
    /// The votes that are not flagged.
    ByTrustedVotes,
}

/// Refuses a ranking in which not all items compare (`--require-connected`).
///
/// # Errors
/// As [`check_connected`].
pub fn check_ranking_connected(ranked: &RankedStudy) -> Result<(), Failure> {
    let RankedStudy { fit, items, by, .. } = ranked;
    check_connected(&fit.components, Linked::ByTrustedVotes, items, by.as_deref())
}

/// Refuses votes that do not connect all items (`--require-connected`).
///
/// # Errors
/// [`Failure::Unanswerable`] that lists the components.
pub fn check_connected(
    components: &Components,
    linked: Linked,
    items: &Labels,
    by: Option<&str>,
) -> Result<(), Failure> {
    const MAX_COMPONENTS: usize = 10;
    const MAX_LABELS: usize = 5;
    if components.len() <= 1 {
        return Ok(());
    }
    let describe = |(c, members): (usize, &[u32])| {
        let labels: Vec<String> =
            members.iter().take(MAX_LABELS).map(|&i| visible(items.name(i))).collect();
        let more = if members.len() > MAX_LABELS { ", …" } else { "" };
        format!("\n  component {} ({} items): {}{more}", c + 1, members.len(), labels.join(", "))
    };
    let mut problem = match by {
        Some(by) => format!("{}: ", visible(by)),
        None => String::new(),
    };
    let (votes, help) = match linked {
        Linked::ByVotes => (
            "the votes fall",
            "collect votes between the components, or leave --require-connected out to rank each \
             component on its own",
        ),
        Linked::ByTrustedVotes => (
            "without the flagged votes, the items fall",
            "flag fewer votes (--outliers), collect more votes between the components, or leave \
             --require-connected out to rank each component on its own",
        ),
    };
    problem.push_str(&format!("{votes} into {} components:", components.len()));
    problem.extend(components.iter().enumerate().take(MAX_COMPONENTS).map(describe));
    if components.len() > MAX_COMPONENTS {
        problem.push_str(&format!("\n  … and {} more", components.len() - MAX_COMPONENTS));
    }
    Err(Failure::Unanswerable { problem, help: help.to_owned() })
}

/// How intervals and ranges of ranks were estimated.
#[derive(Serialize)]
struct UncertaintySummary {
    engine: &'static str,
    level: f64,
    /// Votes of an annotator are not independent of each other.
    annotators: Option<usize>,
    quantile: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    correction: Option<&'static str>,
    ranks: &'static str,
    draws: usize,
    /// The share of the model in the covariance.
    #[serde(skip_serializing_if = "Option::is_none")]
    shrinkage: Option<f64>,
    /// The relative standard error of the standard errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    se_accuracy: Option<f64>,
}

impl UncertaintySummary {
    fn new(found: &Uncertainty) -> Self {
        let has_few = found.clusters.is_some_and(|clusters| clusters < FEW_CLUSTERS);
        Self {
            engine: found.engine.as_str(),
            level: found.options.level,
            annotators: found.clusters,
            quantile: found.quantile,
            correction: has_few
                .then_some("Student's t with one degree of freedom per annotator, less one"),
            ranks: found.options.ranks.as_str(),
            draws: found.options.draws(),
            shrinkage: found.shrinkage,
            se_accuracy: found.se_accuracy,
        }
    }
}

/// The JSON of one study.
#[derive(Serialize)]
struct StudyRanking<'a> {
    #[serde(skip)]
    by: Option<&'a str>,
    #[serde(skip)]
    input: InputSummary,
    method: MethodSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<ScaleSummary>,
    ranking: Vec<RankedItem<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a RankingChanges>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    components: &'a [ComponentSummary],
    outliers: OutlierSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    position_bias: Option<&'a CorrectedBias>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertainty: Option<UncertaintySummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotators: Option<&'a AnnotatorList>,
    status: &'static str,
    certificate: CertificateSummary,
    warnings: Vec<String>,
}

impl<'a> StudyRanking<'a> {
    fn new(
        study: &'a RankedStudy,
        annotators: Option<&'a AnnotatorList>,
        against: Option<&'a RankingChanges>,
        position_bias: Option<&'a CorrectedBias>,
    ) -> Self {
        let mut warnings = warnings(study);
        warnings.extend(against.and_then(|changes| changes.warning(study)));
        Self {
            by: study.by.as_deref(),
            input: study.input,
            method: MethodSummary::new(study),
            scale: study.elo.as_ref().map(ScaleSummary::new),
            ranking: study.rows().collect(),
            against,
            components: &study.components,
            outliers: study.outliers,
            position_bias,
            uncertainty: study.uncertainty.as_ref().map(UncertaintySummary::new),
            annotators,
            status: study.fit.status.as_str(),
            certificate: CertificateSummary::new(&study.fit.certificate),
            warnings,
        }
    }
}

impl StudyDocument for StudyRanking<'_> {
    fn by(&self) -> Option<&str> {
        self.by
    }

    fn input(&self) -> InputSummary {
        self.input
    }
}

impl Document for RankDocument {
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        self.write(|k| self.annotators_of(k), provenance, out)
    }

    fn write_brief_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        self.write(|_| None, provenance, out)
    }

    fn methods(&self) -> Vec<&str> {
        self.studies.iter().map(|study| study.fit.method.as_str()).collect()
    }

    fn table(&self) -> io::Result<Table> {
        let sizes = self.studies.iter().map(|study| (study.by.as_deref(), study.input.items));
        let mut table = table_by(sizes);
        let rows: Vec<RankedItem<&str>> = self.studies.iter().flat_map(RankedStudy::rows).collect();
        for column in RankedItem::COLUMNS {
            let rows = rows.iter();
            let values = match column.value {
                ColumnValue::Text(value) => {
                    Column::Text(rows.map(|row| Some(value(row).to_owned())).collect())
                }
                ColumnValue::Real(value) => Column::Real(rows.map(value).collect()),
                ColumnValue::Small(value) => Column::Small(rows.map(value).collect()),
                ColumnValue::Whole(value) => {
                    Column::Whole(rows.map(|row| Some(value(row))).collect())
                }
                ColumnValue::OptionalReal(value) => Column::Number(rows.map(value).collect()),
                ColumnValue::OptionalSmall(value) => {
                    Column::Whole(rows.map(|row| value(row).map(u64::from)).collect())
                }
                ColumnValue::Truth(value) => Column::Truth(rows.map(value).collect()),
            };
            table.push(column.name, values);
        }
        if !self.changes.is_empty() {
            self.push_changes(&mut table);
        }
        let UncountedRows { rejected, excluded, excluded_items, passed_over } = &self.uncounted;
        table.push_metadata("hodgerank.rejected", rejected.rows.to_string());
        if let Some(PassedOver { ignored, filtered, .. }) = passed_over {
            table.push_metadata("hodgerank.ignored", ignored.to_string());
            table.push_metadata("hodgerank.filtered", filtered.to_string());
        }
        if let Some(excluded) = excluded {
            table.push_metadata("hodgerank.excluded", excluded.rows.to_string());
        }
        if let Some(excluded) = excluded_items {
            table.push_metadata("hodgerank.excluded_items", excluded.items.len().to_string());
        }
        Ok(table)
    }
}

impl RankDocument {
    fn write<'a>(
        &'a self,
        annotators: impl Fn(usize) -> Option<&'a AnnotatorList>,
        provenance: &Provenance,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let studies = self.studies.iter().enumerate();
        let studies: Vec<_> = studies
            .map(|(k, study)| {
                let corrected = self.corrected.get(k);
                StudyRanking::new(study, annotators(k), self.changes_of(k), corrected)
            })
            .collect();
        write_studies(SCHEMA, &studies, &self.methods(), &self.uncounted, provenance, out)
    }

    /// Adds columns of changes. They are empty for items that the earlier ranking does not have.
    fn push_changes(&self, table: &mut Table) {
        let items = |(k, study): (usize, &RankedStudy)| {
            let changes = self.changes_of(k);
            (0..study.input.items).map(move |row| changes.map(|changes| &changes.items[row]))
        };
        let items: Vec<Option<&ItemChange>> =
            self.studies.iter().enumerate().flat_map(items).collect();
        let number = |pick: fn(&ItemChange) -> Option<f64>| {
            Column::Number(items.iter().map(|item| item.and_then(pick)).collect())
        };
        let old_ranks = items.iter().map(|item| item.and_then(|item| item.old_rank));
        table.push("old_rank", Column::Whole(old_ranks.map(|rank| rank.map(u64::from)).collect()));
        let moves = items.iter().map(|item| item.and_then(|item| item.rank_change));
        table.push("rank_change", Column::Signed(moves.collect()));
        table.push("old_score", number(|item| item.old_score));
        table.push("score_change", number(|item| item.score_change));
    }
}
