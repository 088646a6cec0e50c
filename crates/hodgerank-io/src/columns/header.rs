//! Finds the columns of a file by their names.

use std::sync::Arc;

use super::ColumnNames;
use super::known_names::{
    ANNOTATORS, MORE_ANNOTATORS, MORE_OUTCOMES, MORE_WINNERS, OUTCOMES, SIDES, WINNERS, fold,
    fold_export, more_sides,
};
use crate::error::{ColumnProblem, Error, Result};
use crate::outcome::OutcomeAs;

/// The header of a file.
pub(super) struct Header<'a> {
    pub(super) file: &'a Arc<str>,
    pub(super) names: &'a [String],
}

impl Header<'_> {
    pub(super) fn sides_and_outcome(
        &self,
        given: &ColumnNames,
    ) -> Result<(usize, usize, Option<usize>, OutcomeAs)> {
        if let (Some(winner), Some(loser)) = (&given.winner, &given.loser) {
            let winner = self.named(winner, "winner")?;
            return Ok((winner, self.named(loser, "loser")?, None, OutcomeAs::Auto));
        }
        let sides_given = given.left.is_some() || given.right.is_some() || given.outcome.is_some();
        if !sides_given && let Some((winner, loser)) = self.known_winners()? {
            return Ok((winner, loser, None, OutcomeAs::Auto));
        }
        let (left, right) = match (&given.left, &given.right) {
            (Some(left), Some(right)) => (self.named(left, "left")?, self.named(right, "right")?),
            _ => self.known_sides()?.ok_or_else(|| self.no_items())?,
        };
        let (outcome, outcome_as) = match &given.outcome {
            Some(name) => {
                let index = self.named(name, "outcome")?;
                let known = OUTCOMES.iter().find(|(known, _)| *known == fold(name));
                (index, known.map_or(OutcomeAs::Auto, |(_, outcome_as)| outcome_as.clone()))
            }
            None => self.known_outcome()?,
        };
        Ok((left, right, Some(outcome), outcome_as))
    }

    /// Checks that the two items and the outcome are different columns.
    pub(super) fn check_distinct(&self, indices: &[Option<usize>]) -> Result<()> {
        let mut used: Vec<usize> = indices.iter().flatten().copied().collect();
        used.sort_unstable();
        match used.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(self.error(ColumnProblem::GivenTwice(self.names[pair[0]].clone()))),
        }
    }

    /// The columns of preferred and other items, if their names say so and no other columns are the items.
    fn known_winners(&self) -> Result<Option<(usize, usize)>> {
        let pairs = |pairs: &'static [(&str, &str)]| pairs.iter().copied();
        let unmistakable = self.pairs(pairs(&WINNERS), fold)?.first().copied();
        let sides = match unmistakable {
            Some(_) => self.known_sides()?,
            // With other unmistakable columns, these names mean something else.
            None if !self.pairs(pairs(&SIDES), fold)?.is_empty() => return Ok(None),
            None => self.known_sides()?,
        };
        let more = || self.pairs(pairs(&MORE_WINNERS), fold_export);
        let found = match unmistakable {
            Some(found) => Some(found),
            None => more()?.first().copied(),
        };
        match (found, sides) {
            (Some(found), Some(sides)) => Err(self.two_pairs(found, sides, true)),
            (found, _) => Ok(found),
        }
    }

    fn known_sides(&self) -> Result<Option<(usize, usize)>> {
        let mut found = self.pairs(SIDES.into_iter(), fold)?;
        if found.is_empty() {
            let more: Vec<(String, String)> = more_sides().collect();
            let more = more.iter().map(|(left, right)| (left.as_str(), right.as_str()));
            found = self.pairs(more, fold_export)?;
        }
        match found[..] {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            [first, second, ..] => Err(self.two_pairs(first, second, false)),
        }
    }

    /// The pairs of columns with these names.
    fn pairs<'n>(
        &self,
        names: impl Iterator<Item = (&'n str, &'n str)>,
        fold: fn(&str) -> String,
    ) -> Result<Vec<(usize, usize)>> {
        let folded: Vec<String> = self.names.iter().map(|name| fold(name)).collect();
        let mut found = Vec::new();
        for (left, right) in names {
            let has = |name: &str| folded.iter().any(|column| column == name);
            if has(left) && has(right) {
                found.push((self.only(left, &folded)?, self.only(right, &folded)?));
            }
        }
        Ok(found)
    }

    /// The only column with this name, one of `folded`.
    fn only(&self, name: &str, folded: &[String]) -> Result<usize> {
        let mut found = (0..folded.len()).filter(|&index| folded[index] == name);
        match (found.next(), found.next()) {
            (Some(index), None) => Ok(index),
            _ => Err(self.duplicate(name)),
        }
    }

    fn two_pairs(&self, first: (usize, usize), second: (usize, usize), has_winner: bool) -> Error {
        let names = |(a, b): (usize, usize)| (self.names[a].clone(), self.names[b].clone());
        let pairs = Box::new([names(first), names(second)]);
        self.error(ColumnProblem::TwoItemPairs { pairs, has_winner })
    }

    fn known_outcome(&self) -> Result<(usize, OutcomeAs)> {
        let mut found = Vec::new();
        for (name, outcome_as) in OUTCOMES {
            if let Some(index) = self.known(name)? {
                found.push((index, outcome_as));
            }
        }
        if found.is_empty() {
            let folded: Vec<String> = self.names.iter().map(|name| fold_export(name)).collect();
            for name in MORE_OUTCOMES.into_iter().filter(|name| folded.iter().any(|n| n == name)) {
                found.push((self.only(name, &folded)?, OutcomeAs::Auto));
            }
        }
        match &found[..] {
            [only] => Ok(only.clone()),
            [] => {
                Err(self
                    .error(ColumnProblem::NoOutcome { columns: self.names.to_vec(), guess: None }))
            }
            [(first, _), (second, _), ..] => Err(self.error(ColumnProblem::TwoOutcomes {
                first: self.names[*first].clone(),
                second: self.names[*second].clone(),
            })),
        }
    }

    pub(super) fn annotator(&self, given: Option<&str>) -> Result<Option<usize>> {
        let found = self.optional(given, "annotator", &ANNOTATORS)?;
        if found.is_some() {
            return Ok(found);
        }
        // `participant` is often a name next to the `participant_id`.
        let has = |name: &str| self.names.iter().any(|column| fold(column) == name);
        let is_name_of_id = |name: &&&str| has(&format!("{name}_id"));
        let names: Vec<&str> =
            MORE_ANNOTATORS.iter().filter(|name| !is_name_of_id(name)).copied().collect();
        self.optional(None, "annotator", &names)
    }

    /// The columns that divide the votes into studies: one, or two with their names.
    #[expect(clippy::type_complexity)]
    pub(super) fn by(&self, given: &str) -> Result<(usize, Option<(usize, (String, String))>)> {
        let whole = self.named(given, "by");
        match given.split_once(',') {
            Some((first, second)) if whole.is_err() && !second.contains(',') => {
                let (first, second) = (first.trim(), second.trim());
                let columns = (self.named(first, "by")?, self.named(second, "by")?);
                let names = (first.to_owned(), second.to_owned());
                Ok((columns.0, Some((columns.1, names))))
            }
            _ => Ok((whole?, None)),
        }
    }

    pub(super) fn optional(
        &self,
        given: Option<&str>,
        role: &'static str,
        known: &[&str],
    ) -> Result<Option<usize>> {
        if let Some(name) = given {
            return self.named(name, role).map(Some);
        }
        let mut found = None;
        for name in known {
            if let Some(index) = self.known(name)?
                && let Some(first) = found.replace(index)
            {
                return Err(self.error(ColumnProblem::TwoColumns {
                    role,
                    first: self.names[first].clone(),
                    second: self.names[index].clone(),
                }));
            }
        }
        Ok(found)
    }

    /// The column that the caller named. An exact match takes precedence over one that differs in
    /// case, spaces, dashes or underscores.
    pub(super) fn named(&self, name: &str, role: &'static str) -> Result<usize> {
        let exact: Vec<usize> = self.indices(|column| column == name);
        let found = if exact.is_empty() { self.indices(|c| fold(c) == fold(name)) } else { exact };
        match found[..] {
            [index] => Ok(index),
            [] => Err(self.error(ColumnProblem::NotFound {
                name: name.to_owned(),
                role,
                columns: self.names.to_vec(),
            })),
            _ => Err(self.duplicate(name)),
        }
    }

    fn known(&self, name: &str) -> Result<Option<usize>> {
        match self.indices(|column| fold(column) == name)[..] {
            [] => Ok(None),
            [index] => Ok(Some(index)),
            _ => Err(self.duplicate(name)),
        }
    }

    fn indices(&self, matches: impl Fn(&str) -> bool) -> Vec<usize> {
        (0..self.names.len()).filter(|&index| matches(&self.names[index])).collect()
    }

    fn duplicate(&self, name: &str) -> Error {
        self.error(ColumnProblem::Duplicate(name.to_owned()))
    }

    fn no_items(&self) -> Error {
        let has_numbers =
            self.names.iter().any(|name| !name.is_empty() && name.parse::<f64>().is_ok());
        self.error(ColumnProblem::NoItems {
            columns: self.names.to_vec(),
            has_numbers,
            guess: None,
        })
    }

    fn error(&self, problem: ColumnProblem) -> Error {
        Error::Columns { file: Arc::clone(self.file), problem }
    }
}
