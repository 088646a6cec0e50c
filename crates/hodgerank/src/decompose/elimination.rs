//! The dimension of the solution space of equations x_a + x_b − x_c = 0, modulo a prime.
//!
//! 1. An equation in one unknown makes it zero; an equation in two unknowns makes one a multiple of
//!    the other. A weighted union–find merges them in passes, until nothing changes or the budget is
//!    spent; the remaining equations go to the next steps either way.
//! 2. An equation with an unknown that occurs nowhere else does not constrain the others: both are
//!    removed, which may free further equations.
//! 3. Sparse Gaussian elimination of the remaining rows, pivoting on the largest unknown of a row.
//!
//! Cost: nearly linear for 1 and 2, which eliminate everything on most graphs. 3 may fill in, up to
//! the cube of the number of unknowns, and has a budget.

/// 2³¹ − 1: products fit in 64 bits.
const PRIME: u64 = (1 << 31) - 1;
/// Maximum number of entries that elimination may visit: a few seconds.
const MAX_WORK: u64 = 500_000_000;

/// The equation x_plus[0] + x_plus[1] − x_minus = 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Equation {
    pub(super) plus: [u32; 2],
    pub(super) minus: u32,
}

/// Terms (unknown, factor), ascending by unknown, no factor zero.
type SparseRow = Vec<(u32, u64)>;

/// The solution space of all equations.
pub(super) enum Solutions {
    /// One dimension per class of unknowns.
    Classes {
        /// Number of classes.
        count: u64,
        /// The unknowns of each class.
        unknowns: Unknowns,
    },
    /// The dimension only.
    Dimension(u64),
    /// Elimination exceeded its budget.
    BudgetExceeded,
}

/// Unknowns, each a multiple of the root of its class, or zero.
pub(super) struct Unknowns {
    parent: Vec<u32>,
    /// x = factor · x_parent; 0 for an unknown that is zero.
    factor: Vec<u64>,
}

impl Unknowns {
    /// Creates one class per unknown; those for which `zero` holds are zero.
    pub(super) fn new(zero: &[bool]) -> Self {
        let factor = zero.iter().map(|&zero| u64::from(!zero)).collect();
        Self { parent: (0..zero.len() as u32).collect(), factor }
    }

    /// Solves the equations.
    pub(super) fn solutions(mut self, mut equations: Vec<Equation>) -> Solutions {
        let (mut before, mut work) = (usize::MAX, 0);
        while equations.len() < before && work < MAX_WORK {
            before = equations.len();
            work += before as u64;
            equations.retain(|&equation| !self.merge(equation));
        }
        let mut rows: Vec<SparseRow> =
            equations.iter().map(|&equation| self.row(equation)).collect();
        let unknowns = self.parent.len();
        let roots = (0..unknowns).filter(|&x| self.parent[x] as usize == x && self.factor[x] != 0);
        let classes = roots.count();
        if rows.is_empty() {
            return Solutions::Classes { count: classes as u64, unknowns: self };
        }
        let removed = remove_unconstrained(&mut rows, unknowns);
        match rank(rows, unknowns) {
            Some(rank) => Solutions::Dimension((classes - removed - rank) as u64),
            None => Solutions::BudgetExceeded,
        }
    }

    /// Returns the unknowns of each class with their factors relative to the root. None if a factor is
    /// not ±1.
    pub(super) fn signs(mut self) -> Option<Vec<Vec<(u32, f64)>>> {
        let mut place = vec![None; self.parent.len()];
        let mut classes: Vec<Vec<(u32, f64)>> = Vec::new();
        for x in 0..self.parent.len() as u32 {
            let (root, factor) = self.root(x);
            let sign = match factor {
                0 => continue,
                1 => 1.0,
                f if f == PRIME - 1 => -1.0,
                _ => return None,
            };
            let at = *place[root as usize].get_or_insert_with(|| {
                classes.push(Vec::new());
                classes.len() - 1
            });
            classes[at].push((x, sign));
        }
        Some(classes)
    }

    /// Returns the root and the factor of an unknown; the factor is 0 if the class is zero.
    fn root(&mut self, x: u32) -> (u32, u64) {
        let (mut at, mut factor) = (x, 1);
        while self.parent[at as usize] != at {
            let parent = self.parent[at as usize];
            let grandparent = self.parent[parent as usize];
            if grandparent != parent {
                let through = self.factor[at as usize] * self.factor[parent as usize] % PRIME;
                self.factor[at as usize] = through;
                self.parent[at as usize] = grandparent;
            }
            factor = factor * self.factor[at as usize] % PRIME;
            at = self.parent[at as usize];
        }
        (at, factor * self.factor[at as usize] % PRIME)
    }

    /// Writes an equation in terms of the roots of its unknowns.
    fn row(&mut self, Equation { plus: [a, b], minus }: Equation) -> SparseRow {
        let mut terms: SparseRow = Vec::with_capacity(3);
        for (x, sign) in [(a, 1), (b, 1), (minus, PRIME - 1)] {
            let (root, factor) = self.root(x);
            let term = sign * factor % PRIME;
            match terms.iter_mut().find(|(other, _)| *other == root) {
                Some((_, sum)) => *sum = (*sum + term) % PRIME,
                None => terms.push((root, term)),
            }
        }
        terms.retain(|&(_, factor)| factor != 0);
        terms.sort_unstable();
        terms
    }

    /// Applies an equation in at most two unknowns; returns whether it was one.
    fn merge(&mut self, equation: Equation) -> bool {
        match self.row(equation)[..] {
            [] => {}
            [(x, _)] => self.factor[x as usize] = 0,
            [(x, a), (y, b)] => {
                // a x + b y = 0
                self.parent[y as usize] = x;
                self.factor[y as usize] = (PRIME - a) * inverse(b) % PRIME;
            }
            _ => return false,
        }
        true
    }
}

/// Removes rows with an unknown that no other row has, until there are none; returns their number.
fn remove_unconstrained(rows: &mut Vec<SparseRow>, unknowns: usize) -> usize {
    let mut count = vec![0_u32; unknowns];
    // The sum of the row indices of an unknown: its row, if there is only one.
    let mut row_sum = vec![0_usize; unknowns];
    for (r, row) in rows.iter().enumerate() {
        for &(x, _) in row {
            count[x as usize] += 1;
            row_sum[x as usize] += r;
        }
    }
    let mut single: Vec<usize> = (0..unknowns).filter(|&x| count[x] == 1).collect();
    let mut removed = 0;
    while let Some(x) = single.pop() {
        if count[x] != 1 {
            continue;
        }
        let r = row_sum[x];
        removed += 1;
        for (y, _) in std::mem::take(&mut rows[r]) {
            let y = y as usize;
            count[y] -= 1;
            row_sum[y] -= r;
            if count[y] == 1 {
                single.push(y);
            }
        }
    }
    rows.retain(|row| !row.is_empty());
    removed
}

/// Returns the rank by elimination; none if it exceeds [`MAX_WORK`].
fn rank(rows: Vec<SparseRow>, unknowns: usize) -> Option<usize> {
    let mut pivots: Vec<SparseRow> = Vec::new();
    const NO_PIVOT: u32 = u32::MAX;
    let mut pivot_of = vec![NO_PIVOT; if rows.is_empty() { 0 } else { unknowns }];
    let mut work = 0;
    for mut row in rows {
        while let Some(&(x, factor)) = row.last() {
            let at = pivot_of[x as usize];
            if at == NO_PIVOT {
                let scale = inverse(factor);
                row.iter_mut().for_each(|(_, f)| *f = *f * scale % PRIME);
                pivot_of[x as usize] = pivots.len() as u32;
                pivots.push(row);
                break;
            }
            let pivot = &pivots[at as usize];
            work += (row.len() + pivot.len()) as u64;
            if work > MAX_WORK {
                return None;
            }
            row = subtract(&row, factor, pivot);
        }
    }
    Some(pivots.len())
}

/// Returns row − factor · pivot.
fn subtract(row: &[(u32, u64)], factor: u64, pivot: &[(u32, u64)]) -> SparseRow {
    let mut out = Vec::with_capacity(row.len() + pivot.len());
    let unknown = |terms: &[(u32, u64)], at: usize| terms.get(at).map_or(u32::MAX, |term| term.0);
    let (mut r, mut p) = (0, 0);
    while r < row.len() || p < pivot.len() {
        let (x, y) = (unknown(row, r), unknown(pivot, p));
        let mut sum = 0;
        if x <= y {
            sum += row[r].1;
            r += 1;
        }
        if y <= x {
            sum += (PRIME - factor) * pivot[p].1;
            p += 1;
        }
        if !sum.is_multiple_of(PRIME) {
            out.push((x.min(y), sum % PRIME));
        }
    }
    out
}

/// Returns 1/a modulo the prime p, by Fermat: a^(p−2).
fn inverse(a: u64) -> u64 {
    let (mut result, mut base, mut exponent) = (1, a % PRIME, PRIME - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % PRIME;
        }
        base = base * base % PRIME;
        exponent >>= 1;
    }
    result
}
