//! Checks the inputs of a command. Outputs are checked by [`hodgerank_io::write::Outputs`].

use hodgerank_io::read::same_content;
use hodgerank_io::text::visible_name;
use hodgerank_io::write::Place;

use crate::failure::Failure;
use crate::observer::Observer;

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
    let places: Vec<Option<Place>> = inputs.iter().map(|name| Place::of_input(name)).collect();
    for (k, place) in places.iter().enumerate() {
        let before = places[..k].iter().position(|other| place.is_some() && other == place);
        if let Some(before) = before {
            let (first, again) = (visible_name(&inputs[before]), visible_name(&inputs[k]));
            let named = match first == again {
                true => format!("{first} is named twice"),
                false => format!("{first} and {again} are the same file"),
            };
            observer.warn(&format!("{named}: each of its votes counts twice"));
        }
    }
    for (first, copy) in same_content(inputs) {
        // One file under two names was reported above.
        if places[first].is_none() || places[first] != places[copy] {
            observer.warn(&format!(
                "{} and {} have the same content: each of their votes counts twice",
                visible_name(&inputs[first]),
                visible_name(&inputs[copy])
            ));
        }
    }
    Ok(())
}
