//! Options of a synthetic study: sizes, noise and kinds of annotators.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// Maximum number of items, and of annotators.
const MAX_COUNT: u64 = 100_000_000;
/// Scores differ by at most 1, so a σ near this leaves nothing but noise.
const MAX_SIGMA: f64 = 1e6;

/// Options of a synthetic study.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `items` | 16 | how many items are compared | 2 to 100,000,000 |
/// | `votes` | 2000 | how many votes are cast | at least 1 |
/// | `flips` | 0 | share of the votes that are flipped at random | 0 to 1 |
/// | `ties` | 0 | share of the votes where a careful annotator answers "tie" | 0 to 1 |
/// | `noise` | none | how a careful annotator errs | scale > 0; sigma 0 to 1,000,000 |
/// | `graded` | false | outcomes are real numbers instead of ±1 | |
/// | `annotators` | none | how many annotators of each kind | 1 to 100,000,000 in all |
/// | `seed` | 0 | the same options and seed always give the same votes | any |
#[derive(Debug, Clone, PartialEq)]
pub struct SimulateOptions {
    /// How many items are compared.
    pub items: usize,
    /// How many votes are cast.
    pub votes: u64,
    /// Share of the votes that are flipped at random. A tie stays a tie.
    pub flips: f64,
    /// Share of the votes where a careful annotator answers "tie".
    pub ties: f64,
    /// How a careful annotator errs.
    pub noise: Noise,
    /// Whether outcomes are real-valued differences instead of ±1.
    pub graded: bool,
    /// Number of annotators of each kind. With an empty list votes have no annotator.
    pub annotators: Vec<(AnnotatorKind, u32)>,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for SimulateOptions {
    fn default() -> Self {
        Self {
            items: 16,
            votes: 2000,
            flips: 0.0,
            ties: 0.0,
            noise: Noise::None,
            graded: false,
            annotators: Vec::new(),
            seed: 0,
        }
    }
}

impl SimulateOptions {
    /// Checks that all options are in range.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that is not.
    pub fn validate(&self) -> Result<()> {
        let require = |holds: bool, option, value: &dyn fmt::Display, expected| match holds {
            true => Ok(()),
            false => Err(Error::BadOption { option, value: value.to_string(), expected }),
        };
        let share = "a share from 0 to 1";
        let items = self.items as u64;
        require((2..=MAX_COUNT).contains(&items), "items", &items, "a number from 2 to 100000000")?;
        require(self.votes > 0, "votes", &self.votes, "at least 1")?;
        require((0.0..=1.0).contains(&self.flips), "flips", &self.flips, share)?;
        require((0.0..=1.0).contains(&self.ties), "ties", &self.ties, share)?;
        match self.noise {
            Noise::None => {}
            Noise::BradleyTerry { scale } => {
                let holds = scale > 0.0 && scale.is_finite();
                require(holds, "noise-scale", &scale, "a finite number above 0")?;
            }
            Noise::Gaussian { sigma } => {
                let holds = (0.0..=MAX_SIGMA).contains(&sigma);
                require(holds, "sigma", &sigma, "a number from 0 to 1000000")?;
            }
        }
        let annotators: u64 = self.annotators.iter().map(|&(_, count)| u64::from(count)).sum();
        let holds = self.annotators.is_empty() || (1..=MAX_COUNT).contains(&annotators);
        require(holds, "annotators", &annotators, "1 to 100000000 annotators in all")
    }
}

/// How the answer of a careful annotator deviates from the true scores θ.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Noise {
    /// No noise: the answer is θ_left − θ_right or its sign.
    #[default]
    None,
    /// Left is preferred with probability 1 / (1 + exp(−(θ_left − θ_right) / scale)). A graded
    /// answer has the size |θ_left − θ_right| and the side drawn in this way.
    BradleyTerry {
        /// The difference of scores at which left is preferred 73 times out of 100.
        scale: f64,
    },
    /// The answer is θ_left − θ_right + σε or its sign, with ε standard normal.
    Gaussian {
        /// Standard deviation σ of what is added.
        sigma: f64,
    },
}

/// How an annotator answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnnotatorKind {
    /// Answers as well as the noise allows.
    Careful,
    /// Picks a random side and never answers "tie".
    Careless,
    /// Gives the opposite of a careful annotator's answer.
    Malicious,
    /// Always picks the left side.
    AlwaysLeft,
}

impl AnnotatorKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Careful, Self::Careless, Self::Malicious, Self::AlwaysLeft];

    /// The name of the kind, as in files and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Careful => "careful",
            Self::Careless => "careless",
            Self::Malicious => "malicious",
            Self::AlwaysLeft => "always-left",
        }
    }
}

impl fmt::Display for AnnotatorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for AnnotatorKind {
    type Err = Error;

    /// Reads the name of a kind; `left` is short for `always-left`.
    fn from_str(name: &str) -> Result<Self> {
        if name == "left" {
            return Ok(Self::AlwaysLeft);
        }
        Self::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| Error::BadOption {
            option: "annotators",
            value: name.to_owned(),
            expected: "careful, careless, malicious or always-left",
        })
    }
}
