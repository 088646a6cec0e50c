//! Random numbers of simulated crowds.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// A random stream.
pub(super) struct Random(ChaCha8Rng);

impl Random {
    /// Stream `number` of a study, which four numbers identify. Studies do not depend on each other,
    /// so that they can be simulated in any order.
    pub(super) fn new(study: [u64; 4], number: u64) -> Self {
        let mut seed = [0; 32];
        for (bytes, part) in seed.chunks_exact_mut(8).zip(study) {
            bytes.copy_from_slice(&part.to_le_bytes());
        }
        let mut rng = ChaCha8Rng::from_seed(seed);
        rng.set_stream(number);
        Self(rng)
    }

    // Not taken from `rand`, whose sampling may change between versions.

    /// A number from [0, 1) with 53 random bits.
    pub(super) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (0.5 / (1_u64 << 52) as f64)
    }

    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// True with the given probability.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// An index from `0..count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.0.next_u64()) * count as u128) >> 64) as usize
    }

    pub(super) fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    pub(super) fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}
