//! `--min-votes`: items with few votes are left out.

use clap::Args;
use hodgerank::{FewVotesItems, Study};
use hodgerank_io::{ExcludedItem, ExcludedItems, Input};
use hodgerank_report::words::{counted, thousands};

use crate::failure::Failure;
use crate::observer::Observer;
use crate::text::visible;

/// Which items are ranked.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct ItemOptions {
    /// Leave out items with fewer votes than this, and all votes on them
    #[arg(long, value_name = "N")]
    pub min_votes: Option<u64>,
}

impl ItemOptions {
    /// Leaves out items, and says which.
    pub(crate) fn apply(self, input: &mut Input, observer: &dyn Observer) -> Result<(), Failure> {
        let Some(min_votes) = self.min_votes else { return Ok(()) };
        let mut excluded = ExcludedItems { min_votes, ..ExcludedItems::default() };
        for study in std::mem::take(&mut input.studies) {
            let by = study.by.clone();
            let (study, left_out) = study.with_min_votes(min_votes);
            if study.items.is_empty() {
                return Err(nothing_left(&study, &left_out, min_votes));
            }
            excluded.votes += left_out.votes;
            let items = left_out.items.iter().zip(&left_out.votes_of);
            excluded.items.extend(items.map(|(item, &votes)| ExcludedItem {
                by: by.clone(),
                item: item.to_owned(),
                votes,
            }));
            excluded.of_study.push(left_out.items);
            input.studies.push(study);
        }
        observer.note(&description(&excluded));
        input.excluded_items = Some(excluded);
        Ok(())
    }
}

fn nothing_left(study: &Study, left_out: &FewVotesItems, min_votes: u64) -> Failure {
    let by = study.by.as_ref().map_or(String::new(), |by| format!("{}: ", visible(by)));
    let most = left_out.votes_of.iter().max().copied().unwrap_or(0);
    Failure::usage(
        format!(
            "{by}--min-votes {min_votes} leaves no two items to compare: no item has more than {}",
            counted(most, "vote", "votes")
        ),
        "choose a smaller number, or leave --min-votes out",
    )
}

/// What was left out, in words.
pub(crate) fn description(excluded: &ExcludedItems) -> String {
    const MAX_LISTED: usize = 5;
    let why = format!("with fewer than {}", counted(excluded.min_votes, "vote", "votes"));
    if excluded.items.is_empty() {
        return format!("no item {why} was excluded");
    }
    let listed = excluded.items.iter().take(MAX_LISTED);
    let mut names: Vec<String> = listed
        .map(|item| {
            let by = item.by.as_ref().map_or(String::new(), |by| format!("{}: ", visible(by)));
            format!("{by}{} ({})", visible(&item.item), thousands(item.votes))
        })
        .collect();
    if excluded.items.len() > MAX_LISTED {
        names.push("…".to_owned());
    }
    format!(
        "{} {why} excluded, and with them {}: {}",
        counted(excluded.items.len() as u64, "item", "items"),
        counted(excluded.votes, "vote", "votes"),
        names.join(", ")
    )
}
