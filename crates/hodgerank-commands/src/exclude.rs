//! `--exclude-annotators`: whose votes are left out.

use std::path::Path;
use std::sync::Arc;

use hodgerank::annotators::{JudgedAnnotator, judge_all};
use hodgerank::{FitOptions, FlagReason, Method, RankedStudy, natural_order};
use hodgerank_io::read::Progress;
use hodgerank_io::text::visible_name;
use hodgerank_io::{ExcludedAnnotators, ExcludedVotes, Input, ReadOptions, Sources};
use hodgerank_report::words::counted;
use serde::{Deserialize, Serialize};

use crate::annotators;
use crate::failure::Failure;
use crate::observer::{Observer, Task};
use crate::text::{closest, visible};

/// Whose votes to leave out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Exclusion {
    /// These annotators.
    Names {
        /// Their names.
        names: Vec<String>,
        /// Whether the option may have been meant as the name of a file.
        could_be_file: bool,
    },
    /// Annotators who are one-sided, contrary or random.
    Suspicious,
}

impl Exclusion {
    /// Reads the value of the option.
    pub(crate) fn parse(value: &str) -> Result<Self, Failure> {
        if value == "suspicious" {
            return Ok(Self::Suspicious);
        }
        if is_file(value) {
            return Ok(Self::Names {
                names: read_names("--exclude-annotators", value)?,
                could_be_file: false,
            });
        }
        let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_owned).collect();
        if names.is_empty() {
            return Err(Failure::usage(
                "--exclude-annotators has no names",
                "give names separated by commas, a file with one name per line, or suspicious",
            ));
        }
        let could_be_file = names.len() == 1;
        Ok(Self::Names { names, could_be_file })
    }

    /// The annotators. Reads the votes if the crowd model has to judge them.
    pub(crate) fn resolve(
        &self,
        sources: &Sources,
        options: &ReadOptions,
        bytes: u64,
        observer: &dyn Observer,
    ) -> Result<ExcludedAnnotators, Failure> {
        match self {
            Self::Names { names, .. } => Ok(named(names)),
            Self::Suspicious => suspicious(sources, options, bytes, observer),
        }
    }

    /// Reports what was left out, and names that nobody has.
    pub fn announce(
        &self,
        annotators: &ExcludedAnnotators,
        input: &Input,
        observer: &dyn Observer,
    ) {
        const MAX_LISTED: usize = 5;
        let Some(found) = &input.excluded else { return };
        let unknown: Vec<&str> = annotators
            .names()
            .zip(&found.rows_of)
            .filter(|(_, rows)| **rows == 0)
            .map(|(name, _)| name)
            .collect();
        for name in unknown.iter().take(MAX_LISTED) {
            observer.warn(&self.unknown(name, input));
        }
        if unknown.len() > MAX_LISTED {
            let more = (unknown.len() - MAX_LISTED) as u64;
            let more = counted(more, "more excluded name occurs", "more excluded names occur");
            observer.warn(&format!("{more} in no row"));
        }
        observer.note(&description(found));
    }

    fn unknown(&self, name: &str, input: &Input) -> String {
        let known = input.studies.iter().flat_map(|study| study.annotators.iter());
        let file = match self {
            Self::Names { could_be_file: true, .. } => ", and there is no file of this name",
            _ => "",
        };
        let meant = closest(name, known).map(|known| format!("; did you mean {}?", visible(known)));
        let meant = meant.unwrap_or_default();
        format!("no row is by the excluded annotator {}{file}{meant}", visible(name))
    }
}

/// The file that the option names, if it names one.
pub(crate) fn names_file(value: &str) -> Option<&str> {
    (value != "suspicious" && is_file(value)).then_some(value)
}

/// A pipe is a file too, so that a shell can pass the output of a command.
fn is_file(value: &str) -> bool {
    Path::new(value).metadata().is_ok_and(|metadata| !metadata.is_dir())
}

/// The names in the file of an option: one per line; blank lines are ignored.
pub(crate) fn read_names(option: &str, file: &str) -> Result<Vec<String>, Failure> {
    let shown = visible_name(file);
    let bytes = std::fs::read(file).map_err(|error| {
        Failure::usage(
            format!("{option} {shown}: cannot be read: {error}"),
            "give a readable file with one name per line",
        )
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        Failure::usage(
            format!("{option} {shown}: line {line} is not UTF-8"),
            "save the file as UTF-8, with one name per line",
        )
    })?;
    let lines = text.strip_prefix('\u{feff}').unwrap_or(&text).lines();
    Ok(lines.filter(|line| !line.trim().is_empty()).map(str::to_owned).collect())
}

/// Fits the crowd model to each study and judges the annotators over all studies, as `annotators`
/// does.
fn suspicious(
    sources: &Sources,
    options: &ReadOptions,
    bytes: u64,
    observer: &dyn Observer,
) -> Result<ExcludedAnnotators, Failure> {
    let options = ReadOptions { annotator_votes: true, ..options.clone() };
    let progress = Arc::new(Progress::default());
    let reading = Task::Reading(bytes, &progress);
    let input = observer.run(reading, || sources.read(&options, &progress))??;
    annotators::check(&input.tables)?;
    let fit = FitOptions::new().method(Method::Crowd);
    let rank = |study| RankedStudy::new(study, 0, &fit);
    let studies = observer.run(Task::Step("judging annotators"), || {
        input.studies.into_iter().map(rank).collect::<Result<Vec<_>, _>>()
    })??;
    let votes: Vec<_> = studies.iter().filter_map(annotators::study_votes).collect();
    Ok(suspicious_of(&judge_all(&votes)))
}

/// The annotators with these names.
#[must_use]
pub fn named(names: &[String]) -> ExcludedAnnotators {
    ExcludedAnnotators::new(names.iter().map(|name| (name, FlagReason::Excluded)))
}

/// Those of the judged annotators whom `suspicious` excludes, with their reasons.
#[must_use]
pub fn suspicious_of(judged: &[JudgedAnnotator<String>]) -> ExcludedAnnotators {
    let mut judged: Vec<&JudgedAnnotator<String>> = judged.iter().collect();
    judged.sort_by(|a, b| natural_order(&a.annotator, &b.annotator));
    let reasons = judged.iter().filter_map(|annotator| {
        annotator.reason_to_exclude().map(|reason| (annotator.annotator.as_str(), reason))
    });
    ExcludedAnnotators::new(reasons)
}

/// What was left out, in words.
pub(crate) fn description(found: &ExcludedVotes) -> String {
    match found.annotators() {
        0 => "no annotator was excluded".to_owned(),
        annotators => format!(
            "{} with {} excluded",
            counted(annotators as u64, "annotator", "annotators"),
            counted(found.votes, "vote", "votes"),
        ),
    }
}
