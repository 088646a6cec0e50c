//! A team of threads: sums in the order of the members, states kept in memory.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use hodgerank::communicator::{Checkpoint, Communicator};
use hodgerank::{ComparisonGraph, Groups};

/// The name of the work, and its state.
pub type State = (String, Vec<u8>);

/// What the members share.
#[derive(Debug)]
struct Table {
    barrier: Barrier,
    slots: Mutex<Vec<Vec<f64>>>,
}

/// One thread of the team.
#[derive(Debug)]
pub struct Member {
    number: usize,
    table: Arc<Table>,
    memory: Option<Memory>,
}

/// States of one member: each that is kept from now on, and that to begin with.
#[derive(Debug, Default)]
pub struct Memory {
    /// A state is due each time this many steps were made.
    pub every: u64,
    pub begin_with: Option<State>,
    asked: AtomicU64,
    pub kept: Mutex<Vec<State>>,
}

impl Memory {
    pub fn new(every: u64, begin_with: Option<State>) -> Self {
        Self { every, begin_with, ..Self::default() }
    }
}

impl Member {
    fn combine(&self, values: &[f64], combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        self.table.slots.lock().unwrap()[self.number] = values.to_vec();
        self.table.barrier.wait();
        let mut together: Option<Vec<f64>> = None;
        for slot in self.table.slots.lock().unwrap().iter() {
            assert_eq!(slot.len(), values.len(), "all must ask for the same thing");
            together = Some(match together {
                None => slot.clone(),
                Some(so_far) => so_far.iter().zip(slot).map(|(&a, &b)| combine(a, b)).collect(),
            });
        }
        self.table.barrier.wait();
        together.unwrap()
    }
}

impl Communicator for Member {
    fn sum(&self, values: &mut [f64]) {
        values.copy_from_slice(&self.combine(values, |a, b| a + b));
    }

    fn max(&self, values: &mut [f64]) {
        values.copy_from_slice(&self.combine(values, f64::max));
    }

    fn min(&self, values: &mut [u32]) {
        let numbers: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
        for (value, least) in values.iter_mut().zip(self.combine(&numbers, f64::min)) {
            *value = least as u32;
        }
    }

    fn checkpoint(&self) -> Option<&dyn Checkpoint> {
        self.memory.as_ref().map(|memory| memory as &dyn Checkpoint)
    }
}

impl Checkpoint for Memory {
    fn is_due(&self) -> bool {
        (self.asked.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(self.every)
    }

    fn save(&self, work: &str, state: &[u8]) {
        self.kept.lock().unwrap().push((work.to_owned(), state.to_vec()));
    }

    fn load(&self, work: &str) -> Option<Vec<u8>> {
        self.begin_with.as_ref().filter(|(of, _)| of == work).map(|(_, state)| state.clone())
    }
}

/// Deals the pairs out: `owner` says who gets a pair, and may give some member none.
pub fn deal(groups: &Groups, members: usize, owner: impl Fn(u32, u32) -> usize) -> Vec<Vec<usize>> {
    let mut dealt = vec![Vec::new(); members];
    for g in 0..groups.len() {
        dealt[owner(groups.left[g], groups.right[g]) % members].push(g);
    }
    dealt
}

pub fn pick(groups: &Groups, picked: &[usize]) -> Groups {
    Groups {
        left: picked.iter().map(|&g| groups.left[g]).collect(),
        right: picked.iter().map(|&g| groups.right[g]).collect(),
        y: picked.iter().map(|&g| groups.y[g]).collect(),
        weight: picked.iter().map(|&g| groups.weight[g]).collect(),
    }
}

/// Lets a thread for each list of groups do `work`; answers in the order of the members.
pub fn together<T: Send>(
    items: usize,
    groups: &Groups,
    dealt: &[Vec<usize>],
    memories: Vec<Option<Memory>>,
    work: impl Fn(&ComparisonGraph) -> T + Sync,
) -> Vec<(T, Vec<State>)> {
    let table = Arc::new(Table {
        barrier: Barrier::new(dealt.len()),
        slots: Mutex::new(vec![Vec::new(); dealt.len()]),
    });
    std::thread::scope(|scope| {
        let members = dealt.iter().zip(memories).enumerate().map(|(number, (mine, memory))| {
            let (table, work) = (Arc::clone(&table), &work);
            scope.spawn(move || {
                // A pool of its own: a member that waits must not hold a thread of the others.
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
                let member = Arc::new(Member { number, table, memory });
                let communicator: Arc<dyn Communicator> = Arc::clone(&member) as _;
                let answer = pool.install(|| {
                    let shared =
                        ComparisonGraph::distributed(items, pick(groups, mine), communicator)
                            .unwrap();
                    work(&shared)
                });
                let kept = member.memory.as_ref().map(|memory| memory.kept.lock().unwrap().clone());
                (answer, kept.unwrap_or_default())
            })
        });
        let members: Vec<_> = members.collect();
        members.into_iter().map(|member| member.join().unwrap()).collect()
    })
}
