//! Options of intervals and rank ranges.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// How uncertainty is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntervalEngine {
    /// From the slopes of the votes at the fit, summed up by annotator.
    Sandwich,
    /// By repeating the whole fit with random weights of the annotators.
    Bootstrap,
    /// Not at all.
    None,
}

impl IntervalEngine {
    /// Every engine.
    pub const ALL: [Self; 3] = [Self::Sandwich, Self::Bootstrap, Self::None];

    /// The name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sandwich => "sandwich",
            Self::Bootstrap => "bootstrap",
            Self::None => "none",
        }
    }
}

impl fmt::Display for IntervalEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for IntervalEngine {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.into_iter().find(|engine| engine.as_str() == text);
        found.ok_or_else(|| "expected sandwich, bootstrap or none".to_owned())
    }
}

/// For which items a level holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RankCoverage {
    /// The ranges of all items hold together.
    #[default]
    All,
    /// The range of each item holds on its own.
    Each,
}

impl RankCoverage {
    /// The name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Each => "each",
        }
    }
}

impl fmt::Display for RankCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for RankCoverage {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = [Self::All, Self::Each].into_iter().find(|ranks| ranks.as_str() == text);
        found.ok_or_else(|| "expected all or each".to_owned())
    }
}

/// Options of intervals and rank ranges.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `level` | 0.95 | probability with which intervals and ranges hold | 0.5 to 0.999 |
/// | `intervals` | sandwich where it is fast and valid | engine | |
/// | `draws` | 400, of a bootstrap 200 | random draws for rank ranges, or of a bootstrap | 100 or more |
/// | `ranks` | all | whether ranges hold for all items together | |
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Uncertainty"))]
#[non_exhaustive]
pub struct IntervalOptions {
    /// Probability with which intervals and rank ranges hold
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", default_value_t = 0.95))]
    pub level: f64,
    /// How uncertainty is estimated: sandwich, bootstrap or none [default: sandwich for l2, hlasso, bt
    /// and crowd with up to 300 items]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ENGINE"))]
    pub intervals: Option<IntervalEngine>,
    /// Random draws: for rank ranges [default: 400], or of a bootstrap, each a fit [default: 200]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub draws: Option<usize>,
    /// Whether rank ranges hold for all items together, or for each on its own
    #[cfg_attr(feature = "clap", arg(long, value_name = "all|each", default_value_t = RankCoverage::All))]
    pub ranks: RankCoverage,
}

impl Default for IntervalOptions {
    fn default() -> Self {
        Self { level: 0.95, intervals: None, draws: None, ranks: RankCoverage::All }
    }
}

impl IntervalOptions {
    /// The number of random draws.
    #[must_use]
    pub fn draws(&self) -> usize {
        let default = if self.intervals == Some(IntervalEngine::Bootstrap) { 200 } else { 400 };
        self.draws.unwrap_or(default)
    }

    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        if !(0.5..=0.999).contains(&self.level) {
            let (value, expected) = (self.level.to_string(), "a number from 0.5 to 0.999");
            return Err(Error::BadOption { option: "level", value, expected });
        }
        if let Some(draws) = self.draws.filter(|&draws| draws < 100) {
            let (value, expected) = (draws.to_string(), "at least 100");
            return Err(Error::BadOption { option: "draws", value, expected });
        }
        Ok(())
    }
}
