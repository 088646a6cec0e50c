//! The items and annotators that files name.

use std::collections::HashMap;

use hodgerank::next_pairs::Assignment;
use hodgerank::{AnnotatorVotes, Labels};
use hodgerank_io::text::visible_name;

use super::NextArgs;
use crate::exclude::read_names;
use crate::failure::Failure;

/// What `--items` and `--annotators` name.
pub(super) struct NamedLists {
    pub(super) items: Option<Vec<String>>,
    pub(super) annotators: Option<Labels>,
}

impl NamedLists {
    pub(super) fn read(args: &NextArgs) -> Result<Self, Failure> {
        let read = |option: &str, file: &Option<String>| {
            file.as_deref().map(|file| trimmed_names(option, file)).transpose()
        };
        let items = read("--items", &args.items)?;
        let annotators = read("--annotators", &args.annotators)?.map(|names| {
            let mut labels = Labels::new();
            for name in &names {
                labels.intern(name);
            }
            labels
        });
        Ok(Self { items, annotators })
    }

    /// Who can be asked, with the pairs on which they have voted; none if anybody can be asked anything.
    pub(super) fn assignment(
        &self,
        voters: &Labels,
        votes: Option<&AnnotatorVotes>,
    ) -> Option<Assignment> {
        let annotators = self.annotators.as_ref()?;
        let number: HashMap<&str, u32> = annotators.iter().zip(0..).collect();
        let mut assignment = Assignment::new(annotators.len());
        for (voter, name) in voters.iter().enumerate() {
            let (Some(&annotator), Some(votes)) = (number.get(name), votes) else { continue };
            for vote in votes.of(voter) {
                assignment.has_been_asked(annotator, vote.left, vote.right);
            }
        }
        Some(assignment)
    }
}

/// The names in a file, without spaces at their ends, as labels of votes are read.
fn trimmed_names(option: &str, file: &str) -> Result<Vec<String>, Failure> {
    let names = read_names(option, file)?;
    if names.is_empty() {
        return Err(Failure::usage(
            format!("{option} {} names nobody and nothing", visible_name(file)),
            "write one name per line",
        ));
    }
    Ok(names.iter().map(|name| name.trim().to_owned()).collect())
}
