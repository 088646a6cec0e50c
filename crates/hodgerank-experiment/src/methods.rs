//! Fits of all methods with the paper's settings.

use hodgerank::fit::{Fit, fit};
use hodgerank::select::OutlierRule;
use hodgerank::solve::lasso_l2::Protocol;
use hodgerank::{ComparisonGraph, FitOptions, Method, Ranking};

use crate::error::Result;

/// κ of LBI in all tables of the paper.
pub(crate) const KAPPA: f64 = 50.0;

/// Returns the paper's options of a method. Its `xgb_linear` is ridge with a = 1, the default.
pub(crate) fn options(method: Method, outliers: OutlierRule) -> FitOptions {
    FitOptions::new().method(method).outliers(outliers).protocol(Protocol::Paper).kappa(KAPPA)
}

/// Fits the methods of the paper, in the order of its tables.
pub(crate) fn fits(
    graph: &ComparisonGraph,
    options: impl Fn(Method) -> Result<FitOptions>,
) -> Result<Vec<Fit>> {
    Method::PAPER.iter().map(|&method| Ok(fit(graph, &options(method)?)?)).collect()
}

/// Returns the index of a method in the result of [`fits`].
pub(crate) fn index(method: Method) -> usize {
    Method::PAPER.iter().position(|&m| m == method).unwrap_or(0)
}

/// Returns the rank of each item, 1 for the best.
pub(crate) fn ranks(graph: &ComparisonGraph, scores: &[f64]) -> Vec<u32> {
    let mut ranks = vec![0; graph.items()];
    for row in Ranking::new(graph, scores).items {
        ranks[row.item as usize] = row.rank;
    }
    ranks
}
