//! Which rows are votes, and what their values mean.

use clap::{Args, ValueEnum};
use hodgerank_io::{Filter, OutcomeValues, ValueMeaning};

use crate::failure::Failure;

/// What is made alike while reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Normalise {
    /// Labels that differ only in case, spaces or Unicode form are one item
    Labels,
}

/// Which rows are votes, and what their values mean.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct RowOptions {
    /// Outcome that counts as a tie, such as "Don't know"; can be given several times
    #[arg(long, value_name = "VALUE")]
    tie: Vec<String>,
    /// Outcome of rows that are no votes, such as "n/a"; can be given several times
    #[arg(long, value_name = "VALUE")]
    ignore: Vec<String>,
    /// Outcome that prefers the left item, such as "Option A is better"; can be given several times
    #[arg(long, value_name = "VALUE")]
    prefer_left: Vec<String>,
    /// Outcome that prefers the right item; can be given several times
    #[arg(long, value_name = "VALUE")]
    prefer_right: Vec<String>,
    /// Read only rows with this value in this column. Of several values for one column, a row needs one;
    /// of several columns, it needs all
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = parse_condition)]
    conditions: Vec<(String, String)>,
    /// Join what differs in spelling only: `labels` that differ only in case, spaces or Unicode form
    #[arg(long, visible_alias = "normalize", value_enum, value_name = "WHAT")]
    normalise: Option<Normalise>,
}

impl RowOptions {
    /// Whether spellings of labels are joined.
    #[must_use]
    pub fn joins_spellings(&self) -> bool {
        self.normalise == Some(Normalise::Labels)
    }

    /// The values with given meanings.
    pub(crate) fn values(&self) -> Result<OutcomeValues, Failure> {
        let of = |list: &'_ [String], meaning: ValueMeaning| {
            list.iter().map(move |value| (value.clone(), meaning)).collect::<Vec<_>>()
        };
        let values = [
            of(&self.tie, ValueMeaning::Tie),
            of(&self.ignore, ValueMeaning::Ignored),
            of(&self.prefer_left, ValueMeaning::Left),
            of(&self.prefer_right, ValueMeaning::Right),
        ]
        .concat();
        let values = values.iter().map(|(value, meaning)| (value.as_str(), *meaning));
        OutcomeValues::new(values).map_err(|value| {
            Failure::usage(
                format!("the outcome \"{value}\" is given two meanings"),
                "give it to one of --tie, --ignore, --prefer-left and --prefer-right",
            )
        })
    }

    /// The accepted values of each filtered column.
    pub(crate) fn filters(&self) -> Result<Vec<Filter>, Failure> {
        let mut filters: Vec<Filter> = Vec::new();
        for (column, value) in &self.conditions {
            match filters.iter_mut().find(|filter| filter.column == *column) {
                Some(filter) => filter.values.push(value.clone()),
                None => {
                    let (column, values) = (column.clone(), vec![value.clone()]);
                    filters.push(Filter { column, values });
                }
            }
        }
        if filters.len() > Filter::MAX_COLUMNS {
            return Err(Failure::usage(
                format!("--where names {} columns", filters.len()),
                format!("filter by {} columns at most", Filter::MAX_COLUMNS),
            ));
        }
        Ok(filters)
    }
}

fn parse_condition(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((column, value)) if !column.trim().is_empty() => {
            Ok((column.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected a column, an equals sign and a value, such as scene=park".to_owned()),
    }
}
