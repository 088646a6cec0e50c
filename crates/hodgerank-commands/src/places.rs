//! Which names lead to the same file: two spellings of a path, a link and what it points to, a
//! standard stream and the file that the shell gave for it.
//!
//! Failure modes: hard links are different files here. An output takes the place of one name and
//! leaves the other alone, so nothing is lost by that.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::observer::Observer;

/// Where an output's name leads.
fn of_output(name: &str) -> PathBuf {
    resolve(if name == "-" { "/dev/stdout" } else { name })
}

/// Where an input's name leads, if that is a file: pipes and terminals can be shared.
fn of_input(name: &str) -> Option<PathBuf> {
    let place = resolve(if name == "-" { "/dev/stdin" } else { name });
    place.is_file().then_some(place)
}

fn resolve(name: &str) -> PathBuf {
    let path = Path::new(name);
    if let Ok(place) = path.canonicalize() {
        return place;
    }
    // It is not there yet, but its folder is.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Refuses outputs (each with its flag) that share a place, or would take that of an input.
///
/// # Errors
/// [`Failure::Usage`] that names the outputs, or the output and the input.
pub fn check_outputs(outputs: &[(&str, &str)], inputs: &[String]) -> Result<(), Failure> {
    let places: Vec<PathBuf> = outputs.iter().map(|(_, name)| of_output(name)).collect();
    for (k, (flag, name)) in outputs.iter().enumerate() {
        if let Some(before) = places[..k].iter().position(|place| *place == places[k]) {
            let (other_flag, other) = outputs[before];
            return Err(Failure::usage(
                format!("{other_flag} {other} and {flag} {name} cannot go to the same place"),
                format!("give {other_flag} and {flag} different names"),
            ));
        }
        let is_it = |input: &&String| of_input(input).is_some_and(|place| place == places[k]);
        if let Some(input) = inputs.iter().find(is_it) {
            return Err(Failure::usage(
                format!("{flag} {name} would replace the input {input}"),
                format!(
                    "give {flag} another name; replace the input yourself once you are content"
                ),
            ));
        }
    }
    Ok(())
}

/// Refuses to read standard input twice, and says so where a file is: its votes count twice.
///
/// # Errors
/// [`Failure::Usage`] if standard input is named twice.
pub fn check_inputs(inputs: &[String], observer: &dyn Observer) -> Result<(), Failure> {
    if inputs.iter().filter(|name| *name == "-").count() > 1 {
        return Err(Failure::usage(
            "standard input can be read only once",
            "give `-` once; several inputs can be put together before: their rows under one header",
        ));
    }
    let places: Vec<Option<PathBuf>> = inputs.iter().map(|name| of_input(name)).collect();
    for (k, place) in places.iter().enumerate() {
        let before = places[..k].iter().position(|other| place.is_some() && other == place);
        if let Some(before) = before {
            let (first, again) = (&inputs[before], &inputs[k]);
            let named = match first == again {
                true => format!("{first} is named twice"),
                false => format!("{first} and {again} are the same file"),
            };
            observer.warn(&format!("{named}: each of its votes counts twice"));
        }
    }
    Ok(())
}
