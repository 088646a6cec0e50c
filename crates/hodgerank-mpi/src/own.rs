//! The distinct votes of one's own files, kept while the votes themselves go to their owners.
//!
//! Cost: 24 bytes a group, and the names, until the second pass is done. Commands that read their
//! files only once keep nothing.

use hodgerank::{Groups, Labels};
use hodgerank_io::Study;

/// Votes as they were read here, numbered by the names that were met here.
#[derive(Debug, Default)]
pub(crate) struct Own(Vec<OwnStudy>);

#[derive(Debug)]
struct OwnStudy {
    by: Option<String>,
    items: Labels,
    groups: Groups,
}

impl Own {
    /// Copies what must not be lost.
    pub(crate) fn keep(studies: &[Study]) -> Self {
        let keep = |study: &Study| OwnStudy {
            by: study.by.clone(),
            items: study.items.clone(),
            groups: study.groups.clone(),
        };
        Self(studies.iter().map(keep).collect())
    }

    /// The groups of a study, numbered as everyone numbers its items; none where nothing of it was
    /// read here.
    pub(crate) fn take(&mut self, by: Option<&str>, items: &Labels) -> Groups {
        let Some(place) = self.0.iter().position(|study| study.by.as_deref() == by) else {
            return Groups::default();
        };
        let OwnStudy { items: met, mut groups, .. } = self.0.swap_remove(place);
        // Names stand in natural order here and there, so that groups stay sorted.
        let new_of: Vec<u32> = met.iter().filter_map(|name| items.get(name.as_bytes())).collect();
        for index in groups.left.iter_mut().chain(&mut groups.right) {
            *index = new_of[*index as usize];
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_numbered_as_everyone_does_and_stay_sorted() {
        let groups = Groups {
            left: vec![0, 0, 1],
            right: vec![1, 2, 2],
            y: vec![1.0, -1.0, 1.0],
            weight: vec![1.0, 2.0, 3.0],
        };
        let study = |by: Option<&str>| Study {
            by: by.map(str::to_owned),
            items: ["b", "d", "e"].into_iter().collect(),
            groups: groups.clone(),
            rows: 3,
            comparisons: 6,
            annotators: Labels::new(),
        };
        let everyones: Labels = ["a", "b", "c", "d", "e"].into_iter().collect();
        let mut own = Own::keep(&[study(Some("x")), study(Some("y"))]);
        assert!(own.take(Some("z"), &everyones).is_empty());
        let found = own.take(Some("y"), &everyones);
        assert_eq!((&found.left[..], &found.right[..]), (&[1, 1, 3][..], &[3, 4, 4][..]));
        assert_eq!(found.weight, groups.weight);
        assert_eq!(found.find(4, 3, -1.0), Some(2));
    }
}
