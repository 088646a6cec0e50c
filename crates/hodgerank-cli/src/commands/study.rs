//! `hodgerank study`: collects votes.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use hodgerank_io::text::visible_name;
use hodgerank_io::write::{Column, Outputs, Table};
use hodgerank_io::{Format, STUDY_FILE};
use hodgerank_study::create::{LINKS, create};
use hodgerank_study::server::Server;
use hodgerank_study::store::{Database, EXPORTED_COLUMNS, Settings};

use crate::failure::RunFailure;
use crate::terminal::{Terminal, thousands};

/// Arguments of `study`.
#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    command: StudyCommand,
}

#[derive(Debug, Subcommand)]
enum StudyCommand {
    /// Create a study in a new folder
    New(NewArgs),
    /// Serve the pages of a study until the program is ended
    Serve(ServeArgs),
    /// Write the votes of a study to a file
    Export(ExportArgs),
}

#[derive(Debug, Args)]
struct NewArgs {
    /// The folder of the study; it must not exist yet
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A folder of pictures, videos, sounds or texts, or a text file with one item per line
    #[arg(long, value_name = "FOLDER|FILE")]
    items: PathBuf,
    /// The question above each pair
    #[arg(long, value_name = "TEXT")]
    question: String,
    /// Make a link for each of so many voters [default: one link for everybody]
    #[arg(long, value_name = "N")]
    voters: Option<usize>,
    /// Voters may answer that neither item is better
    #[arg(long)]
    ties: bool,
    /// Show this share of the pairs to the same person again
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = parse_share)]
    repeats: f64,
    /// How many pairs each person is asked
    #[arg(long, value_name = "N", default_value_t = 100)]
    pairs: usize,
    /// End when the first K places are settled
    #[arg(long, value_name = "top=K", value_parser = parse_until)]
    until: Option<usize>,
}

#[derive(Debug, Args)]
struct ServeArgs {
    /// The folder of the study
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Address and port; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8000")]
    listen: SocketAddr,
}

#[derive(Debug, Args)]
struct ExportArgs {
    /// The folder of the study
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// File of votes: .csv or .parquet [default: CSV on standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    let is_share = |share: &f64| (0.0..=0.5).contains(share);
    share.ok().filter(is_share).ok_or_else(|| "expected a share from 0% to 50%".to_owned())
}

fn parse_until(text: &str) -> Result<usize, String> {
    let top = text.strip_prefix("top=").and_then(|places| places.parse().ok());
    top.filter(|places| *places > 0).ok_or_else(|| "expected top=K, such as top=3".to_owned())
}

pub(crate) fn run(args: &StudyArgs, terminal: &Terminal) -> Result<(), RunFailure> {
    match &args.command {
        StudyCommand::New(args) => new(args, terminal),
        StudyCommand::Serve(args) => serve(args, terminal),
        StudyCommand::Export(args) => export(args, terminal),
    }
}

fn new(args: &NewArgs, terminal: &Terminal) -> Result<(), RunFailure> {
    let settings = Settings {
        question: args.question.clone(),
        ties: args.ties,
        repeats: args.repeats,
        pairs: args.pairs,
        until_top: args.until,
    };
    create(&args.folder, &args.items, &settings, args.voters)?;
    let folder = args.folder.display().to_string();
    let items = Database::open(&args.folder)?.items()?.len();
    terminal.note(&format!(
        "{} items; the links are in {}",
        thousands(items as u64),
        visible_name(&args.folder.join(LINKS).display().to_string())
    ));
    terminal.note(&format!("start it with: hodgerank study serve {}", visible_name(&folder)));
    Ok(())
}

fn serve(args: &ServeArgs, terminal: &Terminal) -> Result<(), RunFailure> {
    let server = Server::bind(&args.folder, args.listen)?;
    let address = server.address()?;
    if !address.ip().is_loopback() {
        terminal.warn(
            "the server can be reached from other machines without encryption; docs/study.md shows \
             a reverse proxy with TLS",
        );
    }
    // Only the address: the secrets of the links are in links.txt.
    let mut output = Outputs::new(&[]).standard()?;
    writeln!(output, "http://{address}").map_err(|error| output.error(error))?;
    output.finish()?;
    terminal.note(&format!(
        "add the links of {} to this address; Ctrl+C ends the server, and votes are never lost",
        visible_name(&args.folder.join(LINKS).display().to_string())
    ));
    Ok(server.run()?)
}

fn export(args: &ExportArgs, terminal: &Terminal) -> Result<(), RunFailure> {
    let name = args.output.as_deref().unwrap_or("-");
    let format = match Format::from_file_name(name) {
        None if name == "-" => Format::Csv,
        Some(format @ (Format::Csv | Format::Parquet)) => format,
        _ => {
            return Err(RunFailure::usage(
                format!("{}: votes are exported as CSV or Parquet", visible_name(name)),
                "use the extension .csv or .parquet",
            ));
        }
    };
    let database = Database::open(&args.folder)?;
    let file = args.folder.join(STUDY_FILE).to_string_lossy().into_owned();
    let mut output = Outputs::new(&[file]).claim("--output", name)?.open()?;
    let mut bytes = Vec::new();
    let table = table(&database)?;
    if format == Format::Parquet {
        table.write_parquet(&mut bytes).map_err(|error| output.error(error))?;
    } else {
        bytes = database.csv()?;
    }
    output.write_all(&bytes).map_err(|error| output.error(error))?;
    output.finish()?;
    terminal.note(&format!("{} votes", thousands(table.rows() as u64)));
    Ok(())
}

fn table(database: &Database) -> Result<Table, RunFailure> {
    let rows = database.exported()?;
    let mut table = Table::default();
    for (place, name) in EXPORTED_COLUMNS.into_iter().enumerate() {
        let values = rows.iter().map(|row| Some(row[place].clone())).collect();
        table.push(name, Column::Text(values));
    }
    Ok(table)
}
