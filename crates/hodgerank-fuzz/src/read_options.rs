//! Reading options from the first bytes of an input.

use hodgerank_io::{ColumnNames, Format, OnError, OutcomeAs, ReadOptions};

use crate::choices::Choices;

/// Number of bytes that [`read_options`] takes.
pub(crate) const OPTION_BYTES: usize = 3;

const DELIMITERS: [Option<u8>; 5] = [None, Some(b','), Some(b';'), Some(b'\t'), Some(b'|')];

fn outcome_as(choice: usize) -> Option<OutcomeAs> {
    match choice {
        1 => Some(OutcomeAs::Auto),
        2 => Some(OutcomeAs::Label),
        3 => Some(OutcomeAs::Word),
        4 => Some(OutcomeAs::Number),
        5 => Some(OutcomeAs::Selected),
        _ => None,
    }
}

/// Options for files of `format`, which is detected if `None`.
pub(crate) fn read_options(choices: &mut Choices<'_>, format: Option<Format>) -> ReadOptions {
    let outcome_as = outcome_as(choices.below(6));
    let delimiter = choices.one_of(&DELIMITERS);
    let given = choices.byte();
    let named = |bit: u8, name: &str| (given >> bit & 1 == 1).then(|| name.to_owned());
    let columns = match given & 3 {
        1 => ColumnNames {
            winner: Some("winner".into()),
            loser: Some("loser".into()),
            ..ColumnNames::default()
        },
        2 => ColumnNames {
            left: Some("left".into()),
            right: Some("right".into()),
            outcome: named(2, "outcome"),
            ..ColumnNames::default()
        },
        _ => ColumnNames::default(),
    };
    let columns = ColumnNames {
        annotator: named(3, "annotator"),
        count: named(4, "count"),
        by: named(5, "by"),
        outcome_as,
        ..columns
    };
    let on_error = if given >> 6 & 1 == 1 { OnError::Skip } else { OnError::Stop };
    let sides = given >> 7 == 1;
    let (threads, default) = (1, ReadOptions::default());
    ReadOptions { columns, format, delimiter, on_error, sides, threads, ..default }
}
