//! Keywords as arguments. They are parsed by the definitions of the command line, so that names,
//! defaults, checks and messages are the same.

use std::any::TypeId;

use clap::{Arg, ArgAction, Args, Command};
use hodgerank_commands::Provenance;
use hodgerank_commands::keywords::{definition, definition_of, keyword, with_keywords};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::errors::usage;

/// Parses keywords into the arguments of a command.
pub(crate) fn parse<T: Args>(keywords: &Bound<'_, PyDict>) -> PyResult<T> {
    parse_with_provenance(keywords).map(|(parsed, _)| parsed)
}

/// [`parse`], with the options as given and as chosen.
pub(crate) fn parse_with_provenance<T: Args>(
    keywords: &Bound<'_, PyDict>,
) -> PyResult<(T, Provenance)> {
    let py = keywords.py();
    let command = definition::<T>();
    let mut words = vec!["hodgerank".to_owned()];
    for (name, value) in keywords {
        let keyword = name.extract::<String>()?;
        let name = flag(&keyword);
        let is_switch = find(&command, &name)
            .is_some_and(|argument| matches!(argument.get_action(), ArgAction::SetTrue));
        if value.is_none() {
            continue;
        }
        if is_switch {
            match value.extract::<bool>() {
                Ok(true) => words.push(format!("--{name}")),
                Ok(false) => {}
                Err(_) => {
                    let problem = format!("{keyword} = {value}: expected True or False");
                    return Err(usage(py, &problem, "leave it out, or give True"));
                }
            }
        } else {
            words.push(format!("--{name}={}", text(&value)?));
        }
    }
    let matches = command.try_get_matches_from(words);
    let parsed = matches.and_then(|matches| {
        Ok((T::from_arg_matches(&matches)?, Provenance::of_arguments::<T>(&matches)))
    });
    parsed.map_err(|error| {
        let message = error.to_string();
        let message = message.strip_prefix("error: ").unwrap_or(&message);
        let message = message.split("\n\nUsage:").next().unwrap_or(message);
        let message =
            message.split("\n\nFor more information").next().unwrap_or(message).trim_end();
        // Python has no arguments without a name, and no `--` before them.
        let message = message.split("\n\n  tip: to pass").next().unwrap_or(message);
        let message =
            message.replace("unexpected argument", "there is no option").replace("' found", "'");
        usage(py, &message, "docs/python.md lists the options")
    })
}

/// `lambda_` stands for `lambda`, a reserved word of Python; underscores become dashes.
fn flag(keyword: &str) -> String {
    keyword.trim_end_matches('_').replace('_', "-")
}

fn find<'a>(command: &'a Command, flag: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|argument| argument.get_long() == Some(flag))
}

/// A value in the form of the command line; lists are joined by commas, mappings are `key=value`.
fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let join = |parts: Vec<String>| parts.join(",");
    if let Ok(mapping) = value.cast::<PyDict>() {
        let pair = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok(format!("{}={}", key.str()?.to_cow()?, value.str()?.to_cow()?))
        };
        return mapping.iter().map(pair).collect::<PyResult<_>>().map(join);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let parts = value.try_iter()?.map(|part| Ok(part?.str()?.to_cow()?.into_owned()));
        return parts.collect::<PyResult<_>>().map(join);
    }
    Ok(value.str()?.to_cow()?.into_owned())
}

/// Name, kind (`switch`, `number`, `whole`, `list` or `text`), default, values to choose from, help.
type Described = (String, &'static str, Option<String>, Vec<String>, String);

/// The options of a command.
#[pyfunction]
pub(crate) fn options(py: Python<'_>, command: &str) -> PyResult<Vec<Described>> {
    let Some(definition) = definition_of(command) else {
        return Err(usage(py, &format!("there is no command `{command}`"), "name another"));
    };
    let describe = |argument: &Arg| {
        let name = keyword(command, argument.get_long()?);
        let is_switch = matches!(argument.get_action(), ArgAction::SetTrue);
        let default = argument.get_default_values().first().filter(|_| !is_switch);
        let default = default.map(|value| value.to_string_lossy().into_owned());
        let values = argument.get_possible_values();
        let values = values.iter().filter(|_| !is_switch).flat_map(|v| v.get_name_and_aliases());
        let values = values.map(str::to_owned);
        let help = argument.get_help().map_or(String::new(), ToString::to_string);
        let help = with_keywords(&help).into_owned();
        Some((name, kind(argument), default, values.collect(), help))
    };
    Ok(definition.get_arguments().filter_map(describe).collect())
}

fn kind(argument: &Arg) -> &'static str {
    let is = |id: TypeId| argument.get_value_parser().type_id() == id;
    match argument.get_action() {
        ArgAction::SetTrue => "switch",
        ArgAction::Append => "list",
        _ if is(TypeId::of::<f64>()) => "number",
        _ if [TypeId::of::<usize>(), TypeId::of::<u64>(), TypeId::of::<u32>()]
            .into_iter()
            .any(is) =>
        {
            "whole"
        }
        _ => "text",
    }
}
