//! The scale of the scores that a command shows.

use clap::Args;
use hodgerank::scale::{Anchor, ELO_POINTS_PER_LOG_ODDS, EloScale, ScoreScale};
use hodgerank::{Labels, RankedStudy};
use serde::Serialize;

use crate::failure::Failure;
use crate::text::{closest, visible};

/// The scale of the scores.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Scores")]
pub struct ScaleOptions {
    /// Scale of the scores
    #[arg(long, value_enum, default_value_t = ScoreScale::default())]
    pub scale: ScoreScale,
    /// Score that an item is to have on the Elo scale, such as gpt-4=1200; all others shift with it
    /// [default: the mean is 1000]
    #[arg(long, value_name = "ITEM=VALUE", value_parser = parse_anchor)]
    pub anchor: Option<Anchor>,
}

impl ScaleOptions {
    /// Refuses an anchor without the scale that it belongs to.
    ///
    /// # Errors
    /// [`Failure::Usage`].
    pub fn validate(&self) -> Result<(), Failure> {
        match (self.scale, &self.anchor) {
            (ScoreScale::Natural, Some(_)) => Err(Failure::usage(
                "--anchor is an option of --scale elo",
                "add --scale elo, or leave --anchor out",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses an anchor that is not among the items of a study.
    ///
    /// # Errors
    /// [`Failure::Usage`] that names the most similar item.
    pub fn check_items(&self, items: &Labels, by: Option<&str>) -> Result<(), Failure> {
        let Some(anchor) = &self.anchor else { return Ok(()) };
        if items.get(anchor.item.as_bytes()).is_some() {
            return Ok(());
        }
        let study = by.map_or(String::new(), |by| format!("{}: ", visible(by)));
        let problem = format!("{study}there is no item {} to anchor", visible(&anchor.item));
        let help = match (closest(&anchor.item, items.iter()), by) {
            (Some(name), _) => {
                format!(
                    "the most similar item is {0}: --anchor {0}={1}",
                    visible(name),
                    anchor.value
                )
            }
            (None, None) => "name an item as it is in the votes".to_owned(),
            (None, Some(_)) => "name an item that is in all studies".to_owned(),
        };
        Err(Failure::usage(problem, help))
    }

    /// The study with its scores on this scale. Collective where several processes share the votes.
    ///
    /// # Errors
    /// If the scores of the method cannot be expressed on this scale.
    pub fn apply(&self, study: RankedStudy) -> Result<RankedStudy, Failure> {
        match self.scale {
            ScoreScale::Natural => Ok(study),
            ScoreScale::Elo => Ok(study.with_elo(self.anchor.as_ref())?),
        }
    }
}

/// clap prints the flag and the value itself.
fn parse_anchor(text: &str) -> Result<Anchor, String> {
    text.parse().map_err(|_| format!("expected {}", Anchor::EXPECTED))
}

/// The Elo scale in JSON.
#[derive(Debug, Clone, Serialize)]
pub struct ScaleSummary {
    name: &'static str,
    points_per_log_odds: f64,
    log_odds_per_unit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<Anchor>,
}

impl ScaleSummary {
    pub(crate) fn new(elo: &EloScale) -> Self {
        Self {
            name: ScoreScale::Elo.as_str(),
            points_per_log_odds: ELO_POINTS_PER_LOG_ODDS,
            log_odds_per_unit: elo.log_odds_per_unit,
            anchor: elo.anchor.clone(),
        }
    }
}
