//! Against dense references and explicit matrices with one row per vote.

use faer::Mat;
use faer::linalg::solvers::{DenseSolveCore, Solve};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::active::Design;
use super::*;
use crate::comparison::Comparison;
use crate::graph::Groups;

/// Random votes; the first `biased` annotators choose the left side with probability `pull`.
fn crowd(items: u32, annotators: u32, votes: usize, biased: u32, seed: u64) -> Vec<Comparison> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut of = |annotator: u32| {
        let left = random.random_range(0..items);
        let right = (left + random.random_range(1..items)) % items;
        let honest = if (left < right) == random.random_bool(0.75) { 1.0 } else { -1.0 };
        let is_pulled = annotator < biased && random.random_bool(0.6);
        let y = if is_pulled { 1.0 } else { honest };
        Comparison { annotator: Some(annotator), ..Comparison::new(left, right, y) }
    };
    (0..annotators).flat_map(|a| (0..votes).map(|_| of(a)).collect::<Vec<_>>()).collect()
}

struct Small {
    graph: ComparisonGraph,
    votes: AnnotatorVotes,
    comparisons: Vec<Comparison>,
}

impl Small {
    fn new(items: usize, annotators: usize, comparisons: Vec<Comparison>) -> Self {
        let groups = Groups::merge(items, &comparisons).unwrap().groups;
        let graph = ComparisonGraph::new(items, groups).unwrap();
        let votes = AnnotatorVotes::from_comparisons(annotators, &comparisons, true);
        Self { graph, votes, comparisons }
    }

    fn random(items: u32, annotators: u32, votes: usize, biased: u32, seed: u64) -> Self {
        let comparisons = crowd(items, annotators, votes, biased, seed);
        Self::new(items as usize, annotators as usize, comparisons)
    }

    fn study(&self) -> BiasStudy {
        BiasStudy::new(&self.graph, &self.votes).unwrap()
    }

    /// (I − H)A and (I − H)y, with one row per vote.
    fn projected(&self) -> (Mat<f64>, Mat<f64>) {
        let (m, n, p) = (self.comparisons.len(), self.graph.items(), self.votes.annotators());
        let x = Mat::from_fn(m, n, |k, i| {
            let vote = &self.comparisons[k];
            f64::from(u8::from(vote.left as usize == i))
                - f64::from(u8::from(vote.right as usize == i))
        });
        let a = Mat::from_fn(m, p, |k, j| {
            f64::from(u8::from(self.comparisons[k].annotator == Some(j as u32)))
        });
        let y = Mat::from_fn(m, 1, |k, _| self.comparisons[k].y);
        let laplacian = x.transpose() * &x + Mat::<f64>::from_fn(n, n, |_, _| 1.0);
        let inverse = laplacian.full_piv_lu().inverse();
        let project = |b: &Mat<f64>| b - &x * (&inverse * (x.transpose() * b));
        (project(&a), project(&y))
    }
}

/// Σ from its parts.
fn dense(gram: &BiasGram) -> Mat<f64> {
    Mat::from_fn(gram.len(), gram.len(), |a, b| {
        let low_rank: f64 = gram.column(a).iter().zip(gram.column(b)).map(|(x, y)| x * y).sum();
        (if a == b { gram.diagonal[a] } else { 0.0 }) - low_rank
    })
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-9, "{what}: {found} and {expected}");
}

#[test]
fn sigma_is_that_of_explicit_matrices() {
    // More annotators than items, and fewer: the two ways to the factor.
    for (items, annotators) in [(5, 12), (9, 4)] {
        let small = Small::random(items, annotators, 25, 2, 1);
        let study = small.study();
        let (a, y) = small.projected();
        let (sigma, z) = (a.transpose() * &a, a.transpose() * &y);
        let found = dense(&study.gram);
        assert_eq!(study.gram.len(), annotators as usize);
        for i in 0..study.gram.len() {
            assert_close(study.gram.scale[i], sigma[(i, i)].sqrt(), "scale");
            assert_close(study.gram.correlation[i] * study.gram.scale[i], z[(i, 0)], "Aᵀy");
            for j in 0..study.gram.len() {
                let scaled = found[(i, j)] * study.gram.scale[i] * study.gram.scale[j];
                assert_close(scaled, sigma[(i, j)], "Σ");
            }
        }
        assert_close(study.gram.energy, y.squared_norm_l2(), "energy");
    }
}

/// With C the root of 2sI − s²Σ⁻¹ that is implied by draws, [A, Ã] has the Gram matrix of knockoffs.
#[test]
fn knockoffs_are_those_of_an_explicit_construction() {
    let small = Small::random(6, 8, 30, 2, 2);
    let study = small.study();
    let (gram, p) = (&study.gram, study.gram.len());
    let knockoffs = Knockoffs::new(gram).unwrap();
    let (a, y) = small.projected();
    let a = Mat::from_fn(a.nrows(), p, |k, j| a[(k, j)] / gram.scale[j]);
    let sigma = dense(gram);
    let inverse = sigma.full_piv_lu().inverse();
    let s = knockoffs.s;
    assert!(s > 0.1);
    // An explicit Q: random columns made orthonormal to X, A and each other.
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut q: Vec<Vec<f64>> = Vec::new();
    let x_a: Vec<Vec<f64>> = {
        let (x, _) = (small.comparisons.iter(), ());
        let rows: Vec<_> = x.collect();
        let column = |i: usize| {
            rows.iter()
                .map(|v| {
                    f64::from(u8::from(v.left as usize == i))
                        - f64::from(u8::from(v.right as usize == i))
                })
                .collect::<Vec<f64>>()
        };
        (0..6).map(column).chain((0..p).map(|j| a.col_as_slice(j).to_vec())).collect()
    };
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let orthonormal = |mut v: Vec<f64>, basis: &mut Vec<Vec<f64>>| {
        for _ in 0..2 {
            for b in basis.iter() {
                let share: f64 = b.iter().zip(&v).map(|(b, v)| b * v).sum();
                v.iter_mut().zip(b).for_each(|(v, b)| *v -= share * b);
            }
        }
        let size = crate::numeric::norm(&v);
        if size > 1e-8 {
            v.iter_mut().for_each(|v| *v /= size);
            basis.push(v);
        }
    };
    x_a.into_iter().for_each(|v| orthonormal(v, &mut basis));
    while q.len() < p {
        let v = (0..a.nrows()).map(|_| random.random::<f64>() - 0.5).collect();
        orthonormal(v, &mut basis);
        q.push(basis.last().unwrap().clone());
    }
    let q = Mat::from_fn(a.nrows(), p, |k, j| q[j][k]);
    let c_c =
        Mat::from_fn(p, p, |i, j| (if i == j { 2.0 * s } else { 0.0 }) - s * s * inverse[(i, j)]);
    let c = c_c.llt(faer::Side::Lower).unwrap().L().to_owned();
    let copies = &a - s * (&a * &inverse) + &q * c.transpose();
    let (own, crossed) = (copies.transpose() * &copies, a.transpose() * &copies);
    let design = Design::with_knockoffs(gram, s, &vec![0.0; p]);
    for i in 0..p {
        for j in 0..p {
            let low_rank: f64 = gram.column(i).iter().zip(gram.column(j)).map(|(x, y)| x * y).sum();
            let block = if i == j { design.block_times(i, [1.0, 0.0]) } else { [0.0; 2] };
            assert_close(block[0] - low_rank, own[(i, j)], "ÃᵀÃ");
            assert_close(block[1] - low_rank, crossed[(i, j)], "AᵀÃ");
        }
    }
    // The draws have the mean and the covariance of Ãᵀy over random Q.
    let rest = &y - &a * (&inverse * (a.transpose() * &y));
    assert_close(knockoffs.residual_energy, rest.squared_norm_l2(), "‖y⊥‖²");
    let draws: Vec<Vec<f64>> = (0..20_000).map(|k| knockoffs.draw(gram, 7, k)).collect();
    let z = a.transpose() * &y;
    let mean = &z - s * (&inverse * &z);
    let variance = knockoffs.residual_energy / knockoffs.dimensions;
    for i in 0..p {
        let found: f64 = draws.iter().map(|draw| draw[i]).sum::<f64>() / draws.len() as f64;
        assert!((found - mean[(i, 0)]).abs() < 0.05, "{found} and {}", mean[(i, 0)]);
        for j in 0..p {
            let product = |draw: &Vec<f64>| (draw[i] - mean[(i, 0)]) * (draw[j] - mean[(j, 0)]);
            let found: f64 = draws.iter().map(product).sum::<f64>() / draws.len() as f64;
            let expected = variance * c_c[(i, j)];
            assert!((found - expected).abs() < 0.06, "({i}, {j}): {found} and {expected}");
        }
    }
}

/// The Gram matrix of a design, dense.
fn dense_design(design: &Design<'_>) -> (Mat<f64>, Vec<f64>) {
    let (p, copies) = (design.gram.len(), design.copies);
    let matrix = Mat::from_fn(p * copies, p * copies, |u, v| {
        let ((a, i), (b, k)) = ((u / copies, u % copies), (v / copies, v % copies));
        let columns = design.gram.column(a).iter().zip(design.gram.column(b));
        let low_rank: f64 = columns.map(|(x, y)| x * y).sum();
        let mut unit = [0.0; 2];
        unit[k] = 1.0;
        (if a == b { design.block_times(a, unit)[i] } else { 0.0 }) - low_rank
    });
    (matrix, (0..p * copies).map(|v| design.z[v / copies][v % copies]).collect())
}

/// Linearised Bregman iteration with tiny steps and a large κ.
fn simulate(matrix: &Mat<f64>, z: &[f64], until: f64) -> Vec<f64> {
    let (kappa, dt) = (1e4, 1e-5);
    let count = z.len();
    let rows: Vec<Vec<f64>> =
        (0..count).map(|i| (0..count).map(|j| matrix[(i, j)]).collect()).collect();
    let (mut u, mut x) = (vec![0.0_f64; count], vec![0.0_f64; count]);
    let (mut first, mut t) = (vec![0.0; count], 0.0);
    while t < until {
        t += dt;
        let c: Vec<f64> = (0..count).map(|i| z[i] - crate::numeric::dot(&rows[i], &x)).collect();
        for i in 0..count {
            u[i] += dt * c[i];
            x[i] = kappa * u[i].signum() * (u[i].abs() - 1.0).max(0.0);
            if x[i] != 0.0 && first[i] == 0.0 {
                first[i] = t;
            }
        }
    }
    first
}

#[test]
fn iss_enters_when_a_simulation_with_tiny_steps_does() {
    let small = Small::random(5, 6, 40, 2, 4);
    let study = small.study();
    let knockoffs = Knockoffs::new(&study.gram).unwrap();
    let copies = knockoffs.draw(&study.gram, 1, 1);
    for design in
        [Design::annotators(&study.gram), Design::with_knockoffs(&study.gram, knockoffs.s, &copies)]
    {
        let exact = iss::entries(&design, |_, _| false);
        let (matrix, z) = dense_design(&design);
        let until = 1.5;
        let simulated = simulate(&matrix, &z, until);
        let mut compared = 0;
        for (v, simulated) in simulated.iter().enumerate() {
            let time = 1.0 / exact[v / design.copies][v % design.copies];
            if time < 0.98 * until {
                assert!((time - simulated).abs() < 4e-3, "{v}: {time} and {simulated}");
                compared += 1;
            }
        }
        assert!(compared >= 4, "{compared}");
    }
}

#[test]
fn lasso_path_is_optimal_between_all_events() {
    for (items, annotators, seed) in [(5, 12, 5), (9, 4, 6), (80, 100, 7)] {
        let small = Small::random(items, annotators, 25, 3, seed);
        let study = small.study();
        let knockoffs = Knockoffs::new(&study.gram).unwrap();
        let copies = knockoffs.draw(&study.gram, 1, 1);
        for design in [
            Design::annotators(&study.gram),
            Design::with_knockoffs(&study.gram, knockoffs.s, &copies),
        ] {
            let events = lasso::check_path(&design);
            assert!(events >= annotators as usize, "{events}");
        }
    }
}

#[test]
fn iss_path_is_optimal_after_every_event() {
    for (items, annotators, seed) in [(5, 12, 5), (9, 4, 6), (80, 100, 7)] {
        let small = Small::random(items, annotators, 25, 3, seed);
        let study = small.study();
        let knockoffs = Knockoffs::new(&study.gram).unwrap();
        let copies = knockoffs.draw(&study.gram, 1, 1);
        for design in [
            Design::annotators(&study.gram),
            Design::with_knockoffs(&study.gram, knockoffs.s, &copies),
        ] {
            iss::check_path(&design);
        }
    }
}

#[test]
fn estimates_are_those_of_least_squares() {
    let small = Small::random(6, 8, 30, 2, 8);
    let found = position_bias(&small.graph, &small.votes, &PositionBiasOptions::default()).unwrap();
    let (a, y) = small.projected();
    let gamma = (a.transpose() * &a).full_piv_lu().solve(a.transpose() * &y);
    for (j, annotator) in found.annotators.iter().enumerate() {
        assert_close(annotator.bias.unwrap(), gamma[(j, 0)], "γ");
        assert!(annotator.se.unwrap() > 0.0 && annotator.votes == 30);
    }
}

#[test]
fn biased_annotators_are_found_on_both_paths() {
    for path in BiasPath::ALL {
        let small = Small::random(10, 80, 100, 30, 9);
        let options = PositionBiasOptions { path, ..PositionBiasOptions::default() };
        let found = position_bias(&small.graph, &small.votes, &options).unwrap();
        let selected: Vec<u32> = found.selected().collect();
        assert!((0..30).all(|a| selected.contains(&a)), "{selected:?}");
        assert!(selected.len() <= 36, "{selected:?}");
        let first = found.annotators.iter().enumerate().filter(|(_, a)| a.order <= Some(30));
        assert_eq!(first.filter(|(a, _)| *a < 30).count(), 30);
    }
}

#[test]
fn nobody_biased_nobody_selected() {
    let runs = (0..20).filter(|&seed| {
        let small = Small::random(10, 60, 40, 0, 1000 + seed);
        let options = PositionBiasOptions { draws: 20, ..PositionBiasOptions::default() };
        let found = position_bias(&small.graph, &small.votes, &options).unwrap();
        found.selected().next().is_none()
    });
    assert!(runs.count() >= 18);
}

#[test]
fn bias_that_scores_explain_as_well_is_not_estimated() {
    let vote = |annotator, left, right, y| Comparison {
        annotator: Some(annotator),
        ..Comparison::new(left, right, y)
    };
    // Item 0 is always on the left: a common pull is the same as a better item 0.
    let votes =
        vec![vote(0, 0, 1, 1.0), vote(0, 0, 1, -1.0), vote(1, 0, 1, 1.0), vote(1, 0, 1, 1.0)];
    let small = Small::new(2, 2, votes);
    let found = position_bias(&small.graph, &small.votes, &PositionBiasOptions::default()).unwrap();
    assert_eq!(found.unidentified(), 2);
    assert_eq!(found.selected().count(), 0);
    // Annotator 12 alone saw items 5 and 6. All others are estimated as without 12.
    let mut comparisons = crowd(5, 12, 25, 2, 1);
    let without = Small::new(5, 12, comparisons.clone());
    comparisons.push(vote(12, 5, 6, 1.0));
    let with = Small::new(7, 13, comparisons);
    let of = |small: &Small| {
        position_bias(&small.graph, &small.votes, &PositionBiasOptions::default()).unwrap()
    };
    let (without, with) = (of(&without), of(&with));
    assert_eq!(with.annotators[12].bias, None);
    assert_eq!(with.annotators[12].order, None);
    for (a, b) in without.annotators.iter().zip(&with.annotators) {
        assert_close(a.bias.unwrap(), b.bias.unwrap(), "γ");
        assert_close(a.se.unwrap(), b.se.unwrap(), "standard error");
        assert_eq!(a.order, b.order);
    }
}

#[test]
fn small_and_degenerate_studies_have_answers() {
    let options = PositionBiasOptions::default();
    // One annotator; annotators with one vote each; identical annotators; no outcome but ties.
    let one = Small::random(4, 1, 30, 1, 11);
    let single_votes = Small::random(6, 40, 1, 0, 12);
    let twins = {
        let mut votes = crowd(5, 1, 30, 1, 13);
        let copy: Vec<_> =
            votes.iter().map(|vote| Comparison { annotator: Some(1), ..*vote }).collect();
        votes.extend(copy);
        Small::new(5, 2, votes)
    };
    let ties = {
        let mut votes = crowd(5, 6, 20, 0, 14);
        votes.iter_mut().for_each(|vote| vote.y = 0.0);
        Small::new(5, 6, votes)
    };
    for small in [&one, &single_votes, &twins, &ties] {
        for path in BiasPath::ALL {
            let options = PositionBiasOptions { path, ..options };
            let found = position_bias(&small.graph, &small.votes, &options).unwrap();
            assert_eq!(found.selected().count(), 0);
            let numbers = found.annotators.iter().flat_map(|a| [a.bias, a.se]).flatten();
            assert!(numbers.into_iter().all(f64::is_finite));
        }
    }
    let found = position_bias(&twins.graph, &twins.votes, &options).unwrap();
    assert_close(found.annotators[0].bias.unwrap(), found.annotators[1].bias.unwrap(), "twins");
}

#[test]
fn outcomes_in_other_units_change_the_units_alone() {
    let mut comparisons = crowd(6, 40, 30, 15, 15);
    let before = Small::new(6, 40, comparisons.clone());
    comparisons.iter_mut().for_each(|vote| vote.y *= 1024.0);
    let after = Small::new(6, 40, comparisons);
    let of = |small: &Small| {
        position_bias(&small.graph, &small.votes, &PositionBiasOptions::default()).unwrap()
    };
    let (before, after) = (of(&before), of(&after));
    for (a, b) in before.annotators.iter().zip(&after.annotators) {
        assert_close(1024.0 * a.bias.unwrap(), b.bias.unwrap(), "γ");
        assert_eq!((a.order, a.selected), (b.order, b.selected));
    }
}

#[test]
fn sides_are_needed() {
    let comparisons = crowd(5, 3, 10, 0, 16);
    let small = Small::new(5, 3, comparisons.clone());
    let votes = AnnotatorVotes::from_comparisons(3, &comparisons, false);
    let found = position_bias(&small.graph, &votes, &PositionBiasOptions::default());
    assert_eq!(found, Err(Error::NoSides));
    assert_eq!(without_bias(5, &votes, &[]), Err(Error::NoSides));
}

#[test]
fn rates_are_read_as_shares() {
    let rate =
        |text: &str| text.parse::<DiscoveryRate>().map(|rate| (rate.get(), rate.to_string()));
    assert_eq!(rate("10%"), Ok((0.1, "10%".to_owned())));
    assert_eq!(rate("0.05"), Ok((0.05, "5%".to_owned())));
    for bad in ["0", "100%", "-1%", "ten", "nan", ""] {
        assert!(rate(bad).is_err(), "{bad}");
    }
}
