//! The diagnosis of one study, with names of items.

use hodgerank::Labels;
use hodgerank::diagnose::{DesignSummary, Diagnosis, ResistanceSummary, SettledPlaces, Spread};
use hodgerank::identify::{Conditions, Trial};
use hodgerank::laplacian::Eigenvalue;
use hodgerank::{InputSummary, OutlierSummary, RankedStudy};

use crate::ranked::MethodSummary;
use hodgerank_report::advice::VerdictText;
use serde::Serialize;

use crate::document::StudyFigures;

/// The JSON of `diagnose` for one study; docs/output.md explains its keys.
#[derive(Debug, Serialize)]
pub struct StudyDiagnosis {
    /// What was read.
    #[serde(skip)]
    pub input: InputSummary,
    /// The result in words.
    pub verdict: VerdictText,
    /// Which places are settled, in the largest component; none without intervals.
    pub settled: Option<SettledPlaces<String>>,
    /// Which items were compared, and how often.
    pub design: DesignSummary<String>,
    /// The algebraic connectivity.
    pub connectivity: Option<Eigenvalue>,
    /// Effective resistances.
    pub resistance: Option<ResistanceSummary<String>>,
    /// Whether wrong votes can be identified.
    pub identifiability: Identifiability,
}

/// Whether wrong votes can be identified.
#[derive(Debug, Serialize)]
pub struct Identifiability {
    /// ρ: the largest effective resistance of a compared pair.
    pub rho: Option<f64>,
    /// How many wrong votes can be identified in any position.
    pub certain_outliers: u64,
    /// The share of randomly placed wrong votes that can be identified.
    #[serde(rename = "findable_share")]
    pub share: f64,
    /// The shares that were tried.
    pub trials: Vec<Trial>,
    /// `share` if every vote had been cast twice.
    #[serde(rename = "findable_share_if_doubled", skip_serializing_if = "Option::is_none")]
    pub share_if_doubled: Option<f64>,
    /// The flagged votes.
    #[serde(rename = "suspects")]
    pub flagged: FlaggedSummary,
}

/// The flagged votes, how they were found, and the conditions for them.
#[derive(Debug, Serialize)]
pub struct FlaggedSummary {
    /// The method that flagged them.
    pub method: MethodSummary,
    /// Their number.
    #[serde(flatten)]
    pub outliers: OutlierSummary,
    /// C1 to C3; none without flagged votes or without cycles.
    pub conditions: Option<Conditions>,
}

impl StudyFigures for StudyDiagnosis {
    fn input(&self) -> InputSummary {
        self.input
    }
}

impl StudyDiagnosis {
    /// Names the items of a diagnosis; `study` has the input and how votes were flagged.
    #[must_use]
    pub fn new(
        diagnosis: Diagnosis,
        study: &RankedStudy,
        items: &Labels,
        votes_per_annotator: Option<Spread>,
    ) -> Self {
        let name = |item: u32| items.name(item).to_owned();
        let verdict = VerdictText::new(&diagnosis, items);
        let identifiability = Identifiability {
            rho: diagnosis.resistance.as_ref().map(|summary| summary.largest),
            certain_outliers: diagnosis.certain_outliers,
            share: diagnosis.identifiable.share,
            trials: diagnosis.identifiable.trials,
            share_if_doubled: diagnosis.identifiable_if_doubled.map(|found| found.share),
            flagged: FlaggedSummary {
                method: MethodSummary::new(study),
                outliers: study.outliers,
                conditions: diagnosis.conditions,
            },
        };
        let places = diagnosis.certainty.and_then(|certainty| certainty.places.ok());
        let design = DesignSummary { votes_per_annotator, ..diagnosis.design };
        Self {
            input: study.input,
            verdict,
            settled: places.map(|places| places.map(name)),
            design: design.map(name),
            connectivity: diagnosis.connectivity,
            resistance: diagnosis.resistance.map(|summary| summary.map(name)),
            identifiability,
        }
    }
}
