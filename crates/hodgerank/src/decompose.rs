//! The Hodge decomposition of the votes: how much of them one ranking explains, and where the rest
//! goes round in circles.
//!
//! Objective: with the inner product Σ w a b over votes, split y into four orthogonal parts.
//!
//! | part | what | how |
//! |---|---|---|
//! | bi-cycles | disagreement inside a pair | y − ȳ, ȳ the mean of the pair |
//! | gradient | one ranking of all items | Xθ with Lθ = XᵀWy ([`crate::solve::l2`]) |
//! | curl | circles of three items | projection of R = ȳ − Xθ on the flows W⁻¹Cᵀφ of triangles |
//! | harmonic | circles around holes | what remains: no divergence, no curl |
//!
//! Energies Σ w (part)² add up to Σ w y². Optimality: XᵀW(ȳ − Xθ) = 0 and C(R − curl) = 0, both
//! reported in [`DecomposeInfo`].
//!
//! The curl part by the first that applies: no triangle, no curl; a component without holes
//! ([`BettiNumber`] 0: complete graphs, dense graphs, filled meshes) has no harmonic part, and the
//! curl part is all of R; where holes are few, the harmonic part is found hole by hole; otherwise
//! conjugate gradients on pairs, see [`CurlMethod`].
//!
//! Cost: one Laplacian system; one look at each triangle, none stored (a thousand items all compared
//! have 166 million and take about a second); one Laplacian system a hole or the iteration, where
//! they are needed. Memory: about 200 bytes a pair; the iteration adds 40 bytes a triangle up to
//! 16 million of them, and none beyond.
//!
//! Failure modes: steps run out (status, with the best split so far, still orthogonal); too many
//! triangles for the budget (counts and listing come from a sample and say so; an error only if the
//! shares themselves would need all triangles); outcomes whose squares overflow (error).
//!
//! All-zero votes have no energy: all shares are then 0 and do not sum to 1.

mod adjacency;
mod around;
mod curl;
mod elimination;
mod flows;
mod holes;
mod local;
mod loops;
mod operator;
mod options;
mod triangles;

pub use flows::PairFlows;
pub use holes::BettiNumber;
pub use local::LocalInconsistency;
pub use loops::HarmonicLoop;
pub use options::DecomposeOptions;
pub use triangles::{Triangle, TriangleReport};

use std::time::{Duration, Instant};

use adjacency::Adjacency;
use holes::Holes;

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::StoppingRule;
use crate::solve::{Info, Status, l2};

/// A number for each of the four parts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    /// Disagreement inside pairs.
    pub bicycles: f64,
    /// One ranking of all items.
    pub gradient: f64,
    /// Circles of three items.
    pub curl: f64,
    /// Circles around holes.
    pub harmonic: f64,
}

impl Parts {
    /// All four together.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.bicycles + self.gradient + self.curl + self.harmonic
    }

    fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self {
            bicycles: f(self.bicycles),
            gradient: f(self.gradient),
            curl: f(self.curl),
            harmonic: f(self.harmonic),
        }
    }

    fn add(&mut self, other: Self) {
        self.bicycles += other.bicycles;
        self.gradient += other.gradient;
        self.curl += other.curl;
        self.harmonic += other.harmonic;
    }
}

/// What [`decompose`] returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposition {
    /// Σ w y² of all votes.
    pub energy: f64,
    /// The energy of each part; they sum to `energy`.
    pub energies: Parts,
    /// Each energy divided by the total; all 0 where the total is 0.
    pub shares: Parts,
    /// The scores of the gradient part: least squares, mean zero on each component.
    pub scores: Vec<f64>,
    /// The flow of each part on each pair.
    pub flows: PairFlows,
    /// Triangles: how many, how many cyclic, and the worst.
    pub triangles: TriangleReport,
    /// The strongest loops of the harmonic part.
    pub loops: Vec<HarmonicLoop>,
    /// How many independent holes the pair graph has.
    pub betti: BettiNumber,
    /// Whether the parts are as exact as asked for.
    pub status: Status,
    /// How they were found.
    pub info: DecomposeInfo,
}

/// How curl and harmonic part were told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CurlMethod {
    /// There is no triangle, so all of the remainder is harmonic.
    NoTriangles,
    /// There is no hole, so all of the remainder is curl.
    NoHoles,
    /// There are few holes, and the flows around them are known: one Laplacian system for each.
    FewHoles,
    /// Conjugate gradients on the pairs of components that may have holes.
    ConjugateGradient,
}

impl CurlMethod {
    /// Its name in outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoTriangles => "no-triangles",
            Self::NoHoles => "no-holes",
            Self::FewHoles => "few-holes",
            Self::ConjugateGradient => "cg",
        }
    }
}

/// Facts about a run, and how exact its answer is.
#[derive(Debug, Clone, PartialEq)]
pub struct DecomposeInfo {
    /// How the gradient part was found.
    pub gradient: Info,
    /// How curl and harmonic part were told apart.
    pub method: CurlMethod,
    /// Steps of whatever told curl and harmonic part apart; 0 where nothing had to be solved.
    pub iterations: usize,
    /// ‖C · harmonic‖ relative to ‖C · remainder‖: curl left in the harmonic part; 0 where it is no
    /// more than the rounding of the votes. None where
    /// measuring it would pass the budget of triangles.
    pub curl_residual: Option<f64>,
    /// ‖XᵀW · harmonic‖ relative to the votes of each item added up without signs.
    pub divergence_residual: f64,
    /// How far the four shares are from summing to 1.
    pub sum_error: f64,
    /// Time taken.
    pub time: Duration,
}

/// Splits the votes of a graph into bi-cycles, gradient, curl and harmonic part.
///
/// # Errors
/// If an option makes no sense, the outcomes are too large to be squared and added up, the backend
/// asked for cannot take the graph, or telling curl from harmonic needs more triangles than the
/// budget permits.
///
/// # Example
/// ```
/// use hodgerank::decompose::{DecomposeOptions, decompose};
/// use hodgerank::{Comparison, ComparisonGraph, Groups};
///
/// // Rock, paper, scissors: a circle of three, and nothing else.
/// let votes = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| Comparison::new(i, j, 1.0));
/// let graph = ComparisonGraph::new(3, Groups::merge(3, &votes)?.groups)?;
/// let split = decompose(&graph, &DecomposeOptions::default())?;
/// assert!((split.shares.curl - 1.0).abs() < 1e-12);
/// assert_eq!(split.triangles.worst[0].curl, 3.0);
/// assert_eq!(split.triangles.transitivity(), Some(0.0));
/// # Ok::<(), hodgerank::Error>(())
/// ```
pub fn decompose(graph: &ComparisonGraph, options: &DecomposeOptions) -> Result<Decomposition> {
    let started = Instant::now();
    let rule = options.stopping_rule()?;
    let unit = flows::unit(graph)?;
    let (items, pairs) = (graph.items(), graph.pairs());

    // bi-cycles: y = ȳ + (y − ȳ)
    let mut flows = PairFlows::of_votes(graph, unit);
    // gradient: ȳ = Xθ + R
    let ranked = l2::solve(graph, &options.l2())?;
    let difference =
        |(&i, &j): (&u32, &u32)| (ranked.scores[i as usize] - ranked.scores[j as usize]) / unit;
    flows.gradient = pairs.left.iter().zip(&pairs.right).map(difference).collect();
    let remainder = flows.mean.iter().zip(&flows.gradient).map(|(mean, g)| mean - g).collect();
    // curl and harmonic: R = W⁻¹Cᵀφ + h
    let adjacency = Adjacency::new(items, pairs, |_| true);
    let mut triangles = triangles::list(
        &adjacency,
        pairs,
        &flows.mean,
        options.top_triangles,
        options.max_triangles,
        options.seed,
    );
    let split = split(graph, &adjacency, &triangles, &flows, remainder, options, &rule)?;
    (flows.curl, flows.harmonic) = (split.curl, split.harmonic);

    let energy: f64 = flows.energy.iter().sum();
    let energies = flows.parts(pairs);
    let shares = energies.map(|part| if energy > 0.0 { part / energy } else { 0.0 });
    let sum_error = if energy > 0.0 { (shares.sum() - 1.0).abs() } else { 0.0 };
    let divergence_residual = flows::imbalance(items, pairs, &flows.harmonic, &flows.mean);
    flows.scale(unit);
    for triangle in &mut triangles.worst {
        triangle.flows.iter_mut().for_each(|f| *f *= unit);
        triangle.curl *= unit;
    }
    let votes = pairs.weight.iter().zip(&flows.mean);
    let scale = votes.map(|(w, mean)| w * mean.abs()).fold(0.0, f64::max);
    let loops = loops::strongest(items, pairs, &flows.harmonic, scale, options.top_loops);
    let exact = split.outcome.converged && ranked.status == Status::Solved;
    Ok(Decomposition {
        energy: energy * unit * unit,
        energies: energies.map(|part| part * unit * unit),
        shares,
        scores: ranked.scores,
        flows,
        triangles,
        loops,
        betti: split.betti,
        status: if exact { Status::Solved } else { Status::IterationLimit },
        info: DecomposeInfo {
            gradient: ranked.info,
            method: split.method,
            iterations: split.outcome.iterations,
            curl_residual: split.outcome.residual,
            divergence_residual,
            sum_error,
            time: started.elapsed(),
        },
    })
}

/// The remainder told apart.
struct Split {
    curl: Vec<f64>,
    harmonic: Vec<f64>,
    betti: BettiNumber,
    method: CurlMethod,
    outcome: curl::Outcome,
}

fn split(
    graph: &ComparisonGraph,
    adjacency: &Adjacency,
    triangles: &TriangleReport,
    flows: &PairFlows,
    remainder: Vec<f64>,
    options: &DecomposeOptions,
    rule: &StoppingRule,
) -> Result<Split> {
    let (pairs, components) = (graph.pairs(), graph.components());
    let exact = curl::Outcome { iterations: 0, residual: Some(0.0), converged: true };
    let zeros = vec![0.0; pairs.len()];
    if triangles.seen == 0 && triangles.sampled.is_none() {
        let betti = holes::without_triangles(graph);
        let method = CurlMethod::NoTriangles;
        return Ok(Split { curl: zeros, harmonic: remainder, betti, method, outcome: exact });
    }
    let Holes { betti, possible, around } =
        Holes::find(adjacency, components, options.max_triangles);
    if !possible.contains(&true) {
        let method = CurlMethod::NoHoles;
        return Ok(Split { curl: remainder, harmonic: zeros, betti, method, outcome: exact });
    }
    let size = flows::energy(pairs, &flows.mean).sqrt();
    if let Some(around) = around {
        let measure = triangles.sampled.is_none().then_some(size);
        let found = around::project(graph, adjacency, &around, &remainder, options, measure)?;
        let around::Projection { harmonic, outcome } = found;
        let curl = remainder.iter().zip(&harmonic).map(|(all, h)| all - h).collect();
        return Ok(Split { curl, harmonic, betti, method: CurlMethod::FewHoles, outcome });
    }
    if triangles.sampled.is_some() {
        let count = triangles::looks(adjacency);
        return Err(Error::TooManyTriangles { count, max: options.max_triangles });
    }
    // Only pairs that lie in a triangle of a component with holes need the iteration.
    let in_triangle = triangles::edges_in_triangles(adjacency);
    let mut harmonic = remainder.clone();
    let mut wanted = vec![false; pairs.len()];
    for (&p, in_triangle) in adjacency.pair.iter().zip(in_triangle) {
        let p = p as usize;
        let holes = possible[components.of[pairs.left[p] as usize] as usize];
        wanted[p] = holes && in_triangle;
        if !holes {
            harmonic[p] = 0.0;
        }
    }
    let part = Adjacency::new(graph.items(), pairs, |p| wanted[p]);
    let weight: Vec<f64> = part.pair.iter().map(|&p| pairs.weight[p as usize]).collect();
    let mut flow = part.on_edges(pairs, &remainder);
    let outcome = curl::take_out(&part, &weight, &mut flow, size, rule);
    part.to_pairs(pairs, &flow, &mut harmonic);
    let curl = remainder.iter().zip(&harmonic).map(|(all, h)| all - h).collect();
    Ok(Split { curl, harmonic, betti, method: CurlMethod::ConjugateGradient, outcome })
}
