//! Seeded mutations of inputs.

/// A small generator with a fixed sequence for each seed (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 if the limit is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.bits() >> 16) as usize % limit.max(1)
    }
}

/// Changes `input` in one to eight places. Material comes from `words` and from `other`, another
/// input.
pub(crate) fn mutate(
    input: &mut Vec<u8>,
    other: &[u8],
    words: &[&[u8]],
    max_bytes: usize,
    random: &mut Random,
) {
    for _ in 0..1 + random.below(8) {
        let at = random.below(input.len() + 1);
        let length = (1 + random.below(16)).min(input.len() - at);
        match random.below(9) {
            0 if at < input.len() => input[at] ^= 1 << random.below(8),
            1 if at < input.len() => input[at] = random.bits() as u8,
            2 if at < input.len() => {
                let step = 1 + random.below(16) as u8;
                input[at] = if random.below(2) == 0 {
                    input[at].wrapping_add(step)
                } else {
                    input[at].wrapping_sub(step)
                };
            }
            3 => drop(input.drain(at..at + length)),
            4 => {
                let copy = input[at..at + length].to_vec();
                let to = random.below(input.len() + 1);
                input.splice(to..to, copy);
            }
            5 => {
                let word = words[random.below(words.len())];
                input.splice(at..at, word.iter().copied());
            }
            6 => {
                let word = words[random.below(words.len())];
                let end = (at + word.len()).min(input.len());
                input.splice(at..end, word.iter().copied());
            }
            7 => {
                let from = random.below(other.len() + 1);
                let part = &other[from..(from + 1 + random.below(64)).min(other.len())];
                input.splice(at..at, part.iter().copied());
            }
            8 => {
                // The start of this input, the end of the other one.
                let from = random.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            _ => {}
        }
    }
    input.truncate(max_bytes);
}
