//! Which run a checkpoint belongs to: its processes, files and options, and the program.

use std::collections::{BTreeMap, BTreeSet};

use clap::{ArgMatches, Command};
use hodgerank_io::ExcludedAnnotators;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::input::ShardPlan;

/// Facts about a run, by name. A checkpoint can be resumed by runs with the same facts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fingerprint(BTreeMap<String, String>);

/// Flags that do not change what the solver computes.
const FLAGS_WITHOUT_EFFECT: [&str; 8] =
    ["threads", "quiet", "format", "output", "top", "checkpoint", "every", "resume"];

/// Version of the encoding of states.
const STATE_FORMAT: u32 = 2;

impl Fingerprint {
    /// Returns the facts known from the command line: the program, the command, and the options
    /// that change what the solver computes, given or by default. `definition` defines them.
    #[must_use]
    pub fn of_options(definition: &Command, matches: &ArgMatches) -> Self {
        let mut facts = BTreeMap::from([
            ("command".to_owned(), definition.get_name().to_owned()),
            ("program".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("format".to_owned(), STATE_FORMAT.to_string()),
        ]);
        for flag in definition.get_arguments() {
            let Some(name) = flag.get_long().filter(|name| !FLAGS_WITHOUT_EFFECT.contains(name))
            else {
                continue;
            };
            if let Ok(Some(values)) = matches.try_get_raw(flag.get_id().as_str()) {
                let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
                facts.insert(format!("--{name}"), values.join(" "));
            }
        }
        Self(facts)
    }

    /// Adds the number of processes and which of them reads what.
    #[must_use]
    pub fn with_plan(mut self, plan: &ShardPlan, size: usize) -> Self {
        self.0.insert("processes".to_owned(), size.to_string());
        for (number, file) in plan.files.iter().enumerate() {
            let readers: Vec<String> = file.readers.iter().map(usize::to_string).collect();
            let fact =
                format!("{}, {} bytes, read by {}", file.path, file.bytes, readers.join(","));
            self.0.insert(format!("file {}", number + 1), fact);
        }
        self
    }

    /// Adds the annotators whose votes are left out: the file that names them can change.
    #[must_use]
    pub fn with_excluded(mut self, annotators: Option<&ExcludedAnnotators>) -> Self {
        if let Some(annotators) = annotators {
            let mut digest = Sha256::new();
            for name in annotators.names() {
                digest.update(name);
                digest.update([0]);
            }
            let [a, b, c, d, ..]: [u8; 32] = digest.finalize().into();
            let hash = u32::from_be_bytes([a, b, c, d]);
            let fact = format!("{} with the hash {hash:08x}", annotators.len());
            self.0.insert("excluded annotators".to_owned(), fact);
        }
        self
    }

    /// Returns the facts that differ in the run `now`, as text.
    #[must_use]
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = self.0.keys().chain(now.0.keys()).collect();
        let shown = |fact: Option<&String>| fact.map_or("missing", String::as_str).to_owned();
        let difference = |name: &String| {
            let (then, now) = (self.0.get(name), now.0.get(name));
            (then != now).then(|| format!("{name}: {} then, {} now", shown(then), shown(now)))
        };
        names.into_iter().filter_map(difference).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let facts = |pairs: &[(&str, &str)]| {
            Fingerprint(pairs.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect())
        };
        let then = facts(&[("processes", "2"), ("--by", "scene"), ("--method", "lbi")]);
        let now = facts(&[("processes", "4"), ("--method", "lbi")]);
        assert_eq!(
            then.differences(&now),
            ["--by: scene then, missing now", "processes: 2 then, 4 now"]
        );
        assert_eq!(then.differences(&then), Vec::<String>::new());
    }
}
