//! Votes counted as rows stream by, and what comes out of it: one study, or one for each `--by` value.

use hodgerank::{Labels, Study, Tally, natural_order};
use serde::{Deserialize, Serialize};

use crate::columns::{Layout, ROLES, Role};
use crate::error::{BadRow, Error, Problem, Result};
use crate::outcome::{How, could_be_outcome, trim, understand};
use crate::read::TableHead;

/// Everything that was read.
#[derive(Debug)]
pub struct Input {
    /// The studies in the order of their `by` values; one without a value where none was asked for.
    pub studies: Vec<Study>,
    /// The rows that were not counted.
    pub rejected: Rejected,
    /// What each file is, in the order of the files.
    pub tables: Vec<TableHead>,
    /// How outcomes were read.
    pub outcomes: OutcomesSeen,
}

impl Input {
    /// Checks what can only be checked of everything that was read.
    ///
    /// # Errors
    /// If outcomes were read in ways that contradict each other, or no row was good.
    pub fn check(&self) -> Result<()> {
        self.outcomes.check()?;
        self.rejected.check_left(!self.studies.is_empty())
    }
}

/// How outcomes were read that could have been read otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomesSeen {
    /// An outcome read as a label that could have meant something else.
    pub label_despite: Option<String>,
    /// An outcome read as a word or number.
    pub plain: Option<String>,
}

impl OutcomesSeen {
    /// What several readers saw. Of several outcomes the smallest is kept, so that the message
    /// does not depend on who met which.
    pub fn add(&mut self, other: &Self) {
        fn smaller(known: &mut Option<String>, other: Option<&String>) {
            *known = known.iter().chain(other).min().cloned();
        }
        smaller(&mut self.label_despite, other.label_despite.as_ref());
        smaller(&mut self.plain, other.plain.as_ref());
    }

    /// Checks that all outcomes can have been meant as they were read.
    ///
    /// # Errors
    /// [`Error::MixedOutcomes`]
    pub fn check(&self) -> Result<()> {
        match (&self.label_despite, &self.plain) {
            (Some(label), Some(other)) => {
                Err(Error::MixedOutcomes { label: label.clone(), other: other.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// Rows that were not counted (`--on-error skip`).
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Rejected {
    /// How many.
    pub total: u64,
    /// The first [`Rejected::LISTED`] of them.
    pub first: Vec<BadRow>,
}

impl Rejected {
    /// How many bad rows are listed one by one.
    pub const LISTED: usize = 10;

    /// Checks that something is left, given whether any row was good.
    ///
    /// # Errors
    /// [`Error::NothingLeft`]
    pub fn check_left(&self, any_good: bool) -> Result<()> {
        match self.first.first() {
            Some(first) if !any_good => {
                Err(Error::NothingLeft { rejected: self.total, first: Box::new(first.clone()) })
            }
            _ => Ok(()),
        }
    }
}

/// A row's cells by [`Role`], valid UTF-8; cells of absent columns are empty and not looked at.
pub(crate) type Cells<'a> = [&'a [u8]; ROLES];

/// What a row says, once its cells make sense.
pub(crate) struct Understood<'a> {
    pub(crate) left: &'a [u8],
    pub(crate) right: &'a [u8],
    /// How much `left` is preferred to `right`.
    pub(crate) y: f64,
    /// How the outcome was read, where there is one.
    how: Option<How>,
    pub(crate) count: u64,
}

impl<'a> Understood<'a> {
    /// Reads a row's cells, or says which one is wrong and why.
    #[inline]
    pub(crate) fn new(layout: &Layout, cells: &Cells<'a>) -> Result<Self, (Role, Problem)> {
        let cell = |role: Role| cells[role as usize];
        let (left, right) = (cell(Role::Left), cell(Role::Right));
        for (role, name) in [(Role::Left, left), (Role::Right, right)] {
            if name.is_empty() {
                return Err((role, Problem::EmptyItem));
            }
        }
        if left == right {
            return Err((Role::Right, Problem::SelfComparison));
        }
        let (y, how) = if layout.has(Role::Outcome) {
            let text = cell(Role::Outcome);
            let reading = understand(layout.outcome_as, text, text == left, text == right);
            let reading = reading.map_err(|problem| {
                (Role::Outcome, if text.is_empty() { Problem::Missing } else { problem })
            })?;
            (reading.y, Some(reading.how))
        } else {
            (1.0, None)
        };
        let count = if layout.has(Role::Count) {
            parse_count(cell(Role::Count)).map_err(|problem| (Role::Count, problem))?
        } else {
            1
        };
        if layout.has(Role::By) && cell(Role::By).is_empty() {
            return Err((Role::By, Problem::Missing));
        }
        Ok(Self { left, right, y, how, count })
    }
}

/// One thread's count.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    by: Labels,
    studies: Vec<Counted>,
    /// The study of the empty `--by` value: the only one where there is no such column.
    unnamed: Option<usize>,
    outcomes: OutcomesSeen,
    /// Grows with each new item whose name could be taken for an outcome.
    outcome_like_items: usize,
}

#[derive(Debug, Default)]
struct Counted {
    items: Labels,
    tally: Tally,
    annotators: Labels,
    rows: u64,
}

impl Counter {
    /// Counts a row, or says which cell is wrong with it and why.
    #[inline]
    pub(crate) fn count(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
    ) -> Result<(), (Role, Problem)> {
        let cell = |role: Role| cells[role as usize];
        let said = Understood::new(layout, cells)?;
        if let Some(how) = said.how {
            self.note(how, cell(Role::Outcome));
        }
        let study = self.study(cell(Role::By));
        let left = self.item(study, said.left);
        let right = self.item(study, said.right);
        self.studies[study].add(left, right, said.y, said.count, cell(Role::Annotator));
        Ok(())
    }

    /// The study of a `--by` value; without such a column the value is empty and the study is one.
    fn study(&mut self, by: &[u8]) -> usize {
        if let Some(study) = self.unnamed
            && by.is_empty()
        {
            return study;
        }
        let study = intern(&mut self.by, by) as usize;
        if study == self.studies.len() {
            self.studies.push(Counted::default());
        }
        if by.is_empty() {
            self.unnamed = Some(study);
        }
        study
    }

    #[inline]
    fn item(&mut self, study: usize, name: &[u8]) -> u32 {
        let items = &mut self.studies[study].items;
        if let Some(id) = items.get(name) {
            return id;
        }
        if could_be_outcome(name) {
            self.outcome_like_items += 1;
        }
        intern(items, name)
    }

    #[inline]
    fn note(&mut self, how: How, text: &[u8]) {
        let noted = match how {
            How::LabelDespite => &mut self.outcomes.label_despite,
            How::Plain => &mut self.outcomes.plain,
            How::Label | How::Tie => return,
        };
        // The smallest, so that the message does not depend on which thread met which first.
        if noted.as_ref().is_none_or(|known| text < known.as_bytes()) {
            *noted = Some(String::from_utf8_lossy(text).into_owned());
        }
    }

    /// The item of this name, in a study without `--by`: for the short way of `read::batches`.
    #[inline]
    pub(crate) fn known_item(&self, name: &[u8]) -> Option<u32> {
        self.studies.first()?.items.get(name)
    }

    /// Whether nothing is to be noted of this annotator, in a study without `--by`.
    #[inline]
    pub(crate) fn knows_annotator(&self, name: &[u8]) -> bool {
        let known = |study: &Counted| study.annotators.get(name).is_some();
        name.is_empty() || self.studies.first().is_some_and(known)
    }

    /// Changes when an item appears whose name could be taken for an outcome.
    pub(crate) fn outcome_like_items(&self) -> usize {
        self.outcome_like_items
    }

    /// Counts a vote whose parts are all known, in a study without `--by`.
    #[inline]
    pub(crate) fn count_known(&mut self, left: u32, right: u32, y: f64) {
        let study = &mut self.studies[0];
        study.rows += 1;
        study.tally.add(left, right, y, 1);
    }

    /// Brings the threads' counts together. The result does not depend on who counted what.
    pub(crate) fn finish(
        counters: Vec<Self>,
        has_by: bool,
        rejected: Rejected,
        tables: Vec<TableHead>,
    ) -> Input {
        let mut outcomes = OutcomesSeen::default();
        counters.iter().for_each(|counter| outcomes.add(&counter.outcomes));
        let mut values = Labels::new();
        let mut parts: Vec<Vec<Counted>> = Vec::new();
        for counter in counters {
            for (name, counted) in counter.by.iter().zip(counter.studies) {
                let study = values.intern(name) as usize;
                if study == parts.len() {
                    parts.push(Vec::new());
                }
                parts[study].push(counted);
            }
        }
        let mut studies: Vec<Study> = values
            .iter()
            .zip(parts)
            .map(|(by, parts)| Counted::unite(parts, has_by.then(|| by.to_owned())))
            .collect();
        studies.sort_by(|a, b| {
            natural_order(a.by.as_deref().unwrap_or(""), b.by.as_deref().unwrap_or(""))
        });
        Input { studies, rejected, tables, outcomes }
    }
}

impl Counted {
    #[inline]
    fn add(&mut self, left: u32, right: u32, y: f64, count: u64, annotator: &[u8]) {
        self.rows += 1;
        self.tally.add(left, right, y, count);
        if !annotator.is_empty() {
            intern(&mut self.annotators, annotator);
        }
    }

    fn unite(parts: Vec<Self>, by: Option<String>) -> Study {
        let items: Labels = parts.iter().flat_map(|part| part.items.iter()).collect();
        let annotators: Labels = parts.iter().flat_map(|part| part.annotators.iter()).collect();
        let (items, _) = items.sorted();
        let new_of: Vec<Vec<u32>> = parts
            .iter()
            .map(|part| {
                let known = |name: &str| items.get(name.as_bytes()).expect("collected above");
                part.items.iter().map(known).collect()
            })
            .collect();
        let rows = parts.iter().map(|part| part.rows).sum();
        let comparisons = parts.iter().map(|part| part.tally.votes()).sum();
        let tallies = parts.into_iter().map(|part| part.tally).collect();
        let groups = Tally::finish(tallies, &new_of);
        Study { by, items, groups, rows, comparisons, annotators }
    }
}

/// The index of a name, which is added when it is new.
#[inline]
fn intern(labels: &mut Labels, name: &[u8]) -> u32 {
    // Readers hand over valid UTF-8 only, so nothing is lost.
    labels.get(name).unwrap_or_else(|| labels.intern(&String::from_utf8_lossy(name)))
}

/// Whole numbers from 0; also written as 3.0, because tables with gaps turn integers into floats.
fn parse_count(text: &[u8]) -> Result<u64, Problem> {
    /// Beyond 2⁵³ a weight could not tell one vote more or less.
    const MOST: f64 = 9_007_199_254_740_992.0;
    let text = std::str::from_utf8(trim(text)).map_err(|_| Problem::BadUtf8)?;
    if text.is_empty() {
        return Err(Problem::Missing);
    }
    match text.parse::<f64>() {
        Ok(count) if count >= 0.0 && count.fract() == 0.0 && count <= MOST => Ok(count as u64),
        _ => Err(Problem::BadCount),
    }
}
