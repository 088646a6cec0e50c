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

/// The votes of each pair with their annotators.
#[derive(Debug)]
pub(crate) struct PeopleVotes<'a> {
    graph: &'a ComparisonGraph,
    /// The votes of pair p are `start[p]..start[p] + len[p]`.
    start: Vec<usize>,
    len: Vec<u32>,
    votes: Vec<PersonVote>,
    /// What the outcomes of votes refer to: a win, a loss and a tie of the first item, or all graded outcomes.
    outcomes: Vec<f64>,
    /// Whether b is in the model.
    pub(crate) has_advantage: bool,
    /// How each annotator votes, of all processes; the last one stands for all votes without an annotator.
    voices: Vec<Voice>,
    /// The voices that differ in more than their weight, with the weight 1, and for each annotator the position in them.
    distinct: Vec<Voice>,
    distinct_of: Vec<u32>,
    /// The number of the first annotator of this process.
    first: usize,
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
        let of_process =
            communicator.exchange(vec![
                (votes.annotators() as u64).to_le_bytes().to_vec();
                communicator.processes()
            ]);
        let rank = own_rank(communicator);
        let counts: Vec<usize> = of_process.iter().map(|bytes| number(bytes)).collect();
        let first = counts[..rank].iter().sum();
        let all: usize = counts.iter().sum();
        let outcomes = match is_graded {
            true => graded_outcomes(graph)?,
            false => vec![1.0, -1.0, 0.0],
        };
        let voices = vec![Voice::TYPICAL; all + 1];
        let (start, len) = (Vec::new(), Vec::new());
        let mut own = Self {
            graph,
            start,
            len,
            votes: Vec::new(),
            outcomes,
            has_advantage: false,
            voices,
            distinct: Vec::new(),
            distinct_of: Vec::new(),
            first,
        };
        own.find_distinct();
        match communicator.processes() {
            1 => own.sort_in(&Located::new(graph, votes, all as u32), is_graded),
            _ => {
                let received = own.exchange(votes, all as u32);
                own.sort_in(&Located::of_records(graph, &received), is_graded);
            }
        }
        Ok(own)
    }

    /// Calls `visit` with the voice, the outcome for the first item and the count of each vote on a pair.
    pub(crate) fn for_each_vote(&self, pair: usize, mut visit: impl FnMut(Voice, f64, f64)) {
        let first = self.start[pair];
        for vote in &self.votes[first..first + self.len[pair] as usize] {
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
            *known.entry((voice.sharpness.to_bits(), voice.side.to_bits())).or_insert_with(|| {
                self.distinct.push(Voice { weight: 1.0, ..*voice });
                next
            })
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
            (0..self.len.len()).into_par_iter().map(of_pair).map(|[a, b]| (a, b)).unzip();
        PairVotes::of_sides(self.graph, first, second)
    }

    /// Sends each vote to the process that owns its pair. Collective.
    fn exchange(&self, votes: &AnnotatorVotes, unknown: u32) -> Vec<u8> {
        let communicator = self.graph.communicator();
        let mut messages = vec![Vec::new(); communicator.processes()];
        for annotator in 0..=votes.annotators() {
            let number = match annotator < votes.annotators() {
                true => (self.first + annotator) as u32,
                false => unknown,
            };
            for vote in votes.unsorted_of(annotator) {
                let (low, high) = (vote.left.min(vote.right), vote.left.max(vote.right));
                let message = &mut messages[communicator.owner_of_pair(low, high)];
                message
                    .extend([low, high, number, vote.count].iter().flat_map(|n| n.to_le_bytes()));
                let (side, y) = seen_from_first(vote, votes.y(vote), votes.has_sides());
                message.extend(y.to_le_bytes());
                message.push(side);
            }
        }
        communicator.exchange(messages).concat()
    }

    /// Sorts votes by pair, and within a pair.
    fn sort_in(&mut self, located: &Located<'_>, is_graded: bool) {
        let pairs = self.graph.pairs().len();
        let mut counts = vec![0_usize; pairs + 1];
        located.pair.iter().for_each(|&p| counts[p as usize + 1] += 1);
        for p in 0..pairs {
            counts[p + 1] += counts[p];
        }
        let mut votes = vec![PersonVote::default(); located.pair.len()];
        let outcomes = &self.outcomes;
        // Each task writes the votes of its own range of pairs.
        let ranges = crate::annotator_votes::split(&counts, rayon::current_num_threads());
        let mut rest = &mut votes[..];
        let mut tasks: Vec<(Range<usize>, &mut [PersonVote])> = Vec::with_capacity(ranges.len());
        for range in ranges {
            let (own, after) = rest.split_at_mut(counts[range.end] - counts[range.start]);
            tasks.push((range, own));
            rest = after;
        }
        let write = |(range, own): (Range<usize>, &mut [PersonVote])| -> Vec<u32> {
            let first = counts[range.start];
            let mut next: Vec<usize> =
                counts[range.clone()].iter().map(|start| start - first).collect();
            located.for_each(|p, annotator, (side, y), count| {
                let p = p as usize;
                if range.contains(&p) {
                    let outcome = match is_graded {
                        true => outcomes.partition_point(|known| *known < y),
                        false => outcome_of(y),
                    } as u32;
                    let place = &mut next[p - range.start];
                    let code = u32::from(side) << SIDE_SHIFT | outcome;
                    own[*place] = PersonVote { annotator, code, count };
                    *place += 1;
                }
            });
            range
                .map(|p| {
                    let own = &mut own[counts[p] - first..counts[p + 1] - first];
                    own.sort_unstable();
                    merge(own) as u32
                })
                .collect()
        };
        self.len = tasks.into_par_iter().with_max_len(1).map(write).collect::<Vec<_>>().concat();
        (self.start, self.votes) = (counts, votes);
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
        let first = self.start[pair];
        let mut cell: Option<(u32, usize, Cell)> = None;
        for vote in &self.votes[first..first + self.len[pair] as usize] {
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
        let first = self.start[pair];
        for vote in &self.votes[first..first + self.len[pair] as usize] {
            let annotator = vote.annotator as usize;
            let weight = self.voices[annotator].weight * f64::from(vote.count);
            if weight > 0.0 {
                let place = SIGNS.len() * self.distinct_of[annotator] as usize + vote.side();
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

/// Merges equal votes, which follow each other; returns how many are left at the start.
fn merge(votes: &mut [PersonVote]) -> usize {
    let mut kept = 0;
    for k in 0..votes.len() {
        let vote = votes[k];
        if kept > 0 {
            let last = &mut votes[kept - 1];
            let key = |vote: &PersonVote| (vote.annotator, vote.code);
            let is_same = key(last) == key(&vote);
            if let (true, Some(count)) = (is_same, last.count.checked_add(vote.count)) {
                last.count = count;
                continue;
            }
        }
        votes[kept] = vote;
        kept += 1;
    }
    kept
}

/// Votes by annotator, with the pair of each.
struct Located<'a> {
    pair: Vec<u32>,
    source: Source<'a>,
}

enum Source<'a> {
    /// The votes of this process, and the number of unknown people.
    Own(&'a AnnotatorVotes, u32),
    /// Votes that other processes sent.
    Records(&'a [[u8; RECORD_BYTES]]),
}

impl<'a> Located<'a> {
    fn new(graph: &ComparisonGraph, votes: &'a AnnotatorVotes, unknown: u32) -> Self {
        let finder = PairFinder::new(graph);
        let all = votes.all(false);
        let pair = all.par_iter().map(|vote| finder.find(vote.left, vote.right)).collect();
        Self { pair, source: Source::Own(votes, unknown) }
    }

    fn of_records(graph: &ComparisonGraph, bytes: &'a [u8]) -> Self {
        let finder = PairFinder::new(graph);
        let records = bytes.as_chunks().0;
        let pair = |record: &[u8; RECORD_BYTES]| finder.find(four(record, 0), four(record, 4));
        Self { pair: records.par_iter().map(pair).collect(), source: Source::Records(records) }
    }

    /// Calls `visit` with pair, annotator, side and outcome, and count of each vote.
    fn for_each(&self, mut visit: impl FnMut(u32, u32, (u8, f64), u32)) {
        match &self.source {
            Source::Own(votes, unknown) => {
                let mut pairs = self.pair.iter();
                for a in 0..=votes.annotators() {
                    let annotator = if a < votes.annotators() { a as u32 } else { *unknown };
                    for (vote, &pair) in votes.unsorted_of(a).iter().zip(&mut pairs) {
                        let seen = seen_from_first(vote, votes.y(vote), votes.has_sides());
                        visit(pair, annotator, seen, vote.count);
                    }
                }
            }
            Source::Records(records) => {
                for (record, &pair) in records.iter().zip(&self.pair) {
                    let y = f64::from_le_bytes(std::array::from_fn(|k| record[16 + k]));
                    let seen = (record[24], y);
                    visit(pair, four(record, 8), seen, four(record, 12));
                }
            }
        }
    }
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
