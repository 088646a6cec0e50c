//! Comparison with Newton's method on a dense Hessian.

use super::*;
use crate::simulate::{Noise, SimulateOptions, Simulation};
use crate::{Comparison, ComparisonGraph, Groups};

fn study(items: usize, votes: u64, flips: f64) -> ComparisonGraph {
    let noise = Noise::BradleyTerry { scale: 0.1 };
    let options =
        SimulateOptions { items, votes, flips, noise, ties: 0.1, seed: 3, ..Default::default() };
    let votes: Vec<Comparison> =
        Simulation::new(&options).unwrap().map(|vote| vote.comparison()).collect();
    ComparisonGraph::new(items, Groups::merge(items, &votes).unwrap().groups).unwrap()
}

/// log P, P′/P and P″/P of each parameter and pair of parameters (d, ε) for a vote on d.
fn of_vote(d: f64, rate: f64) -> (f64, [f64; 2], [[f64; 2]; 2]) {
    let f = 1.0 / (1.0 + (-d).exp());
    let (first, second) = (f * (1.0 - f), f * (1.0 - f) * (1.0 - 2.0 * f));
    let p = rate + (1.0 - 2.0 * rate) * f;
    let slope = [(1.0 - 2.0 * rate) * first / p, (1.0 - 2.0 * f) / p];
    let mixed = -2.0 * first / p;
    (p.ln(), slope, [[(1.0 - 2.0 * rate) * second / p, mixed], [mixed, 0.0]])
}

/// ℓ, its gradient and its Hessian; the rate comes last.
fn reference(graph: &ComparisonGraph, x: &[f64]) -> (f64, Vec<f64>, Vec<Vec<f64>>) {
    let n = graph.items();
    let (mut value, mut gradient) = (0.0, vec![0.0; n + 1]);
    let mut hessian = vec![vec![0.0; n + 1]; n + 1];
    for i in 0..n {
        value -= 0.5 * PRIOR * x[i] * x[i];
        gradient[i] -= PRIOR * x[i];
        hessian[i][i] -= PRIOR;
    }
    let groups = graph.groups();
    for g in (0..groups.len()).filter(|&g| groups.y[g] != 0.0) {
        let (i, j, w) = (groups.left[g] as usize, groups.right[g] as usize, groups.weight[g]);
        let (i, j) = if groups.y[g] > 0.0 { (i, j) } else { (j, i) };
        let (log, slope, bend) = of_vote(x[i] - x[j], x[n]);
        value += w * log;
        let ends = [(i, 1.0, 0), (j, -1.0, 0), (n, 1.0, 1)];
        for (a, sign, k) in ends {
            gradient[a] += w * sign * slope[k];
            for (b, other, l) in ends {
                hessian[a][b] += w * sign * other * (bend[k][l] - slope[k] * slope[l]);
            }
        }
    }
    (value, gradient, hessian)
}

/// Gaussian elimination with partial pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let pivot = a[k].clone();
            a[i].iter_mut().zip(&pivot).for_each(|(a, pivot)| *a -= factor * pivot);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

#[test]
fn slopes_agree_with_the_reference() {
    // Also many votes on a pair, and scores too large for products of exponentials.
    for (votes, stretch) in [(300, 1.0), (20_000, 1.0), (300, 40.0)] {
        let graph = study(9, votes, 0.1);
        let mut x: Vec<f64> = (0..9).map(|i| stretch * (0.3 * f64::from(i) - 1.0)).collect();
        x.push(0.07);
        let (expected, gradient, _) = reference(&graph, &x);
        let mut sided = SidedVotes::new(&graph);
        let (slopes, found) = evaluate(&mut sided, &x[..9], x[9]);
        let without_value = evaluate_slopes(&mut sided, &x[..9], x[9]);
        let value = slopes.value;
        assert_eq!(
            format!("{:?}", LikelihoodSlopes { value, ..without_value }),
            format!("{slopes:?}")
        );
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
        assert!(close(expected, found), "{votes} votes: {expected}, {found}");
        assert!(close(gradient[9], slopes.rate_gradient), "{gradient:?}, {slopes:?}");
        assert!(gradient.iter().zip(&slopes.gradient).all(|(a, b)| close(*a, *b)));
    }
}

#[test]
fn maxima_agree_with_newtons_method() {
    for (items, votes, flips) in [(8, 400, 0.1), (12, 3000, 0.2), (30, 5000, 0.05)] {
        let graph = study(items, votes, flips);
        let mut sided = SidedVotes::new(&graph);
        let start = least_squares(&mut sided);
        for (rate, which) in [(0.0, Rate::Fixed), (0.1, Rate::Free)] {
            let found = maximise(&mut sided, start.clone(), rate, which, negligible_gain);
            assert_eq!(found.value, evaluate(&mut sided, &found.scores, found.rate).1);
            let mut x = found.scores.clone();
            x.push(found.rate);
            for _ in 0..20 {
                let (_, mut gradient, mut hessian) = reference(&graph, &x);
                if which == Rate::Fixed {
                    gradient[items] = 0.0;
                    hessian.iter_mut().for_each(|row| row[items] = 0.0);
                    hessian[items] = vec![0.0; items + 1];
                    hessian[items][items] = -1.0;
                }
                let step = solve(hessian, gradient);
                x.iter_mut().zip(&step).for_each(|(x, step)| *x -= step);
            }
            let (best, gradient, _) = reference(&graph, &x);
            let largest = crate::numeric::largest_magnitude(&gradient[..items]);
            assert!(largest < 1e-8, "Newton's method has not converged: {largest}");
            let left = best - found.value;
            assert!(
                (-1e-9..2.0 * negligible_gain(best)).contains(&left),
                "{which:?}: {left} to go"
            );
            let moved = x.iter().zip(&found.scores).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(moved < 0.05, "{which:?}: a score is off by {moved} scales");
            assert!((x[items] - found.rate).abs() < 2e-3, "{} for {}", found.rate, x[items]);
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let graph = study(400, 150_000, 0.1);
    assert!(graph.pairs().len() > 60_000, "several chunks");
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| crate::select::auto(&graph).unwrap())
    };
    let one = on(1);
    assert!(one.votes > 0.0);
    assert_eq!(on(2), one);
    assert_eq!(on(5), one);
}
