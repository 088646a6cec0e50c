//! Position bias with a false discovery rate: `annotators --fdr` and `rank --position-bias correct`.

use clap::{Args, ValueEnum};
use hodgerank::position_bias::{
    BiasPath, DiscoveryRate, PositionBias, PositionBiasOptions, position_bias, without_bias,
};
use hodgerank::{ComparisonGraph, FitOptions, Method, RankedStudy, Study};
use hodgerank_report::words::{counted, thousands};
use serde::Serialize;

use crate::exclude::Exclusion;
use crate::failure::Failure;
use crate::observer::{Observer, Task};
use crate::text::{closest, visible};

/// Whether annotators with position bias are looked for, and how.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Position bias")]
pub struct FdrOptions {
    /// Find annotators with position bias; this share of those selected may be mistakes, on average
    #[arg(long, value_name = "SHARE", value_parser = parse_rate)]
    pub fdr: Option<DiscoveryRate>,
    /// Path on which annotators are followed
    #[arg(long, value_enum, value_name = "PATH", default_value_t = BiasPath::Iss, requires = "fdr")]
    pub path: BiasPath,
}

impl FdrOptions {
    /// The options of the library; none without a rate.
    pub(crate) fn options(&self) -> Option<PositionBiasOptions> {
        let path = self.path;
        self.fdr.map(|fdr| PositionBiasOptions { fdr, path, ..PositionBiasOptions::default() })
    }
}

/// What to do about position bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BiasTreatment {
    /// Subtract the mean vote of annotators with position bias from each of their votes
    Correct,
}

/// Whose position bias is taken out.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Position bias")]
pub struct CorrectionOptions {
    /// Take the pull to one side out of the votes of annotators with position bias; their votes stay.
    /// For methods other than bt and crowd [default method: l2]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub position_bias: Option<BiasTreatment>,
    /// Share of mistakes among the annotators selected by --position-bias, on average [default: 10%]
    #[arg(long, value_name = "SHARE", value_parser = parse_rate, requires = "position_bias")]
    pub fdr: Option<DiscoveryRate>,
    /// Correct the votes of these annotators instead: names, or a file with one name per line
    #[arg(long, value_name = "NAME,…|FILE", requires = "position_bias", conflicts_with = "fdr")]
    pub biased_annotators: Option<String>,
}

impl CorrectionOptions {
    /// The options of the fit: the default method of corrected votes is `l2`.
    ///
    /// # Errors
    /// [`Failure::Usage`] for methods whose votes have no values to correct.
    pub(crate) fn apply(&self, fit: FitOptions) -> Result<FitOptions, Failure> {
        if self.position_bias.is_none() {
            return Ok(fit);
        }
        match fit.method {
            None => Ok(fit.method(Method::L2)),
            Some(Method::Crowd) => Err(Failure::usage(
                "--position-bias correct is not for --method crowd: annotators who choose one side are \
                 part of its model",
                "leave --position-bias out, or use another method such as l2 or iss",
            )),
            Some(Method::BradleyTerry) => Err(Failure::usage(
                "--position-bias correct is not for --method bt, which reads votes as wins and losses",
                "use a method that reads values, such as l2 or iss, or leave annotators out with \
                 --exclude-annotators suspicious",
            )),
            Some(_) => Ok(fit),
        }
    }

    /// The study with the bias taken out, and what was taken.
    ///
    /// # Errors
    /// If the votes have no sides or no annotators, or an annotator is not known.
    pub(crate) fn correct(
        &self,
        study: Study,
        observer: &dyn Observer,
    ) -> Result<(Study, CorrectedBias), Failure> {
        let votes = study.annotator_votes.as_ref().ok_or_else(no_annotators)?;
        if !votes.has_sides() {
            return Err(hodgerank::Error::NoSides.into());
        }
        let items = study.items.len();
        let (biased, fdr) = match &self.biased_annotators {
            Some(names) => (named(names, &study)?, None),
            None => {
                let fdr = self.fdr.unwrap_or_default();
                let options = PositionBiasOptions { fdr, ..PositionBiasOptions::default() };
                let graph = ComparisonGraph::new(items, study.groups.clone())?;
                let found = observer.run(Task::Step("looking for position bias"), || {
                    position_bias(&graph, votes, &options)
                })??;
                found_warnings(&found).iter().for_each(|warning| observer.warn(warning));
                (found.selected().collect(), Some(fdr.get()))
            }
        };
        let means = hodgerank::position_bias::mean_outcomes(votes);
        let count = |a: u32| votes.of(a as usize).iter().map(|vote| u64::from(vote.count)).sum();
        let correction = |&a: &u32| Correction {
            annotator: study.annotators.name(a).to_owned(),
            votes: count(a),
            subtracted: means[a as usize],
        };
        let annotators: Vec<Correction> = biased.iter().map(correction).collect();
        let corrected: u64 = annotators.iter().map(|annotator| annotator.votes).sum();
        observer.note(&format!(
            "position bias of {} with {} taken out",
            counted(annotators.len() as u64, "annotator", "annotators"),
            counted(corrected, "vote", "votes"),
        ));
        let (groups, corrected) = without_bias(items, votes, &biased)?;
        let study = Study { groups, annotator_votes: Some(corrected), sides: None, ..study };
        Ok((study, CorrectedBias { fdr, annotators }))
    }
}

/// What was taken out of the votes of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CorrectedBias {
    /// The false discovery rate at which annotators were selected; none if they were given.
    pub fdr: Option<f64>,
    /// The annotators.
    pub annotators: Vec<Correction>,
}

/// What was taken out of the votes of an annotator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correction {
    /// The annotator.
    pub annotator: String,
    /// Votes cast.
    pub votes: u64,
    /// The mean vote, which was subtracted from each of them.
    pub subtracted: f64,
}

/// What is known about the position bias of an annotator: columns of `annotators --fdr`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BiasColumns {
    /// The pull to the left, in units of the outcomes.
    pub position_bias: Option<f64>,
    /// Its standard error.
    pub position_bias_se: Option<f64>,
    /// The place at which the annotator enters the path, from 1.
    pub position_bias_order: Option<u32>,
    /// Whether the annotator is among those found at the false discovery rate.
    pub selected: bool,
}

/// The position bias of the annotators of a ranked study, by index.
///
/// # Errors
/// If the votes have no sides or no annotators.
pub(crate) fn of_study(
    study: &RankedStudy,
    options: &PositionBiasOptions,
    observer: &dyn Observer,
) -> Result<Vec<BiasColumns>, Failure> {
    let votes = study.annotator_votes.as_ref().ok_or_else(no_annotators)?;
    let found = observer.run(Task::Step("looking for position bias"), || {
        position_bias(&study.graph, votes, options)
    })??;
    found_warnings(&found).iter().for_each(|warning| observer.warn(warning));
    let selected = found.selected().count() as u64;
    observer.note(&format!(
        "{} with position bias at a false discovery rate of {}",
        counted(selected, "annotator", "annotators"),
        options.fdr,
    ));
    let columns = |bias: &hodgerank::position_bias::AnnotatorBias| BiasColumns {
        position_bias: bias.bias,
        position_bias_se: bias.se,
        position_bias_order: bias.order,
        selected: bias.selected,
    };
    Ok(found.annotators.iter().map(columns).collect())
}

/// What a reader must know about a search for position bias.
fn found_warnings(found: &PositionBias) -> Vec<String> {
    let mut warnings = Vec::new();
    let (fdr, needed) = (found.options.fdr, found.min_selected());
    let annotators = found.annotators.len();
    if annotators < needed {
        warnings.push(format!(
            "at a false discovery rate of {fdr}, nobody is selected unless at least {needed} annotators \
             stand out, and there are only {annotators}; a larger --fdr needs fewer"
        ));
    } else if !found.has_knockoffs {
        warnings.push(
            "there are too few votes to tell position bias from scores, so that nobody is selected"
                .to_owned(),
        );
    }
    let unidentified = found.unidentified() as u64;
    if unidentified > 0 {
        warnings.push(format!(
            "the position bias of {} of {} annotators cannot be told from the scores: show each item on \
             both sides, and pairs to several annotators",
            thousands(unidentified),
            thousands(annotators as u64),
        ));
    }
    warnings
}

/// The annotators that the option names.
fn named(value: &str, study: &Study) -> Result<Vec<u32>, Failure> {
    let names = match Exclusion::parse(value)? {
        Exclusion::Names { names, .. } => names,
        Exclusion::Suspicious => vec!["suspicious".to_owned()],
    };
    let find = |name: &String| {
        study.annotators.get(name.as_bytes()).ok_or_else(|| {
            let meant = closest(name, study.annotators.iter());
            let meant = meant.map(|known| format!("did you mean {}? ", visible(known)));
            Failure::usage(
                format!("--biased-annotators: there is no annotator {}", visible(name)),
                format!("{}`hodgerank annotators` lists the names", meant.unwrap_or_default()),
            )
        })
    };
    let mut found = names.iter().map(find).collect::<Result<Vec<u32>, _>>()?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn no_annotators() -> Failure {
    Failure::usage(
        "position bias needs the annotator of each vote",
        "name the column with --annotator; known names are annotator, annotator_id, rater, worker, \
         worker_id and judge",
    )
}

fn parse_rate(text: &str) -> Result<DiscoveryRate, String> {
    text.parse().map_err(|error| match error {
        hodgerank::Error::BadOption { expected, .. } => format!("expected {expected}"),
        other => other.to_string(),
    })
}
