//! What ranks do together, on buffers shorter and longer than a chunk. Started alone, this test
//! starts itself again under `mpirun` with several numbers of ranks.

mod support;

use hodgerank_mpi::World;
use hodgerank_mpi::agree::{Failed, agree, agree_in_order};
use hodgerank_mpi::dictionary;
use hodgerank_mpi::votes::{meet, rank_of_pair};

fn main() {
    if std::env::var_os("OMPI_COMM_WORLD_SIZE").is_some() {
        let world = World::start().unwrap();
        sums(&world);
        bytes(&world);
        failures(&world);
        names(&world);
        groups(&world);
        return;
    }
    for ranks in 1..=4 {
        let program = std::env::current_exe().unwrap();
        let status = support::mpirun(ranks, &program).status().unwrap();
        assert!(status.success(), "{ranks} ranks");
    }
}

fn sums(world: &World) {
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
    // Sums whose terms round differently in each order have the same bits everywhere.
    let mut values: Vec<f64> =
        (0..999).map(|k| f64::from(k + 1).recip() / (rank + 3) as f64).collect();
    world.sum(&mut values);
    let bits: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert!(world.all_gather(&bits).iter().all(|other| *other == bits));
}

fn bytes(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let own = |rank: usize, length: usize| vec![rank as u8 + 1; length];
    for length in [0, 5, 20_000_000] {
        // Each rank has another length.
        let of = |rank: usize| own(rank, length / (rank + 1));
        let all: Vec<Vec<u8>> = (0..size).map(of).collect();
        assert_eq!(world.all_gather(&of(rank)), all);
        assert_eq!(world.gather(&of(rank)), if rank == 0 { all } else { Vec::new() });
        // Parcels of all lengths, none to some.
        let parcel = |from: usize, to: usize| own(from * size + to, length * ((from + to) % 3));
        let parcels: Vec<Vec<u8>> = (0..size).map(|to| parcel(rank, to)).collect();
        let expected: Vec<Vec<u8>> = (0..size).map(|from| parcel(from, rank)).collect();
        assert_eq!(world.all_to_all(&parcels), expected);
    }
    world.barrier();
}

fn failures(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let failure = || hodgerank_cli::Failure::usage(format!("rank {rank}"), "");
    assert_eq!(agree(world, Ok::<_, hodgerank_cli::Failure>(7)).unwrap(), 7);
    let last = size - 1;
    let only_last = agree(world, if rank == last { Err(failure()) } else { Ok(()) });
    match only_last.unwrap_err() {
        Failed::Here(_) => assert_eq!(rank, last),
        Failed::Elsewhere { exit_code } => assert!(exit_code == 2 && rank != last),
    }
    let lowest = agree(world, Err::<(), _>(failure()));
    assert_eq!(matches!(lowest, Err(Failed::Here(_))), rank == 0);
    let in_order = agree_in_order(world, Err::<(), _>(failure()), |_| (1, (size - rank) as u64));
    assert_eq!(matches!(in_order, Err(Failed::Here(_))), rank == last);
}

fn names(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let count = 40_000;
    // Every name is with two ranks.
    let here = (0..count).filter(|k| k % size == rank || (k + 1) % size == rank);
    let here: Vec<String> = here.map(|k| format!("item-{k}")).collect();
    let all = dictionary::of_all(world, here.iter().map(String::as_str));
    assert_eq!(all.len(), count);
    assert!((0..count).all(|k| all.name(k as u32) == format!("item-{k}")));
    assert_eq!(dictionary::count_distinct(world, here.iter().map(String::as_str)), count as u64);
}

fn groups(world: &World) {
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
    let met = meet(world, mine, &numbers, items as usize);
    let place = |g: &usize| rank_of_pair(all.left[*g], all.right[*g], size) == rank;
    let expected: Vec<usize> = (0..all.len()).filter(place).collect();
    assert_eq!(met.len(), expected.len());
    for (g, &of_all) in expected.iter().enumerate() {
        let group = (met.left[g], met.right[g], met.y[g], met.weight[g]);
        assert_eq!(group, (all.left[of_all], all.right[of_all], all.y[of_all], all.weight[of_all]));
    }
    let even = all.len() / size;
    assert!(met.len() < even * 12 / 10 + 1, "{} of {}", met.len(), all.len());
}
