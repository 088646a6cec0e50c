//! Which columns hold the votes, judged by their values.

use std::collections::{BTreeMap, BTreeSet};

use crate::columns::ColumnNames;
use crate::labels::spelling_key;
use crate::parse::word_or_number;

/// Rows from which columns are judged.
pub(crate) const SAMPLE_ROWS: usize = 2000;

/// Columns that the values suggest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnGuess {
    /// The item on the left.
    pub left: String,
    /// The item on the right.
    pub right: String,
    /// The outcome.
    pub outcome: String,
    /// The annotator, if a column looks like it and the caller has named none.
    pub annotator: Option<String>,
    /// Outcomes that stand for the left and the right item, if they are not known otherwise.
    pub preferred: Option<(String, String)>,
    /// Outcomes that say nothing about the items, as far as is known; none if there are many.
    pub unknown: Vec<String>,
    /// Whether labels differ only in case, spaces or Unicode form.
    pub misspelt: bool,
}

/// A column of the sample.
struct Column<'a> {
    name: &'a str,
    cells: Vec<&'a str>,
    /// The spelling of each value; empty for an empty cell.
    keys: Vec<String>,
    distinct: BTreeSet<String>,
}

impl<'a> Column<'a> {
    fn new(name: &'a str, index: usize, rows: &'a [Vec<String>]) -> Self {
        let cell = |row: &'a Vec<String>| row.get(index).map_or("", String::as_str);
        let cells: Vec<&str> = rows.iter().map(cell).collect();
        let keys: Vec<String> = cells.iter().map(|cell| spelling_key(cell)).collect();
        let distinct = keys.iter().filter(|key| !key.is_empty()).cloned().collect();
        Self { name, cells, keys, distinct }
    }

    /// Whether values of these columns differ only in spelling.
    fn is_misspelt(&self, other: &Self) -> bool {
        let labels: BTreeSet<&str> = self.cells.iter().chain(&other.cells).copied().collect();
        let keys: BTreeSet<&String> = self.distinct.union(&other.distinct).collect();
        labels.iter().filter(|label| !label.is_empty()).count() > keys.len()
    }

    /// The share of rows with a value that have one of a kind.
    fn share(&self, is_kind: impl Fn(usize, &str) -> bool) -> f64 {
        let filled = || self.keys.iter().enumerate().filter(|(_, key)| !key.is_empty());
        let of_kind = filled().filter(|(row, key)| is_kind(*row, key)).count();
        of_kind as f64 / filled().count().max(1) as f64
    }

    fn name_has(&self, words: &[&str]) -> bool {
        let name = self.name.to_lowercase();
        words.iter().any(|word| name.contains(word))
    }
}

/// The columns that the values of some rows suggest; none if they do not.
///
/// Two columns that share most of their values are the items, if they differ in every row. A column whose
/// values are mostly the row's items, words for the sides or the names of the two columns is the outcome.
pub(crate) fn guess(
    names: &[String],
    rows: &[Vec<String>],
    given: &ColumnNames,
) -> Option<ColumnGuess> {
    /// Shares above which values are of a kind: exports have missing answers and typing errors.
    const MOST: f64 = 0.6;
    let is_unique = |name: &&String| names.iter().filter(|other| other == name).count() == 1;
    let columns: Vec<Column<'_>> = names
        .iter()
        .enumerate()
        .filter(|(_, name)| !name.is_empty() && is_unique(name))
        .map(|(index, name)| Column::new(name, index, rows))
        .collect();
    let mut best: Option<(f64, ColumnGuess)> = None;
    for (k, left) in columns.iter().enumerate() {
        for right in &columns[k + 1..] {
            if !are_items(left, right) {
                continue;
            }
            for outcome in columns.iter().filter(|c| c.name != left.name && c.name != right.name) {
                let (by_label, by_word) = outcome_shares(left, right, outcome);
                let by_header = header_share(left, right, outcome);
                let share = by_label.max(by_word).max(by_header);
                // Labels are better evidence than words; the name decides between equal columns.
                let named = if outcome.name_has(&OUTCOME_WORDS) { 0.2 } else { 0.0 };
                let labelled = if by_label >= MOST { 0.3 } else { 0.0 };
                let score = share + named + labelled;
                if share < MOST || best.as_ref().is_some_and(|(known, _)| *known >= score) {
                    continue;
                }
                let is_header = by_header > by_label && by_header > by_word;
                best = Some((
                    score,
                    ColumnGuess {
                        left: left.name.to_owned(),
                        right: right.name.to_owned(),
                        outcome: outcome.name.to_owned(),
                        annotator: None,
                        preferred: is_header.then(|| (left.name.to_owned(), right.name.to_owned())),
                        unknown: unknown_outcomes(left, right, outcome),
                        misspelt: left.is_misspelt(right) || is_misspelt(left, right, outcome),
                    },
                ));
            }
        }
    }
    let (_, mut found) = best?;
    if given.annotator.is_none() {
        let used = [&found.left, &found.right, &found.outcome];
        let is_free = |column: &&Column<'_>| used.iter().all(|name| *name != column.name);
        found.annotator = annotator(columns.iter().filter(is_free));
    }
    Some(found)
}

const OUTCOME_WORDS: [&str; 14] = [
    "outcome", "winner", "answer", "choice", "chosen", "prefer", "select", "vote", "result",
    "better", "antwort", "wahl", "besser", "judg",
];

/// Whether two columns could be the items of a row.
fn are_items(left: &Column<'_>, right: &Column<'_>) -> bool {
    const MIN_SHARED: f64 = 0.5;
    let all = left.distinct.union(&right.distinct).count();
    let shared = left.distinct.intersection(&right.distinct).count();
    let pairs =
        || left.keys.iter().zip(&right.keys).filter(|(a, b)| !(a.is_empty() && b.is_empty()));
    let differ = pairs().filter(|(a, b)| a != b).count();
    // With three items, the left column has two of them at least.
    all >= 3
        && shared as f64 >= MIN_SHARED * all as f64
        && differ as f64 >= 0.95 * pairs().count() as f64
}

/// The shares of outcomes that are one of the row's items, and that are words or numbers.
fn outcome_shares(left: &Column<'_>, right: &Column<'_>, outcome: &Column<'_>) -> (f64, f64) {
    let by_label = outcome.share(|row, key| key == left.keys[row] || key == right.keys[row]);
    let numbers = outcome.distinct.iter().filter_map(|key| key.parse::<f64>().ok());
    let numbers: Vec<f64> = numbers.collect();
    // Numbers without signs are ages, years or ratings, unless they can be codes for the sides.
    let is_signed = numbers.iter().any(|&number| number < 0.0);
    let are_codes = numbers.iter().all(|number| [0.0, 1.0, 2.0].contains(number));
    let is_outcome = |key: &str| match key.parse::<f64>() {
        Ok(_) => is_signed || are_codes,
        Err(_) => word_or_number(key.as_bytes()).is_ok(),
    };
    let sides = outcome.distinct.iter().filter(|key| is_outcome(key)).count();
    let by_word = if sides >= 2 { outcome.share(|_, key| is_outcome(key)) } else { 0.0 };
    (by_label, by_word)
}

/// The share of outcomes that are the names of the two columns.
fn header_share(left: &Column<'_>, right: &Column<'_>, outcome: &Column<'_>) -> f64 {
    let names = [left.name, right.name].map(spelling_key);
    outcome.share(|_, key| names.iter().any(|name| name == key))
}

/// Outcomes that are neither labels nor words, numbers or names of the columns.
fn unknown_outcomes(left: &Column<'_>, right: &Column<'_>, outcome: &Column<'_>) -> Vec<String> {
    const MAX_UNKNOWN: usize = 8;
    let names = [left.name, right.name].map(spelling_key);
    let mut unknown: BTreeMap<&str, &str> = BTreeMap::new();
    for (row, key) in outcome.keys.iter().enumerate() {
        let is_known = *key == left.keys[row]
            || *key == right.keys[row]
            || names.contains(key)
            || word_or_number(key.as_bytes()).is_ok();
        if !is_known {
            unknown.entry(key).or_insert(outcome.cells[row]);
        }
    }
    match unknown.len() {
        0..=MAX_UNKNOWN => unknown.into_values().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Whether an outcome differs from an item of its row in spelling only.
fn is_misspelt(left: &Column<'_>, right: &Column<'_>, outcome: &Column<'_>) -> bool {
    let differs = |item: &Column<'_>, row: usize| {
        outcome.keys[row] == item.keys[row] && outcome.cells[row] != item.cells[row]
    };
    (0..outcome.keys.len()).any(|row| differs(left, row) || differs(right, row))
}

/// The column that names people: by its name, otherwise the only one whose values repeat.
fn annotator<'c>(columns: impl Iterator<Item = &'c Column<'c>>) -> Option<String> {
    const WORDS: [&str; 18] = [
        "respondent",
        "participant",
        "subject",
        "annotator",
        "rater",
        "worker",
        "judge",
        "observer",
        "voter",
        "user",
        "person",
        "panelist",
        "evaluator",
        "reviewer",
        "teilnehmer",
        "proband",
        "befragte",
        "tester",
    ];
    let repeats = |column: &&Column<'_>| {
        let filled = column.keys.iter().filter(|key| !key.is_empty()).count();
        column.distinct.len() >= 2 && filled >= 2 * column.distinct.len()
    };
    let candidates: Vec<&Column<'_>> = columns.filter(repeats).collect();
    let named: Vec<&&Column<'_>> = candidates.iter().filter(|c| c.name_has(&WORDS)).collect();
    let has_many = |column: &&&Column<'_>| column.distinct.len() >= 5;
    match (&named[..], &candidates[..]) {
        ([first, ..], _) => Some(first.name.to_owned()),
        ([], [only]) if has_many(&only) => Some(only.name.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess_of(header: &str, rows: &[&str]) -> Option<ColumnGuess> {
        let split = |line: &str| line.split(';').map(str::to_owned).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| split(row)).collect();
        guess(&split(header), &rows, &ColumnNames::default())
    }

    #[test]
    fn labels_show_which_column_is_which() {
        let found = guess_of(
            "Time;Respondent;First;Second;Q1;Comment",
            &[
                "9:00;r1;Latte;Mocha;Latte;",
                "9:01;r1;Mocha;Tea;tea;nice",
                "9:02;r2;Tea;Latte;Don't know;",
                "9:03;r2;Latte;Tea;Tea;",
            ],
        );
        let found = found.unwrap();
        assert_eq!((&*found.left, &*found.right, &*found.outcome), ("First", "Second", "Q1"));
        assert_eq!(found.annotator.as_deref(), Some("Respondent"));
        assert_eq!(found.preferred, None);
        assert_eq!((found.unknown, found.misspelt), (vec!["Don't know".to_owned()], true));
    }

    #[test]
    fn words_and_names_of_columns_are_outcomes() {
        let words = guess_of("p;q;r", &["a1;b1;left", "b1;c1;right", "c1;a1;left", "a1;c1;tie"]);
        assert_eq!(words.unwrap().outcome, "r");
        let names = ["x1;x2;Concept 1", "x2;x3;Concept 2", "x3;x1;concept 1", "x1;x3;Concept 2"];
        let names = guess_of("Concept 1;Concept 2;Preferred", &names).unwrap();
        assert_eq!(names.preferred, Some(("Concept 1".to_owned(), "Concept 2".to_owned())));
    }

    #[test]
    fn other_tables_are_no_votes() {
        assert_eq!(guess_of("name;age;city", &["ann;30;Rome", "bob;41;Bonn", "cat;30;Rome"]), None);
        assert_eq!(guess_of("a;b", &["x;y", "y;z", "z;x"]), None);
        assert_eq!(guess_of("a;b;age", &["x;y;30", "y;z;41", "z;x;30", "x;z;52"]), None);
    }
}
