use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::{Comparison, Groups};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// With this much noise.
    Careful(f64),
    Contrary,
    Left,
    Coin,
    /// Careful, but every fifth vote has the opposite sign.
    Flips,
}

struct TestCrowd {
    truth: Vec<f64>,
    rows: Vec<Comparison>,
    annotators: usize,
}

/// Graded votes of people of these kinds on random pairs; outcomes are multiples of `unit`.
fn crowd(items: usize, kinds: &[Kind], votes: usize, unit: f64, seed: u64) -> TestCrowd {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let truth: Vec<f64> = (0..items).map(|i| 4.0 * i as f64 / items as f64 - 2.0).collect();
    let mut rows = Vec::new();
    for (annotator, kind) in kinds.iter().enumerate() {
        for vote in 0..votes {
            let left = random.random_range(0..items as u32);
            let right = (left + 1 + random.random_range(0..items as u32 - 1)) % items as u32;
            let d = truth[left as usize] - truth[right as usize];
            // Three uniform numbers: nearly normal, with variance one quarter.
            let noise: f64 = (0..3).map(|_| random.random::<f64>() - 0.5).sum();
            let y = match *kind {
                Kind::Careful(scale) => d + 2.0 * scale * noise,
                Kind::Contrary => -d + noise,
                Kind::Left => 1.0 + noise.abs(),
                Kind::Coin => 4.0 * noise,
                Kind::Flips if vote % 5 == 0 => -d + noise,
                Kind::Flips => d + noise,
            };
            // Rounded to tenths, as people would.
            let y = unit * (10.0 * y).round() / 10.0;
            let vote = Comparison::new(left, right, y);
            rows.push(Comparison { annotator: Some(annotator as u32), ..vote });
        }
    }
    TestCrowd { truth, rows, annotators: kinds.len() }
}

impl TestCrowd {
    fn votes(&self) -> AnnotatorVotes {
        AnnotatorVotes::from_comparisons(self.annotators, &self.rows, true)
    }

    fn graph(&self) -> ComparisonGraph {
        let items = self.truth.len();
        ComparisonGraph::new(items, Groups::merge(items, &self.rows).unwrap().groups).unwrap()
    }

    fn solve(&self) -> Crowd {
        solve(&self.graph(), &self.votes(), &CrowdOptions::default()).unwrap()
    }
}

fn mixed() -> Vec<Kind> {
    let mut kinds = vec![Kind::Careful(0.5); 14];
    kinds.extend([Kind::Careful(1.5); 4]);
    kinds.extend([Kind::Contrary; 3]);
    kinds.extend([Kind::Left; 3]);
    kinds.extend([Kind::Coin; 3]);
    kinds
}

#[test]
fn bad_annotators_are_recognised_and_scores_have_the_unit_of_the_outcomes() {
    for unit in [1.0, 1000.0] {
        let kinds = mixed();
        let study = crowd(20, &kinds, 60, unit, 3);
        let found = study.solve();
        assert_eq!(found.solution.status, crate::status::Status::Solved);
        for (kind, estimate) in kinds.iter().zip(&found.annotators) {
            let expected: &[AnnotatorClass] = match kind {
                Kind::Contrary => &[AnnotatorClass::Contrary],
                Kind::Left => &[AnnotatorClass::Left],
                Kind::Coin => &[AnnotatorClass::Coin, AnnotatorClass::Careless],
                _ => &[AnnotatorClass::Careful],
            };
            assert!(expected.contains(&estimate.class), "{kind:?}: {estimate:?}");
        }
        // Noise is that of each annotator.
        let noise = |a: usize| found.annotators[a].noise.unwrap() / unit;
        assert!((0.35..0.65).contains(&noise(0)), "{}", noise(0));
        assert!((1.0..2.0).contains(&noise(14)), "{}", noise(14));
        let mean = study.truth.iter().sum::<f64>() / 20.0;
        for (score, truth) in found.solution.scores.iter().zip(&study.truth) {
            let error = score / unit - (truth - mean);
            assert!(error.abs() < 0.15, "{score} {truth}");
        }
        let plain = crate::solve::l2::solve(&study.graph(), &Default::default()).unwrap();
        let slope = plain.scores[19] / unit / (study.truth[19] - mean);
        assert!(slope < 0.8, "least squares is pulled to the middle: {slope}");
    }
}

#[test]
fn single_flips_of_careful_annotators_are_found() {
    let study = crowd(12, &[Kind::Flips; 12], 60, 1.0, 4);
    let found = study.solve();
    let (mut right, mut flagged, mut far) = (0, 0, 0);
    for (k, vote) in study.rows.iter().enumerate() {
        let position = vote.annotator.map(|a| a as usize);
        let is_flagged = found.bad_probability(position, (vote.left, vote.right), vote.y) > 0.5;
        let d = study.truth[vote.left as usize] - study.truth[vote.right as usize];
        let is_bad = k % 60 % 5 == 0;
        flagged += usize::from(is_flagged);
        right += usize::from(is_flagged && is_bad);
        far += usize::from(is_bad && d.abs() > 1.0);
    }
    assert!(flagged > 60 && 10 * right > 9 * flagged, "{right} of {flagged}");
    assert!(10 * right > 7 * far, "{right} of {far}");
}

#[test]
fn threads_rows_and_sides_change_nothing() {
    let mut study = crowd(15, &mixed(), 50, 1.0, 5);
    let before = study.solve();
    study.rows.reverse();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let again = pool.install(|| study.solve());
        assert_eq!(again.solution.scores, before.solution.scores, "{threads} threads");
    }
    for vote in &mut study.rows {
        (vote.left, vote.right, vote.y) = (vote.right, vote.left, -vote.y);
    }
    let after = study.solve();
    for (a, b) in before.solution.scores.iter().zip(&after.solution.scores) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}
