//! The section about annotators, and what the summary says about them.

use hodgerank::simulate::{AnnotatorKind, Noise, SimulateOptions, Simulation};
use hodgerank::{AnnotatorVotes, Comparison, FitOptions, Groups, Method, RankedStudy, Study};
use hodgerank_report::chart::{Chart, Hover, Mark, PointShape};
use hodgerank_report::document::{Section, Sentence, StudyPage};
use hodgerank_report::findings::{ReportInput, StudyFindings};
use hodgerank_report::study::{self, Limits};
use hodgerank_report::table::Values;

use crate::study::{charts, check, length, table};

const ITEMS: usize = 12;

/// Votes of annotators of these kinds, 60 for each, who are named `0`, `1`, … in this order.
fn votes(kinds: &[(AnnotatorKind, u32)]) -> Vec<Comparison> {
    let annotators: u32 = kinds.iter().map(|(_, number)| number).sum();
    let options = SimulateOptions {
        items: ITEMS,
        votes: 60 * u64::from(annotators),
        noise: Noise::BradleyTerry { scale: 0.15 },
        annotators: kinds.to_vec(),
        seed: 5,
        ..SimulateOptions::default()
    };
    Simulation::new(&options).unwrap().map(|vote| vote.comparison()).collect()
}

fn ranked(votes: &[Comparison], has_sides: bool, options: &FitOptions) -> RankedStudy {
    let annotators = votes.iter().filter_map(|vote| vote.annotator).max().map_or(0, |a| a + 1);
    let names: Vec<String> = (0..annotators).map(|a| a.to_string()).collect();
    let items: Vec<String> = (0..ITEMS).map(|k| format!("item {k}")).collect();
    let annotator_votes = AnnotatorVotes::from_comparisons(names.len(), votes, has_sides);
    let study = Study {
        by: None,
        items: items.iter().map(String::as_str).collect(),
        groups: Groups::merge(ITEMS, votes).unwrap().groups,
        annotators: names.iter().map(String::as_str).collect(),
        annotator_votes: Some(annotator_votes),
        sides: None,
        rows: votes.len() as u64,
        comparisons: votes.len() as u64,
    };
    RankedStudy::new(study, 0, options).unwrap()
}

fn page_of(votes: &[Comparison], has_sides: bool) -> StudyPage {
    let study = ranked(votes, has_sides, &FitOptions::new());
    let findings = StudyFindings::new(ReportInput::new(&study, &[])).unwrap();
    let page = study::page(&findings, &Limits::default());
    check(&page);
    page
}

fn section(page: &StudyPage) -> Option<&Section> {
    page.sections.iter().find(|section| section.id == "annotators")
}

fn scatter(page: &StudyPage) -> &Chart {
    charts(page).find(|chart| chart.id == "annotators").unwrap()
}

fn sentence(page: &StudyPage) -> Option<&Sentence> {
    page.more.iter().find(|sentence| sentence.section == Some("annotators"))
}

/// The texts of a column of the table.
fn texts<'a>(page: &'a StudyPage, id: &str) -> &'a [String] {
    let columns = &table(page, "annotators").columns;
    match &columns.iter().find(|column| column.id == id).unwrap().values {
        Values::Text(texts) => texts,
        other => panic!("{other:?}"),
    }
}

/// Shape, tooltip and position of every point.
fn points<'a>(chart: &'a Chart) -> Vec<(PointShape, &'a str, f64, f64)> {
    let points = |mark: &'a Mark| match mark {
        Mark::Points { shape, x, y, hover: Hover::Words { words }, .. } => {
            Some(words.iter().zip(x).zip(y).map(|((words, x), y)| (*shape, &words[..], *x, *y)))
        }
        _ => None,
    };
    chart.marks.iter().filter_map(points).flatten().collect()
}

const CROWD: &[(AnnotatorKind, u32)] =
    &[(AnnotatorKind::Careful, 20), (AnnotatorKind::AlwaysLeft, 2), (AnnotatorKind::Malicious, 1)];

#[test]
fn bad_annotators_come_first_with_their_verdict() {
    let page = page_of(&votes(CROWD), true);
    let mut first: Vec<(&String, &String)> =
        texts(&page, "annotator").iter().zip(texts(&page, "verdict")).collect();
    assert_eq!(first.len(), 23);
    assert!(first[3..].iter().all(|(_, verdict)| *verdict == "fine"), "{first:?}");
    first.truncate(3);
    first.sort();
    let first: Vec<(&str, &str)> =
        first.into_iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let expected = [("20", "always left"), ("21", "always left"), ("22", "answers the opposite")];
    assert_eq!(first, expected);
    let text = &section(&page).unwrap().text[0];
    assert!(text.contains("careful 20 (87.0%), contrary 1 (4.3%), left 2 (8.7%)"), "{text}");
}

#[test]
fn the_summary_names_one_sided_and_contrary_annotators() {
    let kinds = |left, contrary| {
        let bad = [(AnnotatorKind::AlwaysLeft, left), (AnnotatorKind::Malicious, contrary)];
        let bad = bad.into_iter().filter(|(_, number)| *number > 0);
        [(AnnotatorKind::Careful, 20)].into_iter().chain(bad).collect::<Vec<_>>()
    };
    for (left, contrary, expected) in [
        (
            2,
            1,
            "2 annotators always choose the same side and 1 answers the opposite of everybody else: \
             20, 21 and 22.",
        ),
        (1, 0, "1 annotator always chooses the same side: 20."),
        (0, 2, "2 annotators answer the opposite of everybody else: 20 and 21."),
    ] {
        let page = page_of(&votes(&kinds(left, contrary)), true);
        let sentence = sentence(&page).expect("a sentence");
        assert_eq!(sentence.text, expected);
    }
    let page = page_of(&votes(&kinds(0, 0)), true);
    assert!(sentence(&page).is_none(), "{:?}", page.summary);
    assert!(section(&page).is_some());
}

#[test]
fn long_lists_of_names_are_shortened() {
    let kinds = [(AnnotatorKind::Careful, 40), (AnnotatorKind::AlwaysLeft, 12)];
    let page = page_of(&votes(&kinds), true);
    let text = &sentence(&page).unwrap().text;
    assert!(text.ends_with("40, 41, 42, 43, 44, 45, 46, 47 and 4 more."), "{text}");
}

#[test]
fn the_scatter_plot_shows_agreement_against_the_left_share() {
    let page = page_of(&votes(CROWD), true);
    let chart = scatter(&page);
    let points = points(chart);
    assert_eq!(points.len(), 23);
    for (shape, words, x, y) in points {
        match shape {
            PointShape::Square => {
                assert!(words.contains("always left") && x == 1.0, "{words}");
            }
            PointShape::Diamond => {
                assert!(words.starts_with("22: answers the opposite") && y < 0.4, "{words}");
            }
            PointShape::Circle => assert!(words.contains("fine") && y > 0.4, "{words}"),
            other => panic!("{other:?}: {words}"),
        }
    }
    let names: Vec<&str> = chart.legend.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["careful", "contrary", "left", "expected of a careful annotator"]);
    let study = ranked(&votes(CROWD), true, &FitOptions::new());
    let findings = StudyFindings::new(ReportInput::new(&study, &[])).unwrap();
    assert!(study::figures(&findings).contains(chart), "the figure is the same");
}

/// The winner is always first: sides say nothing.
#[test]
fn without_sides_the_expected_agreement_is_shown() {
    let winner_first = |vote: Comparison| match vote.y < 0.0 {
        true => Comparison { left: vote.right, right: vote.left, y: -vote.y, ..vote },
        false => vote,
    };
    let votes: Vec<Comparison> = votes(CROWD).into_iter().map(winner_first).collect();
    let page = page_of(&votes, false);
    let columns = &table(&page, "annotators").columns;
    assert!(columns.iter().all(|column| !column.id.contains("left")));
    let chart = scatter(&page);
    assert!(chart.x.name.contains("expected") && chart.title.contains("expected"), "{chart:?}");
    assert!(chart.x.from >= 0.45 && chart.x.to <= 1.05, "{:?}", chart.x);
    for (_, words, x, y) in points(chart) {
        assert!((0.5..=1.0).contains(&x) && !words.contains("left"), "{words}");
        assert_eq!(y < 0.4, words.starts_with("22:"), "{words}");
    }
}

#[test]
fn thousands_of_annotators_are_thinned() {
    let kinds = [(AnnotatorKind::Careful, 2_400), (AnnotatorKind::AlwaysLeft, 30)];
    let votes = votes(&kinds);
    let study = ranked(&votes, true, &FitOptions::new().method(Method::L2));
    let findings = StudyFindings::new(ReportInput::new(&study, &[])).unwrap();
    let page = study::page(&findings, &Limits { annotators: 50, ..Limits::default() });
    check(&page);
    let table = table(&page, "annotators");
    assert_eq!(length(&table.columns[0].values), 50);
    assert!(table.note.as_ref().unwrap().contains("50 most problematic of 2,430"));
    let few = points(scatter(&page)).len();
    assert!(few <= 50, "{few}");

    let page = study::page(&findings, &Limits::default());
    check(&page);
    let chart = scatter(&page);
    let points = points(chart);
    assert!((1_000..=2_000).contains(&points.len()), "{}", points.len());
    let one_sided = points.iter().filter(|(_, words, ..)| words.contains("always left"));
    assert_eq!(one_sided.count(), 30, "all of them");
    let note = chart.note.as_ref().unwrap();
    assert!(note.contains("of 2,430 annotators are drawn"), "{note}");
}

/// The crowd of a report whose ranking flags nothing is the same as that of a report about it.
#[test]
fn crowd_flags_votes_whatever_the_method_of_the_ranking() {
    let study = ranked(&votes(CROWD), true, &FitOptions::new().method(Method::L2));
    let findings = StudyFindings::new(ReportInput::new(&study, &[])).unwrap();
    let crowd = findings.methods.iter().find(|fit| fit.method == Method::Crowd).unwrap();
    let alone = ranked(&votes(CROWD), true, &FitOptions::new().method(Method::Crowd));
    assert_eq!(crowd.flagged, alone.fit.flagged);
    assert!(crowd.flagged_votes() > 0.0 && findings.flagged() == 0);
}

#[test]
fn studies_that_are_too_large_say_so() {
    let study = ranked(&votes(CROWD), true, &FitOptions::new());
    let mut findings = StudyFindings::new(ReportInput::new(&study, &[])).unwrap();
    findings.annotators = None;
    findings.methods.retain(|fit| fit.method != Method::Crowd);
    findings.left_out.push(Method::Crowd);
    let page = study::page(&findings, &Limits::default());
    check(&page);
    let section = section(&page).expect("a section that says why");
    assert!(section.text[0].contains("too large"), "{:?}", section.text);
    assert!(section.charts.is_empty() && section.tables.is_empty());
    assert!(sentence(&page).is_none());
}

#[test]
fn unusual_studies_have_pages() {
    // Nobody is known.
    let unknown: Vec<Comparison> =
        votes(CROWD).into_iter().map(|vote| Comparison { annotator: None, ..vote }).collect();
    assert!(section(&page_of(&unknown, true)).is_none());
    // Some votes have no annotator.
    let mut some = votes(CROWD);
    for vote in &mut some[..40] {
        vote.annotator = None;
    }
    let page = page_of(&some, true);
    let text = &section(&page).unwrap().text;
    assert!(text.iter().any(|text| text == "40 votes have no annotator."), "{text:?}");
    // Some annotators have only ties: there is no place for them in the plot.
    let mut ties = votes(CROWD);
    for vote in ties.iter_mut().filter(|vote| vote.annotator < Some(3)) {
        vote.y = 0.0;
    }
    let page = page_of(&ties, true);
    assert_eq!(points(scatter(&page)).len(), 20);
    assert_eq!(length(&table(&page, "annotators").columns[0].values), 23);
    let note = scatter(&page).note.as_ref().unwrap();
    assert!(note.contains("3 annotators with only ties are not drawn"), "{note}");
    // If everybody has only ties, there is nothing to judge.
    ties.iter_mut().for_each(|vote| vote.y = 0.0);
    assert!(section(&page_of(&ties, true)).is_none());
    // One annotator with one vote.
    let one = [Comparison { annotator: Some(0), ..Comparison::new(0, 1, 1.0) }];
    assert_eq!(texts(&page_of(&one, true), "verdict"), ["too few votes"]);
}

/// Scores in log-odds are no outcomes: plain scores and those along the path are shown in the unit of the
/// ranking.
#[test]
fn one_unit_for_all_scores_of_a_page() {
    let kinds = [(AnnotatorKind::Careful, 24), (AnnotatorKind::Malicious, 4)];
    let page = page_of(&votes(&kinds), true);
    let slider = page.slider.as_ref().unwrap();
    for s in 0..slider.at.len() {
        let shares = [slider.agree[s], slider.disagree[s], slider.share[s]];
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
        assert!(shares.iter().sum::<f64>() < 1.001, "{shares:?}");
    }
    let spread = |scores: &[f64]| scores.iter().fold(0.0_f64, |most, score| most.max(score.abs()));
    let of_ranking = spread(&slider.scores[slider.chosen]);
    for scores in &slider.scores {
        let ratio = spread(scores) / of_ranking;
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }
    let text = &page.sections.iter().find(|section| section.id == "ranking").unwrap().help[0];
    assert!(text.contains("73 of 100 careful annotators"), "{text}");
}
