//! From what each rank read to studies that all share: one dictionary, equal votes together.

use std::sync::Arc;

use hodgerank::{ComparisonGraph, Error, Groups, Labels, communicator::Communicator};
use hodgerank_commands::CountedStudy;
use hodgerank_io::Study;

use crate::agree::{Failed, agree};
use crate::dictionary;
use crate::votes;
use crate::world::World;

/// The studies of all ranks in the order of their `--by` values, each shared by all.
///
/// # Errors
/// If there are too many items or votes to be numbered.
pub fn share(
    world: &World,
    communicator: &Arc<dyn Communicator>,
    mut here: Vec<Study>,
) -> Result<Vec<CountedStudy>, Failed> {
    let name = |study: &Study| study.by.clone().unwrap_or_default();
    let names: Vec<String> = here.iter().map(name).collect();
    let all = dictionary::of_all(world, names.iter().map(String::as_str));
    // Where there is no `--by`, the only study has an empty name; a value is never empty.
    let mut studies = Vec::with_capacity(all.len());
    for value in all.iter() {
        let known = here.iter().position(|study| study.by.as_deref().unwrap_or("") == value);
        let by = (!value.is_empty()).then(|| value.to_owned());
        let part = known.map(|place| here.swap_remove(place)).unwrap_or_else(|| empty(by));
        studies.push(share_one(world, communicator, part)?);
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
    }
}

fn share_one(
    world: &World,
    communicator: &Arc<dyn Communicator>,
    part: Study,
) -> Result<CountedStudy, Failed> {
    let Study { by, items: known, groups, rows, comparisons, annotators } = part;
    let annotators = dictionary::count_distinct(world, annotators.iter()) as usize;
    let items = dictionary::of_all(world, known.iter());
    let new_of: Vec<u32> = known.iter().filter_map(|name| items.get(name.as_bytes())).collect();
    drop(known);
    let groups = votes::meet(world, groups, &new_of, items.len());
    // A rank that could not build its graph would leave the others waiting inside it.
    let most = u32::MAX as usize;
    let count = groups.len();
    let fits = if count < most {
        Ok(())
    } else {
        Err(Error::TooLarge { what: "groups", count: count as u64, max: most as u64 - 1 })
    };
    agree(world, fits)?;
    let mut counts = [rows, comparisons, count as u64];
    world.count(&mut counts);
    let [rows, comparisons, distinct] = counts;
    let graph =
        agree(world, ComparisonGraph::distributed(items.len(), groups, Arc::clone(communicator)))?;
    let groups = distinct as usize;
    Ok(CountedStudy { by, items, graph, groups, rows, comparisons, annotators })
}
