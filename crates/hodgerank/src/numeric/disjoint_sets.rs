//! Union–find with path halving.

/// A partition of `0..n` into sets; the root of a set is its smallest element.
#[derive(Debug)]
pub(crate) struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    /// `n` sets of one element each.
    pub(crate) fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect() }
    }

    /// The smallest element of the set of `i`.
    pub(crate) fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let grandparent = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = grandparent;
            i = grandparent;
        }
        i
    }

    /// The root of each element.
    pub(crate) fn roots(&mut self) -> Vec<u32> {
        (0..self.parent.len() as u32).map(|i| self.root(i)).collect()
    }

    /// Unites the sets of `i` and `j`; returns whether they were different.
    pub(crate) fn join(&mut self, i: u32, j: u32) -> bool {
        let (a, b) = (self.root(i), self.root(j));
        self.parent[a.max(b) as usize] = a.min(b);
        a != b
    }
}
