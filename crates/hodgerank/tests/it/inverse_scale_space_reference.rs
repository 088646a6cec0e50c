//! Inverse scale space compared with a slow reference, which visits every group at every event and
//! computes every fit from scratch.

use crate::shapes;
use crate::shapes::largest_difference;
use crate::studies;
use hodgerank::path::StopAt;
use hodgerank::simulate::{Noise, SimulateOptions};
use hodgerank::solve::inverse_scale_space::{self, InverseScaleSpaceOptions};
use hodgerank::solve::l2::{self, L2Options};
use hodgerank::{Comparison, ComparisonGraph, Status};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The fit of the groups that are not flagged; none if they do not connect the items.
fn fit(graph: &ComparisonGraph, flagged: &[bool]) -> Option<Vec<f64>> {
    let groups = graph.groups();
    let weights = groups.weight.iter().zip(flagged).map(|(&w, &f)| if f { 0.0 } else { w });
    let trusted = groups.reweighted(&weights.collect::<Vec<_>>());
    let trusted = ComparisonGraph::new(graph.items(), trusted).unwrap();
    let connected = trusted.components().len() == graph.components().len();
    connected.then(|| l2::solve(&trusted, &L2Options::default()).unwrap().scores)
}

struct Reference<'a> {
    graph: &'a ComparisonGraph,
    zero: f64,
    t: f64,
    theta: Vec<f64>,
    p: Vec<f64>,
    flagged: Vec<bool>,
    /// Departures, so that a test can tell that there were some.
    left: usize,
}

impl<'a> Reference<'a> {
    fn new(graph: &'a ComparisonGraph) -> Self {
        let groups = graph.groups();
        let flagged = vec![false; groups.len()];
        let largest = groups.y.iter().fold(0.0_f64, |largest, y| largest.max(y.abs()));
        let theta = fit(graph, &flagged).unwrap();
        let (zero, p) = (1e-9 * largest, vec![0.0; groups.len()]);
        Self { graph, zero, t: 0.0, theta, p, flagged, left: 0 }
    }

    /// Advances to the next event, whose fit is still to be computed. Returns whether there is one.
    fn advance(&mut self) -> bool {
        let r = studies::residuals(self.graph, &self.theta);
        let time = |g: usize| {
            let (p, r) = (self.p[g], r[g]);
            let stays = self.flagged[g] || r.abs() <= self.zero || (p.abs() == 1.0 && p * r > 0.0);
            if stays { f64::INFINITY } else { (1.0 - p * r.signum()) / r.abs() }
        };
        let times: Vec<f64> = (0..r.len()).map(time).collect();
        let step = times.iter().fold(f64::INFINITY, |first, &time| first.min(time));
        if step.is_infinite() {
            return false;
        }
        self.t += step;
        for g in 0..r.len() {
            if times[g] <= step + 1e-10 * self.t {
                self.p[g] = r[g].signum();
                self.flagged[g] = true;
            } else if !self.flagged[g] && (self.p[g].abs() < 1.0 || self.p[g] * r[g] < -self.zero) {
                self.p[g] += step * r[g];
            }
        }
        true
    }

    /// Computes the fit with sign constraints. Returns whether it is unique.
    fn resolve(&mut self) -> bool {
        loop {
            let Some(to) = fit(self.graph, &self.flagged) else {
                return false;
            };
            let ends = [&self.theta, &to].map(|theta| studies::residuals(self.graph, theta));
            let moved = |g: usize| [self.p[g] * ends[0][g], self.p[g] * ends[1][g]];
            let groups = 0..self.p.len();
            let violated = groups.clone().filter(|&g| self.flagged[g] && moved(g)[1] < -self.zero);
            let fraction = |g| (moved(g)[0] / (moved(g)[0] - moved(g)[1])).clamp(0.0, 1.0);
            let violated: Vec<(usize, f64)> = violated.map(|g| (g, fraction(g))).collect();
            if let Some(first) = violated.iter().map(|&(_, f)| f).reduce(f64::min) {
                let ends = self.theta.iter_mut().zip(&to);
                ends.for_each(|(from, to)| *from += first * (to - *from));
                for &(g, _) in violated.iter().filter(|(_, f)| *f <= first + 1e-9) {
                    self.flagged[g] = false;
                    self.left += 1;
                }
                continue;
            }
            let is_outward =
                |&g: &usize| !self.flagged[g] && self.p[g].abs() == 1.0 && moved(g)[1] > self.zero;
            let outward: Vec<usize> = groups.filter(is_outward).collect();
            self.theta = to;
            if outward.is_empty() {
                return true;
            }
            outward.into_iter().for_each(|g| self.flagged[g] = true);
        }
    }
}

/// Compares event times, flagged groups and scores of up to `max_events` events. Returns the numbers of
/// events and departures.
fn compare(name: &str, graph: &ComparisonGraph, max_events: usize) -> (usize, usize) {
    let options = InverseScaleSpaceOptions { max_events, ..Default::default() };
    let path = inverse_scale_space::compute_path(graph, &options, StopAt::End).unwrap();
    let mut reference = Reference::new(graph);
    let scale = graph.groups().y.iter().fold(1e-300_f64, |scale, y| scale.max(y.abs()));
    let mut status = Status::IterationLimit;
    for knot in 1..=max_events {
        if !reference.advance() {
            status = Status::Complete;
            assert_eq!(path.knots.len(), knot, "{name}: events");
            break;
        }
        let t = path.knots[knot];
        assert!((t - reference.t).abs() <= 1e-8 * t, "{name}: event {knot}, {t} {}", reference.t);
        if !reference.resolve() {
            status = Status::Disconnected;
            assert_eq!(path.knots.len(), knot + 1, "{name}: events");
            break;
        }
        let flagged = (0..reference.flagged.len()).filter(|&g| reference.flagged[g]);
        let flagged: Vec<u32> = flagged.map(|g| g as u32).collect();
        assert_eq!(path.flagged_at(t), flagged, "{name}: event {knot}");
        let error = largest_difference(path.snapshot(knot), &reference.theta);
        assert!(error <= 1e-8 * scale, "{name}: event {knot}, scores differ by {error:e}");
    }
    assert_eq!(path.status, status, "{name}");
    (path.knots.len() - 1, reference.left)
}

#[test]
fn small_studies_match_the_reference() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let (mut events, mut left, mut divided) = (0, 0, 0);
    for study in 0..400 {
        let (items, votes) = (rng.random_range(2..14_u32), rng.random_range(1..70));
        // Every seventh study has two halves without a vote between them.
        let halves = if study % 7 == 0 && items >= 4 { 2 } else { 1 };
        let vote = |_| {
            let size = items / halves;
            let start = size * rng.random_range(0..halves);
            let i = rng.random_range(0..size);
            let j = (i + rng.random_range(1..size)) % size;
            let y = match study % 4 {
                0 => [-1.0, 1.0][rng.random_range(0..2)],
                1 => f64::from(rng.random_range(-2..=2)),
                2 => rng.random_range(-2.0..2.0),
                _ => {
                    f64::from(j) - f64::from(i) - [3.0, 0.0, 0.0, 0.0, 0.0][rng.random_range(0..5)]
                }
            };
            Comparison::new(start + i, start + j, y).with_count(rng.random_range(1..5))
        };
        let votes: Vec<Comparison> = (0..votes).map(vote).collect();
        let graph = shapes::graph(items as usize, &votes);
        divided += usize::from(graph.components().len() > 1);
        let found = compare(&format!("study {study}"), &graph, usize::MAX);
        events += found.0;
        left += found.1;
    }
    assert!(events > 2000 && left > 20 && divided > 50, "{events} {left} {divided}");
}

/// Large enough for an active set of several events, for collected changes of the inverse and for fits
/// whose drift is not checked; and for conjugate gradients.
#[test]
fn larger_studies_match_the_reference() {
    let bradley_terry = Noise::BradleyTerry { scale: 0.3 };
    for (items, votes, noise, events) in [
        (40, 3000, bradley_terry, 250),
        (150, 16_000, Noise::default(), 300),
        (4200, 12_000, bradley_terry, 20),
    ] {
        let (flips, ties) = (0.2, 0.1);
        let options = SimulateOptions { items, votes, flips, ties, noise, ..Default::default() };
        let graph = studies::simulated(&options).graph;
        let (found, _) = compare(&format!("{items} items"), &graph, events);
        assert_eq!(found, events);
    }
    for (name, graph) in shapes::all().into_iter().filter(|(_, graph)| graph.groups().len() < 2000)
    {
        compare(name, &graph, 40);
    }
}
