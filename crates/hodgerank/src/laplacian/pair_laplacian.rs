//! The Laplacian of weights that change from step to step, for methods that take Newton steps.
//!
//! A step needs a few digits of one solution with each weight. On a well-connected graph conjugate
//! gradients with the diagonal as preconditioner find them in a handful of products, less time than
//! setting up any matrix takes. So products are computed from the list of pairs as it is.
//!
//! Pairs are split into chunks whose sums are added in order, so that the bits do not depend on the
//! number of threads. Sums of several processes are added up after that.

use rayon::prelude::*;

use super::{Backend, BackendChoice, LaplacianSystem, StoppingRule};
use crate::error::Result;
use crate::graph::{ComparisonGraph, Pairs};
use crate::numeric::{
    ConjugateGradientSystem, ConjugateGradientVectors, add_parts, conjugate_gradients, dot,
};

/// Pairs per item from which a graph is well connected.
const WELL_CONNECTED: usize = 8;
/// Iterations after which conjugate gradients give up: the graph is not well connected after all.
const MAX_ITERATIONS: usize = 200;
/// Minimum number of pairs per chunk, and maximum number of chunks.
const MIN_PAIRS_PER_CHUNK: usize = 1 << 14;
const MAX_CHUNKS: usize = 64;

/// Consecutive pairs with weights, and their part of a product.
#[derive(Debug)]
pub(crate) struct LaplacianChunk {
    first: usize,
    /// Left items, and the end of the pairs of each, relative to `first`.
    runs: Vec<(u32, u32)>,
    /// Seven digits suffice for a direction.
    pub(crate) weights: Vec<f32>,
    pub(crate) product: Vec<f64>,
}

impl LaplacianChunk {
    /// Splits the pairs of a graph into chunks.
    pub(crate) fn split(graph: &ComparisonGraph) -> Vec<Self> {
        let (items, pairs) = (graph.items(), graph.pairs());
        let m = pairs.len();
        // Sums over items take at most as much memory as pairs.
        let chunks = (m / MIN_PAIRS_PER_CHUNK).min(m / items.max(1)).clamp(1, MAX_CHUNKS);
        let chunk = |c: usize| {
            let (first, end) = (m * c / chunks, m * (c + 1) / chunks);
            let ends = pairs.left[first..end].chunk_by(|a, b| a == b).scan(0, |end, run| {
                *end += run.len() as u32;
                Some((run[0], *end))
            });
            let (weights, product) = (vec![0.0; end - first], vec![0.0; items]);
            Self { first, runs: ends.collect(), weights, product }
        };
        (0..chunks).into_par_iter().map(chunk).collect()
    }

    /// The pairs of the chunk.
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.weights.len()
    }

    /// Computes the part of the product with `x`.
    pub(crate) fn multiply(&mut self, pairs: &Pairs, x: &[f64]) {
        let right = &pairs.right[self.range()];
        let Self { runs, weights, product, .. } = self;
        product.fill(0.0);
        let mut start = 0;
        for &(left, end) in &*runs {
            let (left, end) = (left as usize, end as usize);
            let (x_left, mut sum) = (x[left], 0.0);
            for (&j, &weight) in right[start..end].iter().zip(&weights[start..end]) {
                let flow = f64::from(weight) * (x_left - x[j as usize]);
                sum += flow;
                product[j as usize] -= flow;
            }
            product[left] += sum;
            start = end;
        }
    }

    /// Sets the weights of the pairs; their sums at each item are the product.
    fn set_weights(&mut self, pairs: &Pairs, weight_of: impl Fn(usize) -> f64) {
        let range = self.range();
        let right = &pairs.right[range.clone()];
        let Self { runs, weights, product, .. } = self;
        product.fill(0.0);
        let mut start = 0;
        for &(left, end) in &*runs {
            let end = end as usize;
            let mut sum = 0.0;
            for (k, weight) in weights[start..end].iter_mut().enumerate() {
                *weight = weight_of(range.start + start + k) as f32;
                sum += f64::from(*weight);
                product[right[start + k] as usize] += f64::from(*weight);
            }
            product[left as usize] += sum;
            start = end;
        }
    }
}

/// Solves systems with the Laplacian of a graph, whose weights are others in every step.
#[derive(Debug)]
pub(crate) struct StepSystem<'a> {
    graph: &'a ComparisonGraph,
    choice: BackendChoice,
    /// For conjugate gradients without a matrix, while they converge.
    pairs: Option<Vec<LaplacianChunk>>,
    /// A backend that is set up for each weight, once it is needed.
    matrix: Option<LaplacianSystem>,
}

impl<'a> StepSystem<'a> {
    /// Chooses a solver. Collective.
    ///
    /// # Errors
    /// If a requested backend does not support the graph.
    pub(crate) fn new(graph: &'a ComparisonGraph, choice: BackendChoice) -> Result<Self> {
        let pairs = graph.communicator().sum_scalar(graph.pairs().len() as f64);
        let is_well_connected = pairs >= (WELL_CONNECTED * graph.items()) as f64;
        let (mut pairs, mut matrix) = (None, None);
        match choice {
            BackendChoice::Auto if is_well_connected => pairs = Some(LaplacianChunk::split(graph)),
            _ => matrix = Some(LaplacianSystem::new(graph, 0.0, choice)?),
        }
        Ok(Self { graph, choice, pairs, matrix })
    }

    /// The backends in use.
    pub(crate) fn backends(&self) -> Vec<Backend> {
        let Some(system) = &self.matrix else { return vec![Backend::ConjugateGradient] };
        let mut backends = Vec::new();
        for backend in system.backends() {
            if !backends.contains(&backend) {
                backends.push(backend);
            }
        }
        backends
    }

    /// Solves the system with this weight of each pair and `shift` added to the diagonal, up to a relative
    /// residual. If `is_same`, several processes get the solution of one up to rounding. The sum of `rhs` is
    /// zero on each component. Collective.
    ///
    /// # Errors
    /// If a factorisation breaks down, or `rhs` is not finite.
    pub(crate) fn solve(
        &mut self,
        weight_of: impl Fn(usize) -> f64 + Sync,
        shift: f64,
        rhs: &[f64],
        tolerance: f64,
        is_same: bool,
    ) -> Result<Vec<f64>> {
        let mut solutions = self.solve_all(weight_of, shift, &[rhs], tolerance, is_same)?;
        Ok(solutions.pop().unwrap_or_default())
    }

    /// The same for several right-hand sides.
    ///
    /// # Errors
    /// As [`Self::solve`].
    pub(crate) fn solve_all(
        &mut self,
        weight_of: impl Fn(usize) -> f64 + Sync,
        shift: f64,
        right_sides: &[&[f64]],
        tolerance: f64,
        is_same: bool,
    ) -> Result<Vec<Vec<f64>>> {
        if let Some(chunks) = &mut self.pairs {
            let mut system = PairSystem::new(self.graph, chunks, &weight_of, shift, tolerance);
            let solve = |rhs: &&[f64]| system.solve(rhs);
            if let Some(solutions) = right_sides.iter().map(solve).collect() {
                return Ok(solutions);
            }
            self.pairs = None;
        }
        let system = match &mut self.matrix {
            Some(system) => system,
            none => none.insert(LaplacianSystem::new(self.graph, 0.0, self.choice)?),
        };
        let pairs = 0..self.graph.pairs().len();
        let weights: Vec<f64> =
            pairs.into_par_iter().with_min_len(MIN_PAIRS_PER_CHUNK).map(&weight_of).collect();
        let system = system.reweighted_with_shift(self.graph, &weights, shift)?;
        let rule = match is_same {
            true => system.rule_for_steps(tolerance),
            false => StoppingRule::at(tolerance),
        };
        right_sides.iter().map(|rhs| Ok(system.solve(rhs, &rule)?.0)).collect()
    }
}

/// The system with the diagonal as preconditioner.
struct PairSystem<'a> {
    graph: &'a ComparisonGraph,
    chunks: &'a mut [LaplacianChunk],
    shift: f64,
    preconditioner: Vec<f64>,
    z: Vec<f64>,
    tolerance: f64,
    /// rᵀz at which the solution is good enough.
    target: f64,
}

impl<'a> PairSystem<'a> {
    fn new(
        graph: &'a ComparisonGraph,
        chunks: &'a mut [LaplacianChunk],
        weight_of: &(impl Fn(usize) -> f64 + Sync),
        shift: f64,
        tolerance: f64,
    ) -> Self {
        let n = graph.items();
        chunks.par_iter_mut().for_each(|chunk| chunk.set_weights(graph.pairs(), weight_of));
        let mut degrees = vec![0.0; n];
        add_parts(&mut degrees, || chunks.iter().map(|chunk| (0, &chunk.product[..])));
        graph.communicator().sum(&mut degrees);
        degrees.iter_mut().for_each(|degree| *degree += shift);
        let inverse = |degree: f64| if degree > 0.0 { 1.0 / degree } else { 0.0 };
        let preconditioner = degrees.into_iter().map(inverse).collect();
        let z = vec![0.0; n];
        Self { graph, chunks, shift, preconditioner, z, tolerance, target: 0.0 }
    }

    /// The solution by conjugate gradients; none if they do not converge.
    fn solve(&mut self, rhs: &[f64]) -> Option<Vec<f64>> {
        let n = rhs.len();
        let (mut x, mut r) = (vec![0.0; n], rhs.to_vec());
        let (mut p, mut q) = (vec![0.0; n], vec![0.0; n]);
        let vectors = ConjugateGradientVectors { x: &mut x, r: &mut r, p: &mut p, q: &mut q };
        let run = conjugate_gradients(self, vectors, MAX_ITERATIONS);
        self.graph.components().centre(&mut x);
        (run.is_finished && x.iter().all(|x| x.is_finite())).then_some(x)
    }

    /// z = M⁻¹r; returns rᵀz.
    fn precondition(&mut self, r: &[f64]) -> f64 {
        let parts = self.z.iter_mut().zip(self.preconditioner.iter().zip(r));
        parts.for_each(|(z, (m, r))| *z = m * r);
        dot(r, &self.z)
    }
}

impl ConjugateGradientSystem for PairSystem<'_> {
    fn start(&mut self, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        let rz = self.precondition(vectors.r);
        self.target = self.tolerance * self.tolerance * rz;
        (rz > self.target).then_some(rz)
    }

    fn multiply(&mut self, p: &[f64], q: &mut [f64]) -> f64 {
        let pairs = self.graph.pairs();
        self.chunks.par_iter_mut().for_each(|chunk| chunk.multiply(pairs, p));
        add_parts(q, || self.chunks.iter().map(|chunk| (0, &chunk.product[..])));
        self.graph.communicator().sum(q);
        if self.shift > 0.0 {
            q.iter_mut().zip(p).for_each(|(q, p)| *q += self.shift * p);
        }
        dot(p, q)
    }

    fn advance(&mut self, alpha: f64, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        vectors.step(alpha);
        let rz = self.precondition(vectors.r);
        (rz > self.target).then_some(rz)
    }

    fn turn(&mut self, beta: f64, vectors: &mut ConjugateGradientVectors<'_>) {
        vectors.p.iter_mut().zip(&self.z).for_each(|(p, z)| *p = z + beta * *p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, Groups};

    /// A graph of two components with several pairs per item, and a right-hand side in its range.
    fn study() -> (ComparisonGraph, Vec<f64>, Vec<f64>) {
        let items = 60_u32;
        let mut votes = Vec::new();
        for i in 0..items {
            for j in (i + 1..items).filter(|j| (i < 30) == (*j < 30) && (i * 7 + j) % 3 > 0) {
                votes.push(Comparison::new(i, j, 1.0).with_count(u64::from(1 + (i + j) % 5)));
            }
        }
        let groups = Groups::merge(items as usize, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items as usize, groups).unwrap();
        let weights = (0..graph.pairs().len()).map(|p| 1.0 + (p % 7) as f64).collect();
        let mut rhs: Vec<f64> = (0..items).map(|i| f64::from(i * i % 17)).collect();
        graph.components().centre(&mut rhs);
        (graph, weights, rhs)
    }

    #[test]
    fn solutions_are_those_of_a_factorisation() {
        let (graph, weights, rhs) = study();
        let mut steps = StepSystem::new(&graph, BackendChoice::Auto).unwrap();
        assert!(steps.pairs.is_some());
        let found = steps.solve(|p| weights[p], 0.0, &rhs, 1e-9, false).unwrap();
        let dense =
            LaplacianSystem::new(&graph, 0.0, BackendChoice::Fixed(Backend::Dense)).unwrap();
        let dense = dense.reweighted(&graph, &weights).unwrap();
        let expected = dense.solve(&rhs, &StoppingRule::default()).unwrap().0;
        for (found, expected) in found.iter().zip(&expected) {
            // Weights have seven digits.
            assert!((found - expected).abs() < 1e-6 * expected.abs().max(0.1));
        }
    }

    #[test]
    fn a_chain_is_factored() {
        let votes: Vec<Comparison> = (0..2000).map(|i| Comparison::new(i, i + 1, 1.0)).collect();
        let graph =
            ComparisonGraph::new(2001, Groups::merge(2001, &votes).unwrap().groups).unwrap();
        let mut steps = StepSystem::new(&graph, BackendChoice::Auto).unwrap();
        assert!(steps.pairs.is_none() && steps.matrix.is_some());
        // Conjugate gradients would give up too.
        (steps.pairs, steps.matrix) = (Some(LaplacianChunk::split(&graph)), None);
        let mut rhs = vec![0.0; 2001];
        (rhs[0], rhs[2000]) = (1.0, -1.0);
        let found = steps.solve(|_| 1.0, 0.0, &rhs, 1e-9, false).unwrap();
        assert!(steps.pairs.is_none() && steps.matrix.is_some());
        assert!((found[0] - 1000.0).abs() < 1e-3 && (found[2000] + 1000.0).abs() < 1e-3);
    }
}
