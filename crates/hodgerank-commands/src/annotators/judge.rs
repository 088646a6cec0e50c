//! `annotators`: who votes how, and the evidence for it.

use std::io;

use clap::Args;
use hodgerank::annotators::{JudgedAnnotator, StudyVotes, judge_all};
use hodgerank::fit::CrowdFlags;
use hodgerank::{FitOptions, Method, RankedStudy};
use hodgerank_io::write::{Column, Table};
use serde::Serialize;

use crate::document::{Document, Header, InputJson, StudyJson, UncountedRows, write_json};
use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, ReadsVotes, VoteSource};
use crate::listing::{Listing, ListingRow, Listings};
use crate::observer::Observer;
use crate::position_bias::{self, BiasColumns, FdrOptions};
use crate::provenance::Provenance;
use crate::ranked::rank_study;
use crate::text::visible;

/// Arguments of `annotators`.
#[derive(Debug, Args)]
pub struct AnnotatorsArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// List the votes of this annotator instead, those on the clearest pairs first, with the votes of
    /// all others on the same pairs
    #[arg(long, value_name = "NAME")]
    pub explain: Option<String>,
    /// Position bias.
    #[command(flatten)]
    pub bias: FdrOptions,
}

impl ReadsVotes for AnnotatorsArgs {
    fn input(&self) -> &InputOptions {
        &self.input
    }
}

/// A list of annotators, or the votes of one of them.
#[derive(Debug)]
pub enum AnnotatorsDocument {
    /// The annotators, the most problematic first.
    Judged(JudgedAnnotators),
    /// The votes of one annotator, those on the clearest pairs first.
    Evidence(Listings<EvidenceVote>),
}

/// The annotators, the most problematic first.
#[derive(Debug)]
pub struct JudgedAnnotators {
    /// The annotators of each study.
    pub studies: Listings<AnnotatorRow>,
    /// The annotators over all studies, with `--by`.
    pub pooled: Option<Vec<AnnotatorRow>>,
}

impl JudgedAnnotators {
    /// Every annotator once: over all studies if there are several.
    #[must_use]
    pub fn rows(&self) -> &[AnnotatorRow] {
        match (&self.pooled, &self.studies.lists[..]) {
            (Some(pooled), _) => pooled,
            (None, [only, ..]) => &only.rows,
            (None, []) => &[],
        }
    }
}

/// An annotator as listed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotatorRow {
    /// What the crowd model and exact tests say.
    #[serde(flatten)]
    pub judged: JudgedAnnotator<String>,
    /// Position bias, with `--fdr`.
    #[serde(flatten)]
    pub bias: Option<BiasColumns>,
}

impl From<JudgedAnnotator<String>> for AnnotatorRow {
    fn from(judged: JudgedAnnotator<String>) -> Self {
        Self { judged, bias: None }
    }
}

/// The JSON of several studies.
#[derive(Serialize)]
struct PooledJson<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<InputJson<'a>>,
    annotators: &'a [AnnotatorRow],
    groups_by: Vec<StudyJson<'a, Listing<AnnotatorRow>>>,
    #[serde(flatten)]
    uncounted: &'a UncountedRows,
}

/// A vote of an annotator next to those of all others on the same pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvidenceVote {
    /// The item on the left, as in the input.
    pub left: String,
    /// The item on the right.
    pub right: String,
    /// What the annotator preferred: left, right or tie.
    pub vote: &'static str,
    /// How many times.
    pub count: u64,
    /// Votes of others for the left item.
    pub others_left: u64,
    /// Votes of others for the right item.
    pub others_right: u64,
    /// Ties of others.
    pub others_tie: u64,
    /// The probability that a careful annotator prefers the left item.
    pub expected_left: f64,
    /// The probability that the vote is not honest.
    pub bad_probability: f64,
}

impl ListingRow for EvidenceVote {
    const SCHEMA: &'static str = "hodgerank/annotators/1";
    const KEY: &'static str = "evidence";

    fn columns(rows: &[&Self]) -> Vec<(&'static str, Column)> {
        let text = |pick: fn(&Self) -> &str| {
            Column::Text(rows.iter().map(|row| Some(pick(row).to_owned())).collect())
        };
        let whole = |pick: fn(&Self) -> u64| {
            Column::Whole(rows.iter().map(|row| Some(pick(row))).collect())
        };
        let number = |pick: fn(&Self) -> f64| {
            Column::Number(rows.iter().map(|row| Some(pick(row))).collect())
        };
        vec![
            ("left", text(|row| &row.left)),
            ("right", text(|row| &row.right)),
            ("vote", text(|row| row.vote)),
            ("count", whole(|row| row.count)),
            ("others_left", whole(|row| row.others_left)),
            ("others_right", whole(|row| row.others_right)),
            ("others_tie", whole(|row| row.others_tie)),
            ("expected_left", number(|row| row.expected_left)),
            ("bad_probability", number(|row| row.bad_probability)),
        ]
    }
}

impl ListingRow for AnnotatorRow {
    const SCHEMA: &'static str = "hodgerank/annotators/1";
    const KEY: &'static str = "annotators";

    fn columns(rows: &[&Self]) -> Vec<(&'static str, Column)> {
        let bias: Option<Vec<&BiasColumns>> = rows.iter().map(|row| row.bias.as_ref()).collect();
        let rows: Vec<&JudgedAnnotator<String>> = rows.iter().map(|row| &row.judged).collect();
        let number = |pick: fn(&JudgedAnnotator<String>) -> Option<f64>| {
            Column::Number(rows.iter().map(|row| pick(row)).collect())
        };
        let names = rows.iter().map(|row| Some(row.annotator.clone())).collect();
        let classes = rows.iter().map(|row| row.class.map(|class| class.as_str().to_owned()));
        let verdicts = rows.iter().map(|row| Some(row.verdict.clone())).collect();
        let mut columns = vec![
            ("annotator", Column::Text(names)),
            ("votes", Column::Whole(rows.iter().map(|row| Some(row.votes)).collect())),
            ("flagged", Column::Whole(rows.iter().map(|row| Some(row.flagged)).collect())),
            ("class", Column::Text(classes.collect())),
            ("probability", number(|row| row.probability)),
            ("honest", number(|row| row.honest)),
            ("honest_low", number(|row| row.honest_low)),
            ("honest_high", number(|row| row.honest_high)),
            ("agreement", number(|row| row.agreement)),
            ("expected_agreement", number(|row| row.expected_agreement)),
            ("agreement_p", number(|row| row.agreement_p)),
            ("agreement_p_adjusted", number(|row| row.agreement_p_adjusted)),
            ("left_share", number(|row| row.left_share)),
            ("expected_left_share", number(|row| row.expected_left_share)),
            ("left_p", number(|row| row.left_p)),
            ("left_p_adjusted", number(|row| row.left_p_adjusted)),
            ("verdict", Column::Text(verdicts)),
        ];
        if let Some(bias) = bias.filter(|bias| !bias.is_empty()) {
            let number = |pick: fn(&BiasColumns) -> Option<f64>| {
                Column::Number(bias.iter().map(|bias| pick(bias)).collect())
            };
            let order = bias.iter().map(|bias| bias.position_bias_order.map(u64::from)).collect();
            let selected = bias.iter().map(|bias| bias.selected).collect();
            columns.extend([
                ("position_bias", number(|bias| bias.position_bias)),
                ("position_bias_se", number(|bias| bias.position_bias_se)),
                ("position_bias_order", Column::Whole(order)),
                ("selected", Column::Truth(selected)),
            ]);
        }
        columns
    }
}

/// Ranks with `crowd` and lists the annotators, or the votes of one.
///
/// # Errors
/// If the votes cannot be read or have no annotators, or nobody has the name.
pub fn annotators(
    source: &VoteSource,
    args: &AnnotatorsArgs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<AnnotatorsDocument, Failure> {
    let options = FitOptions::new().method(Method::Crowd);
    let kept = Kept { annotator_votes: true, sides: false };
    let input = source.read(&ReadPlan::new(&args.input, kept, threads), observer)?;
    super::check(&input.tables)?;
    let uncounted = UncountedRows::from(&input);
    let rank = |study| rank_study(study, uncounted.rejected.rows, &options, observer);
    let bias = args.bias.options();
    if bias.is_some() && input.tables.iter().any(|table| !table.has_sides) {
        return Err(hodgerank::Error::NoSides.into());
    }
    let studies = input.studies.into_iter().map(rank).collect::<Result<Vec<_>, _>>()?;
    let has_by = studies.iter().any(|study| study.by.is_some());
    if has_by && bias.is_some() {
        return Err(Failure::usage(
            "--fdr looks for position bias in one study, and --by separates several",
            "leave --by out, or run the command for the votes of each study",
        ));
    }
    match &args.explain {
        None => {
            let list = |study: &RankedStudy| -> Result<_, Failure> {
                let judged = judged_annotators(study).unwrap_or_default();
                let mut rows: Vec<AnnotatorRow> = judged.into_iter().map(Into::into).collect();
                if let Some(options) = &bias {
                    let found = position_bias::of_study(study, options, observer)?;
                    add_bias(&mut rows, study, &found);
                }
                Ok(Listing::new(study, rows))
            };
            let lists = studies.iter().map(list).collect::<Result<_, _>>()?;
            let pooled = has_by.then(|| {
                let votes: Vec<_> = studies.iter().filter_map(study_votes).collect();
                judge_all(&votes).into_iter().map(Into::into).collect()
            });
            let studies = Listings { lists, uncounted };
            Ok(AnnotatorsDocument::Judged(JudgedAnnotators { studies, pooled }))
        }
        Some(name) => {
            let has = |study: &&RankedStudy| study.annotators.get(name.as_bytes()).is_some();
            let lists: Vec<_> = studies
                .iter()
                .filter(has)
                .map(|study| Listing::new(study, evidence(study, name)))
                .collect();
            if lists.is_empty() {
                return Err(Failure::usage(
                    format!("there is no annotator {}", visible(name)),
                    "run the command without --explain to list the names",
                ));
            }
            Ok(AnnotatorsDocument::Evidence(Listings { lists, uncounted }))
        }
    }
}

/// Adds position bias to the rows, and sorts them by the order of entry.
fn add_bias(rows: &mut [AnnotatorRow], study: &RankedStudy, found: &[BiasColumns]) {
    for row in rows.iter_mut() {
        let annotator = study.annotators.get(row.judged.annotator.as_bytes());
        row.bias = annotator.map(|annotator| found[annotator as usize]);
    }
    let order = |row: &AnnotatorRow| row.bias.and_then(|bias| bias.position_bias_order);
    rows.sort_by_key(|row| order(row).unwrap_or(u32::MAX));
}

/// The annotators of a study ranked by `crowd`, the most problematic first; `None` for other methods.
#[must_use]
pub fn judged_annotators(study: &RankedStudy) -> Option<Vec<JudgedAnnotator<String>>> {
    study_votes(study).map(|votes| judge_all(&[votes]))
}

/// The votes of a study and what the crowd model says about them, if it was fitted.
#[must_use]
pub fn study_votes(study: &RankedStudy) -> Option<StudyVotes<'_>> {
    let (flags, votes) = study.fit.crowd_flags().zip(study.annotator_votes.as_ref())?;
    let CrowdFlags { crowd, threshold } = flags;
    let (labels, threshold) = (&study.annotators, *threshold);
    Some(StudyVotes { crowd, votes, labels, threshold })
}

/// The votes of an annotator, those on the clearest pairs first.
fn evidence(study: &RankedStudy, name: &str) -> Vec<EvidenceVote> {
    let Some((StudyVotes { crowd, votes, .. }, annotator)) =
        study_votes(study).zip(study.annotators.get(name.as_bytes()))
    else {
        return Vec::new();
    };
    let groups = study.graph.groups();
    let position = crowd.position(annotator);
    let mut rows: Vec<EvidenceVote> = votes
        .of(annotator as usize)
        .iter()
        .map(|vote| {
            let (y, count) = (votes.y(vote), u64::from(vote.count));
            let mut others = [0_u64; 3];
            let pair = (vote.left.min(vote.right), vote.left.max(vote.right));
            for g in groups.of_pair(pair.0, pair.1) {
                // Distinct votes have the smaller index on the left.
                let y = if vote.left == pair.0 { groups.y[g] } else { -groups.y[g] };
                others[side(y)] += groups.weight[g] as u64;
            }
            others[side(y)] = others[side(y)].saturating_sub(count);
            EvidenceVote {
                left: study.items.name(vote.left).to_owned(),
                right: study.items.name(vote.right).to_owned(),
                vote: ["left", "right", "tie"][side(y)],
                count,
                others_left: others[0],
                others_right: others[1],
                others_tie: others[2],
                expected_left: crowd.left_probability(vote.left, vote.right),
                bad_probability: crowd.bad_probability(position, (vote.left, vote.right), y),
            }
        })
        .collect();
    let clarity = |row: &EvidenceVote| (row.expected_left - 0.5).abs();
    rows.sort_by(|a, b| clarity(b).total_cmp(&clarity(a)));
    rows
}

/// 0 for the left, 1 for the right, 2 for a tie.
fn side(y: f64) -> usize {
    match y {
        y if y > 0.0 => 0,
        y if y < 0.0 => 1,
        _ => 2,
    }
}

impl Document for AnnotatorsDocument {
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Judged(JudgedAnnotators { studies, pooled: None }) => {
                studies.write_json(provenance, out)
            }
            Self::Judged(JudgedAnnotators { studies, pooled: Some(annotators) }) => {
                let Listings { lists, uncounted } = studies;
                let header = Header::new(AnnotatorRow::SCHEMA, &studies.methods(), provenance);
                let input = InputJson::of_files(provenance);
                let groups_by = lists.iter().map(StudyJson::new).collect();
                write_json(&PooledJson { header, input, annotators, groups_by, uncounted }, out)
            }
            Self::Evidence(lists) => lists.write_json(provenance, out),
        }
    }

    fn methods(&self) -> Vec<&str> {
        match self {
            Self::Judged(judged) => judged.studies.methods(),
            Self::Evidence(lists) => lists.methods(),
        }
    }

    fn table(&self) -> io::Result<Table> {
        match self {
            Self::Judged(judged) => {
                let mut table = Table::default();
                let rows: Vec<_> = judged.rows().iter().collect();
                for (name, column) in AnnotatorRow::columns(&rows) {
                    table.push(name, column);
                }
                Ok(table)
            }
            Self::Evidence(lists) => lists.table(),
        }
    }
}
