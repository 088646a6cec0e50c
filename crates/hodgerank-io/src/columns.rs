//! Which column has which role: found by its name, or named by the caller.

mod header;
mod known_names;

use std::borrow::Cow;
use std::sync::Arc;

use header::Header;
use known_names::{ANNOTATORS, COUNTS, MORE_ANNOTATORS, fold};

use crate::column_guess;
use crate::error::{ColumnProblem, Error, Result, Unsupported};
use crate::labels::Spellings;
use crate::limits::MAX_COLUMNS;
use crate::outcome::{OutcomeAs, OutcomeValues, Ties};
use crate::parse::Cells;

/// Column names given by the caller, and how their values are read. Other columns are found by their
/// usual names.
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
    /// The column that divides the votes into studies, one per value; or two columns, separated by a
    /// comma, for one study per pair of values.
    pub by: Option<String>,
    /// Whether each file is a study, and how it is called.
    pub by_file: Option<FileStudies>,
    /// Which rows are read: for each of these columns, the accepted values.
    pub filters: Vec<Filter>,
    /// Meanings of values of the outcome column, in addition to those that are known.
    pub values: OutcomeValues,
    /// The items that spellings stand for; `None` if each spelling is an item.
    pub spellings: Option<Arc<Spellings>>,
    /// How to read the outcome; `None` to decide by the column's name.
    pub outcome_as: Option<OutcomeAs>,
    /// How to read the outcome if `outcome_as` is `None`, instead of by the column's name.
    pub outcome_default: Option<OutcomeAs>,
    /// How ties count.
    pub ties: Ties,
}

/// How studies are called if each file is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStudies {
    /// By the file's name without its folder.
    Name,
    /// By its path as given.
    Path,
}

/// A column and the values that it must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The column.
    pub column: String,
    /// The accepted values.
    pub values: Vec<String>,
}

impl Filter {
    /// Maximum number of filtered columns.
    pub const MAX_COLUMNS: usize = Role::FILTERS.len();
}

/// The role of a column; also the index of its cell in a row's `Cells`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Left,
    Right,
    Outcome,
    Annotator,
    Count,
    By,
    SecondBy,
    Filter0,
    Filter1,
    Filter2,
    Filter3,
}

pub(crate) const ROLES: usize = 11;

impl Role {
    /// All roles, each at its own index.
    pub(crate) const ALL: [Self; ROLES] = [
        Self::Left,
        Self::Right,
        Self::Outcome,
        Self::Annotator,
        Self::Count,
        Self::By,
        Self::SecondBy,
        Self::Filter0,
        Self::Filter1,
        Self::Filter2,
        Self::Filter3,
    ];

    /// The roles of filtered columns.
    const FILTERS: [Self; 4] = [Self::Filter0, Self::Filter1, Self::Filter2, Self::Filter3];

    pub(crate) fn is_filter(self) -> bool {
        Self::FILTERS.contains(&self)
    }

    /// Whether a row can lack a value.
    pub(crate) fn can_be_empty(self) -> bool {
        // An empty outcome can have a meaning; otherwise it is found when the row is parsed.
        matches!(self, Self::Annotator | Self::Outcome) || self.is_filter()
    }
}

/// Which column of a file has which role.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// For each role, the index of its column.
    pub(crate) index: [Option<usize>; ROLES],
    /// All column names, as in the file.
    pub(crate) names: Vec<String>,
    pub(crate) outcome_as: OutcomeAs,
    pub(crate) ties: Ties,
    /// Which numbers in the outcome column could be codes, if no vote is for the right item.
    pub(crate) possible_codes: PossibleCodes,
    /// Meanings of values of the outcome column.
    pub(crate) values: OutcomeValues,
    /// The items that spellings stand for.
    pub(crate) spellings: Option<Arc<Spellings>>,
    /// Columns with the values that they must have.
    pub(crate) filters: Vec<(Role, Vec<String>)>,
    /// Whether numbers can have a decimal comma.
    pub(crate) decimal_comma: bool,
    /// The names of two columns that divide the votes into studies.
    by_pair: Option<(String, String)>,
    /// The study of all rows, if each file is a study.
    file_study: Option<String>,
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
            header.annotator(given.annotator.as_deref())?,
            header.optional(given.count.as_deref(), "count", &COUNTS)?,
            None,
            None,
            None,
            None,
            None,
            None,
        ];
        header.check_distinct(&index[..=Role::Outcome as usize])?;
        let mut index = index;
        let mut by_pair = None;
        if let Some(by) = &given.by {
            let (first, second) = header.by(by)?;
            index[Role::By as usize] = Some(first);
            if let Some((column, names)) = second {
                index[Role::SecondBy as usize] = Some(column);
                by_pair = Some(names);
            }
        }
        let mut filters = Vec::with_capacity(given.filters.len());
        for (role, Filter { column, values }) in Role::FILTERS.into_iter().zip(&given.filters) {
            index[role as usize] = Some(header.named(column, "where")?);
            filters.push((role, values.clone()));
        }
        let chosen = given.outcome_as.as_ref().or(given.outcome_default.as_ref());
        let outcome_as = chosen.cloned().unwrap_or(outcome_as);
        let possible_codes = PossibleCodes::new(outcome, &outcome_as, given);
        Ok(Self {
            index,
            names,
            outcome_as,
            ties: given.ties,
            possible_codes,
            values: given.values.clone(),
            spellings: given.spellings.clone(),
            filters,
            decimal_comma: false,
            by_pair,
            file_study: given.by_file.map(|how| how.study(file)),
        })
    }

    /// As [`Layout::find`]. If columns are not found, the error says which ones some rows suggest.
    pub(crate) fn find_or_guess(
        file: &Arc<str>,
        names: Vec<String>,
        given: &ColumnNames,
        sample: impl FnOnce() -> Vec<Vec<String>>,
    ) -> Result<Self> {
        let mut found = Self::find(file, names, given);
        if let Err(Error::Columns { problem, .. }) = &mut found
            && let ColumnProblem::NoItems { columns, guess, .. }
            | ColumnProblem::NoOutcome { columns, guess } = problem
        {
            *guess = column_guess::guess(columns, &sample(), given).map(Box::new);
        }
        found
    }

    /// The study of a row; empty if there is only one.
    #[inline]
    pub(crate) fn study<'a>(&'a self, cells: &Cells<'a>) -> Cow<'a, [u8]> {
        let by = cells[Role::By as usize];
        match (&self.by_pair, &self.file_study) {
            (None, None) => by.into(),
            (Some((first, second)), _) => {
                let values = [first.as_bytes(), b"=", by, b", ", second.as_bytes(), b"="];
                [values.concat().as_slice(), cells[Role::SecondBy as usize]].concat().into()
            }
            (None, Some(file)) => file.as_bytes().into(),
        }
    }

    /// Whether rows must be parsed one by one: the caller explains values, joins spellings, or divides or
    /// filters the rows.
    pub(crate) fn needs_parsing(&self) -> bool {
        self.has(Role::By)
            || self.file_study.is_some()
            || self.spellings.is_some()
            || !self.values.is_empty()
            || self.ties != Ties::Zero
            || !self.filters.is_empty()
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
        fits(Role::Annotator, &ANNOTATORS)
            || fits(Role::Annotator, &MORE_ANNOTATORS)
            || fits(Role::Count, &COUNTS)
    }
}

impl FileStudies {
    fn study(self, file: &str) -> String {
        let name = || std::path::Path::new(file).file_name();
        match self {
            Self::Name => name().map_or(file.into(), |name| name.to_string_lossy()).into_owned(),
            Self::Path => file.to_owned(),
        }
    }
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
        assert_eq!(layout.index[..6], [Some(1), Some(2), Some(3), Some(0), Some(4), None]);
    }

    #[test]
    fn headers_of_surveys_and_annotation_programs() {
        let find = |header: &str| find(header, &ColumnNames::default()).unwrap();
        for (header, index) in [
            (
                "observer,scene,condition_1,condition_2,selection",
                [Some(2), Some(3), Some(4), Some(0)],
            ),
            (
                "WorkerId,Input.image_a,Input.image_b,Answer.choice",
                [Some(1), Some(2), Some(3), Some(0)],
            ),
            ("stimulus_a,stimulus_b,preference,subject", [Some(0), Some(1), Some(2), Some(3)]),
            ("Participant id,Option A,Option B,Choice", [Some(1), Some(2), Some(3), Some(0)]),
            ("text1,text2,pairwise,completed_by", [Some(0), Some(1), Some(2), Some(3)]),
            ("user_id,chosen,rejected", [Some(1), Some(2), None, Some(0)]),
            ("winner_model,loser_model,judge", [Some(0), Some(1), None, Some(2)]),
            ("chosen_model,rejected_model,chosen,rejected", [Some(0), Some(1), None, None]),
            // Unmistakable names take precedence.
            ("model_a,model_b,winner,image_a,image_b,choice", [Some(0), Some(1), Some(2), None]),
            ("left,right,chosen,rejected", [Some(0), Some(1), Some(2), None]),
            ("left,right,winner,participant,participant_id", [Some(0), Some(1), Some(2), Some(4)]),
        ] {
            assert_eq!(find(header).index[..4], index, "{header}");
        }
    }

    #[test]
    fn two_columns_and_filters() {
        let filter = |column: &str| Filter { column: column.into(), values: vec!["x".into()] };
        let given = ColumnNames {
            by: Some("Scene, codec".into()),
            filters: vec![filter("scene"), filter("note")],
            ..ColumnNames::default()
        };
        let layout = find("note,codec,scene,left,right,winner", &given).unwrap();
        assert_eq!(layout.index[5..9], [Some(2), Some(1), Some(2), Some(0)]);
        let mut cells: Cells<'_> = [b""; ROLES];
        (cells[Role::By as usize], cells[Role::SecondBy as usize]) = (b"park", b"av1");
        assert_eq!(&*layout.study(&cells), b"Scene=park, codec=av1");
        // A column can have a comma in its name.
        let layout = find("\"a,b\",left,right,winner", &ColumnNames::default());
        assert!(layout.is_ok());
        let missing = ColumnNames { filters: vec![filter("day")], ..ColumnNames::default() };
        let error = find("left,right,winner", &missing).unwrap_err().to_string();
        assert!(error.contains("no column `day` (where)"), "{error}");
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
        assert_eq!(layout.index[..6], [Some(2), Some(1), Some(3), None, None, Some(0)]);
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
