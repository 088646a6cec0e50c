//! Collectives on buffers shorter and longer than a chunk. Without MPI, this program starts itself
//! under `mpirun` with different numbers of processes, so it has no test harness.

#[path = "it/mpirun.rs"]
mod mpirun;

use hodgerank_mpi::comm::{CollectiveError, Exchange as _, World, owner_of_pair};
use hodgerank_mpi::input::labels;
use hodgerank_mpi::input::votes::send_to_pair_owners;

fn main() {
    if std::env::var_os("OMPI_COMM_WORLD_SIZE").is_some() {
        let world = World::start().unwrap();
        reductions(&world);
        buffers(&world);
        messages(&world);
        failures(&world);
        merged_labels(&world);
        merged_votes(&world);
        return;
    }
    for size in 1..=4 {
        let program = std::env::current_exe().unwrap();
        let status = mpirun::mpirun(size, &program).status().unwrap();
        assert!(status.success(), "{size} processes");
    }
}

fn reductions(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    for length in [0, 1, 1000, 1_500_000] {
        let mut values: Vec<f64> = (0..length).map(|k| (k + rank) as f64).collect();
        world.sum(&mut values);
        let others = (size * (size - 1) / 2) as f64;
        assert!(values.iter().enumerate().all(|(k, &v)| v == (k * size) as f64 + others));
    }
    let mut values = vec![rank as f64, -(rank as f64)];
    world.max(&mut values);
    assert_eq!(values, [(size - 1) as f64, 0.0]);
    let mut values = vec![rank as u32 + 3, 9 - rank as u32];
    world.min(&mut values);
    assert_eq!(values, [3, 10 - size as u32]);
    // Sums that depend on the order of their terms have the same bits everywhere.
    let mut values: Vec<f64> =
        (0..999).map(|k| f64::from(k + 1).recip() / (rank + 3) as f64).collect();
    world.sum(&mut values);
    let bits: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert!(world.all_gather_bytes(&bits).iter().all(|other| *other == bits));
}

fn buffers(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let own = |rank: usize, length: usize| vec![rank as u8 + 1; length];
    for length in [0, 5, 20_000_000] {
        // Each process has a different length.
        let of = |rank: usize| own(rank, length / (rank + 1));
        let all: Vec<Vec<u8>> = (0..size).map(of).collect();
        assert_eq!(world.all_gather_bytes(&of(rank)), all);
        assert_eq!(world.gather_bytes(&of(rank)), if rank == 0 { all } else { Vec::new() });
        // Buffers of different lengths, some of them empty.
        let buffer = |from: usize, to: usize| own(from * size + to, length * ((from + to) % 3));
        let buffers: Vec<Vec<u8>> = (0..size).map(|to| buffer(rank, to)).collect();
        let expected: Vec<Vec<u8>> = (0..size).map(|from| buffer(from, rank)).collect();
        assert_eq!(world.all_to_all_bytes(&buffers), expected);
    }
    world.barrier();
}

fn messages(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let message = |rank: usize| (format!("process {rank}"), vec![rank as f64; rank]);
    let all: Vec<_> = (0..size).map(message).collect();
    assert_eq!(world.all_gather(&message(rank)), all);
    assert_eq!(world.all_to_all(&vec![message(rank); size]), all);
    assert_eq!(world.gather(&message(rank)), if rank == 0 { all } else { Vec::new() });
    assert_eq!(world.broadcast((rank == 0).then(|| message(0))), message(0));
    assert!(world.check_same_version().is_ok());
}

fn failures(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let failure = || hodgerank_cli::RunFailure::usage(format!("process {rank}"), "");
    assert_eq!(world.all_ok(Ok::<_, hodgerank_cli::RunFailure>(7)).unwrap(), 7);
    let last = size - 1;
    let only_last = world.all_ok(if rank == last { Err(failure()) } else { Ok(()) });
    match only_last.unwrap_err() {
        CollectiveError::Local(_) => assert_eq!(rank, last),
        CollectiveError::Remote { exit_code } => assert!(exit_code == 2 && rank != last),
    }
    let lowest = world.all_ok(Err::<(), _>(failure()));
    assert_eq!(matches!(lowest, Err(CollectiveError::Local(_))), rank == 0);
    let in_order = world.all_ok_or_first(Err::<(), _>(failure()), |_| (1, (size - rank) as u64));
    assert_eq!(matches!(in_order, Err(CollectiveError::Local(_))), rank == last);
}

fn merged_labels(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let count = 40_000;
    // Every label is on two processes.
    let here = (0..count).filter(|k| k % size == rank || (k + 1) % size == rank);
    let here: Vec<String> = here.map(|k| format!("item-{k}")).collect();
    let all = labels::merge(world, here.iter().map(String::as_str));
    assert_eq!(all.len(), count);
    assert!((0..count).all(|k| all.name(k as u32) == format!("item-{k}")));
    let owned = labels::owned(world, here.iter().map(String::as_str));
    let mut distinct = [owned.len() as u64];
    world.sum_counts(&mut distinct);
    assert_eq!(distinct, [count as u64]);
}

fn merged_votes(world: &World) {
    use hodgerank::Tally;
    let (rank, size) = (world.rank(), world.size());
    let items = 3000_u32;
    let votes = (0..600_000_u64).map(|k| {
        let left = (k * 7919 % u64::from(items)) as u32;
        let right = (left + 1 + (k % 89) as u32) % items;
        (left, right, [1.0, -1.0, 0.0, 2.5][k as usize % 4], k % 3)
    });
    let numbers: Vec<u32> = (0..items).collect();
    let (mut mine, mut all) = (Tally::new(), Tally::new());
    for (k, (left, right, y, count)) in votes.enumerate() {
        all.add(left, right, y, count);
        if k * 31 % size == rank {
            mine.add(left, right, y, count);
        }
    }
    let mine = Tally::finish(vec![mine], std::slice::from_ref(&numbers));
    let all = Tally::finish(vec![all], std::slice::from_ref(&numbers));
    let merged = send_to_pair_owners(world, mine, &numbers, items as usize);
    let is_owned = |g: &usize| owner_of_pair(all.left[*g], all.right[*g], size) == rank;
    let expected: Vec<usize> = (0..all.len()).filter(is_owned).collect();
    assert_eq!(merged.len(), expected.len());
    for (g, &of_all) in expected.iter().enumerate() {
        let group = (merged.left[g], merged.right[g], merged.y[g], merged.weight[g]);
        assert_eq!(group, (all.left[of_all], all.right[of_all], all.y[of_all], all.weight[of_all]));
    }
    let even = all.len() / size;
    assert!(merged.len() < even * 12 / 10 + 1, "{} of {}", merged.len(), all.len());
}
