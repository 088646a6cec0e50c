//! The commands. One definition serves parsing, `--help` and the documentation.

use clap::{Arg, CommandFactory as _, Parser, Subcommand};
use hodgerank_commands::annotators::AnnotatorsArgs;
use hodgerank_commands::certify::CertifyArgs;
use hodgerank_commands::clean::CleanArgs;
use hodgerank_commands::compare::CompareArgs;
use hodgerank_commands::decompose::DecomposeArgs;
use hodgerank_commands::diagnose::DiagnoseArgs;
use hodgerank_commands::outliers::OutliersArgs;
use hodgerank_commands::path::PathArgs;
use hodgerank_commands::predict::PredictArgs;
use hodgerank_commands::rank::RankArgs;
use hodgerank_commands::report::ReportArgs;
use hodgerank_commands::sql::SqlArgs;

use crate::commands::completions::CompletionsArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::experiment::ExperimentArgs;
use crate::commands::man::ManArgs;
use crate::commands::next::NextCommand;
use crate::commands::simulate::SimulateCommand;
use crate::commands::study::StudyArgs;
use crate::flags::{DocumentCommand, FileCommand, RunOptions};

/// Robust ranking from pairwise votes.
///
/// Votes say that one item is preferred to another: image against image, answer against answer,
/// product against product. hodgerank computes the scores that explain them best and flags the votes
/// that contradict all others.
#[derive(Debug, Parser)]
#[command(
    name = "hodgerank",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "\
Examples:
  hodgerank demo                             a study with bad annotators
  hodgerank rank votes.csv                   rank your own votes
  hodgerank report votes.csv -o report.html  a page with charts"
)]
pub(crate) struct ProgramArgs {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) run: RunOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Rank the items of a file of votes
    #[command(after_help = "\
Examples:
  hodgerank rank votes.csv
  hodgerank rank votes.csv --winner better --loser worse --annotator worker
  hodgerank rank votes.csv --format json -o ranking.json")]
    Rank(Box<DocumentCommand<RankArgs>>),
    /// List votes in order of suspicion
    #[command(after_help = "\
Examples:
  hodgerank outliers votes.csv --top 20
  hodgerank outliers votes.csv -o suspicious.csv")]
    Outliers(Box<DocumentCommand<OutliersArgs>>),
    /// List who is careful, careless, contrary, one-sided or random
    #[command(after_help = "\
Examples:
  hodgerank annotators votes.csv
  hodgerank annotators votes.csv --annotator worker -o annotators.csv")]
    Annotators(Box<DocumentCommand<AnnotatorsArgs>>),
    /// Write the input without its flagged votes, with all columns
    #[command(after_help = "\
Examples:
  hodgerank clean votes.csv -o trusted.csv --flagged flagged.csv")]
    Clean(Box<FileCommand<CleanArgs>>),
    /// Predict which of two items is preferred
    ///
    /// docs/predict.md explains the columns and measures.
    #[command(after_help = "\
Examples:
  hodgerank predict votes.csv --items espresso,mocha
  hodgerank predict votes.csv --holdout 20%")]
    Predict(Box<DocumentCommand<PredictArgs>>),
    /// Find how few votes, or annotators, decide the result
    ///
    /// Without them, the result would be another one. docs/certify.md explains what is proven.
    #[command(after_help = "\
Examples:
  hodgerank certify votes.csv
  hodgerank certify votes.csv --pair espresso,mocha")]
    Certify(Box<DocumentCommand<CertifyArgs>>),
    /// Choose the pairs to ask next: those whose votes tell most
    ///
    /// docs/next.md explains how they are chosen.
    #[command(after_help = "\
Examples:
  hodgerank next votes.csv --pairs 50 -o next.csv
  hodgerank next --items items.txt --pairs 200")]
    Next(Box<NextCommand>),
    /// Compare the rankings of several methods
    #[command(after_help = "\
Examples:
  hodgerank compare votes.csv
  hodgerank compare votes.csv --methods l2,bt,iss")]
    Compare(Box<DocumentCommand<CompareArgs>>),
    /// Show where votes contradict each other: pairs, triangles, loops
    ///
    /// docs/theory.md explains the parts.
    #[command(after_help = "\
Examples:
  hodgerank decompose votes.csv")]
    Decompose(Box<DocumentCommand<DecomposeArgs>>),
    /// Check whether the votes can support a ranking
    ///
    /// And whether bad votes can be found among them. docs/theory.md explains the conditions.
    #[command(after_help = "\
Examples:
  hodgerank diagnose votes.csv")]
    Diagnose(Box<DocumentCommand<DiagnoseArgs>>),
    /// List the path of a robust method as more votes are flagged
    #[command(after_help = "\
Examples:
  hodgerank path votes.csv --what events
  hodgerank path votes.csv --method hlasso -o path.csv")]
    Path(Box<DocumentCommand<PathArgs>>),
    /// Write a report: one HTML file with charts, tables and a slider
    ///
    /// docs/report.md explains its parts.
    #[command(after_help = "\
Examples:
  hodgerank report votes.csv -o report.html")]
    Report(Box<FileCommand<ReportArgs>>),
    /// Collect votes: pages for voters and for you, with a live ranking
    ///
    /// docs/study.md leads from a folder of pictures to a report.
    #[command(after_help = "\
Examples:
  hodgerank study new sharpness --items pictures --question Sharper?
  hodgerank study serve sharpness")]
    Study(StudyArgs),
    /// Generate a synthetic study: votes, some bad, and true scores
    #[command(after_help = "\
Examples:
  hodgerank simulate --items 100 --votes 10000 --flips 5% -o votes.csv")]
    Simulate(SimulateCommand),
    /// Print the SQL query that counts votes in a data warehouse
    ///
    /// The warehouse counts equal votes, and a command ranks the counts: the result is the same, and far
    /// fewer rows are exported. docs/scale.md has examples.
    #[command(after_help = "\
Examples:
  hodgerank sql rank --dialect duckdb --table votes --columns left,right,winner,annotator")]
    Sql(Box<SqlArgs>),
    /// Repeat the paper's experiments and check its claims
    ///
    /// docs/experiments.md shows a run.
    #[command(after_help = "\
Examples:
  hodgerank experiment shoes --out results")]
    Experiment(ExperimentArgs),
    /// Rank a small synthetic study with bad annotators
    #[command(after_help = "\
Examples:
  hodgerank demo")]
    Demo(DemoArgs),
    /// Print completions of commands and flags for a shell
    #[command(after_help = "\
Examples:
  hodgerank completions bash > ~/.local/share/bash-completion/completions/hodgerank")]
    Completions(CompletionsArgs),
    /// Write manual pages to a folder
    ///
    /// `man hodgerank-rank` finds them in the folder of the example.
    #[command(after_help = "\
Examples:
  hodgerank man ~/.local/share/man/man1")]
    Man(ManArgs),
}

/// Help begins with examples. They are defined as `after_help`, which manual pages show too.
const PROGRAM_HELP: &str = "{about}{after-help}\n\n{all-args}";
const COMMAND_HELP: &str = "{about}{after-help}\n\n{usage-heading} {usage}\n\n{all-args}";

/// Headings with many options. `-h` shows only [`EVERYDAY`] options of these; `--help` shows all.
const LONG_HEADINGS: [&str; 9] = [
    "Input",
    "Method",
    "Position bias",
    "Expert options",
    "Scores",
    "Uncertainty",
    "Output",
    "Prediction",
    "Diagnosis",
];
const EVERYDAY: [&str; 17] = [
    "files",
    "winner",
    "loser",
    "left",
    "right",
    "outcome",
    "annotator",
    "by",
    "where",
    "method",
    "outliers",
    "items",
    "holdout",
    "strict",
    "flagged",
    "format",
    "output",
];

/// The definition of the program, which parsing, help, manual pages and completions share.
pub(crate) fn definition() -> clap::Command {
    let short_help = |arg: Arg| {
        let is_long = arg.get_help_heading().is_some_and(|name| LONG_HEADINGS.contains(&name));
        let is_hidden = is_long && !EVERYDAY.contains(&arg.get_id().as_str());
        if is_hidden { arg.hide_short_help(true) } else { arg }
    };
    ProgramArgs::command()
        .help_template(PROGRAM_HELP)
        .mut_subcommands(|command| command.help_template(COMMAND_HELP).mut_args(short_help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_consistent() {
        definition().debug_assert();
    }

    #[test]
    fn every_command_has_examples_that_can_be_parsed() {
        let program = definition();
        for command in program.get_subcommands().chain([&program]) {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = examples.lines().skip(1).collect();
            assert!(!lines.is_empty(), "{}", command.get_name());
            for line in lines {
                // What follows two spaces is a comment, and what follows > is the shell's.
                let line = line.trim().split("  ").next().unwrap_or_default();
                let line = line.split(" > ").next().unwrap_or_default();
                let parsed = definition().try_get_matches_from(line.split(' '));
                assert!(parsed.is_ok(), "{line}: {parsed:?}");
            }
        }
    }

    #[test]
    fn short_help_fits_a_screen() {
        let mut program = definition().term_width(80);
        program.build();
        let help = program.render_help().to_string();
        assert!(help.lines().count() <= 32, "{help}");
        for command in program.get_subcommands_mut().filter(|own| own.get_name() != "help") {
            let help = command.render_help().to_string();

            let name = command.get_name();
            assert!(help.lines().count() <= 45, "{name}: {} lines\n{help}", help.lines().count());
            assert!(help.lines().all(|line| line.chars().count() <= 80), "{name}\n{help}");
            let examples = help.lines().position(|line| line == "Examples:");
            assert_eq!(examples, Some(2), "{name}\n{help}");
            for heading in ["Expert options:", "Uncertainty:"] {
                assert!(!help.contains(heading), "{name}\n{help}");
            }
        }
        let rank = program.find_subcommand_mut("rank").map(|rank| rank.render_long_help());
        let help = rank.map(|help| help.to_string()).unwrap_or_default();
        assert!(help.contains("Expert options:") && help.contains("--lapse-rate"), "{help}");
    }
}
