//! `hodgerank man DIR`: manual pages, one for the program and one for each command.

use std::io;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use hodgerank_io::write::{Output, Outputs};

use crate::args::definition;
use crate::failure::RunFailure;
use crate::terminal::Terminal;

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder for the pages; it is created if necessary
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// A manual page and its file name.
struct Page {
    name: String,
    text: Vec<u8>,
}

/// Writes the pages.
pub(crate) fn run(args: &ManArgs, terminal: &Terminal) -> Result<(), RunFailure> {
    let folder = &args.folder;
    let failed = |source: io::Error| {
        let name = folder.to_string_lossy().into_owned().into();
        RunFailure::from(hodgerank_io::Error::write(&name, source))
    };
    let pages = pages().map_err(failed)?;
    let mut outputs = Outputs::new(&[]);
    outputs.claim_folder("DIR", &folder.to_string_lossy())?;
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut written = Vec::new();
    for page in &pages {
        written.push(write(page, folder, &mut outputs)?);
    }
    Output::finish_all(written)?;
    terminal.note(&format!("{} manual pages: {}", pages.len(), folder.display()));
    Ok(())
}

fn write(page: &Page, folder: &Path, outputs: &mut Outputs) -> Result<Output, RunFailure> {
    let file = folder.join(&page.name);
    let mut output = outputs.claim("DIR", &file.to_string_lossy())?.open()?;
    output.write_all(&page.text).map_err(|error| output.error(error))?;
    Ok(output)
}

/// The page of the program, then those of its commands: `hodgerank-rank.1` and so on.
fn pages() -> io::Result<Vec<Page>> {
    let mut program = definition();
    // Gives commands the names of their pages.
    program.build();
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help");
    std::iter::once(&program).chain(commands).map(page).collect()
}

fn page(command: &Command) -> io::Result<Page> {
    let mut text = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    man.render(&mut text)?;
    Ok(Page { name: man.get_filename(), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let pages = pages().unwrap();
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        let commands = definition();
        for command in commands.get_subcommands() {
            let name = format!("hodgerank-{}.1", command.get_name());
            assert!(names.contains(&name.as_str()), "{name}");
        }
        for page in &pages {
            let text = String::from_utf8_lossy(&page.text);
            assert!(text.contains(".SH SYNOPSIS") && text.contains(".SH OPTIONS"), "{}", page.name);
        }
    }
}
