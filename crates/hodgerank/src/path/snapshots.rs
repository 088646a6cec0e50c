//! Scores at a bounded number of knots.

use std::ops::Range;

/// The scores at the first knot, the last knot, and every `stride`-th knot in between.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Snapshots {
    items: usize,
    max_snapshots: usize,
    pub(super) stride: u32,
    pub(super) knots: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Snapshots {
    /// Creates an empty store of at most `bytes` bytes, but at least four snapshots.
    pub(super) fn new(items: usize, bytes: usize) -> Self {
        let max_snapshots = (bytes / (8 * items.max(1))).max(4);
        Self { items, max_snapshots, stride: 1, knots: Vec::new(), values: Vec::new() }
    }

    pub(super) fn scores(&self, s: usize) -> &[f64] {
        &self.values[self.span(s)]
    }

    pub(super) fn span(&self, s: usize) -> Range<usize> {
        s * self.items..(s + 1) * self.items
    }

    /// Adds the scores of the last knot. The snapshot before it is dropped unless its knot is a
    /// multiple of the stride.
    pub(super) fn push(&mut self, knot: u32, scores: &[f64]) {
        if self.knots.last().is_some_and(|last| !last.is_multiple_of(self.stride)) {
            self.knots.pop();
            self.values.truncate(self.knots.len() * self.items);
        }
        if self.knots.len() == self.max_snapshots {
            self.double_stride();
        }
        self.knots.push(knot);
        self.values.extend_from_slice(scores);
    }

    fn double_stride(&mut self) {
        self.stride *= 2;
        let mut count = 0;
        for s in 0..self.knots.len() {
            if self.knots[s].is_multiple_of(self.stride) {
                self.knots[count] = self.knots[s];
                let span = self.span(s);
                self.values.copy_within(span, count * self.items);
                count += 1;
            }
        }
        self.knots.truncate(count);
        self.values.truncate(count * self.items);
    }
}
