//! The section about annotators: how each of them votes according to `crowd`, next to exact tests.

use hodgerank::Method;
use hodgerank::annotators::JudgedAnnotator;
use hodgerank::natural_order;
use hodgerank::solve::crowd::AnnotatorClass;

use super::annotator_chart;
use crate::chart::short_label;
use crate::document::{Fold, Section, Sentence};
use crate::findings::StudyFindings;
use crate::table::{PageColumn, PageTable, Values};
use crate::words::{counted, listed, percent, thousands};

/// `id` of the section.
const ID: &str = "annotators";
/// Maximum number of names in the summary.
const MAX_NAMES: usize = 8;
/// The summary mentions only those whose class has at least this probability.
const CERTAIN: f64 = 0.9;

type Annotator = JudgedAnnotator<String>;

/// Returns the section with at most `max_listed` rows in its table; `None` without annotators.
pub(super) fn section(findings: &StudyFindings<'_>, max_listed: usize) -> Option<Section> {
    let Some(rows) = &findings.annotators else {
        let is_too_large = findings.left_out.contains(&Method::Crowd);
        return is_too_large.then(|| with_text(vec![too_large()]));
    };
    if rows.is_empty() {
        return None;
    }
    let mut text = vec![classes(rows)];
    text.extend(direction(findings));
    text.extend(without_annotator(findings));
    let help = "Similar items are hard to compare and tastes differ, so agreement is shown next to what is \
                expected of a careful annotator on the same pairs. Both refer to the ranking by the method \
                crowd.";
    Some(Section {
        help: vec![help.to_owned()],
        charts: annotator_chart::chart(rows, max_listed).into_iter().collect(),
        tables: vec![table(rows, max_listed)],
        ..with_text(text)
    })
}

fn with_text(text: Vec<String>) -> Section {
    Section { text, ..Section::new(ID, "Annotators", Fold::Screen) }
}

fn too_large() -> String {
    "How each annotator votes is not shown here, because the study is too large for the method crowd. \
     `hodgerank annotators` shows it but can take long."
        .to_owned()
}

/// Names the annotators who always choose the same side or the worse item, and counts those who mostly
/// choose one side; `None` if there are none.
///
/// Careless and random annotators are not mentioned: a taste of one's own can look like that.
pub(super) fn sentence(findings: &StudyFindings<'_>) -> Option<Sentence> {
    let rows = findings.annotators.as_ref()?;
    let certain = rows.iter().filter(|row| row.probability.is_some_and(|p| p >= CERTAIN));
    let (mut always, mut mostly, mut contrary) = (Vec::new(), 0, Vec::new());
    for row in certain {
        match row.class {
            Some(AnnotatorClass::Left | AnnotatorClass::Right) if row.is_always_one_side() => {
                always.push(row);
            }
            Some(AnnotatorClass::Left | AnnotatorClass::Right) => mostly += 1,
            Some(AnnotatorClass::Contrary) => contrary.push(row),
            _ => {}
        }
    }
    let opposite = match contrary.len() {
        1 => "answers the opposite of everybody else",
        _ => "answer the opposite of everybody else",
    };
    let named = match (always.len() as u64, contrary.len() as u64) {
        (0, 0) => None,
        (0, contrary) => Some(format!("{} {opposite}", people(contrary))),
        (always, 0) => Some(always_same_side(always)),
        (always, contrary) => {
            Some(format!("{} and {} {opposite}", always_same_side(always), thousands(contrary)))
        }
    };
    let is_named = named.is_some();
    let mut sentences: Vec<String> =
        named.map(|what| format!("{what}: {}.", names(always, contrary))).into_iter().collect();
    if mostly > 0 {
        let who = if is_named { counted(mostly, "other", "others") } else { people(mostly) };
        let favour = if mostly == 1 { "favours" } else { "favour" };
        sentences.push(format!("{who} {favour} one side, whatever the items."));
    }
    if sentences.is_empty() {
        return None;
    }
    sentences.extend(direction(findings));
    Some(Sentence { text: sentences.join(" "), section: Some(ID) })
}

fn people(number: u64) -> String {
    counted(number, "annotator", "annotators")
}

fn always_same_side(number: u64) -> String {
    let choose = if number == 1 { "chooses" } else { "choose" };
    format!("{} always {choose} the same side", people(number))
}

/// The names of both groups, each in natural order; only the first if there are many.
fn names<'a>(mut always: Vec<&'a Annotator>, mut contrary: Vec<&'a Annotator>) -> String {
    for group in [&mut always, &mut contrary] {
        group.sort_by(|a, b| natural_order(&a.annotator, &b.annotator));
    }
    let all = always.len() + contrary.len();
    // A list that leaves out a single name would not be shorter.
    let shown = if all <= MAX_NAMES + 1 { all } else { MAX_NAMES };
    let rows = always.into_iter().chain(contrary).take(shown);
    let mut names: Vec<String> = rows.map(|row| short_label(&row.annotator, 40)).collect();
    if shown < all {
        names.push(format!("{} more", thousands((all - shown) as u64)));
    }
    listed(&names)
}

/// Warns if it is doubtful which annotators are contrary.
fn direction(findings: &StudyFindings<'_>) -> Option<String> {
    findings.crowd()?.estimates.is_direction_uncertain.then(|| {
        "Nearly as many annotators vote against the ranking as for it, so it may be upside down: \
         compare it with items whose order is known."
            .to_owned()
    })
}

fn without_annotator(findings: &StudyFindings<'_>) -> Option<String> {
    let votes = findings.ranked.annotator_votes()?.unknown();
    let votes: u64 = votes.iter().map(|vote| u64::from(vote.count)).sum();
    (votes > 0).then(|| {
        let have = if votes == 1 { "has" } else { "have" };
        format!("{} {have} no annotator.", counted(votes, "vote", "votes"))
    })
}

/// Counts the annotators of each class.
fn classes(rows: &[Annotator]) -> String {
    let count = |class: Option<AnnotatorClass>| {
        let number = rows.iter().filter(|row| row.class == class).count();
        let share = percent(number as f64 / rows.len() as f64);
        let name = class.map_or("too few votes", AnnotatorClass::as_str);
        (number > 0).then(|| format!("{name} {} ({share})", thousands(number as u64)))
    };
    let known = AnnotatorClass::ALL.into_iter().map(Some);
    let parts: Vec<String> = known.chain([None]).filter_map(count).collect();
    format!("{} by class: {}.", people(rows.len() as u64), parts.join(", "))
}

fn table(rows: &[Annotator], max_listed: usize) -> PageTable {
    let listed = &rows[..rows.len().min(max_listed)];
    let text = |pick: fn(&Annotator) -> &str| {
        Values::Text(listed.iter().map(|row| pick(row).to_owned()).collect())
    };
    let share =
        |pick: fn(&Annotator) -> Option<f64>| Values::Share(listed.iter().map(pick).collect());
    let p = |pick: fn(&Annotator) -> Option<f64>| {
        Values::Probability(listed.iter().map(pick).collect())
    };
    let interval = |row: &Annotator| row.honest_low.zip(row.honest_high);
    let votes = listed.iter().map(|row| i64::try_from(row.votes).ok()).collect();
    let mut columns = vec![
        PageColumn::new("annotator", "annotator", text(|row| &row.annotator)),
        PageColumn::new("verdict", "verdict", text(|row| &row.verdict)),
        PageColumn::new("class", "class", text(|row| row.class.map_or("", AnnotatorClass::as_str)))
            .with_hint(
                "The most probable class. Careful: honest but for a few lapses. Careless: honest with \
                 many lapses. Coin: votes at random. Contrary: prefers the worse item. Left, right: \
                 prefers that side, whatever the items",
            ),
        PageColumn::new("probability", "sure", share(|row| row.probability))
            .with_hint("Probability of the class"),
        PageColumn::new("votes", "votes", Values::Whole(votes)),
        PageColumn::new("honest", "honest", share(|row| row.honest))
            .with_hint("Estimated share of honest votes"),
        PageColumn::new(
            "interval",
            "95% interval",
            Values::Interval(listed.iter().map(interval).collect()),
        )
        .with_hint("The share of honest votes is in this interval with a probability of 95%"),
        PageColumn::new("agreement", "agreement", share(|row| row.agreement))
            .with_hint("Share of votes, not counting ties, that agree with the ranking by crowd"),
        PageColumn::new("expected", "expected", share(|row| row.expected_agreement))
            .with_hint("Agreement expected of a careful annotator on the same pairs"),
    ];
    let p_agreement = PageColumn::new("p", "p (agreement)", p(|row| row.agreement_p_adjusted))
        .with_hint(
            "Probability of so little agreement if the annotator were careful, corrected for multiple \
             testing",
        );
    if rows.iter().any(|row| row.left_share.is_some()) {
        columns.extend([
            PageColumn::new("left", "left", share(|row| row.left_share))
                .with_hint("Share of votes, not counting ties, for the item on the left"),
            PageColumn::new("expected_left", "expected left", share(|row| row.expected_left_share))
                .with_hint("The same as expected of a careful annotator on the same pairs"),
            p_agreement,
            PageColumn::new("left_p", "p (left)", p(|row| row.left_p_adjusted)).with_hint(
                "Probability of a left share so far from what is expected if the annotator were \
                 careful, corrected for multiple testing",
            ),
        ]);
    } else {
        columns.push(p_agreement);
    }
    let note = (listed.len() < rows.len()).then(|| {
        format!(
            "The {} most problematic of {} annotators are listed; `hodgerank annotators` lists all.",
            thousands(listed.len() as u64),
            thousands(rows.len() as u64)
        )
    });
    PageTable {
        id: ID.to_owned(),
        title: "Annotators, most problematic first".to_owned(),
        note,
        columns,
    }
}
