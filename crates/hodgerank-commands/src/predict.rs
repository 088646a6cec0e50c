//! `predict`: how probable it is that a careful annotator prefers one item to another, and how well such
//! predictions agree with votes that were held out.

mod holdout;
mod matrix;
mod selection;

pub use holdout::{Baseline, HoldoutSummary};
pub use matrix::ProbabilityMatrix;

use std::io;
use std::path::Path;

use clap::Args;
use hodgerank::predict::{Prediction, Predictor};
use hodgerank::uncertainty::IntervalEngine;
use hodgerank::{
    FitOptions, InputSummary, IntervalOptions, Labels, OutlierRule, RankedStudy, Study,
};
use hodgerank_io::text::visible_name;
use hodgerank_io::write::{Column, Outputs, Table};
use hodgerank_report::chart::Chart;
use hodgerank_report::figure::{self, FigureOptions};
use hodgerank_report::study::{calibration_chart, no_probabilities};
use hodgerank_report::words::thousands;
use serde::{Serialize, Serializer};

use crate::certificate::CertificateSummary;
use crate::document::{Document, StudyDocument, UncountedRows, table_by, write_studies};
use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, ReadsVotes, VoteSource};
use crate::min_votes::ItemOptions;
use crate::observer::Observer;
use crate::provenance::Provenance;
use crate::ranked::{MethodSummary, estimate_uncertainty, rank_study, warnings};
use crate::report::study_folder;
use crate::text::{parse_share, visible};
use selection::{Selection, Wanted};

const SCHEMA: &str = "hodgerank/predict/1";

/// The largest number of items of which all pairs are listed: two million pairs.
const MAX_ITEMS: usize = 2000;

/// Arguments of `predict`.
#[derive(Debug, Args)]
pub struct PredictArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// Which items are ranked.
    #[command(flatten)]
    pub kept_items: ItemOptions,
    /// How to rank.
    #[command(flatten)]
    pub method: FitOptions,
    /// Intervals.
    #[command(flatten)]
    pub uncertainty: IntervalOptions,
    /// Predict the pairs among these items only
    #[arg(long, value_delimiter = ',', value_name = "ITEM,…", help_heading = "Prediction")]
    pub items: Vec<String>,
    /// Predict the pairs in this CSV file only: columns left and right, or else its first two columns
    #[arg(long, value_name = "FILE", help_heading = "Prediction", conflicts_with = "items")]
    pub pairs: Option<String>,
    /// List the probabilities as a square matrix: that the item of the row is preferred to the item of
    /// the column
    #[arg(long, help_heading = "Prediction", conflicts_with = "pairs")]
    pub matrix: bool,
    /// Hold out this share of the votes at random (such as 20%), rank by the others, and show how well
    /// the votes held out are predicted; --seed selects another part of them
    #[arg(long, value_name = "SHARE", help_heading = "Prediction", value_parser = parse_holdout,
          conflicts_with_all = ["items", "pairs", "matrix"])]
    pub holdout: Option<f64>,
    /// Also write a chart of the calibration to this folder, as SVG, PDF and PNG
    #[arg(long, value_name = "DIR", help_heading = "Output", requires = "holdout")]
    pub figures: Option<String>,
}

impl ReadsVotes for PredictArgs {
    fn input(&self) -> &InputOptions {
        &self.input
    }
}

/// Predictions or their evaluation, one per study.
#[derive(Debug)]
pub struct PredictDocument {
    /// The studies.
    pub studies: Vec<StudyPredictions>,
    /// Rows that were not counted.
    pub uncounted: UncountedRows,
}

/// The predictions of one study.
#[derive(Debug, Serialize)]
pub struct StudyPredictions {
    /// The value of the `--by` column.
    #[serde(skip)]
    pub by: Option<String>,
    /// The size of the study.
    #[serde(skip)]
    pub input: InputSummary,
    /// How the items were ranked.
    pub method: MethodSummary,
    /// What was asked for.
    #[serde(flatten)]
    pub result: Predicted,
    /// How the method ended.
    pub status: &'static str,
    /// What was checked about the fit.
    pub certificate: CertificateSummary,
    /// What a reader must know.
    pub warnings: Vec<String>,
}

/// What was asked for.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Predicted {
    /// Pairs of items.
    Pairs {
        /// Their predictions.
        predictions: PairPredictions,
    },
    /// All pairs of some items.
    Matrix {
        /// Their probabilities.
        matrix: ProbabilityMatrix,
    },
    /// How well votes that were held out are predicted.
    Holdout {
        /// The evaluation.
        holdout: Box<HoldoutSummary>,
    },
}

/// Predictions of pairs.
#[derive(Debug)]
pub struct PairPredictions {
    items: Labels,
    predictions: Vec<Prediction>,
    /// Whether these are the neighbours in the ranking, in place of all pairs.
    pub are_neighbours: bool,
}

/// The prediction of a pair, with labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairRow<'a> {
    /// The item on the left.
    pub left: &'a str,
    /// The item on the right.
    pub right: &'a str,
    /// The probability that a careful annotator prefers the left item.
    pub probability: Option<f64>,
    /// The probability that somebody of this crowd does.
    pub crowd_probability: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// The expected outcome, for methods whose scores are in the unit of the outcomes.
    pub expected_outcome: Option<f64>,
}

impl PairPredictions {
    /// The rows, in the order in which the pairs were asked for.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = PairRow<'_>> {
        self.predictions.iter().map(|prediction| PairRow {
            left: self.items.name(prediction.left),
            right: self.items.name(prediction.right),
            probability: prediction.probability,
            crowd_probability: prediction.crowd_probability,
            low: prediction.low,
            high: prediction.high,
            expected_outcome: prediction.expected_outcome,
        })
    }
}

impl Serialize for PairPredictions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

/// Refuses options of intervals that would change nothing.
fn refuse_unused(args: &PredictArgs) -> Result<(), Failure> {
    let IntervalOptions { level, intervals, draws, ranks, .. } = args.uncertainty;
    let default = IntervalOptions::default();
    let refuse = |flag: &str, why: &str| {
        Err(Failure::usage(
            format!("--{flag} changes nothing here: {why}"),
            format!("leave --{flag} out"),
        ))
    };
    if ranks != default.ranks {
        return refuse("ranks", "predict has no ranges of ranks");
    }
    if args.holdout.is_some() {
        let why = "--holdout evaluates probabilities, without intervals";
        let given = [
            ("level", level != default.level),
            ("intervals", intervals.is_some()),
            ("draws", draws.is_some()),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => refuse(flag, why),
            None => Ok(()),
        };
    }
    match (draws, intervals) {
        (Some(_), None | Some(IntervalEngine::Sandwich | IntervalEngine::None)) => {
            refuse("draws", "only --intervals bootstrap draws at random")
        }
        _ => Ok(()),
    }
}

/// Predicts votes, or evaluates predictions on votes that are held out. If no pairs are asked for, these
/// are all pairs, or with `neighbours` those of neighbours in the ranking. Figures are written next to the
/// other `outputs` of the command.
///
/// # Errors
/// If an option is invalid, the votes cannot be read, an item is unknown, a solver fails, or writing does.
pub fn predict(
    votes: &VoteSource,
    args: &PredictArgs,
    neighbours: bool,
    outputs: &mut Outputs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<PredictDocument, Failure> {
    let fit = fit_options(args)?;
    if let Some(folder) = &args.figures {
        outputs.claim_folder("--figures", folder)?;
    }
    args.uncertainty.validate()?;
    refuse_unused(args)?;
    let wanted = Wanted::new(args, votes, neighbours)?;
    let kept = match args.holdout {
        None => Kept::needed_by(&fit).with_intervals(&fit, &args.uncertainty),
        // So that the same votes are held out, whatever the method.
        Some(_) => Kept { annotator_votes: true, sides: true },
    };
    let input = votes
        .read(&ReadPlan::new(&args.input, kept, threads).with_items(args.kept_items), observer)?;
    let uncounted = UncountedRows::from(&input);
    if args.matrix && input.studies.len() > 1 {
        return Err(Failure::usage(
            "--matrix lists one study, and --by makes several",
            "leave one of them out",
        ));
    }
    if let Some(share) = args.holdout {
        let options = holdout::Options { share, seed: args.method.seed.unwrap_or(0), fit };
        let evaluate =
            |study| holdout::evaluate(study, uncounted.rejected.rows, &options, observer);
        let studies = input.studies.into_iter().map(evaluate).collect::<Result<_, _>>()?;
        let document = PredictDocument { studies, uncounted };
        if let Some(folder) = &args.figures {
            document.write_figures(folder, outputs, observer)?;
        }
        return Ok(document);
    }
    let selections = wanted.selections(&input.studies)?;
    let predict = |(study, selection): (Study, &Selection)| {
        let ranked = rank_study(study, uncounted.rejected.rows, &fit, observer)?;
        let ranked = estimate_uncertainty(ranked, &args.uncertainty, observer)?;
        predict_study(&ranked, selection, args.matrix, observer)
    };
    let studies = input.studies.into_iter().zip(&selections).map(predict);
    let studies = studies.collect::<Result<_, _>>()?;
    Ok(PredictDocument { studies, uncounted })
}

/// The options of the method. A seed belongs to `--holdout` too.
fn fit_options(args: &PredictArgs) -> Result<FitOptions, Failure> {
    let mut fit = args.method;
    if !matches!(fit.outliers, OutlierRule::CrossValidation(_)) {
        if fit.seed.is_some() && args.holdout.is_none() {
            return Err(Failure::usage(
                "--seed is an option of --holdout and of --outliers cv: nothing else here is random",
                "add --holdout 20%, or leave --seed out",
            ));
        }
        fit.seed = None;
    }
    fit.validate()?;
    Ok(fit)
}

fn predict_study(
    ranked: &RankedStudy,
    selection: &Selection,
    is_matrix: bool,
    observer: &dyn Observer,
) -> Result<StudyPredictions, Failure> {
    let predictor = Predictor::new(ranked)?;
    let mut warnings = warnings(ranked);
    if let Some(reason) = predictor.no_factor() {
        let by = ranked.by.as_ref().map_or(String::new(), |by| format!("{}: ", visible(by)));
        let warning = format!("{}; {USE_BT}", no_probabilities(ranked.fit.method, reason));
        observer.warn(&format!("{by}{warning}"));
        warnings.push(warning);
    }
    let summary = |result| StudyPredictions {
        by: ranked.by.clone(),
        input: ranked.input,
        method: MethodSummary::new(ranked),
        result,
        status: ranked.fit.status.as_str(),
        certificate: CertificateSummary::new(&ranked.fit.certificate),
        warnings,
    };
    if is_matrix {
        let items = selection.items(ranked);
        let matrix = ProbabilityMatrix::new(&predictor, &ranked.items, &items);
        return Ok(summary(Predicted::Matrix { matrix }));
    }
    let pairs = selection.pairs(ranked).into_iter();
    let predictions = pairs.map(|(left, right)| predictor.predict(left, right));
    let predictions = PairPredictions {
        predictions: predictions.collect(),
        items: ranked.items.clone(),
        are_neighbours: *selection == Selection::Neighbours,
    };
    Ok(summary(Predicted::Pairs { predictions }))
}

const USE_BT: &str =
    "use --method bt, whose scores are log-odds with a prior that keeps them finite";

/// Refuses to list the pairs of too many items.
fn check_number(items: usize, by: Option<&str>) -> Result<(), Failure> {
    if items <= MAX_ITEMS {
        return Ok(());
    }
    let study = by.map_or(String::new(), |by| format!("{}: ", visible(by)));
    let [items, pairs, max] =
        [items, items * (items - 1) / 2, MAX_ITEMS].map(|n| thousands(n as u64));
    Err(Failure::usage(
        format!(
            "{study}{items} items have {pairs} pairs; all pairs are listed for up to {max} items"
        ),
        "name the items with --items a,b,c, or list the pairs in a file with --pairs FILE",
    ))
}

/// clap prints the flag and the value itself.
fn parse_holdout(text: &str) -> Result<f64, String> {
    let inside = |share: &f64| *share > 0.0 && *share < 1.0;
    let expected = || "expected a share above 0 and below 1, such as 20%".to_owned();
    parse_share(text).ok().filter(inside).ok_or_else(expected)
}

impl StudyDocument for StudyPredictions {
    fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    fn input(&self) -> InputSummary {
        self.input
    }
}

impl StudyPredictions {
    fn table_rows(&self) -> usize {
        match &self.result {
            Predicted::Pairs { predictions } => predictions.predictions.len(),
            Predicted::Matrix { matrix } => matrix.items.len(),
            Predicted::Holdout { holdout } => holdout.bins().count(),
        }
    }
}

impl PredictDocument {
    /// The files that the command reads.
    #[must_use]
    pub fn inputs(votes: &VoteSource, args: &PredictArgs) -> Vec<String> {
        args.input.files(votes).into_iter().chain(args.pairs.clone()).collect()
    }

    /// The calibration of each study, where votes were held out: of careful annotators, if they are known.
    fn charts(&self) -> impl Iterator<Item = (Option<&str>, Chart)> {
        self.studies.iter().filter_map(|study| {
            let Predicted::Holdout { holdout } = &study.result else { return None };
            let found = &holdout.evaluation;
            let bins = &found.careful.as_ref().unwrap_or(&found.all).calibration;
            Some((study.by(), calibration_chart(bins, study.method.name)))
        })
    }

    fn write_figures(
        &self,
        folder: &str,
        outputs: &mut Outputs,
        observer: &dyn Observer,
    ) -> Result<(), Failure> {
        for (k, (by, chart)) in self.charts().enumerate() {
            let folder = study_folder(Path::new(folder), k, by);
            figure::write([&chart], &folder, "--figures", &FigureOptions::default(), outputs)?;
        }
        observer.note(&format!("figures written to {}", visible_name(folder)));
        Ok(())
    }
}

impl Document for PredictDocument {
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        let methods = self.methods();
        write_studies(SCHEMA, &self.studies, &methods, &self.uncounted, provenance, out)
    }

    fn methods(&self) -> Vec<&str> {
        self.studies.iter().map(|study| study.method.name).collect()
    }

    /// Pairs, the matrix, or the calibration of held-out votes: all studies have the same.
    fn table(&self) -> io::Result<Table> {
        let studies = || self.studies.iter();
        let mut table = table_by(studies().map(|study| (study.by(), study.table_rows())));
        let mut pairs: Vec<PairRow<'_>> = Vec::new();
        let mut bins = Vec::new();
        for study in studies() {
            match &study.result {
                Predicted::Pairs { predictions } => pairs.extend(predictions.rows()),
                Predicted::Matrix { matrix } => {
                    matrix.push_columns(&mut table);
                    return Ok(table);
                }
                Predicted::Holdout { holdout } => bins.extend(holdout.bins()),
            }
        }
        if studies().any(|study| matches!(study.result, Predicted::Holdout { .. })) {
            holdout::push_columns(&bins, &mut table);
            return Ok(table);
        }
        let text = |value: fn(&PairRow<'_>) -> String| {
            Column::Text(pairs.iter().map(|row| Some(value(row))).collect())
        };
        let number = |value: fn(&PairRow<'_>) -> Option<f64>| {
            Column::Number(pairs.iter().map(value).collect())
        };
        table.push("left", text(|row| row.left.to_owned()));
        table.push("right", text(|row| row.right.to_owned()));
        table.push("probability", number(|row| row.probability));
        table.push("crowd_probability", number(|row| row.crowd_probability));
        table.push("low", number(|row| row.low));
        table.push("high", number(|row| row.high));
        table.push("expected_outcome", number(|row| row.expected_outcome));
        Ok(table)
    }

    fn figures(&self) -> Vec<String> {
        self.charts().map(|(_, chart)| figure::draw(&chart).into_svg()).collect()
    }
}
