//! An upper bound of λ_max(L), which limits the step size of Algorithm 2.
//!
//! Power iteration from a random start gives a Rayleigh quotient ρ ≤ λ_max and a residual
//! ‖Lx − ρx‖. Some eigenvalue is within the residual of ρ; it is the largest one unless the start is
//! almost orthogonal to its eigenvector. The result is ρ + residual, or the Anderson–Morley bound
//! max (d_i + d_j) over compared pairs if that is smaller. The latter always holds but can be twice
//! too large.
//!
//! Cost: at most a hundred products with L.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::graph::ComparisonGraph;
use crate::laplacian::LaplacianMatrix;
use crate::numeric::dot;

/// Maximum number of products with L.
const MAX_PRODUCTS: usize = 100;
/// Relative excess of the bound at which the iteration stops. An excess of 1% costs 1% more steps of
/// Algorithm 2, which is cheaper than more products.
const BOUND_TOLERANCE: f64 = 0.01;

/// Returns an upper bound of λ_max(L) that is about 1% too large.
pub(super) fn bound(graph: &ComparisonGraph, matrix: &LaplacianMatrix) -> f64 {
    let degree_bound = anderson_morley(graph);
    let rows = matrix.items().len();
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut x: Vec<f64> = (0..rows).map(|_| f64::from(rng.next_u32()) - 2f64.powi(31)).collect();
    let mut lx = vec![0.0; rows];
    let mut best = degree_bound;
    for _ in 0..MAX_PRODUCTS {
        let size = dot(&x, &x).sqrt();
        if size == 0.0 {
            break;
        }
        x.iter_mut().for_each(|x| *x /= size);
        matrix.multiply(&x, &mut lx);
        let rho = dot(&x, &lx);
        let residual = (dot(&lx, &lx) - rho * rho).max(0.0).sqrt();
        best = (rho + residual).min(degree_bound);
        if residual <= BOUND_TOLERANCE * rho {
            break;
        }
        std::mem::swap(&mut x, &mut lx);
    }
    best
}

/// max (d_i + d_j) over compared pairs.
fn anderson_morley(graph: &ComparisonGraph) -> f64 {
    let pairs = graph.pairs();
    let mut degrees = vec![0.0; graph.items()];
    let ends = || pairs.left.iter().zip(&pairs.right).map(|(&i, &j)| (i as usize, j as usize));
    for ((i, j), w) in ends().zip(&pairs.weight) {
        degrees[i] += w;
        degrees[j] += w;
    }
    graph.communicator().sum(&mut degrees);
    graph
        .communicator()
        .max_scalar(ends().map(|(i, j)| degrees[i] + degrees[j]).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, Groups};

    fn bound_of(items: u32, edges: &[(u32, u32)]) -> f64 {
        let votes: Vec<_> = edges.iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect();
        let groups = Groups::merge(items as usize, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items as usize, groups).unwrap();
        bound(&graph, &LaplacianMatrix::new(&graph, 0.0))
    }

    #[test]
    fn known_spectra_are_bounded_closely() {
        let complete: Vec<_> = (0..30).flat_map(|i| (i + 1..30).map(move |j| (i, j))).collect();
        let star: Vec<_> = (1..20).map(|i| (0, i)).collect();
        let path: Vec<_> = (1..50).map(|i| (i - 1, i)).collect();
        let path_largest = 2.0 + 2.0 * (std::f64::consts::PI / 50.0).cos();
        let two_parts: Vec<_> = complete.iter().copied().chain([(30, 31)]).collect();
        let cases = [
            (bound_of(30, &complete), 30.0),
            (bound_of(20, &star), 20.0),
            (bound_of(50, &path), path_largest),
            (bound_of(33, &two_parts), 30.0),
        ];
        for (found, exact) in cases {
            assert!(found >= exact * (1.0 - 1e-12) && found <= 1.1 * exact, "{found} {exact}");
        }
    }
}
