//! Options of hard thresholding.

use crate::error::{Error, Result};
use crate::laplacian::{BackendChoice, StoppingRule};
use crate::solve::check_stopping;

/// Options of [`super::solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `k` | 0 | maximum number of votes to remove | 0 to votes − items + components |
/// | `sweep_steps` | 32 | steps of the slowest gradual start; 1 disables gradual starts | 1 or more |
/// | `max_exchanges` | 1000 | maximum number of exchanges; 0 disables them | 0 or more |
/// | `max_iterations` | 1000 | maximum number of refits per start | 1 or more |
/// | `backend` | `auto` | how linear systems are solved | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-10 | relative residual of linear systems | above 0, below 1 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HardThresholdOptions {
    /// Maximum number of votes to remove.
    pub k: u64,
    /// Steps of the slowest gradual start; 1 disables gradual starts.
    pub sweep_steps: usize,
    /// Maximum number of exchanges of removed for retained votes.
    pub max_exchanges: usize,
    /// Maximum number of refits per start.
    pub max_iterations: usize,
    /// How linear systems are solved.
    pub backend: BackendChoice,
    /// Relative residual to which linear systems are solved.
    pub tolerance: f64,
}

impl Default for HardThresholdOptions {
    fn default() -> Self {
        Self {
            k: 0,
            sweep_steps: 32,
            max_exchanges: 1000,
            max_iterations: 1000,
            backend: BackendChoice::Auto,
            tolerance: StoppingRule::default().tolerance,
        }
    }
}

impl HardThresholdOptions {
    /// Checks all values that can be checked without the votes.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        check_stopping(self.tolerance, self.max_iterations)?;
        if self.sweep_steps == 0 {
            let (value, expected) = ("0".to_owned(), "a whole number, 1 or more");
            return Err(Error::BadOption { option: "sweep-steps", value, expected });
        }
        Ok(())
    }
}
