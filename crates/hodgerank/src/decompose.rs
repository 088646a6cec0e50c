//! The Hodge decomposition of the votes: how much of them one ranking explains, and where the rest
//! is inconsistent.
//!
//! Objective: with the inner product Σ w a b over votes, split y into four orthogonal parts.
//!
//! | part | meaning | definition |
//! |---|---|---|
//! | bi-cycles | disagreement within a pair | y − ȳ, ȳ the mean of the pair |
//! | gradient | one ranking of all items | Xθ with Lθ = XᵀWy ([`crate::solve::l2`]) |
//! | curl | cycles of three items | projection of R = ȳ − Xθ on the flows W⁻¹Cᵀφ of triangles |
//! | harmonic | longer cycles that triangles do not fill | the rest: no divergence, no curl |
//!
//! Energies Σ w (part)² add up to Σ w y². Optimality: XᵀW(ȳ − Xθ) = 0 and C(R − curl) = 0, both
//! reported in [`DecomposeInfo`].
//!
//! The curl part is computed by the first method that applies ([`CurlMethod`]): without triangles
//! there is no curl; a component whose Betti number is 0 (complete graphs, dense graphs,
//! triangulated meshes) has no harmonic part, so the curl part is all of R; if the Betti number is
//! small, R is projected on an explicit basis of the harmonic flows; otherwise conjugate gradients
//! on pairs.
//!
//! Cost: one Laplacian system; one visit of each triangle, none stored (1,000 items that are all
//! compared have 166 million triangles, about a second); one Laplacian system per harmonic basis
//! vector, or the iteration, where needed. Memory: about 200 bytes per pair; the iteration adds
//! 40 bytes per triangle up to 16 million triangles, and nothing beyond.
//!
//! Failure modes: the iteration limit is reached (status; the parts are still orthogonal); too many
//! triangles for the budget (counts and listing come from a sample, and the result says so; an error
//! only if the shares themselves need all triangles); outcomes whose squares overflow (error).
//!
//! Votes that are all zero have no energy: all shares are then 0 and do not sum to 1.

mod adjacency;
mod curl;
mod decomposition;
mod elimination;
mod flows;
mod harmonic_basis;
mod homology;
mod local;
mod loops;
mod operator;
mod options;
mod parts;
mod triangle;
mod triangles;

pub use decomposition::{CurlMethod, DecomposeInfo, Decomposition};
pub use flows::PairFlows;
pub use homology::{BettiLimit, BettiNumber};
pub use local::{ItemInconsistency, LocalInconsistency, PairInconsistency};
pub use loops::HarmonicLoop;
pub use options::DecomposeOptions;
pub use parts::HodgeParts;
pub use triangle::{Transitivity, Triangle};

use std::time::Instant;

use adjacency::Adjacency;
use curl::CurlOutcome;
use homology::Homology;
use triangles::TriangleScan;

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::StoppingRule;
use crate::solve::{Status, l2};

/// Splits the votes of a graph into bi-cycles, gradient, curl and harmonic part.
///
/// # Errors
/// If an option is out of range, the squares of the outcomes overflow, the requested backend cannot
/// solve the graph's system, or separating curl from harmonic part needs more triangles than
/// [`DecomposeOptions::max_triangles`] allows.
///
/// # Example
/// ```
/// use hodgerank::decompose::{DecomposeOptions, decompose};
/// use hodgerank::{Comparison, ComparisonGraph, Groups};
///
/// // Rock, paper, scissors: one cycle of three items.
/// let votes = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| Comparison::new(i, j, 1.0));
/// let graph = ComparisonGraph::new(3, Groups::merge(3, &votes)?.groups)?;
/// let split = decompose(&graph, &DecomposeOptions::default())?;
/// assert!((split.shares.curl - 1.0).abs() < 1e-12);
/// assert_eq!(split.triangles[0].curl, 3.0);
/// assert_eq!(split.transitivity.rate, Some(0.0));
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
    let TriangleScan { transitivity, mut worst } =
        triangles::scan(&adjacency, pairs, &flows.mean, options);
    let split = split(graph, &adjacency, &transitivity, &flows, remainder, options, &rule)?;
    (flows.curl, flows.harmonic) = (split.curl, split.harmonic);

    let energy: f64 = flows.energy.iter().sum();
    let energies = flows.energies(pairs);
    let shares = energies.map(|part| if energy > 0.0 { part / energy } else { 0.0 });
    let sum_error = if energy > 0.0 { (shares.sum() - 1.0).abs() } else { 0.0 };
    let divergence_residual =
        flows::relative_divergence(items, pairs, &flows.harmonic, &flows.mean);
    flows.scale(unit);
    for triangle in &mut worst {
        triangle.flows.iter_mut().for_each(|f| *f *= unit);
        triangle.curl *= unit;
        triangle.energy *= unit * unit;
    }
    let loops = loops::strongest(items, pairs, &flows, options.top_loops);
    let exact = split.outcome.converged && ranked.status == Status::Solved;
    Ok(Decomposition {
        energy: energy * unit * unit,
        energies: energies.map(|part| part * unit * unit),
        shares,
        scores: ranked.scores,
        flows,
        transitivity,
        triangles: worst,
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

/// The remainder R, split into curl and harmonic part.
struct RemainderSplit {
    curl: Vec<f64>,
    harmonic: Vec<f64>,
    betti: BettiNumber,
    method: CurlMethod,
    outcome: CurlOutcome,
}

fn split(
    graph: &ComparisonGraph,
    adjacency: &Adjacency,
    transitivity: &Transitivity,
    flows: &PairFlows,
    remainder: Vec<f64>,
    options: &DecomposeOptions,
    rule: &StoppingRule,
) -> Result<RemainderSplit> {
    let (pairs, components) = (graph.pairs(), graph.components());
    let sampled = transitivity.sampled.is_some();
    let exact = CurlOutcome { iterations: 0, residual: Some(0.0), converged: true };
    let zeros = vec![0.0; pairs.len()];
    if transitivity.triangles == 0 && !sampled {
        let betti = homology::without_triangles(graph);
        let method = CurlMethod::NoTriangles;
        return Ok(RemainderSplit {
            curl: zeros,
            harmonic: remainder,
            betti,
            method,
            outcome: exact,
        });
    }
    let Homology { betti, may_be_nonzero, cocycles } =
        Homology::compute(adjacency, components, options.max_triangles);
    if !may_be_nonzero.contains(&true) {
        let method = CurlMethod::NoHoles;
        return Ok(RemainderSplit {
            curl: remainder,
            harmonic: zeros,
            betti,
            method,
            outcome: exact,
        });
    }
    let votes_norm = flows::energy(pairs, &flows.mean).sqrt();
    if let Some(cocycles) = cocycles {
        let measure = (!sampled).then_some(votes_norm);
        let (harmonic, outcome) =
            harmonic_basis::project(graph, adjacency, &cocycles, &remainder, options, measure)?;
        let curl = remainder.iter().zip(&harmonic).map(|(all, h)| all - h).collect();
        return Ok(RemainderSplit { curl, harmonic, betti, method: CurlMethod::FewHoles, outcome });
    }
    if sampled {
        let count = triangles::candidates(adjacency);
        return Err(Error::TooManyTriangles { count, max: options.max_triangles });
    }
    // Only pairs in a triangle of a component with harmonic flows need the iteration.
    let in_triangle = triangles::edges_in_triangles(adjacency);
    let mut harmonic = remainder.clone();
    let mut iterated = vec![false; pairs.len()];
    for (&p, in_triangle) in adjacency.pair.iter().zip(in_triangle) {
        let p = p as usize;
        let may_be_nonzero = may_be_nonzero[components.of[pairs.left[p] as usize] as usize];
        iterated[p] = may_be_nonzero && in_triangle;
        if !may_be_nonzero {
            harmonic[p] = 0.0;
        }
    }
    let part = Adjacency::new(graph.items(), pairs, |p| iterated[p]);
    let weight: Vec<f64> = part.pair.iter().map(|&p| pairs.weight[p as usize]).collect();
    let mut flow = part.on_edges(pairs, &remainder);
    let outcome = curl::remove_curl(&part, &weight, &mut flow, votes_norm, rule);
    part.to_pairs(pairs, &flow, &mut harmonic);
    let curl = remainder.iter().zip(&harmonic).map(|(all, h)| all - h).collect();
    Ok(RemainderSplit { curl, harmonic, betti, method: CurlMethod::ConjugateGradient, outcome })
}
