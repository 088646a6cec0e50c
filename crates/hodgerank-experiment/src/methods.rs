//! The methods of the paper's tables, with its settings, and iss.

use hodgerank::fit::{Fit, fit};
use hodgerank::select::OutlierRule;
use hodgerank::solve::lasso_l2::Protocol;
use hodgerank::{ComparisonGraph, FitOptions, Method, Ranking};

use crate::error::Result;

/// All methods in the order of the paper's tables; `lasso-l2` leads, `iss` is ours.
pub(crate) const METHODS: [Method; 9] = [
    Method::LassoL2,
    Method::L2,
    Method::Ridge,
    Method::PcLasso,
    Method::Trimmed,
    Method::HardThreshold,
    Method::HuberLasso,
    Method::Bregman,
    Method::InverseScaleSpace,
];

/// κ of LBI in all tables of the paper.
pub(crate) const KAPPA: f64 = 50.0;

/// A method with the settings of the paper: `xgb_linear` is ridge with a = 1.
pub(crate) fn options(method: Method, outliers: OutlierRule) -> FitOptions {
    FitOptions::new().method(method).outliers(outliers).protocol(Protocol::Paper).kappa(KAPPA)
}

/// All of them.
pub(crate) fn fits(
    graph: &ComparisonGraph,
    options: impl Fn(Method) -> Result<FitOptions>,
) -> Result<Vec<Fit>> {
    METHODS.into_iter().map(|method| Ok(fit(graph, &options(method)?)?)).collect()
}

/// The rank of each item, 1 for the best.
pub(crate) fn ranks(graph: &ComparisonGraph, scores: &[f64]) -> Vec<u32> {
    let mut ranks = vec![0; graph.items()];
    for row in Ranking::new(graph, scores).items {
        ranks[row.item as usize] = row.rank;
    }
    ranks
}
