//! From differences of scores to the probabilities of votes of a crowd.
//!
//! Scores are those of careful people. In a crowd some always choose one side, some are less careful, and
//! scores are estimates: the link is fitted to votes that the scores have not seen.
//!
//! Objective, over l, r ≥ 0 with l + r < 1, T ≥ 0 and b:
//!
//! ```text
//! min mean −ln P(vote),   P(left) = l + (1 − l − r) F(T d + b),   F(z) = 1 / (1 + e⁻ᶻ)
//! ```
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | l, r | `left`, `right` | shares of votes for the left and the right side, whatever the items |
//! | T | `slope` | log-odds per unit of the scores |
//! | b | `shift` | advantage of the left side in log-odds |
//! | d | `difference` | score of the left item less that of the right one |
//!
//! Optimality: the gradient vanishes, except that a parameter at a bound may have one that points outwards.
//!
//! Fisher scoring with Levenberg's damping, projected onto the bounds. The objective is not convex, so there
//! are several starts. They begin at the logistic regression (l = r = 0), which is convex. Differences are
//! divided by their root mean square, so that the result does not depend on the unit of scores.
//! Where votes are separable the infimum is not attained; T and b end at a bound. Cost: about 100 passes over
//! the votes.

/// A vote and the difference of scores that should predict it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkedVote {
    /// The score of the left item minus that of the right one.
    pub difference: f64,
    /// Whether the left item was preferred.
    pub prefers_left: bool,
    /// The number of such votes.
    pub count: f64,
}

/// A link from differences of scores to probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// l.
    pub left: f64,
    /// r.
    pub right: f64,
    /// T.
    pub slope: f64,
    /// b.
    pub shift: f64,
    /// Mean −ln of the probability of a vote; NaN without votes.
    pub log_loss: f64,
}

impl Link {
    /// The probability that one of this crowd prefers the left item.
    #[must_use]
    pub fn probability(&self, difference: f64) -> f64 {
        let [f, _] = logistic(self.slope * difference + self.shift);
        self.left + (1.0 - self.left - self.right) * f
    }

    /// The same if either side is equally likely.
    #[must_use]
    pub fn probability_on_either_side(&self, difference: f64) -> f64 {
        0.5 * (self.probability(difference) + 1.0 - self.probability(-difference))
    }

    /// Fits the link to votes. Where nobody knows which item was on the left, both sides are treated alike.
    #[must_use]
    pub fn fit(votes: &[LinkedVote], has_sides: bool) -> Self {
        let votes = ScaledVotes::new(votes, has_sides);
        let logistic = votes.minimise([0.0, 0.0, 1.0, 0.0], LOGISTIC);
        let [_, _, slope, shift] = logistic.0;
        let starts = STARTS.map(|[left, right]| [left, right, slope / (1.0 - left - right), shift]);
        let found = starts.map(|start| votes.minimise(start, ALL));
        votes.link(found.into_iter().fold(logistic, |a, b| if b.1 < a.1 { b } else { a }))
    }

    /// Fits T and b alone: a logistic regression.
    #[must_use]
    pub fn logistic(votes: &[LinkedVote], has_sides: bool) -> Self {
        let votes = ScaledVotes::new(votes, has_sides);
        votes.link(votes.minimise([0.0, 0.0, 1.0, 0.0], LOGISTIC))
    }

    /// Fits the link of similar scores to votes, from this one.
    #[must_use]
    pub(crate) fn refit(&self, votes: &[LinkedVote], has_sides: bool) -> Self {
        let votes = ScaledVotes::new(votes, has_sides);
        let start = [self.left, self.right, self.slope * votes.size, self.shift];
        votes.link(votes.minimise(projected(start), ALL))
    }
}

/// Every vote as half a vote on each side.
fn mirrored(votes: &[LinkedVote]) -> Vec<LinkedVote> {
    let halves = |vote: &LinkedVote| {
        let LinkedVote { difference, prefers_left, count } = *vote;
        let mirrored = (-difference, !prefers_left);
        [(difference, prefers_left), mirrored].map(|(difference, prefers_left)| LinkedVote {
            difference,
            prefers_left,
            count: 0.5 * count,
        })
    };
    votes.iter().flat_map(halves).collect()
}

/// Shares of one-sided votes from which the search starts.
const STARTS: [[f64; 2]; 4] = [[0.01, 0.01], [0.1, 0.1], [0.2, 0.02], [0.02, 0.2]];
const MAX_ITERATIONS: usize = 200;
/// Largest component of the gradient at which the search ends.
const GRADIENT_TOLERANCE: f64 = 1e-8;
/// Bound of the shares together.
const MAX_SHARES: f64 = 1.0 - 1e-6;
/// Bound of T and |b|, with differences of size 1.
const MAX_LOG_ODDS: f64 = 1e3;
const FIRST_DAMPING: f64 = 1e-4;
const MAX_DAMPING: f64 = 1e12;

const SIZE: usize = 4;
/// l, r, T and b.
type Parameters = [f64; SIZE];
type Matrix = [Parameters; SIZE];
const ALL: [bool; SIZE] = [true; SIZE];
const LOGISTIC: [bool; SIZE] = [false, false, true, true];

/// Votes with differences of size 1.
struct ScaledVotes {
    votes: Vec<LinkedVote>,
    size: f64,
    number: f64,
}

/// The objective, its gradient and the expected information.
struct Evaluation {
    log_loss: f64,
    gradient: Parameters,
    information: Matrix,
}

/// The number of votes.
fn number(votes: &[LinkedVote]) -> f64 {
    votes.iter().map(|vote| vote.count).sum()
}

/// 1 if all differences are 0.
fn root_mean_square(votes: &[LinkedVote]) -> f64 {
    let largest = votes.iter().fold(0.0, |max: f64, vote| max.max(vote.difference.abs()));
    if largest == 0.0 {
        return 1.0;
    }
    // Relative to the largest one, squares neither overflow nor vanish.
    let square = |vote: &LinkedVote| vote.count * (vote.difference / largest).powi(2);
    largest * (votes.iter().map(square).sum::<f64>() / number(votes)).sqrt()
}

impl ScaledVotes {
    fn new(votes: &[LinkedVote], has_sides: bool) -> Self {
        let mut votes = if has_sides { votes.to_vec() } else { mirrored(votes) };
        let size = root_mean_square(&votes);
        votes.iter_mut().for_each(|vote| vote.difference /= size);
        Self { number: number(&votes), votes, size }
    }

    fn link(&self, ([left, right, slope, shift], log_loss): (Parameters, f64)) -> Link {
        Link { left, right, slope: slope / self.size, shift, log_loss }
    }

    /// Minimises over the parameters that are `free`, and returns them with the objective.
    fn minimise(&self, start: Parameters, free: [bool; SIZE]) -> (Parameters, f64) {
        let (mut at, mut damping) = (start, FIRST_DAMPING);
        let mut now = self.evaluate(&at);
        for _ in 0..MAX_ITERATIONS {
            let moves = std::array::from_fn(|k| free[k] && !is_held(&at, &now.gradient, k));
            let slopes = (0..SIZE).filter(|&k| moves[k]).map(|k| now.gradient[k].abs());
            if slopes.fold(0.0, f64::max) <= GRADIENT_TOLERANCE {
                break;
            }
            let better = loop {
                let step = step(&now, damping, moves);
                let next = projected(std::array::from_fn(|k| at[k] + step[k]));
                let evaluation = self.evaluate(&next);
                if evaluation.log_loss < now.log_loss {
                    break Some((next, evaluation));
                }
                damping *= 10.0;
                if damping > MAX_DAMPING {
                    break None;
                }
            };
            // Without a better point, the gradient is as small as rounding errors allow.
            let Some(better) = better else { break };
            (at, now) = better;
            damping = (0.1 * damping).max(f64::EPSILON);
        }
        (at, now.log_loss)
    }

    fn evaluate(&self, at: &Parameters) -> Evaluation {
        let [left, right, slope, shift] = *at;
        let both = 1.0 - left - right;
        let (mut loss, mut gradient, mut information) = (0.0, [0.0; SIZE], [[0.0; SIZE]; SIZE]);
        for vote in &self.votes {
            let [f, g] = logistic(slope * vote.difference + shift);
            // P(left), P(right), and the derivative of P(left).
            let (p, q) = (left + both * f, right + both * g);
            let density = both * f * g;
            let of_p = [g, -f, density * vote.difference, density];
            let own = if vote.prefers_left { p } else { q };
            loss -= vote.count * own.ln();
            let weight = if vote.prefers_left { -vote.count / p } else { vote.count / q };
            let expected = vote.count / (p * q).max(f64::MIN_POSITIVE);
            for i in 0..SIZE {
                gradient[i] += weight * of_p[i];
                for j in 0..=i {
                    information[i][j] += expected * of_p[i] * of_p[j];
                }
            }
        }
        let mean = |sum: f64| sum / self.number;
        let symmetric = |i: usize, j: usize| mean(information[i.max(j)][i.min(j)]);
        Evaluation {
            log_loss: mean(loss),
            gradient: gradient.map(mean),
            information: std::array::from_fn(|i| std::array::from_fn(|j| symmetric(i, j))),
        }
    }
}

/// Whether a parameter is at a bound and the gradient would move it outwards.
fn is_held(at: &Parameters, gradient: &Parameters, k: usize) -> bool {
    let is_low = if k == 3 { at[k] <= -MAX_LOG_ODDS } else { at[k] <= 0.0 };
    let is_high = if k < 2 { at[0] + at[1] >= MAX_SHARES } else { at[k] >= MAX_LOG_ODDS };
    (is_low && gradient[k] >= 0.0) || (is_high && gradient[k] <= 0.0)
}

fn projected([left, right, slope, shift]: Parameters) -> Parameters {
    let (left, right) = (left.max(0.0), right.max(0.0));
    let shrunk = (MAX_SHARES / (left + right)).min(1.0);
    let slope = slope.clamp(0.0, MAX_LOG_ODDS);
    [left * shrunk, right * shrunk, slope, shift.clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS)]
}

/// F(z) and 1 − F(z), both exact where they are small.
fn logistic(z: f64) -> [f64; 2] {
    let small = (-z.abs()).exp();
    let large = 1.0 / (1.0 + small);
    if z >= 0.0 { [large, small * large] } else { [small * large, large] }
}

/// Solves (H + damping · diag H) step = −gradient for the parameters that move; the others have step 0.
fn step(now: &Evaluation, damping: f64, moves: [bool; SIZE]) -> Parameters {
    let Evaluation { gradient, information, .. } = now;
    let entry = |i: usize, j: usize| match (i == j, moves[i] && moves[j]) {
        // A direction without information, such as T where all differences are 0, must not be singular.
        (true, true) => (1.0 + damping) * information[i][i] + f64::EPSILON,
        (false, true) => information[i][j],
        (true, false) => 1.0,
        (false, false) => 0.0,
    };
    let mut matrix: Matrix = std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)));
    let mut step: Parameters = std::array::from_fn(|i| if moves[i] { -gradient[i] } else { 0.0 });
    // Elimination without pivots: the matrix is positive definite.
    for i in 0..SIZE {
        let pivot = matrix[i];
        for k in i + 1..SIZE {
            let factor = matrix[k][i] / pivot[i];
            matrix[k]
                .iter_mut()
                .zip(pivot)
                .for_each(|(value, of_pivot)| *value -= factor * of_pivot);
            step[k] -= factor * step[i];
        }
    }
    for i in (0..SIZE).rev() {
        let known: f64 = (i + 1..SIZE).map(|j| matrix[i][j] * step[j]).sum();
        step[i] = (step[i] - known) / matrix[i][i];
    }
    step
}
