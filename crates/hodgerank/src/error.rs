//! What can be wrong with the votes or options handed to this crate.

use crate::labels::Labels;
use crate::scale::NoFactor;

/// Result of the operations of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An input that the mathematics cannot accept. Stopping early is a status, not an error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to rank.
    #[error("there are no votes")]
    NoVotes,
    /// A vote names an item that does not exist.
    #[error("vote {vote}: item index {index} is out of range (there are {items} items)")]
    ItemOutOfRange {
        /// Position of the vote in the input.
        vote: usize,
        /// The index it names.
        index: u32,
        /// How many items there are.
        items: usize,
    },
    /// A vote compares an item with itself.
    #[error("vote {vote}: item {index} is compared with itself")]
    SelfComparison {
        /// Position of the vote in the input.
        vote: usize,
        /// The item.
        index: u32,
    },
    /// A vote's outcome is infinite or not a number.
    #[error("vote {vote}: the outcome {value} is not a finite number")]
    NonFinite {
        /// Position of the vote in the input.
        vote: usize,
        /// The outcome.
        value: f64,
    },
    /// More items or groups than 32-bit indices can count, or more votes than are counted exactly.
    #[error("too many {what}: {count} (at most {max})")]
    TooLarge {
        /// What there are too many of.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// How many there may be.
        max: u64,
    },
    /// An option has an invalid value.
    #[error("{option} = {value}: expected {expected}")]
    BadOption {
        /// The option's name, as on the command line without its dashes.
        option: &'static str,
        /// The value given.
        value: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// An option that the method does not read, and that would be ignored.
    #[error("{option} has no effect: it is an option of {}", methods.join(" or "))]
    UnusedOption {
        /// The option's name.
        option: &'static str,
        /// Names of the methods that read it.
        methods: Vec<&'static str>,
    },
    /// A seed for a computation that is not random.
    #[error("seed has no effect: only cross-validation is random")]
    UnusedSeed,
    /// Too few cycles for the number of folds.
    #[error(
        "cross-validation with {folds} folds needs votes with at least {needed} independent cycles, \
         and these have {cycles}"
    )]
    TooFewCycles {
        /// Independent cycles: distinct votes less items plus components.
        cycles: usize,
        /// Requested folds.
        folds: usize,
        /// Cycles that this many folds need.
        needed: usize,
    },
    /// A time step with which the iteration would not converge.
    #[error(
        "dt = {dt}: expected a positive number below {largest}, above which the iteration diverges"
    )]
    StepTooLarge {
        /// The step given.
        dt: f64,
        /// Steps must be shorter than this.
        largest: f64,
    },
    /// A factorisation broke down.
    #[error("the {backend} factorisation broke down on a component of {items} items: {reason}")]
    Factorisation {
        /// The backend that failed.
        backend: &'static str,
        /// Size of the component.
        items: usize,
        /// The message of the linear-algebra library.
        reason: String,
    },
    /// Outcomes so large that their sum leaves the range of 64-bit numbers.
    #[error(
        "item {}: the outcomes of its votes are too large to be added up ({value:e}); divide all \
         outcomes by a common factor, which changes no rank",
        label.clone().unwrap_or_else(|| format!("with index {item}"))
    )]
    Overflow {
        /// The item.
        item: u32,
        /// Its label, where it is known ([`Error::with_labels`]).
        label: Option<String>,
        /// The sum.
        value: f64,
    },
    /// Outcomes whose squares leave the range of 64-bit numbers.
    #[error(
        "outcomes as large as {largest:e} have squares too large to be added up: divide all \
         outcomes by a common factor, which changes no share"
    )]
    EnergyOverflow {
        /// The largest outcome, without its sign.
        largest: f64,
    },
    /// A method that judges annotators, and votes without annotators.
    #[error("the method crowd needs the annotator of each vote")]
    NoAnnotators,
    /// A method that uses the sides on which items were shown, and votes without sides.
    #[error("the votes do not say on which side each item was shown")]
    NoSides,
    /// A label that no item has.
    #[error("there is no item {item}")]
    UnknownItem {
        /// The label.
        item: String,
    },
    /// Scores that no finite factor turns into log-odds.
    #[error(
        "the scores of {method} cannot be expressed in Elo points: {}",
        match reason {
            NoFactor::Separable => {
                "no vote contradicts them, apart from lapses, so the votes do not say how large a \
                 difference is"
            }
            NoFactor::Random => "the votes agree with them no more often than by chance",
        }
    )]
    NoEloScale {
        /// The method.
        method: &'static str,
        /// Why.
        reason: NoFactor,
    },
    /// A saved state that belongs to another computation or to other votes.
    #[error(
        "the saved state of {work} does not match these votes and options: start again without resuming"
    )]
    UnusableState {
        /// The computation that was to be resumed.
        work: &'static str,
    },
    /// The budget is too small for all triangles, and an exact result needs all of them.
    #[error(
        "up to {count} triangles, and the budget is {max}: the curl and harmonic parts of this \
         graph cannot be separated without visiting all of them"
    )]
    TooManyTriangles {
        /// Candidates to visit: an upper bound of the number of triangles.
        count: u64,
        /// The budget.
        max: u64,
    },
}

impl Error {
    /// The same error with the label of the item that it names by its index.
    #[must_use]
    pub fn with_labels(mut self, labels: &Labels) -> Self {
        if let Self::Overflow { item, label, .. } = &mut self
            && (*item as usize) < labels.len()
        {
            *label = Some(labels.name(*item).to_owned());
        }
        self
    }
}
