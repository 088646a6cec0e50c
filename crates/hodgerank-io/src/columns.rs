//! Which column plays which role: found by its name, or given by the user.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::outcome::OutcomeAs;

/// Column names given by the user. What is not given is looked for under the known names.
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
    /// What the vote says.
    pub outcome: Option<String>,
    /// Who cast the vote.
    pub annotator: Option<String>,
    /// How many times the vote was cast.
    pub count: Option<String>,
    /// A column whose values are ranked each on its own.
    pub by: Option<String>,
    /// How to read the outcome; `None` follows the column's name.
    pub outcome_as: Option<OutcomeAs>,
}

/// Names under which the two sides are looked for.
const SIDES: [(&str, &str); 5] = [
    ("left", "right"),
    ("model_a", "model_b"),
    ("item_a", "item_b"),
    ("condition_a", "condition_b"),
    ("video_a", "video_b"),
];

/// Names under which the outcome is looked for, and how its values are read.
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

/// The roles that columns can play; also the order of the cells of a [`Layout`].
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
    /// All roles, each at its own number.
    pub(crate) const ALL: [Self; ROLES] =
        [Self::Left, Self::Right, Self::Outcome, Self::Annotator, Self::Count, Self::By];
}

/// Where each role's column stands in a file.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// For each role, the column's place (from 0).
    pub(crate) place: [Option<usize>; ROLES],
    /// All column names, as in the file.
    pub(crate) names: Vec<String>,
    pub(crate) outcome_as: OutcomeAs,
}

impl Layout {
    pub(crate) fn has(&self, role: Role) -> bool {
        self.place[role as usize].is_some()
    }

    /// Place (from 1) and name of a role's column, for messages.
    pub(crate) fn column(&self, role: Role) -> Option<(usize, String)> {
        self.place[role as usize].map(|place| (place + 1, self.names[place].clone()))
    }

    /// Finds the columns of a file.
    pub(crate) fn find(file: &Arc<str>, names: Vec<String>, given: &ColumnNames) -> Result<Self> {
        let header = Header { file, names: &names };
        let (left, right, outcome, outcome_as) = header.sides_and_outcome(given)?;
        let place = [
            Some(left),
            Some(right),
            outcome,
            header.optional(given.annotator.as_deref(), "--annotator", &ANNOTATORS)?,
            header.optional(given.count.as_deref(), "--count", &COUNTS)?,
            header.optional(given.by.as_deref(), "--by", &[])?,
        ];
        header.check_apart(&place[..=Role::Outcome as usize])?;
        let outcome_as = given.outcome_as.unwrap_or(outcome_as);
        Ok(Self { place, names, outcome_as })
    }

    /// For each role, the first role played by the same column: mostly the role itself, but
    /// `--by annotator` gives one column two of them.
    pub(crate) fn first_role(&self) -> [usize; ROLES] {
        std::array::from_fn(|role| {
            let same = |place: &Option<usize>| place.is_some() && *place == self.place[role];
            self.place.iter().position(same).unwrap_or(role)
        })
    }

    /// Whether a column that is missing from `names` would have been given a role.
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
            let winner = self.named(winner, "--winner")?;
            return Ok((winner, self.named(loser, "--loser")?, None, OutcomeAs::Auto));
        }
        let sides_given = given.left.is_some() || given.right.is_some() || given.outcome.is_some();
        if !sides_given
            && let (Some(winner), Some(loser)) = (self.known("winner")?, self.known("loser")?)
        {
            return Ok((winner, loser, None, OutcomeAs::Auto));
        }
        let (left, right) = match (&given.left, &given.right) {
            (Some(left), Some(right)) => {
                (self.named(left, "--left")?, self.named(right, "--right")?)
            }
            _ => self.known_sides()?.ok_or_else(|| self.no_sides())?,
        };
        let (outcome, outcome_as) = match &given.outcome {
            Some(name) => {
                let place = self.named(name, "--outcome")?;
                let known = OUTCOMES.iter().find(|(known, _)| *known == fold(name));
                (place, known.map_or(OutcomeAs::Auto, |&(_, how)| how))
            }
            None => self.known_outcome()?,
        };
        Ok((left, right, Some(outcome), outcome_as))
    }

    /// The two items and the outcome must be different columns.
    fn check_apart(&self, places: &[Option<usize>]) -> Result<()> {
        let mut taken: Vec<usize> = places.iter().flatten().copied().collect();
        taken.sort_unstable();
        match taken.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(self.error(
                format!("the column `{}` was given twice", self.names[pair[0]].escape_debug()),
                "the two items, and the outcome, are different columns".to_owned(),
            )),
        }
    }

    fn known_sides(&self) -> Result<Option<(usize, usize)>> {
        for (left, right) in SIDES {
            if let (Some(left), Some(right)) = (self.known(left)?, self.known(right)?) {
                return Ok(Some((left, right)));
            }
        }
        Ok(None)
    }

    fn known_outcome(&self) -> Result<(usize, OutcomeAs)> {
        let mut found = Vec::new();
        for (name, how) in OUTCOMES {
            if let Some(place) = self.known(name)? {
                found.push((place, how));
            }
        }
        match found[..] {
            [only] => Ok(only),
            [] => Err(self.error(
                format!("there is no outcome column among {}", self.list()),
                "name the column that says who won with --outcome NAME; known names are winner, \
                 label, outcome, y, score, is_A_selected"
                    .to_owned(),
            )),
            [(first, _), (second, _), ..] => Err(self.error(
                format!(
                    "two columns could be the outcome: `{}` and `{}`",
                    self.names[first], self.names[second]
                ),
                format!("choose one, for example --outcome {}", self.names[first]),
            )),
        }
    }

    fn optional(&self, given: Option<&str>, flag: &str, known: &[&str]) -> Result<Option<usize>> {
        if let Some(name) = given {
            return self.named(name, flag).map(Some);
        }
        for name in known {
            if let Some(place) = self.known(name)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// A column that the user named: exactly, or else but for upper and lower case.
    fn named(&self, name: &str, flag: &str) -> Result<usize> {
        let exact: Vec<usize> = self.places(|column| column == name);
        let found = if exact.is_empty() { self.places(|c| fold(c) == fold(name)) } else { exact };
        match found[..] {
            [place] => Ok(place),
            [] => Err(self.error(
                format!("there is no column `{name}` ({flag}); the columns are {}", self.list()),
                format!("give one of these names to {flag}"),
            )),
            _ => Err(self.twice(name)),
        }
    }

    fn known(&self, name: &str) -> Result<Option<usize>> {
        match self.places(|column| fold(column) == name)[..] {
            [] => Ok(None),
            [place] => Ok(Some(place)),
            _ => Err(self.twice(name)),
        }
    }

    fn places(&self, matches: impl Fn(&str) -> bool) -> Vec<usize> {
        (0..self.names.len()).filter(|&place| matches(&self.names[place])).collect()
    }

    fn twice(&self, name: &str) -> Error {
        self.error(
            format!("the column `{name}` is there more than once"),
            "give the columns different names".to_owned(),
        )
    }

    fn no_sides(&self) -> Error {
        let looks_like_data =
            self.names.iter().any(|name| !name.is_empty() && name.parse::<f64>().is_ok());
        let mut help = "name the columns with --winner and --loser, or with --left, --right and \
                        --outcome; known names are winner,loser · left,right,winner · \
                        model_a,model_b,winner · item_a,item_b,y · \
                        condition_A,condition_B,is_A_selected · video_a,video_b,score"
            .to_owned();
        if looks_like_data {
            help.insert_str(0, "the first row looks like a vote: add a header line. Or ");
        }
        self.error(format!("no pair of item columns was found among {}", self.list()), help)
    }

    fn list(&self) -> String {
        const MOST: usize = 20;
        let shown = self.names.iter().take(MOST);
        let mut list =
            shown.map(|name| format!("`{}`", name.escape_debug())).collect::<Vec<_>>().join(", ");
        if self.names.len() > MOST {
            list.push_str(&format!(" and {} more", self.names.len() - MOST));
        }
        list
    }

    fn error(&self, problem: String, help: String) -> Error {
        Error::Columns { file: Arc::clone(self.file), problem, help }
    }
}

/// Names are found whatever their case, and whether written with spaces, dashes or underscores.
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
        ([layout.place[0], layout.place[1], layout.place[2]], layout.outcome_as)
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
        assert_eq!(layout.place, [Some(1), Some(2), Some(3), Some(0), Some(4), None]);
    }

    #[test]
    fn given_names_win() {
        let given = ColumnNames {
            left: Some("p".into()),
            right: Some("q".into()),
            outcome: Some("result".into()),
            by: Some("Scene".into()),
            ..ColumnNames::default()
        };
        let layout = find("scene,q,p,result,winner,loser", &given).unwrap();
        assert_eq!(layout.place, [Some(2), Some(1), Some(3), None, None, Some(0)]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let given = ColumnNames { by: Some("scene".into()), ..ColumnNames::default() };
        for (header, given, part) in [
            ("3,4", &ColumnNames::default(), "no pair of item columns"),
            ("left,right", &ColumnNames::default(), "no outcome column"),
            ("left,right,winner,y", &ColumnNames::default(), "two columns could be the outcome"),
            ("winner,loser,winner", &ColumnNames::default(), "more than once"),
            ("winner,loser", &given, "no column `scene` (--by)"),
        ] {
            let message = find(header, given).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
