//! The harmonic part by projection on a basis of the harmonic flows, if the Betti number is small.
//!
//! Flows without curl are the gradients and the cocycles z_k that [`super::homology`] finds.
//! Subtracting its gradient part from each z_k leaves a basis of the harmonic flows, and the harmonic
//! part of the remainder R is its projection on that basis. Triangles are visited only to measure the
//! residual.
//!
//! Cost: β₁ Laplacian solves and β₁² passes over the pairs. Memory: 8β₁ bytes per pair.
//!
//! Failure modes: those of the Laplacian system, reported as `converged`.

use super::adjacency::Adjacency;
use super::curl::{self, CurlOutcome};
use super::homology::Cocycle;
use super::options::DecomposeOptions;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::LaplacianSystem;

/// Returns the harmonic part of `flow` (on pairs), given a basis of the cocycles modulo gradients.
///
/// With `measure`, ‖·‖_W of the votes, all triangles are visited to measure the curl left in it.
pub(super) fn project(
    graph: &ComparisonGraph,
    adjacency: &Adjacency,
    cocycles: &[Cocycle],
    flow: &[f64],
    options: &DecomposeOptions,
    measure: Option<f64>,
) -> Result<(Vec<f64>, CurlOutcome)> {
    let rule = options.stopping_rule()?;
    let system = LaplacianSystem::new(graph, 0.0, options.backend)?;
    let pairs = graph.pairs();
    let weight = &pairs.weight;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        weight.iter().zip(a.iter().zip(b)).map(|(w, (a, b))| w * a * b).sum()
    };
    let ends = || pairs.left.iter().zip(&pairs.right);
    let (mut iterations, mut converged) = (0, true);
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(cocycles.len());
    for cocycle in cocycles {
        let mut on_edges = vec![0.0; flow.len()];
        cocycle.iter().for_each(|&(edge, sign)| on_edges[edge as usize] = sign);
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
        // Gram–Schmidt twice: one pass loses digits if cocycles are nearly parallel.
        for _ in 0..2 {
            for b in &basis {
                let along = product(&z, b);
                z.iter_mut().zip(b).for_each(|(z, b)| *z -= along * b);
            }
        }
        let norm = product(&z, &z).sqrt();
        z.iter_mut().for_each(|z| *z /= norm);
        basis.push(z);
    }
    let mut harmonic = vec![0.0; flow.len()];
    for b in &basis {
        let along = product(flow, b);
        harmonic.iter_mut().zip(b).for_each(|(h, b)| *h += along * b);
    }
    let on_edges = |flow: &[f64]| adjacency.on_edges(pairs, flow);
    let weight: Vec<f64> = adjacency.pair.iter().map(|&p| weight[p as usize]).collect();
    let residual = measure.map(|votes_norm| {
        curl::curl_ratio(adjacency, &weight, &on_edges(&harmonic), &on_edges(flow), votes_norm)
    });
    Ok((harmonic, CurlOutcome { iterations, residual, converged }))
}
