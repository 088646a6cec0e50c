//! Advice for errors: what the user can do, and with which flags.

use std::io::ErrorKind;

use hodgerank::Method;
use hodgerank::path::Parameter;
use hodgerank_io::text::visible_name;
use hodgerank_io::{
    BadRow, ColumnProblem, DatabaseProblem, Error, Format, Problem, RejectedValue, Unsupported,
    WrongEncoding,
};
use hodgerank_report::words::counted;

use crate::suggestion::shell_words;
use crate::text::{closest, or_list};

/// What the user can do about an error, unless its message says it already.
pub(crate) fn file_advice(error: &Error) -> Option<String> {
    let text = match error {
        Error::Empty { .. } | Error::NoVotes { .. } => {
            "check that the export finished; the file needs a header and one vote per row, for \
             example: left,right,winner"
        }
        Error::Columns { problem, .. } => return Some(column_advice(problem)),
        Error::Row(row) => return Some(row_advice(row)),
        Error::Encoding { encoding: WrongEncoding::Utf16, .. } => {
            "save the file as UTF-8 (in a spreadsheet: CSV UTF-8)"
        }
        Error::Encoding { encoding: WrongEncoding::OldWorkbook, .. } => {
            "save it as .xlsx or as CSV UTF-8"
        }
        Error::NoSheet { .. } => "give one of these names to --sheet",
        Error::Database { problem, .. } => return Some(database_advice(problem)),
        Error::NothingWanted { .. } => "check the values of --where and --ignore",
        Error::Encoding { .. } => "save the file with ordinary line ends",
        Error::Changed { .. } => "run the command again, or copy the file first",
        Error::NothingLeft { .. } => "run without --on-error skip to see the first bad row in full",
        Error::AllExcluded { .. } => "exclude fewer annotators with --exclude-annotators",
        Error::MixedOutcomes { .. } => {
            "say how to read it: --outcome-as label, --outcome-as word or --outcome-as number"
        }
        Error::NoRightVotes { values, .. } => return Some(coding_advice(values)),
        Error::WrongFormat { .. } => {
            let names: Vec<&str> = Format::ALL.iter().map(|format| format.as_str()).collect();
            let names = names.join("|");
            return Some(format!(
                "rename the file, or give its format with --input-format {names}"
            ));
        }
        Error::Incompatible { .. } => {
            "convert the files to the same format and columns first, or clean each on its own"
        }
        Error::ReplacesInput { output, .. } if output.flag.is_empty() => {
            "send standard output somewhere else"
        }
        Error::ReplacesInput { output, .. } => {
            return Some(format!(
                "choose another name for {}; replace the input after you have checked the result",
                output.flag
            ));
        }
        Error::SameOutput { first, second } if second.flag.is_empty() => {
            return Some(format!("choose a file for {}", first.flag));
        }
        Error::SameOutput { first, second } => {
            return Some(format!("give {} and {} different names", first.flag, second.flag));
        }
        Error::Write { source, .. } => return write_advice(source.kind()).map(str::to_owned),
        Error::TooManyVotes { .. } => "divide all counts by the same number",
        Error::Memory { .. } => {
            "use a machine with more memory or fewer --threads, or rank a part of the votes; \
             docs/limits.md says what takes memory"
        }
        Error::Spool { .. } => {
            "set TMPDIR to a folder with more free space, or write the votes to a file first"
        }
        Error::Unsupported { feature, .. } => return Some(feature_advice(feature)),
        Error::NotShareable { .. } => "write the votes to files first",
        _ => return None,
    };
    Some(text.to_owned())
}

fn write_advice(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space, or write to another disk; an existing file was not changed"
        }
        ErrorKind::FileTooLarge => {
            "raise the limit on the size of files (ulimit -f), or compress the output: add .gz or \
             .zst to its name; an existing file was not changed"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "write to a folder in which you may create files"
        }
        ErrorKind::NotFound => "create the folder first",
        _ => return None,
    })
}

fn database_advice(problem: &DatabaseProblem) -> String {
    let text = match problem {
        DatabaseProblem::Stream => "save the database as a file, decompressed, and name that file",
        DatabaseProblem::NoTables => "check that this is the right file",
        DatabaseProblem::SeveralTables { .. } => {
            "name the table of votes with --table, or write a query with --query"
        }
        DatabaseProblem::NoTable { table, tables } => {
            return match closest(table, tables.iter().map(String::as_str)) {
                Some(table) => {
                    format!("use --table {}, or one of the other names", shell_words([table]))
                }
                None => "give one of these names to --table".to_owned(),
            };
        }
        DatabaseProblem::Query(_) => "correct the query, which SQLite runs",
        DatabaseProblem::SeveralStatements
        | DatabaseProblem::NoColumns
        | DatabaseProblem::Writes => "a query is one SELECT statement",
        DatabaseProblem::NoVotes => {
            "ask people to vote: `hodgerank study serve` shows the pages of a study. Undone votes, and \
             votes of excluded voters, do not count"
        }
        DatabaseProblem::NoRows => "check the table, or the conditions of the query",
        DatabaseProblem::Locked => {
            "run the command again when the other program has finished writing"
        }
        _ => "check the database with the program that wrote it",
    };
    text.to_owned()
}

fn feature_advice(feature: &Unsupported) -> String {
    let text = match feature {
        Unsupported::Compression(_) => {
            "write the file again with zstd or Snappy, for example in Python: \
             pandas.read_parquet(\"old.parquet\").to_parquet(\"new.parquet\", compression=\"zstd\")"
        }
        Unsupported::Nesting => "store the votes in columns of text and numbers, without nesting",
        Unsupported::PageBytes { .. } => {
            "use short names, or write the file again with smaller pages or batches"
        }
        Unsupported::Columns(_) => "keep only the columns with items, outcomes and annotators",
        _ => "remove them; docs/limits.md lists all limits",
    };
    text.to_owned()
}

/// The flags for what numbers without a right vote can mean.
fn coding_advice(values: &[(f64, u64)]) -> String {
    let has = |number: f64| values.iter().any(|&(value, _)| value == number);
    let only = |codes: &[f64]| values.iter().all(|(value, _)| codes.contains(value));
    let mut meanings = Vec::new();
    if has(2.0) && only(&[0.0, 1.0, 2.0, 3.0]) {
        let ties = [(0.0, ",0=tie"), (3.0, ",3=tie")].into_iter().filter(|&(code, _)| has(code));
        let ties: String = ties.map(|(_, tie)| tie).collect();
        meanings.push(format!("--outcome-as 1=left,2=right{ties} if 2 is the right item"));
    } else if only(&[0.0, 1.0]) {
        meanings.push("--outcome-as 1=left,0=right if 1 is the left item".to_owned());
        meanings.push("--outcome-as 0=left,1=right if 1 is the right item".to_owned());
    } else {
        meanings.push(
            "--outcome-as VALUE=MEANING,… with left, right, tie or a number as the meaning of each \
             value"
                .to_owned(),
        );
    }
    meanings.push(
        "--outcome-as number if positive numbers prefer the left item and 0 is a tie".to_owned(),
    );
    format!("say what the values mean: {}", meanings.join("; or "))
}

fn column_advice(problem: &ColumnProblem) -> String {
    let text = match problem {
        ColumnProblem::NoItems { guess: Some(guess), .. }
        | ColumnProblem::NoOutcome { guess: Some(guess), .. } => {
            return format!(
                "the values suggest that `{}` and `{}` are the items and `{}` the outcome; say so with \
                 --left, --right and --outcome",
                visible_name(&guess.left),
                visible_name(&guess.right),
                visible_name(&guess.outcome)
            );
        }
        ColumnProblem::NoItems { has_numbers, .. } => {
            let header = match has_numbers {
                true => "the first row looks like a vote: add a header line. Or ",
                false => "",
            };
            return format!(
                "{header}name the columns with --winner and --loser, or with --left, --right and \
                 --outcome; known names are winner,loser · left,right,winner · \
                 model_a,model_b,winner · item_a,item_b,y · condition_A,condition_B,is_A_selected · \
                 video_a,video_b,score; docs/input.md lists more"
            );
        }
        ColumnProblem::NoOutcome { .. } => {
            "name the outcome column with --outcome NAME; known names are winner, label, outcome, \
             y, score, is_A_selected, choice, preference; docs/input.md lists more"
        }
        ColumnProblem::TwoOutcomes { first, .. } => {
            return format!("choose one, for example --outcome {first}");
        }
        ColumnProblem::TwoItemPairs { pairs, has_winner } => {
            let [first, second] = &**pairs;
            let flags = if *has_winner { ("--winner", "--loser") } else { ("--left", "--right") };
            return format!(
                "choose a pair: {} {} {} {}, or --left {} --right {} --outcome COLUMN",
                flags.0, first.0, flags.1, first.1, second.0, second.1
            );
        }
        ColumnProblem::TwoColumns { role, first, second } => {
            return format!("choose one: --{role} {first} or --{role} {second}");
        }
        ColumnProblem::NotFound { role, .. } => {
            return format!("give one of these names to --{role}");
        }
        ColumnProblem::Duplicate(_) => "give the columns different names",
        ColumnProblem::GivenTwice(_) => "the two items and the outcome are different columns",
        ColumnProblem::Header { problem, .. } => problem.expected(),
        ColumnProblem::WrongType { .. } => {
            "convert the column, or name another one with --winner, --loser, --left, --right, \
             --outcome, --annotator, --count or --by"
        }
        ColumnProblem::UnsupportedType(_) => "store the column as text or whole numbers",
        _ => "each column has one type: text, whole numbers or numbers",
    };
    text.to_owned()
}

fn row_advice(row: &BadRow) -> String {
    let problem = &row.problem;
    let expected = problem.expected();
    match problem {
        // Skipping these rows would bias the ranking: rows in which the item lost would still count.
        Problem::OtherSpelling(_) => format!(
            "{expected}: join the spellings with --normalise labels. Do not skip such rows: those in \
             which the same item lost would still count"
        ),
        Problem::UnknownOutcome(_) => {
            let values = listed_outcomes(&row.others);
            let values = match values.is_empty() {
                true => String::new(),
                false => format!(". Not understood: {values}"),
            };
            format!(
                "{expected}{values}. Leave such rows out with --ignore VALUE, or count them as ties with \
                 --tie VALUE; --prefer-left and --prefer-right are for answers that mean a side. Or skip all invalid \
                 rows with --on-error skip; they are counted and listed"
            )
        }
        Problem::NoOutcome => format!(
            "{expected}. Or leave rows without an outcome out with --ignore \"\"; they are counted"
        ),
        // The start of the next row is unknown, so nothing can be skipped.
        Problem::UnclosedQuote | Problem::RecordTooLong => expected.to_owned(),
        Problem::OutOfRange { items: Some(items) } => {
            format!("{expected}; there are {items} items")
        }
        Problem::OutOfRange { items: None } => expected.to_owned(),
        _ => format!(
            "{expected}. Or skip such rows with --on-error skip; they are counted and listed"
        ),
    }
}

/// Outcomes that were rejected, with their numbers of rows.
fn listed_outcomes(values: &[RejectedValue]) -> String {
    const MAX_LISTED: usize = 8;
    let is_unknown =
        |value: &&RejectedValue| matches!(value.first.problem, Problem::UnknownOutcome(_));
    let values: Vec<&RejectedValue> = values.iter().filter(is_unknown).collect();
    let value = |RejectedValue { first, rows }: &RejectedValue| {
        format!(
            "\"{}\": {}, first at {}",
            visible_name(&first.value),
            counted(*rows, "row", "rows"),
            first.position
        )
    };
    let mut listed: Vec<String> =
        values.iter().take(MAX_LISTED).map(|rejected| value(rejected)).collect();
    if values.len() > MAX_LISTED {
        listed.push(format!("{} more values", values.len() - MAX_LISTED));
    }
    listed.join("; ")
}

/// What the user can do about an error of the library.
pub(crate) fn library_advice(error: &hodgerank::Error) -> Option<String> {
    let with_path = |parameter: Option<Parameter>| {
        let has_it = |method: &&Method| match (method.info().path, parameter) {
            (own, None) => own.is_some(),
            (own, wanted) => own == wanted,
        };
        let names = Method::ALL.iter().filter(has_it).map(|method| method.as_str());
        or_list(&names.collect::<Vec<_>>())
    };
    match error {
        hodgerank::Error::BadOption { option: "method", expected, .. }
            if expected.contains("path") =>
        {
            Some(format!("methods with a path: {}", with_path(None)))
        }
        hodgerank::Error::BadOption { option: "outliers", value, .. } if value.contains('=') => {
            Some(format!(
                "use lambda= with {}, time= with {}, or a share or count with any robust method",
                with_path(Some(Parameter::Lambda)),
                with_path(Some(Parameter::Time)),
            ))
        }
        hodgerank::Error::TooFewCycles { .. } => {
            Some("use fewer folds (--outliers cv=2), or --outliers auto".to_owned())
        }
        hodgerank::Error::TooManyTriangles { .. } => Some("raise --max-triangles".to_owned()),
        _ => None,
    }
}
