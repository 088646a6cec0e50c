//! Vectorised evaluation of a block of pairs: probabilities, slopes and information.

/// Score differences are clipped here: beyond, the logistic function is 0 or 1 up to rounding.
const MAX_DISTANCE: f64 = 30.0;
/// Pairs per block, and number of partial sums.
pub(super) const BLOCK: usize = 32;
const LANES: usize = 8;
/// Products below this are replaced by their logarithms. Probabilities are above e⁻³⁰, and at most
/// BLOCK/LANES pairs with three votes per side enter a product between checks, so it cannot underflow.
const MIN_PRODUCT: f64 = 1e-140;

/// Sums over the pairs of an item.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ItemSums {
    pub(super) gradient: f64,
    pub(super) cross: f64,
    pub(super) degree: f64,
}

/// Sums over all pairs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    pub(super) value: f64,
    pub(super) rate_gradient: f64,
    pub(super) rate_information: f64,
}

impl ItemSums {
    #[inline]
    pub(super) fn add(&mut self, other: Self) {
        self.gradient += other.gradient;
        self.cross += other.cross;
        self.degree += other.degree;
    }

    /// The same contribution for the right item of the pair.
    #[inline]
    pub(super) fn mirrored(self) -> Self {
        Self { gradient: -self.gradient, cross: -self.cross, degree: self.degree }
    }
}

/// A block of pairs in columns, so that loops over it are vectorised.
#[derive(Debug)]
pub(super) struct PairBlock {
    /// exp(θ_j − θ_i).
    pub(super) t: [f64; BLOCK],
    wins: [f64; BLOCK],
    losses: [f64; BLOCK],
    gradient: [f64; BLOCK],
    cross: [f64; BLOCK],
    pub(super) degree: [f64; BLOCK],
    p: [f64; BLOCK],
    q: [f64; BLOCK],
}

impl Default for PairBlock {
    fn default() -> Self {
        let [t, wins, losses, gradient, cross, degree, p, q] = [[0.0; BLOCK]; 8];
        Self { t, wins, losses, gradient, cross, degree, p, q }
    }
}

impl PairBlock {
    pub(super) fn load(&mut self, wins: &[f64], losses: &[f64]) {
        if wins.len() < BLOCK {
            (self.wins, self.losses) = ([0.0; BLOCK], [0.0; BLOCK]);
        }
        self.wins[..wins.len()].copy_from_slice(wins);
        self.losses[..losses.len()].copy_from_slice(losses);
    }

    #[inline]
    pub(super) fn sums(&self, k: usize) -> ItemSums {
        ItemSums { gradient: self.gradient[k], cross: self.cross[k], degree: self.degree[k] }
    }

    /// The part of votes·log P of pair `k` that is not in the products of [`power`].
    pub(super) fn logarithms(&self, k: usize) -> f64 {
        let of_side = |votes: f64, p: f64| if fits_product(votes) { 0.0 } else { votes * p.ln() };
        of_side(self.wins[k], self.p[k]) + of_side(self.losses[k], self.q[k])
    }

    /// Computes the columns of the block and adds its sums to `totals`; log P only if `HAS_VALUE`.
    pub(super) fn evaluate<const HAS_VALUE: bool>(&mut self, rate: f64, totals: &mut LaneTotals) {
        let (min_t, max_t) = ((-MAX_DISTANCE).exp(), MAX_DISTANCE.exp());
        let share = 1.0 - 2.0 * rate;
        let Self { t, wins, losses, gradient, cross, degree, p, q } = self;
        for first in (0..BLOCK).step_by(LANES) {
            for lane in 0..LANES {
                let k = first + lane;
                let (wins, losses) = (wins[k], losses[k]);
                let t = t[k].max(min_t).min(max_t);
                let f = 1.0 / (1.0 + t);
                let g = t * f;
                let (p_k, q_k) = (rate + share * f, rate + share * g);
                // ∂P/∂d and ∂P/∂ε.
                let (slope, tilt) = (share * f * g, g - f);
                let inverse = 1.0 / (p_k * q_k);
                let pull = (wins * q_k - losses * p_k) * inverse;
                let information = (wins + losses) * inverse;
                gradient[k] = slope * pull;
                cross[k] = information * slope * tilt;
                degree[k] = information * slope * slope;
                totals.rate_gradient[lane] += tilt * pull;
                totals.rate_information[lane] += information * tilt * tilt;
                if HAS_VALUE {
                    totals.product[lane] *= power(p_k, wins) * power(q_k, losses);
                    (p[k], q[k]) = (p_k, q_k);
                }
            }
        }
        if HAS_VALUE && totals.product.iter().any(|&product| product < MIN_PRODUCT) {
            totals.take_logarithms();
        }
    }
}

/// Sums over all pairs in independent partial sums.
pub(super) struct LaneTotals {
    pub(super) value: f64,
    product: [f64; LANES],
    rate_gradient: [f64; LANES],
    rate_information: [f64; LANES],
}

impl Default for LaneTotals {
    fn default() -> Self {
        let zero = [0.0; LANES];
        Self { value: 0.0, product: [1.0; LANES], rate_gradient: zero, rate_information: zero }
    }
}

impl LaneTotals {
    fn take_logarithms(&mut self) {
        self.value += self.product.iter().map(|product| product.ln()).sum::<f64>();
        self.product = [1.0; LANES];
    }

    pub(super) fn add_up(mut self) -> Totals {
        self.take_logarithms();
        Totals {
            value: self.value,
            rate_gradient: self.rate_gradient.iter().sum(),
            rate_information: self.rate_information.iter().sum(),
        }
    }
}

/// Whether a number of votes is small enough for [`power`].
#[inline]
pub(super) fn fits_product(votes: f64) -> bool {
    // Branch-free: short-circuit evaluation would mispredict.
    (votes == 0.0) | (votes == 1.0) | (votes == 2.0) | (votes == 3.0)
}

/// p^votes for up to three votes; 1 for more.
#[inline]
fn power(p: f64, votes: f64) -> f64 {
    let one = if votes == 1.0 || votes == 3.0 { p } else { 1.0 };
    let two = if votes == 2.0 || votes == 3.0 { p * p } else { 1.0 };
    one * two
}
