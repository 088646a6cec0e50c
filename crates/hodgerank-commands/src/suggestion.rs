//! Arguments that would solve a problem, as far as the input shows which.

use hodgerank_io::{
    BadRow, ColumnGuess, ColumnProblem, DatabaseProblem, Error, Problem, RejectedValue,
};

/// The arguments to add to the command, each flag followed by its value; none if none is known.
pub(crate) fn suggested_arguments(error: &Error) -> Vec<String> {
    match error {
        Error::Columns {
            problem:
                ColumnProblem::NoItems { guess: Some(guess), .. }
                | ColumnProblem::NoOutcome { guess: Some(guess), .. },
            ..
        } => of_guess(guess),
        Error::Row(row) => of_row(row),
        Error::Database { problem: DatabaseProblem::SeveralTables { likely, .. }, .. } => {
            vec!["--table".to_owned(), likely.clone()]
        }
        _ => Vec::new(),
    }
}

fn of_guess(guess: &ColumnGuess) -> Vec<String> {
    let ColumnGuess { left, right, outcome, annotator, preferred, unknown, misspelt } = guess;
    let mut arguments = Vec::new();
    let mut add = |flag: &str, value: &str| {
        arguments.extend([flag.to_owned(), value.to_owned()]);
    };
    add("--left", left);
    add("--right", right);
    add("--outcome", outcome);
    if let Some(annotator) = annotator {
        add("--annotator", annotator);
    }
    if let Some((left, right)) = preferred {
        add("--prefer-left", left);
        add("--prefer-right", right);
    }
    let answers: Vec<&str> = unknown.iter().map(String::as_str).collect();
    for (flag, answer) in value_flags(&answers).into_iter().zip(answers) {
        arguments.extend([flag.to_owned(), answer.to_owned()]);
    }
    if *misspelt {
        arguments.extend(["--normalise".to_owned(), "labels".to_owned()]);
    }
    arguments
}

/// Flags for the outcomes that were rejected near a row.
fn of_row(row: &BadRow) -> Vec<String> {
    /// More different values are not answers to a question, but text or damage.
    const MAX_VALUES: usize = 8;
    let this = [RejectedValue { first: row.clone(), rows: 1 }];
    let values = if row.others.is_empty() { &this[..] } else { &row.others };
    let mut arguments = Vec::new();
    let is_outcome = |value: &&RejectedValue| {
        matches!(value.first.problem, Problem::UnknownOutcome(_))
            && !value.first.value.ends_with('…')
    };
    let unknown: Vec<&RejectedValue> = values.iter().filter(is_outcome).collect();
    let is_other_spelling =
        |value: &RejectedValue| matches!(value.first.problem, Problem::OtherSpelling(_));
    let answers: Vec<&str> = unknown.iter().map(|value| value.first.value.as_str()).collect();
    let flags = value_flags(&answers);
    // Answers that most rows have are the votes: to ignore them would be bad advice.
    let ignored = unknown.iter().zip(&flags).filter(|(_, flag)| **flag == "--ignore");
    let ignored: u64 = ignored.map(|(value, _)| value.rows).sum();
    if answers.len() <= MAX_VALUES && 2 * ignored <= row.rows {
        for (flag, answer) in flags.into_iter().zip(answers) {
            arguments.extend([flag.to_owned(), answer.to_owned()]);
        }
    }
    if values.iter().any(|value| value.first.problem == Problem::NoOutcome) {
        arguments.extend(["--ignore".to_owned(), String::new()]);
    }
    if row.misspelt || values.iter().any(is_other_spelling) {
        arguments.extend(["--normalise".to_owned(), "labels".to_owned()]);
    }
    arguments
}

/// The flags for answers that are no outcomes.
fn value_flags(answers: &[&str]) -> Vec<&'static str> {
    const LEFT: [&str; 8] = ["left", "first", "a", "1", "links", "erste", "gauche", "izquierda"];
    const RIGHT: [&str; 8] = ["right", "second", "b", "2", "rechts", "zweite", "droite", "derecha"];
    let has = |answer: &str, words: &[&str]| {
        let answer = answer.to_lowercase();
        let mut words_of =
            answer.split_whitespace().map(|word| word.trim_matches(['.', ',', ':', ')', '(']));
        words_of.any(|word| words.contains(&word))
    };
    let is_left = |answer: &str| has(answer, &LEFT) && !has(answer, &RIGHT);
    let is_right = |answer: &str| has(answer, &RIGHT) && !has(answer, &LEFT);
    // One side alone can be a coincidence.
    let has_sides = answers.iter().any(|a| is_left(a)) && answers.iter().any(|a| is_right(a));
    let flag = |answer: &&str| match answer {
        answer if has_sides && is_left(answer) => "--prefer-left",
        answer if has_sides && is_right(answer) => "--prefer-right",
        answer if means_tie(answer) => "--tie",
        _ => "--ignore",
    };
    answers.iter().map(flag).collect()
}

/// Whether an answer says that neither item is better.
fn means_tie(answer: &str) -> bool {
    const WORDS: [&str; 12] = [
        "tie",
        "equal",
        "same",
        "no preference",
        "no difference",
        "neither",
        "both",
        "gleich",
        "kein unterschied",
        "unentschieden",
        "égal",
        "igual",
    ];
    let answer = answer.to_lowercase();
    WORDS.iter().any(|word| answer.contains(word))
}

/// Arguments as they are typed in a shell.
#[must_use]
pub fn shell_words<A: AsRef<str>>(arguments: impl IntoIterator<Item = A>) -> String {
    let words: Vec<String> = arguments.into_iter().map(|word| shell_word(word.as_ref())).collect();
    words.join(" ")
}

fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // Double quotes are the same in shells of all systems, unless a character is special in them.
    match word.contains(['"', '$', '`', '\\', '!']) {
        false => format!("\"{word}\""),
        true => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        let words = ["rank", "my votes.csv", "--tie", "Don't know", "", "a\"b", "$5's"];
        assert_eq!(
            shell_words(words),
            "rank \"my votes.csv\" --tie \"Don't know\" \"\" 'a\"b' '$5'\\''s'"
        );
    }

    #[test]
    fn answers_that_mean_a_tie() {
        assert!(["No preference", "About the same", "Beide gleich"].iter().all(|a| means_tie(a)));
        let sides = value_flags(&["Prefer option A", "Prefer option B", "Neither", "n/a"]);
        assert_eq!(sides, ["--prefer-left", "--prefer-right", "--tie", "--ignore"]);
        assert!(!["Don't know", "n/a", "Weiß nicht"].iter().any(|a| means_tie(a)));
    }
}
