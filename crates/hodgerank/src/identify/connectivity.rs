//! How well the votes connect the items.

use super::eigenvalue::smallest_ratio;
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::laplacian::{BackendChoice, Eigenvalue, LaplacianSystem};

/// Returns l = m − n + components: the number of independent cycles of votes, each vote counted by
/// itself.
#[must_use]
pub fn cycle_dimension(graph: &ComparisonGraph) -> f64 {
    graph.groups().votes() - graph.items() as f64 + graph.components().len() as f64
}

/// Returns the algebraic connectivity λ₂ of the largest component. None if no pair was compared.
///
/// # Errors
/// If a linear system cannot be solved.
pub fn algebraic_connectivity(graph: &ComparisonGraph) -> Result<Option<Eigenvalue>> {
    if graph.pairs().is_empty() {
        return Ok(None);
    }
    let largest = largest_component(graph)?;
    let system = LaplacianSystem::new(&largest, 0.0, BackendChoice::Auto)?;
    smallest_ratio(largest.items(), &system, &|x, out| out.copy_from_slice(x)).map(Some)
}

/// Returns the graph of the items of the first component alone.
fn largest_component(graph: &ComparisonGraph) -> Result<ComparisonGraph> {
    let (components, pairs) = (graph.components(), graph.pairs());
    let members = components.members(0);
    let mut new_of = vec![u32::MAX; graph.items()];
    members.iter().enumerate().for_each(|(new, &item)| new_of[item as usize] = new as u32);
    let inside = |&p: &usize| new_of[pairs.left[p] as usize] != u32::MAX;
    let kept: Vec<usize> = (0..pairs.len()).filter(inside).collect();
    let end = |end: &[u32]| kept.iter().map(|&p| new_of[end[p] as usize]).collect();
    let groups = Groups {
        left: end(&pairs.left),
        right: end(&pairs.right),
        y: vec![0.0; kept.len()],
        weight: kept.iter().map(|&p| pairs.weight[p]).collect(),
    };
    ComparisonGraph::new(members.len(), groups)
}
