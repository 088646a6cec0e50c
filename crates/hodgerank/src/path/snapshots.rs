//! A bounded number of scores along a path.

use std::ops::Range;

/// Scores at some of the knots: the first, the last, and every `stride`-th in between.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Snapshots {
    items: usize,
    most: usize,
    pub(super) stride: u32,
    pub(super) knots: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Snapshots {
    pub(super) fn new(items: usize, bytes: usize) -> Self {
        let most = (bytes / (8 * items.max(1))).max(4);
        Self { items, most, stride: 1, knots: Vec::new(), values: Vec::new() }
    }

    pub(super) fn scores(&self, s: usize) -> &[f64] {
        &self.values[self.span(s)]
    }

    pub(super) fn span(&self, s: usize) -> Range<usize> {
        s * self.items..(s + 1) * self.items
    }

    /// The last knot always has a snapshot; the one before keeps its own only on the stride.
    pub(super) fn push(&mut self, knot: u32, scores: &[f64]) {
        if self.knots.last().is_some_and(|last| !last.is_multiple_of(self.stride)) {
            self.knots.pop();
            self.values.truncate(self.knots.len() * self.items);
        }
        if self.knots.len() == self.most {
            self.thin();
        }
        self.knots.push(knot);
        self.values.extend_from_slice(scores);
    }

    fn thin(&mut self) {
        self.stride *= 2;
        let mut kept = 0;
        for s in 0..self.knots.len() {
            if self.knots[s].is_multiple_of(self.stride) {
                self.knots[kept] = self.knots[s];
                let span = self.span(s);
                self.values.copy_within(span, kept * self.items);
                kept += 1;
            }
        }
        self.knots.truncate(kept);
        self.values.truncate(kept * self.items);
    }
}
