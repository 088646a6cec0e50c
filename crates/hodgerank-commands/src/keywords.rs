//! Messages for Python: flags as keywords, `--on-error skip` as `on_error="skip"`.
//!
//! Messages are written once, with flags. Which word after a flag is its value follows from the definition
//! of the flag; a test checks that this is unambiguous in every message of this crate.

use std::borrow::Cow;
use std::sync::LazyLock;

use clap::{Arg, ArgAction, Args, Command};

use crate::{
    annotators, certify, clean, compare, decompose, diagnose, outliers, path, predict, rank,
    report, simulate,
};

/// The definition of a command's own arguments.
#[must_use]
pub fn definition<A: Args>() -> Command {
    A::augment_args(Command::new("hodgerank").disable_help_flag(true).term_width(0))
}

/// The definition of the arguments of a command by its name; `None` if Python does not have it.
#[must_use]
pub fn definition_of(command: &str) -> Option<Command> {
    Some(match command {
        "rank" => definition::<rank::RankArgs>(),
        "outliers" => definition::<outliers::OutliersArgs>(),
        "annotators" => definition::<annotators::AnnotatorsArgs>(),
        "clean" => definition::<clean::CleanArgs>(),
        "certify" => definition::<certify::CertifyArgs>(),
        "compare" => definition::<compare::CompareArgs>(),
        "decompose" => definition::<decompose::DecomposeArgs>(),
        "diagnose" => definition::<diagnose::DiagnoseArgs>(),
        "path" => definition::<path::PathArgs>(),
        "predict" => definition::<predict::PredictArgs>(),
        "report" => definition::<report::ReportArgs>(),
        "simulate" => definition::<simulate::SimulateArgs>(),
        _ => return None,
    })
}

/// The commands that Python has.
pub const COMMANDS: [&str; 12] = [
    "rank",
    "outliers",
    "annotators",
    "clean",
    "certify",
    "compare",
    "decompose",
    "diagnose",
    "path",
    "predict",
    "report",
    "simulate",
];

/// The keyword of a flag, which is given without its dashes.
#[must_use]
pub fn keyword(command: &str, flag: &str) -> String {
    match (command, flag) {
        // A reserved word of Python.
        (_, "lambda") => "lambda_".to_owned(),
        // The names of items that are given as indices are `items` in every function.
        ("predict", "items") => "among".to_owned(),
        _ => flag.replace('-', "_"),
    }
}

/// Every flag once, with its command.
static FLAGS: LazyLock<Vec<(&'static str, Arg)>> = LazyLock::new(|| {
    let mut flags: Vec<(&'static str, Arg)> = Vec::new();
    // `--items` in messages is that of `predict`.
    for command in ["predict"].into_iter().chain(COMMANDS) {
        for argument in definition_of(command).iter().flat_map(Command::get_arguments) {
            let is_known = flags.iter().any(|(_, flag)| flag.get_long() == argument.get_long());
            if argument.get_long().is_some() && !is_known {
                flags.push((command, argument.clone()));
            }
        }
    }
    flags
});

/// What messages say with commands and files, and what Python has in their place.
const PHRASES: [(&str, &str); 2] = [
    ("`hodgerank rank … --format json -o FILE`", "`hodgerank.rank(…).json`"),
    ("`hodgerank ", "`hodgerank."),
];

/// Words after a flag that takes any text, such as the name of a column, and that are not its value.
const WORDS: [&str; 22] = [
    "and",
    "or",
    "out",
    "is",
    "has",
    "names",
    "gives",
    "asks",
    "makes",
    "needs",
    "expects",
    "with",
    "to",
    "if",
    "for",
    "in",
    "that",
    "as",
    "means",
    "takes",
    "are",
    "separates",
];

/// A message with keywords in place of flags.
#[must_use]
pub fn with_keywords(text: &str) -> Cow<'_, str> {
    if !text.contains("--") && !text.contains("`hodgerank ") {
        return Cow::Borrowed(text);
    }
    let mut text = text.to_owned();
    for (phrase, replacement) in PHRASES {
        text = text.replace(phrase, replacement);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = next_flag(rest) {
        out.push_str(&rest[..start]);
        let (name, after) = split_name(&rest[start + 2..]);
        rest = translate(name, after, &mut out);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The position of the next flag: two dashes at the start of a word, and a letter.
fn next_flag(text: &str) -> Option<usize> {
    let is_flag = |&(at, _): &(usize, &str)| {
        let before = text[..at].chars().next_back();
        let is_inside = before.is_some_and(|c| c.is_alphanumeric() || c == '-');
        !is_inside && text[at + 2..].starts_with(|c: char| c.is_ascii_lowercase())
    };
    text.match_indices("--").find(is_flag).map(|(at, _)| at)
}

fn split_name(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '-');
    text.split_at(end.unwrap_or(text.len()))
}

/// Writes the keyword of a flag with its value, if it has one, and returns the text after it.
fn translate<'a>(name: &str, after: &'a str, out: &mut String) -> &'a str {
    let Some((command, flag)) = FLAGS.iter().find(|(_, flag)| flag.get_long() == Some(name)) else {
        // A flag of the program that is not an option of a command, such as --threads.
        out.push_str(&name.replace('-', "_"));
        return after;
    };
    out.push_str(&keyword(command, name));
    // clap writes '--outliers <RULE>'.
    let mut after = match after.strip_prefix(" <").and_then(|place| place.split_once('>')) {
        Some((_, after)) => after.strip_prefix("...").unwrap_or(after),
        None => after,
    };
    let Some(found) = split_value(flag, after, " ").or_else(|| split_value(flag, after, "="))
    else {
        return after;
    };
    out.push('=');
    push_value(flag, found.0, out);
    after = found.1;
    // Other values of the same flag: `--method l2, bt or crowd`.
    while let Some((separator, (value, rest))) = [", ", " or "]
        .into_iter()
        .filter(|_| !flag.get_possible_values().is_empty())
        .find_map(|separator| Some((separator, split_value(flag, after, separator)?)))
    {
        out.push_str(separator);
        push_value(flag, value, out);
        after = rest;
    }
    after
}

/// The value of a flag after `separator`, and the text after the value.
fn split_value<'a>(flag: &Arg, text: &'a str, separator: &str) -> Option<(&'a str, &'a str)> {
    if matches!(flag.get_action(), ArgAction::SetTrue) {
        return None;
    }
    let text = text.strip_prefix(separator)?;
    let end = text.find(|c: char| c.is_whitespace() || "`;:()".contains(c)).unwrap_or(text.len());
    let word = text[..end].trim_end_matches([',', '.', '\'']);
    is_value(flag, word).then(|| text.split_at(word.len()))
}

fn is_value(flag: &Arg, word: &str) -> bool {
    let is_text = flag.get_value_parser().type_id() == std::any::TypeId::of::<String>();
    let is_placeholder = word.chars().all(|c| c.is_ascii_uppercase() || c == ',')
        || word.contains('…')
        || word.contains('|');
    match word {
        "" => false,
        _ if is_placeholder => true,
        _ if is_text => !WORDS.contains(&word) && !word.starts_with("--") && word != "…",
        _ => {
            let value = Arg::new("value").value_parser(flag.get_value_parser().clone());
            let command = Command::new("hodgerank").arg(value);
            command.try_get_matches_from(["hodgerank", "--", word]).is_ok()
        }
    }
}

fn push_value(flag: &Arg, value: &str, out: &mut String) {
    let is_number = value.parse::<f64>().is_ok()
        && flag.get_value_parser().type_id() != std::any::TypeId::of::<String>();
    match is_number {
        true => out.push_str(value),
        false => {
            out.push('"');
            out.push_str(value);
            out.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_keywords() {
        for (flags, keywords) in [
            (
                "use --outliers 5%, or --on-error skip.",
                "use outliers=\"5%\", or on_error=\"skip\".",
            ),
            ("leave --seed out (--outliers)", "leave seed out (outliers)"),
            (
                "--lambda is an option of --method hlasso, lasso-l2 or iss",
                "lambda_ is an option of method=\"hlasso\", \"lasso-l2\" or \"iss\"",
            ),
            ("--min-votes 30 leaves", "min_votes=30 leaves"),
            ("fewer --threads", "fewer threads"),
            ("leave --require-connected out", "leave require_connected out"),
            ("name two items: --items a,b,c", "name two items: among=\"a,b,c\""),
            ("--outcome-as 1=left,2=right if 2", "outcome_as=\"1=left,2=right\" if 2"),
            (
                "choose one: --annotator rater or --annotator id",
                "choose one: annotator=\"rater\" or annotator=\"id\"",
            ),
            ("with --left, --right and --outcome; known", "with left, right and outcome; known"),
            ("with --outcome NAME; known", "with outcome=\"NAME\"; known"),
            ("`hodgerank annotators` lists them", "`hodgerank.annotators` lists them"),
            ("a--b and -- and ---- stay", "a--b and -- and ---- stay"),
            (
                "invalid value 'x' for '--outliers <RULE>': expected",
                "invalid value 'x' for 'outliers': expected",
            ),
        ] {
            assert_eq!(with_keywords(flags), keywords);
        }
    }

    /// A flag that takes any text is followed by a value from a variable, a placeholder or an example, or
    /// by a word that [`WORDS`] lists. Whoever writes another word has to add it there.
    #[test]
    fn every_message_is_unambiguous() {
        let (mut checked, mut unknown) = (0, Vec::new());
        for file in sources(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))) {
            if file.ends_with("keywords.rs") {
                continue;
            }
            let source = std::fs::read_to_string(&file).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap();
            // Strings go on in the next line after a backslash.
            let lines: Vec<&str> = source.lines().filter(|l| !l.trim().starts_with("//")).collect();
            let source = lines.join("\n").replace("\\\n", "");
            let source: String =
                source.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            let mut rest = source.as_str();
            while let Some(start) = next_flag(rest) {
                let (name, after) = split_name(&rest[start + 2..]);
                rest = after;
                let Some((_, flag)) = FLAGS.iter().find(|(_, f)| f.get_long() == Some(name)) else {
                    continue;
                };
                let is_text = flag.get_value_parser().type_id() == std::any::TypeId::of::<String>();
                let Some(next) = after.strip_prefix(' ').filter(|_| is_text) else { continue };
                let word = next.split([' ', ',', ';', '"', '\'', '(', ')', '`']).next().unwrap();
                let is_example = ["A", "FILE", "NAME", "COLUMN", "VALUE", "a", "suspicious", "\\"]
                    .contains(&word);
                let is_known = word.starts_with('{') || is_example || WORDS.contains(&word);
                if !is_known && !word.is_empty() {
                    unknown.push(format!("{}: --{name} {word}", file.display()));
                }
                checked += 1;
            }
        }
        assert_eq!(unknown, [""; 0]);
        assert!(checked > 10, "{checked} flags were found");
    }

    fn sources(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
    }
}
