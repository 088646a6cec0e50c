//! The first screen of a report, and numbers that must be the same everywhere on the page.

use hodgerank::select::OutlierRule;
use hodgerank::{FitOptions, Method};
use hodgerank_report::chart::{Mark, Ticks};
use hodgerank_report::document::{RANKING, SUSPECTS, StudyPage};
use hodgerank_report::study::{self, Limits};
use hodgerank_report::table::Values;

use crate::study::{TestStudy, chart, charts, check, length, options, table, tables, votes};

/// The number of the first screen, computed by hand.
#[test]
fn the_headline_is_the_share_of_votes_that_agree() {
    // Of 100 votes that prefer an item, 75 agree with a, b, c; ties do not count.
    let all = [
        (0, 1, 1.0, 30.0),
        (0, 1, -1.0, 10.0),
        (1, 2, 1.0, 45.0),
        (1, 2, -1.0, 15.0),
        (0, 2, 0.0, 7.0),
    ];
    for method in [Method::L2, Method::BradleyTerry] {
        let options = FitOptions::new().method(method);
        let study = TestStudy::new(&["a", "b", "c"], votes(&all), options);
        let findings = study.findings();
        let headline = study::page(&findings, &Limits::default()).headline.unwrap();
        assert_eq!(headline.value, "75%", "{method}");
        let careful = findings.careful_agreement.unwrap();
        let same =
            "of votes agree with this ranking; careful annotators would reach about the same";
        let expected = match (100.0 * careful).round() {
            75.0 => format!("{same} (ties do not count)."),
            less if careful < 0.75 => format!(
                "of votes agree with this ranking; about {less}% can be expected of careful annotators \
                 (ties do not count)."
            ),
            other => format!(
                "of votes agree with this ranking; careful annotators would reach about {other}% \
                 (ties do not count)."
            ),
        };
        assert_eq!(headline.text, expected, "{method}");
        let pairs = [(0, 1, 40.0), (1, 2, 60.0)];
        let by_hand: f64 = pairs
            .iter()
            .map(|&(a, b, votes)| votes * findings.predictor.predict(a, b).probability.unwrap())
            .sum();
        assert!((careful - by_hand / 100.0).abs() < 1e-9, "{method}");
    }
    // No vote contradicts the scores, so they give no probabilities.
    let agreed = votes(&[(0, 1, 1.0, 3.0), (1, 2, 1.0, 2.0)]);
    let page =
        TestStudy::new(&["a", "b", "c"], agreed, FitOptions::new().method(Method::L2)).page();
    let headline = page.headline.unwrap();
    assert_eq!((&*headline.value, &*headline.text), ("100%", "of votes agree with this ranking."));
    let ties = votes(&[(0, 1, 0.0, 4.0)]);
    assert!(TestStudy::new(&["a", "b"], ties, FitOptions::default()).page().headline.is_none());
}

/// Tile, sentence, list, map and arrows count the same flagged votes, whatever the method.
#[test]
fn flagged_votes_are_counted_the_same_everywhere() {
    for method in [
        Method::InverseScaleSpace,
        Method::HuberLasso,
        Method::HardThreshold,
        Method::Trimmed,
        Method::BradleyTerry,
        Method::L2,
    ] {
        let study = TestStudy::simulated(10, 3000, options(method));
        let page = study.page();
        check(&page);
        let flagged = study.fit.flagged.iter().sum::<f64>() as u64;
        let distinct = study.fit.flagged.iter().filter(|&&votes| votes > 0.0).count();
        let tile = &page.facts.last().unwrap().value;
        let text = &page.sections.iter().find(|one| one.id == "flagged").unwrap().text[0];
        if flagged == 0 {
            assert_eq!((tile.as_str(), text.as_str()), ("none", "No vote is flagged."));
            assert!(!charts(&page).any(|chart| chart.id == "arrows"));
            continue;
        }
        assert!(tile.starts_with(&format!("{flagged} (")), "{method}: {tile}");
        assert!(text.starts_with(&format!("{flagged} votes are flagged")), "{method}: {text}");
        assert!(text.contains(&format!(" {distinct} distinct votes")), "{method}: {text}");
        let slider = page.slider.as_ref().unwrap();
        assert_eq!(slider.flagged[slider.chosen], flagged, "{method}");
        let is_on = |turns: &Vec<u32>| {
            turns.iter().filter(|&&turn| turn as usize <= slider.chosen).count() % 2 == 1
        };
        let shown: Vec<usize> =
            (0..slider.turns.len()).filter(|&row| is_on(&slider.turns[row])).collect();
        assert_eq!(shown.len(), distinct, "{method}");
        let column = |id: &str, name: &str| {
            let columns = &table(&page, id).columns;
            let Values::Whole(values) =
                &columns.iter().find(|column| column.id == name).unwrap().values
            else {
                panic!("numbers")
            };
            values.iter().map(|value| value.unwrap() as u64).collect::<Vec<_>>()
        };
        let listed = column(SUSPECTS, "flagged");
        assert_eq!(shown.iter().map(|&row| listed[row]).sum::<u64>(), flagged, "{method}");
        assert_eq!(listed.iter().sum::<u64>(), flagged, "{method}");
        // Each vote has two items.
        assert_eq!(column(RANKING, "flagged").iter().sum::<u64>(), 2 * flagged, "{method}");
        let map = chart(&page, "outlier-map");
        let said = format!("{distinct} distinct votes ({flagged} flagged votes)");
        assert!(map.alt.contains(&said), "{method}: {}", map.alt);
        let arrows = chart(&page, "arrows");
        let Mark::Segments { x0, .. } = &arrows.marks[0] else { panic!("arrows") };
        assert_eq!(x0.len(), distinct.min(40), "{method}");
        let note = format!("40 of {distinct} distinct votes are shown, with their items.");
        assert_eq!(arrows.note, (distinct > 40).then_some(note), "{method}");
        let own = column("methods", "flagged");
        let Values::Text(names) = &table(&page, "methods").columns[0].values else { panic!() };
        let row = names.iter().position(|name| name == method.as_str()).unwrap();
        assert_eq!(own[row], flagged, "{method}");
    }
}

/// Other methods flag as many votes as `hodgerank compare` says.
#[test]
fn methods_flag_votes_by_the_rule_of_the_ranking() {
    for rule in [OutlierRule::Auto, OutlierRule::Share(0.05)] {
        let options = FitOptions::new().method(Method::BradleyTerry).outliers(rule);
        let study = TestStudy::simulated(10, 1500, options);
        for fit in &study.findings().methods {
            let alone = hodgerank::fit::fit_with_annotators(
                &study.graph,
                None,
                &FitOptions::new().method(fit.method).outliers(rule),
            );
            let alone: f64 = alone.unwrap().flagged.iter().sum();
            assert_eq!(fit.flagged.iter().sum::<f64>(), alone, "{} {rule:?}", fit.method);
        }
    }
}

#[test]
fn cycles_of_majorities_are_shown_or_their_absence_is_stated() {
    let cycle = votes(&[
        (0, 1, 1.0, 30.0),
        (0, 1, -1.0, 10.0),
        (1, 2, 1.0, 30.0),
        (1, 2, -1.0, 10.0),
        (0, 2, -1.0, 30.0),
        (0, 2, 1.0, 10.0),
    ]);
    let text = |page: &StudyPage| {
        page.sections.iter().find(|section| section.id == "consistency").unwrap().text[0].clone()
    };
    let page = TestStudy::new(&["a", "b", "c"], cycle, FitOptions::default()).page();
    check(&page);
    assert!(
        text(&page).starts_with("1 of 1 triangle of three majorities is a cycle"),
        "{}",
        text(&page)
    );
    assert_eq!(length(&table(&page, "triangles").columns[0].values), 1);
    assert!(chart(&page, "triangles").alt.contains("a over b, b over c, c over a"));

    // Transitive, although the third majority is much weaker than the first two.
    let transitive =
        votes(&[(0, 1, 1.0, 40.0), (1, 2, 1.0, 40.0), (0, 2, 1.0, 21.0), (0, 2, -1.0, 20.0)]);
    let page = TestStudy::new(&["a", "b", "c"], transitive, FitOptions::default()).page();
    check(&page);
    assert!(text(&page).starts_with("No majorities form a cycle"), "{}", text(&page));
    assert!(!tables(&page).any(|table| table.id == "triangles"));
    assert!(!charts(&page).any(|chart| chart.id == "triangles"));
}

/// A row of its own shows where the chart leaves out items.
#[test]
fn a_break_marks_items_that_are_left_out() {
    let study = TestStudy::simulated(80, 4000, FitOptions::new().method(Method::BradleyTerry));
    let page = study.page();
    check(&page);
    let ranking = chart(&page, RANKING);
    let Ticks::Labels { labels } = &ranking.y.ticks else { panic!() };
    assert_eq!((labels.len(), labels[30].as_str()), (61, "⋮"));
    let said = ranking.marks.iter().find_map(|mark| match mark {
        Mark::Texts { text, y, .. } => Some((text[0].clone(), y[0])),
        _ => None,
    });
    assert_eq!(said, Some(("20 items not shown".to_owned(), 30.0)));
    for mark in &ranking.marks {
        if let Mark::Points { y, .. } = mark {
            assert!(!y.contains(&30.0) && y.contains(&29.0) && y.contains(&31.0));
        }
    }
    let overview = page.overview.unwrap();
    assert!(overview.note.as_ref().unwrap().starts_with("The best 10 of 80 items."));
}
