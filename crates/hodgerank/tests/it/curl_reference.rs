//! Reference implementation of the decomposition: dense vectors, Gram–Schmidt, all triples.

use hodgerank::ComparisonGraph;
use std::collections::HashMap;

/// Items a < b < c and the pairs ab, bc, ac of every triangle.
pub(crate) fn triangles(graph: &ComparisonGraph) -> Vec<([u32; 3], [usize; 3])> {
    let pairs = graph.pairs();
    let index: HashMap<(u32, u32), usize> =
        (0..pairs.len()).map(|p| ((pairs.left[p], pairs.right[p]), p)).collect();
    let mut found = Vec::new();
    for (&(a, b), &ab) in &index {
        for c in b + 1..graph.items() as u32 {
            if let (Some(&bc), Some(&ac)) = (index.get(&(b, c)), index.get(&(a, c))) {
                found.push(([a, b, c], [ab, bc, ac]));
            }
        }
    }
    found.sort_unstable();
    found
}

pub(crate) fn product(graph: &ComparisonGraph, a: &[f64], b: &[f64]) -> f64 {
    graph.pairs().weight.iter().zip(a.iter().zip(b)).map(|(w, (a, b))| w * a * b).sum()
}

/// Mean, gradient, curl and harmonic flow of each pair, and the rank of the curl matrix.
pub(crate) struct ReferenceDecomposition {
    pub(crate) mean: Vec<f64>,
    pub(crate) gradient: Vec<f64>,
    pub(crate) curl: Vec<f64>,
    pub(crate) harmonic: Vec<f64>,
    pub(crate) curl_rank: usize,
}

pub(crate) fn reference_decomposition(graph: &ComparisonGraph) -> ReferenceDecomposition {
    let (pairs, groups) = (graph.pairs(), graph.groups());
    let count = pairs.len();
    let mut mean = vec![0.0; count];
    for (p, mean) in mean.iter_mut().enumerate() {
        for g in pairs.first_group[p] as usize..pairs.first_group[p + 1] as usize {
            *mean += groups.weight[g] * groups.y[g] / pairs.weight[p];
        }
    }
    let stars = (0..graph.items() as u32).map(|i| {
        let at = |p: usize| f64::from(pairs.left[p] == i) - f64::from(pairs.right[p] == i);
        (0..count).map(at).collect::<Vec<f64>>()
    });
    let (gradient, _) = projection(graph, stars.collect(), &mean, count);
    let remainder = less(&mean, &gradient);
    let circles = triangles(graph).into_iter().map(|(_, [ab, bc, ac])| {
        let mut flow = vec![0.0; count];
        for (p, sign) in [(ab, 1.0), (bc, 1.0), (ac, -1.0)] {
            flow[p] = sign / pairs.weight[p];
        }
        flow
    });
    let max_rank = count + graph.components().len() - graph.items();
    let (curl, curl_rank) = projection(graph, circles.collect(), &remainder, max_rank);
    let harmonic = less(&remainder, &curl);
    ReferenceDecomposition { mean, gradient, curl, harmonic, curl_rank }
}

fn less(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Projects `flow` on the span of `vectors`, which has dimension `max_rank` or less.
fn projection(
    graph: &ComparisonGraph,
    vectors: Vec<Vec<f64>>,
    flow: &[f64],
    max_rank: usize,
) -> (Vec<f64>, usize) {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut v in vectors {
        if basis.len() == max_rank {
            break;
        }
        let size = product(graph, &v, &v).sqrt();
        for _ in 0..2 {
            for b in &basis {
                let along = product(graph, &v, b);
                v.iter_mut().zip(b).for_each(|(v, b)| *v -= along * b);
            }
        }
        let left = product(graph, &v, &v).sqrt();
        if left > 1e-9 * size {
            basis.push(v.iter().map(|v| v / left).collect());
        }
    }
    let mut projected = vec![0.0; flow.len()];
    for b in &basis {
        let along = product(graph, flow, b);
        projected.iter_mut().zip(b).for_each(|(o, b)| *o += along * b);
    }
    (projected, basis.len())
}
