//! Who cast the flagged votes, and who prefers a side.

use hodgerank::AnnotatorReport;

use crate::chart::{Axis, Chart, Colour, Curve, Hover, LegendEntry, Mark, Shape, Sign, short};
use crate::document::Section;
use crate::findings::Findings;
use crate::table::{Column, Table, Values};
use crate::words::{counted, percent, thousands};

/// Annotators in a chart.
const DRAWN: usize = 40;
/// Annotators in the table.
const LISTED: usize = 5_000;
/// Below this probability, after the correction for looking at many, chance is not believed.
const LEVEL: f64 = 0.05;

/// Nothing where nobody is named.
pub(super) fn section(findings: &Findings<'_>) -> Option<Section> {
    let rows = findings.annotators.filter(|rows| !rows.is_empty())?;
    let flagged = rows.iter().filter(|row| row.flagged_p_adjusted < LEVEL).count() as u64;
    let sided = rows.iter().filter(|row| row.left_p_adjusted.is_some_and(|p| p < LEVEL)).count();
    let mut text = vec![format!(
        "{} of {} cast more flagged votes than chance explains (5% level, corrected for looking at \
         all of them).",
        thousands(flagged),
        counted(rows.len() as u64, "annotator", "annotators"),
    )];
    let sides = rows.iter().any(|row| row.left_p.is_some());
    if sides {
        text.push(format!(
            "{} choose one side more often than chance explains.",
            counted(sided as u64, "annotator", "annotators")
        ));
    }
    let mut charts = vec![flags(findings, rows)];
    if sides {
        charts.push(left(rows));
    }
    Some(Section {
        id: "annotators".to_owned(),
        title: "Who cast them".to_owned(),
        text,
        charts,
        tables: vec![table(rows, sides)],
    })
}

fn table(rows: &[AnnotatorReport<String>], sides: bool) -> Table {
    let listed = &rows[..rows.len().min(LISTED)];
    let whole = |pick: fn(&AnnotatorReport<String>) -> u64| {
        Values::Whole(listed.iter().map(|row| Some(pick(row) as i64)).collect())
    };
    let share = |pick: fn(&AnnotatorReport<String>) -> Option<f64>| {
        Values::Share(listed.iter().map(pick).collect())
    };
    let p = |pick: fn(&AnnotatorReport<String>) -> Option<f64>| {
        Values::Probability(listed.iter().map(pick).collect())
    };
    let interval = |row: &AnnotatorReport<String>| (row.flagged_low, row.flagged_high);
    let mut columns = vec![
        Column::new(
            "annotator",
            "annotator",
            Values::Text(listed.iter().map(|row| row.annotator.clone()).collect()),
        ),
        Column::new("votes", "votes", whole(|row| row.votes)),
        Column::new("agreement", "agrees", share(|row| row.agreement))
            .with_hint("Share of votes, ties apart, that agree with the ranking"),
        Column::new("flagged", "flagged", whole(|row| row.flagged)),
        Column::new("share", "flagged share", share(|row| Some(row.flagged_share))),
        Column::new(
            "interval",
            "95% interval",
            Values::Interval(listed.iter().map(interval).collect()),
        ),
        Column::new("p", "p (flags)", p(|row| Some(row.flagged_p_adjusted)))
            .with_hint("Probability of so many flags by chance, corrected for looking at everyone"),
    ];
    if sides {
        columns.push(
            Column::new("left", "left", share(|row| row.left_share))
                .with_hint("Share of votes for the item on the left"),
        );
        columns.push(
            Column::new("left_p", "p (left)", p(|row| row.left_p_adjusted))
                .with_hint("Probability of so uneven sides by chance, corrected likewise"),
        );
    }
    let note = (listed.len() < rows.len()).then(|| {
        format!(
            "The {} most suspicious of {} annotators are listed; `hodgerank outliers --annotators` \
             writes all.",
            thousands(listed.len() as u64),
            thousands(rows.len() as u64)
        )
    });
    Table {
        id: "annotators".to_owned(),
        title: "Annotators, the most suspicious first".to_owned(),
        note,
        columns,
    }
}

fn names(rows: &[AnnotatorReport<String>]) -> Vec<String> {
    rows.iter().map(|row| short(&row.annotator, 22)).collect()
}

fn drawn_note(drawn: usize, all: usize) -> Option<String> {
    (drawn < all).then(|| {
        format!("The {drawn} most suspicious of {} annotators are drawn.", thousands(all as u64))
    })
}

fn flags(findings: &Findings<'_>, rows: &[AnnotatorReport<String>]) -> Chart {
    let shown = &rows[..rows.len().min(DRAWN)];
    let y: Vec<f64> = (0..shown.len()).map(|k| k as f64).collect();
    let overall = findings.ranked.outliers.fraction;
    let words = |row: &AnnotatorReport<String>| {
        format!(
            "{}\n{} of {} flagged: {} ({} to {})",
            short(&row.annotator, 60),
            thousands(row.flagged),
            counted(row.votes, "vote", "votes"),
            percent(row.flagged_share),
            percent(row.flagged_low),
            percent(row.flagged_high)
        )
    };
    let is_suspect = |row: &&AnnotatorReport<String>| row.flagged_p_adjusted < LEVEL;
    let points = |suspect: bool, colour, shape| {
        let own = || shown.iter().zip(&y).filter(move |(row, _)| is_suspect(row) == suspect);
        Mark::Points {
            colour,
            shape,
            size: 4.5,
            x: own().map(|(row, _)| row.flagged_share).collect(),
            y: own().map(|(_, &y)| y).collect(),
            hover: Hover::Words { words: own().map(|(row, _)| words(row)).collect() },
            follows: None,
        }
    };
    let most = shown.iter().map(|row| row.flagged_high).fold(overall, f64::max);
    let suspects = shown.iter().filter(is_suspect).count();
    Chart {
        id: "annotators".to_owned(),
        title: "Share of each annotator's votes that is flagged".to_owned(),
        alt: format!(
            "One row for each annotator, the most suspicious on top: the flagged share with its 95% \
             interval. {suspects} of the {} drawn are beyond chance. The dashed line is the share \
             of all votes, {}.",
            shown.len(),
            percent(overall)
        ),
        note: drawn_note(shown.len(), rows.len()),
        x: Axis::shares("share of votes flagged", (1.03 * most).min(1.0)),
        y: Axis::labels_down("annotator", names(shown)),
        aspect: (0.12 + 0.03 * shown.len() as f64).max(0.3),
        marks: vec![
            dashes(overall, shown.len()),
            Mark::Segments {
                colour: Colour::Muted,
                width: 1.5,
                arrow: false,
                x0: shown.iter().map(|row| row.flagged_low).collect(),
                y0: y.clone(),
                x1: shown.iter().map(|row| row.flagged_high).collect(),
                y1: y.clone(),
                hover: Hover::Nothing,
            },
            points(false, Colour::Kind(0), Shape::Circle),
            points(true, Colour::Kind(1), Shape::Diamond),
        ],
        legend: vec![
            LegendEntry::new("beyond chance", Colour::Kind(1), Sign::Point(Shape::Diamond)),
            LegendEntry::new("within chance", Colour::Kind(0), Sign::Point(Shape::Circle)),
            LegendEntry::new("95% interval", Colour::Muted, Sign::Line),
            LegendEntry::new("all votes", Colour::Ink, Sign::Dashes),
        ],
    }
}

/// The share of votes for the left item; careful people come close to one half.
fn left(rows: &[AnnotatorReport<String>]) -> Chart {
    let mut sided: Vec<&AnnotatorReport<String>> =
        rows.iter().filter(|row| row.left_share.is_some()).collect();
    let bias = |row: &AnnotatorReport<String>| (row.left_share.unwrap_or(0.5) - 0.5).abs();
    let p = |row: &AnnotatorReport<String>| row.left_p_adjusted.unwrap_or(1.0);
    sided.sort_by(|a, b| p(a).total_cmp(&p(b)).then(bias(b).total_cmp(&bias(a))));
    let all = sided.len();
    sided.truncate(DRAWN);
    let shown: Vec<AnnotatorReport<String>> = sided.into_iter().cloned().collect();
    let words = |row: &AnnotatorReport<String>| {
        let share = percent(row.left_share.unwrap_or(0.5));
        let name = short(&row.annotator, 60);
        format!("{name}\nleft in {share} of {}", counted(row.votes, "vote", "votes"))
    };
    let points = |biased: bool, colour, shape| {
        let own = || {
            let rows = shown.iter().enumerate();
            rows.filter(move |(_, row)| (p(row) < LEVEL) == biased)
        };
        Mark::Points {
            colour,
            shape,
            size: 4.5,
            x: own().map(|(_, row)| row.left_share.unwrap_or(0.5)).collect(),
            y: own().map(|(k, _)| k as f64).collect(),
            hover: Hover::Words { words: own().map(|(_, row)| words(row)).collect() },
            follows: None,
        }
    };
    let biased = shown.iter().filter(|row| p(row) < LEVEL).count();
    Chart {
        id: "left-bias".to_owned(),
        title: "Share of each annotator's votes for the left side".to_owned(),
        alt: format!(
            "One row for each annotator, the most one-sided on top. {biased} of the {} drawn are \
             beyond chance; the dashed line is one half.",
            shown.len()
        ),
        note: drawn_note(shown.len(), all),
        x: Axis::shares("share of votes for the left item", 1.0),
        y: Axis::labels_down("annotator", names(&shown)),
        aspect: (0.12 + 0.03 * shown.len() as f64).max(0.3),
        marks: vec![
            dashes(0.5, shown.len()),
            points(false, Colour::Kind(0), Shape::Circle),
            points(true, Colour::Kind(1), Shape::Diamond),
        ],
        legend: vec![
            LegendEntry::new("beyond chance", Colour::Kind(1), Sign::Point(Shape::Diamond)),
            LegendEntry::new("within chance", Colour::Kind(0), Sign::Point(Shape::Circle)),
        ],
    }
}

fn dashes(at: f64, rows: usize) -> Mark {
    Mark::Line {
        colour: Colour::Ink,
        width: 1.0,
        dashed: true,
        curve: Curve::Straight,
        x: vec![at, at],
        y: vec![-0.5, rows as f64 - 0.5],
        hover: percent(at),
    }
}
