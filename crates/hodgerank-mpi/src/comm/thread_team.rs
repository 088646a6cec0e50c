//! Threads in place of processes, to test algorithms on [`Exchange`] without MPI.

use std::sync::{Barrier, Mutex};

use super::exchange::Exchange;

struct Mailboxes {
    /// `sent[from][to]`
    sent: Mutex<Vec<Vec<Vec<u8>>>>,
    all_sent: Barrier,
    all_received: Barrier,
}

/// One thread of a team.
pub(crate) struct TeamThread<'a> {
    mailboxes: &'a Mailboxes,
    rank: usize,
    size: usize,
}

impl Exchange for TeamThread<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_to_all_bytes(&self, buffers: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let Mailboxes { sent, all_sent, all_received } = self.mailboxes;
        sent.lock().unwrap()[self.rank] = buffers.to_vec();
        all_sent.wait();
        let received = sent.lock().unwrap().iter().map(|from| from[self.rank].clone()).collect();
        all_received.wait();
        received
    }

    fn all_gather_bytes(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.all_to_all_bytes(&vec![bytes.to_vec(); self.size])
    }
}

/// Runs `work` on each thread of a team of `size`, and returns the results in order of rank.
pub(crate) fn run_thread_team<T: Send>(
    size: usize,
    work: impl Fn(&TeamThread<'_>) -> T + Sync,
) -> Vec<T> {
    let mailboxes = Mailboxes {
        sent: Mutex::new(vec![Vec::new(); size]),
        all_sent: Barrier::new(size),
        all_received: Barrier::new(size),
    };
    let (mailboxes, work) = (&mailboxes, &work);
    std::thread::scope(|scope| {
        let start = |rank| scope.spawn(move || work(&TeamThread { mailboxes, rank, size }));
        let threads: Vec<_> = (0..size).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
