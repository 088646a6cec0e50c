//! Which column has which role: found by its name, or named by the caller.

use std::sync::Arc;

use crate::error::{ColumnProblem, Error, Result, Unsupported};
use crate::limits::MAX_COLUMNS;
use crate::outcome::OutcomeAs;

/// Column names given by the caller. Other columns are found by their usual names.
#[derive(Debug, Clone, Default)]
pub struct ColumnNames {
    /// The preferred item (with `loser`).
    pub winner: Option<String>,
    /// The other item (with `winner`).
    pub loser: Option<String>,
    /// The item on the left (with `right` and `outcome`).
    pub left: Option<String>,
    /// The item on the right.
    pub right: Option<String>,
    /// The outcome.
    pub outcome: Option<String>,
    /// The annotator.
    pub annotator: Option<String>,
    /// How many times the vote was cast.
    pub count: Option<String>,
    /// The column that divides the votes into studies, one per value.
    pub by: Option<String>,
    /// How to read the outcome; `None` to decide by the column's name.
    pub outcome_as: Option<OutcomeAs>,
    /// How to read the outcome if `outcome_as` is `None`, instead of by the column's name.
    pub outcome_default: Option<OutcomeAs>,
}

/// Usual names of the two item columns.
const SIDES: [(&str, &str); 5] = [
    ("left", "right"),
    ("model_a", "model_b"),
    ("item_a", "item_b"),
    ("condition_a", "condition_b"),
    ("video_a", "video_b"),
];

/// Usual names of the outcome column, and how its values are read.
const OUTCOMES: [(&str, OutcomeAs); 6] = [
    ("winner", OutcomeAs::Auto),
    ("label", OutcomeAs::Auto),
    ("outcome", OutcomeAs::Auto),
    ("y", OutcomeAs::Number),
    ("score", OutcomeAs::Number),
    ("is_a_selected", OutcomeAs::Selected),
];

const ANNOTATORS: [&str; 6] =
    ["annotator", "annotator_id", "rater", "worker", "worker_id", "judge"];
const COUNTS: [&str; 1] = ["count"];

/// The role of a column; also the index of its cell in a row's `Cells`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Left,
    Right,
    Outcome,
    Annotator,
    Count,
    By,
}

pub(crate) const ROLES: usize = 6;

impl Role {
    /// All roles, each at its own index.
    pub(crate) const ALL: [Self; ROLES] =
        [Self::Left, Self::Right, Self::Outcome, Self::Annotator, Self::Count, Self::By];
}

/// Which column of a file has which role.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// For each role, the index of its column.
    pub(crate) index: [Option<usize>; ROLES],
    /// All column names, as in the file.
    pub(crate) names: Vec<String>,
    pub(crate) outcome_as: OutcomeAs,
    /// Which numbers in the outcome column could be codes, if no vote is for the right item.
    pub(crate) possible_codes: PossibleCodes,
}

/// Which numbers in an outcome column could be codes for the two sides, and not degrees of preference
/// for the left item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PossibleCodes {
    /// None: the caller or the column's name says what the values mean.
    None,
    /// 0 and 1: the column's name says that it has numbers, but 0 often stands for the right item.
    ZeroAndOne,
    /// Any number.
    Any,
}

impl PossibleCodes {
    fn new(outcome: Option<usize>, outcome_as: &OutcomeAs, given: &ColumnNames) -> Self {
        // Asking for `auto` is the same as not asking.
        let is_given = given.outcome_as.as_ref().is_some_and(|given| *given != OutcomeAs::Auto);
        match outcome_as {
            _ if outcome.is_none() || is_given => Self::None,
            OutcomeAs::Auto => Self::Any,
            OutcomeAs::Number => Self::ZeroAndOne,
            _ => Self::None,
        }
    }
}

impl Layout {
    pub(crate) fn has(&self, role: Role) -> bool {
        self.index[role as usize].is_some()
    }

    /// Number (from 1) and name of a role's column, for messages.
    pub(crate) fn column(&self, role: Role) -> Option<(usize, String)> {
        self.index[role as usize].map(|index| (index + 1, self.names[index].clone()))
    }

    /// Finds the columns of a file with the header `names`.
    pub(crate) fn find(file: &Arc<str>, names: Vec<String>, given: &ColumnNames) -> Result<Self> {
        if names.len() > MAX_COLUMNS {
            let feature = Unsupported::Columns(names.len());
            return Err(Error::Unsupported { file: Arc::clone(file), feature });
        }
        let header = Header { file, names: &names };
        let (left, right, outcome, outcome_as) = header.sides_and_outcome(given)?;
        let index = [
            Some(left),
            Some(right),
            outcome,
            header.optional(given.annotator.as_deref(), "annotator", &ANNOTATORS)?,
            header.optional(given.count.as_deref(), "count", &COUNTS)?,
            header.optional(given.by.as_deref(), "by", &[])?,
        ];
        header.check_distinct(&index[..=Role::Outcome as usize])?;
        let chosen = given.outcome_as.as_ref().or(given.outcome_default.as_ref());
        let outcome_as = chosen.cloned().unwrap_or(outcome_as);
        let possible_codes = PossibleCodes::new(outcome, &outcome_as, given);
        Ok(Self { index, names, outcome_as, possible_codes })
    }

    /// For each role, the first role of the same column: usually the role itself, but one column
    /// can be both `annotator` and `by`, for example.
    pub(crate) fn first_role(&self) -> [usize; ROLES] {
        std::array::from_fn(|role| {
            let same = |index: &Option<usize>| index.is_some() && *index == self.index[role];
            self.index.iter().position(same).unwrap_or(role)
        })
    }

    /// Whether a column that is not in the header would have a role if it were.
    pub(crate) fn would_use(&self, name: &str) -> bool {
        let fits =
            |role: Role, known: &[&str]| !self.has(role) && known.contains(&fold(name).as_str());
        fits(Role::Annotator, &ANNOTATORS) || fits(Role::Count, &COUNTS)
    }
}

struct Header<'a> {
    file: &'a Arc<str>,
    names: &'a [String],
}

impl Header<'_> {
    fn sides_and_outcome(
        &self,
        given: &ColumnNames,
    ) -> Result<(usize, usize, Option<usize>, OutcomeAs)> {
        if let (Some(winner), Some(loser)) = (&given.winner, &given.loser) {
            let winner = self.named(winner, "winner")?;
            return Ok((winner, self.named(loser, "loser")?, None, OutcomeAs::Auto));
        }
        let sides_given = given.left.is_some() || given.right.is_some() || given.outcome.is_some();
        if !sides_given
            && let (Some(winner), Some(loser)) = (self.known("winner")?, self.known("loser")?)
        {
            if let Some(sides) = self.known_sides()? {
                return Err(self.two_pairs((winner, loser), sides, true));
            }
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
    fn check_distinct(&self, indices: &[Option<usize>]) -> Result<()> {
        let mut used: Vec<usize> = indices.iter().flatten().copied().collect();
        used.sort_unstable();
        match used.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(self.error(ColumnProblem::GivenTwice(self.names[pair[0]].clone()))),
        }
    }

    fn known_sides(&self) -> Result<Option<(usize, usize)>> {
        let mut found = None;
        for (left, right) in SIDES {
            if let (Some(left), Some(right)) = (self.known(left)?, self.known(right)?) {
                if let Some(first) = found {
                    return Err(self.two_pairs(first, (left, right), false));
                }
                found = Some((left, right));
            }
        }
        Ok(found)
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
        match &found[..] {
            [only] => Ok(only.clone()),
            [] => Err(self.error(ColumnProblem::NoOutcome { columns: self.names.to_vec() })),
            [(first, _), (second, _), ..] => Err(self.error(ColumnProblem::TwoOutcomes {
                first: self.names[*first].clone(),
                second: self.names[*second].clone(),
            })),
        }
    }

    fn optional(
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
    fn named(&self, name: &str, role: &'static str) -> Result<usize> {
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
        self.error(ColumnProblem::NoItems { columns: self.names.to_vec(), has_numbers })
    }

    fn error(&self, problem: ColumnProblem) -> Error {
        Error::Columns { file: Arc::clone(self.file), problem }
    }
}

/// Column names are compared without regard to case, spaces, dashes and underscores.
fn fold(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(header: &str, given: &ColumnNames) -> Result<Layout> {
        let names = header.split(',').map(str::to_owned).collect();
        Layout::find(&"f.csv".into(), names, given)
    }

    fn roles(header: &str) -> ([Option<usize>; 3], OutcomeAs) {
        let layout = find(header, &ColumnNames::default()).unwrap();
        ([layout.index[0], layout.index[1], layout.index[2]], layout.outcome_as)
    }

    #[test]
    fn known_headers() {
        use OutcomeAs::{Auto, Number, Selected};
        assert_eq!(roles("id,winner,loser"), ([Some(1), Some(2), None], Auto));
        assert_eq!(roles("left,right,winner"), ([Some(0), Some(1), Some(2)], Auto));
        assert_eq!(roles("Left,Right,Label"), ([Some(0), Some(1), Some(2)], Auto));
        assert_eq!(roles("winner,model_b,model_a"), ([Some(2), Some(1), Some(0)], Auto));
        assert_eq!(roles("item_a,item_b,y"), ([Some(0), Some(1), Some(2)], Number));
        assert_eq!(
            roles("condition_A,condition_B,is_A_selected"),
            ([Some(0), Some(1), Some(2)], Selected)
        );
        assert_eq!(roles("video_a,video_b,score"), ([Some(0), Some(1), Some(2)], Number));
        let layout = find("judge,model a,model b,winner,count", &ColumnNames::default()).unwrap();
        assert_eq!(layout.index, [Some(1), Some(2), Some(3), Some(0), Some(4), None]);
    }

    #[test]
    fn given_names_take_precedence() {
        let given = ColumnNames {
            left: Some("p".into()),
            right: Some("q".into()),
            outcome: Some("result".into()),
            by: Some("Scene".into()),
            ..ColumnNames::default()
        };
        let layout = find("scene,q,p,result,winner,loser", &given).unwrap();
        assert_eq!(layout.index, [Some(2), Some(1), Some(3), None, None, Some(0)]);
    }

    #[test]
    fn problems_name_the_column() {
        let given = ColumnNames { by: Some("scene".into()), ..ColumnNames::default() };
        for (header, given, part) in [
            ("3,4", &ColumnNames::default(), "no pair of item columns"),
            ("left,right", &ColumnNames::default(), "no outcome column"),
            ("left,right,winner,y", &ColumnNames::default(), "two columns could be the outcome"),
            ("winner,loser,winner", &ColumnNames::default(), "appears more than once"),
            ("winner,loser", &given, "no column `scene` (by)"),
            (
                "winner,loser,left,right",
                &ColumnNames::default(),
                "two pairs of columns could be the items: `winner` and `loser`, or `left` and `right`",
            ),
            (
                "left,right,model_a,model_b,y",
                &ColumnNames::default(),
                "two pairs of columns could be the items: `left` and `right`, or `model_a`",
            ),
            (
                "winner,loser,worker,annotator",
                &ColumnNames::default(),
                "two columns could be the annotator: `annotator` and `worker`",
            ),
        ] {
            let message = find(header, given).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
