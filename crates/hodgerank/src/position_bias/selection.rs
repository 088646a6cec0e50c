//! Selection with a bound on the false discovery rate.
//!
//! One draw of knockoffs gives each annotator a statistic W: the importance of the annotator's column or of
//! its copy, whichever entered the path first, with a minus if it was the copy. For annotators without
//! bias the sign of W is a fair coin, independent of all other signs (Barber and Candès 2015). The
//! threshold of the draw is
//!
//! T = min{t > 0 : (1 + #{W ≤ −t}) / #{W ≥ t} ≤ α},
//!
//! and e_a = p·1{W_a ≥ T} / (1 + #{W ≤ −T}) are e-values: over annotators without bias, their expectations sum to at
//! most p (Ren and Barber 2024). So do those of their means over any number of draws, and the
//! e-BH procedure (Wang and Ramdas 2022) on these means has a false discovery rate of at most q: it selects
//! the k annotators with the largest e-values, k the largest number whose smallest e-value is at least
//! p/(qk). This holds for every α; [`LEVEL_SHARE`]·q is used.
//!
//! No set of fewer than 1/α annotators has a threshold: with q = 10%, nobody is selected where fewer than
//! 15 stand out. A larger α needs fewer, but loses everybody where some draws differ. On Human Age and
//! simulations with 10 to 50 biased annotators (seeds 11 to 13 and 100 to 105), α = 0.5q found nobody of
//! 15, 0.6q to 0.8q found 20 to 24 on Human Age, and q found nobody there.

/// α relative to q.
pub(super) const LEVEL_SHARE: f64 = 0.7;

/// Counts signs while a path is computed, to end it once its threshold is known.
#[derive(Debug)]
pub(super) struct SignCounter {
    level: f64,
    annotators: usize,
    copies_first: usize,
    has_entered: Vec<bool>,
}

impl SignCounter {
    pub(super) fn new(annotators: usize, level: f64) -> Self {
        Self { level, annotators, copies_first: 0, has_entered: vec![false; annotators] }
    }

    /// Counts an entry. Returns whether no later threshold can hold, even if all other annotators were
    /// to enter before their copies.
    pub(super) fn is_done(&mut self, annotator: usize, copy: usize) -> bool {
        if !std::mem::replace(&mut self.has_entered[annotator], true) && copy == 1 {
            self.copies_first += 1;
        }
        let best = (self.annotators - self.copies_first) as f64;
        (1 + self.copies_first) as f64 > self.level * best
    }
}

/// W from the importance of each column and of its copy.
pub(super) fn statistics(importance: &[[f64; 2]]) -> Vec<f64> {
    let signed = |&[own, copy]: &[f64; 2]| match own.total_cmp(&copy) {
        std::cmp::Ordering::Greater => own,
        std::cmp::Ordering::Less => -copy,
        std::cmp::Ordering::Equal => 0.0,
    };
    importance.iter().map(signed).collect()
}

/// The threshold with `offset` 1 (knockoff+) or 0; none if no threshold holds.
pub(super) fn threshold(statistics: &[f64], level: f64, offset: usize) -> Option<f64> {
    let mut by_size: Vec<f64> = statistics.iter().copied().filter(|w| *w != 0.0).collect();
    by_size.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
    let (mut above, mut below, mut found) = (0_usize, 0_usize, None);
    for (k, w) in by_size.iter().enumerate() {
        if *w > 0.0 {
            above += 1;
        } else {
            below += 1;
        }
        let is_last = by_size.get(k + 1).is_none_or(|next| next.abs() < w.abs());
        if is_last && above > 0 && (offset + below) as f64 <= level * above as f64 {
            found = Some(w.abs());
        }
    }
    found
}

/// The e-values of one draw.
pub(super) fn e_values(statistics: &[f64], level: f64) -> Vec<f64> {
    let Some(threshold) = threshold(statistics, level, 1) else {
        return vec![0.0; statistics.len()];
    };
    let below = statistics.iter().filter(|w| **w <= -threshold).count();
    let e = statistics.len() as f64 / (1 + below) as f64;
    statistics.iter().map(|w| if *w >= threshold { e } else { 0.0 }).collect()
}

/// Whether each annotator is selected by e-BH at the rate `q`.
pub(super) fn select(e_values: &[f64], q: f64) -> Vec<bool> {
    let mut sorted = e_values.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let needed = |k: usize| sorted.len() as f64 / (q * k as f64);
    let limit = (1..=sorted.len()).rev().map(|k| (sorted[k - 1], needed(k)));
    match limit.into_iter().find(|(smallest, needed)| smallest >= needed) {
        Some((_, needed)) => e_values.iter().map(|e| *e >= needed).collect(),
        None => vec![false; e_values.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_by_hand() {
        let w = [5.0, 4.0, 3.0, -2.0, 1.0, 0.0];
        assert_eq!(threshold(&w, 0.5, 1), Some(1.0), "2 of 4");
        assert_eq!(threshold(&w, 0.4, 1), Some(3.0), "1 of 3");
        assert_eq!(threshold(&w, 0.3, 1), None);
        assert_eq!(threshold(&w, 0.1, 0), Some(3.0), "0 of 3");
        assert_eq!(e_values(&w, 0.4), [6.0, 6.0, 6.0, 0.0, 0.0, 0.0]);
        assert_eq!(e_values(&w, 0.5), [3.0, 3.0, 3.0, 0.0, 3.0, 0.0]);
    }

    #[test]
    fn e_bh_by_hand() {
        // p/(qk) = 40, 20, 13.3, 10 for q = 0.1.
        assert_eq!(select(&[20.0, 25.0, 12.0, 0.0], 0.1), [true, true, false, false]);
        assert_eq!(select(&[39.0, 0.0, 0.0, 0.0], 0.1), [false; 4]);
        assert_eq!(select(&[40.0, 0.0, 0.0, 0.0], 0.1), [true, false, false, false]);
        assert_eq!(select(&[], 0.1), [false; 0]);
    }

    #[test]
    fn counting_ends_a_path_where_its_threshold_cannot_change() {
        let mut counter = SignCounter::new(40, 0.05);
        assert!(!counter.is_done(0, 0) && !counter.is_done(0, 1) && !counter.is_done(1, 0));
        assert!(counter.is_done(2, 1), "2 of at most 39");
    }
}
