//! What a kept state belongs to: the same ranks, files and options, and the same program.

use std::collections::BTreeMap;

use clap::{ArgMatches, Command};
use serde::{Deserialize, Serialize};

use crate::shards::Plan;

/// Facts by name; two runs that can share a state have the same ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fingerprint(BTreeMap<String, String>);

/// Flags that do not change the solver's work.
const WITHOUT_EFFECT: [&str; 8] =
    ["threads", "quiet", "format", "output", "top", "checkpoint", "every", "resume"];

/// Changes with the way in which states are written.
const FORMAT: u32 = 1;

impl Fingerprint {
    /// The options of a command that change its work, as they were typed or by default. `flags`
    /// defines them.
    #[must_use]
    pub fn of_options(flags: &Command, matches: &ArgMatches) -> Self {
        let mut facts = BTreeMap::from([
            ("command".to_owned(), flags.get_name().to_owned()),
            ("program".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("format".to_owned(), FORMAT.to_string()),
        ]);
        for flag in flags.get_arguments() {
            let Some(name) = flag.get_long().filter(|name| !WITHOUT_EFFECT.contains(name)) else {
                continue;
            };
            if let Ok(Some(values)) = matches.try_get_raw(flag.get_id().as_str()) {
                let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
                facts.insert(format!("--{name}"), values.join(" "));
            }
        }
        Self(facts)
    }

    /// The same with who reads what.
    #[must_use]
    pub fn with_plan(mut self, plan: &Plan, ranks: usize) -> Self {
        self.0.insert("ranks".to_owned(), ranks.to_string());
        for (number, file) in plan.files.iter().enumerate() {
            let readers: Vec<String> = file.readers.iter().map(usize::to_string).collect();
            let fact =
                format!("{}, {} bytes, read by {}", file.path, file.bytes, readers.join(","));
            self.0.insert(format!("file {}", number + 1), fact);
        }
        self
    }

    /// What is different in the run of now.
    #[must_use]
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let names: std::collections::BTreeSet<&String> =
            self.0.keys().chain(now.0.keys()).collect();
        let shown = |fact: Option<&String>| fact.map_or("not there", String::as_str).to_owned();
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
        let then = facts(&[("ranks", "2"), ("--by", "scene"), ("--method", "lbi")]);
        let now = facts(&[("ranks", "4"), ("--method", "lbi")]);
        assert_eq!(
            then.differences(&now),
            ["--by: scene then, not there now", "ranks: 2 then, 4 now"]
        );
        assert_eq!(then.differences(&then), Vec::<String>::new());
    }
}
