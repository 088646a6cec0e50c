//! Statistics per annotator: counts of all processes, collected on process 0. What is sent grows
//! with the number of annotators, not of votes.

use hodgerank::annotators::{AnnotatorTallies, AnnotatorTally};
use hodgerank::{AnnotatorReport, Labels};
use hodgerank_commands::annotators::{AnnotatorCounts, tally};
use hodgerank_commands::listing::Listing;
use hodgerank_commands::{Observer, TwoPass};
use serde::{Deserialize, Serialize};

use crate::comm::CollectiveError;
use crate::session::Session;

/// Returns the annotators of each study, the most suspicious first, ties by name. The lists of
/// processes other than 0 are empty. Collective.
pub(super) fn list(
    session: &Session,
    second: &TwoPass,
) -> Result<Vec<Listing<AnnotatorReport<String>>>, CollectiveError> {
    let Session { world, terminal, .. } = session;
    let terminal: &dyn Observer = &**terminal;
    let local = world.all_ok(tally(second, terminal))?;
    let studies = second.studies.len();
    let tallies = world.gather(&LocalTallies::new(&local));
    let rows = match world.is_root() {
        true => merge(&tallies, studies).report(terminal),
        false => Ok(vec![Vec::new(); studies]),
    };
    let rows = world.all_ok(rows)?;
    let lists = second.studies.iter().zip(rows);
    Ok(lists.map(|(study, rows)| Listing::new(study, rows)).collect())
}

/// The counts of one process.
#[derive(Debug, Serialize, Deserialize)]
struct LocalTallies {
    /// For each study, labels and counts: votes, decided, agreeing, flagged, sided, left.
    studies: Vec<Vec<(String, [u64; 6])>>,
    has_sides: bool,
    without_annotator: u64,
}

impl LocalTallies {
    fn new(counts: &AnnotatorCounts) -> Self {
        let labelled = |(labels, tallies): (&Labels, &AnnotatorTallies)| {
            let numbers = tallies.tallies().iter().map(|tally| {
                let &AnnotatorTally { votes, decided, agreeing, flagged, sided, left } = tally;
                [votes, decided, agreeing, flagged, sided, left]
            });
            labels.iter().map(str::to_owned).zip(numbers).collect()
        };
        let studies = counts.labels.iter().zip(&counts.tallies).map(labelled).collect();
        let &AnnotatorCounts { has_sides, without_annotator, .. } = counts;
        Self { studies, has_sides, without_annotator }
    }
}

fn merge(parts: &[LocalTallies], studies: usize) -> AnnotatorCounts {
    let has_sides = parts.iter().all(|part| part.has_sides);
    let without_annotator = parts.iter().map(|part| part.without_annotator).sum();
    let (mut labels_of_studies, mut tallies) = (Vec::new(), Vec::new());
    for study in 0..studies {
        let counted = || parts.iter().flat_map(|part| part.studies.get(study)).flatten();
        // Sorted, so that ties do not depend on which process read which annotator.
        let labels: Labels = counted().map(|(label, _)| label.as_str()).collect();
        let (labels, _) = labels.sorted();
        let mut merged = AnnotatorTallies::new();
        for (label, counts) in counted() {
            let &[votes, decided, agreeing, flagged, sided, left] = counts;
            let tally = AnnotatorTally { votes, decided, agreeing, flagged, sided, left };
            if let Some(annotator) = labels.get(label.as_bytes()) {
                merged.add_tally(annotator, tally);
            }
        }
        labels_of_studies.push(labels);
        tallies.push(merged);
    }
    AnnotatorCounts { labels: labels_of_studies, tallies, has_sides, without_annotator }
}
