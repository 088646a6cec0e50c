//! Detects file names that lead to the same file: two spellings of a path, a link and its target, a
//! standard stream and the file that it is redirected to.
//!
//! Hard links count as different files. An output replaces one name and leaves the other alone, so
//! no data is lost.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::observer::Observer;

/// The file that an output is written to.
fn of_output(name: &str) -> PathBuf {
    resolve(if name == "-" { "/dev/stdout" } else { name })
}

/// The file that an input is read from; `None` for pipes and terminals, which can be shared.
fn of_input(name: &str) -> Option<PathBuf> {
    let place = resolve(if name == "-" { "/dev/stdin" } else { name });
    place.is_file().then_some(place)
}

fn resolve(name: &str) -> PathBuf {
    let path = Path::new(name);
    if let Ok(place) = path.canonicalize() {
        return place;
    }
    // A file that does not exist yet, in a folder that does.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Refuses outputs (each with its flag) that would replace each other or an input.
///
/// # Errors
/// [`Failure::Usage`] that names the outputs, or the output and the input.
pub fn check_outputs(outputs: &[(&str, &str)], inputs: &[String]) -> Result<(), Failure> {
    let places: Vec<PathBuf> = outputs.iter().map(|(_, name)| of_output(name)).collect();
    for (k, (flag, name)) in outputs.iter().enumerate() {
        if let Some(before) = places[..k].iter().position(|place| *place == places[k]) {
            let (other_flag, other) = outputs[before];
            return Err(Failure::usage(
                format!(
                    "{other_flag} {other} and {flag} {name} cannot be written to the same file"
                ),
                format!("give {other_flag} and {flag} different names"),
            ));
        }
        let is_it = |input: &&String| of_input(input).is_some_and(|place| place == places[k]);
        if let Some(input) = inputs.iter().find(is_it) {
            return Err(Failure::usage(
                format!("{flag} {name} would replace the input {input}"),
                format!(
                    "choose another name for {flag}; replace the input after you have checked the result"
                ),
            ));
        }
    }
    Ok(())
}

/// Refuses to read standard input twice; warns about files that are named twice.
///
/// # Errors
/// [`Failure::Usage`] if standard input is named twice.
pub fn check_inputs(inputs: &[String], observer: &dyn Observer) -> Result<(), Failure> {
    if inputs.iter().filter(|name| *name == "-").count() > 1 {
        return Err(Failure::usage(
            "standard input can be read only once",
            "name `-` once; combine several inputs first, with their rows under one header",
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
