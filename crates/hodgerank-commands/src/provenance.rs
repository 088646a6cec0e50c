//! What a result was computed with and from: the program, its options, and the files that were read.

use std::sync::{Mutex, PoisonError};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args};
use hodgerank_io::read::InputFile;
use hodgerank_io::write::Table;
use serde::Serialize;
use serde_json::{Map, Value};

/// The program's name and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Program {
    /// The name.
    pub name: &'static str,
    /// The version.
    pub version: &'static str,
}

/// This program.
pub const PROGRAM: Program = Program { name: "hodgerank", version: env!("CARGO_PKG_VERSION") };

/// Options of a run, and the files that it has read.
#[derive(Debug, Clone, Default)]
pub struct Provenance {
    given: Map<String, Value>,
    defaults: Map<String, Value>,
    files: Option<Vec<InputFile>>,
}

/// Options as given and as chosen.
#[derive(Debug, Serialize)]
pub(crate) struct OptionsSummary<'a> {
    given: &'a Map<String, Value>,
    /// The values of options that were not given, if they have one.
    chosen: Map<String, Value>,
}

impl Provenance {
    /// The options of a command. Those that cannot change the result, such as the number of threads, are
    /// not among its arguments `A`, and so not here.
    #[must_use]
    pub fn of_arguments<A: Args>(matches: &ArgMatches) -> Self {
        let definition = A::augment_args(clap::Command::new(PROGRAM.name));
        let mut found = Self::default();
        for argument in definition.get_arguments() {
            let (Some(name), Some(value)) = (argument.get_long(), value(argument, matches)) else {
                continue;
            };
            let options = match matches.value_source(argument.get_id().as_str()) {
                Some(ValueSource::DefaultValue) => &mut found.defaults,
                _ => &mut found.given,
            };
            options.insert(name.replace('-', "_"), value);
        }
        found
    }

    /// The same with the files that were read.
    #[must_use]
    pub fn with_files(self, files: Vec<InputFile>) -> Self {
        Self { files: Some(files), ..self }
    }

    /// The files that were read; none if the votes were in memory, or nobody asked.
    pub(crate) fn files(&self) -> Option<&[InputFile]> {
        self.files.as_deref()
    }

    /// The options, where the studies were ranked with these methods.
    pub(crate) fn options(&self, methods: &[&str]) -> OptionsSummary<'_> {
        let mut chosen = self.defaults.clone();
        let mut methods = methods.iter();
        if let Some(first) = methods.next()
            && methods.all(|method| method == first)
            && !self.given.contains_key("method")
        {
            chosen.insert("method".to_owned(), Value::from(*first));
        }
        OptionsSummary { given: &self.given, chosen }
    }

    /// Adds the provenance to the metadata of a table, as JSON.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn push_metadata(&self, methods: &[&str], table: &mut Table) -> serde_json::Result<()> {
        table.push_metadata("hodgerank.program", serde_json::to_string(&PROGRAM)?);
        table.push_metadata("hodgerank.options", serde_json::to_string(&self.options(methods))?);
        if let Some(files) = &self.files {
            table.push_metadata("hodgerank.files", serde_json::to_string(files)?);
        }
        Ok(())
    }
}

/// The value of an argument; none if it has none.
fn value(argument: &Arg, matches: &ArgMatches) -> Option<Value> {
    let id = argument.get_id().as_str();
    if let ArgAction::SetTrue = argument.get_action() {
        return matches.try_get_one::<bool>(id).ok().flatten().map(|&is_set| Value::from(is_set));
    }
    let values = matches.try_get_raw(id).ok().flatten()?;
    let mut values = values.map(|value| Value::from(value.to_string_lossy()));
    let is_list = matches!(argument.get_action(), ArgAction::Append)
        || argument.get_value_delimiter().is_some();
    if is_list { Some(values.collect()) } else { values.next() }
}

/// A place where a command notes the files that it reads.
#[derive(Debug, Default)]
pub struct FileRecord(Mutex<Vec<InputFile>>);

impl FileRecord {
    pub(crate) fn set(&self, files: &[InputFile]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = files.to_vec();
    }

    /// The files that were read.
    #[must_use]
    pub fn take(&self) -> Vec<InputFile> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::CompareArgs;
    use crate::rank::RankArgs;

    fn options<A: Args>(words: &str, methods: &[&str]) -> Value {
        let command = A::augment_args(clap::Command::new("hodgerank"));
        let matches = command.try_get_matches_from(words.split(' ')).unwrap();
        serde_json::to_value(Provenance::of_arguments::<A>(&matches).options(methods)).unwrap()
    }

    #[test]
    fn options_are_given_or_chosen() {
        let words = "hodgerank --outliers 5% --on-error=skip --require-connected --lambda 2";
        let found = options::<RankArgs>(words, &["bt", "bt"]);
        let given = serde_json::json!({
            "lambda": "2", "on_error": "skip", "outliers": "5%", "require_connected": true,
        });
        assert_eq!(found["given"], given);
        assert_eq!(found["chosen"]["method"], "bt");
        assert_eq!(found["chosen"]["level"], "0.95");
        for name in given.as_object().unwrap().keys() {
            assert_eq!(found["chosen"].get(name), None, "{name}");
        }
    }

    #[test]
    fn a_method_is_chosen_if_all_studies_have_it_and_it_was_not_given() {
        let found = options::<RankArgs>("hodgerank", &["bt", "crowd"]);
        assert_eq!(found["given"], serde_json::json!({}));
        assert_eq!(found["chosen"].get("method"), None);
        assert_eq!(found["chosen"]["require_connected"], false);
        let found = options::<RankArgs>("hodgerank --method l2", &["l2"]);
        assert_eq!(
            (&found["given"]["method"], found["chosen"].get("method")),
            (&"l2".into(), None)
        );
    }

    #[test]
    fn lists_stay_lists() {
        let found = options::<CompareArgs>("hodgerank --methods l2,iss", &[]);
        assert_eq!(found["given"], serde_json::json!({"methods": ["l2", "iss"]}));
    }
}
