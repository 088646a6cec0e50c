//! `sql`: the query with which a data warehouse counts equal votes, so that only counts are exported.
//!
//! Merging equal votes is exact for every method. The query groups by what the command needs, no more: the
//! two items and the outcome, and the annotator where the method or its intervals use annotators. Where
//! sides are not used and outcomes are numbers, votes on the same pair are counted together whichever item
//! was on the left.

mod dialect;

use clap::{Args, ValueEnum};
use hodgerank::{FitOptions, IntervalOptions, Method};
use hodgerank_io::{ColumnNames, OutcomeAs, TableColumns};

pub use dialect::Dialect;

use crate::failure::Failure;
use crate::input::Kept;
use crate::suggestion::shell_words;

/// The column of the counts, which every command finds by this name.
const COUNT: &str = "count";

/// Arguments of `sql`.
#[derive(Debug, Args)]
pub struct SqlArgs {
    /// The command that will read the counts
    #[arg(value_enum, value_name = "COMMAND")]
    pub command: CountedCommand,
    /// The dialect of SQL
    #[arg(long, value_enum, value_name = "NAME")]
    pub dialect: Dialect,
    /// The table or view of votes, such as votes or study.votes
    #[arg(long, value_name = "TABLE")]
    pub table: String,
    /// All columns of the table, if hodgerank is to find the right ones by their names, as in a file
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Column of the preferred item (with --loser)
    #[arg(long, value_name = "COLUMN", requires = "loser")]
    pub winner: Option<String>,
    /// Column of the other item (with --winner)
    #[arg(long, value_name = "COLUMN", requires = "winner", conflicts_with_all = ["left", "right", "outcome"])]
    pub loser: Option<String>,
    /// Column of the item on the left
    #[arg(long, value_name = "COLUMN", requires = "right")]
    pub left: Option<String>,
    /// Column of the item on the right
    #[arg(long, value_name = "COLUMN", requires = "left")]
    pub right: Option<String>,
    /// Column of the outcome
    #[arg(long, value_name = "COLUMN")]
    pub outcome: Option<String>,
    /// How to read the outcome, as for the command
    #[arg(long, value_name = "KIND")]
    pub outcome_as: Option<OutcomeAs>,
    /// Column of the annotator
    #[arg(long, value_name = "COLUMN")]
    pub annotator: Option<String>,
    /// Column of the number of times that the vote was cast
    #[arg(long, value_name = "COLUMN")]
    pub count: Option<String>,
    /// Column whose values are ranked separately, or two such columns, separated by a comma
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,
    /// The method of the command
    #[command(flatten)]
    pub method: FitOptions,
    /// The intervals of the command
    #[command(flatten)]
    pub uncertainty: IntervalOptions,
}

/// A command that can read counts instead of single votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CountedCommand {
    /// Ranking
    Rank,
    /// Judgement of annotators
    Annotators,
    /// Rankings of several methods
    Compare,
    /// Path of a robust method
    Path,
    /// Predictions
    Predict,
    /// Smallest sets of votes that change the result
    Certify,
    /// Where votes contradict each other
    Decompose,
    /// Whether the votes can support a ranking
    Diagnose,
    /// HTML report
    Report,
}

impl CountedCommand {
    fn name(self) -> &'static str {
        match self {
            Self::Rank => "rank",
            Self::Annotators => "annotators",
            Self::Compare => "compare",
            Self::Path => "path",
            Self::Predict => "predict",
            Self::Certify => "certify",
            Self::Decompose => "decompose",
            Self::Diagnose => "diagnose",
            Self::Report => "report",
        }
    }

    /// What the command keeps of the rows with these options.
    fn kept(self, fit: &FitOptions, intervals: &IntervalOptions) -> Kept {
        match self {
            Self::Rank | Self::Predict | Self::Diagnose => {
                Kept::needed_by(fit).with_intervals(fit, intervals)
            }
            Self::Decompose => Kept::needed_by(fit),
            Self::Path => Kept::default(),
            Self::Annotators | Self::Compare | Self::Certify | Self::Report => {
                Kept { annotator_votes: true, sides: true }
            }
        }
    }
}

/// The query, with the command that reads its result as a comment.
///
/// # Errors
/// If an option is invalid, or a column is missing or ambiguous.
pub fn sql(args: &SqlArgs) -> Result<String, Failure> {
    args.method.validate()?;
    args.uncertainty.validate()?;
    let given = args.given_columns();
    let columns = match &args.columns[..] {
        [] => args.named_columns(),
        columns => columns.to_vec(),
    };
    if columns.is_empty() {
        return Err(Failure::usage(
            "the columns of the table are not known",
            "name them with --left, --right and --outcome, or --winner and --loser; or list all columns of \
             the table with --columns, and hodgerank finds them by their names",
        ));
    }
    let found = TableColumns::find(&args.table, columns, &given)?;
    if args.command == CountedCommand::Annotators && found.annotator.is_none() {
        return Err(Failure::usage(
            "`annotators` needs a column of annotators",
            "name it with --annotator",
        ));
    }
    let kept = args.command.kept(&args.method, &args.uncertainty);
    let query = Query { columns: &found, kept, dialect: args.dialect, table: &args.table };
    Ok(format!("{}{}", args.next_command(&found), query.text()))
}

impl SqlArgs {
    fn given_columns(&self) -> ColumnNames {
        ColumnNames {
            winner: self.winner.clone(),
            loser: self.loser.clone(),
            left: self.left.clone(),
            right: self.right.clone(),
            outcome: self.outcome.clone(),
            annotator: self.annotator.clone(),
            count: self.count.clone(),
            by: self.by.clone(),
            outcome_as: self.outcome_as.clone(),
            ..ColumnNames::default()
        }
    }

    /// The columns that flags name, with their flags.
    fn column_flags(&self) -> [(&'static str, Option<&String>); 8] {
        [
            ("--winner", self.winner.as_ref()),
            ("--loser", self.loser.as_ref()),
            ("--left", self.left.as_ref()),
            ("--right", self.right.as_ref()),
            ("--outcome", self.outcome.as_ref()),
            ("--annotator", self.annotator.as_ref()),
            ("--count", self.count.as_ref()),
            ("--by", self.by.as_ref()),
        ]
    }

    fn named_columns(&self) -> Vec<String> {
        let by = self.by.iter().flat_map(|names| names.split(',').map(str::trim));
        let flags = self.column_flags().into_iter().filter(|(flag, _)| *flag != "--by");
        let named = flags.filter_map(|(_, name)| name).map(String::as_str);
        let mut names: Vec<String> = Vec::new();
        for name in named.chain(by) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// How the counts are read, as a comment.
    fn next_command(&self, found: &TableColumns) -> String {
        let mut command = format!("hodgerank {} counts.csv", self.command.name());
        let is_kept = |flag: &str| flag != "--annotator" || found.annotator.is_some();
        for (flag, name) in self.column_flags() {
            if let Some(name) = name.filter(|_| is_kept(flag)) {
                command.push_str(&format!(" {flag} {}", shell_words([name])));
            }
        }
        if let Some(kind) = &self.outcome_as {
            command.push_str(&format!(" --outcome-as {}", shell_words([&kind.to_string()])));
        }
        if let Some(method) = self.method.method {
            command.push_str(&format!(" --method {}", Method::as_str(method)));
        }
        // With other intervals, the command might need annotators that the query does not keep.
        let has_intervals = matches!(
            self.command,
            CountedCommand::Rank | CountedCommand::Predict | CountedCommand::Report
        );
        if let Some(engine) = self.uncertainty.intervals.filter(|_| has_intervals) {
            command.push_str(&format!(" --intervals {engine}"));
        }
        // A line break in a name would end the comment.
        let command = command.replace(['\n', '\r'], " ");
        format!("-- Save the result as counts.csv or counts.parquet, then: {command}\n")
    }
}

struct Query<'a> {
    columns: &'a TableColumns,
    kept: Kept,
    dialect: Dialect,
    table: &'a str,
}

impl Query<'_> {
    fn text(&self) -> String {
        let (dialect, columns) = (self.dialect, self.columns);
        let quoted = |name: &str| dialect.quoted(name);
        let (left, right) = (quoted(&columns.left), quoted(&columns.right));
        let mut selected: Vec<(String, &str)> = Vec::new();
        selected.extend(columns.by.iter().map(|name| (quoted(name), name.as_str())));
        let needs_sides = self.kept.sides || self.kept.annotator_votes;
        match &columns.outcome {
            Some(outcome) if columns.is_signed && !needs_sides => {
                let (y, is_swapped) = (quoted(outcome), format!("{left} > {right}"));
                let either =
                    |a: &str, b: &str| format!("CASE WHEN {is_swapped} THEN {a} ELSE {b} END");
                selected.push((either(&right, &left), &columns.left));
                selected.push((either(&left, &right), &columns.right));
                selected.push((either(&format!("-{y}"), &y), outcome));
            }
            outcome => {
                selected.extend([(left, columns.left.as_str()), (right, columns.right.as_str())]);
                selected.extend(outcome.iter().map(|name| (quoted(name), name.as_str())));
            }
        }
        if let Some(annotator) = columns.annotator.as_ref().filter(|_| self.kept.annotator_votes) {
            selected.push((quoted(annotator), annotator));
        }
        // One column can have two roles, such as annotator and by.
        let mut unique: Vec<(String, &str)> = Vec::new();
        for column in selected {
            if !unique.iter().any(|(_, name)| *name == column.1) {
                unique.push(column);
            }
        }
        let (count, count_name) = match &columns.count {
            Some(name) => (dialect.sum(&quoted(name)), name.as_str()),
            None => ("COUNT(*)".to_owned(), COUNT),
        };
        let groups: Vec<String> = (1..=unique.len()).map(|k| k.to_string()).collect();
        unique.push((count, count_name));
        let lines: Vec<String> = unique
            .iter()
            .map(|(expression, name)| match quoted(name) {
                name if name == *expression => format!("    {name}"),
                name => format!("    {expression} AS {name}"),
            })
            .collect();
        format!(
            "SELECT\n{}\nFROM {}\nGROUP BY {}\n",
            lines.join(",\n"),
            dialect.table(self.table),
            groups.join(", ")
        )
    }
}
