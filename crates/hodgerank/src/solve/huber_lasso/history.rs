//! The last two points of a path, and where they predict the next one: the path is piecewise linear.

use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;

/// θ at one λ.
#[derive(Debug, Clone)]
struct PathPoint {
    lambda: f64,
    theta: Vec<f64>,
}

/// The last two points, which are equal at the start of a path.
#[derive(Debug)]
pub(super) struct History {
    previous: PathPoint,
    current: PathPoint,
}

impl History {
    pub(super) fn new(lambda: f64, theta: &[f64]) -> Self {
        let start = PathPoint { lambda, theta: theta.to_vec() };
        Self { previous: start.clone(), current: start }
    }

    /// Appends a point of the path.
    pub(super) fn push(&mut self, lambda: f64, theta: &[f64]) {
        std::mem::swap(&mut self.previous, &mut self.current);
        self.current.lambda = lambda;
        self.current.theta.copy_from_slice(theta);
    }

    /// The latest point.
    pub(super) fn last(&self) -> (f64, &[f64]) {
        (self.current.lambda, &self.current.theta)
    }

    /// Writes the predicted θ at `lambda`.
    pub(super) fn predict(&self, lambda: f64, theta: &mut [f64]) {
        let Self { previous, current } = self;
        theta.copy_from_slice(&current.theta);
        if previous.lambda > current.lambda {
            let factor = (lambda - current.lambda) / (current.lambda - previous.lambda);
            for (theta, (previous, current)) in
                theta.iter_mut().zip(previous.theta.iter().zip(&current.theta))
            {
                *theta += factor * (current - previous);
            }
        }
    }

    pub(super) fn save(&self, state: &mut StateWriter) {
        for point in [&self.previous, &self.current] {
            state.number(point.lambda);
            state.numbers(point.theta.iter());
        }
    }

    pub(super) fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()> {
        for point in [&mut self.previous, &mut self.current] {
            point.lambda = state.number()?;
            state.numbers_into(&mut point.theta)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_continued() {
        let mut history = History::new(8.0, &[1.0]);
        let mut theta = [0.0];
        history.predict(4.0, &mut theta);
        assert_eq!(theta, [1.0]);
        history.push(4.0, &[5.0]);
        history.push(2.0, &[7.0]);
        history.predict(1.0, &mut theta);
        assert_eq!((theta, history.last()), ([8.0], (2.0, &[7.0][..])));
    }
}
