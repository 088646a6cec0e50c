//! The two sums over all pairs that a search needs: ℓ with its slopes at a point, and the product of
//! the information matrix with a vector.
//!
//! Pairs are split into chunks whose sums are added in order, so that the bits do not depend on the
//! number of threads. In a distributed graph the two sums are then added up over all processes.
//!
//! With t = exp(θ_j − θ_i): F = 1/(1 + t), and t is a product of one number per item, so that a pair
//! needs no exponential. Logarithms are taken of products over many pairs.

mod block;

use rayon::prelude::*;

use crate::communicator::Communicator;
use crate::graph::{ComparisonGraph, Pairs};
use crate::laplacian::LaplacianChunk;
use crate::numeric::add_parts;
use block::{BLOCK, ItemSums, LaneTotals, PairBlock, Totals, fits_product};

/// Items added up by one task.
const ITEMS_PER_TASK: usize = 1 << 14;
/// For |score| up to this, products of exponentials of two scores are finite.
const MAX_EXP_SCORE: f64 = 300.0;

/// Votes on each pair of items, by side, and the working weights at the last point evaluated.
#[derive(Debug)]
pub(crate) struct SidedVotes<'a> {
    items: usize,
    pairs: &'a Pairs,
    chunks: Vec<PairChunk>,
    communicator: &'a dyn Communicator,
}

/// Consecutive pairs and their part of the sums.
#[derive(Debug)]
struct PairChunk {
    wins: Vec<f64>,
    losses: Vec<f64>,
    /// Pairs, relative to the first one, with too many votes for the products of a [`PairBlock`].
    many_votes: Vec<u32>,
    /// The pairs, with their working weights.
    information: LaplacianChunk,
    /// The chunk's part of the sums over items; empty before the first pass.
    sums: Vec<ItemSums>,
    totals: Totals,
}

/// Pairs of items and their votes; wins are those of the left item.
#[derive(Debug, Clone, Copy)]
pub(in crate::select) struct SidedPairs<'a> {
    left: &'a [u32],
    right: &'a [u32],
    wins: &'a [f64],
    losses: &'a [f64],
}

impl SidedPairs<'_> {
    /// For each pair the distance d = |θ_i − θ_j| and the votes for and against the item with the
    /// higher score; votes on equal scores count half for each.
    #[inline]
    pub(in crate::select) fn agreement(
        &self,
        scores: &[f64],
    ) -> impl Iterator<Item = (f64, f64, f64)> {
        let ends = self.left.iter().zip(self.right);
        ends.zip(self.wins.iter().zip(self.losses)).map(|((&i, &j), (&wins, &losses))| {
            let d = scores[i as usize] - scores[j as usize];
            let half = 0.5 * (wins + losses);
            let higher = if d > 0.0 { wins } else { losses };
            let agree = if d == 0.0 { half } else { higher };
            (d.abs(), agree, wins + losses - agree)
        })
    }
}

/// Σ over pairs of log P, its gradient and its expected information (the negative Hessian with
/// votes replaced by their expectation), in the scores θ and the rate ε.
#[derive(Debug, Clone, Default)]
pub(super) struct LikelihoodSlopes {
    pub(super) value: f64,
    /// ∂/∂θ.
    pub(super) gradient: Vec<f64>,
    /// ∂/∂ε.
    pub(super) rate_gradient: f64,
    /// The diagonal of the θ–θ block, a Laplacian; see [`SidedVotes::times_information`].
    pub(super) degrees: Vec<f64>,
    /// The θ–ε column.
    pub(super) cross: Vec<f64>,
    /// The ε–ε entry.
    pub(super) rate_information: f64,
}

impl<'a> SidedVotes<'a> {
    /// The votes of a graph; ties have no side and are ignored.
    pub(crate) fn new(graph: &'a ComparisonGraph) -> Self {
        let (items, pairs, groups) = (graph.items(), graph.pairs(), graph.groups());
        let chunk = |information: LaplacianChunk| {
            let range = information.range();
            let (mut wins, mut losses) = (vec![0.0; range.len()], vec![0.0; range.len()]);
            let first_group = &pairs.first_group[range.start..=range.end];
            let mut pair = 0;
            // Branch-free: both the side of a vote and the end of a pair would be mispredicted.
            for g in first_group[0] as usize..first_group[range.len()] as usize {
                pair += usize::from(g as u32 == first_group[pair + 1]);
                let (y, weight) = (groups.y[g], groups.weight[g]);
                wins[pair] += if y > 0.0 { weight } else { 0.0 };
                losses[pair] += if y < 0.0 { weight } else { 0.0 };
            }
            let has_many_votes =
                |&k: &u32| !(fits_product(wins[k as usize]) && fits_product(losses[k as usize]));
            PairChunk {
                many_votes: (0..range.len() as u32).filter(has_many_votes).collect(),
                wins,
                losses,
                information,
                sums: Vec::new(),
                totals: Totals::default(),
            }
        };
        let chunks = LaplacianChunk::split(graph).into_par_iter().map(chunk).collect();
        Self { items, pairs, chunks, communicator: graph.communicator() }
    }

    /// The communicator of the processes that hold the votes.
    pub(in crate::select) fn communicator(&self) -> &'a dyn Communicator {
        self.communicator
    }

    /// Calls `f` on each chunk of pairs of this process; results are in the order of the chunks.
    pub(in crate::select) fn map_chunks<T: Send>(
        &self,
        f: impl Fn(SidedPairs<'_>) -> T + Sync,
    ) -> Vec<T> {
        let of_chunk = |chunk: &PairChunk| {
            let range = chunk.information.range();
            let (left, right) = (&self.pairs.left[range.clone()], &self.pairs.right[range]);
            f(SidedPairs { left, right, wins: &chunk.wins, losses: &chunk.losses })
        };
        self.chunks.par_iter().map(of_chunk).collect()
    }

    /// Number of items.
    pub(in crate::select) fn items(&self) -> usize {
        self.items
    }

    /// ℓ without its prior, and its slopes. Stores the working weights.
    pub(super) fn slopes(&mut self, scores: &[f64], rate: f64) -> LikelihoodSlopes {
        self.slopes_with::<true>(scores, rate)
    }

    /// The same without ℓ: with several votes per pair, its logarithms take half of the time.
    pub(super) fn slopes_without_value(&mut self, scores: &[f64], rate: f64) -> LikelihoodSlopes {
        self.slopes_with::<false>(scores, rate)
    }

    fn slopes_with<const HAS_VALUE: bool>(
        &mut self,
        scores: &[f64],
        rate: f64,
    ) -> LikelihoodSlopes {
        let all = (self.items, self.pairs);
        if scores.iter().all(|score| score.abs() < MAX_EXP_SCORE) {
            let (up, down): (Vec<f64>, Vec<f64>) =
                scores.iter().map(|score| (score.exp(), (-score).exp())).unzip();
            let odds = |i: usize, j: usize| down[i] * up[j];
            self.chunks.par_iter_mut().for_each(|chunk| chunk.slopes::<HAS_VALUE>(all, rate, odds));
        } else {
            let odds = |i: usize, j: usize| (scores[j] - scores[i]).exp();
            self.chunks.par_iter_mut().for_each(|chunk| chunk.slopes::<HAS_VALUE>(all, rate, odds));
        }
        let mut slopes = LikelihoodSlopes {
            gradient: vec![0.0; self.items],
            cross: vec![0.0; self.items],
            degrees: vec![0.0; self.items],
            ..LikelihoodSlopes::default()
        };
        for PairChunk { totals, .. } in &self.chunks {
            slopes.value += totals.value;
            slopes.rate_gradient += totals.rate_gradient;
            slopes.rate_information += totals.rate_information;
        }
        let tasks = slopes.gradient.par_chunks_mut(ITEMS_PER_TASK).zip(
            slopes
                .cross
                .par_chunks_mut(ITEMS_PER_TASK)
                .zip(slopes.degrees.par_chunks_mut(ITEMS_PER_TASK)),
        );
        tasks.enumerate().for_each(|(task, (gradient, (cross, degrees)))| {
            for chunk in &self.chunks {
                let sums = &chunk.sums[task * ITEMS_PER_TASK..];
                for (k, (sums, gradient)) in sums.iter().zip(gradient.iter_mut()).enumerate() {
                    *gradient += sums.gradient;
                    cross[k] += sums.cross;
                    degrees[k] += sums.degree;
                }
            }
        });
        let mut totals = [slopes.value, slopes.rate_gradient, slopes.rate_information];
        for sums in [&mut slopes.gradient, &mut slopes.cross, &mut slopes.degrees] {
            self.communicator.sum(sums);
        }
        self.communicator.sum(&mut totals);
        [slopes.value, slopes.rate_gradient, slopes.rate_information] = totals;
        slopes
    }

    /// The θ–θ block of the information at the point of the last [`Self::slopes`], times `x`.
    pub(super) fn times_information(&mut self, x: &[f64], out: &mut [f64]) {
        let pairs = self.pairs;
        self.chunks.par_iter_mut().for_each(|chunk| chunk.information.multiply(pairs, x));
        add_parts(out, || self.chunks.iter().map(|chunk| (0, &chunk.information.product[..])));
        self.communicator.sum(out);
    }
}

impl PairChunk {
    fn slopes<const HAS_VALUE: bool>(
        &mut self,
        (items, pairs): (usize, &Pairs),
        rate: f64,
        odds: impl Fn(usize, usize) -> f64,
    ) {
        let range = self.information.range();
        let (left, right) = (&pairs.left[range.clone()], &pairs.right[range]);
        self.sums.clear();
        self.sums.resize(items, ItemSums::default());
        let mut totals = LaneTotals::default();
        let mut of_left = ItemSums::default();
        let mut last_left = left.first().map_or(0, |&i| i as usize);
        let mut block = PairBlock::default();
        let mut many_votes = self.many_votes.iter().peekable();
        for start in (0..left.len()).step_by(BLOCK) {
            let here = start..left.len().min(start + BLOCK);
            let (left, right) = (&left[here.clone()], &right[here.clone()]);
            block.t = [1.0; BLOCK];
            for (t, (&i, &j)) in block.t.iter_mut().zip(left.iter().zip(right)) {
                *t = odds(i as usize, j as usize);
            }
            block.load(&self.wins[here.clone()], &self.losses[here.clone()]);
            block.evaluate::<HAS_VALUE>(rate, &mut totals);
            if HAS_VALUE {
                let is_here = |pair: &&u32| here.contains(&(**pair as usize));
                while let Some(&pair) = many_votes.next_if(is_here) {
                    totals.value += block.logarithms(pair as usize - start);
                }
            }
            for (k, (&i, &j)) in left.iter().zip(right).enumerate() {
                let (i, own) = (i as usize, block.sums(k));
                if i != last_left {
                    self.sums[last_left].add(of_left);
                    (of_left, last_left) = (ItemSums::default(), i);
                }
                of_left.add(own);
                self.sums[j as usize].add(own.mirrored());
            }
            for (weight, v) in self.information.weights[here].iter_mut().zip(&block.degree) {
                *weight = *v as f32;
            }
        }
        self.sums[last_left].add(of_left);
        self.totals = totals.add_up();
    }
}
