//! `--holdout`: how well votes that were held out are predicted.

use hodgerank::predict::{CalibrationBin, Evaluation, HoldoutEvaluation, Predictor, hold_out};
use hodgerank::{ComparisonGraph, FitOptions, Method, RankedStudy, Study};
use hodgerank_io::write::{Column, Table};
use hodgerank_report::study::no_probabilities;
use hodgerank_report::words::{counted, thousands};
use serde::Serialize;

use super::{Predicted, StudyPredictions, USE_BT};
use crate::certificate::CertificateSummary;
use crate::failure::Failure;
use crate::observer::{Observer, Task};
use crate::ranked::{MethodSummary, rank_study, warnings};
use crate::text::visible;

/// How votes are held out, and how the others are ranked.
pub(super) struct Options {
    pub(super) share: f64,
    pub(super) seed: u64,
    pub(super) fit: FitOptions,
}

/// The evaluation of one study.
#[derive(Debug, Serialize)]
pub struct HoldoutSummary {
    /// The share of votes to hold out.
    pub share: f64,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The measures.
    #[serde(flatten)]
    pub evaluation: HoldoutEvaluation,
    /// The measures of predicting always one half.
    pub baseline: Baseline,
}

/// The measures of predicting always one half.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Baseline {
    /// Log loss.
    pub log_loss: f64,
    /// Brier score.
    pub brier_score: f64,
    /// Accuracy.
    pub accuracy: f64,
}

impl HoldoutSummary {
    /// The calibration tables, with whose votes they are about.
    pub(super) fn bins(&self) -> impl Iterator<Item = (&'static str, CalibrationBin)> {
        let HoldoutEvaluation { all, careful, .. } = &self.evaluation;
        let all = all.calibration.iter().map(|bin| ("all", *bin));
        let careful = careful.iter().flat_map(|careful| &careful.calibration);
        all.chain(careful.map(|bin| ("careful", *bin)))
    }
}

/// Ranks by a part of the votes, and evaluates the predictions of the others.
pub(super) fn evaluate(
    study: Study,
    rejected: u64,
    options: &Options,
    observer: &dyn Observer,
) -> Result<StudyPredictions, Failure> {
    let by = study.by.as_ref().map_or(String::new(), |by| format!("{}: ", visible(by)));
    let components = ComparisonGraph::new(study.items.len(), study.groups.clone())?;
    let input = study.summary(rejected, components.components().len());
    drop(components);
    let split = hold_out(study, options.share, options.seed)?;
    if split.training_votes == 0 {
        return Err(Failure::Unanswerable {
            problem: format!("{by}no vote is left to rank the items: all are held out"),
            help: "hold out a smaller share, or use another --seed".to_owned(),
        });
    }
    let held_out: u64 = split.held_out.iter().map(|vote| vote.count).sum();
    observer.note(&format!(
        "{by}{} of {} held out",
        thousands(held_out),
        counted(input.comparisons, "vote", "votes")
    ));
    let ranked = rank_study(split.training.clone(), rejected, &options.fit, observer)?;
    let predictor = Predictor::new(&ranked)?;
    if let Some(reason) = predictor.no_factor() {
        let problem = format!("{by}{}", no_probabilities(ranked.fit.method, reason));
        return Err(Failure::Unanswerable { problem, help: USE_BT.to_owned() });
    }
    // Methods are compared by the votes of the same careful people, so these are found for all methods.
    let judged = match ranked.fit.crowd() {
        None if ranked.input.annotators > 0 => {
            let fit = FitOptions::new().method(Method::Crowd);
            let training = split.training.clone();
            let judge = || RankedStudy::new(training, rejected, &fit);
            Some(observer.run(Task::Step("judging annotators"), judge)??)
        }
        _ => None,
    };
    let crowd = judged.as_ref().unwrap_or(&ranked).fit.crowd();
    let evaluation = HoldoutEvaluation::new(&predictor, &split, crowd);
    let mut warnings = warnings(&ranked);
    if evaluation.all.votes == 0 {
        let warning = "none of the votes held out can be evaluated; hold out a larger share";
        observer.warn(&format!("{by}{warning}"));
        warnings.push(warning.to_owned());
    }
    let [log_loss, brier_score, accuracy] = Evaluation::BASELINE;
    let holdout = HoldoutSummary {
        share: options.share,
        seed: options.seed,
        evaluation,
        baseline: Baseline { log_loss, brier_score, accuracy },
    };
    Ok(StudyPredictions {
        by: ranked.by.clone(),
        input,
        method: MethodSummary::new(&ranked),
        result: Predicted::Holdout { holdout: Box::new(holdout) },
        status: ranked.fit.status.as_str(),
        certificate: CertificateSummary::new(&ranked.fit.certificate),
        warnings,
    })
}

/// The calibration tables as columns.
pub(super) fn push_columns(bins: &[(&'static str, CalibrationBin)], table: &mut Table) {
    let number = |value: fn(&CalibrationBin) -> Option<f64>| {
        Column::Number(bins.iter().map(|(_, bin)| value(bin)).collect())
    };
    let annotators = bins.iter().map(|(annotators, _)| Some((*annotators).to_owned()));
    table.push("annotators", Column::Text(annotators.collect()));
    table.push("from", number(|bin| Some(bin.from)));
    table.push("to", number(|bin| Some(bin.to)));
    let votes = bins.iter().map(|(_, bin)| Some(bin.votes));
    table.push("votes", Column::Whole(votes.collect()));
    table.push("mean_prediction", number(|bin| bin.mean_prediction));
    table.push("preferred_left", number(|bin| bin.preferred_left));
}
