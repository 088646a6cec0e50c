//! A communicator of threads: sums in the order of processes, checkpoints in memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use hodgerank::communicator::{Checkpoint, Communicator};
use hodgerank::{ComparisonGraph, Groups};

/// The name of a computation, and its state.
pub(crate) type SavedState = (String, Vec<u8>);

/// Memory through which the threads exchange values.
#[derive(Debug)]
struct ExchangeSlots {
    barrier: Barrier,
    slots: Mutex<Vec<Vec<f64>>>,
    /// The messages of each process to each.
    messages: Mutex<Vec<Vec<Vec<u8>>>>,
    /// The process of each pair.
    owners: HashMap<(u32, u32), usize>,
}

/// The communicator of one thread, which takes the role of a process.
#[derive(Debug)]
pub(crate) struct ThreadCommunicator {
    process: usize,
    exchange: Arc<ExchangeSlots>,
    checkpoint: Option<MemoryCheckpoint>,
}

/// Checkpoints of one process, and the one from which it resumes.
#[derive(Debug, Default)]
pub(crate) struct MemoryCheckpoint {
    /// Number of steps between checkpoints.
    pub(crate) every: u64,
    pub(crate) resume_from: Option<SavedState>,
    asked: AtomicU64,
    pub(crate) kept: Mutex<Vec<SavedState>>,
}

impl MemoryCheckpoint {
    pub(crate) fn new(every: u64, resume_from: Option<SavedState>) -> Self {
        Self { every, resume_from, ..Self::default() }
    }
}

impl ThreadCommunicator {
    fn combine(&self, values: &[f64], combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        self.exchange.slots.lock().unwrap()[self.process] = values.to_vec();
        self.exchange.barrier.wait();
        let mut combined: Option<Vec<f64>> = None;
        for slot in self.exchange.slots.lock().unwrap().iter() {
            assert_eq!(slot.len(), values.len(), "all processes exchange the same quantity");
            combined = Some(match combined {
                None => slot.clone(),
                Some(sum) => sum.iter().zip(slot).map(|(&a, &b)| combine(a, b)).collect(),
            });
        }
        self.exchange.barrier.wait();
        combined.unwrap()
    }
}

impl Communicator for ThreadCommunicator {
    fn sum(&self, values: &mut [f64]) {
        values.copy_from_slice(&self.combine(values, |a, b| a + b));
    }

    fn max(&self, values: &mut [f64]) {
        values.copy_from_slice(&self.combine(values, f64::max));
    }

    fn min(&self, values: &mut [u32]) {
        let numbers: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
        for (value, minimum) in values.iter_mut().zip(self.combine(&numbers, f64::min)) {
            *value = minimum as u32;
        }
    }

    fn processes(&self) -> usize {
        self.exchange.messages.lock().unwrap().len()
    }

    fn owner_of_pair(&self, left: u32, right: u32) -> usize {
        self.exchange.owners[&(left, right)]
    }

    fn exchange(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        assert_eq!(messages.len(), self.processes(), "one message for each process");
        self.exchange.messages.lock().unwrap()[self.process] = messages;
        self.exchange.barrier.wait();
        let sent = self.exchange.messages.lock().unwrap();
        let received = sent.iter().map(|messages| messages[self.process].clone()).collect();
        drop(sent);
        self.exchange.barrier.wait();
        received
    }

    fn checkpoint(&self) -> Option<&dyn Checkpoint> {
        self.checkpoint.as_ref().map(|checkpoint| checkpoint as &dyn Checkpoint)
    }
}

impl Checkpoint for MemoryCheckpoint {
    fn is_due(&self) -> bool {
        (self.asked.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(self.every)
    }

    fn save(&self, work: &str, state: &[u8]) {
        self.kept.lock().unwrap().push((work.to_owned(), state.to_vec()));
    }

    fn load(&self, work: &str) -> Option<Vec<u8>> {
        self.resume_from.as_ref().filter(|(of, _)| of == work).map(|(_, state)| state.clone())
    }
}

/// Distributes the pairs: `owner` is the process of a pair; a process may have none.
pub(crate) fn distribute(
    groups: &Groups,
    processes: usize,
    owner: impl Fn(u32, u32) -> usize,
) -> Vec<Vec<usize>> {
    let mut distributed = vec![Vec::new(); processes];
    for g in 0..groups.len() {
        distributed[owner(groups.left[g], groups.right[g]) % processes].push(g);
    }
    distributed
}

pub(crate) fn pick(groups: &Groups, picked: &[usize]) -> Groups {
    Groups {
        left: picked.iter().map(|&g| groups.left[g]).collect(),
        right: picked.iter().map(|&g| groups.right[g]).collect(),
        y: picked.iter().map(|&g| groups.y[g]).collect(),
        weight: picked.iter().map(|&g| groups.weight[g]).collect(),
    }
}

/// Runs `work` on one thread per list of groups; returns results in the order of processes.
pub(crate) fn run_distributed<T: Send>(
    items: usize,
    groups: &Groups,
    distributed: &[Vec<usize>],
    checkpoints: Vec<Option<MemoryCheckpoint>>,
    work: impl Fn(&ComparisonGraph) -> T + Sync,
) -> Vec<(T, Vec<SavedState>)> {
    run_processes(items, groups, distributed, checkpoints, |_, graph| work(graph))
}

/// [`run_distributed`] for work that depends on the number of the process.
pub(crate) fn run_processes<T: Send>(
    items: usize,
    groups: &Groups,
    distributed: &[Vec<usize>],
    checkpoints: Vec<Option<MemoryCheckpoint>>,
    work: impl Fn(usize, &ComparisonGraph) -> T + Sync,
) -> Vec<(T, Vec<SavedState>)> {
    let owned = distributed.iter().enumerate();
    let owned = owned.flat_map(|(process, own)| own.iter().map(move |&g| (g, process)));
    let exchange = Arc::new(ExchangeSlots {
        barrier: Barrier::new(distributed.len()),
        slots: Mutex::new(vec![Vec::new(); distributed.len()]),
        messages: Mutex::new(vec![Vec::new(); distributed.len()]),
        owners: owned.map(|(g, process)| ((groups.left[g], groups.right[g]), process)).collect(),
    });
    std::thread::scope(|scope| {
        let start = |(process, (own, checkpoint)): (usize, (&Vec<usize>, _))| {
            let (exchange, work) = (Arc::clone(&exchange), &work);
            let groups = pick(groups, own);
            scope.spawn(move || {
                // A separate pool, so that a waiting process does not block threads of the others.
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
                let own = Arc::new(ThreadCommunicator { process, exchange, checkpoint });
                let communicator: Arc<dyn Communicator> = Arc::clone(&own) as _;
                let result = pool.install(|| {
                    let graph = ComparisonGraph::distributed(items, groups, communicator);
                    work(process, &graph.unwrap())
                });
                let kept = own.checkpoint.as_ref().map(|saved| saved.kept.lock().unwrap().clone());
                (result, kept.unwrap_or_default())
            })
        };
        // All threads have to run at the same time, because they wait for each other.
        let threads: Vec<_> = distributed.iter().zip(checkpoints).enumerate().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
