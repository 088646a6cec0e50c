//! Votes with their annotators, by pair.
//!
//! Within a pair, votes are in the order of annotators, sides and outcomes, and equal ones are merged: sums over
//! them depend neither on the order of the rows nor on the number of threads. Where several processes share
//! the votes, each vote goes to the process that owns its pair, once; the voices of all annotators follow
//! before each pass.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::votes::{Cell, Outcomes, PairVotes, Voice, VoiceSums, VotesByPair, outcome_of};
use crate::annotator_votes::{AnnotatorVote, AnnotatorVotes};
use crate::communicator::Communicator;
use crate::comparison::positive_zero;
use crate::error::{Error, Result};
use crate::graph::{ComparisonGraph, Pairs};

/// With at most so many items, a table of all pairs fits in the cache.
const MAX_TABLE_ITEMS: usize = 1 << 11;
const RECORD_BYTES: usize = 25;
const SIDE_SHIFT: u32 = 30;
/// Sides: unknown, first item on the left, second item on the left.
const SIGNS: [f64; 3] = [0.0, 1.0, -1.0];

/// A vote on a pair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct PersonVote {
    /// The annotator's number among those of all processes.
    annotator: u32,
    /// The place of its sign in [`SIGNS`] from bit [`SIDE_SHIFT`] on, and below it that of its outcome for the
    /// first item among all outcomes.
    code: u32,
    count: u32,
}

impl PersonVote {
    fn side(self) -> usize {
        (self.code >> SIDE_SHIFT) as usize
    }

    fn outcome(self) -> usize {
        (self.code & ((1 << SIDE_SHIFT) - 1)) as usize
    }
}

/// The votes of some annotators, sorted by pair, annotator and code.
#[derive(Debug)]
struct PartOfVotes {
    /// Those of pair p are `start[p]..start[p + 1]`.
    start: Vec<usize>,
    votes: Vec<PersonVote>,
}

impl PartOfVotes {
    /// `for_each` calls a function with the items of each vote, and the vote.
    fn new(
        finder: &PairFinder<'_>,
        for_each: impl Fn(&mut dyn FnMut(u32, u32, PersonVote)),
    ) -> Self {
        let pairs = finder.pairs.len();
        let (mut located, mut start) = (Vec::new(), vec![0_usize; pairs + 1]);
        for_each(&mut |left, right, _| {
            let pair = finder.find(left, right);
            located.push(pair);
            start[pair as usize + 1] += 1;
        });
        for p in 0..pairs {
            start[p + 1] += start[p];
        }
        let mut votes = vec![PersonVote::default(); located.len()];
        let (mut next, mut pairs_of_votes) = (start.clone(), located.iter());
        for_each(&mut |_, _, vote| {
            if let Some(&pair) = pairs_of_votes.next() {
                let place = &mut next[pair as usize];
                votes[*place] = vote;
                *place += 1;
            }
        });
        start.windows(2).for_each(|own| votes[own[0]..own[1]].sort_unstable());
        let mut own = Self { start, votes };
        own.merge();
        own
    }

    /// Merges equal votes, which follow each other.
    fn merge(&mut self) {
        let mut kept = 0;
        for p in 1..self.start.len() {
            let own = self.start[p - 1]..self.start[p];
            self.start[p - 1] = kept;
            for k in own {
                let vote = self.votes[k];
                if kept > self.start[p - 1] {
                    let last = &mut self.votes[kept - 1];
                    let is_same = (last.annotator, last.code) == (vote.annotator, vote.code);
                    if let (true, Some(count)) = (is_same, last.count.checked_add(vote.count)) {
                        last.count = count;
                        continue;
                    }
                }
                self.votes[kept] = vote;
                kept += 1;
            }
        }
        if let Some(end) = self.start.last_mut() {
            *end = kept;
        }
        self.votes.truncate(kept);
    }

    fn of_pair(&self, pair: usize) -> &[PersonVote] {
        &self.votes[self.start[pair]..self.start[pair + 1]]
    }
}

/// The votes of each pair with their annotators.
#[derive(Debug)]
pub(crate) struct PeopleVotes<'a> {
    graph: &'a ComparisonGraph,
    /// By annotator: those of the second part follow those of the first one, and so on.
    parts: Vec<PartOfVotes>,
    /// What the outcomes of votes refer to: a win, a loss and a tie of the first item, or all graded outcomes.
    outcomes: Vec<f64>,
    /// Whether b is in the model.
    pub(crate) has_advantage: bool,
    /// How each annotator votes, of all processes; the last one stands for all votes without an annotator.
    voices: Vec<Voice>,
    /// The voices that differ in more than their weight, with the weight 1; for each annotator the weight, and the position
    /// in them.
    distinct: Vec<Voice>,
    distinct_of: Vec<(f64, u32)>,
}

impl<'a> PeopleVotes<'a> {
    /// The votes of a graph; everybody votes as is typical. Collective.
    ///
    /// # Errors
    /// If there are too many different graded outcomes.
    pub(crate) fn new(
        graph: &'a ComparisonGraph,
        votes: &AnnotatorVotes,
        is_graded: bool,
    ) -> Result<Self> {
        let communicator = graph.communicator();
        let processes = communicator.processes();
        let number_of_own = (votes.annotators() as u64).to_le_bytes().to_vec();
        let of_processes = communicator.exchange(vec![number_of_own; processes]);
        let counts: Vec<usize> = of_processes.iter().map(|bytes| number(bytes)).collect();
        let first: usize = counts[..own_rank(communicator)].iter().sum();
        let all: usize = counts.iter().sum();
        let outcomes = match is_graded {
            true => graded_outcomes(graph)?,
            false => vec![1.0, -1.0, 0.0],
        };
        let code = |side: u8, y: f64| {
            let outcome = match is_graded {
                true => outcomes.partition_point(|known| *known < y),
                false => outcome_of(y),
            };
            u32::from(side) << SIDE_SHIFT | outcome as u32
        };
        let numbered = |annotator: usize| match annotator < votes.annotators() {
            true => (first + annotator) as u32,
            false => all as u32,
        };
        let finder = PairFinder::new(graph);
        let parts = if communicator.is_single_process() {
            let part = |range: Range<usize>| {
                PartOfVotes::new(&finder, |visit| {
                    for a in range.clone() {
                        for vote in votes.unsorted_of(a) {
                            let (side, y) = seen_from_first(vote, votes.y(vote), votes.has_sides());
                            let (annotator, count) = (numbered(a), vote.count);
                            let own = PersonVote { annotator, code: code(side, y), count };
                            visit(vote.left, vote.right, own);
                        }
                    }
                })
            };
            let ranges = votes.split(rayon::current_num_threads());
            ranges.into_par_iter().with_max_len(1).map(part).collect()
        } else {
            let received = send_to_owners(communicator, votes, numbered);
            vec![PartOfVotes::new(&finder, |visit| {
                for record in received.as_chunks::<RECORD_BYTES>().0 {
                    let [left, right, annotator, count] = [0, 4, 8, 12].map(|at| four(record, at));
                    let y = f64::from_le_bytes(std::array::from_fn(|k| record[16 + k]));
                    let own = PersonVote { annotator, code: code(record[24], y), count };
                    visit(left, right, own);
                }
            })]
        };
        let mut own = Self {
            graph,
            parts,
            outcomes,
            has_advantage: false,
            voices: vec![Voice::TYPICAL; all + 1],
            distinct: Vec::new(),
            distinct_of: Vec::new(),
        };
        own.find_distinct();
        Ok(own)
    }

    /// The votes of a pair, by annotator.
    fn of_pair(&self, pair: usize) -> impl Iterator<Item = &PersonVote> {
        self.parts.iter().flat_map(move |part| part.of_pair(pair))
    }

    /// Calls `visit` with the voice, the outcome for the first item and the count of each vote on a pair.
    pub(crate) fn for_each_vote(&self, pair: usize, mut visit: impl FnMut(Voice, f64, f64)) {
        for vote in self.of_pair(pair) {
            let voice = self.voices[vote.annotator as usize];
            visit(voice, self.outcomes[vote.outcome()], f64::from(vote.count));
        }
    }

    /// Sets how the annotators of this process vote. Collective.
    pub(crate) fn set_voices(&mut self, voices: &[Voice]) {
        let communicator = self.graph.communicator();
        if communicator.is_single_process() {
            self.voices[..voices.len()].copy_from_slice(voices);
            self.find_distinct();
            return;
        }
        let message: Vec<u8> = voices
            .iter()
            .flat_map(|v| [v.weight, v.sharpness, v.side])
            .flat_map(f64::to_le_bytes)
            .collect();
        let received = communicator.exchange(vec![message; communicator.processes()]);
        let numbers: Vec<f64> = received
            .iter()
            .flat_map(|own| own.as_chunks().0)
            .map(|own| f64::from_le_bytes(*own))
            .collect();
        for (voice, own) in self.voices.iter_mut().zip(numbers.chunks_exact(3)) {
            *voice = Voice { weight: own[0], sharpness: own[1], side: own[2] };
        }
        self.find_distinct();
    }

    fn find_distinct(&mut self) {
        let mut known = FxHashMap::default();
        self.distinct.clear();
        let place = |voice: &Voice| {
            let next = self.distinct.len() as u32;
            let key = (voice.sharpness.to_bits(), voice.side.to_bits());
            let place = known.entry(key).or_insert_with(|| {
                self.distinct.push(Voice { weight: 1.0, ..*voice });
                next
            });
            (voice.weight, *place)
        };
        self.distinct_of = self.voices.iter().map(place).collect();
    }

    /// The votes by side without their annotators, by the weights of the voices. Collective.
    pub(crate) fn by_side(&self) -> PairVotes<'a> {
        let of_pair = |p: usize| {
            let mut sides = [Outcomes::default(); 2];
            self.for_each_cell(p, |cell| {
                let side = &mut sides[usize::from(cell.sign < 0.0)];
                for (sum, votes) in side.iter_mut().zip(cell.votes) {
                    *sum += cell.voice.weight * votes;
                }
            });
            sides
        };
        let (first, second) =
            (0..self.pairs().len()).into_par_iter().map(of_pair).map(|[a, b]| (a, b)).unzip();
        PairVotes::of_sides(self.graph, first, second)
    }
}

impl VotesByPair for PeopleVotes<'_> {
    fn pairs(&self) -> &Pairs {
        self.graph.pairs()
    }

    fn has_advantage(&self) -> bool {
        self.has_advantage
    }

    #[inline]
    fn for_each_cell(&self, pair: usize, mut visit: impl FnMut(&Cell)) {
        let mut cell: Option<(u32, usize, Cell)> = None;
        for vote in self.of_pair(pair) {
            let PersonVote { annotator, count, .. } = *vote;
            let (side, outcome) = (vote.side(), vote.outcome());
            match &mut cell {
                Some((known, known_side, cell)) if (*known, *known_side) == (annotator, side) => {
                    cell.votes[outcome] += f64::from(count);
                }
                _ => {
                    if let Some((_, _, cell)) = &cell {
                        visit(cell);
                    }
                    let mut votes = [0.0; 3];
                    votes[outcome] = f64::from(count);
                    let (sign, voice) = (SIGNS[side], self.voices[annotator as usize]);
                    cell = Some((annotator, side, Cell { sign, voice, votes }));
                }
            }
        }
        if let Some((_, _, cell)) = &cell {
            visit(cell);
        }
    }

    #[inline]
    fn for_each_voice(&self, pair: usize, sums: &mut VoiceSums, mut visit: impl FnMut(&Cell)) {
        let VoiceSums { votes, found } = sums;
        votes.resize(SIGNS.len() * self.distinct.len(), Outcomes::default());
        for vote in self.of_pair(pair) {
            let (weight, place) = self.distinct_of[vote.annotator as usize];
            let weight = weight * f64::from(vote.count);
            if weight > 0.0 {
                let place = SIGNS.len() * place as usize + vote.side();
                let own = &mut votes[place];
                if *own == Outcomes::default() {
                    found.push(place as u32);
                }
                own[vote.outcome()] += weight;
            }
        }
        for place in found.drain(..) {
            let (voice, side) = (place as usize / SIGNS.len(), place as usize % SIGNS.len());
            let votes = std::mem::take(&mut votes[place as usize]);
            visit(&Cell { sign: SIGNS[side], voice: self.distinct[voice], votes });
        }
    }
}

/// The place of a vote's sign in [`SIGNS`], and its outcome for the item with the smaller index.
fn seen_from_first(vote: &AnnotatorVote, y: f64, has_sides: bool) -> (u8, f64) {
    match (has_sides, vote.left < vote.right) {
        (false, true) => (0, y),
        (false, false) => (0, positive_zero(-y)),
        (true, true) => (1, y),
        (true, false) => (2, positive_zero(-y)),
    }
}

/// All outcomes of a graph, increasing. Collective.
fn graded_outcomes(graph: &ComparisonGraph) -> Result<Vec<f64>> {
    let communicator = graph.communicator();
    let mut own = graph.groups().y.clone();
    own.par_sort_unstable_by(f64::total_cmp);
    own.dedup();
    let message: Vec<u8> = own.iter().flat_map(|y| y.to_le_bytes()).collect();
    let received = communicator.exchange(vec![message; communicator.processes()]);
    let numbers = received.iter().flat_map(|own| own.as_chunks().0);
    let mut all: Vec<f64> = numbers.map(|bytes| f64::from_le_bytes(*bytes)).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.dedup();
    let (count, max) = (all.len() as u64, 1 << SIDE_SHIFT);
    if count > max {
        return Err(Error::TooLarge { what: "different outcomes", count, max });
    }
    Ok(all)
}

/// Sends each vote to the process that owns its pair: a record of items, annotator, count, outcome and side. Collective.
fn send_to_owners(
    communicator: &dyn Communicator,
    votes: &AnnotatorVotes,
    numbered: impl Fn(usize) -> u32,
) -> Vec<u8> {
    let mut messages = vec![Vec::new(); communicator.processes()];
    for annotator in 0..=votes.annotators() {
        for vote in votes.unsorted_of(annotator) {
            let (low, high) = (vote.left.min(vote.right), vote.left.max(vote.right));
            let message = &mut messages[communicator.owner_of_pair(low, high)];
            let numbers = [low, high, numbered(annotator), vote.count];
            message.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
            let (side, y) = seen_from_first(vote, votes.y(vote), votes.has_sides());
            message.extend(y.to_le_bytes());
            message.push(side);
        }
    }
    communicator.exchange(messages).concat()
}

fn four(record: &[u8; RECORD_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|k| record[at + k]))
}

fn number(bytes: &[u8]) -> usize {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes) as usize)
}

/// The number of this process: the one to which a message to itself arrives in.
fn own_rank(communicator: &dyn Communicator) -> usize {
    let processes = communicator.processes();
    if processes == 1 {
        return 0;
    }
    // Each process learns its number from the messages, which are numbered by their receiver.
    let messages = (0..processes as u64).map(|p| p.to_le_bytes().to_vec()).collect();
    communicator.exchange(messages).first().map_or(0, |bytes| number(bytes))
}

/// Finds pairs by their items.
struct PairFinder<'a> {
    pairs: &'a Pairs,
    /// The pair of items i < j at j (j − 1)/2 + i, if there are few items.
    table: Vec<u32>,
    /// The first pair of each left item.
    first: Vec<u32>,
}

impl<'a> PairFinder<'a> {
    fn new(graph: &'a ComparisonGraph) -> Self {
        let (items, pairs) = (graph.items(), graph.pairs());
        let mut found = Self { pairs, table: Vec::new(), first: Vec::new() };
        if items <= MAX_TABLE_ITEMS {
            found.table = vec![u32::MAX; items * items.saturating_sub(1) / 2];
            for p in 0..pairs.len() {
                found.table[place(pairs.left[p], pairs.right[p])] = p as u32;
            }
        } else {
            found.first = vec![0; items + 1];
            pairs.left.iter().for_each(|&left| found.first[left as usize + 1] += 1);
            for item in 0..items {
                found.first[item + 1] += found.first[item];
            }
        }
        found
    }

    /// # Panics
    /// If the pair is not one of the graph.
    #[inline]
    fn find(&self, a: u32, b: u32) -> u32 {
        let (left, right) = (a.min(b), a.max(b));
        if !self.table.is_empty() {
            return self.table[place(left, right)];
        }
        let [first, end] = [0, 1].map(|k| self.first[left as usize + k] as usize);
        let own = &self.pairs.right[first..end];
        (first + own.binary_search(&right).expect("the votes of the graph")) as u32
    }
}

fn place(left: u32, right: u32) -> usize {
    right as usize * (right as usize - 1) / 2 + left as usize
}
