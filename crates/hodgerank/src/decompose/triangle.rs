//! Triangles: three items that were all compared with each other.

use std::cmp::Ordering;

/// Three items that were all compared with each other, in the direction of positive curl.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Triangle<I = u32> {
    /// The items a, b, c of the cycle a → b → c → a: indices, the smallest first, or names after
    /// [`Triangle::map`].
    pub items: [I; 3],
    /// The sum of the flows, zero or more. It is zero in a consistent triangle.
    pub curl: f64,
    /// How much the votes say for the cycle: curl² / Σ 1/w over its three pairs with w votes. This is the
    /// energy of the votes that the cycle alone explains, so that a cycle that rests on few votes is weak.
    pub energy: f64,
    /// Mean votes along the cycle: how much a is preferred to b, b to c, and c to a.
    pub flows: [f64; 3],
    /// Number of votes behind each flow.
    pub votes: [u64; 3],
    /// The pairs {a, b}, {b, c}, {c, a}, as indices of [`crate::Pairs`].
    #[cfg_attr(feature = "serde", serde(skip))]
    pub pairs: [u32; 3],
}

impl<I> Triangle<I> {
    /// Whether the majorities form a cycle: a over b, b over c, c over a.
    #[must_use]
    pub fn is_cyclic(&self) -> bool {
        self.flows.iter().all(|&f| f > 0.0)
    }

    /// Replaces the items, for example by their names.
    #[must_use]
    pub fn map<J>(self, name: impl FnMut(I) -> J) -> Triangle<J> {
        let Self { items, curl, energy, flows, votes, pairs } = self;
        Triangle { items: items.map(name), curl, energy, flows, votes, pairs }
    }
}

impl Triangle {
    /// More energy first, then smaller items.
    pub(super) fn worse_first(&self, other: &Self) -> Ordering {
        other.energy.total_cmp(&self.energy).then_with(|| self.items.cmp(&other.items))
    }
}

/// Number of triangles, and how many of them are transitive.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Transitivity {
    /// The transitivity satisfaction rate: the share of decided triangles that are not cyclic. None
    /// if no triangle is decided.
    pub rate: Option<f64>,
    /// Triangles visited: all of them unless `sampled` is set.
    pub triangles: u64,
    /// Triangles whose three pairs all have a majority: those to which transitivity applies.
    pub decided: u64,
    /// Decided triangles whose majorities form a cycle.
    pub cyclic: u64,
    /// The share of pairs whose triangles were visited, if visiting all of them would have exceeded
    /// [`super::DecomposeOptions::max_triangles`]; none if all were visited. The counts and the listed
    /// triangles are then those of the sample.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sampled: Option<f64>,
}
