//! From what each process read to studies that all processes share.

use std::sync::Arc;

use hodgerank::{
    AnnotatorVotes, Communicator, ComparisonGraph, Error, Groups, InputSummary, Labels, SideCounts,
    Study, check_votes,
};

use hodgerank_commands::Kept;
use hodgerank_io::read::TableHead;

use super::annotators::send_to_annotator_owners;
use super::{labels, votes};
use crate::comm::{CollectiveError, World};

/// A study whose votes are distributed over all processes.
#[derive(Debug)]
pub struct DistributedStudy {
    /// The value of the `--by` column.
    pub by: Option<String>,
    /// Labels of all items.
    pub items: Labels,
    /// The votes; this process holds those that it owns.
    pub graph: ComparisonGraph,
    /// The size of the whole study, without the rejected rows.
    pub input: InputSummary,
    /// Labels of the annotators that this process owns.
    pub annotators: Labels,
    /// Their votes, and the votes without an annotator that this process read; only if every vote was
    /// kept with its annotator, and the study has annotators.
    pub annotator_votes: Option<AnnotatorVotes>,
}

/// What was kept about annotators and sides while reading.
#[derive(Debug, Clone, Copy)]
pub struct KeptColumns {
    /// What was kept; the same on all processes.
    pub kept: Kept,
    /// Whether items have sides in all files read here.
    pub has_sides: bool,
}

impl KeptColumns {
    /// What is known about the files read here.
    #[must_use]
    pub fn new(kept: Kept, tables: &[TableHead]) -> Self {
        Self { kept, has_sides: tables.iter().all(|table| table.has_sides) }
    }
}

/// Returns the studies of all processes in the order of their `--by` values. All have the same
/// labels; the votes are those that this process owns. Collective.
///
/// # Errors
/// If there are too many items or distinct votes to be numbered.
pub fn distribute(
    world: &World,
    communicator: &Arc<dyn Communicator>,
    mut local: Vec<Study>,
    columns: KeptColumns,
) -> Result<Vec<DistributedStudy>, CollectiveError> {
    let mut without_sides = [u64::from(!columns.has_sides)];
    world.sum_counts(&mut without_sides);
    let columns = KeptColumns { has_sides: without_sides == [0], ..columns };
    // Without `--by` the only study has an empty name here; values of `--by` are never empty.
    let name = |study: &Study| study.by.clone().unwrap_or_default();
    let names: Vec<String> = local.iter().map(name).collect();
    let all = labels::merge(world, names.iter().map(String::as_str));
    let mut studies = Vec::with_capacity(all.len());
    for value in all.iter() {
        let index = local.iter().position(|study| study.by.as_deref().unwrap_or("") == value);
        let by = (!value.is_empty()).then(|| value.to_owned());
        let part = index.map(|index| local.swap_remove(index)).unwrap_or_else(|| empty(by));
        studies.push(distribute_one(world, communicator, part, columns)?);
    }
    Ok(studies)
}

fn empty(by: Option<String>) -> Study {
    Study {
        by,
        items: Labels::new(),
        groups: Groups::default(),
        rows: 0,
        comparisons: 0,
        annotators: Labels::new(),
        annotator_votes: None,
        sides: None,
    }
}

fn distribute_one(
    world: &World,
    communicator: &Arc<dyn Communicator>,
    part: Study,
    columns: KeptColumns,
) -> Result<DistributedStudy, CollectiveError> {
    let Study { by, items: local_items, groups, rows, comparisons, .. } = part;
    let Study { annotators: read_annotators, annotator_votes, sides, .. } = part;
    let annotators = labels::owned(world, read_annotators.iter());
    let mut all_annotators = [annotators.len() as u64];
    world.sum_counts(&mut all_annotators);
    let items = labels::merge(world, local_items.iter());
    let global_index: Vec<u32> =
        local_items.iter().filter_map(|label| items.get(label.as_bytes())).collect();
    let local_number = local_items.len();
    drop(local_items);
    // Where annotators are known, the method is not `bt`, which alone uses counts by side.
    let has_kept_votes = columns.kept.annotator_votes && all_annotators != [0];
    let has_sides = columns.kept.sides && columns.has_sides && !has_kept_votes;
    let of_kept = || annotator_votes.as_ref().and_then(|votes| votes.side_counts(local_number));
    let sides = if has_sides { sides.or_else(of_kept) } else { None };
    let annotator_votes = has_kept_votes.then(|| {
        let has_sides = columns.has_sides;
        // Files without annotators were counted only.
        let votes =
            annotator_votes.unwrap_or_else(|| AnnotatorVotes::unknown_of(&groups, has_sides));
        let read = (&read_annotators, votes);
        send_to_annotator_owners(world, read, &global_index, &annotators, has_sides)
    });
    let groups = votes::send_to_pair_owners(world, groups, &global_index, items.len());
    let sides = has_sides.then(|| {
        let codes = sides.unwrap_or_default().into_codes();
        let owned = votes::send_to_pair_owners(world, codes, &global_index, items.len());
        SideCounts::from_codes(owned)
    });
    // Checked before the graph is built, because building it is collective.
    let max = u32::MAX as usize;
    let owned = groups.len();
    let fits = if owned < max {
        Ok(())
    } else {
        Err(Error::TooLarge { what: "groups", count: owned as u64, max: max as u64 - 1 })
    };
    world.all_ok(fits)?;
    let mut counts = [rows, comparisons, owned as u64];
    world.sum_counts(&mut counts);
    let [rows, comparisons, groups_of_all] = counts;
    // The same sum on all processes.
    world.all_ok(check_votes(comparisons))?;
    let graph = world
        .all_ok(ComparisonGraph::distributed(items.len(), groups, Arc::clone(communicator)))?
        .with_sides(sides);
    let input = InputSummary {
        rows,
        rejected: 0,
        comparisons,
        items: items.len(),
        groups: groups_of_all as usize,
        annotators: all_annotators[0] as usize,
        components: graph.components().len(),
    };
    Ok(DistributedStudy { by, items, graph, input, annotators, annotator_votes })
}
