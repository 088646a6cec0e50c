//! L† as a dense matrix, for small graphs.
//!
//! L + a Σ_c 1_c1_cᵀ/size over the components c is positive definite, and its inverse is
//! L† + (1/a) Σ_c 1_c1_cᵀ/size. With a the mean degree both parts have the same scale.
//!
//! Cost: n³ multiply-adds, 8n² bytes and twice that during the computation.

use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};

use super::Backend;
use crate::error::{Error, Result};
use crate::graph::{Components, Pairs};

/// L† for these weights on the pairs, row by row; symmetric.
///
/// Weights may be zero as long as the other pairs connect each component.
///
/// # Errors
/// If they do not, or rounding makes L indefinite.
pub fn pseudo_inverse(pairs: &Pairs, weights: &[f64], components: &Components) -> Result<Vec<f64>> {
    inverse_information(pairs, weights, 0.0, None, components)
}

/// (L + shift)† on vectors with mean zero on each component, after a symmetric matrix was subtracted that vanishes
/// where the Laplacian does.
///
/// # Errors
/// If what is left is not positive on every component.
pub fn inverse_information(
    pairs: &Pairs,
    weights: &[f64],
    shift: f64,
    less: Option<&Mat<f64>>,
    components: &Components,
) -> Result<Vec<f64>> {
    let n = components.of.len();
    let mut matrix = Mat::zeros(n, n);
    for ((&i, &j), &w) in pairs.left.iter().zip(&pairs.right).zip(weights) {
        let (i, j) = (i as usize, j as usize);
        matrix[(i, i)] += w;
        matrix[(j, j)] += w;
        matrix[(i, j)] -= w;
        matrix[(j, i)] -= w;
    }
    if let Some(less) = less {
        matrix -= less;
    }
    let trace: f64 = (0..n).map(|i| matrix[(i, i)]).sum();
    let a = (shift + trace / n as f64).max(f64::MIN_POSITIVE);
    for_each_pair_within(components, |i, j, size| matrix[(i, j)] += (a - shift) / size);
    (0..n).for_each(|i| matrix[(i, i)] += shift);
    let factor = matrix.llt(Side::Lower).map_err(|e| Error::Factorisation {
        backend: Backend::Dense.as_str(),
        items: n,
        reason: e.to_string(),
    })?;
    let inverse = factor.inverse();
    let mut rows = Vec::with_capacity(n * n);
    (0..n).for_each(|j| rows.extend(inverse.col(j).iter()));
    for_each_pair_within(components, |i, j, size| rows[i * n + j] -= 1.0 / (a * size));
    Ok(rows)
}

/// Calls `visit` with each ordered pair of items of a component and the size of the component.
fn for_each_pair_within(components: &Components, mut visit: impl FnMut(usize, usize, f64)) {
    for members in components.iter() {
        for &i in members {
            for &j in members {
                visit(i as usize, j as usize, members.len() as f64);
            }
        }
    }
}
