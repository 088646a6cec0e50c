//! `rank`: votes in, ranking out.

use std::io;

use clap::Args;
use hodgerank::ranking::ColumnValue;
use hodgerank::{
    AnnotatorReport, ComparisonGraph, ComponentSummary, Components, FitOptions, InputSummary,
    Labels, OutlierSummary, RankedItem, RankedStudy, Study,
};
use hodgerank_io::Input;
use hodgerank_io::write::{Column, Table};
use serde::Serialize;

use crate::annotators;
use crate::certificate::CertificateSummary;
use crate::document::{Document, StudyDocument, UncountedRows, table_by, write_studies};
use crate::failure::Failure;
use crate::input::{InputOptions, ReadsVotes, VoteSource};
use crate::observer::Observer;
use crate::ranked::{MethodSummary, rank_study, warnings};
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
    /// How to rank.
    #[command(flatten)]
    pub method: FitOptions,
    /// Fail with exit code 3 if some items cannot be compared with others, even indirectly
    #[arg(long)]
    pub require_connected: bool,
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
    /// Statistics of the annotators of each study; empty if they were not computed.
    pub annotators: Vec<Vec<AnnotatorReport<String>>>,
    /// Rows that were not counted.
    pub uncounted: UncountedRows,
}

/// Ranks the items. Statistics of the annotators need a second pass over the input and are computed
/// only if `with_annotators`.
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
    let options = args.method;
    options.validate()?;
    let connected = |study: &Study| {
        let graph = ComparisonGraph::new(study.items.len(), study.groups.clone())?;
        check_connected(graph.components(), Linked::ByVotes, &study.items, study.by.as_deref())
    };
    let check = |input: &Input| match args.require_connected {
        true => input.studies.iter().try_for_each(connected),
        false => Ok(()),
    };
    let check_ranked = |ranked: &[RankedStudy]| match args.require_connected {
        true => ranked.iter().try_for_each(check_ranking_connected),
        false => Ok(()),
    };
    if with_annotators {
        let pass = TwoPass::new(votes, &args.input, &options, threads, observer, check)?;
        check_ranked(&pass.studies)?;
        let known = pass.tables.iter().any(|table| table.has_annotator);
        let annotators = if known { annotators::list(&pass, observer)? } else { Vec::new() };
        let uncounted = pass.uncounted();
        return Ok(RankDocument { studies: pass.studies, annotators, uncounted });
    }
    let input = votes.read(&args.input, options.needs_annotators(), threads, observer)?;
    check(&input)?;
    let uncounted = UncountedRows::from(&input);
    let rank = |study| rank_study(study, uncounted.rejected.rows, &options, observer);
    let studies = input.studies.into_iter().map(rank).collect::<Result<Vec<_>, Failure>>()?;
    check_ranked(&studies)?;
    Ok(RankDocument { studies, annotators: Vec::new(), uncounted })
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

/// The JSON of one study.
#[derive(Serialize)]
struct StudyRanking<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
    input: InputSummary,
    method: MethodSummary,
    ranking: Vec<RankedItem<&'a str>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    components: &'a [ComponentSummary],
    outliers: OutlierSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotators: Option<&'a [AnnotatorReport<String>]>,
    status: &'static str,
    certificate: CertificateSummary,
    warnings: Vec<String>,
}

impl<'a> StudyRanking<'a> {
    fn new(study: &'a RankedStudy, annotators: Option<&'a [AnnotatorReport<String>]>) -> Self {
        Self {
            by: study.by.as_deref(),
            input: study.input,
            method: MethodSummary::new(study),
            ranking: study.rows().collect(),
            components: &study.components,
            outliers: study.outliers,
            annotators,
            status: study.fit.status.as_str(),
            certificate: CertificateSummary::new(&study.fit.certificate),
            warnings: warnings(study),
        }
    }
}

impl StudyDocument for StudyRanking<'_> {
    fn by(&self) -> Option<&str> {
        self.by
    }
}

impl Document for RankDocument {
    fn write_json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let annotators = |k: usize| self.annotators.get(k).map(Vec::as_slice);
        let studies = self.studies.iter().enumerate();
        let studies: Vec<_> =
            studies.map(|(k, study)| StudyRanking::new(study, annotators(k))).collect();
        write_studies(SCHEMA, &studies, &self.uncounted, out)
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
            };
            table.push(column.name, values);
        }
        let UncountedRows { rejected, excluded } = &self.uncounted;
        table.push_metadata("hodgerank.rejected", rejected.rows.to_string());
        if let Some(excluded) = excluded {
            table.push_metadata("hodgerank.excluded", excluded.rows.to_string());
        }
        Ok(table)
    }
}
