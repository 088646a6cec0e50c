//! Usual names of columns.
//!
//! Names come in two lists for each role. Those of the first list are unmistakable; the second one is
//! used if no column has such a name: programs for surveys and for annotation export such columns, but
//! files with better names often have them too.

use crate::outcome::OutcomeAs;

/// The two item columns.
pub(super) const SIDES: [(&str, &str); 5] = [
    ("left", "right"),
    ("model_a", "model_b"),
    ("item_a", "item_b"),
    ("condition_a", "condition_b"),
    ("video_a", "video_b"),
];

/// What an item can be called, in the second list of item columns: `option_a` and `option_b`, `option_1`
/// and `option_2`, `option1` and `option2`, `option_left` and `option_right`, `left_option` and
/// `right_option`.
const ITEM_KINDS: [&str; 23] = [
    "item",
    "model",
    "condition",
    "video",
    "option",
    "stimulus",
    "image",
    "img",
    "choice",
    "candidate",
    "alternative",
    "system",
    "method",
    "sample",
    "clip",
    "audio",
    "object",
    "product",
    "player",
    "team",
    "variant",
    "text",
    "answer",
];
const SIDE_ENDINGS: [(&str, &str); 3] = [("a", "b"), ("1", "2"), ("left", "right")];

/// The second list of item columns.
pub(super) fn more_sides() -> impl Iterator<Item = (String, String)> {
    ITEM_KINDS.into_iter().flat_map(|kind| {
        let endings = SIDE_ENDINGS.into_iter().flat_map(move |(left, right)| {
            let joined = |gap: &str| (format!("{kind}{gap}{left}"), format!("{kind}{gap}{right}"));
            [joined("_"), joined("")]
        });
        endings.chain([(format!("left_{kind}"), format!("right_{kind}"))])
    })
}

/// Columns of the preferred and the other item.
pub(super) const WINNERS: [(&str, &str); 1] = [("winner", "loser")];

/// The second list of columns of the preferred and the other item, in the order of preference.
pub(super) const MORE_WINNERS: [(&str, &str); 7] = [
    ("winner_model", "loser_model"),
    ("chosen_model", "rejected_model"),
    ("winner_id", "loser_id"),
    ("winner_name", "loser_name"),
    ("preferred", "rejected"),
    ("better", "worse"),
    ("chosen", "rejected"),
];

/// Outcome columns, and how their values are read.
pub(super) const OUTCOMES: [(&str, OutcomeAs); 6] = [
    ("winner", OutcomeAs::Auto),
    ("label", OutcomeAs::Auto),
    ("outcome", OutcomeAs::Auto),
    ("y", OutcomeAs::Number),
    ("score", OutcomeAs::Number),
    ("is_a_selected", OutcomeAs::Selected),
];

/// The second list of outcome columns.
pub(super) const MORE_OUTCOMES: [&str; 18] = [
    "preference",
    "preferred",
    "preferred_item",
    "choice",
    "chosen",
    "chosen_item",
    "selection",
    "selected",
    "selected_item",
    "winner_model",
    "winning_model",
    "answer",
    "vote",
    "verdict",
    "judgement",
    "judgment",
    "pairwise",
    "pw",
];

pub(super) const ANNOTATORS: [&str; 6] =
    ["annotator", "annotator_id", "rater", "worker", "worker_id", "judge"];

/// The second list of annotator columns.
pub(super) const MORE_ANNOTATORS: [&str; 27] = [
    "subject",
    "subject_id",
    "participant",
    "participant_id",
    "user_id",
    "respondent",
    "respondent_id",
    "observer",
    "observer_id",
    "rater_id",
    "judge_id",
    "voter",
    "voter_id",
    "workerid",
    "userid",
    "evaluator",
    "evaluator_id",
    "assessor",
    "assessor_id",
    "reviewer",
    "reviewer_id",
    "labeler",
    "labeller",
    "prolific_id",
    "prolific_pid",
    "completed_by",
    "annotator_name",
];

pub(super) const COUNTS: [&str; 1] = ["count"];

/// A name without regard to case, spaces, dashes and underscores.
pub(super) fn fold(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}

/// As [`fold`], without the prefixes of Mechanical Turk (`Input.image_a`, `Answer.choice`).
pub(super) fn fold_export(name: &str) -> String {
    let folded = fold(name);
    let rest = folded.strip_prefix("input.").or(folded.strip_prefix("answer."));
    rest.map_or(folded.clone(), str::to_owned)
}
