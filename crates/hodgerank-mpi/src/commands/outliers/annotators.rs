//! Statistics per annotator: counts of all processes, collected on process 0. What is sent grows
//! with the number of annotators, not of votes.

use hodgerank::Labels;
use hodgerank::annotators::{AnnotatorTallies, AnnotatorTally};
use hodgerank_commands::annotators::{Tallied, tally};
use hodgerank_commands::{TwoPass, Watch};
use hodgerank_io::write::{AnnotatorRow, Listing};
use serde::{Deserialize, Serialize};

use crate::comm::CollectiveError;
use crate::session::Session;

/// Returns the annotators of each study, the most suspicious first, ties by name. The lists of
/// processes other than 0 are empty. Collective.
pub(super) fn list(
    session: &Session,
    second: &TwoPass,
) -> Result<Vec<Listing<AnnotatorRow>>, CollectiveError> {
    let Session { world, terminal, .. } = session;
    let terminal: &dyn Watch = &**terminal;
    let local = world.all_ok(tally(second, terminal))?;
    let studies = second.studies.len();
    let tallies = world.gather(&LocalTallies::new(&local));
    let rows = match world.is_root() {
        true => merge(&tallies, studies).report(terminal),
        false => Ok(vec![Vec::new(); studies]),
    };
    let rows = world.all_ok(rows)?;
    let lists = second.studies.iter().zip(rows);
    Ok(lists.map(|(study, rows)| Listing::new(&study.table, rows)).collect())
}

/// The counts of one process.
#[derive(Debug, Serialize, Deserialize)]
struct LocalTallies {
    /// For each study, labels and counts: votes, decided, agreeing, flagged, sided, left.
    studies: Vec<Vec<(String, [u64; 6])>>,
    sides: bool,
    unsigned: u64,
}

impl LocalTallies {
    fn new(tallied: &Tallied) -> Self {
        let labelled = |(labels, tallies): (&Labels, &AnnotatorTallies)| {
            let counts = tallies.tallies().iter().map(|tally| {
                let &AnnotatorTally { votes, decided, agreeing, flagged, sided, left } = tally;
                [votes, decided, agreeing, flagged, sided, left]
            });
            labels.iter().map(str::to_owned).zip(counts).collect()
        };
        let studies = tallied.names.iter().zip(&tallied.tallies).map(labelled).collect();
        Self { studies, sides: tallied.sides, unsigned: tallied.unsigned }
    }
}

fn merge(parts: &[LocalTallies], studies: usize) -> Tallied {
    let sides = parts.iter().all(|part| part.sides);
    let unsigned = parts.iter().map(|part| part.unsigned).sum();
    let (mut names, mut tallies) = (Vec::new(), Vec::new());
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
        names.push(labels);
        tallies.push(merged);
    }
    Tallied { names, tallies, sides, unsigned }
}
