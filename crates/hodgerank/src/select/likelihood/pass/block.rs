//! A few pairs at once: probabilities, slopes and information of each.

/// Beyond 30 scales the logistic function is 0 or 1 to the last digit but one.
const FARTHEST: f64 = 30.0;
/// Pairs worked on side by side, and in how many parts their sums are kept.
pub(super) const BLOCK: usize = 32;
const LANES: usize = 8;
/// Below this the logarithm of a product is taken. Probabilities are above e⁻³⁰, and of a block at
/// most BLOCK/LANES pairs with three votes of each side go into a product: it stays above zero.
const SMALL_PRODUCT: f64 = 1e-140;

/// What pairs add to an item.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) gradient: f64,
    pub(super) cross: f64,
    pub(super) degree: f64,
}

/// What pairs add to the whole.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Whole {
    pub(super) value: f64,
    pub(super) rate_gradient: f64,
    pub(super) rate_information: f64,
}

impl Sums {
    #[inline]
    pub(super) fn add(&mut self, other: Self) {
        self.gradient += other.gradient;
        self.cross += other.cross;
        self.degree += other.degree;
    }

    /// The same for the other item of the pair.
    #[inline]
    pub(super) fn mirrored(self) -> Self {
        Self { gradient: -self.gradient, cross: -self.cross, degree: self.degree }
    }
}

/// A few pairs side by side, in columns, for the processor to take several at once.
#[derive(Debug)]
pub(super) struct Block {
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

impl Default for Block {
    fn default() -> Self {
        let [t, wins, losses, gradient, cross, degree, p, q] = [[0.0; BLOCK]; 8];
        Self { t, wins, losses, gradient, cross, degree, p, q }
    }
}

impl Block {
    pub(super) fn load(&mut self, wins: &[f64], losses: &[f64]) {
        if wins.len() < BLOCK {
            (self.wins, self.losses) = ([0.0; BLOCK], [0.0; BLOCK]);
        }
        self.wins[..wins.len()].copy_from_slice(wins);
        self.losses[..losses.len()].copy_from_slice(losses);
    }

    #[inline]
    pub(super) fn sums(&self, k: usize) -> Sums {
        Sums { gradient: self.gradient[k], cross: self.cross[k], degree: self.degree[k] }
    }

    /// votes·log P of pair `k`, as far as [`power`] leaves it out.
    pub(super) fn logarithms(&self, k: usize) -> f64 {
        let of_side = |votes: f64, p: f64| if few(votes) { 0.0 } else { votes * p.ln() };
        of_side(self.wins[k], self.p[k]) + of_side(self.losses[k], self.q[k])
    }

    pub(super) fn work(&mut self, rate: f64, whole: &mut Lanes) {
        let (least, most) = ((-FARTHEST).exp(), FARTHEST.exp());
        let share = 1.0 - 2.0 * rate;
        let Self { t, wins, losses, gradient, cross, degree, p, q } = self;
        for first in (0..BLOCK).step_by(LANES) {
            for lane in 0..LANES {
                let k = first + lane;
                let (wins, losses) = (wins[k], losses[k]);
                let t = t[k].max(least).min(most);
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
                whole.rate_gradient[lane] += tilt * pull;
                whole.rate_information[lane] += information * tilt * tilt;
                whole.product[lane] *= power(p_k, wins) * power(q_k, losses);
                (p[k], q[k]) = (p_k, q_k);
            }
        }
        if whole.product.iter().any(|&product| product < SMALL_PRODUCT) {
            whole.take_logarithms();
        }
    }
}

/// Sums over pairs, each in several parts that do not wait for each other.
pub(super) struct Lanes {
    pub(super) value: f64,
    product: [f64; LANES],
    rate_gradient: [f64; LANES],
    rate_information: [f64; LANES],
}

impl Default for Lanes {
    fn default() -> Self {
        let zero = [0.0; LANES];
        Self { value: 0.0, product: [1.0; LANES], rate_gradient: zero, rate_information: zero }
    }
}

impl Lanes {
    fn take_logarithms(&mut self) {
        self.value += self.product.iter().map(|product| product.ln()).sum::<f64>();
        self.product = [1.0; LANES];
    }

    pub(super) fn add_up(mut self) -> Whole {
        self.take_logarithms();
        Whole {
            value: self.value,
            rate_gradient: self.rate_gradient.iter().sum(),
            rate_information: self.rate_information.iter().sum(),
        }
    }
}

/// Whether votes go into a product.
#[inline]
pub(super) fn few(votes: f64) -> bool {
    // No short cuts: which number it is cannot be foreseen.
    (votes == 0.0) | (votes == 1.0) | (votes == 2.0) | (votes == 3.0)
}

/// p to the power of a few votes; 1 if there are more.
#[inline]
fn power(p: f64, votes: f64) -> f64 {
    let one = if votes == 1.0 || votes == 3.0 { p } else { 1.0 };
    let two = if votes == 2.0 || votes == 3.0 { p * p } else { 1.0 };
    one * two
}
