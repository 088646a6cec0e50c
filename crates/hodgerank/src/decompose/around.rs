//! The harmonic part where holes are few: hole by hole, by one Laplacian system each.
//!
//! Flows without curl are gradients and the flows z_k around holes that [`super::holes`] finds. Take
//! its gradient part out of each z_k: what is left is harmonic, and the harmonic part of the
//! remainder R is its projection on these few flows. Triangles are visited only to measure how well
//! that went.
//!
//! Cost: β₁ Laplacian solves and β₁² passes over the pairs. Memory: 8 bytes a hole and pair.
//!
//! Failure modes: those of the Laplacian system, told by `converged`.

use super::DecomposeOptions;
use super::adjacency::Adjacency;
use super::curl::{self, Outcome};
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::LaplacianSystem;

/// What the projection found.
pub(super) struct Projection {
    /// The harmonic part on pairs.
    pub(super) harmonic: Vec<f64>,
    pub(super) outcome: Outcome,
}

/// The harmonic part of `flow` (on pairs), given a flow around each hole (on edges). With `measure`,
/// ‖·‖_W of the votes, all triangles are visited to see how much curl is left in it.
pub(super) fn project(
    graph: &ComparisonGraph,
    adjacency: &Adjacency,
    around: &[Vec<(u32, f64)>],
    flow: &[f64],
    options: &DecomposeOptions,
    measure: Option<f64>,
) -> Result<Projection> {
    let rule = options.stopping_rule()?;
    let system = LaplacianSystem::new(graph, 0.0, options.backend)?;
    let pairs = graph.pairs();
    let weight = &pairs.weight;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        weight.iter().zip(a.iter().zip(b)).map(|(w, (a, b))| w * a * b).sum()
    };
    let ends = || pairs.left.iter().zip(&pairs.right);
    let (mut iterations, mut converged) = (0, true);
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(around.len());
    for edges in around {
        let mut on_edges = vec![0.0; flow.len()];
        edges.iter().for_each(|&(edge, sign)| on_edges[edge as usize] = sign);
        let mut z = vec![0.0; flow.len()];
        adjacency.to_pairs(pairs, &on_edges, &mut z);
        let mut divergence = vec![0.0; graph.items()];
        for ((&i, &j), (w, z)) in ends().zip(weight.iter().zip(&z)) {
            divergence[i as usize] += w * z;
            divergence[j as usize] -= w * z;
        }
        let (theta, info) = system.solve(&divergence, &rule)?;
        iterations = iterations.max(info.iterations);
        converged &= info.converged;
        for ((&i, &j), z) in ends().zip(&mut z) {
            *z -= theta[i as usize] - theta[j as usize];
        }
        // Twice: once loses digits where holes are close to each other.
        for _ in 0..2 {
            for b in &basis {
                let along = product(&z, b);
                z.iter_mut().zip(b).for_each(|(z, b)| *z -= along * b);
            }
        }
        let size = product(&z, &z).sqrt();
        z.iter_mut().for_each(|z| *z /= size);
        basis.push(z);
    }
    let mut harmonic = vec![0.0; flow.len()];
    for b in &basis {
        let along = product(flow, b);
        harmonic.iter_mut().zip(b).for_each(|(h, b)| *h += along * b);
    }
    let on_edges = |flow: &[f64]| adjacency.on_edges(pairs, flow);
    let weight: Vec<f64> = adjacency.pair.iter().map(|&p| weight[p as usize]).collect();
    let residual = measure
        .map(|size| curl::ratio(adjacency, &weight, &on_edges(&harmonic), &on_edges(flow), size));
    Ok(Projection { harmonic, outcome: Outcome { iterations, residual, converged } })
}
