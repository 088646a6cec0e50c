//! The projection P on a subspace of the cycles.
//!
//! P = M Mᵀ with the cycles as columns of M, or P = I − M Mᵀ with all other directions as columns,
//! whichever M is narrower.

use std::ops::Range;

use super::cycle_space::CycleSpace;
use crate::numeric::dot_in_lanes;

/// P, applied through products with M.
pub(super) struct CycleProjection {
    /// M, one row per group.
    rows: Vec<f64>,
    pub(super) width: usize,
    /// Whether P = I − M Mᵀ.
    is_complement: bool,
}

impl CycleProjection {
    /// The projection on all cycles but those of a fold.
    pub(super) fn on_all_but(space: &CycleSpace, fold: Range<usize>) -> Self {
        let kept = space.cycles() - fold.len();
        let is_complement = space.groups() - kept < kept;
        let width = if is_complement { space.groups() - kept } else { kept };
        let rows = if is_complement { space.scores_and(fold) } else { space.all_but(fold) };
        Self { rows, width, is_complement }
    }

    fn row(&self, g: usize) -> &[f64] {
        &self.rows[g * self.width..][..self.width]
    }

    /// P_gg.
    pub(super) fn diagonal(&self, g: usize) -> f64 {
        let own = dot_in_lanes(self.row(g), self.row(g));
        if self.is_complement { 1.0 - own } else { own }
    }

    /// (P v)_g from v_g and Mᵀv.
    pub(super) fn entry(&self, g: usize, own: f64, mt_v: &[f64]) -> f64 {
        let along = dot_in_lanes(self.row(g), mt_v);
        if self.is_complement { own - along } else { along }
    }

    /// Adds the contribution of v_g to Mᵀv.
    pub(super) fn add(&self, g: usize, own: f64, mt_v: &mut [f64]) {
        mt_v.iter_mut().zip(self.row(g)).for_each(|(sum, m)| *sum += own * m);
    }
}

#[cfg(test)]
mod tests {
    use super::super::cycle_space::tests::graph;
    use super::*;

    #[test]
    fn both_forms_of_the_projection_agree() {
        let space = CycleSpace::new(&graph(5), 1);
        let fold = space.fold(1, 4);
        let kept = space.cycles() - fold.len();
        let forms = [
            CycleProjection {
                rows: space.all_but(fold.clone()),
                width: kept,
                is_complement: false,
            },
            CycleProjection {
                rows: space.scores_and(fold),
                width: space.groups() - kept,
                is_complement: true,
            },
        ];
        let v: Vec<f64> = (0..space.groups()).map(|g| (g as f64).sin()).collect();
        let [a, b] = forms.map(|form| {
            let mut mt_v = vec![0.0; form.width];
            v.iter().enumerate().for_each(|(g, &v)| form.add(g, v, &mut mt_v));
            (0..v.len()).map(|g| form.entry(g, v[g], &mt_v)).collect::<Vec<f64>>()
        });
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
