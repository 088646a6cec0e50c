//! The distinct votes of the files that this process read, kept for the second pass.
//!
//! Cost: 24 bytes for each distinct vote, and the labels. Commands that read their files only once
//! keep nothing.

use hodgerank::Study;
use hodgerank::{Groups, Labels};

/// Distinct votes as they were read here, numbered by the labels that were read here.
#[derive(Debug, Default)]
pub(crate) struct LocalVotes(Vec<LocalStudy>);

#[derive(Debug)]
struct LocalStudy {
    by: Option<String>,
    items: Labels,
    groups: Groups,
    /// If every vote was kept with its annotator.
    annotators: Labels,
}

impl LocalVotes {
    /// Copies what the second pass needs of these studies.
    pub(crate) fn copy_of(studies: &[Study]) -> Self {
        let copy = |study: &Study| LocalStudy {
            by: study.by.clone(),
            items: study.items.clone(),
            groups: study.groups.clone(),
            annotators: match study.annotator_votes {
                Some(_) => study.annotators.clone(),
                None => Labels::new(),
            },
        };
        Self(studies.iter().map(copy).collect())
    }

    /// Removes and returns the distinct votes of a study, with items numbered as in `items`, and its
    /// annotators. Empty if no vote of the study was read here.
    pub(crate) fn take(&mut self, by: Option<&str>, items: &Labels) -> (Groups, Labels) {
        let Some(index) = self.0.iter().position(|study| study.by.as_deref() == by) else {
            return (Groups::default(), Labels::new());
        };
        let LocalStudy { items: local_items, mut groups, annotators, .. } =
            self.0.swap_remove(index);
        // Both sets of labels are in natural order, so that groups stay sorted.
        let global_index: Vec<u32> =
            local_items.iter().filter_map(|label| items.get(label.as_bytes())).collect();
        for index in groups.left.iter_mut().chain(&mut groups.right) {
            *index = global_index[*index as usize];
        }
        (groups, annotators)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_renumbered_and_stay_sorted() {
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
            annotator_votes: None,
            sides: None,
        };
        let all_items: Labels = ["a", "b", "c", "d", "e"].into_iter().collect();
        let mut local = LocalVotes::copy_of(&[study(Some("x")), study(Some("y"))]);
        assert!(local.take(Some("z"), &all_items).0.is_empty());
        let (found, annotators) = local.take(Some("y"), &all_items);
        assert!(annotators.is_empty());
        assert_eq!((&found.left[..], &found.right[..]), (&[1, 1, 3][..], &[3, 4, 4][..]));
        assert_eq!(found.weight, groups.weight);
        assert_eq!(found.find(4, 3, -1.0), Some(2));
    }
}
