//! Who is asked which pair: nobody is asked a pair twice, and all are asked equally often.

use std::collections::{BTreeSet, HashSet};

/// The pairs that annotators have been asked, and how many of a batch each of them has.
#[derive(Debug, Clone, Default)]
pub struct Assignment {
    /// For each annotator, the pairs with the smaller item first.
    asked: Vec<HashSet<(u32, u32)>>,
    /// Annotators by number of pairs in this batch.
    by_load: BTreeSet<(usize, u32)>,
}

impl Assignment {
    /// Annotators who have not been asked anything.
    #[must_use]
    pub fn new(annotators: usize) -> Self {
        let by_load = (0..annotators as u32).map(|annotator| (0, annotator)).collect();
        Self { asked: vec![HashSet::new(); annotators], by_load }
    }

    /// Notes that an annotator has been asked a pair before.
    pub fn has_been_asked(&mut self, annotator: u32, i: u32, j: u32) {
        self.asked[annotator as usize].insert(ordered(i, j));
    }

    /// Whether somebody has not been asked a pair.
    pub(super) fn can_take(&self, i: u32, j: u32) -> bool {
        let pair = ordered(i, j);
        self.asked.iter().any(|asked| !asked.contains(&pair))
    }

    /// Gives a pair to the annotator with the fewest pairs who has not been asked it.
    pub(super) fn take(&mut self, i: u32, j: u32) -> Option<u32> {
        let pair = ordered(i, j);
        let is_new =
            |(_, annotator): &&(usize, u32)| !self.asked[*annotator as usize].contains(&pair);
        let (load, annotator) = *self.by_load.iter().find(is_new)?;
        self.by_load.remove(&(load, annotator));
        self.by_load.insert((load + 1, annotator));
        self.asked[annotator as usize].insert(pair);
        Some(annotator)
    }
}

fn ordered(i: u32, j: u32) -> (u32, u32) {
    (i.min(j), i.max(j))
}
