//! What all ranks know of the annotators, brought together on rank 0. What travels grows with
//! annotators, not with votes.

use hodgerank::Labels;
use hodgerank::annotators::{AnnotatorTallies, AnnotatorTally};
use hodgerank_cli::Failure;
use hodgerank_commands::annotators::{Tallied, tally};
use hodgerank_commands::{TwoPass, Watch};
use hodgerank_io::write::{AnnotatorRow, Listing};
use serde::{Deserialize, Serialize};

use crate::agree::{Failed, agree};
use crate::session::Session;
use crate::text::{from_bytes, to_bytes};

/// The annotators of each study, the most suspicious first; of equals the first by name. Other
/// ranks than 0 have empty lists.
///
/// # Errors
/// If anyone's second pass fails.
pub(crate) fn list(
    session: &Session,
    look: &TwoPass,
) -> Result<Vec<Listing<AnnotatorRow>>, Failed> {
    let Session { world, voice, .. } = session;
    let voice: &dyn Observer = &**voice;
    let here = agree(world, tally(look, voice))?;
    let parts = world.gather(&to_bytes(&Part::new(&here)));
    let report = || -> Result<Vec<Vec<AnnotatorRow>>, Failure> {
        let parts: Result<Vec<Part>, _> = parts.iter().map(|bytes| from_bytes(bytes)).collect();
        Ok(together(&parts?, look.studies.len()).report(voice)?)
    };
    let nothing = || vec![Vec::new(); look.studies.len()];
    let rows = agree(world, if world.is_first() { report() } else { Ok(nothing()) })?;
    Ok(look
        .studies
        .iter()
        .zip(rows)
        .map(|(study, rows)| Listing::new(&study.table, rows))
        .collect())
}

/// What one rank knows.
#[derive(Debug, Serialize, Deserialize)]
struct Part {
    /// For each study, names and counts.
    studies: Vec<Vec<(String, [u64; 6])>>,
    sides: bool,
    unsigned: u64,
}

impl Part {
    fn new(tallied: &Tallied) -> Self {
        let of = |(names, tallies): (&Labels, &AnnotatorTallies)| {
            let counts = tallies.tallies().iter().map(|tally| {
                let &AnnotatorTally { votes, decided, agreeing, flagged, sided, left } = tally;
                [votes, decided, agreeing, flagged, sided, left]
            });
            names.iter().map(str::to_owned).zip(counts).collect()
        };
        let studies = tallied.names.iter().zip(&tallied.tallies).map(of).collect();
        Self { studies, sides: tallied.sides, unsigned: tallied.unsigned }
    }
}

fn together(parts: &[Part], studies: usize) -> Tallied {
    let sides = parts.iter().all(|part| part.sides);
    let unsigned = parts.iter().map(|part| part.unsigned).sum();
    let (mut names, mut tallies) = (Vec::new(), Vec::new());
    for study in 0..studies {
        let counted = || parts.iter().flat_map(|part| part.studies.get(study)).flatten();
        // In the order of names, so that equals do not stand by the ranks that met them.
        let met: Labels = counted().map(|(name, _)| name.as_str()).collect();
        let (known, _) = met.sorted();
        let mut all = AnnotatorTallies::new();
        for (name, counts) in counted() {
            let &[votes, decided, agreeing, flagged, sided, left] = counts;
            let tally = AnnotatorTally { votes, decided, agreeing, flagged, sided, left };
            if let Some(annotator) = known.get(name.as_bytes()) {
                all.add_tally(annotator, tally);
            }
        }
        names.push(known);
        tallies.push(all);
    }
    Tallied { names, tallies, sides, unsigned }
}
