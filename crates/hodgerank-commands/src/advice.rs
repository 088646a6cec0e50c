//! Advice for errors: what the user can do, and with which flags.

use hodgerank::Method;
use hodgerank::path::Parameter;
use hodgerank_io::{ColumnProblem, Error, Format, Problem, WrongEncoding};

use crate::text::or_list;

/// What the user can do about an error, unless its message says it already.
pub(crate) fn file_advice(error: &Error) -> Option<String> {
    let text = match error {
        Error::Empty { .. } | Error::NoVotes { .. } => {
            "check that the export finished; the file needs a header and one vote per row, for \
             example: left,right,winner"
        }
        Error::Columns { problem, .. } => return Some(column_advice(problem)),
        Error::Row(row) => return Some(row_advice(&row.problem)),
        Error::Encoding { encoding: WrongEncoding::Utf16, .. } => {
            "save the file as UTF-8 (in a spreadsheet: CSV UTF-8)"
        }
        Error::Encoding { .. } => "save the file with ordinary line ends",
        Error::Changed => "run again while nothing writes to the files",
        Error::NothingLeft { .. } => "run without --on-error skip to see the first bad row in full",
        Error::MixedOutcomes { .. } => {
            "say how to read it: --outcome-as label, --outcome-as word or --outcome-as number"
        }
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
        Error::NotShareable { .. } => "write the votes to files first",
        _ => return None,
    };
    Some(text.to_owned())
}

fn column_advice(problem: &ColumnProblem) -> String {
    let text = match problem {
        ColumnProblem::NoItems { has_numbers, .. } => {
            let header = match has_numbers {
                true => "the first row looks like a vote: add a header line. Or ",
                false => "",
            };
            return format!(
                "{header}name the columns with --winner and --loser, or with --left, --right and \
                 --outcome; known names are winner,loser · left,right,winner · \
                 model_a,model_b,winner · item_a,item_b,y · condition_A,condition_B,is_A_selected · \
                 video_a,video_b,score"
            );
        }
        ColumnProblem::NoOutcome { .. } => {
            "name the outcome column with --outcome NAME; known names are winner, label, outcome, \
             y, score, is_A_selected"
        }
        ColumnProblem::TwoOutcomes { first, .. } => {
            return format!("choose one, for example --outcome {first}");
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

fn row_advice(problem: &Problem) -> String {
    let expected = problem.expected();
    match problem {
        // The start of the next row is unknown, so nothing can be skipped.
        Problem::UnclosedQuote => expected.to_owned(),
        Problem::OutOfRange { items: Some(items) } => {
            format!("{expected}; there are {items} items")
        }
        Problem::OutOfRange { items: None } => expected.to_owned(),
        _ => format!(
            "{expected}. Or skip such rows with --on-error skip; they are counted and listed"
        ),
    }
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
