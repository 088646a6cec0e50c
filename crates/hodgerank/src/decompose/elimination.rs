//! The dimension of the solutions of equations x_a + x_b − x_c = 0, modulo a prime.
//!
//! 1. An equation of one unknown makes it zero; one of two unknowns makes one a multiple of the
//!    other. A union–find with factors joins them, pass by pass, until nothing changes or the budget is
//!    spent; what is left goes to the next steps either way.
//! 2. An equation with an unknown of its own says nothing about the others: both are taken out,
//!    and others may follow.
//! 3. Gauss elimination of the sparse rows that are left, the largest unknown of a row first.
//!
//! Cost: nearly linear for 1 and 2, which leave nothing on most graphs. 3 may fill up, to the cube
//! of the unknowns at worst, and has a budget.

/// 2³¹ − 1, so that products fit 64 bits.
const PRIME: u64 = (1 << 31) - 1;
/// Most entries that elimination may touch: some seconds.
const MAX_WORK: u64 = 500_000_000;

/// x_plus[0] + x_plus[1] − x_minus = 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Equation {
    pub(super) plus: [u32; 2],
    pub(super) minus: u32,
}

/// Terms (unknown, factor), ascending by unknown, no factor zero.
type Row = Vec<(u32, u64)>;

/// The solutions of all equations.
pub(super) enum Solutions {
    /// Each class of unknowns can be chosen freely.
    Classes {
        /// How many there are.
        count: u64,
        /// Which unknowns they hold.
        unknowns: Unknowns,
    },
    /// As many dimensions as this.
    Dimension(u64),
    /// Elimination passed its budget.
    TooMuchWork,
}

/// Unknowns, each a multiple of the root of its class, or zero.
pub(super) struct Unknowns {
    parent: Vec<u32>,
    /// x = factor · x_parent; 0 for an unknown that is zero.
    factor: Vec<u64>,
}

impl Unknowns {
    /// One class for each unknown; those for which `zero` holds are zero.
    pub(super) fn new(zero: &[bool]) -> Self {
        let factor = zero.iter().map(|&zero| u64::from(!zero)).collect();
        Self { parent: (0..zero.len() as u32).collect(), factor }
    }

    /// How many unknowns can be chosen freely.
    pub(super) fn solutions(mut self, mut equations: Vec<Equation>) -> Solutions {
        let (mut before, mut work) = (usize::MAX, 0);
        while equations.len() < before && work < MAX_WORK {
            before = equations.len();
            work += before as u64;
            equations.retain(|&equation| !self.settle(equation));
        }
        let mut rows: Vec<Row> = equations.iter().map(|&equation| self.row(equation)).collect();
        let unknowns = self.parent.len();
        let roots = (0..unknowns).filter(|&x| self.parent[x] as usize == x && self.factor[x] != 0);
        let classes = roots.count();
        if rows.is_empty() {
            return Solutions::Classes { count: classes as u64, unknowns: self };
        }
        let apart = take_out_lone(&mut rows, unknowns);
        match rank(rows, unknowns) {
            Some(rank) => Solutions::Dimension((classes - apart - rank) as u64),
            None => Solutions::TooMuchWork,
        }
    }

    /// The flow of each class: its unknowns, each with the sign of its root. None if some factor is
    /// no sign.
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

    /// Root and factor of an unknown; the root has factor 0 if the class is zero.
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

    /// An equation in the roots of its unknowns.
    fn row(&mut self, Equation { plus: [a, b], minus }: Equation) -> Row {
        let mut terms: Row = Vec::with_capacity(3);
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

    /// Uses an equation of at most two unknowns up; says whether it was one.
    fn settle(&mut self, equation: Equation) -> bool {
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

/// Takes out rows with an unknown that no other row has, again and again; returns how many.
fn take_out_lone(rows: &mut Vec<Row>, unknowns: usize) -> usize {
    let mut count = vec![0_u32; unknowns];
    // The sum of the rows of an unknown: where there is one row only, that row.
    let mut row_sum = vec![0_usize; unknowns];
    for (r, row) in rows.iter().enumerate() {
        for &(x, _) in row {
            count[x as usize] += 1;
            row_sum[x as usize] += r;
        }
    }
    let mut lone: Vec<usize> = (0..unknowns).filter(|&x| count[x] == 1).collect();
    let mut taken = 0;
    while let Some(x) = lone.pop() {
        if count[x] != 1 {
            continue;
        }
        let r = row_sum[x];
        taken += 1;
        for (y, _) in std::mem::take(&mut rows[r]) {
            let y = y as usize;
            count[y] -= 1;
            row_sum[y] -= r;
            if count[y] == 1 {
                lone.push(y);
            }
        }
    }
    rows.retain(|row| !row.is_empty());
    taken
}

/// The rank by elimination; none if it takes too much work.
fn rank(rows: Vec<Row>, unknowns: usize) -> Option<usize> {
    let mut pivots: Vec<Row> = Vec::new();
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
            row = less(&row, factor, pivot);
        }
    }
    Some(pivots.len())
}

/// row − factor · pivot.
fn less(row: &[(u32, u64)], factor: u64, pivot: &[(u32, u64)]) -> Row {
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

/// 1/a, by Fermat: a^(p−2).
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
