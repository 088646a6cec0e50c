//! Letters between members, in words of 64 bits: what cannot be said as a sum over everyone.

use crate::world::World;

/// The content of a letter.
pub(crate) type Words = Vec<u64>;

/// Brings letters from everyone to everyone. All members must send at the same time.
pub(crate) trait Mail {
    /// The number of this member, from 0.
    fn me(&self) -> usize;

    /// How many members there are.
    fn members(&self) -> usize;

    /// Sends one letter to each member, and hands over the letter of each.
    fn exchange(&self, letters: Vec<Words>) -> Vec<Words>;

    /// The letter that each member shows to all.
    fn everyones(&self, letter: Words) -> Vec<Words> {
        self.exchange(vec![letter; self.members()])
    }
}

impl Mail for World {
    fn me(&self) -> usize {
        self.rank()
    }

    fn members(&self) -> usize {
        self.size()
    }

    fn exchange(&self, letters: Vec<Words>) -> Vec<Words> {
        let bytes = |words: Words| words.into_iter().flat_map(u64::to_le_bytes).collect();
        let letters: Vec<Vec<u8>> = letters.into_iter().map(bytes).collect();
        let words = |bytes: Vec<u8>| {
            bytes.as_chunks::<8>().0.iter().map(|&word| u64::from_le_bytes(word)).collect()
        };
        self.all_to_all(&letters).into_iter().map(words).collect()
    }
}

#[cfg(test)]
pub(crate) use crew::together;

/// Members as threads, for tests.
#[cfg(test)]
mod crew {
    use std::sync::{Barrier, Mutex};

    use super::{Mail, Words};

    struct Office {
        boxes: Mutex<Vec<Vec<Words>>>,
        all_posted: Barrier,
        all_fetched: Barrier,
    }

    struct Member<'a> {
        office: &'a Office,
        me: usize,
        members: usize,
    }

    impl Mail for Member<'_> {
        fn me(&self) -> usize {
            self.me
        }

        fn members(&self) -> usize {
            self.members
        }

        fn exchange(&self, letters: Vec<Words>) -> Vec<Words> {
            self.office.boxes.lock().unwrap()[self.me] = letters;
            self.office.all_posted.wait();
            let boxes = self.office.boxes.lock().unwrap().clone();
            self.office.all_fetched.wait();
            boxes.into_iter().map(|mut letters| std::mem::take(&mut letters[self.me])).collect()
        }
    }

    /// Does `work` as each of the members at the same time.
    pub(crate) fn together<T: Send>(
        members: usize,
        work: impl Fn(&dyn Mail) -> T + Sync,
    ) -> Vec<T> {
        let office = Office {
            boxes: Mutex::new(vec![Vec::new(); members]),
            all_posted: Barrier::new(members),
            all_fetched: Barrier::new(members),
        };
        let (office, work) = (&office, &work);
        std::thread::scope(|scope| {
            let start = |me| scope.spawn(move || work(&Member { office, me, members }));
            let started: Vec<_> = (0..members).map(start).collect();
            started.into_iter().map(|member| member.join().unwrap()).collect()
        })
    }
}
