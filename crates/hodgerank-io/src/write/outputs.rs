//! The outputs of one command. This is the only way to open an output, so that no command can
//! replace its own input.

use std::sync::Arc;

use super::output::Output;
use super::place::{Place, Target};
use crate::error::{Error, Result};

/// The inputs and outputs of a command: refuses outputs that would replace an input or each other.
#[derive(Debug)]
pub struct Outputs {
    inputs: Vec<(String, Place)>,
    claimed: Vec<(OutputName, Place)>,
    has_text: bool,
}

/// A flag and the name that the user gave to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputName {
    /// The flag, such as `--output`; empty for text on standard output that no flag asks for.
    pub flag: &'static str,
    /// The name; `-` is standard output.
    pub name: Arc<str>,
}

impl std::fmt::Display for OutputName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.flag.is_empty() {
            return f.write_str("the text on standard output");
        }
        let kind = if &*self.name == "-" { " (standard output)" } else { "" };
        write!(f, "{} {}{kind}", self.flag, crate::text::visible_name(&self.name))
    }
}

/// An output that clashes with no other file, and is not open yet.
#[derive(Debug)]
pub struct ClaimedOutput {
    name: Arc<str>,
    target: Target,
}

impl ClaimedOutput {
    /// Opens the output. Nothing appears under its name before [`Output::finish`].
    ///
    /// # Errors
    /// If the folder does not exist or cannot be written to.
    pub fn open(self) -> Result<Output> {
        Output::open(self.name, &self.target)
    }
}

impl Outputs {
    /// The outputs of a command that reads `inputs`; `-` is standard input.
    #[must_use]
    pub fn new(inputs: &[String]) -> Self {
        let place = |name: &String| Some((name.clone(), Place::of_input(name)?));
        Self {
            inputs: inputs.iter().filter_map(place).collect(),
            claimed: Vec::new(),
            has_text: false,
        }
    }

    /// Checks an output; `-` is standard output. Claim all outputs before any input is read and any
    /// output is opened.
    ///
    /// # Errors
    /// [`Error::ReplacesInput`] or [`Error::SameOutput`] if the output is an input or another
    /// output, [`Error::Write`] if it is a folder or in a folder that does not exist.
    pub fn claim(&mut self, flag: &'static str, name: &str) -> Result<ClaimedOutput> {
        let output = OutputName { flag, name: name.into() };
        let target = Target::of_output(name);
        let target = target.map_err(|source| Error::write(&shown(&output.name), source))?;
        if let Some(place) = target.place() {
            self.check(&output, &place)?;
            self.claimed.push((output.clone(), place));
        }
        Ok(ClaimedOutput { name: shown(&output.name), target })
    }

    /// Standard output, for text that accompanies other outputs. It can be opened repeatedly.
    ///
    /// # Errors
    /// As [`Outputs::claim`].
    pub fn standard(&mut self) -> Result<Output> {
        if !self.has_text {
            self.claim("", "-")?;
            self.has_text = true;
        }
        Output::open(shown("-"), &Target::Standard)
    }

    /// Checks a folder to which a command writes files of its own.
    ///
    /// # Errors
    /// As [`Outputs::claim`].
    pub fn claim_folder(&mut self, flag: &'static str, name: &str) -> Result<()> {
        let output = OutputName { flag, name: name.into() };
        let place = Place::of_folder(name);
        self.check(&output, &place)?;
        self.claimed.push((output, place));
        Ok(())
    }

    /// Checks a file in a temporary folder of this command; messages call it `name`.
    ///
    /// # Errors
    /// As [`Outputs::claim`].
    pub fn claim_part(
        &mut self,
        flag: &'static str,
        path: &str,
        name: &str,
    ) -> Result<ClaimedOutput> {
        let claimed = self.claim(flag, path).map_err(|error| match error {
            Error::Write { source, .. } => Error::write(&name.into(), source),
            other => other,
        })?;
        Ok(ClaimedOutput { name: name.into(), ..claimed })
    }

    fn check(&self, output: &OutputName, place: &Place) -> Result<()> {
        if let Some((other, _)) = self.claimed.iter().find(|(_, other)| other == place) {
            let (first, second) = (other.clone(), output.clone());
            return Err(Error::SameOutput { first, second });
        }
        match self.inputs.iter().find(|(_, input)| input == place) {
            Some((input, _)) => {
                let (output, input) = (output.clone(), input.as_str().into());
                Err(Error::ReplacesInput { output, input })
            }
            None => Ok(()),
        }
    }
}

/// The name of an output in messages.
fn shown(name: &str) -> Arc<str> {
    if name == "-" { "standard output".into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_replace_neither_inputs_nor_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(at("in.csv"), "x").unwrap();
        let mut outputs = Outputs::new(&[at("none.csv"), at("in.csv")]);
        let claimed = outputs.claim("--output", &at("./in.csv"));
        assert!(
            matches!(claimed, Err(Error::ReplacesInput { input, .. }) if *input == *at("in.csv"))
        );
        outputs.claim("--output", &at("out.csv")).unwrap();
        let claimed = outputs.claim("--flagged", &at("x/../out.csv"));
        assert!(claimed.is_err(), "the folder x does not exist");
        let claimed = outputs.claim("--flagged", &at("./out.csv"));
        assert!(
            matches!(claimed, Err(Error::SameOutput { second, .. }) if second.flag == "--flagged")
        );
        assert!(outputs.claim_folder("--figures", &at("out.csv")).is_err());
        outputs.claim_folder("--figures", &at("new")).unwrap();
        assert!(outputs.claim_folder("--checkpoint", &at("new/")).is_err());
        for _ in 0..2 {
            outputs.claim("--output", "/dev/null").unwrap();
            outputs.standard().unwrap();
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was created");
    }
}
