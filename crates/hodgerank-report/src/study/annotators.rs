//! The section about annotators: their flagged votes, and whether they favour a side.

use hodgerank::AnnotatorReport;

use crate::chart::{
    Axis, Chart, Colour, Hover, LegendEntry, LineCurve, Mark, PointShape, Sign, short_label,
};
use crate::document::Section;
use crate::findings::StudyFindings;
use crate::table::{PageColumn, PageTable, Values};
use crate::words::{counted, percent, thousands};

/// Maximum number of annotators in a chart.
const MAX_DRAWN: usize = 40;
/// Maximum number of annotators in the table.
const MAX_LISTED: usize = 5_000;
/// Significance level of tests, after the correction for multiple testing.
pub(super) const P_LEVEL: f64 = 0.05;

/// Returns the section; `None` if the votes have no annotators.
pub(super) fn section(findings: &StudyFindings<'_>) -> Option<Section> {
    let rows = findings.ranked.annotators.filter(|rows| !rows.is_empty())?;
    let flagged = rows.iter().filter(|row| row.flagged_p_adjusted < P_LEVEL).count() as u64;
    let biased = rows.iter().filter(|row| row.left_p_adjusted.is_some_and(|p| p < P_LEVEL)).count();
    let mut text = vec![format!(
        "{} of {} {} more flagged votes than chance explains (5% level, corrected for multiple \
         testing).",
        thousands(flagged),
        counted(rows.len() as u64, "annotator", "annotators"),
        if flagged == 1 { "casts" } else { "cast" },
    )];
    let has_sides = rows.iter().any(|row| row.left_p.is_some());
    if has_sides {
        text.push(format!(
            "{} {} one side more often than chance explains.",
            counted(biased as u64, "annotator", "annotators"),
            if biased == 1 { "favours" } else { "favour" },
        ));
    }
    let mut charts = vec![flagged_chart(findings, rows)];
    if has_sides {
        charts.push(left_chart(rows));
    }
    Some(Section {
        id: "annotators".to_owned(),
        title: "Annotators".to_owned(),
        text,
        charts,
        tables: vec![table(rows, has_sides)],
    })
}

fn table(rows: &[AnnotatorReport<String>], has_sides: bool) -> PageTable {
    let listed = &rows[..rows.len().min(MAX_LISTED)];
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
        PageColumn::new(
            "annotator",
            "annotator",
            Values::Text(listed.iter().map(|row| row.annotator.clone()).collect()),
        ),
        PageColumn::new("votes", "votes", whole(|row| row.votes)),
        PageColumn::new("agreement", "agreement", share(|row| row.agreement))
            .with_hint("Share of votes, not counting ties, that agree with the ranking"),
        PageColumn::new("flagged", "flagged", whole(|row| row.flagged)),
        PageColumn::new("share", "flagged share", share(|row| Some(row.flagged_share))),
        PageColumn::new(
            "interval",
            "95% interval",
            Values::Interval(listed.iter().map(interval).collect()),
        ),
        PageColumn::new("p", "p (flags)", p(|row| Some(row.flagged_p_adjusted))).with_hint(
            "Probability of so many flagged votes by chance, corrected for multiple testing",
        ),
    ];
    if has_sides {
        columns.push(
            PageColumn::new("left", "left", share(|row| row.left_share))
                .with_hint("Share of votes for the item on the left"),
        );
        columns.push(
            PageColumn::new("left_p", "p (left)", p(|row| row.left_p_adjusted)).with_hint(
                "Probability of so uneven a share by chance, corrected for multiple testing",
            ),
        );
    }
    let note = (listed.len() < rows.len()).then(|| {
        format!(
            "Only the {} most suspicious of {} annotators are listed; `hodgerank annotators` \
             lists all.",
            thousands(listed.len() as u64),
            thousands(rows.len() as u64)
        )
    });
    PageTable {
        id: "annotators".to_owned(),
        title: "Annotators, most suspicious first".to_owned(),
        note,
        columns,
    }
}

fn names(rows: &[AnnotatorReport<String>]) -> Vec<String> {
    rows.iter().map(|row| short_label(&row.annotator, 22)).collect()
}

fn drawn_note(drawn: usize, all: usize) -> Option<String> {
    (drawn < all).then(|| {
        format!(
            "Only the {drawn} most suspicious of {} annotators are shown.",
            thousands(all as u64)
        )
    })
}

fn flagged_chart(findings: &StudyFindings<'_>, rows: &[AnnotatorReport<String>]) -> Chart {
    let shown = &rows[..rows.len().min(MAX_DRAWN)];
    let y: Vec<f64> = (0..shown.len()).map(|k| k as f64).collect();
    let overall = findings.ranked.study.outliers.fraction;
    let words = |row: &AnnotatorReport<String>| {
        format!(
            "{}\n{} of {} flagged: {} (95% interval {} to {})",
            short_label(&row.annotator, 60),
            thousands(row.flagged),
            counted(row.votes, "vote", "votes"),
            percent(row.flagged_share),
            percent(row.flagged_low),
            percent(row.flagged_high)
        )
    };
    let is_suspicious = |row: &&AnnotatorReport<String>| row.flagged_p_adjusted < P_LEVEL;
    let points = |suspicious: bool, colour, shape| {
        let own = || shown.iter().zip(&y).filter(move |(row, _)| is_suspicious(row) == suspicious);
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
    let max_share = shown.iter().map(|row| row.flagged_high).fold(overall, f64::max);
    let suspicious = shown.iter().filter(is_suspicious).count();
    Chart {
        id: "annotators".to_owned(),
        title: "Share of each annotator's votes that are flagged".to_owned(),
        alt: format!(
            "One row per annotator, most suspicious at the top: the share of flagged votes with its \
             95% interval. Significantly many flagged votes: {suspicious} of the {} shown. The \
             dashed line is the share among all votes, {}.",
            shown.len(),
            percent(overall)
        ),
        note: drawn_note(shown.len(), rows.len()),
        x: Axis::shares("share of votes flagged", (1.03 * max_share).min(1.0)),
        y: Axis::labels_down("annotator", names(shown)),
        aspect: (0.12 + 0.03 * shown.len() as f64).max(0.3),
        marks: vec![
            dashed_line(overall, shown.len()),
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
            points(false, Colour::Kind(0), PointShape::Circle),
            points(true, Colour::Kind(1), PointShape::Diamond),
        ],
        legend: vec![
            LegendEntry::new("significant", Colour::Kind(1), Sign::Point(PointShape::Diamond)),
            LegendEntry::new("not significant", Colour::Kind(0), Sign::Point(PointShape::Circle)),
            LegendEntry::new("95% interval", Colour::Muted, Sign::Line),
            LegendEntry::new("all votes", Colour::Ink, Sign::Dashes),
        ],
    }
}

/// The share of votes for the left item, which is about one half for careful annotators.
fn left_chart(rows: &[AnnotatorReport<String>]) -> Chart {
    let mut with_sides: Vec<&AnnotatorReport<String>> =
        rows.iter().filter(|row| row.left_share.is_some()).collect();
    let bias = |row: &AnnotatorReport<String>| (row.left_share.unwrap_or(0.5) - 0.5).abs();
    let p = |row: &AnnotatorReport<String>| row.left_p_adjusted.unwrap_or(1.0);
    with_sides.sort_by(|a, b| p(a).total_cmp(&p(b)).then(bias(b).total_cmp(&bias(a))));
    let all = with_sides.len();
    with_sides.truncate(MAX_DRAWN);
    let shown: Vec<AnnotatorReport<String>> = with_sides.into_iter().cloned().collect();
    let words = |row: &AnnotatorReport<String>| {
        let share = percent(row.left_share.unwrap_or(0.5));
        let name = short_label(&row.annotator, 60);
        format!("{name}\nchose left in {share} of {}", counted(row.votes, "vote", "votes"))
    };
    let points = |biased: bool, colour, shape| {
        let own = || {
            let rows = shown.iter().enumerate();
            rows.filter(move |(_, row)| (p(row) < P_LEVEL) == biased)
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
    let biased = shown.iter().filter(|row| p(row) < P_LEVEL).count();
    Chart {
        id: "left-bias".to_owned(),
        title: "Share of each annotator's votes for the left side".to_owned(),
        alt: format!(
            "One row per annotator, the strongest side bias at the top. Significant side bias: \
             {biased} of the {} shown. The dashed line is one half.",
            shown.len()
        ),
        note: drawn_note(shown.len(), all),
        x: Axis::shares("share of votes for the left item", 1.0),
        y: Axis::labels_down("annotator", names(&shown)),
        aspect: (0.12 + 0.03 * shown.len() as f64).max(0.3),
        marks: vec![
            dashed_line(0.5, shown.len()),
            points(false, Colour::Kind(0), PointShape::Circle),
            points(true, Colour::Kind(1), PointShape::Diamond),
        ],
        legend: vec![
            LegendEntry::new("significant", Colour::Kind(1), Sign::Point(PointShape::Diamond)),
            LegendEntry::new("not significant", Colour::Kind(0), Sign::Point(PointShape::Circle)),
        ],
    }
}

fn dashed_line(at: f64, rows: usize) -> Mark {
    Mark::Line {
        colour: Colour::Ink,
        width: 1.0,
        dashed: true,
        curve: LineCurve::Straight,
        x: vec![at, at],
        y: vec![-0.5, rows as f64 - 0.5],
        hover: percent(at),
    }
}
