//! The crowds, designs and sizes of the simulated studies.

/// What the bad annotators of a crowd do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CrowdKind {
    Clean,
    Careless,
    Contrary,
    Left,
    OneSided,
    Mostly,
    Coin,
    Mixed,
    Tired,
    Fans,
    Tastes,
    Passers,
    PassersBad,
}

impl CrowdKind {
    pub(crate) const ALL: [Self; 13] = [
        Self::Clean,
        Self::Careless,
        Self::Contrary,
        Self::Left,
        Self::OneSided,
        Self::Mostly,
        Self::Coin,
        Self::Mixed,
        Self::Tired,
        Self::Fans,
        Self::Tastes,
        Self::Passers,
        Self::PassersBad,
    ];

    /// Crowds whose bad annotators behave in ways that `crowd` models, with votes enough to tell.
    pub(crate) const BASIC: [Self; 7] = [
        Self::Careless,
        Self::Contrary,
        Self::Left,
        Self::OneSided,
        Self::Mostly,
        Self::Coin,
        Self::Mixed,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Careless => "careless",
            Self::Contrary => "contrary",
            Self::Left => "left",
            Self::OneSided => "onesided",
            Self::Mostly => "mostly",
            Self::Coin => "coin",
            Self::Mixed => "mixed",
            Self::Tired => "tired",
            Self::Fans => "fans",
            Self::Tastes => "tastes",
            Self::Passers => "passers",
            Self::PassersBad => "passersbad",
        }
    }

    /// Whether most annotators have one or two votes.
    pub(crate) fn has_passers_by(self) -> bool {
        matches!(self, Self::Passers | Self::PassersBad)
    }
}

/// Which pairs are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Design {
    /// All pairs with the same probability.
    Uniform,
    /// Items by popularity, the k-th in proportion to k^−0.8.
    LongTail,
    /// Mostly pairs of items with similar scores.
    Matched,
}

impl Design {
    pub(crate) const ALL: [Self; 3] = [Self::Uniform, Self::LongTail, Self::Matched];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::LongTail => "longtail",
            Self::Matched => "matched",
        }
    }
}

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// One of the two sides.
    Side,
    /// One of the two sides, or a tie.
    SideOrTie,
    /// A number from −3 to 3.
    Graded,
}

/// A kind of study: a row of the table of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) crowd: CrowdKind,
    pub(crate) design: Design,
    pub(crate) answers: AnswerKind,
}

impl Cell {
    /// The name of the crowd, with the kind of answers if they are not just sides.
    pub(crate) fn crowd_name(&self) -> String {
        let name = self.crowd.as_str();
        match self.answers {
            AnswerKind::Side => name.to_owned(),
            AnswerKind::SideOrTie => format!("{name}, ties"),
            AnswerKind::Graded => format!("{name}, graded"),
        }
    }
}

/// Returns every crowd with every design, then those with ties and with graded answers.
pub(crate) fn cells() -> Vec<Cell> {
    use CrowdKind::{Careless, Clean, Contrary, Mixed, OneSided};
    let sides = CrowdKind::ALL.map(|crowd| (crowd, AnswerKind::Side));
    let ties = [Clean, Mixed].map(|crowd| (crowd, AnswerKind::SideOrTie));
    let graded = [Clean, Careless, Contrary, OneSided, Mixed];
    let graded = graded.map(|crowd| (crowd, AnswerKind::Graded));
    let crowds = sides.into_iter().chain(ties).chain(graded);
    crowds
        .flat_map(|(crowd, answers)| Design::ALL.map(|design| Cell { crowd, design, answers }))
        .collect()
}

/// The size of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) items: usize,
    pub(crate) annotators: usize,
    /// Mean number of votes of an annotator who is no passer-by.
    pub(crate) mean_votes: usize,
}

const fn size(items: usize, annotators: usize, mean_votes: usize) -> Size {
    Size { items, annotators, mean_votes }
}

/// The sizes, increasing; small settings use the first ones.
pub(crate) const SIZES: [Size; 6] = [
    size(16, 40, 25),
    size(50, 40, 40),
    size(120, 60, 40),
    size(200, 50, 25),
    size(300, 120, 60),
    size(500, 150, 80),
];
