//! The votes that can be removed, at the level at which the method distinguishes them, and what remains
//! without some of them.
//!
//! | method | equal votes have the same |
//! |---|---|
//! | `crowd` | annotator, items, sides and outcome |
//! | `bt`, if sides are known | items, sides and outcome |
//! | others | items and outcome |

use std::collections::BTreeMap;

use crate::annotator_votes::AnnotatorVotes;
use crate::comparison::Comparison;
use crate::error::Result;
use crate::fit::{Fit, fit_with_annotators};
use crate::graph::{ComparisonGraph, SideCounts};
use crate::options::FitOptions;
use crate::select::lapse::vote_size;
use crate::solve::Method;

/// All votes of a study.
#[derive(Debug)]
pub(super) struct VoteTable<'a> {
    pub(super) graph: &'a ComparisonGraph,
    /// Votes that the method does not distinguish are one row with a count.
    pub(super) rows: Vec<Comparison>,
    /// The distinct vote of the graph to which each row belongs.
    pub(super) group_of: Vec<u32>,
    /// The rows of each annotator, and how many votes of them are theirs.
    pub(super) of_annotator: Vec<Vec<(u32, u64)>>,
    /// Whether rows have the annotators of their votes.
    has_annotators: bool,
    /// Whether `left` and `right` of rows are sides.
    has_sides: bool,
}

/// How many votes of a row are removed, by row.
pub(super) type Removal = Vec<(u32, u64)>;

/// The votes that remain.
#[derive(Debug)]
pub(super) struct Remaining {
    /// Votes left of each row.
    pub(super) counts: Vec<u64>,
    /// The distinct vote of the remaining graph to which each row belongs, if any of it is left.
    pub(super) group_of: Vec<u32>,
    /// The index of each annotator among those who are left.
    pub(super) annotator_of: Vec<u32>,
    pub(super) graph: ComparisonGraph,
    votes: Option<AnnotatorVotes>,
}

type Key = (Option<u32>, u32, u32, u64);

impl<'a> VoteTable<'a> {
    /// The votes of a graph, with their annotators if they are known.
    pub(super) fn new(
        graph: &'a ComparisonGraph,
        votes: Option<&AnnotatorVotes>,
        method: Method,
    ) -> Self {
        let has_annotators = method == Method::Crowd && votes.is_some();
        // Sides of graded votes are counted for all sizes together, so that a row has no side.
        let counted = graph.sides().filter(|_| vote_size(graph).is_some());
        let is_sided = votes.is_some_and(AnnotatorVotes::has_sides) && counted.is_none();
        let has_sides = match method {
            Method::Crowd => votes.is_some_and(AnnotatorVotes::has_sides),
            Method::BradleyTerry => is_sided || counted.is_some(),
            _ => false,
        };
        let mut table = Self {
            graph,
            rows: Vec::new(),
            group_of: Vec::new(),
            of_annotator: Vec::new(),
            has_annotators,
            has_sides,
        };
        match (method, votes, counted) {
            (Method::Crowd, Some(votes), _) => table.list(all_votes(votes)),
            (Method::BradleyTerry, Some(votes), None) if is_sided => {
                table.list(all_votes(votes).map(|vote| Comparison { annotator: None, ..vote }));
            }
            (Method::BradleyTerry, _, Some(sides)) => table.list(sided_rows(graph, sides)),
            _ => {
                let groups = graph.groups();
                let vote = |g: usize| {
                    let vote = Comparison::new(groups.left[g], groups.right[g], groups.y[g]);
                    vote.with_count(groups.weight[g] as u64)
                };
                table.list((0..groups.len()).map(vote));
            }
        }
        if let Some(votes) = votes {
            table.assign(votes);
        }
        table
    }

    /// The vote as it stands in the table: as it was cast, if the method reads votes as they were cast.
    fn as_listed(&self, vote: Comparison) -> Comparison {
        if self.has_sides || self.has_annotators { vote } else { vote.oriented() }
    }

    fn key(&self, vote: &Comparison) -> Key {
        let vote = self.as_listed(*vote);
        let annotator = vote.annotator.filter(|_| self.has_annotators);
        (annotator, vote.left, vote.right, (vote.y + 0.0).to_bits())
    }

    fn list(&mut self, votes: impl Iterator<Item = Comparison>) {
        let mut rows: BTreeMap<Key, Comparison> = BTreeMap::new();
        for vote in votes.filter(|vote| vote.count > 0) {
            let vote = self.as_listed(vote);
            let known = rows.entry(self.key(&vote)).or_insert(Comparison { count: 0, ..vote });
            known.count += vote.count;
        }
        for row in rows.into_values() {
            let group = self.graph.groups().find(row.left, row.right, row.y);
            let Some(group) = group else { continue };
            self.rows.push(row);
            self.group_of.push(group as u32);
        }
    }

    /// Finds the rows of each annotator.
    fn assign(&mut self, votes: &AnnotatorVotes) {
        let index: BTreeMap<Key, u32> =
            self.rows.iter().enumerate().map(|(r, row)| (self.key(row), r as u32)).collect();
        let of_annotator = |a: usize| {
            let mut rows: BTreeMap<u32, u64> = BTreeMap::new();
            for vote in votes.of(a) {
                let vote = comparison(votes, a, vote);
                if let Some(&row) = index.get(&self.key(&vote)) {
                    *rows.entry(row).or_default() += vote.count;
                }
            }
            rows.into_iter().collect()
        };
        self.of_annotator = (0..votes.annotators()).map(of_annotator).collect();
    }

    /// Number of known annotators.
    pub(super) fn annotators(&self) -> usize {
        self.of_annotator.len()
    }

    /// What remains without some votes. More votes than there are count as all.
    ///
    /// # Errors
    /// If nothing can be ranked.
    pub(super) fn without(&self, removal: &Removal) -> Result<Remaining> {
        let mut counts: Vec<u64> = self.rows.iter().map(|row| row.count).collect();
        let mut weight = self.graph.groups().weight.clone();
        for &(row, removed) in removal {
            let row = row as usize;
            let removed = removed.min(counts[row]);
            counts[row] -= removed;
            weight[self.group_of[row] as usize] -= removed as f64;
        }
        let mut next = 0;
        let new_index: Vec<u32> = weight
            .iter()
            .map(|&weight| {
                next += u32::from(weight > 0.0);
                next.wrapping_sub(1)
            })
            .collect();
        let group_of = self.group_of.iter().map(|&g| new_index[g as usize]).collect();
        let graph =
            ComparisonGraph::new(self.graph.items(), self.graph.groups().reweighted(&weight))?;
        let mut annotator_of = vec![u32::MAX; self.annotators()];
        let mut votes = None;
        let mut sides = None;
        if self.has_annotators || self.has_sides {
            let left = self.rows.iter().zip(&counts).filter(|(_, count)| **count > 0);
            let mut left: Vec<Comparison> =
                left.map(|(row, &count)| row.with_count(count)).collect();
            if self.has_annotators {
                // As if the others had never voted. Rows are sorted by annotator.
                let mut known = 0;
                for vote in &mut left {
                    let Some(annotator) = vote.annotator else { continue };
                    let new = &mut annotator_of[annotator as usize];
                    if *new == u32::MAX {
                        *new = known;
                        known += 1;
                    }
                    vote.annotator = Some(*new);
                }
                let known = known as usize;
                votes = Some(AnnotatorVotes::from_comparisons(known, &left, self.has_sides));
            } else {
                sides = Some(SideCounts::of_comparisons(self.graph.items(), &left));
            }
        }
        Ok(Remaining { counts, group_of, annotator_of, graph: graph.with_sides(sides), votes })
    }
}

impl Remaining {
    /// Ranks what remains.
    ///
    /// # Errors
    /// If the method refuses the votes.
    pub(super) fn fit(&self, options: &FitOptions) -> Result<Fit> {
        fit_with_annotators(&self.graph, self.votes.as_ref(), options)
    }
}

fn comparison(votes: &AnnotatorVotes, annotator: usize, vote: &crate::AnnotatorVote) -> Comparison {
    let known = annotator < votes.annotators();
    let read = Comparison::new(vote.left, vote.right, votes.y(vote));
    Comparison { annotator: known.then_some(annotator as u32), ..read }
        .with_count(u64::from(vote.count))
}

/// Every vote with its annotator, those of unknown people last.
fn all_votes(votes: &AnnotatorVotes) -> impl Iterator<Item = Comparison> {
    let of = move |a: usize| votes.of(a).iter().map(move |vote| comparison(votes, a, vote));
    (0..=votes.annotators()).flat_map(of)
}

/// The votes of each distinct vote by side.
fn sided_rows<'a>(
    graph: &'a ComparisonGraph,
    sides: &SideCounts,
) -> impl Iterator<Item = Comparison> + 'a {
    let (groups, pairs) = (graph.groups(), graph.pairs());
    let of_pairs = sides.of_pairs(pairs);
    (0..pairs.len()).flat_map(move |p| {
        let found = of_pairs[p];
        let of_pair = pairs.first_group[p] as usize..pairs.first_group[p + 1] as usize;
        of_pair.flat_map(move |g| {
            let (y, all) = (groups.y[g], groups.weight[g]);
            let as_stored = match y {
                y if y > 0.0 => found.won_left,
                y if y < 0.0 => all - found.lost_right,
                _ => found.tied_left,
            };
            let as_stored = as_stored.clamp(0.0, all);
            let (i, j) = (groups.left[g], groups.right[g]);
            [
                Comparison::new(i, j, y).with_count(as_stored as u64),
                Comparison::new(j, i, 0.0 - y).with_count((all - as_stored) as u64),
            ]
        })
    })
}
