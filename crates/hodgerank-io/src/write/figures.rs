//! Documents of figures: one for each study, as JSON or as a long table of name and value.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::ranking::RejectedSummary;
use super::{Column, Table};

/// What is said of one study, under the value of the `--by` column.
#[derive(Debug, Serialize)]
pub struct OfStudy<T> {
    /// The value of the `--by` column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What is said.
    #[serde(flatten)]
    pub figures: T,
}

/// The JSON of a command that says one thing of each study.
#[derive(Debug, Serialize)]
struct FiguresDocument<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    study: Option<&'a OfStudy<T>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups_by: Option<&'a [OfStudy<T>]>,
    rejected: &'a RejectedSummary,
}

impl<T: Serialize> OfStudy<T> {
    /// Writes one indented document; with `--by` the studies stand under `groups_by`.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_json(
        studies: &[Self],
        schema: &'static str,
        rejected: &RejectedSummary,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let (study, groups_by) = match studies {
            [only] if only.by.is_none() => (Some(only), None),
            several => (None, Some(several)),
        };
        let document = FiguresDocument { schema, study, groups_by, rejected };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        out.write_all(b"\n")
    }

    /// All figures as rows of a name (`design.items`) and a value; lists count from 1.
    ///
    /// # Errors
    /// If a figure cannot be written as JSON.
    pub fn long_table(studies: &[Self]) -> io::Result<Table> {
        let (mut by, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for study in studies {
            let value = serde_json::to_value(&study.figures)?;
            flatten(String::new(), &value, &mut |name, value| {
                by.push(study.by.clone());
                names.push(Some(name));
                values.push(value);
            });
        }
        let mut table = Table::default();
        if by.iter().any(Option::is_some) {
            table.push("by", Column::Text(by));
        }
        table.push("figure", Column::Text(names));
        table.push("value", Column::Text(values));
        Ok(table)
    }
}

fn flatten(name: String, value: &Value, write: &mut impl FnMut(String, Option<String>)) {
    let below =
        |part: &str| if name.is_empty() { part.to_owned() } else { format!("{name}.{part}") };
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(field, value)| flatten(below(field), value, write));
        }
        Value::Array(values) => {
            let numbered = values.iter().enumerate();
            numbered.for_each(|(k, value)| flatten(below(&(k + 1).to_string()), value, write));
        }
        Value::Null => write(name, None),
        Value::String(text) => write(name, Some(text.clone())),
        Value::Bool(_) | Value::Number(_) => write(name, Some(value.to_string())),
    }
}
